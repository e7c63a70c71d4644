/*
 * The learner's thread and its queue.
 *
 * Invariants: a job is in one place: on one of the lists, or open (its lines were
 * taken, not all are answered), or done. Only the learner's thread touches the live
 * stream and the open jobs.
 */
#include "serve/desk/desk.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os.h"
#include "live/feed.h"
#include "serve/desk/desk_impl.h"

enum {
	WAIT_MS = 200, /* after which the desk looks around without a job */
	NICER = 5,
};

static const struct err ENDED = {ERR_STATE, "the service ends"};
static const struct err PAUSED = {ERR_STATE, "the learner is paused; /v1/resume goes on"};

void list_init(struct list *list)
{
	list->first = NULL;
	list->end = &list->first;
}

static void list_add(struct list *list, struct job *job)
{
	job->next = NULL;
	*list->end = job;
	list->end = &job->next;
}

static struct job *list_take(struct list *list)
{
	struct job *first = list->first;

	list_init(list);
	return first;
}

static void finish(struct desk *desk, struct job *job, int code, const struct err *err)
{
	job->code = code;
	if (code)
		job->err = *err;
	pthread_mutex_lock(&desk->lock);
	desk->reserved--;
	desk->status.jobs++;
	pthread_mutex_unlock(&desk->lock);
	job->done(job);
}

/* What the open jobs were answered holds by now. */
static void settled(void *context)
{
	struct desk *desk = context;
	bool any = false;

	for (struct job **at = &desk->open, *job; (job = *at);) {
		if (!job->taken || job->answers.sender.owed) {
			at = &job->next;
			continue;
		}
		*at = job->next;
		finish(desk, job, 0, NULL);
		any = true;
	}
	pthread_mutex_lock(&desk->lock);
	desk->status.syncs += any;
	pthread_mutex_unlock(&desk->lock);
}

/* Lines with more of them behind, of this job or of others, share a sync. */
static int take_lines(struct desk *desk, struct job *job, bool more, struct err *err)
{
	const int count = job->batch->count;
	int code = 0;

	for (int i = 0; i < count && !code; i++) {
		struct feed_line line = job->batch->lines[i];

		line.number = ++job->line;
		session_expect_more(&desk->live->session, i + 1 < count || more);
		code = live_take(desk->live, &line, job->kind, &job->answers, err);
	}
	return code;
}

static int take_event(struct desk *desk, struct job *job, struct err *err)
{
	struct event event = *job->event;

	event.place.line = ++job->line;
	desk->live->session.lines++;
	return session_take(&desk->live->session, &event, &job->answers.sender, err);
}

/* By the learner itself; a job has the copy that knows the classes there are now. */
static int predict(struct desk *desk, struct job *job, struct err *err)
{
	const struct run *run = &desk->live->session.run;
	struct learner *own = keeper_learner(&desk->live->session);
	struct learner *learner = own ? own : run->learner;
	const size_t classes = (size_t)net_spec(learner_net(learner))->classes;
	int code = desk->copy && copy_fits(desk->copy, run->learner) ? 0 : desk_publish(desk, err);

	if (code)
		return code;
	job->logits = mem_new((size_t)job->count * classes, sizeof(*job->logits));
	if (!job->logits)
		return err_memory(err, "predictions", (size_t)job->count * classes);
	for (int at = 0, alike; at < job->count && !code; at += alike) {
		alike = copy_alike(job->wishes, at, job->count);
		code = learner_predict(learner, answers_wish_model(job->wishes[at]),
			job->inputs + (size_t)at * run->floats, alike,
			job->logits + (size_t)at * classes, err);
	}
	job->copy = code ? NULL : desk_copy(desk);
	return code;
}

/* A job that is no lines. */
static void answer(struct desk *desk, struct job *job)
{
	struct err why = {0};
	int code;

	if (job->weights)
		code = run_write_model(&desk->live->session.run, job->weights, &why);
	else
		code = predict(desk, job, &why);
	finish(desk, job, code, &why);
}

