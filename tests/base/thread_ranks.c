/* Everyone shows what it has, all wait, everyone takes what it needs, all wait. */
#include "thread_ranks.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

enum { MOST = 16 };

struct shown {
	const void *bytes;
	const struct ranks_message *send;
	int sends;
};

struct world {
	pthread_barrier_t barrier;
	struct shown shown[MOST];
	thread_ranks_fn *fn;
	void *context;
};

struct thread_rank {
	struct ranks ranks; /* must be first */
	struct world *world;
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

static void trade(struct ranks *ranks, const struct ranks_message *send, int sends,
	const struct ranks_message *receive, int receives)
{
	int next[MOST] = {0};

	show(ranks, (struct shown){.send = send, .sends = sends});
	for (int i = 0; i < receives; i++) {
		const struct shown *other = shown_by(ranks, receive[i].rank);
		int *at = &next[receive[i].rank];

		while (*at < other->sends && other->send[*at].rank != ranks->rank)
			(*at)++;
		assert(*at < other->sends && other->send[*at].size == receive[i].size);
		if (receive[i].size)
			memcpy(receive[i].bytes, other->send[*at].bytes, receive[i].size);
		(*at)++;
	}
	wait_for_all(ranks);
}

static const struct ranks_type type = {share, hear, gather, trade};

static void *run(void *context)
{
	struct thread_rank *rank = context;

	rank->world->fn(&rank->ranks, rank->world->context);
	return NULL;
}

void thread_ranks(int count, thread_ranks_fn *fn, void *context)
{
	struct world world = {.fn = fn, .context = context};
	struct thread_rank ranks[MOST];
	pthread_t threads[MOST];

	assert(count <= MOST);
	pthread_barrier_init(&world.barrier, NULL, (unsigned)count);
	for (int r = 0; r < count; r++) {
		ranks[r] = (struct thread_rank){{.type = &type,
							.rank = r,
							.count = count,
							.here = count,
							.threads = 1,
							.anyway = true,
							.host = "here"},
			&world};
		if (r)
			pthread_create(&threads[r], NULL, run, &ranks[r]);
	}
	run(&ranks[0]);
	for (int r = 1; r < count; r++)
		pthread_join(threads[r], NULL);
	pthread_barrier_destroy(&world.barrier);
}
