/* Points of several runs, sorted by iteration and merged where iterations are equal. */
#include "report/curves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "eval/summary.h"

struct point {
	int64_t x;
	double y;
};

struct points {
	struct point *items;
	size_t count, room;
};

static const size_t none = (size_t)-1;

#define METRIC(column) offsetof(struct metrics_row, column)
#define WINDOW(column) offsetof(struct run_window, column)

/* Where a curve's numbers stand in a row of metrics and in a window. */
static const struct {
	size_t metrics, window;
	bool updates;      /* a gamma that is drawn as 1/(1-gamma) */
	const char *since; /* or a column whose mean since the row before is drawn */
} places[CURVES] = {
	[CURVE_IR] = {METRIC(ir), none, false},
	[CURVE_IR_SGD] = {METRIC(ir_sgd), none, false},
	[CURVE_LE] = {METRIC(le), none, false},
	[CURVE_RECENT] = {METRIC(recent), none, false},
	[CURVE_BLIND] = {METRIC(blind), none, false},
	[CURVE_FT] = {METRIC(ft), none, false},
	[CURVE_FT_SGD] = {METRIC(ft_sgd), none, false},
	[CURVE_RATE] = {METRIC(lr), WINDOW(rate), false},
	[CURVE_SIGMA] = {METRIC(sigma), WINDOW(sigma), false},
	[CURVE_LOSS] = {METRIC(val_loss_ma), WINDOW(loss_ma), false},
	[CURVE_LOSS_SGD] = {METRIC(val_loss_sgd), WINDOW(loss_sgd), false},
	[CURVE_WINDOW1] = {METRIC(gamma1), WINDOW(gamma1), true},
	[CURVE_WINDOW2] = {METRIC(gamma2), WINDOW(gamma2), true},
	[CURVE_ERROR] = {.window = none, .since = "mae"},
	[CURVE_ERROR_LAST] = {.window = none, .since = "mae_last"},
	[CURVE_ERROR_MEAN] = {.window = none, .since = "mae_mean"},
	[CURVE_INSIDE] = {.window = none, .since = "inside"},
	[CURVE_WIDTH] = {.window = none, .since = "width"},
};

static double value_at(const void *row, size_t offset, bool updates)
{
	double value;

	memcpy(&value, (const char *)row + offset, sizeof(value));
	if (updates)
		return value < 1 ? 1 / (1 - value) : NAN;
	return value;
}

static void add_point(struct points *points, int64_t x, double y)
{
	if (isfinite(y))
		points->items[points->count++] = (struct point){x, y};
}

static int add_run(
	struct points *points, const struct run_log *log, enum curve_kind kind, struct err *err)
{
	const size_t before = points->count, room = before + log->count + log->window_count + 1;

	if (!grow_room(&points->items, &points->room, room, sizeof(*points->items)))
		return err_memory(err, "a curve", room * sizeof(*points->items));
	for (size_t i = 0; i < log->window_count && places[kind].window != none; i++)
		add_point(points, log->windows[i].iteration,
			value_at(&log->windows[i], places[kind].window, places[kind].updates));
	if (points->count > before)
		return 0;
	for (size_t i = 0; i < log->count && places[kind].since; i++)
		add_point(points, log->rows[i].iteration,
			summary_since(i ? &log->rows[i - 1] : NULL, &log->rows[i],
				metrics_column(places[kind].since)));
	for (size_t i = 0; i < log->count && !places[kind].since; i++)
		add_point(points, log->rows[i].iteration,
			value_at(&log->rows[i], places[kind].metrics, places[kind].updates));
	return 0;
}

static int by_x(const void *a, const void *b)
{
	const struct point *left = a, *right = b;

	/* By value too: sums must not depend on how a sort treats equals. */
	if (left->x != right->x)
		return left->x < right->x ? -1 : 1;
	return left->y < right->y ? -1 : left->y > right->y;
}

/* Makes the curve and frees the points; a code is an error that came before. */
static int merge(struct curve *curve, struct points *points, int code, struct err *err)
{
	const size_t room = points->count + 1;
	double *block = code ? NULL : mem_new(room, 4 * sizeof(*block));

	*curve = (struct curve){0};
	if (!block) {
		mem_free(points->items);
		return code ? code : err_memory(err, "a curve", 4 * room * sizeof(*block));
	}
	*curve = (struct curve){block, block + room, block + 2 * room, block + 3 * room, 0};
	qsort(points->items, points->count, sizeof(*points->items), by_x);
	for (size_t i = 0; i < points->count;) {
		const size_t at = curve->count++;
		double sum = 0;
		size_t end = i;

		for (; end < points->count && points->items[end].x == points->items[i].x; end++)
			sum += points->items[end].y;
		curve->x[at] = (double)points->items[i].x;
		curve->mean[at] = sum / (double)(end - i);
		curve->low[at] = points->items[i].y;
		curve->high[at] = points->items[end - 1].y;
		i = end;
	}
	mem_free(points->items);
	return 0;
}

int curve_make(struct curve *curve, const struct run_set *set, int group, enum curve_kind kind,
	struct err *err)
{
	struct points points = {0};
	int code = 0;

	for (int i = 0; i < set->count && !code; i++)
		if (set->entries[i].group == group)
			code = add_run(&points, set->entries[i].log, kind, err);
	return merge(curve, &points, code, err);
}

int curve_of_run(
	struct curve *curve, const struct run_log *log, enum curve_kind kind, struct err *err)
{
	struct points points = {0};
	const int code = add_run(&points, log, kind, err);

	return merge(curve, &points, code, err);
}

void curve_release(struct curve *curve)
{
	mem_free(curve->x);
	*curve = (struct curve){0};
}
