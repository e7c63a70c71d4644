/* Shared by the files of an explanation. */
#ifndef RETAIN_INSPECT_EXPLAIN_IMPL_H
#define RETAIN_INSPECT_EXPLAIN_IMPL_H

#include "inspect/explain.h"
#include "target/target.h"

/* A sum of losses, or of what they rise by. */
struct explain_sum {
	int64_t count;
	double sum, squares;
};

struct explain_column {
	char *name;
	size_t at, inputs; /* its floats */
	struct explain_sum range[EXPLAIN_RANGES];
};

/* Of a number's labels so far. */
struct explain_spread {
	int64_t count;
	double mean, square;
};

struct explain {
	struct explain_config config;
	const struct target_type *target;
	int width, outputs;            /* cells of a label, floats of an answer */
	size_t floats;                 /* of an input */
	struct explain_column *column; /* NULL: the first step has not come */
	int columns;
	struct explain_sum range[EXPLAIN_RANGES]; /* of the samples as they are */
	struct explain_spread spread[TARGET_WIDTH];
	float *donors; /* a ring of inputs */
	size_t donors_count, donors_most, donors_seen;
	float *inputs, *answers; /* of a chunk */
};

void explain_add(struct explain_sum *sum, double value);
double explain_mean(const struct explain_sum *sum);  /* NAN: there is none */
double explain_error(const struct explain_sum *sum); /* its standard error */
struct explain_sum explain_all(const struct explain *explain, const struct explain_sum *ranges);

#endif
