/*
 * Rolling forests of regression trees over the kept rows, in four models: trees on short and on
 * long windows of the newest rows, each for targets' distances to their centre and to a linear
 * forecast. Trees are rebuilt one at a time, from a bag of rows of a window of random length, as
 * soon as new rows have paid for it; so the cost per row is about constant. Leaves keep learning
 * their mean, and trees are weighted by their record.
 *
 * A node takes the split with the least squared error among random columns and thresholds, each the
 * value of a random row. Some of the columns are drawn by what splits by them were worth in the
 * models' newest trees, so inputs that tell nothing cost little. All randomness is a function of the seed and the tree's number.
 */
#ifndef RETAIN_LEARN_NUMBERS_GROVE_H
#define RETAIN_LEARN_NUMBERS_GROVE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"
#include "learn/numbers/rows.h"
#include "nn/ops.h"

enum { GROVE_LEVEL_SHORT, GROVE_LEVEL_LONG, GROVE_REST_SHORT, GROVE_REST_LONG, GROVE_MODELS };

enum {
	GROVE_TREES = 48, /* of all models */
	GROVE_NODES = 512 /* of a tree, at most; the first is the root */
};

struct grove_node {
	float threshold, sum, count; /* sum: decayed, of `count` targets */
	int16_t column, child; /* child: the left one; the right one is next. A leaf's is itself */
};

struct grove_bench;

struct grove_tree {
	double record, weight; /* weight: follows from the records */
	int32_t nodes;         /* 0: not built yet */
	struct grove_node node[GROVE_NODES];
};

struct grove_model {
	double credit, error; /* error: running mean of trees' */
	int64_t built;
};

struct grove {
	uint64_t seed;
	struct grove_tree *tree;
	struct grove_model model[GROVE_MODELS];
	float worth[ROWS_TARGETS][ROWS_MOST]; /* of columns, for trees of a target */
	const struct ops *ops;
	struct grove_bench *bench; /* to build a tree; NULL in a copy */
};

int grove_init(
	struct grove *grove, uint64_t seed, const struct ops *ops, bool copy, struct err *err);
void grove_release(struct grove *grove);

/* The leaf of a row in each tree. */
struct grove_leaves {
	int64_t built; /* trees built until then */
	int16_t leaf[GROVE_TREES];
};

void grove_ask(const struct grove *grove, const float *row, float answers[GROVE_MODELS],
	struct grove_leaves *leaves);

/*
 * Learns the newest kept row, whose first `numbers` are in use. leaves: what grove_ask found for
 * it, ignored where trees were built since; NULL: unknown.
 */
void grove_learn(struct grove *grove, const float *row, const struct grove_leaves *leaves,
	const struct rows *rows, size_t numbers);

void grove_copy(struct grove *to, const struct grove *from);
/* The cost of a row, its share of new trees included, in visits of rows to columns and nodes. */
double grove_visits(void);
double grove_bytes(void);
void grove_state(struct grove *grove, size_t numbers, struct state *state);

#endif
