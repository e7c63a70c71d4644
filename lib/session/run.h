/*
 * What every run has, whoever drives it: a learner on a store, scores, a ledger,
 * and a folder that remembers all of it:
 *
 *	config.ini         every key with its value
 *	metrics.csv        a row per evaluation (docs/reference/metrics.md)
 *	events.jsonl       every window and every cut, with the numbers that caused them
 *	classes.json       how each class was recognised, and the largest confusions
 *	run.json           version, machine, what the run cost and came to
 *	model.safetensors  the weights that serve inference
 *	checkpoint/        the whole state, from time to time (session/checkpoint.h)
 *	journal/           samples that exist nowhere else (store/journal.h)
 *	lock               held while a process works in the folder
 *
 * A driver plays the protocol: it predicts a time step, scores it, reveals it, lets
 * the run train. Its own object begins with a struct run, which it fills in this
 * order:
 *
 *	run_init           checks what all runs check, before anything is made
 *	run_make_learner   on run->store, which the driver has made;
 *	                   run_open_journal does both for samples from outside
 *	run_keep_rows      room for evaluations
 *	run_begin          makes the folder, or goes on with what it holds
 *	...                the driver's loop
 *	run_finish         the result, saved
 *	run_release
 *
 * One caller at a time.
 */
#ifndef RETAIN_SESSION_RUN_H
#define RETAIN_SESSION_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "base/options.h"
#include "base/text.h"
#include "eval/alarm.h"
#include "eval/confusion.h"
#include "eval/ledger.h"
#include "eval/prequential.h"
#include "eval/recent.h"
#include "learn/learner.h"
#include "session/checkpoint.h"
#include "session/class_list.h"
#include "session/events.h"
#include "session/metrics_file.h"
#include "session/tensorboard.h"
#include "store/store.h"

struct run;

/* How far a run is, told after every time step. */
struct run_progress {
	int64_t step, steps, iteration, iterations; /* steps, iterations: planned; 0: unknown */
	double seconds;                             /* of this process, since its first step */
	double train_seconds;                       /* of the whole run, without evaluations */
	int64_t resumed;                            /* the iteration it began with */
	double rate, sigma, gamma[2];
	int averages;
	double le, blind;
	double recent;  /* NAN before the first label */
	int64_t alarms; /* so far */
	double ir;      /* of the last evaluation; NAN before the first */
};

/* What to do with a folder that holds a run. */
enum run_start {
	RUN_NEW,    /* refuse it */
	RUN_RESUME, /* go on from its last checkpoint, or begin anew if it has none */
	RUN_ANEW,   /* begin anew; what is there goes */
};

/* Pointers are borrowed as long as the run lives. */
struct run_config {
	const struct options *options;
	const char *folder; /* made if need be; NULL: nothing is written */
	struct log log;
	void (*progress)(
		void *context, const struct run_progress *progress); /* NULL: nobody asks */
	void *context;
	const volatile sig_atomic_t *stop; /* where not NULL and set: stop after the iteration */
	enum run_start start;
	struct learner_peers *peers; /* that share the work (learn/peers.h); NULL: none */
	/* What a user can do, for messages; NULL: not said. Each a clause without a full stop. */
	const char *advice_held;     /* with a folder that holds a run already */
	const char *advice_diverged; /* after a loss that is no number; there is a checkpoint */
};

/* What a run came to. Accuracies in [0, 1]. */
struct run_result {
	bool stopped; /* before its end */
	bool saved;   /* ... and can go on from a checkpoint */
	int64_t step,
		iteration; /* time steps and iterations made; `last` may be of an earlier one */
	/* By eval/summary.h. */
	struct metrics_row last;
	double late_ir, late_ft, late_ir_sgd, late_ft_sgd, cost;
	double seconds, iterations_per_s; /* of the whole, evaluations included */
	double train_seconds;             /* without evaluations */
	int64_t rows;
};

/* What a run asks of its driver. Functions may be NULL. */
struct run_driver {
	bool endless;                      /* after the end of its stream it may go on later */
	void (*iterated)(struct run *run); /* after every iteration that run_train makes */
	bool (*due)(
		const struct run *run); /* whether run_train is to return, for it to do something */
	void (*state)(struct run *run, struct state *state); /* the driver's part of a checkpoint */
	void (*facts)(const struct run *run, struct jwriter *json); /* its values of run.json */
	/* Fills in a name per class, NULL for those without; false: there are none. */
	bool (*class_names)(const struct run *run, const char **names);
	/* Writes what rows or pictures become as inputs; false: inputs are numbers already. */
	bool (*schema)(const struct run *run, struct jwriter *json);
};

