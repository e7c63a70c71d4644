/* What ranks share out, and how. */
#include "base/ranks.h"

#include <assert.h>

enum { VECTOR = 16 }; /* floats: slices begin where a vector does, on any instruction set */

bool ranks_alone(const struct ranks *ranks)
{
	return ranks_count(ranks) == 1;
}

bool ranks_first(const struct ranks *ranks)
{
	return !ranks || ranks->rank == 0;
}

int ranks_count(const struct ranks *ranks)
{
	return ranks ? ranks->count : 1;
}

size_t ranks_begin(const struct ranks *ranks, size_t total, int rank)
{
	return total * (size_t)rank / (size_t)ranks_count(ranks);
}

size_t ranks_slice(const struct ranks *ranks, size_t floats, int rank)
{
	const size_t first = ranks_begin(ranks, (floats + VECTOR - 1) / VECTOR, rank) * VECTOR;

	return first < floats ? first : floats;
}

size_t ranks_own(const struct ranks *ranks, size_t floats, size_t *count)
{
	const int rank = ranks ? ranks->rank : 0;
	const size_t first = ranks_slice(ranks, floats, rank);

	*count = ranks_slice(ranks, floats, rank + 1) - first;
	return first;
}

void ranks_gather_slices(struct ranks *ranks, float *values, size_t floats)
{
	size_t begins[RANKS_MOST + 1];

	if (ranks_alone(ranks))
		return;
	assert(ranks->count <= RANKS_MOST);
	for (int r = 0; r <= ranks->count; r++)
		begins[r] = ranks_slice(ranks, floats, r);
	ranks->type->gather(ranks, values, sizeof(*values), begins);
}
