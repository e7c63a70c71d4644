/*
 * The time step of a session. Labels meet their inputs in it, and are kept as
 * long as it is not complete; then it is revealed, which keeps its samples, answered,
 * and trained on. After a crash, time steps that were kept and are not learned are
 * repeated, and labels that were kept for the next one are taken up.
 */
#include <string.h>

#include "base/clock.h"
#include "eval/guess.h"
#include "session/rollback.h"
#include "session/session_impl.h"

/* The time step in the run's buffers: kept, scored, revealed. */
static int meet(struct session *s, const int32_t *guesses, int n, struct err *err)
{
	const int code = run_reveal(&s->run, s->step.inputs, s->step.labels, n, err);

	if (code)
		return code;
	guess_rank(guesses, s->step.labels, n, s->step.predicted, s->step.rank);
	run_score(&s->run, s->step.predicted, s->step.rank, s->step.labels, n);
	s->run.met = true;
	s->run.made = 0;
	return 0;
}

/* To an earlier checkpoint, and from there, by the journal, to where it was. */
static int go_back(struct session *s, struct err *err)
{
	const int64_t lines = s->lines, bad = s->bad;
	const int code = rollback(&s->run, err);

	s->lines = lines;
	s->bad = bad;
	return code ? code : session_catch_up(s, err);
}

/* Trains on the time step that was met, and ends it. */
static int train(struct session *s, struct err *err)
{
	const double start = clock_now();
	int code = run_train(&s->run, err);

	s->run.train_seconds += clock_now() - start;
	if (code || !run_trained(&s->run))
		return code;
	run_next_step(&s->run);
	s->idle_left = s->config.idle_most;
	if (s->run.step % s->config.every == 0)
		code = run_evaluate(&s->run, err);
	if (!code)
		run_tell(&s->run);
	return code;
}

/* The buffers of a time step are free when it has been met, for the case that it is gone back. */
static int learn(struct session *s, struct err *err)
{
	const int code = train(s, err);

	return code && learner_diverged(s->run.learner) ? go_back(s, err) : code;
}

/* Those that were not answered yet; `first` is the id of the time step's first sample. */
static void answer_labels(struct session *s, int64_t first)
{
	for (int i = s->step.kept; i < s->step.count; i++) {
		session_answer_owed(s, s->step.to[i],
			&(struct answer){.kind = ANSWER_SAMPLE,
				.place = s->step.places[i],
				.id = s->step.ids[i],
				.label = s->step.labels[i],
				.sample = first + i});
	}
}

int session_end_step(struct session *s, struct err *err)
{
	const int64_t first = store_count(s->run.store);
	int code = meet(s, s->step.guesses, s->step.count, err);

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
	if (!code)
		code = journal_label(s->journal, s->step.labels, s->step.count, err);
	if (code)
		return code;
	answer_labels(s, store_count(s->run.store));
	s->step.kept = s->step.count;
	return 0;
}

int session_join(
	struct session *s, const struct session_label *label, int32_t class, struct err *err)
{
	const int at = s->step.count;
	const int code =
		journal_take(s->journal, label->id, s->step.inputs + (size_t)at * s->run.floats,
			s->step.guesses + (size_t)at * JOURNAL_GUESSES, err);

	if (code)
		return code;
	memcpy(s->step.ids[at], label->id, sizeof(label->id));
	s->step.to[at] = label->to;
	s->step.places[at] = label->place;
	s->step.labels[at] = class;
	s->step.count++;
	return s->step.count == s->config.per_step ? session_end_step(s, err) : 0;
}

/* A time step that a former process kept, in the size that it had. */
static int repeat(struct run *run, int n, struct err *err)
{
	struct session *s = (struct session *)run;
	int code;

	if (n > s->config.per_step)
		return err_set(err, ERR_STATE,
			"stdin.per_step = %d: the journal has a time step of %d samples that is "
			"still to be learned",
			s->config.per_step, n);
	code = run_fetch_call(
		&s->run, n, s->step.samples, s->step.inputs, s->step.labels, s->step.guesses, err);
	if (!code)
		code = meet(s, s->step.guesses, n, err);
	return code ? code : learn(s, err);
}

int session_catch_up(struct session *s, struct err *err)
{
	const int code = s->run.met ? learn(s, err) : 0;

	return code ? code : run_catch_up(&s->run, repeat, err);
}

int session_take_up(struct session *s, struct err *err)
{
	int code = 0;

	while (!code && !run_stopping(&s->run)) {
		const int at = s->step.count;

		code = journal_take_again(s->journal, s->step.ids[at],
			s->step.inputs + (size_t)at * s->run.floats,
			s->step.guesses + (size_t)at * JOURNAL_GUESSES, &s->step.labels[at], err);
		if (code || !*s->step.ids[at])
			return code;
		s->step.kept = ++s->step.count;
		if (s->step.count == s->config.per_step)
			code = session_end_step(s, err);
	}
	return code;
}
