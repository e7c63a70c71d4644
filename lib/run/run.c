/*
 * The loop. A time step's labels are fetched only after its predictions are
 * made; in the supervised form all samples are revealed first and time steps are
 * no more than parts of the training.
 */
#include "run/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "nn/rank.h"
#include "run/run_impl.h"

enum {
	EVALUATION_BATCH = 256,
	LATE = 4,               /* the last 1/LATE of evaluations is late */
	SAVE_FAILURES_MOST = 5, /* in a row, before a run gives up */
};

/* Draws are numbered by iteration; evaluation goes over all its samples every time. */
static const double ITERATIONS_MOST = (double)((int64_t)1 << 48);
static const int64_t EVALS_MOST = 100000000, CELLS_MOST = 20000000;

double run_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double run_seconds(const struct run *run)
{
	return run->seconds_before + (run_clock() - run->started);
}

static void on_work(void *context, enum learner_work work, int samples)
{
	struct run *run = context;
	struct ledger *ledger = &run->ledger;
	const enum ledger_use uses[LEARNER_WORKS] = {
		[LEARNER_TRAIN] = LEDGER_TRAIN,
		[LEARNER_VALIDATE] = LEDGER_VALIDATE,
		[LEARNER_STATISTICS] = LEDGER_STATISTICS,
		[LEARNER_PREDICT] = run->predicting,
	};

	if (work == LEARNER_UPDATE)
		ledger->updates++;
	else if (work == LEARNER_MOVE)
		ledger->averages++;
	else
		ledger_forward(ledger, uses[work], samples);
	if (work == LEARNER_TRAIN) {
		ledger->iterations++;
		ledger_backward(ledger, samples);
	}
}

/* A gap that drowns in noise cannot lead the rate; said once. */
static void warn_noise(struct run *run, const struct learner_window *window)
{
	const struct options *o = run->config.options;
	const double epsilon = options_float(o, "schedule.epsilon");

	if (run->warned_noise || strcmp(options_text(o, "schedule.kind"), "malr") ||
		!options_bool(o, "schedule.c3") ||
		window->iteration < options_int64(o, "schedule.patience") ||
		window->verdict.sigma_error <= epsilon / 6)
		return;
	run->warned_noise = true;
	log_write(&run->config.log, LOG_WARN,
		"iteration %" PRId64
		": the gap sigma is known to %.4f only, which is much against schedule.epsilon "
		"= %g; a larger schedule.validation_batch or schedule.patience would help",
		window->iteration, window->verdict.sigma_error, epsilon);
}

static void on_window(void *context, const struct learner_window *window)
{
	struct run *run = context;

	if (run->events)
		events_window(run->events, window);
	warn_noise(run, window);
}

/* How long the run is: time steps of the stream, or parts of supervised training. */
static int set_length(struct run *run, const struct options *o, struct err *err)
{
	const struct source_info *info = source_info(run->source);
	const double held = options_float(o, "replay.holdout");
	const double epochs = options_float(o, "run.epochs");
	double steps = (double)(info->samples / info->per_step);

	run->per_step = info->per_step;
	run->iterations = options_int(o, "run.iterations");
	if (run->supervised)
		steps = ceil(epochs * (1 - held) * (double)info->samples /
			     options_int(o, "run.batch") / run->iterations);
	if (steps * run->iterations >= ITERATIONS_MOST)
		return err_set(err, ERR_INPUT, "%s = %g: makes %g iterations, which is too many",
			run->supervised ? "run.epochs" : "run.iterations",
			run->supervised ? epochs : run->iterations, steps * run->iterations);
	run->steps = (int64_t)steps;
	run->ends = (int64_t)ceil(options_float(o, "run.stop_after") * steps);
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
	struct learner_config learner = {.options = o, .watch = {on_work, on_window, run}};
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
	learner.iterations = run->ends * run->iterations;
	code = store_over_source(&run->store, run->source,
		(size_t)options_int64(o, "stream.cache") << 20, err);
	if (!code)
		code = learner_new(&run->learner, &learner, run->store, err);
	if (!code)
		code = matrix_new(&run->matrix, options_int(o, "eval.bins"), run->evaluations, err);
	if (!code)
		code = prequential_new(&run->prequential, info->classes,
			options_int(o, "eval.blind_window"), err);
	return code;
}

static int make_buffers(struct run *run, struct err *err)
{
	const struct source_info *info = source_info(run->source);
	const size_t floats =
		(size_t)info->channels * (size_t)info->height * (size_t)info->width;
	const size_t most = (size_t)(run->per_step > EVALUATION_BATCH ? run->per_step :
									EVALUATION_BATCH);

	run->evaluation_batch = EVALUATION_BATCH;
	run->ids = mem_new(most, sizeof(*run->ids));
	run->inputs = mem_new(most * floats, sizeof(float));
	run->logits = mem_new(most * (size_t)info->classes, sizeof(float));
	run->labels = mem_new(most, sizeof(*run->labels));
	run->predicted = mem_new(most, sizeof(*run->predicted));
	run->rank = mem_new(most, sizeof(*run->rank));
	run->rows = mem_new((size_t)run->evaluations, sizeof(*run->rows));
	if (!run->ids || !run->inputs || !run->logits || !run->labels || !run->predicted ||
		!run->rank || !run->rows)
		return err_memory(err, "a run's batch", most * floats * sizeof(float));
	for (int64_t id = 0; id < info->evals; id++)
		matrix_count_sample(
			run->matrix, matrix_bin(run->matrix, source_eval_time(run->source, id)));
	return 0;
}

