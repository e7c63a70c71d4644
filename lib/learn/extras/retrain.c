/*
 * learn.retrain (GDumb): every task starts from the learner's initial weights. Everything that
 * training changed is reset; stored samples stay.
 */
#include <string.h>

#include "base/mem.h"
#include "learn/learner_impl.h"

struct retrain {
	const struct engine *engine;
	float *start, *stats; /* stats: batch norm's; NULL for nets without it */
};

static bool wanted(const struct options *options)
{
	return options_bool(options, "learn.retrain");
}

static void end(void *extra)
{
	struct retrain *retrain = extra;

	vector_free(retrain->engine, retrain->start);
	mem_free(retrain->stats);
	mem_free(retrain);
}

static int make(void **extra, struct learner *learner, struct err *err)
{
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats;
	struct retrain *made = mem_new(1, sizeof(*made));
	int code;

	if (!made)
		return err_memory(err, "the weights of the start", sizeof(*made));
	made->engine = learner->engine;
	code = vector_new(&made->start, learner->engine, params, "the weights of the start", err);
	if (!code && stats && !(made->stats = mem_new(stats, sizeof(float))))
		code = err_memory(err, "the statistics of the start", stats * sizeof(float));
	if (code)
		end(made);
	else
		*extra = made;
	return code;
}

static void restart(void *extra, struct learner *learner)
{
	struct retrain *retrain = extra;
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats;

	vector_copy(learner->engine, retrain->start, learner->params, params);
	if (retrain->stats)
		memcpy(retrain->stats, learner->stats[0], stats * sizeof(float));
}

static void begin_task(void *extra, struct learner *learner, int64_t first)
{
	const struct retrain *retrain = extra;
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats * sizeof(float);

	if (!first)
		return;
	vector_copy(learner->engine, learner->params, retrain->start, params);
	for (int i = 0; i < SCORES_MODELS && stats; i++)
		memcpy(learner->stats[i], retrain->stats, stats);
	optimizer_restart(learner->optimizer);
	average_restart(learner->average, learner->params);
	scores_clear(&learner->window.scores);
	learner_stale(learner);
	learner->version++;
}

static void state(void *extra, struct learner *learner, struct state *state)
{
	struct retrain *retrain = extra;

	vector_state(
		learner->engine, state, "start", retrain->start, net_params(learner->net)->floats);
	if (retrain->stats)
		state_floats(state, "start_stats", retrain->stats, net_stats(learner->net)->floats);
}

const struct extra_type extra_retrain = {
	.sized = true,
	.wanted = wanted,
	.make = make,
	.free = end,
	.restart = restart,
	.begin_task = begin_task,
	.state = state,
};