struct run {
	struct run_config config;
	const struct run_driver *driver;
	int classes;      /* of the net */
	int classes_most; /* above 0: they come with their labels, and may become so many */
	struct class_list names;
	int32_t names_kept;    /* so many of them are in the journal */
	size_t floats;         /* of a sample's input */
	struct schema *schema; /* of rows with names; NULL: inputs are numbers */
	bool schema_kept;      /* the folder has it, as it was at schema_serial */
	uint64_t schema_serial;
	size_t ignored_told; /* fields that are ignored and were told of */

	struct store *store;
	struct learner *learner;
	struct prequential *prequential;
	struct recent recent;
	struct alarm *alarm;
	struct confusion *confusion;
	struct ledger ledger;
	enum ledger_use predicting; /* what predictions are for, right now */

	int iterations; /* of the current time step, unless there is a budget: */
	double budget;  /* what a time step may cost, in iterations of plain SGD; 0: none */
	double allowed; /* ... and all up to the current one; 0: each the same */
	int64_t planned_steps, planned_iterations; /* of the whole run; 0: unknown */

	int64_t step;
	bool met;     /* the current time step was predicted and revealed, */
	int made;     /* ... and this many iterations of it were made; */
	bool idle;    /* there was nothing to train on */
	bool stopped; /* before the stream's end */

	int64_t resumed;       /* the iteration this process began with */
	double started;        /* when, by clock_now */
	double seconds_before; /* what earlier processes took */
	double train_seconds;

	struct checkpoint_interval interval;
	double saved_at;   /* when the last checkpoint was made, by clock_now */
	int save_failures; /* in a row */
	int rollbacks;     /* since the last checkpoint that was due */

	int lock; /* descriptor; -1: none */
	struct metrics_file *metrics;
	struct tensorboard *board; /* NULL: none, or no row yet */
	struct metrics_row *rows;
	int row_count, row_room; /* when they are full, every other goes */
	int64_t logged;          /* rows of metrics.csv */
	struct events *events;   /* NULL without a folder */
	int64_t events_kept;     /* the size of events.jsonl that a loaded checkpoint remembers */
	bool warned_noise;
};

/* Refuses what no run can do. The run is the driver's storage; run_release ends it in any case. */
int run_init(struct run *run, const struct run_driver *driver, const struct run_config *config,
	struct err *err);
void run_release(struct run *run);

/* What its net's passes cost, in multiply-adds. */
struct ledger_prices run_prices(const struct run *run);

/* The learner on run->store. Fills in the config's options, budget and watch. */
int run_make_learner(struct run *run, struct learner_config *config, struct err *err);

/*
 * For samples that exist nowhere else: takes the folder, opens its journal as the
 * store, and makes the learner on it. Such a run catches up before it reads anything
 * new: it repeats each call of a former process that the learner has not seen, by
 * run_fetch_call and a reveal.
 */
typedef int run_repeat(struct run *run, int n, struct err *err);

enum { RUN_ROWS_MOST = 4096 }; /* evaluations that a run without an end remembers */
int run_open_journal(struct run *run, struct learner_config *config, struct err *err);

/*
 * Where the first input will tell the size of inputs: run_try_options checks options that do
 * not depend on the size, run_try_learner checks with the size in `config`. Neither keeps
 * anything. run_journal_floats takes the folder and finds the size in its journal; 0 if there
 * is none, or nothing in it: then the folder's schema goes, too. run_unmake undoes all from run_make_learner on, but keeps the
 * folder's lock.
 */
int run_try_options(struct run *run, const struct learner_config *config, struct err *err);
int run_try_learner(struct run *run, struct learner_config *config, struct err *err);
int run_journal_floats(struct run *run, size_t *floats, struct err *err);
void run_unmake(struct run *run);
int run_catch_up(struct run *run, run_repeat *repeat, struct err *err);
int run_fetch_call(struct run *run, int n, int64_t *ids, float *inputs, int32_t *labels,
	int32_t *guesses, struct err *err);

