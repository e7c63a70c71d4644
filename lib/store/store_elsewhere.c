/*
 * A store that only counts: another process has the samples and sends what is trained on. Its
 * learner numbers samples as the other process's learner does.
 */
#include "base/mem.h"
#include "store/store_impl.h"

static void elsewhere_free(struct store *store)
{
	mem_free(store);
}

static int elsewhere_add(struct store *store, const float *inputs, const union target *labels,
	int n, struct err *err)
{
	return 0;
}

static int elsewhere_fetch(struct store *store, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err)
{
	return err_set(err, ERR_STATE, "sample %lld is in another process", (long long)ids[0]);
}

static void elsewhere_forget(struct store *store, int64_t id)
{
}

static int elsewhere_widen(struct store *store, size_t floats, struct err *err)
{
	return 0;
}

static void elsewhere_state(struct store *store, struct state *state)
{
}

static const struct store_type elsewhere_type = {
	.free = elsewhere_free,
	.add = elsewhere_add,
	.fetch = elsewhere_fetch,
	.forget = elsewhere_forget,
	.state = elsewhere_state,
	.widen = elsewhere_widen,
};

int store_elsewhere(struct store **store, size_t floats, int width, struct err *err)
{
	struct store *made = mem_new(1, sizeof(*made));

	*store = made;
	if (!made)
		return err_memory(err, "a store", sizeof(*made));
	made->type = &elsewhere_type;
	made->floats = floats;
	made->width = width;
	return 0;
}
