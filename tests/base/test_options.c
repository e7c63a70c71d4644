#include "check.h"

#include "base/file.h"
#include "base/options.h"
#include "folder.h"

static const struct option_row run_rows[] = {
	{"run", "seed", OPTION_INT64, "1", "[0, inf)", "the seed of everything random"},
	{"run", "threads", OPTION_INT, "4", "[1, 64]", "threads to work with", OPTION_MAY_CHANGE},
	{"run", "resume", OPTION_BOOL, "false", NULL, "go on where a run was left"},
	{"run", "output", OPTION_TEXT, "runs/latest", NULL, "the folder of the run"},
	{NULL},
};

static const struct option_row method_rows[] = {
	{"schedule", "epsilon", OPTION_FLOAT, "0.01", "(0, 1]", "the least gain that counts"},
	{"schedule", "kind", OPTION_CHOICE, "rwp", "clr | rwp|malr", "how the rate changes"},
	{"schedule", "offset", OPTION_INT, "0", NULL, "iterations to skip"},
	{"run", "budget", OPTION_FLOAT, "1e6", NULL, "a second table may add to a section"},
	{NULL},
};

static const struct option_row *const tables[] = {run_rows, method_rows, NULL};

static struct options *options;

static int options_make(void **state)
{
	struct err err;

	return options_new(&options, tables, &err) || folder_make(state);
}

static int options_drop(void **state)
{
	options_free(options);
	options = NULL;
	return folder_remove(state);
}

static void defaults(void **state)
{
	(void)state;
	assert_int_equal(options_int64(options, "run.seed"), 1);
	assert_int_equal(options_int(options, "run.threads"), 4);
	assert_false(options_bool(options, "run.resume"));
	assert_string_equal(options_text(options, "run.output"), "runs/latest");
	assert_true(options_float(options, "schedule.epsilon") == 0.01);
	assert_string_equal(options_text(options, "schedule.kind"), "rwp");
	assert_int_equal(options_choice(options, "schedule.kind"), 1);
	assert_true(options_float(options, "run.budget") == 1e6);
	assert_int_equal(options_origin(options, "run.seed"), ORIGIN_DEFAULT);
}

static void settings(void **state)
{
	static const char *const good[] = {
		"run.seed=9223372036854775807",
		" run.threads = 64 ",
		"run.resume=yes",
		"run.output=/data/a=b;c #d",
		"schedule.epsilon=1",
		"schedule.kind=malr",
		"schedule.offset=-2147483648",
		"run.budget=-2.5e-3",
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(good); i++)
		if (options_assign(options, good[i], "--set", &err))
			fail_msg("%s", err.message);
	assert_true(options_int64(options, "run.seed") == INT64_MAX);
	assert_int_equal(options_int(options, "run.threads"), 64);
	assert_true(options_bool(options, "run.resume"));
	assert_string_equal(options_text(options, "run.output"), "/data/a=b;c #d");
	assert_true(options_float(options, "schedule.epsilon") == 1);
	assert_int_equal(options_choice(options, "schedule.kind"), 2);
	assert_string_equal(options_text(options, "schedule.kind"), "malr");
	assert_int_equal(options_int(options, "schedule.offset"), INT32_MIN);
	assert_true(options_float(options, "run.budget") == -2.5e-3);
	assert_string_equal(options_source(options, "run.seed"), "--set");
	assert_int_equal(options_origin(options, "run.seed"), ORIGIN_CALL);
}

static void truth_has_many_spellings(void **state)
{
	static const char *const yes[] = {"true", "yes", "on", "1"};
	static const char *const no[] = {"false", "no", "off", "0"};
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(yes); i++) {
		assert_int_equal(options_set(options, "run.resume", yes[i], "x", &err), 0);
		assert_true(options_bool(options, "run.resume"));
		assert_int_equal(options_set(options, "run.resume", no[i], "x", &err), 0);
		assert_false(options_bool(options, "run.resume"));
	}
}

