/*
 * The loop of a live stream. Lines are gathered as far as they can be had without
 * waiting and without a time step between them; then acted on: inputs predicted,
 * kept and answered (live_predict.c), then labels joined with their inputs (live_labels.c)
 * in a time step, which is in live_step.c. An input is predicted once: sent again, it gets its
 * first answer, which the journal keeps.
 *
 * Invariants: the group is empty when the loop waits, and when a time step begins to
 * train, so what it holds is never older than the model that predicts it. It has no
 * input of an id that was in it before, so the journal knows what became of an id.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "live/live_impl.h"
#include "live/pieces.h"
#include "session/rollback.h"
#include "schema/schema.h"

static const double WAIT = 0.2;  /* seconds, after which a wish to stop is looked at again */
static const double HELD = 0.05; /* seconds that answers are held back for a common sync */

struct answers_class live_class(const struct live *live, int32_t label)
{
	return (struct answers_class){label, class_list_name(&live->run.names, label)};
}

void live_expect_more(struct live *live, bool more)
{
	live->more = more;
	if (more && live->journal)
		journal_hold(live->journal);
}

/* As long as more is at hand, what was done waits for it: an answer says that it is on disk. */
int live_send(struct live *live, struct err *err)
{
	int code;

	if (live->more && !run_stopping(&live->run) && clock_now() - live->settled < HELD)
		return 0;
	code = live->journal ? journal_settle(live->journal, err) : 0;
	if (code)
		return code;
	live->settled = clock_now();
	live_expect_more(live, live->more);
	code = live->feed ? answers_send(&live->answers, err) : 0;
	if (live->watch.settled)
		live->watch.settled(live->watch.context);
	live->outside |= code == ERR_FILE;
	return code;
}

const char *live_where(struct live_place place, char out[LIVE_WHERE])
{
	if (place.object)
		snprintf(out, LIVE_WHERE, "line %" PRId64 ": object %d", place.line, place.object);
	else
		snprintf(out, LIVE_WHERE, "line %" PRId64, place.line);
	return out;
}

/* Answers a line that cannot be used. Said in the log when there are 1, 10, 100, ... of them. */
int live_refuse(struct live *live, int64_t line, const char *id, struct answers *to,
	const struct err *why, struct err *err)
{
	live->bad++;
	answers_error(to, line, id, why->message);
	if (live->strict) {
		live->outside = true;
		return err_set(err, ERR_INPUT, "%s (stdin.on_bad = error)", why->message);
	}
	if (log_worth(live->bad))
		log_write(&live->run.config.log, LOG_WARN, "%s; skipped, as %" PRId64 " so far",
			why->message, live->bad);
	return 0;
}