static int take(struct desk *desk, struct job *jobs, struct err *err)
{
	const bool more = desk->live->session.more; /* a job that is interrupted has more */
	int code = 0;

	for (struct job *next; jobs; jobs = next) {
		next = jobs->next;
		if (jobs->inputs || jobs->weights) {
			answer(desk, jobs);
			continue;
		}
		jobs->answers.sender.answer = answers_say;
		jobs->next = desk->open;
		desk->open = jobs;
		session_expect_more(&desk->live->session, next);
		if (!code && jobs->event)
			code = take_event(desk, jobs, err);
		else if (!code)
			code = take_lines(desk, jobs, next, err);
		jobs->taken = true;
	}
	session_expect_more(&desk->live->session, false);
	if (!code)
		code = session_flush(&desk->live->session, err);
	session_expect_more(&desk->live->session, more);
	return code;
}

/*
 * While a time step is trained on, inputs and questions need not wait for its end; but for that of
 * all that is learned again after a crash.
 */
static void between(void *context)
{
	struct desk *desk = context;
	struct job *jobs;
	struct err err = {0};
	int code = 0;

	pthread_mutex_lock(&desk->lock);
	jobs = desk->begun ? list_take(&desk->inputs) : NULL;
	pthread_mutex_unlock(&desk->lock);
	if (jobs)
		code = take(desk, jobs, &err);
	desk_publish_when_due(desk, false);
	desk_look_when_due(desk);
	if (code) {
		pthread_mutex_lock(&desk->lock);
		desk->failure = err;
		pthread_mutex_unlock(&desk->lock);
	}
}

/* A copy that is old is renewed as soon as it is due. */
static long wait_ms(const struct desk *desk)
{
	const double left = 1000 * (desk_publish_due(desk, true) - clock_now());

	if (!live_learns(desk->live) ||
		learner_version(desk->live->session.run.learner) == desk->published ||
		left > WAIT_MS)
		return WAIT_MS;
	return left > 1 ? (long)left : 1;
}

/* Both lists as one, inputs first; waits a moment for something, if `wait`. */
static struct job *next_jobs(struct desk *desk, bool wait, bool *ending)
{
	struct job *jobs = NULL;
	const double until = clock_now() + wait_ms(desk) / 1000.;

	pthread_mutex_lock(&desk->lock);
	while (wait && !desk->inputs.first && (!desk->others.first || desk->paused) &&
		!desk->ending && !desk->acts.first)
		if (os_condition_wait(&desk->some, &desk->lock, until - clock_now()))
			break;
	if (desk->others.first && (!desk->paused || desk->ending)) {
		*desk->inputs.end = desk->others.first;
		desk->inputs.end = desk->others.end;
		list_init(&desk->others);
	}
	jobs = list_take(&desk->inputs);
	*ending = desk->ending;
	pthread_mutex_unlock(&desk->lock);
	return jobs;
}

/* Ends all jobs of a list with one outcome. */
static void finish_all(struct desk *desk, struct job *jobs, int code, const struct err *err)
{
	for (struct job *next; jobs; jobs = next) {
		next = jobs->next;
		finish(desk, jobs, code, err);
	}
}

/* Between time steps alone: what is saved then holds whole ones. */
static void act(struct desk *desk)
{
	struct job *jobs, *next;

	pthread_mutex_lock(&desk->lock);
	jobs = list_take(&desk->acts);
	pthread_mutex_unlock(&desk->lock);
	for (; jobs; jobs = next) {
		struct err why = {0};
		int code;

		next = jobs->next;
		code = live_learns(desk->live)
			       ? jobs->act(jobs, &desk->live->session, &why)
			       : err_set(&why, ERR_STATE, "there is no learner yet");
		desk_turn_to(desk);
		finish(desk, jobs, code, &why);
	}
}

