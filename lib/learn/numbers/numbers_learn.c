/* Learns the samples of a step one after the other. */
#include <math.h>
#include <string.h>

#include "learn/numbers/numbers_impl.h"

enum { SETTLED = 10, AHEAD_MOST = 50 };

static const double TARGET_MOST = 20;   /* in scales */
static const double LEAST_ERROR = 1e-9; /* of a blend, in scales */

static void learn_linear(
	struct numbers *numbers, int k, const float *row, const float target[ROWS_TARGETS])
{
	rls_learn(&numbers->linear[k], row, linear_numbers(numbers, k, numbers_used(numbers)),
		target[linear_kinds[k].target]);
}

/* Least squares on features learns at once, even from late targets, since features are not kept. */
static void learn_hidden(struct numbers *numbers, const struct numbers_samples *samples, int i,
	const float target[ROWS_TARGETS])
{
	const size_t features = numbers->config.features;

	for (int k = 0; k < LINEARS && features; k++) {
		const struct linear_kind *kind = &linear_kinds[k];

		if (!kind->hidden)
			continue;
		memcpy(numbers->hidden, samples->features + (size_t)i * features,
			features * sizeof(float));
		memcpy(numbers->hidden + features, numbers_row(numbers, i) + kind->first,
			kind->numbers * sizeof(float));
		learn_linear(numbers, k, numbers->hidden, target);
	}
}

/* The meaning of a column of rows has changed. */
static void renew_number(struct numbers *numbers, size_t number)
{
	for (int k = 0; k < LINEARS; k++) {
		const struct linear_kind *kind = &linear_kinds[k];

		if (number >= kind->first && (!kind->numbers || number < kind->numbers))
			rls_renew(&numbers->linear[k],
				number - kind->first +
					(kind->hidden ? numbers->config.features : 0));
	}
}

void numbers_fill_bank(struct numbers *numbers)
{
	const struct rows rows = rows_until(&numbers->rows, numbers->taught);

	if (!numbers->config.lean)
		bank_fill(&numbers->bank, &rows, numbers_used(numbers) - ROWS_FIRST,
			&numbers->values);
}

/* Learns the next kept row; leaves: those found when it was asked about, or NULL. */
static void learn_row(struct numbers *numbers, const float *row, const struct grove_leaves *leaves)
{
	const struct rows rows = rows_until(&numbers->rows, ++numbers->taught);
	const size_t at = rows_place(&rows, rows.seen - 1);
	float target[ROWS_TARGETS];

	for (int k = 0; k < ROWS_TARGETS; k++)
		target[k] = rows.target[k][at];
	for (int k = 0; k < LINEARS; k++)
		if (!linear_kinds[k].hidden)
			learn_linear(numbers, k, row + linear_kinds[k].first, target);
	if (numbers->config.lean)
		return;
	bank_add(&numbers->bank, row, target);
	grove_learn(&numbers->grove, row, leaves, &rows, numbers_used(numbers));
}

/* Learns kept rows, except as many as targets are late by; the newest is sample i of the step. */
static void learn_rows(struct numbers *numbers, int i)
{
	const struct rows *rows = &numbers->rows;
	float row[ROWS_PADDED] = {0};

	while (numbers->taught < rows->seen - numbers->late) {
		const size_t at = rows_place(rows, numbers->taught);

		if (numbers->taught == rows->seen - 1) {
			learn_row(numbers, numbers_row(numbers, i), &numbers->said[i].leaves);
			return;
		}
		for (size_t j = 0; j < rows->width; j++)
			row[j] = rows_number(rows, j)[at];
		learn_row(numbers, row, NULL);
	}
}

static void follow_values(struct numbers *numbers, struct values_change change)
{
	const unsigned changed = change.taken | change.left;

	for (unsigned k = 0; k < VALUES_PLACES; k++)
		for (unsigned q = 0; q < VALUES_EACH && changed >> k & 1; q++) {
			const size_t number = ROWS_FIRST + numbers->inputs + VALUES_EACH * k + q;

			renew_number(numbers, number);
			rows_clear(&numbers->rows, number);
		}
	if (changed || change.binary)
		numbers_fill_bank(numbers);
}

static void follow_seasons(struct numbers *numbers, unsigned changed)
{
	for (size_t q = 0; q < 2 * SEASONS; q++)
		if (changed >> q / 2 & 1)
			renew_number(numbers, LAGS - 2 * SEASONS + q);
	if (!changed)
		return;
	rows_renew_seasons(&numbers->rows, &numbers->lags);
	numbers_fill_bank(numbers);
}

static float in_scales(double apart, double scale)
{
	return (float)within(apart / scale, -TARGET_MOST, TARGET_MOST);
}

/* The origin of a step's targets. */
struct origin {
	double base, centre, scale;
};

