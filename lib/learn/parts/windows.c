/*
 * Nearest neighbours by distance among the newest rows, in three models: over a short, a middle
 * and a long window. Each of the k nearest rows at squared distance d counts exp(-2 d / d_k), d_k
 * being that of the k-th; class frequencies count as half a row.
 *
 * Rows lie in blocks of BLOCK, number by number, so that distances to a block are computed side by
 * side. The long window is bounded by what a row may cost: rows times numbers.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/parts/part.h"
#include "nn/ops.h"

enum { MODELS = 3, BLOCK = OPS_BLOCK, NEAREST = 7 };
enum { LONGEST = 4096, SHORTEST = 256, WORK = 49152 };

static const int WINDOW[MODELS] = {200, 1000, LONGEST}, NEIGHBOURS[MODELS] = {5, 7, NEAREST};
static const float PRIOR = 0.5F;
static const double FREQUENT = 100;

struct windows {
	struct part part;
	int dim, classes;
	int room; /* rows */
	int64_t seen;
	float *rows;     /* [room / BLOCK][dim][BLOCK]; row i is at i % room */
	int32_t *labels; /* [room] */
	const struct ops *ops;
	float *distances;      /* [room]: to the sample in hand, */
	float *least;          /* [room / BLOCK]: the smallest of each block, */
	float *sample;         /* which is this */
	bool fresh;            /* distances are those of `sample` */
	double *recent, *ever; /* [class]: frequencies of late; counts */
};

static struct windows *mine(struct part *part)
{
	return (struct windows *)part;
}

static void end(struct part *part)
{
	struct windows *windows = mine(part);

	mem_free(windows->rows);
	mem_free(windows->labels);
	mem_free(windows->distances);
	mem_free(windows->least);
	mem_free(windows->sample);
	mem_free(windows->recent);
	mem_free(windows->ever);
	mem_free(windows);
}

static int make(struct part **part, const struct part_view *view, struct err *err)
{
	struct windows *made = mem_new(1, sizeof(*made));
	const size_t dim = view->floats, classes = (size_t)net_spec(view->net)->classes;
	size_t room = LONGEST;

	if (!made)
		return err_memory(err, "windows of rows", sizeof(*made));
	while (room > SHORTEST && room * dim > WORK)
		room /= 2;
	made->dim = (int)dim;
	made->classes = (int)classes;
	made->room = (int)room;
	made->rows = mem_new(room * dim, sizeof(float));
	made->labels = mem_new(room, sizeof(*made->labels));
	made->ops = view->engine->ops;
	made->distances = mem_new(room, sizeof(float));
	made->least = mem_new(room / BLOCK, sizeof(float));
	made->sample = mem_new(dim, sizeof(float));
	made->recent = mem_new(classes, sizeof(double));
	made->ever = mem_new(classes, sizeof(double));
	if (!made->rows || !made->labels || !made->distances || !made->least || !made->sample ||
		!made->recent || !made->ever) {
		end(&made->part);
		return err_memory(err, "windows of rows", room * dim * sizeof(float));
	}
	for (size_t c = 0; c < classes; c++) {
		made->recent[c] = 1.0 / (double)classes;
		made->ever[c] = 1;
	}
	*part = &made->part;
	return 0;
}

static void measure(struct windows *windows, const float *sample)
{
	const int64_t rows = windows->seen < windows->room ? windows->seen : windows->room;
	const size_t dim = (size_t)windows->dim;

	if (windows->fresh && !memcmp(windows->sample, sample, dim * sizeof(float)))
		return;
	memcpy(windows->sample, sample, dim * sizeof(float));
	windows->ops->distances(windows->rows, sample, dim, (size_t)(rows + BLOCK - 1) / BLOCK,
		windows->distances, windows->least);
	windows->fresh = true;
}

struct nearest {
	int count, most;
	float distances[NEAREST];
	int64_t places[NEAREST];
};

static void try_row(struct nearest *nearest, float distance, int64_t place)
{
	int at = nearest->count < nearest->most ? nearest->count++ : nearest->most - 1;

	for (; at > 0 && nearest->distances[at - 1] > distance; at--) {
		nearest->distances[at] = nearest->distances[at - 1];
		nearest->places[at] = nearest->places[at - 1];
	}
	nearest->distances[at] = distance;
	nearest->places[at] = place;
}

static bool is_near(const struct nearest *nearest, float distance)
{
	return nearest->count < nearest->most || distance < nearest->distances[nearest->most - 1];
}

