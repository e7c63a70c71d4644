/* Parses query options, and formats places for messages. */
#include "session/event.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "learn/learner.h"

int answers_wish_for(struct answers_wish *wish, const char *words, struct err *err)
{
	if (!words || (strcmp(words, "now") != 0 && strcmp(words, "ever") != 0))
		return err_set(err, ERR_INPUT, "for: must be now or ever");
	wish->question = strcmp(words, "now") ? ANSWERS_EVER : ANSWERS_NOW;
	return 0;
}

int answers_wish_top(struct answers_wish *wish, int64_t top, struct err *err)
{
	if (top < 1 || top > ANSWERS_TOP)
		return err_set(
			err, ERR_INPUT, "top: must be a whole number from 1 to %d", ANSWERS_TOP);
	wish->top = (int)top;
	return 0;
}

struct answers_wish answers_wish_or(struct answers_wish wish, struct answers_wish otherwise)
{
	return (struct answers_wish){wish.question ? wish.question : otherwise.question,
		wish.top ? wish.top : otherwise.top};
}

int answers_wish_model(struct answers_wish wish)
{
	return wish.question == ANSWERS_EVER ? LEARNER_EVER : LEARNER_NOW;
}

const char *event_where(struct event_place place, char out[EVENT_WHERE])
{
	if (place.object)
		snprintf(out, EVENT_WHERE, "line %" PRId64 ": object %d", place.line, place.object);
	else
		snprintf(out, EVENT_WHERE, "line %" PRId64, place.line);
	return out;
}
