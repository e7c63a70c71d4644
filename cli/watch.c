/* One run, its progress on standard error. */
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "live/feed.h"
#include "live/feed_file.h"
#include "live/live.h"
#include "log/run_log.h"
#include "report/report.h"
#include "stored/stored.h"

#include "brought.h"
#include "cli.h"
#include "progress.h"

enum { ADVICE = 512 }; /* bytes */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	interrupted = signal;
}

/* Where the signal is ignored it stays so. */
void watch_interrupts(void)
{
	const struct sigaction watch = {
		.sa_handler = on_interrupt, .sa_flags = SA_RESETHAND | SA_RESTART};
	/* The last is what mpirun and Slurm pass on. */
	static const int signals[] = {SIGINT, SIGTERM, SIGUSR1};
	struct sigaction old;

	interrupted = 0;
	/* A reader that goes away is an error that can be told, after saving. */
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (!sigaction(signals[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(signals[i], &watch, NULL);
}

const volatile sig_atomic_t *watch_stop(void)
{
	return &interrupted;
}

static void show_percent(struct progress *line, int field, const char *name, double share)
{
	if (isnan(share))
		progress_field(line, field, "%s", "");
	else
		progress_field(line, field, "%s %4.1f %%", name, 100 * share);
}

/* Accuracy and retention, or how far off beside the last value and the share of variance; the latest. */
static void show_scores(struct progress *line, const struct run_progress *now)
{
	char error[RUN_LOG_GROUPED], last[RUN_LOG_GROUPED];

	if (isnan(now->mae))
		show_percent(line, 0, "accuracy", now->step ? now->le : NAN);
	else
		progress_field(line, 0, "error %s (last value %s)",
			run_log_quantity(error, now->mae), run_log_quantity(last, now->mae_last));
	show_percent(line, 1, isnan(now->mae) ? "retention" : "explained",
		isnan(now->mae) ? now->ir : now->le);
	show_percent(line, 2, "last 1 000:", now->samples > RUN_LOG_RECENT ? now->recent : NAN);
}

static bool is_wanted(void *context, int64_t step)
{
	return progress_wanted(context, (uint64_t)step);
}

static void show_progress(void *context, const struct run_progress *now)
{
	struct progress *line = context;
	const double rate =
		now->seconds > 0 ? (double)(now->iteration - now->resumed) / now->seconds : 0;

	show_scores(line, now);
	if (rate < 1000)
		progress_field(line, 3, "%3.0f it/s", rate);
	else
		progress_field(line, 3, "%4.1f k it/s", rate / 1000);
	if (now->alarms)
		progress_field(line, 4, "%" PRId64 " drift alarm%s", now->alarms,
			now->alarms == 1 ? "" : "s");
	progress_field(line, 5, "rate %.3g", now->rate);
	progress_update(line, (uint64_t)now->step);
}

static void show_message(void *context, enum log_level level, const char *message)
{
	progress_clear(context);
	say("%s: %s", log_level_name(level), message);
}

static int open_ends(const char *feed, struct live_ends *ends, struct err *err)
{
	*ends = (struct live_ends){STDIN_FILENO, STDOUT_FILENO};
	if (!feed || !strcmp(feed, "-"))
		return 0;
	ends->input = feed_file(feed, err);
	if (ends->input < 0)
		return ends->input;
	ends->output = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return 0;
}

static void close_ends(const struct live_ends *ends)
{
	feed_close(ends->feed);
	if (ends->input != STDIN_FILENO)
		close(ends->input);
	if (ends->output != STDOUT_FILENO)
		close(ends->output);
}

/* What a run is about, for a person. */
static void describe(FILE *to, const char *about)
{
	struct text words = {0};

	add_fitting(&words, to, 0, 2, about);
	print_words(to, &words, NULL);
	fflush(to);
}

/* The first label may show that numbers are to be learned, by a config of their own. */
static int open_lines(const struct watch *watch, const struct run_config *config,
	struct live_ends *ends, struct live **live, struct err *err)
{
	struct run_config again = *config;
	int code;

	ends->settles = watch->numbers != NULL;
	code = live_open(live, config, ends, err);
	if (!code || !ends->numbers)
		return code;
	code = watch->numbers(watch->context, &again.options, err);
	if (!code && watch->describe)
		say("the first label has a fraction, so labels are learned as numbers; "
		    "--target class learns classes");
	return code ? code : live_open(live, &again, ends, err);
}

/* A run's two ends: lines, or a source. */
static int go_live(const struct watch *watch, const struct run_config *config,
	struct progress *line, struct watch_result *result, bool *opened, struct err *err)
{
	struct live_ends ends;
	struct live *live;
	char about[256];
	int64_t bad;
	int code = open_ends(watch->feed, &ends, err);

	if (!code)
		code = open_lines(watch, config, &ends, &live, err);
	if (code) {
		close_ends(&ends);
		return code;
	}
	*opened = true;
	live_describe(
		live, ends.input == STDIN_FILENO ? "stdin" : watch->feed, about, sizeof(about));
	if (watch->describe)
		describe(stderr, about);
	if (isatty(ends.input))
		say("reads lines that you type; Ctrl-D ends them");
	bad = live_session(live)->bad;
	progress_begin(line, watch->quiet ? NULL : stderr, watch->name, 0);
	code = live_go(live, &result->run, err);
	progress_end(line);
	result->lines = live_session(live)->lines;
	result->bad_lines = live_session(live)->bad;
	result->useless = !live_taken(live) && result->bad_lines > bad;
	live_close(live);
	close_ends(&ends);
	return code;
}

static int go_stored(const struct watch *watch, const struct run_config *config,
	struct progress *line, struct watch_result *result, bool *opened, struct err *err)
{
	struct stored *stored;
	char about[2048];
	int code = stored_open(&stored, config, err);

	if (code)
		return code;
	*opened = true;
	stored_set_probe(stored, watch->probe);
	stored_describe(stored, about, sizeof(about));
	if (watch->describe)
		describe(stdout, about);
	progress_begin(
		line, watch->quiet ? NULL : stderr, watch->name, (uint64_t)stored_steps(stored));
	code = stored_go(stored, &result->run, err);
	progress_end(line);
	result->skipped = stored_skipped(stored);
	result->waited = stored_waited(stored);
	stored_close(stored);
	return code;
}

int watch_run(const struct watch *watch, struct watch_result *result)
{
	struct progress line = {0};
	char held[ADVICE], diverged[ADVICE];
	const struct run_config config = {
		.options = watch->options,
		.folder = watch->folder,
		.start = watch->start,
		.peers = watch->peers,
		.maker = brought_net(),
		.log = {.write = watch->calm ? NULL : show_message,
			.context = &line,
			.most = LOG_NOTE},
		.progress = show_progress,
		.wanted = is_wanted,
		.context = &line,
		.stop = &interrupted,
		.advice_held = held,
		.advice_diverged = diverged,
	};
	struct err err = {0};
	bool opened = false;
	int code;

	*result = (struct watch_result){0};
	snprintf(held, sizeof(held), "go on with it by --resume %s, or begin anew with --force",
		watch->folder);
	snprintf(diverged, sizeof(diverged),
		"--resume %s --set run.on_nan=rollback goes on from it at half the rate",
		watch->folder);
	code = (watch->live ? go_live : go_stored)(watch, &config, &line, result, &opened, &err);
	if (!code && watch->folder)
		code = report_folder(watch->folder, &err);
	if (code && interrupted && !opened)
		return complain(EXIT_STOPPED + interrupted, "%s", err.message);
	if (code)
		return complain(
			code == ERR_INPUT && !opened ? EXIT_USAGE : EXIT_FAILED, "%s", err.message);
	return result->run.stopped ? EXIT_STOPPED + interrupted : EXIT_OK;
}
