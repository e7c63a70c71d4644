/*
 * Unreadable samples, and the substitute of each. Threads that read ahead find some that were not
 * requested yet; those count only once they are given out, in that order. Samples of one record
 * count once: those that are held out are in the stream and in the evaluation. So the number of
 * bad records, and whether there are too many, depends on what was requested, never on threads,
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
	int64_t sample, by; /* sample: must be first */
	bool given, counts; /* counts: the first one given out of its record */
	char *why;          /* NULL: found by an earlier process */
};

struct substitutes_config {
	int64_t stream, all; /* samples are 0 .. stream-1 and, for evaluation, stream .. all-1 */
	int64_t records;
	double most; /* fraction that may be skipped */
	/* The record of a sample; NULL: each has its own. */
	int64_t (*record_of)(const void *context, int64_t sample);
	const void *context;
};

struct substitutes {
	pthread_mutex_t mutex;
	struct substitutes_config config;
	struct substitute *list; /* sorted by sample */
	int64_t count;
	size_t room, given_room, records_room;
	int64_t *given; /* those given out, in that order */
	int64_t given_count;
	int64_t *records; /* of those, sorted, each once */
	int64_t records_count;
	int64_t told, told_count; /* how far substitutes_tell went in `given`, and how often */
	int64_t seen[2];          /* how far each of the two parts was ever requested */
};

void substitutes_init(struct substitutes *substitutes);
void substitutes_release(struct substitutes *substitutes);

/* Until then all may be skipped. */
void substitutes_bound(struct substitutes *substitutes, const struct substitutes_config *config);

/* That share of n, rounded down: 29 for 0.29 and 100, whose product is just below it. */
int64_t substitutes_share(double most, int64_t n);

/* Adds one, and why it could not be read; existing entries are unchanged. */
int substitutes_add(struct substitutes *substitutes, int64_t sample, int64_t by, const char *why,
	struct err *err);

/* The substitute of a sample; the sample itself if it needs none. */
int64_t substitutes_find(struct substitutes *substitutes, int64_t sample);

/* Marks these samples as given out. ERR_FORMAT if too many were skipped. */
int substitutes_give(
	struct substitutes *substitutes, const int64_t *samples, int n, struct err *err);

/* The number of records given out. */
int64_t substitutes_count(struct substitutes *substitutes);

/*
 * The next record given out and not reported yet: sample, substitute, reason. The string lives as
 * long as the list. Returns its number, from 1; 0: none.
 */
int64_t substitutes_tell(
	struct substitutes *substitutes, int64_t *sample, int64_t *by, const char **why);

/* Saves those given out. Loading drops all others; loaded ones count as reported. */
void substitutes_state(struct substitutes *substitutes, struct state *state);

#endif
