/*
 * Events are batched as long as they are available without waiting and no time step comes between
 * them; then processed: inputs are predicted, stored and answered (session_predict.c), then
 * labels are joined with their inputs (session_labels.c) in a time step (session_step.c). An
 * input is predicted once: sent again, it gets its first answer, which the journal keeps.
 *
 * Invariants: the group is empty when its owner waits, and when a time step begins to train, so
 * its events are never older than the model that predicts them. It has no input with an id that
 * was in it before, so the journal knows the state of an id.
 */
#include "session/session.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "schema/schema.h"
#include "session/run/rollback.h"
#include "session/amend.h"
#include "session/session_impl.h"

static const double HELD = 0.05; /* seconds that answers are held back for a common sync */

void session_expect_more(struct session *s, bool more)
{
	s->more = more;
	if (more && s->journal)
		journal_hold(s->journal);
}

/* As long as more is at hand, what was done waits for it: an answer says that it is on disk. */
int session_settle(struct session *s, struct err *err)
{
	int code;

	if (s->more && !run_stopping(&s->run) && clock_now() - s->settled < HELD)
		return 0;
	code = s->journal ? journal_settle(s->journal, err) : 0;
	if (code)
		return code;
	s->settled = clock_now();
	session_expect_more(s, s->more);
	code = s->watch.settled ? s->watch.settled(s->watch.context, err) : 0;
	s->outside |= code == ERR_FILE;
	return code;
}

void session_answer_owed(const struct session *s, struct sender *to, struct answer *answer)
{
	answer->names = &s->run.names;
	answer->target = session_target(s);
	answer->width = session_width(s);
	answer->numbers = options_text(s->run.config.options, "model.numbers");
	to->answer(to, answer);
	to->owed--;
}

static int act(struct session *s, struct err *err);

/*
 * A sender gets its answers in the order of its events: who is answered at once is answered after
 * what is still owed, be it gathered or, while the group is acted on, in the time step.
 */
static int answer_earlier(struct session *s, const struct sender *to, struct err *err)
{
	if (!to->owed)
		return 0;
	if (s->group.inputs_count || s->group.labels_count)
		return act(s, err);
	return session_learns(s) ? session_keep_labels(s, err) : 0;
}

/* Said in the log when there are 1, 10, 100, ... of them. */
int session_refuse(struct session *s, struct event_place place, const char *id, struct sender *to,
	int code, const struct err *why, struct err *err)
{
	int failed;

	if (code != ERR_INPUT && code != ERR_FORMAT)
		return code ? err_set(err, code, "%s", why->message) : 0;
	failed = answer_earlier(s, to, err);
	if (failed)
		return failed;
	s->bad++;
	to->answer(to, &(struct answer){.kind = ANSWER_ERROR,
			       .place = place,
			       .id = id,
			       .names = &s->run.names,
			       .label = &(const union target){.class = -1},
			       .why = why->message});
	if (s->config.strict) {
		s->outside = true;
		return err_set(err, ERR_INPUT, "%s (stdin.on_bad = error)", why->message);
	}
	if (log_worth(s->bad))
		log_write(&s->run.config.log, LOG_WARN, "%s; skipped (%" PRId64 " so far)",
			why->message, s->bad);
	return 0;
}

/* All that was gathered. */
static int act(struct session *s, struct err *err)
{
	struct session_group *group = &s->group;
	const int inputs = group->inputs_count, labels = group->labels_count;
	int code = 0;

	group->inputs_count = group->labels_count = 0;
	memset(group->seen, 0, sizeof(group->seen));
	if (inputs)
		code = session_predict(s, inputs, err);
	if (!code)
		code = session_settle(s, err);
	for (int i = 0; i < labels && !code && !run_stopping(&s->run); i++)
		code = session_act_on_label(s, &group->labels[i], err);
	if (!code)
		code = session_keep_labels(s, err);
	return code ? code : session_settle(s, err);
}

static bool *seen(struct session *s, const char *id)
{
	return &s->group.seen[checksum_add(0, id, strlen(id)) % SESSION_SEEN];
}

