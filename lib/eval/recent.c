/* A ring of correct predictions. Invariant: `right` is the number of ones in its filled part. */
#include "eval/recent.h"

#include <inttypes.h>
#include <math.h>

static int filled(const struct recent *recent)
{
	return recent->seen < RECENT_SAMPLES ? (int)recent->seen : RECENT_SAMPLES;
}

void recent_add(struct recent *recent, bool right)
{
	uint8_t *slot = &recent->ring[recent->seen % RECENT_SAMPLES];

	if (recent->seen >= RECENT_SAMPLES)
		recent->right -= *slot;
	*slot = right;
	recent->right += right;
	recent->seen++;
}

double recent_accuracy(const struct recent *recent)
{
	return recent->seen ? (double)recent->right / filled(recent) : NAN;
}

void recent_state(struct recent *recent, struct state *state)
{
	state_enter(state, "recent");
	state_int64(state, "seen", &recent->seen);
	state_bytes(state, "ring", recent->ring, RECENT_SAMPLES);
	state_leave(state);
	if (state_failed(state) || !state_reading(state))
		return;
	if (recent->seen < 0) {
		state_refuse(state, ERR_FORMAT, "%" PRId64 " predictions", recent->seen);
		return;
	}
	recent->right = 0;
	for (int i = 0; i < filled(recent); i++)
		recent->right += recent->ring[i] &= 1;
}
