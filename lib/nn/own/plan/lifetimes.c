/*
 * First fit, largest buffer first: a buffer goes to the lowest offset where no
 * buffer that is alive at the same time lies. Quadratic in the number of
 * buffers, which is a few hundred.
 */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "nn/own/plan/lifetimes.h"

enum { GRAIN = 16 };

int lifetimes_add(struct lifetimes *l, size_t floats, int moment, struct err *err)
{
	if (l->count == l->room) {
		const int room = l->room ? 2 * l->room : 64;
		struct lifetime *grown = mem_resize(l->rows, room, sizeof(*grown));
		if (!grown)
			return err_memory(err, "a plan's buffers", room * sizeof(*grown));
		l->rows = grown;
		l->room = room;
	}
	l->rows[l->count] =
		(struct lifetime){(floats + GRAIN - 1) / GRAIN * GRAIN, moment, moment, 0};
	return l->count++;
}

void lifetimes_extend(struct lifetimes *l, int row, int moment)
{
	if (l->rows[row].end < moment)
		l->rows[row].end = moment;
}

void lifetimes_release(struct lifetimes *l)
{
	mem_free(l->rows);
	memset(l, 0, sizeof(*l));
}

static int larger_first(const void *a, const void *b)
{
	const struct lifetime *x = *(struct lifetime *const *)a, *y = *(struct lifetime *const *)b;
	if (x->floats != y->floats)
		return x->floats < y->floats ? 1 : -1;
	return x < y ? -1 : x > y;
}

static int lower_first(const void *a, const void *b)
{
	const struct lifetime *x = *(struct lifetime *const *)a, *y = *(struct lifetime *const *)b;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* The lowest gap beside the neighbours, which are sorted by offset. */
static size_t lowest_gap(struct lifetime *const *neighbours, int count, size_t floats)
{
	size_t at = 0;

	for (int i = 0; i < count; i++) {
		if (neighbours[i]->offset >= at + floats)
			return at;
		const size_t end = neighbours[i]->offset + neighbours[i]->floats;
		at = end > at ? end : at;
	}
	return at;
}

int lifetimes_assign(struct lifetimes *l, struct err *err)
{
	struct lifetime **order = mem_new(2 * (size_t)l->count + 1, sizeof(*order));
	struct lifetime **neighbours = order + l->count;

	if (!order)
		return err_memory(err, "a plan's buffers", 2 * l->count * sizeof(*order));
	for (int i = 0; i < l->count; i++)
		order[i] = l->rows + i;
	qsort(order, l->count, sizeof(*order), larger_first);
	l->floats = 0;
	for (int i = 0; i < l->count; i++) {
		struct lifetime *row = order[i];
		int count = 0;
		for (int j = 0; j < i; j++)
			if (order[j]->begin <= row->end && order[j]->end >= row->begin)
				neighbours[count++] = order[j];
		qsort(neighbours, count, sizeof(*neighbours), lower_first);
		row->offset = lowest_gap(neighbours, count, row->floats);
		if (l->floats < row->offset + row->floats)
			l->floats = row->offset + row->floats;
	}
	mem_free(order);
	return 0;
}
