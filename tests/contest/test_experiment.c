/*
 * Experiments: what a file says, mistakes in it, which runs follow from it, and
 * what rules make of numbers worked out by hand.
 */
#include "../base/check.h"
#include "../base/folder.h"

#include <math.h>

#include "base/file.h"
#include "contest/contest.h"
#include "contest/contest_table.h"
#include "contest/experiment.h"
#include "session/log/metrics_file.h"

static const char words[] = "[experiment]\n"
			    "title = Three\n"
			    "figure = 5\n"
			    "seeds = 4, 5,6\n"
			    "show = ir, cost\n"
			    "[base]\n"
			    "drift.steps = 50\n"
			    "[scale laptop]\n"
			    "stream.preset = small\n"
			    "[variant a]\n"
			    "title = The first\n"
			    "run.method = sgd+clr\n"
			    "[variant b]\n"
			    "run.method = sgd+clr\n"
			    "schedule.rate = 0.5\n"
			    "[variant c]\n"
			    "run.method = ama+clr\n"
			    "[rule more]\n"
			    "text = a keeps more than b\n"
			    "metric = ir\n"
			    "of = a\n"
			    "against = b\n"
			    "least = 2\n"
			    "[rule own]\n"
			    "text = c keeps more than its plain model\n"
			    "metric = ir\n"
			    "of = c\n"
			    "against = c\n"
			    "against_metric = ir_sgd\n"
			    "least = 0\n"
			    "most = 1\n"
			    "[rule spread]\n"
			    "text = all are alike\n"
			    "metric = ir\n"
			    "of = a, b, c\n"
			    "most = 5\n";

static int read_words(struct experiment **experiment, const char *text, struct err *err)
{
	assert_int_equal(file_write(in_folder("e.ini"), text, strlen(text), err), 0);
	return experiment_read(experiment, in_folder("e.ini"), err);
}

static void what_a_file_says(void **state)
{
	struct experiment *e;
	const struct experiment_scale *scale;
	struct err err = {0};
	int64_t seeds[EXPERIMENT_SEEDS];

	(void)state;
	if (read_words(&e, words, &err))
		fail_msg("%s", err.message);
	assert_string_equal(e->name, "e");
	assert_string_equal(e->title, "Three");
	assert_int_equal(e->variant_count, 3);
	assert_string_equal(e->variants[0].title, "The first");
	assert_string_equal(e->variants[1].title, "b");
	assert_string_equal(e->variants[1].settings.items[1], "schedule.rate=0.5");
	assert_string_equal(e->base.items[0], "drift.steps=50");
	assert_int_equal(experiment_seeds(e->seeds, seeds, &err), 3);
	assert_true(seeds[0] == 4 && seeds[2] == 6);
	assert_int_equal(experiment_scale(e, NULL, &scale, &err), 0);
	assert_string_equal(scale->name, "laptop");
	assert_int_equal(experiment_scale(e, "huge", &scale, &err), ERR_INPUT);
	assert_says(err, "e has laptop");
	assert_int_equal(e->rule_count, 3);
	assert_true(e->rules[0].least == 2 && isinf(e->rules[0].most) && e->rules[0].against == 1);
	assert_true(e->rules[2].of_count == 3 && e->rules[2].against == -1);
	assert_true(experiment_is(in_folder("e.ini")));
	experiment_free(e);
}

/* A file with one of its words replaced. */
static void mistake(const char *from, const char *to, const char *complaint)
{
	const char *at = strstr(words, from);
	struct text changed = {0};
	struct experiment *e = NULL;
	struct err err = {0};

	assert_non_null(at);
	text_addf(&changed, "%.*s%s%s", (int)(at - words), words, to, at + strlen(from));
	assert_int_equal(read_words(&e, changed.data, &err), ERR_INPUT);
	assert_null(e);
	assert_says(err, complaint);
	text_release(&changed);
}

