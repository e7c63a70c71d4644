/*
 * What becomes of a label: it joins the input that waits for it, is known already, or is
 * refused. Where labels may be names, the first that is kept says whether they are.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "live/live_impl.h"

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

bool live_labelled(const struct live *live)
{
	return !live->shape.grows || store_stored(live->run.store) || live->step_count;
}

/* The first class says so, which the journal has from the start. */
bool live_numbers_are_names(const struct live *live)
{
	const char *first = class_list_name(&live->run.names, 0);
	int64_t number;

	return first && *first == '-' && decimal_whole(first, strlen(first), &number);
}

int live_check_label(
	const struct live *live, const struct live_line *line, const char *where, struct err *err)
{
	const bool named = *line->name && !line->negative;
	char class[CLASS_SHOWN];

	if (line->has_label && line->negative) {
		if (!live_labelled(live) || live->shape.as_names)
			return 0;
		return err_set(err, ERR_INPUT,
			"%s: label: %s is a number below 0, and the labels before it are %s; send "
			"labels as names, \"%s\"",
			where, line->name, live->run.names.count ? "names" : "numbers", line->name);
	}
	if (!line->has_label || !live_labelled(live) || named == (live->run.names.count > 0))
		return 0;
	return err_set(err, ERR_INPUT, "%s: label: %s is a %s, and the labels before it are %s",
		where, shown(line->label, line->name, class), named ? "name" : "number",
		named ? "numbers" : "names");
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
	struct live *live, const struct live_label *label, int32_t former, struct err *err)
{
	char before[CLASS_SHOWN], now[CLASS_SHOWN];
	char where[LIVE_WHERE];
	struct err why;

	live_where(label->place, where);
	if (former < 0)
		err_set(&why, ERR_INPUT, "%s: no input waits under id %s", where, label->id);
	else
		err_set(&why, ERR_INPUT, "%s: id %s was labelled %s before, not %s", where,
			label->id, shown(former, live_class(live, former).name, before),
			shown(label->label, label->name, now));
	label->to->owed--;
	return live_refuse(live, label->place.line, label->id, label->to, &why, err);
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
	char where[LIVE_WHERE];
	struct err full = {0}, why = {0};
	int32_t class = label->label;
	const int code = *label->name ? run_class(&live->run, label->name, &class, &full) : 0;

	if (!code)
		return live_join(live, label, class, err);
	err_set(&why, code, "%s: label: %s", live_where(label->place, where), full.message);
	label->to->owed--;
	return live_refuse_if_bad(live, label->place.line, label->id, label->to, code, &why, err);
}

int live_act_on_label(struct live *live, const struct live_label *label, struct err *err)
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