static int turn(struct desk *desk, bool *more, bool *ending, struct err *err)
{
	struct job *jobs = next_jobs(desk, !*more, ending);
	bool paused;
	int code;

	if (jobs) {
		code = take(desk, jobs, err);
		*ending = false; /* until nothing lies there */
	} else {
		pthread_mutex_lock(&desk->lock);
		paused = desk->paused;
		pthread_mutex_unlock(&desk->lock);
		*more = false;
		code = paused ? 0 : session_idle(&desk->live->session, more, err);
	}
	act(desk);
	desk_turn_to(desk);
	desk_publish_when_due(desk, !jobs && !*more);
	desk_look_when_due(desk);
	if (!code && desk->failure.code)
		code = err_set(err, desk->failure.code, "%s", desk->failure.message);
	return code;
}

void desk_give_up(struct desk *desk, int code, const struct err *why)
{
	struct job *lists[4] = {desk->open};

	pthread_mutex_lock(&desk->lock);
	desk->ended = true;
	if (code)
		desk->failure = *why;
	lists[1] = list_take(&desk->inputs);
	lists[2] = list_take(&desk->others);
	lists[3] = list_take(&desk->acts);
	pthread_mutex_unlock(&desk->lock);
	desk->open = NULL;
	for (int i = 0; i < 4; i++)
		finish_all(desk, lists[i], code ? code : ERR_STATE, code ? why : &ENDED);
}

void *desk_work(void *context)
{
	struct desk *desk = context;
	const struct live_watch watch = {settled, between, desk};
	struct err err = {0};
	bool more = false, ending = false;
	int code;

	os_give_way(NICER); /* where processors are few, predictions go first */
	code = live_begin(desk->live, &watch, &err);

	if (!code)
		code = desk_publish(desk, &err);
	desk_look(desk);
	pthread_mutex_lock(&desk->lock);
	desk->begun = true;
	pthread_mutex_unlock(&desk->lock);
	while (!code && !ending && !run_stopping(&desk->live->session.run))
		code = turn(desk, &more, &ending, &err);
	desk_look(desk);
	desk_give_up(desk, code, &err);
	return NULL;
}

bool desk_reserve(struct desk *desk, bool must)
{
	bool has;

	pthread_mutex_lock(&desk->lock);
	has = must || desk->reserved < desk->room;
	desk->reserved += has;
	pthread_mutex_unlock(&desk->lock);
	return has;
}

static struct list *list_for(struct desk *desk, const struct job *job)
{
	if (job->act)
		return &desk->acts;
	return job->inputs || job->weights || job->kind == LIVE_INPUTS ? &desk->inputs
								       : &desk->others;
}

void desk_put(struct desk *desk, struct job *job)
{
	struct list *list = list_for(desk, job);
	struct err why = {0};

	pthread_mutex_lock(&desk->lock);
	if (desk->ended)
		why = desk->failure.code ? desk->failure : ENDED;
	else if (desk->paused && list == &desk->others && !job->patient)
		why = PAUSED;
	else
		list_add(list, job);
	pthread_cond_signal(&desk->some);
	pthread_mutex_unlock(&desk->lock);
	if (why.code)
		finish(desk, job, ERR_STATE, &why);
}

/* Takes those that are not patient from a list. */
static struct job *list_take_hasty(struct list *list)
{
	struct list hasty;
	struct job *next;

	list_init(&hasty);
	for (struct job *job = list_take(list); job; job = next) {
		next = job->next;
		list_add(job->patient ? list : &hasty, job);
	}
	return hasty.first;
}

void desk_pause(struct desk *desk, bool pause)
{
	struct job *hasty;

	pthread_mutex_lock(&desk->lock);
	desk->paused = pause;
	hasty = pause ? list_take_hasty(&desk->others) : NULL;
	pthread_cond_signal(&desk->some);
	pthread_mutex_unlock(&desk->lock);
	finish_all(desk, hasty, ERR_STATE, &PAUSED);
}
