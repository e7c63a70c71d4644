/* What a detector is made of. For alarm.c and the files of the kinds. */
#ifndef RETAIN_EVAL_ALARM_TYPE_H
#define RETAIN_EVAL_ALARM_TYPE_H

#include <stddef.h>

#include "eval/alarm.h"

struct alarm_type {
	const char *name, *help;
	size_t size; /* of its own memory, which begins zeroed */

	/*
	 * One more prediction. True: errors are not as frequent as they were, be it more or
	 * less, and the detector has begun to learn how frequent they are now. Errors come in
	 * bursts: so many of them (1 or more) tell as much as one that comes by itself would.
	 */
	bool (*add)(void *memory, bool wrong, double bursts, struct alarm_change *change);
	/* Refuses what would make `add` go wrong. */
	void (*state)(void *memory, struct state *state);
};

extern const struct alarm_type alarm_none, alarm_adwin, alarm_page_hinkley;

#endif
