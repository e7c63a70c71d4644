/* `retain tune`: the first learning rate and MALR's epsilon, from early data. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/jobs.h"
#include "cli/settings.h"
#include "contest/contest.h"
#include "contest/tune.h"
#include "contest_go.h"

enum { RATES_MOST = 40, BELOW = 4, ABOVE = 2, ROUNDS = 5 };

struct tune {
	const char *config, *method, *seeds, *rates, *dir, *out;
	struct arg_list settings;
	double share, slack;
	int jobs, threads;
	bool quiet, force;
	bool hopeless;             /* all runs failed */
	struct target_words words; /* of what accuracy is */
	double list[RATES_MOST];   /* rising */
	int count;
	struct tune_row rows[RATES_MOST];
	int64_t seed_list[EXPERIMENT_SEEDS];
	int seed_count;
};

static int by_size(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static int read_rates(struct tune *tune)
{
	const char *at = tune->rates;
	char word[64], *end;

	while (tune->count < RATES_MOST && experiment_word(&at, word, sizeof(word))) {
		tune->list[tune->count] = strtod(word, &end);
		if (*end || !(tune->list[tune->count] > 0) || isinf(tune->list[tune->count]))
			return complain(
				EXIT_USAGE, "--rates %s: %s is not a rate", tune->rates, word);
		tune->count++;
	}
	if (!tune->count)
		return complain(EXIT_USAGE, "--rates %s: there are none", tune->rates);
	qsort(tune->list, (size_t)tune->count, sizeof(*tune->list), by_size);
	return EXIT_OK;
}

/* What the user's settings make of the rate, to begin with. */
static int rate_of_config(const struct tune *tune, double *rate, struct err *err)
{
	const struct setting rows[] = {{"run.method", tune->method}, {0}};
	struct options *options;
	const int code = settings_resolve(&options, tune->config, rows, &tune->settings, err);

	if (!code)
		*rate = options_float(options, "schedule.rate");
	options_free(options);
	return code;
}

/* "key=value" */
static int add_setting(
	struct experiment *experiment, const char *variant, const char *setting, struct err *err)
{
	const char *equals = strchr(setting, '=');
	char key[128];

	snprintf(key, sizeof(key), "%.*s", (int)(equals ? equals - setting : 0), setting);
	return experiment_add(experiment, variant, key, equals ? equals + 1 : "", err);
}

/* The user's settings first: what is tried here wins over them. */
static int add_rate(
	const struct tune *tune, struct experiment *experiment, double rate, struct err *err)
{
	char name[64], value[64], share[64];
	int code = 0;

	snprintf(name, sizeof(name), "rate-%.6g", rate);
	snprintf(value, sizeof(value), "schedule.rate=%.6g", rate);
	snprintf(share, sizeof(share), "run.stop_after=%.6g", tune->share);
	const char *const own[] = {"average.kind=ama", "schedule.kind=constant", share, value};

	if (tune->method)
		code = experiment_add(experiment, name, "run.method", tune->method, err);
	for (int i = 0; i < tune->settings.count && !code; i++)
		code = add_setting(experiment, name, tune->settings.items[i], err);
	for (size_t i = 0; i < sizeof(own) / sizeof(*own) && !code; i++)
		code = add_setting(experiment, name, own[i], err);
	return code;
}

static void read_rows(struct tune *tune, const struct contest *contest)
{
	static const char *const names[] = {"le", "late_val_acc", "late_val_acc_sgd", "late_sigma"};

	for (int i = 0; i < tune->count; i++) {
		double values[4];

		for (int m = 0; m < 4; m++)
			values[m] = contest_stats(contest, i, measure_find(names[m])).mean;
		tune->rows[i] = (struct tune_row){
			tune->list[i], values[0], values[1], values[2], values[3]};
	}
}

/* A rate so large that its run fails is an answer, too. If all fail, it is not for their rates. */
static void tell_failures(struct tune *tune, const struct contest *contest)
{
	const char *first = NULL;

	tune->hopeless = true;
	for (int i = 0; i < contest->run_count; i++) {
		const struct contest_run *run = &contest->runs[i];

		tune->hopeless &= run->failure != NULL;
		first = first ? first : run->failure;
	}
	if (tune->hopeless)
		complain(EXIT_FAILED, "%s", first);
	for (int i = 0; i < contest->run_count && !tune->hopeless; i++) {
		const struct contest_run *run = &contest->runs[i];

		if (run->failure)
			complain(EXIT_FAILED, "%s, seed %" PRId64 ", failed: %s",
				contest_variant(contest, run->variant), tune->seed_list[run->seed],
				run->failure);
	}
}

static int run_rates(struct tune *tune)
{
	const struct contest_watch watch = {.label = "tune",
		.jobs = tune->jobs,
		.threads = tune->threads,
		.quiet = tune->quiet,
		.mute = true};
	struct contest_plan plan = {.config = tune->config,
		.seeds = tune->seed_list,
		.seed_count = tune->seed_count,
		.out = tune->dir,
		.anew = tune->force};
	struct experiment *experiment = NULL;
	struct contest *contest = NULL;
	struct err err = {0};
	int code = experiment_new(&experiment, "tune", "Rates", &err), status;

	for (int i = 0; i < tune->count && !code; i++)
		code = add_rate(tune, experiment, tune->list[i], &err);
	plan.experiment = experiment;
	if (!code)
		code = contest_new(&contest, &plan, &err);
	if (code) {
		status = complain(code == ERR_INPUT ? EXIT_USAGE : EXIT_FAILED, "%s", err.message);
	} else {
		status = contest_go(contest, &watch);
		if (status == EXIT_FAILED)
			tell_failures(tune, contest);
		read_rows(tune, contest);
		tune->words = contest->target->words;
	}
	contest_free(contest);
	experiment_free(experiment);
	return status;
}

/* Goes on beyond an end of the list where the best lies there; false: no need. */
static bool widen(struct tune *tune)
{
	int best;
	const int chosen = tune_choose(tune->rows, tune->count, tune->slack, &best);

	if (tune->rates || chosen < 0 || tune->count + 1 > RATES_MOST)
		return false;
	if (chosen == tune->count - 1)
		tune->list[tune->count] = 2 * tune->list[tune->count - 1];
	else if (best == 0)
		tune->list[tune->count] = tune->list[0] / 2;
	else
		return false;
	tune->count++;
	qsort(tune->list, (size_t)tune->count, sizeof(*tune->list), by_size);
	return true;
}

static int try_rates(struct tune *tune)
{
	int status;

	for (int round = 0;; round++) {
		status = run_rates(tune);
		if (tune->hopeless || (status != EXIT_OK && status != EXIT_FAILED))
			return status;
		tune->force = false;
		if (round == ROUNDS || !widen(tune))
			return status;
	}
}

static void print_rows(const struct tune *tune, int chosen)
{
	printf("A constant rate on the first %g %% of the stream, %d seed%s:\n\n",
		100 * tune->share, tune->seed_count, tune->seed_count == 1 ? "" : "s");
	printf("%10s%10s%14s%16s%10s\n", "rate", tune->words.le, "validation", "of plain SGD",
		"gap");
	for (int i = 0; i < tune->count; i++) {
		const struct tune_row *row = &tune->rows[i];

		printf("%10.6g", row->rate);
		if (isnan(row->accuracy))
			printf("  failed\n");
		else
			printf("%8.2f %%%12.2f %%%14.2f %%%10.2f%s\n", row->le, row->accuracy,
				row->accuracy_sgd, row->gap, i == chosen ? "   <-" : "");
	}
	putchar('\n');
}

static int tell(const struct tune *tune, double rate, double epsilon)
{
	struct err err = {0};

	if (!tune->out) {
		printf("[schedule]\nrate = %.6g\nepsilon = %.6g\n", rate, epsilon);
		return EXIT_OK;
	}
	if (tune_write(tune->out, rate, epsilon, tune->share, &err))
		return complain(EXIT_FAILED, "%s", err.message);
	printf("Written to %s.\n", tune->out);
	return EXIT_OK;
}

static int conclude(const struct tune *tune)
{
	int best;
	const int chosen = tune_choose(tune->rows, tune->count, tune->slack, &best);
	const struct tune_row *row = &tune->rows[chosen < 0 ? 0 : chosen];
	const double epsilon = tune_epsilon(row->gap);

	print_rows(tune, chosen);
	if (chosen < 0)
		return complain(EXIT_FAILED,
			"no rate was validated: --share %g of the stream has no "
			"whole "
			"window. Take more of it (--share 1), or shorter windows (--set "
			"schedule.window=20 --set schedule.validate_every=5)",
			tune->share);
	printf("%g is the largest rate within %g point%s of the best %s (%g: %.2f %%).\n",
		row->rate, tune->slack, tune->slack == 1 ? "" : "s", tune->words.validated,
		tune->rows[best].rate, tune->rows[best].accuracy);
	printf("There the average is %.2f points ahead of SGD: epsilon = 0.3 of that; 0.2 to 0.5, "
	       "%.3g to "
	       "%.3g, is fine.\n",
		row->gap, fmax(0, 0.002 * row->gap), fmax(0, 0.005 * row->gap));
	if (chosen == tune->count - 1 || best == 0)
		printf("It lies at an end of what was tried: see whether rates beyond it do "
		       "better.\n");
	putchar('\n');
	return tell(tune, row->rate, epsilon);
}

static int go(struct tune *tune)
{
	struct err err = {0};
	double rate;
	int status;

	tune->seed_count = experiment_seeds(tune->seeds, tune->seed_list, &err);
	if (tune->seed_count < 0)
		return complain(EXIT_USAGE, "%s", err.message);
	if (rate_of_config(tune, &rate, &err))
		return complain(EXIT_USAGE, "%s", err.message);
	if (tune->rates) {
		status = read_rates(tune);
		if (status != EXIT_OK)
			return status;
	} else {
		for (int i = -BELOW; i <= ABOVE; i++)
			tune->list[tune->count++] = ldexp(rate, i);
	}
	jobs_watch_signals();
	status = try_rates(tune);
	if (!tune->hopeless && (status == EXIT_OK || status == EXIT_FAILED))
		return conclude(tune);
	if (status > EXIT_STOPPED)
		printf("Stopped. What was run is in %s; the same command goes on from there.\n",
			tune->dir);
	return status;
}

int cmd_tune(int argc, char **argv)
{
	struct tune tune = {.seeds = "1", .dir = "runs/tune", .share = 0.1, .slack = TUNE_SLACK};
	const struct arg rows[] = {
		{"set", "KEY=VALUE", "set one key; may be repeated", .list = &tune.settings},
		SETTINGS_COLUMNS(tune.settings),
		SETTINGS_ANSWERS(tune.settings),
		{"method", "NAME", "a bundle of keys; see retain methods", .text = &tune.method},
		{"share", "X", "how much of the stream counts as early", .real = &tune.share,
			.least = 0.0001, .most = 1},
		{"rates", "X,X", "rates to try; else around the config's, as far as need be",
			.text = &tune.rates},
		{"seeds", "N,N", "average over these", .text = &tune.seeds},
		{"slack", "X", "points of accuracy that do not count", .real = &tune.slack,
			.least = 0, .most = 100},
		{"jobs", "N", "runs at a time; 0: as many as there are processors",
			.integer = &tune.jobs, .least = 0, .most = 256},
		{"threads", "N",
			"threads of a run; 0: few runs of image nets share all processors, others "
			"have one",
			.integer = &tune.threads, .least = 0, .most = 256},
		{"dir", "DIR", "where the runs go", .text = &tune.dir},
		{"force", NULL, "make all runs anew", .flag = &tune.force},
		{"out", "FILE", "write the two keys there", .text = &tune.out},
		{"quiet", NULL, "no progress", .flag = &tune.quiet},
		{0},
	};
	char room[SETTINGS_ROOM];
	const struct args args = {"retain tune", "[DATA | CONFIG]",
		"Finds the first learning rate, and the epsilon that fits it, on the stream's "
		"beginning.",
		rows, .example = "retain tune my.ini"};
	const int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	if (argc > 2)
		return complain(EXIT_USAGE, "%s: one DATA or CONFIG is enough", argv[2]);
	tune.config = settings_data(argv[1], &tune.settings, room);
	return go(&tune);
}
