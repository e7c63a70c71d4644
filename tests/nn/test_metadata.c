/*
 * Weights files are self-contained: what was saved comes back as the same net with
 * the same numbers and names; files of others, of earlier and of later versions are
 * told apart; damaged words are refused by name.
 */
#include "../base/check.h"
#include "../base/folder.h"
#include <stdlib.h>
#include "nn/weights/metadata.h"
#include "nn/weights/weights_file.h"

static char path[400];

static int make_path(void **state)
{
	int code = folder_make(state);

	snprintf(path, sizeof(path), "%s", in_folder("w.safetensors"));
	return code;
}

#define path_test(f) cmocka_unit_test_setup_teardown(f, make_path, folder_remove)

static struct safetensors *open_file(void)
{
	struct safetensors *file;
	struct err err = {0};

	if (safetensors_open(&file, path, &err))
		fail_msg("%s", err.message);
	return file;
}

/* A net of random weights, written to path. */
static struct weights *saved(const struct net_spec *spec, const char *const *names)
{
	struct weights *weights = NULL;
	struct net *net;
	struct err err = {0};

	assert_int_equal(net_new(&net, spec, &err), 0);
	float *params = mem_new(net_params(net)->floats, sizeof(float));
	float *stats = mem_new(net_stats(net)->floats + 1, sizeof(float));
	net_init(net, 3, params, stats, NULL);
	if (weights_save(path, &(struct weights){net, params, stats, 41, names}, &err) ||
		weights_read(&weights, path, &err))
		fail_msg("%s", err.message);
	assert_memory_equal(weights->params, params, net_params(net)->floats * sizeof(float));
	if (net_stats(net)->floats)
		assert_memory_equal(weights->stats, stats, net_stats(net)->floats * sizeof(float));
	assert_int_equal(weights->iteration, 41);
	mem_free(params);
	mem_free(stats);
	net_free(net);
	return weights;
}

static void what_is_saved_is_rebuilt(void **state)
{
	static const struct net_spec specs[] = {
		{"resnet20-cifar", "gn-ws", 7, 3, 16, 12},
		{"resnet20-cifar", "bn", 7, 5, 16, 12},
		{"resnet18", "none", 7, 3, 40, 33},
		{"mlp:20,10", NULL, 7, 3, 16, 12},
		{"linear", NULL, 1, 1, 1, 1},
	};

	for (size_t i = 0; i < COUNT(specs); i++) {
		struct weights *weights = saved(&specs[i], NULL);
		const struct net_spec *said = net_spec(weights->net), *spec = &specs[i];
		assert_string_equal(said->arch, spec->arch);
		assert_string_equal(said->norm, spec->norm ? spec->norm : "none");
		assert_int_equal(said->classes, spec->classes);
		assert_int_equal(said->channels, spec->channels);
		assert_int_equal(said->height, spec->height);
		assert_int_equal(said->width, spec->width);
		assert_null(weights->class_names);
		weights_free(weights);

		struct safetensors *file = open_file();
		assert_string_equal(safetensors_get(file, "format"), "pt");
		assert_string_equal(safetensors_get(file, "retain.format"), "1");
		assert_string_equal(safetensors_get(file, "retain.iteration"), "41");
		assert_non_null(safetensors_get(file, "retain.version"));
		assert_null(safetensors_get(file, "retain.class_names"));
		safetensors_close(file);
	}
}

static void class_names_may_be_anything(void **state)
{
	static const struct net_spec spec = {"linear", NULL, 9, 2, 1, 1};
	static const char *const given[] = {"cat", "", "a \"quoted\" \\ name, [1]",
		"tab\tline\nend\r", "\x01\x1b[2J\x7f", "\xc3\xa9\xf0\x9f\x90\x88\xe2\x80\xa8",
		"/\\u0041\\", "bad\xff\xc3", NULL};
	static const char *const back[] = {"cat", "", "a \"quoted\" \\ name, [1]",
		"tab\tline\nend\r", "\x01\x1b[2J\x7f", "\xc3\xa9\xf0\x9f\x90\x88\xe2\x80\xa8",
		"/\\u0041\\", "bad??", ""};
	struct weights *weights = saved(&spec, given);

	assert_non_null(weights->class_names);
	for (size_t i = 0; i < COUNT(back); i++)
		assert_string_equal(weights->class_names[i], back[i]);
	weights_free(weights);
}

