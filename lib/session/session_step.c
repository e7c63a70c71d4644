/*
 * The time step of a session. Labels meet their inputs in it, and are stored until it is
 * complete; then it is revealed, which stores its samples, answered, and trained on. After a
 * crash, stored time steps that were not learned are repeated, and labels stored for the next one
 * are restored.
 */
#include <string.h>

#include "session/run/rollback.h"
#include "session/session_impl.h"

/* How many labels became known since numbers were asked about. */
static int late_by(const struct session *s, const struct session_samples *samples)
{
	const int64_t known = session_known(s);

	return known < 0 ? 0
			 : target_late_by(samples->guesses, session_width(s), samples->n, known);
}

int session_meet(
	struct session *s, const struct session_samples *samples, bool paced, struct err *err)
{
	const struct journal_mark mark = session_mark(s, paced);
	int code;

	code = shadows_score(s, samples, err);
	if (code)
		return code;
	if (s->journal)
		journal_beside(s->journal, paced ? NULL : samples->guesses, &mark);
	if (s->journal && samples->weights)
		journal_weigh(s->journal, samples->weights, samples->n);
	if (target_late(samples->guesses, session_width(s), samples->n))
		learner_late(s->run.learner, late_by(s, samples), samples->guesses);
	learner_weighted(s->run.learner, samples->weights);
	code = run_reveal(&s->run, samples->inputs, samples->labels, samples->n, err);
	learner_weighted(s->run.learner, NULL);
	if (s->journal) {
		journal_beside(s->journal, NULL, NULL);
		journal_weigh(s->journal, NULL, 0);
	}
	if (!code)
		run_score(&s->run, samples->guesses, samples->labels, samples->n);
	if (!code)
		shadows_learn(s, samples);
	return code;
}

/* NULL if there is nothing to weigh, so that such a step is like one without weights. */
static const float *weights_of(const float *weights, int n)
{
	for (int i = 0; i < n; i++)
		if (weights[i] != 1)
			return weights;
	return NULL;
}

/* The time step in the session's buffers. */
static int meet(struct session *s, int n, struct err *err)
{
	const struct session_step *step = &s->step;
	const struct session_samples samples = {
		step->inputs, step->labels, step->guesses, weights_of(step->weights, n), n};
	const int code = session_meet(s, &samples, true, err);

	if (code)
		return code;
	s->run.met = true;
	s->run.made = 0;
	if (s->run.allowed > 0) /* a program was here before */
		s->run.allowed += s->run.budget;
	return 0;
}

int session_go_back(struct session *s, struct err *err)
{
	const int64_t lines = s->lines, bad = s->bad;
	const int code = rollback(&s->run, err);

	s->lines = lines;
	s->bad = bad;
	s->backs++;
	s->closed = false;
	return code ? code : session_catch_up(s, err);
}

/* The rows of metrics that are due, after a whole time step or in the middle of one. */
static int evaluate(struct session *s, bool whole, struct err *err)
{
	struct run *run = &s->run;
	int code = 0;

	if (!run->driver->evaluate)
		return whole && run->step % s->config.every == 0 ? run_evaluate(run, err) : 0;
	while (!code && run->driver->due(run))
		code = run->driver->evaluate(run, err);
	return code;
}

/* Trains on the time step that was met, and ends it. */
static int train(struct session *s, struct err *err)
{
	struct run *run = &s->run;
	bool whole;
	int code;

	do {
		if (run->driver->pace)
			run->driver->pace(run);
		code = run_train(run, err);
		whole = !code && run_trained(run);
		if (whole) {
			run_next_step(run);
			s->idle_left = s->config.idle_most;
			keeper_step(s);
			keeper_look(s);
		}
		if (!code)
			code = evaluate(s, whole, err);
		if (!code)
			run_tell(run);
	} while (!code && !whole && !run_stopping(run));
	return code;
}

/* The buffers of a time step are free when it has been met, for the case that it is gone back. */
static int learn(struct session *s, struct err *err)
{
	const int code = train(s, err);

	return code && learner_diverged(s->run.learner) ? session_go_back(s, err) : code;
}

int session_learn(struct session *s, const struct session_samples *samples, struct err *err)
{
	const int code = samples->n ? session_meet(s, samples, true, err) : 0;

	s->run.met = !code;
	return code ? code : learn(s, err);
}

/* Those that were not answered yet; `first` is the id of the time step's first sample. */
static void answer_labels(struct session *s, int64_t first)
{
	for (int i = s->step.kept; i < s->step.count; i++) {
		session_answer_owed(s, s->step.to[i],
			&(struct answer){.kind = ANSWER_SAMPLE,
				.place = s->step.places[i],
				.id = s->step.ids[i],
				.label = s->step.labels + (size_t)i * (size_t)session_width(s),
				.sample = first + i});
	}
}

