/*
 * Making a learner out of its options, and what can be asked of one. Training is
 * in learner_train.c.
 */
#include "learn/learner.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner_impl.h"
#include "nn/safetensors.h"
#include "nn/weights_file.h"

/* Below so many multiply-adds a batch, waking a second thread costs more than it gives. */
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
		.zero_init = options_bool(o, "model.zero_init")};
	struct engine_config engine = {.isa = options_text(o, "engine.isa"),
		.conv = options_text(o, "engine.conv"),
		.threads = options_int(o, "engine.threads")};
	int code = net_new(&made->net, &spec, err);

	if (code)
		return code;
	if (!engine.threads && net_macs(made->net) * made->batch < SMALL_BATCH)
		engine.threads = 1;
	code = engine_new(&made->engine, &engine, err);
	if (!code)
		code = runner_new(&made->runner, made->net, made->engine,
			options_int(o, "run.micro_batch"), err);
	return code;
}

static int make_buffers(struct learner *made, const struct options *o, struct err *err)
{
	const size_t params = net_params(made->net)->floats, stats = net_stats(made->net)->floats;
	const size_t most = (size_t)(made->batch > made->validation_batch ? made->batch :
									    made->validation_batch);
	const size_t classes = (size_t)net_spec(made->net)->classes;
	bool whole = (made->params = mem_new(params, sizeof(float))) &&
		     (made->grad = mem_new(params, sizeof(float))) &&
		     (made->inputs = mem_new(most * made->floats, sizeof(float))) &&
		     (made->logits = mem_new(most * classes, sizeof(float))) &&
		     (made->losses = mem_new(most, sizeof(float))) &&
		     (made->weights = mem_new(most, sizeof(float))) &&
		     (made->ids = mem_new(most, sizeof(*made->ids))) &&
		     (made->labels = mem_new(most, sizeof(*made->labels)));

	if (store_prepares(made->store))
		whole = whole && (made->guess = mem_new(most, sizeof(*made->guess))) &&
			(made->guess_weights = mem_new(most, sizeof(float)));
	for (int i = 0; i < SCORES_MODELS && stats && whole; i++)
		whole = (made->stats[i] = mem_new(stats, sizeof(float)));
	if (!whole)
		return err_memory(err, "a learner",
			(2 * params + most * (made->floats + classes)) * sizeof(float));
	net_init(made->net, (uint64_t)options_int64(o, "run.seed"), made->params, made->stats[0]);
	for (int i = 1; i < SCORES_MODELS && stats; i++)
		memcpy(made->stats[i], made->stats[0], stats * sizeof(float));
	return 0;
}

static int make_optim(struct learner *made, const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;
	const size_t floats = net_params(made->net)->floats;
	struct optimizer_config optimizer;
	struct average_config average;
	struct schedule_config schedule;
	int code;

	optimizer_config(&optimizer, o);
	average_config(&average, o);
	schedule_config(&schedule, o, made->planned);
	code = optimizer_new(&made->optimizer, &optimizer, floats, made->engine, err);
	if (!code)
		code = average_new(&made->average, &average, made->params, floats, err);
	if (!code)
		code = schedule_new(&made->schedule, &schedule, err);
	if (!code && strcmp(options_text(o, "learn.population"), "none"))
		code = population_new(&made->population, made, &optimizer, err);
	return code;
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
	if (!code)
		code = objective_new(&made->objective, &objective, made->pool, err);
	if (!code && objective_chooses(made->objective))
		code = choice_new(&made->choice, made->batch, net_params(made->net)->floats,
			net_stats(made->net)->floats, err);
	return code;
}

/* What the end of a part decides, and what a task starts from. */
static int make_parts(struct learner *made, const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;
	const size_t params = net_params(made->net)->floats, stats = net_stats(made->net)->floats;
	const int64_t parts = options_int(o, "learn.parts");

	made->select_every = options_int(o, "learn.select_every");
	if (options_bool(o, "learn.adapt_history")) {
		made->adapt = mem_new(1, sizeof(*made->adapt));
		if (!made->adapt)
			return err_memory(err, "a learner", sizeof(*made->adapt));
		made->adapt->least = made->batch;
		made->adapt->reach = options_int64(o, "replay.history");
	}
	if (made->adapt || made->population) {
		made->part_steps = options_int64(o, "learn.part_steps");
		if (!made->part_steps)
			made->part_steps = config->steps > parts ? config->steps / parts : 1;
	}
	if (!options_bool(o, "learn.retrain"))
		return 0;
	made->start = mem_new(params, sizeof(float));
	made->start_stats = stats ? mem_new(stats, sizeof(float)) : NULL;
	if (!made->start || (stats && !made->start_stats))
		return err_memory(err, "the weights of the start", params * sizeof(float));
	return 0;
}

