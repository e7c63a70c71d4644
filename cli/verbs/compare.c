/* `retain compare`: several methods, or the variants of an experiment, on the same streams. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/args.h"
#include "cli/brought.h"
#include "cli/cli.h"
#include "cli/jobs.h"
#include "cli/open.h"
#include "cli/settings.h"
#include "compare_plan.h"
#include "contest/contest.h"
#include "contest/contest_table.h"
#include "contest_go.h"
#include "report/report.h"
#include "base/os.h"

struct request {
	const char *methods, *seeds, *scale, *out, *shard;
	struct arg_list settings;
	int jobs, threads;
	double measure;
	bool list, force, quiet, dry, open;
	const char *operand;
	char place[SETTINGS_ROOM]; /* of a data set's runs, unless --out names one */
};

/* The operand is an experiment by name, a file with an experiment, or a config. */
static int open_experiment(const struct request *request, struct experiment **experiment,
	const char **config, struct err *err)
{
	char path[EXPERIMENT_PATH];
	int code = 0;

	*config = NULL;
	if (request->operand && access(request->operand, F_OK) == 0) {
		if (experiment_is(request->operand))
			return experiment_read(experiment, request->operand, err);
		*config = request->operand;
	} else if (request->operand) {
		code = experiment_find(request->operand, path, err);
		return code ? code : experiment_read(experiment, path, err);
	}
	if (!request->methods) {
		snprintf(err->message, sizeof(err->message),
			"%s: --methods a,b,c says what to compare",
			request->operand ? request->operand : "retain compare");
		return ERR_INPUT;
	}
	return experiment_of_methods(experiment, request->methods, err);
}

/* Data needs no settings: its runs are in runs/NAME-methods. */
static void take_data(struct request *request, const char *data)
{
	const size_t room = sizeof(request->place);
	size_t used;

	if (!request->methods)
		request->methods = SETTINGS_METHODS;
	if (request->out)
		return;
	settings_place(data, request->place);
	used = strlen(request->place);
	snprintf(request->place + used, room - used, "-methods");
	request->out = request->place;
}

static int print_table(const struct contest *contest, struct err *err)
{
	struct text words = {0}, fitting = {0};

	contest_table(contest, isatty(STDOUT_FILENO) ? COLUMNS : 0, &words);
	contest_legend(contest, &words);
	if (!words.failed)
		add_fitting(&fitting, stdout, 0, 2, words.data);
	fitting.failed |= words.failed;
	text_release(&words);
	return print_words(stdout, &fitting, err);
}

/* What the user typed, so that it can be typed again. */
static void print_command(const struct request *request, const struct contest *contest)
{
	printf("%s compare", brought_words());
	if (request->operand)
		printf(" %s", request->operand);
	if (request->methods)
		printf(" --methods %s", request->methods);
	if (request->seeds)
		printf(" --seeds %s", request->seeds);
	if (request->scale)
		printf(" --scale %s", request->scale);
	if (request->shard)
		printf(" --shard %s", request->shard);
	for (int i = 0; i < request->settings.count; i++)
		printf(" --set %s", request->settings.items[i]);
	printf(" --out %s\n", contest->plan.out);
}

static int conclude(const struct request *request, struct contest *contest, int status)
{
	struct err err = {0};
	int finished = 0, mine = 0;

	for (int i = 0; i < contest->run_count; i++) {
		if (contest->runs[i].other)
			contest_look(&contest->runs[i], NULL);
		finished += contest->runs[i].state == CONTEST_FINISHED;
		mine += !contest->runs[i].other;
	}
	/* Of several parts the last one to end writes the tables. */
	if (request->shard && status == EXIT_OK && finished < contest->run_count) {
		printf("This part's %d runs are finished, and %d of all %d. The part that ends "
		       "last "
		       "writes the tables.\n",
			mine, finished, contest->run_count);
		return EXIT_OK;
	}
	if (contest_table_write(contest, &err) ||
		(finished &&
			(report_folder(contest->plan.out, &err) || print_table(contest, &err))))
		return complain(EXIT_FAILED, "%s", err.message);
	if (status > EXIT_STOPPED)
		printf("%sStopped: %d of %d runs are finished, the others are saved. Go on with:\n "
		       " ",
			finished ? "\n" : "", finished, contest->run_count);
	else if (status != EXIT_OK)
		printf("\n%d of %d runs are finished. Try the others again with:\n  ", finished,
			contest->run_count);
	else
		printf("\nTables, and a folder for every run, are in %s.\n"
		       "Open %s/report.html to see when and why.\n",
			contest->plan.out, contest->plan.out);
	if (status != EXIT_OK)
		print_command(request, contest);
	if (finished && request->open)
		open_report(contest->plan.out);
	return status;
}

static bool read_shard(const char *words, struct contest_plan *plan)
{
	int end = 0;

	return sscanf(words, "%d/%d%n", &plan->shard, &plan->shards, &end) == 2 && !words[end] &&
	       plan->shard >= 1 && plan->shard <= plan->shards;
}

