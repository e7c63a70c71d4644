/*
 * Queries of a learner: predictions, its models, its status. Its state is in learner_state.c, its
 * construction in learner_new.c, training in learner_train.c.
 */
#include "learn/learner.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner_impl.h"
#include "nn/weights/safetensors.h"
#include "nn/weights/weights_file.h"

void learner_begin(struct learner *learner, const struct learner_call *call)
{
	struct learner_peers *peers = learner->config.peers;

	if (call->kind != LEARNER_CALL_TRAIN)
		learner_validated(learner);
	if (peers)
		peers->begin(peers, learner, call);
}

int learner_end(struct learner *learner, const struct learner_call *call, int code, struct err *err)
{
	struct learner_peers *peers = learner->config.peers;

	return peers ? peers->end(peers, learner, call, code, err) : code;
}

struct runner *learner_runner(struct learner *learner)
{
	return learner->runner;
}

int learner_best(const struct learner *learner)
{
	learner_validated((struct learner *)learner);
	return scoring_best(&learner->window, learner->average);
}

int learner_teacher(const struct learner *learner)
{
	return optimizer_inference(learner->optimizer) ? LEARNER_INFERENCE : learner_best(learner);
}

int learner_served(const struct learner *learner)
{
	learner_validated((struct learner *)learner);
	return learner_served_so_far(learner);
}

int learner_served_so_far(const struct learner *learner)
{
	return scoring_served(&learner->window, learner->average, learner->set.serve_best);
}

void learner_stale(struct learner *learner)
{
	whole_forget(learner->whole);
}

/* What a model is in this process: all of it, or, with *slice set, its own slices. */
static const float *params_here(const struct learner *learner, int model, bool *slice)
{
	const float *inference = optimizer_inference(learner->optimizer);
	const struct population *population = learner_population(learner);

	*slice = true;
	if (model == LEARNER_INFERENCE && inference)
		return inference;
	if (model == LEARNER_INFERENCE && !population)
		model = learner_served(learner);
	if (model > LEARNER_PLAIN && model <= average_count(learner->average))
		return average_params(learner->average, model - LEARNER_AVERAGE);
	*slice = false;
	if (model == LEARNER_INFERENCE)
		return population->members[population_best(population)].params;
	return model == LEARNER_PLAIN ? learner->params : NULL;
}

const float *learner_weights(const struct learner *learner, int model)
{
	bool slice;
	const float *here = params_here(learner, model, &slice);

	return here && slice ? whole_of(learner->whole, here) : here;
}

const float *learner_params(const struct learner *learner, int model)
{
	bool slice;
	const float *here = params_here(learner, model, &slice);

	if (here && slice && !whole_has(learner->whole, here))
		learner_begin((struct learner *)learner,
			&(struct learner_call){LEARNER_CALL_GATHER, .model = model});
	return learner_weights(learner, model);
}

int learner_copy_params(const struct learner *learner, int model, float **values, struct err *err)
{
	const size_t floats = net_params(learner->net)->floats;
	const float *params = learner_params(learner, model);
	int code;

	*values = mem_new(floats, sizeof(**values));
	code = *values ? vector_read(learner->engine, params, *values, floats, err)
		       : err_memory(err, "a copy of weights", floats * sizeof(**values));
	if (code) {
		mem_free(*values);
		*values = NULL;
	}
	return code;
}

/* What an optimizer averages by itself has its statistics in the place of a first average. */
const float *learner_stats(const struct learner *learner, int model)
{
	const struct population *population = learner_population(learner);
	bool slice;

	if (!params_here(learner, model, &slice))
		return NULL;
	if (model == LEARNER_INFERENCE && population)
		return population->members[population_best(population)].stats;
	if (model == LEARNER_INFERENCE)
		model = optimizer_inference(learner->optimizer) ? SCORES_AVERAGE
								: learner_served(learner);
	return learner->stats[model];
}

static int which_weights(int model)
{
	return model < LEARNER_INFERENCE && model >= LEARNER_NEXT ? LEARNER_INFERENCE : model;
}

static int predict(struct learner *learner, int model, const float *inputs, int n, float *logits,
	struct err *err)
{
	const int which = which_weights(model);
	const float *params = learner_weights(learner, which), *raw;
	struct number_scales scales;
	int code = learner_narrowed(learner, &inputs, n, err);