static void bad_settings_say_what_is_right(void **state)
{
	static const struct {
		const char *setting, *message;
	} rows[] = {
		{"run.threads=0", "--set: run.threads = 0: must be a whole number in [1, 64]"},
		{"run.threads=65", "[1, 64]"},
		{"run.threads=4294967298", "[1, 64]"},
		{"run.threads=3.5", "a whole number"},
		{"run.threads=", "a whole number"},
		{"run.threads=four", "run.threads = four"},
		{"run.threads=1 2", "run.threads = 1 2"},
		{"run.threads=0x10", "a whole number"},
		{"run.seed=-1", "run.seed = -1: must be a whole number in [0, inf)"},
		{"run.seed=9223372036854775808", "a whole number"},
		{"schedule.offset=2147483648", "in [-2147483648, 2147483647]"},
		{"schedule.epsilon=0", "schedule.epsilon = 0: must be a number in (0, 1]"},
		{"schedule.epsilon=1.0000001", "(0, 1]"},
		{"schedule.epsilon=nan", "a number"},
		{"run.budget=inf", "run.budget = inf: must be a number"},
		{"run.budget=1e999", "a number"},
		{"run.budget=1,5", "a number"},
		{"schedule.kind=cosine", "schedule.kind = cosine: must be one of clr | rwp|malr"},
		{"schedule.kind=rw", "one of"},
		{"schedule.kind=", "one of"},
		{"schedule.kind=|", "one of"},
		{"run.resume=maybe", "run.resume = maybe: must be true or false"},
		{"run.output=a ;b", "run.output"},
		{"run.output=;b", "run.output"},
		{"run.output=a\nb", "run.output"},
		{"run.seed", "--set: run.seed: must be section.name=value"},
	};
	struct text before = {0}, after = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(options_write(options, &before, &err), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (options_assign(options, rows[i].setting, "--set", &err) != ERR_INPUT)
			fail_msg("%s was accepted", rows[i].setting);
		assert_says(err, rows[i].message);
	}
	assert_int_equal(options_write(options, &after, &err), 0);
	assert_string_equal(before.data, after.data);
	text_release(&before);
	text_release(&after);
}

static void unknown_keys_bring_suggestions(void **state)
{
	static const struct {
		const char *key, *message;
	} rows[] = {
		{"schedule.epsilom",
			"x: schedule.epsilom: no such key; did you mean schedule.epsilon?"},
		{"schedule.epislon", "did you mean schedule.epsilon?"},
		{"schedul.epsilon", "schedul.epsilon: no such key; did you mean schedule.epsilon?"},
		{"seed", "did you mean run.seed?"},
		{"epsilo", "did you mean schedule.epsilon?"},
		{"run.tread", "did you mean run.threads?"},
		{"shedule.temperature", "[shedule]: no such section; did you mean [schedule]?"},
		{"schedule.temperature", "x: schedule.temperature: no such key"},
		{"kitchen.temperature", "x: [kitchen]: no such section"},
		{"temperature", "x: temperature: no such key"},
		{"schedule", "x: schedule: is a section, whose keys are schedule.epsilon, "
			     "schedule.kind, "
			     "schedule.offset"},
		{"", "no such key"},
		{".", "no such"},
	};
	struct err err = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_int_equal(options_set(options, rows[i].key, "1", "x", &err), ERR_INPUT);
		assert_says(err, rows[i].message);
	}
	assert_int_equal(options_set(options, "kitchen.temperature", "1", "x", &err), ERR_INPUT);
	assert_null(strstr(err.message, "did you mean"));
}

static int read_words(const char *words, struct err *err)
{
	return options_read_text(options, "conf.ini", words, strlen(words), err);
}

static void files_are_read(void **state)
{
	static const char words[] = "\xef\xbb\xbf# a comment\r\n"
				    "[run]\r\n"
				    "seed = 7 ; my number\r\n"
				    "  threads=2\n"
				    "output: some where\n"
				    "\n"
				    "[schedule] ; about rates\n"
				    "; epsilon = 3\n"
				    "\tepsilon = 0.5\n"
				    "[run]\n"
				    "resume = on";
	struct err err = {0};

	(void)state;
	if (file_write(in_folder("conf.ini"), words, sizeof(words) - 1, &err) ||
		options_read(options, in_folder("conf.ini"), &err))
		fail_msg("%s", err.message);
	assert_int_equal(options_int64(options, "run.seed"), 7);
	assert_int_equal(options_int(options, "run.threads"), 2);
	assert_string_equal(options_text(options, "run.output"), "some where");
	assert_true(options_float(options, "schedule.epsilon") == 0.5);
	assert_true(options_bool(options, "run.resume"));
	assert_string_equal(
		strrchr(options_source(options, "schedule.epsilon"), '/'), "/conf.ini:9");
	assert_string_equal(strrchr(options_source(options, "run.resume"), '/'), "/conf.ini:11");
	assert_int_equal(options_origin(options, "run.resume"), ORIGIN_FILE);
	assert_int_equal(options_origin(options, "schedule.kind"), ORIGIN_DEFAULT);
	/* A second file may set the same keys again, and a setting comes on top of both. */
	assert_int_equal(read_words("[run]\nseed=8\n", &err), 0);
	assert_string_equal(options_source(options, "run.seed"), "conf.ini:2");
	assert_int_equal(options_assign(options, "run.seed=9", "--set", &err), 0);
	assert_int_equal(options_int64(options, "run.seed"), 9);
}

