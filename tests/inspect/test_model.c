/*
 * Models outside of a run: whatever allocation fails, each call says so, leaves
 * no file and no memory behind, and works the next time.
 */
#include "../base/check.h"
#include "../base/folder.h"
#include "nn/weights/safetensors.h"
#include "inspect/model.h"

static const struct net_spec small = {"resnet20-cifar", "bn", 5, 3, 8, 8};

static int try_init(void *context, struct err *err)
{
	const char *path = context;

	unlink(path);
	int rc = model_init(&small, 1, path, err);
	assert_int_equal(access(path, F_OK), rc ? -1 : 0);
	return rc;
}

static int try_info_file(void *context, struct err *err)
{
	struct model_info info;
	int rc = model_info_file(&info, context, err);

	if (!rc) {
		assert_true(info.parameters > 0 && info.statistics > 0 && info.size > 0);
		model_info_release(&info);
	}
	return rc;
}

static int try_info_net(void *context, struct err *err)
{
	struct model_info info;
	int rc = model_info_net(&info, &small, err);

	if (!rc) {
		assert_true(info.parameters > 0 && info.macs > 0);
		model_info_release(&info);
	}
	return rc;
}

static int try_trace(void *context, struct err *err)
{
	const struct model_trace *trace = context;

	unlink(trace->out);
	int rc = model_trace(trace, err);
	assert_int_equal(access(trace->out, F_OK), rc ? -1 : 0);
	return rc;
}

static void failing_memory_is_an_error(void **state)
{
	static const float input[4 * 3 * 8 * 8] = {1, 2, 3};
	static const int64_t label[] = {0, 4, 2, 2}, shape[] = {4, 3, 8, 8};
	const struct safetensors_item items[] = {
		{"label", 1, shape, .ints = label}, {"input", 4, shape, .floats = input}};
	char weights[400], batch[400], out[400];
	const struct model_trace trace = {
		.asked = {.classes = MODEL_UNSET},
		.engine = {.threads = 2},
		.micro = 2,
		.weights = weights,
		.batch = batch,
		.out = out,
	};
	struct err err;

	snprintf(weights, sizeof(weights), "%s", in_folder("weights"));
	snprintf(batch, sizeof(batch), "%s", in_folder("batch"));
	snprintf(out, sizeof(out), "%s", in_folder("out"));
	assert_int_equal(safetensors_save(batch, items, 2, NULL, 0, &err), 0);

	assert_true(each_allocation_fails(try_init, weights) > 5);
	assert_true(each_allocation_fails(try_info_file, weights) > 3);
	assert_true(each_allocation_fails(try_info_net, NULL) > 3);
	assert_true(each_allocation_fails(try_trace, (void *)&trace) > 20);
	assert_int_equal(folder_names(false), 3);
}

static void a_file_describes_its_net(void **state)
{
	struct model_info file, net;
	struct err err;
	const char *path = in_folder("weights");

	assert_int_equal(model_init(&small, 1, path, &err), 0);
	assert_int_equal(model_info_file(&file, path, &err), 0);
	assert_int_equal(model_info_net(&net, &small, &err), 0);
	assert_true(file.parameters == net.parameters && file.statistics == net.statistics);
	assert_int_equal(file.macs, 0);
	assert_int_equal(net.size, 0);
	model_info_release(&file);
	model_info_release(&net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(a_file_describes_its_net),
		folder_test(failing_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
