/*
 * Answers to a live stream, as NDJSON:
 *
 *	{"id": 17, "prediction": 3, "probability": 0.8125}  the input is stored
 *	{"id": 17, "label": 4, "sample": 230}               the label is stored; they are sample 230
 *	{"id": 18, "prediction": "yes", "probability": 0.5} classes have names, if labels are names
 *	{"line": 92, "error": "line 92: has no id"}         the line was rejected entirely
 *	{"id": 20, "prediction": 812.4, "low": 640, "high": 990.5}  labels are numbers
 *	{"id": 21, "prediction": [812.4, 3], "low": [640, 1], "high": [990.5, 4]}  several at once
 *	{"id": 19, "prediction": 3, "probability": 0.75, "top": [{"prediction": 3, "probability": 0.75}, …]}
 *
 * Answers are buffered, and sent once what they promise is durable.
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
	int descriptor;                    /* -1: the owner takes the words */
	const volatile sig_atomic_t *stop; /* may be NULL; if set, do not wait for a reader */
	struct text words;
	int errors; /* number of error answers */
};

/* Initialises it for a session; otherwise a zeroed one will do. */
void answers_init(struct answers *answers, int descriptor);
void answers_release(struct answers *answers);

/* The sender's callback: appends a session's answer to the words. */
void answers_say(struct sender *answers, const struct answer *answer);

/* A class in an answer. */
struct answers_class {
	int32_t label;    /* -1: none, written as null */
	const char *name; /* NULL: unnamed, written as a number */
};

/* Logits of an input whose most probable classes are requested. */
struct answers_top {
	const float *logits;
	int classes, count; /* count: classes to return; 0: none */
	const char *(*name)(const void *context, int32_t label); /* as in struct answers_class */
	const void *context;
};

/* Writes the members of a prediction. A NaN probability becomes null. */
void answers_add(struct jwriter *line, struct answers_class prediction, double probability,
	const struct answers_top *top);

/*
 * Writes those of numbers, NUMBER_OUTPUTS for each; NaNs become null, as do all without an answer
 * (NULL). Several are lists or, with names (target/target.h), objects.
 */
void answers_add_numbers(struct jwriter *line, const float *answer, int width, const char *names);

/* Writes the label of a sample. */
void answers_add_label(struct jwriter *line, const union target *label, enum target_kind target,
	int width, const char *numbers, const struct class_list *names);

/* Sends everything, waiting for the reader if necessary. */
int answers_send(struct answers *answers, struct err *err);

#endif
