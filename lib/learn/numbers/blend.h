/*
 * Blends the answers of many parts into one. Errors are measured in units of b, their running mean,
 * and clipped, so that no single error counts for more than a few. There are three layers:
 *
 * - records, with three memories: a part's record is the decayed sum of how much smaller its
 *   errors were than the answer's. Each record answers with the mean of the parts near the
 *   weighted median, weighted by a softmax of records: no part can pull it far away.
 * - a stack: ridge regression of targets on parts, as distances to the third record's answer and
 *   shrunk towards it.
 * - the top: these four, the last value and the mean, again weighted by records. Ties favour the
 *   last value, so the answer is hardly ever worse than it or the mean.
 *
 * Errors of rows that wait for their targets together may be one error seen many times (a random
 * walk) or unrelated (noise). The lag-1 correlation of errors tells: the more alike they are, the
 * less each counts, and the more the last value is favoured, since there is less evidence about
 * the others.
 *
 * When a target comes late, what was answered, the last value and the mean of that time are known;
 * the other parts are asked again, by models that have learned since. So they look better than
 * they were, by as much as the answer does: this excess is added to their errors.
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
	double wait;                    /* rows that count as one */
	double record[BLEND_RECORDS][BLEND_PARTS], top[BLEND_TOPS];
	struct blend_stack stack;
	/* The softmax of records. */
	double share[BLEND_RECORDS][BLEND_PARTS], top_share[BLEND_TOPS];
};

/* What each part said about a sample, and b at that time. */
struct blend_said {
	double part[BLEND_PARTS], top[BLEND_TOPS];
	double answer, error;
};

void blend_init(struct blend *blend, int parts);

/* Computes top and answer from said->part, which must be finite. */
void blend_ask(const struct blend *blend, struct blend_said *said);

/* share: the sample's weight, up to 1; least: a lower bound of b. */
void blend_learn(struct blend *blend, const struct blend_said *said, double target, double share,
	double least);

/*
 * Call before blend_learn for a target that is `late` rows late: returns the number of rows that
 * together count as one.
 */
double blend_wait(struct blend *blend, double target, double answer, int late);

/* Call before blend_learn for a late target: what is answered now, and what was then. */
void blend_excuse(struct blend *blend, double target, double now, double then);

/* Roughly how much each part counts in answers now; sums to 1. */
void blend_weights(const struct blend *blend, double weights[BLEND_PARTS]);

/* Resets a part's record to the lowest: it must earn its weight again. */
void blend_begin(struct blend *blend, int part);

void blend_state(struct blend *blend, struct state *state);

#endif
