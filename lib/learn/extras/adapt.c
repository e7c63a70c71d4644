/* Counts are whole numbers, so that a part is judged the same however often it is interrupted. */
#include "learn/extras/adapt.h"

#include <math.h>

static const double MARGIN = 0.005;

void adapt_fresh_hits(struct adapt *adapt, int64_t samples, int64_t hits)
{
	adapt->fresh += samples;
	adapt->fresh_hits += hits;
}

void adapt_replay_hit(struct adapt *adapt, int hit)
{
	adapt->replayed++;
	adapt->replayed_hits += hit;
}

static double share(int64_t hits, int64_t count)
{
	return count ? (double)hits / (double)count : NAN;
}

double adapt_fresh(const struct adapt *adapt)
{
	return share(adapt->fresh_hits, adapt->fresh);
}

double adapt_replayed(const struct adapt *adapt)
{
	return share(adapt->replayed_hits, adapt->replayed);
}

void adapt_part(struct adapt *adapt, int64_t seen)
{
	const double lead = adapt_replayed(adapt) - adapt_fresh(adapt);

	/* Without samples on one side the lead is NAN, and nothing moves. A reach beyond what was
	 * seen waits for the stream. */
	if (lead > MARGIN && adapt->reach < seen)
		adapt->reach = adapt->reach < seen / 2 ? 2 * adapt->reach : seen;
	else if (lead < -MARGIN)
		adapt->reach /= 2;
	if (adapt->reach < adapt->least)
		adapt->reach = adapt->least;
	adapt->fresh = adapt->fresh_hits = adapt->replayed = adapt->replayed_hits = 0;
}

int64_t adapt_history(const struct adapt *adapt, int64_t seen)
{
	return adapt->reach < seen ? adapt->reach : 0;
}

void adapt_state(struct adapt *adapt, struct state *state)
{
	state_enter(state, "adapt");
	state_int64(state, "reach", &adapt->reach);
	state_int64(state, "fresh", &adapt->fresh);
	state_int64(state, "fresh_hits", &adapt->fresh_hits);
	state_int64(state, "replayed", &adapt->replayed);
	state_int64(state, "replayed_hits", &adapt->replayed_hits);
	if (!state_failed(state) && adapt->reach < 1) {
		state_refuse(state, ERR_FORMAT, "replay reaches back %lld samples",
			(long long)adapt->reach);
		adapt->reach = adapt->least;
	}
	state_leave(state);
}
