/* What the runner's files share. */
#ifndef RETAIN_NN_RUNNER_IMPL_H
#define RETAIN_NN_RUNNER_IMPL_H

#include "nn/plan/plan.h"
#include "nn/runner.h"
#include "nn/tree.h"

enum { RUNNER_DEPTH = 31 };

/* What a runner of several ranks needs; it has room for so many pieces and received floats. */
struct runner_shared {
	struct ranks *ranks; /* NULL: alone */
	struct tree_root *roots;
	float **sums; /* of roots: the whole gradient of this rank's, what it keeps of others' */
	float **own;  /* gradients of this rank's roots, but for its first */
	int own_count;
	struct ranks_message *send, *receive;
	float *stats; /* batch norm: a row per piece */
	int room;
	float *received;
	size_t received_room;
};

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
	int room; /* of the two above */
	struct runner_shared shared;
};

/* The plans for whole micro-batches and for the rest, made before anything runs. */
struct pieces {
	int size, whole, rest; /* samples per whole piece, their number, samples left over */
	int count;             /* of all pieces */
	int begin, end;        /* those that this rank runs */
	struct plan *whole_plan, *rest_plan;
	struct plan *bound; /* the one whose weights are packed */
};
int runner_cut(
	struct runner *runner, int n, enum plan_mode mode, struct pieces *pieces, struct err *err);

/* Where weights come from: plain, or packed already. */
struct source {
	const float *params, *stats;
	const struct packed *packed;
};
struct plan *runner_piece_plan(
	struct runner *runner, struct pieces *pieces, int piece, const struct source *source);
size_t runner_sample_floats(const struct runner *runner);

int runner_check_labels(
	const struct runner *runner, const struct runner_batch *batch, struct err *err);

/* One gradient as the tree is walked. */
struct walk {
	struct runner *runner;
	const struct runner_batch *batch;
	struct pieces pieces;
	const float *params, *weights;
	float *stats;
	float *losses, *logits;
	float momentum;
	const struct runner_descent *descent; /* NULL: nothing follows */
	float loss;                           /* of the batch, once all losses are known */
};
void runner_walk(struct walk *walk, int first, int count, int depth, float *grad);
/* One piece. `final`, unless NULL, is called as in struct plan_run. */
void runner_run_piece(
	struct walk *walk, int piece, float *grad, plan_final_fn *final, void *context);
float runner_loss(const struct walk *walk);
/* Buffers for the right siblings of a tree of so many pieces: one per level. */
int runner_make_tree(struct runner *runner, int pieces, struct err *err);
void runner_add(const struct runner *runner, float *into, const float *from, size_t floats);

/*
 * Several ranks. runner_share_pieces says which pieces are this rank's; a batch of one piece
 * is everybody's. runner_share_samples gives all what each has of (n, width) values; NULL
 * for none. runner_sum_pieces runs the own pieces and leaves the own slices of the gradient,
 * all losses and their sum, and makes the step that may follow (runner_flow.c);
 * runner_fold_stats brings all pieces' statistics together.
 */
bool runner_shares(const struct runner *runner, const struct pieces *pieces);
int runner_piece_begin(const struct runner *runner, const struct pieces *pieces, int rank);
void runner_share_pieces(const struct runner *runner, struct pieces *pieces);
void runner_share_samples(
	struct runner *runner, const struct pieces *pieces, float *values, size_t width, int n);
int runner_make_shared(struct runner *runner, const struct walk *walk, struct err *err);
void runner_sum_pieces(struct walk *walk, float *grad);
float *runner_piece_stats(const struct walk *walk, int piece);
void runner_fold_stats(struct walk *walk);
void runner_free_shared(struct runner_shared *shared);

#endif
