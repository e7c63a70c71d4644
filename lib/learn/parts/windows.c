/*
 * Nearest neighbours by distance among the newest rows, in three models: over a short, a middle
 * and a long window; of inputs (`windows`), or of what the slow net's last layer saw (`near`).
 * Each of the k nearest rows at squared distance d counts exp(-2 d / d_k), d_k
 * being that of the k-th; class frequencies count as half a row.
 *
 * Rows lie in blocks of BLOCK, number by number, so that distances to a block are computed side by
 * side. The long window is bounded by what a row may cost: rows times numbers.
 */
#include <math.h>
#include <string.h>

#include "base/lanes.h"
#include "base/mem.h"
#include "learn/parts/part.h"
#include "learn/parts/shares.h"
#include "nn/ops.h"

enum { MODELS = 3, BLOCK = OPS_BLOCK, NEAREST = 7 };
enum { LONGEST = 2048, SHORTEST = 256, WORK = 196608, WORK_ONCE = 49152 };

_Static_assert((int)BLOCK == (int)LANES, "a block is compared at once");

static const int WINDOW[MODELS] = {200, 1000, LONGEST}, NEIGHBOURS[MODELS] = {5, 7, NEAREST};
static const float PRIOR = 0.5F;

/* The rows that are kept, and how frequent classes are among them. */
struct bank {
	const struct ops *ops;
	bool hidden; /* rows are what the slow net's last layer sees, not inputs */
	int dim, classes;
	int room;     /* rows, */
	int room_was; /* ... and in checkpoints before version 16 */
	int64_t seen;
	float *rows;     /* [room / BLOCK][dim][BLOCK]; row i is at i % room */
	int32_t *labels; /* [room] */
	struct shares frequent;
};

/* Distances of a sample to the rows, and the smallest of each block. */
struct measured {
	float rows[LONGEST], blocks[LONGEST / BLOCK];
};

struct windows {
	struct part part;
	struct bank bank;
	float *asked;  /* [PART_CHUNK][dim]: the last samples that were asked about, */
	int asked_n;   /* so many of them; 0: rows came since */
	float *shares; /* [MODELS][PART_CHUNK][class]: what was said of them */
	struct measured measured;
};

static struct windows *mine(struct part *part)
{
	return (struct windows *)part;
}

static void end(struct part *part)
{
	struct windows *windows = mine(part);

	mem_free(windows->bank.rows);
	mem_free(windows->bank.labels);
	shares_release(&windows->bank.frequent);
	mem_free(windows->asked);
	mem_free(windows->shares);
	mem_free(windows);
}

/* Rows of so many numbers that may be compared. */
static int room_for(size_t numbers, size_t work)
{
	size_t room = LONGEST;

	while (room > SHORTEST && room * numbers > work)
		room /= 2;
	return (int)room;
}

static int make_by(struct part **part, const struct part_view *view, bool hidden, struct err *err)
{
	struct windows *made = mem_new(1, sizeof(*made));
	const size_t dim = hidden ? (size_t)net_features(view->net) : view->floats,
		     classes = (size_t)net_spec(view->net)->classes;
	/* As at first: rows that are kept must not be lost when inputs grow. */
	const size_t grown = !hidden || net_params(view->net)->count <= 2
				     ? view->floats - view->first
				     : 0,
		     room = (size_t)room_for(dim - grown, WORK);
	struct bank *bank;

	if (!made)
		return err_memory(err, "windows of rows", sizeof(*made));
	bank = &made->bank;
	*bank = (struct bank){.ops = view->engine->ops,
		.dim = (int)dim,
		.classes = (int)classes,
		.room = (int)room,
		.room_was = room_for(dim - grown, WORK_ONCE)};
	made->part.features = bank->hidden = hidden;
	bank->rows = mem_new(room * dim, sizeof(float));
	bank->labels = mem_new(room, sizeof(*bank->labels));
	made->asked = mem_new(PART_CHUNK * dim, sizeof(float));
	made->shares = mem_new(MODELS * PART_CHUNK * classes, sizeof(float));
	if (!shares_init(&bank->frequent, (int)classes) || !bank->rows || !bank->labels ||
		!made->asked || !made->shares) {
		end(&made->part);
		return err_memory(err, "windows of rows", room * dim * sizeof(float));
	}
	*part = &made->part;
	return 0;
}