int live_refuse_if_bad(struct live *live, int64_t line, const char *id, struct answers *to,
	int code, const struct err *why, struct err *err)
{
	if (code == ERR_INPUT || code == ERR_FORMAT)
		return live_refuse(live, line, id, to, why, err);
	return code ? err_set(err, code, "%s", why->message) : 0;
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
		code = live_predict(live, inputs, err);
	if (!code)
		code = live_send(live, err);
	for (int i = 0; i < labels && !code && !run_stopping(&live->run); i++)
		code = live_act_on_label(live, &group->labels[i], err);
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

static void gather_label(struct live *live, struct live_place place, const struct live_line *line,
	struct answers *to)
{
	struct live_label *label = &live->group.labels[live->group.labels_count++];

	to->owed++;
	label->to = to;
	label->place = place;
	label->label = line->label;
	memcpy(label->name, line->name, sizeof(label->name));
	memcpy(label->id, line->id, sizeof(label->id));
	*seen(live, line->id) = true;
}

static int refuse_input(struct live *live, struct live_place place, const char *id,
	struct answers *to, struct err *err)
{
	char where[LIVE_WHERE];
	struct err why;

	err_set(&why, ERR_INPUT, "%s: id %s is that of another input, which has its label",
		live_where(place, where), id);
	return live_refuse(live, place.line, id, to, &why, err);
}

/* The input is behind the group's; it joins them, or has had its answer. */
static int gather_input(struct live *live, struct live_place place, const struct live_line *line,
	struct answers *to, bool *good, struct err *err)
{
	struct live_group *group = &live->group;
	const char *id = line->id;
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
		return refuse_input(live, place, id, to, err);
	*good = true;
	if (found.differs || found.place == JOURNAL_UNKNOWN) {
		memcpy(group->ids[group->inputs_count], id, sizeof(*group->ids));
		group->wishes[group->inputs_count] =
			answers_wish_or(line->wish, answers_wish_or(to->wish, live->wish));
		group->to[group->inputs_count++] = to;
		to->owed++;
		*seen(live, id) = true;
	} else {
		answers_prediction(
			to, id, live_class(live, found.prediction), found.probability, NULL);
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

void live_guess_format(struct live *live, const struct feed_line *line)
{
	const struct live_line_format *found;

	if (!live->guesses || line->cut)
		return;
	found = live_line_guess(line->bytes, line->size);
	live->guesses = !found;
	if (found)
		live->format = found;
}

bool live_is_list(const struct live *live, const struct feed_line *line)
{
	return live->format->lists && !line->cut && pieces_count(line->bytes, line->size) > 0;
}

int live_check_line(
	const struct live *live, const struct feed_line *line, const char *where, struct err *err)
{
	if (line->cut)
		return err_set(err, ERR_FORMAT, "%s: is too long", where);
	if (live->guesses)
		return err_set(err, ERR_FORMAT, "%s: is neither a JSON object nor a row of a table",
			where);
	return 0;
}

static int read_line(struct live *live, const struct feed_line *from, enum live_kind kind,
	struct live_line *line, struct err *err)
{
	char where[LIVE_WHERE];
	int code;

	live_where((struct live_place){from->number, from->object}, where);
	line->id[0] = '\0';
	code = live_check_line(live, from, where, err);
	if (code)
		return code;
	live->shape.as_names = live_numbers_are_names(live);
	code = live->format->read(
		from->bytes, from->size, where, &live->shape, line, group_end(live), err);
	if (!code && kind == LIVE_INPUTS && line->has_label)
		code = err_set(
			err, ERR_INPUT, "%s: has a label, and only inputs are taken here", where);
	if (!code && kind == LIVE_LABELS && line->has_input)
		code = err_set(
			err, ERR_INPUT, "%s: has an input, and only labels are taken here", where);
	return code ? code : live_check_label(live, line, where, err);
}

/* Adds a line to the group, and acts on the group where it is full or may end a time step. */
static int take_one(struct live *live, const struct feed_line *from, enum live_kind kind,
	struct answers *to, struct err *err)
{
	const struct live_place place = {from->number, from->object};
	struct live_group *group = &live->group;
	struct schema *schema = live->run.schema;
	const size_t mark = schema ? schema_mark(schema) : 0;
	struct live_line line;
	struct err why = {0};
	bool good = true;
	size_t learned;
	int code;

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
		code = gather_input(live, place, &line, to, &good, err);
	/* A line that is refused teaches nothing, unless others have come meanwhile. */
	pthread_mutex_lock(&live->naming);
	if (schema && !good && schema_mark(schema) == learned)
		schema_back(schema, mark);
	pthread_mutex_unlock(&live->naming);
	if (!code && good && line.has_label)
		gather_label(live, place, &line, to);
	if (!code && (group->inputs_count == LIVE_GROUP ||
			     live->step_count + group->labels_count >= live->per_step ||
			     (group->labels_count && !live_labelled(live))))
		code = act(live, err);
	return code;
}

/* Brings the learner to where the journal is. */
static int begin(struct live *live, struct err *err)
{
	int code = rollback_begin(&live->run, err);

	if (!code)
		code = live_catch_up(live, err);
	if (!code && !run_stopping(&live->run))
		code = live_take_up(live, err);
	return code;
}

bool live_learns(const struct live *live)
{
	return live->run.learner;
}

int live_take(struct live *live, const struct feed_line *from, enum live_kind kind,
	struct answers *to, struct err *err)
{
	struct pieces pieces = {from->bytes, from->size, 0};
	struct feed_line object = *from;
	struct piece piece;
	const bool more = live->more;
	int code = 0;

	if (live_is_blank(from))
		return 0;
	live_guess_format(live, from);
	if (!live_learns(live)) {
		bool made;

		code = live_take_first(live, from, kind, to, &made, err);
		if (!code && made)
			code = begin(live, err);
		if (code || !made)
			return code;
	}
	if (!live_is_list(live, from))
		return take_one(live, from, kind, to, err);
	live_expect_more(live, true);
	while (!code && pieces_next(&pieces, &piece)) {
		object.bytes = piece.bytes;
		object.size = piece.size;
		object.object++;
		code = take_one(live, &object, kind, to, err);
	}
	live_expect_more(live, more);
	return code;
}

int live_read(struct live *live, const char *bytes, size_t size, const char *where,
	struct live_line *line, float *input, struct err *err)
{
	struct live_line_shape shape;
	int code;

	pthread_mutex_lock(&live->naming);
	shape = live->shape;
	shape.anonymous = true;
	if (!shape.schema)
		pthread_mutex_unlock(&live->naming);
	code = live_line_ndjson(bytes, size, where, &shape, line, input, err);
	if (shape.schema)
		pthread_mutex_unlock(&live->naming);
	return code;
}

int live_flush(struct live *live, struct err *err)
{
	return live_learns(live) ? act(live, err) : live_send(live, err);
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
	if (!live_learns(live))
		return 0;
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
		live_expect_more(live, feed_waits(live->feed));
		code = live_take(live, &line, LIVE_ANY, &live->answers, err);
	}
	live_expect_more(live, false);
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
	const int code = live_learns(live) ? begin(live, err) : 0;

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
	if (!live_learns(live))
		return code;
	live->run.stopped = run_stopping(&live->run);
	if (!code)
		return run_finish(&live->run, result, err);
	/* Lines before the one that ended it have their answers. */
	live_expect_more(live, false);
	live_send(live, NULL);
	/* Nothing that was answered is lost either way; but going on is quicker from here. */
	if (live->outside)
		checkpoint_save(&live->run, NULL);
	return code;
}

int live_go(struct live *live, struct run_result *result, struct err *err)
{
	return live_end(live, go(live, err), result, err);
}
