/* Opens a stored run: checks its options, plans its length, creates its parts. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "learn/scaling.h"
#include "optim/average.h"
#include "optim/schedule.h"
#include "replay/objective.h"
#include "stored/stored_impl.h"
#include "streams/source_records.h"
#include "streams/source_store.h"

const struct option_row stored_options[] = {
	{"run", "form", OPTION_CHOICE, "online", "online | supervised",
		"online: samples arrive over time; supervised: all are there from the start"},
	{"run", "every", OPTION_INT, "1", "[1, inf)",
		"train once in this many time steps, for less than one iteration per step"},
	{"run", "equal", OPTION_BOOL, "off", NULL,
		"give each time step the cost of its iterations of plain SGD, so that costlier "
		"methods get fewer iterations"},
	{"run", "epochs", OPTION_FLOAT, "10", "(0, inf)",
		"supervised: passes over the training samples"},
	{"run", "stop_after", OPTION_FLOAT, "1", "(0, 1]", "share of the stream to learn from"},
	{"run", "snapshots", OPTION_CHOICE, "none", "none | serving | plain | all",
		"weights to keep in snapshots/ at every evaluation", OPTION_MAY_CHANGE},
	{"eval", "count", OPTION_INT, "20", "[1, 100000]",
		"evaluations, spread evenly over the run; may exceed the number of time steps"},
	{"eval", "bins", OPTION_INT, "40", "[1, 10000]",
		"time bins of the evaluation data; a stream with tasks has one bin per task"},
	{"eval", "ft_from", OPTION_FLOAT, "0.1", "[0, 1]",
		"forward transfer: start of its data, as a share of the stream ahead",
		OPTION_RETIRED},
	{"eval", "ft_to", OPTION_FLOAT, "0.25", "(0, 1]",
		"forward transfer: end of its data, as a share of the stream ahead",
		OPTION_RETIRED},
	{0},
};

/* Draws are numbered by iteration; evaluation goes over all its samples every time. */
static const double ITERATIONS_MOST = (double)((int64_t)1 << 48);
static const int64_t EVALS_MOST = 100000000, CELLS_MOST = 20000000;

static struct stored_pace pace_of(const struct options *o)
{
	return (struct stored_pace){.every = options_int(o, "run.every"),
		.iterations = options_int(o, "run.iterations"),
		.batch = options_int(o, "run.batch"),
		.epochs = options_float(o, "run.step_epochs"),
		.task_steps = options_int64(o, "run.task_steps")};
}

double stored_iterations(const struct stored *s, int64_t step)
{
	const struct stored_pace *pace = &s->pace;
	int64_t first, count;

	if (!s->supervised && step % pace->every)
		return 0;
	if (s->supervised || pace->epochs <= 0)
		return pace->iterations;
	source_step(s->source, step, &first, &count);
	return ceil(pace->epochs * (double)count / pace->batch);
}

double stored_iterations_until(const struct stored *s, int64_t steps)
{
	const int every = s->supervised ? 1 : s->pace.every;
	double sum = 0;

	if (!steps)
		return 0;
	if (s->supervised || source_info(s->source)->per_step)
		return (double)((steps - 1) / every + 1) * stored_iterations(s, 0);
	for (int64_t step = 0; step < steps; step++)
		sum += stored_iterations(s, step);
	return sum;
}

static int64_t largest_step(const struct stored *s)
{
	int64_t most = source_info(s->source)->per_step, first, count;

	if (most)
		return most;
	for (int64_t step = 0; step < source_info(s->source)->steps; step++) {
		source_step(s->source, step, &first, &count);
		most = count > most ? count : most;
	}
	return most;
}

/* Only run.step_epochs can ask for more than fit into a number of iterations. */
static double largest_iterations(const struct stored *s)
{
	return ceil(s->pace.epochs * (double)largest_step(s) / s->pace.batch);
}

