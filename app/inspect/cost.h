/*
 * What a run will cost on this machine, before it is made: how much it has to do follows
 * from its options and its data, how fast this machine is from a few seconds of trying.
 */
#ifndef RETAIN_INSPECT_COST_H
#define RETAIN_INSPECT_COST_H

#include <stdint.h>

#include "base/err.h"
#include "base/options.h"

struct cost {
	int64_t iterations;
	double images; /* that it trains on; what averages and validation take on top included */
	double others; /* that it predicts or evaluates, in training's unit */
	double drawn;  /* samples that it has made or read */
	double memory; /* bytes: weights, momentum, averages, the cache when it is full, a step */
	double disk;   /* bytes: two checkpoints and the model */
	/* Measured; 0: not. */
	double process;      /* bytes that a training step takes, of a large net */
	double images_per_s; /* trained by the net */
	double drawn_per_s;  /* read from disk; 0 also for built-in streams */
	double seconds;      /* of the whole run */
};

/*
 * Opens the run without a folder. seconds: how long to measure the net, and the data; 0: not
 * at all. The speeds of `known`, a run with the same net and data, are taken over (NULL: none).
 */
int cost_of(const struct options *options, double seconds, const struct cost *known,
	struct cost *cost, struct err *err);

/* What the speeds depend on, as a text: runs that have the same one are as fast. For mem_free; or
 * NULL. */
char *cost_key(const struct options *options);

#endif
