/*
 * One answer of many. Errors are measured in b, their running mean, and limited, so that no error
 * counts for more than a few. There are three layers:
 *
 * - records, of three memories: a part's record is how much less than the answer it was wrong,
 *   decayed. The answer is the mean by the softmax of records, of what parts say near the weighted
 *   median: no part takes it far away.
 * - a stack: least squares of targets by what parts say, as distances to the third record's
 *   answer, with a ridge towards that answer.
 * - the top: these four, the last value and the mean, again by records. The last value is preferred
 *   among equals, so that the answer is hardly ever behind it or the mean.
 *
 * Errors of rows that wait for their targets together may be one error seen many times, as those of
 * a walk are, or have nothing in common, as those of noise. The correlation of errors with the one
 * before tells: the more they are alike, the less each counts, and the more the last value is
 * preferred, since there is less to judge the others by.
 *
 * Of a target that comes late it is known what was answered, and what the last value and the mean
 * were then; what other parts said is found by models that have learned more since. So these look
 * better than they were, by as much as the answer does: the excess, which counts as their error.
 */
#ifndef RETAIN_LEARN_NUMBERS_BLEND_H
#define RETAIN_LEARN_NUMBERS_BLEND_H

#include <stdint.h>

#include "base/state.h"

enum {
	BLEND_PARTS = 16, /* at most */
	BLEND_LAST = 0,   /* the part that says the last value */
	BLEND_MEAN = 1,   /* the part that says the mean */
	BLEND_RECORDS = 3,
	BLEND_REFERENCE = 2, /* the record that the stack is relative to */
	BLEND_TOPS = BLEND_RECORDS + 3
};

struct blend_stack {
	double squares[BLEND_PARTS][BLEND_PARTS]; /* the upper half */
	double products[BLEND_PARTS];
	double weights[BLEND_PARTS]; /* follow from these */
};

struct blend {
	int parts;
	int64_t seen;
	double error;  /* b */
	double excess; /* running mean, of parts that are neither the last value nor the mean */
	double square, product, before; /* of errors in b: running means; the newest */
	double wait;                    /* how many rows count as one */
	double record[BLEND_RECORDS][BLEND_PARTS], top[BLEND_TOPS];
	struct blend_stack stack;
	/* The softmax of records. */
	double share[BLEND_RECORDS][BLEND_PARTS], top_share[BLEND_TOPS];
};

/* What was said of a sample, by whom, and the b of that time. */
struct blend_said {
	double part[BLEND_PARTS], top[BLEND_TOPS];
	double answer, error;
};

void blend_init(struct blend *blend, int parts);

/* Fills in the rest of what parts said: finite numbers. */
void blend_ask(const struct blend *blend, struct blend_said *said);

/* share: by how much to learn, up to 1; least: of b. */
void blend_learn(struct blend *blend, const struct blend_said *said, double target, double share,
	double least);

/*
 * Before blend_learn, of a target `late` rows late and what was answered then: how many rows this
 * one counts as one of.
 */
double blend_wait(struct blend *blend, double target, double answer, int late);

/* Before blend_learn, of a late target: what was answered then, in place of said->answer. */
void blend_excuse(struct blend *blend, const struct blend_said *said, double target, double answer);

/* Roughly how much each part counts in answers now; sums to 1. */
void blend_weights(const struct blend *blend, double weights[BLEND_PARTS]);

/* A part begins anew: others come first until it has shown better. */
void blend_begin(struct blend *blend, int part);

void blend_state(struct blend *blend, struct state *state);

#endif
