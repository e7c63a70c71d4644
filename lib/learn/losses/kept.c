/*
 * A hash table with open addressing, from ids to rows. Removal closes the gap, so that a search
 * may stop at the first empty slot. A checkpoint has the rows in memory order; which row an id
 * has does not matter.
 */
#include "learn/losses/kept.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

enum { LEAST_ROOM = 64, CLASSES_MOST = 1 << 24 };

static const int64_t COUNT_MOST = INT64_C(1) << 36; /* times classes: still a number of bytes */

void kept_release(struct kept *kept)
{
	mem_free(kept->ids);
	mem_free(kept->rows);
	mem_free(kept->slots);
	mem_free(kept->spare);
	*kept = (struct kept){0};
}

static int64_t home_of(const struct kept *kept, int64_t id)
{
	return (int64_t)((uint64_t)id * UINT64_C(0x9e3779b97f4a7c15) >> 20) &
	       (kept->slot_count - 1);
}

static int64_t next_of(const struct kept *kept, int64_t slot)
{
	return (slot + 1) & (kept->slot_count - 1);
}

/* The id's slot, or the empty one where it would be. */
static int64_t slot_of(const struct kept *kept, int64_t id)
{
	int64_t slot = home_of(kept, id);

	while (kept->slots[slot] && kept->ids[kept->slots[slot] - 1] != id)
		slot = next_of(kept, slot);
	return slot;
}

/* All in larger arrays; the hash of every id is made again. */
static int resize(struct kept *kept, int64_t room, int classes, struct err *err)
{
	struct kept made = {.room = room, .classes = classes, .slot_count = 2 * LEAST_ROOM};
	const size_t width = (size_t)classes;

	while (made.slot_count < 2 * room)
		made.slot_count *= 2;
	made.ids = mem_new((size_t)room, sizeof(*made.ids));
	made.rows = mem_new((size_t)room * width, sizeof(float));
	made.slots = mem_new((size_t)made.slot_count, sizeof(*made.slots));
	made.spare = mem_new((size_t)room, sizeof(*made.spare));
	if (!made.ids || !made.rows || !made.slots || !made.spare) {
		kept_release(&made);
		return err_memory(err, "kept logits", (size_t)room * width * sizeof(float));
	}
	for (int64_t i = 0; i < room; i++) {
		made.ids[i] = -1;
		made.spare[i] = room - 1 - i;
	}
	for (int64_t row = 0; row < kept->room; row++) {
		float *to;

		if (kept->ids[row] < 0)
			continue;
		to = kept_put(&made, kept->ids[row]);
		memcpy(to, kept->rows + (size_t)row * (size_t)kept->classes,
			(size_t)kept->classes * sizeof(float));
		for (int c = kept->classes; c < classes; c++)
			to[c] = NAN;
	}
	kept_release(kept);
	*kept = made;
	return 0;
}

int kept_reserve(struct kept *kept, int64_t more, struct err *err)
{
	int64_t room = kept->room > LEAST_ROOM ? kept->room : LEAST_ROOM;

	while (room < kept->count + more)
		room *= 2;
	return room == kept->room ? 0 : resize(kept, room, kept->classes, err);
}

int kept_widen(struct kept *kept, int classes, struct err *err)
{
	return resize(kept, kept->room > LEAST_ROOM ? kept->room : LEAST_ROOM, classes, err);
}

float *kept_put(struct kept *kept, int64_t id)
{
	const int64_t row = kept->spare[kept->room - ++kept->count];

	kept->ids[row] = id;
	kept->slots[slot_of(kept, id)] = row + 1;
	return kept->rows + (size_t)row * (size_t)kept->classes;
}

const float *kept_find(const struct kept *kept, int64_t id)
{
	const int64_t row = kept->slot_count ? kept->slots[slot_of(kept, id)] : 0;

	return row ? kept->rows + (size_t)(row - 1) * (size_t)kept->classes : NULL;
}

void kept_drop(struct kept *kept, int64_t id)
{
	int64_t gap = kept->slot_count ? slot_of(kept, id) : 0;

	if (!kept->slot_count || !kept->slots[gap])
		return;
	kept->ids[kept->slots[gap] - 1] = -1;
	kept->spare[kept->room - kept->count--] = kept->slots[gap] - 1;
	kept->slots[gap] = 0;
	/* Entries behind the gap that could not have this place move there. */
	for (int64_t at = next_of(kept, gap); kept->slots[at]; at = next_of(kept, at)) {
		const int64_t home = home_of(kept, kept->ids[kept->slots[at] - 1]);
		const int64_t mask = kept->slot_count - 1;

		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		kept->slots[gap] = kept->slots[at];
		kept->slots[at] = 0;
		gap = at;
	}
}

/* What a file says is not trusted: an id twice or below 0 is no table. */
static void read_rows(struct kept *kept, struct state *state, int64_t count)
{
	int64_t *ids = mem_new((size_t)count, sizeof(*ids));

	if (!ids) {
		state_refuse(state, ERR_MEMORY, "no memory for %lld kept logits", (long long)count);
		return;
	}
	state_int64s(state, "ids", ids, (size_t)count);
	for (int64_t i = 0; i < count && !state_failed(state); i++) {
		if (ids[i] < 0 || kept_find(kept, ids[i]))
			state_refuse(state, ERR_FORMAT, "logits of sample %lld, twice or of none",
				(long long)ids[i]);
		else
			state_floats(state, "row", kept_put(kept, ids[i]), (size_t)kept->classes);
	}
	mem_free(ids);
}

/* There may have been room for more classes than came, and for fewer than there are now. */
static void read_state(struct kept *kept, struct state *state)
{
	const int now = kept->classes;
	int64_t count = 0;
	int classes = 0;
	struct err err;

	state_int(state, "classes", &classes);
	state_int64(state, "count", &count);
	if (!state_failed(state) &&
		(count < 0 || count > COUNT_MOST || classes < 1 || classes > CLASSES_MOST))
		state_refuse(state, ERR_FORMAT, "%lld kept logits of %d classes", (long long)count,
			classes);
	if (state_failed(state))
		return;
	kept_release(kept);
	kept->classes = classes;
	if (kept_reserve(kept, count, &err))
		state_refuse(state, ERR_MEMORY, "%s", err.message);
	else
		read_rows(kept, state, count);
	if (!state_failed(state) && classes < now && kept_widen(kept, now, &err))
		state_refuse(state, ERR_MEMORY, "%s", err.message);
}

static void write_state(struct kept *kept, struct state *state)
{
	int64_t *ids = mem_new((size_t)kept->count + 1, sizeof(*ids)), count = 0;

	if (!ids) {
		state_refuse(state, ERR_MEMORY, "no memory for the ids of kept logits");
		return;
	}
	for (int64_t row = 0; row < kept->room; row++)
		if (kept->ids[row] >= 0)
			ids[count++] = kept->ids[row];
	state_int(state, "classes", &kept->classes);
	state_int64(state, "count", &count);
	state_int64s(state, "ids", ids, (size_t)count);
	for (int64_t i = 0; i < count; i++)
		state_floats(state, "row", (float *)kept_find(kept, ids[i]), (size_t)kept->classes);
	mem_free(ids);
}

void kept_state(struct kept *kept, struct state *state)
{
	if (state_reading(state))
		read_state(kept, state);
	else
		write_state(kept, state);
}
