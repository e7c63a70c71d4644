/*
 * The learner's inputs, labels and gradient are free before an iteration, so the choice works in
 * them; additional buffers are allocated for MIR only. In the virtual step batch norm updates
 * statistics that are discarded.
 */
#include "learn/extras/choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner_impl.h"

struct choice {
	int64_t *ids;
	float *before, *after; /* losses */
	struct choice_rise *rises;
	const struct engine *engine;
	float *params, *stats; /* after the virtual step */
};

static bool wanted(const struct options *options)
{
	return objective_traits(options_text(options, "replay.objective")).chooses;
}

static int check(const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;

	if (options_int(o, "run.batch") <= POOL_POSITIONS / 2)
		return 0;
	return err_set(err, ERR_INPUT,
		"run.batch = %d: replay.objective = %s draws as many candidates, and both "
		"together can be %d",
		options_int(o, "run.batch"), options_text(o, "replay.objective"), POOL_POSITIONS);
}

static void end(void *extra)
{
	struct choice *choice = extra;

	mem_free(choice->ids);
	mem_free(choice->before);
	mem_free(choice->after);
	mem_free(choice->rises);
	vector_free(choice->engine, choice->params);
	mem_free(choice->stats);
	mem_free(choice);
}

static int make(void **extra, struct learner *learner, struct err *err)
{
	const size_t count = (size_t)learner->set.batch;
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats;
	struct choice *made = mem_new(1, sizeof(*made));
	int code;

	if (made && (made->ids = mem_new(count, sizeof(*made->ids))) &&
		(made->before = mem_new(count, sizeof(float))) &&
		(made->after = mem_new(count, sizeof(float))) &&
		(made->rises = mem_new(count, sizeof(*made->rises))) &&
		(!stats || (made->stats = mem_new(stats, sizeof(float))))) {
		made->engine = learner->engine;
		code = vector_new(&made->params, made->engine, params, "a virtual step", err);
	} else {
		code = err_memory(err, "a virtual step", (4 * count + stats) * sizeof(float));
	}
	if (!code)
		*extra = made;
	else if (made)
		end(made);
	return code;
}

static int by_rise(const void *a, const void *b)
{
	const struct choice_rise *x = a, *y = b;
	const float p = isnan(x->by) ? INFINITY : x->by, q = isnan(y->by) ? INFINITY : y->by;

	return p != q ? (p < q) - (p > q) : x->position - y->position;
}

static int by_position(const void *a, const void *b)
{
	return ((const struct choice_rise *)a)->position -
	       ((const struct choice_rise *)b)->position;
}

void choice_rank(struct choice_rise *rises, int n, int keep)
{
	qsort(rises, (size_t)n, sizeof(*rises), by_rise);
	qsort(rises, (size_t)keep, sizeof(*rises), by_position);
}

/* Leaves the parameters after a step on the first n samples of the batch in choice->params. */
static int step_virtually(
	struct choice *choice, struct learner *learner, int n, float rate, struct err *err)
{
	const struct runner_batch batch = {learner->room.inputs, learner->room.labels, NULL, n};
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats;
	int code = learner_fetch(
		learner, learner->room.ids, n, learner->room.inputs, learner->room.labels, err);

	if (stats)
		memcpy(choice->stats, learner->stats[0], stats * sizeof(float));
	if (!code)
		code = runner_gradient(learner->runner, learner->params, choice->stats, &batch,
			learner->grad, NULL, NULL, NULL, err);
	if (code)
		return code;
	vector_add(learner->engine, choice->params, learner->params, -rate, learner->grad, params);
	learner_tell(learner, LEARNER_VIRTUAL, n);
	return 0;
}

static int compare_losses(struct choice *choice, struct learner *learner, struct err *err)
{
	const int n = learner->set.batch;
	const struct runner_batch batch = {learner->room.inputs, learner->room.labels, NULL, n};
	int code = learner_fetch(
		learner, choice->ids, n, learner->room.inputs, learner->room.labels, err);

	if (!code)
		code = runner_losses(learner->runner, learner->params, NULL, 0, &batch,
			choice->before, NULL, err);
	if (!code)
		code = runner_losses(
			learner->runner, choice->params, NULL, 0, &batch, choice->after, NULL, err);
	if (code)
		return code;
	learner_tell(learner, LEARNER_CANDIDATES, n);
	learner_tell(learner, LEARNER_CANDIDATES, n);
	for (int i = 0; i < n; i++)
		choice->rises[i] = (struct choice_rise){choice->after[i] - choice->before[i], i};
	return 0;
}

/* Without a past the ids stay. */
static int choose(void *extra, struct learner *learner, int64_t k, struct err *err)
{
	const int n = learner->set.batch, keep = n / 2, current = n - keep;
	struct choice *choice = extra;
	int code;

	if (!keep || !objective_candidates(learner->objective, (uint64_t)k, n, choice->ids))
		return 0;
	code = step_virtually(choice, learner, current, (float)learner_rate(learner, k), err);
	if (!code)
		code = compare_losses(choice, learner, err);
	if (code)
		return code;
	choice_rank(choice->rises, n, keep);
	for (int i = 0; i < keep; i++)
		learner->room.ids[current + i] = choice->ids[choice->rises[i].position];
	return 0;
}

static double price(const void *extra, const struct extra_costs *c)
{
	(void)extra;
	return c->first
		       ? 0
		       : c->passes * (c->batch - c->batch / 2) + c->params + 2 * c->macs * c->batch;
}

const struct extra_type extra_choice = {
	.sized = true,
	.wanted = wanted,
	.check = check,
	.make = make,
	.free = end,
	.choose = choose,
	.price = price,
};
