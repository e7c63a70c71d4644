/*
 * Handles a label: it joins its waiting input, is already known, or is rejected. If labels may be
 * names, the first stored one decides whether they are.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/words/decimal.h"
#include "session/session_impl.h"

static const float WEIGHT_MOST = 1e6f; /* sums of a batch's stay exact enough */

/* A label in a sentence, by its name if it has one. */
static const char *shown(const struct session *s, const union target *label, const char *name,
	char out[TARGET_SHOWN])
{
	if (name && *name)
		snprintf(out, TARGET_SHOWN, "\"%.100s\"", name);
	else
		target_types[session_target(s)]->show(label, session_width(s), out);
	return out;
}

int session_width(const struct session *s)
{
	return target_width(s->run.config.options);
}

size_t session_guess(const struct session *s)
{
	return target_guess(session_width(s));
}

enum target_kind session_target(const struct session *s)
{
	return target_kind(options_text(s->run.config.options, "model.target"));
}

bool session_target_open(const struct session *s)
{
	return !strcmp(options_text(s->run.config.options, "model.target"), "auto");
}

bool session_labels_whole(const struct session *s)
{
	int64_t number;

	for (int32_t i = 0; i < (int32_t)s->run.names.count; i++) {
		const char *name = class_list_name(&s->run.names, i);

		if (!decimal_whole(name, strlen(name), &number))
			return false;
	}
	return session_target_open(s) && s->learner.classes_most;
}

bool session_labelled(const struct session *s)
{
	return !s->run.classes_most || store_stored(s->run.store) || s->step.count;
}

/* The first class says so, which the journal has from the start. */
bool session_numbers_are_names(const struct session *s)
{
	const char *first = class_list_name(&s->run.names, 0);
	int64_t number;

	return first && decimal_whole(first, strlen(first), &number);
}

bool session_classes_are_numbers(const struct session *s)
{
	return session_labelled(s) && !s->run.names.count;
}

static int check_number(
	const struct session *s, const struct event *event, const char *where, struct err *err)
{
	if (*event->name)
		return err_set(err, ERR_INPUT,
			"%s: label: \"%.100s\" is a name, and model.target = number", where,
			event->name);
	for (int k = 0; k < session_width(s); k++)
		if (!isfinite(event->label[k].number))
			return err_set(err, ERR_INPUT, "%s: label: is not a finite number", where);
	return 0;
}

int session_check_weights(const char *where, const float *weights, int n, struct err *err)
{
	for (int i = 0; i < n; i++)
		if (!(weights[i] >= 0 && weights[i] <= WEIGHT_MOST))
			return err_set(err, ERR_INPUT,
				"%s: weight %g: must be a number from 0 to %g", where,
				(double)weights[i], (double)WEIGHT_MOST);
	return 0;
}

int session_check_label(const struct session *s, const struct event *event, struct err *err)
{
	const bool named = *event->name && !event->negative;
	char class[TARGET_SHOWN], where[EVENT_WHERE];

	event_where(event->place, where);
	if (event->has_weight && session_check_weights(where, &event->weight, 1, err))
		return ERR_INPUT;
	if (event->has_label && session_target(s) == TARGET_NUMBER)
		return check_number(s, event, where, err);
	if (event->has_label && event->negative) {
		if (!session_labelled(s) || session_numbers_are_names(s))
			return 0;
		return err_set(err, ERR_INPUT,
			"%s: label: %s is a number below 0, and the labels before it are %s; send "
			"labels as names, \"%s\"",
			where, event->name, s->run.names.count ? "names" : "numbers", event->name);
	}
	if (!event->has_label || !session_labelled(s) || named == (s->run.names.count > 0))
		return 0;
	return err_set(err, ERR_INPUT, "%s: label: %s is a %s, and the labels before it are %s",
		where, shown(s, event->label, event->name, class), named ? "name" : "number",
		named ? "numbers" : "names");
}

/* Where the time step has this sample; -1: nowhere. */
static int place_in_step(const struct session *s, const char *id)
{
	for (int i = 0; i < s->step.count; i++)
		if (!strcmp(s->step.ids[i], id))
			return i;
	return -1;
}

static int refuse_label(struct session *s, const struct session_label *label,
	const struct journal_found *former, struct err *err)
{
	char before[TARGET_SHOWN], now[TARGET_SHOWN];
	char where[EVENT_WHERE];
	struct err why;

	event_where(label->place, where);
	if (former->place == JOURNAL_UNKNOWN)
		err_set(&why, ERR_INPUT, "%s: no input waits under id %s", where, label->id);
	else
		err_set(&why, ERR_INPUT, "%s: id %s was labelled %s before, not %s", where,
			label->id,
			shown(s, former->label,
				class_list_name(&s->run.names, former->label->class), before),
			shown(s, label->label, label->name, now));
	label->to->owed--;
	return session_refuse(s, label->place, label->id, label->to, ERR_INPUT, &why, err);
}

/* Sent again: the answer to the first got lost, or is still to come. It comes after those before it. */
static int answer_again(struct session *s, const struct session_label *label,
	const union target *target, int64_t sample, struct err *err)
{
	const int code = session_keep_labels(s, err);

	if (code)
		return code;
	session_answer_owed(s, label->to,
		&(struct answer){.kind = ANSWER_SAMPLE,
			.place = label->place,
			.id = label->id,
			.label = target,
			.sample = sample});
	return 0;
}

/* A name that is new becomes a class when its input is known to wait, and not before. */
static int join(struct session *s, const struct session_label *label, struct err *err)
{
	char where[EVENT_WHERE];
	struct err full = {0}, why = {0};
	union target class;
	const int code = *label->name ? run_class(&s->run, label->name, &class.class, &full) : 0;

	if (!code)
		return session_join(s, label, *label->name ? &class : label->label, err);
	err_set(&why, code, "%s: label: %s", event_where(label->place, where), full.message);
	label->to->owed--;
	return session_refuse(s, label->place, label->id, label->to, code, &why, err);
}

int session_act_on_label(struct session *s, const struct session_label *label, struct err *err)
{
	const union target *target = label->label;
	const int width = session_width(s);
	union target class;
	struct journal_found found;
	const int code = journal_find(s->journal, label->id, NULL, &found, err);

	if (code)
		return code;
	if (*label->name) {
		class.class = class_list_find(&s->run.names, label->name);
		target = &class;
	}
	if (found.place == JOURNAL_WAITS)
		return join(s, label, err);
	if (found.place == JOURNAL_TAKEN) {
		const int at = place_in_step(s, label->id);

		memcpy(found.label, s->step.labels + (size_t)at * (size_t)width,
			(size_t)width * sizeof(*found.label));
		found.id = store_count(s->run.store) + at;
	}
	if (found.place == JOURNAL_UNKNOWN ||
		!learner_target(s->run.learner)->same(found.label, target, width))
		return refuse_label(s, label, &found, err);
	return answer_again(s, label, target, found.id, err);
}
