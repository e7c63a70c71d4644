/*
 * A random permutation of 0 .. size-1 with random access and no memory. A Feistel network
 * permutes the numbers of just enough bits. A result outside the range is permuted again until it
 * is inside; that yields a permutation of the range.
 */
#ifndef RETAIN_REPLAY_SHUFFLE_H
#define RETAIN_REPLAY_SHUFFLE_H

#include <stdint.h>

#include "base/rng.h"

enum { SHUFFLE_ROUNDS = 32 };

struct shuffle {
	uint64_t size;
	int low;                      /* bits of the lower half */
	uint64_t low_mask, high_mask; /* of each half by itself */
	int rounds;
	uint64_t keys[SHUFFLE_ROUNDS];
};

/* Permutation number `counter` of the stream; size is at most 2^63. */
void shuffle_init(struct shuffle *shuffle, struct rng rng, uint64_t counter, uint64_t size);

/* The image of `index` < size. */
uint64_t shuffle_at(const struct shuffle *shuffle, uint64_t index);

#endif
