/*
 * A run's configuration: what wins over what, bundles and what they set, mistakes
 * that change nothing, and the file that a run leaves behind.
 */
#include "../base/check.h"
#include "../base/folder.h"

#include <glob.h>

#include "base/file.h"
#include "streams/order.h"
#include "config/app_config.h"

/* A config of a file's words (NULL: no file) and of settings. */
static struct config *config_of(const char *file, const char *const *settings)
{
	struct config *config;
	struct err err;

	assert_ok(config_new(&config, &app_scope, &err), err);
	if (file) {
		assert_ok(file_write(in_folder("config"), file, strlen(file), &err), err);
		assert_ok(config_load(config, in_folder("config"), &err), err);
	}
	for (; settings && *settings; settings++)
		assert_ok(config_assign(config, *settings, &err), err);
	return config;
}

static struct options *resolved(struct config *config)
{
	struct options *options;
	struct err err;

	assert_ok(config_resolve(config, &options, &err), err);
	config_free(config);
	return options;
}

/* All keys with their values. */
static char *text_of(struct options *options)
{
	struct text words = {0};
	struct err err;

	assert_ok(options_write(options, &words, &err), err);
	options_free(options);
	return words.data;
}

static void layers_win_in_their_order(void **state)
{
	struct options *o = resolved(config_of(
		"[run]\nbatch = 7\nseed = 5\n", SETTINGS("run.seed=6", "schedule.factor=0.25")));

	(void)state;
	assert_int_equal(options_int(o, "run.iterations"), 8);
	assert_int_equal(options_int(o, "run.batch"), 7);
	assert_int_equal(options_int64(o, "run.seed"), 6);
	assert_true(options_float(o, "schedule.factor") == 0.25);
	assert_non_null(strstr(options_source(o, "run.batch"), "config:2"));
	assert_string_equal(options_source(o, "run.seed"), "--set");
	assert_string_equal(options_source(o, "drift.steps"), "stream.preset = small");
	assert_int_equal(options_origin(o, "run.batch"), ORIGIN_FILE);
	assert_int_equal(options_origin(o, "run.seed"), ORIGIN_CALL);
	assert_int_equal(options_origin(o, "drift.steps"), ORIGIN_PRESET);
	assert_int_equal(options_origin(o, "schedule.kind"), ORIGIN_DEFAULT);
	options_free(o);
	/* Each built-in stream has a preset to start from. */
	o = resolved(config_of(NULL, SETTINGS("stream.source=photos")));
	assert_string_equal(options_text(o, "stream.preset"), "photos-small");
	assert_string_equal(options_text(o, "model.arch"), "resnet20-cifar");
	assert_string_equal(options_source(o, "photos.steps"), "stream.preset = photos-small");
	options_free(o);
	o = resolved(config_of(NULL, SETTINGS("stream.preset=photos-std")));
	assert_string_equal(options_text(o, "stream.source"), "photos");
	assert_int_equal(options_int(o, "photos.steps"), 5000);
	options_free(o);
	/* The last of several settings counts. */
	o = resolved(config_of(NULL, SETTINGS("run.seed=6", "run.seed=7")));
	assert_int_equal(options_int64(o, "run.seed"), 7);
	options_free(o);
}

static void keys_refine_the_bundle_beside_them(void **state)
{
	static const char *const files[] = {
		"[run]\nmethod = adam+clr\n[schedule]\nrate = 0.5\n[stream]\npreset = std\n"
		"[drift]\nsteps = 77\n",
		"[schedule]\nrate = 0.5\n[drift]\nsteps = 77\n[stream]\npreset = std\n"
		"[run]\nmethod = adam+clr\n"};
	struct options *o;

	(void)state;
	for (size_t i = 0; i < COUNT(files); i++) {
		o = resolved(config_of(files[i], NULL));
		assert_true(options_float(o, "schedule.rate") == 0.5);
		assert_int_equal(options_int(o, "drift.steps"), 77);
		assert_string_equal(options_text(o, "optimizer.kind"), "adam");
		assert_int_equal(options_int64(o, "schedule.window"), 500);
		options_free(o);
	}
	o = resolved(config_of(NULL, SETTINGS("schedule.rate=0.5", "drift.steps=77",
					     "run.method=adam+clr", "stream.preset=std")));
	assert_true(options_float(o, "schedule.rate") == 0.5);
	assert_int_equal(options_int(o, "drift.steps"), 77);
	options_free(o);
}