static int make(struct part **part, const struct part_view *view, struct err *err)
{
	return make_by(part, view, false, err);
}

static int make_near(struct part **part, const struct part_view *view, struct err *err)
{
	return make_by(part, view, true, err);
}

static const float *rows_of(const struct windows *windows, const struct part_samples *samples)
{
	return windows->bank.hidden ? samples->features : samples->inputs;
}

static int64_t rows_kept(const struct bank *bank)
{
	return bank->seen < bank->room ? bank->seen : bank->room;
}

static void measure(const struct bank *bank, const float *sample, struct measured *measured)
{
	bank->ops->distances(bank->rows, sample, (size_t)bank->dim,
		(size_t)(rows_kept(bank) + BLOCK - 1) / BLOCK, false, measured->rows,
		measured->blocks);
}

struct nearest {
	int count, most;
	float limit; /* no row that is further away counts */
	float distances[NEAREST];
	int64_t places[NEAREST];
};

/* A row within the limit; equals stay behind those that came before. */
static void try_row(struct nearest *nearest, float distance, int64_t place)
{
	int at = nearest->count < nearest->most ? nearest->count++ : nearest->most - 1;

	for (; at > 0 && nearest->distances[at - 1] > distance; at--) {
		nearest->distances[at] = nearest->distances[at - 1];
		nearest->places[at] = nearest->places[at - 1];
	}
	nearest->distances[at] = distance;
	nearest->places[at] = place;
	if (nearest->count == nearest->most &&
		nearest->limit > nearest->distances[nearest->most - 1])
		nearest->limit = nearest->distances[nearest->most - 1];
}

static bool is_near(const struct nearest *nearest, float distance)
{
	return nearest->count < nearest->most || distance < nearest->distances[nearest->most - 1];
}

/* Bit i: number i of BLOCK is not above the limit, and within from..to. */
static unsigned within(const float *numbers, float limit, int64_t from, int64_t to)
{
	unsigned all = lanes_at_most(numbers, limit);

	if (from > 0)
		all &= ~0U << from;
	if (to < BLOCK - 1)
		all &= (2U << to) - 1;
	return all;
}

/* The highest bit, which is taken away. */
static int64_t take_top(unsigned *bits)
{
	const int64_t top = 31 - __builtin_clz(*bits);

	*bits &= ~(1U << top);
	return top;
}

/* Rows first..last, backwards. */
static void scan_rows(
	const struct measured *measured, int64_t first, int64_t last, struct nearest *nearest)
{
	const int64_t low = first / BLOCK, high = last / BLOCK;

	for (int64_t group = high / BLOCK * BLOCK; group > low - BLOCK; group -= BLOCK) {
		unsigned blocks =
			within(measured->blocks + group, nearest->limit, low - group, high - group);

		while (blocks) {
			const int64_t block = group + take_top(&blocks), start = block * BLOCK;
			unsigned rows = within(measured->rows + start, nearest->limit,
				first - start, last - start);

			while (rows) {
				const int64_t row = start + take_top(&rows);

				if (is_near(nearest, measured->rows[row]))
					try_row(nearest, measured->rows[row], row);
			}
		}
	}
}

/*
 * A distance that none of the nearest of so many rows exceeds, from `place` on backwards: SIDES rows,
 * the nearest of every SIDES-th block, are as near. A block counts only if all of its rows are scanned.
 */
static float bound(
	const struct bank *bank, const struct measured *measured, int64_t rows, int64_t place)
{
	enum { SIDES = 8 };
	float sides[SIDES], most = 0;
	int64_t block = place / BLOCK, blocks = (rows - (place % BLOCK + 1)) / BLOCK;

	for (int k = 0; k < SIDES; k++)
		sides[k] = INFINITY;
	for (; blocks > 0; blocks--) {
		float *side;

		block = block ? block - 1 : bank->room / BLOCK - 1;
		side = sides + block % SIDES;
		*side = measured->blocks[block] < *side ? measured->blocks[block] : *side;
	}
	for (int k = 0; k < SIDES; k++)
		most = sides[k] > most ? sides[k] : most;
	return most;
}

