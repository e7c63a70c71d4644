/*
 * Each function reduces its argument exactly, or nearly so, to a small interval
 * around the centre of a Taylor series, which is summed by Horner's rule from
 * the smallest term.
 */
#include "base/portable_math.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LN2       0.6931471805599453
#define TURN      6.283185307179586
#define ROOT_HALF 0x3fe6a09e667f3bcdu /* the bits of sqrt 1/2 */

enum { EXP_TERMS = 14, LOG_TERMS = 9, SINE_TERMS = 9, SIDE_BY_SIDE = 8 };

/* SIDE_BY_SIDE of them: one alone would wait for every term. */
static void exp_all(double x[SIDE_BY_SIDE])
{
	double r[SIDE_BY_SIDE], sum[SIDE_BY_SIDE], scale[SIDE_BY_SIDE];

	for (int k = 0; k < SIDE_BY_SIDE; k++) {
		const double within = x[k] < -700 ? -700 : x[k] > 700 ? 700 : x[k];
		const double power = floor(within / LN2 + 0.5);
		const uint64_t bits = (uint64_t)((int64_t)power + 0x3ff) << 52;

		r[k] = within - power * LN2;
		memcpy(&scale[k], &bits, sizeof(bits));
		sum[k] = 1;
	}
	for (int i = EXP_TERMS; i > 0; i--)
		for (int k = 0; k < SIDE_BY_SIDE; k++)
			sum[k] = 1 + sum[k] * r[k] * (1.0 / i);
	for (int k = 0; k < SIDE_BY_SIDE; k++)
		x[k] = sum[k] * scale[k];
}

void portable_exps(double *x, int count)
{
	for (; count > 0; x += SIDE_BY_SIDE, count -= SIDE_BY_SIDE) {
		double rest[SIDE_BY_SIDE] = {0};

		if (count >= SIDE_BY_SIDE) {
			exp_all(x);
			continue;
		}
		memcpy(rest, x, (size_t)count * sizeof(*x));
		exp_all(rest);
		memcpy(x, rest, (size_t)count * sizeof(*x));
	}
}

double portable_exp(double x)
{
	const double within = x < -700 ? -700 : x > 700 ? 700 : x;
	const double power = floor(within / LN2 + 0.5);
	const double r = within - power * LN2;
	const uint64_t bits = (uint64_t)((int64_t)power + 0x3ff) << 52;
	double sum = 1, scale;

	for (int i = EXP_TERMS; i > 0; i--)
		sum = 1 + sum * r * (1.0 / i);
	memcpy(&scale, &bits, sizeof(scale));
	return sum * scale;
}

double portable_log(double x)
{
	uint64_t bits;
	double m, s, t, sum = 0, e;

	/* x = 2^e * m with m in [sqrt 1/2, sqrt 2), then log m = 2 artanh((m - 1) / (m + 1)). */
	memcpy(&bits, &x, sizeof(bits));
	bits += 0x3ff0000000000000u - ROOT_HALF;
	e = (double)((int64_t)(bits >> 52) - 0x3ff);
	bits = (bits & 0x000fffffffffffffu) + ROOT_HALF;
	memcpy(&m, &bits, sizeof(m));
	s = (m - 1) / (m + 1);
	t = s * s;
	for (int i = LOG_TERMS; i-- > 0;)
		sum = sum * t + 1.0 / (2 * i + 1);
	return LN2 * e + 2 * s * sum;
}

double portable_sine(double turns)
{
	double part = turns - floor(turns + 0.5), a, t, sum = 1;

	/* The sine of half a turn less an angle is that of the angle. */
	if (part > 0.25)
		part = 0.5 - part;
	else if (part < -0.25)
		part = -0.5 - part;
	a = part * TURN;
	t = a * a;
	for (int i = SINE_TERMS; i > 0; i--)
		sum = 1 - sum * t * (1.0 / (2 * i * (2 * i + 1)));
	return a * sum;
}