static int go(
	const struct request *request, const struct experiment *experiment, const char *config)
{
	int64_t seeds[EXPERIMENT_SEEDS];
	char out[256], file[EXPERIMENT_PATH];
	struct contest_plan plan = {.experiment = experiment,
		.config = config,
		.only = experiment->rule_count || experiment->scale_count ? request->methods : NULL,
		.settings = (const char *const *)request->settings.items,
		.count = request->settings.count,
		.seeds = seeds,
		.out = request->out ? request->out : out,
		.anew = request->force,
		.alone = request->jobs == 1 || os_processors() == 1};
	const struct contest_watch watch = {.label = "compare",
		.jobs = request->jobs,
		.threads = request->threads,
		.quiet = request->quiet};
	struct contest *contest = NULL;
	const char *words = request->seeds;
	struct err err = {0};
	int status;

	if (request->shard && !read_shard(request->shard, &plan))
		return complain(
			EXIT_USAGE, "--shard %s: must be I/N, 1/N up to N/N", request->shard);
	if (experiment_scale(experiment, request->scale, &plan.scale, &err) ||
		experiment_config(experiment, plan.scale, file, &err))
		return complain(EXIT_USAGE, "%s", err.message);
	if (*file)
		plan.config = file;
	if (!words)
		words = plan.scale && plan.scale->seeds ? plan.scale->seeds
			: experiment->seeds             ? experiment->seeds
							: "1,2,3";
	plan.seed_count = experiment_seeds(words, seeds, &err);
	if (plan.seed_count < 0)
		return complain(EXIT_USAGE, "%s", err.message);
	snprintf(out, sizeof(out), "runs/%.100s%s%.100s", experiment->name, plan.scale ? "-" : "",
		plan.scale ? plan.scale->name : "");
	if (contest_new(&contest, &plan, &err))
		return complain(
			err.code == ERR_INPUT || err.code == ERR_FORMAT ? EXIT_USAGE : EXIT_FAILED,
			"%s", err.message);
	jobs_watch_signals();
	status = request->dry ? compare_plan(contest, request->measure)
			      : contest_go(contest, &watch);
	if (!request->dry && status != EXIT_USAGE)
		status = conclude(request, contest, status);
	contest_free(contest);
	return status;
}

static int compare(struct request *request, const char *operand)
{
	struct experiment *experiment = NULL;
	const char *config;
	char room[SETTINGS_ROOM];
	struct err err = {0};
	int status;

	request->operand = settings_data(operand, &request->settings, room);
	if (operand && !request->operand)
		take_data(request, operand);
	if (open_experiment(request, &experiment, &config, &err))
		return complain(EXIT_USAGE, "%s", err.message);
	status = go(request, experiment, config);
	experiment_free(experiment);
	return status;
}

int cmd_compare(int argc, char **argv)
{
	struct request request = {.measure = 3};
	const struct arg rows[] = {
		{"list", NULL, "show which experiments there are", .flag = &request.list},
		{"methods", "A,B,C",
			"methods to compare, or variants of the experiment; of DATA three by "
			"default",
			.text = &request.methods},
		{"seeds", "N,N", "seeds of the runs; 1,2,3 unless the experiment says others",
			.text = &request.seeds},
		{"scale", "NAME", "how large: laptop or paper; by default the experiment's first",
			.text = &request.scale},
		{"set", "KEY=VALUE", "set one key in all runs; may be repeated",
			.list = &request.settings},
		SETTINGS_COLUMNS(request.settings),
		SETTINGS_ANSWERS(request.settings),
		{"jobs", "N", "runs at a time; 0: as many as there are processors",
			.integer = &request.jobs, .least = 0, .most = 256},
		{"threads", "N",
			"threads of a run; 0: few runs of image nets share all processors, others "
			"have one",
			.integer = &request.threads, .least = 0, .most = 256},
		{"out", "DIR", "where the runs and tables go; runs/NAME by default",
			.text = &request.out},
		{"shard", "I/N",
			"make only the I-th of N parts; others may be made at the same time",
			.text = &request.shard},
		{"force", NULL, "make all runs anew", .flag = &request.force},
		{"dry-run", NULL, "only show which runs there are and what they will cost here",
			.flag = &request.dry},
		{"measure", "S", "--dry-run: how many seconds to time this machine; 0: not",
			.real = &request.measure, .most = 600},
		{"open", NULL, "show the report in the browser at the end", .flag = &request.open},
		{"quiet", NULL, "no progress", .flag = &request.quiet},
		{0},
	};
	const struct args args = {"retain compare", "[EXPERIMENT | DATA | CONFIG]",
		"Runs several methods on the same streams, with every seed, and says which "
		"differences\n"
		"exceed the seeds' noise. Finished runs are not repeated, stopped ones go on.",
		rows, .example = "retain compare fig1 --seeds 1,2,3"};
	const int status = args_read(&args, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	if (argc > 2)
		return complain(
			EXIT_USAGE, "%s: one EXPERIMENT, DATA or CONFIG is enough", argv[2]);
	return request.list ? compare_list() : compare(&request, argv[1]);
}
