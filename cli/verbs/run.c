/* `retain run`: one learner on one stream. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/json_write.h"
#include "base/paths.h"
#include "config/app_defaults.h"
#include "eval/summary.h"
#include "log/run_log.h"
#include "streams/source.h"

#include "cli/adopt.h"
#include "cli/args.h"
#include "cli/brought.h"
#include "cli/came_to.h"
#include "cli/cli.h"
#include "cli/crew.h"
#include "cli/open.h"
#include "cli/settings.h"
#include "cli/watch.h"
#include "data_table.h"

static const char about[] =
	"Learns from a stream and shows how well it keeps what it saw. DATA is a table "
	"(clicks.csv),\n"
	"a folder of photos, or KIND:PATH as retain list shows; it needs no settings, and the run "
	"is\n"
	"kept in runs/NAME. DATA - is lines as they come, JSON objects or rows of a table;\n"
	"predictions go to standard output. CONFIG is an .ini file or the folder of a run. "
	"Without\n"
	"either: the built-in drifting stream, small preset, AMA+MALR.";

struct request {
	const char *method, *seed, *out, *threads, *resume;
	const char *target; /* what the stream's first label showed; NULL: it was not looked at */
	const char *data; /* what stands in the place of a config, for stream.source; NULL: none */
	const char *feed; /* what a folder goes on with; NULL: what it began with */
	char place[SETTINGS_ROOM]; /* the folder of a run over it, unless --out names one */
	struct arg_list settings;
	bool force, quiet, json, open, ranks_anyway;
	const char *config;      /* what options are read from; NULL: nothing */
	struct options *options, /* in force */
		*former;         /* ... before the first label showed a number */
};

static int resolve(struct request *request, struct options **options, struct err *err)
{
	const struct setting shorthands[] = {{"stream.source", request->data},
		{"run.method", request->method}, {"run.seed", request->seed},
		{"engine.threads", request->threads}, {"model.target", request->target}, {0}};

	return settings_resolve(options, request->config, shorthands, &request->settings, err);
}

static int learn_numbers(void *context, const struct options **options, struct err *err)
{
	struct request *request = context;
	int code;

	request->target = "number";
	request->former = request->options;
	code = resolve(request, &request->options, err);
	*options = request->options;
	return code;
}

/* By what the run has just written; unknown without a folder. */
static struct run_rests rests_of(const char *folder)
{
	struct run_rests rests = {0};
	struct run_log *log;

	if (!folder ||
		run_log_open(&log, folder, RUN_LOG_CONFIG | RUN_LOG_METRICS | RUN_LOG_FACTS, NULL))
		return rests;
	run_log_rests(log, &rests);
	run_log_close(log);
	return rests;
}

/* The lines of came_to.h. */
static void print_words_of(FILE *to, const struct run_result *result, const char *folder,
	void (*words)(
		struct text *out, const struct summary *summary, const struct run_rests *rests))
{
	const struct run_rests rests = rests_of(folder);
	const struct summary summary = {.last = result->last,
		.late_ir = result->late_ir,
		.late_ft = result->late_ft,
		.late_ir_sgd = result->late_ir_sgd,
		.late_ft_sgd = result->late_ft_sgd};
	struct text out = {0};

	words(&out, &summary, &rests);
	fputs(out.data && !out.failed ? out.data : "", to);
	text_release(&out);
}

/* What a live stream came to; there is no evaluation data to measure anything else on. */
static void print_live(const struct watch_result *all, const struct request *request)
{
	const struct run_result *result = &all->run;
	char grouped[2][RUN_LOG_GROUPED];

	if (result->rows)
		print_words_of(stderr, result, request->out, came_to_live);
	fprintf(stderr, "  %-26s%7s   in %s line%s, %" PRId64 " of them bad\n", "time steps",
		run_log_grouped(grouped[0], result->step), run_log_grouped(grouped[1], all->lines),
		all->lines == 1 ? "" : "s", all->bad_lines);
	fprintf(stderr, "%s Go on with: %s run %s--resume %s\n",
		result->stopped ? "Stopped; nothing is lost." : "The stream has ended.",
		brought_words(), request->feed && strcmp(request->feed, "-") ? "DATA " : "",
		request->out);
}

