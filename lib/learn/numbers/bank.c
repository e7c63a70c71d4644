/*
 * Invariant: the bank holds the newest of the kept rows, row i at i % room. So it has no state of
 * its own.
 */
#include "learn/numbers/bank.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/portable_math.h"

enum { WORK = 1 << 17, FEWEST = 256, BLOCKS = BANK_ROOM / OPS_BLOCK };

static const double PRIOR = 0.5;

struct measured {
	float rows[BANK_ROOM], least[BLOCKS];
};

struct nearest {
	int count;
	float distance[BANK_NEAREST];
	int place[BANK_NEAREST];
};

int bank_init(struct bank *bank, size_t most, const struct ops *ops, struct err *err)
{
	size_t room = BANK_ROOM;

	while (room > FEWEST && room * most > WORK)
		room /= 2;
	*bank = (struct bank){.ops = ops, .width = most, .most = most, .room = (int64_t)room};
	bank->lags = mem_new(room * LAGS, sizeof(float));
	bank->inputs = mem_new(room * most + 1, sizeof(float));
	bank->target[BANK_LEVEL] = mem_new(room, sizeof(float));
	bank->target[BANK_CHANGE] = mem_new(room, sizeof(float));
	if (bank->lags && bank->inputs && bank->target[BANK_LEVEL] && bank->target[BANK_CHANGE])
		return 0;
	return err_memory(err, "a bank of rows", room * most * sizeof(float));
}

void bank_release(struct bank *bank)
{
	mem_free(bank->lags);
	mem_free(bank->inputs);
	mem_free(bank->target[BANK_LEVEL]);
	mem_free(bank->target[BANK_CHANGE]);
}

static void try_row(struct nearest *nearest, float distance, int place)
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
}

/* As many blocks as rows are wanted have one this near or nearer: farther ones are not wanted. */
static float bound_of(const struct measured *measured, int count)
{
	const int whole = count / OPS_BLOCK; /* blocks */
	struct nearest blocks = {0};

	if (whole < BANK_NEAREST)
		return INFINITY;
	for (int b = 0; b < whole; b++)
		try_row(&blocks, measured->least[b], b);
	return blocks.distance[BANK_NEAREST - 1];
}

static float mean_of(const struct measured *measured, int count, const float *targets)
{
	const float bound = bound_of(measured, count);
	struct nearest nearest = {0};
	double sum = 0, weights = PRIOR;

	for (int from = 0; from < count; from += OPS_BLOCK) {
		const int to = from + OPS_BLOCK < count ? from + OPS_BLOCK : count;

		if (measured->least[from / OPS_BLOCK] > bound)
			continue;
		for (int i = from; i < to; i++)
			if (measured->rows[i] <= bound)
				try_row(&nearest, measured->rows[i], i);
	}
	for (int i = 0; i < nearest.count; i++) {
		const double share = (double)nearest.distance[i] /
				     ((double)nearest.distance[nearest.count - 1] + 1e-9);
		const double weight = portable_exp(-2 * share);

		sum += weight * (double)targets[nearest.place[i]];
		weights += weight;
	}
	return (float)(sum / weights);
}

/* Distances by inputs and by lags are sums of the two. */
static void join(struct measured *all, const struct measured *lags, int blocks)
{
	for (int b = 0; b < blocks; b++) {
		float *rows = all->rows + b * OPS_BLOCK, least = 3e38F;

		for (int i = 0; i < OPS_BLOCK; i++)
			rows[i] += lags->rows[b * OPS_BLOCK + i];
		for (int i = 0; i < OPS_BLOCK; i++)
			least = rows[i] < least ? rows[i] : least;
		all->least[b] = least;
	}
}

void bank_ask(const struct bank *bank, const float *row, float answers[BANK_MODELS])
{
	const int count = (int)(bank->seen < bank->room ? bank->seen : bank->room);
	const int blocks = (count + OPS_BLOCK - 1) / OPS_BLOCK;
	struct measured all, lags;

	bank->ops->distances(
		bank->inputs, row + ROWS_FIRST, bank->width, (size_t)blocks, all.rows, all.least);
	bank->ops->distances(bank->lags, row, LAGS, (size_t)blocks, lags.rows, lags.least);
	answers[BANK_LEVEL] = bank->width ? mean_of(&all, count, bank->target[BANK_LEVEL]) : 0;
	join(&all, &lags, blocks);
	answers[BANK_CHANGE] = mean_of(&all, count, bank->target[BANK_CHANGE]);
}

void bank_add(struct bank *bank, const float *row, const float target[ROWS_TARGETS])
{
	const size_t at = (size_t)(bank->seen++ % bank->room);
	const size_t block = at / OPS_BLOCK, place = at % OPS_BLOCK;
	float *inputs = bank->inputs + block * bank->width * OPS_BLOCK + place;
	float *lags = bank->lags + block * LAGS * OPS_BLOCK + place;

	for (size_t j = 0; j < bank->width; j++)
		inputs[j * OPS_BLOCK] = row[ROWS_FIRST + j];
	for (size_t j = 0; j < LAGS; j++)
		lags[j * OPS_BLOCK] = row[j];
	bank->target[BANK_LEVEL][at] = target[ROWS_LEVEL];
	bank->target[BANK_CHANGE][at] = target[ROWS_CHANGE];
}

void bank_fill(struct bank *bank, const struct rows *rows, size_t width)
{
	const int64_t count = rows_kept(rows) < bank->room ? rows_kept(rows) : bank->room;

	bank->width = width;
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
	const size_t room = (size_t)from->room;

	to->width = from->width;
	to->seen = from->seen;
	memcpy(to->lags, from->lags, room * LAGS * sizeof(float));
	memcpy(to->inputs, from->inputs, room * from->width * sizeof(float));
	for (int k = 0; k < BANK_MODELS; k++)
		memcpy(to->target[k], from->target[k], room * sizeof(float));
}

double bank_bytes(const struct bank *bank)
{
	return sizeof(float) * (double)bank->room * ((double)bank->most + LAGS + BANK_MODELS);
}
