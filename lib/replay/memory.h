/*
 * A replay memory of its own: records of bytes (store/records.h), pools of their ids and an
 * objective that draws batches, by the keys of a learner (replay.*, run.seed) and in its order. It
 * sees neither weights nor what the bytes mean.
 *
 * A call of memory_add is a time step. Once it has returned 0, its records survive a killed process
 * and a power cut, and a process that opens the memory finds it as it was after the last such
 * call:
 *
 *	memory.state    pools, free places: from time to time, so that opening is quick
 *	mark-0.state    the same at the caller's last two marks
 *	mark-1.state
 *
 * A caller with checkpoints of its own marks the memory in each. Going on from such a checkpoint it
 * goes back to the mark and repeats its calls: records that are there are compared, not
 * written. From the first mark on, places of records that pools let go of are kept until the
 * second mark after that. Without marks they are used again two calls later.
 *
 * One process owns a memory. Its calls take turns (a lock of the caller's), but for memory_read,
 * which any thread, any child and any reader may call at any time.
 */
#ifndef RETAIN_REPLAY_MEMORY_H
#define RETAIN_REPLAY_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "store/records.h"

struct memory;

/*
 * Opens the memory in a folder, or creates it; NULL: in RAM. Rejects a folder whose memory has
 * other pools, and objectives that need the net. The memory takes the options, whatever happens. memory_reader opens what another process owns,
 * for memory_read alone.
 */
int memory_open(
	struct memory **memory, struct options *options, const char *folder, struct err *err);
int memory_reader(struct memory **memory, const char *folder, struct err *err);

/* Saves what makes opening quick, and releases the memory; in a child of fork only the latter. */
void memory_close(struct memory *memory);

bool memory_owned(const struct memory *memory);
const char *memory_where(const struct memory *memory);

struct memory_facts {
	int64_t count;                /* records added */
	int64_t stored;               /* more, after memory_back: those to be repeated */
	int64_t training, validation; /* that pools hold */
	int64_t steps;                /* calls of memory_add */
	int64_t bytes;                /* of the files */
};
void memory_facts(const struct memory *memory, struct memory_facts *facts);

/*
 * Adds n records as a time step; their ids begin at facts.count. Places are not used. Labels are
 * for balanced pools, which need them to be 0 or more. A failure adds nothing.
 */
int memory_add(struct memory *memory, struct record *list, int n, struct err *err);

/* The next call begins a task. */
void memory_task(struct memory *memory);

/*
 * A training batch of iteration k: ids, weights that sum to 1, and whether a sample is of the last
 * time step. A batch of held-out samples. False if there is nothing to draw from.
 */
bool memory_draw(struct memory *memory, uint64_t iteration, int n, int64_t *ids, float *weights,
	unsigned char *fresh);
bool memory_draw_held(struct memory *memory, uint64_t iteration, int n, int64_t *ids);

/* As records_read. */
int memory_read(struct memory *memory, int64_t id, void *bytes, size_t room, size_t *size,
	int32_t *label, struct err *err);

/* Marks the memory as it is; marks are numbered from 1. ERR_STATE in RAM. */
int memory_mark(struct memory *memory, int64_t *number, struct err *err);

/* Goes back to one of the last two marks; 0: to the beginning, if nothing was let go of. */
int memory_back(struct memory *memory, int64_t number, struct err *err);

#endif
