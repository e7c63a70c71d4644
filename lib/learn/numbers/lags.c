/* Invariant: the median follows from the history. */
#include "learn/numbers/lags.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

enum { CHOOSE_EVERY = 64, LAGS_QUICK = 60 };

static const int CANDIDATES[LAGS_CANDIDATES] = {4, 5, 6, 7, 8, 10, 12, 14, 20, 24, 28, 30, 48, 52,
	60, 96, 120, 144, 168, 240, 288, 336, 365, 672};
static const double MOST = 6;      /* of a lag, in scales */
static const double BETTER = 0.95; /* a season leaves its place to one that differs less by this */
static const double RATE = 0.002;

int lags_init(struct lags *lags, struct err *err)
{
	*lags = (struct lags){.history = mem_new(LAGS_HISTORY, sizeof(double))};
	return lags->history
		       ? 0
		       : err_memory(err, "the history of a target", LAGS_HISTORY * sizeof(double));
}

void lags_release(struct lags *lags)
{
	mem_free(lags->history);
}

static double *target_at(const struct lags *lags, int64_t i)
{
	return lags->history + i % LAGS_HISTORY;
}

double lags_target(const struct lags *lags, int64_t i)
{
	return *target_at(lags, i);
}

struct lags_moment lags_moment_of(
	const struct lags *lags, const struct level *level, int64_t at, int64_t known)
{
	return (struct lags_moment){
		at, known, known ? *target_at(lags, known - 1) : 0, level->scale};
}

/*
 * The target one season before `at`, or the fewest seasons to a known one; false if there is
 * none.
 */
static bool season_before(
	const struct lags *lags, int season, int64_t at, int64_t known, double *target)
{
	int64_t i = at - season;

	if (i >= known)
		i -= ((i - known) / season + 1) * season;
	if (i < 0 || i < lags->seen - LAGS_HISTORY)
		return false;
	*target = *target_at(lags, i);
	return true;
}

static float lag(double apart, double scale)
{
	return (float)within(apart / scale, -MOST, MOST);
}

void lags_fill_seasons(
	const struct lags *lags, const struct lags_moment *moment, float row[2 * SEASONS])
{
	for (int k = 0; k < SEASONS; k++, row += 2) {
		const int season = lags->season[k];
		double then, base_then;

		row[0] = row[1] = 0;
		if (!season || !season_before(lags, season, moment->at, moment->known, &then))
			continue;
		row[0] = lag(then - moment->base, moment->scale);
		if (season_before(lags, season, moment->known - 1, moment->known, &base_then))
			row[1] = lag(then - base_then, moment->scale);
	}
}

/* Approximately level->quick as of `known` targets: that is a mean of fenced ones. */
static double quick_then(const struct lags *lags, int64_t known)
{
	int64_t i = known > LAGS_QUICK ? known - LAGS_QUICK : 0;
	double quick = *target_at(lags, i);

	while (++i < known)
		quick += LEVEL_QUICK * (*target_at(lags, i) - quick);
	return quick;
}

void lags_fill(const struct lags *lags, const struct level *level, const struct lags_moment *moment,
	float row[LAGS])
{
	const int64_t known = moment->known;
	const double first = known ? moment->base : level->centre;
	const double second = known > 1 ? *target_at(lags, known - 2) : first;
	const double third = known > 2 ? *target_at(lags, known - 3) : second;

	row[0] = lag(first - level->centre, level->scale);
	row[1] = lag(second - first, level->scale);
	row[2] = lag(third - second, level->scale);
	row[3] = lag((known < lags->seen ? quick_then(lags, known) : level->quick) - first,
		level->scale);
	lags_fill_seasons(lags, moment, row + LAGS - 2 * SEASONS);
}

static double find_median(const struct lags *lags, int64_t known)
{
	const int count = known < LAGS_MEDIAN ? (int)known : LAGS_MEDIAN;
	double sorted[LAGS_MEDIAN];

	for (int i = 0; i < count; i++) {
		const double target = *target_at(lags, known - 1 - i);
		int place = i;

		for (; place > 0 && sorted[place - 1] > target; place--)
			sorted[place] = sorted[place - 1];
		sorted[place] = target;
	}
	return count ? sorted[count / 2] : 0;
}

