/*
 * A queue, and threads that each take their share of what is in it.
 *
 * Invariant: a job is on the list, or with one thread, or done.
 */
#include "serve/desk/gather.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"

enum { BATCH_MOST = 32 }; /* what a copy computes in one piece */
/*
 * Multiply-adds of a question, from which on it is handed over. That costs some microseconds:
 * too much for mlp:64,64, which has 6 000, and well spent on mlp:256,256, which has 70 000.
 */
static const double MACS_LEAST = 3e4;

struct gather {
	pthread_mutex_t lock; /* of all up to the threads */
	pthread_cond_t some;
	struct job *first, **end;
	int waiting; /* inputs of the jobs on the list */
	bool ending;
	struct gather_counts counts;
	int started, count;
	pthread_t threads[];
};

bool gather_helps(const struct copy *copy, int count)
{
	return copy_macs(copy) * count >= MACS_LEAST;
}

/* A share of what lies there: the first job, and those behind it that ask the same copy. */
static struct job *take(struct gather *gather, int *inputs)
{
	const int share = (gather->waiting + gather->count - 1) / gather->count;
	const int most = share < BATCH_MOST ? share : BATCH_MOST;
	struct job *first = gather->first, *last = first;

	*inputs = first->count;
	while (last->next && last->next->copy == first->copy &&
		*inputs + last->next->count <= most) {
		last = last->next;
		*inputs += last->count;
	}
	gather->first = last->next;
	if (!gather->first)
		gather->end = &gather->first;
	last->next = NULL;
	gather->waiting -= *inputs;
	gather->counts.inputs += (uint64_t)*inputs;
	gather->counts.batches++;
	return first;
}

/* What several jobs ask and are answered, in one piece. */
struct gathered {
	struct answers_wish *wishes;
	float *inputs, *logits;
};

static int batch_new(struct gathered *batch, const struct job *jobs, int n, struct err *err)
{
	const size_t floats = copy_floats(jobs->copy);
	const size_t classes = (size_t)copy_net(jobs->copy)->classes;
	size_t at = 0;

	batch->wishes = mem_new((size_t)n, sizeof(*batch->wishes));
	batch->inputs = mem_new((size_t)n * floats, sizeof(*batch->inputs));
	batch->logits = mem_new((size_t)n * classes, sizeof(*batch->logits));
	if (!batch->wishes || !batch->inputs || !batch->logits)
		return err_memory(err, "predictions", (size_t)n * (floats + classes));
	for (const struct job *job = jobs; job; job = job->next) {
		const size_t count = (size_t)job->count;

		memcpy(batch->wishes + at, job->wishes, count * sizeof(*job->wishes));
		memcpy(batch->inputs + at * floats, job->inputs, count * floats * sizeof(float));
		at += count;
	}
	return 0;
}

static void batch_free(struct gathered *batch)
{
	mem_free(batch->wishes);
	mem_free(batch->inputs);
	mem_free(batch->logits);
}

static int compute_together(struct job *jobs, int n, struct err *err)
{
	const size_t classes = (size_t)copy_net(jobs->copy)->classes;
	struct gathered batch = {0};
	const float *from;
	int code = batch_new(&batch, jobs, n, err);

	if (!code)
		code = copy_predict(jobs->copy, batch.wishes, batch.inputs, n, batch.logits, err);
	from = batch.logits;
	for (struct job *job = jobs; job && !code; job = job->next) {
		const size_t floats = (size_t)job->count * classes;

		memcpy(job->logits, from, floats * sizeof(*from));
		from += floats;
	}
	batch_free(&batch);
	return code;
}

static void compute(struct job *jobs, int n)
{
	struct err err = {0};
	struct job *next;
	int code;

	if (jobs->next)
		code = compute_together(jobs, n, &err);
	else
		code = copy_predict(jobs->copy, jobs->wishes, jobs->inputs, n, jobs->logits, &err);
	for (; jobs; jobs = next) {
		next = jobs->next;
		jobs->code = code;
		if (code)
			jobs->err = err;
		jobs->done(jobs);
	}
}

static void *work(void *context)
{
	struct gather *gather = context;
	struct job *jobs;
	int n;

	pthread_mutex_lock(&gather->lock);
	while (gather->first || !gather->ending) {
		if (!gather->first) {
			pthread_cond_wait(&gather->some, &gather->lock);
			continue;
		}
		jobs = take(gather, &n);
		pthread_mutex_unlock(&gather->lock);
		compute(jobs, n);
		pthread_mutex_lock(&gather->lock);
	}
	pthread_mutex_unlock(&gather->lock);
	return NULL;
}

int gather_open(struct gather **gather, int threads, struct err *err)
{
	const size_t bytes = sizeof(struct gather) + (size_t)threads * sizeof(pthread_t);
	struct gather *made = mem_new(1, bytes);

	*gather = NULL;
	if (!made)
		return err_memory(err, "a queue", bytes);
	made->end = &made->first;
	made->count = threads;
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->some, NULL);
	for (; made->started < threads; made->started++)
		if (pthread_create(&made->threads[made->started], NULL, work, made)) {
			gather_close(made);
			return err_set(err, ERR_MEMORY, "no thread for predictions");
		}
	*gather = made;
	return 0;
}

void gather_put(struct gather *gather, struct job *job)
{
	bool taken;

	job->next = NULL;
	pthread_mutex_lock(&gather->lock);
	taken = !gather->ending;
	if (taken) {
		*gather->end = job;
		gather->end = &job->next;
		gather->waiting += job->count;
		pthread_cond_signal(&gather->some);
	}
	pthread_mutex_unlock(&gather->lock);
	if (!taken)
		compute(job, job->count);
}

void gather_end(struct gather *gather)
{
	pthread_mutex_lock(&gather->lock);
	gather->ending = true;
	pthread_cond_broadcast(&gather->some);
	pthread_mutex_unlock(&gather->lock);
	while (gather->started)
		pthread_join(gather->threads[--gather->started], NULL);
}

void gather_close(struct gather *gather)
{
	if (!gather)
		return;
	gather_end(gather);
	pthread_cond_destroy(&gather->some);
	pthread_mutex_destroy(&gather->lock);
	mem_free(gather);
}

void gather_counts(struct gather *gather, struct gather_counts *counts)
{
	pthread_mutex_lock(&gather->lock);
	*counts = gather->counts;
	pthread_mutex_unlock(&gather->lock);
}
