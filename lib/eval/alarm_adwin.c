/*
 * ADWIN (Bifet and Gavalda, Learning from time-changing data with adaptive windowing, 2007): a
 * window over the latest predictions that grows as long as nothing changes. Wherever it can be
 * cut in two parts whose error rates differ significantly, the older part is dropped. The paper
 * drops the oldest bucket and tests again; here everything older than the clearest cut is dropped
 * at once, so that one change is one alarm.
 *
 * The window consists of buckets of 1, 2, 4 ... predictions, at most BUCKETS of each size, with
 * the number of errors in each. For zeros and ones the variance follows from the mean, so only
 * integers are kept. Row r holds buckets of 2^r, the oldest first.
 *
 * Invariant: width and errors are the sums over all buckets; rows above `rows` are empty.
 */
#include <math.h>
#include <string.h>

#include "eval/alarm_type.h"

enum {
	ROWS = 48,
	BUCKETS = 5,
	CLOCK = 32, /* predictions between two looks */
	PART = 5,   /* the smallest part of the window that is compared */
};

static const double DELTA = 0.002; /* the chance of a false cut, by the paper's bound */

struct adwin {
	int64_t seen, width, errors;
	int32_t rows;
	int32_t count[ROWS];
	int64_t in[ROWS][BUCKETS + 1]; /* errors */
};

static void merge(struct adwin *a, int row)
{
	int64_t *from = a->in[row];

	a->in[row + 1][a->count[row + 1]++] = from[0] + from[1];
	a->count[row] -= 2;
	memmove(from, from + 2, (size_t)a->count[row] * sizeof(*from));
	if (a->rows < row + 2)
		a->rows = row + 2;
}

static void take(struct adwin *a, bool wrong)
{
	a->seen++;
	a->width++;
	a->errors += wrong;
	a->in[0][a->count[0]++] = wrong;
	if (!a->rows)
		a->rows = 1;
	for (int row = 0; a->count[row] > BUCKETS && row < ROWS - 1; row++)
		merge(a, row);
}

/* A place to cut: its older part, and how much clearer the difference is than chance. */
struct cut {
	int64_t width, errors;
	double excess;
	struct alarm_change change;
};

static double excess(const struct adwin *a, const struct cut *cut, double sureness, double bursts)
{
	const double n0 = (double)cut->width, n1 = (double)(a->width - cut->width);
	const double n = (double)a->width, k = (double)a->errors;
	const double m = bursts * (1 / (n0 - PART + 1) + 1 / (n1 - PART + 1));
	const double chance =
		sqrt(2 * m * (k / n) * ((n - k) / n) * sureness) + 2.0 / 3 * sureness * m;

	return fabs(cut->change.after - cut->change.before) - chance;
}

/* The clearest cut; its excess is not above 0 where there is none. */
static struct cut clearest(const struct adwin *a, double bursts)
{
	const double sureness = log(2 * log((double)a->width) / DELTA);
	struct cut at = {0}, best = {0};

	for (int row = a->rows - 1; row >= 0; row--)
		for (int i = 0; i < a->count[row]; i++) {
			at.width += (int64_t)1 << row;
			at.errors += a->in[row][i];
			if (at.width < PART || a->width - at.width < PART)
				continue;
			at.change.before = (double)at.errors / (double)at.width;
			at.change.after =
				(double)(a->errors - at.errors) / (double)(a->width - at.width);
			at.excess = excess(a, &at, sureness, bursts);
			if (at.excess > best.excess)
				best = at;
		}
	return best;
}

static void drop(struct adwin *a, int64_t width)
{
	while (width > 0) {
		const int row = a->rows - 1;

		width -= (int64_t)1 << row;
		a->width -= (int64_t)1 << row;
		a->errors -= a->in[row][0];
		a->count[row]--;
		memmove(a->in[row], a->in[row] + 1, (size_t)a->count[row] * sizeof(**a->in));
		while (a->rows && !a->count[a->rows - 1])
			a->rows--;
	}
}

static bool add(void *memory, bool wrong, double bursts, struct alarm_change *change)
{
	struct adwin *a = memory;
	bool changed = false;

	take(a, wrong);
	if (a->seen % CLOCK)
		return false;
	for (;;) {
		const struct cut cut = clearest(a, bursts);

		if (!(cut.excess > 0))
			return changed;
		if (!changed)
			*change = cut.change;
		changed = true;
		drop(a, cut.width);
	}
}

/* Counts that do not fit together would be read out of bounds later. */
static void check(const struct adwin *a, struct state *state)
{
	int64_t width = 0, errors = 0;

	for (int row = 0; row < ROWS; row++) {
		if (a->count[row] < 0 || a->count[row] > BUCKETS ||
			(row >= a->rows && a->count[row])) {
			state_refuse(
				state, ERR_FORMAT, "%d buckets of the size %d", a->count[row], row);
			return;
		}
		for (int i = 0; i < a->count[row]; i++) {
			if (a->in[row][i] < 0 || a->in[row][i] > (int64_t)1 << row) {
				state_refuse(state, ERR_FORMAT, "a bucket with impossible errors");
				return;
			}
			width += (int64_t)1 << row;
			errors += a->in[row][i];
		}
	}
	if (width != a->width || errors != a->errors || a->seen < width ||
		(a->rows && !a->count[a->rows - 1]))
		state_refuse(state, ERR_FORMAT, "buckets that are not the window");
}

static void state(void *memory, struct state *state)
{
	struct adwin *a = memory;

	state_int64(state, "seen", &a->seen);
	state_int64(state, "width", &a->width);
	state_int64(state, "errors", &a->errors);
	state_int32s(state, "rows", &a->rows, 1);
	state_int32s(state, "counts", a->count, ROWS);
	state_int64s(state, "buckets", a->in[0], (size_t)ROWS * (BUCKETS + 1));
	if (state_failed(state) || !state_reading(state))
		return;
	if (a->rows < 0 || a->rows > ROWS)
		state_refuse(state, ERR_FORMAT, "%d sizes of buckets", a->rows);
	else
		check(a, state);
}

const struct alarm_type alarm_adwin = {
	.name = "adwin",
	.help = "a window as long as nothing changes, cut where its two parts differ",
	.size = sizeof(struct adwin),
	.add = add,
	.state = state,
};
