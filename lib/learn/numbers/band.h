/*
 * The interval around an answer that holds the share `coverage` of targets: h to either side, where h
 * is the p-quantile of the newest BAND_WINDOW errors, each in b, the running mean of errors (of late
 * labels, errors that are apart: those of rows that waited together are alike). With
 * every target p moves up a step if the target was outside and as many steps down, by their odds, if
 * it was inside. So the share that was inside comes to `coverage` whatever the errors are (adaptive
 * conformal inference by Gibbs and Candes, 2021).
 *
 * A step is one of l, where p = 1 - exp(-exp(l)): if errors have the density exp(-h / b) / b, h is
 * b exp(l). Quantiles make l the same for all others, too, such as for counts most of which are 0:
 * the less it has to move, the nearer the share stays to `coverage` over any stretch of rows.
 */
#ifndef RETAIN_LEARN_NUMBERS_BAND_H
#define RETAIN_LEARN_NUMBERS_BAND_H

#include <stdint.h>

#include "base/state.h"

enum { BAND_WINDOW = 256 };

struct band {
	double coverage;
	int64_t seen;
	double error, factor;                           /* b, l */
	int64_t slid;                                   /* errors that entered the window */
	double due;                                     /* share of the next one */
	float newest[BAND_WINDOW], sorted[BAND_WINDOW]; /* in b; error i is at i % BAND_WINDOW */
};

void band_init(struct band *band, double coverage);
double band_half(const struct band *band); /* h */
/* error: of an answer whose band was `half`, which is known `late` rows after the answer. */
void band_learn(struct band *band, double error, double half, int late);
void band_state(struct band *band, struct state *state);

#endif