int session_end_step(struct session *s, struct err *err)
{
	const int64_t first = store_count(s->run.store);
	int code = meet(s, s->step.count, err);

	if (code)
		return code;
	answer_labels(s, first);
	s->step.count = s->step.kept = 0;
	code = session_settle(s, err);
	return code ? code : learn(s, err);
}

int session_keep_labels(struct session *s, struct err *err)
{
	int code;

	if (s->step.kept == s->step.count)
		return 0;
	code = run_note_classes(&s->run, (int32_t)s->run.names.count, err);
	journal_weigh(s->journal, s->step.weights, s->step.count);
	if (!code)
		code = journal_label(s->journal, s->step.labels, s->step.count, err);
	journal_weigh(s->journal, NULL, 0);
	if (code)
		return code;
	answer_labels(s, store_count(s->run.store));
	s->step.kept = s->step.count;
	return 0;
}

int session_join(struct session *s, const struct session_label *label, const union target *target,
	struct err *err)
{
	const size_t width = (size_t)session_width(s);
	const int at = s->step.count;
	const int code =
		journal_take(s->journal, label->id, s->step.inputs + (size_t)at * s->run.floats,
			s->step.guesses + (size_t)at * session_guess(s), err);

	if (code)
		return code;
	memcpy(s->step.ids[at], label->id, sizeof(label->id));
	s->step.to[at] = label->to;
	s->step.places[at] = label->place;
	s->step.weights[at] = label->weight;
	memcpy(s->step.labels + (size_t)at * width, target, width * sizeof(*target));
	s->step.count++;
	return s->step.count == s->config.per_step ? session_end_step(s, err) : 0;
}

static bool is_paced(const struct session *s, const struct journal_mark *mark)
{
	const bool unmarked = !mark->iteration && !mark->left && !(mark->credit > 0);

	return mark->left == MARK_PACED || (unmarked && s->config.unmarked_paced);
}

/* A time step that a former process kept, in the size that it had. */
static int repeat(struct run *run, int n, struct err *err)
{
	struct session *s = (struct session *)run;
	struct session_step *step = &s->step;
	struct journal_mark mark;
	bool back = false;
	int code = session_step_room(s, n, err);

	if (!code)
		code = journal_marked(s->journal, store_count(s->run.store), &mark, err);
	if (!code)
		code = session_reach(s, &mark, is_paced(s, &mark), &back, err);
	if (code || back)
		return code;
	code = run_fetch_call(
		&s->run, n, step->samples, step->inputs, step->labels, step->guesses, err);
	if (!code)
		code = journal_weights(s->journal, *step->samples, n, step->weights, err);
	if (!code && is_paced(s, &mark)) {
		code = meet(s, n, err);
		if (!code)
			code = learn(s, err);
	} else if (!code) {
		code = session_reveal(s,
			&(struct session_samples){step->inputs, step->labels, step->guesses,
				weights_of(step->weights, n), n},
			err);
	}
	if (!code && s->watch.repeating)
		code = s->watch.repeating(s->watch.context, err);
	return code;
}

int session_catch_up(struct session *s, struct err *err)
{
	const int64_t count = store_count(s->run.store), backs = s->backs;
	int code;

	if (s->former)
		session_stand_at(s, &(struct journal_mark){0, s->credit, s->left});
	s->former = false;
	code = s->run.met ? learn(s, err) : 0;
	if (!code)
		code = run_catch_up(&s->run, repeat, err);
	if (code || !s->journal || s->backs != backs || run_stopping(&s->run) ||
		(s->closed && store_count(s->run.store) == count))
		return code;
	return session_pay(s, err);
}

int session_take_up(struct session *s, struct err *err)
{
	int code = 0;

	while (!code && !run_stopping(&s->run)) {
		const int at = s->step.count;

		code = session_step_room(s, at + 1, err);
		if (!code)
			code = journal_take_again(s->journal, s->step.ids[at],
				s->step.inputs + (size_t)at * s->run.floats,
				s->step.guesses + (size_t)at * session_guess(s),
				s->step.labels + (size_t)at * (size_t)session_width(s), err);
		if (!code)
			code = journal_weights(s->journal, store_count(s->run.store) + at, 1,
				s->step.weights + at, err);
		if (code || !*s->step.ids[at])
			return code;
		s->step.kept = ++s->step.count;
		if (s->step.count == s->config.per_step)
			code = session_end_step(s, err);
	}
	return code;
}
