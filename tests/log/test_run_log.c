/*
 * Reading run folders back: every file by hand, cut off at every byte, damaged, of
 * another version; runs that go on; finding and grouping runs.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <sys/file.h>
#include <fcntl.h>

#include "run_folder.h"
#include "log/run_log.h"
#include "log/run_set.h"

#define EVENTS                                                                                     \
	"{\"event\": \"window\", \"iteration\": 200, \"loss_sgd\": 3, \"acc_sgd\": 0.5, "          \
	"\"loss_ma1\": 2, \"acc_ma1\": 0.6, \"loss_ma2\": 1, \"acc_ma2\": 0.75, \"best\": 2, "     \
	"\"sigma\": 0.25, \"gamma1\": 0.99, \"gamma2\": 0.95, \"rate\": 0.2}\n"                    \
	"{\"event\": \"task\", \"iteration\": 300, \"words\": [1, 2]}\n"                           \
	"{\"event\": \"cut\", \"iteration\": 12000, \"before\": 0.2, \"after\": 0.1, "             \
	"\"c1\": true, \"c2\": true, \"c3\": true, \"score\": -2.5, \"score_age\": 3000, "         \
	"\"sigma_age\": 3500, \"sigma_mean\": 0.041, \"sigma_error\": 0.005}\n"

#define FACTS                                                                                      \
	"{\"version\": \"0.1.0\", \"threads\": 2, \"stopped\": false, \"late_ir\": null, "         \
	"\"ledger\": {\"iterations\": 7, \"forward_train\": 8, \"forward_samples_validate\": 9, "  \
	"\"backward\": 10, \"averages\": 11}, \"data\": {\"digest\": \"crc32:1\", \"samples\": "   \
	"5}}"

typedef int parse_fn(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err);

/* Parses a copy whose end is the end of a block, so that a sanitizer sees reading on. */
static int parse(parse_fn *fn, struct run_log *log, const char *words, size_t size, struct err *err)
{
	char *bytes = malloc(size + 1);
	int code;

	assert_non_null(bytes);
	memcpy(bytes, words, size);
	bytes[size] = '\0';
	code = fn(log, "file", bytes, size, err);
	free(bytes);
	return code;
}

static void refuses(parse_fn *fn, const char *words, const char *sentence)
{
	struct run_log log = {0};
	struct err err = {0};

	assert_int_equal(parse(fn, &log, words, strlen(words), &err), ERR_FORMAT);
	assert_says(err, sentence);
	run_log_release(&log);
}

static void config(void **state)
{
	struct run_log log = {0};
	struct err err = {0};
	const char words[] =
		"; made by hand\n[run]\nmethod = a = b\n seed=7 \r\n[eval]\ncount = \n";

	(void)state;
	assert_int_equal(parse(run_log_parse_config, &log, words, strlen(words), &err), 0);
	assert_int_equal(log.setting_count, 3);
	assert_string_equal(run_log_setting(&log, "run.method"), "a = b");
	assert_true(run_log_number(&log, "run.seed") == 7);
	assert_string_equal(run_log_setting(&log, "eval.count"), "");
	assert_true(isnan(run_log_number(&log, "eval.count")));
	assert_null(run_log_setting(&log, "run.nothing"));
	run_log_release(&log);
	refuses(run_log_parse_config, "[run]\nseed\n", "file:2: neither");
	refuses(run_log_parse_config, "seed = 1\n", "file:1: seed stands before any [section]");
	refuses(run_log_parse_config, "[run\n", "file:1: neither");
}

static void metrics(void **state)
{
	struct run_log log = {0};
	struct err err = {0};
	const char words[] = METRICS "1,10,0.5,,x\n2,20,,0.1,y\n3,30,0.";

	(void)state;
	/* Unknown columns are left out, missing ones not measured, half a row is none. */
	assert_int_equal(parse(run_log_parse_metrics, &log, words, strlen(words), &err), 0);
	assert_int_equal(log.count, 2);
	assert_true(log.rows[0].ir == 0.5 && isnan(log.rows[0].lr) && isnan(log.rows[0].le));
	assert_true(log.rows[1].iteration == 20 && log.rows[1].lr == 0.1);
	/* Not even a header: a run that is about to begin. */
	assert_int_equal(parse(run_log_parse_metrics, &log, "step,it", 7, &err), 0);
	assert_int_equal(log.count, 0);
	run_log_release(&log);
	refuses(run_log_parse_metrics, "a,b\n1,2\n", "no column \"iteration\"");
	refuses(run_log_parse_metrics, METRICS "1,2\n", "file:2: 2 cells, but there are 5 columns");
	refuses(run_log_parse_metrics, METRICS "1,1,0.1,0,\n1,2,many,0,\n",
		"file:3: ir = \"many\"");
	refuses(run_log_parse_metrics, METRICS "1,,0,0,\n", "file:2: iteration = \"\"");
}

