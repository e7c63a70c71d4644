/*
 * The compute ledger: what a run spent, in passes, so that methods are compared
 * at equal cost. A pass is one batch going forward, one batch going backward, or
 * one sweep over the parameters; samples are counted too, since batches differ.
 */
#ifndef RETAIN_EVAL_LEDGER_H
#define RETAIN_EVAL_LEDGER_H

#include <stdint.h>

#include "base/state.h"

/* What the work was for. Predicting and evaluating are not part of learning's cost. */
enum ledger_use {
	LEDGER_TRAIN,
	LEDGER_VALIDATE,
	LEDGER_STATISTICS, /* batch-norm statistics of averages */
	LEDGER_CHOOSE,     /* which samples to train on: MIR's virtual step and candidates */
	LEDGER_PREDICT,
	LEDGER_EVALUATE,
	LEDGER_USES,
};

/* A zeroed one is empty. Who makes an iteration, an update or an average's update counts it. */
struct ledger {
	int64_t iterations;
	int64_t forward[LEDGER_USES], forward_samples[LEDGER_USES];
	int64_t backward, backward_samples;
	int64_t updates;  /* of the parameters */
	int64_t averages; /* updates of an average: one for each average that moved */
};

/* "train", "validate", "statistics", "choose", "predict", "evaluate" */
const char *ledger_use_name(enum ledger_use use);

void ledger_forward(struct ledger *ledger, enum ledger_use use, int samples);
void ledger_backward(struct ledger *ledger, int samples);

/* How much one pass costs: c_F and c_G per sample, c_U per sweep, in any one unit. */
struct ledger_prices {
	double forward, backward, update;
};

/* Multiply-adds: forward macs, backward twice that, an update as many as there are parameters. */
struct ledger_prices ledger_macs(double macs, double parameters);

/* What learning has cost so far, in the unit of the prices: all but predicting and evaluating. */
double ledger_cost(const struct ledger *ledger, const struct ledger_prices *prices);

/* The same in iterations of plain SGD with this batch: 1.0 per iteration for SGD at a constant
 * rate. */
double ledger_sgd_equivalents(
	const struct ledger *ledger, const struct ledger_prices *prices, int batch);

void ledger_state(struct ledger *ledger, struct state *state);

#endif
