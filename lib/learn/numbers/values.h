/*
 * What targets were when a column of the input had the value it has now: statistics of columns that
 * have few values, such as the hour of a day. A column qualifies once it has had VALUES_FEWEST
 * different values, and has places in rows then: the mean distance of targets to their centre, and
 * of their changes to the usual one, both decayed with every visit and shrunk. A column that has
 * had more than VALUES_MOST values is left out for good, and its places are free.
 *
 * Columns are recognised by unscaled inputs, whose values do not drift.
 */
#ifndef RETAIN_LEARN_NUMBERS_VALUES_H
#define RETAIN_LEARN_NUMBERS_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"

enum {
	VALUES_FEWEST = 4,
	VALUES_MOST = 64,
	VALUES_PLACES = 16,   /* columns that have places at a time */
	VALUES_COLUMNS = 256, /* the first ones, of an input that has more */
	VALUES_EACH = 2,      /* numbers of a place */
	VALUES_CLOCK = -2     /* whose place it may be besides (learn/numbers/since.h) */
};

struct values_column {
	int32_t count, place;     /* count: -1: too many; place: -1: none */
	float value[VALUES_MOST]; /* rising */
	double visits[VALUES_MOST], level[VALUES_MOST], change[VALUES_MOST];
};

struct values {
	int columns, used; /* used: places, in rows; some may be free */
	int64_t seen;
	struct values_column *column; /* [columns] */
	int32_t place[VALUES_PLACES]; /* whose; -1: free, or VALUES_CLOCK */
	bool binary[VALUES_COLUMNS];  /* columns that have had no values but 0 and 1 */
};

/* Places whose meaning changed, as bits; whether columns are binary now or no longer. */
struct values_change {
	unsigned taken, left;
	bool binary;
};

int values_init(struct values *values, size_t floats, struct err *err);
void values_release(struct values *values);

/* The numbers of all places in use, in scales of the target. */
void values_fill(const struct values *values, const float *raw, double scale, float *row);

static inline bool values_binary(const struct values *values, size_t column)
{
	return column < VALUES_COLUMNS && values->binary[column];
}

/* level, change: of the target, from its centre and from the usual change. */
struct values_change values_learn(
	struct values *values, const float *raw, double level, double change);

/* Takes the first free place for a column, or for the clock; -1: there is none. */
int values_take(struct values *values, int32_t whose, struct values_change *change);

/* Columns that were carried over from elsewhere: finds out again which are binary. */
void values_sort_out(struct values *values);
void values_copy(struct values *to, const struct values *from);
void values_state(struct values *values, struct state *state);

#endif
