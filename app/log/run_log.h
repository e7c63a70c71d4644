/*
 * Reads a run folder back. Reports, figures and `retain show` all see a run through this, whether
 * it has ended or is still running.
 *
 * A folder is complete when its run has ended. While a run is in progress, or after it was
 * killed, matrix.csv and run.json are missing, classes.json or predictions.csv may be and the last line of metrics.csv or
 * events.jsonl may be cut off: such a line is skipped. Any other format error is reported with
 * the file and the line.
 *
 * Logs may have any length: beyond 16 MiB rows and windows are thinned out evenly, but the last
 * row and all decisions are kept.
 *
 * The parsers work on bytes, not files, so that they can be tested with anything. Their time and
 * memory are linear in the input.
 */
#ifndef RETAIN_LOG_RUN_LOG_H
#define RETAIN_LOG_RUN_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "eval/ledger.h"
#include "session/log/metrics_file.h"
#include "target/target.h"

enum run_log_state {
	RUN_LOG_ENDED,
	RUN_LOG_STOPPED, /* before its end, cleanly */
	RUN_LOG_GOING,   /* a process works in the folder */
	RUN_LOG_KILLED,  /* neither finished nor running */
};

/* A line of config.ini. */
struct run_setting {
	const char *key; /* "section.name" */
	const char *value;
};

/* The end of a validation window. NAN if there is no value. */
struct run_window {
	int64_t iteration;
	double loss_sgd, loss_ma, acc_sgd, acc_ma; /* ma: of the better average */
	double sigma, gamma1, gamma2;              /* gammas: in use during the window */
	double rate;                               /* after it */
};

/* A cut of the rate and its cause. A kind of schedule leaves fields it does not use at 0. */
struct run_cut {
	int64_t iteration;
	double before, after;
	bool c1, c2, c3;
	double score;
	int64_t score_age, sigma_age;
	double sigma_mean, sigma_error;
	bool rollback; /* not cut by the schedule: the loss was NaN ... */
	int64_t to;    /* ... and the run was rolled back to this iteration */
};

/* A drift alarm: after how many samples, and the error rates before and since. */
struct run_alarm {
	int64_t iteration, sample;
	double before, after;
};

/* How often a class was seen, recognised before its label came, and predicted. */
struct run_class {
	int64_t label;
	const char *name; /* NULL: unnamed */
	int64_t seen, right, said;
};

struct run_confusion {
	int64_t label, predicted, times;
};

/* A label that is a number, and what was said about it. */
struct run_pair {
	int64_t sample;
	int number; /* of several at once which, from 0 */
	double label, value, low, high;
};

/* Accuracy, or the share of variance explained, by model time (rows) and data time (bins). */
struct run_matrix {
	int bins, rows;
	double *seen;  /* by row: the share of the stream that the model had seen */
	double *cells; /* rows * bins; NAN: no data */
};

/* A number or string of run.json. */
struct run_fact {
	const char *name;
	const char *word; /* NULL: it is a number */
	double number;
};

struct run_log {
	const char *folder;
	enum run_log_state state;
	const char *config; /* the text of config.ini */
	struct run_setting *settings;
	size_t setting_count;
	struct metrics_row *rows;
	size_t count;
	struct run_window *windows;
	size_t window_count;
	struct run_cut *cuts;
	size_t cut_count;
	struct run_alarm *alarms;
	size_t alarm_count;
	struct run_class *classes; /* by label */
	size_t class_count;
	struct run_confusion *confusions; /* the most frequent first */
	size_t confusion_count;
	struct run_pair *pairs; /* the latest, the oldest first */
	size_t pair_count;
	const char *number_names[TARGET_WIDTH]; /* of several numbers; the name of one is "" */
	int number_count;
	struct run_matrix matrix; /* rows 0: none */
	bool has_facts;           /* run.json exists */
	bool stopped;
	struct ledger ledger;
	bool has_kept; /* the number of samples kept at the end is known: */
	int64_t kept_training, kept_validation;
	struct run_fact
		*facts; /* all others except tables and lists; those of "data" as "data.NAME" */
	size_t fact_count;
	struct arena arena; /* holds all of the above except rows */
};

