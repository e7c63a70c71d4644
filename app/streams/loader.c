/*
 * Work is taken in chunks of a few samples. A slot holds one job: the caller's, which every
 * thread prefers, or a prefetched one, the earliest iteration first. A slot in progress is never
 * reassigned: its `open` chunks count down to 0 first.
 */
#include "streams/loader.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os.h"

enum { CHUNK = 8, THREADS_MOST = 8 };

struct slot {
	bool used;
	struct loader_job job; /* ids are the slot's own, or the caller's */
	float *out;            /* likewise */
	int64_t *ids;
	float *rows;
	int room;            /* samples that ids and rows can hold */
	int next;            /* the first place not taken yet */
	int open;            /* places that were taken and are not made yet */
	int code, failed_at; /* of the first chunk that failed, and where that begins */
	struct err err;
};

struct worker {
	struct loader *loader;
	int number;
	pthread_t thread;
};

struct loader {
	struct loader_config config;
	struct worker *workers;
	int started;
	struct slot *slots;    /* ahead of them, and one more for the caller: the last */
	pthread_mutex_t turn;  /* of callers */
	pthread_mutex_t mutex; /* of all below and of the slots */
	pthread_cond_t work, made;
	bool ends;
	double waited;
};

static struct slot *own_slot(struct loader *loader)
{
	return &loader->slots[loader->config.ahead];
}

static bool has_work(const struct slot *slot)
{
	return slot->used && slot->next < slot->job.n && !slot->code;
}

/* The caller's job first, then the earliest iteration. */
static struct slot *choose(struct loader *loader)
{
	struct slot *best = NULL;

	if (has_work(own_slot(loader)))
		return own_slot(loader);
	for (int i = 0; i < loader->config.ahead; i++) {
		struct slot *slot = &loader->slots[i];

		if (has_work(slot) && (!best || slot->job.iteration < best->job.iteration))
			best = slot;
	}
	return best;
}

/* Takes a chunk of the slot and makes it; the mutex is held before and after. */
static void make_chunk(struct loader *loader, struct slot *slot, int worker)
{
	const struct loader_config *config = &loader->config;
	const int first = slot->next, left = slot->job.n - first;
	const int n = left < CHUNK ? left : CHUNK;
	struct err err = {0};
	int code = 0;

	slot->next += n;
	slot->open += n;
	pthread_mutex_unlock(&loader->mutex);
	for (int place = first; place < first + n && !code; place++)
		code = config->make(config->context, worker, &slot->job, place,
			slot->out + (size_t)place * config->floats, &err);
	pthread_mutex_lock(&loader->mutex);
	slot->open -= n;
	if (code && (!slot->code || first < slot->failed_at)) {
		slot->code = code;
		slot->failed_at = first;
		slot->err = err;
	}
	if (!slot->open && !has_work(slot))
		pthread_cond_broadcast(&loader->made);
}

static void *work(void *argument)
{
	struct worker *worker = argument;
	struct loader *loader = worker->loader;

	pthread_mutex_lock(&loader->mutex);
	while (!loader->ends) {
		struct slot *slot = choose(loader);

		if (slot)
			make_chunk(loader, slot, worker->number);
		else
			pthread_cond_wait(&loader->work, &loader->mutex);
	}
	pthread_mutex_unlock(&loader->mutex);
	return NULL;
}

/* Signals are for the program's own threads. */
static int start_threads(struct loader *loader, struct err *err)
{
	sigset_t all, before;
	int failed = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < loader->config.threads && !failed; i++) {
		loader->workers[i] = (struct worker){.loader = loader, .number = i};
		failed =
			pthread_create(&loader->workers[i].thread, NULL, work, &loader->workers[i]);
		loader->started += !failed;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failed ? err_set(err, ERR_MEMORY, "thread %d of %d cannot be started: %s",
				loader->started + 1, loader->config.threads, strerror(failed))
		      : 0;
}

int loader_threads(int asked)
{
	const int processors = os_processors();

	return asked >= 0 ? asked : processors < THREADS_MOST ? processors : THREADS_MOST;
}

int loader_new(struct loader **loader, const struct loader_config *config, struct err *err)
{
	struct loader *made = mem_new(1, sizeof(*made));
	int code;

	*loader = NULL;
	if (!made)
		return err_memory(err, "a loader", sizeof(*made));
	made->config = *config;
	if (!config->threads)
		made->config.ahead = 0;
	pthread_mutex_init(&made->turn, NULL);
	pthread_mutex_init(&made->mutex, NULL);
	pthread_cond_init(&made->work, NULL);
	pthread_cond_init(&made->made, NULL);
	made->workers = mem_new((size_t)config->threads + 1, sizeof(*made->workers));
	made->slots = mem_new((size_t)made->config.ahead + 1, sizeof(*made->slots));
	code = made->workers && made->slots ? start_threads(made, err)
					    : err_memory(err, "a loader", sizeof(*made->slots));
	if (code)
		loader_free(made);
	else
		*loader = made;
	return code;
}

