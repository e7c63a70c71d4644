/*
 * Unreadable samples, and the substitute of each. Threads that read ahead find some that were not
 * requested yet; those count only once they are given out, in that order. So the number of
 * substitutes, and whether there are too many, depends on what was requested, never on threads,
 * and is saved with a run.
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
	char *why; /* NULL: found by an earlier process */
};

struct substitutes {
	pthread_mutex_t mutex;
	struct substitute *list; /* sorted by sample */
	int64_t count;
	size_t room, given_room;
	int64_t *given; /* those given out, in that order, */
	int64_t given_count;
	int64_t told;        /* how many of them were reported by substitutes_tell */
	int64_t stream, all; /* number of samples: of the stream, and with evaluation */
	int64_t seen[2];     /* how far each of the two parts was ever requested */
	double most;         /* fraction that may be skipped */
};

void substitutes_init(struct substitutes *substitutes);
void substitutes_release(struct substitutes *substitutes);

/*
 * Samples are 0 .. stream-1 and, for evaluation, stream .. all-1. At most a fraction `most` may
 * be skipped.
 */
void substitutes_bound(struct substitutes *substitutes, int64_t stream, int64_t all, double most);

/* Adds one, and why it could not be read; existing entries are unchanged. */
int substitutes_add(struct substitutes *substitutes, int64_t sample, int64_t by, const char *why,
	struct err *err);

/* The substitute of a sample; the sample itself if it needs none. */
int64_t substitutes_find(struct substitutes *substitutes, int64_t sample);

/* Marks these samples as given out. ERR_FORMAT if too many were skipped. */
int substitutes_give(
	struct substitutes *substitutes, const int64_t *samples, int n, struct err *err);

/* The number given out. */
int64_t substitutes_count(struct substitutes *substitutes);

/*
 * The next one given out and not reported yet: sample, substitute, reason. The string lives as
 * long as the list. Returns its number, from 1; 0: none.
 */
int64_t substitutes_tell(
	struct substitutes *substitutes, int64_t *sample, int64_t *by, const char **why);

/* Saves those given out. Loading drops all others; loaded ones count as reported. */
void substitutes_state(struct substitutes *substitutes, struct state *state);

#endif
