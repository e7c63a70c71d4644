/*
 * A session is a learner in a folder that learns from events: an input first, its label whenever
 * it is known. Samples exist nowhere else, so they are kept in the folder's journal.
 *
 * An input is answered with its prediction once it is on disk. A label is answered with the
 * number of its sample once it is on disk, beside its input or as that sample. Whatever was
 * answered survives a crash; anything else may be sent again, and counts once.
 *
 * Events count in order: an input is predicted by the model that has learned from all time steps
 * completed by earlier events, however events are batched for one sync. So with a fixed budget
 * answers and weights follow from the events alone, and a session that was killed comes to the
 * same bits as one that was not. A rejected event changes nothing.
 *
 *	session_init        options, and the folder's schema
 *	session_find_shape  input shape from the options or the folder
 *	session_set_shape   ... or from the first input
 *	session_make        the learner, on the folder's journal
 *	session_begin       brings the learner up to date with the journal
 *	session_take        takes an event; answers come now or by a later call
 *	session_flush       processes all events taken so far, in order
 *	session_idle        work between events: a spare-time iteration, a checkpoint
 *	session_finish      end of the stream: an incomplete time step, a last row
 *	session_end         saves
 *	session_release
 *
 * Call all of these from one thread. An owner's object may begin with a session.
 */
#ifndef RETAIN_SESSION_SESSION_H
#define RETAIN_SESSION_SESSION_H

#include <pthread.h>

#include "session/event.h"
#include "session/run/run.h"
#include "session/versions/keeper.h"
#include "session/versions/shadows.h"
#include "session/waiting.h"
#include "store/journal.h"

/* The most inputs predicted and synced together. */
enum { SESSION_GROUP = 256, SESSION_SEEN = 1 << 13 };

/*
 * The session batches and paces events: per_step labels make a time step, which is trained on at
 * once. Owners that make the time steps themselves set per_step to 0. A program calls
 * session_reveal and session_train. An adapter whose samples are stored elsewhere sets run.store,
 * calls session_learn, and has callbacks in `driver`.
 */
struct session_config {
	struct answers_wish wish;        /* default, if neither event nor sender sets it */
	bool strict;                     /* a bad event ends the session */
	int per_step;                    /* labelled samples of a time step */
	int iterations, idle_most;       /* per time step; extra, if there is time */
	int64_t waiting, remember;       /* limits of the journal: waiting inputs, remembered ids */
	int64_t every;                   /* time steps between rows of metrics */
	bool unmarked_paced;             /* journal calls without a mark came from lines */
	const char *shadow;              /* serve.shadow; NULL: none */
	const struct run_driver *driver; /* NULL: the session's own */
	int rows; /* rows of metrics to keep; 0: as many as an endless session does */
};

/* Callbacks; each may be NULL. */
struct session_watch {
	/* All answers so far are durable. An error ends the session. */
	int (*settled)(void *context, struct err *err);
	/*
	 * Called after each iteration while a time step is trained on. It may take and flush
	 * inputs, but no labels.
	 */
	void (*between)(void *context);
	/*
	 * Called before inputs are stored, up to the one with this id: the place to write notes.
	 */
	int (*keeping)(void *context, const char *last_id, struct err *err);
	/* Called between iterations while a session catches up. An error stops it. */
	int (*repeating)(void *context, struct err *err);
	void *context;
};

struct session_label {
	struct sender *to;
	struct event_place place;
	char id[JOURNAL_KEY + 1];
	union target label[TARGET_WIDTH];
	float weight;
	char name[CLASS_NAME + 1]; /* as in struct event */
};

/* Events taken but not yet processed: inputs, then labels of these or of earlier inputs. */
struct session_group {
	char (*ids)[JOURNAL_KEY + 1];
	const char **keys; /* point to ids */
	struct sender **to;
	struct event_place *places;
	struct answers_wish *wishes; /* with all fields set */
	int64_t *whens;              /* as in struct event */
	float *inputs;
	union target *guesses;
	double *sureness;       /* of the guesses, as the journal keeps it */
	int inputs_count, most; /* most: the largest group */
	struct session_label *labels;
	int labels_count;
	bool seen[SESSION_SEEN]; /* by an id's checksum; false: the id is not in the group */
};

/* The incomplete time step, and room to score it. */
struct session_step {
	int64_t *samples;
	float *inputs;
	union target *labels;
	float *weights;
	char (*ids)[JOURNAL_KEY + 1];
	struct sender **to;
	struct event_place *places;
	union target *guesses;
	int room;        /* capacity in samples */
	int count, kept; /* kept: labels on disk and answered */
};

struct session {
	struct run run; /* must be first */
	struct session_config config;
	struct session_watch watch;
	struct learner_config learner; /* channels is 0 until the input shape is known */
	pthread_mutex_t naming;  /* held while the schema learns, for readers on other threads */
	struct journal *journal; /* the store's */
	int64_t lines, bad;      /* all events so far, and the rejected ones */
	int idle_left;
	struct session_group group;
	float *logits;      /* of a group */
	int logits_classes; /* ... and their class count */
	float *pending;     /* two inputs not yet in the group: one may arrive during training */
	bool training;      /* the watch's `between` is running */
	struct session_step step;
	bool more;            /* more events are at hand */
	struct keeper keeper; /* of versions */
	struct shadows shadows;
	double settled; /* time of the last sync */
	bool outside;   /* the failure was external: the learner is intact */
	/* For a program's own calls. */
	struct waiting waiting; /* observed time steps without labels */
	double epochs;          /* run.step_epochs, in iterations per sample; 0: off */
	double credit;          /* unused allowance, in iterations */
	int64_t left;           /* iterations ordered and not yet made, without a budget */
	bool owed;              /* the budget's iterations were not asked for since the last call */
	bool closed;            /* it was closed, with no iterations due */
	bool former;            /* credit and left come from a checkpoint before version 8 */
	int64_t backs;          /* number of rollbacks to a checkpoint */
};

