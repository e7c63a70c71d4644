/*
 * What a live stream is answered, as NDJSON:
 *
 *	{"id": 17, "prediction": 3, "probability": 0.8125}  the input is kept
 *	{"id": 17, "label": 4, "sample": 230}               the label is kept; sample 230 is the two
 *	{"id": 18, "prediction": "yes", "probability": 0.5} classes have names, if labels are names
 *	{"line": 92, "error": "line 92: has no id"}         nothing of the line was taken
 *
 * Answers are collected, and sent when what they promise is true.
 */
#ifndef RETAIN_LIVE_ANSWERS_H
#define RETAIN_LIVE_ANSWERS_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

struct answers {
	int descriptor;                    /* -1: somebody else takes the words */
	const volatile sig_atomic_t *stop; /* may be NULL; where set, nobody waits for a reader */
	struct text words;
	int errors; /* that were said */
	int owed;   /* answers of lines that were taken, still to come */
};

void answers_release(struct answers *answers);

/* A class as answers say it. */
struct answers_class {
	int32_t label;    /* -1: none, null */
	const char *name; /* NULL: it has none, and is a number */
};

/* An id as struct live_line has it. A probability that is no number is null. */
void answers_prediction(struct answers *answers, const char *id, struct answers_class prediction,
	double probability);
void answers_sample(
	struct answers *answers, const char *id, struct answers_class label, int64_t sample);
/* The id may be empty. */
void answers_error(struct answers *answers, int64_t number, const char *id, const char *message);

/* Sends everything, waiting for the reader if need be. */
int answers_send(struct answers *answers, struct err *err);

#endif
