/*
 * Estimates the cost of a run on this machine: the work follows from its options and data, the
 * speed from a few seconds of measurement.
 */
#ifndef RETAIN_INSPECT_COST_H
#define RETAIN_INSPECT_COST_H

#include <stdint.h>

#include "base/err.h"
#include "base/options.h"

struct cost {
	int64_t iterations;
	double images; /* trained on, including the overhead of averages and validation */
	double others; /* predicted or evaluated, in units of training */
	double drawn;  /* samples generated or read */
	double memory; /* bytes: weights, momentum, averages, the full cache, a step */
	double disk;   /* bytes: two checkpoints and the model */
	/* Measured; 0: not. */
	double process;      /* bytes that a training step of a large net takes */
	double images_per_s; /* trained by the net */
	double drawn_per_s;  /* read from disk; also 0 for built-in streams */
	double seconds;      /* of the whole run */
};

struct net_maker;

/*
 * Opens the run without a folder, with a net of the program's own if maker is not NULL. seconds: how long to measure the net, and the data; 0: do not
 * measure. The speeds of `known`, a run with the same net and data, are reused (NULL: none).
 */
int cost_of(const struct options *options, const struct net_maker *maker, double seconds,
	const struct cost *known, struct cost *cost, struct err *err);

/*
 * A key of everything the speeds depend on: runs with the same key are equally fast. For
 * mem_free; or NULL.
 */
char *cost_key(const struct options *options);

#endif
