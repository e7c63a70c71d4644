/*
 * Nearest neighbours among the newest rows, two models: by inputs, averaging targets' distances to
 * the centre; by inputs and lags, averaging their changes. A neighbour at squared distance d
 * counts exp(-2 d / d_last), and half a row of 0 shrinks the mean.
 */
#ifndef RETAIN_LEARN_NUMBERS_BANK_H
#define RETAIN_LEARN_NUMBERS_BANK_H

#include "base/err.h"
#include "learn/numbers/rows.h"
#include "nn/ops.h"

enum { BANK_LEVEL, BANK_CHANGE, BANK_MODELS };
enum { BANK_ROOM = 2048, BANK_NEAREST = 10 };

/*
 * Rows are stored in blocks of OPS_BLOCK, column by column. Binary columns, such as those of a
 * category, are apart: most are 0 in a row x, and they add to its distance from row r
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

/* Nearest neighbours by inputs, the nearest first. */
struct bank_nearest {
	int count;
	float limit; /* no row that is further away counts */
	float distance[BANK_NEAREST];
	int place[BANK_NEAREST];
};

/* The nearest by inputs are filled in, too. */
void bank_ask(const struct bank *bank, const float *row, float answers[BANK_MODELS],
	struct bank_nearest *nearest);

/* The number of the row at a place. */
static inline int64_t bank_row(const struct bank *bank, int place)
{
	return bank->seen - 1 - (bank->seen - 1 - place) % bank->room;
}

void bank_add(struct bank *bank, const float *row, const float target[ROWS_TARGETS]);

/* Refills the bank from kept rows, which use `width` numbers behind the lags and the 1. */
void bank_fill(
	struct bank *bank, const struct rows *rows, size_t width, const struct values *values);

void bank_copy(struct bank *to, const struct bank *from);
double bank_bytes(const struct bank *bank);

#endif
