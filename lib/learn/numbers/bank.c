/*
 * Invariant: the bank holds the newest of the kept rows, row i at i % room. So it has no state of
 * its own.
 */
#include "learn/numbers/bank.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/lanes.h"
#include "base/mem.h"
#include "base/portable_math.h"

enum { WORK = 1 << 17, FEWEST = 256, BLOCKS = BANK_ROOM / OPS_BLOCK };

static const double PRIOR = 0.5;

_Static_assert((int)LANES == (int)OPS_BLOCK && BLOCKS % LANES == 0, "rows and blocks by lanes");

struct measured {
	float rows[BANK_ROOM], least[BLOCKS];
};

int bank_init(struct bank *bank, size_t inputs, const struct ops *ops, struct err *err)
{
	const size_t most = inputs + VALUES_EACH * VALUES_PLACES;
	size_t room = BANK_ROOM;

	while (room > FEWEST && room * most > WORK)
		room /= 2;
	*bank = (struct bank){.ops = ops, .dense = inputs, .most = most, .room = (int64_t)room};
	bank->lags = mem_new(room * LAGS, sizeof(float));
	bank->inputs = mem_new(room * most, sizeof(float));
	bank->ones_sums = mem_new(room, sizeof(float));
	bank->column = mem_new(most, sizeof(*bank->column));
	bank->target[BANK_LEVEL] = mem_new(room, sizeof(float));
	bank->target[BANK_CHANGE] = mem_new(room, sizeof(float));
	if (!bank->lags || !bank->inputs || !bank->ones_sums || !bank->column ||
		!bank->target[BANK_LEVEL] || !bank->target[BANK_CHANGE])
		return err_memory(err, "a bank of rows", room * most * sizeof(float));
	for (size_t j = 0; j < most; j++)
		bank->column[j] = (uint16_t)j;
	return 0;
}

void bank_release(struct bank *bank)
{
	mem_free(bank->lags);
	mem_free(bank->inputs);
	mem_free(bank->ones_sums);
	mem_free(bank->column);
	mem_free(bank->target[BANK_LEVEL]);
	mem_free(bank->target[BANK_CHANGE]);
}

/* Equals stay behind those that came before. */
static void try_row(struct bank_nearest *nearest, float distance, int place)
{
	int at;

	if (nearest->count == BANK_NEAREST && !(distance < nearest->distance[BANK_NEAREST - 1]))
		return;
	at = nearest->count < BANK_NEAREST ? nearest->count++ : BANK_NEAREST - 1;
	for (; at > 0 && nearest->distance[at - 1] > distance; at--) {
		nearest->distance[at] = nearest->distance[at - 1];
		nearest->place[at] = nearest->place[at - 1];
	}
	nearest->distance[at] = distance;
	nearest->place[at] = place;
	if (nearest->count == BANK_NEAREST)
		nearest->limit = nearest->distance[BANK_NEAREST - 1];
}

/*
 * A distance that none of the nearest exceeds: of every LANES-th block the nearest row, and of these
 * as many as are wanted.
 */
static float bound_of(const struct measured *measured, int blocks)
{
	float sides[LANES], bound = 0;
	int nearer[LANES] = {0};

	memcpy(sides, measured->least, sizeof(sides));
	for (int group = LANES; group < blocks; group += LANES)
		for (int k = 0; k < LANES; k++) {
			const float least = measured->least[group + k];

			sides[k] = least < sides[k] ? least : sides[k];
		}
	for (int i = 0; i < LANES; i++)
		for (int k = 0; k < LANES; k++)
			nearer[k] += sides[i] < sides[k];
	for (int k = 0; k < LANES; k++)
		bound = nearer[k] < BANK_NEAREST && sides[k] > bound ? sides[k] : bound;
	return bound;
}

/* The lowest bit, which is taken away. */
static int take_first(unsigned *bits)
{
	const int first = __builtin_ctz(*bits);

	*bits &= *bits - 1;
	return first;
}

static void find_nearest(const struct measured *measured, int blocks, struct bank_nearest *nearest)
{
	nearest->limit = fminf(bound_of(measured, blocks), FLT_MAX);
	for (int group = 0; group < blocks; group += LANES) {
		unsigned near = lanes_at_most(measured->least + group, nearest->limit);

		while (near) {
			const int block = group + take_first(&near), from = block * OPS_BLOCK;
			unsigned rows = 0;

			if (measured->least[block] <= nearest->limit)
				rows = lanes_at_most(measured->rows + from, nearest->limit);
			while (rows) {
				const int row = from + take_first(&rows);

				try_row(nearest, measured->rows[row], row);
			}
		}
	}
}

static float mean_of(const struct measured *measured, int blocks, const float *targets,
	struct bank_nearest *found)
{
	struct bank_nearest nearest = {0};
	double weight[BANK_NEAREST], sum = 0, weights = PRIOR, last;

	find_nearest(measured, blocks, &nearest);
	*found = nearest;
	/* Rounding can take a distance below 0. */
	last = nearest.count ? fmax((double)nearest.distance[nearest.count - 1], 0) : 0;
	for (int i = 0; i < nearest.count; i++)
		weight[i] = -2 * (fmax((double)nearest.distance[i], 0) / (last + 1e-9));
	portable_exps(weight, nearest.count);
	for (int i = 0; i < nearest.count; i++) {
		sum += weight[i] * (double)targets[nearest.place[i]];
		weights += weight[i];
	}
	return (float)(sum / weights);
}

/* What is no row is far away. */
static void close_measured(struct measured *measured, int count, int blocks)
{
	float *last = measured->rows + (blocks - 1) * OPS_BLOCK, least = INFINITY;

	for (int i = count; i < blocks * OPS_BLOCK; i++)
		measured->rows[i] = INFINITY;
	for (int i = 0; i < OPS_BLOCK; i++)
		least = last[i] < least ? last[i] : least;
	measured->least[blocks - 1] = least;
	for (int b = blocks; b % LANES; b++)
		measured->least[b] = INFINITY;
}