	raw = inputs;
	if (!code)
		code = learner_scaled(learner, &inputs, n, err);
	if (code)
		return code;
	if (learner_mixes(learner, model)) {
		const struct part_view view = learner_view(learner);

		return learner->beside->type->predict(
			learner->beside, &view, model, inputs, raw, n, logits, err);
	}
	learner_tell(learner, LEARNER_PREDICT, n);
	code = runner_infer(
		learner->runner, params, learner_stats(learner, which), inputs, n, logits, err);
	learner_number_scales(learner, &scales);
	if (!code)
		number_unscale(&scales, logits, n);
	return code;
}

/* The model is made whole first, so that a process can predict alone what is not shared. */
int learner_predict(struct learner *learner, int model, const float *inputs, int n, float *logits,
	struct err *err)
{
	const struct learner_call call = {LEARNER_CALL_PREDICT, n, model, .inputs = inputs};
	int code;

	if (!learner_params(learner, which_weights(model)))
		return err_set(err, ERR_INPUT, "model %d: there are %d", model,
			1 + average_count(learner->average));
	learner_begin(learner, &call);
	code = predict(
		learner, model, inputs ? inputs : learner->inputs.looked.inputs, n, logits, err);
	code = learner_end(learner, &call, code, err);
	if (!code)
		class_weights_apply(
			&learner->target.weigh, logits, net_spec(learner->net)->classes, n);
	return code;
}

struct class_weights *learner_weigh(struct learner *learner)
{
	learner->version++;
	return &learner->target.weigh;
}

const struct class_weights *learner_weighs(const struct learner *learner)
{
	return &learner->target.weigh;
}

double learner_rate(const struct learner *learner, int64_t k)
{
	const struct population *population = learner_population(learner);
	const double scale = population ? population->members[0].scale : 1;

	return scale * schedule_rate(learner->schedule, k);
}

/* The rate of the next iteration for the model that serves inference. */
static double served_rate(const struct learner *learner)
{
	const struct population *population = learner_population(learner);
	const double scale =
		population ? population->members[population_best(population)].scale : 1;

	return scale * schedule_rate(learner->schedule, learner->iteration + 1);
}

void learner_let_grow(struct learner *learner, int classes_most)
{
	learner->config.classes_most = classes_most;
}

double learner_price(const struct learner *learner)
{
	return learner->plan.price;
}

void learner_kept(const struct learner *learner, int64_t *training, int64_t *validation)
{
	*training = pool_count(learner->pool);
	*validation = learner->validation ? pool_count(learner->validation) : 0;
}

double learner_first_price(const struct learner *learner)
{
	return learner->plan.first_price;
}

int64_t learner_planned(const struct learner *learner)
{
	return learner->plan.iterations;
}

void learner_report(const struct learner *learner, struct learner_report *report)
{
	const struct beside *beside = learner->beside;

	*report = (struct learner_report){
		.iteration = learner->iteration,
		.samples = pool_seen(learner->pool),
		.rate = served_rate(learner),
		.averages = average_count(learner->average),
		.best = learner_served(learner),
		.scored = learner->window.scored,
		.judged = learner->window.judged,
		.sigma = learner->window.sigma,
		.loss = learner->latest.loss,
		.pool = pool_count(learner->pool),
		.validation = learner->validation ? pool_count(learner->validation) : 0,
		.slow_efficacy = beside && beside->type->efficacy ? beside->type->efficacy(beside)
								  : (double)NAN,
		.fast_bytes = beside ? beside->type->bytes(beside) : 0,
	};
	for (int i = 0; i < report->averages; i++)
		report->gamma[i] = average_gamma(learner->average, i);
	memcpy(report->scores, learner->window.last, sizeof(report->scores));
}

int learner_classes(const struct learner *learner)
{
	const bool open = learner->config.classes_most || learner_target(learner)->outputs;

	return open && !pool_seen(learner->pool) ? 0 : net_spec(learner->net)->classes;
}

const struct target_type *learner_target(const struct learner *learner)
{
	return target_types[learner->target.kind];
}

int learner_width(const struct learner *learner)
{
	return learner->target.width;
}

const struct net *learner_net(const struct learner *learner)
{
	return learner->net;
}

const char *learner_isa(const struct learner *learner)
{
	return engine_isa(learner->engine);
}

int learner_threads(const struct learner *learner)
{
	return team_size(learner->engine->team);
}

bool learner_mixes(const struct learner *learner, int model)
{
	const struct beside *beside = learner->beside;

	return beside &&
	       (model == LEARNER_NEXT || model == LEARNER_NOW ||
		       (model == LEARNER_EVER && beside->type->ever && beside->type->ever(beside)));
}

uint64_t learner_version(const struct learner *learner)
{
	return learner->version;
}

