/*
 * The experiments in experiments/: every variant at every scale is a run that can be
 * opened, and its first evaluation has a time bin. Data sets are not there to be read and
 * nets for them are large, so built-in streams and small nets stand in for them; all else
 * is as the experiment says. At the paper's scales numbers are the paper's.
 */
#include "../stored/stream.h"

#include <math.h>

#include "contest/contest.h"
#include "contest/experiment.h"

/* What stands in for a data set: photos, or the built-in vectors for tables and arrays. */
static const char *const *instead_of(const char *source)
{
	static const char *const photos[] = {"stream.source=photos", "stream.drift=off",
		"model.arch=resnet20-cifar", "photos.size=8", NULL};
	static const char *const vectors[] = {
		"stream.source=drift", "drift.classes=10", "model.arch=mlp:8", NULL};
	static const char *const few[] = {"drift.classes=10", NULL}; /* sooner made */
	static const char *const none[] = {NULL};

	if (!strcmp(source, "drift"))
		return few;
	if (!strncmp(source, "table:", 6) || !strncmp(source, "npy:", 4))
		return vectors;
	return strchr(source, ':') ? photos : none;
}

static struct options *options_of(const char *file, const struct contest_run *run)
{
	struct config *config;
	struct options *options;
	struct err err;

	assert_ok(config_new(&config, &app_scope, &err), err);
	if (file)
		assert_ok(config_load(config, file, &err), err);
	for (int i = 0; i < run->count; i++)
		assert_ok(config_assign(config, run->settings[i], &err), err);
	assert_ok(config_resolve(config, &options, &err), err);
	for (const char *const *s = instead_of(options_text(options, "stream.source")); *s; s++)
		assert_ok(config_assign(config, *s, &err), err);
	options_free(options);
	assert_ok(config_resolve(config, &options, &err), err);
	config_free(config);
	return options;
}

/* IR counts bins that have ended: before the first one ends there is none. */
static bool first_has_a_bin(const struct options *o)
{
	const bool tasks = !strncmp(options_text(o, "stream.order"), "tasks:", 6) ||
			   options_int(o, "photos.tasks") > 0;

	return tasks || !strcmp(options_text(o, "run.form"), "supervised") ||
	       options_int(o, "eval.bins") * options_float(o, "run.stop_after") >=
		       options_int(o, "eval.count");
}

/* What the paper has, by experiment and variant (NULL: all of them). */
static const struct {
	const char *experiment, *variant, *key;
	double value;
} the_papers[] = {
	{"fig1", NULL, "schedule.patience", 60000},
	{"fig1", NULL, "run.iterations", 80},
	{"fig7", NULL, "eval.count", 127},
	/* Gradient steps see as many images as the efficacy model's, 256 new and 256 old; K_W and K_R
	   are the same for both budgets. */
	{"fig11", NULL, "run.batch", 512},
	{"fig11", "ir-1", "run.iterations", 1},
	{"fig11", "ir-5", "run.iterations", 5},
	{"fig11", "le-1", "run.iterations", 1},
	{"fig11", "le-5", "run.iterations", 5},
	{"fig11", "ir-1", "schedule.window", 10000},
	{"fig11", "ir-5", "schedule.window", 10000},
	{"fig11", "ir-1", "schedule.patience", 60000},
	{"fig11", "ir-5", "schedule.patience", 60000},
	/* Updates are counted, not time: 120 |X_t| / 256, MIR half as many. Judged at the end of
	   windows, K_R acts as 20 000. */
	{"fig5", NULL, "run.budget", 0},
	{"fig5", "ama+malr", "run.step_epochs", 120},
	{"fig5", "sgd+cyclic", "run.step_epochs", 120},
	{"fig5", "er", "run.step_epochs", 120},
	{"fig5", "mir", "run.step_epochs", 60},
	{"fig5", "ama+malr", "schedule.patience", 15000},
	{"fig5", "ama+malr", "schedule.window", 10000},
	{"fig13", NULL, "run.budget", 0},
	{"fig13", "sgd+cyclic", "run.step_epochs", 120},
	{"fig13", "er", "run.step_epochs", 120},
	{"fig13", "mir", "run.step_epochs", 60},
	{"fig13", "mir-all", "run.step_epochs", 60},
	/* 120 thousand images in all, with what is held out. */
	{"fig13", "ama+malr", "replay.limit", 114000},
	{"fig13", "ama+malr", "replay.validation_limit", 6000},
	{"fig13", "er", "replay.limit", 120000},
	{"fig13", "mir", "replay.limit", 120000},
	{"fig13", "gdumb", "replay.limit", 120000},
};

