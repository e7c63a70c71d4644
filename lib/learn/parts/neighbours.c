/*
 * Rows are normalised to length 1, so that a cosine is a product divided by the length of the
 * query. The nearest are found in one pass, in a short descending list: usually a row is not
 * nearer than the last of it, and there is nothing to do.
 */
#include "learn/parts/neighbours.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/portable_math.h"
#include "base/rng.h"
#include "learn/parts/part.h"

enum { LANES = 16 };

/* Of the part. */
static const double WIDTH = 0.03;
enum { NEAREST = 20 };

#define COUNT_MOST (INT64_C(1) << 40) /* rows of a saved bank */

struct neighbours {
	struct part part;
	struct neighbours_config config;
	int64_t seen, count; /* samples that came; rows */
	int64_t room;        /* rows that there is memory for */
	float *rows;         /* [room][dim] */
	int32_t *labels;     /* [room] */
};

struct found {
	float cosine;
	int32_t label;
};

int neighbours_new(struct part **part, const struct neighbours_config *config, struct err *err)
{
	const size_t room = (size_t)config->room, row = (size_t)config->dim * sizeof(float);
	struct neighbours *made = mem_new(1, sizeof(*made));

	*part = NULL;
	if (!made)
		return err_memory(err, "a bank of features", sizeof(*made));
	*made = (struct neighbours){.config = *config, .room = config->room};
	if (room) {
		made->rows = mem_new(room, row);
		made->labels = mem_new(room, sizeof(*made->labels));
	}
	if (room && (!made->rows || !made->labels)) {
		neighbours_free(&made->part);
		return err_memory(err, "a bank of features", room * row);
	}
	*part = &made->part;
	return 0;
}

void neighbours_free(struct part *part)
{
	struct neighbours *neighbours = (struct neighbours *)part;

	if (!neighbours)
		return;
	mem_free(neighbours->rows);
	mem_free(neighbours->labels);
	mem_free(neighbours);
}

/* Rows for which there is no place yet get one, twice as many as there are at least. */
int neighbours_reserve(struct part *part, int64_t n, struct err *err)
{
	struct neighbours *neighbours = (struct neighbours *)part;
	const size_t row = (size_t)neighbours->config.dim * sizeof(float);
	const int64_t need = neighbours->count + n;
	const int64_t room = need < 2 * neighbours->room ? 2 * neighbours->room : need;
	float *rows;
	int32_t *labels;

	if (neighbours->config.room || need <= neighbours->room)
		return 0;
	rows = mem_resize(neighbours->rows, (size_t)room, row);
	if (!rows)
		return err_memory(err, "a bank of features", (size_t)room * row);
	neighbours->rows = rows;
	labels = mem_resize(neighbours->labels, (size_t)room, sizeof(*labels));
	if (!labels)
		return err_memory(err, "a bank of features", (size_t)room * sizeof(*labels));
	neighbours->labels = labels;
	neighbours->room = room;
	return 0;
}

static float dot(const float *a, const float *b, int size)
{
	float lanes[LANES] = {0}, sum = 0;
	int i = 0;

	for (; i + LANES <= size; i += LANES)
		for (int k = 0; k < LANES; k++)
			lanes[k] += a[i + k] * b[i + k];
	for (; i < size; i++)
		sum += a[i] * b[i];
	for (int k = 0; k < LANES; k++)
		sum += lanes[k];
	return sum;
}

/* What makes a vector's length 1; that of zeros stays 0. */
static float scale_of(const float *features, int dim)
{
	const float square = dot(features, features, dim);

	return square > 0 ? 1 / sqrtf(square) : 0;
}

/* Where sample number `seen` goes, or -1: each that came is kept with the same probability. */
static int64_t place_of(const struct neighbours *n)
{
	const struct rng rng = {n->config.seed, RNG_BANK};
	int64_t place;

	if (!n->config.room || n->count < n->config.room)
		return n->count;
	place = (int64_t)rng_below(rng, (uint64_t)n->seen, (uint64_t)n->seen + 1);
	return place < n->config.room ? place : -1;
}

void neighbours_add(struct part *part, const float *features, int32_t label)
{
	struct neighbours *neighbours = (struct neighbours *)part;
	const int dim = neighbours->config.dim;
	const int64_t place = place_of(neighbours);
	const float scale = scale_of(features, dim);

	neighbours->seen++;
	if (place < 0)
		return;
	neighbours->count += place == neighbours->count;
	for (int i = 0; i < dim; i++)
		neighbours->rows[place * dim + i] = scale * features[i];
	neighbours->labels[place] = label;
}

int64_t neighbours_count(const struct part *part)
{
	const struct neighbours *neighbours = (const struct neighbours *)part;

	return neighbours->count;
}

