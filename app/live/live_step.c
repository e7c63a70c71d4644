/*
 * The time step of a live stream. Labels meet their inputs in it, and are kept as
 * long as it is not complete; then it is revealed, which keeps its samples, answered,
 * and trained on. After a crash, time steps that were kept and are not learned are
 * repeated, and labels that were kept for the next one are taken up.
 */
#include <string.h>

#include "eval/guess.h"
#include "live/live_impl.h"
#include "run/rollback.h"

/* The time step in the run's buffers: kept, scored, revealed. */
static int meet(struct run *run, const int32_t *guesses, int n, struct err *err)
{
	const int code = learner_reveal(run->learner, run->inputs, run->labels, n, err);

	if (code)
		return code;
	guess_rank(guesses, run->labels, n, run->predicted, run->rank);
	prequential_step(run->prequential, run->predicted, run->rank, run->labels, n);
	run->met = true;
	run->made = 0;
	return 0;
}

/* To an earlier checkpoint, and from there, by the journal, to where it was. */
static int go_back(struct run *run, struct err *err)
{
	struct live *live = run->live;
	const int64_t lines = live->lines, bad = live->bad;
	const int code = rollback(run, err);

	live->lines = lines;
	live->bad = bad;
	return code ? code : live_catch_up(run, err);
}

/* Trains on the time step that was met, and ends it. */
static int train(struct run *run, struct err *err)
{
	const double start = clock_now();
	int code = run_train(run, err);

	run->train_seconds += clock_now() - start;
	if (code || !run_trained(run))
		return code;
	run_next_step(run);
	run->live->idle_left = run->live->idle_most;
	if (run->step % run->live->every == 0)
		code = run_evaluate(run, err);
	if (!code)
		run_tell(run);
	return code;
}

/* The buffers of a time step are free when it has been met, for the case that it is gone back. */
static int learn(struct run *run, struct err *err)
{
	const int code = train(run, err);

	return code && learner_diverged(run->learner) ? go_back(run, err) : code;
}

/* Those that were not answered yet; `first` is the id of the time step's first sample. */
static void answer_labels(struct run *run, int64_t first)
{
	struct live *live = run->live;

	for (int i = live->step_kept; i < live->step_count; i++)
		answers_sample(&live->answers, live->step_ids[i], run->labels[i], first + i);
}

int live_end_step(struct run *run, struct err *err)
{
	struct live *live = run->live;
	const int64_t first = store_count(run->store);
	int code = meet(run, live->step_guesses, live->step_count, err);

	if (code)
		return code;
	answer_labels(run, first);
	live->step_count = live->step_kept = 0;
	code = live_send(run, err);
	return code ? code : learn(run, err);
}

int live_keep_labels(struct run *run, struct err *err)
{
	struct live *live = run->live;
	int code;

	if (live->step_kept == live->step_count)
		return 0;
	code = journal_label(live->journal, run->labels, live->step_count, err);
	if (code)
		return code;
	answer_labels(run, store_count(run->store));
	live->step_kept = live->step_count;
	return 0;
}

int live_join(struct run *run, const struct live_label *label, struct err *err)
{
	struct live *live = run->live;
	const int at = live->step_count;
	const int code =
		journal_take(live->journal, label->id, run->inputs + (size_t)at * run->floats,
			live->step_guesses + (size_t)at * JOURNAL_GUESSES, err);

	if (code)
		return code;
	memcpy(live->step_ids[at], label->id, sizeof(label->id));
	run->labels[at] = label->label;
	live->step_count++;
	return live->step_count == run->live->per_step ? live_end_step(run, err) : 0;
}

/* A time step that a former process kept, in the size that it had. */
static int repeat(struct run *run, int n, struct err *err)
{
	struct live *live = run->live;
	int code;

	if (n > run->live->per_step)
		return err_set(err, ERR_STATE,
			"stdin.per_step = %d: the journal has a time step of %d samples that is "
			"still to be learned",
			run->live->per_step, n);
	code = run_fetch_call(run, n, run->ids, run->inputs, run->labels, live->step_guesses, err);
	if (!code)
		code = meet(run, live->step_guesses, n, err);
	return code ? code : learn(run, err);
}

int live_catch_up(struct run *run, struct err *err)
{
	const int code = run->met ? learn(run, err) : 0;

	return code ? code : run_catch_up(run, repeat, err);
}

int live_take_up(struct run *run, struct err *err)
{
	struct live *live = run->live;
	int code = 0;

	while (!code && !run_stopping(run)) {
		const int at = live->step_count;

		code = journal_take_again(live->journal, live->step_ids[at],
			run->inputs + (size_t)at * run->floats,
			live->step_guesses + (size_t)at * JOURNAL_GUESSES, &run->labels[at], err);
		if (code || !*live->step_ids[at])
			return code;
		live->step_kept = ++live->step_count;
		if (live->step_count == live->per_step)
			code = live_end_step(run, err);
	}
	return code;
}
