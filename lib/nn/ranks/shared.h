/*
 * Batches shared by ranks. Each runs some of a batch's pieces, and all get all results. A batch
 * of one piece is not shared: every caller runs it. All functions but the first three are for
 * shared batches, and all ranks must call them.
 */
#ifndef RETAIN_NN_RANKS_SHARED_H
#define RETAIN_NN_RANKS_SHARED_H

#include "nn/ranks/tree.h"
#include "nn/runner_impl.h"

/* The state of a runner with several ranks. */
struct shared {
	struct ranks *ranks;
	struct tree_root *roots;
	float **sums; /* of roots: the whole gradient of this rank's, this rank's slices of others' */
	float **own; /* gradients of this rank's roots, except its first */
	int own_count;
	struct ranks_message *send, *receive;
	float *stats; /* batch norm: a row per piece */
	int room;
	float *received;
	size_t received_room;
};

int shared_new(struct shared **shared, struct ranks *ranks, struct err *err);
void shared_free(struct shared *shared);

/* Whether a batch of n samples is shared; which of them a rank reads. */
bool shared_cuts(const struct runner *runner, int n);
void shared_part(const struct runner *runner, int n, int rank, int *first, int *count);

/* This rank's pieces, and the first piece of any rank. */
void shared_cut(const struct runner *runner, struct pieces *pieces);
int shared_begin(const struct runner *runner, const struct pieces *pieces, int rank);

/* Buffers for a training pass. */
int shared_ready(struct walk *walk, struct err *err);
float *shared_piece_stats(const struct walk *walk, int piece);

/*
 * Runs this rank's pieces; produces its slices of the gradient, all results and the sum of
 * losses, and makes the step that may follow (flow.c). If one rank fails the others wait in vain.
 * shared_gather gathers all slices of a buffer.
 */
int shared_descend(struct walk *walk, float *grad, struct err *err);
void shared_gather(const struct runner *runner, float *values);

/* Gives all ranks all of (n, width) values (NULL: none); logits and statistics. */
void shared_samples(
	struct runner *runner, const struct pieces *pieces, float *values, size_t width, int n);
void shared_results(struct walk *walk);

/*
 * Rejects ranks that would be slower than one process, by a measurement with the net's
 * parameters, unless they are to share anyway.
 */
int shared_worth(struct runner *runner, const float *params, int batch, struct err *err);

#endif
