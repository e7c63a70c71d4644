/*
 * Numbers. A net learns them on a scale of their own, so that rates and losses fit any unit. What
 * lies beyond REACH scales is an outlier: a loss sees it at that distance.
 */
#include <math.h>

#include "target/target.h"

static const float REACH = 20;

float number_scaled(struct number_scale scale, float number)
{
	const float x = (number - scale.mean) * scale.factor;

	return x > REACH ? REACH : x < -REACH ? -REACH : x;
}

/* A net that has not learned yet may have its bounds crossed, or the value beside them. */
static void put_in_order(float *answer)
{
	const float low = fminf(answer[NUMBER_LOW], answer[NUMBER_HIGH]);
	const float high = fmaxf(answer[NUMBER_LOW], answer[NUMBER_HIGH]);

	answer[NUMBER_LOW] = fminf(low, answer[NUMBER_VALUE]);
	answer[NUMBER_HIGH] = fmaxf(high, answer[NUMBER_VALUE]);
}

void number_unscale(struct number_scale scale, float *answers, int n)
{
	const float width = scale.factor > 0 ? 1 / scale.factor : 0;

	for (int i = 0; i < n; i++, answers += NUMBER_OUTPUTS) {
		for (int k = 0; k < NUMBER_OUTPUTS; k++) {
			const float x = answers[k];

			answers[k] = scale.mean + width * (isfinite(x) ? x : 0);
		}
		put_in_order(answers);
	}
}

double number_share(double square, double variance, double least)
{
	if (!(variance > 0))
		return square > 0 ? 0 : 1;
	return fmax(1 - square / variance, least);
}

double number_explained(const float *values, int stride, const union target *labels, int n)
{
	double mean = 0, squares = 0, errors = 0;

	for (int i = 0; i < n; i++)
		mean += (double)labels[i].number / n;
	for (int i = 0; i < n; i++) {
		const double y = (double)labels[i].number;
		const double wrong = y - (double)values[(ptrdiff_t)i * stride];

		squares += (y - mean) * (y - mean);
		errors += wrong * wrong;
	}
	return number_share(errors, squares, -1);
}

static void guess(const float *answer, int known, union target guess[TARGET_GUESS])
{
	for (int k = 0; k < TARGET_GUESS; k++)
		guess[k] = TARGET_NONE;
	for (int k = 0; k < NUMBER_OUTPUTS && known; k++)
		guess[k].number = answer[k];
}

static bool same(union target a, union target b)
{
	return a.number == b.number;
}

const struct target_type target_number = {
	.name = "number",
	.help = "a number, with an interval; the share of variance explained stands for accuracy",
	.outputs = NUMBER_OUTPUTS,
	.guess = guess,
	.same = same,
};