static void a_later_bundle_replaces(void **state)
{
	/* Its own keys win over the file's, other keys of the file stay. */
	struct options *o = resolved(config_of("[run]\nmethod = ama+malr\nbatch = "
					       "9\n[average]\nkind = ema\n[schedule]\nkind = rwp\n",
		SETTINGS("run.method=sgd+clr")));

	(void)state;
	assert_string_equal(options_text(o, "average.kind"), "none");
	assert_string_equal(options_text(o, "schedule.kind"), "constant");
	assert_string_equal(options_text(o, "run.method"), "sgd+clr");
	assert_int_equal(options_int(o, "run.batch"), 9);
	options_free(o);

	/* What only the replaced bundle said is gone: ADAM's rate is not SGD's. */
	o = resolved(config_of("[run]\nmethod = adam+clr\n", SETTINGS("run.method=sgd+clr")));
	assert_true(options_float(o, "schedule.rate") == 0.2);
	assert_true(options_float(o, "optimizer.decay") == 1e-4);
	options_free(o);

	/* So is what a suffix said, in a saved config, too. */
	o = resolved(config_of("[run]\nmethod = ama+malr+fast\n[optimizer]\ndecay = pool\n"
			       "[fast]\nparts = 0.3:0.97\n",
		SETTINGS("run.method=ama+malr")));
	assert_true(options_float(o, "optimizer.decay") == 1e-4);
	assert_string_equal(options_text(o, "fast.parts"), "none");
	options_free(o);
	o = resolved(config_of("[run]\nmethod = ama+malr\n[optimizer]\ndecay = 0.001\n",
		SETTINGS("run.method=sgd+clr")));
	assert_true(options_float(o, "optimizer.decay") == 1e-3);
	options_free(o);

	o = resolved(config_of(
		"[stream]\npreset = long\n[drift]\nsteps = 9\n", SETTINGS("stream.preset=std")));
	assert_int_equal(options_int(o, "drift.steps"), 20000);
	options_free(o);
}

/* The defaults are those of the method that they name. */
static void the_default_method_is_what_it_says(void **state)
{
	char *plain = text_of(resolved(config_of(NULL, NULL)));
	char *named = text_of(
		resolved(config_of(NULL, SETTINGS("run.method=ama+malr", "stream.preset=small"))));

	(void)state;
	assert_string_equal(plain, named);
	mem_free(plain);
	mem_free(named);
}

static void assert_method_refused(const char *name, const char *why)
{
	struct config *config = config_of(NULL, NULL);
	struct err err;

	assert_int_equal(config_set(config, "run.method", name, &err), ERR_INPUT);
	assert_says(err, name);
	assert_says(err, why);
	config_free(config);
}

