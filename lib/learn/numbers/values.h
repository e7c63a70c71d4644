/*
 * Target statistics by value, for columns with few distinct values, such as the hour of a day. A
 * column qualifies once it has had VALUES_FEWEST values. Rows then have, for its current value,
 * the mean distance of targets to their centre and of their changes to the usual change, both
 * decayed with every visit and shrunk. A column with more than VALUES_MOST values is dropped for
 * good, which frees its places.
 *
 * Values are matched in unscaled inputs, which do not drift.
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
	VALUES_COLUMNS = 256, /* only the first ones of an input are considered */
	VALUES_EACH = 2,      /* numbers of a place */
	VALUES_CLOCK = -2     /* the owner of a place that is no column (learn/numbers/since.h) */
};

struct values_column {
	int32_t count, place;     /* count -1: too many; place -1: none */
	float value[VALUES_MOST]; /* ascending */
	double visits[VALUES_MOST], level[VALUES_MOST], change[VALUES_MOST];
};

struct values {
	int columns, used; /* used: places, in rows; some may be free */
	int64_t seen;
	struct values_column *column; /* [columns] */
	int32_t place[VALUES_PLACES]; /* the column it belongs to, or VALUES_CLOCK; -1: free */
	bool binary[VALUES_COLUMNS];  /* columns that have had no values but 0 and 1 */
};

/*
 * Bit masks of places that were taken and freed; whether some column became binary or ceased to
 * be.
 */
struct values_change {
	unsigned taken, left;
	bool binary;
};

int values_init(struct values *values, size_t floats, struct err *err);
void values_release(struct values *values);

/* Fills in the numbers of all places in use, in units of the target's scale. */
void values_fill(const struct values *values, const float *raw, double scale, float *row);

static inline bool values_binary(const struct values *values, size_t column)
{
	return column < VALUES_COLUMNS && values->binary[column];
}

/* Decayed count of rows in which the column had this value; infinite if it has too many values. */
double values_visits(const struct values *values, int column, float value);

/* level, change: the target's distance to its centre, its change's to the usual change. */
struct values_change values_learn(
	struct values *values, const float *raw, double level, double change);

/* Takes the first free place for a column, or for the clock; -1: there is none. */
int values_take(struct values *values, int32_t whose, struct values_change *change);

/* Finds the binary columns again after columns were copied in. */
void values_sort_out(struct values *values);
void values_copy(struct values *to, const struct values *from);
void values_state(struct values *values, struct state *state);

#endif
