/*
 * A Feistel network whose halves need not be equal. Rounds change in turn the upper half
 * by a function of the lower, and the lower by a function of the upper. Doing a round
 * again undoes it, so the whole is a bijection, whatever the function. With just enough
 * bits for the size, fewer than two passes are needed on average.
 *
 * If two numbers have one half in common, which happens once in 2^bits, a round leaves
 * the difference of their other halves as it is. So shorter halves get more rounds: as
 * many as come to 16 bits.
 */
#include "replay/shuffle.h"

#include <assert.h>

#include "replay/mix.h"

void shuffle_init(struct shuffle *shuffle, struct rng rng, uint64_t counter, uint64_t size)
{
	uint32_t bits[4];
	uint64_t key;
	int width = 0, half;

	assert(size <= (uint64_t)1 << 63);
	while (width < 63 && (uint64_t)1 << width < size)
		width++;
	half = width / 2;
	*shuffle = (struct shuffle){.size = size, .low = width - half};
	shuffle->low_mask = ((uint64_t)1 << shuffle->low) - 1;
	shuffle->high_mask = ((uint64_t)1 << half) - 1;
	shuffle->rounds = half == 0 || half > 4 ? 8 : 2 * ((16 + half - 1) / half);
	rng_bits(rng, counter, bits);
	key = (uint64_t)bits[1] << 32 | bits[0];
	for (int i = 0; i < shuffle->rounds; i++)
		shuffle->keys[i] = mix64(key + (uint64_t)i * MIX_STEP);
}

/* The upper bits of a product are its best mixed ones. */
static uint64_t round_of(uint64_t half, uint64_t key, uint64_t mask)
{
	return mix64(half + key) >> 32 & mask;
}

uint64_t shuffle_at(const struct shuffle *shuffle, uint64_t index)
{
	uint64_t low = index & shuffle->low_mask, high = index >> shuffle->low;

	assert(index < shuffle->size);
	do {
		for (int i = 0; i < shuffle->rounds; i += 2) {
			high ^= round_of(low, shuffle->keys[i], shuffle->high_mask);
			low ^= round_of(high, shuffle->keys[i + 1], shuffle->low_mask);
		}
		index = high << shuffle->low | low;
	} while (index >= shuffle->size);
	return index;
}
