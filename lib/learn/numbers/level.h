/*
 * Location and spread of the newest LEVEL_WINDOW targets: median, a robust scale, and a fence
 * beyond which a target is an outlier. Quantiles of a window resist single values, and follow a
 * real change of scale within half a window.
 *
 * An outlier is learned as the fence's edge. But where outliers tend to stay (the next target is
 * nearer to the outlier than to the edge), `history` takes them as they are. Long-term means always
 * use the edge: `level`.
 */
#ifndef RETAIN_LEARN_NUMBERS_LEVEL_H
#define RETAIN_LEARN_NUMBERS_LEVEL_H

#include <float.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/state.h"

enum { LEVEL_WINDOW = 512 };
static const double LEVEL_QUICK = 0.1; /* rate of a mean */

struct level {
	/* Of the window. There is no fence before the tenth target. */
	double scale, low, high;
	double least, most; /* answers are clipped to these, more tightly while targets are few */
	/* Means of fenced targets: at a rate of at least 1/1000, of all time, at a rate of 1/10. */
	double centre, mean, quick;
	double drift; /* running mean of changes from the base */
	int64_t seen;

	double ring[LEVEL_WINDOW], sorted[LEVEL_WINDOW];
	int count;
	bool outlier; /* the newest target, which was `raw` and became `fenced` */
	double raw, fenced;
	double stayed, outliers; /* decayed counts */
};

/* A target as it is learned. */
struct level_value {
	double history, level;
};

void level_init(struct level *level);

/* Adds a target. level_follow moves the centre, once its old value is no longer needed. */
struct level_value level_add(struct level *level, double target);
/* change: from the newest target known before. */
void level_follow(struct level *level, double target, double change);

static inline double level_fence(const struct level *level, double value)
{
	return value < level->low ? level->low : value > level->high ? level->high : value;
}

/*
 * How far answers may follow the newest target beyond the fence: without limit if outliers were
 * seen to stay and most do, by the fence's width if there is no evidence against it.
 */
static inline double level_reach(const struct level *level)
{
	if (level->stayed <= level->outliers / 2)
		return 0;
	return level->stayed >= 2 ? DBL_MAX / 4 : level->high - level->low;
}

static inline double within(double value, double low, double high)
{
	return value < low ? low : value > high ? high : value;
}

/* The mean as of `known` targets, at most LEVEL_WINDOW fewer than now. */
double level_mean_then(const struct level *level, int64_t known);

void level_state(struct level *level, struct state *state);

#endif
