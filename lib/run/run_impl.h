/* What the files of a run share. */
#ifndef RETAIN_RUN_RUN_IMPL_H
#define RETAIN_RUN_RUN_IMPL_H

#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "streams/source.h"
#include "store/store.h"
#include "eval/ledger.h"
#include "eval/matrix.h"
#include "eval/prequential.h"
#include "learn/learner.h"
#include "run/checkpoint.h"
#include "run/events.h"
#include "run/run.h"

/* How a run meets its stream: opening makes learner and buffers, going ends with the stream. */
struct run_kind {
	int (*open)(struct run *run, struct err *err);
	int (*go)(struct run *run, struct err *err); /* NULL: the owner goes, api/program.h */
	void (*describe)(const struct run *run, char *out, size_t size); /* for who has a go */
	void (*close)(struct run *run); /* this and the next may be NULL */
	void (*state)(struct run *run, struct state *state);
	bool endless; /* what came to its end may go on some day */
};

extern const struct run_kind run_stored, run_live, run_program;

struct live;
struct program;

/* How much a stored run trains and when, as the options say, for every time step to ask. */
struct run_pace {
	int every, iterations, batch;
	double epochs; /* of a time step's samples; 0: iterations */
	int64_t task_steps;
};

struct run {
	struct run_config config;
	const struct run_kind *kind;
	bool supervised;
	int classes;
	size_t floats; /* of a sample's input */
	struct run_pace pace;
	int iterations;         /* of the current time step, unless there is a budget: */
	double budget;          /* what a time step may cost, in iterations of plain SGD; 0: none */
	int64_t all_iterations; /* of the whole run, as planned; 0: unknown */
	int64_t steps, ends;    /* time steps of the whole stream, and of this run */
	int evaluations;        /* over the run */
	int evaluation_batch;

	struct source *source; /* NULL where samples come from outside, and so is the matrix */
	struct live *live;     /* NULL in others, as is the next */
	struct program *program;
	struct store *store;
	struct learner *learner;
	struct matrix *matrix;
	struct prequential *prequential;
	struct ledger ledger;
	enum ledger_use predicting; /* what predictions are for, right now */

	int64_t step;
	bool met;              /* the current time step was predicted and revealed, */
	int made;              /* ... and so many iterations of it were made; */
	bool idle;             /* there was nothing to train on */
	bool stopped;          /* before the stream's end */
	int64_t resumed;       /* the iteration this process began with */
	double started;        /* when, by clock_now */
	double seconds_before; /* what earlier processes took */
	double train_seconds;
	struct checkpoint_interval interval;
	double saved_at;     /* when the last checkpoint was made, by clock_now */
	int save_failures;   /* in a row */
	int rollbacks;       /* since the last checkpoint that was due */
	int lock;            /* descriptor; -1: none */
	int64_t events_kept; /* the size of events.jsonl that a loaded checkpoint remembers */
	struct metrics_file *metrics;
	struct metrics_row *rows; /* as many as evaluations; when they are full, every other goes */
	int row_count;
	int64_t logged; /* rows of metrics.csv */
	struct events *events;
	bool warned_noise;

	int64_t *ids;
	float *inputs, *logits;
	int32_t *labels, *predicted, *rank;
};

/* What run_go does when the stream has ended or the run was stopped: the result, saved. */
int run_finish(struct run *run, struct run_result *result, struct err *err);

double run_seconds(const struct run *run); /* of all processes together */

/*
 * For a kind's open: the learner on run->store, then buffers for inputs of `batch`
 * samples, labels of `step` samples, not fewer, and so many evaluations.
 */
int run_make_learner(struct run *run, struct learner_config *config, struct err *err);
int run_make_buffers(struct run *run, int batch, int64_t step, int rows, struct err *err);

/*
 * The same for samples that come from outside: what cannot be said of them, then the
 * folder taken, the store in its journal, and the learner on that. Before it reads
 * anything such a run catches up: each call of a former process that the learner has
 * not seen is repeated, by run_fetch_call and a reveal.
 */
typedef int run_repeat(struct run *run, int n, struct err *err);

enum { RUN_ROWS_MOST = 4096 }; /* evaluations that a run without an end remembers */
int run_check_endless(const struct options *options, struct err *err);
int run_open_journal(struct run *run, struct learner_config *config, struct err *err);
int run_catch_up(struct run *run, run_repeat *repeat, struct err *err);
int run_fetch_call(struct run *run, int n, int64_t *ids, float *inputs, int32_t *labels,
	int32_t *guesses, struct err *err);

/* For a kind's go. Training stops early, before run_trained, when the run was asked to stop. */
bool run_trained(const struct run *run);
void run_next_step(struct run *run);
int run_train(struct run *run, struct err *err);
int run_save_when_due(struct run *run, struct err *err);
bool run_stopping(const struct run *run);
void run_tell(const struct run *run);

/*
 * To be called whenever samples were asked for: bad ones go to the events, so that
 * these are the same however a run was stopped in between.
 */
void run_note_bad(struct run *run);

/* A row of the matrix and of the metrics. */
int run_evaluate(struct run *run, struct err *err);

/* Writes the rows that metrics.csv does not have yet. */
int run_write_rows(struct run *run, struct err *err);

/*
 * A checksum over samples, inputs and labels, evenly over the stream and over the
 * evaluation data; false where the source cannot give them again.
 */
bool run_digest(const struct run *run, uint32_t *digest);

/*
 * The folder: made before the run, still there, finished after it. Taking it, made and locked,
 * is the first part of beginning for who needs it sooner; with RUN_ANEW a journal
 * is then gone.
 */
int folder_take(struct run *run, struct err *err);
int folder_begin(struct run *run, struct err *err);
int folder_check(const struct run *run, struct err *err);
int folder_holds_run(const struct run *run, bool *holds, struct err *err);
/* "FOLDER/NAME", for mem_free; NULL when memory ran out. */
char *folder_path(const struct run *run, const char *name);
int folder_end(struct run *run, const struct run_result *result, struct err *err);

#endif
