/*
 * The loop of a live stream. Lines are gathered as far as they can be had without
 * waiting and without a time step between them; then acted on: inputs predicted,
 * kept and answered, then labels joined with their inputs. When a time step is
 * complete it is revealed, which keeps its samples, answered, and trained on.
 * Labels that are left for the next one are kept beside their inputs.
 *
 * Invariant: the group is empty when the loop waits, and when a time step begins
 * to train, so what it holds is never older than the model that predicts it.
 */
#include <inttypes.h>
#include <string.h>

#include "run/guess.h"
#include "run/live_impl.h"
#include "run/rollback.h"

enum { DECADE = 10 };
static const double WAIT = 0.2; /* seconds, after which a wish to stop is looked at again */

/* Predicts inputs; their answers wait to be sent. */
static int predict(struct run *run, const float *inputs, const char *const *ids, int32_t *guesses,
	int n, struct err *err)
{
	const int code =
		learner_predict(run->learner, LEARNER_INFERENCE, inputs, n, run->logits, err);

	for (int i = 0; i < n && !code; i++) {
		const float *logits = run->logits + (size_t)i * (size_t)run->classes;
		int32_t *best = guesses + (size_t)i * JOURNAL_GUESSES;

		guess_best(logits, run->classes, best);
		answers_prediction(&run->live->answers, ids[i], best[0],
			guess_probability(logits, run->classes, best[0]));
	}
	return code;
}

static int send_answers(struct run *run, struct err *err)
{
	const int code = answers_send(&run->live->answers, err);

	run->live->outside |= code == ERR_FILE;
	return code;
}

/* Answers a line that cannot be used. Said in the log when there are 1, 10, 100, ... of them. */
static int refuse(
	struct run *run, int64_t line, const char *id, const struct err *why, struct err *err)
{
	struct live *live = run->live;
	int64_t decade = 1;

	live->bad++;
	answers_error(&live->answers, line, id, why->message);
	if (live->strict) {
		live->outside = true;
		return err_set(err, ERR_INPUT, "%s (stdin.on_bad = error)", why->message);
	}
	while (decade < live->bad)
		decade *= DECADE;
	if (decade == live->bad)
		log_write(&run->config.log, LOG_WARN, "%s; skipped, as %" PRId64 " so far",
			why->message, live->bad);
	return 0;
}

/* A failure of ours is ours; one that the line brought is answered. */
static int refuse_if_bad(struct run *run, int64_t line, const char *id, int code,
	const struct err *why, struct err *err)
{
	if (code == ERR_INPUT || code == ERR_FORMAT)
		return refuse(run, line, id, why, err);
	return code ? err_set(err, code, "%s", why->message) : 0;
}

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

static int catch_up(struct run *run, struct err *err);

/* To an earlier checkpoint, and from there, by the journal, to where it was. */
static int go_back(struct run *run, struct err *err)
{
	struct live *live = run->live;
	const int64_t lines = live->lines, bad = live->bad;
	const int code = rollback(run, err);

	live->lines = lines;
	live->bad = bad;
	return code ? code : catch_up(run, err);
}

/* Trains on the time step that was met, and ends it. */
static int train(struct run *run, struct err *err)
{
	const double start = run_clock();
	int code = run_train(run, err);

	run->train_seconds += run_clock() - start;
	if (code || !run_trained(run))
		return code;
	run->step++;
	run->made = 0;
	run->met = false;
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

static int end_step(struct run *run, struct err *err)
{
	struct live *live = run->live;
	const int64_t first = store_count(run->store);
	int code = meet(run, live->step_guesses, live->step_count, err);

	if (code)
		return code;
	answer_labels(run, first);
	live->step_count = live->step_kept = 0;
	code = send_answers(run, err);
	return code ? code : learn(run, err);
}

/* Labels that do not make a time step yet. */
static int keep_labels(struct run *run, struct err *err)
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

/* Where the time step has this sample; -1: nowhere. */
static int place_in_step(const struct live *live, const char *id)
{
	for (int i = 0; i < live->step_count; i++)
		if (!strcmp(live->step_ids[i], id))
			return i;
	return -1;
}

static int refuse_label(
	struct run *run, const struct live_label *label, int32_t former, struct err *err)
{
	struct err why;

	if (former < 0)
		err_set(&why, ERR_INPUT, "line %" PRId64 ": no input waits under id %s",
			label->line, label->id);
	else
		err_set(&why, ERR_INPUT, "line %" PRId64 ": id %s was labelled %d before, not %d",
			label->line, label->id, former, label->label);
	return refuse(run, label->line, label->id, &why, err);
}

/* The input goes to the time step, where it meets its label. */
static int join(struct run *run, const struct live_label *label, struct err *err)
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
	return live->step_count == run->live->per_step ? end_step(run, err) : 0;
}

