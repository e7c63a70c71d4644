/*
 * A store in memory. Rows live in blocks that never move; the slot of a forgotten sample is the
 * next to be reused. A table finds ids, by open addressing with linear probing. It is at most
 * half full and has no tombstones: what follows a removed entry moves up. So memory is
 * proportional to the most samples ever kept at a time.
 *
 * Invariant: a slot below `places` has either the id of a kept sample, which the table finds, or
 * the id FREE, and then it is in the chain of free slots, which runs through the rows' labels.
 */
#include <math.h>

#include "base/mem.h"
#include "store/store_impl.h"

enum { BLOCK_BYTES = 1 << 20, TABLE_LEAST = 64 };

#define FREE (-1)

struct entry {
	int64_t id;
	int32_t place; /* plus one; 0: empty */
};

struct memory_store {
	struct store store; /* must be first */
	char **blocks;
	int64_t block_count, block_rows;
	int64_t places, kept;
	int32_t free; /* the first place of the chain, or FREE */
	struct entry *table;
	uint64_t table_size; /* a power of two */
};

static struct memory_store *mine(struct store *store)
{
	return (struct memory_store *)store;
}

/* Behind a row stands its id. */
static size_t place_bytes(const struct memory_store *s)
{
	return store_row(&s->store) + sizeof(int64_t);
}

static char *row_at(const struct memory_store *s, int64_t place)
{
	return s->blocks[place / s->block_rows] + (size_t)(place % s->block_rows) * place_bytes(s);
}

static int64_t id_at(const struct memory_store *s, int64_t place)
{
	int64_t id;

	memcpy(&id, row_at(s, place) + store_row(&s->store), sizeof(id));
	return id;
}

static void id_put(struct memory_store *s, int64_t place, int64_t id)
{
	memcpy(row_at(s, place) + store_row(&s->store), &id, sizeof(id));
}

/* Where an id's search begins: neighbours are spread over the table (Knuth). */
static uint64_t home(const struct memory_store *s, int64_t id)
{
	return (uint64_t)id * 0x9e3779b97f4a7c15u >> (__builtin_clzll(s->table_size) + 1);
}

/* The id's entry, or the empty one where it would be. */
static uint64_t entry_find(const struct memory_store *s, int64_t id)
{
	uint64_t at = home(s, id);

	while (s->table[at].place && s->table[at].id != id)
		at = (at + 1) & (s->table_size - 1);
	return at;
}

static void entry_remove(struct memory_store *s, uint64_t at)
{
	const uint64_t mask = s->table_size - 1;

	for (uint64_t next = (at + 1) & mask; s->table[next].place; next = (next + 1) & mask) {
		/* It may move up unless its search begins after the gap. */
		if (((next - home(s, s->table[next].id)) & mask) < ((next - at) & mask))
			continue;
		s->table[at] = s->table[next];
		at = next;
	}
	s->table[at].place = 0;
}

static int table_reserve(struct memory_store *s, uint64_t kept, struct err *err)
{
	struct entry *former = s->table;
	const uint64_t former_size = s->table_size;
	uint64_t size = former_size ? former_size : TABLE_LEAST;
	struct entry *table;

	while (size < 2 * kept)
		size *= 2;
	if (size == former_size)
		return 0;
	table = mem_new(size, sizeof(*table));
	if (!table)
		return err_memory(err, "a store's table", size * sizeof(*table));
	s->table = table;
	s->table_size = size;
	for (uint64_t i = 0; i < former_size; i++)
		if (former[i].place)
			table[entry_find(s, former[i].id)] = former[i];
	mem_free(former);
	return 0;
}

static int blocks_reserve(struct memory_store *s, int64_t places, struct err *err)
{
	const int64_t wanted = (places + s->block_rows - 1) / s->block_rows;
	const size_t bytes = (size_t)s->block_rows * place_bytes(s);
	char **blocks;

	if (places > INT32_MAX)
		return err_set(
			err, ERR_INPUT, "a store cannot keep %lld samples", (long long)places);
	if (wanted <= s->block_count)
		return 0;
	blocks = mem_resize(s->blocks, (size_t)wanted, sizeof(*blocks));
	if (!blocks)
		return err_memory(err, "a store", (size_t)wanted * sizeof(*blocks));
	s->blocks = blocks;
	for (; s->block_count < wanted; s->block_count++) {
		blocks[s->block_count] = mem_new(1, bytes);
		if (!blocks[s->block_count])
			return err_memory(err, "a store's samples", bytes);
	}
	return 0;
}

static void place_free(struct memory_store *s, int64_t place)
{
	char *label = row_at(s, place) + s->store.floats * sizeof(float);

	id_put(s, place, FREE);
	memcpy(label, &s->free, sizeof(s->free));
	s->free = (int32_t)place;
}

static int64_t place_take(struct memory_store *s)
{
	const int64_t place = s->free;

	if (place == FREE)
		return s->places++;
	s->free = store_row_first(&s->store, row_at(s, place)).class;
	return place;
}

static void entry_add(struct memory_store *s, int64_t id, int64_t place)
{
	id_put(s, place, id);
	s->table[entry_find(s, id)] = (struct entry){id, (int32_t)(place + 1)};
	s->kept++;
}

/* Room first, so that a failure changes nothing. */
static int memory_add(struct store *store, const float *inputs, const union target *labels, int n,
	struct err *err)
{
	struct memory_store *s = mine(store);
	int code = table_reserve(s, (uint64_t)(s->kept + n), err);

	if (!code)
		code = blocks_reserve(s, s->kept + n, err);
	for (int i = 0; i < n && !code; i++) {
		const int64_t place = place_take(s);

		store_row_put(store, row_at(s, place), inputs + (size_t)i * store->floats,
			labels + (size_t)i * (size_t)store->width);
		entry_add(s, store->count + i, place);
	}
	return code;
}

