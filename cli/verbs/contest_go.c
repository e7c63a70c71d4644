/*
 * The loop that keeps as many runs in progress as there is room for, and reads their progress
 * from their folders.
 */
#include "contest_go.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/jobs.h"
#include "cli/progress.h"
#include "base/os.h"

enum { JOBS_MOST = 256, WORDS_MOST = 2 * (3 * EXPERIMENT_SETTINGS + ARGS_LIST) + 32 };

static const double poll_seconds = 0.02, look_seconds = 0.3;

struct slot {
	struct job job;
	struct contest_run *run; /* NULL: free */
};

struct loop {
	struct contest *contest;
	struct slot slots[JOBS_MOST];
	int jobs, threads, running, failed, forwarded;
	bool quiet, mute;
	double *shares; /* of all runs */
	double before;  /* how much work was done before this process began, */
	double work;    /* and of all runs */
	struct progress line;
};

static int start(struct loop *loop, struct slot *slot, struct contest_run *run)
{
	const char *words[WORDS_MOST] = {"retain", "run", "--json"};
	char threads[32];
	int count = 3;

	snprintf(threads, sizeof(threads), "%d", loop->threads);
	words[count++] = "--threads";
	words[count++] = threads;
	if (run->state == CONTEST_BEGUN) {
		words[count++] = "--resume";
		words[count++] = run->folder;
	} else {
		words[count++] = "--out";
		words[count++] = run->folder;
		if (loop->contest->plan.anew)
			words[count++] = "--force";
		for (int i = 0; i < run->count; i++) {
			words[count++] = "--set";
			words[count++] = run->settings[i];
		}
		if (loop->contest->plan.config) {
			words[count++] = "--";
			words[count++] = loop->contest->plan.config;
		}
	}
	words[count] = NULL;
	if (job_start(&slot->job, words))
		return EXIT_FAILED;
	slot->run = run;
	loop->running++;
	return EXIT_OK;
}

static void fail(struct loop *loop, struct contest_run *run, const char *why)
{
	const struct contest *contest = loop->contest;

	contest_fail(run, why);
	loop->failed++;
	if (loop->mute)
		return;
	if (!loop->quiet && loop->line.terminal)
		fputs("\r\033[K", stderr);
	complain(EXIT_FAILED, "%s, seed %" PRId64 ", failed: %s",
		contest_variant(contest, run->variant), contest->plan.seeds[run->seed], why);
}

static bool is_running(const struct loop *loop, const struct contest_run *run)
{
	for (int i = 0; i < loop->jobs; i++)
		if (loop->slots[i].run == run)
			return true;
	return false;
}

/* Seeds first, then variants, so that early on there is something to compare. */
static struct contest_run *next_run(struct loop *loop)
{
	struct contest *contest = loop->contest;

	for (int seed = 0; seed < contest->plan.seed_count; seed++)
		for (int v = 0; v < contest->variant_count; v++) {
			struct contest_run *run = contest_run(contest, v, seed);
			bool never, ready;

			if (run->state == CONTEST_FINISHED || run->failure || run->other ||
				is_running(loop, run))
				continue;
			ready = contest_ready(contest, run, &never);
			if (never)
				fail(loop, run, "a run that it needs failed");
			else if (ready)
				return run;
		}
	return NULL;
}

static void start_some(struct loop *loop)
{
	for (int i = 0; i < loop->jobs; i++) {
		struct contest_run *run;

		if (loop->slots[i].run)
			continue;
		run = next_run(loop);
		if (!run)
			return;
		if (start(loop, &loop->slots[i], run))
			fail(loop, run, "it could not be started");
	}
}

static void finish(struct loop *loop, struct slot *slot)
{
	struct contest_run *run = slot->run;
	struct err err = {0};
	char words[600];

	job_message(&slot->job, words, sizeof(words));
	if (contest_look(run, &err))
		fail(loop, run, err.message);
	else if (slot->job.status != EXIT_OK &&
		 !(slot->job.status > EXIT_STOPPED && loop->forwarded)) {
		if (!*words)
			snprintf(words, sizeof(words), "it ended with exit code %d",
				slot->job.status);
		fail(loop, run, words);
	}
	job_release(&slot->job);
	slot->run = NULL;
	loop->running--;
}

static void collect(struct loop *loop)
{
	for (int i = 0; i < loop->jobs; i++)
		if (loop->slots[i].run && job_ended(&loop->slots[i].job))
			finish(loop, &loop->slots[i]);
}

static void forward_signals(struct loop *loop)
{
	if (loop->forwarded == jobs_signal_count())
		return;
	loop->forwarded = jobs_signal_count();
	for (int i = 0; i < loop->jobs; i++)
		if (loop->slots[i].run)
			job_signal(&loop->slots[i].job, jobs_signal());
}