/* A suffix comes after what the method says, and the name gives the run back; or it is refused. */
static void methods_have_suffixes(void **state)
{
	static const struct {
		const char *name, *why;
	} wrong[] = {
		{"ama+malr+slow", "no such suffix as +slow; there are +recency, +pool, +fast, "
				  "+heads, +parts"},
		{"+fast", "no such method"},
		{"ama+malr+fast+fast", "+fast twice"},
		{"ama+malr+fast+pool", "+pool goes before +fast"},
		{"ama+malrfast", "no such method; did you mean ama+malr?"},
		{"er+recency", "+recency does not go with er, whose batches are half"},
		{"gdumb+pool+fast", "+fast does not go with gdumb, which starts again"},
		{"gdumb+parts", "+parts does not go with gdumb, which starts again"},
		{"ama+malr+parts+heads", "+heads goes before +parts"},
	};
	const char *why;

	(void)state;
	for (const struct bundle *method = methods; method->name; method++)
		for (const struct bundle *row = method_suffixes; row->name; row++) {
			char setting[80], *first, *second;
			struct options *o;

			snprintf(setting, sizeof(setting), "run.method=%s%s", method->name,
				row->name);
			if (!bundle_goes(method, row, &why)) {
				assert_method_refused(strchr(setting, '=') + 1, why);
				continue;
			}
			o = resolved(config_of(NULL, SETTINGS(setting)));
			assert_true(options_float(o, "replay.recency_share") ==
				    (row == &method_suffixes[0] ? 0.1 : 0));
			assert_true(!strcmp(options_text(o, "fast.mix_by"), "pool") ==
				    !strcmp(row->name, "+parts"));
			first = text_of(o);
			second = text_of(resolved(config_of(first, NULL)));
			assert_string_equal(first, second);
			mem_free(first);
			mem_free(second);
		}
	for (size_t i = 0; i < COUNT(wrong); i++)
		assert_method_refused(wrong[i].name, wrong[i].why);
}

/* Every method says all that distinguishes methods, so that one replaces another whole. */
static void methods_are_complete(void **state)
{
	static const char *const keys[] = {
		"replay.objective=", "optimizer.kind=", "average.kind=", "schedule.kind=",
		"replay.holdout=", "replay.recency_share=", "fast.parts=", "fast.heads="};

	(void)state;
	for (const struct bundle *method = methods; method->name; method++) {
		assert_true(*method->help);
		for (size_t i = 0; i < COUNT(keys); i++) {
			int said = 0;

			for (const char *const *s = method->settings; *s; s++)
				said += !strncmp(*s + (**s == '~'), keys[i], strlen(keys[i]));
			if (said != 1)
				fail_msg("%s says %s %d times", method->name, keys[i], said);
		}
	}
}

static void resolved_configs_are_read_back(void **state)
{
	(void)state;
	for (const struct bundle *method = methods; method->name; method++)
		for (const struct bundle *preset = presets; preset->name; preset++) {
			char one[80], two[80], *first, *second;

			snprintf(one, sizeof(one), "run.method=%s", method->name);
			snprintf(two, sizeof(two), "stream.preset=%s", preset->name);
			first = text_of(resolved(config_of(
				NULL, SETTINGS(one, two, "run.batch=17", "schedule.rate=0.1"))));
			second = text_of(resolved(config_of(first, NULL)));
			assert_string_equal(first, second);
			mem_free(first);
			mem_free(second);
		}
}

