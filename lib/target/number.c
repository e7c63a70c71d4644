/*
 * Numbers. A net learns them on a scale of their own, so that rates and losses fit any unit. What
 * lies beyond REACH scales is an outlier: a loss sees it at that distance.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "target/target.h"

static const float REACH = 20;

enum { NUMBERS_SHOWN = 3 };

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

static void unscale_one(struct number_scale scale, float *answer)
{
	const float width = scale.factor > 0 ? 1 / scale.factor : 0;

	for (int k = 0; k < NUMBER_OUTPUTS; k++)
		answer[k] = scale.mean + width * (isfinite(answer[k]) ? answer[k] : 0);
	put_in_order(answer);
}

void number_unscale(const struct number_scales *scales, float *answers, int n)
{
	for (int i = 0; i < n; i++)
		for (int k = 0; k < scales->width; k++, answers += NUMBER_OUTPUTS)
			unscale_one(scales->each[k], answers);
}

double number_share(double square, double variance, double least)
{
	if (!(variance > 0))
		return square > 0 ? 0 : 1;
	return fmax(1 - square / variance, least);
}

static double explained_one(const float *values, int width, const union target *labels, int n)
{
	double mean = 0, squares = 0, errors = 0;

	for (int i = 0; i < n; i++)
		mean += (double)labels[(ptrdiff_t)i * width].number / n;
	for (int i = 0; i < n; i++) {
		const double y = (double)labels[(ptrdiff_t)i * width].number;
		const double wrong = y - (double)values[(ptrdiff_t)i * width * NUMBER_OUTPUTS];

		squares += (y - mean) * (y - mean);
		errors += wrong * wrong;
	}
	return number_share(errors, squares, -1);
}

/* The share that answers explain of their labels, -1 at least; of several numbers the mean of theirs. */
static double worth(const float *answers, int width, const union target *labels, int n)
{
	double sum = 0;

	for (int k = 0; k < width; k++)
		sum += explained_one(answers + (ptrdiff_t)k * NUMBER_OUTPUTS + NUMBER_VALUE, width,
			labels + k, n);
	return sum / width;
}

static void guess(const float *answer, int known, int width, union target *guess)
{
	for (size_t k = 0; k < target_guess(width); k++)
		guess[k] = TARGET_NONE;
	for (int k = 0; k < NUMBER_OUTPUTS * width && known; k++)
		guess[k].number = answer[k];
}

static bool same(const union target *a, const union target *b, int width)
{
	int k = 0;

	while (k < width && a[k].number == b[k].number)
		k++;
	return k == width;
}

static int check(const union target *labels, int width, int n, int64_t first, int most, int *known,
	struct err *err)
{
	(void)most;
	(void)known;
	for (int i = 0; i < n * width; i++)
		if (!isfinite(labels[i].number))
			return err_set(err, ERR_INPUT,
				"label %f of sample %lld: must be a finite number",
				(double)labels[i].number, (long long)(first + i / width));
	return 0;
}

static int32_t stratum(const union target *label)
{
	(void)label;
	return 0;
}

static void show(const union target *label, int width, char out[TARGET_SHOWN])
{
	const int shown = width < NUMBERS_SHOWN ? width : NUMBERS_SHOWN;
	char number[TEXT_NUMBER];
	int at = 0;

	for (int k = 0; k < shown; k++) {
		text_from_float(number, label[k].number);
		at += snprintf(out + at, TARGET_SHOWN - (size_t)at, "%s%s",
			k           ? ", "
			: width > 1 ? "["
				    : "",
			number);
	}
	if (width > 1)
		snprintf(out + at, TARGET_SHOWN - (size_t)at, width > shown ? ", ...]" : "]");
}

static double keep(const float *answer, int known, const union target *guess)
{
	const union target bounds[2] = {guess[NUMBER_LOW], guess[NUMBER_HIGH]};
	double packed;

	(void)answer;
	(void)known;
	memcpy(&packed, bounds, sizeof(packed));
	return packed;
}

static double recall(union target *guess, double kept)
{
	union target bounds[2] = {TARGET_NONE, TARGET_NONE};

	if (!isnan(guess->number))
		memcpy(bounds, &kept, sizeof(bounds));
	guess[NUMBER_LOW] = bounds[0];
	guess[NUMBER_HIGH] = bounds[1];
	return NAN;
}

static double loss(const union target *guess, const union target *label)
{
	return isnan(guess->number) ? NAN : fabs((double)guess->number - (double)label->number);
}

/* Relative to both together, whatever the unit. */
static double larger(double loss, double other)
{
	const double both = loss + other;

	return both > 0 ? (loss - other) / both : 0;
}

const struct target_type target_number = {
	.kind = TARGET_NUMBER,
	.name = "number",
	.help = "a number, with an interval; the share of variance explained stands for accuracy",
	.outputs = NUMBER_OUTPUTS,
	.guess = guess,
	.same = same,
	.stratum = stratum,
	.show = show,
	.keep = keep,
	.recall = recall,
	.check = check,
	.worth = worth,
	.loss = loss,
	.larger = larger,
	.words = {"numbers", "errors were large", "explained",
		"share of variance explained on validation samples", "absolute error",
		"How much the mean absolute error rises", "error", "mae", "error",
		"mae, mae_last, mae_mean, rmse, le, late_ir, inside, cost, seconds",
		"mae, le, late_ir"},
};
