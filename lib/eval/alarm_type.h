/* The row of a detector. For alarm.c and the files of the kinds. */
#ifndef RETAIN_EVAL_ALARM_TYPE_H
#define RETAIN_EVAL_ALARM_TYPE_H

#include <stddef.h>

#include "eval/alarm.h"

struct alarm_type {
	const char *name, *help;
	size_t size; /* of its own memory, initially zeroed */

	/*
	 * Adds a prediction. True: the error rate has changed, up or down, and the detector has
	 * started to learn the new one. Errors come in bursts: `bursts` of them (1 or more) carry
	 * as much evidence as one isolated error.
	 */
	bool (*add)(void *memory, bool wrong, double bursts, struct alarm_change *change);
	/* Rejects a state that would break `add`. */
	void (*state)(void *memory, struct state *state);
};

extern const struct alarm_type alarm_none, alarm_adwin, alarm_page_hinkley;

#endif
