/* All fields of a learner for a checkpoint, and those that a larger net takes over. */
#include <stdio.h>

#include "learn/learner_impl.h"
#include "nn/weights/safetensors.h"

static void leaving_state(struct learner *learner, struct state *state)
{
	int64_t count = learner->leaving.count;
	struct err err;

	state_int64(state, "leaving_count", &count);
	if (state_failed(state))
		return;
	if (count < 0 || count > pool_seen(learner->pool)) {
		state_refuse(state, ERR_FORMAT, "%lld of %lld samples are leaving",
			(long long)count, (long long)pool_seen(learner->pool));
		return;
	}
	if (learner_reserve_leaving(learner, count, &err)) {
		state_refuse(state, ERR_MEMORY, "%s", err.message);
		return;
	}
	learner->leaving.count = count;
	state_int64s(state, "leaving", learner->leaving.ids, (size_t)count);
}

static void tasks_state(struct learner *learner, struct state *state)
{
	state_int64(state, "steps", &learner->steps.count);
	state_int64(state, "task_first", &learner->steps.task.first);
	state_bool(state, "tasks_told", &learner->steps.task.told);
	state_bool(state, "task_next", &learner->steps.task.next);
	state_int64(state, "task_told", &learner->steps.task.iterations);
	state_bool(state, "new_step", &learner->steps.fresh);
	if (!state_failed(state) && (learner->steps.count < 0 || learner->steps.task.first < 0 ||
					    learner->steps.task.first > pool_seen(learner->pool))) {
		state_refuse(state, ERR_FORMAT, "a task began with sample %lld of %lld",
			(long long)learner->steps.task.first, (long long)pool_seen(learner->pool));
		learner->steps.count = learner->steps.task.first = 0;
	}
}

/* Before version 3 no learner scaled its inputs. */
static void scale_state(struct learner *learner, struct state *state)
{
	if (state_version(state) >= 3)
		scaling_state(learner->scale.scaling, state);
	else
		state_refuse(state, ERR_INPUT,
			"its model takes inputs as they are, and this learner scales them; set "
			"model.scale = off");
}

/* The net is made as large as it was. */
static void classes_state(struct learner *learner, struct state *state)
{
	int classes = net_spec(learner->net)->classes;
	struct err err;

	state_int(state, "classes", &classes);
	if (!state_failed(state) && classes != net_spec(learner->net)->classes &&
		learner_resize(learner, classes, learner->inputs.floats, &err))
		state_refuse(state, err.code, "%s", err.message);
}

/* Likewise its inputs; states of nets whose inputs never grew do not have it. */
static void inputs_state(struct learner *learner, struct state *state)
{
	int64_t floats = state_reading(state) ? (int64_t)learner->inputs.first
					      : (int64_t)learner->inputs.floats;
	struct err err;

	if (learner->config.peers)
		return;
	if (state_reading(state) ? state_next_is(state, "inputs")
				 : learner->inputs.floats > learner->inputs.first) {
		state_enter(state, "inputs");
		state_int64(state, "floats", &floats);
		state_leave(state);
	}
	if (state_failed(state) || floats == (int64_t)learner->inputs.floats)
		return;
	if (floats < (int64_t)learner->inputs.first || floats > (int64_t)learner->inputs.given)
		state_refuse(state, ERR_FORMAT, "has %lld inputs, and rows have %zu",
			(long long)floats, learner->inputs.given);
	else if (learner_resize(learner, net_spec(learner->net)->classes, (size_t)floats, &err))
		state_refuse(state, err.code, "%s", err.message);
}

static void models_state(struct learner *learner, struct state *state)
{
	const size_t stats = net_stats(learner->net)->floats;
	static const char *const names[SCORES_MODELS] = {"stats", "stats1", "stats2"};

	vector_state(learner->engine, state, "params", learner->params,
		net_params(learner->net)->floats);
	for (int i = 0; i < SCORES_MODELS && stats; i++)
		state_floats(state, names[i], learner->stats[i], stats);
	optimizer_state(learner->optimizer, state);
	average_state(learner->average, state);
}

void learner_nets_state(void *object, struct state *state)
{
	struct learner *learner = object;

	models_state(learner, state);
	extras_state(learner, true, state);
	if (learner->beside && !learner->beside->type->grow)
		learner->beside->type->state(learner->beside, state);
}

/* A program may bring another net under the same name: the first tensor that differs is named. */
static void tensors_state(const struct net *net, struct state *state)
{
	const struct param_table *tables[] = {net_params(net), net_stats(net)};
	char shape[96], words[192];

	for (int t = 0; t < 2; t++)
		for (int i = 0; i < tables[t]->count; i++) {
			const struct param *row = &tables[t]->rows[i];

			safetensors_shape_text(shape, sizeof(shape), row->dims, row->shape);
			snprintf(words, sizeof(words), "%s %.80s", shape, row->name);
			if (state_lacks(state, "tensor"))
				state_refuse(state, ERR_FORMAT,
					"was saved without tensor \"%s\", which the net has",
					words);
			state_same(state, "tensor", words);
		}
	if (state_lacks(state, "iteration"))
		state_refuse(state, ERR_FORMAT, "was saved with more tensors than the net has");
}

/* States of iterations that are complete do not have it. */
static void unsettled_state(struct learner *learner, struct state *state)
{
	if (learner->config.peers)
		return;
	if (state_reading(state))
		learner->unsettled = (struct learner_unsettled){
			.due = state_next_is(state, "unsettled"), .loaded = true};
	if (!learner->unsettled.due)
		return;
	state_enter(state, "unsettled");
	state_leave(state);
}

void learner_state_here(void *object, struct state *state)
{
	struct learner *learner = object;

	state_enter(state, "learner");
	if (learner->config.classes_most)
		classes_state(learner, state);
	inputs_state(learner, state);
	state_same(state, "arch", net_spec(learner->net)->arch);
	if (net_spec(learner->net)->maker)
		tensors_state(learner->net, state);
	state_int64(state, "iteration", &learner->iteration);
	state_double(state, "loss", &learner->latest.loss);
	unsettled_state(learner, state);
	scoring_state(&learner->window, state);
	models_state(learner, state);
	vectors_state(learner->engine, state);
	schedule_state(learner->schedule, state);
	pool_state(learner->pool, state);
	if (learner->validation)
		pool_state(learner->validation, state);
	objective_state(learner->objective, state);
	tasks_state(learner, state);
	extras_state(learner, false, state);
	if (learner->beside)
		learner->beside->type->state(learner->beside, state);
	loss_state(learner->loss, state);
	leaving_state(learner, state);
	if (learner->scale.scaling)
		scale_state(learner, state);
	if (learner->target.scaling)
		scaling_state(learner->target.scaling, state);
	if (state_version(state) >= 10)
		class_weights_state(&learner->target.weigh, state);
	state_leave(state);
	if (!state_failed(state))
		scoring_begin(&learner->window, learner->average, learner->schedule,
			learner->iteration - learner->unsettled.due);
	learner->version += state_reading(state);
	learner_stale(learner);
}

void learner_state(struct learner *learner, struct state *state)
{
	const struct learner_call call = {
		LEARNER_CALL_STATE, .state = state, .count = store_count(learner->store)};

	if (state_failed(state))
		return;
	learner_begin(learner, &call);
	learner_state_here(learner, state);
	learner_end(learner, &call, 0, NULL);
}
