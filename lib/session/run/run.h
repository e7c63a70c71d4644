/*
 * What a session (session/session.h) is made of: a learner on a store, scores, a ledger, and a
 * folder that remembers all of it:
 *
 *	config.ini         every key with its value
 *	metrics.csv        a row per evaluation (docs/reference/metrics.md)
 *	events.jsonl       every window and every cut, with the numbers that caused them
 *	classes.json       how each class was recognised, and the largest confusions; or
 *	predictions.csv    the latest labels that are numbers, and what was said about them
 *	run.json           version, machine, what the run cost and came to
 *	model.safetensors  the weights that serve inference
 *	checkpoint/        the whole state, from time to time (session/run/checkpoint.h)
 *	journal/           samples that exist nowhere else (store/journal.h)
 *	lock               held while a process works in the folder
 *
 * The session makes the time steps. It goes through
 *
 *	run_init           checks what all runs check, before anything is made
 *	run_make_learner   on run->store; run_open_journal makes both, for samples from outside
 *	run_keep_rows      room for evaluations
 *	run_begin          makes the folder, or goes on with what it holds
 *	...                time steps: run_reveal, run_score, run_train, run_next_step
 *	run_finish         the result, saved
 *	run_release
 *
 * and has callbacks in struct run_driver for what differs by where samples come from.
 *
 * One caller at a time.
 */
#ifndef RETAIN_SESSION_RUN_RUN_H
#define RETAIN_SESSION_RUN_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options/interval.h"
#include "base/log.h"
#include "base/options.h"
#include "base/text.h"
#include "eval/alarm.h"
#include "eval/confusion.h"
#include "eval/errors.h"
#include "eval/ledger.h"
#include "eval/prequential.h"
#include "eval/recent.h"
#include "eval/uneven.h"
#include "learn/learner.h"
#include "session/run/checkpoint.h"
#include "session/run/class_list.h"
#include "session/log/event_log.h"
#include "session/log/metrics_file.h"
#include "session/log/tensorboard.h"
#include "store/store.h"
#include "target/target.h"

struct run;

/* A run's progress, reported after every time step. */
struct run_progress {
	int64_t step, steps, iteration, iterations; /* steps, iterations: planned; 0: unknown */
	double seconds;                             /* of this process, since its first step */
	double train_seconds;                       /* of the whole run, without evaluations */
	int64_t resumed;                            /* the iteration it started from */
	double rate, sigma, gamma[2];
	int averages;
	int64_t samples; /* scored so far */
	double le, blind;
	double recent;        /* NAN before the first label */
	double mae, mae_last; /* of numbers, and of the last value; NAN for classes */
	int64_t alarms;       /* so far */
	double ir; /* of the last evaluation; NAN before the first, and of a handful of samples */
};

/* What to do with a folder that holds a run. */
enum run_start {
	RUN_NEW,    /* refuse it */
	RUN_RESUME, /* continue from its last checkpoint, or start over if it has none */
	RUN_ANEW,   /* start over and delete it */
};

/* Pointers are borrowed for the lifetime of the run. */
struct run_config {
	const struct options *options;
	const char *folder; /* created if needed; NULL: nothing is written */
	struct log log;
	void (*progress)(
		void *context, const struct run_progress *progress); /* NULL: no callback */
	/* Whether to call it after a time step, since numbers cost time; NULL: always. */
	bool (*wanted)(void *context, int64_t step);
	void *context;
	const volatile sig_atomic_t *stop; /* if set: stop after the iteration; may be NULL */
	enum run_start start;
	struct learner_peers *peers;   /* that share the work (learn/peers.h); NULL: none */
	const struct net_maker *maker; /* of a net of the program's own; NULL: none */
	/* Advice for the user in messages; NULL: none. Each a clause without a full stop. */
	const char *advice_held;     /* when the folder already holds a run */
	const char *advice_diverged; /* after a NaN loss; there is a checkpoint */
};

