/*
 * Drift alarms: whether errors have become significantly more frequent. A detector gets every
 * labelled prediction in order, right or wrong, and raises an alarm when errors have become more
 * frequent. Improvement is not an alarm. Detectors are rows of a table:
 *
 *	adwin         a window that is cut where its older and newer parts differ
 *	page-hinkley  the sum of the errors' excess over their mean
 *	none
 *
 * Both see only the errors. A change that costs no accuracy, or is slow enough for the learner to
 * follow, raises no alarm.
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

/* The error rate before and after the change. */
struct alarm_change {
	double before, after;
};

int alarm_new(struct alarm **alarm, const char *kind, struct err *err);
void alarm_free(struct alarm *alarm);

/* Adds a prediction. True: it raised the alarm, and *change says why. Allocates nothing. */
bool alarm_add(struct alarm *alarm, bool wrong, struct alarm_change *change);

/* Whether there is a detector, and the number of alarms so far. */
bool alarm_armed(const struct alarm *alarm);
int64_t alarm_count(const struct alarm *alarm);

void alarm_state(struct alarm *alarm, struct state *state);

#endif
