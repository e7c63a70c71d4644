/*
 * The models of learn/numbers/numbers.h for targets of several numbers: an independent set for
 * each number, which share only the slow net's features. Beyond SEVERAL_WHOLE numbers the
 * expensive kinds are left out, so that a row of 64 numbers costs no more than a few rows of one.
 *
 * A call has at most SEVERAL_MOST samples. Answers are (n, width, NUMBER_OUTPUTS); labels and the
 * slow net's answers are (n, width).
 */
#ifndef RETAIN_LEARN_NUMBERS_SEVERAL_H
#define RETAIN_LEARN_NUMBERS_SEVERAL_H

#include "learn/numbers/numbers.h"

enum { SEVERAL_WHOLE = 8, SEVERAL_MOST = 64 /* samples of a call */ };

struct several;

int several_new(
	struct several **several, const struct numbers_config *config, int width, struct err *err);
void several_free(struct several *several);
int several_reserve(struct several *several, int n, struct err *err);
void several_restart(struct several *several);

/* As numbers_answer, numbers_ask and numbers_learn. `slow` of the samples is (n, width). */
void several_answer(
	const struct several *several, const struct numbers_samples *samples, float *answers);
void several_ask(struct several *several, const struct numbers_samples *samples, float *answers);
void several_learn(
	struct several *several, const struct numbers_samples *samples, const union target *labels);

int several_copy_new(struct several **copy, const struct several *several, struct err *err);
void several_copy(struct several *copy, const struct several *several);
void several_grow(struct several *to, const struct several *from);

double several_macs(const struct several *several);
double several_bytes(const struct several *several);
void several_state(struct several *several, struct state *state);

#endif