/*
 * What an iteration costs on average, in the ledger's prices: a sample forward as
 * many multiply-adds as the net has, backward twice that, a sweep one per parameter.
 */
static double price_of(const struct learner *made, const struct options *o)
{
	const double macs = net_macs(made->net), params = (double)net_params(made->net)->floats;
	const double sgd = 3 * macs * made->batch + params;
	const char *average = options_text(o, "average.kind");
	const int averages = !strcmp(average, "ama") ? 2 : !strcmp(average, "ema");
	double cost = sgd;

	if (strcmp(options_text(o, "learn.population"), "none"))
		cost += (POPULATION - 1) * sgd;
	if (!strcmp(options_text(o, "replay.objective"), "mir"))
		cost += 3 * macs * (made->batch - made->batch / 2) + params +
			2 * macs * made->batch;
	cost += averages * params / options_int(o, "average.every");
	if (options_float(o, "replay.holdout") > 0)
		cost += (1 + averages) * macs * made->validation_batch /
			(double)made->validate_every;
	if (made->stats[0])
		cost += averages * macs * made->batch / (double)made->statistics_every;
	return cost / sgd;
}

static void make_plan(struct learner *made, const struct learner_config *config)
{
	made->price = price_of(made, config->options);
	made->planned = config->iterations;
	if (config->budget > 0) {
		made->per_step = config->budget / made->price;
		made->planned = (int64_t)(made->per_step * (double)config->steps);
	} else if (config->steps) {
		made->per_step = (double)config->iterations / (double)config->steps;
	}
}

static void keep_start(struct learner *learner)
{
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats;

	if (learner->start)
		memcpy(learner->start, learner->params, params * sizeof(float));
	if (learner->start_stats)
		memcpy(learner->start_stats, learner->stats[0], stats * sizeof(float));
}

int learner_new(struct learner **learner, const struct learner_config *config, struct store *store,
	struct err *err)
{
	const struct options *o = config->options;
	struct learner *made = mem_new(1, sizeof(*made));
	int code;

	*learner = NULL;
	if (!made)
		return err_memory(err, "a learner", sizeof(*made));
	made->watch = config->watch;
	made->store = store;
	made->floats = (size_t)config->channels * (size_t)config->height * (size_t)config->width;
	made->batch = options_int(o, "run.batch");
	made->validation_batch = options_int(o, "schedule.validation_batch");
	made->validate_every = options_int64(o, "schedule.validate_every");
	made->window = options_int64(o, "schedule.window");
	made->statistics_every = options_int64(o, "average.statistics_every");
	made->task_steps = options_int64(o, "run.task_steps");
	code = learner_options_check(config, err);
	if (!code)
		code = make_net(made, config, err);
	if (!code)
		code = make_buffers(made, o, err);
	if (!code) {
		make_plan(made, config);
		code = make_optim(made, config, err);
	}
	if (!code)
		code = make_replay(made, config, err);
	if (!code)
		code = make_parts(made, config, err);
	if (code) {
		learner_free(made);
		return code;
	}
	made->scores.models = 1 + average_count(made->average);
	keep_start(made);
	if (*options_text(o, "model.weights"))
		code = learner_load(made, options_text(o, "model.weights"), err);
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
	choice_free(learner->choice);
	population_free(learner->population);
	mem_free(learner->adapt);
	mem_free(learner->start);
	mem_free(learner->start_stats);
	objective_free(learner->objective);
	pool_free(learner->validation);
	pool_free(learner->pool);
	schedule_free(learner->schedule);
	average_free(learner->average);
	optimizer_free(learner->optimizer);
	runner_free(learner->runner);
	engine_free(learner->engine);
	net_free(learner->net);
	for (int i = 0; i < SCORES_MODELS; i++)
		mem_free(learner->stats[i]);
	mem_free(learner->params);
	mem_free(learner->grad);
	mem_free(learner->inputs);
	mem_free(learner->logits);
	mem_free(learner->losses);
	mem_free(learner->weights);
	mem_free(learner->ids);
	mem_free(learner->labels);
	mem_free(learner->leaving);
	mem_free(learner->guess);
	mem_free(learner->guess_weights);
	mem_free(learner);
}

