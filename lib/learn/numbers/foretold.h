/*
 * Outliers that an input foretells. Models learn an outlier as the fence's edge, so they cannot say
 * what is far beyond. But where a value that a column had hardly ever had before comes with an
 * outlier, and with an outlier again, the mean of these is an answer. Only columns with few values
 * count (learn/numbers/values.h).
 */
#ifndef RETAIN_LEARN_NUMBERS_FORETOLD_H
#define RETAIN_LEARN_NUMBERS_FORETOLD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/state.h"
#include "learn/numbers/values.h"

enum { FORETOLD_SIGNS = 16 };

struct foretold {
	int64_t made; /* sign i is at i % FORETOLD_SIGNS */
	int32_t column[FORETOLD_SIGNS];
	float value[FORETOLD_SIGNS];
	/* Of rows with that value: decayed counts of all and of outliers; their mean. */
	double visits[FORETOLD_SIGNS], outliers[FORETOLD_SIGNS], mean[FORETOLD_SIGNS];
	double record; /* of a gate */
};

struct foretold_said {
	bool speaks;
	double value;
};

void foretold_init(struct foretold *foretold);

/* raw: NULL or unscaled inputs. Of several signs, the one with the fewest visits. */
struct foretold_said foretold_ask(const struct foretold *foretold, const float *raw);

/* To be called before values learn the row. */
void foretold_learn(struct foretold *foretold, const struct values *values, const float *raw,
	double target, bool outlier);

void foretold_state(struct foretold *foretold, const struct values *values, struct state *state);

#endif
