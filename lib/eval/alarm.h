/*
 * Drift alarms: whether errors have become more frequent, by more than chance does.
 * A detector hears of every prediction whose label came, in the order of time, whether
 * it was wrong, and calls when wrong ones have become more frequent than they were. What
 * a learner gets better at is no alarm. Detectors are rows of a table:
 *
 *	adwin         a window that is cut where its older and newer parts differ
 *	page-hinkley  the sum of what errors exceed their mean by
 *	none
 *
 * Both look at nothing but the errors. A change that costs no accuracy, or one that
 * comes so slowly that the learner follows, calls no alarm.
 */
#ifndef RETAIN_EVAL_ALARM_H
#define RETAIN_EVAL_ALARM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/state.h"

struct alarm;

extern const struct alarm_type *const alarm_types[]; /* ends with NULL */
const char *alarm_type_name(const struct alarm_type *type);
const char *alarm_type_help(const struct alarm_type *type);

extern const struct option_row alarm_options[]; /* eval.alarm */

/* What a detector saw: the share of errors, before and since. */
struct alarm_change {
	double before, after;
};

int alarm_new(struct alarm **alarm, const char *kind, struct err *err);
void alarm_free(struct alarm *alarm);

/* One more prediction. True: it raised the alarm, and *change says why. Allocates nothing. */
bool alarm_add(struct alarm *alarm, bool wrong, struct alarm_change *change);

/* Whether there is a detector, and how often it called so far. */
bool alarm_armed(const struct alarm *alarm);
int64_t alarm_count(const struct alarm *alarm);

void alarm_state(struct alarm *alarm, struct state *state);

#endif