static bool checked[COUNT(the_papers)];

static void check_numbers(
	const struct experiment *experiment, const char *variant, const struct options *options)
{
	for (size_t i = 0; i < COUNT(the_papers); i++) {
		const char *value;

		if (strcmp(the_papers[i].experiment, experiment->name) != 0 ||
			(the_papers[i].variant && strcmp(the_papers[i].variant, variant) != 0))
			continue;
		value = options_value(options, the_papers[i].key);
		if (strtod(value, NULL) != the_papers[i].value)
			fail_msg("%s, %s: %s is %s, not %g", experiment->name, variant,
				the_papers[i].key, value, the_papers[i].value);
		checked[i] = true;
	}
}

/* Of 12.2 million iterations and 127 evaluations the first moment of figure 7 is 576 thousand. */
static void check_moment(const struct experiment_scale *scale)
{
	enum { EVALUATIONS = 127 };
	static double cells[EVALUATIONS * EVALUATIONS];
	struct run_log log = {.matrix = {.rows = EVALUATIONS, .bins = EVALUATIONS, .cells = cells}};
	double values[MEASURES];

	for (int i = 0; i < EVALUATIONS * EVALUATIONS; i++)
		cells[i] = i / EVALUATIONS + 1;
	measure_log(&log, scale->moment_share, values);
	assert_true(fabs(values[measure_find("mid1")] / EVALUATIONS * 12.2e6 - 576e3) < 1e3);
}

static void open_run(const struct experiment *experiment, const char *file,
	const struct contest *contest, const struct contest_run *run)
{
	struct options *options = options_of(file, run);
	const struct run_config config = {.options = options, .start = RUN_ANEW};
	struct stored *opened;
	struct err err;

	if (stored_open(&opened, &config, &err))
		fail_msg("%s, %s: %s", experiment->name, run->folder, err.message);
	if (!strcmp(contest->plan.scale->name, "paper"))
		check_numbers(experiment, contest_variant(contest, run->variant), options);
	if (!first_has_a_bin(options))
		fail_msg("%s, %s: eval.bins is below eval.count / run.stop_after", experiment->name,
			run->folder);
	stored_close(opened);
	options_free(options);
}

/* One that follows the rates of another run cannot be opened before that has been. */
static void open_scale(const struct experiment *experiment, const struct experiment_scale *scale)
{
	const int64_t seed = 1;
	char file[EXPERIMENT_PATH];
	struct contest_plan plan = {.experiment = experiment,
		.scale = scale,
		.seeds = &seed,
		.seed_count = 1,
		.out = in_folder("out")};
	struct contest *contest;
	struct err err;

	assert_ok(experiment_config(experiment, scale, file, &err), err);
	plan.config = *file ? file : NULL;
	if (contest_new(&contest, &plan, &err))
		fail_msg("%s, scale %s: %s", experiment->name, scale->name, err.message);
	for (int i = 0; i < contest->run_count; i++)
		if (!contest->runs[i].needs)
			open_run(experiment, plan.config, contest, &contest->runs[i]);
	if (!strcmp(experiment->name, "fig7") && !strcmp(scale->name, "paper"))
		check_moment(scale);
	contest_free(contest);
}

static void every_run_can_be_opened(void **state)
{
	const char *tests = getenv("RETAIN_TESTS");
	struct arena arena = {0};
	const char **names;
	struct err err = {0};
	int count;

	(void)state;
	/* Names are looked for below the current folder. */
	assert_true(tests && !chdir(tests) && !chdir(".."));
	assert_ok(experiment_names(&arena, &names, &count, &err), err);
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		char path[EXPERIMENT_PATH];
		struct experiment *experiment;

		assert_ok(experiment_find(names[i], path, &err), err);
		assert_ok(experiment_read(&experiment, path, &err), err);
		for (int s = 0; s < experiment->scale_count; s++)
			open_scale(experiment, &experiment->scales[s]);
		experiment_free(experiment);
	}
	for (size_t i = 0; i < COUNT(the_papers); i++)
		assert_true(checked[i]);
	arena_release(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {stream_test(every_run_can_be_opened)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
