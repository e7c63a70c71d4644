/*
 * Rows as parts see them, and the newest of them kept with what they taught:
 *
 *	lags (LAGS), 1, inputs, targets by value (VALUES_EACH each place)
 *
 * so that models of lags, of inputs and of everything each see one contiguous stretch. Rows leave
 * out inputs of more than ROWS_INPUTS numbers, such as pictures.
 */
#ifndef RETAIN_LEARN_NUMBERS_ROWS_H
#define RETAIN_LEARN_NUMBERS_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"
#include "learn/numbers/lags.h"
#include "learn/numbers/values.h"

enum {
	ROWS_ONE = LAGS,
	ROWS_FIRST = LAGS + 1, /* of the inputs */
	ROWS_INPUTS = 512,
	ROWS_MOST = ROWS_FIRST + ROWS_INPUTS + VALUES_EACH * VALUES_PLACES,
	ROWS_PADDED = ROWS_MOST + 32, /* of a buffer for one */
	ROWS_KEPT = 20000
};

/* What a row teaches: the target's distance to its centre, to its base, to a linear forecast. */
enum rows_target { ROWS_LEVEL, ROWS_CHANGE, ROWS_REST, ROWS_TARGETS };

struct rows {
	size_t width;                /* of a kept row */
	int64_t room, seen;          /* row i is at i % room */
	float *number;               /* [width][room]: trees read few columns of many rows */
	float *target[ROWS_TARGETS]; /* [room] */
	double *base, *scale;        /* [room]: of its moment */
	int32_t *ahead;              /* [room]: rows of its step before it */
};

int rows_init(struct rows *rows, size_t width, struct err *err);
void rows_release(struct rows *rows);

/* A column of the kept rows. */
static inline float *rows_number(const struct rows *rows, size_t number)
{
	return rows->number + number * (size_t)rows->room;
}

static inline size_t rows_place(const struct rows *rows, int64_t id)
{
	return (size_t)(id % rows->room);
}

static inline int64_t rows_kept(const struct rows *rows)
{
	return rows->seen < rows->room ? rows->seen : rows->room;
}

/* The rows as of `seen`. */
static inline struct rows rows_until(const struct rows *rows, int64_t seen)
{
	struct rows until = *rows;

	until.seen = seen;
	return until;
}

void rows_add(struct rows *rows, const float *row, const float target[ROWS_TARGETS],
	const struct lags_moment *moment);

/* Recomputes seasonal lags after seasons changed. */
void rows_renew_seasons(struct rows *rows, const struct lags *lags);
/* Zeroes a column whose meaning has changed. */
void rows_clear(struct rows *rows, size_t number);

double rows_bytes(const struct rows *rows);
void rows_state(struct rows *rows, struct state *state);

#endif
