/* Shared by the files of the mixture of numbers. */
#ifndef RETAIN_LEARN_NUMBERS_NUMBERS_IMPL_H
#define RETAIN_LEARN_NUMBERS_NUMBERS_IMPL_H

#include "learn/numbers/again.h"
#include "learn/numbers/band.h"
#include "learn/numbers/bank.h"
#include "learn/numbers/blend.h"
#include "learn/numbers/foretold.h"
#include "learn/numbers/gate.h"
#include "learn/numbers/grove.h"
#include "learn/numbers/lags.h"
#include "learn/numbers/level.h"
#include "learn/numbers/numbers.h"
#include "learn/numbers/rls.h"
#include "learn/numbers/rows.h"
#include "learn/numbers/since.h"
#include "learn/numbers/values.h"

enum { NUMBERS_LATE = 255 }; /* lateness is clipped to so many rows */

/* In checkpoint order. */
enum {
	LAST = BLEND_LAST,
	MEAN = BLEND_MEAN,
	MEDIAN,
	SLOW,
	NEAR_LEVEL,
	NEAR_CHANGE,
	TREES,                         /* the first of GROVE_MODELS */
	LINEAR = TREES + GROVE_MODELS, /* the first of LINEARS */
};

/* Least squares, each on a stretch of rows. */
enum { LINEARS = 6, LINEAR_FORECAST = 1 /* whose residuals trees learn */ };
extern const struct linear_kind {
	float keep;              /* 0: of as many rows as there are inputs */
	size_t first, numbers;   /* of the stretch; 0 numbers: all in use */
	enum rows_target target; /* ROWS_LEVEL or ROWS_CHANGE */
	bool hidden; /* also on the slow net's features; without any it answers the last value */
	int since;   /* version of checkpoints */
} linear_kinds[LINEARS];

/* Cached answers for a sample of the current step. */
struct numbers_said {
	struct blend_said blend;
	struct again_said again;
	struct foretold_said foretold;
	double answer;
	double linear; /* the forecast, from the base, in scales */
	float near[BANK_MODELS], trees[GROVE_MODELS];
	struct bank_nearest nearest;
	struct grove_leaves leaves;
};

struct numbers {
	struct numbers_config config;
	size_t inputs; /* floats of an input that rows have */
	struct level level;
	struct lags lags;
	struct values values;
	struct since since;
	struct rls linear[LINEARS];
	struct bank bank;
	struct grove grove;
	struct blend blend;
	struct again again;
	struct foretold foretold;
	struct band band;
	int late; /* rows that the newest target was late by */
	/* A copy has none of these. */
	struct rows rows;
	int room;         /* samples of a step */
	float *step_rows; /* [room][ROWS_PADDED] */
	struct numbers_said *said;
	int64_t taught; /* rows that least squares, neighbours and trees have learned */
	int asked;      /* samples whose row and answers of neighbours and trees are cached */
	float *hidden;  /* features, lags and a 1 */
};

/* Numbers of a row in use. */
static inline size_t numbers_used(const struct numbers *numbers)
{
	return ROWS_FIRST + numbers->inputs + VALUES_EACH * (size_t)numbers->values.used;
}

/* Inputs of a kind of least squares, for rows with `used` numbers in use. */
static inline size_t linear_numbers(const struct numbers *numbers, int kind, size_t used)
{
	const struct linear_kind *linear = &linear_kinds[kind];

	return (linear->hidden ? numbers->config.features : 0) +
	       (linear->numbers ? linear->numbers : used - linear->first);
}

static inline float *numbers_row(const struct numbers *numbers, int i)
{
	return numbers->step_rows + (size_t)i * ROWS_PADDED;
}

/* Refills the neighbours from the kept rows that were learned. */
void numbers_fill_bank(struct numbers *numbers);

/* When sample i of the step was asked about: `late` fewer targets were known than now. */
struct lags_moment numbers_moment(const struct numbers *numbers, int i, int late);

/*
 * Computes row and answer of sample i of a step that is about to be learned, reusing what is cached
 * if the row is the same.
 */
void numbers_look(struct numbers *numbers, const struct numbers_samples *samples, int i,
	const struct lags_moment *moment);

#endif