/* The words of a whole file, of which a test replaces one. */
static const struct safetensors_note whole[] = {
	{"retain.format", "1"},
	{"retain.arch", "linear"},
	{"retain.norm", "none"},
	{"retain.classes", "2"},
	{"retain.input", "3,1,1"},
	{"retain.iteration", "5"},
	{"retain.version", "0.1.0"},
	{"retain.class_names", "[\"a\",\"b\"]"},
};

/* Saves a linear net whose metadata has `value` for `key`; NULL leaves the key out. */
static void save_words(const char *key, const char *value)
{
	static const int64_t weight[] = {2, 3}, bias[] = {2};
	static const float numbers[6] = {1, 2, 3, 4, 5, 6};
	const struct safetensors_item items[] = {
		{"fc.weight", 2, weight, .floats = numbers},
		{"fc.bias", 1, bias, .floats = numbers},
	};
	struct safetensors_note notes[COUNT(whole)];
	struct err err = {0};
	int count = 0;

	for (size_t i = 0; i < COUNT(whole); i++) {
		notes[count] = whole[i];
		if (!strcmp(whole[i].key, key))
			notes[count].value = value;
		count += notes[count].value != NULL;
	}
	if (safetensors_save(path, items, COUNT(items), notes, count, &err))
		fail_msg("%s", err.message);
}

static void damaged_words_are_refused(void **state)
{
	static const struct safetensors_note bad[] = {
		{"retain.format", "0"},
		{"retain.format", "one"},
		{"retain.format", "-1"},
		{"retain.format", "1 "},
		{"retain.classes", ""},
		{"retain.classes", "ten"},
		{"retain.classes", "0"},
		{"retain.classes", "-3"},
		{"retain.classes", " 2"},
		{"retain.classes", "+2"},
		{"retain.classes", "10x"},
		{"retain.classes", "2147483648"},
		{"retain.classes", "99999999999999999999"},
		{"retain.classes", NULL},
		{"retain.input", "3"},
		{"retain.input", "3,32"},
		{"retain.input", "3,32,32,1"},
		{"retain.input", "3,0,32"},
		{"retain.input", "3,,1"},
		{"retain.input", NULL},
		{"retain.arch", "two words"},
		{"retain.arch", NULL},
		{"retain.norm", "bn\x1b[2J"},
		{"retain.norm", NULL},
		{"retain.iteration", "-1"},
		{"retain.iteration", ""},
		{"retain.iteration", "1e3"},
		{"retain.iteration", "9223372036854775808"},
		{"retain.class_names", ""},
		{"retain.class_names", "a,b"},
		{"retain.class_names", "[\"a\",\"b\"] "
				       "x"},
		{"retain.class_names", "[\"a\"]"},
		{"retain.class_names", "[\"a\",\"b\",\"c\"]"},
		{"retain.class_names", "[\"a\",1]"},
		{"retain.class_names", "[\"a\",\"\\u0000\"]"},
		{"retain.class_names", "{\"a\":\"b\",\"c\":\"d\"}"},
		{"retain.class_names", "\"ab\""},
	};
	struct weights *weights;
	struct err err;

	save_words("", NULL);
	assert_int_equal(weights_read(&weights, path, &err), 0);
	assert_int_equal(weights->iteration, 5);
	assert_string_equal(weights->class_names[1], "b");
	assert_true(weights->params[5] == 6);
	weights_free(weights);
	for (size_t i = 0; i < COUNT(bad); i++) {
		save_words(bad[i].key, bad[i].value);
		if (weights_read(&weights, path, &err) != ERR_FORMAT)
			fail_msg("%s = %s was taken", bad[i].key, bad[i].value);
		assert_null(weights);
		assert_says(err, bad[i].key);
		assert_says(err, path);
	}
}

/* Words that are well by themselves, but not those of this file's tensors, or of any net. */
static void words_that_do_not_fit_are_refused(void **state)
{
	static const struct {
		const char *key, *value, *problem;
	} rows[] = {
		{"retain.arch", "resnet1", "model.arch = resnet1: not known"},
		{"retain.norm", "rms", "model.norm = rms: not known"},
		{"retain.input", "3,1,2",
			"tensor 'fc.weight' has shape (2, 3), the net needs (2, 6)"},
		{"retain.arch", "mlp:1000000,1000000,1000000", "does not belong to mlp"},
		{"retain.input", "2147483647,2147483647,2147483647", "numbers in all"},
	};
	struct weights *weights;
	struct err err;

	for (size_t i = 0; i < COUNT(rows); i++) {
		save_words(rows[i].key, rows[i].value);
		assert_int_equal(weights_read(&weights, path, &err), ERR_INPUT);
		assert_null(weights);
		assert_says(err, rows[i].problem);
		assert_says(err, path);
	}
}

