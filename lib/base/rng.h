/*
 * Counter-based random numbers. Every number is a function of (seed, purpose, counter). There is
 * no state to step or to save, numbers can be computed in any order, and processes that share a
 * seed agree. The function is Philox4x32-10 of Salmon, Moraes, Dror and Shaw, "Parallel random
 * numbers: as easy as 1, 2, 3" (2011).
 *
 * A stream is a seed and a purpose. Give every use its own purpose: two uses with the same
 * purpose and counters get the same numbers. The functions below are different views of one
 * stream. At the same counter they depend on one another, except for the normals, which are
 * independent.
 *
 * Results are the same on every machine: the arithmetic is integer, or double with +, -, *, / and
 * sqrt in a fixed order and no library functions.
 */
#ifndef RETAIN_BASE_RNG_H
#define RETAIN_BASE_RNG_H

#include <stddef.h>
#include <stdint.h>

/* Purposes. The values make runs repeatable: add rows, never renumber. */
enum rng_purpose {
	RNG_INIT = 1,     /* initial parameters */
	RNG_STREAM = 2,   /* synthetic streams, and drift in them */
	RNG_ORDER = 3,    /* the order in which a stream is shown */
	RNG_POOL = 4,     /* evictions from a pool, and draws of batches */
	RNG_AUGMENT = 5,  /* crops, flips, colours */
	RNG_HOLDOUT = 6,  /* which samples are held out for validation */
	RNG_SHUFFLE = 7,  /* permutations of ids */
	RNG_MASK = 8,     /* seeds of masks inside a net */
	RNG_TEST = 9,     /* tests and benchmarks */
	RNG_THEORY = 20,  /* noise of simulations */
	RNG_BANK = 21,    /* which features a bank keeps */
	RNG_FOREST = 22,  /* bags and splits of trees */
	RNG_YOUNG = 23,   /* initial values and batches of a young net */
	RNG_EXPLAIN = 24, /* whose values a column is asked with */
};

struct rng {
	uint64_t seed;
	uint32_t purpose;
};

/* The function itself: four random words from a counter and a key. */
void rng_philox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/*
 * 128 random bits of a counter; rng_fill_bits computes first .. first+count-1 at once, which is
 * faster.
 */
void rng_bits(struct rng rng, uint64_t counter, uint32_t out[4]);
void rng_fill_bits(struct rng rng, uint64_t first, uint32_t (*out)[4], size_t count);

/* Uniform in [0, 1): multiples of 2^-24 and of 2^-53. */
float rng_float(struct rng rng, uint64_t counter);
double rng_double(struct rng rng, uint64_t counter);

/*
 * Uniform in 0 .. bound-1 without bias (bound >= 1). Candidates are the 64-bit
 * halves of the counter's first 128 bits, then of its second 128 bits and so
 * on, until one is accepted; other counters are not touched.
 */
uint64_t rng_below(struct rng rng, uint64_t counter, uint64_t bound);

/*
 * Standard normals by Box and Muller. Number n is value n mod 4 of the four made from block n / 4
 * of the normals' own 128-bit blocks; so filling in pieces gives the same values as filling at
 * once. At most 6.7 in absolute value.
 */
float rng_normal(struct rng rng, uint64_t n);
void rng_normals(
	struct rng rng, uint64_t first, float *out, size_t count); /* first .. first+count-1 */

/* A random permutation in place. Uses the counters first+1 .. first+count-1 as rng_below does. */
void rng_shuffle32(struct rng rng, uint64_t first, uint32_t *ids, size_t count);

#endif