static int act_on_label(struct run *run, const struct live_label *label, struct err *err)
{
	struct live *live = run->live;
	struct journal_found found;
	const int code = journal_find(live->journal, label->id, &found, err);

	if (code)
		return code;
	if (found.place == JOURNAL_WAITS)
		return join(run, label, err);
	if (found.place == JOURNAL_TAKEN) {
		const int at = place_in_step(live, label->id);

		found.label = run->labels[at];
		found.id = store_count(run->store) + at;
	}
	if (found.place == JOURNAL_UNKNOWN || found.label != label->label)
		return refuse_label(
			run, label, found.place == JOURNAL_UNKNOWN ? -1 : found.label, err);
	/* Sent again: the answer to the first got lost, or is still to come. */
	if (found.id < store_count(run->store) + live->step_kept)
		answers_sample(&live->answers, label->id, label->label, found.id);
	return 0;
}

/* All that was gathered. */
static int act(struct run *run, struct err *err)
{
	struct live *live = run->live;
	struct live_group *group = &live->group;
	const int inputs = group->inputs_count, labels = group->labels_count;
	int code = 0;

	group->inputs_count = group->labels_count = 0;
	if (inputs)
		code = predict(run, group->inputs, group->keys, group->guesses, inputs, err);
	if (!code && inputs)
		code = journal_wait(
			live->journal, group->keys, group->inputs, group->guesses, inputs, err);
	if (!code)
		code = send_answers(run, err);
	for (int i = 0; i < labels && !code && !run_stopping(run); i++)
		code = act_on_label(run, &group->labels[i], err);
	if (!code)
		code = keep_labels(run, err);
	return code ? code : send_answers(run, err);
}

/* An input whose label is known already was sent again: it is answered, not kept. */
static int answer_again(struct run *run, const char *id, const float *input, struct err *err)
{
	int32_t guesses[JOURNAL_GUESSES];

	return predict(run, input, &id, guesses, 1, err);
}

static bool label_in_group(const struct live *live, const char *id)
{
	for (int i = 0; i < live->group.labels_count; i++)
		if (!strcmp(live->group.labels[i].id, id))
			return true;
	return false;
}

/* The input is in its place at the end of the group. */
static int gather_input(struct run *run, const char *id, struct err *err)
{
	struct live *live = run->live;
	struct live_group *group = &live->group;
	struct journal_found found;
	int code = journal_find(live->journal, id, &found, err);

	if (code)
		return code;
	if (found.place == JOURNAL_TAKEN || found.place == JOURNAL_ADDED ||
		label_in_group(live, id))
		return answer_again(
			run, id, group->inputs + (size_t)group->inputs_count * run->floats, err);
	memcpy(group->ids[group->inputs_count], id, sizeof(*group->ids));
	group->inputs_count++;
	return 0;
}

static void gather_label(struct live *live, int64_t number, const struct line *line)
{
	struct live_label *label = &live->group.labels[live->group.labels_count++];

	label->line = number;
	label->label = line->label;
	memcpy(label->id, line->id, sizeof(label->id));
}