/* The result of a run. Accuracies in [0, 1]. */
struct run_result {
	bool stopped; /* before its end */
	bool saved;   /* ... and can be resumed from a checkpoint */
	int64_t step,
		iteration; /* time steps and iterations made; `last` may be from an earlier one */
	/* By eval/summary.h. */
	struct metrics_row last;
	double late_ir, late_ft, late_ir_sgd, late_ft_sgd, cost;
	double seconds, iterations_per_s; /* of the whole, evaluations included */
	double train_seconds;             /* without evaluations */
	int64_t rows;
};

/* Callbacks for what depends on where samples come from. Functions may be NULL. */
struct run_driver {
	bool endless; /* it may continue after the end of its stream */
	/* Called once the learner exists, before a checkpoint is loaded. */
	int (*made)(struct run *run, struct err *err);
	void (*pace)(struct run *run);     /* sets what the current time step may train */
	void (*iterated)(struct run *run); /* after every iteration that run_train makes */
	/* Whether a row of metrics is due, in the middle of a time step or after one; adds it. */
	bool (*due)(const struct run *run);
	int (*evaluate)(struct run *run, struct err *err);
	void (*state)(struct run *run, struct state *state); /* the driver's part of a checkpoint */
	/* Called before a checkpoint, to write files beside it, and after, to remove older ones. */
	int (*saving)(struct run *run, struct err *err);
	void (*saved)(struct run *run);
	void (*facts)(const struct run *run, struct jwriter *json); /* its values of run.json */
	/* Fills in a name per class, NULL if unnamed; false: no class has one. */
	bool (*class_names)(const struct run *run, const char **names);
	/* Writes how rows or pictures become inputs; false: inputs are plain numbers. */
	bool (*schema)(const struct run *run, struct jwriter *json);
};

struct run {
	struct run_config config;
	const struct run_driver *driver;
	int classes;      /* of the net */
	int classes_most; /* above 0: classes grow with their labels, up to this number */
	struct class_list names;
	int32_t names_kept;    /* how many of them are in the journal */
	size_t floats;         /* of a sample's input */
	struct schema *schema; /* of rows with names; NULL: inputs are plain numbers */
	bool schema_kept;      /* the folder has it, as of schema_serial */
	uint64_t schema_serial;
	size_t ignored_told; /* ignored fields already reported, */
	int columns_told;    /* ... and columns, */
	int dull_told;       /* ... and those of ids */

	struct store *store;
	struct learner *learner;
	struct prequential *prequential;
	struct recent recent;
	struct alarm *alarm;
	struct confusion *confusion;
	struct uneven *uneven;
	struct errors *errors; /* of numbers, in place of all but the alarm; NULL for classes */
	struct ledger ledger;
	enum ledger_use predicting; /* what predictions are for at the moment */

	int iterations; /* of the current time step, unless there is a budget: */
	double budget;  /* cost allowance of a time step, in iterations of plain SGD; 0: none */
	double allowed; /* ... cumulative up to the current one; 0: each the same */
	int64_t planned_steps, planned_iterations; /* of the whole run; 0: unknown */

	int64_t step;
	bool met;     /* the current time step was predicted and revealed, */
	int made;     /* ... and this many iterations of it were made; */
	bool idle;    /* there is nothing to train on */
	bool stopped; /* before the stream's end */

	int64_t resumed;       /* the iteration this process started from */
	double started;        /* when, by clock_now */
	double seconds_before; /* time spent by earlier processes */
	double train_seconds;

	struct interval interval; /* of checkpoints, in time steps */
	double saved_at;          /* when the last checkpoint was made, by clock_now */
	int save_failures;        /* in a row */
	int rollbacks;            /* since the last due checkpoint */

	int lock; /* descriptor; -1: none */
	struct metrics_file *metrics;
	struct tensorboard *board; /* NULL: none, or no row yet */
	struct metrics_row *rows;
	int row_count, row_room;  /* when full, every other row is dropped */
	int64_t logged;           /* rows of metrics.csv */
	int64_t ir_samples;       /* that the last row's IR rests on; 0: unknown */
	struct event_log *events; /* NULL without a folder */
	int64_t events_kept;      /* the size of events.jsonl recorded by the loaded checkpoint */
	bool warned_noise;
};