static void events(void **state)
{
	struct run_log log = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(parse(run_log_parse_events, &log, EVENTS, strlen(EVENTS), &err), 0);
	assert_int_equal(log.window_count, 1);
	assert_int_equal(log.cut_count, 1);
	assert_true(log.windows[0].loss_ma == 1 && log.windows[0].acc_ma == 0.75);
	assert_true(log.windows[0].sigma == 0.25 && log.windows[0].gamma2 == 0.95);
	assert_true(
		log.cuts[0].iteration == 12000 && log.cuts[0].c2 && log.cuts[0].sigma_age == 3500);
	run_log_release(&log);
	refuses(run_log_parse_events, "{}\n", "file:1: has no \"event\"");
	refuses(run_log_parse_events, "{\"event\": \"cut\"}\n", "file:1: has no \"iteration\"");
	refuses(run_log_parse_events, EVENTS "{\"event\": cut}\n", "file:4");
	refuses(run_log_parse_events, EVENTS "\n", "file:4");
}

static void matrix(void **state)
{
	struct run_log log = {0};
	struct err err = {0};
	const char words[] = "seen,0,0.5\n0.25,0.5,\n1,0.25,0.75\n";

	(void)state;
	assert_int_equal(parse(run_log_parse_matrix, &log, words, strlen(words), &err), 0);
	assert_true(log.matrix.rows == 2 && log.matrix.bins == 2 && log.matrix.seen[1] == 1);
	assert_true(isnan(log.matrix.cells[1]) && log.matrix.cells[3] == 0.75);
	run_log_release(&log);
	refuses(run_log_parse_matrix, "", "not the header");
	refuses(run_log_parse_matrix, "seen\n", "not the header");
	refuses(run_log_parse_matrix, "seen,0\n0.5,0.5,0.5\n", "file:2: more cells");
	refuses(run_log_parse_matrix, "seen,0,0.5\n0.5,0.5\n", "file:2: fewer cells");
	refuses(run_log_parse_matrix, "seen,0\n0.5,1.5\n", "file:2: a cell is not in");
	refuses(run_log_parse_matrix, "seen,0\n0.5,nan\n", "file:2: a cell is not in");
	refuses(run_log_parse_predictions, "label\n1\n", "file:1: not the header");
	refuses(run_log_parse_predictions, "sample,label,prediction,low,high\n1,2,3,4\n",
		"file:2: not a sample");
	refuses(run_log_parse_predictions, "sample,number,label,prediction,low,high\n1,a,2,3,4\n",
		"file:2: not a sample");
	refuses(run_log_parse_predictions, "sample,label,prediction,low,high\n1,2,3,4,inf\n",
		"file:2: not a sample");
	refuses(run_log_parse_matrix, "seen,0\nx,1\n", "file:2: does not begin with");
	refuses(run_log_parse_matrix, "seen,0\n0.5,1", "file:2: the line breaks off");
}

static const struct run_fact *fact_of(const struct run_log *log, const char *name)
{
	for (size_t i = 0; i < log->fact_count; i++)
		if (!strcmp(log->facts[i].name, name))
			return &log->facts[i];
	return NULL;
}

static void facts(void **state)
{
	struct run_log log = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(parse(run_log_parse_facts, &log, FACTS, strlen(FACTS), &err), 0);
	assert_true(log.has_facts && !log.stopped);
	assert_true(log.ledger.iterations == 7 && log.ledger.forward[LEDGER_TRAIN] == 8);
	assert_true(log.ledger.forward_samples[LEDGER_VALIDATE] == 9 && log.ledger.averages == 11);
	assert_string_equal(fact_of(&log, "version")->word, "0.1.0");
	assert_true(fact_of(&log, "threads")->number == 2);
	assert_string_equal(fact_of(&log, "data.digest")->word, "crc32:1");
	assert_null(fact_of(&log, "late_ir"));
	run_log_release(&log);
	refuses(run_log_parse_facts, "[]", "not a table");
	refuses(run_log_parse_facts, "{\"version\": ", "file");
}

