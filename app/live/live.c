/*
 * The loop of a live stream. Lines are gathered as far as they can be had without
 * waiting and without a time step between them; then acted on: inputs predicted,
 * kept and answered, then labels joined with their inputs in a time step, which
 * is in live_step.c. An input is predicted once: sent again, it gets its first answer,
 * which the journal keeps.
 *
 * Invariants: the group is empty when the loop waits, and when a time step begins to
 * train, so what it holds is never older than the model that predicts it. It has no
 * input of an id that was in it before, so the journal knows what became of an id.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/mem.h"
#include "eval/guess.h"
#include "live/live_impl.h"
#include "run/rollback.h"
#include "schema/schema.h"

enum { DECADE = 10 };
static const double WAIT = 0.2; /* seconds, after which a wish to stop is looked at again */

struct answers_class live_class(const struct live *live, int32_t label)
{
	return (struct answers_class){label, class_list_name(&live->run.names, label)};
}

/* Room for the logits of a group, of all classes that there are by now. */
static int make_logits(struct live *live, struct err *err)
{
	const size_t count = (size_t)LIVE_GROUP * (size_t)live->run.classes;
	float *more;

	if (live->logits_classes >= live->run.classes)
		return 0;
	more = mem_resize(live->logits, count, sizeof(*more));
	if (!more)
		return err_memory(err, "predictions", count * sizeof(*more));
	live->logits = more;
	live->logits_classes = live->run.classes;
	return 0;
}

/* Before the first time step of a stream whose classes come there is no class to guess. */
static void guess(struct live *live, int i)
{
	const struct live_group *group = &live->group;
	const int known = learner_classes(live->run.learner);
	const float *logits = live->logits + (size_t)i * (size_t)live->run.classes;
	int32_t *best = group->guesses + (size_t)i * JOURNAL_GUESSES;

	guess_best(logits, known, best);
	group->probabilities[i] = known ? guess_probability(logits, known, best[0]) : NAN;
	answers_prediction(
		group->to[i], group->ids[i], live_class(live, best[0]), group->probabilities[i]);
	group->to[i]->owed--;
}

/* Predicts and keeps the group's first n inputs; their answers wait to be sent. */
static int predict(struct live *live, int n, struct err *err)
{
	const struct live_group *group = &live->group;
	int code = make_logits(live, err);

	if (!code)
		code = learner_predict(
			live->run.learner, live->answers_by, group->inputs, n, live->logits, err);
	for (int i = 0; i < n && !code; i++)
		guess(live, i);
	if (!code)
		code = run_schema_keep(&live->run, err);
	if (!code)
		code = journal_wait(live->journal, group->keys, group->inputs, group->guesses,
			group->probabilities, n, err);
	return code;
}

int live_send(struct live *live, struct err *err)
{
	const int code = live->feed ? answers_send(&live->answers, err) : 0;

	if (live->watch.settled)
		live->watch.settled(live->watch.context);
	live->outside |= code == ERR_FILE;
	return code;
}

/* Answers a line that cannot be used. Said in the log when there are 1, 10, 100, ... of them. */
static int refuse(struct live *live, int64_t line, const char *id, struct answers *to,
	const struct err *why, struct err *err)
{
	int64_t decade = 1;

	live->bad++;
	answers_error(to, line, id, why->message);
	if (live->strict) {
		live->outside = true;
		return err_set(err, ERR_INPUT, "%s (stdin.on_bad = error)", why->message);
	}
	while (decade < live->bad)
		decade *= DECADE;
	if (decade == live->bad)
		log_write(&live->run.config.log, LOG_WARN, "%s; skipped, as %" PRId64 " so far",
			why->message, live->bad);
	return 0;
}

int live_refuse_if_bad(struct live *live, int64_t line, const char *id, struct answers *to,
	int code, const struct err *why, struct err *err)
{
	if (code == ERR_INPUT || code == ERR_FORMAT)
		return refuse(live, line, id, to, why, err);
	return code ? err_set(err, code, "%s", why->message) : 0;
}

/* Where the time step has this sample; -1: nowhere. */
static int place_in_step(const struct live *live, const char *id)
{
	for (int i = 0; i < live->step_count; i++)
		if (!strcmp(live->step_ids[i], id))
			return i;
	return -1;
}