/* Rows from..to-1 of the ring, which does not wrap there. */
static void scan(const struct windows *windows, int64_t from, int64_t to, struct nearest *nearest)
{
	for (int64_t at = from; at < to;) {
		const int64_t next = at / BLOCK * BLOCK + BLOCK;
		const int64_t stop = next < to ? next : to;

		for (int64_t i = at; i < stop && is_near(nearest, windows->least[at / BLOCK]); i++)
			if (is_near(nearest, windows->distances[i]))
				try_row(nearest, windows->distances[i], i);
		at = stop;
	}
}

static void vote(const struct windows *windows, int model, float *shares)
{
	const int64_t kept = windows->seen < windows->room ? windows->seen : windows->room;
	const int64_t rows = kept < WINDOW[model] ? kept : WINDOW[model];
	const int64_t next = windows->seen % windows->room;
	struct nearest nearest = {.most = NEIGHBOURS[model]};
	double all = 0;
	float sum = PRIOR;

	if (kept < windows->room || next >= rows)
		scan(windows, (kept < windows->room ? kept : next) - rows,
			kept < windows->room ? kept : next, &nearest);
	else {
		scan(windows, 0, next, &nearest);
		scan(windows, windows->room - (rows - next), windows->room, &nearest);
	}
	for (int c = 0; c < windows->classes; c++)
		all += windows->ever[c];
	for (int c = 0; c < windows->classes; c++)
		shares[c] = PRIOR * (float)(model < MODELS - 1 ? windows->recent[c]
							       : windows->ever[c] / all);
	for (int i = 0; i < nearest.count; i++) {
		const float weight = expf(
			-2 * nearest.distances[i] / (nearest.distances[nearest.count - 1] + 1e-9F));

		shares[windows->labels[nearest.places[i]]] += weight;
		sum += weight;
	}
	for (int c = 0; c < windows->classes; c++)
		shares[c] /= sum;
}

static int answer(struct part *part, int model, const struct part_samples *samples,
	float *probabilities, struct err *err)
{
	struct windows *windows = mine(part);

	(void)err;
	for (int i = 0; i < samples->n; i++) {
		measure(windows, samples->inputs + (size_t)i * (size_t)windows->dim);
		vote(windows, model, probabilities + (size_t)i * (size_t)windows->classes);
	}
	return 0;
}

static int learn(struct part *part, struct part_lesson *lesson, struct err *err)
{
	struct windows *windows = mine(part);
	const struct part_samples *samples = &lesson->samples;
	const size_t dim = (size_t)windows->dim;

	(void)err;
	for (int i = 0; i < samples->n; i++) {
		const float *row = samples->inputs + (size_t)i * dim;
		const int32_t label = samples->labels[i];
		const size_t place = (size_t)(windows->seen % windows->room);
		const double step = 1 / fmin((double)windows->seen + 2, FREQUENT);

		for (size_t j = 0; j < dim; j++)
			windows->rows[(place / BLOCK * dim + j) * BLOCK + place % BLOCK] = row[j];
		windows->labels[place] = label;
		windows->seen++;
		for (int c = 0; c < windows->classes; c++)
			windows->recent[c] += step * ((c == label) - windows->recent[c]);
		windows->ever[label]++;
	}
	windows->fresh = false;
	return 0;
}

static double macs(const struct part *part)
{
	const struct windows *windows = (const struct windows *)part;

	return (double)windows->room * windows->dim;
}

static double bytes(const struct part *part)
{
	const struct windows *windows = (const struct windows *)part;

	return sizeof(float) * (double)windows->room * (windows->dim + 2);
}

static void state(struct part *part, struct state *state)
{
	struct windows *windows = mine(part);
	const size_t room = (size_t)windows->room;
	bool right = true;

	state_enter(state, "windows");
	state_int64(state, "seen", &windows->seen);
	state_floats(state, "rows", windows->rows, room * (size_t)windows->dim);
	state_int32s(state, "labels", windows->labels, room);
	state_class_doubles(state, "recent", windows->recent, (size_t)windows->classes, 1);
	state_class_doubles(state, "ever", windows->ever, (size_t)windows->classes, 1);
	state_leave(state);
	windows->fresh = false;
	if (!state_reading(state) || state_failed(state))
		return;
	for (size_t i = 0; i < room; i++)
		right = right && windows->labels[i] >= 0 && windows->labels[i] < windows->classes;
	if (right && windows->seen >= 0)
		return;
	state_refuse(state, ERR_FORMAT, "windows of rows with labels that cannot be");
	memset(windows->labels, 0, room * sizeof(*windows->labels));
	windows->seen = 0;
}

const struct part_type part_windows = {
	.word = "windows",
	.names = (const char *const[]){"nearest-200", "nearest-1000", "nearest-all"},
	.models = MODELS,
	.check = part_for_vectors,
	.make = make,
	.free = end,
	.answer = answer,
	.learn = learn,
	.macs = macs,
	.bytes = bytes,
	.state = state,
};
