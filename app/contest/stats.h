/*
 * Statistics of a few runs: mean and spread, and whether two methods on the same seeds differ
 * significantly. NaN values are ignored.
 */
#ifndef RETAIN_CONTEST_STATS_H
#define RETAIN_CONTEST_STATS_H

#include <stdbool.h>

struct stats {
	int count;
	double mean; /* NAN for none */
	double sd;   /* of the sample, by count - 1; NAN for fewer than two */
};

struct stats stats_of(const double *values, int count);

/*
 * The differences a[i] - b[i], where i is the common seed: effects of a seed on both cancel. The
 * interval contains the true mean difference in `level` of all such experiments, if differences
 * are normal.
 */
struct stats_paired {
	int count;        /* pairs */
	double mean;      /* NAN for none */
	double error;     /* standard error of the mean; NAN for fewer than two pairs */
	double low, high; /* the interval; NAN for fewer than two pairs */
	bool clear;       /* the interval excludes zero */
};

#define STATS_LEVEL 0.95

struct stats_paired stats_paired(const double *a, const double *b, int count, double level);

/*
 * Whether a mean lies within bounds, either of which may be infinite, and the p-value. chance:
 * the two-sided probability of a mean this far from the nearer bound, if the true mean is that
 * bound; NAN for fewer than two values. So a chance of at most 0.05 means that the 95 % interval
 * contains no bound.
 */
struct stats_bounded {
	bool inside;
	double chance;
};
struct stats_bounded stats_bounded(const struct stats *stats, double least, double most);

/*
 * Holm's correction for multiple tests: sure[i] tells whether chances[i] is small enough, such
 * that with probability `level` none is called sure by mistake. NaN is never sure.
 */
void stats_holm(const double *chances, int count, double level, bool *sure);

/* Student's t: the two-sided critical value with this many degrees of freedom at `level`. */
double stats_t(int freedom, double level);

#endif
