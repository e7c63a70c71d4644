/*
 * A store in a journal. A forgotten sample stays on disk and is only noted here until two
 * checkpoints that know of it have been saved: an older checkpoint needs it, and the last two
 * must be usable. Notes are a list in the order of forgetting, as in a checkpoint, and a table
 * that finds an id: open addressing, at most half full, 0 for an empty slot, else the id plus
 * one.
 *
 * Invariants: count is at most what the journal has; while it is less, store_add only compares,
 * since an earlier process added these samples. The first `seen` notes are those that store_state
 * saw last, when count was `seen_count`. The first `safe` of them are in the last checkpoint that
 * is known to be on disk.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "store/journal.h"
#include "store/store_impl.h"

enum { NOTES_LEAST = 64 };

struct journal_store {
	struct store store; /* must be first */
	struct journal *journal;
	float *compared;                  /* a sample's input, */
	union target label[TARGET_WIDTH]; /* and its target */
	int64_t *notes;
	uint64_t *table;
	size_t noted, room; /* the table has 2 * room places */
	size_t safe, seen;
	int64_t safe_count, seen_count;
	bool overlooked; /* memory ran out over a note */
};

static struct journal_store *mine(struct store *store)
{
	return (struct journal_store *)store;
}

/* The id's place, or the empty one where it would be. Room is a power of two. */
static size_t table_find(const struct journal_store *s, int64_t id)
{
	const size_t mask = 2 * s->room - 1;
	size_t at = (size_t)((uint64_t)id * 0x9e3779b97f4a7c15u >> 20) & mask;

	while (s->table[at] && s->table[at] != (uint64_t)id + 1)
		at = (at + 1) & mask;
	return at;
}

static bool is_noted(const struct journal_store *s, int64_t id)
{
	return s->table[table_find(s, id)] != 0;
}

static void table_fill(struct journal_store *s)
{
	memset(s->table, 0, 2 * s->room * sizeof(*s->table));
	for (size_t i = 0; i < s->noted; i++)
		s->table[table_find(s, s->notes[i])] = (uint64_t)s->notes[i] + 1;
}

static int notes_reserve(struct journal_store *s, size_t wanted, struct err *err)
{
	size_t room = s->room ? s->room : NOTES_LEAST;
	int64_t *notes;
	uint64_t *table;

	while (room < wanted)
		room *= 2;
	if (room == s->room)
		return 0;
	notes = mem_resize(s->notes, room, sizeof(*notes));
	if (notes)
		s->notes = notes;
	table = notes ? mem_new(2 * room, sizeof(*table)) : NULL;
	if (!table)
		return err_memory(err, "a store's forgotten samples", room * 3 * sizeof(*notes));
	mem_free(s->table);
	s->table = table;
	s->room = room;
	table_fill(s);
	return 0;
}

/* Whether the learner has come so far that it needs nothing that is gone. */
static int check_reach(const struct journal_store *s, struct err *err)
{
	const int64_t trimmed = journal_trimmed(s->journal);

	if (s->store.count >= trimmed)
		return 0;
	return err_set(err, ERR_STATE,
		"the journal has dropped samples that a checkpoint at sample %lld forgot: "
		"resume from that one or a later one, not at sample %lld",
		(long long)trimmed, (long long)s->store.count);
}

/* Samples that are in the journal already. */
static int compare(struct journal_store *s, const float *inputs, const union target *labels, int n,
	struct err *err)
{
	const size_t floats = s->store.floats, width = (size_t)s->store.width;
	int code = check_reach(s, err);

	if (!code && n > journal_added(s->journal) - s->store.count)
		return err_set(err, ERR_STATE,
			"%d samples to be added, but %lld are in the journal and come first", n,
			(long long)(journal_added(s->journal) - s->store.count));
	for (int i = 0; i < n && !code; i++) {
		const int64_t id = s->store.count + i;

		code = journal_read(s->journal, &id, 1, s->compared, s->label, err);
		if (!code && (memcmp(s->label, labels + (size_t)i * width,
				      width * sizeof(*labels)) != 0 ||
				     memcmp(s->compared, inputs + (size_t)i * floats,
					     floats * sizeof(float)) != 0))
			code = err_set(err, ERR_INPUT, "sample %lld is another in the journal",
				(long long)id);
	}
	return code;
}

static int journal_store_add(struct store *store, const float *inputs, const union target *labels,
	int n, struct err *err)
{
	struct journal_store *s = mine(store);

	if (store->count < journal_added(s->journal))
		return compare(s, inputs, labels, n, err);
	return journal_add(s->journal, inputs, labels, n, err);
}

static int journal_store_fetch(struct store *store, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err)
{
	struct journal_store *s = mine(store);

	for (int i = 0; i < n; i++)
		if (is_noted(s, ids[i]))
			return err_set(err, ERR_INPUT, "sample %lld has been forgotten",
				(long long)ids[i]);
	return journal_read(s->journal, ids, n, inputs, labels, err);
}

static void journal_store_forget(struct store *store, int64_t id)
{
	struct journal_store *s = mine(store);

	if (id < 0 || id >= store->count || is_noted(s, id) || !journal_has(s->journal, id))
		return;
	if (notes_reserve(s, s->noted + 1, NULL)) {
		s->overlooked = true;
		return;
	}
	s->table[table_find(s, id)] = (uint64_t)id + 1;
	s->notes[s->noted++] = id;
}

