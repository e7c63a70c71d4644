/* The desk's status and its copy of the learner: both are renewed now and then. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "schema/schema.h"
#include "serve/desk/desk_impl.h"
#include "serve/desk/tail.h"

enum {
	PUBLISH_SHARE = 50, /* learning spends one part in this many on copies, */
	IDLE_SHARE = 2,     /* an idle learner one of so many: nobody waits for it */
	STATUS_MS = 100,
	EVENTS_PIECE = 16 << 10,
};

/* Another one answers from now on. */
static void replace(struct desk *desk, struct copy *copy)
{
	struct copy *former;

	pthread_mutex_lock(&desk->lock);
	former = desk->copy;
	desk->copy = copy;
	pthread_mutex_unlock(&desk->lock);
	copy_free(former);
}

int desk_publish(struct desk *desk, struct err *err)
{
	const struct run *run = &desk->live->session.run;
	const double start = clock_now();
	struct copy *copy;
	int code;

	if (!live_learns(desk->live))
		return 0;
	if (desk->copy && copy_fits(desk->copy, run->learner)) {
		code = copy_renew(desk->copy, run->learner, err);
	} else {
		code = copy_of_run(&copy, run, err);
		if (!code)
			replace(desk, copy);
	}
	desk->published = learner_version(run->learner);
	desk->published_at = clock_now();
	desk->publish_seconds = desk->published_at - start;
	return code;
}

double desk_publish_due(const struct desk *desk, bool idle)
{
	return desk->published_at + (idle ? IDLE_SHARE : PUBLISH_SHARE) * desk->publish_seconds;
}

void desk_publish_when_due(struct desk *desk, bool idle)
{
	const struct run *run = &desk->live->session.run;

	if (!live_learns(desk->live))
		return;
	if (!desk->copy || !copy_fits(desk->copy, run->learner) ||
		(learner_version(run->learner) != desk->published &&
			clock_now() >= desk_publish_due(desk, idle)))
		desk_publish(desk, NULL);
}

static int64_t journal_bytes(const struct run *run)
{
	char path[RUN_PATH];
	struct stat found = {0};

	if (!stat(run_folder_path(run, "journal/data.mdb", path), &found))
		found.st_size = (off_t)found.st_blocks * 512;
	return found.st_size;
}

static int64_t count_words(const char *text, const char *words)
{
	int64_t count = 0;

	while ((text = strstr(text, words))) {
		count++;
		text++;
	}
	return count;
}

static void count_events(struct desk *desk)
{
	char piece[EVENTS_PIECE];

	while (desk->events && tail_read(desk->events, &desk->events_at, piece, sizeof(piece))) {
		desk->cuts += count_words(piece, "\"event\": \"cut\"");
		desk->alarms += count_words(piece, "\"event\": \"alarm\"");
	}
}

/* As an event. That events cannot be written is a warning, too. */
static void tell(struct desk *desk, const char *message)
{
	struct event_log *events = desk->live ? desk->live->session.run.events : NULL;
	struct learner_report report;
	struct event_line line;

	if (!events || !desk->started || desk->telling)
		return;
	desk->telling = true;
	learner_report(desk->live->session.run.learner, &report);
	event_log_begin(&line, "warning", report.iteration);
	jwriter_text(&line.json, "message", message);
	event_log_end(events, &line);
	desk->telling = false;
}

void desk_on_log(void *context, enum log_level level, const char *message)
{
	struct desk *desk = context;

	desk->warnings += level == LOG_WARN;
	if (level == LOG_WARN)
		tell(desk, message);
	if (desk->log.write)
		desk->log.write(desk->log.context, level, message);
}

static void look_at_learner(struct desk *desk, struct desk_status *status)
{
	const struct run *run = &desk->live->session.run;
	struct desk_status now = {0};
	struct learner_report report;

	learner_report(run->learner, &report);
	now.samples = report.samples;
	now.iteration = report.iteration;
	now.step = run->step;
	now.waiting = journal_waiting(desk->live->session.journal);
	now.pool = report.pool;
	now.behind = store_stored(run->store) - store_count(run->store);
	now.fields_ignored = run->schema ? schema_ignored(run->schema) : 0;
	now.scores = run_scores(run);
	now.rate = report.rate;
	now.sigma = report.averages && report.scored ? report.sigma : NAN;
	now.loss = report.loss;
	now.val = report.scored ? report.scores[report.judged].accuracy : NAN;
	now.val_plain = report.scored ? report.scores[SCORES_PLAIN].accuracy : NAN;
	now.train_seconds = run->train_seconds;
	now.seconds = run_seconds(run);
	now.journal_bytes = journal_bytes(run);
	count_events(desk);
	now.standings_count = shadows_standings(&desk->live->session, now.standings);
	now.cuts = desk->cuts;
	now.alarms = desk->alarms;
	*status = now;
}

void desk_look(struct desk *desk)
{
	struct desk_status now = {.scores = run_scores_none(),
		.sigma = NAN,
		.loss = NAN,
		.val = NAN,
		.val_plain = NAN};

	if (live_learns(desk->live))
		look_at_learner(desk, &now);
	now.lines = desk->live->session.lines;
	now.bad = desk->live->session.bad;
	now.warnings = desk->warnings;
	now.learns = live_learns(desk->live);
	pthread_mutex_lock(&desk->lock);
	now.jobs = desk->status.jobs;
	now.syncs = desk->status.syncs;
	now.queue_most = desk->room;
	desk->status = now;
	pthread_mutex_unlock(&desk->lock);
	desk->status_due = clock_now() + STATUS_MS / 1000.;
}

void desk_look_when_due(struct desk *desk)
{
	if (clock_now() >= desk->status_due)
		desk_look(desk);
}

void desk_status(struct desk *desk, struct desk_status *status)
{
	pthread_mutex_lock(&desk->lock);
	*status = desk->status;
	status->queue = desk->reserved;
	status->answers = desk->begun || desk->resumed;
	if (desk->failure.code)
		status->state = DESK_FAILED;
	else if (desk->ended)
		status->state = DESK_ENDED;
	else if (desk->live && !desk->begun)
		status->state = DESK_OPENS;
	else
		status->state = desk->paused                         ? DESK_PAUSED
				: desk->live && !desk->status.learns ? DESK_WAITS
								     : DESK_LEARNS;
	snprintf(status->serving, sizeof(status->serving), "%s",
		desk->serving ? desk->serving_name : VERSION_LIVE);
	snprintf(status->failure, sizeof(status->failure), "%s", desk->failure.message);
	pthread_mutex_unlock(&desk->lock);
}
