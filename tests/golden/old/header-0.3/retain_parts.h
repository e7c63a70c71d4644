/*
 * Parts of a learner that see no weights, for programs that keep their own training loop:
 *
 *	retain_memory   replay: records on disk, and batches drawn from them
 *	retain_guide    learning rate, moving averages, when to validate
 *	retain_record   what was predicted and evaluated, in a run folder
 *
 * Rules of arguments, errors and ownership are those of retain.h.
 */
#ifndef RETAIN_PARTS_H
#define RETAIN_PARTS_H

#include "retain.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Memories
 *
 * A memory keeps records of any bytes (pictures, tokens, names of files) under ids 0, 1, 2, ...
 * and draws batches of them, as a learner with the same settings would: replay.pool, limit,
 * holdout and objective, run.seed. Keys that are not set have their own defaults. A draw is a
 * function of the seed, the iteration and the position in the batch.
 *
 * Once retain_memory_add has returned 0, its records survive a killed process and a power cut.
 * A record takes its bytes on disk (rounded up by at most a sixteenth, or 32) and 24 more, which
 * stay when it is evicted; the place is used again.
 *
 * A memory is thread-safe, except that no other call may be in progress when it is closed.
 * retain_memory_read waits for nobody. It also works in children of fork; all other calls but
 * close reject them there (RETAIN_ERR_STATE).
 */
struct retain_memory;

/*
 * Opens the memory in a folder, or creates it there; a NULL folder means RAM. RETAIN_ERR_INPUT if
 * the folder's memory has other pools, RETAIN_ERR_STATE if another process has it open. A reader
 * may be opened meanwhile by any process, for retain_memory_read and retain_memory_facts.
 */
RETAIN_API int retain_memory_open(struct retain_memory **memory, const struct retain_config *config,
	const char *folder, struct retain_err *err);
RETAIN_API int retain_memory_reader(
	struct retain_memory **memory, const char *folder, struct retain_err *err);
RETAIN_API void retain_memory_close(struct retain_memory *memory);

struct retain_item {
	const void *bytes;
	size_t size;   /* below 2^31 */
	int32_t label; /* for replay.pool = balanced: 0 to 2^20 - 1 */
	int32_t reserved;
};

/*
 * Adds records as one time step, with one sync; *first becomes the id of the first. A failure adds
 * nothing. Every step begins a task, unless run.task_steps or retain_memory_task says otherwise;
 * the latter says it of the next step.
 */
RETAIN_API int retain_memory_add(struct retain_memory *memory, const struct retain_item *items,
	size_t count, int64_t *first, struct retain_err *err);
RETAIN_API int retain_memory_task(struct retain_memory *memory, struct retain_err *err);

/*
 * The training batch of an iteration: ids, the weight of each loss (they sum to 1), and 1 for
 * those of the newest time step. The latter two may be NULL. count is at most 65536, iterations
 * are below 2^48. *drawn is count, or 0 while there is nothing to draw. retain_memory_draw_held
 * draws from the samples that are held out for validation.
 */
RETAIN_API int retain_memory_draw(struct retain_memory *memory, int64_t iteration, int64_t *ids,
	float *weights, unsigned char *fresh, size_t count, size_t *drawn, struct retain_err *err);
RETAIN_API int retain_memory_draw_held(struct retain_memory *memory, int64_t iteration,
	int64_t *ids, size_t count, size_t *drawn, struct retain_err *err);

/*
 * Reads records to `bytes`, one behind the other: record i is at offsets[i] .. offsets[i + 1].
 * offsets has room for count + 1; labels may be NULL. With NULL and 0 for bytes and room only the
 * offsets and labels are filled in. RETAIN_ERR_INPUT for an id that was never added or was
 * evicted, and if there is too little room; RETAIN_ERR_FORMAT for damage.
 */
RETAIN_API int retain_memory_read(struct retain_memory *memory, const int64_t *ids, size_t count,
	void *bytes, size_t room, size_t *offsets, int32_t *labels, struct retain_err *err);

struct retain_memory_facts {
	int64_t records;              /* added */
	int64_t stored;               /* more after retain_memory_back: they will be repeated */
	int64_t training, validation; /* of these, that can be drawn */
	int64_t steps;
	int64_t bytes; /* of the files */
	int64_t reserved[10];
};
RETAIN_API int retain_memory_facts(
	struct retain_memory *memory, struct retain_memory_facts *facts, struct retain_err *err);

