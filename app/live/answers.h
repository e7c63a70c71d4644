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

/* What a sender wishes to know of an input: now or ever, and how many classes. */
enum answers_for { ANSWERS_ANY, ANSWERS_NOW, ANSWERS_EVER };
enum { ANSWERS_TOP = 100 }; /* the most classes of an answer */
struct answers_wish {
	enum answers_for question;
	int top; /* so many of the most probable classes; 0: not said */
};

/* What it says in words: ERR_INPUT, with a sentence that begins with the name. */
int answers_wish_for(struct answers_wish *wish, const char *words, struct err *err);
int answers_wish_top(struct answers_wish *wish, int64_t top, struct err *err);
/* What one does not say is as the other says. */
struct answers_wish answers_wish_or(struct answers_wish wish, struct answers_wish otherwise);

struct answers {
	int descriptor;                    /* -1: somebody else takes the words */
	const volatile sig_atomic_t *stop; /* may be NULL; where set, nobody waits for a reader */
	struct text words;
	struct answers_wish wish; /* of all inputs that say nothing else */
	int errors;               /* that were said */
	int owed;                 /* answers of lines that were taken, still to come */
};

void answers_release(struct answers *answers);

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

/* An id as struct live_line has it; `top` may be NULL. */
void answers_prediction(struct answers *answers, const char *id, struct answers_class prediction,
	double probability, const struct answers_top *top);
void answers_sample(
	struct answers *answers, const char *id, struct answers_class label, int64_t sample);
/* The id may be empty. */
void answers_error(struct answers *answers, int64_t number, const char *id, const char *message);

/* Sends everything, waiting for the reader if need be. */
int answers_send(struct answers *answers, struct err *err);

#endif
