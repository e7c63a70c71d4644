/*
 * Creates a learner from its options: the net and its engine, buffers for batches, optimizer,
 * averages and population, pools and objective. These determine the price of an iteration, a
 * budget then determines their number, and only then can the schedule be made.
 */
#include "learn/learner.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "learn/learner_impl.h"

/* Below this many multiply-adds a batch, waking a second thread costs more than it gains. */
static const double SMALL_BATCH = 4e6;

static int make_net(struct learner *made, const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;
	const char *norm = options_text(o, "model.norm");
	const struct net_spec spec = {.arch = options_text(o, "model.arch"),
		.norm = strcmp(norm, "default") ? norm : NULL,
		.classes = config->classes,
		.channels = config->channels,
		.height = config->height,
		.width = config->width,
		.zero_init = options_bool(o, "model.zero_init"),
		.frozen = options_text(o, "model.frozen"),
		.maker = config->maker};

	return net_new(&made->net, &spec, err);
}

static int wanted_threads(const struct learner *learner)
{
	const int threads = options_int(learner->config.options, "engine.threads");

	if (!threads && net_macs(learner->net) * learner->set.batch < SMALL_BATCH)
		return 1;
	return threads;
}

/* Starting threads takes longer than a step of a small net, so another's engine will do. */
static int make_engine(struct learner *made, const struct learner *former, struct err *err)
{
	const struct options *o = made->config.options;
	const struct engine_config engine = {.isa = options_text(o, "engine.isa"),
		.conv = options_text(o, "engine.conv"),
		.threads = wanted_threads(made),
		.ranks = made->config.peers ? made->config.peers->ranks : NULL,
		.vectors = net_vectors(made->net)};
	int code = 0;

	if (former && wanted_threads(former) == engine.threads)
		made->engine = former->engine;
	else
		code = engine_new(&made->engine, &engine, err);
	if (!code)
		code = runner_new(&made->runner, made->net, made->engine,
			options_int(o, "run.micro_batch"), err);
	return code;
}

static int out_of_memory(struct err *err, size_t floats)
{
	return err_memory(err, "a learner", floats * sizeof(float));
}

static size_t largest_batch(const struct learner *made)
{
	return (size_t)(made->set.batch > made->set.validation_batch ? made->set.batch
								     : made->set.validation_batch);
}

int learner_make_inputs(struct learner *made, struct err *err)
{
	const size_t floats = largest_batch(made) * made->inputs.floats;

	made->room.inputs = batch_new(made->engine, floats);
	return made->room.inputs ? 0 : out_of_memory(err, floats);
}

/* What does not depend on the net. */
static int make_buffers(struct learner *made, struct err *err)
{
	const size_t most = largest_batch(made);
	bool whole = (made->room.losses = mem_new(most, sizeof(float))) &&
		     (made->room.weights = mem_new(most, sizeof(float))) &&
		     (made->room.ids = mem_new(most, sizeof(*made->room.ids))) &&
		     (made->room.labels = mem_new(
			      most * (size_t)made->target.width, sizeof(*made->room.labels)));

	if (store_prepares(made->store))
		whole = whole && (made->ahead.ids = mem_new(most, sizeof(*made->ahead.ids))) &&
			(made->ahead.weights = mem_new(most, sizeof(float)));
	return whole ? learner_make_inputs(made, err) : out_of_memory(err, most);
}

static int make_weights(struct learner *made, const struct options *o, bool init, struct err *err)
{
	const size_t params = net_params(made->net)->floats, stats = net_stats(made->net)->floats;
	const size_t logits = largest_batch(made) * (size_t)net_spec(made->net)->classes;
	bool whole = (made->room.logits = mem_new(logits, sizeof(float)));

	for (int i = 0; i < SCORES_MODELS && stats && whole; i++)
		whole = (made->stats[i] = mem_new(stats, sizeof(float)));
	if (!whole)
		return out_of_memory(err, logits);
	int code = vector_new(&made->params, made->engine, params, "a learner", err);
	if (!code)
		code = vector_new(&made->grad, made->engine, params, "a learner", err);
	if (!code)
		code = whole_new(&made->whole, made->engine, params, err);
	if (code || !init)
		return code;
	code = vector_init(made->engine, made->net, (uint64_t)options_int64(o, "run.seed"),
		made->params, made->stats[0], err);
	if (code)
		return code;
	for (int i = 1; i < SCORES_MODELS && stats; i++)
		memcpy(made->stats[i], made->stats[0], stats * sizeof(float));
	return 0;
}

const struct beside_type *const beside_types[TARGET_KINDS] = {
	[TARGET_CLASS] = &beside_parts,
	[TARGET_NUMBER] = &beside_numbers,
};

static void free_beside(struct learner *learner)
{
	if (learner->beside)
		learner->beside->type->free(learner->beside);
	learner->beside = NULL;
}

