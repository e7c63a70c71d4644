/*
 * Counts passes and prices them. Counts are integers, so that the cost of a run is the same
 * however often it was stopped and resumed.
 */
#include "eval/ledger.h"

#include <stdbool.h>
#include <stddef.h>

#define COUNT_MOST (INT64_C(1) << 60)

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
	[LEDGER_FAST] = {"fast", true},
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

bool ledger_add(struct ledger *ledger, const struct ledger *more)
{
	enum { COUNTS = sizeof(*ledger) / sizeof(int64_t) };
	int64_t *all = (int64_t *)ledger; /* it is counts, one after the other */
	const int64_t *added = (const int64_t *)more;

	for (size_t i = 0; i < COUNTS; i++)
		if (added[i] > COUNT_MOST - all[i])
			return false;
	for (size_t i = 0; i < COUNTS; i++)
		all[i] += added[i];
	return true;
}

struct ledger_prices ledger_macs(const struct ledger_net *net)
{
	return (struct ledger_prices){.forward = net->macs,
		.backward = 2 * net->trained_macs,
		.update = net->trained_parameters,
		.mac = 1,
		.frozen = {2 * (net->macs - net->trained_macs),
			net->parameters - net->trained_parameters}};
}

double ledger_sgd(const struct ledger_prices *prices, int batch)
{
	return batch * (prices->forward + prices->backward + prices->frozen.backward) +
	       prices->update + prices->frozen.update;
}

double ledger_cost(const struct ledger *ledger, const struct ledger_prices *prices)
{
	double forward = 0; /* exact for all counts that there can be, and no overflow for others */

	for (int use = 0; use < LEDGER_USES; use++)
		if (uses[use].learning)
			forward += (double)ledger->forward_samples[use];
	return forward * prices->forward + (double)ledger->backward_samples * prices->backward +
	       ((double)ledger->updates + (double)ledger->averages) * prices->update +
	       (double)ledger->macs * prices->mac;
}

double ledger_sgd_equivalents(
	const struct ledger *ledger, const struct ledger_prices *prices, int batch)
{
	return ledger_cost(ledger, prices) / ledger_sgd(prices, batch);
}

/* Counts must have room to go on. */
static void check_counts(const struct ledger *ledger, struct state *state)
{
	const int64_t counts[] = {ledger->iterations, ledger->backward, ledger->backward_samples,
		ledger->updates, ledger->averages, ledger->macs};
	bool right = !state_failed(state);

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]) && right; i++)
		right = counts[i] >= 0 && counts[i] <= COUNT_MOST;
	for (int use = 0; use < LEDGER_USES && right; use++)
		right = ledger->forward[use] >= 0 && ledger->forward[use] <= COUNT_MOST &&
			ledger->forward_samples[use] >= 0 &&
			ledger->forward_samples[use] <= COUNT_MOST;
	if (!right)
		state_refuse(state, ERR_FORMAT, "a ledger with counts that cannot be");
}

void ledger_state(struct ledger *ledger, struct state *state)
{
	const size_t count = state_version(state) < 3 ? LEDGER_FAST : LEDGER_USES;

	state_int64(state, "iterations", &ledger->iterations);
	state_int64s(state, "forward", ledger->forward, count);
	state_int64s(state, "forward_samples", ledger->forward_samples, count);
	state_int64(state, "backward", &ledger->backward);
	state_int64(state, "backward_samples", &ledger->backward_samples);
	state_int64(state, "updates", &ledger->updates);
	state_int64(state, "averages", &ledger->averages);
	if (state_version(state) >= 4)
		state_int64(state, "macs", &ledger->macs);
	if (state_reading(state))
		check_counts(ledger, state);
}