int model_best(const struct learner *learner)
{
	return SCORES_AVERAGE + average_best(learner->average, &learner->scores);
}

const float *model_params(const struct learner *learner, int model)
{
	const float *inference = optimizer_inference(learner->optimizer);

	if (model == LEARNER_INFERENCE && inference)
		return inference;
	if (model == LEARNER_INFERENCE && learner->population)
		return learner->population->members[population_best(learner->population)].params;
	if (model == LEARNER_INFERENCE)
		model = model_best(learner);
	if (model == LEARNER_PLAIN)
		return learner->params;
	if (model < 0 || model > average_count(learner->average))
		return NULL;
	return average_params(learner->average, model - LEARNER_AVERAGE);
}

/* An optimizer that averages by itself has the place of a first average here. */
float *model_stats(const struct learner *learner, int model)
{
	if (model == LEARNER_INFERENCE && learner->population)
		return learner->population->members[population_best(learner->population)].stats;
	if (model == LEARNER_INFERENCE)
		model = optimizer_inference(learner->optimizer) ? SCORES_AVERAGE :
								 model_best(learner);
	return learner->stats[model];
}

int learner_predict(struct learner *learner, int model, const float *inputs, int n, float *logits,
	struct err *err)
{
	const float *params = model_params(learner, model);

	if (!params)
		return err_set(err, ERR_INPUT, "model %d: there are %d", model,
			1 + average_count(learner->average));
	learner_tell(learner, LEARNER_PREDICT, n);
	return runner_infer(
		learner->runner, params, model_stats(learner, model), inputs, n, logits, err);
}

double learner_rate(const struct learner *learner, int64_t k)
{
	const double scale = learner->population ? learner->population->members[0].scale : 1;

	return scale * schedule_rate(learner->schedule, k);
}

/* The next iteration's, of the model that serves inference. */
static double served_rate(const struct learner *learner)
{
	const struct population *population = learner->population;
	const double scale =
		population ? population->members[population_best(population)].scale : 1;

	return scale * schedule_rate(learner->schedule, learner->iteration + 1);
}

double learner_price(const struct learner *learner)
{
	return learner->price;
}

int64_t learner_planned(const struct learner *learner)
{
	return learner->planned;
}

