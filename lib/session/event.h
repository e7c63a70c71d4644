/*
 * What goes into a session and what comes out of it. An event is decoded: an input, the label of
 * an input that came before, or both. Whoever makes events of lines, requests or calls knows
 * text; nothing from here on does. Answers are values, handed to the event's sender.
 */
#ifndef RETAIN_SESSION_EVENT_H
#define RETAIN_SESSION_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "session/class_list.h"
#include "store/journal.h"

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
/* Where the first says nothing, the second does. */
struct answers_wish answers_wish_or(struct answers_wish wish, struct answers_wish otherwise);
/* The model of a learner that the question is for. */
int answers_wish_model(struct answers_wish wish);

/* Where an event came from: a line, or an object of a line that is a list. */
struct event_place {
	int64_t line;
	int object; /* from 1; 0: the line is one */
};

/* "line 17", "line 17: object 2" */
#define EVENT_WHERE 64
const char *event_where(struct event_place place, char out[EVENT_WHERE]);

struct event {
	char id[JOURNAL_KEY + 1]; /* as JSON: 17 or "a" with its quotes */
	bool has_input, has_label;
	int32_t label;
	char name[CLASS_NAME + 1]; /* of the label's class; empty: the label is a number */
	bool negative;             /* the name is that of a number below 0, not a text */
	struct answers_wish wish;
	struct event_place place;
	const float *input; /* where has_input; session_room, or anywhere */
	size_t learned;     /* the schema's mark before the input was made, by session_decode */
};

enum answer_kind {
	ANSWER_PREDICTION, /* the input is kept */
	ANSWER_SAMPLE,     /* the label is kept, with its input */
	ANSWER_ERROR,      /* nothing of the event was taken */
};

/* Everything it points to lives as long as the call that brings it. */
struct answer {
	enum answer_kind kind;
	struct event_place place;
	const char *id; /* empty: not known, which only errors are */
	const struct class_list *names;
	int32_t label;      /* predicted, or the sample's; -1: there is no class yet */
	double probability; /* of the prediction; NAN: not known */
	/* The prediction's logits, and how many classes are wanted; NULL: it was made before. */
	const float *logits;
	int classes, top;
	int64_t sample;  /* the number of the sample */
	const char *why; /* of an error: a sentence that begins with the place */
};

/* Who sends events, and is answered. Its owner's object begins with it. */
struct sender {
	void (*answer)(struct sender *sender, const struct answer *answer);
	struct answers_wish wish; /* of all inputs that say nothing else */
	int owed;                 /* answers of events that were taken, still to come */
};

#endif
