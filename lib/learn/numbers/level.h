/*
 * Where a target is and how far it spreads, by the newest LEVEL_WINDOW of them: median, a robust
 * scale, and a fence beyond which a target is an outlier. A value that shares of a window cannot
 * move takes nothing with it, and a real change of scale is followed within half a window.
 *
 * An outlier is learned as the fence's edge. Where outliers used to stay, though (the target after
 * one was nearer to it than to the edge), they are taken as they are: `history`. Long-term means
 * always use the edge: `level`.
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
	/* Of the window. There is no fence, before the first ten targets. */
	double scale, low, high;
	double least, most; /* what answers are kept within, narrower as long as targets are few */
	/* Of fenced targets: with a rate of at least 1/1000, of all time, with a rate of 1/10. */
	double centre, mean, quick;
	double drift; /* running mean of changes from the base */
	int64_t seen;

	double ring[LEVEL_WINDOW], sorted[LEVEL_WINDOW];
	int count;
	bool outlier; /* the newest target, which was `raw` and became `fenced` */
	double raw, fenced;
	double stayed, outliers; /* decayed counts */
};

/* A target, as it is to be learned. */
struct level_value {
	double history, level;
};

void level_init(struct level *level);

/* Adds a target. The centre follows by level_follow, after its last use. */
struct level_value level_add(struct level *level, double target);
/* change: from the newest target that was known before. */
void level_follow(struct level *level, double target, double change);

static inline double level_fence(const struct level *level, double value)
{
	return value < level->low ? level->low : value > level->high ? level->high : value;
}

/*
 * How far answers may follow a newest target beyond the fence: any way if an outlier was seen to
 * stay and most do, as far as the fence is wide if nothing speaks against it.
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

/* The mean when so many targets were known: up to LEVEL_WINDOW fewer than now. */
double level_mean_then(const struct level *level, int64_t known);

void level_state(struct level *level, struct state *state);

#endif