static void options_are_compared(void **state)
{
	static const char foreign[] = "[window]\ncolour = red\n[run]\nthreads = 8\n";
	struct options *other;
	struct err err = {0};

	(void)state;
	assert_int_equal(options_assign(options, "run.seed=7", "--set", &err), 0);
	assert_int_equal(options_defaults(&other, options, &err), 0);
	assert_string_equal(options_value(other, "run.seed"), "1");
	assert_string_equal(options_difference(options, other)->name, "seed");
	assert_int_equal(options_assign(other, "run.seed=07", "--set", &err), 0);
	assert_null(options_difference(options, other));
	/* A key that may change, and a section that nobody knows. */
	assert_int_equal(
		options_read_saved(other, "file", foreign, strlen(foreign), true, &err), 0);
	assert_int_equal(options_int(other, "run.threads"), 8);
	assert_null(options_difference(options, other));
	assert_int_equal(
		options_read_text(other, "file", foreign, strlen(foreign), &err), ERR_INPUT);
	assert_non_null(options_row(other, "run.threads"));
	assert_null(options_row(other, "window.colour"));
	options_free(other);
}

static void bad_files_name_the_line(void **state)
{
	static const struct {
		const char *words;
		int code;
		const char *message;
	} rows[] = {
		{"[run]\nseed = 1\n\nthreads = 99\n", ERR_INPUT,
			"conf.ini:4: run.threads = 99: must be a whole number in [1, 64]"},
		{"[run]\nseed = 1\n; again\nseed = 1\n", ERR_INPUT,
			"conf.ini:4: run.seed was set before, in line 2"},
		{"[schedule]\n\nepsilom = 1\n", ERR_INPUT,
			"conf.ini:3: schedule.epsilom: no such key; did you mean "
			"schedule.epsilon?"},
		{"[schedul]\nepsilon = 1\n", ERR_INPUT, "conf.ini:1: [schedul]: no such section"},
		{"seed = 1\n", ERR_INPUT, "conf.ini:1: seed stands before any [section]"},
		{"[run]\nseed\n", ERR_FORMAT, "conf.ini:2: neither [section] nor name = value"},
		{"[run\nseed = 1\n", ERR_FORMAT, "conf.ini:1: neither"},
		{"[run]\n= 1\n", ERR_INPUT, "conf.ini:2: run."},
		/* The first of several faults, whoever finds it. */
		{"[run]\nwhat\nseed = x\n", ERR_FORMAT, "conf.ini:2:"},
		{"[run]\nseed = x\nwhat\nthreads = y\n", ERR_INPUT, "conf.ini:2: run.seed = x"},
	};
	struct err err = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		if (read_words(rows[i].words, &err) != rows[i].code)
			fail_msg("%zu: %s", i, err.message);
		assert_says(err, rows[i].message);
	}
	assert_int_equal(options_read_text(options, "bin", "[run]\0", 6, &err), ERR_FORMAT);
	assert_says(err, "bin: not a text file");
	assert_int_equal(options_read(options, in_folder("none.ini"), &err), ERR_FILE);
	assert_says(err, "none.ini");
	assert_int_equal(options_read(options, "/dev/zero", &err), ERR_FORMAT);
	assert_int_equal(read_words("", &err), 0);
	assert_int_equal(read_words("[run]\nseed = x", NULL), ERR_INPUT);
}