/* After all that may be refused. */
int learner_make_beside(struct learner *made, struct err *err)
{
	const struct part_view view = {.options = made->config.options,
		.engine = made->engine,
		.floats = made->inputs.floats,
		.first = made->inputs.first,
		.net = made->net};

	free_beside(made);
	return beside_types[made->target.kind]->make(&made->beside, &view, err);
}

int learner_make_optimizer(
	const struct learner *learner, struct optimizer **optimizer, struct err *err)
{
	const struct options *o = learner->config.options;
	struct optimizer_config config;
	int code;

	optimizer_config(&config, o);
	code = optimizer_new(
		optimizer, &config, net_params(learner->net)->floats, learner->engine, err);
	return code ? code : learner_segments(learner->net, o, *optimizer, err);
}

static int make_models(struct learner *made, const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;
	const size_t floats = net_params(made->net)->floats;
	struct average_config average;
	int code;

	average_config(&average, o);
	average.engine = made->engine;
	code = learner_make_optimizer(made, &made->optimizer, err);
	if (!code)
		code = average_new(&made->average, &average, made->params, floats, err);
	if (!code)
		made->window.scores.models = 1 + average_count(made->average);
	return code ? code : learner_make_beside(made, err);
}

static int make_loss(struct learner *made, struct err *err)
{
	const struct loss_view view = learner_loss_view(made);

	return loss_new(&made->loss, &view, err);
}

static int make_replay(struct learner *made, const struct learner_config *config, struct err *err)
{
	struct pool_config pool, validation;
	struct objective_config objective;
	int code;

	pool_config(&pool, config->options, config->classes, false);
	pool_config(&validation, config->options, config->classes, true);
	objective_config(&objective, config->options);
	code = pool_new(&made->pool, &pool, err);
	if (!code && validation.holdout.share > 0)
		code = pool_new(&made->validation, &validation, err);
	return code ? code : objective_new(&made->objective, &objective, made->pool, err);
}

/* What the end of a part decides. */
static int make_parts(struct learner *made, const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;
	const int64_t parts = options_int(o, "learn.parts");

	if (learner_has_parts(o)) {
		made->plan.part_steps = options_int64(o, "learn.part_steps");
		if (!made->plan.part_steps)
			made->plan.part_steps = config->steps > parts ? config->steps / parts : 1;
	}
	return extras_make(made, false, err);
}

/*
 * What an iteration costs on average, in iterations of plain SGD that trains every layer. Prices
 * are the ledger's: a sample forward costs as many multiply-adds as the net has, backward twice
 * those of layers that are trained, a sweep one per parameter that is.
 */
static double price_of(const struct learner *made, const struct options *o, bool first)
{
	const double macs = net_macs(made->net), params = net_trained_params(made->net);
	const double passes = macs + 2 * net_trained_macs(made->net);
	const double sgd = passes * made->set.batch + params;
	const double whole = 3 * macs * made->set.batch + (double)net_params(made->net)->floats;
	const bool own = optimizer_traits(options_text(o, "optimizer.kind")).averages;
	const int averages = average_count(made->average);
	double cost = sgd;

	EXTRAS_EACH (made, price)
		cost += extra_types[e]->price(made->extras[e],
			&(struct extra_costs){macs, passes, params, sgd, made->set.batch, first});
	cost += loss_price(made->loss, made->net);
	cost += averages * params / options_int(o, "average.every");
	if (made->validation)
		cost += made->window.scores.models * macs * made->set.validation_batch /
			(double)made->set.validate_every;
	if (made->stats[0])
		cost += (averages + own) * macs * made->set.batch /
			(double)made->set.statistics_every;
	return cost / whole;
}

void learner_make_plan(struct learner *made)
{
	const struct learner_config *config = &made->config;

	made->plan.price = price_of(made, config->options, false);
	made->plan.first_price = price_of(made, config->options, true);
	made->plan.iterations = config->iterations;
	if (config->budget > 0) {
		made->plan.per_step = config->budget / made->plan.price;
		made->plan.iterations = (int64_t)(made->plan.per_step * (double)config->steps);
	} else if (config->steps) {
		made->plan.per_step = (double)config->iterations / (double)config->steps;
	}
}

static int make_schedule(struct learner *made, const struct learner_config *config, struct err *err)
{
	struct schedule_config schedule;
	int code;

	learner_make_plan(made);
	schedule_config(&schedule, config->options, made->plan.iterations);
	code = schedule_new(&made->schedule, &schedule, err);
	if (!code)
		scoring_begin(&made->window, made->average, made->schedule, 0);
	return code;
}

int learner_make_nets(struct learner *made, const struct learner *former, struct err *err)
{
	const struct options *o = made->config.options;
	int code = make_net(made, &made->config, err);

	if (!code)
		code = make_engine(made, former, err);
	if (!code)
		code = make_weights(made, o, !former, err);
	if (!code)
		code = make_models(made, &made->config, err);
	if (!code)
		code = validator_new(&made->validating.validator, made, err);
	return code ? code : extras_make(made, true, err);
}

