/*
 * A store over a source. The cache is one block of rows, a row for each of the first ids. The
 * block comes zeroed, and the system commits pages only where rows are written, so a large cache
 * costs nothing before it is used.
 *
 * A row holds the complement of its label's first cell; 0 means empty, so no second lookup is
 * needed. Rows are filled
 * when samples are added or, after a resume, when they are first fetched.
 */
#include "streams/source_store.h"

#include "base/mem.h"
#include "store/store_impl.h"

struct source_store {
	struct store store; /* must be first */
	struct source *source;
	char *rows;
	int64_t capacity; /* in rows */
};

static struct source_store *mine(struct store *store)
{
	return (struct source_store *)store;
}

static void source_store_free(struct store *store)
{
	mem_free(mine(store)->rows);
	mem_free(store);
}

static char *row_at(const struct source_store *s, int64_t id)
{
	return s->rows + (size_t)id * store_row(&s->store);
}

static bool row_filled(const struct source_store *s, int64_t id)
{
	return id < s->capacity && store_row_first(&s->store, row_at(s, id)).class != 0;
}

static void turn_first(const struct source_store *s, int64_t id)
{
	const union target first = {.class = ~store_row_first(&s->store, row_at(s, id)).class};

	memcpy(row_at(s, id) + s->store.floats * sizeof(float), &first, sizeof(first));
}

static void row_keep(
	struct source_store *s, int64_t id, const float *input, const union target *label)
{
	if (id >= s->capacity)
		return;
	store_row_put(&s->store, row_at(s, id), input, label);
	turn_first(s, id);
}

void source_store_keep(struct store *store, const int64_t *ids, const float *inputs,
	const union target *labels, int n)
{
	for (int i = 0; i < n; i++)
		row_keep(mine(store), ids[i], inputs + (size_t)i * store->floats,
			labels + (size_t)i * (size_t)store->width);
}

static int source_store_add(struct store *store, const float *inputs, const union target *labels,
	int n, struct err *err)
{
	struct source_store *s = mine(store);
	const int64_t samples = source_info(s->source)->samples;

	if (n > samples - store->count)
		return err_set(err, ERR_INPUT,
			"sample %lld cannot be added: its source has only %lld",
			(long long)(store->count + n - 1), (long long)samples);
	for (int i = 0; inputs && i < n; i++)
		row_keep(s, store->count + i, inputs + (size_t)i * store->floats,
			labels + (size_t)i * (size_t)store->width);
	return 0;
}

/* Has the source make samples and keeps those that there is room for. */
static int rows_make(struct source_store *s, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err)
{
	int code = source_inputs(s->source, SOURCE_STREAM, ids, n, inputs, err);

	if (!code)
		code = source_labels(s->source, SOURCE_STREAM, ids, n, labels, err);
	for (int i = 0; i < n && !code; i++)
		row_keep(s, ids[i], inputs + (size_t)i * s->store.floats,
			labels + (size_t)i * (size_t)s->store.width);
	return code;
}

static int source_store_fetch(struct store *store, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err)
{
	struct source_store *s = mine(store);
	int code = 0, next;

	for (int i = 0; i < n; i++)
		if (ids[i] < s->capacity)
			store_row_prefetch(store, row_at(s, ids[i]));
	for (int i = 0; i < n && !code; i = next) {
		float *input = inputs + (size_t)i * store->floats;
		union target *label = labels + (size_t)i * (size_t)store->width;

		next = i + 1;
		if (row_filled(s, ids[i])) {
			store_row_get(store, row_at(s, ids[i]), input, label);
			label->class = ~label->class;
			continue;
		}
		while (next < n && !row_filled(s, ids[next]))
			next++;
		code = rows_make(s, ids + i, next - i, input, label, err);
	}
	return code;
}

static int source_store_draw(struct store *store, const int64_t *ids, int n, uint64_t iteration,
	int at, float *inputs, union target *labels, struct err *err)
{
	struct source *source = mine(store)->source;
	int code;

	if (!source_info(source)->augments)
		return store_fetch(store, ids, n, inputs, labels, err);
	code = source_draw(source, ids, n, iteration, at, inputs, err);
	return code ? code : source_labels(source, SOURCE_STREAM, ids, n, labels, err);
}

static void source_store_expect(
	struct store *store, const int64_t *ids, int n, uint64_t iteration, int at)
{
	source_expect(mine(store)->source, ids, n, iteration, at);
}

static bool source_store_prepares(const struct store *store)
{
	return source_prepares(((const struct source_store *)store)->source);
}

/* The source can make it again, and its row is no other's. */
static void source_store_forget(struct store *store, int64_t id)
{
}

/* How much was added is all there is to know; the cache fills again. */
static void source_store_state(struct store *store, struct state *state)
{
	const int64_t samples = source_info(mine(store)->source)->samples;

	if (store->count < 0 || store->count > samples)
		state_refuse(state, ERR_FORMAT, "has %lld samples, and the source only %lld",
			(long long)store->count, (long long)samples);
}

static const struct store_type source_type = {
	.free = source_store_free,
	.add = source_store_add,
	.fetch = source_store_fetch,
	.draw = source_store_draw,
	.expect = source_store_expect,
	.prepares = source_store_prepares,
	.forget = source_store_forget,
	.state = source_store_state,
};

int source_store_new(struct store **store, struct source *source, size_t cache, struct err *err)
{
	const struct source_info *info = source_info(source);
	struct source_store *made = mem_new(1, sizeof(*made));
	size_t rows, row, bytes;

	*store = NULL;
	if (!made)
		return err_memory(err, "a store", sizeof(*made));
	made->store.type = &source_type;
	made->store.floats = (size_t)info->channels * (size_t)info->height * (size_t)info->width;
	made->store.width = source_width(info);
	made->source = source;
	row = store_row(&made->store);
	rows = cache / row;
	made->capacity = rows < (uint64_t)info->samples ? (int64_t)rows : info->samples;
	bytes = (size_t)made->capacity * row;
	made->rows = mem_new(bytes, 1);
	if (!made->rows) {
		mem_free(made);
		return err_memory(err, "the cache of samples (stream.cache)", bytes);
	}
	*store = &made->store;
	return 0;
}
