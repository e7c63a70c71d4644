/* What the samples of a step teach, one after the other. */
#include <math.h>
#include <string.h>

#include "learn/numbers/numbers_impl.h"

enum { SETTLED = 10, AHEAD_MOST = 50 };

static const double TARGET_MOST = 20;   /* in scales */
static const double LEAST_ERROR = 1e-9; /* of a blend, in scales */

static void learn_linear(struct numbers *numbers, int k, const struct numbers_samples *samples,
	int i, const float target[ROWS_TARGETS])
{
	const struct linear_kind *kind = &linear_kinds[k];
	const size_t features = numbers->config.features;
	const float *row = numbers_row(numbers, i) + kind->first;

	if (kind->hidden) {
		memcpy(numbers->hidden, samples->features + (size_t)i * features,
			features * sizeof(float));
		memcpy(numbers->hidden + features, row, kind->numbers * sizeof(float));
		row = numbers->hidden;
	}
	rls_learn(&numbers->linear[k], row, linear_numbers(numbers, k, numbers_used(numbers)),
		target[kind->target]);
}

/* A number of rows has another meaning. */
static void renew_number(struct numbers *numbers, size_t number)
{
	for (int k = 0; k < numbers->linears; k++) {
		const struct linear_kind *kind = &linear_kinds[k];

		if (number >= kind->first && (!kind->numbers || number < kind->numbers))
			rls_renew(&numbers->linear[k],
				number - kind->first +
					(kind->hidden ? numbers->config.features : 0));
	}
}

void numbers_fill_bank(struct numbers *numbers)
{
	if (!numbers->config.lean)
		bank_fill(&numbers->bank, &numbers->rows, numbers_used(numbers) - ROWS_FIRST);
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
	if (changed)
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

/* Where targets of a step are measured from. */
struct origin {
	double base, centre, scale;
};

static void teach(struct numbers *numbers, const struct numbers_samples *samples, int i,
	struct lags_moment moment, struct origin from, double number)
{
	struct level *level = &numbers->level;
	const size_t floats = numbers->config.floats;
	const struct level_value value = level_add(level, number);
	float target[ROWS_TARGETS];
	double change;

	/* Before the first target there was nothing to measure from. */
	if (!moment.known) {
		from = (struct origin){value.history, level->centre, level->scale};
		moment.base = from.base;
		moment.scale = from.scale;
	}
	target[ROWS_LEVEL] = in_scales(value.level - from.centre, from.scale);
	target[ROWS_CHANGE] = in_scales(value.history - from.base, from.scale);
	target[ROWS_REST] = in_scales(
		value.history - from.base - from.scale * numbers->said[i].linear, from.scale);
	for (int k = 0; k < numbers->linears; k++)
		learn_linear(numbers, k, samples, i, target);
	lags_add(&numbers->lags, value.history);
	rows_add(&numbers->rows, numbers_row(numbers, i), target, &moment);
	if (!numbers->config.lean) {
		bank_add(&numbers->bank, numbers_row(numbers, i), target);
		grove_learn(&numbers->grove, numbers_row(numbers, i), &numbers->rows,
			numbers_used(numbers));
	}
	change = level->outlier ? 0 : value.level - from.base;
	level_follow(level, value.level, change);
	follow_values(numbers, values_learn(&numbers->values,
				       samples->raw ? samples->raw + (size_t)i * floats : NULL,
				       value.level - level->centre, change - level->drift));
	follow_seasons(numbers, lags_choose(&numbers->lags));
}

static void score(struct numbers *numbers, const struct lags_moment *moment,
	const struct blend_said *said, double number, double half)
{
	const int64_t ahead = moment->at - moment->known;
	const double share = 1 / (1 + (double)(ahead < AHEAD_MOST ? ahead : AHEAD_MOST));
	const double scale = numbers->level.count < SETTLED ? 0 : numbers->level.scale;

	blend_learn(&numbers->blend, said, number, share, LEAST_ERROR * scale);
	band_learn(&numbers->band, number - said->answer, half);
}

static void learn_piece(
	struct numbers *numbers, const struct numbers_samples *samples, const union target *labels)
{
	const struct lags_moment first = numbers_moment(numbers, 0);
	const struct origin from = {first.base, numbers->level.centre, numbers->level.scale};
	const double half = band_half(&numbers->band);

	for (int i = 0; i < samples->n; i++) {
		const struct lags_moment moment = numbers_moment(numbers, i);

		numbers_look(numbers, samples, i, &moment);
	}
	numbers->asked = 0;
	for (int i = 0; i < samples->n; i++) {
		const bool known = isfinite(labels[i].number);
		struct lags_moment moment = first;

		moment.at += i;
		if (known)
			score(numbers, &moment, &numbers->said[i].blend, (double)labels[i].number,
				half);
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
			samples->slow + at, left < numbers->room ? left : numbers->room};

		learn_piece(numbers, &piece, labels + at);
	}
}
