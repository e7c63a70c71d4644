/*
 * A session is a learner in a folder that learns from events: an input first, its label
 * whenever it is known. Samples exist nowhere else, so they are kept in the folder's journal.
 *
 * An input is answered by its prediction once it is on disk; a label by the number of the sample
 * that the two make, once it is on disk beside its input or as that sample. What was answered
 * survives whatever happens to the process; what was not may be sent again, and counts once.
 *
 * Events count in their order: an input is predicted by the model that has learned from all time
 * steps which events before it completed, however events are gathered for one sync. So with a
 * fixed budget answers and weights follow from the events alone, and a session that was killed
 * comes to the same bits as one that was not. An event that is refused changes nothing.
 *
 *	session_init        options, and the folder's schema
 *	session_find_shape  what inputs are, as the options or the folder say
 *	session_set_shape   ... or as the first input does
 *	session_make        the learner, on the folder's journal
 *	session_begin       brings the learner to where the journal is
 *	session_take        takes an event; answers come now or by a later call
 *	session_flush       acts on all events that were taken, in their order
 *	session_idle        what is due between events: an iteration that there is time for, a
 *	                    checkpoint
 *	session_finish      the stream has ended: a time step that is not full, a last row
 *	session_end         saves
 *	session_release
 *
 * One thread makes all of these calls. An owner's object may begin with a session.
 */
#ifndef RETAIN_SESSION_SESSION_H
#define RETAIN_SESSION_SESSION_H

#include <pthread.h>

#include "session/event.h"
#include "session/run.h"
#include "store/journal.h"

/* So many inputs are predicted and synced together at most. */
enum { SESSION_GROUP = 256, SESSION_SEEN = 1 << 13 };

/*
 * Events are gathered and paced by the session: per_step labels make a time step, which is
 * trained on at once. A program that plays the protocol itself leaves per_step 0, and calls
 * session_reveal and session_train.
 */
struct session_config {
	struct answers_wish wish;  /* where neither event nor sender says anything */
	bool strict;               /* a bad event ends the session */
	int per_step;              /* labelled samples of a time step */
	int iterations, idle_most; /* of a time step; beyond them, if there is time */
	int64_t waiting, remember; /* bounds of the journal: inputs that wait, ids that are known */
	int64_t every;             /* time steps from a row of metrics to the next */
	bool unmarked_paced;       /* calls in the journal without a mark are of lines */
};

/* Functions may be NULL. */
struct session_watch {
	/* All answers so far hold. An error ends the session. */
	int (*settled)(void *context, struct err *err);
	/*
	 * Called while a time step is trained on, after each iteration: inputs may be taken and
	 * flushed there, no labels.
	 */
	void (*between)(void *context);
	/* Inputs are about to be kept, up to the one of this id: the time to note things. */
	int (*keeping)(void *context, const char *last_id, struct err *err);
	/* Called between the iterations that a session repeats. An error stops it. */
	int (*repeating)(void *context, struct err *err);
	void *context;
};

struct session_label {
	struct sender *to;
	struct event_place place;
	char id[JOURNAL_KEY + 1];
	int32_t label;
	char name[CLASS_NAME + 1]; /* empty: the label is a number */
};

/* Events that were taken and not acted on: inputs, then labels, of these or of earlier inputs. */
struct session_group {
	char (*ids)[JOURNAL_KEY + 1];
	const char **keys; /* point to ids */
	struct sender **to;
	struct event_place *places;
	struct answers_wish *wishes; /* all is said */
	float *inputs;
	int32_t *guesses;
	double *probabilities;  /* of the first guesses */
	int inputs_count, most; /* most: that are gathered */
	struct session_label *labels;
	int labels_count;
	bool seen[SESSION_SEEN]; /* by an id's checksum: false where the id is not in the group */
};

/* The time step that is not complete, and room to score it. */
struct session_step {
	int64_t *samples;
	float *inputs;
	int32_t *labels, *predicted, *rank;
	char (*ids)[JOURNAL_KEY + 1];
	struct sender **to;
	struct event_place *places;
	int32_t *guesses;
	int room;        /* for so many samples */
	int count, kept; /* of the latter labels are on disk, and answered */
};