/* A path of 150 to 1000 bytes; some with blanks, so that the reader's cut falls on one. */
static void long_lines_are_read_whole(void **state)
{
	static char words[1100], line[4000];
	struct err err = {0};

	(void)state;
	for (size_t size = 150; size <= 1000; size += size < 230 ? 1 : 110)
		for (size_t every = 2; every < 40; every += 9) {
			for (size_t i = 0; i < size; i++)
				words[i] =
					i % every == 1 && i + 1 < size ? ' ' : (char)('a' + i % 26);
			words[size] = '\0';
			snprintf(line, sizeof(line),
				"[run]\n   output = %s   ; and a comment\nseed = 5\n", words);
			if (read_words(line, &err))
				fail_msg("%s", err.message);
			assert_string_equal(options_text(options, "run.output"), words);
			assert_int_equal(options_int64(options, "run.seed"), 5);
		}
	memset(words, 'x', sizeof(words) - 1);
	snprintf(line, sizeof(line), "; %s\n# %s\n%s\n", words, words, words);
	assert_int_equal(read_words(line, &err), ERR_FORMAT);
	assert_says(err, "conf.ini:3:");
	snprintf(line, sizeof(line), "[%s]\nseed = 1\n", words);
	assert_int_equal(read_words(line, &err), ERR_INPUT);
	assert_says(err, "conf.ini:1: [xxx");
	snprintf(line, sizeof(line), "[run]\nseed = 1%s\n", words);
	assert_int_equal(read_words(line, &err), ERR_INPUT);
	assert_says(err, "conf.ini:2: run.seed = 1xxx");
}

static void resolved_config_reads_back(void **state)
{
	static const char *const given[] = {
		"run.seed=123456789012345678",
		"run.resume=1",
		"run.output=out  put: [x] = #y;z",
		"schedule.epsilon=0.1000000000000000055511151231257827",
		"run.budget=3.3333333333333335e-7",
		"schedule.kind=clr",
	};
	struct options *again;
	struct text first = {0}, second = {0};
	struct err err = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(given); i++)
		assert_int_equal(options_assign(options, given[i], "--set", &err), 0);
	assert_int_equal(options_write(options, &first, &err), 0);
	assert_string_equal(first.data, "[run]\n"
					"seed = 123456789012345678\n"
					"threads = 4\n"
					"resume = true\n"
					"output = out  put: [x] = #y;z\n"
					"budget = 3.3333333333333335e-07\n"
					"\n"
					"[schedule]\n"
					"epsilon = 0.1\n"
					"kind = clr\n"
					"offset = 0\n");
	assert_int_equal(options_new(&again, tables, &err), 0);
	if (options_read_text(again, "resolved", first.data, first.size, &err))
		fail_msg("%s", err.message);
	assert_int_equal(options_write(again, &second, &err), 0);
	assert_string_equal(first.data, second.data);
	assert_true(options_float(again, "run.budget") == options_float(options, "run.budget"));
	options_free(again);
	text_release(&first);
	text_release(&second);
}

static void help_comes_from_the_rows(void **state)
{
	struct text help = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(options_assign(options, "schedule.kind=clr", "--set", &err), 0);
	assert_int_equal(options_help(options, "schedule", &help, &err), 0);
	assert_string_equal(help.data, "[schedule]\n"
				       "  epsilon = 0.01              a number in (0, 1]\n"
				       "      the least gain that counts\n"
				       "  kind = rwp                  one of clr | rwp|malr\n"
				       "      how the rate changes\n"
				       "  offset = 0                  a whole number in "
				       "[-2147483648, 2147483647]\n"
				       "      iterations to skip\n");
	text_release(&help);
	assert_int_equal(options_help(options, NULL, &help, &err), 0);
	for (size_t t = 0; tables[t]; t++)
		for (const struct option_row *row = tables[t]; row->section; row++)
			assert_non_null(strstr(help.data, row->help));
	text_release(&help);
	assert_int_equal(options_help(options, "shedule", &help, &err), ERR_INPUT);
	assert_string_equal(err.message, "[shedule]: no such section; did you mean [schedule]?");
	assert_null(help.data);
}

static void bad_rows_are_found(void **state)
{
	static const struct option_row bad[][2] = {
		{{"a", "b", OPTION_INT, "5", "[0, 4]", ""}, {NULL}},
		{{"a", "b", OPTION_INT, "5", "0..9", ""}, {NULL}},
		{{"a", "b", OPTION_INT, "5", "[0, many]", ""}, {NULL}},
		{{"a", "b", OPTION_INT, "5", "[0, 9] or so", ""}, {NULL}},
		{{"a", "b", OPTION_FLOAT, "5", "{0, 9}", ""}, {NULL}},
		{{"a", "b", OPTION_FLOAT, "five", NULL, ""}, {NULL}},
		{{"a", "b", OPTION_CHOICE, "x", NULL, ""}, {NULL}},
		{{"a", "b", OPTION_CHOICE, "x", "y | z", ""}, {NULL}},
		{{"a", "b", OPTION_BOOL, "true", "[0, 1]", ""}, {NULL}},
		{{"a", "b", (enum option_type)17, "x", NULL, ""}, {NULL}},
		{{"run", "seed", OPTION_INT, "1", NULL, "twice"}, {NULL}},
	};
	struct options *made;
	struct err err = {0};

	(void)state;
	for (size_t i = 0; i < COUNT(bad); i++) {
		const struct option_row *const set[] = {run_rows, bad[i], NULL};

		if (options_new(&made, set, &err) != ERR_STATE)
			fail_msg("row %zu was accepted", i);
		assert_null(made);
		assert_says(err, i + 1 < COUNT(bad) ? "option row a.b: " : "option row run.seed: ");
	}
}

