/*
 * A store that shows the samples of another one from some sample on, under numbers of its own. The
 * other one adds them first, and must not forget any.
 */
#include "base/mem.h"
#include "store/store_impl.h"

struct view {
	struct store store;
	struct store *of;
	int64_t first; /* the other's number of our first sample */
};

static void view_free(struct store *store)
{
	mem_free(store);
}

static int view_add(struct store *store, const float *inputs, const union target *labels, int n,
	struct err *err)
{
	return 0;
}

static int view_fetch(struct store *store, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err)
{
	const struct view *view = (const struct view *)store;
	int64_t theirs[STORE_BATCH];

	for (int i = 0; i < n; i++)
		theirs[i] = view->first + ids[i];
	return store_fetch(view->of, theirs, n, inputs, labels, err);
}

static void view_forget(struct store *store, int64_t id)
{
}

static int view_widen(struct store *store, size_t floats, struct err *err)
{
	return 0;
}

static void view_state(struct store *store, struct state *state)
{
	struct view *view = (struct view *)store;

	state_int64(state, "first", &view->first);
}

static const struct store_type view_type = {
	.free = view_free,
	.add = view_add,
	.fetch = view_fetch,
	.forget = view_forget,
	.state = view_state,
	.widen = view_widen,
};

int store_view(struct store **store, struct store *of, struct err *err)
{
	struct view *made = mem_new(1, sizeof(*made));

	*store = &made->store;
	if (!made)
		return err_memory(err, "a store", sizeof(*made));
	made->store.type = &view_type;
	made->store.floats = of->floats;
	made->store.width = of->width;
	made->of = of;
	made->first = of->count;
	return 0;
}