static bool is_blank(const struct feed_line *line)
{
	size_t at = 0;

	while (at < line->size && strchr(" \t\r", line->bytes[at]) && line->bytes[at])
		at++;
	return at == line->size && !line->cut;
}

static int read_line(
	struct run *run, const struct feed_line *from, struct line *line, struct err *err)
{
	struct live *live = run->live;
	struct live_group *group = &live->group;
	char where[32];

	snprintf(where, sizeof(where), "line %" PRId64, from->number);
	line->id[0] = '\0';
	if (from->cut)
		return err_set(err, ERR_FORMAT, "%s: is too long", where);
	return live->format->read(from->bytes, from->size, where, &live->shape, line,
		group->inputs + (size_t)group->inputs_count * run->floats, err);
}

/* Adds a line to the group, and acts on the group where it is full or may end a time step. */
static int take_line(struct run *run, const struct feed_line *from, struct err *err)
{
	struct live *live = run->live;
	struct live_group *group = &live->group;
	struct line line;
	struct err why = {0};
	int code;

	if (is_blank(from))
		return 0;
	live->lines++;
	code = read_line(run, from, &line, &why);
	if (code)
		return refuse_if_bad(run, from->number, line.id, code, &why, err);
	if (line.has_input)
		code = gather_input(run, line.id, err);
	if (!code && line.has_label)
		gather_label(live, from->number, &line);
	if (!code && (group->inputs_count == LIVE_GROUP ||
			     live->step_count + group->labels_count >= run->live->per_step))
		code = act(run, err);
	return code;
}

/* Iterations that a time step does not need, but has time for. */
static int use_idle_time(struct run *run, struct err *err)
{
	const double start = run_clock();
	const int code = learner_train(run->learner, 1, err);

	run->live->idle_left--;
	run->train_seconds += run_clock() - start;
	return code;
}

static int turn(struct run *run, struct err *err)
{
	struct live *live = run->live;
	struct feed_line line;
	bool came = false;
	int code = feed_fill(live->feed, live->idle_left ? 0 : WAIT, err);

	live->outside |= code != 0;
	while (!code && !run_stopping(run) && feed_next(live->feed, &line)) {
		came = true;
		code = take_line(run, &line, err);
	}
	if (!code && came)
		code = act(run, err);
	if (!code && !came && live->idle_left)
		code = use_idle_time(run, err);
	return code ? code : run_save_when_due(run, err);
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
	code = run_fetch_call(
		run, n, run->ids, run->inputs, run->labels, live->step_guesses, err);
	if (!code)
		code = meet(run, live->step_guesses, n, err);
	return code ? code : learn(run, err);
}

/* Brings the learner to where the journal is. */
static int catch_up(struct run *run, struct err *err)
{
	const int code = run->met ? learn(run, err) : 0;

	return code ? code : run_catch_up(run, repeat, err);
}

/* The labels that a former process kept for its next time step. */
static int take_up(struct run *run, struct err *err)
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
			code = end_step(run, err);
	}
	return code;
}

/* What is left when the stream has ended: a time step that is not full, and a last row. */
static int finish(struct run *run, struct err *err)
{
	int code = 0;

	if (run->live->step_count)
		code = end_step(run, err);
	if (!code && !run->met && run->step % run->live->every)
		code = run_evaluate(run, err);
	return code;
}

static bool at_end(const struct run *run)
{
	return feed_ended(run->live->feed);
}

int live_go(struct run *run, struct err *err)
{
	int code = rollback_begin(run, err);

	if (!code)
		code = catch_up(run, err);
	if (!code && !run_stopping(run))
		code = take_up(run, err);
	while (!code && !run_stopping(run) && !at_end(run))
		code = turn(run, err);
	if (!code && !run_stopping(run))
		code = finish(run, err);
	run->stopped = run_stopping(run);
	/* Nothing that was answered is lost either way; but going on is quicker from here. */
	if (code && run->live->outside)
		checkpoint_save(run, NULL);
	return code;
}