/* What only a whole run can get wrong. */
static int check(const struct options *o, struct err *err)
{
	const bool supervised = !strcmp(options_text(o, "run.form"), "supervised");
	const bool epochs = !strcmp(options_text(o, "replay.objective"), "epochs");

	if (options_float(o, "eval.ft_to") <= options_float(o, "eval.ft_from"))
		return err_set(err, ERR_INPUT, "eval.ft_to = %g: must be above eval.ft_from = %g",
			options_float(o, "eval.ft_to"), options_float(o, "eval.ft_from"));
	if (epochs && !supervised)
		return err_set(err, ERR_INPUT,
			"replay.objective = epochs: only for run.form = supervised, since a stream "
			"that goes on has no epochs");
	return 0;
}

int run_open(struct run **run, const struct run_config *config, struct err *err)
{
	struct run *made = mem_new(1, sizeof(*made));
	int code;

	*run = NULL;
	if (!made)
		return err_memory(err, "a run", sizeof(*made));
	made->config = *config;
	made->lock = -1;
	made->predicting = LEDGER_PREDICT;
	made->supervised = !strcmp(options_text(config->options, "run.form"), "supervised");
	code = check(config->options, err);
	if (!code)
		code = make_parts(made, config->options, err);
	if (!code)
		code = make_buffers(made, err);
	if (!code)
		code = checkpoint_interval(&made->interval,
			options_text(config->options, "run.checkpoint_every"),
			"run.checkpoint_every", err);
	if (!code && config->folder)
		code = folder_begin(made, err);
	if (code)
		run_close(made);
	else
		*run = made;
	return code;
}

void run_close(struct run *run)
{
	if (!run)
		return;
	if (run->lock >= 0)
		close(run->lock);
	arena_release(&run->report);
	metrics_file_close(run->metrics);
	events_close(run->events);
	prequential_free(run->prequential);
	matrix_free(run->matrix);
	learner_free(run->learner);
	store_free(run->store);
	source_close(run->source);
	mem_free(run->ids);
	mem_free(run->inputs);
	mem_free(run->logits);
	mem_free(run->labels);
	mem_free(run->predicted);
	mem_free(run->rank);
	mem_free(run->rows);
	mem_free(run);
}

static int reveal(struct run *run, int n, struct err *err)
{
	const int code =
		source_labels(run->source, SOURCE_STREAM, run->ids, n, run->labels, err);

	return code ? code : learner_reveal(run->learner, run->inputs, run->labels, n, err);
}

static int fetch_inputs(struct run *run, int64_t first, int n, struct err *err)
{
	for (int i = 0; i < n; i++)
		run->ids[i] = first + i;
	return source_inputs(run->source, SOURCE_STREAM, run->ids, n, run->inputs, err);
}

/* A time step of the protocol: predict, score, reveal. */
static int meet_step(struct run *run, struct err *err)
{
	const int n = run->per_step;
	int code = fetch_inputs(run, run->step * n, n, err);

	if (!code)
		code = learner_predict(
			run->learner, LEARNER_INFERENCE, run->inputs, n, run->logits, err);
	if (!code)
		code = reveal(run, n, err);
	if (code)
		return code;
	rank_labels(run->logits, source_info(run->source)->classes, run->labels, n, run->predicted,
		run->rank);
	prequential_step(run->prequential, run->predicted, run->rank, run->labels, n);
	return 0;
}

static int reveal_everything(struct run *run, struct err *err)
{
	const int64_t samples = source_info(run->source)->samples;
	int code = 0;

	for (int64_t first = 0; first < samples && !code; first += run->per_step) {
		const int n = (int)(samples - first < run->per_step ? samples - first :
								      run->per_step);

		code = fetch_inputs(run, first, n, err);
		if (!code)
			code = reveal(run, n, err);
	}
	return code;
}

static void tell_progress(const struct run *run)
{
	struct run_progress progress = {
		.step = run->step,
		.steps = run->ends,
		.iterations = run->ends * run->iterations,
		.seconds = run_clock() - run->started,
		.resumed = run->resumed,
		.le = prequential_top1(run->prequential),
		.blind = prequential_blind(run->prequential),
		.ir = run->row_count ? run->rows[run->row_count - 1].ir : NAN,
	};
	struct learner_report now;

	if (!run->config.progress)
		return;
	learner_report(run->learner, &now);
	progress.iteration = now.iteration;
	progress.rate = now.rate;
	progress.sigma = now.averages && now.scored ? now.sigma : NAN;
	progress.averages = now.averages;
	memcpy(progress.gamma, now.gamma, sizeof(progress.gamma));
	run->config.progress(run->config.context, &progress);
}

