/* Experiments and what they will cost, before anything is run. */
#include "compare_plan.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "cli/brought.h"
#include "cli/cli.h"
#include "config/app_config.h"
#include "inspect/cost.h"

static void list_scale(const struct experiment_scale *scale)
{
	enum { AT = 20 };
	const char *sources = experiment_sources(scale);
	struct text words = {0}, needs = {0};

	text_addf(&words, "      %-12s  ", scale->name);
	add_fitting(&words, stdout, AT, AT, scale->about ? scale->about : "\n");
	text_addf(&words, "%*s", AT, "");
	if (sources && !scale->sources)
		text_add(&needs, "needs no data");
	else
		text_addf(&needs, "needs data: --set stream.source=KIND:PATH%s%s",
			sources ? ", KIND one of " : "", sources ? sources : "");
	add_fitting(&words, stdout, AT, AT, needs.data ? needs.data : "\n");
	text_release(&needs);
	print_words(stdout, &words, NULL);
}

int compare_list(void)
{
	struct arena arena = {0};
	const char **names = NULL;
	char path[EXPERIMENT_PATH];
	int count = 0;
	struct err err = {0};

	if (experiment_names(&arena, &names, &count, &err)) {
		arena_release(&arena);
		return complain(EXIT_FAILED, "%s", err.message);
	}
	for (int i = 0; i < count; i++) {
		struct text title = {0}, line = {0};
		struct experiment *e = NULL;

		if (experiment_find(names[i], path, &err) || experiment_read(&e, path, &err)) {
			complain(EXIT_FAILED, "%s", err.message);
			continue;
		}
		text_addf(&title, "%s  %s (%d variants)", e->name, e->title, e->variant_count);
		add_fitting(&line, stdout, 0, 2, title.data ? title.data : "");
		print_words(stdout, &line, NULL);
		text_release(&title);
		for (int s = 0; s < e->scale_count; s++)
			list_scale(&e->scales[s]);
		experiment_free(e);
	}
	arena_release(&arena);
	if (!count)
		printf("There are none in ./experiments, nor beside the program.\n");
	return EXIT_OK;
}

/* "3.2 days": in the largest unit that it fills. */
static const char *span(double seconds, char out[32])
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"years", 31557600}, {"days", 86400}, {"hours", 3600}, {"minutes", 60}};

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (seconds >= units[i].seconds) {
			snprintf(out, 32, "%.1f %s", seconds / units[i].seconds, units[i].name);
			return out;
		}
	snprintf(out, 32, "%.0f seconds", seconds);
	return out;
}

/* A variant's cost, and what it was found from. */
struct estimate {
	struct cost cost;
	char *key;
};

/* Rates that another run is to come to are not there yet, and do not change the cost. */
static int options_of(const struct contest *contest, const struct contest_run *run,
	struct options **options, struct err *err)
{
	const int code = app_config_make(
		options, contest->plan.config, NULL, run->settings, run->count, err);

	if (code || !run->needs)
		return code;
	return options_set(*options, "schedule.kind", "constant", "an estimate", err);
}

static int estimate(const struct contest *contest, const struct contest_run *run, double seconds,
	struct estimate *all, int at, struct err *err)
{
	const struct cost *known = NULL;
	struct options *options = NULL;
	int code = options_of(contest, run, &options, err);

	if (code)
		return code;
	all[at].key = cost_key(options);
	for (int i = 0; i < at && all[at].key; i++)
		if (all[i].key && !strcmp(all[i].key, all[at].key))
			known = &all[i].cost;
	code = cost_of(options, brought_net(), seconds, known, &all[at].cost, err);
	options_free(options);
	return code;
}

static void print_estimate(const char *name, const struct cost *cost, int runs)
{
	struct text words = {0};
	char each[32];

	text_addf(&words, "%-20s  %d x %" PRId64 " iterations", name, runs, cost->iterations);
	if (cost->images_per_s > 0)
		text_addf(&words, ", %.4g samples/s", cost->images_per_s);
	if (cost->drawn_per_s > 0)
		text_addf(&words, ", read at %.4g/s", cost->drawn_per_s);
	if (cost->seconds > 0)
		text_addf(&words, ", %s each", span(cost->seconds, each));
	text_addf(&words, "; memory %.2g GB, disk %.2g GB", cost->memory / 1e9, cost->disk / 1e9);
	printf("  ");
	print_fitting(2, 4, "%s", words.failed ? name : words.data);
	text_release(&words);
}

/* Costs of all variants, one line each, and their sum. */
static int print_costs(
	const struct contest *contest, double seconds, struct estimate *all, struct err *err)
{
	double sum = 0, disk = 0;
	char whole[32];
	int code = 0;

	printf("\n");
	print_fitting(0, 0, "What is missing will cost about, on this machine%s:",
		seconds > 0 ? ", one run after another on all its processors" : " (not timed)");
	for (int v = 0; v < contest->variant_count && !code; v++) {
		int missing = 0;

		for (int s = 0; s < contest->plan.seed_count; s++)
			missing += contest_run(contest, v, s)->state != CONTEST_FINISHED;
		if (!missing)
			continue;
		code = estimate(contest, contest_run(contest, v, 0), seconds, all, v, err);
		if (code)
			break;
		print_estimate(contest_variant(contest, v), &all[v].cost, missing);
		sum += missing * all[v].cost.seconds;
		disk += missing * all[v].cost.disk;
	}
	if (!code && sum > 0)
		print_fitting(0, 0,
			"Altogether %s and %.2g GB of disk. Each run is saved every "
			"run.checkpoint_every and can be stopped at any time.",
			span(sum, whole), disk / 1e9);
	return code;
}

int compare_plan(const struct contest *contest, double seconds)
{
	static const char *const words[] = {[CONTEST_ABSENT] = "to be run",
		[CONTEST_BEGUN] = "to go on",
		[CONTEST_FINISHED] = "finished"};
	struct estimate *all = mem_new((size_t)contest->variant_count, sizeof(*all));
	struct err err = {0};
	int finished = 0, code;

	if (!all)
		return complain(EXIT_FAILED, "there is no memory for an estimate");
	for (int i = 0; i < contest->run_count; i++) {
		printf("  %-9s  %s\n", words[contest->runs[i].state], contest->runs[i].folder);
		finished += contest->runs[i].state == CONTEST_FINISHED;
	}
	code = finished < contest->run_count ? print_costs(contest, seconds, all, &err) : 0;
	for (int v = 0; v < contest->variant_count; v++)
		mem_free(all[v].key);
	mem_free(all);
	return code ? complain(EXIT_USAGE, "%s", err.message) : EXIT_OK;
}
