/*
 * Which samples are held out. Philox makes a random key from the seed, once. An id is hashed with
 * that key and held out if the hash, as a 53-bit number in [0, 1), is below the share. So the
 * share is exact to 2^-53. Draws use other keys and are independent of it.
 */
#include <math.h>

#include "replay/pool_impl.h"

void sieve_init(struct sieve *sieve, const struct holdout *holdout)
{
	uint32_t bits[4];

	rng_bits((struct rng){holdout->seed, RNG_HOLDOUT}, 0, bits);
	sieve->key = (uint64_t)bits[1] << 32 | bits[0];
	sieve->threshold = (uint64_t)ceil(holdout->share * 0x1p53);
}

bool holdout_has(const struct holdout *holdout, int64_t id)
{
	struct sieve sieve;

	sieve_init(&sieve, holdout);
	return sieve_has(&sieve, id);
}