/*
 * Rejects settings no run can have. The run is the driver's storage; call run_release in any
 * case.
 */
int run_init(struct run *run, const struct run_driver *driver, const struct run_config *config,
	struct err *err);
void run_release(struct run *run);

/* The cost of its net's passes, in multiply-adds. */
struct ledger_prices run_prices(const struct run *run);

/* Creates the learner on run->store. Fills in the config's options, budget and watch. */
int run_make_learner(struct run *run, struct learner_config *config, struct err *err);

/*
 * For samples that exist nowhere else: locks the folder, opens its journal as the store, and
 * creates the learner on it. Such a run catches up before it reads new samples: it repeats each
 * call of an earlier process that the learner has not seen, with run_fetch_call and a reveal.
 */
typedef int run_repeat(struct run *run, int n, struct err *err);

enum { RUN_ROWS_MOST = 4096 }; /* evaluations kept by an endless run */
int run_open_journal(struct run *run, struct learner_config *config, struct err *err);

/*
 * For runs whose first input determines the input size: run_try_options checks options that do
 * not depend on the size, run_try_learner checks with the size in `config`. Neither keeps
 * anything. run_journal_floats locks the folder and reads the size from its journal. It is 0 if
 * there is no journal or it is empty; then the folder's schema is deleted, too. run_unmake undoes
 * everything from run_make_learner on, but keeps the folder locked.
 */
int run_try_options(struct run *run, const struct learner_config *config, struct err *err);
int run_try_learner(struct run *run, struct learner_config *config, struct err *err);
int run_journal_floats(struct run *run, size_t *floats, struct err *err);
void run_unmake(struct run *run);
int run_catch_up(struct run *run, run_repeat *repeat, struct err *err);
int run_fetch_call(struct run *run, int n, int64_t *ids, float *inputs, union target *labels,
	union target *guesses, struct err *err);

/*
 * Growing classes. run_reveal is learner_reveal for runs that may have them: the net and the
 * scores grow with the labels. run_class returns the label of a name: its own, or the next free
 * one; ERR_INPUT if there can be no more. Call run_note_classes before changing the journal: it
 * stores the new names of labels below `below` in that transaction. run_reveal does so for all
 * labels up to its largest.
 */
int run_reveal(
	struct run *run, const float *inputs, const union target *labels, int n, struct err *err);
int run_class(struct run *run, const char *name, int32_t *label, struct err *err);
int run_note_classes(struct run *run, int32_t below, struct err *err);
/* From the driver or from named labels, one per class of the net. False: no class has one. */
bool run_class_names(const struct run *run, const char **names);
/* Notes the kind of labels in the journal, or refuses a journal of another kind. */
int run_note_target(struct run *run, struct err *err);
/* Call after a step of n labels was scored: warns once of classes that look like quantities. */
void run_judge_labels(const struct run *run, int n);
/* Loads names from the journal, for a run that opens it. */
int run_noted_classes(struct run *run, struct err *err);
/* The same for any reader of a journal: names from *kept on. */
int run_read_classes(
	struct class_list *names, int32_t *kept, struct journal *journal, struct err *err);

/*
 * For rows of named values: loads the folder's schema or the one schema.from names; NULL if none.
 * run_schema_keep saves what the schema has learned since; call it before storing an input that
 * was encoded with it.
 */
int run_schema_open(struct run *run, struct err *err);
int run_schema_keep(struct run *run, struct err *err);

int run_keep_rows(struct run *run, int rows, struct err *err);
int run_begin(struct run *run, struct err *err);

/*
 * Scores a time step whose labels have arrived (see prequential_step), and logs an event if it
 * raises a drift alarm.
 */
void run_score(struct run *run, const union target *guesses, const union target *labels, int n);
/*
 * Accuracy before labels came, of the blind baseline, and of the latest labels. For numbers it is
 * the share of variance explained, and the baseline is the last label. NAN before the first label.
 */
