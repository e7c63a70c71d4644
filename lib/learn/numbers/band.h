/*
 * An interval around an answer that covers a share `coverage` of targets: h to either side, where
 * h is the p-quantile of the newest BAND_WINDOW errors in units of b, the running mean error. With
 * late labels only spaced errors enter the window, since rows that waited together have similar
 * ones.
 *
 * Each target outside moves p up a step, each target inside moves it down by a fraction of a step
 * set by the odds, so coverage converges to `coverage` for any errors (adaptive conformal
 * inference, Gibbs and Candes, 2021). Steps are of l, where p = 1 - exp(-exp(l)): for errors with
 * density exp(-h / b) / b, h is b exp(l). Quantiles keep l near the same value for other
 * distributions, too, such as counts that are mostly 0. The less l has to move, the closer
 * coverage stays to `coverage` over any stretch of rows.
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
	double due;                                     /* fraction of the next one */
	float newest[BAND_WINDOW], sorted[BAND_WINDOW]; /* in b; error i is at i % BAND_WINDOW */
};

void band_init(struct band *band, double coverage);
double band_half(const struct band *band); /* h */
/* The error of an answer whose band was `half`, learned `late` rows after the answer. */
void band_learn(struct band *band, double error, double half, int late);
void band_state(struct band *band, struct state *state);

#endif
