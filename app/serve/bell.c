/*
 * Invariants: only the bell's thread reads `before` and delivers. What it says about itself, the
 * counts, and the wish to end require the lock.
 */
#include "serve/bell.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/os.h"
#include "serve/child.h"

static const double LOOK = 0.25;          /* seconds between looks */
static const double PATIENCE = 30;        /* seconds for one attempt */
static const double FAREWELL = 5;         /* ... for all of them once the service ends */
static const double WAITS[] = {1, 5, 30}; /* before each further attempt */

struct bell {
	struct desk *desk;
	const char *name, *exec, *webhook;
	double fall;
	const struct log *log;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t some;
	bool ending;
	double until; /* when all must be over, once it ends */
	struct bell_counts counts;
	struct desk_status before;
	bool fallen, full, failed; /* alarms that hold until their cause is gone */
};

/* How many of a kind have arisen since the last look; says why. */
struct alarm_kind {
	const char *name;
	int64_t (*rises)(struct bell *bell, const struct desk_status *now, char *why, size_t size);
	bool lasts; /* a folder keeps it: what was so before the service began is known already */
};

static int64_t drift(struct bell *bell, const struct desk_status *now, char *why, size_t size)
{
	snprintf(why, size, "predictions have become worse: a drift alarm at sample %" PRId64,
		now->samples);
	return now->alarms - bell->before.alarms;
}

/* Ends once half of the fall is made up for, so that it does not flicker. */
static int64_t fall(struct bell *bell, const struct desk_status *now, char *why, size_t size)
{
	const double below = now->scores.le - now->scores.recent,
		     most = bell->fallen ? bell->fall / 2 : bell->fall;
	const bool before = bell->fallen;

	bell->fallen = now->samples >= 1000 && below > most;
	snprintf(why, size, "%s fell: %.1f %% over the latest 1000, %.1f %% over all",
		isnan(now->scores.errors.mae) ? "accuracy" : "explained variance",
		100 * now->scores.recent, 100 * now->scores.le);
	return bell->fallen && !before;
}

static int64_t queue(struct bell *bell, const struct desk_status *now, char *why, size_t size)
{
	const bool before = bell->full;

	bell->full =
		now->queue_most && now->queue >= (before ? now->queue_most / 2 : now->queue_most);
	snprintf(why, size, "the queue is full: %d requests wait for the learner", now->queue);
	return bell->full && !before;
}

static int64_t failure(struct bell *bell, const struct desk_status *now, char *why, size_t size)
{
	const bool before = bell->failed;

	bell->failed = now->state == DESK_FAILED;
	snprintf(why, size, "the learner failed: %s", now->failure);
	return bell->failed && !before;
}

static const struct alarm_kind kinds[] = {
	{"drift", drift, true}, {"fall", fall, true}, {"queue", queue}, {"failure", failure}};

/* Returns whether the bell ends; if so, at once. */
static bool wait_for(struct bell *bell, double seconds)
{
	bool ending;

	pthread_mutex_lock(&bell->lock);
	if (!bell->ending)
		os_condition_wait(&bell->some, &bell->lock, seconds);
	ending = bell->ending;
	pthread_mutex_unlock(&bell->lock);
	return ending;
}

/* When an attempt that begins now must be over at the latest. */
static double latest(void *context, double start)
{
	struct bell *bell = context;
	double until = start + PATIENCE;

	pthread_mutex_lock(&bell->lock);
	if (bell->ending && bell->until < until)
		until = bell->until;
	pthread_mutex_unlock(&bell->lock);
	return until;
}

static void deliver(
	struct bell *bell, const char *key, const char *const words[], const struct text *message)
{
	const int most = (int)(sizeof(WAITS) / sizeof(*WAITS));
	char complaint[512] = "the service ends";
	const bool may = clock_now() < latest(bell, clock_now());
	bool sent = may && child_run(words, message, latest, bell, complaint);

	for (int i = 0; i < most && !sent && !wait_for(bell, WAITS[i]); i++)
		sent = child_run(words, message, latest, bell, complaint);
	if (!sent)
		log_write(bell->log, LOG_WARN, "%s: an alarm could not be delivered: %s", key,
			*complaint ? complaint : "the command failed");
	pthread_mutex_lock(&bell->lock);
	bell->counts.sent += sent;
	bell->counts.failed += !sent;
	pthread_mutex_unlock(&bell->lock);
}

