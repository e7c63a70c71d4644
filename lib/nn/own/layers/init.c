/* First values. Every tensor has 2^40 counters of its own. */
#include "nn/own/layers/init.h"

#include "base/rng.h"

static uint64_t first_counter(int row)
{
	return (uint64_t)row << 40;
}

void init_normal(
	const struct param_table *table, int row, uint64_t seed, double deviation, float *flat)
{
	const struct rng rng = {seed, RNG_INIT};
	float *values = flat + table->rows[row].offset;

	rng_normals(rng, first_counter(row), values, table->rows[row].count);
	for (size_t i = 0; i < table->rows[row].count; i++)
		values[i] *= (float)deviation;
}

void init_uniform(const struct param_table *table, int row, uint64_t seed, float bound, float *flat)
{
	const struct rng rng = {seed, RNG_INIT};
	float *values = flat + table->rows[row].offset;

	for (size_t i = 0; i < table->rows[row].count; i++)
		values[i] = (2 * rng_float(rng, first_counter(row) + i) - 1) * bound;
}

void init_constant(const struct param_table *table, int row, float value, float *flat)
{
	float *values = flat + table->rows[row].offset;

	for (size_t i = 0; i < table->rows[row].count; i++)
		values[i] = value;
}