static int finished(const struct contest *contest)
{
	int count = 0;

	for (int i = 0; i < contest->run_count; i++)
		count += contest->runs[i].state == CONTEST_FINISHED;
	return count;
}

static double work_done(struct loop *loop)
{
	const struct contest *contest = loop->contest;
	double done = 0;

	for (int i = 0; i < contest->run_count; i++) {
		const struct contest_run *run = &contest->runs[i];

		if (run->state == CONTEST_FINISHED || is_running(loop, run))
			loop->shares[i] = contest_share(run);
		done += run->work * (run->failure ? 1 : loop->shares[i]);
	}
	return done;
}

/* In thousandths of what this process has to do, so that the line's clock can tell what is left. */
static void show(struct loop *loop)
{
	const struct contest *contest = loop->contest;
	const double done = (work_done(loop) - loop->before) / (loop->work - loop->before);
	int field = 1;

	progress_field(&loop->line, 0, "%d of %d runs", finished(contest), contest->run_count);
	for (int i = 0; i < loop->jobs && field < PROGRESS_FIELDS; i++)
		if (loop->slots[i].run)
			progress_field(&loop->line, field++, "%s %" PRId64,
				contest_variant(contest, loop->slots[i].run->variant),
				contest->plan.seeds[loop->slots[i].run->seed]);
	while (field < PROGRESS_FIELDS)
		progress_field(&loop->line, field++, "%s", "");
	progress_update(&loop->line, (uint64_t)(1000 * (done > 0 ? done : 0)));
}

static void run_all(struct loop *loop)
{
	double looked = 0;

	start_some(loop);
	while (loop->running) {
		jobs_pause(poll_seconds);
		forward_signals(loop);
		collect(loop);
		if (!jobs_signal_count())
			start_some(loop);
		looked += poll_seconds;
		if (looked >= look_seconds || !loop->running) {
			show(loop);
			looked = 0;
		}
	}
}

static int to_make(const struct contest *contest)
{
	int count = 0;

	for (int i = 0; i < contest->run_count; i++)
		count += contest->runs[i].state != CONTEST_FINISHED && !contest->runs[i].other;
	return count;
}

static bool convolves(const struct contest *contest)
{
	for (int i = 0; i < contest->run_count; i++)
		if (contest->runs[i].convolves)
			return true;
	return false;
}

static int set_width(struct loop *loop, const struct contest_watch *watch)
{
	const int processors = os_processors();

	loop->threads = watch->threads;
	loop->jobs = watch->jobs;
	if (!loop->jobs)
		loop->jobs = loop->threads ? processors / loop->threads : processors;
	if (!watch->jobs && loop->jobs > to_make(loop->contest))
		loop->jobs = to_make(loop->contest) > 0 ? to_make(loop->contest) : 1;
	/* Few runs share what there is; a net without convolutions has no use for that. */
	if (loop->jobs > 1 && !loop->threads)
		loop->threads = convolves(loop->contest) ? processors / loop->jobs : 1;
	if (loop->jobs > 1 && !loop->threads)
		loop->threads = 1;
	if (loop->jobs < 1 || loop->jobs > JOBS_MOST || loop->jobs * loop->threads > processors)
		return complain(EXIT_USAGE,
			"%d runs at a time, %d thread%s each: there are %d processors",
			loop->jobs > 0 ? loop->jobs : 1, loop->threads,
			loop->threads == 1 ? "" : "s", processors);
	return EXIT_OK;
}

int contest_go(struct contest *contest, const struct contest_watch *watch)
{
	struct loop loop = {.contest = contest, .quiet = watch->quiet, .mute = watch->mute};
	int status = set_width(&loop, watch);

	if (status != EXIT_OK)
		return status;
	if (finished(contest) == contest->run_count)
		return EXIT_OK;
	loop.shares = mem_new((size_t)contest->run_count, sizeof(*loop.shares));
	if (!loop.shares)
		return complain(EXIT_FAILED, "out of memory");
	for (int i = 0; i < contest->run_count; i++) {
		loop.shares[i] = contest->plan.anew ? 0 : contest_share(&contest->runs[i]);
		loop.work += contest->runs[i].work;
	}
	loop.before = work_done(&loop);
	progress_begin(&loop.line, watch->quiet ? NULL : stderr, watch->label, 1000);
	run_all(&loop);
	progress_end(&loop.line);
	mem_free(loop.shares);
	if (jobs_signal_count())
		return EXIT_STOPPED + jobs_signal();
	return loop.failed ? EXIT_FAILED : EXIT_OK;
}
