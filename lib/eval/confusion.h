/*
 * Per class: how often it came, how often it was recognised, how often it was said, and
 * what it was taken for most. Of predictions that were made before their labels came.
 *
 * Memory is linear in the number of classes: for each class CONFUSION_KEPT others that it
 * was taken for are kept. With more of them than that, counts are lower bounds: too
 * small by no more than 1/(CONFUSION_KEPT + 1) of the class's errors.
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

/* There are so many classes from now on, or more, as before. */
int confusion_reserve(struct confusion *confusion, int classes, struct err *err);

/* A class that is new makes room for itself; a prediction below 0 is none. */
void confusion_add(struct confusion *confusion, int32_t label, int32_t predicted);

struct confusion_class {
	int64_t seen, right, said; /* as a label, of these recognised, as a prediction */
};

int32_t confusion_classes(const struct confusion *confusion);
struct confusion_class confusion_class(const struct confusion *confusion, int32_t of);

/* `label` was taken for `predicted` so many times. */
struct confusion_pair {
	int32_t label, predicted;
	int64_t times;
};

/* The most frequent pairs, at most `most` of them, the most frequent first; returns how many. */
int confusion_largest(const struct confusion *confusion, struct confusion_pair *pairs, int most);

void confusion_state(struct confusion *confusion, struct state *state);

#endif
