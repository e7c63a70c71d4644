/* How work is distributed over ranks. */
#include "nn/ranks/ranks.h"

#include <assert.h>
#include <string.h>

enum {
	VECTOR = 16,          /* floats: slices begin where a vector does, on any instruction set */
	LEAST_BAND = 1 << 18, /* floats: less is not worth messages of its own, */
	LEAST_SLICE = 1 << 12, /* nor is less from one rank to another */
};

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

void ranks_trade(struct ranks *ranks, const struct ranks_message *send, int sends,
	const struct ranks_message *receive, int receives)
{
	ranks->type->begin(ranks, send, sends, receive, receives);
	ranks->type->finish(ranks);
}

int ranks_bands(const struct ranks *ranks, size_t floats)
{
	const size_t count = (size_t)ranks_count(ranks);
	size_t least = count * LEAST_SLICE > LEAST_BAND ? count * LEAST_SLICE : LEAST_BAND, bands;

	if (count == 1)
		return 1;
	least = ranks->band ? ranks->band : least;
	bands = floats / least;
	return bands < 1 ? 1 : bands < RANKS_BANDS ? (int)bands : RANKS_BANDS;
}

/* Part `part` of so many of what is `floats` long, in whole vectors. */
static size_t cut(size_t floats, int part, int parts)
{
	const size_t vectors = (floats + VECTOR - 1) / VECTOR;
	const size_t first = vectors * (size_t)part / (size_t)parts * VECTOR;

	return first < floats ? first : floats;
}

size_t ranks_band(const struct ranks *ranks, size_t floats, int band)
{
	return cut(floats, band, ranks_bands(ranks, floats));
}

static size_t slice_begin(const struct ranks *ranks, size_t floats, int band, int rank)
{
	const size_t first = ranks_band(ranks, floats, band);

	return first + cut(ranks_band(ranks, floats, band + 1) - first, rank, ranks_count(ranks));
}

struct slice ranks_slice(const struct ranks *ranks, size_t floats, int band, int rank)
{
	struct slice slice = {.first = slice_begin(ranks, floats, band, rank)};

	slice.count = slice_begin(ranks, floats, band, rank + 1) - slice.first;
	for (int b = 0; b < band; b++)
		slice.at += slice_begin(ranks, floats, b, rank + 1) -
			    slice_begin(ranks, floats, b, rank);
	return slice;
}

struct slice ranks_own_slice(const struct ranks *ranks, size_t floats, int band)
{
	return ranks_slice(ranks, floats, band, ranks ? ranks->rank : 0);
}

size_t ranks_own(const struct ranks *ranks, size_t floats)
{
	const struct slice last = ranks_own_slice(ranks, floats, ranks_bands(ranks, floats) - 1);

	return last.at + last.count;
}

void ranks_keep(const struct ranks *ranks, float *own, const float *whole, size_t floats)
{
	for (int band = 0; band < ranks_bands(ranks, floats); band++) {
		const struct slice slice = ranks_own_slice(ranks, floats, band);

		memcpy(own + slice.at, whole + slice.first, slice.count * sizeof(*own));
	}
}

void ranks_put(const struct ranks *ranks, float *whole, const float *own, size_t floats)
{
	for (int band = 0; band < ranks_bands(ranks, floats); band++) {
		const struct slice slice = ranks_own_slice(ranks, floats, band);

		memcpy(whole + slice.first, own + slice.at, slice.count * sizeof(*own));
	}
}

int ranks_begin_gather(struct ranks *ranks, float *values, size_t floats, int band, int lane)
{
	struct ranks_message send[RANKS_MOST], receive[RANKS_MOST];
	const struct slice own = ranks_own_slice(ranks, floats, band);
	int others = 0;

	assert(ranks->count <= RANKS_MOST);
	/* Each begins with the one behind it, so that not all send to the same one first. */
	for (int i = 1; i < ranks->count; i++, others++) {
		const int to = (ranks->rank + i) % ranks->count;
		const int from = (ranks->rank + ranks->count - i) % ranks->count;
		const struct slice slice = ranks_slice(ranks, floats, band, from);

		send[others] = (struct ranks_message){
			to, values + own.first, own.count * sizeof(*values), lane};
		receive[others] = (struct ranks_message){
			from, values + slice.first, slice.count * sizeof(*values), lane};
	}
	return ranks->type->begin(ranks, send, others, receive, others);
}

void ranks_gather_slices(struct ranks *ranks, float *values, size_t floats)
{
	if (ranks_alone(ranks))
		return;
	for (int band = 0; band < ranks_bands(ranks, floats); band++)
		ranks_begin_gather(ranks, values, floats, band, 0);
	ranks->type->finish(ranks);
}