/*
 * A checkpoint that cannot be written is no reason to stop at once: the disk may
 * have room again at the next one, and until then the last one is good.
 */
static int save(struct run *run, struct err *err)
{
	struct err why = {0};

	run->saved_at = run_clock();
	run->saved_step = run->step;
	if (!checkpoint_save(run, &why)) {
		run->save_failures = 0;
		return 0;
	}
	run->save_failures++;
	if (run->save_failures >= SAVE_FAILURES_MOST)
		return err_set(err, why.code, "%s; gave up after %d failures in a row",
			why.message, run->save_failures);
	log_write(&run->config.log, LOG_WARN, "no checkpoint was made: %s", why.message);
	return 0;
}

static int save_when_due(struct run *run, struct err *err)
{
	const struct checkpoint_interval *interval = &run->interval;

	if (!run->config.folder)
		return 0;
	if (interval->steps && run->step - run->saved_step >= interval->steps)
		return save(run, err);
	if (interval->seconds > 0 && run_clock() - run->saved_at >= interval->seconds)
		return save(run, err);
	return 0;
}

/* Evaluations lie at equal distances and at the end. */
static bool evaluation_due(const struct run *run)
{
	const int64_t count = run->evaluations;

	return run->step * count / run->ends > (run->step - 1) * count / run->ends;
}

static bool asked_to_stop(const struct run *run)
{
	return run->config.stop && *run->config.stop;
}

/* One iteration at a time, so that a stop in a long time step need not wait for its end. */
static int train_step(struct run *run, struct err *err)
{
	int code = 0;

	while (!code && run->made < run->iterations && !asked_to_stop(run)) {
		code = learner_train(run->learner, 1, err);
		run->made++;
		if (!code)
			code = save_when_due(run, err);
	}
	return code;
}

static int go_step(struct run *run, struct err *err)
{
	const double start = run_clock();
	int code = run->supervised || run->met ? 0 : meet_step(run, err);

	run->met = true;
	if (!code)
		code = train_step(run, err);
	run->train_seconds += run_clock() - start;
	if (code || run->made < run->iterations)
		return code;
	run->step++;
	run->made = 0;
	run->met = false;
	if (evaluation_due(run))
		code = run_evaluate(run, err);
	if (!code)
		tell_progress(run);
	return code;
}

/* The mean of a column over the latest evaluations that have it, a quarter of all. */
static double late_mean(const struct run *run, size_t offset)
{
	const int late = (run->row_count + LATE - 1) / LATE;
	double sum = 0;
	int count = 0;

	for (int i = run->row_count - 1; i >= 0 && count < late; i--) {
		const double value =
			*(const double *)((const char *)&run->rows[i] + offset);

		if (isnan(value))
			continue;
		sum += value;
		count++;
	}
	return count ? sum / count : NAN;
}

static void make_result(const struct run *run, struct run_result *result)
{
	struct learner_report now;

	learner_report(run->learner, &now);
	*result = (struct run_result){
		.stopped = run->step < run->ends,
		.step = run->step,
		.late_ir = late_mean(run, offsetof(struct metrics_row, ir)),
		.late_ft = late_mean(run, offsetof(struct metrics_row, ft)),
		.late_ir_sgd = late_mean(run, offsetof(struct metrics_row, ir_sgd)),
		.seconds = run_seconds(run),
		.train_seconds = run->train_seconds,
		.cost = NAN,
		.rows = run->row_count,
	};
	metrics_row_init(&result->last);
	result->iterations_per_s = (double)now.iteration / result->train_seconds;
	if (run->row_count) {
		result->last = run->rows[run->row_count - 1];
		result->cost = result->last.cost / (double)result->last.iteration;
	}
}

int run_go(struct run *run, struct run_result *result, struct err *err)
{
	int code = 0;

	run->started = run->saved_at = run_clock();
	run->saved_step = run->step;
	if (run->supervised && !store_count(run->store))
		code = reveal_everything(run, err);
	while (!code && run->step < run->ends && !asked_to_stop(run))
		code = go_step(run, err);
	if (code)
		return code;
	make_result(run, result);
	if (run->config.folder && result->stopped) {
		code = checkpoint_save(run, err);
		result->saved = !code;
	}
	return run->config.folder && !code ? folder_end(run, result, err) : code;
}

void run_describe(const struct run *run, char *out, size_t size)
{
	const struct options *o = run->config.options;

	snprintf(out, size, "%s · %" PRId64 " time steps · %" PRId64 " iterations · %s · seed %" PRId64,
		options_text(o, "stream.source"), run->ends, run->ends * run->iterations,
		net_spec(learner_net(run->learner))->arch, options_int64(o, "run.seed"));
}

int64_t run_steps(const struct run *run)
{
	return run->ends;
}

int run_threads(const struct run *run)
{
	return learner_threads(run->learner);
}

const char *run_isa(const struct run *run)
{
	return learner_isa(run->learner);
}
