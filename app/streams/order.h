/*
 * Orders and cuts: which of a data set's records make the stream and in what
 * order, and which are for evaluation. A record is in both only where evaluation is on
 * samples of the stream that the learner holds out: predicted as they come like all
 * others, and never trained on.
 *
 * First the cuts: classes with fewer than min_class records go, and labels close
 * up; `limit` records are kept, evenly over the given order. Then the order:
 *
 * - time: by time, records of equal time as given; as given where there are none;
 * - given: as the data set names them;
 * - random: in one random order;
 * - tasks: the classes are divided at random into groups of almost equal number,
 *   one group after the other, each in random order.
 *
 * Then the beginning, `prepare` of what there is, is cut off to choose settings
 * on (a part that the data set gives for that counts, too): use_prepare takes
 * that instead of the rest. Last, every eval_every-th record is for evaluation,
 * or those that the data set gives are, or those that the learner holds out.
 *
 * The moment of an evaluation record is the share of the stream that comes
 * before it: by its place where it was taken out of the stream, by its time, by
 * its task, or else by its place among evaluation records.
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
	int eval_every; /* 0: the data set's own evaluation part; -1: nothing is */
	bool eval_held; /* with -1: those that `holdout` holds out, which stay in the stream */
	struct holdout holdout;
	int eval_else;  /* in place of 0 where that part turns out to be empty; 0: leave it so */
	double prepare; /* share of the beginning, in [0, 1) */
	bool use_prepare;
	int min_class; /* records that a class must have; 0: any number */
	int64_t limit; /* records; 0: all */
	uint64_t seed;
};

struct order {
	uint32_t *stream, *evals; /* records, by place */
	int64_t samples, count;   /* of stream, of evals */
	float *eval_times;        /* grows, in [0, 1) */
	int64_t *task_first;      /* tasks + 1 places in the stream; NULL: there are no tasks */
	int64_t *eval_first;      /* ... and in evals */
	int tasks;                /* those that have samples */
	int classes;              /* that are left */
	int32_t *class_of;        /* the class of a label; -1: it went */
	bool in_time;             /* the stream is as it was made: neither shuffled nor in tasks */
};

/* Records whose label is in no class take no part; *bad says how many there were. */
int order_make(struct order *order, const struct records *records,
	const struct order_config *config, int64_t *bad, struct err *err);
void order_release(struct order *order);

/* A place in the stream as a share of its total; just below 1 for what comes after the end. */
float order_share(double place, int64_t total);

/* stream.seed, or run.seed where that is 0 or no key: what is random about a stream. */
uint64_t order_seed(const struct options *options);

/* What the options say for such records. */
int order_config_read(struct order_config *config, const struct records_info *info,
	const struct options *options, struct err *err);

/* stream.* keys of orders and cuts. Ends with a row without a section. */
extern const struct option_row order_options[];

#endif