/* All of a folder's files, or a subset, which is faster. */
enum run_log_files {
	RUN_LOG_CONFIG = 1,
	RUN_LOG_METRICS = 2,
	RUN_LOG_EVENTS = 4,
	RUN_LOG_MATRIX = 8,
	RUN_LOG_FACTS = 16,
	RUN_LOG_CLASSES = 32,
	RUN_LOG_PREDICTIONS = 64,
	RUN_LOG_ALL = 127,
};

int run_log_open(struct run_log **log, const char *folder, unsigned files, struct err *err);
void run_log_close(struct run_log *log);

/* Whether the folder has a config.ini, which identifies a run folder. */
bool run_log_here(const char *folder);

/* A setting's value, or NULL. */
const char *run_log_setting(const struct run_log *log, const char *key);
/* ... as a number; NAN if it is not one. */
double run_log_number(const struct run_log *log, const char *key);

const char *run_log_state_words(enum run_log_state state);

/* The threshold of sigma in malr's C3; NAN if unused. */
double run_log_epsilon(const struct run_log *log);

/* The fraction done, in [0, 1]; NAN if unknown. */
double run_log_progress(const struct run_log *log);

/*
 * "rate 0.2 → 0.1: validation stuck for 3 000 iterations, gap not wider for 3 500, gap 4.1 % > 2
 * %"; for a rollback "back to iteration 600, since the loss was NaN: rate 0.2 → 0.1". The
 * arrow is "->" without UTF-8.
 */
void run_log_cut_words(
	const struct run_log *log, const struct run_cut *cut, bool utf8, struct text *out);

/*
 * "after 12 345 samples: wrong 8.1 % of the time, then 31.0 %"; of numbers "... errors were
 * large 8.1 % of the time, ...".
 */
void run_log_alarm_words(
	const struct run_log *log, const struct run_alarm *alarm, struct text *out);

/* NULL: unnamed. */
const char *run_log_class_name(const struct run_log *log, int64_t label);

/*
 * The number of samples behind a run's numbers; 0: unknown. Below RUN_LOG_FEW it is shown with
 * the number.
 */
enum { RUN_LOG_FEW = 100, RUN_LOG_RECENT = 1000 };
struct run_rests {
	int64_t le, ir, ft, held_out;
	int64_t late_ir, late_ft; /* the most of those evaluations */
};
void run_log_rests(const struct run_log *log, struct run_rests *rests);

/*
 * "Right on held-out samples": the latest window's validation accuracy of the best average, or of
 * the plain model if there is no average; NAN before the first window has ended.
 */
double run_log_held_out(const struct metrics_row *row);

/* Formats 19200 as "19 200", somewhere in out. */
enum { RUN_LOG_GROUPED = 32 };
const char *run_log_grouped(char out[RUN_LOG_GROUPED], int64_t number);

/* A number in the unit of a target, to four digits: "1 128", "812.3", "0.8973", "1.2e+10". */
const char *run_log_quantity(char out[RUN_LOG_GROUPED], double number);

/* What it learned. */
const struct target_type *run_log_target(const struct run_log *log);

/*
 * The parsers: each adds one file's content to a zeroed or partly filled log. `where` is the
 * file's name in messages. The bytes are followed by a NUL byte and are modified.
 */
int run_log_parse_config(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err);
int run_log_parse_metrics(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err);
int run_log_parse_events(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err);
int run_log_parse_matrix(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err);
int run_log_parse_facts(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err);

int run_log_parse_classes(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err);
int run_log_parse_predictions(
	struct run_log *log, const char *where, char *bytes, size_t size, struct err *err);

/* Frees what the parsers allocated and zeroes the log. */
void run_log_release(struct run_log *log);

#endif
