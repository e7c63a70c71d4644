/*
 * learn.retrain (GDumb): every task starts from the learner's initial weights. Everything that
 * training changed is reset; stored samples stay.
 */
#include <string.h>

#include "base/mem.h"
#include "learn/learner_impl.h"

struct retrain {
	float *start, *stats; /* stats: batch norm's; NULL for nets without it */
};

static bool wanted(const struct options *options)
{
	return options_bool(options, "learn.retrain");
}

static void end(void *extra)
{
	struct retrain *retrain = extra;

	mem_free(retrain->start);
	mem_free(retrain->stats);
	mem_free(retrain);
}

static int make(void **extra, struct learner *learner, struct err *err)
{
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats;
	struct retrain *made = mem_new(1, sizeof(*made));

	if (made && (made->start = mem_new(params, sizeof(float))) &&
		(!stats || (made->stats = mem_new(stats, sizeof(float))))) {
		*extra = made;
		return 0;
	}
	if (made)
		end(made);
	return err_memory(err, "the weights of the start", params * sizeof(float));
}

static void restart(void *extra, struct learner *learner)
{
	struct retrain *retrain = extra;
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats;

	memcpy(retrain->start, learner->params, params * sizeof(float));
	if (retrain->stats)
		memcpy(retrain->stats, learner->stats[0], stats * sizeof(float));
}

static void begin_task(void *extra, struct learner *learner, int64_t first)
{
	const struct retrain *retrain = extra;
	const size_t params = net_params(learner->net)->floats * sizeof(float);
	const size_t stats = net_stats(learner->net)->floats * sizeof(float);

	if (!first)
		return;
	memcpy(learner->params, retrain->start, params);
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

	state_params(state, "start", retrain->start, net_params(learner->net)->floats);
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
