/* Keys that nobody set follow from the data, and nobody's word is overruled. */
#include "../base/check.h"
#include "../base/folder.h"

#include "base/file.h"
#include "config/app_defaults.h"
#include "config/app_config.h"
#include "session/config/defaults.h"

static struct options *made(const char *const *settings)
{
	struct options *options;
	struct err err;
	int count = 0;

	while (settings[count])
		count++;
	assert_ok(app_config_make(&options, NULL, NULL, settings, count, &err), err);
	return options;
}

static const char *table(void)
{
	static const char words[] = "x,y,class\n1,2,a\n3,4,b\n5,6,a\n7,8,b\n";
	static char setting[600];
	struct err err;

	assert_ok(file_write(in_folder("t.csv"), words, sizeof(words) - 1, &err), err);
	snprintf(setting, sizeof(setting), "stream.source=%s", in_folder("t.csv"));
	return setting;
}

static void assert_value(const struct options *o, const char *key, const char *value)
{
	if (strcmp(options_value(o, key), value) != 0)
		fail_msg("%s = %s, not %s", key, options_value(o, key), value);
}

static void rows_come_one_by_one(void **state)
{
	struct options *o = made(SETTINGS(table()));

	(void)state;
	assert_value(o, "run.method", "schedule-free+recency+fast");
	assert_value(o, "optimizer.kind", "schedule-free");
	assert_value(o, "schedule.rate", "0.5");
	assert_value(o, "optimizer.decay", "pool");
	assert_value(o, "model.arch", "mlp:64");
	assert_value(o, "stream.per_step", "1");
	assert_value(o, "stream.eval", "held");
	assert_value(o, "replay.holdout", "0.05");
	assert_value(o, "schedule.window", "auto");
	assert_value(o, "fast.parts", "none");
	assert_value(
		o, "fast.heads", "newton, hidden, labels, windows, forest, young, values, sparse");
	/* A batch for each row. */
	assert_true(options_float(o, "run.step_epochs") == options_int(o, "run.batch"));
	assert_false(options_said(o, "run.batch"));
	assert_int_equal(options_origin(o, "run.batch"), ORIGIN_DATA);
	assert_int_equal(options_origin(o, "schedule.rate"), ORIGIN_METHOD);
	assert_int_equal(options_origin(o, "stream.source"), ORIGIN_CALL);
	options_free(o);
	/* What has evaluation samples of its own needs none that are held out. */
	o = made(SETTINGS(table(), "run.method=sgd+clr", "stream.eval=every:20"));
	assert_value(o, "replay.holdout", "0");
	options_free(o);
}

static void what_is_said_stays(void **state)
{
	struct options *o = made(SETTINGS(table(), "run.method=ama+malr", "run.iterations=3",
		"run.batch=7", "schedule.patience=400", "schedule.window=200"));

	(void)state;
	assert_value(o, "average.kind", "ama");
	assert_value(o, "optimizer.kind", "sgd");
	assert_value(o, "fast.parts", "none");
	assert_value(o, "fast.heads", "none");
	assert_value(o, "run.iterations", "3");
	assert_value(o, "run.step_epochs", "0");
	assert_value(o, "run.batch", "7");
	assert_value(o, "schedule.window", "200");
	assert_value(o, "average.serve", "best");
	assert_value(o, "stream.per_step", "1");
	options_free(o);

	/* Who composes a method has the paper's for the rest. */
	o = made(SETTINGS(table(), "average.kind=ema", "replay.holdout=0"));
	assert_value(o, "run.method", "ama+malr");
	assert_value(o, "optimizer.kind", "sgd");
	assert_value(o, "average.kind", "ema");
	assert_value(o, "stream.eval", "auto");
	assert_value(o, "schedule.window", "auto");
	assert_value(o, "average.serve", "best");
	options_free(o);
}

/* Naming the default method changes nothing, and +fast means the same after every method. */
static void a_name_changes_nothing(void **state)
{
	struct options *nobody = made(SETTINGS(table()));
	struct options *named = made(SETTINGS(table(), "run.method=schedule-free+recency+fast"));
	struct options *other = made(SETTINGS(table(), "run.method=ama+malr+fast"));
	struct options *heads = made(SETTINGS(table(), "run.method=ama+malr+fast+heads"));
	struct options *drift = made(SETTINGS("run.method=schedule-free+recency+fast"));
	struct text first = {0}, second = {0};
	struct err err;

	(void)state;
	assert_ok(options_write(nobody, &first, &err), err);
	assert_ok(options_write(named, &second, &err), err);
	assert_string_equal(first.data, second.data);
	assert_value(other, "fast.heads",
		"newton, hidden, labels, windows, forest, young, values, sparse");
	assert_value(other, "fast.parts", options_value(named, "fast.parts"));
	assert_int_equal(options_origin(named, "fast.parts"), ORIGIN_DATA);
	assert_value(heads, "fast.heads", "ridge, knn");
	assert_value(drift, "fast.heads", "none");
	assert_int_equal(options_origin(drift, "fast.parts"), ORIGIN_HINT);
	text_release(&first);
	text_release(&second);
	options_free(nobody);
	options_free(named);
	options_free(other);
	options_free(heads);
	options_free(drift);
}