/* The driver of sessions whose samples are events. */
extern const struct run_driver session_driver;

/* The session is its owner's storage, zeroed; call session_release in any case. */
int session_init(struct session *session, const struct run_config *run,
	const struct session_config *config, struct err *err);
void session_release(struct session *session);

/* Leaves learner.channels 0 if the shape is unknown. */
int session_find_shape(struct session *session, struct err *err);

/*
 * Sets the shape from the first input: its number of floats, or the schema of its row (may be
 * NULL), which the session takes over. ERR_INPUT if no learner of such inputs can be made; then
 * the schema stays the caller's.
 */
int session_set_shape(
	struct session *session, size_t floats, struct schema *schema, struct err *err);
int session_make(struct session *session, struct err *err);
bool session_learns(const struct session *session); /* there is a learner */

int session_begin(struct session *session, struct err *err);

/*
 * Widens inputs after the schema has grown. Existing inputs get NAN in the new places; the net
 * grows with the first label of a wide input. session_wide returns whether the schema has grown
 * beyond the inputs.
 */
int session_widen(struct session *session, size_t floats, struct err *err);
bool session_wide(const struct session *session);

/* Stops the schema from growing where inputs cannot; for an owner that sets the schema itself. */
void session_limit_schema(struct session *session);

/*
 * session_room is where the next input may be written to avoid a copy. To encode a row, and let
 * the schema learn from it, lock the schema with session_decode, then call session_decoded with
 * the resulting code. A nonzero code undoes what the schema learned.
 */
float *session_room(const struct session *session);
size_t session_decode(struct session *session);
void session_decoded(struct session *session, size_t learned, int code);

/* The number of cells of a label, and of a guess. */
int session_width(const struct session *session);
size_t session_guess(const struct session *session);

/*
 * What labels are; whether that is left to them (model.target = auto); and then whether all so far
 * are whole numbers, so that one with a fraction tells that they are no classes.
 */
enum target_kind session_target(const struct session *session);
bool session_target_open(const struct session *session);
bool session_labels_whole(const struct session *session);
/* Whether it is known if labels are names or numbers: one has come, or a key says it. */
bool session_labelled(const struct session *session);

/*
 * Whether labels that are numbers are names, since the first class was named by a number (a
 * negative one, or one that a program named).
 */
bool session_numbers_are_names(const struct session *session);
/* Whether labels so far are class numbers, so that names are refused. */
bool session_classes_are_numbers(const struct session *session);

int session_take(
	struct session *session, const struct event *event, struct sender *to, struct err *err);
int session_flush(struct session *session, struct err *err);
int session_idle(struct session *session, bool *more, struct err *err);
int session_finish(struct session *session, struct err *err);
int session_end(struct session *session, int code, struct run_result *result, struct err *err);

/*
 * Reveals a time step, for a program that runs the protocol itself. A failure changes nothing. The
 * journal records the learner's iteration with the samples, so that a restart after a crash repeats
 * the same iterations between the same calls. Training after the last call is not recorded: it is
 * repeated as far as the budget goes.
 */
int session_reveal(struct session *session, const struct session_samples *samples, struct err *err);

/*
 * Time steps of a program whose labels come later. session_tickets checks that `count` more inputs
 * may wait; ERR_STATE beyond run.waiting_most. session_observe predicts a step's inputs, keeps
 * them (on disk if there is a folder) and assigns a ticket; on success it owns the step. Free
 * said->logits by mem_free in any case. session_label reveals the labels of a ticket; NULL: they
 * will never come. ERR_INPUT if the ticket is unknown.
 */
struct session_said {
	float *logits;      /* `classes` for each input */
	int classes, known; /* known: how many of them mean something */
};
int session_tickets(struct session *session, int count, struct err *err);
int session_observe(struct session *session, struct waiting_step *step, struct session_said *said,
	struct err *err);
struct session_labels {
	const union target *cells;
	size_t cells_count;
	const float *weights; /* NULL: all 1 */
	size_t weights_count;
};
int session_label(struct session *session, uint64_t ticket, const struct session_labels *labels,
	struct err *err);

/*
 * Reveals a time step of samples that are stored elsewhere and trains on it, within its budget. n
 * is 0 if all samples were revealed before.
 */
int session_learn(struct session *session, const struct session_samples *samples, struct err *err);

/*
 * Orders the iterations that a time step's budget pays for. session_left returns how many are
 * left; with run.budget, a lower bound.
 */
void session_order(struct session *session);
int64_t session_left(const struct session *session);

/*
 * Runs one iteration, counted against session_left if `ordered`. Saves when due. *back is true if
 * the session was instead rolled back to a checkpoint and caught up (run.on_nan).
 */
int session_train(struct session *session, bool ordered, bool *back, struct err *err);

/*
 * Answers an unusable event with a sentence that begins with its place. Only ERR_INPUT and
 * ERR_FORMAT are the event's fault; any other code ends the session.
 */
int session_refuse(struct session *session, struct event_place place, const char *id,
	struct sender *to, int code, const struct err *why, struct err *err);

/* Tells the session whether more events are at hand; if so, answers and syncs may wait for them. */
void session_expect_more(struct session *session, bool more);

/* Syncs stored events and confirms the answers so far, unless more events are expected. */
int session_settle(struct session *session, struct err *err);

#endif
