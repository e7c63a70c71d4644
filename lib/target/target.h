/*
 * What a learner learns to predict: the target of a sample. A revealed target is a label. It is
 * one cell of 4 bytes, whatever its kind, so that stores, journals and messages carry cells and
 * only the rows of this room, losses, parts and measures know what is in them.
 */
#ifndef RETAIN_TARGET_TARGET_H
#define RETAIN_TARGET_TARGET_H

#include <stdint.h>

union target {
	int32_t class; /* 0, 1, 2, ... */
	float number;
};

/* No target: as a class -1, as a number NaN. Both have these bits. */
#define TARGET_NONE ((union target){.class = -1})

/*
 * What a learner said about an input, kept until its label comes: cells that a kind of target
 * defines, TARGET_NONE where it needs fewer. The last one may carry a mark (eval/guess.h), so only
 * classes use it.
 */
enum { TARGET_GUESS = 5 };

/* The cells as class numbers, for code that knows them to be classes. */
static inline const int32_t *target_classes(const union target *cells)
{
	return &cells->class;
}

static inline const union target *targets_of_classes(const int32_t *classes)
{
	return (const union target *)classes;
}

static inline const float *target_numbers(const union target *cells)
{
	return &cells->number;
}

#endif