void loader_free(struct loader *loader)
{
	if (!loader)
		return;
	pthread_mutex_lock(&loader->mutex);
	loader->ends = true;
	pthread_cond_broadcast(&loader->work);
	pthread_mutex_unlock(&loader->mutex);
	for (int i = 0; i < loader->started; i++)
		pthread_join(loader->workers[i].thread, NULL);
	for (int i = 0; loader->slots && i <= loader->config.ahead; i++) {
		mem_free(loader->slots[i].ids);
		mem_free(loader->slots[i].rows);
	}
	pthread_cond_destroy(&loader->made);
	pthread_cond_destroy(&loader->work);
	pthread_mutex_destroy(&loader->mutex);
	pthread_mutex_destroy(&loader->turn);
	mem_free(loader->slots);
	mem_free(loader->workers);
	mem_free(loader);
}

static bool same_job(const struct slot *slot, const struct loader_job *job)
{
	return slot->used && slot->job.mode == job->mode && slot->job.n == job->n &&
	       slot->job.iteration == job->iteration && slot->job.at == job->at &&
	       !memcmp(slot->job.ids, job->ids, (size_t)job->n * sizeof(*job->ids));
}

/* A slot for a guess: a free one, or an idle one whose iteration has passed. */
static struct slot *room_for(struct loader *loader, const struct loader_job *job)
{
	struct slot *found = NULL;

	for (int i = 0; i < loader->config.ahead; i++) {
		struct slot *slot = &loader->slots[i];

		if (same_job(slot, job))
			return NULL;
		if (!slot->used && !slot->open)
			found = slot;
	}
	return found;
}

static bool slot_reserve(struct loader *loader, struct slot *slot, int n)
{
	if (n <= slot->room)
		return true;
	mem_free(slot->ids);
	mem_free(slot->rows);
	slot->room = 0;
	slot->ids = mem_new((size_t)n, sizeof(*slot->ids));
	slot->rows = mem_new((size_t)n * loader->config.floats, sizeof(float));
	if (!slot->ids || !slot->rows)
		return false;
	slot->room = n;
	return true;
}

static void slot_begin(struct slot *slot, const struct loader_job *job, float *out)
{
	slot->used = true;
	slot->job = *job;
	slot->out = out;
	slot->next = slot->open = slot->code = 0;
}

void loader_expect(struct loader *loader, const struct loader_job *job)
{
	struct slot *slot;

	if (!loader->config.ahead)
		return;
	pthread_mutex_lock(&loader->mutex);
	slot = room_for(loader, job);
	if (slot && slot_reserve(loader, slot, job->n)) {
		memcpy(slot->ids, job->ids, (size_t)job->n * sizeof(*job->ids));
		slot_begin(slot, job, slot->rows);
		slot->job.ids = slot->ids;
		pthread_cond_broadcast(&loader->work);
	}
	pthread_mutex_unlock(&loader->mutex);
}

/* Guesses of this mode that did not come true, or no longer can. */
static void drop_stale(struct loader *loader, const struct loader_job *job)
{
	for (int i = 0; i < loader->config.ahead; i++) {
		struct slot *slot = &loader->slots[i];

		if (slot->used && slot->job.mode == job->mode &&
			slot->job.iteration <= job->iteration && !same_job(slot, job))
			slot->used = false;
	}
}

static struct slot *find_guess(struct loader *loader, const struct loader_job *job)
{
	for (int i = 0; i < loader->config.ahead; i++)
		if (same_job(&loader->slots[i], job))
			return &loader->slots[i];
	return NULL;
}

int loader_get(struct loader *loader, const struct loader_job *job, float *out, struct err *err)
{
	const double start = clock_now();
	struct slot *slot;
	int code;

	pthread_mutex_lock(&loader->turn);
	pthread_mutex_lock(&loader->mutex);
	drop_stale(loader, job);
	slot = find_guess(loader, job);
	if (!slot) {
		slot = own_slot(loader);
		slot_begin(slot, job, out);
		pthread_cond_broadcast(&loader->work);
	}
	/* The caller helps, and waits for what others have taken. */
	while (has_work(slot))
		make_chunk(loader, slot, loader->config.threads);
	while (slot->open)
		pthread_cond_wait(&loader->made, &loader->mutex);
	slot->used = false;
	code = slot->code;
	if (code && err)
		*err = slot->err;
	if (!code && slot->out != out)
		memcpy(out, slot->out, (size_t)job->n * loader->config.floats * sizeof(float));
	loader->waited += clock_now() - start;
	pthread_mutex_unlock(&loader->mutex);
	pthread_mutex_unlock(&loader->turn);
	return code;
}

double loader_waited(const struct loader *loader)
{
	return loader->waited;
}
