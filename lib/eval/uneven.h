/*
 * Measures for uneven classes, where accuracy says little: whoever always says the frequent class
 * is right nearly always.
 *
 * Classes are uneven if the rarest label seen has less than half of an even share: with two
 * classes less than 25 %, with ten less than 5 %. Before UNEVEN_LEAST labels nothing is said.
 *
 * - Balanced accuracy: the mean, over classes seen, of the share of their samples recognised.
 * - F1 of a class: the harmonic mean of its precision and recall; and their mean over classes.
 * - With two classes, AUC: the chance that a sample of the rarer class has a higher log-odds than
 *   one of the other; ties count half.
 * - With two classes, recall at a budget: if the share `budget` of samples with the highest
 *   log-odds of the rarer class raise an alert, how much of that class is among them.
 *
 * The first two are of all predictions, the last two of the latest `window`. Log-odds are counted
 * in steps of 1/256 between -32 and 32, so adding costs O(1) and asking O(1), too.
 */
#ifndef RETAIN_EVAL_UNEVEN_H
#define RETAIN_EVAL_UNEVEN_H

#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"
#include "eval/confusion.h"

enum { UNEVEN_WINDOW = 10000, UNEVEN_LEAST = 100 };

extern const struct option_row uneven_options[]; /* eval.alerts */

/* Two classes: log-odds and labels. */
struct uneven;

/* window 0: all samples count. Its memory comes with the first sample. */
int uneven_new(struct uneven **uneven, int window, struct err *err);
void uneven_free(struct uneven *uneven);

/* Adds a sample: the log-odds of class 1 against class 0, and whether it was class 1. NAN: none. */
void uneven_add(struct uneven *uneven, float odds, bool second);

/* All NAN where classes are even; the last three, too, unless there are two. */
struct uneven_scores {
	double balanced, f1; /* means over classes */
	double f1_rare;      /* of the rarer of two classes */
	double auc;
	double alert_recall, alert_share; /* recall at this share of alerts */
};

extern const struct uneven_scores uneven_none; /* all NAN */

/* budget: the share of alerts; 0: that of the rarer class, where recall equals precision. */
struct uneven_scores uneven_scores(
	const struct uneven *uneven, const struct confusion *confusion, double budget);

void uneven_state(struct uneven *uneven, struct state *state);

#endif