/* How long the run is: time steps of the stream, or parts of supervised training. */
static int set_length(struct stored *s, const struct options *o, struct err *err)
{
	const struct source_info *info = source_info(s->source);
	const double epochs = options_float(o, "run.epochs");
	const double trained = (1 - options_float(o, "replay.holdout")) * (double)info->samples;
	double steps = (double)info->steps, all, most;

	if (s->supervised)
		steps = ceil(epochs * trained / s->pace.batch / s->pace.iterations);
	if (steps < 1)
		return err_set(err, ERR_INPUT,
			"stream.source = %s: its %" PRId64 " samples do not fill a time step of %d",
			options_text(o, "stream.source"), info->samples, info->per_step);
	if (steps * stored_iterations(s, 0) >= ITERATIONS_MOST)
		return err_set(err, ERR_INPUT, "%s = %g: makes %g iterations, which is too many",
			s->supervised ? "run.epochs" : "run.iterations",
			s->supervised ? epochs : stored_iterations(s, 0),
			steps * stored_iterations(s, 0));
	if (steps * options_float(o, "run.budget") >= ITERATIONS_MOST)
		return err_set(err, ERR_INPUT, "run.budget = %g: makes too many iterations",
			options_float(o, "run.budget"));
	s->stream_steps = (int64_t)steps;
	most = largest_iterations(s);
	if (!s->supervised && most > INT_MAX)
		return err_set(err, ERR_INPUT,
			"run.step_epochs = %g: makes %g iterations in a time step, of which there "
			"can be %d",
			s->pace.epochs, most, INT_MAX);
	s->run->planned_steps = (int64_t)ceil(options_float(o, "run.stop_after") * steps);
	all = stored_iterations_until(s, s->run->planned_steps);
	if (all >= ITERATIONS_MOST)
		return err_set(err, ERR_INPUT,
			"run.step_epochs = %g: makes %g iterations, which is too many",
			s->pace.epochs, all);
	s->run->planned_iterations = (int64_t)all;
	return 0;
}

/* Time steps are whole: what is left at the end takes no part. */
static void warn_rest(const struct stored *s)
{
	const struct source_info *info = source_info(s->source);
	const int64_t rest = info->per_step ? info->samples % info->per_step : 0;

	if (rest && !s->supervised)
		log_write(&s->run->config.log, LOG_WARN,
			"samples at the end that do not fill a time step of %d are left out: "
			"%" PRId64 " of %" PRId64,
			info->per_step, rest, info->samples);
}

/* What the data's reader has to say, line by line. */
static void warn_notes(const struct stored *s)
{
	const struct records *records = source_records(s->source);
	const char *at = records ? records_notes(records) : NULL;
	const char *name = path_name(options_text(s->run->config.options, "stream.source"));

	for (const char *end; at && (end = strchr(at, '\n')); at = end + 1)
		log_write(&s->run->config.log, LOG_WARN, "%s: %.*s", name, (int)(end - at), at);
	if (records && records_left_out(records)) {
		struct text words = {0};

		left_out_say(records_left_out(records), true, &words);
		if (!words.failed)
			log_write(&s->run->config.log, LOG_WARN, "%s: %s", name, words.data);
		text_release(&words);
	}
}

/* Each task is a bin, where there are tasks. */
static int bins_of(const struct stored *s)
{
	const int tasks = source_info(s->source)->tasks;

	return tasks ? tasks : options_int(s->run->config.options, "eval.bins");
}

/* What the run is too short for is said before it is made. */
static void warn_idle(const struct stored *s, const struct options *o)
{
	const char *schedule = options_text(o, "schedule.kind");
	const int64_t patience = options_int64(o, "schedule.patience");
	const int64_t window = options_int64(o, "schedule.window");
	const int64_t most = s->run->planned_iterations;

	if (schedule_traits(schedule).scores && patience > most)
		log_write(&s->run->config.log, LOG_WARN,
			"schedule.patience = %" PRId64 ": the run has %" PRId64
			" iterations, so schedule.kind = %s never cuts the rate; auto fits any "
			"length",
			patience, most, schedule);
	else if (average_traits(options_text(o, "average.kind")).scores && window > most)
		log_write(&s->run->config.log, LOG_WARN,
			"schedule.window = %" PRId64 ": the run has %" PRId64
			" iterations, so average.kind = %s never adapts; auto fits any length",
			window, most, options_text(o, "average.kind"));
}

