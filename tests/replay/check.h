/* What every test of lib/replay starts with: chi-square, pools, a model of what a pool holds. */
#ifndef RETAIN_TESTS_REPLAY_CHECK_H
#define RETAIN_TESTS_REPLAY_CHECK_H

#include "../base/check.h"

#include <math.h>

#include "replay/pool_impl.h"

/* The upper end that chi-square with k degrees of freedom passes about once in a million times
 * (Wilson and Hilferty). */
static inline double chi_limit(double k)
{
	const double a = 2 / (9 * k);

	return k * pow(1 - a + 4.75 * sqrt(a), 3);
}

/* Counts of cells that should all be the same. */
static inline void assert_even(const int *counts, int cells, const char *what)
{
	double chi = 0, expected = 0;

	for (int i = 0; i < cells; i++)
		expected += (double)counts[i] / cells;
	for (int i = 0; i < cells; i++)
		chi += (counts[i] - expected) * (counts[i] - expected) / expected;
	if (cells > 1 && chi > chi_limit(cells - 1))
		fail_msg("%s: chi-square %g over %d cells of %g", what, chi, cells, expected);
}

/* Heads among tosses; five standard errors. */
static inline void assert_share(double heads, double tosses, double share, const char *what)
{
	if (fabs(heads - tosses * share) > 5 * sqrt(tosses * share * (1 - share)))
		fail_msg(
			"%s: %g of %g, where %g are expected", what, heads, tosses, tosses * share);
}

static inline struct pool *pool_of(const struct pool_config *config)
{
	struct pool *pool;
	struct err err;

	assert_ok(pool_new(&pool, config, &err), err);
	return pool;
}

/* Labels of made-up samples: class 0 is as frequent as all that follow it, and so on. */
static inline int32_t label_of(int64_t id, int classes)
{
	int label = __builtin_ctzll(mix64((uint64_t)id) | (uint64_t)1 << 63);

	return label < classes ? label : classes - 1;
}

/* Offers samples until so many were seen; held, if given, is what the pool then says it holds. */
static inline void pool_fill(struct pool *pool, int64_t seen, bool *held)
{
	for (int64_t id = pool_seen(pool); id < seen; id++) {
		const int classes = pool->config.classes;
		int64_t evicted;
		struct err err;

		assert_ok(pool_add(pool, id, label_of(id, classes ? classes : 1), &evicted, &err),
			err);
		if (held && id >= 0) {
			held[id] = true;
			if (evicted >= 0)
				held[evicted] = false;
		}
	}
}

#endif
