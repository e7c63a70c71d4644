/*
 * What a few runs say: mean and spread, and whether two methods that met the same
 * seeds differ by more than chance. A value that is not a number does not count.
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
 * The differences a[i] - b[i], where i is the seed that both met: what a seed does to
 * both alike cancels. The interval holds the true mean difference in `level` of all
 * such experiments, if differences are normal.
 */
struct stats_paired {
	int count;        /* pairs */
	double mean;      /* NAN for none */
	double error;     /* standard error of the mean; NAN for fewer than two pairs */
	double low, high; /* the interval; NAN for fewer than two pairs */
	bool clear;       /* zero is outside of the interval */
};

#define STATS_LEVEL 0.95

struct stats_paired stats_paired(const double *a, const double *b, int count, double level);

/*
 * Whether a mean lies within bounds, either of which may be infinite, and how surely.
 * chance: how probable a mean as far from the nearer bound is, in either direction, if
 * the true mean is that bound; NAN for fewer than two values. So a chance of at most
 * 0.05 says that the 95 % interval holds no bound.
 */
struct stats_bounded {
	bool inside;
	double chance;
};
struct stats_bounded stats_bounded(const struct stats *stats, double least, double most);

/*
 * Holm's correction for judging several things at once: sure[i] says whether chances[i]
 * is small enough, such that with probability `level` none is called sure by mistake.
 * A chance that is NAN is never.
 */
void stats_holm(const double *chances, int count, double level, bool *sure);

/* Student's t: the bound that a value with this many degrees of freedom stays within, in either
 * direction, in `level` of all cases. */
double stats_t(int freedom, double level);

#endif