/* Cut off anywhere, or with any byte changed, a file is read or refused, and nothing worse. */
static void damage(void **state)
{
	static const struct {
		parse_fn *fn;
		const char *words;
	} files[] = {
		{run_log_parse_config, "[run]\nseed = 1\n; x\n[eval]\ncount = 4\n"},
		{run_log_parse_metrics, METRICS "1,10,0.5,,x\n2,20,,0.1,y\n"},
		{run_log_parse_events, EVENTS},
		{run_log_parse_matrix, "seen,0,0.5\n0.25,0.5,\n1,0.25,0.75\n"},
		{run_log_parse_facts, FACTS},
	};

	(void)state;
	for (size_t f = 0; f < COUNT(files); f++)
		for (size_t at = 0; at < strlen(files[f].words); at++)
			for (int change = 0; change < 8; change++) {
				static const char into[] = "\0\n,9{\xff";
				char copy[2048];
				size_t size = strlen(files[f].words);
				struct run_log log = {0};
				struct err err = {0};
				int code;

				strcpy(copy, files[f].words);
				if (change < 6)
					copy[at] = into[change];
				else
					size = at + (size_t)(change == 7);
				code = parse(files[f].fn, &log, copy, size, &err);
				if (code && code != ERR_FORMAT)
					fail_msg("file %zu, byte %zu: code %d", f, at, code);
				if (code && !*err.message)
					fail_msg("file %zu, byte %zu: no sentence", f, at);
				run_log_release(&log);
			}
}

static struct run_log *open_run(const char *folder)
{
	struct run_log *log;
	struct err err = {0};

	if (run_log_open(&log, in_tree(folder), RUN_LOG_ALL, &err))
		fail_msg("%s", err.message);
	return log;
}

static void states(void **state)
{
	struct run_log *log;
	int lock;

	(void)state;
	put_run("a", "m", 1, METRICS "1,10,0.5,0.2,\n");
	log = open_run("a");
	assert_int_equal(log->state, RUN_LOG_KILLED);
	assert_true(run_log_progress(log) == 0.25);
	run_log_close(log);
	lock = open(in_tree("a/lock"), O_RDWR | O_CREAT, 0600);
	assert_int_equal(flock(lock, LOCK_EX), 0);
	log = open_run("a");
	assert_int_equal(log->state, RUN_LOG_GOING);
	run_log_close(log);
	put("a", "run.json", "{\"stopped\": true}");
	log = open_run("a");
	assert_int_equal(log->state, RUN_LOG_GOING);
	run_log_close(log);
	close(lock);
	log = open_run("a");
	assert_int_equal(log->state, RUN_LOG_STOPPED);
	run_log_close(log);
	put("a", "run.json", FACTS);
	log = open_run("a");
	assert_int_equal(log->state, RUN_LOG_ENDED);
	run_log_close(log);
}

static void words(void **state)
{
	struct run_log *log;
	struct text out = {0};

	(void)state;
	put_run("a", "m", 1, METRICS);
	put("a", "events.jsonl", EVENTS);
	log = open_run("a");
	run_log_cut_words(log, &log->cuts[0], true, &out);
	assert_string_equal(out.data, "rate 0.2 → 0.1: validation stuck for 3 000 iterations, "
				      "gap not wider for 3 500 iterations, gap 4.1 % > 2 %");
	text_release(&out);
	log->cuts[0].c1 = log->cuts[0].c2 = log->cuts[0].c3 = false;
	run_log_cut_words(log, &log->cuts[0], false, &out);
	assert_string_equal(out.data, "rate 0.2 -> 0.1");
	text_release(&out);
	run_log_close(log);
	put("a", "events.jsonl",
		"{\"event\": \"rollback\", \"iteration\": 1812, \"to\": 1600, "
		"\"count\": 1, \"before\": 0.2, \"after\": 0.1}\n");
	log = open_run("a");
	run_log_cut_words(log, &log->cuts[0], false, &out);
	assert_string_equal(
		out.data, "back to iteration 1 600, since the loss was NaN: rate 0.2 -> 0.1");
	text_release(&out);
	run_log_close(log);
}