/* A class in a sentence: 3, or "yes". */
#define CLASS_SHOWN 128
static const char *shown(int32_t label, const char *name, char out[CLASS_SHOWN])
{
	if (name && *name)
		snprintf(out, CLASS_SHOWN, "\"%.100s\"", name);
	else
		snprintf(out, CLASS_SHOWN, "%" PRId32, label);
	return out;
}

static int refuse_label(
	struct live *live, const struct live_label *label, int32_t former, struct err *err)
{
	char before[CLASS_SHOWN], now[CLASS_SHOWN];
	struct err why;

	if (former < 0)
		err_set(&why, ERR_INPUT, "line %" PRId64 ": no input waits under id %s",
			label->line, label->id);
	else
		err_set(&why, ERR_INPUT, "line %" PRId64 ": id %s was labelled %s before, not %s",
			label->line, label->id,
			shown(former, live_class(live, former).name, before),
			shown(label->label, label->name, now));
	label->to->owed--;
	return refuse(live, label->line, label->id, label->to, &why, err);
}

/* Sent again: the answer to the first got lost, or is still to come. */
static int answer_again(struct live *live, const struct live_label *label, int32_t class,
	int64_t sample, struct err *err)
{
	int code = 0;

	if (sample >= store_count(live->run.store) + live->step_kept)
		code = live_keep_labels(live, err);
	if (code)
		return code;
	answers_sample(label->to, label->id, live_class(live, class), sample);
	label->to->owed--;
	return 0;
}

/* A name that is new becomes a class when its input is known to wait, and not before. */
static int join(struct live *live, const struct live_label *label, struct err *err)
{
	struct err full = {0}, why = {0};
	int32_t class = label->label;
	const int code = *label->name ? run_class(&live->run, label->name, &class, &full) : 0;

	if (!code)
		return live_join(live, label, class, err);
	err_set(&why, code, "line %" PRId64 ": label: %s", label->line, full.message);
	label->to->owed--;
	return live_refuse_if_bad(live, label->line, label->id, label->to, code, &why, err);
}

static int act_on_label(struct live *live, const struct live_label *label, struct err *err)
{
	const int32_t class =
		*label->name ? class_list_find(&live->run.names, label->name) : label->label;
	struct journal_found found;
	const int code = journal_find(live->journal, label->id, NULL, &found, err);

	if (code)
		return code;
	if (found.place == JOURNAL_WAITS)
		return join(live, label, err);
	if (found.place == JOURNAL_TAKEN) {
		const int at = place_in_step(live, label->id);

		found.label = live->labels[at];
		found.id = store_count(live->run.store) + at;
	}
	if (found.place == JOURNAL_UNKNOWN || found.label != class)
		return refuse_label(
			live, label, found.place == JOURNAL_UNKNOWN ? -1 : found.label, err);
	return answer_again(live, label, class, found.id, err);
}

/* All that was gathered. */
static int act(struct live *live, struct err *err)
{
	struct live_group *group = &live->group;
	const int inputs = group->inputs_count, labels = group->labels_count;
	int code = 0;

	group->inputs_count = group->labels_count = 0;
	memset(group->seen, 0, sizeof(group->seen));
	if (inputs)
		code = predict(live, inputs, err);
	if (!code)
		code = live_send(live, err);
	for (int i = 0; i < labels && !code && !run_stopping(&live->run); i++)
		code = act_on_label(live, &group->labels[i], err);
	if (!code)
		code = live_keep_labels(live, err);
	return code ? code : live_send(live, err);
}

static bool *seen(struct live *live, const char *id)
{
	return &live->group.seen[checksum_add(0, id, strlen(id)) % LIVE_SEEN];
}

static bool in_group(struct live *live, const char *id)
{
	const struct live_group *group = &live->group;

	if (!*seen(live, id))
		return false;
	for (int i = 0; i < group->inputs_count; i++)
		if (!strcmp(group->ids[i], id))
			return true;
	for (int i = 0; i < group->labels_count; i++)
		if (!strcmp(group->labels[i].id, id))
			return true;
	return false;
}

/* Where the input of the line that is read next goes. */
static float *group_end(const struct live *live)
{
	return live->group.inputs + (size_t)live->group.inputs_count * live->run.floats;
}

