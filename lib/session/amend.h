/*
 * Corrects or forgets samples of a folder after the fact. A wish is a JSON object:
 *
 *	{"deed": "correct", "ids": ["17"], "label": "no", "retrain": false}
 *	{"deed": "forget", "ids": ["17", "\"a\"", "#230"], "retrain": true}
 *
 * Ids are JSON, as the journal has them (17, or "a" with its quotes); a word that is not found is
 * tried with quotes. "word" is a single id, in place of "ids", and "id": 17 one as a client has
 * it. #230 is sample number 230, whatever its id.
 *
 * Correcting gives the latest sample of an id another label, which replay uses from then on.
 * Forgetting removes all samples of the ids, and inputs that wait under them, from the journal's
 * file, the parts beside the net, the folder's checkpoints, and versions made since. The net's
 * weights stay, unless `retrain` asks to learn everything again at the next start.
 *
 * A wish is granted as a whole or not at all, even if the process is killed: a note in the journal
 * says what is left to do, and the next start does it. Everything is on disk on return.
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

/* Call once a session has its journal but no state yet; and once it has caught up. */
int amend_open(struct session *session, struct err *err);
int amend_begin(struct session *session, struct err *err);

/*
 * For other processes: writes a wish to FOLDER/amend.wish, which the process that works there
 * answers in FOLDER/amend.said. amend_ask waits for that.
 */
void amend_look(struct session *session);
int amend_ask(const char *folder, const char *wish, double seconds, struct amended *amended,
	struct err *err);

#endif
