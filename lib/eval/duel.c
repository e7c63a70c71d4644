#include "eval/duel.h"

#include <math.h>

/* The largest bet leaves at least half of the fortune. */
static const double BET_MOST = 0.5;

/* The share that would have grown most on earlier pairs, by their mean and variance. */
static double bet(const struct duel *duel, double margin)
{
	const double n = (double)duel->pairs + 1;
	const double gain = duel->sum / n - margin;
	const double spread = (duel->squares + 0.25) / n - (duel->sum / n) * (duel->sum / n);
	const double most = BET_MOST / (1 + margin), best = gain / (spread + gain * gain);

	return !(gain > 0) ? 0 : fmin(best, most);
}

void duel_add(struct duel *duel, double difference, double margin)
{
	duel->fortune += log1p(bet(duel, margin) * (difference - margin));
	duel->most = fmax(duel->most, duel->fortune);
	duel->sum += difference;
	duel->squares += difference * difference;
	duel->pairs++;
}

double duel_mean(const struct duel *duel)
{
	return duel->pairs ? duel->sum / (double)duel->pairs : NAN;
}

double duel_p(const struct duel *duel)
{
	return exp(-duel->most);
}

void duel_state(struct duel *duel, struct state *state)
{
	state_int64(state, "pairs", &duel->pairs);
	state_double(state, "sum", &duel->sum);
	state_double(state, "squares", &duel->squares);
	state_double(state, "fortune", &duel->fortune);
	state_double(state, "most", &duel->most);
}
