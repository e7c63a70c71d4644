/*
 * How far predictions of numbers, made before their labels were revealed, were from them: mean
 * absolute error, root of the mean square, share of variance explained; and how often intervals
 * held the label. The counterpart of eval/prequential.h.
 *
 * Two baselines stand beside it that never look at an input: the last label known when the sample
 * was asked about, and the mean of all labels known then. In a stream in the order of time the
 * former is hard to beat. What was asked before the first label does not count: nobody could know
 * anything.
 *
 * Targets of several numbers are measured number by number, each in its unit; what is said of all
 * is the mean of what is said of each.
 */
#ifndef RETAIN_EVAL_ERRORS_H
#define RETAIN_EVAL_ERRORS_H

#include <stdint.h>

#include "base/err.h"
#include "base/state.h"
#include "target/target.h"

struct errors;

int errors_new(struct errors **errors, int width, struct err *err);
void errors_free(struct errors *errors);
int errors_width(const struct errors *errors);

/*
 * Counts a time step: the guess and the label of each of n samples. known: labels before the step,
 * counted as by target_mark_late. Allocates nothing.
 */
void errors_step(struct errors *errors, const union target *guesses, const union target *labels,
	int n, int64_t known);

/* Forgets what is known of a sample among the latest: another one's stands in its place. */
void errors_forget(struct errors *errors, int64_t sample);

/*
 * For drift alarms: whether the errors of a guess are far larger than usual; what is usual follows
 * them slowly.
 */
bool errors_unusual(struct errors *errors, const union target *guess, const union target *label);

/* Over all labels so far, or the latest ERRORS_RECENT. */
enum { ERRORS_RECENT = 1000 };
struct errors_sum {
	int64_t count;
	double mae, rmse;
	double explained;  /* 1 - mean square / variance, limited to [-1, 1] */
	double last, mean; /* mean absolute errors of the baselines */
	double explained_last;
	double inside, width; /* share of labels within their intervals, mean width of these */
};
extern const struct errors_sum errors_none; /* before the first label: all NAN */
void errors_all(const struct errors *errors, struct errors_sum *sum);
void errors_recent(const struct errors *errors, struct errors_sum *sum);
/* Of number k alone, over all labels. */
void errors_of(const struct errors *errors, int k, struct errors_sum *sum);

/*
 * The latest labels of number k and what was said about them, at most ERRORS_RECENT; i = 0 is the
 * oldest.
 */
struct errors_pair {
	int64_t sample; /* its place among all labels, from 1 on */
	double label, value, low, high;
};
int errors_pairs(const struct errors *errors);
struct errors_pair errors_pair(const struct errors *errors, int k, int i);

void errors_state(struct errors *errors, struct state *state);

#endif