static int set_evaluations(struct stored *s, const struct options *o, struct err *err)
{
	const int64_t evals = source_info(s->source)->evals;
	const int bins = bins_of(s);

	s->evaluations = options_int(o, "eval.count");
	if (s->evaluations > s->run->planned_iterations)
		s->evaluations = (int)s->run->planned_iterations;
	if ((int64_t)s->evaluations * bins > CELLS_MOST)
		return err_set(err, ERR_INPUT,
			"%d time bins or tasks (eval.bins): too many for %d evaluations "
			"(eval.count); their product can be %" PRId64,
			bins, s->evaluations, CELLS_MOST);
	if (evals > EVALS_MOST)
		return err_set(err, ERR_INPUT,
			"the stream has %" PRId64 " evaluation samples; every evaluation goes over "
			"all of them, and they can be %" PRId64,
			evals, EVALS_MOST);
	return 0;
}

static int make_matrix(const struct stored *s, struct matrix **matrix, struct err *err)
{
	const struct source_info *info = source_info(s->source);
	double *begins;
	int code;

	if (!info->tasks)
		return matrix_new(matrix, bins_of(s), s->evaluations, err);
	begins = mem_new((size_t)info->tasks, sizeof(*begins));
	if (!begins)
		return err_memory(err, "tasks", (size_t)info->tasks * sizeof(*begins));
	for (int task = 0; task < info->tasks; task++) {
		int64_t sample, eval;

		source_task_begins(s->source, task, &sample, &eval);
		begins[task] = (double)sample / (double)stored_samples(s);
	}
	code = matrix_new_tasks(matrix, begins, info->tasks, s->evaluations, err);
	mem_free(begins);
	return code;
}

/*
 * Rows with so many labels have an id or a quantity in the place of a class, more often than
 * not; and every class has its share in the cost of every row.
 */
static int check_classes(const struct stored *s, const struct options *o, struct err *err)
{
	const struct records *records = source_records(s->source);
	const int classes = source_info(s->source)->classes;
	const int most = options_int(o, "model.classes_most");
	const bool table = records && records_schema(records);

	if (!records || records_info(records)->form != RECORDS_FLOATS || classes <= most ||
		records_info(records)->numbers)
		return 0;
	return err_set(err, ERR_INPUT,
		"%s: its labels are %d classes, and model.classes_most = %d allows fewer; if they "
		"are ids or a quantity, %s; if they are classes, set model.classes_most = %d "
		"(docs/reference/defaults.md#many-classes says what they cost)",
		options_text(o, "stream.source"), classes, most,
		table ? "another column may be the label (--label NAME)"
		      : "retain cannot learn them",
		classes);
}

/* A config that was made for other labels, or by hand. */
static int check_target(const struct stored *s, const struct options *o, struct err *err)
{
	const enum target_kind wanted = target_kind(options_text(o, "model.target"));
	const int numbers = source_info(s->source)->target_width;

	if (wanted == TARGET_NUMBER && numbers && numbers != target_width(o))
		return err_set(err, ERR_INPUT,
			"%s: has %d column%s of labels, and model.numbers = %.100s; --label A,B "
			"names "
			"several",
			options_text(o, "stream.source"), numbers, numbers == 1 ? "" : "s",
			options_text(o, "model.numbers"));
	if (wanted == source_info(s->source)->target)
		return 0;
	return err_set(err, ERR_INPUT, "%s: its labels are %s, and model.target = %s",
		options_text(o, "stream.source"),
		target_types[source_info(s->source)->target]->words.several,
		options_text(o, "model.target"));
}

int stored_load(void *source, int part, const int64_t *ids, int n, float *inputs, struct err *err)
{
	return source_inputs(source, part, ids, n, inputs, err);
}

