/*
 * The learner's thread, its queue and its copy of the weights.
 *
 * Invariants: a job is in one place: on one of the two lists, or open (its lines were
 * taken, not all are answered), or done. Only the learner's thread touches the live
 * stream and the open jobs.
 */
#define _GNU_SOURCE 1
#include "serve/desk.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/paths.h"
#include "live/feed.h"
#include "live/live_impl.h"
#include "nn/predictor.h"
#include "nn/weights/weights_file.h"
#include "serve/tail.h"
#include "schema/schema.h"

enum {
	MICRO_BATCH = 32,
	PUBLISH_SHARE = 50, /* learning spends one part in so many on copies */
	WAIT_MS = 200,      /* after which the desk looks around without a job */
	STATUS_MS = 100,
	EVENTS_PIECE = 16 << 10,
};

struct list {
	struct job *first, **end;
};

struct desk {
	struct live *live;
	struct run_config config;
	struct log log;    /* the owner's */
	sig_atomic_t stop; /* the live stream's */
	pthread_t thread;
	bool started;
	struct job *open; /* the learner's thread's */

	pthread_mutex_t lock; /* of all up to the status */
	pthread_cond_t some;
	struct list inputs, others;
	int reserved, room;
	bool begun, ending, ended, paused, save;
	struct err failure;
	struct desk_status status;
	double status_due;

	/* What the run's events count to. */
	char *events;
	int64_t events_at, cuts, alarms;
	_Atomic int64_t warnings;

	struct weights *weights;     /* of a fixed model; then there is no live stream */
	struct schema *schema;       /* of its rows; NULL: inputs are numbers */
	char *path;                  /* of its file */
	struct predictor *predictor; /* made before the thread begins */
	uint64_t published;
	double publish_due;
};

static void list_init(struct list *list)
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

/* --- the copy of the weights --- */

static int publish(struct desk *desk, struct err *err)
{
	const struct learner *learner = desk->live->run.learner;
	const float *params = learner_params(learner, LEARNER_INFERENCE);
	const float *stats = learner_stats(learner, LEARNER_INFERENCE);
	const double start = clock_now();
	const struct predictor_config config = {.micro = MICRO_BATCH};
	int code;

	if (desk->predictor)
		code = predictor_publish(
			desk->predictor, params, stats, learner_scale(learner), err);
	else
		code = predictor_new(&desk->predictor, learner_net(learner), &config, params, stats,
			learner_scale(learner), err);
	desk->published = learner_version(learner);
	desk->publish_due = clock_now() + PUBLISH_SHARE * (clock_now() - start);
	return code;
}

static void publish_when_due(struct desk *desk)
{
	if (learner_version(desk->live->run.learner) != desk->published &&
		clock_now() >= desk->publish_due)
		publish(desk, NULL);
}

/* --- how things stand --- */