void learner_free_nets(struct learner *learner, bool engine)
{
	validator_free(learner->validating.validator);
	extras_free(learner);
	free_beside(learner);
	average_free(learner->average);
	optimizer_free(learner->optimizer);
	runner_free(learner->runner);
	vector_free(learner->engine, learner->params);
	vector_free(learner->engine, learner->grad);
	if (engine)
		engine_free(learner->engine);
	net_free(learner->net);
	for (int i = 0; i < SCORES_MODELS; i++)
		mem_free(learner->stats[i]);
	whole_free(learner->whole);
	mem_free(learner->room.logits);
}

static void free_here(struct learner *learner)
{
	batch_free(learner->engine, learner->room.inputs);
	learner_free_nets(learner, true);
	class_weights_release(&learner->target.weigh);
	loss_free(learner->loss);
	mem_free(learner->inputs.looked.inputs);
	mem_free(learner->inputs.narrow.inputs);
	mem_free(learner->inputs.fetched.inputs);
	scaling_free(learner->scale.scaling);
	scaling_free(learner->target.scaling);
	mem_free(learner->scale.inputs.inputs);
	objective_free(learner->objective);
	pool_free(learner->validation);
	pool_free(learner->pool);
	schedule_free(learner->schedule);
	mem_free(learner->room.losses);
	mem_free(learner->room.weights);
	mem_free(learner->room.ids);
	mem_free(learner->room.labels);
	mem_free(learner->leaving.ids);
	mem_free(learner->ahead.ids);
	mem_free(learner->ahead.weights);
	mem_free(learner);
}

static void set_up(struct learner *made, const struct learner_config *config, struct store *store)
{
	const struct options *o = config->options;

	made->watch = config->watch;
	made->config = *config;
	if (config->classes_most && !config->classes)
		made->config.classes = 1;
	made->target.kind = target_kind(options_text(o, "model.target"));
	made->target.width = target_width(o);
	if (target_outputs(o)) {
		made->config.classes = target_outputs(o);
		made->config.classes_most = 0;
	}
	made->store = store;
	made->inputs.floats =
		(size_t)config->channels * (size_t)config->height * (size_t)config->width;
	made->set.seed = (uint64_t)options_int64(o, "run.seed");
	made->inputs.first = made->inputs.given = made->inputs.floats;
	made->set.batch = options_int(o, "run.batch");
	made->set.validation_batch = options_int(o, "schedule.validation_batch");
	made->set.validate_every = options_int64(o, "schedule.validate_every");
	made->set.serve_best = learner_serves_plain(o);
	made->set.head_anew = !strcmp(options_text(o, "model.head"), "new");
	made->set.statistics_every = options_int64(o, "average.statistics_every");
	made->plan.task_steps = options_int64(o, "run.task_steps");
}

static int make_scales(struct learner *made, const struct learner_config *config, struct err *err)
{
	const bool vectors = config->height == 1 && config->width == 1;
	int code = 0;

	if (scaling_wanted(options_text(config->options, "model.scale"), vectors, config->fit))
		code = scaling_new(&made->scale.scaling, made->inputs.floats, err);
	if (!code && learner_target(made)->outputs)
		code = scaling_new(&made->target.scaling, (size_t)made->target.width, err);
	return code;
}

static int make_all(struct learner *made, const struct learner_config *config, struct err *err)
{
	int code = learner_options_check(config, err);

	if (!code)
		code = make_scales(made, config, err);
	if (!code)
		code = learner_make_nets(made, NULL, err);
	if (!code)
		code = make_buffers(made, err);
	if (!code)
		code = make_loss(made, err);
	if (!code)
		code = make_replay(made, &made->config, err);
	if (!code)
		code = make_parts(made, config, err);
	return code ? code : make_schedule(made, config, err);
}

int learner_new(struct learner **learner, const struct learner_config *config, struct store *store,
	struct err *err)
{
	const char *weights = options_text(config->options, "model.weights");
	const struct learner_call call = {LEARNER_CALL_NEW, .config = config};
	struct learner *made = mem_new(1, sizeof(*made));
	int code;

	*learner = NULL;
	if (!made)
		return err_memory(err, "a learner", sizeof(*made));
	set_up(made, config, store);
	learner_begin(made, &call);
	code = learner_end(made, &call, make_all(made, config, err), err);
	if (code) {
		free_here(made);
		return code;
	}
	extras_restart(made);
	if (*weights)
		code = learner_load(made, weights, err);
	if (code)
		learner_free(made);
	else
		*learner = made;
	return code;
}

void learner_free(struct learner *learner)
{
	if (!learner)
		return;
	learner_begin(learner, &(struct learner_call){LEARNER_CALL_FREE});
	free_here(learner);
}
