/*
 * What a live stream is answered, as NDJSON:
 *
 *	{"id": 17, "prediction": 3, "probability": 0.8125}  the input is kept
 *	{"id": 17, "label": 4, "sample": 230}               the label is kept; sample 230 is the two
 *	{"id": 18, "prediction": "yes", "probability": 0.5} classes have names, if labels are names
 *	{"line": 92, "error": "line 92: has no id"}         nothing of the line was taken
 *	{"id": 19, "prediction": 3, "probability": 0.75, "top": [{"prediction": 3, "probability": 0.75}, …]}
 *
 * Answers are collected, and sent when what they promise is true.
 */
#ifndef RETAIN_LIVE_ANSWERS_H
#define RETAIN_LIVE_ANSWERS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json_write.h"
#include "base/text.h"
#include "session/event.h"

struct answers {
	struct sender sender;              /* must be first */
	int descriptor;                    /* -1: somebody else takes the words */
	const volatile sig_atomic_t *stop; /* may be NULL; where set, nobody waits for a reader */
	struct text words;
	int errors; /* that were said */
};

/* Ready for a session; a zeroed one otherwise. */
void answers_init(struct answers *answers, int descriptor);
void answers_release(struct answers *answers);

/* Adds an answer of a session to the words: the sender's function. */
void answers_say(struct sender *answers, const struct answer *answer);

/* A class as answers say it. */
struct answers_class {
	int32_t label;    /* -1: none, null */
	const char *name; /* NULL: it has none, and is a number */
};

/* Logits of an input, of which the most probable classes are wanted. */
struct answers_top {
	const float *logits;
	int classes, count; /* count: how many are wanted; 0: none */
	const char *(*name)(const void *context, int32_t label); /* as in struct answers_class */
	const void *context;
};

/* The members of a prediction. A probability that is no number is null. */
void answers_add(struct jwriter *line, struct answers_class prediction, double probability,
	const struct answers_top *top);

/* Sends everything, waiting for the reader if need be. */
int answers_send(struct answers *answers, struct err *err);

#endif
