/*
 * Weights files: what a net saves it loads, with the names a state dict has;
 * what does not fit exactly is refused by name, and nothing is read then.
 */
#include "../base/check.h"
#include "../base/folder.h"

#include <math.h>

#include "nn/weights/weights_file.h"

static char path[400];

static int make_path(void **state)
{
	int code = folder_make(state);

	snprintf(path, sizeof(path), "%s", in_folder("w.safetensors"));
	return code;
}

#define path_test(f) cmocka_unit_test_setup_teardown(f, make_path, folder_remove)

/* A net with its weights. */
struct model {
	struct net *net;
	float *params, *stats;
};

static struct model make_model(const char *arch, const char *norm)
{
	const struct net_spec spec = {arch, norm, 7, 3, 16, 12};
	struct model model;
	struct err err = {0};

	if (net_new(&model.net, &spec, &err))
		fail_msg("%s", err.message);
	model.params = mem_new(net_params(model.net)->floats, sizeof(float));
	model.stats = mem_new(net_stats(model.net)->floats + 1, sizeof(float));
	net_init(model.net, 3, model.params, model.stats, NULL);
	return model;
}

static void free_model(struct model *model)
{
	mem_free(model->params);
	mem_free(model->stats);
	net_free(model->net);
}

static void save(const struct model *model)
{
	struct err err = {0};

	if (weights_save(
		    path, &(struct weights){model->net, model->params, model->stats, 41}, &err))
		fail_msg("%s", err.message);
}

static struct safetensors *open_file(void)
{
	struct safetensors *file;
	struct err err = {0};

	if (safetensors_open(&file, path, &err))
		fail_msg("%s", err.message);
	return file;
}

/* Loads the file into fresh buffers. On success they must equal the model's, else be untouched. */
static int load(const struct model *model, struct err *err)
{
	size_t params_size = net_params(model->net)->floats * sizeof(float);
	size_t stats_size = net_stats(model->net)->floats * sizeof(float);
	float *params = mem_new(1, params_size), *stats = mem_new(1, stats_size + 1);
	float *zeros = mem_new(1, params_size > stats_size ? params_size : stats_size);
	struct safetensors *file = open_file();

	assert_true(params && stats && zeros);
	int code = weights_load(model->net, file, params, stats, err);
	assert_memory_equal(params, code ? zeros : model->params, params_size);
	assert_memory_equal(stats, code ? zeros : model->stats, stats_size);
	safetensors_close(file);
	mem_free(params);
	mem_free(stats);
	mem_free(zeros);
	return code;
}

static void what_is_saved_loads(void **state)
{
	static const char *const nets[][2] = {
		{"resnet20-cifar", "gn-ws"},
		{"resnet20-cifar", "bn"},
		{"resnet18", "none"},
		{"mlp:20,10", NULL},
		{"linear", NULL},
	};

	for (size_t i = 0; i < COUNT(nets); i++) {
		struct model model = make_model(nets[i][0], nets[i][1]);
		struct err err = {0};
		save(&model);
		assert_int_equal(load(&model, &err), 0);
		free_model(&model);
	}
}

static void batch_norm_counters_are_written(void **state)
{
	struct model model = make_model("resnet18", "bn");
	struct err err;
	int64_t batches = 0;

	save(&model);
	struct safetensors *file = open_file();
	assert_int_equal(safetensors_count(file), 122); /* as torchvision's resnet18 */
	const struct safetensor *counter =
		safetensors_find(file, "layer1.0.bn1.num_batches_tracked");
	assert_non_null(counter);
	assert_int_equal(counter->dims, 0);
	assert_int_equal(safetensors_read_int64(file, counter, &batches, &err), 0);
	assert_int_equal(batches, 41);
	safetensors_close(file);
	free_model(&model);
}

/* A list of items to spoil: the tensors of a batch norm net, counters not among them. */
struct list {
	struct safetensors_item items[200];
	int count;
};

static void list_model(struct list *list, const struct model *model)
{
	const struct param_table *tables[] = {net_params(model->net), net_stats(model->net)};
	const float *flat[] = {model->params, model->stats};

	list->count = 0;
	for (int t = 0; t < 2; t++)
		for (int i = 0; i < tables[t]->count; i++) {
			const struct param *row = &tables[t]->rows[i];
			list->items[list->count++] = (struct safetensors_item){
				row->name, row->dims, row->shape, .floats = flat[t] + row->offset};
		}
}

