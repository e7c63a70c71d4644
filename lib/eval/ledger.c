/*
 * Counting passes and pricing them. Counts are whole numbers, so that the cost of
 * a run is the same however often it was stopped and resumed.
 */
#include "eval/ledger.h"

#include <stdbool.h>

static const struct {
	const char *name;
	bool learning; /* part of learning's cost */
} uses[LEDGER_USES] = {
	[LEDGER_TRAIN] = {"train", true},
	[LEDGER_VALIDATE] = {"validate", true},
	[LEDGER_STATISTICS] = {"statistics", true},
	[LEDGER_CHOOSE] = {"choose", true},
	[LEDGER_PREDICT] = {"predict", false},
	[LEDGER_EVALUATE] = {"evaluate", false},
};

const char *ledger_use_name(enum ledger_use use)
{
	return uses[use].name;
}

void ledger_forward(struct ledger *ledger, enum ledger_use use, int samples)
{
	ledger->forward[use]++;
	ledger->forward_samples[use] += samples;
}

void ledger_backward(struct ledger *ledger, int samples)
{
	ledger->backward++;
	ledger->backward_samples += samples;
}

struct ledger_prices ledger_macs(double macs, double parameters)
{
	return (struct ledger_prices){.forward = macs, .backward = 2 * macs, .update = parameters};
}

double ledger_cost(const struct ledger *ledger, const struct ledger_prices *prices)
{
	int64_t forward = 0;

	for (int use = 0; use < LEDGER_USES; use++)
		if (uses[use].learning)
			forward += ledger->forward_samples[use];
	return (double)forward * prices->forward +
	       (double)ledger->backward_samples * prices->backward +
	       (double)(ledger->updates + ledger->averages) * prices->update;
}

double ledger_sgd_equivalents(
	const struct ledger *ledger, const struct ledger_prices *prices, int batch)
{
	return ledger_cost(ledger, prices) /
	       (batch * (prices->forward + prices->backward) + prices->update);
}

void ledger_state(struct ledger *ledger, struct state *state)
{
	state_int64(state, "iterations", &ledger->iterations);
	state_int64s(state, "forward", ledger->forward, LEDGER_USES);
	state_int64s(state, "forward_samples", ledger->forward_samples, LEDGER_USES);
	state_int64(state, "backward", &ledger->backward);
	state_int64(state, "backward_samples", &ledger->backward_samples);
	state_int64(state, "updates", &ledger->updates);
	state_int64(state, "averages", &ledger->averages);
}