static int memory_fetch(struct store *store, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err)
{
	struct memory_store *s = mine(store);
	const char *rows[STORE_BATCH];

	for (int i = 0; i < n; i++)
		__builtin_prefetch(s->table + home(s, ids[i]));
	for (int i = 0; i < n; i++) {
		const struct entry *entry = s->table + entry_find(s, ids[i]);

		if (!entry->place)
			return err_set(err, ERR_INPUT, "sample %lld has been forgotten",
				(long long)ids[i]);
		rows[i] = row_at(s, entry->place - 1);
		store_row_prefetch(store, rows[i]);
	}
	for (int i = 0; i < n; i++)
		store_row_get(store, rows[i], inputs + (size_t)i * store->floats,
			labels + (size_t)i * (size_t)store->width);
	return 0;
}

static void memory_forget(struct store *store, int64_t id)
{
	struct memory_store *s = mine(store);
	const uint64_t at = entry_find(s, id);
	const int32_t place = s->table[at].place;

	if (!place)
		return;
	entry_remove(s, at);
	place_free(s, place - 1);
	s->kept--;
}

/* Empties the store and makes room for a file's places. */
static void restart(struct memory_store *s, int64_t places, struct state *state)
{
	struct err err;
	int code = 0;

	if (places < 0 || places > s->store.count) {
		state_refuse(state, ERR_FORMAT, "has %lld places for %lld samples",
			(long long)places, (long long)s->store.count);
		return;
	}
	memset(s->table, 0, s->table_size * sizeof(*s->table));
	s->kept = 0;
	s->free = FREE;
	code = blocks_reserve(s, places, &err);
	if (!code)
		code = table_reserve(s, (uint64_t)places, &err);
	s->places = code ? 0 : places;
	if (code)
		state_refuse(state, code, "%s", err.message);
}

/* Takes the places as they were read: whose they are, and the chain of the free ones. */
static void rebuild(struct memory_store *s, struct state *state)
{
	for (int64_t place = s->places; place-- > 0;) {
		const int64_t id = id_at(s, place);

		if (id == FREE) {
			place_free(s, place);
		} else if (id < 0 || id >= s->store.count || s->table[entry_find(s, id)].place) {
			state_refuse(
				state, ERR_FORMAT, "has a sample %lld out of place", (long long)id);
			return;
		} else {
			entry_add(s, id, place);
		}
	}
}

static void memory_state(struct store *store, struct state *state)
{
	struct memory_store *s = mine(store);
	int64_t places = s->places;

	state_int64(state, "places", &places);
	if (state_reading(state) && !state_failed(state))
		restart(s, places, state);
	for (int64_t place = 0; place < places && !state_failed(state); place += s->block_rows) {
		const int64_t left = places - place;
		const int64_t rows = left < s->block_rows ? left : s->block_rows;

		state_bytes(state, "rows", row_at(s, place), (size_t)rows * place_bytes(s));
	}
	if (state_reading(state) && !state_failed(state))
		rebuild(s, state);
}

/* A block of rows with more numbers each; NULL: no memory. */
static char *wider(const struct memory_store *s, const char *block, size_t floats)
{
	const size_t input = s->store.floats * sizeof(float), place = place_bytes(s);
	const size_t more = (floats - s->store.floats) * sizeof(float);
	char *made = mem_new(1, (size_t)s->block_rows * (place + more)), *to = made;
	const float missing = NAN;

	for (int64_t i = 0; i < s->block_rows && made; i++, block += place) {
		memcpy(to, block, input);
		to += input;
		for (size_t k = 0; k < more; k += sizeof(missing), to += sizeof(missing))
			memcpy(to, &missing, sizeof(missing));
		memcpy(to, block + input, place - input);
		to += place - input;
	}
	return made;
}

/* New blocks beside the old ones, so that a failure changes nothing. */
static int memory_widen(struct store *store, size_t floats, struct err *err)
{
	struct memory_store *s = mine(store);
	char **blocks = mem_new((size_t)s->block_count + 1, sizeof(*blocks));
	int64_t made = 0;

	while (blocks && made < s->block_count &&
		(blocks[made] = wider(s, s->blocks[made], floats)))
		made++;
	if (!blocks || made < s->block_count) {
		for (int64_t i = 0; i < made; i++)
			mem_free(blocks[i]);
		mem_free(blocks);
		return err_memory(err, "a store's samples", floats * sizeof(float));
	}
	for (int64_t i = 0; i < s->block_count; i++)
		mem_free(s->blocks[i]);
	mem_free(s->blocks);
	s->blocks = blocks;
	return 0;
}

static void memory_free(struct store *store)
{
	struct memory_store *s = mine(store);

	for (int64_t i = 0; i < s->block_count; i++)
		mem_free(s->blocks[i]);
	mem_free(s->blocks);
	mem_free(s->table);
	mem_free(s);
}

static const struct store_type memory_type = {
	.free = memory_free,
	.add = memory_add,
	.fetch = memory_fetch,
	.forget = memory_forget,
	.state = memory_state,
	.widen = memory_widen,
};

int store_in_memory(struct store **store, size_t floats, int width, struct err *err)
{
	struct memory_store *made = mem_new(1, sizeof(*made));
	int code;

	*store = NULL;
	if (!made)
		return err_memory(err, "a store", sizeof(*made));
	made->store.type = &memory_type;
	made->store.floats = floats;
	made->store.width = width;
	made->free = FREE;
	made->block_rows = 1 + (int64_t)(BLOCK_BYTES / place_bytes(made));
	code = table_reserve(made, 0, err);
	if (code) {
		memory_free(&made->store);
		return code;
	}
	*store = &made->store;
	return 0;
}
