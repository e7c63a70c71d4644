/* Dispatches every call to the store's kind, after the common checks. */
#include "store/store.h"

#include "store/store_impl.h"

void store_free(struct store *store)
{
	if (store)
		store->type->free(store);
}

int store_add(struct store *store, const float *inputs, const union target *labels, int n,
	struct err *err)
{
	const int code = store->type->add(store, inputs, labels, n, err);

	if (!code)
		store->count += n;
	return code;
}

int store_widen(struct store *store, size_t floats, struct err *err)
{
	int code = 0;

	if (floats <= store->floats)
		return 0;
	code = store->type->widen ? store->type->widen(store, floats, err)
				  : err_set(err, ERR_INPUT, "these samples cannot become longer");
	if (!code)
		store->floats = floats;
	return code;
}

int64_t store_count(const struct store *store)
{
	return store->count;
}

void store_stand(struct store *store, int64_t count)
{
	store->count = count;
}

int64_t store_stored(const struct store *store)
{
	return store->type->stored ? store->type->stored(store) : store->count;
}

int store_pending(struct store *store, int *n, struct err *err)
{
	*n = 0;
	return store->type->pending ? store->type->pending(store, n, err) : 0;
}

int store_checkpoint(struct store *store, struct err *err)
{
	return store->type->checkpoint ? store->type->checkpoint(store, err) : 0;
}

static int check_ids(const struct store *store, const int64_t *ids, int n, struct err *err)
{
	const int64_t stored = store_stored(store);

	for (int i = 0; i < n; i++)
		if (ids[i] < 0 || ids[i] >= stored)
			return err_set(err, ERR_INPUT,
				"sample %lld has not been added, there are %lld", (long long)ids[i],
				(long long)stored);
	return 0;
}

int store_fetch(struct store *store, const int64_t *ids, int n, float *inputs, union target *labels,
	struct err *err)
{
	int code = check_ids(store, ids, n, err);

	for (int i = 0; i < n && !code; i += STORE_BATCH) {
		const int left = n - i;

		code = store->type->fetch(store, ids + i, left < STORE_BATCH ? left : STORE_BATCH,
			inputs + (size_t)i * store->floats,
			labels + (size_t)i * (size_t)store->width, err);
	}
	return code;
}

int store_draw(struct store *store, const int64_t *ids, int n, uint64_t iteration, int at,
	float *inputs, union target *labels, struct err *err)
{
	int code;

	if (!store->type->draw)
		return store_fetch(store, ids, n, inputs, labels, err);
	code = check_ids(store, ids, n, err);
	return code ? code : store->type->draw(store, ids, n, iteration, at, inputs, labels, err);
}

void store_expect(struct store *store, const int64_t *ids, int n, uint64_t iteration, int at)
{
	if (store->type->expect)
		store->type->expect(store, ids, n, iteration, at);
}

bool store_prepares(const struct store *store)
{
	return store->type->prepares && store->type->prepares(store);
}

void store_forget(struct store *store, int64_t id)
{
	store->type->forget(store, id);
}

void store_state(struct store *store, struct state *state)
{
	state_int64(state, "count", &store->count);
	if (!state_failed(state))
		store->type->state(store, state);
}