struct session {
	struct run run; /* must be first */
	struct session_config config;
	struct session_watch watch;
	struct learner_config learner; /* without channels: what inputs are is not known */
	pthread_mutex_t naming;        /* held while the schema learns, for readers elsewhere */
	struct journal *journal;       /* the store's */
	int64_t lines, bad;            /* events ever, and those that were refused */
	int idle_left;
	struct session_group group;
	float *logits;      /* of a group */
	int logits_classes; /* ... for so many classes */
	float *pending;     /* two inputs that wait for their group: one came in training */
	bool training;      /* the watch's `between` is called */
	struct session_step step;
	bool more;      /* events are at hand */
	double settled; /* when what was kept was synced last */
	bool outside;   /* a failure was the world's, not ours: the learner is well */
	/* Of a program's calls. */
	double epochs; /* run.step_epochs, in iterations for a sample; 0: off */
	double credit; /* what is left of them, in iterations */
	int64_t left;  /* iterations that were ordered and not made, if there is no budget */
	bool owed;     /* since the last call nobody asked for the budget's iterations */
	bool closed;   /* it was closed, and owes nothing */
	bool former;   /* credit and left are of a checkpoint before version 8 */
	int64_t backs; /* how often it went back to a checkpoint */
};

/* How a run that a session drives is saved. */
extern const struct run_driver session_driver;

/* The session is its owner's storage, zeroed; session_release ends it in any case. */
int session_init(struct session *session, const struct run_config *run,
	const struct session_config *config, struct err *err);
void session_release(struct session *session);

/* After it learner.channels is 0 if nobody has said what inputs are. */
int session_find_shape(struct session *session, struct err *err);

/*
 * The first input has so many numbers, or is a row of this schema (NULL: of none), which the
 * session takes. ERR_INPUT if no learner of such inputs can be made: then nothing is taken.
 */
int session_set_shape(
	struct session *session, size_t floats, struct schema *schema, struct err *err);
int session_make(struct session *session, struct err *err);
bool session_learns(const struct session *session); /* there is a learner */

int session_begin(struct session *session, struct err *err);

/*
 * Where the next input may be written before it is taken, so that it need not be copied. To
 * learn from a row and encode it the schema is locked: session_decode, then session_decoded
 * with the code that came of it, which takes back what was learned if that is not 0.
 */
float *session_room(const struct session *session);
size_t session_decode(struct session *session);
void session_decoded(struct session *session, size_t learned, int code);

/*
 * Where the first class has a number for a name, as one below 0 or any number that a program
 * named, all numbers are names.
 */
bool session_numbers_are_names(const struct session *session);

int session_take(
	struct session *session, const struct event *event, struct sender *to, struct err *err);
int session_flush(struct session *session, struct err *err);
int session_idle(struct session *session, bool *more, struct err *err);
int session_finish(struct session *session, struct err *err);
int session_end(struct session *session, int code, struct run_result *result, struct err *err);

/*
 * For a program that plays the protocol itself. A time step with the guesses that were made for it
 * (eval/guess.h); a failure takes nothing. With its samples the journal keeps where the learner
 * stood, so that after a crash a learner goes from its checkpoint to the last call by the same
 * iterations between the same calls. What was trained after the last call is not recorded: the
 * budget is assumed, and what is missing of it is made.
 */
int session_reveal(struct session *session, const float *inputs, const int32_t *labels,
	const int32_t *guesses, int n, struct err *err);

/*
 * What a time step's budget pays for is to be made from now on. session_left: how many iterations
 * that is; with run.budget, at least so many.
 */
void session_order(struct session *session);
int64_t session_left(const struct session *session);

/*
 * Makes an iteration, one of session_left where it was ordered. Saves when that is due. *back is
 * true if the session was rolled back to a checkpoint and caught up instead (run.on_nan).
 */
int session_train(struct session *session, bool ordered, bool *back, struct err *err);

/*
 * Answers an event that cannot be used: by a sentence that begins with its place. Only ERR_INPUT
 * and ERR_FORMAT are the event's fault; any other code ends the session.
 */
int session_refuse(struct session *session, struct event_place place, const char *id,
	struct sender *to, int code, const struct err *why, struct err *err);

/* Whether events are at hand that will be taken next: then answers and syncs may wait for them. */
void session_expect_more(struct session *session, bool more);

/* Syncs what was kept and says that the answers so far hold, unless that is to wait. */
int session_settle(struct session *session, struct err *err);

#endif