static int load_and_write(void *context, struct err *err)
{
	struct options *made;
	struct text out = {0};
	int code = options_new(&made, tables, err);

	if (!code)
		code = options_read(made, context, err);
	if (!code)
		code = options_assign(made, "schedule.epsilon=0.5", "--set", err);
	if (!code)
		code = options_write(made, &out, err);
	if (!code)
		code = options_help(made, NULL, &out, err);
	text_release(&out);
	options_free(made);
	return code;
}

static void memory_runs_out(void **state)
{
	/* Long enough for the arena to need a second chunk while the file is read. */
	static char words[100000] = "[run]\noutput = ";
	char path[400];
	struct err err = {0};

	(void)state;
	memset(words + strlen(words), 'x', 90000);
	strcpy(path, in_folder("conf.ini"));
	assert_int_equal(file_write(path, words, strlen(words), &err), 0);
	assert_true(each_allocation_fails(load_and_write, path) >= 7);
}

/* A constant that was a key: only a saved config may say otherwise, and what it said is kept. */
static void retired_keys(void **state)
{
	static const struct option_row rows[] = {
		{"world", "modes", OPTION_INT, "3", "[1, 9]", "modes of a class", OPTION_RETIRED},
		{"world", "steps", OPTION_INT, "7", NULL, "steps"},
		{"gone", "images", OPTION_TEXT, "", NULL, "nothing", OPTION_RETIRED},
		{NULL},
	};
	static const char saved[] = "[world]\nmodes = 5\nsteps = 9\n[gone]\nimages = x\n";
	struct options *now, *then;
	struct text text = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(options_new(&now, (const struct option_row *[]){rows, NULL}, &err), 0);
	assert_string_equal(options_at(now, 0)->name, "steps");
	assert_null(options_at(now, 1));
	assert_int_equal(options_int(now, "world.modes"), 3);
	assert_int_equal(options_assign(now, "world.modes = 3", "--set", &err), 0);
	assert_int_equal(options_read_text(now, "f", "[gone]\nimages =\n", 16, &err), 0);
	assert_int_equal(options_assign(now, "world.modes=5", "--set", &err), ERR_INPUT);
	assert_string_equal(err.message, "--set: world.modes = 5: is no longer a key, and stays 3 "
					 "(modes of a class): leave it out");
	assert_int_equal(options_read_text(now, "f", saved, strlen(saved), &err), ERR_INPUT);
	assert_int_equal(options_defaults(&then, now, &err), 0);
	assert_int_equal(options_read_saved(then, "old", saved, strlen(saved), true, &err), 0);
	assert_int_equal(options_int(then, "world.modes"), 5);
	assert_string_equal(options_difference(now, then)->name, "steps");
	assert_int_equal(options_overlay(now, then, &err), 0);
	assert_int_equal(options_int(now, "world.modes"), 5);
	assert_int_equal(options_write(now, &text, &err), 0);
	assert_string_equal(text.data, "[world]\nsteps = 9\nmodes = 5\n");
	text_release(&text);
	assert_int_equal(options_help(now, "world", &text, &err), 0);
	assert_null(strstr(text.data, "modes"));
	text_release(&text);
	options_free(then);
	options_free(now);
}

#define options_test(f) cmocka_unit_test_setup_teardown(f, options_make, options_drop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		options_test(defaults),
		options_test(settings),
		options_test(truth_has_many_spellings),
		options_test(bad_settings_say_what_is_right),
		options_test(unknown_keys_bring_suggestions),
		options_test(files_are_read),
		options_test(options_are_compared),
		options_test(bad_files_name_the_line),
		options_test(long_lines_are_read_whole),
		options_test(resolved_config_reads_back),
		options_test(help_comes_from_the_rows),
		options_test(bad_rows_are_found),
		options_test(retired_keys),
		options_test(memory_runs_out),
	};

	return cmocka_run_group_tests_name("options", tests, NULL, NULL);
}
