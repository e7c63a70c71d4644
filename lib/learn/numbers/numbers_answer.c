/*
 * Answers. Parts answer in units of the scale, relative to the centre, to the newest known target
 * (the base), or to a linear forecast.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "learn/numbers/numbers_impl.h"

static const float INPUT_MOST = 4;

struct lags_moment numbers_moment(const struct numbers *numbers, int i, int late)
{
	const int64_t seen = numbers->lags.seen;

	return lags_moment_of(&numbers->lags, &numbers->level, seen + i, seen - late);
}

/* Assumes that as many rows are waiting as the newest target was late by. */
static struct lags_moment moment_now(const struct numbers *numbers, int i)
{
	struct lags_moment moment = numbers_moment(numbers, i, 0);

	moment.at += numbers->late;
	return moment;
}

/*
 * Binary columns, such as those of a category, are not scaled: scaled as for the net, a rare
 * category would be far from everything and dominate distances.
 */
static float input_of(const struct values *values, const float *inputs, const float *raw, size_t j)
{
	if (raw && (raw[j] == 0 || raw[j] == 1) && values_binary(values, j))
		return raw[j];
	return isfinite(inputs[j]) ? fminf(fmaxf(inputs[j], -INPUT_MOST), INPUT_MOST) : 0;
}

static void fill_row(const struct numbers *numbers, const struct numbers_samples *samples, int i,
	const struct lags_moment *moment, float row[ROWS_PADDED])
{
	const size_t floats = numbers->config.floats, inputs = numbers->inputs;
	const float *from = samples->inputs + (size_t)i * floats;
	const float *raw = samples->raw ? samples->raw + (size_t)i * floats : NULL;
	float *to = row + ROWS_FIRST;

	memset(row, 0, ROWS_PADDED * sizeof(float));
	lags_fill(&numbers->lags, &numbers->level, moment, row);
	row[ROWS_ONE] = 1;
	for (size_t j = 0; j < inputs; j++)
		to[j] = input_of(&numbers->values, from, raw, j);
	values_fill(&numbers->values, raw, numbers->level.scale, to + inputs);
	if (numbers->since.place >= 0)
		since_fill(&numbers->since, raw, inputs, moment->known,
			to + inputs + VALUES_EACH * numbers->since.place);
}

/* The answers of least squares, in units of the scale. */
static double ask_linear(const struct numbers *numbers, int k,
	const struct numbers_samples *samples, int i, const float *row)
{
	const struct linear_kind *kind = &linear_kinds[k];
	const struct rls *rls = &numbers->linear[k];
	const size_t features = numbers->config.features;

	if (!kind->hidden)
		return (double)rls_ask(
			rls, row + kind->first, linear_numbers(numbers, k, numbers_used(numbers)));
	if (!features)
		return 0;
	return (double)(rls->ops->row_dot(
				rls->weights, samples->features + (size_t)i * features, features) +
			rls->ops->row_dot(rls->weights + features, row, kind->numbers));
}

struct bounds {
	double low, high;
};

/* Of answers: the window's range, or up to the newest target. */
static struct bounds bounds_of(const struct level *level, double base)
{
	const double reach = level_reach(level);

	return (struct bounds){fmax(fmin(level->least, base), level->low - reach),
		fmin(fmax(level->most, base), level->high + reach)};
}

/* Parts' answers in the user's units, clipped. */
static void ask_parts(const struct numbers *numbers, const struct numbers_samples *samples, int i,
	const struct lags_moment *moment, const float *row, struct numbers_said *said)
{
	const struct level *level = &numbers->level;
	const double scale = level->scale, centre = level->centre, base = moment->base;
	const struct bounds bounds = bounds_of(level, base);
	double *part = said->blend.part;

	part[LAST] = base;
	part[MEAN] = level_mean_then(level, moment->known);
	part[MEDIAN] = lags_median(&numbers->lags, moment->known);
	part[SLOW] = (double)samples->slow[i];
	part[NEAR_LEVEL] = centre + scale * (double)said->near[BANK_LEVEL];
	part[NEAR_CHANGE] = base + scale * (double)said->near[BANK_CHANGE];
	for (int k = 0; k < LINEARS; k++) {
		const double from = linear_kinds[k].target == ROWS_LEVEL ? centre : base;
		const double answer = ask_linear(numbers, k, samples, i, row);

		part[LINEAR + k] = from + scale * answer;
		if (k == LINEAR_FORECAST)
			said->linear = isfinite(answer) ? answer : 0;
	}
	for (int k = 0; k < GROVE_MODELS; k++) {
		const double from = k < GROVE_REST_SHORT ? centre : base + scale * said->linear;

		part[TREES + k] = from + scale * (double)said->trees[k];
	}
	for (int k = LAST + 1; k < NUMBERS_PARTS; k++)
		part[k] = isfinite(part[k]) ? within(part[k], bounds.low, bounds.high) : base;
}

