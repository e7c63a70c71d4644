#include "learn/numbers/band.h"

#include <math.h>

#include "base/portable_math.h"
#include "learn/numbers/level.h"

static const double STEP = 0.05, RATE = 0.03, JUMP = 30, MOST = 20, LEAST = 1e-6;
static const double LATE = 12; /* rows; the later misses are known, the smaller steps are */

/* At first as if the distances of targets to answers had the density exp(-d / b) / b. */
void band_init(struct band *band, double coverage)
{
	const double half = -portable_log(fmax(1 - coverage, LEAST)); /* in b */

	*band = (struct band){.coverage = coverage, .factor = portable_log(fmax(half, LEAST))};
}

double band_half(const struct band *band)
{
	return band->error * portable_exp(band->factor);
}

void band_learn(struct band *band, double error, double half, int late)
{
	const double size = fabs(error);

	/* The first answer was given without anything to go by. */
	if (!band->seen++)
		return;
	band->factor += STEP * LATE / (LATE + late) * ((size > half) - (1 - band->coverage));
	band->factor = within(band->factor, -MOST, MOST);
	if (band->error <= 0) {
		band->error = size;
		band->seen = 2;
	}
	band->error +=
		fmax(RATE, 1 / (double)band->seen) * (fmin(size, JUMP * band->error) - band->error);
}

void band_state(struct band *band, struct state *state)
{
	state_enter(state, "band");
	state_int64(state, "seen", &band->seen);
	state_double(state, "error", &band->error);
	state_double(state, "factor", &band->factor);
	state_leave(state);
	if (!state_reading(state) || (!state_failed(state) && band->seen >= 0 && band->error >= 0 &&
					     band->error < 1e100 && fabs(band->factor) <= MOST))
		return;
	state_refuse(state, ERR_FORMAT, "an interval that cannot be");
	band_init(band, band->coverage);
}