/* What binary columns add to distances. */
static void measure_binary(const struct bank *bank, const float *row, size_t rows, float *distances)
{
	const struct ops *ops = bank->ops;
	float squares = 0;

	for (size_t k = 0; k < bank->binary; k++) {
		const float x = row[bank->column[bank->dense + k]];

		squares += x * x;
	}
	ops->row_combine(bank->ones_sums, bank->ones_sums, distances, rows, 1, 0, squares);
	for (size_t k = 0; k < bank->binary; k++) {
		const float x = row[bank->column[bank->dense + k]];

		if (x != 0)
			ops->row_combine(distances, bank->ones + k * (size_t)bank->room, distances,
				rows, 1, -2 * x, 0);
	}
}

void bank_ask(const struct bank *bank, const float *row, float answers[BANK_MODELS],
	struct bank_nearest *nearest)
{
	const int count = (int)(bank->seen < bank->room ? bank->seen : bank->room);
	const int blocks = (count + OPS_BLOCK - 1) / OPS_BLOCK;
	const float *inputs = row + ROWS_FIRST;
	struct bank_nearest by_lags;
	struct measured measured;
	float dense[ROWS_MOST];

	answers[BANK_LEVEL] = answers[BANK_CHANGE] = 0;
	nearest->count = 0;
	if (!count)
		return;
	for (size_t k = 0; k < bank->dense; k++)
		dense[k] = inputs[bank->column[k]];
	if (bank->binary)
		measure_binary(bank, inputs, (size_t)blocks * OPS_BLOCK, measured.rows);
	bank->ops->distances(bank->inputs, dense, bank->dense, (size_t)blocks, bank->binary > 0,
		measured.rows, measured.least);
	close_measured(&measured, count, blocks);
	if (bank->dense + bank->binary)
		answers[BANK_LEVEL] = mean_of(&measured, blocks, bank->target[BANK_LEVEL], nearest);
	/* By lags as well. */
	bank->ops->distances(
		bank->lags, row, LAGS, (size_t)blocks, true, measured.rows, measured.least);
	answers[BANK_CHANGE] = mean_of(&measured, blocks, bank->target[BANK_CHANGE], &by_lags);
}

void bank_add(struct bank *bank, const float *row, const float target[ROWS_TARGETS])
{
	const size_t at = (size_t)(bank->seen++ % bank->room);
	const size_t block = at / OPS_BLOCK, place = at % OPS_BLOCK;
	float *inputs = bank->inputs + block * bank->dense * OPS_BLOCK + place;
	float *lags = bank->lags + block * LAGS * OPS_BLOCK + place, sum = 0;

	for (size_t k = 0; k < bank->dense; k++)
		inputs[k * OPS_BLOCK] = row[ROWS_FIRST + bank->column[k]];
	for (size_t k = 0; k < bank->binary; k++) {
		const float x = row[ROWS_FIRST + bank->column[bank->dense + k]];

		bank->ones[k * (size_t)bank->room + at] = x;
		sum += x * x;
	}
	bank->ones_sums[at] = sum;
	for (size_t j = 0; j < LAGS; j++)
		lags[j * OPS_BLOCK] = row[j];
	bank->target[BANK_LEVEL][at] = target[ROWS_LEVEL];
	bank->target[BANK_CHANGE][at] = target[ROWS_CHANGE];
}

static void sort_columns(struct bank *bank, size_t width, const struct values *values)
{
	size_t count = 0;

	for (size_t j = 0; j < width; j++)
		if (!values_binary(values, j))
			bank->column[count++] = (uint16_t)j;
	bank->dense = count;
	for (size_t j = 0; j < width; j++)
		if (values_binary(values, j))
			bank->column[count++] = (uint16_t)j;
	bank->binary = count - bank->dense;
	bank->ones = bank->inputs + bank->dense * (size_t)bank->room;
}

void bank_fill(
	struct bank *bank, const struct rows *rows, size_t width, const struct values *values)
{
	const int64_t count = rows_kept(rows) < bank->room ? rows_kept(rows) : bank->room;

	sort_columns(bank, width, values);
	bank->seen = rows->seen - count;
	for (int64_t id = bank->seen; id < rows->seen; id++) {
		const size_t at = rows_place(rows, id);
		const float target[ROWS_TARGETS] = {[ROWS_LEVEL] = rows->target[ROWS_LEVEL][at],
			[ROWS_CHANGE] = rows->target[ROWS_CHANGE][at]};
		float row[ROWS_MOST];

		for (size_t j = 0; j < ROWS_FIRST + width; j++)
			row[j] = rows_number(rows, j)[at];
		bank_add(bank, row, target);
	}
}

void bank_copy(struct bank *to, const struct bank *from)
{
	const size_t room = (size_t)from->room, width = from->dense + from->binary;

	to->dense = from->dense;
	to->binary = from->binary;
	to->ones = to->inputs + to->dense * room;
	to->seen = from->seen;
	memcpy(to->column, from->column, width * sizeof(*to->column));
	memcpy(to->lags, from->lags, room * LAGS * sizeof(float));
	memcpy(to->inputs, from->inputs, room * width * sizeof(float));
	memcpy(to->ones_sums, from->ones_sums, room * sizeof(float));
	for (int k = 0; k < BANK_MODELS; k++)
		memcpy(to->target[k], from->target[k], room * sizeof(float));
}

double bank_bytes(const struct bank *bank)
{
	return sizeof(float) * (double)bank->room * ((double)bank->most + LAGS + BANK_MODELS + 1);
}
