/* A queue, and threads that serve it. */
#include "serve/http/workers.h"

#include <pthread.h>

#include "base/mem.h"

struct workers {
	pthread_mutex_t lock; /* of all up to the threads */
	pthread_cond_t some;
	struct work *first, **end;
	bool ending;
	int started;
	pthread_t threads[];
};

static void *go(void *context)
{
	struct workers *workers = context;
	struct work *work;

	pthread_mutex_lock(&workers->lock);
	while (workers->first || !workers->ending) {
		work = workers->first;
		if (!work) {
			pthread_cond_wait(&workers->some, &workers->lock);
			continue;
		}
		workers->first = work->next;
		if (!workers->first)
			workers->end = &workers->first;
		pthread_mutex_unlock(&workers->lock);
		work->go(work);
		pthread_mutex_lock(&workers->lock);
	}
	pthread_mutex_unlock(&workers->lock);
	return NULL;
}

int workers_open(struct workers **workers, int threads, struct err *err)
{
	const size_t bytes = sizeof(struct workers) + (size_t)threads * sizeof(pthread_t);
	struct workers *made = mem_new(1, bytes);

	*workers = NULL;
	if (!made)
		return err_memory(err, "a queue", bytes);
	made->end = &made->first;
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->some, NULL);
	for (; made->started < threads; made->started++)
		if (pthread_create(&made->threads[made->started], NULL, go, made)) {
			workers_close(made);
			return err_set(err, ERR_MEMORY, "no thread for requests");
		}
	*workers = made;
	return 0;
}

bool workers_put(struct workers *workers, struct work *work)
{
	bool taken;

	if (!workers)
		return false;
	work->next = NULL;
	pthread_mutex_lock(&workers->lock);
	taken = !workers->ending;
	if (taken) {
		*workers->end = work;
		workers->end = &work->next;
		pthread_cond_signal(&workers->some);
	}
	pthread_mutex_unlock(&workers->lock);
	return taken;
}

void workers_end(struct workers *workers)
{
	if (!workers)
		return;
	pthread_mutex_lock(&workers->lock);
	workers->ending = true;
	pthread_cond_broadcast(&workers->some);
	pthread_mutex_unlock(&workers->lock);
	while (workers->started)
		pthread_join(workers->threads[--workers->started], NULL);
}

void workers_close(struct workers *workers)
{
	if (!workers)
		return;
	workers_end(workers);
	pthread_cond_destroy(&workers->some);
	pthread_mutex_destroy(&workers->lock);
	mem_free(workers);
}
