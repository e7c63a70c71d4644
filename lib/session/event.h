/*
 * Inputs and outputs of a session. An event is already decoded: an input, the label of an earlier
 * input, or both. Only the adapters that make events from lines, requests or calls handle text.
 * Answers are values, handed to the event's sender.
 */
#ifndef RETAIN_SESSION_EVENT_H
#define RETAIN_SESSION_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "session/run/class_list.h"
#include "store/journal.h"

/* A sender's query options: now or ever, and how many classes to return. */
enum answers_for { ANSWERS_ANY, ANSWERS_NOW, ANSWERS_EVER };
enum { ANSWERS_TOP = 100 }; /* the most classes of an answer */
struct answers_wish {
	enum answers_for question;
	int top; /* return the most probable classes; 0: unset */
};

/* Parse an option: ERR_INPUT, with a message that begins with the option's name. */
int answers_wish_for(struct answers_wish *wish, const char *words, struct err *err);
int answers_wish_top(struct answers_wish *wish, int64_t top, struct err *err);
/* `wish`, with unset fields taken from `otherwise`. */
struct answers_wish answers_wish_or(struct answers_wish wish, struct answers_wish otherwise);
/* The learner's model that answers the question. */
int answers_wish_model(struct answers_wish wish);

/* Where an event came from: a line, or an object of a line that holds a list. */
struct event_place {
	int64_t line;
	int object; /* from 1; 0: the line holds one object */
};

/* "line 17", "line 17: object 2" */
#define EVENT_WHERE 64
const char *event_where(struct event_place place, char out[EVENT_WHERE]);

struct event {
	char id[JOURNAL_KEY + 1]; /* as JSON: 17 or "a" with its quotes */
	bool has_input, has_label;
	union target label[TARGET_WIDTH];
	bool has_weight;
	float weight;              /* of the label's sample; without one it is 1 */
	char name[CLASS_NAME + 1]; /* of the label's class; empty: the label says it itself */
	bool negative;             /* the name is a negative number, not text */
	bool fraction; /* the label is a number with one, where targets may be numbers */
	struct answers_wish wish;
	int64_t when; /* the input's time, in milliseconds since 1970; 0: when it arrives */
	struct event_place place;
	const float *input; /* if has_input; session_room, or anywhere */
	size_t learned;     /* the schema's mark before decoding, from session_decode */
};

/* The samples of a time step, with the guesses made for them (target/target.h). */
struct session_samples {
	const float *inputs;
	const union target *labels, *guesses;
	const float *weights; /* NULL: all 1 */
	int n;
};

enum answer_kind {
	ANSWER_PREDICTION, /* the input is stored */
	ANSWER_SAMPLE,     /* the label is stored, with its input */
	ANSWER_ERROR,      /* the event was rejected entirely */
};

/* All pointers are valid only during the callback. */
struct answer {
	enum answer_kind kind;
	struct event_place place;
	const char *id; /* empty: unknown, for errors only */
	const struct class_list *names;
	/*
	 * The label of a sample, or the guess of a prediction: its first cell is the class, or it
	 * has NUMBER_OUTPUTS for each number. TARGET_NONE: nothing is known yet.
	 */
	const union target *label;
	double probability;      /* of a predicted class; NAN: unknown */
	enum target_kind target; /* what they are */
	int width;
	const char *numbers; /* their names (target/target.h) */
	/* The prediction's logits, and how many classes to return; NULL: it was made earlier. */
	const float *logits;
	int classes, top;
	int64_t sample;  /* the number of the sample */
	const char *why; /* of an error: a sentence that begins with the place */
};

/* A source of events and receiver of answers. Embed it as the first member. */
struct sender {
	void (*answer)(struct sender *sender, const struct answer *answer);
	struct answers_wish wish; /* default for its inputs */
	int owed;                 /* answers still to come for accepted events */
};

#endif
