#include "learn/numbers/again.h"

#include <math.h>

#include "learn/numbers/gate.h"

static const double NEAR = 0.01;  /* of the usual distance */
static const double EQUAL = 1e-9; /* a distance of rounding */
static const double RATE = 0.01;

void again_init(struct again *again)
{
	*again = (struct again){0};
}

double again_near(const struct again *again)
{
	return fmax(NEAR * again->usual, EQUAL);
}

void again_ask(const struct again *again, double blended, struct again_said *said)
{
	said->answer = blended;
	if (said->repeats)
		said->answer += gate_open(again->record) * (said->value - blended);
}

void again_learn(struct again *again, const struct again_said *said, double target, double blended,
	double error, double share)
{
	if (isfinite(said->distance)) {
		const double rate = fmax(RATE, 1 / (double)++again->seen);

		again->usual += rate * (said->distance - again->usual);
	}
	if (said->repeats)
		gate_learn(&again->record, target, blended, said->value, error, share);
}

void again_state(struct again *again, struct state *state)
{
	if (state_reading(state))
		again_init(again);
	if (state_version(state) < 20)
		return;
	state_enter(state, "again");
	state_int64(state, "seen", &again->seen);
	state_double(state, "usual", &again->usual);
	state_double(state, "record", &again->record);
	state_leave(state);
	if (!state_reading(state) ||
		(!state_failed(state) && again->seen >= 0 && again->usual >= 0 &&
			again->usual < 1e30 && fabs(again->record) <= GATE_MOST))
		return;
	state_refuse(state, ERR_FORMAT, "rows that came again with records that cannot be");
	again_init(again);
}