static bool in_group(struct session *s, const char *id)
{
	const struct session_group *group = &s->group;

	if (!*seen(s, id))
		return false;
	for (int i = 0; i < group->inputs_count; i++)
		if (!strcmp(group->ids[i], id))
			return true;
	for (int i = 0; i < group->labels_count; i++)
		if (!strcmp(group->labels[i].id, id))
			return true;
	return false;
}

float *session_room(const struct session *s)
{
	return s->group.inputs + (size_t)s->group.inputs_count * s->run.floats;
}

size_t session_decode(struct session *s)
{
	pthread_mutex_lock(&s->naming);
	return s->run.schema ? schema_mark(s->run.schema) : 0;
}

void session_decoded(struct session *s, size_t learned, int code)
{
	if (code && s->run.schema)
		schema_back(s->run.schema, learned);
	pthread_mutex_unlock(&s->naming);
}

/* Acts on the group, behind which there is an input, and makes it the first of the next. */
static int act_before_input(struct session *s, struct err *err)
{
	const size_t place = s->training;
	int code;

	memcpy(s->pending + place * s->run.floats, session_room(s),
		s->run.floats * sizeof(*s->pending));
	code = act(s, err);
	/* Inputs may have grown meanwhile. */
	memcpy(s->group.inputs, s->pending + place * s->run.floats,
		s->run.floats * sizeof(*s->pending));
	return code;
}

static void gather_label(struct session *s, const struct event *event, struct sender *to)
{
	struct session_label *label = &s->group.labels[s->group.labels_count++];

	to->owed++;
	label->to = to;
	label->place = event->place;
	memcpy(label->label, event->label, (size_t)session_width(s) * sizeof(*label->label));
	label->weight = event->has_weight ? event->weight : 1;
	memcpy(label->name, event->name, sizeof(label->name));
	memcpy(label->id, event->id, sizeof(label->id));
	*seen(s, event->id) = true;
}

static int refuse_input(
	struct session *s, const struct event *event, struct sender *to, struct err *err)
{
	char where[EVENT_WHERE];
	struct err why;

	err_set(&why, ERR_INPUT, "%s: id %s is that of another input, which has its label",
		event_where(event->place, where), event->id);
	return session_refuse(s, event->place, event->id, to, ERR_INPUT, &why, err);
}

/* The answer to the first got lost, or is still to come. */
static void answer_again(struct session *s, const struct event *event, struct journal_found *found,
	struct sender *to)
{
	struct answer answer = {.kind = ANSWER_PREDICTION,
		.place = event->place,
		.id = event->id,
		.label = found->guess,
		.probability =
			target_types[session_target(s)]->recall(found->guess, found->probability)};

	to->owed++;
	session_answer_owed(s, to, &answer);
}

/* The input is behind the group's; it joins them, or has had its answer. */
static int gather_input(struct session *s, const struct event *event, struct sender *to, bool *good,
	struct err *err)
{
	struct session_group *group = &s->group;
	const char *id = event->id;
	struct journal_found found;
	int code, at;

	*good = false;
	if (event->input != session_room(s))
		memcpy(session_room(s), event->input, s->run.floats * sizeof(*event->input));
	code = in_group(s, id) ? act_before_input(s, err) : 0;
	/* Labels before this event may be left to their sender; then so is the event. */
	if (code || run_stopping(&s->run))
		return code;
	code = journal_find(s->journal, id, session_room(s), &found, err);
	if (code)
		return code;
	if (found.differs && found.place != JOURNAL_WAITS)
		return refuse_input(s, event, to, err);
	*good = true;
	if (!found.differs && found.place != JOURNAL_UNKNOWN) {
		code = answer_earlier(s, to, err);
		if (!code)
			answer_again(s, event, &found, to);
		return code;
	}
	at = group->inputs_count++;
	memcpy(group->ids[at], id, sizeof(*group->ids));
	group->wishes[at] = answers_wish_or(event->wish, answers_wish_or(to->wish, s->config.wish));
	group->whens[at] = event->when;
	group->to[at] = to;
	group->places[at] = event->place;
	to->owed++;
	*seen(s, id) = true;
	return 0;
}

