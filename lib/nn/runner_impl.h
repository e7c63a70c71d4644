/* Shared by the runner's files. */
#ifndef RETAIN_NN_RUNNER_IMPL_H
#define RETAIN_NN_RUNNER_IMPL_H

#include "nn/plan.h"
#include "nn/runner.h"

enum { RUNNER_DEPTH = 31 };

struct runner {
	const struct net *net;
	struct engine *engine;
	int micro;
	struct plan **plans;
	int plan_count;
	float *workspace;
	size_t workspace_floats;
	float *partial[RUNNER_DEPTH]; /* gradients waiting for their sibling, by depth */
	float *weights, *losses;
	int room;              /* of the two above */
	struct shared *shared; /* several processes (nn/ranks/shared.h); NULL: one */
};

/* The plans for full micro-batches and for the rest, made before anything runs. */
struct pieces {
	int size, whole, rest; /* samples per full piece, their number, samples left over */
	int count;             /* of all pieces */
	int begin, end;        /* those that this process runs, */
	bool shared;           /* while others run the rest */
	struct plan *whole_plan, *rest_plan;
	struct plan *bound; /* the one whose weights are packed */
};
int runner_cut(
	struct runner *runner, int n, enum plan_mode mode, struct pieces *pieces, struct err *err);

/* The source of weights: plain or packed. */
struct source {
	const float *params, *stats;
	const struct packed *packed;
};
/* Runs a piece with the weights of a source. */
int runner_run_plan(struct runner *runner, struct pieces *pieces, int piece,
	const struct source *source, const struct plan_run *run, struct err *err);
size_t runner_sample_floats(const struct runner *runner);

/* Cells of a label. */
static inline size_t runner_width(const struct runner_batch *batch)
{
	return batch->loss ? (size_t)batch->loss->width : 1;
}

int runner_check_labels(
	const struct runner *runner, const struct runner_batch *batch, struct err *err);

/* A gradient during the walk of the tree. */
struct walk {
	struct runner *runner;
	const struct runner_batch *batch;
	struct pieces pieces;
	const float *params, *weights;
	float *stats;
	float *losses, *logits;
	float momentum;
	const struct runner_descent *descent; /* NULL: no step */
	float loss;                           /* of the batch, once all losses are known */
};
int runner_walk(struct walk *walk, int first, int count, int depth, float *grad, struct err *err);
/* One piece. `final`, unless NULL, is called as in struct plan_run. */
int runner_run_piece(struct walk *walk, int piece, float *grad, plan_final_fn *final, void *context,
	struct err *err);
float runner_loss(const struct walk *walk);
/* Allocates buffers for the right siblings of a tree of this many pieces: one per level. */
int runner_make_tree(struct runner *runner, int pieces, struct err *err);
/*
 * The tree depends only on the number of pieces: the left subtree has this many of `count`, the
 * largest power of two below it.
 */
int runner_tree_left(int count);
void runner_add(const struct runner *runner, float *into, const float *from, size_t floats);

#endif