/* What the session learns from, and how long. */
static int set_learner(struct stored *s, const struct options *o, struct err *err)
{
	const struct source_info *info = source_info(s->source);
	struct learner_config *learner = &s->session.learner;

	learner->classes = info->classes;
	learner->channels = info->channels;
	learner->height = info->height;
	learner->width = info->width;
	learner->fit = info->fit;
	learner->load = stored_load;
	learner->load_context = s->source;
	if (s->run->config.peers && stored_digest(s->source, STORED_FEW, s->digest))
		learner->data = s->digest;
	learner->steps = s->run->planned_steps;
	learner->iterations = s->run->planned_iterations;
	if (s->equal)
		learner->budget =
			(double)s->run->planned_iterations / (double)s->run->planned_steps;
	s->session.config.rows = s->evaluations;
	return source_store_new(
		&s->run->store, s->source, (size_t)options_int64(o, "stream.cache") << 20, err);
}

static int open_source(struct stored *s, const struct options *o, struct err *err)
{
	int code = source_open(&s->source, o, err);

	if (!code)
		code = check_target(s, o, err);
	if (!code)
		code = check_classes(s, o, err);
	if (!code)
		code = set_length(s, o, err);
	if (!code)
		code = set_evaluations(s, o, err);
	if (code)
		return code;
	warn_rest(s);
	warn_notes(s);
	return set_learner(s, o, err);
}

/* The variance of evaluation labels, which outliers widen little. */
static int measure_labels(struct stored *s, struct err *err)
{
	const int64_t evals = source_info(s->source)->evals;
	const int width = learner_width(s->run->learner);
	struct scaling *scaling = NULL;
	int code = scaling_new(&scaling, (size_t)width, err);

	for (int64_t id = 0; id < evals && !code; id++) {
		union target label[TARGET_WIDTH];

		code = source_labels(s->source, SOURCE_EVAL, &id, 1, label, err);
		if (!code)
			scaling_see(scaling, target_numbers(label), 1);
	}
	for (int k = 0; k < width && !code; k++) {
		const double factor = (double)scaling_scale(scaling)->factor[k];

		s->variance[k] = factor > 0 ? 1 / (factor * factor) : 0;
	}
	if (!code) {
		matrix_take_worths(s->matrix);
		if (s->now)
			matrix_take_worths(s->now);
	}
	scaling_free(scaling);
	return code;
}

static int make_buffers(struct stored *s, struct err *err)
{
	const struct source_info *info = source_info(s->source);
	const int64_t step = largest_step(s);
	const int width = learner_width(s->run->learner);
	const size_t all = (size_t)(step > STORED_BATCH ? step : STORED_BATCH);

	if (step > INT_MAX)
		return err_set(
			err, ERR_INPUT, "a time step of %" PRId64 " samples is too large", step);
	s->logits = mem_new((size_t)STORED_BATCH * (size_t)s->run->classes, sizeof(*s->logits));
	s->ids = mem_new(all, sizeof(*s->ids));
	s->labels = mem_new(all * (size_t)width, sizeof(*s->labels));
	s->guesses = mem_new(all * target_guess(width), sizeof(*s->guesses));
	s->users = info->users ? mem_new(all, sizeof(*s->users)) : NULL;
	if (!s->logits || !s->ids || !s->labels || !s->guesses || (info->users && !s->users))
		return err_memory(err, "a run's batch",
			(size_t)STORED_BATCH * (size_t)s->run->classes * sizeof(*s->logits));
	if (!target_types[info->target]->shares) {
		const int code = measure_labels(s, err);

		if (code)
			return code;
	}
	for (int64_t id = 0; id < info->evals; id++) {
		const int bin = stored_bin(s, id);

		matrix_count_sample(s->matrix, bin);
		if (s->now)
			matrix_count_sample(s->now, bin);
	}
	return 0;
}

static int on_made(struct run *run, struct err *err)
{
	struct stored *s = (struct stored *)run;
	int code = make_matrix(s, &s->matrix, err);

	run->planned_iterations = learner_planned(run->learner);
	if (!code && learner_mixes(run->learner, LEARNER_NOW))
		code = make_matrix(s, &s->now, err);
	return code ? code : make_buffers(s, err);
}