/* All keys of a run are in its config, so nothing is left to derive. */
static void a_saved_config_is_itself_again(void **state)
{
	struct options *o = made(SETTINGS(table())), *again;
	struct text first = {0}, second = {0};
	struct err err;

	(void)state;
	assert_ok(options_write(o, &first, &err), err);
	assert_ok(file_write(in_folder("saved.ini"), first.data, strlen(first.data), &err), err);
	assert_ok(app_config_make(&again, in_folder("saved.ini"), NULL, NULL, 0, &err), err);
	assert_false(defaults_wanted(again));
	assert_ok(options_write(again, &second, &err), err);
	assert_string_equal(first.data, second.data);
	text_release(&first);
	text_release(&second);
	options_free(o);
	options_free(again);
}

static void pipes_are_as_files(void **state)
{
	static const char *const keys[] = {"run.method", "run.batch", "run.step_epochs",
		"model.arch", "schedule.rate", "optimizer.kappa", "fast.parts", "fast.heads",
		"replay.holdout", NULL};
	struct options *file = made(SETTINGS(table()));
	struct options *pipe = made(SETTINGS("stream.source=stdin"));
	struct options *pictures = made(SETTINGS("stream.source=stdin", "model.input=3,32,32"));
	struct options *large = made(SETTINGS("stream.source=stdin", "model.input=3,64,97"));
	struct options *still =
		made(SETTINGS("stream.source=stdin", "model.input=3,32,32", "stream.order=random"));
	struct options *net =
		made(SETTINGS("stream.source=stdin", "model.input=3,32,32", "model.arch=net:own"));
	struct options *vectors = made(SETTINGS("stream.source=stdin", "model.input=32,1,1"));

	(void)state;
	for (const char *const *key = keys; *key; key++)
		assert_value(pipe, *key, options_value(file, *key));
	assert_value(pipe, "stdin.per_step", "1");
	assert_value(pictures, "model.arch", "cnn:16,32,64,128");
	assert_value(pictures, "fast.layers", "head");
	assert_value(pictures, "fast.heads", "units, near, labels, gist");
	assert_value(pictures, "fast.mix_by", "pool");
	assert_value(still, "fast.layers", "all");
	assert_value(still, "fast.heads", "gist");
	assert_value(still, "fast.mix_by", "pool");
	assert_value(net, "fast.heads", "none");
	assert_value(net, "fast.mix_by", "all");
	assert_value(vectors, "model.arch", "mlp:64");
	assert_value(large, "model.arch", "resnet18");
	assert_value(large, "run.step_epochs", "8");
	options_free(file);
	options_free(pipe);
	options_free(pictures);
	options_free(large);
	options_free(still);
	options_free(net);
	options_free(vectors);
}

static void built_in_streams_have_presets(void **state)
{
	struct options *o = made(SETTINGS("stream.source=drift"));

	(void)state;
	assert_value(o, "run.method", "ama+malr");
	assert_value(o, "schedule.window", "200");
	assert_value(o, "run.iterations", "8");
	assert_value(o, "run.step_epochs", "0");
	options_free(o);
}

static void data_and_configs_are_told_apart(void **state)
{
	static const struct {
		const char *name, *words;
		bool data;
	} rows[] = {
		{"iris.data", "5.1,3.5,setosa\n4.9,3.0,virginica\n\n", true},
		{"a.txt", "# a table\n\na\tb\n1\t2\n", true},
		{"b.dat", "a|b\n1|2\n", true},
		{"c.txt", "run.seed = 1\nrun.budget = 1, 2\n", false},
		{"d.txt", "[run]\nseed = 1, 2\n", false},
		{"e.txt", "Dear all,\nhere is a file, or so, and more.\n", false},
		{"f.cfg", "a,b\n1,2\n", false},
		{"g.txt", "{\"a\": 1, \"b\": 2}\n{\"a\": 1, \"b\": 2}\n", true},
		{"l.json", "[{\"a\": 1, \"b\": 2}]", true},
		{"m.txt", "{\"id\": 1, \"input\": [1, 2]}\n", false},
		{"n.json", "[1, 2]", false},
		{"h.jsonl", "1,2\n3,4\n", false},
		{"i.txt", "1,2\n", false},
	};
	struct err err;

	(void)state;
	table();
	assert_ok(file_write(in_folder("c.ini"), "[run]\n", 6, &err), err);
	assert_true(app_is_data("-"));
	assert_true(app_is_data(in_folder("t.csv")));
	assert_false(app_is_data(in_folder("c.ini")));
	assert_false(app_is_data(in_folder("none.csv")));
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *path = in_folder(rows[i].name);

		assert_ok(file_write(path, rows[i].words, strlen(rows[i].words), &err), err);
		if (app_is_data(path) != rows[i].data)
			fail_msg("%s: %s", rows[i].name, rows[i].words);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(rows_come_one_by_one),
		folder_test(what_is_said_stays),
		folder_test(a_saved_config_is_itself_again),
		folder_test(pipes_are_as_files),
		folder_test(a_name_changes_nothing),
		cmocka_unit_test(built_in_streams_have_presets),
		folder_test(data_and_configs_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
