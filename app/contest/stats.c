/*
 * Student's distribution with an integer number of degrees of freedom has a closed form
 * (Abramowitz and Stegun 26.7.3 and 26.7.4); its inverse is found by bisection.
 */
#include "contest/stats.h"

#include <math.h>

static const double pi = 3.14159265358979323846;

struct stats stats_of(const double *values, int count)
{
	struct stats stats = {.mean = NAN, .sd = NAN};
	double sum = 0, squares = 0;

	for (int i = 0; i < count; i++)
		if (!isnan(values[i])) {
			sum += values[i];
			stats.count++;
		}
	if (!stats.count)
		return stats;
	stats.mean = sum / stats.count;
	for (int i = 0; i < count; i++)
		if (!isnan(values[i]))
			squares += (values[i] - stats.mean) * (values[i] - stats.mean);
	if (stats.count > 1)
		stats.sd = sqrt(squares / (stats.count - 1));
	return stats;
}

/* The probability of |t| <= x. */
static double within(int freedom, double x)
{
	const double angle = atan(x / sqrt(freedom)), c = cos(angle) * cos(angle);
	double term = freedom % 2 ? cos(angle) : 1, sum = freedom == 1 ? 0 : term;

	for (int i = freedom % 2 ? 3 : 2; i < freedom; i += 2) {
		term *= c * (i - 1) / i;
		sum += term;
	}
	if (freedom % 2)
		return 2 / pi * (angle + sin(angle) * sum);
	return sin(angle) * sum;
}

struct stats_bounded stats_bounded(const struct stats *stats, double least, double most)
{
	/* Products of the same decimals and means of equal values may differ in their last bits:
	 * 0.1 * 0.1 is at most 0.01. */
	const double rounding = 1e-12 * fabs(stats->mean);
	const double far = fmin(stats->mean - least, most - stats->mean);
	const double error = stats->sd / sqrt(stats->count);
	struct stats_bounded bounded = {.inside = far >= -rounding, .chance = NAN};

	if (stats->count > 1)
		bounded.chance =
			error > rounding ? 1 - within(stats->count - 1, fabs(far) / error) : 0;
	return bounded;
}

void stats_holm(const double *chances, int count, double level, bool *sure)
{
	int judged = 0, next = -1;

	for (int i = 0; i < count; i++) {
		sure[i] = false;
		judged += !isnan(chances[i]);
	}
	for (; judged > 0; judged--, next = -1) {
		for (int i = 0; i < count; i++)
			if (!sure[i] && !isnan(chances[i]) &&
				(next < 0 || chances[i] < chances[next]))
				next = i;
		if (chances[next] > (1 - level) / judged)
			return;
		sure[next] = true;
	}
}

double stats_t(int freedom, double level)
{
	double low = 0, high = 1;

	while (within(freedom, high) < level && high < 1e12)
		high *= 2;
	for (int i = 0; i < 200 && low < high; i++) {
		const double middle = (low + high) / 2;

		if (within(freedom, middle) < level)
			low = middle;
		else
			high = middle;
	}
	return high;
}

struct stats_paired stats_paired(const double *a, const double *b, int count, double level)
{
	struct stats_paired paired = {.error = NAN, .low = NAN, .high = NAN};
	double sum = 0, squares = 0;

	for (int i = 0; i < count; i++)
		if (!isnan(a[i] - b[i])) {
			sum += a[i] - b[i];
			paired.count++;
		}
	paired.mean = paired.count ? sum / paired.count : NAN;
	if (paired.count < 2)
		return paired;
	for (int i = 0; i < count; i++)
		if (!isnan(a[i] - b[i]))
			squares += pow(a[i] - b[i] - paired.mean, 2);
	paired.error = sqrt(squares / (paired.count - 1) / paired.count);
	paired.low = paired.mean - stats_t(paired.count - 1, level) * paired.error;
	paired.high = paired.mean + stats_t(paired.count - 1, level) * paired.error;
	paired.clear = paired.low > 0 || paired.high < 0;
	return paired;
}