/* What only a whole run can get wrong. */
static int check(const struct stored *s, const struct options *o, struct err *err)
{
	const char *objective = options_text(o, "replay.objective");
	const double budget = options_float(o, "run.budget");

	if (s->equal && budget > 0)
		return err_set(err, ERR_INPUT,
			"run.equal = on: says what a time step may cost, and so does "
			"run.budget = %g; set one of the two",
			budget);
	if ((s->equal || budget > 0) && options_int(o, "run.every") > 1)
		return err_set(err, ERR_INPUT,
			"run.every = %d: %s spends what it has as soon as it suffices for an "
			"iteration; set one of the two",
			options_int(o, "run.every"), s->equal ? "run.equal" : "run.budget");
	if (s->supervised && s->equal)
		return err_set(err, ERR_INPUT,
			"run.equal = on: only for run.form = online; supervised training has "
			"run.epochs");
	if (s->supervised && budget > 0)
		return err_set(err, ERR_INPUT,
			"run.budget = %g: only for run.form = online; supervised training has "
			"run.epochs",
			budget);
	if (s->supervised && learner_has_parts(o))
		return err_set(err, ERR_INPUT,
			"run.form = supervised: learn.population and learn.adapt_history need a "
			"stream that goes on");
	if (s->supervised && learner_has_fast(o))
		return err_set(err, ERR_INPUT,
			"run.form = supervised: fast.parts = %s, fast.heads = %s: both need a "
			"stream that goes on; set them to none",
			options_text(o, "fast.parts"), options_text(o, "fast.heads"));
	if (objective_traits(objective).whole && !s->supervised)
		return err_set(err, ERR_INPUT,
			"replay.objective = %s: only for run.form = supervised, since a stream "
			"that goes on has no epochs",
			objective);
	return 0;
}

static void driver_state(struct run *run, struct state *state)
{
	struct stored *s = (struct stored *)run;

	matrix_state(s->matrix, state);
	if (s->now)
		matrix_state(s->now, state);
	source_state(s->source, state);
	if (s->users && state_version(state) >= 6)
		album_state(&s->album, state);
}

static const struct run_driver driver = {
	.made = on_made,
	.pace = stored_pace,
	.iterated = stored_iterated,
	.due = stored_due,
	.evaluate = stored_evaluate,
	.state = driver_state,
	.facts = stored_facts,
	.class_names = stored_class_names,
	.schema = stored_schema,
};

static int make(struct stored *s, const struct run_config *config, struct err *err)
{
	const struct options *o = config->options;
	const struct session_config over_source = {.driver = &driver};
	int code = session_init(&s->session, config, &over_source, err);

	s->run = &s->session.run;
	s->supervised = !strcmp(options_text(o, "run.form"), "supervised");
	s->equal = options_bool(o, "run.equal");
	s->pace = pace_of(o);
	if (!code)
		code = check(s, o, err);
	if (!code)
		code = open_source(s, o, err);
	if (!code)
		code = session_make(&s->session, err);
	if (!code && !s->run->resumed)
		warn_idle(s, o);
	return code;
}

int stored_open(struct stored **stored, const struct run_config *config, struct err *err)
{
	struct stored *made = mem_new(1, sizeof(*made));
	int code;

	*stored = NULL;
	if (!made)
		return err_memory(err, "a run", sizeof(*made));
	code = make(made, config, err);
	if (code)
		stored_close(made);
	else
		*stored = made;
	return code;
}

void stored_close(struct stored *stored)
{
	if (!stored)
		return;
	session_release(&stored->session);
	matrix_free(stored->matrix);
	matrix_free(stored->now);
	source_close(stored->source);
	mem_free(stored->ids);
	mem_free(stored->logits);
	mem_free(stored->labels);
	mem_free(stored->guesses);
	mem_free(stored->users);
	mem_free(stored);
}

int64_t stored_steps(const struct stored *stored)
{
	return stored->run->planned_steps;
}

int stored_threads(const struct stored *stored)
{
	return learner_threads(stored->run->learner);
}

const char *stored_isa(const struct stored *stored)
{
	return learner_isa(stored->run->learner);
}

int64_t stored_skipped(const struct stored *stored)
{
	return source_bad_count(stored->source);
}

double stored_waited(const struct stored *stored)
{
	return source_waited(stored->source);
}