/*
 * For a program with checkpoints of its own. Marks the memory as it is now; *mark belongs into the
 * checkpoint. A program that goes on from that checkpoint goes back to the mark and adds the same
 * steps again: what is there is compared, not written, and draws are what they were. The last
 * two marks can be gone back to. From the first mark on, disk space of evicted records is reused
 * only after two more marks. RETAIN_ERR_STATE in RAM.
 */
RETAIN_API int retain_memory_mark(
	struct retain_memory *memory, int64_t *mark, struct retain_err *err);
RETAIN_API int retain_memory_back(
	struct retain_memory *memory, int64_t mark, struct retain_err *err);

/*
 * Guides
 *
 * A guide says what is due in each training iteration, as a learner with the same settings
 * would do it: the rate (schedule.*), which averages of the weights move and by how much
 * (average.*), and when to validate. It is told the scores of validation batches and decides at
 * the end of each window of schedule.window iterations. The program keeps the weights:
 *
 *	retain_guide_due       what iteration k asks for; then the program makes its step at that
 *	                       rate, moves its averages, validates if asked
 *	retain_guide_done      the scores, if any; k is complete
 *
 * Keys that are not set have their own defaults, whatever the data are. A guide needs no more
 * than a few hundred bytes. Use it from one thread at a time.
 */
struct retain_guide;

/* `iterations`: how long the run will be, for a cosine; 0: unknown. NULL: all defaults. */
RETAIN_API int retain_guide_new(struct retain_guide **guide, const struct retain_config *config,
	int64_t iterations, struct retain_err *err);
RETAIN_API void retain_guide_free(struct retain_guide *guide);

enum { RETAIN_AVERAGES = 2, RETAIN_MODELS = 3 }; /* most averages; these and the plain model */

struct retain_due {
	int64_t iteration; /* k, counted from 1 */
	double rate;
	int averages;   /* how many there are: 0 to 2 */
	int move;       /* 1: average = keep * average + (1 - keep) * weights, after the step */
	int statistics; /* 1: a batch in training mode for each average's batch-norm statistics */
	int validate;   /* 1: then score the plain model and each average, on the same batch */
	int window;     /* 1: a window ends with this iteration */
	int serving;    /* the model that predicts now: 0 the plain one, 1 or 2 an average */
	double keep[RETAIN_AVERAGES]; /* exact as float32 */
	int64_t reserved[8];
};

/* What the next iteration asks for. Changes nothing. */
RETAIN_API int retain_guide_due(
	const struct retain_guide *guide, struct retain_due *due, struct retain_err *err);

/* Means over a validation batch: the loss; the accuracy, in [0, 1] (or what is worth as much). */
struct retain_score {
	double loss, accuracy;
};

/* The end of a window; zeros in `window` and all else if nothing was decided. */
struct retain_verdict {
	int window;
	int best; /* the better average, 1 or 2; of two copy it over the other. 0: no average */
	int64_t iteration, rounds;                 /* rounds: validation batches in the window */
	struct retain_score scores[RETAIN_MODELS]; /* means: plain, then averages */
	double keep_before[RETAIN_AVERAGES], keep_after[RETAIN_AVERAGES];
	double rate_before, rate_after;
	int cut;        /* 1: the rate was cut */
	int c1, c2, c3; /* which of MALR's conditions held */
	int noisy;      /* 1: the gap is not known well enough for C3 */
	int reserved_int;
	double score, sigma;            /* minus the loss, and the accuracy gap, of this window */
	double sigma_mean, sigma_error; /* C3: the gap's mean over the patience, and its error */
	int64_t score_age, sigma_age;   /* C1, C2: iterations since the best */
	int64_t reserved[8];
};

/*
 * Completes the iteration. scores: of the plain model and each average, in this order, `count`
 * in all; NULL and 0 if nothing was validated. A score that is NaN is RETAIN_ERR_INPUT, and the
 * iteration is not complete.
 */
RETAIN_API int retain_guide_done(struct retain_guide *guide, const struct retain_score *scores,
	size_t count, struct retain_verdict *verdict, struct retain_err *err);

/* A task of this many iterations begins: schedule.kind = cyclic restarts its cosine. */
RETAIN_API int retain_guide_task(
	struct retain_guide *guide, int64_t iterations, struct retain_err *err);

/*
 * The guide's whole state as bytes. bytes: room for *size bytes, which becomes the length; NULL:
 * only the length. Unpacking needs a guide of the same settings; after a failure free it.
 */
RETAIN_API int retain_guide_pack(
	struct retain_guide *guide, void *bytes, size_t *size, struct retain_err *err);
RETAIN_API int retain_guide_unpack(
	struct retain_guide *guide, const void *bytes, size_t size, struct retain_err *err);