static void mistakes(void **state)
{
	(void)state;
	mistake("title = Three", "titel = Three", "e.ini:2: titel: no such key in [experiment]");
	mistake("title = Three\n", "", "has a title");
	mistake("against = b\n", "against = b\nless = c\n", "less has two variants");
	mistake("against = b\n", "less = a, c\n", "less has two variants");
	mistake("stream.preset = small\n", "moment = 2\n",
		"moment = 2: must be a share of the run");
	mistake("[variant b]", "[variant b/c]", "[variant b/c]: not a good name");
	mistake("[variant b]", "[variant ..]", "not a good name");
	mistake("[base]", "[bass]", "[bass]: an experiment has");
	mistake("metric = ir", "metric = irr", "no such measure; did you mean ir?");
	mistake("against = b", "against = x", "there is no variant x");
	mistake("of = a\n", "of = a, b\n", "rule more: needs text");
	mistake("least = 2", "least = two", "two is not a number");
	mistake("least = 2\n", "", "rule more: needs text");
	mistake("show = ir", "show = era", "era: no such measure");
	mistake("schedule.rate = 0.5", "schedule.replay = {c}",
		"{c} is no variant that comes before");
	mistake("[rule more]", "[variant b at large]\nrun.batch = 1\n[rule more]",
		"[variant b at large]: there is no scale large");
	mistake("[rule more]", "[variant d at laptop]\nrun.batch = 1\n[rule more]",
		"there is no variant d");
	mistake("[rule more]", "[variant b at laptop]\ntitle = B\n[rule more]", "is not a setting");
	mistake("[scale laptop]", "[scale laptop]\nvariants = a, d", "there is no variant d");
	mistake("figure = 5", "figure = 5\nfigure = 6", "e.ini:4: figure stands here twice");
}

static struct contest *contest_of(struct experiment *e, const char *only, struct err *err)
{
	static const int64_t seeds[] = {4, 5};
	const struct contest_plan plan = {.experiment = e,
		.scale = &e->scales[0],
		.only = only,
		.seeds = seeds,
		.seed_count = 2,
		.settings = (const char *const[]){"eval.count=3"},
		.count = 1,
		.out = in_folder("out")};
	struct contest *contest = NULL;

	if (contest_new(&contest, &plan, err))
		return NULL;
	return contest;
}

static void runs_of_a_contest(void **state)
{
	struct experiment *e;
	struct contest *contest;
	const struct contest_run *run;
	struct err err = {0};

	(void)state;
	assert_int_equal(read_words(&e, words, &err), 0);
	contest = contest_of(e, NULL, &err);
	assert_non_null(contest);
	assert_int_equal(contest->run_count, 6);
	run = contest_run(contest, 1, 1);
	assert_non_null(strstr(run->folder, "out/b/seed-5"));
	assert_int_equal(run->state, CONTEST_ABSENT);
	/* In this order, so that later ones win. */
	assert_int_equal(run->count, 6);
	assert_string_equal(run->settings[0], "drift.steps=50");
	assert_string_equal(run->settings[1], "stream.preset=small");
	assert_string_equal(run->settings[2], "run.method=sgd+clr");
	assert_string_equal(run->settings[4], "run.seed=5");
	assert_string_equal(run->settings[5], "eval.count=3");
	assert_int_equal(run->evaluations, 3);
	contest_free(contest);
	contest = contest_of(e, "b", &err);
	assert_int_equal(contest->variant_count, 1);
	contest_free(contest);
	assert_null(contest_of(e, "b,d", &err));
	assert_says(err, "d: e has no such variant");
	experiment_free(e);
}

/* Needs are found through others, and come first. */
static void needs(void **state)
{
	static const char chain[] = "[experiment]\ntitle = Chain\n[scale s]\ndrift.steps = 9\n"
				    "[variant x]\nrun.method = sgd+clr\n"
				    "[variant y]\nrun.method = sgd+clr\nmodel.arch = {x}\n"
				    "[variant z]\nrun.method = sgd+clr\nmodel.arch = a{y}b\n"
				    "stream.seed = {seed}\n";
	struct experiment *e;
	struct contest *contest;
	struct contest_run *run;
	bool never;
	struct err err = {0};

	(void)state;
	if (read_words(&e, chain, &err))
		fail_msg("%s", err.message);
	contest = contest_of(e, "z", &err);
	if (!contest)
		fail_msg("%s", err.message);
	assert_int_equal(contest->variant_count, 3);
	run = contest_run(contest, 2, 0);
	assert_int_equal(run->needs, 2);
	assert_non_null(strstr(run->settings[2], "model.arch=a"));
	assert_non_null(strstr(run->settings[2], "/out/y/seed-4b"));
	assert_string_equal(run->settings[3], "stream.seed=4");
	assert_false(contest_ready(contest, run, &never));
	assert_false(never);
	contest_run(contest, 1, 1)->state = CONTEST_FINISHED; /* of another seed */
	assert_false(contest_ready(contest, run, &never));
	contest_run(contest, 1, 0)->state = CONTEST_FINISHED;
	assert_true(contest_ready(contest, run, &never));
	contest_run(contest, 1, 0)->state = CONTEST_BEGUN;
	contest_fail(contest_run(contest, 1, 0), "out of luck");
	assert_false(contest_ready(contest, run, &never));
	assert_true(never);
	contest_free(contest);
	experiment_free(e);
}