static void a_later_format_is_named(void **state)
{
	struct weights *weights;
	struct err err;

	save_words("retain.format", "2");
	assert_int_equal(weights_read(&weights, path, &err), ERR_FORMAT);
	assert_says(err, "format 2, a later retain's");
}

/* What torchvision saves: the tensors of a resnet18, and no word about it. */
static void a_file_of_others_is_told_apart(void **state)
{
	static const struct net_spec spec = {"resnet18", "bn", 7, 3, 32, 32};
	static const struct safetensors_note note = {"format", "pt"};
	struct safetensors_item items[200];
	struct weights *weights = saved(&spec, NULL), *none;
	const struct param_table *tables[] = {net_params(weights->net), net_stats(weights->net)};
	const float *flat[] = {weights->params, weights->stats};
	struct net_spec said;
	struct err err;
	int count = 0;

	for (int t = 0; t < 2; t++)
		for (int i = 0; i < tables[t]->count; i++) {
			const struct param *row = &tables[t]->rows[i];
			items[count++] = (struct safetensors_item){
				row->name, row->dims, row->shape, .floats = flat[t] + row->offset};
		}
	assert_int_equal(safetensors_save(path, items, count, &note, 1, &err), 0);
	weights_free(weights);
	assert_int_equal(weights_read(&none, path, &err), ERR_INPUT);
	assert_null(none);
	assert_says(err, "was not saved by retain");
	assert_says(err, path);

	struct safetensors *file = open_file();
	assert_int_equal(metadata_spec(&said, file, &err), 0);
	assert_true(!said.arch && !said.norm && !said.classes && !said.channels);
	safetensors_close(file);
	assert_int_equal(weights_read(&none, in_folder("nothing"), &err), ERR_FILE);
}

/* Written by retain 0.1.0 before the metadata had a format, iteration and names. */
static void an_old_file_is_read(void **state)
{
	struct weights *weights;
	struct safetensors *file;
	struct err err = {0};
	float numbers[24];

	snprintf(path, sizeof(path), "%s/golden/old/mlp-0.1.0.safetensors", getenv("RETAIN_TESTS"));
	if (weights_read(&weights, path, &err))
		fail_msg("%s", err.message);
	assert_string_equal(net_spec(weights->net)->arch, "mlp:8");
	assert_int_equal(net_spec(weights->net)->classes, 3);
	assert_int_equal(net_spec(weights->net)->channels, 2);
	assert_int_equal(weights->iteration, -1);
	assert_null(weights->class_names);
	file = open_file();
	for (int i = 0; i < net_params(weights->net)->count; i++) {
		const struct param *row = &net_params(weights->net)->rows[i];
		const struct safetensor *tensor = safetensors_find(file, row->name);
		assert_int_equal(safetensors_read_float(file, tensor, numbers, &err), 0);
		assert_memory_equal(
			numbers, weights->params + row->offset, row->count * sizeof(float));
	}
	safetensors_close(file);
	weights_free(weights);
}

static int try_read(void *context, struct err *err)
{
	struct weights *weights;
	int code = weights_read(&weights, path, err);

	weights_free(weights);
	return code;
}

static int try_save(void *context, struct err *err)
{
	return weights_save(path, context, err);
}

static void failing_memory_is_an_error(void **state)
{
	static const struct net_spec spec = {"resnet20-cifar", "bn", 3, 3, 8, 8};
	static const char *const names[] = {"a", "b\xff", "c"};
	struct weights *weights = saved(&spec, names);

	assert_true(each_allocation_fails(try_save, weights) > 3);
	assert_true(each_allocation_fails(try_read, NULL) > 8);
	weights_free(weights);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		path_test(what_is_saved_is_rebuilt),
		path_test(class_names_may_be_anything),
		path_test(damaged_words_are_refused),
		path_test(words_that_do_not_fit_are_refused),
		path_test(a_later_format_is_named),
		path_test(a_file_of_others_is_told_apart),
		path_test(an_old_file_is_read),
		path_test(failing_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