/* A refused event teaches nothing, unless others have come meanwhile. */
static void unlearn(struct session *s, const struct event *event, size_t mark)
{
	pthread_mutex_lock(&s->naming);
	if (s->run.schema && schema_mark(s->run.schema) == mark)
		schema_back(s->run.schema, event->learned);
	pthread_mutex_unlock(&s->naming);
}

/* Adds an event to the group, and acts on the group where it is full or may end a time step. */
int session_take(struct session *s, const struct event *event, struct sender *to, struct err *err)
{
	struct session_group *group = &s->group;
	const size_t mark = s->run.schema ? schema_mark(s->run.schema) : 0;
	struct err why = {0};
	bool good = true;
	int code = session_check_label(s, event, &why);

	if (code) {
		unlearn(s, event, mark);
		return session_refuse(s, event->place, event->id, to, code, &why, err);
	}
	if (event->has_input)
		code = gather_input(s, event, to, &good, err);
	if (!good)
		unlearn(s, event, mark);
	if (!code && good && event->has_label)
		gather_label(s, event, to);
	if (!code && (group->inputs_count == group->most ||
			     s->step.count + group->labels_count >= s->config.per_step ||
			     (group->labels_count && !session_labelled(s))))
		code = act(s, err);
	return code;
}

/* What is trained from now on of what a close left open must not get lost. */
static int open_again(struct session *s, struct err *err)
{
	const bool unfinished = s->closed && (s->owed || session_left(s));

	s->closed = false;
	return unfinished ? checkpoint_save(&s->run, err) : 0;
}

int session_begin(struct session *s, struct err *err)
{
	int code = rollback_begin(&s->run, err);

	if (!code)
		code = session_catch_up(s, err);
	if (!code)
		keeper_begin(s);
	if (!code)
		code = amend_begin(s, err);
	if (!code)
		code = open_again(s, err);
	if (!code && s->journal && !run_stopping(&s->run))
		code = session_take_up(s, err);
	/* Nobody adds to a time step of a former stream where a program makes its own. */
	if (!code && s->step.count && !s->config.per_step)
		code = session_end_step(s, err);
	return code;
}

bool session_learns(const struct session *s)
{
	return s->run.learner;
}

int session_flush(struct session *s, struct err *err)
{
	return session_learns(s) ? act(s, err) : session_settle(s, err);
}

/* Iterations that a time step does not need, but has time for. */
static int use_idle_time(struct session *s, struct err *err)
{
	const double start = clock_now();
	const int code = learner_train(s->run.learner, 1, err);

	s->idle_left--;
	s->run.train_seconds += clock_now() - start;
	return code;
}

int session_idle(struct session *s, bool *more, struct err *err)
{
	const int code = s->idle_left ? use_idle_time(s, err) : 0;

	*more = s->idle_left > 0;
	if (!session_learns(s))
		return 0;
	if (!code)
		keeper_look(s);
	return code ? code : run_save_when_due(&s->run, err);
}

int session_finish(struct session *s, struct err *err)
{
	int code = 0;

	if (s->step.count)
		code = session_end_step(s, err);
	if (!code && !s->run.met && s->run.step % s->config.every)
		code = run_evaluate(&s->run, err);
	return code;
}

int session_end(struct session *s, int code, struct run_result *result, struct err *err)
{
	if (!session_learns(s))
		return code;
	s->run.stopped =
		s->run.planned_steps ? s->run.step < s->run.planned_steps : run_stopping(&s->run);
	if (!code)
		return run_finish(&s->run, result, err);
	/* Events before the one that ended it have their answers. */
	session_expect_more(s, false);
	session_settle(s, NULL);
	/* Nothing that was answered is lost either way; but going on is quicker from here. */
	if (s->outside)
		checkpoint_save(&s->run, NULL);
	return code;
}
