/*
 * How much time has passed since the newest target that is known. The clock is an input that never
 * falls and does not rise evenly: days since 1970, seconds, a counter. Inputs are tried one after
 * the other, SINCE_TRIED rows each, until one is found; where rows come evenly there is none, since
 * time tells nothing then.
 *
 * The clock takes a place among targets by value. Of a row it has, e being what has passed in units
 * of what usually passes,
 *
 *	e - 1 up to 16,  sqrt(e) - 1
 *
 * and 0 where that is unknown.
 */
#ifndef RETAIN_LEARN_NUMBERS_SINCE_H
#define RETAIN_LEARN_NUMBERS_SINCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/state.h"
#include "learn/numbers/values.h"

enum { SINCE_TRIED = 256 };

struct since {
	int column;               /* the clock, or what is tried */
	int rows;                 /* that it was tried for, up to SINCE_TRIED, */
	int rose, uneven;         /* ... in which it rose, not as it usually does */
	int place;                /* of the clock; -1: there is none */
	double fell;              /* share of rows, decayed */
	double gap, passed;       /* what usually is between rows, since the newest known target */
	double newest;            /* NAN: unknown */
	double time[SINCE_TRIED]; /* of row i at i % SINCE_TRIED */
};

void since_init(struct since *since);

/* The clock's numbers in a row that was asked about when so many targets were known. */
void since_fill(const struct since *since, const float *raw, size_t columns, int64_t known,
	float row[VALUES_EACH]);

/* Row `at`, whose target became known; raw may be NULL. Takes a place, or leaves it. */
void since_learn(struct since *since, struct values *values, const float *raw, size_t columns,
	int64_t at, int64_t known, struct values_change *change);

/* Behind that of the values; rows have so many inputs. */
void since_state(
	struct since *since, const struct values *values, size_t columns, struct state *state);

#endif