/* So many rows, from *place on backwards around the ring; *place is then the one before them. */
static void scan(const struct bank *bank, const struct measured *measured, int64_t rows,
	int64_t *place, struct nearest *nearest)
{
	const int64_t here = rows <= *place ? rows : *place + 1;

	if (rows <= 0)
		return;
	if (nearest->count < nearest->most)
		nearest->limit = bound(bank, measured, rows, *place);
	scan_rows(measured, *place - here + 1, *place, nearest);
	*place = *place - here >= 0 ? *place - here : bank->room - 1;
	if (here == rows)
		return;
	scan_rows(measured, *place - (rows - here) + 1, *place, nearest);
	*place -= rows - here;
	*place = *place >= 0 ? *place : bank->room - 1;
}

/* The nearest rows of all windows: each has the one before in it. */
static void find_nearest(
	const struct bank *bank, const struct measured *measured, struct nearest nearest[MODELS])
{
	const int64_t kept = rows_kept(bank);
	struct nearest all = {.most = NEAREST, .limit = INFINITY};
	int64_t scanned = 0, place = (bank->seen - 1) % bank->room;

	for (int k = 0; k < MODELS; k++) {
		const int64_t end_of = kept < WINDOW[k] ? kept : WINDOW[k];

		scan(bank, measured, end_of - scanned, &place, &all);
		scanned = end_of;
		nearest[k] = all;
		if (all.count > NEIGHBOURS[k])
			nearest[k].count = NEIGHBOURS[k];
	}
}

static void vote(
	const struct bank *bank, const struct nearest *nearest, bool all_time, float *shares)
{
	float sum = PRIOR;

	for (int c = 0; c < bank->classes; c++)
		shares[c] = PRIOR * (float)shares_of(&bank->frequent, c, all_time, bank->seen);
	for (int i = 0; i < nearest->count; i++) {
		const float weight = expf(-2 * nearest->distances[i] /
					  (nearest->distances[nearest->count - 1] + 1e-9F));

		shares[bank->labels[nearest->places[i]]] += weight;
		sum += weight;
	}
	for (int c = 0; c < bank->classes; c++)
		shares[c] /= sum;
}

static float *said(const struct windows *windows, int model)
{
	return windows->shares + (size_t)model * PART_CHUNK * (size_t)windows->bank.classes;
}

/* What all models say: they share the distances. */
static void look(struct windows *windows, const struct part_samples *samples)
{
	const struct bank *bank = &windows->bank;
	const size_t dim = (size_t)bank->dim, classes = (size_t)bank->classes;

	for (int i = 0; i < samples->n; i++) {
		struct nearest nearest[MODELS];

		measure(bank, rows_of(windows, samples) + (size_t)i * dim, &windows->measured);
		find_nearest(bank, &windows->measured, nearest);
		for (int k = 0; k < MODELS; k++)
			vote(bank, &nearest[k], k == MODELS - 1,
				said(windows, k) + (size_t)i * classes);
	}
	memcpy(windows->asked, rows_of(windows, samples), (size_t)samples->n * dim * sizeof(float));
	windows->asked_n = samples->n;
}

static int answer(struct part *part, int model, const struct part_samples *samples,
	float *probabilities, struct err *err)
{
	struct windows *windows = mine(part);
	const size_t n = (size_t)samples->n;
	const size_t size = n * (size_t)windows->bank.dim * sizeof(float);

	(void)err;
	if (windows->asked_n != samples->n ||
		memcmp(windows->asked, rows_of(windows, samples), size) != 0)
		look(windows, samples);
	memcpy(probabilities, said(windows, model),
		n * (size_t)windows->bank.classes * sizeof(float));
	return 0;
}

static int learn(struct part *part, struct part_lesson *lesson, struct err *err)
{
	struct windows *windows = mine(part);
	struct bank *bank = &windows->bank;
	const struct part_samples *samples = &lesson->samples;
	const size_t dim = (size_t)bank->dim;

	(void)err;
	for (int i = 0; i < samples->n; i++) {
		const float *row = rows_of(windows, samples) + (size_t)i * dim;
		const int32_t label = samples->labels[i].class;
		const size_t place = (size_t)(bank->seen % bank->room);

		for (size_t j = 0; j < dim; j++)
			bank->rows[(place / BLOCK * dim + j) * BLOCK + place % BLOCK] = row[j];
		bank->labels[place] = label;
		shares_add(&bank->frequent, label, bank->seen++);
	}
	windows->asked_n = 0;
	return 0;
}