static struct run_set *set_of(const char *folder)
{
	const char *path = in_tree(folder);
	struct run_set *set;
	struct err err = {0};

	if (run_set_open(&set, &path, 1, &err))
		fail_msg("%s", err.message);
	return set;
}

static void groups(void **state)
{
	struct run_set *set;

	(void)state;
	put_run("c/ama/seed-1", "ama", 1, METRICS);
	put_run("c/ama/seed-2", "ama", 2, METRICS);
	put_run("c/ama/seed-10", "ama", 10, METRICS);
	put_run("c/sgd", "sgd", 1, METRICS);
	put("c/other", "words.txt", "no run\n");
	set = set_of("c");
	assert_int_equal(set->count, 4);
	assert_int_equal(set->group_count, 2);
	assert_string_equal(set->groups[0].name, "ama");
	assert_int_equal(set->groups[0].count, 3);
	assert_string_equal(set->entries[2].name, "ama, seed 10");
	assert_string_equal(set->entries[3].name, "sgd");
	run_set_close(set);
	/* A comparison says what comes first; what it does not name follows. */
	put("c", "compare.json",
		"{\"runs\": [{\"folder\": \"sgd\"}, {\"folder\": 7}, {\"folder\": "
		"\"ama/seed-2\"}]}");
	set = set_of("c");
	assert_string_equal(set->groups[0].name, "sgd");
	assert_string_equal(set->entries[1].name, "ama, seed 2");
	assert_string_equal(set->entries[2].name, "ama, seed 1");
	run_set_close(set);
	put("c", "compare.json", "{\"runs\": ");
	/* Threads may differ, order means nothing, and what is not said is the default. */
	put("c/ama/seed-10", "config.ini",
		"[engine]\nthreads = 3\n[schedule]\nepsilon = 0.02\nkind = malr\nfactor = 0.5\n"
		"[eval]\ncount = 4\n[run]\nseed = 10\nmethod = ama\n");
	set = set_of("c");
	assert_int_equal(set->group_count, 2);
	assert_int_equal(set->groups[0].count, 3);
	run_set_close(set);
	/* Another setting is another group, and then folders tell more than methods. */
	put_run("c/no-c3/seed-1", "ama", 1, METRICS);
	put("c/no-c3/seed-1", "config.ini",
		"[run]\nmethod = ama\nseed = 1\n[schedule]\nc3 = off\n");
	/* The same run twice is no band. */
	put_run("c/sgd-again", "sgd", 1, METRICS);
	set = set_of("c");
	assert_int_equal(set->group_count, 4);
	assert_string_equal(set->groups[0].name, "ama");
	assert_string_equal(set->groups[1].name, "no-c3");
	assert_string_equal(set->groups[2].name, "sgd");
	assert_string_equal(set->groups[3].name, "sgd-again");
	run_set_close(set);
}

/* No two groups have one name, however alike their folders are. */
static void names_differ(void **state)
{
	struct run_set *set;

	(void)state;
	put_run("d/old/ama/seed-1", "ama", 1, METRICS);
	put_run("d/old/ama/seed-2", "ama", 2, METRICS);
	put_run("d/new/ama/seed-1", "ama", 1, METRICS);
	put("d/new/ama/seed-1", "config.ini",
		"[run]\nmethod = ama\nseed = 1\n[schedule]\nc3 = off\n");
	put_run("d/new/sgd", "sgd", 1, METRICS);
	set = set_of("d");
	assert_int_equal(set->group_count, 3);
	assert_string_equal(set->groups[0].name, "new/ama");
	assert_string_equal(set->groups[1].name, "sgd");
	assert_string_equal(set->groups[2].name, "old/ama");
	assert_string_equal(set->entries[3].name, "old/ama, seed 2");
	run_set_close(set);
	put_run("e/ama/seed-1", "ama", 1, METRICS);
	put_run("e/ama/seed-2", "ama", 1, METRICS);
	set = set_of("e");
	assert_int_equal(set->group_count, 2);
	assert_string_equal(set->groups[0].name, "ama/seed-1");
	assert_string_equal(set->groups[1].name, "ama/seed-2");
	run_set_close(set);
}

