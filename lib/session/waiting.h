/*
 * Observed time steps that wait for labels. One caller at a time, but any thread may create and
 * free a step.
 */
#ifndef RETAIN_SESSION_WAITING_H
#define RETAIN_SESSION_WAITING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct waiting_step {
	uint64_t ticket;
	int count;
	size_t floats;         /* of an input */
	float *inputs;         /* a copy */
	int width;             /* of a target */
	union target *guesses; /* target_guess(width) for each input, to be filled in */
};

struct waiting {
	struct waiting_step **steps; /* in the order of their tickets */
	size_t count, room;
	int64_t inputs;       /* of all steps */
	uint64_t first, next; /* tickets: the first of all, and the next */
	uint64_t noted;       /* the journal says that tickets below may have been given out */
};

/*
 * Initialises a zeroed struct. Programs may keep the tickets of a folder, so no two processes that
 * open it may give out the same one: the journal, if there is one, records how far they came.
 */
struct journal;
int waiting_begin(
	struct waiting *waiting, const char *folder, struct journal *journal, struct err *err);
void waiting_release(struct waiting *waiting);

/* A step of `count` inputs of `floats` numbers each, with targets of `width` cells. */
int waiting_step_new(struct waiting_step **step, const float *inputs, size_t floats, int width,
	int count, struct err *err);
/* Widens its inputs with NAN. */
int waiting_step_widen(struct waiting_step *step, size_t floats, struct err *err);
void waiting_step_free(struct waiting_step *step);

/* Makes room for one more step. ERR_STATE if more than `most` inputs would wait. */
int waiting_reserve(struct waiting *waiting, int count, int64_t most, struct err *err);
/* Takes over the step, for which room was reserved, and assigns a ticket. */
void waiting_add(struct waiting *waiting, struct waiting_step *step);

/* NULL (ERR_INPUT) if no step waits under this ticket. Remove frees the step. */
struct waiting_step *waiting_find(const struct waiting *waiting, uint64_t ticket, struct err *err);
void waiting_remove(struct waiting *waiting, const struct waiting_step *step);
/* Whether the newest step still waits. */
bool waiting_newest(const struct waiting *waiting);

/*
 * A learner in a folder also stores waiting steps in its journal, so that they survive the
 * process. Each input has a key that no line can have as its id. Call waiting_keep before
 * waiting_add, to store the step. waiting_load restores the step of a ticket; *step is NULL if
 * there is none. waiting_keys returns a step's keys, for mem_free; NULL if out of memory.
 */
int waiting_keep(struct waiting *waiting, const struct waiting_step *step, struct journal *journal,
	struct err *err);
int waiting_load(struct waiting_step **step, struct journal *journal, uint64_t ticket,
	size_t floats, struct err *err);
const char **waiting_keys(const struct waiting_step *step, uint64_t ticket);

#endif
