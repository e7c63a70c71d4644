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

/* Parts' answers in the user's units, clipped to the window's range or up to the newest target. */
static void ask_parts(const struct numbers *numbers, const struct numbers_samples *samples, int i,
	const struct lags_moment *moment, const float *row, struct numbers_said *said)
{
	const struct level *level = &numbers->level;
	const double scale = level->scale, centre = level->centre, base = moment->base;
	const double reach = level_reach(level);
	const double low = fmax(fmin(level->least, base), level->low - reach);
	const double high = fmin(fmax(level->most, base), level->high + reach);
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
		part[k] = isfinite(part[k]) ? within(part[k], low, high) : base;
}

static void look(const struct numbers *numbers, const struct numbers_samples *samples, int i,
	const struct lags_moment *moment, float row[ROWS_PADDED], struct numbers_said *said)
{
	fill_row(numbers, samples, i, moment, row);
	memset(said->near, 0, sizeof(said->near));
	memset(said->trees, 0, sizeof(said->trees));
	if (!numbers->config.lean) {
		bank_ask(&numbers->bank, row, said->near);
		grove_ask(&numbers->grove, row, said->trees, &said->leaves);
	}
	ask_parts(numbers, samples, i, moment, row, said);
	blend_ask(&numbers->blend, &said->blend);
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
	blend_ask(&numbers->blend, &said->blend);
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
		put_answer(said.blend.answer, half, answers);
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
		put_answer(numbers->said[i].blend.answer, half, answers);
	}
	numbers->asked = samples->n;
}
