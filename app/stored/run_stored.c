/*
 * The loop over a source, whose samples can be had at any time. A time step's
 * labels are fetched only after its predictions are made; in the supervised form
 * all samples are revealed first and time steps are no more than parts of the
 * training.
 */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "nn/rank.h"
#include "replay/objective.h"
#include "run/rollback.h"
#include "run/run_impl.h"

enum { EVALUATION_BATCH = 256 };

/* Draws are numbered by iteration; evaluation goes over all its samples every time. */
static const double ITERATIONS_MOST = (double)((int64_t)1 << 48);
static const int64_t EVALS_MOST = 100000000, CELLS_MOST = 20000000;

static struct run_pace pace_of(const struct options *o)
{
	return (struct run_pace){.every = options_int(o, "run.every"),
		.iterations = options_int(o, "run.iterations"),
		.batch = options_int(o, "run.batch"),
		.epochs = options_float(o, "run.step_epochs"),
		.task_steps = options_int64(o, "run.task_steps")};
}

/* As many as the budget says; the last part of supervised training is as long as the others. */
static double step_iterations(const struct run *run, int64_t step)
{
	const struct run_pace *pace = &run->pace;
	int64_t first, count;

	if (!run->supervised && step % pace->every)
		return 0;
	if (run->supervised || pace->epochs <= 0)
		return pace->iterations;
	source_step(run->source, step, &first, &count);
	return ceil(pace->epochs * (double)count / pace->batch);
}

static double count_iterations(const struct run *run, int64_t steps)
{
	const int every = run->supervised ? 1 : run->pace.every;
	double sum = 0;

	if (run->supervised || source_info(run->source)->per_step)
		return (double)((steps - 1) / every + 1) * step_iterations(run, 0);
	for (int64_t step = 0; step < steps; step++)
		sum += step_iterations(run, step);
	return sum;
}

static int64_t largest_step(const struct run *run)
{
	int64_t most = source_info(run->source)->per_step, first, count;

	if (most)
		return most;
	for (int64_t step = 0; step < source_info(run->source)->steps; step++) {
		source_step(run->source, step, &first, &count);
		most = count > most ? count : most;
	}
	return most;
}

/* Only run.step_epochs can ask for more than fit into a number of iterations. */
static double largest_iterations(const struct run *run)
{
	return ceil(run->pace.epochs * (double)largest_step(run) / run->pace.batch);
}

/* How long the run is: time steps of the stream, or parts of supervised training. */
static int set_length(struct run *run, const struct options *o, struct err *err)
{
	const struct source_info *info = source_info(run->source);
	const double epochs = options_float(o, "run.epochs");
	const double trained = (1 - options_float(o, "replay.holdout")) * (double)info->samples;
	double steps = (double)info->steps, all, most;

	if (run->supervised)
		steps = ceil(epochs * trained / run->pace.batch / run->pace.iterations);
	if (steps < 1)
		return err_set(err, ERR_INPUT,
			"stream.source = %s: its %" PRId64 " samples do not fill a time step of %d",
			options_text(o, "stream.source"), info->samples, info->per_step);
	if (steps * step_iterations(run, 0) >= ITERATIONS_MOST)
		return err_set(err, ERR_INPUT, "%s = %g: makes %g iterations, which is too many",
			run->supervised ? "run.epochs" : "run.iterations",
			run->supervised ? epochs : step_iterations(run, 0),
			steps * step_iterations(run, 0));
	if (steps * options_float(o, "run.budget") >= ITERATIONS_MOST)
		return err_set(err, ERR_INPUT, "run.budget = %g: makes too many iterations",
			options_float(o, "run.budget"));
	run->steps = (int64_t)steps;
	most = largest_iterations(run);
	if (!run->supervised && most > INT_MAX)
		return err_set(err, ERR_INPUT,
			"run.step_epochs = %g: makes %g iterations in a time step, of which there "
			"can be %d",
			run->pace.epochs, most, INT_MAX);
	run->ends = (int64_t)ceil(options_float(o, "run.stop_after") * steps);
	all = count_iterations(run, run->ends);
	if (all >= ITERATIONS_MOST)
		return err_set(err, ERR_INPUT,
			"run.step_epochs = %g: makes %g iterations, which is too many",
			run->pace.epochs, all);
	run->all_iterations = (int64_t)all;
	return 0;
}