struct run_scores {
	double le, le5, blind, recent;
	double same, most, chain; /* of classes: the last label, the most frequent one, a chain */
	double kappa;             /* of classes: kappa temporal */
	struct errors_sum errors; /* of numbers */
	struct uneven_scores uneven;
};
struct run_scores run_scores(const struct run *run);
struct run_scores run_scores_none(void);
int64_t run_scored(const struct run *run); /* samples scored so far */

/*
 * Weights of classes in answers (learn.weigh). run_weigh_begin sets them at the start and after a
 * checkpoint was loaded, run_weigh_labels after labels were scored. ERR_INPUT for invalid costs.
 */
int run_weigh_begin(struct run *run, struct err *err);
void run_weigh_labels(struct run *run, const union target *labels, int n);

int run_score_new(struct run *run, int classes, struct err *err);
int run_score_classes(struct run *run, int classes, struct err *err); /* at least this many */
void run_score_free(struct run *run);
void run_score_state(struct run *run, struct state *state);

/*
 * run_iterate makes one iteration of the current time step. run_train makes all of them, and
 * checkpoints when due; it ends early, before run_trained, if the run was asked to stop or the
 * driver has an evaluation due.
 */
int run_iterate(struct run *run, struct err *err);
int run_train(struct run *run, struct err *err);
bool run_trained(const struct run *run);
double run_step_share(
	const struct run *run); /* fraction of the current time step's training done */
void run_next_step(struct run *run);
bool run_stopping(const struct run *run);
int run_save_when_due(struct run *run, struct err *err);
void run_tell(const struct run *run); /* calls config.progress */

/*
 * A row of metrics. run_row fills in what every run measures, with IR and FT NAN. The driver adds
 * its own measures and passes the row to run_add_row. run_evaluate does both for a driver without
 * measures, and rejects NaN weights.
 */
struct metrics_row run_row(const struct run *run);
void run_add_row(struct run *run, const struct metrics_row *row);
int run_evaluate(struct run *run, struct err *err);

/* Computes and saves the result. */
int run_finish(struct run *run, struct run_result *result, struct err *err);

/* Saves a model's weights (learn/learner.h) with all metadata, class names included. */
int run_save_weights(const struct run *run, int model, const char *path, struct err *err);

double run_seconds(const struct run *run); /* of all processes together */

/* Writes the rows that metrics.csv does not have yet. */
int run_write_rows(struct run *run, struct err *err);

/*
 * The folder. run_folder_take creates and locks it, for a driver that needs it before run_begin;
 * with RUN_ANEW it removes the journal. run_folder_check rejects a folder that was moved or
 * removed since.
 */
int run_folder_take(struct run *run, struct err *err);
int run_folder_begin(struct run *run, struct err *err);
int run_folder_clear_journal(const struct run *run, struct err *err); /* deletes its samples */
/* For a folder without any sample or input: deletes its schema. */
int run_folder_unlearn(struct run *run, struct err *err);
int run_folder_check(const struct run *run, struct err *err);
/* Writes the detailed results: predictions.csv for numbers, else classes.json. */
int run_write_predicted(const struct run *run, struct err *err);
int run_write_classes(const struct run *run, struct err *err);
/* Parts of classes.json and run.json, for a folder that has no learner; names may be NULL. */
void run_describe_classes(
	struct jwriter *json, const struct confusion *confusion, const char *const *names);
void run_describe_ledger(struct jwriter *json, const struct ledger *ledger);
int run_folder_end(struct run *run, const struct run_result *result, struct err *err);
bool run_folder_holds_run(const struct run *run);
/* Writes the serving weights to a file in the folder. */
int run_write_model(const struct run *run, const char *name, struct err *err);
/* FOLDER/NAME in `out`, which it returns; run_init rejects a folder for which there is no room. */
enum { RUN_PATH = 4096, RUN_NAME = 128 };
const char *run_folder_path(const struct run *run, const char *name, char out[RUN_PATH]);
/* Replaces a file in the folder atomically; releases the words. */
int run_folder_write(const struct run *run, const char *name, struct text *words, struct err *err);

#endif
