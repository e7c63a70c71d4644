/*
 * The learner's desk. One thread owns the learner and its journal; others queue jobs and are
 * notified when they are done. Jobs that are queued together share a sync.
 *
 * A job is a batch of lines, parsed by the thread that received them (live/batch.h) and answered
 * like a live stream (live/live.h). Jobs with only inputs are also taken while a time step is
 * trained on, after each iteration.
 *
 * Predictions that need not be stored bypass the desk: they use a copy of the learner's knowledge
 * (session/copy.h), from any thread, and never wait. The copy is renewed while the learner
 * learns. Queries it cannot answer, with heads, become jobs, too.
 *
 * If the input shape is not configured, there is no learner before the first line with an input.
 */
#ifndef RETAIN_SERVE_DESK_H
#define RETAIN_SERVE_DESK_H

#include <stdbool.h>
#include <stdint.h>

#include "live/answers.h"
#include "live/batch.h"
#include "live/live.h"
#include "live/live_line.h"
#include "session/run/run.h"
#include "session/copy.h"

struct job {
	struct job *next; /* used by the desk */
	enum live_kind kind;
	const struct batch *batch; /* lines; borrowed until it is done */
	/* Or a decoded event whose input has the learner's size. Also borrowed. */
	const struct event *event;
	int64_t line;           /* the number of the last line before these; advances */
	struct answers answers; /* its words are appended to; the caller releases them */
	/* Or queries, if there are inputs. */
	const struct answers_wish *wishes;
	const float *inputs;
	int count;
	float *logits;       /* the result, for mem_free, */
	struct copy *copy;   /* and the copy with the classes, for copy_free */
	const char *weights; /* or a file in the folder to write the weights to */
	/* Or something to be done to the learner between two time steps, by its thread. */
	int (*act)(struct job *job, struct session *session, struct err *err);
	bool patient; /* may wait while the desk is paused; otherwise it fails then */
	/* Called on the learner's thread; afterwards the desk no longer refers to the job. */
	void (*done)(struct job *job);
	void *context;
	int code; /* the result: 0, or an internal error */
	struct err err;
	bool taken; /* used by the desk: all lines were taken */
};

/* DESK_WAITS: for the first input. */
enum desk_state { DESK_OPENS, DESK_WAITS, DESK_LEARNS, DESK_PAUSED, DESK_ENDED, DESK_FAILED };

/* A recent status. */
struct desk_status {
	enum desk_state state;
	bool learns;  /* there is a learner */
	bool answers; /* from the current state, or that of the last checkpoint */
	int64_t samples, iteration, step, lines, bad, waiting, pool;
	int64_t behind; /* samples of the journal still to be replayed */
	struct run_scores scores;
	double rate, sigma, loss, train_seconds, seconds;
	double val, val_plain;          /* accuracy on held-out samples; NAN: unknown */
	int64_t cuts, alarms, warnings; /* warnings: of this process, as is */
	int64_t fields_ignored;         /* ... values of ignored fields */
	int64_t journal_bytes;
	int queue, queue_most;
	uint64_t jobs, syncs;           /* done; and the syncs they shared */
	char serving[VERSION_NAME + 1]; /* the version that answers */
	struct standing standings[CONTENDERS];
	int standings_count; /* 0: there are no shadows */
	char failure[512];
};

struct desk;

/* Opens the learner in config.folder. `queue`: capacity in jobs. */
int desk_open(struct desk **desk, const struct run_config *config, int queue, struct err *err);

/* Or a fixed model, from a weights file: it takes no jobs. */
int desk_open_model(struct desk **desk, const char *path, struct err *err);

/*
 * Or what is learned elsewhere, of which copies come: nothing answers before the first. desk_renew
 * takes over the copy, and the file of its weights.
 */
int desk_open_follower(struct desk **desk, struct err *err);
void desk_renew(struct desk *desk, struct copy *copy, int file);
bool desk_learns(const struct desk *desk);

/* Starts the learner's thread. desk_end completes the queued jobs and saves. */
int desk_start(struct desk *desk, struct err *err);
int desk_end(struct desk *desk, struct run_result *result, struct err *err);
/* Stops the thread without saving; waiting jobs are notified. Accepts NULL. */
void desk_stop(struct desk *desk);
void desk_close(struct desk *desk); /* one that has ended or was stopped */

/*
 * Reserves a slot for a job. False: the queue is full; with `must` it always succeeds. A reserved
 * slot must be filled by desk_put. A job that can no longer be done ends at once, with an error.
 */
bool desk_reserve(struct desk *desk, bool must);
void desk_put(struct desk *desk, struct job *job);

/* While paused only inputs are taken; jobs that are not patient fail at once. */
void desk_pause(struct desk *desk, bool pause);

/*
 * Thread-safe. desk_copy returns the current copy, for copy_free; NULL: the input shape is not
 * known yet. desk_read reads an object with an input; its id may be missing. Without a copy the
 * input is not read.
 */
struct copy *desk_copy(struct desk *desk);
bool desk_has_copy(struct desk *desk);
int desk_read(struct desk *desk, const struct copy *copy, const struct feed_line *line,
	const char *where, struct event *event, float *input, struct err *err);

/*
 * The copy that answers for a version, for copy_free: `live` is the learner itself, others are read
 * from the folder, and the latest few are kept. ERR_INPUT: there is no such version. It may take as
 * long as opening a learner.
 */
int desk_version(struct desk *desk, const char *name, struct copy **copy, struct err *err);
void desk_status(struct desk *desk, struct desk_status *status);
struct answers_wish desk_wish(const struct desk *desk); /* the default */
bool desk_grows(const struct desk *desk);               /* classes may grow */
/*
 * The schema of rows that this copy answers; NULL: inputs are plain numbers. It does not change
 * between begin and end.
 */
const struct schema *desk_schema_begin(struct desk *desk, const struct copy *copy);
void desk_schema_end(struct desk *desk);
int desk_file(struct desk *desk); /* a fixed model's, opened for the caller; or negative */
const struct run_config *desk_config(const struct desk *desk);

#endif