static void mistakes_change_nothing(void **state)
{
	static const struct {
		const char *setting, *words[3];
	} rows[] = {
		{"run.method=ama+marl",
			{"run.method = ama+marl", "did you mean ama+malr?", "--set"}},
		{"run.method=zzzzzzzzzzzz", {"run.method = zzzzzzzzzzzz", "retain list", "--set"}},
		{"stream.preset=smal", {"stream.preset = smal", "did you mean small?", "--set"}},
		{"stream.source=drfit", {"stream.source", "drfit", "drift"}},
		{"schedule.epsilom=0.1",
			{"schedule.epsilom", "did you mean schedule.epsilon?", ""}},
		{"schedule.rate=-1", {"schedule.rate", "-1", "[0, inf)"}},
		{"average.gamma=1", {"average.gamma", "1", "(0, 1)"}},
		{"average.gamma=0", {"average.gamma", "0", "(0, 1)"}},
		{"average.delta=1", {"average.delta", "1", "(1, inf)"}},
		{"run.iterations=0", {"run.iterations", "0", "[1, inf)"}},
		{"run.batch=many", {"run.batch", "many", ""}},
		{"run.batch", {"run.batch", "", ""}},
		{"", {"", "", ""}},
	};
	struct config *config = config_of("[run]\nbatch = 7\n", SETTINGS("run.seed=6"));
	struct options *options;
	char *before, *after;
	struct err err;

	(void)state;
	assert_ok(config_resolve(config, &options, &err), err);
	before = text_of(options);
	for (size_t i = 0; i < COUNT(rows); i++) {
		err = (struct err){0};
		if (config_assign(config, rows[i].setting, &err) != ERR_INPUT)
			fail_msg("%s is no mistake", rows[i].setting);
		for (int w = 0; w < 3; w++)
			assert_says(err, rows[i].words[w]);
	}
	assert_int_equal(config_set(config, "run.method", "sgd", &err), ERR_INPUT);
	assert_int_equal(config_load(config, in_folder("none"), &err), ERR_FILE);
	assert_says(err, "none");
	assert_ok(config_resolve(config, &options, &err), err);
	after = text_of(options);
	assert_string_equal(before, after);
	mem_free(before);
	mem_free(after);
	/* And it can still be set. */
	assert_ok(config_set(config, "run.method", "sgd+clr", &err), err);
	config_free(config);
}

static void mistakes_in_files_name_their_line(void **state)
{
	static const struct {
		const char *file, *words[2];
	} rows[] = {
		{"[run]\nseed = 1\nmethod = ama+marl\n", {"config:3", "did you mean ama+malr?"}},
		{"[run]\nseed = 1\n\n[stream]\npreset = stdd\n", {"config:5", "did you mean std?"}},
		{"[run]\nsed = 1\n", {"config:2", "run.seed"}},
		{"[run]\nseed = -1\n", {"config:2", "run.seed"}},
		{"[rum]\nseed = 1\n", {"config:", "rum"}},
		{"[run]\nseed = 1\nseed = 2\n", {"config:3", "run.seed"}},
	};
	struct config *config = config_of("[run]\nbatch = 7\n", NULL);
	struct options *options;
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_ok(file_write(in_folder("config"), rows[i].file, strlen(rows[i].file), &err),
			err);
		if (!config_load(config, in_folder("config"), &err))
			fail_msg("taken: %s", rows[i].file);
		for (int w = 0; w < 2; w++)
			assert_says(err, rows[i].words[w]);
	}
	/* The first file is still the one. */
	assert_ok(file_write(in_folder("config"), "[run]\nbatch = 7\n", 16, &err), err);
	options = resolved(config);
	assert_int_equal(options_int(options, "run.batch"), 7);
	options_free(options);
}

static int make(void *context, struct err *err)
{
	struct config *config = NULL;
	struct options *options = NULL;
	int code = config_new(&config, &app_scope, err);

	if (!code)
		code = config_load(config, context, err);
	if (!code)
		code = config_set(config, "run.method", "sgd+clr", err);
	if (!code)
		code = config_resolve(config, &options, err);
	options_free(options);
	config_free(config);
	return code;
}

static void every_allocation_may_fail(void **state)
{
	char path[400];
	struct err err;

	(void)state;
	strcpy(path, in_folder("config"));
	assert_ok(file_write(path, "[run]\nbatch = 7\n", 16, &err), err);
	assert_true(each_allocation_fails(make, path) > 10);
}

/* The first two lines of a config say what the data is and where to put its path. */
static bool begins_with_words(const char *path)
{
	struct err err = {0};
	char *words;
	size_t size;
	bool fine;

	assert_ok(file_read(path, 1 << 16, &words, &size, &err), err);
	fine = *words == '#' && strstr(words, "\n# ") == strchr(words, '\n') &&
	       strstr(words, "stream.source");
	mem_free(words);
	return fine;
}

