/*
 * Samples that could not be read, and who stands in for each. A list that grows,
 * for any number of threads.
 */
#ifndef RETAIN_DATA_SUBSTITUTES_H
#define RETAIN_DATA_SUBSTITUTES_H

#include <pthread.h>
#include <stdint.h>

#include "base/err.h"

struct substitute {
	int64_t sample, by;
};

struct substitutes {
	pthread_mutex_t mutex;
	struct substitute *list; /* in the order of samples */
	int64_t count, room;
};

void substitutes_init(struct substitutes *substitutes);
void substitutes_release(struct substitutes *substitutes);

/* Adds one; those that are there stay as they are. */
int substitutes_add(struct substitutes *substitutes, int64_t sample, int64_t by, struct err *err);

/* Who stands in for the sample; itself if nobody needs to. */
int64_t substitutes_find(struct substitutes *substitutes, int64_t sample);
int64_t substitutes_count(struct substitutes *substitutes);

#endif
