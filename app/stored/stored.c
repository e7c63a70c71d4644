/*
 * Makes time steps of a source for the session. The labels of one are fetched only after it was
 * predicted.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "target/class.h"
#include "stored/stored_impl.h"
#include "streams/source_store.h"

/*
 * Predicts samples of a time step, then looks at their labels. The model does not
 * change before all of the step was predicted, so parts of it may follow one
 * another.
 */
static int meet_part(
	struct stored *s, int64_t first, int at, int n, const float **inputs, struct err *err)
{
	const size_t width = (size_t)learner_width(s->run->learner);
	int64_t *ids = s->ids + at;
	int code;

	for (int i = 0; i < n; i++)
		ids[i] = first + at + i;
	code = learner_look(s->run->learner, SOURCE_STREAM, ids, n, inputs, err);
	stored_note_bad(s);
	if (!code)
		code = learner_predict(s->run->learner, LEARNER_NEXT, NULL, n, s->logits, err);
	if (!code)
		code = source_labels(
			s->source, SOURCE_STREAM, ids, n, s->labels + (size_t)at * width, err);
	if (!code)
		for (int i = 0; i < n; i++)
			learner_target(s->run->learner)
				->guess(s->logits + (size_t)i * (size_t)s->run->classes,
					learner_classes(s->run->learner), (int)width,
					s->guesses + (size_t)(at + i) * target_guess((int)width));
	return code;
}

/* Tasks are the stream's own; if it has none, each has run.task_steps time steps, or one. */
static bool task_begins(const struct stored *s, int64_t step)
{
	const int64_t steps = s->pace.task_steps;

	if (source_info(s->source)->tasks)
		return !step || source_task(s->source, step) != source_task(s->source, step - 1);
	return !steps || step % steps == 0;
}

/* Iterations of a task are known, or, with a budget, planned at its own price. */
static void tell_task(struct stored *s)
{
	const double planned = (double)s->run->planned_iterations / (double)s->run->planned_steps;
	const double average = learner_price(s->run->learner);
	const double price = s->run->step ? average : learner_first_price(s->run->learner);
	double iterations = 0;

	if (!task_begins(s, s->run->step))
		return;
	for (int64_t step = s->run->step;
		step < s->run->planned_steps && (step == s->run->step || !task_begins(s, step));
		step++)
		iterations += s->equal             ? stored_iterations(s, step) / price
			      : s->run->budget > 0 ? planned * (average / price)
						   : stored_iterations(s, step);
	learner_task(s->run->learner, llround(iterations));
}

/*
 * Predicts a time step and looks at its labels. The inputs of one that comes in parts are not all
 * at hand in the end: each part goes to the store's cache, and *inputs is NULL.
 */
static int meet(struct stored *s, int64_t first, int n, const float **inputs, struct err *err)
{
	int code = 0;

	for (int at = 0; at < n && !code; at += STORED_BATCH) {
		const int part = n - at < STORED_BATCH ? n - at : STORED_BATCH;

		code = meet_part(s, first, at, part, inputs, err);
		if (!code && *inputs && n > STORED_BATCH)
			source_store_keep(s->run->store, s->ids + at, *inputs,
				s->labels + (size_t)at * (size_t)learner_width(s->run->learner),
				part);
	}
	if (n > STORED_BATCH)
		*inputs = NULL;
	if (!code && s->users)
		code = source_users(s->source, s->ids, n, s->users, err);
	if (!code && s->users)
		album_step(&s->album, s->users, s->guesses, s->labels, n);
	if (!code)
		tell_task(s);
	return code;
}

void stored_set_probe(struct stored *stored, const struct stored_probe *probe)
{
	stored->probe = probe;
}

static int look(struct stored *s, int64_t first, int64_t count, struct err *err)
{
	const struct stored_view view = {
		s->run->learner, s->source, s->run->step, s->run->planned_steps, first, count};

	return s->probe->look(s->probe->context, &view, err);
}

/* A time step of the protocol: predict, reveal, train. */
static int go_step(struct stored *s, struct err *err)
{
	const double start = clock_now();
	const float *inputs = NULL;
	int64_t first, count = 0;
	int code = 0;

	if (!s->supervised) {
		source_step(s->source, s->run->step, &first, &count);
		if (s->probe)
			code = look(s, first, count, err);
		if (!code)
			code = meet(s, first, (int)count, &inputs, err);
	}
	s->run->train_seconds += clock_now() - start;
	return code ? code
		    : session_learn(&s->session,
			      &(struct session_samples){
				      inputs, s->labels, s->guesses, NULL, (int)count},
			      err);
}

static int reveal_everything(struct stored *s, struct err *err)
{
	const int64_t samples = source_info(s->source)->samples;
	int code = 0;

	for (int64_t first = 0; first < samples && !code; first += STORED_BATCH) {
		const int64_t left = samples - first;
		const int n = (int)(left < STORED_BATCH ? left : STORED_BATCH);

		for (int i = 0; i < n; i++)
			s->ids[i] = first + i;
		code = source_labels(s->source, SOURCE_STREAM, s->ids, n, s->labels, err);
		if (!code)
			code = learner_reveal(s->run->learner, NULL, s->labels, n, err);
	}
	return code;
}

/*
 * Evaluations lie at equal distances and at the end. Where there are more of them than time
 * steps, some are within one. What is due follows from how far the run is, and what was done
 * from the matrix, so a run that goes on after a stop neither repeats nor misses any.
 */
bool stored_due(const struct run *run)
{
	const struct stored *s = (const struct stored *)run;
	const int64_t count = s->evaluations, steps = run->planned_steps;
	int64_t due = run->step * count / steps;

	if (run->made && count > steps)
		due = (int64_t)(((double)run->step + run_step_share(run)) * (double)count /
					(double)steps +
				1e-9);
	return due > matrix_rows(s->matrix);
}

/* What the current time step may take. */
void stored_pace(struct run *run)
{
	const struct stored *s = (const struct stored *)run;
	const double iterations = stored_iterations(s, run->step);

	run->iterations = (int)iterations;
	if (!s->equal)
		return;
	run->budget = iterations;
	run->allowed = stored_iterations_until(s, run->step + 1);
}

static int go(struct stored *s, struct err *err)
{
	int code = 0;

	if (s->supervised && !store_count(s->run->store))
		code = reveal_everything(s, err);
	stored_note_bad(s);
	if (!code)
		code = session_begin(&s->session, err);
	while (!code && s->run->step < s->run->planned_steps && !run_stopping(s->run))
		code = go_step(s, err);
	return code;
}

int stored_go(struct stored *stored, struct run_result *result, struct err *err)
{
	int code = go(stored, err);

	if (!code && stored->run->config.folder)
		code = stored_write_matrix(stored, err);
	return session_end(&stored->session, code, result, err);
}
