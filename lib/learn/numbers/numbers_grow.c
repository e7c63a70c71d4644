/*
 * Carries models over to more inputs. In a row new inputs come behind the old ones and before
 * targets by value, which move. For new numbers least squares starts with its initial spread.
 */
#include <string.h>

#include "learn/numbers/numbers_impl.h"

/* Where the numbers of old rows are in new rows. */
struct places {
	size_t first, by; /* those from `first` on move by this many */
};

static size_t moved(const struct places *places, size_t number)
{
	return number < places->first ? number : number + places->by;
}

static void grow_linear(
	struct rls *to, const struct rls *from, size_t numbers, const struct places *places)
{
	to->error = from->error;
	for (size_t i = 0; i < numbers; i++) {
		const size_t at = moved(places, i);

		to->weights[at] = from->weights[i];
		if (!to->whole)
			to->spread[at] = from->spread[from->whole ? i * (from->room + 1) : i];
		for (size_t j = 0; j < numbers && to->whole; j++)
			to->spread[at * to->room + moved(places, j)] =
				from->spread[i * from->room + j];
	}
}

static void grow_values(struct values *to, const struct values *from)
{
	to->used = from->used;
	to->seen = from->seen;
	memcpy(to->place, from->place, sizeof(to->place));
	memcpy(to->column, from->column, (size_t)from->columns * sizeof(*from->column));
	values_sort_out(to);
}

/* As many as fit. */
static void grow_rows(struct rows *to, const struct rows *from, const struct places *places)
{
	const int64_t kept = rows_kept(from) < to->room ? rows_kept(from) : to->room;

	to->seen = from->seen;
	for (int64_t id = from->seen - kept; id < from->seen; id++) {
		const size_t at = rows_place(to, id), was = rows_place(from, id);

		for (size_t j = 0; j < from->width; j++)
			rows_number(to, moved(places, j))[at] = rows_number(from, j)[was];
		for (int k = 0; k < ROWS_TARGETS; k++)
			to->target[k][at] = from->target[k][was];
		to->base[at] = from->base[was];
		to->scale[at] = from->scale[was];
		to->ahead[at] = from->ahead[was];
	}
}

static void grow_grove(
	struct grove *to, const struct grove *from, size_t numbers, const struct places *places)
{
	memcpy(to->model, from->model, sizeof(to->model));
	memcpy(to->tree, from->tree, GROVE_TREES * sizeof(*to->tree));
	for (int k = 0; k < ROWS_TARGETS; k++)
		for (size_t j = 0; j < numbers; j++)
			to->worth[k][moved(places, j)] = from->worth[k][j];
	for (int i = 0; i < GROVE_TREES; i++)
		for (int k = 0; k < to->tree[i].nodes; k++) {
			struct grove_node *node = &to->tree[i].node[k];

			node->column = (int16_t)moved(places, (size_t)node->column);
		}
}

void numbers_grow(struct numbers *to, const struct numbers *from)
{
	const struct places same = {SIZE_MAX, 0};
	double *const history = to->lags.history;

	if (to->inputs < from->inputs)
		return;
	to->level = from->level;
	to->blend = from->blend;
	to->again = from->again;
	to->foretold = from->foretold;
	to->band = from->band;
	to->late = from->late;
	to->taught = from->taught;
	to->since = from->since;
	to->lags = from->lags;
	to->lags.history = history;
	memcpy(history, from->lags.history, LAGS_HISTORY * sizeof(double));
	to->asked = 0;
	for (int k = 0; k < LINEARS; k++) {
		const struct linear_kind *kind = &linear_kinds[k];
		const struct places places = {
			ROWS_FIRST + from->inputs - kind->first, to->inputs - from->inputs};
		const size_t numbers = linear_numbers(from, k, numbers_used(from));

		grow_linear(
			&to->linear[k], &from->linear[k], numbers, kind->numbers ? &same : &places);
	}
	grow_values(&to->values, &from->values);
	grow_rows(&to->rows, &from->rows,
		&(struct places){ROWS_FIRST + from->inputs, to->inputs - from->inputs});
	if (!to->config.lean)
		grow_grove(&to->grove, &from->grove, numbers_used(from),
			&(struct places){ROWS_FIRST + from->inputs, to->inputs - from->inputs});
	numbers_fill_bank(to);
}
