/* Invariant: sorted has the same errors as newest. */
#include "learn/numbers/band.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/portable_math.h"
#include "learn/numbers/level.h"

static const double STEP = 0.04, RATE = 0.03, JUMP = 30, MOST = 20, LEAST = 1e-6;
/*
 * Every so many rows of lateness divide steps once more: the later misses are known, the smaller
 * the steps. Errors of rows that waited together are alike, so b and the window take fewer of
 * them.
 */
static const double LATE_STEP = 100, LATE_ALIKE = 2;

/* The quantile of the density exp(-h / b) / b at the middle of place i of the window, in b. */
static double expected(int i)
{
	return -portable_log(1 - (i + 0.5) / BAND_WINDOW);
}

static int ascending(const void *one, const void *other)
{
	const float *x = one, *y = other;

	return (*x > *y) - (*x < *y);
}

static void sort(struct band *band)
{
	memcpy(band->sorted, band->newest, sizeof(band->sorted));
	qsort(band->sorted, BAND_WINDOW, sizeof(*band->sorted), ascending);
}

/* Fills the window with that density, in an order in which small and large errors leave evenly. */
static void expect(struct band *band)
{
	enum { STRIDE = 89 };

	for (int i = 0; i < BAND_WINDOW; i++)
		band->newest[i * STRIDE % BAND_WINDOW] = (float)expected(i);
	sort(band);
}

void band_init(struct band *band, double coverage)
{
	const double half = -portable_log(fmax(1 - coverage, LEAST)); /* in b */

	*band = (struct band){
		.coverage = coverage, .factor = portable_log(fmax(half, LEAST)), .slid = 1};
	expect(band);
}

/* Beyond the window's first and last error it scales the density's quantiles. */
double band_half(const struct band *band)
{
	const double reach = portable_exp(fmin(band->factor, 6));
	const double place = (1 - portable_exp(-reach)) * BAND_WINDOW - 0.5;
	const int at = (int)floor(place), last = BAND_WINDOW - 1;
	const float *sorted = band->sorted;

	if (at < 0)
		return band->error * (double)sorted[0] * reach / expected(0);
	if (at >= last)
		return band->error * (double)sorted[last] * portable_exp(band->factor) /
		       expected(last);
	return band->error *
	       ((double)sorted[at] + (place - at) * ((double)sorted[at + 1] - (double)sorted[at]));
}

/* Lower bound: the first place whose error is not less. */
static int place_of(const float *sorted, int count, float error)
{
	int from = 0, to = count;

	while (from < to) {
		const int middle = (from + to) / 2;

		if (sorted[middle] < error)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void slide(struct band *band, float error)
{
	float *oldest = &band->newest[++band->slid % BAND_WINDOW], *sorted = band->sorted;
	int place = place_of(sorted, BAND_WINDOW, *oldest);

	memmove(sorted + place, sorted + place + 1,
		(size_t)(BAND_WINDOW - 1 - place) * sizeof(*sorted));
	place = place_of(sorted, BAND_WINDOW - 1, error);
	memmove(sorted + place + 1, sorted + place,
		(size_t)(BAND_WINDOW - 1 - place) * sizeof(*sorted));
	sorted[place] = *oldest = error;
}

void band_learn(struct band *band, double error, double half, int late)
{
	const double share = 1 / (1 + late / LATE_ALIKE);
	double size = fabs(error);

	/* The first answer was a blind guess. */
	if (!band->seen++)
		return;
	band->factor += STEP / (1 + late / LATE_STEP) * ((size > half) - (1 - band->coverage));
	band->factor = within(band->factor, -MOST, MOST);
	if (band->error <= 0) {
		band->error = size;
		band->seen = 2;
	}
	size = fmin(size, JUMP * band->error);
	band->due += share;
	if (band->due >= 1) {
		band->due -= 1;
		slide(band, band->error > 0 ? (float)(size / band->error) : 0);
	}
	band->error += fmax(share * RATE, 1 / (double)band->seen) * (size - band->error);
}

static bool sound(const struct band *band)
{
	bool right = band->seen >= 0 && band->error >= 0 && band->error < 1e100 &&
		     fabs(band->factor) <= MOST && band->slid >= 0 && band->due >= 0 &&
		     band->due < 1;

	for (int i = 0; i < BAND_WINDOW; i++)
		right = right && band->newest[i] >= 0 && (double)band->newest[i] <= JUMP;
	return right;
}

void band_state(struct band *band, struct state *state)
{
	state_enter(state, "band");
	state_int64(state, "seen", &band->seen);
	state_double(state, "error", &band->error);
	state_double(state, "factor", &band->factor);
	if (state_version(state) >= 14)
		state_floats(state, "newest", band->newest, BAND_WINDOW);
	band->slid = state_version(state) < 17 ? band->seen : band->slid;
	if (state_version(state) >= 17) {
		state_int64(state, "slid", &band->slid);
		state_double(state, "due", &band->due);
	}
	state_leave(state);
	if (!state_reading(state))
		return;
	if (!state_failed(state) && sound(band)) {
		sort(band);
		return;
	}
	state_refuse(state, ERR_FORMAT, "an interval that cannot be");
	band_init(band, band->coverage);
}