/* Acts on the group, behind which there is an input, and makes it the first of the next. */
static int act_before_input(struct live *live, struct err *err)
{
	const size_t bytes = live->run.floats * sizeof(*live->pending);
	float *pending = live->pending + (live->training ? live->run.floats : 0);
	int code;

	memcpy(pending, group_end(live), bytes);
	code = act(live, err);
	memcpy(live->group.inputs, pending, bytes);
	return code;
}

static void gather_label(
	struct live *live, int64_t number, const struct live_line *line, struct answers *to)
{
	struct live_label *label = &live->group.labels[live->group.labels_count++];

	to->owed++;
	label->to = to;
	label->line = number;
	label->label = line->label;
	memcpy(label->name, line->name, sizeof(label->name));
	memcpy(label->id, line->id, sizeof(label->id));
	*seen(live, line->id) = true;
}

static int refuse_input(
	struct live *live, int64_t number, const char *id, struct answers *to, struct err *err)
{
	struct err why;

	err_set(&why, ERR_INPUT,
		"line %" PRId64 ": id %s is that of another input, which has its label", number,
		id);
	return refuse(live, number, id, to, &why, err);
}

/* The input is behind the group's; it joins them, or has had its answer. */
static int gather_input(struct live *live, int64_t number, const char *id, struct answers *to,
	bool *good, struct err *err)
{
	struct live_group *group = &live->group;
	struct journal_found found;
	int code = in_group(live, id) ? act_before_input(live, err) : 0;

	*good = false;
	/* Labels before this line may be left to their sender; then so is the line. */
	if (code || run_stopping(&live->run))
		return code;
	code = journal_find(live->journal, id, group_end(live), &found, err);
	if (code)
		return code;
	if (found.differs && found.place != JOURNAL_WAITS)
		return refuse_input(live, number, id, to, err);
	*good = true;
	if (found.differs || found.place == JOURNAL_UNKNOWN) {
		memcpy(group->ids[group->inputs_count], id, sizeof(*group->ids));
		group->to[group->inputs_count++] = to;
		to->owed++;
		*seen(live, id) = true;
	} else {
		answers_prediction(to, id, live_class(live, found.prediction), found.probability);
	}
	return 0;
}

bool live_is_blank(const struct feed_line *line)
{
	size_t at = 0;

	while (at < line->size && strchr(" \t\r", line->bytes[at]) && line->bytes[at])
		at++;
	return at == line->size && !line->cut;
}

/* Where labels may be names the first that is kept says whether they are. */
static bool labelled(const struct live *live)
{
	return !live->shape.grows || store_stored(live->run.store) || live->step_count;
}

static int check_label(
	const struct live *live, const struct live_line *line, const char *where, struct err *err)
{
	const bool named = *line->name;
	char class[CLASS_SHOWN];

	if (!line->has_label || !labelled(live) || named == (live->run.names.count > 0))
		return 0;
	return err_set(err, ERR_INPUT, "%s: label: %s is a %s, and the labels before it are %s",
		where, shown(line->label, line->name, class), named ? "name" : "number",
		named ? "numbers" : "names");
}

static int read_line(struct live *live, const struct feed_line *from, enum live_kind kind,
	struct live_line *line, struct err *err)
{
	char where[32];
	int code;

	snprintf(where, sizeof(where), "line %" PRId64, from->number);
	line->id[0] = '\0';
	if (from->cut)
		return err_set(err, ERR_FORMAT, "%s: is too long", where);
	code = live->format->read(
		from->bytes, from->size, where, &live->shape, line, group_end(live), err);
	if (!code && kind == LIVE_INPUTS && line->has_label)
		code = err_set(
			err, ERR_INPUT, "%s: has a label, and only inputs are taken here", where);
	if (!code && kind == LIVE_LABELS && line->has_input)
		code = err_set(
			err, ERR_INPUT, "%s: has an input, and only labels are taken here", where);
	return code ? code : check_label(live, line, where, err);
}

/* Adds a line to the group, and acts on the group where it is full or may end a time step. */
int live_take(struct live *live, const struct feed_line *from, enum live_kind kind,
	struct answers *to, struct err *err)
{
	struct live_group *group = &live->group;
	struct schema *schema = live->run.schema;
	const size_t mark = schema ? schema_mark(schema) : 0;
	struct live_line line;
	struct err why = {0};
	bool good = true;
	size_t learned;
	int code;

