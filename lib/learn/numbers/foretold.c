/* Invariant: columns of signs are columns of the values. */
#include "learn/numbers/foretold.h"

#include <math.h>

#include "learn/numbers/gate.h"

static const double KEEP = 0.9, RATE = 0.2;
static const double MOST_BEFORE = 1; /* visits of a value before it becomes a sign */

void foretold_init(struct foretold *foretold)
{
	*foretold = (struct foretold){0};
}

static int signs_of(const struct foretold *foretold)
{
	return foretold->made < FORETOLD_SIGNS ? (int)foretold->made : FORETOLD_SIGNS;
}

static bool applies(const struct foretold *foretold, int k, const float *raw)
{
	return raw && raw[foretold->column[k]] == foretold->value[k];
}

struct foretold_said foretold_ask(const struct foretold *foretold, const float *raw)
{
	struct foretold_said said = {0};
	double visits = INFINITY;

	for (int k = 0; k < signs_of(foretold); k++) {
		if (!applies(foretold, k, raw) || foretold->visits[k] >= visits ||
			foretold->outliers[k] <= foretold->visits[k] / 2)
			continue;
		visits = foretold->visits[k];
		said = (struct foretold_said){true, foretold->mean[k]};
	}
	return said;
}

static void add_sign(
	struct foretold *foretold, int column, float value, double visits, double target)
{
	const int at = (int)(foretold->made++ % FORETOLD_SIGNS);

	foretold->column[at] = column;
	foretold->value[at] = value;
	foretold->visits[at] = visits + 1;
	foretold->outliers[at] = 1;
	foretold->mean[at] = target;
}

/* Returns a bit mask of signs that applied. */
static unsigned follow_signs(
	struct foretold *foretold, const float *raw, double target, bool outlier)
{
	unsigned known = 0;

	for (int k = 0; k < signs_of(foretold); k++) {
		if (!applies(foretold, k, raw))
			continue;
		known |= 1U << k;
		foretold->visits[k] = KEEP * foretold->visits[k] + 1;
		foretold->outliers[k] = KEEP * foretold->outliers[k] + outlier;
		if (outlier)
			foretold->mean[k] += fmax(RATE, 1 / foretold->outliers[k]) *
					     (target - foretold->mean[k]);
	}
	return known;
}

static bool is_known(const struct foretold *foretold, unsigned known, int column)
{
	for (int k = 0; k < FORETOLD_SIGNS; k++)
		if (known >> k & 1 && foretold->column[k] == column)
			return true;
	return false;
}

void foretold_learn(struct foretold *foretold, const struct values *values, const float *raw,
	double target, bool outlier)
{
	unsigned known;

	if (!raw)
		return;
	known = follow_signs(foretold, raw, target, outlier);
	for (int j = 0; j < values->columns && outlier; j++) {
		const double visits = values_visits(values, j, raw[j]);

		if (visits <= MOST_BEFORE && !is_known(foretold, known, j))
			add_sign(foretold, j, raw[j], visits, target);
	}
}

static bool sound(const struct foretold *foretold, const struct values *values)
{
	bool right = foretold->made >= 0 && fabs(foretold->record) <= GATE_MOST;

	for (int k = 0; k < FORETOLD_SIGNS; k++)
		right = right && foretold->column[k] >= 0 &&
			(foretold->column[k] < values->columns || !foretold->made) &&
			isfinite(foretold->value[k]) && foretold->visits[k] >= 0 &&
			foretold->visits[k] < 1e3 && foretold->outliers[k] >= 0 &&
			foretold->outliers[k] < 1e3 && fabs(foretold->mean[k]) < 1e100;
	return right;
}

void foretold_state(struct foretold *foretold, const struct values *values, struct state *state)
{
	if (state_reading(state))
		foretold_init(foretold);
	if (state_version(state) < 20)
		return;
	state_enter(state, "foretold");
	state_int64(state, "made", &foretold->made);
	state_int32s(state, "columns", foretold->column, FORETOLD_SIGNS);
	state_floats(state, "values", foretold->value, FORETOLD_SIGNS);
	state_doubles(state, "visits", foretold->visits, FORETOLD_SIGNS);
	state_doubles(state, "outliers", foretold->outliers, FORETOLD_SIGNS);
	state_doubles(state, "means", foretold->mean, FORETOLD_SIGNS);
	state_double(state, "record", &foretold->record);
	state_leave(state);
	if (!state_reading(state) || (!state_failed(state) && sound(foretold, values)))
		return;
	state_refuse(state, ERR_FORMAT, "signs of outliers that cannot be");
	foretold_init(foretold);
}