/* Retention by seed: a 0.50, 0.60; b 0.47, 0.59; c 0.52, 0.57, and its plain model 0.515, 0.56. */
static void fill(struct contest *contest, int variants)
{
	static const double values[3][2] = {{0.50, 0.60}, {0.47, 0.59}, {0.52, 0.57}};
	const int ir = measure_find("ir"), plain = measure_find("ir_sgd");

	for (int v = 0; v < variants; v++)
		for (int seed = 0; seed < 2; seed++) {
			struct contest_run *run = contest_run(contest, v, seed);

			run->state = CONTEST_FINISHED;
			run->values[ir] = values[v][seed];
			run->values[plain] = v == 2 ? values[v][seed] - (seed ? 0.01 : 0.005) : NAN;
		}
}

#define assert_near(is, should)                                                                    \
	do {                                                                                       \
		if (!(fabs((is) - (should)) <= 1e-9))                                              \
			fail_msg("%s is %.12g, not %.12g", #is, (double)(is), (double)(should));   \
	} while (0)

/* Variant b keeps so many points less than a, with both seeds. */
static void set_less(struct contest *contest, double points)
{
	const int ir = measure_find("ir");

	for (int seed = 0; seed < 2; seed++)
		contest_run(contest, 1, seed)->values[ir] =
			contest_run(contest, 0, seed)->values[ir] - points / 100;
}

static void rules(void **state)
{
	struct experiment *e;
	struct contest *contest;
	struct contest_verdicts verdicts;
	struct stats_paired paired;
	struct err err = {0};

	(void)state;
	assert_int_equal(read_words(&e, words, &err), 0);
	contest = contest_of(e, NULL, &err);
	contest_judge(contest, &verdicts);
	assert_string_equal(verdicts.conclusion, "undecided");
	fill(contest, 3);
	contest_judge(contest, &verdicts);
	/* 3 and 1 points, half a point and one, 5 and 3 points: two seeds do not tell. */
	assert_near(verdicts.of[0].value.mean, 2);
	assert_near(verdicts.of[1].value.mean, 0.75);
	assert_near(verdicts.of[2].value.mean, 4);
	assert_int_equal(verdicts.counts[CONTEST_OPEN], 3);
	assert_string_equal(verdicts.conclusion, "open");
	paired = contest_paired(contest, 1, 0, measure_find("ir"));
	assert_near(paired.mean, -2);
	assert_near(paired.error, 1);
	assert_false(paired.clear);
	assert_near(contest_stats(contest, 0, measure_find("ir")).mean, 55);
	/* The same with both seeds: no noise is left. */
	set_less(contest, 2.5);
	contest_judge(contest, &verdicts);
	assert_int_equal(verdicts.of[0].word, CONTEST_MET);
	assert_string_equal(verdicts.conclusion, "partly reproduced");
	set_less(contest, 1.5);
	contest_judge(contest, &verdicts);
	assert_int_equal(verdicts.of[0].word, CONTEST_MISSED);
	assert_string_equal(verdicts.conclusion, "not reproduced");
	contest_run(contest, 0, 0)->state = CONTEST_BEGUN;
	contest_judge(contest, &verdicts);
	assert_int_equal(verdicts.of[0].word, CONTEST_UNDECIDED);
	assert_string_equal(verdicts.conclusion, "undecided");
	contest_free(contest);
	experiment_free(e);
}

/* a leads b by `first` and `second` points of one metric and of the other, give or take `noise`. */
static void set_leads(struct contest *contest, double first, double second, double noise)
{
	const char *const names[] = {"ir", "ft"};
	const double leads[] = {first, second};

	for (int m = 0; m < 2; m++)
		for (int seed = 0; seed < 2; seed++) {
			const int metric = measure_find(names[m]);
			const double lead = leads[m] + (seed ? noise : -noise);

			contest_run(contest, 0, seed)->values[metric] = (30 + lead) / 100;
			contest_run(contest, 1, seed)->values[metric] = 0.3;
		}
}

/* It needs each of them: the weakest is the rule's number. */
static void rules_about_several_metrics(void **state)
{
	static const struct {
		double first, second, noise;
		enum contest_word word;
		const char *weakest;
	} rows[] = {
		{3, 2, 0.001, CONTEST_MET, "ft"},
		{2, 3, 0.001, CONTEST_MET, "ir"},
		{3, 0.5, 1, CONTEST_OPEN, "ft"},
		{3, -2, 0.001, CONTEST_MISSED, "ft"},
		{-2, 3, 0.001, CONTEST_MISSED, "ir"},
		/* Of two seeds that differ by 0.17 of their mean one metric is missed, p = 0.04 to 0.06; either of two is not. */
		{3, -2, 0.14, CONTEST_OPEN, "ft"},
	};
	struct text more = {0};
	struct experiment *e;
	struct contest *contest;
	struct contest_verdicts verdicts;
	struct err err = {0};

	(void)state;
	text_addf(&more, "%s%s", words,
		"[rule both]\ntext = both\nmetric = ir, ft\nof = a\nagainst = b\nleast = 0\n");
	assert_int_equal(read_words(&e, more.data, &err), 0);
	e->rules[0] = e->rules[e->rule_count - 1]; /* alone: Holm has nothing to correct */
	e->rule_count = 1;
	contest = contest_of(e, NULL, &err);
	fill(contest, 3);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		set_leads(contest, rows[i].first, rows[i].second, rows[i].noise);
		contest_judge(contest, &verdicts);
		assert_int_equal(verdicts.of[0].word, rows[i].word);
		assert_int_equal(verdicts.of[0].metric, measure_find(rows[i].weakest));
	}
	contest_run(contest, 0, 0)->values[measure_find("ft")] = NAN;
	contest_judge(contest, &verdicts);
	assert_int_equal(verdicts.of[0].word, CONTEST_UNDECIDED);
	contest_free(contest);
	experiment_free(e);
	text_release(&more);
	mistake("metric = ir\nof = c\nagainst = c", "metric = ir, ft\nof = c\nagainst = c",
		"several metrics no against_metric");
	mistake("metric = ir", "metric = ir, irr", "no such measure; did you mean ir?");
	mistake("metric = ir", "metric = ir, ir, ir, ir, ir, ir, ir, ir, ir",
		"more than 8 metrics");
}