static bool is_known(const char *source)
{
	for (int k = 0; records_types[k]; k++) {
		const size_t size = strlen(records_types[k]->name);

		if (!strncmp(source, records_types[k]->name, size) && source[size] == ':')
			return true;
	}
	return false;
}

static void configs_of_the_paper_resolve(void **state)
{
	const struct records_info info = {.count = 1000, .classes = 10, .parted = true};
	char pattern[600];
	glob_t found;

	(void)state;
	snprintf(pattern, sizeof(pattern), "%s/../configs/*.ini", getenv("RETAIN_TESTS"));
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= 6);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct order_config order;
		struct options *options;
		struct config *config;
		struct err err = {0};

		assert_ok(config_new(&config, &app_scope, &err), err);
		assert_ok(config_load(config, found.gl_pathv[i], &err), err);
		assert_ok(config_resolve(config, &options, &err), err);
		assert_ok(order_config_read(&order, &info, options, &err), err);
		if (!is_known(options_text(options, "stream.source")) ||
			!begins_with_words(found.gl_pathv[i]))
			fail_msg("%s: an unknown source, or no words about the data",
				found.gl_pathv[i]);
		options_free(options);
		config_free(config);
	}
	globfree(&found);
}

/* What a run that is resumed may find in its folder. */
static void saved_configs_are_compared_by_key(void **state)
{
	static const struct {
		const char *saved;
		const char *how; /* NULL: nothing differs */
	} rows[] = {
		{"[run]\nseed = 5\n", NULL},
		/* In whatever order, with defaults or without. */
		{"[schedule]\nfactor = 0.5\n[run]\nbatch = 64\nseed = 5\n", NULL},
		/* Keys that may change. */
		{"[run]\nseed = 5\ncheckpoint_every = 7s\non_nan = rollback\n"
		 "[engine]\nthreads = 9\nisa = baseline\nconv = own\n"
		 "[stream]\ncache = 1\nloaders = 3\non_bad = skip\n"
		 "[stdin]\nwaiting = 9\nremember = 5000\non_bad = error\n",
			NULL},
		/* Before there was such a key it was off. */
		{"[run]\nseed = 5\n[model]\nscale = off\n", NULL},
		{"[run]\nseed = 5\n[model]\nscale = auto\n", "model.scale = auto, not off"},
		/* Another program's section. */
		{"[window]\ncolour = red\n[run]\nseed = 5\n", NULL},
		{"[run]\nseed = 6\n", "run.seed = 6, not 5"},
		{"[engine]\nthreads = 2\n", "run.seed = 1, not 5"},
		{"[run]\nseed = 5\n[schedule]\nfactor = 0.25\n", "schedule.factor = 0.25, not 0.5"},
		{"[run]\nseed = 5\n[schedule]\nfaktor = 0.5\n",
			"its config:4: schedule.faktor: no such key"},
		{"[run]\nseed = 5\nbatch = many\n", "its config:3: run.batch = many"},
		{"[run\n", "its config:1"},
	};
	struct options *now;
	struct err err = {0};

	(void)state;
	assert_ok(config_defaults(&now, &app_scope, &err), err);
	assert_ok(options_set(now, "run.seed", "5", "test", &err), err);
	assert_ok(options_set(now, "model.scale", "off", "test", &err), err);
	assert_ok(options_set(now, "schema.dates", "no", "test", &err), err);
	assert_ok(options_set(now, "table.ids", "keep", "test", &err), err);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const int code =
			config_differs(now, rows[i].saved, strlen(rows[i].saved), true, &err);

		if (rows[i].how)
			assert_true(code == ERR_INPUT || code == ERR_FORMAT);
		if (rows[i].how ? strstr(err.message, rows[i].how) != err.message : code)
			fail_msg("%s: %s", rows[i].saved, err.message);
	}
	options_free(now);
}

static int compare_with_saved(void *context, struct err *err)
{
	return config_differs(context, "[run]\nseed = 1\n", 15, true, err);
}

