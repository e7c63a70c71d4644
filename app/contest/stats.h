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

/* Student's t: the bound that a value with this many degrees of freedom stays within, in either
 * direction, in `level` of all cases. */
double stats_t(int freedom, double level);

#endif
