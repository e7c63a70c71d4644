/*
 * Nearest neighbours: the mean of what the nearest of the newest rows taught, twice. By inputs
 * only, of their distances to the centre; by inputs and lags, of their changes. The nearest count
 * most: exp(-2 d / d_last), d being squared distances; and half a row of 0.
 */
#ifndef RETAIN_LEARN_NUMBERS_BANK_H
#define RETAIN_LEARN_NUMBERS_BANK_H

#include "base/err.h"
#include "learn/numbers/rows.h"
#include "nn/ops.h"

enum { BANK_LEVEL, BANK_CHANGE, BANK_MODELS };
enum { BANK_ROOM = 2048, BANK_NEAREST = 10 };

/*
 * Rows lie in blocks of OPS_BLOCK, number by number, but for binary columns, such as of a category:
 * most of these are 0 in a row x, and to its distance from row r they add
 *
 *	sum r^2 + sum over x other than 0: x^2 - 2 x r
 */
struct bank {
	const struct ops *ops;
	size_t most;          /* inputs and targets by value, at most */
	size_t dense, binary; /* in use */
	uint16_t *column;     /* [most]: the dense ones, then the binary ones */
	int64_t room, seen;
	float *lags, *inputs;    /* [blocks][LAGS][OPS_BLOCK], [blocks][dense][OPS_BLOCK] */
	float *ones, *ones_sums; /* [binary][room], behind the inputs; [room]: sums of r^2 */
	float *target[BANK_MODELS];
};

int bank_init(struct bank *bank, size_t inputs, const struct ops *ops, struct err *err);
void bank_release(struct bank *bank);

void bank_ask(const struct bank *bank, const float *row, float answers[BANK_MODELS]);
void bank_add(struct bank *bank, const float *row, const float target[ROWS_TARGETS]);

/* From kept rows, of which `width` numbers behind the lags and the 1 are in use. */
void bank_fill(
	struct bank *bank, const struct rows *rows, size_t width, const struct values *values);

void bank_copy(struct bank *to, const struct bank *from);
double bank_bytes(const struct bank *bank);

#endif
