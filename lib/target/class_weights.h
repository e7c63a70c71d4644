/*
 * What classes weigh in answers, where mistakes do not all cost the same: the probability of class
 * c becomes w_c p_c / sum w p. That is what a model whose loss is weighted by class tends to, too;
 * here it holds at once, for every model, and the loss stays that of probabilities as they are.
 *
 * Zeroed: all weigh the same. Classes that were not set weigh what `rest` says.
 */
#ifndef RETAIN_TARGET_CLASS_WEIGHTS_H
#define RETAIN_TARGET_CLASS_WEIGHTS_H

#include "base/err.h"
#include "base/state.h"

struct class_weights {
	float *logs; /* logarithms; NAN: not set */
	int count;   /* of these */
	float rest;
};

void class_weights_release(struct class_weights *weights);

/* Makes room for this many classes at least; those set keep their weights. */
int class_weights_reserve(struct class_weights *weights, int classes, struct err *err);

/* Sets a class there is room for; others are left alone. */
void class_weights_set(struct class_weights *weights, int class, double weight);
void class_weights_set_rest(struct class_weights *weights, double weight);
/* All weigh the same again. */
void class_weights_clear(struct class_weights *weights);

/* The logarithm of a class's weight; sets those of all classes. */
float class_weights_log(const struct class_weights *weights, int class);
int class_weights_from(
	struct class_weights *weights, const float *logs, int classes, struct err *err);

/* Copies as many as there is room for. */
void class_weights_copy(struct class_weights *to, const struct class_weights *from);

/* Changes logits, or logarithms of probabilities, (n, classes). */
void class_weights_apply(const struct class_weights *weights, float *logits, int classes, int n);

void class_weights_state(struct class_weights *weights, struct state *state);

#endif