static void print_summary(const struct watch_result *all, const struct request *request)
{
	const struct run_result *result = &all->run;
	char grouped[2][RUN_LOG_GROUPED];
	const char *at = run_log_grouped(grouped[0], result->iteration);
	const char *evaluated = run_log_grouped(grouped[1], result->last.iteration);

	if (result->stopped)
		printf("Stopped after time step %" PRId64 ", iteration %s.\n", result->step, at);
	if (!result->rows)
		printf("Nothing was evaluated yet.\n");
	else if (strcmp(at, evaluated) != 0)
		printf("At the last evaluation, iteration %s:\n", evaluated);
	if (result->rows) {
		putchar('\n');
		print_words_of(stdout, result, request->out, came_to);
		printf("  %-26s%7.2f   times plain SGD, per iteration\n", "cost", result->cost);
	}
	printf("  %-26s%6.1f s  %s iteration%s, training at ", "time", result->seconds, at,
		result->iteration == 1 ? "" : "s");
	print(result->iterations_per_s < 1000 ? "%.3g/s\n" : "%.1f k/s\n",
		result->iterations_per_s < 1000 ? result->iterations_per_s
						: result->iterations_per_s / 1000);
	if (all->skipped)
		printf("  %-26s%7s   sample%s that could not be read\n", "left out",
			run_log_grouped(grouped[0], all->skipped), all->skipped == 1 ? "" : "s");
	if (request->out && result->rows)
		printf("Open %s/report.html to see when and why.\n", request->out);
	if (result->saved)
		printf("Nothing is lost. Go on with: %s run --resume %s\n", brought_words(),
			request->out);
}

static int print_json(FILE *to, const struct watch_result *all, const struct options *options,
	const char *folder, struct err *err)
{
	const struct run_result *result = &all->run;
	const struct run_rests rests = rests_of(folder);
	struct text words = {0};
	struct jwriter json = {.out = &words};

	jwriter_table(&json, NULL);
	jwriter_text(&json, "method", options_text(options, "run.method"));
	jwriter_whole(&json, "seed", options_int64(options, "run.seed"));
	jwriter_truth(&json, "stopped", result->stopped);
	jwriter_text(&json, "target", isnan(result->last.mae) ? "class" : "number");
	for (const struct metrics_column *column = metrics_columns; column->name; column++)
		jwriter_number(&json, column->name, metrics_value(&result->last, column));
	jwriter_number(&json, "kappa", summary_kappa(result->last.le, result->last.same));
	jwriter_number(&json, "late_ir", result->late_ir);
	jwriter_number(&json, "late_ir_sgd", result->late_ir_sgd);
	jwriter_number(&json, "late_ft", result->late_ft);
	jwriter_number(&json, "late_ft_sgd", result->late_ft_sgd);
	jwriter_number(&json, "held_out", run_log_held_out(&result->last));
	/* The number of samples behind these, 0 if unknown. */
	jwriter_whole(&json, "ir_samples", rests.ir);
	jwriter_whole(&json, "ft_samples", rests.ft);
	jwriter_whole(&json, "late_ft_samples", rests.late_ft);
	jwriter_whole(&json, "held_out_samples", rests.held_out);
	jwriter_number(&json, "cost_per_iteration", result->cost);
	jwriter_number(&json, "train_seconds", result->train_seconds);
	jwriter_number(&json, "waited_seconds", all->waited);
	jwriter_whole(&json, "skipped", all->skipped);
	jwriter_number(&json, "us_per_iteration", 1e6 / result->iterations_per_s);
	return print_json_line(to, &json, err);
}

/* A stored run that has come to its end has nothing to go on with. */
static bool finished(const struct request *request)
{
	struct run_log *log = NULL;
	bool ended;

	if (source_is_live(request->options) ||
		run_log_open(&log, request->resume, RUN_LOG_CONFIG | RUN_LOG_FACTS, NULL))
		return false;
	ended = log->state == RUN_LOG_ENDED;
	run_log_close(log);
	return ended;
}

static int go(struct request *request)
{
	const bool live = source_is_live(request->options);
	const struct watch watch = {.options = request->options,
		.name = options_text(request->options, "run.method"),
		.folder = request->out,
		.start = request->resume  ? RUN_RESUME
			 : request->force ? RUN_ANEW
					  : RUN_NEW,
		.quiet = request->quiet || request->json,
		.describe = !request->quiet && !request->json,
		.peers = crew_lead(request->options, request->ranks_anyway),
		.live = live,
		.feed = request->feed,
		.numbers = request->resume ? NULL : learn_numbers,
		.context = request};
	struct watch_result result;
	struct err err = {0};
	int status;

	watch_interrupts();
	if (!request->resume && !live)
		data_table_tell(request->options, watch.quiet);
	status = watch_run(&watch, &result);

	if (status == EXIT_OK || status > EXIT_STOPPED) {
		if (request->json && print_json(live ? stderr : stdout, &result, request->options,
					     request->out, &err))
			status = complain(EXIT_FAILED, "%s", err.message);
		if (!request->json)
			(live ? print_live : print_summary)(&result, request);
		if (request->open)
			open_report(request->out);
		if (request->feed && status == EXIT_OK && result.useless)
			status = complain(
				EXIT_FAILED, "no line could be taken; the warnings say why");
	}
	return status;
}

/* The word in the place of a config: a config, or data to learn from. Returns the config. */
static const char *take_word(struct request *request, const char *word)
{
	if (!word || !app_is_data(word))
		return word;
	request->data = word;
	if (!strcmp(word, "-"))
		request->data = SOURCE_LIVE;
	if (!request->out) {
		settings_place(request->data, request->place);
		request->out = request->place;
	}
	return NULL;
}