void learner_report(const struct learner *learner, struct learner_report *report)
{
	*report = (struct learner_report){
		.iteration = learner->iteration,
		.samples = pool_seen(learner->pool),
		.rate = served_rate(learner),
		.averages = average_count(learner->average),
		.best = model_best(learner),
		.scored = learner->scored,
		.judged = learner->judged,
		.sigma = learner->sigma,
		.loss = learner->loss,
		.pool = pool_count(learner->pool),
		.validation = learner->validation ? pool_count(learner->validation) : 0,
	};
	for (int i = 0; i < report->averages; i++)
		report->gamma[i] = average_gamma(learner->average, i);
	memcpy(report->scores, learner->last, sizeof(report->scores));
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

const float *learner_params(const struct learner *learner, int model)
{
	return model_params(learner, model);
}

const float *learner_stats(const struct learner *learner, int model)
{
	return model_params(learner, model) ? model_stats(learner, model) : NULL;
}

int learner_load(struct learner *learner, const char *path, struct err *err)
{
	const size_t size = net_stats(learner->net)->floats * sizeof(float);
	struct safetensors *file = NULL;
	int code = safetensors_open(&file, path, err);

	if (!code)
		code = weights_load(learner->net, file, learner->params, learner->stats[0], err);
	safetensors_close(file);
	if (code)
		return code;
	optimizer_restart(learner->optimizer);
	average_restart(learner->average, learner->params);
	scores_clear(&learner->scores);
	for (int i = 1; i < SCORES_MODELS && size; i++)
		memcpy(learner->stats[i], learner->stats[0], size);
	if (learner->population)
		population_restart(learner->population, learner->net);
	keep_start(learner);
	return 0;
}

static bool all_finite(const float *values, size_t count)
{
	size_t bad = 0;

	for (size_t i = 0; i < count; i++)
		bad += !isfinite(values[i]);
	return !bad;
}

int learner_check(struct learner *learner, struct err *err)
{
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats;

	learner->diverged = false;
	for (int model = LEARNER_INFERENCE; model < learner->scores.models; model++)
		/* One of a population may go astray: another serves, and it will be replaced. */
		if ((model == LEARNER_INFERENCE || !learner->population) &&
			(!all_finite(model_params(learner, model), params) ||
				(stats && !all_finite(model_stats(learner, model), stats))))
			learner->diverged = true;
	if (!learner->diverged)
		return 0;
	return err_set(err, ERR_STATE,
		"iteration %lld: there are weights that are no finite numbers, at learning rate %g",
		(long long)learner->iteration,
		schedule_rate(learner->schedule, learner->iteration));
}

bool learner_diverged(const struct learner *learner)
{
	return learner->diverged;
}

void learner_slow(struct learner *learner, double factor)
{
	schedule_slow(learner->schedule, factor);
}

static void leaving_state(struct learner *learner, struct state *state)
{
	int64_t count = learner->leaving_count;
	struct err err;

	state_int64(state, "leaving_count", &count);
	if (state_failed(state))
		return;
	if (count < 0 || count > pool_seen(learner->pool)) {
		state_refuse(state, ERR_FORMAT, "%lld of %lld samples are leaving", (long long)count,
			(long long)pool_seen(learner->pool));
		return;
	}
	if (leaving_reserve(learner, count, &err)) {
		state_refuse(state, ERR_MEMORY, "%s", err.message);
		return;
	}
	learner->leaving_count = count;
	state_int64s(state, "leaving", learner->leaving, (size_t)count);
}

static void tasks_state(struct learner *learner, struct state *state)
{
	const size_t params = net_params(learner->net)->floats;
	const size_t stats = net_stats(learner->net)->floats;

	state_int64(state, "steps", &learner->steps);
	state_int64(state, "task_first", &learner->task_first);
	state_bool(state, "tasks_told", &learner->tasks_told);
	state_bool(state, "task_next", &learner->task_next);
	state_int64(state, "task_told", &learner->task_told);
	state_bool(state, "new_step", &learner->new_step);
	if (!state_failed(state) && (learner->steps < 0 || learner->task_first < 0 ||
					    learner->task_first > pool_seen(learner->pool))) {
		state_refuse(state, ERR_FORMAT, "a task began with sample %lld of %lld",
			(long long)learner->task_first, (long long)pool_seen(learner->pool));
		learner->steps = learner->task_first = 0;
	}
	if (learner->start)
		state_floats(state, "start", learner->start, params);
	if (learner->start_stats)
		state_floats(state, "start_stats", learner->start_stats, stats);
}

void learner_state(struct learner *learner, struct state *state)
{
	const size_t stats = net_stats(learner->net)->floats;
	static const char *const names[SCORES_MODELS] = {"stats", "stats1", "stats2"};

	state_enter(state, "learner");
	state_same(state, "arch", net_spec(learner->net)->arch);
	state_int64(state, "iteration", &learner->iteration);
	state_double(state, "loss", &learner->loss);
	state_bool(state, "scored", &learner->scored);
	for (int i = 0; i < SCORES_MODELS; i++) {
		state_double(state, "last_loss", &learner->last[i].loss);
		state_double(state, "last_accuracy", &learner->last[i].accuracy);
	}
	state_int(state, "judged", &learner->judged);
	if (learner->judged < 0 || learner->judged >= SCORES_MODELS) {
		state_refuse(state, ERR_FORMAT, "model %d was the best", learner->judged);
		learner->judged = SCORES_PLAIN;
	}
	state_double(state, "sigma", &learner->sigma);
	scores_state(&learner->scores, state);
	state_floats(state, "params", learner->params, net_params(learner->net)->floats);
	for (int i = 0; i < SCORES_MODELS && stats; i++)
		state_floats(state, names[i], learner->stats[i], stats);
	optimizer_state(learner->optimizer, state);
	average_state(learner->average, state);
	schedule_state(learner->schedule, state);
	pool_state(learner->pool, state);
	if (learner->validation)
		pool_state(learner->validation, state);
	objective_state(learner->objective, state);
	tasks_state(learner, state);
	if (learner->population)
		population_state(learner->population, learner->net, state);
	if (learner->adapt)
		adapt_state(learner->adapt, state);
	leaving_state(learner, state);
	state_leave(state);
}