static struct safetensors_item *item_named(struct list *list, const char *name)
{
	for (int i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].name, name))
			return &list->items[i];
	fail_msg("no item '%s'", name);
	return NULL;
}

static void save_list(const struct list *list)
{
	struct err err = {0};

	if (safetensors_save(path, list->items, list->count, NULL, 0, &err))
		fail_msg("%s", err.message);
}

static void expect_refusal(const struct model *model, const struct list *list, const char *problem)
{
	struct err err = {0};

	save_list(list);
	int code = load(model, &err);
	if (code != ERR_INPUT || !strstr(err.message, problem) || !strstr(err.message, path))
		fail_msg("expected '%s', got %d: %s", problem, code, err.message);
}

static void what_does_not_fit_is_refused(void **state)
{
	static const int64_t ints[64], turned[] = {64, 7}, one[] = {1};
	struct model model = make_model("resnet20-cifar", "bn");
	struct list list;
	struct err err;

	list_model(&list, &model);
	save_list(&list); /* without counters, metadata and order: all of them optional */
	assert_int_equal(load(&model, &err), 0);

	*item_named(&list, "layer2.1.bn2.running_var") = list.items[--list.count];
	expect_refusal(
		&model, &list, "tensor 'layer2.1.bn2.running_var' of resnet20-cifar is missing");

	list_model(&list, &model);
	item_named(&list, "layer2.1.bn2.weight")->name = "layer2.1.bn2.weigth";
	expect_refusal(&model, &list,
		"tensor 'layer2.1.bn2.weigth' does not belong to resnet20-cifar; "
		"the nearest name is 'layer2.1.bn2.weight'");

	list_model(&list, &model);
	item_named(&list, "fc.weight")->shape = turned; /* the same number of numbers */
	item_named(&list, "fc.weight")->dims = 2;
	expect_refusal(
		&model, &list, "tensor 'fc.weight' has shape (64, 7), the net needs (7, 64)");

	list_model(&list, &model);
	item_named(&list, "fc.bias")->floats = NULL;
	item_named(&list, "fc.bias")->ints = ints;
	expect_refusal(&model, &list, "tensor 'fc.bias' has dtype I64, the net needs F32");

	list_model(&list, &model);
	list.items[list.count++] =
		(struct safetensors_item){"bn1.num_batches_tracked", 1, one, .ints = ints};
	expect_refusal(&model, &list, "'bn1.num_batches_tracked' has shape (1), the net needs ()");

	list.items[list.count - 1] = (struct safetensors_item){
		"bn1.num_batches_tracked", 0, NULL, .floats = model.params};
	expect_refusal(&model, &list, "'bn1.num_batches_tracked' has dtype F32, the net needs I64");

	list.items[list.count - 1] =
		(struct safetensors_item){"fc.num_batches_tracked", 0, NULL, .ints = ints};
	expect_refusal(&model, &list, "'fc.num_batches_tracked' does not belong");
	free_model(&model);
}

static void weights_of_another_net_are_refused(void **state)
{
	struct model batch = make_model("resnet20-cifar", "bn");
	struct model group = make_model("resnet20-cifar", "gn-ws");
	struct err err;

	save(&batch);
	assert_int_equal(load(&group, &err), ERR_INPUT);
	assert_says(err, "num_batches_tracked' does not belong");
	save(&group);
	assert_int_equal(load(&batch, &err), ERR_INPUT);
	assert_non_null(
		strstr(err.message, "tensor 'bn1.running_mean' of resnet20-cifar is missing"));
	free_model(&batch);
	free_model(&group);
}

/* Writes the model's file again with one tensor left out, or with other numbers in it. */
static void rewrite(const char *name, const float *floats, int64_t count)
{
	struct safetensors_item items[16];
	struct safetensors *file = open_file();
	struct err err = {0};
	struct arena arena = {0};
	int kept = 0;

	for (int i = 0; i < safetensors_count(file); i++) {
		const struct safetensor *tensor = safetensors_at(file, i);
		const bool ints = !strcmp(tensor->dtype, "I64"),
			   other = !strcmp(tensor->name, name);
		void *values = arena_new(&arena, tensor->count, 8);

		if (other && !floats)
			continue;
		assert_ok(ints ? safetensors_read_int64(file, tensor, values, &err)
			       : safetensors_read_float(file, tensor, values, &err),
			err);
		items[kept] = (struct safetensors_item){tensor->name, tensor->dims, tensor->shape};
		if (ints)
			items[kept].ints = values;
		else
			items[kept].floats = other ? floats : values;
		if (other)
			items[kept].shape = &count;
		kept++;
	}
	assert_ok(safetensors_save(in_folder("other"), items, kept, NULL, 0, &err), err);
	safetensors_close(file);
	arena_release(&arena);
	assert_int_equal(rename(in_folder("other"), path), 0);
}

