/*
 * Changes of what a folder remembers, after the fact. A wish is a JSON object:
 *
 *	{"deed": "correct", "ids": ["17"], "label": "no", "retrain": false}
 *	{"deed": "forget", "ids": ["17", "\"a\"", "#230"], "retrain": true}
 *
 * An id is as the journal has it, JSON (17 or "a" with its quotes); a word without quotes that is
 * not found is looked for with quotes. In the place of "ids", "word" is
 * one, and "id": 17 one as a client has it. #230 is the sample of that number, whatever its id.
 *
 * Correcting gives the latest sample of an id another label, which later replay draws. Forgetting
 * removes all samples of the ids, and inputs that wait under them, from the journal's file, the
 * memories of what answers beside the net, the folder's checkpoints, and versions made since. The
 * net's weights stay, unless `retrain` asks for learning everything again, from the first sample
 * on, at the next start.
 *
 * A wish is granted as a whole or not at all, whenever the process is killed: a journal's note says
 * what is left to be done, and the next start does it. All is on disk when it returns.
 */
#ifndef RETAIN_SESSION_AMEND_H
#define RETAIN_SESSION_AMEND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct jvalue;
struct jwriter;
struct session;

struct amended {
	int64_t samples, waiting; /* corrected or forgotten: samples, inputs without a label */
	int64_t versions;         /* dropped */
	bool retrain;             /* at the next start */
	bool program;             /* ... which must be one of the program whose samples these are */
};

/* ERR_INPUT: the wish cannot be granted; ERR_STATE: not now. Nothing has changed then. */
int amend(struct session *session, const struct jvalue *wish, struct amended *amended,
	struct err *err);
void amend_say(const struct amended *amended, struct jwriter *json); /* as fields of a table */

/* When a session has its journal and before it has a state; when it has caught up. */
int amend_open(struct session *session, struct err *err);
int amend_begin(struct session *session, struct err *err);

/*
 * For other processes: a wish in FOLDER/amend.wish, which the process that works there looks for
 * and answers in FOLDER/amend.said. amend_ask waits for it.
 */
void amend_look(struct session *session);
int amend_ask(const char *folder, const char *wish, double seconds, struct amended *amended,
	struct err *err);

#endif
