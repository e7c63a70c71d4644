/*
 * Orders and cuts: which of a data set's records make the stream and in what order, and which are
 * for evaluation. A record is in both only if evaluation uses the samples of the stream that the
 * learner holds out: predicted as they come like all others, and never trained on.
 *
 * First the cuts: classes with fewer than min_class records are dropped, and labels are
 * renumbered; `limit` records are kept, spread evenly over the given order. Then the order:
 *
 * - time: by time, records of equal time as given; as given if there are no times;
 * - given: in the order of the data set;
 * - random: in one random order;
 * - tasks: the classes are divided at random into groups of almost equal number, one group after
 *   the other, each in random order.
 *
 * Then the beginning, a fraction `prepare`, is cut off for choosing settings (a part that the
 * data set gives for that counts, too): use_prepare selects that instead of the rest. Last, every
 * eval_every-th record is for evaluation, or those that the data set gives are, or those that the
 * learner holds out.
 *
 * The moment of an evaluation record is the fraction of the stream before it: by its position if
 * it was taken out of the stream, by its time, by its task, or else by its position among
 * evaluation records.
 */
#ifndef RETAIN_STREAMS_ORDER_H
#define RETAIN_STREAMS_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "records/records.h"
#include "replay/pool.h"

enum order_kind { ORDER_TIME, ORDER_GIVEN, ORDER_RANDOM, ORDER_TASKS };

struct order_config {
	enum order_kind kind;
	int tasks;      /* of ORDER_TASKS */
	int eval_every; /* 0: the data set's own evaluation part; -1: none */
	bool eval_held; /* with -1: those held out by `holdout`, which stay in the stream */
	struct holdout holdout;
	int eval_else; /* used instead of 0 if that part turns out to be empty; 0: leave it empty */
	double prepare; /* fraction of the beginning, in [0, 1) */
	bool use_prepare;
	int min_class; /* minimum number of records of a class; 0: any */
	int64_t limit; /* records; 0: all */
	uint64_t seed;
};

struct order {
	uint32_t *stream, *evals; /* records, by position */
	int64_t samples, count;   /* of stream, of evals */
	float *eval_times;        /* increasing, in [0, 1) */
	int64_t *task_first;      /* tasks + 1 positions in the stream; NULL: no tasks */
	int64_t *eval_first;      /* ... and in evals */
	int tasks;                /* with samples */
	int classes;              /* after the cuts */
	int32_t *class_of;        /* the class of a label; -1: dropped */
	bool in_time; /* the stream has its original order: neither shuffled nor in tasks */
};

/* Records without a class are skipped; *bad is their number. */
int order_make(struct order *order, const struct records *records,
	const struct order_config *config, int64_t *bad, struct err *err);
void order_release(struct order *order);

/* A position in the stream as a fraction; just below 1 past the end. */
float order_share(double place, int64_t total);

/* The seed of a stream's randomness: stream.seed, or run.seed if that is 0 or absent. */
uint64_t order_seed(const struct options *options);

/* Reads the options for such records. */
int order_config_read(struct order_config *config, const struct records_info *info,
	const struct options *options, struct err *err);

/* stream.* keys of orders and cuts. Ends with a row without a section. */
extern const struct option_row order_options[];

#endif