/*
 * The mean of targets of neighbours that are so close that the row comes again. Not with late labels:
 * neighbours learn behind, so those of a row when its label comes are newer than when it was asked about.
 */
static void ask_again(
	const struct numbers *numbers, const struct lags_moment *moment, struct numbers_said *said)
{
	const struct bounds bounds = bounds_of(&numbers->level, moment->base);
	const struct bank_nearest *nearest = &said->nearest;
	const double near = again_near(&numbers->again);
	double sum = 0;
	int count = 0;

	while (!numbers->late && count < nearest->count && (double)nearest->distance[count] <= near)
		sum += lags_target(
			&numbers->lags, bank_row(&numbers->bank, nearest->place[count++]));
	said->again.distance = nearest->count ? fmax((double)nearest->distance[0], 0) : INFINITY;
	said->again.repeats = count > 0;
	said->again.value = count ? within(sum / count, bounds.low, bounds.high) : 0;
	again_ask(&numbers->again, said->blend.answer, &said->again);
}

static void ask_blend(const struct numbers *numbers, const struct numbers_samples *samples, int i,
	const struct lags_moment *moment, struct numbers_said *said)
{
	const float *raw = samples->raw ? samples->raw + (size_t)i * numbers->config.floats : NULL;
	/* While an outlier stays, the last value is better. */
	const float *sign = numbers->level.outlier ? NULL : raw;

	blend_ask(&numbers->blend, &said->blend);
	ask_again(numbers, moment, said);
	said->foretold = foretold_ask(&numbers->foretold, sign);
	said->answer = said->again.answer;
	if (said->foretold.speaks)
		said->answer +=
			gate_open(numbers->foretold.record) * (said->foretold.value - said->answer);
}

static void look(const struct numbers *numbers, const struct numbers_samples *samples, int i,
	const struct lags_moment *moment, float row[ROWS_PADDED], struct numbers_said *said)
{
	fill_row(numbers, samples, i, moment, row);
	memset(said->near, 0, sizeof(said->near));
	memset(said->trees, 0, sizeof(said->trees));
	said->nearest.count = 0;
	if (!numbers->config.lean) {
		bank_ask(&numbers->bank, row, said->near, &said->nearest);
		grove_ask(&numbers->grove, row, said->trees, &said->leaves);
	}
	ask_parts(numbers, samples, i, moment, row, said);
	ask_blend(numbers, samples, i, moment, said);
}

void numbers_look(struct numbers *numbers, const struct numbers_samples *samples, int i,
	const struct lags_moment *moment)
{
	struct numbers_said *said = &numbers->said[i];
	float row[ROWS_PADDED], *asked = numbers_row(numbers, i);

	if (i < numbers->asked)
		fill_row(numbers, samples, i, moment, row);
	if (i >= numbers->asked || memcmp(row, asked, sizeof(row)) != 0) {
		look(numbers, samples, i, moment, asked, said);
		return;
	}
	ask_parts(numbers, samples, i, moment, row, said);
	ask_blend(numbers, samples, i, moment, said);
}

static float to_float(double value)
{
	return (float)within(value, -(double)FLT_MAX, (double)FLT_MAX);
}

static void put_answer(double answer, double half, float answers[NUMBER_OUTPUTS])
{
	answers[NUMBER_VALUE] = to_float(answer);
	answers[NUMBER_LOW] = to_float(answer - half);
	answers[NUMBER_HIGH] = to_float(answer + half);
}

void numbers_answer(
	const struct numbers *numbers, const struct numbers_samples *samples, float *answers)
{
	const double half = band_half(&numbers->band);
	struct numbers_said said;
	float row[ROWS_PADDED];

	for (int i = 0; i < samples->n; i++, answers += NUMBER_OUTPUTS) {
		const struct lags_moment moment = moment_now(numbers, i);

		look(numbers, samples, i, &moment, row, &said);
		put_answer(said.answer, half, answers);
	}
}

void numbers_ask(struct numbers *numbers, const struct numbers_samples *samples, float *answers)
{
	const double half = band_half(&numbers->band);

	if (samples->n > numbers->room) {
		numbers_answer(numbers, samples, answers);
		return;
	}
	for (int i = 0; i < samples->n; i++, answers += NUMBER_OUTPUTS) {
		const struct lags_moment moment = moment_now(numbers, i);

		look(numbers, samples, i, &moment, numbers_row(numbers, i), &numbers->said[i]);
		put_answer(numbers->said[i].answer, half, answers);
	}
	numbers->asked = samples->n;
}