/* The nearest first; returns how many there are. */
static int find(const struct neighbours *n, const float *features, struct found *found)
{
	const float scale = scale_of(features, n->config.dim);
	int count = 0;

	for (int64_t row = 0; row < n->count; row++) {
		const float cosine =
			scale * dot(n->rows + row * n->config.dim, features, n->config.dim);
		int place = count;

		if (count == n->config.nearest && !(cosine > found[count - 1].cosine))
			continue;
		if (count < n->config.nearest)
			count++;
		else
			place--;
		for (; place > 0 && cosine > found[place - 1].cosine; place--)
			found[place] = found[place - 1];
		found[place] = (struct found){cosine, n->labels[row]};
	}
	return count;
}

void neighbours_predict(const struct part *part, const float *features, float *probabilities)
{
	const struct neighbours *neighbours = (const struct neighbours *)part;
	const int classes = neighbours->config.classes;
	struct found found[NEIGHBOURS_MOST];
	const int count = find(neighbours, features, found);
	double weights[NEIGHBOURS_MOST], sum = neighbours->config.doubt;

	for (int i = 0; i < count; i++) {
		weights[i] = portable_exp(
			((double)found[i].cosine - found[0].cosine) / neighbours->config.width);
		sum += weights[i];
	}
	for (int class = 0; class < classes; class ++)
		probabilities[class] =
			(float)(count ? neighbours->config.doubt / sum / classes : 1.0 / classes);
	for (int i = 0; i < count; i++)
		probabilities[found[i].label] += (float)(weights[i] / sum);
}

static size_t rows_size(const struct neighbours *n, int64_t rows)
{
	return (size_t)rows * (size_t)n->config.dim * sizeof(float);
}

size_t neighbours_copied(const struct part *part)
{
	const struct neighbours *n = (const struct neighbours *)part;

	return sizeof(*n) + rows_size(n, n->room) + (size_t)n->room * sizeof(*n->labels);
}

void neighbours_copy(const struct part *part, void *to)
{
	const struct neighbours *n = (const struct neighbours *)part;
	struct neighbours *made = to;

	*made = *n;
	made->rows = (float *)(made + 1);
	made->labels = (int32_t *)(made->rows + n->room * n->config.dim);
	memcpy(made->rows, n->rows, rows_size(n, n->count));
	memcpy(made->labels, n->labels, (size_t)n->count * sizeof(*n->labels));
}

void neighbours_state(struct part *part, struct state *state)
{
	struct neighbours *neighbours = (struct neighbours *)part;
	const struct neighbours_config *c = &neighbours->config;
	int64_t count = neighbours->count;
	struct err err;

	state_enter(state, "neighbours");
	state_int64(state, "seen", &neighbours->seen);
	state_int64(state, "count", &count);
	if (state_reading(state) && !state_failed(state)) {
		neighbours->count = 0;
		if (count >= 0 && count <= COUNT_MOST && neighbours_reserve(part, count, &err))
			state_refuse(state, err.code, "%s", err.message);
	}
	neighbours->count = count;
	if (count < 0 || count > neighbours->room)
		state_refuse(state, ERR_FORMAT, "has %lld features where there is room for %lld",
			(long long)count, (long long)neighbours->room);
	if (!state_failed(state)) {
		state_input_floats(state, "rows", neighbours->rows,
			(struct state_inputs){
				(size_t)neighbours->count, (size_t)c->dim, 1, 0, STATE_BY_ROWS});
		state_int32s(state, "labels", neighbours->labels, (size_t)neighbours->count);
	}
	for (int64_t i = 0; i < neighbours->count && !state_failed(state); i++)
		if (neighbours->labels[i] < 0 || neighbours->labels[i] >= c->classes)
			state_refuse(state, ERR_FORMAT, "has a label %d, which is no class",
				(int)neighbours->labels[i]);
	state_leave(state);
}

static int make(struct part **part, const struct part_view *view, struct err *err)
{
	const struct neighbours_config config = {(int)view->floats, net_spec(view->net)->classes,
		options_int64(view->options, "fast.bank"), NEAREST, WIDTH,
		(uint64_t)options_int64(view->options, "run.seed")};

	return neighbours_new(part, &config, err);
}

double neighbours_macs(const struct part *part)
{
	const struct neighbours *neighbours = (const struct neighbours *)part;

	return (double)neighbours->config.dim * (double)neighbours->count;
}

double neighbours_bytes(const struct part *part)
{
	const struct neighbours *neighbours = (const struct neighbours *)part;

	return 4 * (neighbours->config.dim + 1.0) * (double)neighbours->count;
}

const struct part_type part_knn = {
	.word = "knn",
	.share = 1,
	.check = part_for_vectors,
	.make = make,
	.free = neighbours_free,
	.reserve = neighbours_reserve,
	.ask = neighbours_predict,
	.add = neighbours_add,
	.macs = neighbours_macs,
	.bytes = neighbours_bytes,
	.state = neighbours_state,
};