static int64_t journal_bytes(const struct run *run)
{
	char *path = run_folder_path(run, "journal/data.mdb");
	struct stat found = {0};

	if (path && !stat(path, &found))
		found.st_size = (off_t)found.st_blocks * 512;
	mem_free(path);
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

/* Warnings are counted on their way to whoever wants them. */
static void on_log(void *context, enum log_level level, const char *message)
{
	struct desk *desk = context;

	desk->warnings += level == LOG_WARN;
	if (desk->log.write)
		desk->log.write(desk->log.context, level, message);
}

static void look_at(struct desk *desk)
{
	const struct run *run = &desk->live->run;
	struct desk_status now = {0};
	struct learner_report report;

	learner_report(run->learner, &report);
	now.samples = report.samples;
	now.iteration = report.iteration;
	now.step = run->step;
	now.lines = live_lines(desk->live);
	now.bad = live_bad_lines(desk->live);
	now.waiting = journal_waiting(desk->live->journal);
	now.pool = report.pool;
	now.le = prequential_top1(run->prequential);
	now.blind = prequential_blind(run->prequential);
	now.rate = report.rate;
	now.sigma = report.averages && report.scored ? report.sigma : NAN;
	now.loss = report.loss;
	now.val = report.scored ? report.scores[report.judged].accuracy : NAN;
	now.val_plain = report.scored ? report.scores[SCORES_PLAIN].accuracy : NAN;
	now.train_seconds = run->train_seconds;
	now.seconds = run_seconds(run);
	now.journal_bytes = journal_bytes(run);
	count_events(desk);
	now.cuts = desk->cuts;
	now.alarms = desk->alarms;
	now.warnings = desk->warnings;
	pthread_mutex_lock(&desk->lock);
	now.jobs = desk->status.jobs;
	now.syncs = desk->status.syncs;
	now.queue_most = desk->room;
	desk->status = now;
	pthread_mutex_unlock(&desk->lock);
	desk->status_due = clock_now() + STATUS_MS / 1000.;
}

void desk_status(struct desk *desk, struct desk_status *status)
{
	pthread_mutex_lock(&desk->lock);
	*status = desk->status;
	status->queue = desk->reserved;
	if (desk->failure.code)
		status->state = DESK_FAILED;
	else if (desk->ended)
		status->state = DESK_ENDED;
	else if (desk->live && !desk->begun)
		status->state = DESK_OPENS;
	else
		status->state = desk->paused ? DESK_PAUSED : DESK_LEARNS;
	snprintf(status->failure, sizeof(status->failure), "%s", desk->failure.message);
	pthread_mutex_unlock(&desk->lock);
}

/* --- jobs --- */

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
		if (!job->taken || job->answers.owed) {
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

static int take_lines(struct desk *desk, struct job *job, struct err *err)
{
	const char *at = job->bytes, *end = at + job->size;
	int code = 0;

	while (at < end && !code) {
		const char *newline = job->single ? NULL : memchr(at, '\n', (size_t)(end - at));
		const struct feed_line line = {.number = ++job->line,
			.bytes = at,
			.size = (size_t)((newline ? newline : end) - at)};

		code = live_take(desk->live, &line, job->kind, &job->answers, err);
		at = newline ? newline + 1 : end;
	}
	return code;
}

static int model_of(struct answers_wish wish)
{
	return wish.question == ANSWERS_EVER ? LEARNER_EVER : LEARNER_NOW;
}

/* Those that ask the same together. */
static int predict(struct desk *desk, const struct job *job, struct err *err)
{
	const struct run *run = &desk->live->run;
	int code = 0;

	for (int at = 0, end; at < job->count && !code; at = end) {
		for (end = at + 1;
			end < job->count && model_of(job->wishes[end]) == model_of(job->wishes[at]);
			end++)
			;
		code = learner_predict(run->learner, model_of(job->wishes[at]),
			job->inputs + (size_t)at * run->floats, end - at,
			job->logits + (size_t)at * (size_t)run->classes, err);
	}
	return code;
}

/* A job that is no lines. */
static void answer(struct desk *desk, struct job *job)
{
	struct err why = {0};
	int code;

	if (job->weights)
		code = run_write_model(&desk->live->run, job->weights, &why);
	else
		code = predict(desk, job, &why);
	finish(desk, job, code, &why);
}

static int take(struct desk *desk, struct job *jobs, struct err *err)
{
	int code = 0;

	for (struct job *next; jobs; jobs = next) {
		next = jobs->next;
		if (jobs->inputs || jobs->weights) {
			answer(desk, jobs);
			continue;
		}
		jobs->next = desk->open;
		desk->open = jobs;
		if (!code)
			code = take_lines(desk, jobs, err);
		jobs->taken = true;
	}
	return code ? code : live_flush(desk->live, err);
}

/* While a time step is trained on, inputs and questions need not wait for its end. */
static void between(void *context)
{
	struct desk *desk = context;
	struct job *jobs;
	struct err err = {0};
	int code = 0;

	pthread_mutex_lock(&desk->lock);
	jobs = list_take(&desk->inputs);
	pthread_mutex_unlock(&desk->lock);
	if (jobs)
		code = take(desk, jobs, &err);
	publish_when_due(desk);
	if (clock_now() >= desk->status_due)
		look_at(desk);
	if (code) {
		pthread_mutex_lock(&desk->lock);
		desk->failure = err;
		pthread_mutex_unlock(&desk->lock);
	}
}

/* Both lists as one, inputs first; waits a moment for something, if `wait`. */
static struct job *next_jobs(struct desk *desk, bool wait, bool *ending)
{
	struct job *jobs = NULL;
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += WAIT_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_mutex_lock(&desk->lock);
	while (wait && !desk->inputs.first && (!desk->others.first || desk->paused) &&
		!desk->ending && !desk->save)
		if (pthread_cond_timedwait(&desk->some, &desk->lock, &until))
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

static int save(struct desk *desk)
{
	bool wanted;

	pthread_mutex_lock(&desk->lock);
	wanted = desk->save;
	desk->save = false;
	pthread_mutex_unlock(&desk->lock);
	if (wanted)
		checkpoint_save(&desk->live->run, NULL);
	return 0;
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
		code = paused ? 0 : live_idle(desk->live, more, err);
	}
	save(desk);
	publish_when_due(desk);
	if (clock_now() >= desk->status_due)
		look_at(desk);
	if (!code && desk->failure.code)
		code = err_set(err, desk->failure.code, "%s", desk->failure.message);
	return code;
}

/* Nothing more can be done; whoever waits is told. */
static void give_up(struct desk *desk, int code, const struct err *why)
{
	const struct err ended = {ERR_STATE, "the service ends"};
	struct job *jobs, *next;

	pthread_mutex_lock(&desk->lock);
	desk->ended = true;
	if (code)
		desk->failure = *why;
	*desk->inputs.end = list_take(&desk->others);
	jobs = list_take(&desk->inputs);
	pthread_mutex_unlock(&desk->lock);
	for (struct job *job = desk->open; job; job = next) {
		next = job->next;
		finish(desk, job, code ? code : ERR_STATE, code ? why : &ended);
	}
	desk->open = NULL;
	for (; jobs; jobs = next) {
		next = jobs->next;
		finish(desk, jobs, code ? code : ERR_STATE, code ? why : &ended);
	}
}

static void *work(void *context)
{
	struct desk *desk = context;
	const struct live_watch watch = {settled, between, desk};
	struct err err = {0};
	bool more = false, ending = false;
	int code = live_begin(desk->live, &watch, &err);

	if (!code)
		code = publish(desk, &err);
	look_at(desk);
	pthread_mutex_lock(&desk->lock);
	desk->begun = true;
	pthread_mutex_unlock(&desk->lock);
	while (!code && !ending)
		code = turn(desk, &more, &ending, &err);
	look_at(desk);
	give_up(desk, code, &err);
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

void desk_put(struct desk *desk, struct job *job)
{
	const struct err ended = {ERR_STATE, "the service ends"};
	bool late;

	pthread_mutex_lock(&desk->lock);
	late = desk->ended;
	if (!late)
		list_add(job->inputs || job->weights || job->kind == LIVE_INPUTS ? &desk->inputs
										 : &desk->others,
			job);
	pthread_cond_signal(&desk->some);
	pthread_mutex_unlock(&desk->lock);
	if (late)
		finish(desk, job, ERR_STATE, desk->failure.code ? &desk->failure : &ended);
}

void desk_pause(struct desk *desk, bool pause)
{
	pthread_mutex_lock(&desk->lock);
	desk->paused = pause;
	pthread_cond_signal(&desk->some);
	pthread_mutex_unlock(&desk->lock);
}

void desk_save(struct desk *desk)
{
	pthread_mutex_lock(&desk->lock);
	desk->save = true;
	pthread_cond_signal(&desk->some);
	pthread_mutex_unlock(&desk->lock);
}

/* --- from any thread --- */

int desk_read(struct desk *desk, const char *bytes, size_t size, const char *where,
	struct live_line *line, float *input, struct err *err)
{
	struct live_line_shape shape;

	if (desk->live)
		return live_read(desk->live, bytes, size, where, line, input, err);
	shape = (struct live_line_shape){.floats = desk_floats(desk),
		.classes = desk_net(desk)->classes,
		.missing = desk->weights->scale != NULL,
		.schema = desk->schema};
	shape.anonymous = true;
	return live_line_ndjson(bytes, size, where, &shape, line, input, err);
}

bool desk_asks(const struct desk *desk, const struct job *job)
{
	bool asks = false;

	for (int i = 0; i < job->count && desk->live; i++)
		asks = asks || learner_mixes(desk->live->run.learner, model_of(job->wishes[i]));
	return asks;
}

int desk_predict(struct desk *desk, const float *inputs, int n, float *logits, struct err *err)
{
	return predictor_predict(desk->predictor, inputs, n, logits, err);
}

const struct net_spec *desk_net(const struct desk *desk)
{
	return net_spec(desk->live ? learner_net(desk->live->run.learner) : desk->weights->net);
}

size_t desk_floats(const struct desk *desk)
{
	const struct net_spec *spec = desk_net(desk);

	return (size_t)spec->channels * (size_t)spec->height * (size_t)spec->width;
}

bool desk_learns(const struct desk *desk)
{
	return desk->live != NULL;
}

struct answers_wish desk_wish(const struct desk *desk)
{
	return desk->live ? desk->live->wish : (struct answers_wish){0};
}

const char *desk_class_name(const struct desk *desk, int class)
{
	const char *const *names = desk->weights ? desk->weights->class_names : NULL;

	return names ? names[class] : NULL;
}

const struct run_config *desk_config(const struct desk *desk)
{
	return &desk->config;
}

const char *desk_path(const struct desk *desk)
{
	return desk->path;
}

/* --- opening --- */

static struct desk *desk_new(struct err *err)
{
	struct desk *made = mem_new(1, sizeof(*made));
	pthread_condattr_t clock;

	if (!made) {
		err_memory(err, "a service", sizeof(*made));
		return NULL;
	}
	list_init(&made->inputs);
	list_init(&made->others);
	pthread_mutex_init(&made->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&made->some, &clock);
	pthread_condattr_destroy(&clock);
	return made;
}

int desk_open_model(struct desk **desk, const char *path, struct err *err)
{
	const struct predictor_config config = {.micro = MICRO_BATCH};
	struct desk *made = desk_new(err);
	const struct weights *w;
	int code;

	*desk = NULL;
	if (!made)
		return ERR_MEMORY;
	made->path = mem_text(path);
	code = made->path ? weights_read(&made->weights, path, err)
			  : err_memory(err, "a path", strlen(path));
	w = made->weights;
	if (!code && w->schema && strstr(w->schema, "\"columns\""))
		code = schema_parse(&made->schema, &(struct schema_sizes){1, 1, 0}, w->schema,
			strlen(w->schema), path, err);
	if (!code && made->schema && schema_floats(made->schema) != desk_floats(made))
		code = err_set(err, ERR_FORMAT, "%s: its schema does not fit its net", path);
	if (!code)
		code = predictor_new(
			&made->predictor, w->net, &config, w->params, w->stats, w->scale, err);
	if (code)
		desk_close(made);
	else
		*desk = made;
	return code;
}

int desk_open(struct desk **desk, const struct run_config *config, int queue, struct err *err)
{
	struct desk *made = desk_new(err);
	int code;

	*desk = NULL;
	if (!made)
		return ERR_MEMORY;
	made->config = *config;
	made->config.stop = &made->stop;
	made->log = config->log;
	made->config.log = (struct log){on_log, made, config->log.most};
	made->events = path_join(config->folder, "events.jsonl");
	made->room = queue;
	code = live_open(&made->live, &made->config, -1, -1, err);
	/* Questions that come before the learner is where it was get its first answers. */
	if (!code)
		code = publish(made, err);
	if (code)
		desk_close(made);
	else
		*desk = made;
	return code;
}

int desk_start(struct desk *desk, struct err *err)
{
	if (!desk->live)
		return 0;
	look_at(desk);
	if (pthread_create(&desk->thread, NULL, work, desk))
		return err_set(err, ERR_MEMORY, "no thread for the learner");
	desk->started = true;
	return 0;
}

int desk_end(struct desk *desk, struct run_result *result, struct err *err)
{
	int code;

	if (!desk->live)
		return 0;
	pthread_mutex_lock(&desk->lock);
	desk->ending = true;
	pthread_cond_signal(&desk->some);
	pthread_mutex_unlock(&desk->lock);
	if (desk->started)
		pthread_join(desk->thread, NULL);
	desk->started = false;
	code = desk->failure.code ? err_set(err, desk->failure.code, "%s", desk->failure.message)
				  : 0;
	desk->stop = 1;
	return live_end(desk->live, code, result, err);
}

void desk_close(struct desk *desk)
{
	if (!desk)
		return;
	predictor_free(desk->predictor);
	live_close(desk->live);
	weights_free(desk->weights);
	schema_free(desk->schema);
	mem_free(desk->path);
	mem_free(desk->events);
	pthread_cond_destroy(&desk->some);
	pthread_mutex_destroy(&desk->lock);
	mem_free(desk);
}