static void a_scale_is_whole_and_sound(void **state)
{
	enum { FLOATS = 3 * 16 * 12 };
	static float mean[FLOATS], factor[FLOATS], again[2][FLOATS];
	static int64_t seen[FLOATS], seen_again[FLOATS];
	struct scale scale = {FLOATS, mean, factor}, read = {FLOATS, again[0], again[1]};
	struct model model = make_model("linear", NULL);
	const struct weights weights = {
		model.net, model.params, .scale = &scale, .scale_seen = seen};
	static const struct {
		const char *name, *words;
		bool missing;
		int64_t count;
		float last;
		int code;
	} rows[] = {
		{"input.mean", "tensor 'input.mean' is missing", true, 0, 0, ERR_INPUT},
		{"input.factor", "tensor 'input.factor' is missing", true, 0, 0, ERR_INPUT},
		{"input.seen", "tensor 'input.seen' is missing", true, 0, 0, ERR_INPUT},
		{"input.mean", "has shape (9), the net needs (576)", false, 9, 0, ERR_INPUT},
		{"input.mean", "impossible numbers", false, FLOATS, NAN, ERR_FORMAT},
		{"input.factor", "impossible numbers", false, FLOATS, INFINITY, ERR_FORMAT},
		{"input.factor", "impossible numbers", false, FLOATS, -1, ERR_FORMAT},
	};
	struct safetensors *file;
	struct err err = {0};

	for (int i = 0; i < FLOATS; i++) {
		mean[i] = (float)i;
		factor[i] = 1 / (1 + (float)i);
		seen[i] = 3 * i;
	}
	save(&model);
	file = open_file();
	assert_false(weights_has_scale(file));
	safetensors_close(file);
	assert_ok(weights_save(path, &weights, &err), err);
	assert_int_equal(load(&model, &err), 0);
	file = open_file();
	assert_true(weights_has_scale(file));
	assert_ok(weights_load_scale(model.net, file, &read, seen_again, &err), err);
	safetensors_close(file);
	assert_memory_equal(again[0], mean, sizeof(mean));
	assert_memory_equal(again[1], factor, sizeof(factor));
	assert_memory_equal(seen_again, seen, sizeof(seen));
	for (size_t i = 0; i < COUNT(rows); i++) {
		float numbers[FLOATS] = {0};

		numbers[FLOATS - 1] = rows[i].last;
		assert_ok(weights_save(path, &weights, &err), err);
		rewrite(rows[i].name, rows[i].missing ? NULL : numbers, rows[i].count);
		file = open_file();
		assert_int_equal(
			weights_load_scale(model.net, file, &read, seen_again, &err), rows[i].code);
		assert_says(err, rows[i].words);
		safetensors_close(file);
	}
	free_model(&model);
}

static int try_save(void *context, struct err *err)
{
	const struct model *model = context;

	unlink(path);
	const struct weights weights = {model->net, model->params, model->stats};
	int code = weights_save(path, &weights, err);
	assert_int_equal(folder_names(false), code ? 0 : 1);
	return code;
}

static void failing_memory_is_an_error(void **state)
{
	struct model model = make_model("resnet20-cifar", "bn");
	struct err err;

	assert_true(each_allocation_fails(try_save, &model) > 1);

	/* Loading an open file takes no memory at all. */
	struct safetensors *file = open_file();
	uint64_t before = mem_count();
	assert_int_equal(weights_load(model.net, file, model.params, model.stats, &err), 0);
	assert_int_equal(mem_count(), before);
	safetensors_close(file);
	free_model(&model);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		path_test(what_is_saved_loads),
		path_test(batch_norm_counters_are_written),
		path_test(what_does_not_fit_is_refused),
		path_test(weights_of_another_net_are_refused),
		path_test(a_scale_is_whole_and_sound),
		path_test(failing_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
