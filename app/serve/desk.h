/*
 * The learner's desk. One thread owns the learner and its journal; others put jobs on
 * the desk and are told when they are done. Jobs that lie there together share a sync.
 *
 * A job is a piece of lines, answered as a live stream is (live/live.h). Jobs of inputs
 * alone are also taken while a time step is trained on, after each iteration.
 *
 * Predictions that are not to be remembered need no desk: they use a copy of what the learner
 * knows (session/copy.h), from any thread, and wait for nobody. The copy is renewed while the
 * learner learns. Where it has no answer, with heads, such questions are jobs, too.
 *
 * Where nobody said what inputs are, there is no learner before the first line with an input.
 */
#ifndef RETAIN_SERVE_DESK_H
#define RETAIN_SERVE_DESK_H

#include <stdbool.h>
#include <stdint.h>

#include "live/answers.h"
#include "live/live.h"
#include "live/live_line.h"
#include "session/run.h"
#include "session/copy.h"

struct job {
	struct job *next; /* the desk's */
	enum live_kind kind;
	/* Lines; or one line, whatever is in it, if it is `single`. Borrowed until it is done. */
	const char *bytes;
	size_t size;
	bool single;
	/* Or an event, decoded, whose input has as many numbers as the learner's. Borrowed, too. */
	const struct event *event;
	int64_t line;           /* the number of the last line before these; moves */
	struct answers answers; /* its words are added to; the caller releases them */
	/* Or questions, if there are inputs. */
	const struct answers_wish *wishes;
	const float *inputs;
	int count;
	float *logits;       /* what came of it, for mem_free, */
	struct copy *copy;   /* and who knows the classes, for copy_free */
	const char *weights; /* or a file of the folder to write the weights to */
	bool save;           /* or a checkpoint */
	bool patient;        /* may wait as long as the desk is paused; otherwise it fails then */
	/* Called by the learner's thread, after which the desk knows nothing of the job. */
	void (*done)(struct job *job);
	void *context;
	int code; /* what became of it: 0, or an error of ours */
	struct err err;
	bool taken; /* the desk's: all lines were */
};

/* DESK_WAITS: for the first input. */
enum desk_state { DESK_OPENS, DESK_WAITS, DESK_LEARNS, DESK_PAUSED, DESK_ENDED, DESK_FAILED };

/* How things stand, a moment ago. */
struct desk_status {
	enum desk_state state;
	bool learns;  /* there is a learner */
	bool answers; /* by what it knows, or knew at its last checkpoint */
	int64_t samples, iteration, step, lines, bad, waiting, pool;
	int64_t behind; /* samples of the journal that are still to be learned again */
	double le, recent, blind, rate, sigma, loss, train_seconds, seconds;
	double val, val_plain;          /* accuracy on samples that are held out; NAN: not known */
	int64_t cuts, alarms, warnings; /* of the run's events; of this process, as is */
	int64_t fields_ignored;         /* ... values of fields that have no input */
	int64_t journal_bytes;
	int queue, queue_most;
	uint64_t jobs, syncs; /* done; and how often they shared one */
	char failure[512];
};

struct desk;

/* Opens the learner in config.folder. `queue`: jobs that may lie there. */
int desk_open(struct desk **desk, const struct run_config *config, int queue, struct err *err);

/* Or a fixed model, from a file of weights: nothing is put on its desk. */
int desk_open_model(struct desk **desk, const char *path, struct err *err);
bool desk_learns(const struct desk *desk);

/* Begins to learn. What is on the desk at the end is done before; then all is saved. */
int desk_start(struct desk *desk, struct err *err);
int desk_end(struct desk *desk, struct run_result *result, struct err *err);
/* Ends its thread, without saving; whoever waits for a job is told. NULL is nothing. */
void desk_stop(struct desk *desk);
void desk_close(struct desk *desk); /* one that has ended or was stopped */

/*
 * Reserves a place for a job. False: all are taken; with `must` there is always one. Whoever
 * reserved a place must put a job there. A job that can no longer be done ends at once, with an
 * error.
 */
bool desk_reserve(struct desk *desk, bool must);
void desk_put(struct desk *desk, struct job *job);

/* While paused no lines are taken but inputs; jobs that are not patient fail at once. */
void desk_pause(struct desk *desk, bool pause);

/*
 * From any thread. desk_copy holds what answers at the moment, for copy_free; NULL: it is not
 * known yet what inputs are. desk_read reads an object with an input; its id may be missing.
 * Without a copy nothing is read of the input.
 */
struct copy *desk_copy(struct desk *desk);
bool desk_has_copy(struct desk *desk);
int desk_read(struct desk *desk, const struct copy *copy, const char *bytes, size_t size,
	const char *where, struct event *line, float *input, struct err *err);
void desk_status(struct desk *desk, struct desk_status *status);
struct answers_wish desk_wish(const struct desk *desk); /* where nothing is said */
bool desk_grows(const struct desk *desk);               /* classes may come */
/*
 * Of rows with names; NULL: inputs are numbers. To be asked where there is a copy. From begin to
 * end it does not change.
 */
const struct schema *desk_schema_begin(struct desk *desk);
void desk_schema_end(struct desk *desk);
const char *desk_path(const struct desk *desk); /* of a fixed model's file */
const struct run_config *desk_config(const struct desk *desk);

#endif