static void ring(struct bell *bell, const char *kind, int64_t count, const char *why,
	const struct desk_status *now)
{
	const char *const shell[] = {"/bin/sh", "-c", bell->exec, NULL};
	const char *const curl[] = {"curl", "-sS", "--fail", "--max-time", "10", "--proto",
		"=http,https", "-H", "Content-Type: application/json", "--data-binary", "@-",
		"--url", bell->webhook, NULL};
	const time_t at = time(NULL);
	struct text message = {0};
	struct jwriter json = {.out = &message};
	char when[32] = "";
	struct tm day;

	if (gmtime_r(&at, &day))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &day);
	jwriter_table(&json, NULL);
	jwriter_text(&json, "alarm", kind);
	jwriter_text(&json, "learner", bell->name);
	jwriter_text(&json, "message", why);
	jwriter_text(&json, "time", when);
	jwriter_whole(&json, "count", count);
	jwriter_whole(&json, "samples", now->samples);
	jwriter_number(&json, "le", now->scores.le);
	jwriter_number(&json, "recent", now->scores.recent);
	jwriter_text(&json, "serving", now->serving);
	jwriter_end(&json);
	text_add(&message, "\n");
	if (*bell->exec && !message.failed)
		deliver(bell, "alarm.exec", shell, &message);
	if (*bell->webhook && !message.failed)
		deliver(bell, "alarm.webhook", curl, &message);
	text_release(&message);
}

static void look(struct bell *bell, bool first)
{
	struct desk_status now;

	desk_status(bell->desk, &now);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		char why[640];
		const int64_t count = kinds[i].rises(bell, &now, why, sizeof(why));

		if (count > 0 && !(first && kinds[i].lasts))
			ring(bell, kinds[i].name, count, why, &now);
	}
	bell->before = now;
}

static void *watch(void *context)
{
	struct bell *bell = context;
	bool begun = false;

	while (!wait_for(bell, LOOK)) {
		struct desk_status now;

		desk_status(bell->desk, &now);
		if (now.state == DESK_OPENS)
			continue;
		look(bell, !begun);
		begun = true;
	}
	look(bell, !begun);
	return NULL;
}

int bell_open(struct bell **bell, const struct options *options, struct desk *desk,
	const char *name, struct err *err)
{
	const char *exec = options_text(options, "alarm.exec"),
		   *webhook = options_text(options, "alarm.webhook");
	struct bell *made;

	*bell = NULL;
	if (!*exec && !*webhook)
		return 0;
	if (*webhook && strncmp(webhook, "http://", 7) && strncmp(webhook, "https://", 8))
		return err_set(err, ERR_INPUT,
			"alarm.webhook = %s: must begin with http:// or https://", webhook);
	made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, "alarms", sizeof(*made));
	made->desk = desk;
	made->name = name;
	made->exec = exec;
	made->webhook = webhook;
	made->fall = options_float(options, "alarm.fall");
	made->log = &desk_config(desk)->log;
	pthread_mutex_init(&made->lock, NULL);
	os_condition_init(&made->some);
	if (pthread_create(&made->thread, NULL, watch, made)) {
		mem_free(made);
		return err_set(err, ERR_STATE, "alarms: a thread cannot be started");
	}
	*bell = made;
	return 0;
}

void bell_close(struct bell *bell)
{
	if (!bell)
		return;
	pthread_mutex_lock(&bell->lock);
	bell->ending = true;
	bell->until = clock_now() + FAREWELL;
	pthread_cond_broadcast(&bell->some);
	pthread_mutex_unlock(&bell->lock);
	pthread_join(bell->thread, NULL);
	pthread_cond_destroy(&bell->some);
	pthread_mutex_destroy(&bell->lock);
	mem_free(bell);
}

struct bell_counts bell_counts(struct bell *bell)
{
	struct bell_counts counts = {0};

	if (bell) {
		pthread_mutex_lock(&bell->lock);
		counts = bell->counts;
		pthread_mutex_unlock(&bell->lock);
	}
	return counts;
}
