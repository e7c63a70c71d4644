/* Shared by the memory's files: memory.c has the calls, memory_open.c how it is found again. */
#ifndef RETAIN_REPLAY_MEMORY_IMPL_H
#define RETAIN_REPLAY_MEMORY_IMPL_H

#include "base/state.h"
#include "replay/memory.h"
#include "replay/objective.h"
#include "replay/pool.h"
#include "store/places.h"

struct memory_ids {
	int64_t *at;
	size_t count, room;
};

struct memory {
	struct records *records;
	char *folder; /* NULL: in RAM */
	struct options *options;
	struct places places;
	struct pool *pool,
		*validation; /* validation: NULL if nothing is held out; pool: a reader */
	struct objective *objective;
	int64_t count, steps;
	int classes;   /* of a balanced pool so far, */
	bool balanced; /* ... if it is one */
	int64_t task_first, task_steps;
	bool task_told, task_next;
	int64_t saved; /* what memory.state has */
	/*
	 * What pools let go of: in the last call, which objectives may still draw; before that,
	 * but since the count of `boundary`; before that. The call that follows a mark gives the
	 * places of the last away and moves the boundary, unless the mark before needs them.
	 */
	struct memory_ids fresh, since, before;
	int64_t boundary;
	int64_t marks;             /* made so far; */
	int64_t mark, earlier;     /* counts at the last and the one before, */
	bool marked;               /* ... which no call has followed yet */
	size_t *sizes, sizes_room; /* scratch */
};

/*
 * The three stages of a call. Preparing reserves all memory; labels and sizes may be in the
 * records already. Completing cannot fail.
 */
struct memory_call {
	int n;
	bool task, mark; /* it begins a task; it moves the boundary */
	int32_t largest; /* label */
};
int memory_prepare(struct memory *memory, const struct memory_call *call, struct err *err);
void memory_complete(struct memory *memory, const struct memory_call *call);

void memory_state(void *memory, struct state *state);

/* Makes pools and objective by the options, in place of what there is. */
int memory_make_pools(struct memory *memory, struct err *err);

/* Saves memory.state; loads one of the last two marks; both in a folder. */
int memory_save(struct memory *memory, struct err *err);
int memory_save_mark(struct memory *memory, struct err *err);
int memory_load_mark(struct memory *memory, int64_t number, struct err *err);

#endif
