/* Slices belong to ranks (nn/ranks/ranks.h); without ranks there is one. */
#include "nn/slices.h"

#include "base/mem.h"
#include "nn/engine.h"
#include "nn/ranks/ranks.h"
#include "nn/vectors.h"

struct whole {
	struct ranks *ranks;
	size_t floats;
	float *values;
	const float *of; /* what was put together; NULL: nothing, or it is old */
};

static struct ranks *ranks_of(const struct engine *engine)
{
	return engine ? engine->ranks : NULL;
}

int slices_count(const struct engine *engine, size_t floats)
{
	return ranks_bands(ranks_of(engine), floats);
}

struct slice slices_at(const struct engine *engine, size_t floats, int index)
{
	return ranks_own_slice(ranks_of(engine), floats, index);
}

size_t slices_kept(const struct engine *engine, size_t floats)
{
	return ranks_own(ranks_of(engine), floats);
}

void slices_keep(const struct engine *engine, float *own, const float *whole, size_t floats)
{
	if (ranks_of(engine))
		ranks_keep(ranks_of(engine), own, whole, floats);
	else
		vector_copy(engine, own, whole, floats);
}

void slices_state(const struct engine *engine, struct state *state, const char *name, float *own,
	size_t floats)
{
	struct ranks *ranks = ranks_of(engine);
	float *whole;

	if (!ranks) {
		vector_state(engine, state, name, own, floats);
		return;
	}
	whole = mem_new(floats ? floats : 1, sizeof(*whole));
	if (!whole) {
		state_refuse(state, ERR_MEMORY, "no memory for all of \"%s\"", name);
		return;
	}
	if (!state_reading(state)) {
		ranks_put(ranks, whole, own, floats);
		ranks_gather_slices(ranks, whole, floats);
	}
	state_params(state, name, whole, floats);
	if (state_reading(state) && !state_failed(state))
		ranks_keep(ranks, own, whole, floats);
	mem_free(whole);
}

int whole_new(struct whole **whole, const struct engine *engine, size_t floats, struct err *err)
{
	struct whole *made = mem_new(1, sizeof(*made));

	*whole = NULL;
	if (!made)
		return err_memory(err, "a model", sizeof(*made));
	*made = (struct whole){.ranks = ranks_of(engine), .floats = floats};
	if (made->ranks && !(made->values = mem_new(floats, sizeof(float)))) {
		whole_free(made);
		return err_memory(err, "a model", floats * sizeof(float));
	}
	*whole = made;
	return 0;
}

void whole_free(struct whole *whole)
{
	if (whole)
		mem_free(whole->values);
	mem_free(whole);
}

const float *whole_of(struct whole *whole, const float *own)
{
	if (!whole->ranks)
		return own;
	if (whole->of != own) {
		ranks_put(whole->ranks, whole->values, own, whole->floats);
		ranks_gather_slices(whole->ranks, whole->values, whole->floats);
		whole->of = own;
	}
	return whole->values;
}

bool whole_has(const struct whole *whole, const float *own)
{
	return !whole->ranks || whole->of == own;
}

void whole_forget(struct whole *whole)
{
	whole->of = NULL;
}
