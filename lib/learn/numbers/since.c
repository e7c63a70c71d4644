/* Invariant: a clock has been tried for so long that all kept times are its own. */
#include "learn/numbers/since.h"

#include <math.h>
#include <string.h>

#include "learn/numbers/level.h"

static const int UNEVEN_FEWEST = SINCE_TRIED / 20, ROSE_FEWEST = SINCE_TRIED / 2;
static const double EVEN = 0.1; /* of what is usual, that a gap is off */
static const double FELL_MOST = 0.05, FELL_RATE = 0.01;
static const double QUICK = 0.05, SLOW = 0.001; /* steps towards a median, as shares of it */
static const double PASSED_MOST = 256, SHOWN_MOST = 17;

void since_init(struct since *since)
{
	memset(since, 0, sizeof(*since));
	since->place = -1;
	since->newest = NAN;
	for (int i = 0; i < SINCE_TRIED; i++)
		since->time[i] = NAN;
}

/*
 * Days since 1970 are known to some minutes, as a float; the time of day, which a schema puts three
 * inputs behind, to milliseconds.
 */
static double time_of(const struct since *since, const float *raw, size_t columns)
{
	const size_t fine = (size_t)since->column + 3;
	const double time = raw ? (double)raw[since->column] : NAN;
	const double day = raw && fine < columns ? (double)raw[fine] : NAN;
	const double whole = rint(time - day);

	if (time > 1000 && day >= 0 && day < 1 && fabs(time - day - whole) < 1.0 / 128)
		return whole + day;
	return time;
}

static double time_then(const struct since *since, int64_t row)
{
	return since->time[row % SINCE_TRIED];
}

void since_fill(const struct since *since, const float *raw, size_t columns, int64_t known,
	float row[VALUES_EACH])
{
	const double time = time_of(since, raw, columns);
	const double passed = (time - time_then(since, known - 1)) / since->passed;

	row[0] = row[1] = 0;
	if (!(passed >= 0))
		return;
	row[0] = (float)(fmin(passed, SHOWN_MOST) - 1);
	row[1] = (float)(sqrt(fmin(passed, PASSED_MOST)) - 1);
}

/* Towards the median of what is above 0. */
static void follow(double *usual, double value, bool quick)
{
	const double step = 1 + (quick ? QUICK : SLOW);

	if (!(value > 0))
		return;
	if (*usual > 0)
		*usual = value > *usual ? *usual * step : *usual / step;
	else
		*usual = value;
}

static void try_next(struct since *since, size_t columns)
{
	const int next = since->column + 1;

	since_init(since);
	since->column = (size_t)next < columns ? next : 0;
}

static void leave(struct since *since, struct values *values, struct values_change *change)
{
	change->left |= 1U << since->place;
	values->place[since->place] = -1;
}

/* What the row says of the column; false: it is no clock. */
static bool look(struct since *since, double time, bool claimed)
{
	const double gap = time - since->newest;
	const bool first = isnan(since->newest), fell = gap < 0;

	since->rows += since->rows < SINCE_TRIED;
	if (!isfinite(time))
		return true;
	since->newest = time;
	since->fell += FELL_RATE * (fell - since->fell);
	if (first || fell)
		return claimed ? since->fell <= FELL_MOST : !fell;
	if (!claimed && since->rows < SINCE_TRIED) {
		since->rose += gap > 0;
		since->uneven += fabs(gap - since->gap) > EVEN * since->gap;
	}
	follow(&since->gap, gap, !claimed);
	return true;
}

void since_learn(struct since *since, struct values *values, const float *raw, size_t columns,
	int64_t at, int64_t known, struct values_change *change)
{
	const bool claimed = since->place >= 0;
	double time;

	if (!columns)
		return;
	time = time_of(since, raw, columns);
	if (!look(since, time, claimed)) {
		if (claimed)
			leave(since, values, change);
		try_next(since, columns);
		return;
	}
	since->time[at % SINCE_TRIED] = since->newest;
	if (known > 0 && known > at - since->rows)
		follow(&since->passed, time - time_then(since, known - 1), !claimed);
	if (claimed || since->rows < SINCE_TRIED)
		return;
	if (since->rose < ROSE_FEWEST || since->uneven < UNEVEN_FEWEST || !(since->passed > 0))
		try_next(since, columns);
	else
		since->place = values_take(values, VALUES_CLOCK, change);
}

static bool may_be(double value, double least)
{
	return value >= least && value < 1e100;
}

static bool sound(const struct since *since, const struct values *values, size_t columns)
{
	bool right = since->column >= 0 && ((size_t)since->column < columns || !since->column) &&
		     since->rows >= 0 && since->rows <= SINCE_TRIED && since->place >= -1 &&
		     since->place < values->used && may_be(since->fell, 0) &&
		     may_be(since->gap, 0) && may_be(since->passed, 0);

	for (int k = 0; k < VALUES_PLACES; k++)
		right = right && (values->place[k] == VALUES_CLOCK) == (k == since->place);
	for (int i = 0; i < SINCE_TRIED; i++)
		right = right && (isnan(since->time[i]) || may_be(fabs(since->time[i]), 0));
	return right && (isnan(since->newest) || may_be(fabs(since->newest), 0));
}

void since_state(
	struct since *since, const struct values *values, size_t columns, struct state *state)
{
	if (state_version(state) < 19) {
		since_init(since);
		return;
	}
	state_enter(state, "since");
	state_int(state, "column", &since->column);
	state_int(state, "rows", &since->rows);
	state_int(state, "rose", &since->rose);
	state_int(state, "uneven", &since->uneven);
	state_int(state, "place", &since->place);
	state_double(state, "fell", &since->fell);
	state_double(state, "gap", &since->gap);
	state_double(state, "passed", &since->passed);
	state_double(state, "newest", &since->newest);
	state_doubles(state, "times", since->time, SINCE_TRIED);
	state_leave(state);
	if (!state_reading(state) || (!state_failed(state) && sound(since, values, columns)))
		return;
	state_refuse(state, ERR_FORMAT, "a clock that cannot be");
	since_init(since);
}
