/*
 * Recursive least squares with forgetting: the best weights for the rows so far, where a row counts
 * `keep` times as much as the one after it. For a row x and a target y,
 *
 *	w <- w + Px e / (keep + x'Px),   P <- (P - Px (Px)' / (keep + x'Px)) / keep,   e = y - w'x.
 *
 * The error e is clipped to a few times its running mean, so that no row can carry the weights
 * away.
 *
 * Forgetting lets P grow without bound in directions that no row comes from, and single precision
 * lets it lose its symmetry; either ruins it. So every update is symmetric to the bit, and the
 * largest diagonal element is cut back to 1 along its own column. Beyond RLS_WHOLE numbers the
 * diagonal of P stands for it.
 */
#ifndef RETAIN_LEARN_NUMBERS_RLS_H
#define RETAIN_LEARN_NUMBERS_RLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/state.h"
#include "nn/ops.h"

enum { RLS_WHOLE = 160, RLS_LANES = 16 };

struct rls {
	const struct ops *ops;
	size_t room; /* numbers of a row, at most; a multiple of RLS_LANES */
	bool whole;  /* P is a matrix */
	float keep;
	float error;               /* running mean of |e| */
	float *weights;            /* [room] */
	float *spread;             /* P: [room][room], or its diagonal; NULL in a copy */
	float *gain, *step, *back; /* [room], while learning */
};

/* Rows are read up to a multiple of RLS_LANES numbers; those behind the last must be finite. */
static inline size_t rls_padded(size_t numbers)
{
	return (numbers + RLS_LANES - 1) / RLS_LANES * RLS_LANES;
}

/* copy: for answers only. */
int rls_init(struct rls *rls, size_t numbers, float keep, const struct ops *ops, bool copy,
	struct err *err);
void rls_release(struct rls *rls);
void rls_begin(struct rls *rls); /* forgets everything */

/* The first `numbers` of a row are in use: never fewer than before. */
float rls_ask(const struct rls *rls, const float *row, size_t numbers);
void rls_learn(struct rls *rls, const float *row, size_t numbers, float target);

/* Forgets a column of rows whose meaning has changed. */
void rls_renew(struct rls *rls, size_t number);

void rls_copy(struct rls *to, const struct rls *from);
double rls_macs(const struct rls *rls, size_t numbers);
double rls_bytes(const struct rls *rls);
void rls_state(struct rls *rls, struct state *state);

#endif