static int set_evaluations(struct run *run, const struct options *o, struct err *err)
{
	const int64_t evals = source_info(run->source)->evals;
	const int bins = options_int(o, "eval.bins");

	run->evaluations = options_int(o, "eval.count");
	if (run->evaluations > run->ends)
		run->evaluations = (int)run->ends;
	if ((int64_t)run->evaluations * bins > CELLS_MOST)
		return err_set(err, ERR_INPUT,
			"eval.bins = %d: too many for %d evaluations (eval.count); their product "
			"can be %" PRId64,
			bins, run->evaluations, CELLS_MOST);
	if (evals > EVALS_MOST)
		return err_set(err, ERR_INPUT,
			"the stream has %" PRId64 " evaluation samples; every evaluation goes over "
			"all of them, and they can be %" PRId64,
			evals, EVALS_MOST);
	return 0;
}

static int make_parts(struct run *run, const struct options *o, struct err *err)
{
	struct learner_config learner = {0};
	const struct source_info *info;
	int code = source_open(&run->source, o, err);

	if (code)
		return code;
	info = source_info(run->source);
	code = set_length(run, o, err);
	if (!code)
		code = set_evaluations(run, o, err);
	if (code)
		return code;
	learner.classes = info->classes;
	learner.channels = info->channels;
	learner.height = info->height;
	learner.width = info->width;
	learner.steps = run->ends;
	learner.iterations = run->all_iterations;
	code = store_over_source(
		&run->store, run->source, (size_t)options_int64(o, "stream.cache") << 20, err);
	if (!code)
		code = run_make_learner(run, &learner, err);
	if (!code)
		run->all_iterations = learner_planned(run->learner);
	if (!code)
		code = matrix_new(&run->matrix, options_int(o, "eval.bins"), run->evaluations, err);
	return code;
}

static int make_buffers(struct run *run, struct err *err)
{
	const struct source_info *info = source_info(run->source);
	const int64_t step = largest_step(run);

	if (step > INT_MAX)
		return err_set(
			err, ERR_INPUT, "a time step of %" PRId64 " samples is too large", step);
	run->evaluation_batch = EVALUATION_BATCH;
	for (int64_t id = 0; id < info->evals; id++)
		matrix_count_sample(
			run->matrix, matrix_bin(run->matrix, source_eval_time(run->source, id)));
	return run_make_buffers(run, EVALUATION_BATCH,
		step > EVALUATION_BATCH ? step : EVALUATION_BATCH, run->evaluations, err);
}

/*
 * Predicts samples of a time step, then looks at their labels. The model does not
 * change before all of the step was predicted, so parts of it may follow one
 * another.
 */
static int meet_part(struct run *run, int64_t first, int at, int n, struct err *err)
{
	int64_t *ids = run->ids + at;
	int code;

	for (int i = 0; i < n; i++)
		ids[i] = first + at + i;
	code = source_inputs(run->source, SOURCE_STREAM, ids, n, run->inputs, err);
	run_note_bad(run);
	if (!code)
		code = learner_predict(
			run->learner, LEARNER_INFERENCE, run->inputs, n, run->logits, err);
	if (!code)
		code = source_labels(run->source, SOURCE_STREAM, ids, n, run->labels + at, err);
	if (!code)
		rank_labels(run->logits, run->classes, run->labels + at, n, run->predicted + at,
			run->rank + at);
	return code;
}

/* Tasks are the stream's; if it has none, so many time steps each, or each time step is one. */
static bool task_begins(const struct run *run, int64_t step)
{
	const int64_t steps = run->pace.task_steps;

	if (source_info(run->source)->tasks)
		return !step ||
		       source_task(run->source, step) != source_task(run->source, step - 1);
	return !steps || step % steps == 0;
}

/* Iterations of a task are known, or, with a budget, planned. */
static void tell_task(struct run *run)
{
	const double planned = (double)run->all_iterations / (double)run->ends;
	double iterations = 0;

	if (!task_begins(run, run->step))
		return;
	for (int64_t step = run->step;
		step < run->ends && (step == run->step || !task_begins(run, step)); step++)
		iterations += run->budget > 0 ? planned : step_iterations(run, step);
	learner_task(run->learner, llround(iterations));
}

/* A time step of the protocol: predict, score, reveal. */
static int meet_step(struct run *run, struct err *err)
{
	int64_t first, count;
	int code = 0, n;

	source_step(run->source, run->step, &first, &count);
	n = (int)count;
	for (int at = 0; at < n && !code; at += EVALUATION_BATCH)
		code = meet_part(
			run, first, at, n - at < EVALUATION_BATCH ? n - at : EVALUATION_BATCH, err);
	/* Inputs of a step in parts are no longer at hand; the source has them. */
	if (!code)
		tell_task(run);
	if (!code)
		code = learner_reveal(run->learner, n > EVALUATION_BATCH ? NULL : run->inputs,
			run->labels, n, err);
	if (!code)
		prequential_step(run->prequential, run->predicted, run->rank, run->labels, n);
	return code;
}

