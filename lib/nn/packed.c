/*
 * A plan for one sample packs the weights and keeps them; plans of any batch size borrow them. It
 * never runs: its workspace is scratch for packing. Parameters that are used unpacked, such as a
 * norm's or a dense net's, are read from the copy. So are the statistics of a net that a program
 * computes.
 */
#include "nn/packed.h"

#include <string.h>
#include "base/mem.h"
#include "nn/plan.h"
#include "nn/vectors.h"

struct packed {
	const struct engine *engine;
	struct plan *plan;
	float *params, *workspace, *stats;
	size_t floats, stat_floats;
};

int packed_new(
	struct packed **packed, const struct net *net, struct engine *engine, struct err *err)
{
	struct packed *made = mem_new(1, sizeof(*made));
	int code;

	*packed = NULL;
	if (!made)
		return err_memory(err, "packed weights", sizeof(*made));
	code = plan_new(&made->plan, net, engine, 1, PLAN_INFER, err);
	if (!code) {
		const size_t scratch = plan_floats(made->plan);
		made->floats = net_params(net)->floats;
		made->stat_floats = net_stats(net)->floats;
		made->engine = engine;
		made->workspace = mem_new(scratch, sizeof(float));
		made->stats = mem_new(made->stat_floats + 1, sizeof(float));
		if (!made->workspace || !made->stats)
			code = err_memory(err, "packed weights", scratch * sizeof(float));
		else
			code = vector_new(
				&made->params, engine, made->floats, "packed weights", err);
	}
	if (code)
		packed_free(made);
	else
		*packed = made;
	return code;
}

void packed_free(struct packed *packed)
{
	if (!packed)
		return;
	plan_free(packed->plan);
	vector_free(packed->engine, packed->params);
	mem_free(packed->workspace);
	mem_free(packed->stats);
	mem_free(packed);
}

int packed_set(struct packed *packed, const float *params, const float *stats, struct err *err)
{
	vector_copy(packed->engine, packed->params, params, packed->floats);
	if (stats)
		memcpy(packed->stats, stats, packed->stat_floats * sizeof(float));
	return plan_bind(
		packed->plan, packed->workspace, packed->params, stats ? packed->stats : NULL, err);
}

const struct plan *packed_plan(const struct packed *packed)
{
	return packed->plan;
}