/* With weights for scaled inputs comes their scale. */
static int load_scale(struct learner *learner, const struct safetensors *file, struct err *err)
{
	struct scale scale = {.floats = learner->inputs.floats};
	struct arena arena = {0};
	int64_t *seen;
	int code;

	if (!weights_has_scale(file))
		return 0;
	if (!learner->scale.scaling)
		return err_set(err, ERR_INPUT,
			"%s: its weights are for scaled inputs, and this learner takes them as "
			"they are; set model.scale = running",
			safetensors_path(file));
	scale.mean = arena_new(&arena, scale.floats, sizeof(float));
	scale.factor = arena_new(&arena, scale.floats, sizeof(float));
	seen = arena_new(&arena, scale.floats, sizeof(*seen));
	code = scale.mean && scale.factor && seen
		       ? weights_load_scale(learner->net, file, &scale, seen, err)
		       : err_memory(err, "the scale of inputs", scale.floats * sizeof(*seen));
	if (!code)
		scaling_set(learner->scale.scaling, &scale, seen);
	arena_release(&arena);
	return code;
}

static int read_weights(struct learner *learner, const char *path, struct err *err)
{
	const bool anew = learner->set.head_anew;
	const size_t floats = net_params(learner->net)->floats;
	struct safetensors *file = NULL;
	float *params = NULL;
	struct err why;
	int code = safetensors_open(&file, path, err), kept;

	if (!code && !anew)
		code = load_scale(learner, file, err);
	if (!code)
		code = vector_look(learner->engine, learner->params, floats, &params, err);
	if (!code && anew)
		code = weights_load_body(learner->net, file, params, learner->stats[0], err);
	if (!code && !anew) {
		code = weights_load(learner->net, file, params, learner->stats[0], &why);
		if (code)
			err_set(err, code, "%s%s", why.message,
				weights_body_fits(learner->net, file)
					? "; model.head = new takes all but the last layer"
					: "");
	}
	safetensors_close(file);
	kept = params ? vector_leave(learner->engine, learner->params, floats, params, !code,
				code ? NULL : err)
		      : 0;
	return code ? code : kept;
}

/* All goes on from the weights that there are. */
static void restart(struct learner *learner)
{
	const size_t size = net_stats(learner->net)->floats * sizeof(float);

	optimizer_restart(learner->optimizer);
	average_restart(learner->average, learner->params);
	scores_clear(&learner->window.scores);
	for (int i = 1; i < SCORES_MODELS && size; i++)
		memcpy(learner->stats[i], learner->stats[0], size);
	extras_restart(learner);
	if (learner->beside)
		learner->beside->type->restart(learner->beside);
	learner_stale(learner);
	learner->version++;
}

void learner_weights_state(void *object, struct state *state)
{
	struct learner *learner = object;
	const size_t stats = net_stats(learner->net)->floats;

	vector_state(learner->engine, state, "params", learner->params,
		net_params(learner->net)->floats);
	if (stats)
		state_floats(state, "stats", learner->stats[0], stats);
	if (learner->scale.scaling)
		scaling_state(learner->scale.scaling, state);
	if (state_reading(state) && !state_failed(state))
		restart(learner);
}

int learner_load(struct learner *learner, const char *path, struct err *err)
{
	const int code = read_weights(learner, path, err);

	if (code)
		return code;
	learner_begin(learner, &(struct learner_call){LEARNER_CALL_WEIGHTS});
	restart(learner);
	return 0;
}

int learner_check(struct learner *learner, struct err *err)
{
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats;

	learner->latest.diverged = false;
	for (int model = LEARNER_INFERENCE; model < learner->window.scores.models; model++)
		/* One of a population may go astray: another serves, and it will be replaced. */
		if ((model == LEARNER_INFERENCE || !learner_population(learner)) &&
			(!vector_finite(learner->engine, learner_params(learner, model), params) ||
				(stats && !vector_finite(
						  NULL, learner_stats(learner, model), stats))))
			learner->latest.diverged = true;
	if (!learner->latest.diverged)
		return 0;
	return err_set(err, ERR_STATE,
		"iteration %lld: some weights are not finite, at learning rate %g",
		(long long)learner->iteration,
		schedule_rate(learner->schedule, learner->iteration));
}

bool learner_diverged(const struct learner *learner)
{
	return learner->latest.diverged;
}

void learner_slow(struct learner *learner, double factor)
{
	learner_begin(learner, &(struct learner_call){LEARNER_CALL_SLOW, .factor = factor});
	schedule_slow(learner->schedule, factor);
	/* What threw the weights far off is still in the momentum, at any rate. */
	optimizer_restart(learner->optimizer);
	EXTRAS_EACH (learner, slow)
		extra_types[e]->slow(learner->extras[e]);
}