static int reveal_everything(struct run *run, struct err *err)
{
	const int64_t samples = source_info(run->source)->samples;
	int code = 0;

	for (int64_t first = 0; first < samples && !code; first += EVALUATION_BATCH) {
		const int64_t left = samples - first;
		const int n = (int)(left < EVALUATION_BATCH ? left : EVALUATION_BATCH);

		for (int i = 0; i < n; i++)
			run->ids[i] = first + i;
		code = source_labels(run->source, SOURCE_STREAM, run->ids, n, run->labels, err);
		if (!code)
			code = learner_reveal(run->learner, NULL, run->labels, n, err);
	}
	return code;
}

/* Evaluations lie at equal distances and at the end. */
static bool evaluation_due(const struct run *run)
{
	const int64_t count = run->evaluations;

	return run->step * count / run->ends > (run->step - 1) * count / run->ends;
}

static int go_step(struct run *run, struct err *err)
{
	const double start = clock_now();
	int code = run->supervised || run->met ? 0 : meet_step(run, err);

	run->iterations = (int)step_iterations(run, run->step);
	run->met = true;
	if (!code)
		code = run_train(run, err);
	run->train_seconds += clock_now() - start;
	if (code || !run_trained(run))
		return code;
	run_next_step(run);
	if (evaluation_due(run))
		code = run_evaluate(run, err);
	if (!code)
		run_tell(run);
	return code;
}

/* What only a whole run can get wrong. */
static int check(const struct run *run, const struct options *o, struct err *err)
{
	const char *objective = options_text(o, "replay.objective");

	if (options_float(o, "eval.ft_to") <= options_float(o, "eval.ft_from"))
		return err_set(err, ERR_INPUT, "eval.ft_to = %g: must be above eval.ft_from = %g",
			options_float(o, "eval.ft_to"), options_float(o, "eval.ft_from"));
	if (options_float(o, "run.budget") > 0 && options_int(o, "run.every") > 1)
		return err_set(err, ERR_INPUT,
			"run.every = %d: run.budget = %g spends what it has as soon as it suffices "
			"for "
			"an iteration; set one of the two",
			options_int(o, "run.every"), options_float(o, "run.budget"));
	if (options_float(o, "run.budget") > 0 && options_float(o, "run.step_epochs") > 0)
		return err_set(err, ERR_INPUT,
			"run.step_epochs = %g: says how much a time step trains, and so does "
			"run.budget = %g; set one of the two",
			options_float(o, "run.step_epochs"), options_float(o, "run.budget"));
	if (run->supervised && options_float(o, "run.budget") > 0)
		return err_set(err, ERR_INPUT,
			"run.budget = %g: only for run.form = online; supervised training has "
			"run.epochs",
			options_float(o, "run.budget"));
	if (run->supervised && learner_has_parts(o))
		return err_set(err, ERR_INPUT,
			"run.form = supervised: learn.population and learn.adapt_history need a "
			"stream that goes on");
	if (objective_traits(objective).whole && !run->supervised)
		return err_set(err, ERR_INPUT,
			"replay.objective = %s: only for run.form = supervised, since a stream "
			"that goes on has no epochs",
			objective);
	return 0;
}

static int stored_open(struct run *run, struct err *err)
{
	const struct options *o = run->config.options;
	int code;

	run->supervised = !strcmp(options_text(o, "run.form"), "supervised");
	run->pace = pace_of(o);
	code = check(run, o, err);
	if (!code)
		code = make_parts(run, o, err);
	return code ? code : make_buffers(run, err);
}

static int stored_go(struct run *run, struct err *err)
{
	int code = 0;

	if (run->supervised && !store_count(run->store))
		code = reveal_everything(run, err);
	run_note_bad(run);
	if (!code)
		code = rollback_begin(run, err);
	while (!code && run->step < run->ends && !run_stopping(run)) {
		code = go_step(run, err);
		if (code && learner_diverged(run->learner))
			code = rollback(run, err);
	}
	run->stopped = run->step < run->ends;
	return code;
}

static void stored_describe(const struct run *run, char *out, size_t size)
{
	const struct options *o = run->config.options;

	snprintf(out, size,
		"%s · %" PRId64 " time steps · %" PRId64 " iterations · %s · seed %" PRId64,
		options_text(o, "stream.source"), run->ends, run->all_iterations,
		net_spec(learner_net(run->learner))->arch, options_int64(o, "run.seed"));
}

const struct run_kind run_stored = {
	.open = stored_open, .go = stored_go, .describe = stored_describe};
