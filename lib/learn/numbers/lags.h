/*
 * Lags: what past targets say about the next one. History is in the order of reveals, and a row
 * sees only what was revealed before its step. Each row has LAGS of them, in units of the level's
 * scale:
 *
 *	y1 - centre, y2 - y1, y3 - y2, quick mean - y1,
 *	and for both seasons L:  y(t-L) - y1,  y(t-L) - y(now-1-L)
 *
 * Seasons are the candidates from a list whose targets differ least from those a season earlier.
 */
#ifndef RETAIN_LEARN_NUMBERS_LAGS_H
#define RETAIN_LEARN_NUMBERS_LAGS_H

#include <stdint.h>

#include "base/err.h"
#include "base/state.h"
#include "learn/numbers/level.h"

enum {
	SEASONS = 2,
	LAGS = 4 + 2 * SEASONS,
	LAGS_HISTORY = 1 << 15, /* targets that are kept */
	LAGS_COPIED = 4096,     /* ... in copies */
	LAGS_CANDIDATES = 24,
	LAGS_MEDIAN = 25
};

struct lags {
	int64_t seen;
	double *history;               /* [LAGS_HISTORY]; target i is at i % LAGS_HISTORY */
	int season[SEASONS];           /* 0: none yet */
	double apart[LAGS_CANDIDATES]; /* running mean of |y(t) - y(t-L)| */
	double median;                 /* of the newest LAGS_MEDIAN */
};

/* The moment a row was asked about: its number, and the count of known targets. */
struct lags_moment {
	int64_t at, known;
	double base, scale;
};

int lags_init(struct lags *lags, struct err *err);
void lags_release(struct lags *lags);

/* Target i, one of the newest LAGS_COPIED. */
double lags_target(const struct lags *lags, int64_t i);

/* base: the newest known target; 0 before the first. */
struct lags_moment lags_moment_of(
	const struct lags *lags, const struct level *level, int64_t at, int64_t known);
/* The median of the newest LAGS_MEDIAN of the known targets. */
double lags_median(const struct lags *lags, int64_t known);

void lags_fill(const struct lags *lags, const struct level *level, const struct lags_moment *moment,
	float row[LAGS]);
/* Seasonal lags only, for any row whose history is kept. */
void lags_fill_seasons(
	const struct lags *lags, const struct lags_moment *moment, float row[2 * SEASONS]);

void lags_add(struct lags *lags, double target);
/* Looks for better seasons; to be called from time to time. Returns a bit mask of those changed. */
unsigned lags_choose(struct lags *lags);

void lags_copy(struct lags *to, const struct lags *from);
void lags_state(struct lags *lags, struct state *state);

#endif
