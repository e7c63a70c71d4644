/*
 * The demonstration: a small net learns to name shapes. Every image is new; each
 * batch is named first and learned from afterwards, so the accuracy on it is an
 * honest one. What is seen of it is the caller's business: nothing is printed.
 *
 *	demo_new(&demo, &config, &err);
 *	demo_test(demo, &before, &err);
 *	while (demo_score(demo).steps < config.steps)
 *		demo_step(demo, &err);
 *	demo_test(demo, &after, &err);
 *
 * Results are a function of the config, save for the number of threads, which
 * changes nothing but the time.
 */
#ifndef RETAIN_RUN_DEMO_H
#define RETAIN_RUN_DEMO_H

#include <stdint.h>

#include "base/err.h"
#include "nn/engine.h"

/* How many images a test looks at; training never sees them. */
enum { DEMO_TEST_IMAGES = 1000 };

struct demo_config {
	const char *arch, *norm; /* as in struct net_spec; norm may be NULL */
	struct engine_config engine;
	int steps; /* over which the learning rate goes down to zero */
	int batch; /* images per step */
	uint64_t seed;
};

struct demo;

int demo_new(struct demo **demo, const struct demo_config *config, struct err *err);
void demo_free(struct demo *demo);

/* What it works with. Strings live as long as the demo. */
struct demo_about {
	const char *arch, *norm, *isa;
	int threads;
	uint64_t parameters;
};
struct demo_about demo_about(const struct demo *demo);

/* The share of the test images that are named rightly, 0 to 1. */
int demo_test(struct demo *demo, double *accuracy, struct err *err);

/*
 * One batch: drawn, named, learned from. A loss that is no finite number is an
 * error (ERR_STATE): nothing can be learned from there on.
 */
int demo_step(struct demo *demo, struct err *err);

/* Where training stands. */
struct demo_score {
	int steps;
	int64_t images;
	double seconds;        /* spent in demo_step */
	double loss, accuracy; /* of the last twenty batches or so, before they were learned */
};
struct demo_score demo_score(const struct demo *demo);

#endif
