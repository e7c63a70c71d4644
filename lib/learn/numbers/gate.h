/*
 * How far an answer that only some rows have replaces the blend's: by a record over such rows of how
 * much better it was, in mean errors of the blend and clipped. Until it has been better, not at all.
 */
#ifndef RETAIN_LEARN_NUMBERS_GATE_H
#define RETAIN_LEARN_NUMBERS_GATE_H

#include <math.h>

#include "base/portable_math.h"
#include "learn/numbers/level.h"

static const double GATE_KEEP = 0.98, GATE_WORST = 10, GATE_MOST = 1e3 /* of a record */;

static inline double gate_open(double record)
{
	return record > 0 ? 2 / (1 + portable_exp(-record)) - 1 : 0;
}

/* error: the blend's mean error; share: the sample's weight, up to 1. */
static inline void gate_learn(
	double *record, double target, double blended, double other, double error, double share)
{
	const double less = (fabs(target - blended) - fabs(target - other)) / error;

	if (error > 0)
		*record = (1 - share * (1 - GATE_KEEP)) * *record +
			  share * within(less, -GATE_WORST, GATE_WORST);
}

#endif
