/*
 * A run: a stream, a learner, and what is written down about the two. The loop
 * plays the protocol over the whole stream: predict a time step, score it, reveal
 * it, train; from time to time evaluate. What happened goes to a folder:
 *
 *	config.ini         every key with its value; makes the run again
 *	metrics.csv        a row per evaluation (docs/metrics.md)
 *	events.jsonl       every window and every cut, with the numbers that caused them
 *	matrix.csv         accuracy by model time and data time
 *	run.json           version, machine, what the run cost and came to
 *	model.safetensors  the weights that serve inference
 *	checkpoint/        the whole state, from time to time (run/checkpoint.h)
 *	journal/           the samples of a live stream (live/live.h)
 *	lock               held while a process works in the folder
 *	report.html        curves to look at
 */
#ifndef RETAIN_RUN_RUN_H
#define RETAIN_RUN_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "base/options.h"
#include "run/metrics_file.h"

/* How far a run is, told after every time step. */
struct run_progress {
	int64_t step, steps, iteration, iterations;
	double seconds;       /* of this process, since its first step */
	double train_seconds; /* of the whole run, without evaluations */
	int64_t resumed;      /* the iteration it began with */
	double rate, sigma, gamma[2];
	int averages;
	double le, blind;
	double ir; /* of the last evaluation; NAN before the first */
};

/* What to do with a folder that holds a run. */
enum run_start {
	RUN_NEW,    /* refuse it */
	RUN_RESUME, /* go on from its last checkpoint, or begin anew if it has none */
	RUN_ANEW,   /* begin anew; what is there goes */
};

struct run_config {
	const struct options *options; /* borrowed as long as the run lives */
	const char *name;              /* in the report */
	const char *folder;            /* made if need be; NULL: nothing is written */
	struct log log;
	void (*progress)(void *context, const struct run_progress *progress);
	void *context;
	int input, output; /* of a live stream: descriptors; the same: there is none */
	const volatile sig_atomic_t *stop; /* where not NULL and set: stop after the iteration */
	enum run_start start;
	struct program *program; /* whose run it is (api/program.h), borrowed; NULL: nobody's */
};

/* What a run came to. Accuracies in [0, 1]. */
struct run_result {
	bool stopped; /* before its end */
	bool saved;   /* ... and can go on from a checkpoint */
	int64_t step; /* time steps made */
	/* By eval/summary.h. */
	struct metrics_row last;
	double late_ir, late_ft, late_ir_sgd, cost;
	double seconds, iterations_per_s; /* of the whole, evaluations included */
	double train_seconds;             /* without evaluations */
	int64_t rows;
	int64_t lines, bad_lines; /* of a live stream */
	int64_t skipped;          /* samples that could not be read (stream.on_bad) */
	double waited;            /* seconds that this process waited for data on disk */
};

struct run;

/* Everything that can be refused is refused here, before any work. */
int run_open(struct run **run, const struct run_config *config, struct err *err);

/* Goes on to the end of the stream and writes the folder's last files. */
int run_go(struct run *run, struct run_result *result, struct err *err);
void run_close(struct run *run);

/* Whether it is of a live stream: then nobody knows how long it is. */
bool run_endless(const struct run *run);

/* How many time steps it goes over; what it computes with (a text that lives for ever). */
int64_t run_steps(const struct run *run);
int run_threads(const struct run *run);
const char *run_isa(const struct run *run);

/* One line about the run: its stream, net and budget. */
void run_describe(const struct run *run, char *out, size_t size);

#endif