static void broken_runs(void **state)
{
	const char *path;
	struct run_set *set;
	struct err err = {0};

	(void)state;
	put_run("c/good", "m", 1, METRICS);
	put_run("c/bad", "m", 2, "x\n");
	set = set_of("c");
	assert_int_equal(set->count, 1);
	assert_int_equal(set->left_out_count, 1);
	assert_non_null(strstr(set->left_out[0], "c/bad/metrics.csv:1: not the header"));
	run_set_close(set);
	path = in_tree("c/bad");
	assert_int_equal(run_set_open(&set, &path, 1, &err), ERR_FORMAT);
	assert_says(err, "c/bad/metrics.csv:1: not the header");
	put("empty", "words.txt", "");
	path = in_tree("empty");
	assert_int_equal(run_set_open(&set, &path, 1, &err), ERR_INPUT);
	assert_says(err, "holds no run");
	path = in_tree("empty/words.txt");
	assert_int_equal(run_set_open(&set, &path, 1, &err), ERR_INPUT);
	assert_says(err, "not a folder");
	path = in_tree("nowhere");
	assert_int_equal(run_set_open(&set, &path, 1, &err), ERR_INPUT);
	assert_says(err, "No such file");
	put("half", "config.ini", "[run]\nmethod = m\n");
	path = in_tree("half");
	assert_int_equal(run_set_open(&set, &path, 1, &err), ERR_FILE);
	assert_says(err, "half/metrics.csv: ");
}

static int open_attempt(void *context, struct err *err)
{
	struct run_set *set;
	const char *path = context;
	const int code = run_set_open(&set, &path, 1, err);

	run_set_close(set);
	return code;
}

static void memory_runs_out(void **state)
{
	char path[400];

	(void)state;
	put_run("c/a/seed-1", "m", 1, METRICS "1,10,0.5,0.2,\n");
	put("c/a/seed-1", "events.jsonl", EVENTS);
	put("c/a/seed-1", "matrix.csv", "seen,0\n0.5,1\n");
	put("c/a/seed-1", "run.json", FACTS);
	put_run("c/a/seed-2", "m", 2, METRICS "1,10,0.5,0.2,\n");
	snprintf(path, sizeof(path), "%s", in_tree("c"));
	assert_true(each_allocation_fails(open_attempt, path) > 10);
}

/* Logs of a year are read in no time, with their last rows and all decisions. */
static void long_logs_are_thinned(void **state)
{
	enum { ROWS = 1000000, CUTS = 10 };
	struct run_log *log;
	struct err err = {0};
	FILE *metrics, *events;

	(void)state;
	put_run("long", "ama", 1, METRICS);
	metrics = fopen(in_tree("long/metrics.csv"), "a");
	events = fopen(in_tree("long/events.jsonl"), "w");
	for (int i = 1; i <= ROWS; i++) {
		fprintf(metrics, "%d,%d,0.5,0.25,12345678\n", i, 10 * i);
		fprintf(events, "{\"event\": \"window\", \"iteration\": %d, \"rate\": 0.5}\n", i);
		if (i % (ROWS / CUTS) == 7)
			fprintf(events, "{\"event\": \"cut\", \"iteration\": %d}\n", i);
	}
	fclose(metrics);
	fclose(events);
	if (run_log_open(&log, in_tree("long"), RUN_LOG_ALL, &err))
		fail_msg("%s", err.message);
	assert_in_range(log->count, ROWS / 4, ROWS / 2 + 1);
	assert_in_range(log->window_count, ROWS / 8, ROWS / 2);
	assert_in_range(log->rows[0].step, 1, 4);
	assert_int_equal(log->rows[log->count - 1].step, ROWS);
	assert_int_equal(log->cut_count, CUTS);
	run_log_close(log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(config),
		cmocka_unit_test(metrics),
		cmocka_unit_test(events),
		cmocka_unit_test(matrix),
		cmocka_unit_test(facts),
		cmocka_unit_test(damage),
		tree_test(states),
		tree_test(words),
		tree_test(groups),
		tree_test(names_differ),
		tree_test(broken_runs),
		tree_test(memory_runs_out),
		tree_test(long_logs_are_thinned),
	};

	return cmocka_run_group_tests_name("run_log", tests, NULL, NULL);
}
