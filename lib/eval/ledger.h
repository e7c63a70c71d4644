/*
 * The ledger counts what a run spends, so that methods are compared at equal cost. It counts
 * passes: a batch forward, a batch backward, a sweep over the parameters; and their samples,
 * since batches differ in size.
 */
#ifndef RETAIN_EVAL_LEDGER_H
#define RETAIN_EVAL_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/state.h"

/* The purpose of a pass. Predicting and evaluating are not a cost of learning. */
enum ledger_use {
	LEDGER_TRAIN,
	LEDGER_VALIDATE,
	LEDGER_STATISTICS, /* batch-norm statistics of averages */
	LEDGER_CHOOSE,     /* which samples to train on: MIR's virtual step and candidates */
	LEDGER_PREDICT,
	LEDGER_EVALUATE,
	LEDGER_FAST, /* fast weights: their steps, and the slow net's record */
	LEDGER_USES,
};

/* Zeroed: empty. The owner adds to iterations, updates, averages and macs itself. */
struct ledger {
	int64_t iterations;
	int64_t forward[LEDGER_USES], forward_samples[LEDGER_USES];
	int64_t backward, backward_samples;
	int64_t updates;  /* of the parameters */
	int64_t averages; /* updates of averages, one for each average that moved */
	int64_t macs;     /* multiply-adds of learning that are not a pass of the net */
};

/* "train", "validate", "statistics", "choose", "predict", "evaluate", "fast" */
const char *ledger_use_name(enum ledger_use use);

void ledger_forward(struct ledger *ledger, enum ledger_use use, int samples);
void ledger_backward(struct ledger *ledger, int samples);

/*
 * The cost of a sample forward (c_F) and backward (c_G), and of a sweep (c_U), all in the same
 * unit. Frozen layers have neither gradient nor sweep; `frozen` is what they would cost
 * otherwise, which plain SGD on the whole net pays.
 */
struct ledger_prices {
	double forward, backward, update;
	double mac; /* a multiply-add */
	struct {
		double backward, update;
	} frozen;
};

/* A net: multiply-adds of a sample forward, parameters, and the trained part of both. */
struct ledger_net {
	double macs, parameters;
	double trained_macs, trained_parameters;
};

/* In multiply-adds: forward macs, backward twice the trained ones, an update one per parameter. */
struct ledger_prices ledger_macs(const struct ledger_net *net);

/* An iteration of plain SGD with this batch that trains every layer. */
double ledger_sgd(const struct ledger_prices *prices, int batch);

/* The cost of learning so far, in the unit of the prices. */
double ledger_cost(const struct ledger *ledger, const struct ledger_prices *prices);

/* The same in iterations of plain SGD (ledger_sgd), which cost 1.0 each by definition. */
double ledger_sgd_equivalents(
	const struct ledger *ledger, const struct ledger_prices *prices, int batch);

/* Adds what another has; false, and nothing is added, if a count would exceed 2^60. */
bool ledger_add(struct ledger *ledger, const struct ledger *more);

void ledger_state(struct ledger *ledger, struct state *state);

#endif