/* The lead of a over b, 3 and 1 points, less that of c over b, 5 and -2; c may be left out. */
static void rules_about_gaps(void **state)
{
	struct experiment *e;
	struct contest *contest;
	struct contest_verdicts verdicts;
	struct text more = {0}, out = {0};
	struct err err = {0};

	(void)state;
	text_addf(&more, "%s%s", words,
		"[rule gap]\ntext = the gap shrinks\nmetric = ir\n"
		"of = a\nagainst = b\nless = c, b\nleast = 0\n");
	assert_int_equal(read_words(&e, more.data, &err), 0);
	contest = contest_of(e, NULL, &err);
	fill(contest, 3);
	contest_judge(contest, &verdicts);
	assert_near(verdicts.of[3].value.mean, 0.5);
	assert_near(verdicts.of[3].value.error, 2.5);
	contest_free(contest);
	contest = contest_of(e, "a,b", &err);
	assert_non_null(contest);
	fill(contest, 2);
	set_less(contest, 1);
	contest_judge(contest, &verdicts);
	assert_int_equal(verdicts.of[3].word, CONTEST_LEFT_OUT);
	assert_int_equal(verdicts.counts[CONTEST_LEFT_OUT], 3);
	assert_string_equal(verdicts.conclusion, "not reproduced");
	contest_table(contest, 0, &out);
	assert_null(strstr(out.data, "the gap shrinks"));
	assert_non_null(strstr(out.data, "should be >= 2; against the claim"));
	text_release(&out);
	text_release(&more);
	contest_free(contest);
	experiment_free(e);
}

static void tables(void **state)
{
	struct experiment *e;
	struct contest *contest;
	struct text out = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(read_words(&e, words, &err), 0);
	contest = contest_of(e, NULL, &err);
	fill(contest, 3);
	contest_table(contest, 0, &out);
	assert_non_null(strstr(out.data, "55.00 ± 7.07"));
	assert_non_null(strstr(out.data, "  open       a keeps more than b: 2.000 [-10.71, 14.71], "
					 "should be >= 2"));
	assert_non_null(strstr(out.data, "Altogether: open. 0 met, 3 open, 0 not met; open: "));
	assert_null(strstr(out.data, "Budgets differ"));
	text_release(&out);
	contest_run(contest, 1, 0)->work = 7;
	contest_table(contest, 0, &out);
	assert_non_null(strstr(out.data,
		"Budgets differ, in samples trained on per time step: a 512, b 7, c 512."));
	text_release(&out);
	contest_table_tex(contest, &out);
	assert_non_null(strstr(out.data, "The first & $55.00 \\pm 7.07$ & -- \\\\"));
	text_release(&out);
	contest_table_csv(contest, &out);
	assert_non_null(strstr(out.data, "variant,runs,le,le_sd,ir,ir_sd,"));
	text_release(&out);
	contest_free(contest);
	experiment_free(e);
}