/* The command line; ARGS_GO_ON if it makes sense. */
static int read_words(struct request *request, int *argc, char **argv)
{
	const struct arg rows[] = {
		{"set", "KEY=VALUE", "set one key; see retain config; may be repeated",
			.list = &request->settings},
		SETTINGS_COLUMNS(request->settings),
		SETTINGS_ANSWERS(request->settings),
		{"method", "NAME", "a bundle of keys; see retain methods",
			.text = &request->method},
		{"seed", "N", "everything random follows from it", .text = &request->seed},
		{"out", "DIR", "write config, metrics, events, weights and report there",
			.text = &request->out},
		{"threads", "N", "threads; 0: what fits the net", .text = &request->threads},
		{"resume", "DIR", "go on with the run in DIR, by its own config, or with DATA",
			.text = &request->resume},
		{"force", NULL, "begin anew in a DIR that holds a run", .flag = &request->force},
		{"open", NULL, "show the report in the browser at the end", .flag = &request->open},
		{"quiet", NULL, "no progress, only warnings and the summary",
			.flag = &request->quiet},
		{"json", NULL, "the summary as one line of JSON", .flag = &request->json},
		{"ranks-anyway", NULL, "under mpirun: share even what one process does faster",
			.flag = &request->ranks_anyway},
		{0},
	};
	const struct args args = {"retain run", "[DATA | CONFIG]", about, rows,
		.example = "retain run clicks.csv --out runs/clicks"};
	const int status = args_read(&args, argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	if (*argc > 2)
		return complain(EXIT_USAGE, "%s: one DATA or CONFIG is enough", argv[2]);
	if (request->resume &&
		((*argc > 1 && !app_is_data(argv[1])) || request->out || request->force))
		return complain(EXIT_USAGE,
			"--resume %s: takes the folder's own config and place; leave "
			"out CONFIG, --out and --force",
			request->resume);
	if (request->resume && *argc > 1)
		request->feed = argv[1];
	return ARGS_GO_ON;
}

/* What was to be set would have changed nothing: that is an error, with what would do it. */
static int say_finished(const struct request *request, const char *file)
{
	const char *folder = request->resume;
	struct text words = {0};
	int status;

	text_addf(&words, "%s: is finished; see retain show %s, or make it again by retain run %s",
		folder, folder, file);
	for (int i = 0; i < request->settings.count; i++)
		text_addf(&words, " --set '%s'", request->settings.items[i]);
	text_addf(&words, " --out %s --force", folder);
	status = complain(request->settings.count ? EXIT_USAGE : EXIT_OK, "%s",
		words.failed ? "is finished" : words.data);
	text_release(&words);
	return status;
}

/* Goes on with a run, if it can be. */
static int resume(struct request *request, const char *file)
{
	if (options_origin(request->options, "stream.source") == ORIGIN_ABSENT)
		return complain(EXIT_USAGE,
			"%s: belongs to a program; retain run - --resume %s feeds it lines", file,
			request->resume);
	if (!finished(request))
		return go(request);
	/* It may have been killed while it wrote its page. */
	file_sweep(request->resume);
	return say_finished(request, file);
}

int cmd_run(int argc, char **argv)
{
	struct request request = {0};
	char file[4096];
	struct err err = {0};
	bool same = false;
	int status = read_words(&request, &argc, argv);

	if (status != ARGS_GO_ON)
		return status;
	if (request.resume)
		snprintf(file, sizeof(file), "%s/config.ini", request.out = request.resume);
	request.config = !request.resume                  ? take_word(&request, argv[1])
			 : path_is_folder(request.resume) ? request.resume
							  : file;
	if (request.resume && !path_exists(file))
		return complain(EXIT_USAGE, "--resume %s: holds no run: there is no %s",
			request.resume, file);
	if (!request.resume && !request.out && argv[1] && path_has(argv[1], "config.ini"))
		return complain(EXIT_USAGE,
			"%s: holds a run; go on with it by --resume %s, or make it again by retain "
			"run %s/config.ini --out DIR",
			argv[1], argv[1], argv[1]);
	if (request.open && !request.out)
		return complain(EXIT_USAGE,
			"--open: the report is in the run's folder; name it by --out DIR");
	if (request.feed &&
		adopt_folder(request.resume, request.feed, &request.settings, &same, &err))
		return complain(EXIT_USAGE, "%s", err.message);
	/* Other data than a folder began with comes as lines. */
	if (request.feed && !same)
		request.data = SOURCE_LIVE;
	if (resolve(&request, &request.options, &err))
		return complain(EXIT_USAGE, "%s", err.message);
	status = request.resume ? resume(&request, file) : go(&request);
	options_free(request.options);
	options_free(request.former);
	return status;
}