	if (live_is_blank(from))
		return 0;
	live->lines++;
	pthread_mutex_lock(&live->naming);
	code = read_line(live, from, kind, &line, &why);
	if (code && schema)
		schema_back(schema, mark);
	pthread_mutex_unlock(&live->naming);
	if (code)
		return live_refuse_if_bad(live, from->number, line.id, to, code, &why, err);
	learned = schema ? schema_mark(schema) : 0;
	if (line.has_input)
		code = gather_input(live, from->number, line.id, to, &good, err);
	/* A line that is refused teaches nothing, unless others have come meanwhile. */
	pthread_mutex_lock(&live->naming);
	if (schema && !good && schema_mark(schema) == learned)
		schema_back(schema, mark);
	pthread_mutex_unlock(&live->naming);
	if (!code && good && line.has_label)
		gather_label(live, from->number, &line, to);
	if (!code && (group->inputs_count == LIVE_GROUP ||
			     live->step_count + group->labels_count >= live->per_step ||
			     (group->labels_count && !labelled(live))))
		code = act(live, err);
	return code;
}

int live_read(struct live *live, const char *bytes, size_t size, const char *where,
	struct live_line *line, float *input, struct err *err)
{
	struct live_line_shape shape = live->shape;
	int code;

	shape.anonymous = true;
	if (!shape.schema)
		return live_line_ndjson(bytes, size, where, &shape, line, input, err);
	pthread_mutex_lock(&live->naming);
	code = live_line_ndjson(bytes, size, where, &shape, line, input, err);
	pthread_mutex_unlock(&live->naming);
	return code;
}

int live_flush(struct live *live, struct err *err)
{
	return act(live, err);
}

/* Iterations that a time step does not need, but has time for. */
static int use_idle_time(struct live *live, struct err *err)
{
	const double start = clock_now();
	const int code = learner_train(live->run.learner, 1, err);

	live->idle_left--;
	live->run.train_seconds += clock_now() - start;
	return code;
}

int live_idle(struct live *live, bool *more, struct err *err)
{
	int code = live->idle_left ? use_idle_time(live, err) : 0;

	*more = live->idle_left > 0;
	return code ? code : run_save_when_due(&live->run, err);
}

static int turn(struct live *live, struct err *err)
{
	struct feed_line line;
	bool came = false;
	int code = feed_fill(live->feed, live->idle_left ? 0 : WAIT, err);

	live->outside |= code != 0;
	while (!code && !run_stopping(&live->run) && feed_next(live->feed, &line)) {
		came = true;
		code = live_take(live, &line, LIVE_ANY, &live->answers, err);
	}
	if (!code && came)
		code = act(live, err);
	if (!code && !came && live->idle_left)
		code = use_idle_time(live, err);
	return code ? code : run_save_when_due(&live->run, err);
}

/* What is left when the stream has ended: a time step that is not full, and a last row. */
static int finish(struct live *live, struct err *err)
{
	int code = 0;

	if (live->step_count)
		code = live_end_step(live, err);
	if (!code && !live->run.met && live->run.step % live->every)
		code = run_evaluate(&live->run, err);
	return code;
}

int live_begin(struct live *live, const struct live_watch *watch, struct err *err)
{
	int code = rollback_begin(&live->run, err);

	if (!code)
		code = live_catch_up(live, err);
	if (!code && !run_stopping(&live->run))
		code = live_take_up(live, err);
	if (watch)
		live->watch = *watch;
	return code;
}

static int go(struct live *live, struct err *err)
{
	int code = live_begin(live, NULL, err);

	/* Once more after the end: what has come before it began may be all there is. */
	for (bool more = true; !code && !run_stopping(&live->run) && more;) {
		more = !feed_ended(live->feed);
		code = turn(live, err);
	}
	if (!code && !run_stopping(&live->run))
		code = finish(live, err);
	return code;
}

int live_end(struct live *live, int code, struct run_result *result, struct err *err)
{
	live->run.stopped = run_stopping(&live->run);
	if (!code)
		return run_finish(&live->run, result, err);
	/* Nothing that was answered is lost either way; but going on is quicker from here. */
	if (live->outside)
		checkpoint_save(&live->run, NULL);
	return code;
}

int live_go(struct live *live, struct run_result *result, struct err *err)
{
	return live_end(live, go(live, err), result, err);
}