/* Eight evaluations whose retention is 1 to 8 percent, of the plain model twice that; the last but
 * one did not measure it. */
static void measures_of_a_run(void **state)
{
	/* Of the sixteen bins the last has no samples; the last two rows are late. */
	static const char matrix[] = "seen,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n"
				     "0.1,1,0.5,,,,,,,,,,,,,,\n"
				     "0.2,,,,,,,,,,,,,,,,\n"
				     "0.3,,,,,,,,,,,,,,,,\n"
				     "0.4,0.25,0.75,,,,,,,,,,,,,,\n"
				     "0.5,0.5,,,,,,,,,,,,,,0.2,\n"
				     "0.6,0.5,,,,,,,,,,,,,,0.2,\n"
				     "0.7,0.5,,,,,,,,,,,,,,0.2,\n"
				     "0.8,0.25,0,,,,,,,,,,,,,0.4,\n";
	static const char events[] = "{\"event\": \"cut\", \"iteration\": 6, \"rate_before\": 0.2, "
				     "\"rate_after\": 0.1}\n";
	static const struct {
		const char *name;
		double value;
	} rows[] = {{"ir", 0.08}, {"late_ir", 0.07}, {"early_ir", 0.015}, {"mean_ir", 0.29 / 7},
		{"early_ir_sgd", 0.03}, {"first_cut", 0.75}, {"late_ir_sgd", 0.14}, {"cost", 2},
		{"range1", 0.25}, {"range8", 0.3}, {"mid1", 0.5}, {"tilt", 0.25 - 0.3}};
	struct metrics_file *file;
	struct metrics_row row;
	double values[MEASURES];
	struct run_log *log;
	struct err err = {0};

	(void)state;
	assert_int_equal(metrics_file_open(&file, in_folder("metrics.csv"), 0, &err), 0);
	for (int i = 1; i <= 8; i++) {
		metrics_row_init(&row);
		row.step = row.iteration = row.samples = i;
		row.cost = 2 * i;
		if (i != 7) {
			row.ir = i / 100.0;
			row.ir_sgd = 2 * row.ir;
		}
		assert_int_equal(metrics_file_append(file, &row, &err), 0);
	}
	metrics_file_close(file);
	assert_int_equal(file_write(in_folder("matrix.csv"), matrix, strlen(matrix), &err), 0);
	assert_int_equal(file_write(in_folder("config.ini"), "", 0, &err), 0);
	assert_int_equal(file_write(in_folder("events.jsonl"), events, strlen(events), &err), 0);
	if (run_log_open(&log, folder, RUN_LOG_ALL, &err))
		fail_msg("%s", err.message);
	measure_log(log, 0.125, values);
	assert_near(values[measure_find("mid1")], 0.75);
	measure_log(log, 0.5, values);
	run_log_close(log);
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_near(values[measure_find(rows[i].name)], rows[i].value);
	assert_true(isnan(values[measure_find("ft")]));
	assert_true(isnan(values[measure_find("range2")]));
	for (int i = 0; i < MEASURES; i++)
		assert_true(measures[i].range || measures[i].tilt || measures[i].first_cut
				    ? !measures[i].column
				    : metrics_column(measures[i].column) != NULL);
}

static int attempt(void *context, struct err *err)
{
	struct experiment *e = NULL;
	int code = experiment_read(&e, context, err);

	experiment_free(e);
	return code;
}

static void memory_runs_out(void **state)
{
	char path[400];
	struct err err;

	(void)state;
	snprintf(path, sizeof(path), "%s", in_folder("e.ini"));
	assert_int_equal(file_write(path, words, strlen(words), &err), 0);
	assert_true(each_allocation_fails(attempt, path) > 5);
}

/* What rows of target_types name is there: columns of comparisons, and what one watches. */
static void measures_of_every_target(void **state)
{
	(void)state;
	for (int kind = 0; kind < TARGET_KINDS; kind++) {
		const struct target_words *said = &target_types[kind]->words;
		const char *const lists[] = {said->shown, said->differ};
		char name[64];

		for (size_t i = 0; i < 2; i++)
			for (const char *at = lists[i]; experiment_word(&at, name, sizeof(name));)
				assert_true(measure_find(name) >= 0);
		assert_non_null(metrics_column(said->watched));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(what_a_file_says),
		folder_test(mistakes),
		folder_test(runs_of_a_contest),
		folder_test(needs),
		folder_test(rules),
		folder_test(rules_about_gaps),
		folder_test(rules_about_several_metrics),
		folder_test(tables),
		folder_test(measures_of_a_run),
		cmocka_unit_test(measures_of_every_target),
		folder_test(memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
