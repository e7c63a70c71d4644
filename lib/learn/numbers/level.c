/*
 * The window is kept twice: in order of time, to know which target leaves it, and sorted.
 *
 * Invariant: sorted, scale, fence and the bounds of answers follow from ring and seen.
 */
#include "learn/numbers/level.h"

#include <math.h>
#include <string.h>

enum { FENCED = 10 }; /* targets before there is a fence */

static const double FAR = 1e300;
static const double REACH = 3;        /* of the fence, in ranges of 96 % of the window */
static const double BEYOND = 0.25;    /* of answers, in ranges of few targets */
static const double KEEP = 0.9;       /* of counts of outliers */
static const double ROUNDING = 1e-12; /* a scale below this share of the median is none */

void level_init(struct level *level)
{
	*level = (struct level){.scale = 1,
		.low = -FAR,
		.high = FAR,
		.least = -FAR,
		.most = FAR,
		.stayed = 1.5,
		.outliers = 2};
}

/* Lower bound: the first place of the sorted window whose value is not less. */
static int place_of(const struct level *level, double value)
{
	int from = 0, to = level->count;

	while (from < to) {
		const int middle = (from + to) / 2;

		if (level->sorted[middle] < value)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void slide(struct level *level, double target)
{
	const int at = (int)(level->seen % LEVEL_WINDOW);
	double *sorted = level->sorted;
	int place;

	if (level->count == LEVEL_WINDOW) {
		place = place_of(level, level->ring[at]);
		level->count--;
		memmove(sorted + place, sorted + place + 1,
			(size_t)(level->count - place) * sizeof(*sorted));
	}
	place = place_of(level, target);
	memmove(sorted + place + 1, sorted + place,
		(size_t)(level->count - place) * sizeof(*sorted));
	sorted[place] = target;
	level->count++;
	level->ring[at] = target;
	level->seen++;
}

static double quantile(const struct level *level, double share)
{
	const double place = share * (level->count - 1);
	const int at = (int)place;
	const double *sorted = level->sorted + at;

	return at + 1 < level->count ? sorted[0] + (place - at) * (sorted[1] - sorted[0])
				     : sorted[0];
}

/* A few targets say little about the range to come; inputs may justify more than 512 showed. */
static double beyond(const struct level *level)
{
	const double full = 2.0 * level->count / LEVEL_WINDOW - 1;

	return full <= 0 ? BEYOND : BEYOND + full * (REACH - BEYOND);
}

/* If half of the window is one value, its tails decide, and at last its extremes. */
static void measure(struct level *level)
{
	const double middle = quantile(level, 0.5), least = ROUNDING * fabs(middle);
	const double first = level->sorted[0], last = level->sorted[level->count - 1];
	double low = quantile(level, 0.02), high = quantile(level, 0.98);
	double scale = fmax((quantile(level, 0.75) - quantile(level, 0.25)) / 1.35,
		(quantile(level, 0.95) - quantile(level, 0.05)) / 3.3);
	double range;

	if (scale <= least) {
		low = first;
		high = last;
		scale = (high - low) / 6;
	}
	if (scale <= least || scale < 1 / FAR)
		scale = middle != 0 ? 1e-6 * fabs(middle) : 1;
	level->scale = level->count < 2 ? 1 : scale;
	range = fmax(high - low, scale);
	level->low = level->count < FENCED ? -FAR : low - REACH * range;
	level->high = level->count < FENCED ? FAR : high + REACH * range;
	level->least = fmax(level->low, first - beyond(level) * (last - first));
	level->most = fmin(level->high, last + beyond(level) * (last - first));
}

struct level_value level_add(struct level *level, double target)
{
	struct level_value value;

	slide(level, target);
	measure(level);
	if (level->outlier) {
		const bool stayed = fabs(target - level->raw) < fabs(target - level->fenced);

		level->stayed = KEEP * level->stayed + stayed;
		level->outliers = KEEP * level->outliers + 1;
	}
	value.level = level_fence(level, target);
	value.history = level->stayed > level->outliers / 2 ? target : value.level;
	level->outlier = value.level != target;
	level->raw = target;
	level->fenced = value.level;
	if (level->seen == 1)
		level->centre = level->quick = value.level;
	level->mean += (value.level - level->mean) / (double)level->seen;
	level->quick += LEVEL_QUICK * (value.level - level->quick);
	return value;
}

double level_mean_then(const struct level *level, int64_t known)
{
	double sum = 0;

	if (known >= level->seen || known < 1)
		return level->mean;
	for (int64_t i = known; i < level->seen; i++)
		sum += level_fence(level, level->ring[i % LEVEL_WINDOW]) - level->mean;
	return level->mean - sum / (double)known;
}

void level_follow(struct level *level, double target, double change)
{
	const double rate = level->seen < 1000 ? 1 / (double)level->seen : 0.001;

	level->centre += rate * (target - level->centre);
	level->drift += rate * (change - level->drift);
}

static void sort_again(struct level *level)
{
	const int count = level->seen < LEVEL_WINDOW ? (int)level->seen : LEVEL_WINDOW;

	level->count = 0;
	for (int i = 0; i < count; i++) {
		const int place = place_of(level, level->ring[i]);

		memmove(level->sorted + place + 1, level->sorted + place,
			(size_t)(level->count - place) * sizeof(*level->sorted));
		level->sorted[place] = level->ring[i];
		level->count++;
	}
	if (count)
		measure(level);
}

static bool sound(const struct level *level)
{
	const double all[] = {
		level->centre, level->mean, level->quick, level->drift, level->raw, level->fenced};
	bool right = level->seen >= 0 && level->outliers > 0 && level->outliers <= 100 &&
		     level->stayed >= 0 && level->stayed <= 100;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		right = right && fabs(all[i]) < 1e100;
	for (int i = 0; i < LEVEL_WINDOW; i++)
		right = right && fabs(level->ring[i]) < 1e100;
	return right;
}

void level_state(struct level *level, struct state *state)
{
	state_enter(state, "level");
	state_int64(state, "seen", &level->seen);
	state_doubles(state, "newest", level->ring, LEVEL_WINDOW);
	state_double(state, "centre", &level->centre);
	state_double(state, "mean", &level->mean);
	state_double(state, "quick", &level->quick);
	state_double(state, "drift", &level->drift);
	state_bool(state, "outlier", &level->outlier);
	state_double(state, "raw", &level->raw);
	state_double(state, "fenced", &level->fenced);
	state_double(state, "stayed", &level->stayed);
	state_double(state, "outliers", &level->outliers);
	state_leave(state);
	if (!state_reading(state))
		return;
	if (!state_failed(state) && sound(level)) {
		sort_again(level);
		return;
	}
	state_refuse(state, ERR_FORMAT, "a level of numbers that cannot be");
	level_init(level);
}