double lags_median(const struct lags *lags, int64_t known)
{
	return known == lags->seen ? lags->median : find_median(lags, known);
}

void lags_add(struct lags *lags, double target)
{
	const int64_t at = lags->seen;

	for (int k = 0; k < LAGS_CANDIDATES && CANDIDATES[k] <= at; k++) {
		const double pairs = (double)(at - CANDIDATES[k] + 1);
		const double rate = pairs * RATE < 1 ? 1 / pairs : RATE;
		const double apart = fabs(target - *target_at(lags, at - CANDIDATES[k]));

		lags->apart[k] += rate * (apart - lags->apart[k]);
	}
	*target_at(lags, at) = target;
	lags->seen++;
	lags->median = find_median(lags, lags->seen);
}

static bool taken(const struct lags *lags, int season, int but)
{
	for (int k = 0; k < SEASONS; k++)
		if (k != but && lags->season[k] == season)
			return true;
	return false;
}

static unsigned choose(struct lags *lags, int place)
{
	double now = INFINITY;
	int best = -1;

	for (int k = 0; k < LAGS_CANDIDATES; k++) {
		if (CANDIDATES[k] == lags->season[place])
			now = lags->apart[k];
		if (taken(lags, CANDIDATES[k], place) || lags->seen < 2 * CANDIDATES[k] + 20)
			continue;
		if (best < 0 || lags->apart[k] < lags->apart[best])
			best = k;
	}
	if (best < 0 || !(lags->apart[best] < BETTER * now))
		return 0;
	lags->season[place] = CANDIDATES[best];
	return 1U << place;
}

unsigned lags_choose(struct lags *lags)
{
	unsigned changed = 0;

	if (lags->seen % CHOOSE_EVERY)
		return 0;
	for (int k = 0; k < SEASONS; k++)
		changed |= choose(lags, k);
	return changed;
}

/* Copies what answers can reach: a season before now, and the one before it. */
void lags_copy(struct lags *to, const struct lags *from)
{
	const int64_t count = from->seen < LAGS_COPIED ? from->seen : LAGS_COPIED;
	const size_t first = (size_t)((from->seen - count) % LAGS_HISTORY);
	const size_t whole =
		(size_t)count <= LAGS_HISTORY - first ? (size_t)count : LAGS_HISTORY - first;
	double *history = to->history;

	*to = *from;
	to->history = history;
	memcpy(history + first, from->history + first, whole * sizeof(double));
	memcpy(history, from->history, ((size_t)count - whole) * sizeof(double));
}

static bool sound(const struct lags *lags)
{
	bool right = lags->seen >= 0 && lags->seen < INT64_MAX / 2;

	for (int k = 0; k < SEASONS; k++) {
		bool known = !lags->season[k];

		for (int i = 0; i < LAGS_CANDIDATES; i++)
			known = known || lags->season[k] == CANDIDATES[i];
		right = right && known;
	}
	for (int i = 0; i < LAGS_CANDIDATES; i++)
		right = right && lags->apart[i] >= 0 && lags->apart[i] < 1e100;
	for (int i = 0; i < LAGS_HISTORY; i++)
		right = right && fabs(lags->history[i]) < 1e100;
	return right;
}

void lags_state(struct lags *lags, struct state *state)
{
	state_enter(state, "lags");
	state_int64(state, "seen", &lags->seen);
	state_doubles(state, "history", lags->history, LAGS_HISTORY);
	state_int32s(state, "seasons", lags->season, SEASONS);
	state_doubles(state, "apart", lags->apart, LAGS_CANDIDATES);
	state_leave(state);
	if (!state_reading(state))
		return;
	if (state_failed(state) || !sound(lags)) {
		state_refuse(state, ERR_FORMAT, "a history of numbers that cannot be");
		memset(lags->history, 0, LAGS_HISTORY * sizeof(double));
		memset(lags->season, 0, sizeof(lags->season));
		lags->seen = 0;
	}
	lags->median = find_median(lags, lags->seen);
}