/*
 * Classes that come. run_reveal is learner_reveal for runs that may have them: the net and
 * the scores follow the labels. run_class is the label of a name: its own, or the next
 * that is free; ERR_INPUT if there can be no more. Call run_note_classes before changing
 * the journal: it stores the new names of labels below `below` in that transaction.
 * run_reveal does so for all labels up to its largest.
 */
int run_reveal(struct run *run, const float *inputs, const int32_t *labels, int n, struct err *err);
int run_class(struct run *run, const char *name, int32_t *label, struct err *err);
int run_note_classes(struct run *run, int32_t below, struct err *err);
/* By the driver, or as they came with labels, one per class of the net. False: none has one. */
bool run_class_names(const struct run *run, const char **names);
/* Names that the journal has, for a run that opens it. */
int run_noted_classes(struct run *run, struct err *err);

/*
 * For rows of named values: the schema that the folder has or that schema.from names; NULL is
 * none. What was learned since is in the folder when run_schema_keep has returned; to be
 * called before an input is kept that was made by it.
 */
int run_schema_open(struct run *run, struct err *err);
int run_schema_keep(struct run *run, struct err *err);

int run_keep_rows(struct run *run, int rows, struct err *err);
int run_begin(struct run *run, struct err *err);

/*
 * Scores a time step whose labels came: what of it was right, as prequential_step has it,
 * and whether it raised an alarm, which becomes an event.
 */
void run_score(struct run *run, const int32_t *predicted, const int32_t *rank,
	const int32_t *labels, int n);
int run_score_new(struct run *run, int classes, struct err *err);
int run_score_classes(struct run *run, int classes, struct err *err); /* so many, or more */
void run_score_free(struct run *run);
void run_score_state(struct run *run, struct state *state);

/* If the run was asked to stop, training of a time step ends early, before run_trained. */
int run_train(struct run *run, struct err *err);
bool run_trained(const struct run *run);
double run_step_share(const struct run *run); /* of the current time step's training */
void run_next_step(struct run *run);
bool run_stopping(const struct run *run);
int run_save_when_due(struct run *run, struct err *err);
void run_tell(const struct run *run); /* calls config.progress */

/*
 * A row of metrics. run_row fills in what every run measures, with IR and FT NAN. The
 * driver adds its own measures and gives the row to run_add_row. run_evaluate does
 * both for a driver without measures, and refuses weights that are no numbers.
 */
struct metrics_row run_row(const struct run *run);
void run_add_row(struct run *run, const struct metrics_row *row);
int run_evaluate(struct run *run, struct err *err);

/* The result, saved. */
int run_finish(struct run *run, struct run_result *result, struct err *err);

/* A model's weights (learn/learner.h) with all that a file says of them, names of classes too. */
int run_save_weights(const struct run *run, int model, const char *path, struct err *err);

double run_seconds(const struct run *run); /* of all processes together */

/* Writes the rows that metrics.csv does not have yet. */
int run_write_rows(struct run *run, struct err *err);

/*
 * The folder. run_folder_take makes and locks it, for a driver that needs it before
 * run_begin; with RUN_ANEW it removes the journal. run_folder_check refuses a folder
 * that was moved or removed since.
 */
int run_folder_take(struct run *run, struct err *err);
int run_folder_begin(struct run *run, struct err *err);
int run_folder_clear_journal(const struct run *run, struct err *err); /* the samples in it go */
/* For a folder without a sample or an input: what it remembers of inputs goes. */
int run_folder_unlearn(struct run *run, struct err *err);
int run_folder_check(const struct run *run, struct err *err);
/* classes.json. */
int run_write_classes(const struct run *run, struct err *err);
int run_folder_end(struct run *run, const struct run_result *result, struct err *err);
int run_folder_holds_run(const struct run *run, bool *holds, struct err *err);
/* The weights that serve inference, as a file of the folder. */
int run_write_model(const struct run *run, const char *name, struct err *err);
/* FOLDER/NAME, for mem_free; NULL when memory ran out. */
char *run_folder_path(const struct run *run, const char *name);
/* Replaces a file of the folder, whole or not at all; releases the words. */
int run_folder_write(const struct run *run, const char *name, struct text *words, struct err *err);

#endif
