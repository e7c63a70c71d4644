/*
 * Samples that could not be read, and the substitute of each. Threads that read ahead
 * find some that were not asked for yet; those count only from the moment they are
 * given out, in that order. So the number of substitutes, and whether there are too
 * many, depends on what was asked for, never on threads, and is saved with a run.
 */
#ifndef RETAIN_STREAMS_SUBSTITUTES_H
#define RETAIN_STREAMS_SUBSTITUTES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

struct substitute {
	int64_t sample, by;
	bool given;
	char *why; /* NULL: an earlier process knew */
};

struct substitutes {
	pthread_mutex_t mutex;
	struct substitute *list; /* in the order of samples */
	int64_t count;
	size_t room, given_room;
	int64_t *given; /* those of them that were given out, in that order, */
	int64_t given_count;
	int64_t told;        /* how many of them substitutes_tell has told */
	int64_t stream, all; /* samples that there are: of the stream, with evaluation */
	int64_t seen[2];     /* how far each of the two parts was ever asked for */
	double most;         /* share that may be left out */
};

void substitutes_init(struct substitutes *substitutes);
void substitutes_release(struct substitutes *substitutes);

/*
 * Samples are 0 .. stream-1 and, for evaluation, stream .. all-1. More than the
 * share `most` must not be left out.
 */
void substitutes_bound(struct substitutes *substitutes, int64_t stream, int64_t all, double most);

/* Adds one, and why it could not be read; those that are there stay as they are. */
int substitutes_add(struct substitutes *substitutes, int64_t sample, int64_t by, const char *why,
	struct err *err);

/* The substitute of a sample; the sample itself if it needs none. */
int64_t substitutes_find(struct substitutes *substitutes, int64_t sample);

/* These samples are given out. ERR_FORMAT if with them too many were left out. */
int substitutes_give(
	struct substitutes *substitutes, const int64_t *samples, int n, struct err *err);

/* How many were given out. */
int64_t substitutes_count(struct substitutes *substitutes);

/*
 * The next one that was given out and not told yet: sample, substitute, reason. The
 * words live as long as the list. Returns its number, from 1; 0: there is none.
 */
int64_t substitutes_tell(
	struct substitutes *substitutes, int64_t *sample, int64_t *by, const char **why);

/* Saves those that were given out. Loading forgets all others; those loaded count as told. */
void substitutes_state(struct substitutes *substitutes, struct state *state);

#endif