static double macs(const struct part *part)
{
	const struct bank *bank = &((const struct windows *)part)->bank;

	return (double)bank->room * bank->dim;
}

static size_t rows_size(const struct bank *bank)
{
	return (size_t)bank->room * (size_t)bank->dim * sizeof(float);
}

/* A copy is a bank with its arrays behind it, those of doubles first. */
static size_t copied(const struct part *part)
{
	const struct bank *bank = &((const struct windows *)part)->bank;

	return sizeof(*bank) + shares_size(&bank->frequent) + rows_size(bank) +
	       (size_t)bank->room * sizeof(*bank->labels);
}

static double bytes(const struct part *part)
{
	return (double)(sizeof(struct windows) + copied(part));
}

static void copy(const struct part *part, void *to)
{
	const struct bank *bank = &((const struct windows *)part)->bank;
	const size_t room = (size_t)bank->room;
	struct bank *made = to;

	*made = *bank;
	made->rows = shares_copy(&made->frequent, &bank->frequent, made + 1);
	made->labels = (int32_t *)(made->rows + room * (size_t)bank->dim);
	memcpy(made->rows, bank->rows, rows_size(bank));
	memcpy(made->labels, bank->labels, room * sizeof(*bank->labels));
}

static void answer_copy(const void *copy_of, int model, const struct part_questions *questions,
	float *probabilities)
{
	const struct bank *bank = copy_of;
	struct nearest nearest[MODELS];
	struct measured measured;
	const float *rows = bank->hidden ? questions->features : questions->inputs;

	for (int i = 0; i < questions->n; i++) {
		measure(bank, rows + (size_t)i * (size_t)bank->dim, &measured);
		find_nearest(bank, &measured, nearest);
		vote(bank, &nearest[model], model == MODELS - 1,
			probabilities + (size_t)i * (size_t)questions->classes);
	}
}

/* A window that was shorter stays so: its rows lie in a ring of that length. */
static size_t room_state(struct bank *bank, struct state *state)
{
	const int most = bank->room;

	if (state_version(state) >= 16)
		state_int(state, "room", &bank->room);
	else
		bank->room = bank->room_was;
	if (bank->room < SHORTEST || bank->room > most || bank->room % SHORTEST != 0) {
		state_refuse(state, ERR_FORMAT, "a window of %d rows", bank->room);
		bank->room = most;
	}
	return (size_t)bank->room;
}

static void state(struct part *part, struct state *state)
{
	struct windows *windows = mine(part);
	struct bank *bank = &windows->bank;
	size_t room;
	bool right = true;

	state_enter(state, windows->part.type->word);
	room = room_state(bank, state);
	state_int64(state, "seen", &bank->seen);
	state_input_floats(state, "rows", bank->rows,
		(struct state_inputs){room / BLOCK, (size_t)bank->dim, BLOCK, 0, STATE_BY_ROWS});
	state_int32s(state, "labels", bank->labels, room);
	shares_state(&bank->frequent, state);
	state_leave(state);
	windows->asked_n = 0;
	if (!state_reading(state) || state_failed(state))
		return;
	for (size_t i = 0; i < room; i++)
		right = right && bank->labels[i] >= 0 && bank->labels[i] < bank->classes;
	if (right && bank->seen >= 0)
		return;
	state_refuse(state, ERR_FORMAT, "windows of rows with labels that cannot be");
	memset(bank->labels, 0, room * sizeof(*bank->labels));
	bank->seen = 0;
}

const struct part_type part_windows = {
	.word = "windows",
	.names = (const char *const[]){"nearest-200", "nearest-1000", "nearest-all"},
	.models = MODELS,
	.make = make,
	.free = end,
	.answer = answer,
	.learn = learn,
	.macs = macs,
	.bytes = bytes,
	.state = state,
	.copied = copied,
	.copy = copy,
	.answer_copy = answer_copy,
};

const struct part_type part_near = {
	.word = "near",
	.names = (const char *const[]){"near-200", "near-1000", "near-all"},
	.models = MODELS,
	.make = make_near,
	.free = end,
	.answer = answer,
	.learn = learn,
	.macs = macs,
	.bytes = bytes,
	.state = state,
	.copied = copied,
	.copy = copy,
	.answer_copy = answer_copy,
};
