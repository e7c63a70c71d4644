/* Invariant: places and columns refer to each other, or to none. */
#include "learn/numbers/values.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/numbers/level.h"

enum { SETTLED = 100 }; /* rows before a column may qualify */

static const double KEEP = 0.99, SHRINK = 10, MOST = 4;

int values_init(struct values *values, size_t floats, struct err *err)
{
	const size_t columns = floats < VALUES_COLUMNS ? floats : VALUES_COLUMNS;

	*values = (struct values){.columns = (int)columns};
	for (int k = 0; k < VALUES_PLACES; k++)
		values->place[k] = -1;
	values->column = mem_new(columns + 1, sizeof(*values->column));
	if (!values->column)
		return err_memory(err, "targets by value", columns * sizeof(*values->column));
	for (size_t j = 0; j < columns; j++)
		values->column[j].place = -1;
	return 0;
}

void values_release(struct values *values)
{
	mem_free(values->column);
}

/* Lower bound: the first value of a column that is not less. */
static int find(const struct values_column *column, float value)
{
	int from = 0, to = column->count;

	while (from < to) {
		const int middle = (from + to) / 2;

		if (column->value[middle] < value)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static bool holds(const struct values_column *column, int at, float value)
{
	return at < column->count && column->value[at] == value;
}

double values_visits(const struct values *values, int column, float value)
{
	const struct values_column *of = &values->column[column];
	const int at = find(of, value);

	if (of->count < 0 || !isfinite(value))
		return INFINITY;
	return holds(of, at, value) ? of->visits[at] : 0;
}

static float shrunk(const struct values_column *column, const double *sums, int at, double scale)
{
	return (float)within(sums[at] / (column->visits[at] + SHRINK) / scale, -MOST, MOST);
}

void values_fill(const struct values *values, const float *raw, double scale, float *row)
{
	for (int k = 0; k < values->used; k++, row += VALUES_EACH) {
		const int j = values->place[k];
		const struct values_column *column = j < 0 ? NULL : &values->column[j];
		int at;

		row[0] = row[1] = 0;
		if (!column || !raw)
			continue;
		at = find(column, raw[j]);
		if (!holds(column, at, raw[j]))
			continue;
		row[0] = shrunk(column, column->level, at, scale);
		row[1] = shrunk(column, column->change, at, scale);
	}
}

static bool is_binary(const struct values_column *column)
{
	bool binary = column->count > 0 && column->count <= 2;

	for (int i = 0; binary && i < column->count; i++)
		binary = column->value[i] == 0 || column->value[i] == 1;
	return binary;
}

void values_sort_out(struct values *values)
{
	for (int j = 0; j < values->columns; j++)
		values->binary[j] = is_binary(&values->column[j]);
}

static void insert(struct values_column *column, int at, float value)
{
	const size_t behind = (size_t)(column->count - at);

	memmove(column->value + at + 1, column->value + at, behind * sizeof(float));
	memmove(column->visits + at + 1, column->visits + at, behind * sizeof(double));
	memmove(column->level + at + 1, column->level + at, behind * sizeof(double));
	memmove(column->change + at + 1, column->change + at, behind * sizeof(double));
	column->value[at] = value;
	column->visits[at] = column->level[at] = column->change[at] = 0;
	column->count++;
}

static void leave_out(struct values *values, struct values_column *column, unsigned *left)
{
	if (column->place >= 0) {
		values->place[column->place] = -1;
		*left |= 1U << column->place;
	}
	column->place = column->count = -1;
}

int values_take(struct values *values, int32_t whose, struct values_change *change)
{
	for (int k = 0; k < VALUES_PLACES; k++) {
		if (values->place[k] != -1)
			continue;
		values->place[k] = whose;
		values->used = k < values->used ? values->used : k + 1;
		change->taken |= 1U << k;
		return k;
	}
	return -1;
}

struct values_change values_learn(
	struct values *values, const float *raw, double level, double change)
{
	struct values_change changed = {0};

	values->seen++;
	for (int j = 0; j < values->columns && raw; j++) {
		struct values_column *column = &values->column[j];
		int at;

		if (column->count < 0 || !isfinite(raw[j]))
			continue;
		at = find(column, raw[j]);
		if (!holds(column, at, raw[j])) {
			if (column->count == VALUES_MOST) {
				leave_out(values, column, &changed.left);
				continue;
			}
			insert(column, at, raw[j]);
			if (values->binary[j] != is_binary(column)) {
				values->binary[j] = !values->binary[j];
				changed.binary = true;
			}
		}
		column->visits[at] = KEEP * column->visits[at] + 1;
		column->level[at] = KEEP * column->level[at] + level;
		column->change[at] = KEEP * column->change[at] + change;
		if (column->place < 0 && column->count >= VALUES_FEWEST && values->seen >= SETTLED)
			column->place = values_take(values, j, &changed);
	}
	return changed;
}

void values_copy(struct values *to, const struct values *from)
{
	struct values_column *column = to->column;

	*to = *from;
	to->column = column;
	for (int j = 0; j < from->columns; j++) {
		const struct values_column *of = &from->column[j];

		/* Nothing else is asked of the others. */
		if (of->place >= 0)
			column[j] = *of;
		else
			column[j].place = -1;
	}
}

static bool column_sound(const struct values *values, int j)
{
	const struct values_column *column = &values->column[j];
	bool right = column->count >= -1 && column->count <= VALUES_MOST && column->place >= -1 &&
		     column->place < values->used;

	if (right && column->place >= 0)
		right = values->place[column->place] == j;
	for (int i = 0; right && i < column->count; i++)
		right = isfinite(column->value[i]) &&
			(!i || column->value[i] > column->value[i - 1]) && column->visits[i] >= 0 &&
			column->visits[i] < 1e6 && fabs(column->level[i]) < 1e100 &&
			fabs(column->change[i]) < 1e100;
	return right;
}

static bool sound(const struct values *values)
{
	bool right = values->used >= 0 && values->used <= VALUES_PLACES && values->seen >= 0;

	for (int k = 0; k < VALUES_PLACES && right; k++) {
		const int32_t j = values->place[k];

		right = j >= VALUES_CLOCK && j < values->columns && (k < values->used || j == -1) &&
			(j < 0 || values->column[j].place == k);
	}
	for (int j = 0; j < values->columns && right; j++)
		right = column_sound(values, j);
	return right;
}

static void column_state(struct values_column *column, struct state *state)
{
	state_int(state, "count", &column->count);
	state_int(state, "place", &column->place);
	if (state_failed(state) || column->count > VALUES_MOST || column->count < 1)
		return;
	state_floats(state, "values", column->value, (size_t)column->count);
	state_doubles(state, "visits", column->visits, (size_t)column->count);
	state_doubles(state, "levels", column->level, (size_t)column->count);
	state_doubles(state, "changes", column->change, (size_t)column->count);
}

void values_state(struct values *values, struct state *state)
{
	state_enter(state, "values");
	state_int64(state, "seen", &values->seen);
	state_int(state, "used", &values->used);
	state_int32s(state, "places", values->place, VALUES_PLACES);
	for (int j = 0; j < values->columns && !state_failed(state); j++)
		column_state(&values->column[j], state);
	state_leave(state);
	if (!state_reading(state))
		return;
	if (!state_failed(state) && sound(values)) {
		values_sort_out(values);
		return;
	}
	state_refuse(state, ERR_FORMAT, "targets by value that cannot be");
	values->used = 0;
	for (int k = 0; k < VALUES_PLACES; k++)
		values->place[k] = -1;
	for (int j = 0; j < values->columns; j++)
		values->column[j].count = values->column[j].place = -1;
	values_sort_out(values);
}