static int by_id(const void *a, const void *b)
{
	const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int journal_store_checkpoint(struct store *store, struct err *err)
{
	struct journal_store *s = mine(store);
	int code = 0;

	if (s->safe) {
		/* Neighbours share pages. */
		qsort(s->notes, s->safe, sizeof(*s->notes), by_id);
		code = journal_trim(s->journal, s->notes, s->safe, s->safe_count, err);
	}
	if (code)
		return code;
	s->noted -= s->safe;
	memmove(s->notes, s->notes + s->safe, s->noted * sizeof(*s->notes));
	s->seen -= s->safe;
	s->safe = s->seen;
	s->safe_count = s->seen_count;
	table_fill(s);
	if (!s->overlooked)
		return 0;
	s->overlooked = false;
	return err_set(err, ERR_MEMORY,
		"out of memory: forgotten samples could not be noted and stay in the journal");
}

static int64_t journal_store_stored(const struct store *store)
{
	return journal_added(((const struct journal_store *)store)->journal);
}

static int journal_store_pending(struct store *store, int *n, struct err *err)
{
	struct journal_store *s = mine(store);
	const int code = check_reach(s, err);

	*n = 0;
	if (code || store->count == journal_added(s->journal))
		return code;
	return journal_call(s->journal, store->count, n, err);
}

/* Makes room for a file's notes, if what it says of the samples can be. */
static void restart(struct journal_store *s, int64_t noted, struct state *state)
{
	const int64_t added = journal_added(s->journal), count = s->store.count;
	struct err err;

	s->noted = s->safe = s->seen = 0;
	table_fill(s);
	if (count < 0 || count > added)
		state_refuse(state, ERR_FORMAT, "has %lld samples, and the journal only %lld",
			(long long)count, (long long)added);
	else if (noted < 0 || noted > count)
		state_refuse(state, ERR_FORMAT, "has forgotten %lld of %lld samples",
			(long long)noted, (long long)count);
	else if (check_reach(s, &err) || notes_reserve(s, (size_t)noted, &err))
		state_refuse(state, err.code, "%s", err.message);
}

static void take_notes(struct journal_store *s, size_t noted, struct state *state)
{
	for (size_t i = 0; i < noted; i++) {
		const int64_t id = s->notes[i];

		if (id < 0 || id >= s->store.count || is_noted(s, id)) {
			state_refuse(state, ERR_FORMAT, "has forgotten a sample %lld out of place",
				(long long)id);
			return;
		}
		s->table[table_find(s, id)] = (uint64_t)id + 1;
		s->noted = i + 1;
	}
}

static void journal_store_state(struct store *store, struct state *state)
{
	struct journal_store *s = mine(store);
	int64_t noted = (int64_t)s->noted;
	struct err err;

	/* What counts on samples must not outlive them. */
	if (!state_reading(state) && journal_settle(s->journal, &err))
		state_refuse(state, err.code, "%s", err.message);
	state_int64(state, "forgotten", &noted);
	if (state_reading(state) && !state_failed(state))
		restart(s, noted, state);
	if (state_failed(state))
		return;
	state_int64s(state, "ids", s->notes, (size_t)noted);
	if (state_reading(state) && !state_failed(state))
		take_notes(s, (size_t)noted, state);
	if (state_failed(state))
		return;
	s->seen = (size_t)noted;
	s->seen_count = store->count;
	if (state_reading(state)) {
		s->safe = s->seen;
		s->safe_count = s->seen_count;
	}
}

static int journal_store_widen(struct store *store, size_t floats, struct err *err)
{
	struct journal_store *s = mine(store);
	float *compared = mem_resize(s->compared, floats, sizeof(*compared));

	if (!compared)
		return err_memory(err, "a store", floats * sizeof(*compared));
	s->compared = compared;
	journal_widen(s->journal, floats);
	return 0;
}

static void journal_store_free(struct store *store)
{
	struct journal_store *s = mine(store);

	journal_close(s->journal);
	mem_free(s->compared);
	mem_free(s->notes);
	mem_free(s->table);
	mem_free(s);
}

static const struct store_type journal_type = {
	.free = journal_store_free,
	.add = journal_store_add,
	.fetch = journal_store_fetch,
	.forget = journal_store_forget,
	.state = journal_store_state,
	.stored = journal_store_stored,
	.pending = journal_store_pending,
	.checkpoint = journal_store_checkpoint,
	.widen = journal_store_widen,
};

struct journal *store_journal(struct store *store)
{
	return store->type == &journal_type ? mine(store)->journal : NULL;
}

int store_in_journal(
	struct store **store, const char *folder, size_t floats, int width, struct err *err)
{
	struct journal_store *made = mem_new(1, sizeof(*made));
	int code;

	*store = NULL;
	if (!made)
		return err_memory(err, "a store", sizeof(*made));
	made->store.type = &journal_type;
	made->store.floats = floats;
	made->store.width = width;
	made->compared = mem_new(floats, sizeof(*made->compared));
	code = made->compared ? 0 : err_memory(err, "a store", floats * sizeof(float));
	if (!code)
		code = notes_reserve(made, 0, err);
	if (!code)
		code = journal_open(&made->journal, folder, floats, width, err);
	if (code) {
		journal_store_free(&made->store);
		return code;
	}
	*store = &made->store;
	return 0;
}
