/* Lists of free places. Invariant: a list has room for what it holds, and taking never allocates. */
#include "store/places.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"

enum { EXACT = 16, LEAST_ROOM = 64 };

/* Up to EXACT units every number has a list; then each octave has EXACT of them. */
static int list_of(size_t size, int64_t *units)
{
	int64_t wanted = (int64_t)((size + PLACES_UNIT - 1) / PLACES_UNIT);
	int shift = 0;

	if (wanted < 1)
		wanted = 1;
	while (wanted >> shift >= 2 * EXACT)
		shift++;
	wanted = (wanted + ((int64_t)1 << shift) - 1) >> shift;
	*units = wanted << shift;
	return EXACT * shift + (int)wanted;
}

void places_release(struct places *places)
{
	for (int i = 0; i < PLACES_LISTS; i++)
		mem_free(places->lists[i].free);
	*places = (struct places){0};
}

int64_t places_take(struct places *places, size_t size)
{
	int64_t units, place;
	struct places_list *list = &places->lists[list_of(size, &units)];

	assert(size <= PLACES_MOST);
	if (list->count)
		return list->free[--list->count];
	place = places->end;
	places->end += units;
	return place;
}

static int grow(struct places_list *list, int64_t count, struct err *err)
{
	int64_t room = list->room ? list->room : LEAST_ROOM, *more;

	if (count <= list->room)
		return 0;
	while (room < count)
		room *= 2;
	more = mem_resize(list->free, (size_t)room, sizeof(*more));
	if (!more)
		return err_memory(err, "free places", (unsigned long long)room * sizeof(*more));
	list->free = more;
	list->room = room;
	return 0;
}

int places_reserve(struct places *places, const size_t *sizes, size_t count, struct err *err)
{
	int64_t more[PLACES_LISTS] = {0}, units;
	int code = 0;

	for (size_t i = 0; i < count; i++)
		more[list_of(sizes[i], &units)]++;
	for (int i = 0; i < PLACES_LISTS && !code; i++)
		if (more[i])
			code = grow(&places->lists[i], places->lists[i].count + more[i], err);
	return code;
}

void places_give(struct places *places, int64_t place, size_t size)
{
	int64_t units;
	struct places_list *list = &places->lists[list_of(size, &units)];

	assert(list->count < list->room);
	list->free[list->count++] = place;
}

void places_remember(const struct places *places, struct places_mark *mark)
{
	for (int i = 0; i < PLACES_LISTS; i++)
		mark->counts[i] = places->lists[i].count;
	mark->end = places->end;
}

void places_undo(struct places *places, const struct places_mark *mark)
{
	for (int i = 0; i < PLACES_LISTS; i++)
		places->lists[i].count = mark->counts[i];
	places->end = mark->end;
}

static void list_state(struct places *places, int index, struct state *state)
{
	struct places_list *list = &places->lists[index];
	int64_t count = list->count;
	struct err err;

	state_int64(state, "free", &count);
	if (state_failed(state))
		return;
	if (count < 0 || count > places->end)
		state_refuse(state, ERR_FORMAT, "%lld places are free", (long long)count);
	else if (grow(list, count, &err))
		state_refuse(state, err.code, "%s", err.message);
	else {
		list->count = count;
		if (count)
			state_int64s(state, "places", list->free, (size_t)count);
	}
}

void places_state(struct places *places, struct state *state)
{
	state_enter(state, "places");
	state_int64(state, "end", &places->end);
	if (places->end < 0)
		state_refuse(state, ERR_FORMAT, "the end is at %lld", (long long)places->end);
	for (int i = 0; i < PLACES_LISTS; i++)
		list_state(places, i, state);
	state_leave(state);
}