static void teach(struct numbers *numbers, const struct numbers_samples *samples, int i,
	struct lags_moment moment, struct origin from, double number)
{
	struct level *level = &numbers->level;
	const float *raw = samples->raw ? samples->raw + (size_t)i * numbers->config.floats : NULL;
	const struct level_value value = level_add(level, number);
	const int64_t at = numbers->lags.seen;
	struct values_change values;
	float target[ROWS_TARGETS];
	double change;

	/* Before the first target there was no origin. */
	if (!moment.known) {
		from = (struct origin){value.history, level->centre, level->scale};
		moment.base = from.base;
		moment.scale = from.scale;
	}
	target[ROWS_LEVEL] = in_scales(value.level - from.centre, from.scale);
	target[ROWS_CHANGE] = in_scales(value.history - from.base, from.scale);
	target[ROWS_REST] = in_scales(
		value.history - from.base - from.scale * numbers->said[i].linear, from.scale);
	learn_hidden(numbers, samples, i, target);
	lags_add(&numbers->lags, value.history);
	rows_add(&numbers->rows, numbers_row(numbers, i), target, &moment);
	learn_rows(numbers, i);
	change = level->outlier ? 0 : value.level - from.base;
	level_follow(level, value.level, change);
	foretold_learn(&numbers->foretold, &numbers->values, raw, number, level->outlier);
	values = values_learn(
		&numbers->values, raw, value.level - level->centre, change - level->drift);
	since_learn(
		&numbers->since, &numbers->values, raw, numbers->inputs, at, moment.known, &values);
	follow_values(numbers, values);
	follow_seasons(numbers, lags_choose(&numbers->lags));
}

/* answer, half: what was answered about the sample, and half its interval. */
static void score(struct numbers *numbers, const struct lags_moment *moment,
	const struct numbers_said *said, double number, double answer, double half)
{
	/* Errors of rows that were asked about together are correlated. */
	const int64_t ahead = moment->at - moment->known - numbers->late;
	const double wait = blend_wait(&numbers->blend, number, answer, numbers->late);
	const double share = 1 / (wait + (double)(ahead < AHEAD_MOST ? ahead : AHEAD_MOST));
	const double scale = numbers->level.count < SETTLED ? 0 : numbers->level.scale;

	if (numbers->late)
		blend_excuse(&numbers->blend, number, said->answer, answer);
	again_learn(&numbers->again, &said->again, number, said->blend.answer, numbers->blend.error,
		share);
	if (said->foretold.speaks)
		gate_learn(&numbers->foretold.record, number, said->again.answer,
			said->foretold.value, numbers->blend.error, share);
	blend_learn(&numbers->blend, &said->blend, number, share, LEAST_ERROR * scale);
	band_learn(&numbers->band, number - answer, half, numbers->late);
}

static void learn_piece(
	struct numbers *numbers, const struct numbers_samples *samples, const union target *labels)
{
	const int64_t seen = numbers->lags.seen;
	const int most = seen < NUMBERS_LATE ? (int)seen : NUMBERS_LATE;
	const int late = samples->late < most ? samples->late : most;
	const struct lags_moment first = numbers_moment(numbers, 0, late);
	const struct origin from = {first.base, numbers->level.centre, numbers->level.scale};
	const double half = band_half(&numbers->band);

	for (int i = 0; i < samples->n; i++) {
		const struct lags_moment moment = numbers_moment(numbers, i, late);

		numbers_look(numbers, samples, i, &moment);
	}
	numbers->asked = 0;
	numbers->late = late;
	for (int i = 0; i < samples->n; i++) {
		const bool known = isfinite(labels[i].number);
		const float *said =
			samples->said ? samples->said + (size_t)i * samples->stride : NULL;
		const bool then = said && isfinite(said[NUMBER_VALUE]);
		struct lags_moment moment = first;

		moment.at += i;
		/* Before any target was known, answers were blind guesses. */
		if (known && (moment.known || !samples->late))
			score(numbers, &moment, &numbers->said[i], (double)labels[i].number,
				then ? (double)said[NUMBER_VALUE] : numbers->said[i].answer,
				then ? (double)said[NUMBER_HIGH] - (double)said[NUMBER_VALUE]
				     : half);
		teach(numbers, samples, i, moment, from,
			known ? (double)labels[i].number : first.base);
	}
}

void numbers_learn(
	struct numbers *numbers, const struct numbers_samples *samples, const union target *labels)
{
	const size_t floats = numbers->config.floats, features = numbers->config.features;

	for (int from = 0; from < samples->n; from += numbers->room) {
		const size_t at = (size_t)from;
		const int left = samples->n - from;
		const struct numbers_samples piece = {samples->inputs + at * floats,
			samples->raw ? samples->raw + at * floats : NULL,
			samples->features ? samples->features + at * features : NULL,
			samples->slow + at, left < numbers->room ? left : numbers->room,
			samples->late, samples->said ? samples->said + at * samples->stride : NULL,
			samples->stride};

		learn_piece(numbers, &piece, labels + at);
	}
}
