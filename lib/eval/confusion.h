/*
 * Counts per class: seen, recognised, predicted, and its most frequent confusions, over
 * predictions made before their labels came.
 *
 * Memory is linear in the number of classes: each class keeps CONFUSION_KEPT classes it was
 * mistaken for. With more than that, counts are lower bounds, too small by at most
 * 1/(CONFUSION_KEPT + 1) of the class's errors.
 */
#ifndef RETAIN_EVAL_CONFUSION_H
#define RETAIN_EVAL_CONFUSION_H

#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

enum { CONFUSION_KEPT = 16 };

struct confusion;

int confusion_new(struct confusion **confusion, int classes, struct err *err);
void confusion_free(struct confusion *confusion);

/* Makes room for at least this many classes. */
int confusion_reserve(struct confusion *confusion, int classes, struct err *err);

/* A new class makes room for itself; a negative prediction means none. */
void confusion_add(struct confusion *confusion, int32_t label, int32_t predicted);

struct confusion_class {
	int64_t seen, right, said; /* as a label, recognised, as a prediction */
};

int32_t confusion_classes(const struct confusion *confusion);
struct confusion_class confusion_class(const struct confusion *confusion, int32_t of);

/* `label` was predicted as `predicted` this many times. */
struct confusion_pair {
	int32_t label, predicted;
	int64_t times;
};

/* Fills in up to `most` of the most frequent pairs, in descending order; returns the count. */
int confusion_largest(const struct confusion *confusion, struct confusion_pair *pairs, int most);

void confusion_state(struct confusion *confusion, struct state *state);

#endif
