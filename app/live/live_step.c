/*
 * The time step of a live stream. Labels meet their inputs in it, and are kept as
 * long as it is not complete; then it is revealed, which keeps its samples, answered,
 * and trained on. After a crash, time steps that were kept and are not learned are
 * repeated, and labels that were kept for the next one are taken up.
 */
#include <string.h>

#include "base/clock.h"
#include "eval/guess.h"
#include "live/live_impl.h"
#include "session/rollback.h"

/* The time step in the run's buffers: kept, scored, revealed. */
static int meet(struct live *live, const int32_t *guesses, int n, struct err *err)
{
	const int code = run_reveal(&live->run, live->inputs, live->labels, n, err);

	if (code)
		return code;
	guess_rank(guesses, live->labels, n, live->predicted, live->rank);
	run_score(&live->run, live->predicted, live->rank, live->labels, n);
	live->run.met = true;
	live->run.made = 0;
	return 0;
}

/* To an earlier checkpoint, and from there, by the journal, to where it was. */
static int go_back(struct live *live, struct err *err)
{
	const int64_t lines = live->lines, bad = live->bad;
	const int code = rollback(&live->run, err);

	live->lines = lines;
	live->bad = bad;
	return code ? code : live_catch_up(live, err);
}

/* Trains on the time step that was met, and ends it. */
static int train(struct live *live, struct err *err)
{
	const double start = clock_now();
	int code = run_train(&live->run, err);

	live->run.train_seconds += clock_now() - start;
	if (code || !run_trained(&live->run))
		return code;
	run_next_step(&live->run);
	live->idle_left = live->idle_most;
	if (live->run.step % live->every == 0)
		code = run_evaluate(&live->run, err);
	if (!code)
		run_tell(&live->run);
	return code;
}

/* The buffers of a time step are free when it has been met, for the case that it is gone back. */
static int learn(struct live *live, struct err *err)
{
	const int code = train(live, err);

	return code && learner_diverged(live->run.learner) ? go_back(live, err) : code;
}

/* Those that were not answered yet; `first` is the id of the time step's first sample. */
static void answer_labels(struct live *live, int64_t first)
{
	for (int i = live->step_kept; i < live->step_count; i++) {
		answers_sample(live->step_to[i], live->step_ids[i],
			live_class(live, live->labels[i]), first + i);
		live->step_to[i]->owed--;
	}
}

int live_end_step(struct live *live, struct err *err)
{
	const int64_t first = store_count(live->run.store);
	int code = meet(live, live->step_guesses, live->step_count, err);

	if (code)
		return code;
	answer_labels(live, first);
	live->step_count = live->step_kept = 0;
	code = live_send(live, err);
	return code ? code : learn(live, err);
}

int live_keep_labels(struct live *live, struct err *err)
{
	int code;

	if (live->step_kept == live->step_count)
		return 0;
	code = run_note_classes(&live->run, (int32_t)live->run.names.count, err);
	if (!code)
		code = journal_label(live->journal, live->labels, live->step_count, err);
	if (code)
		return code;
	answer_labels(live, store_count(live->run.store));
	live->step_kept = live->step_count;
	return 0;
}

int live_join(struct live *live, const struct live_label *label, int32_t class, struct err *err)
{
	const int at = live->step_count;
	const int code =
		journal_take(live->journal, label->id, live->inputs + (size_t)at * live->run.floats,
			live->step_guesses + (size_t)at * JOURNAL_GUESSES, err);

	if (code)
		return code;
	memcpy(live->step_ids[at], label->id, sizeof(label->id));
	live->step_to[at] = label->to;
	live->labels[at] = class;
	live->step_count++;
	return live->step_count == live->per_step ? live_end_step(live, err) : 0;
}

/* A time step that a former process kept, in the size that it had. */
static int repeat(struct run *run, int n, struct err *err)
{
	struct live *live = (struct live *)run;
	int code;

	if (n > live->per_step)
		return err_set(err, ERR_STATE,
			"stdin.per_step = %d: the journal has a time step of %d samples that is "
			"still to be learned",
			live->per_step, n);
	code = run_fetch_call(
		&live->run, n, live->ids, live->inputs, live->labels, live->step_guesses, err);
	if (!code)
		code = meet(live, live->step_guesses, n, err);
	return code ? code : learn(live, err);
}

int live_catch_up(struct live *live, struct err *err)
{
	const int code = live->run.met ? learn(live, err) : 0;

	return code ? code : run_catch_up(&live->run, repeat, err);
}

int live_take_up(struct live *live, struct err *err)
{
	int code = 0;

	while (!code && !run_stopping(&live->run)) {
		const int at = live->step_count;

		code = journal_take_again(live->journal, live->step_ids[at],
			live->inputs + (size_t)at * live->run.floats,
			live->step_guesses + (size_t)at * JOURNAL_GUESSES, &live->labels[at], err);
		if (code || !*live->step_ids[at])
			return code;
		live->step_kept = ++live->step_count;
		if (live->step_count == live->per_step)
			code = live_end_step(live, err);
	}
	return code;
}
