/*
 * The interval around an answer that holds the share `coverage` of targets: b exp(l) to either
 * side, where b is the running mean of errors. With every target l moves a step up if the target
 * was outside and as many steps down, by their odds, if it was inside. So the share that was inside
 * comes to `coverage` whatever the errors are (adaptive conformal inference by Gibbs and Candes,
 * 2021, on the logarithm of the width).
 */
#ifndef RETAIN_LEARN_NUMBERS_BAND_H
#define RETAIN_LEARN_NUMBERS_BAND_H

#include <stdint.h>

#include "base/state.h"

struct band {
	double coverage;
	int64_t seen;
	double error, factor; /* b, l */
};

void band_init(struct band *band, double coverage);
double band_half(const struct band *band); /* to either side */
/* error: of an answer whose band was `half`, which is known `late` rows after the answer. */
void band_learn(struct band *band, double error, double half, int late);
void band_state(struct band *band, struct state *state);

#endif