/*
 * Records
 *
 * A record scores what a program predicted, counts what its training costs, and keeps
 * evaluations and a guide's decisions in a run folder that `retain report` and `retain show` read
 * like any other. Labels are classes. Use it from one thread at a time.
 */
struct retain_record;

struct retain_record_plan {
	size_t bins;            /* of evaluation data, which are in time order; 0: none */
	const int64_t *samples; /* how many are in each */
	int64_t evaluations;    /* most evaluations with hits; 0: 1000 */
	double macs;            /* multiply-adds of a sample's forward pass; 0: 1 */
	double parameters;      /* of the net; 0: updates cost nothing */
	double ft_from, ft_to;  /* FT: shares of the stream ahead; both 0: 0.1 and 0.25 */
	int64_t reserved[8];
};

/*
 * Begins a record in a folder, or goes on with it from where retain_record_save was last called. A
 * NULL folder writes nothing. Of the configuration (NULL: all defaults) it uses run.batch,
 * run.budget, run.iterations and eval.*; the folder remembers all of it. plan may be NULL.
 * RETAIN_ERR_INPUT if the folder holds another kind of run.
 */
RETAIN_API int retain_record_open(struct retain_record **record, const struct retain_config *config,
	const char *folder, const struct retain_record_plan *plan, struct retain_err *err);
RETAIN_API void retain_record_close(struct retain_record *record);

/*
 * A time step whose labels are known now: what had been predicted before, `each` classes for
 * every sample, best first (1 to 5; -1: none), and its labels, below 2^20.
 */
RETAIN_API int retain_record_step(struct retain_record *record, const int32_t *predictions,
	size_t each, const int32_t *labels, size_t count, struct retain_err *err);

/* Work since the last call. */
struct retain_spent {
	int64_t iterations;
	int64_t trained;    /* samples forward and backward */
	int64_t validated;  /* samples forward, to validate */
	int64_t statistics; /* samples forward, for batch-norm statistics of averages */
	int64_t updates;    /* of the weights */
	int64_t moves;      /* of an average */
	int64_t reserved[10];
};
RETAIN_API int retain_record_spent(
	struct retain_record *record, const struct retain_spent *spent, struct retain_err *err);

/*
 * How much more may be spent on the steps so far, in iterations of plain SGD: what run.budget (or
 * run.iterations) allows, minus the cost. Train while it is positive.
 */
RETAIN_API int retain_record_left(
	struct retain_record *record, double *iterations, struct retain_err *err);

/* The end of a window, for events.jsonl; one without a decision is ignored. */
RETAIN_API int retain_record_verdict(struct retain_record *record, const struct retain_guide *guide,
	const struct retain_verdict *verdict, struct retain_err *err);

/* How many samples of a bin were right; -1 in all bins: that model was not evaluated. */
struct retain_hits {
	int64_t serving, serving_top5;
	int64_t plain, plain_top5;
};

/*
 * Adds a row to metrics.csv, with the rate and scores of a guide (NULL: none) and, with hits of
 * every bin, IR and FT of models that have seen this share of the stream, in [0, 1].
 */
RETAIN_API int retain_record_evaluate(struct retain_record *record,
	const struct retain_guide *guide, double seen, const struct retain_hits *hits, size_t bins,
	struct retain_err *err);

/* Accuracies in [0, 1], NaN while unknown; ir and ft are those of the last evaluation. */
struct retain_record_metrics {
	int64_t steps, samples, iterations;
	double le, blind, same, most, recent;
	double ir, ir_plain, ft, ft_plain;
	double alarms, cost; /* cost in iterations of plain SGD */
	double chain, kappa; /* as in struct retain_metrics */
	double reserved[14];
};
RETAIN_API int retain_record_metrics(struct retain_record *record,
	struct retain_record_metrics *metrics, struct retain_err *err);

/* Saves it in its folder; also as bytes, like a guide's. Unpacking cuts the folder's logs back. */
RETAIN_API int retain_record_save(struct retain_record *record, struct retain_err *err);
RETAIN_API int retain_record_pack(
	struct retain_record *record, void *bytes, size_t *size, struct retain_err *err);
RETAIN_API int retain_record_unpack(
	struct retain_record *record, const void *bytes, size_t size, struct retain_err *err);

/* Saves it and writes matrix.csv, classes.json and run.json; stopped: before its end. */
RETAIN_API int retain_record_finish(
	struct retain_record *record, int stopped, struct retain_err *err);

#ifdef __cplusplus
}
#endif

#endif