static void comparing_may_run_out_of_memory(void **state)
{
	struct options *now;
	struct err err = {0};

	(void)state;
	assert_ok(config_defaults(&now, &app_scope, &err), err);
	assert_ok(options_set(now, "model.scale", "off", "test", &err), err);
	assert_ok(options_set(now, "schema.dates", "no", "test", &err), err);
	assert_ok(options_set(now, "table.ids", "keep", "test", &err), err);
	assert_true(each_allocation_fails(compare_with_saved, now) >= 3);
	options_free(now);
}

/* By whoever goes on with a run that is there. */
static void what_is_left_open_is_as_saved(void **state)
{
	static const struct {
		const char *said, *saved, *adopted;
	} rows[] = {
		{"auto", "[run]\nseed = 1\n", "off"},
		{"auto", "[model]\nscale = running\n", "running"},
		{"auto", "[model]\nscale = auto\n[engine]\nisa = baseline\n", "auto"},
		{"running", "[run]\nseed = 1\n", "running"},
	};
	struct err err = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct options *now;

		assert_ok(config_defaults(&now, NULL, &err), err);
		assert_ok(options_set(now, "model.scale", rows[i].said, "test", &err), err);
		assert_ok(config_adopt(now, rows[i].saved, strlen(rows[i].saved), &err), err);
		assert_string_equal(options_text(now, "model.scale"), rows[i].adopted);
		assert_string_equal(options_text(now, "engine.isa"), "auto");
		options_free(now);
	}
}

/* A run's config says all that there was to say: a key that it lacks is not for the data. */
static void a_saved_config_leaves_nothing_open(void **state)
{
	static const char saved[] = "[run]\nmethod = schedule-free+recency\nbatch = 7\n"
				    "[window]\ncolour = red\n[schedule]\nretired = 3\n";
	struct config *config = config_of(NULL, NULL);
	struct options *o;
	struct err err;

	(void)state;
	assert_ok(file_write(in_folder("config.ini"), saved, strlen(saved), &err), err);
	assert_int_equal(config_load(config, in_folder("config.ini"), &err), ERR_INPUT);
	assert_ok(file_write(in_folder("metrics.csv"), "", 0, &err), err);
	for (int i = 0; i < 2; i++) {
		assert_ok(config_load(config, in_folder(i ? "" : "config.ini"), &err), err);
		assert_ok(config_resolve(config, &o, &err), err);
		assert_int_equal(options_origin(o, "run.batch"), ORIGIN_FOLDER);
		assert_int_equal(options_origin(o, "schedule.rate"), ORIGIN_ABSENT);
		assert_int_equal(options_origin(o, "model.scale"), ORIGIN_ABSENT);
		assert_true(options_said(o, "fast.parts"));
		assert_true(options_float(o, "schedule.rate") == 0.5);
		assert_true(options_float(o, "replay.recency_share") == 0.1);
		assert_string_equal(options_text(o, "model.scale"), "off");
		options_free(o);
	}
	config_free(config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(layers_win_in_their_order),
		folder_test(keys_refine_the_bundle_beside_them),
		folder_test(a_later_bundle_replaces),
		folder_test(the_default_method_is_what_it_says),
		folder_test(methods_are_complete),
		folder_test(methods_have_suffixes),
		folder_test(resolved_configs_are_read_back),
		folder_test(a_saved_config_leaves_nothing_open),
		folder_test(mistakes_change_nothing),
		folder_test(mistakes_in_files_name_their_line),
		folder_test(every_allocation_may_fail),
		cmocka_unit_test(saved_configs_are_compared_by_key),
		cmocka_unit_test(comparing_may_run_out_of_memory),
		cmocka_unit_test(what_is_left_open_is_as_saved),
		cmocka_unit_test(configs_of_the_paper_resolve),
	};

	return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
