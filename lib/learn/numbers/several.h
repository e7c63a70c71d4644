/*
 * The models of learn/numbers/numbers.h for targets of several numbers, as they stand beside a slow
 * net: an independent set for each number, which share only the net's features. Beyond SEVERAL_WHOLE
 * numbers the expensive kinds are left out, so that a row of 64 numbers costs no more than a few rows
 * of one.
 */
#ifndef RETAIN_LEARN_NUMBERS_SEVERAL_H
#define RETAIN_LEARN_NUMBERS_SEVERAL_H

#include "learn/beside.h"
#include "learn/numbers/numbers.h"

enum { SEVERAL_WHOLE = 8 };

struct several;
struct several *several_of(const struct beside *beside); /* NULL: it is none */

/*
 * A copy that only answers, on another thread, and its renewal. As numbers_answer for up to
 * PART_CHUNK samples; answers are (n, width, NUMBER_OUTPUTS), `slow` of the samples is (n, width).
 */
int several_copy_new(struct several **copy, const struct several *several, struct err *err);
void several_copy(struct several *copy, const struct several *several);
void several_free(struct several *copy);
void several_answer(
	const struct several *several, const struct numbers_samples *samples, float *answers);

#endif
