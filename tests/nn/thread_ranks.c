/* Calls of all: everyone shows what it has, all wait, everyone takes what it needs, all wait. */
#include "thread_ranks.h"

#include <assert.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 6, QUEUE = 64, RECEIVES = 4096 };
enum { BAND = 64 }; /* floats: small nets have many */

struct shown {
	const void *bytes;
};

struct queue {
	struct ranks_message waiting[QUEUE];
	int put, taken;
};

struct world {
	pthread_barrier_t barrier;
	struct shown shown[MOST];
	pthread_mutex_t lock;
	pthread_cond_t moved;
	struct queue queues[MOST][MOST][RANKS_LANES]; /* from, to, lane */
	thread_ranks_fn *fn;
	void *context;
};

struct thread_rank {
	struct ranks ranks; /* must be first */
	struct world *world;
	struct ranks_message receive[RECEIVES]; /* begun, in order; taken ones have no size */
	int parcel[RECEIVES], receives, parcels;
	uint32_t asked;
};

static void show(struct ranks *ranks, struct shown shown)
{
	struct world *world = ((struct thread_rank *)ranks)->world;

	world->shown[ranks->rank] = shown;
	pthread_barrier_wait(&world->barrier);
}

static const struct shown *shown_by(struct ranks *ranks, int rank)
{
	return &((struct thread_rank *)ranks)->world->shown[rank];
}

static void wait_for_all(struct ranks *ranks)
{
	pthread_barrier_wait(&((struct thread_rank *)ranks)->world->barrier);
}

static void share(struct ranks *ranks, int from, void *bytes, size_t size)
{
	show(ranks, (struct shown){.bytes = bytes});
	if (ranks->rank != from && size)
		memcpy(bytes, shown_by(ranks, from)->bytes, size);
	wait_for_all(ranks);
}

static void hear(struct ranks *ranks, void *bytes, size_t size)
{
	share(ranks, 0, bytes, size);
}

static void gather(struct ranks *ranks, void *values, size_t unit, const size_t *begins)
{
	show(ranks, (struct shown){.bytes = values});
	for (int r = 0; r < ranks->count; r++)
		if (r != ranks->rank && begins[r + 1] > begins[r])
			memcpy((char *)values + begins[r] * unit,
				(const char *)shown_by(ranks, r)->bytes + begins[r] * unit,
				(begins[r + 1] - begins[r]) * unit);
	wait_for_all(ranks);
}

/*
 * Messages wait in a queue for each pair of ranks and each lane, until the one they are for
 * takes them. Bytes are copied only then, so that whoever changes them too early is found out.
 */
static struct queue *queue_of(struct ranks *ranks, int from, int to, int lane)
{
	return &((struct thread_rank *)ranks)->world->queues[from][to][lane];
}

static int begin(struct ranks *ranks, const struct ranks_message *send, int sends,
	const struct ranks_message *receive, int receives)
{
	struct thread_rank *me = (struct thread_rank *)ranks;

	pthread_mutex_lock(&me->world->lock);
	for (int i = 0; i < sends; i++) {
		struct queue *queue = queue_of(ranks, ranks->rank, send[i].rank, send[i].lane);

		if (!send[i].size)
			continue;
		assert(queue->put - queue->taken < QUEUE);
		queue->waiting[queue->put++ % QUEUE] = send[i];
	}
	pthread_cond_broadcast(&me->world->moved);
	pthread_mutex_unlock(&me->world->lock);
	for (int i = 0; i < receives; i++) {
		if (!receive[i].size)
			continue;
		assert(me->receives < RECEIVES);
		me->receive[me->receives] = receive[i];
		me->parcel[me->receives++] = me->parcels;
	}
	return me->parcels++;
}

/* Takes what is there, in the order of each lane; the lock is held. Whether a parcel is complete. */
static bool take(struct thread_rank *me, int parcel)
{
	bool stuck[MOST][RANKS_LANES] = {{false}}, complete = true;

	for (int i = 0; i < me->receives; i++) {
		struct ranks_message *m = &me->receive[i];
		struct queue *queue = queue_of(&me->ranks, m->rank, me->ranks.rank, m->lane);
		bool *wait = &stuck[m->rank][m->lane];

		if (!m->size)
			continue;
		*wait = *wait || queue->taken == queue->put;
		if (*wait) {
			complete = complete && me->parcel[i] != parcel;
			continue;
		}
		const struct ranks_message *sent = &queue->waiting[queue->taken % QUEUE];
		assert(sent->size == m->size);
		memcpy(m->bytes, sent->bytes, m->size);
		queue->taken++;
		m->size = 0; /* it is here */
		pthread_cond_broadcast(&me->world->moved);
	}
	return complete;
}

/* Messages often seem to be late. */
static bool done(struct ranks *ranks, int parcel, bool wait)
{
	struct thread_rank *me = (struct thread_rank *)ranks;
	bool complete;

	if (!wait && me->asked++ * 2654435761u >> 30)
		return false;
	pthread_mutex_lock(&me->world->lock);
	while (!(complete = take(me, parcel)) && wait)
		pthread_cond_wait(&me->world->moved, &me->world->lock);
	pthread_mutex_unlock(&me->world->lock);
	return complete;
}

/* What was sent must be taken, too. */
static void finish(struct ranks *ranks)
{
	struct thread_rank *me = (struct thread_rank *)ranks;

	for (int parcel = 0; parcel < me->parcels; parcel++)
		done(ranks, parcel, true);
	me->receives = me->parcels = 0;
	pthread_mutex_lock(&me->world->lock);
	for (int to = 0; to < ranks->count; to++)
		for (int lane = 0; lane < RANKS_LANES; lane++) {
			const struct queue *queue = queue_of(ranks, ranks->rank, to, lane);

			while (queue->taken < queue->put)
				pthread_cond_wait(&me->world->moved, &me->world->lock);
		}
	pthread_mutex_unlock(&me->world->lock);
}

static const struct ranks_type type = {share, hear, gather, begin, done, finish};

static void *run(void *context)
{
	struct thread_rank *rank = context;

	rank->world->fn(&rank->ranks, rank->world->context);
	return NULL;
}

void thread_ranks(int count, thread_ranks_fn *fn, void *context)
{
	struct world *world = calloc(1, sizeof(*world));
	struct thread_rank *ranks = calloc(MOST, sizeof(*ranks));
	pthread_t threads[MOST];

	assert(count <= MOST && world && ranks);
	world->fn = fn;
	world->context = context;
	pthread_barrier_init(&world->barrier, NULL, (unsigned)count);
	pthread_mutex_init(&world->lock, NULL);
	pthread_cond_init(&world->moved, NULL);
	for (int r = 0; r < count; r++) {
		ranks[r].ranks = (struct ranks){.type = &type,
			.rank = r,
			.count = count,
			.here = count,
			.threads = 1,
			.anyway = true,
			.band = BAND,
			.host = "here"};
		ranks[r].world = world;
		if (r)
			pthread_create(&threads[r], NULL, run, &ranks[r]);
	}
	run(&ranks[0]);
	for (int r = 1; r < count; r++)
		pthread_join(threads[r], NULL);
	pthread_barrier_destroy(&world->barrier);
	pthread_mutex_destroy(&world->lock);
	pthread_cond_destroy(&world->moved);
	free(world);
	free(ranks);
}
