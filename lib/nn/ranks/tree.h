/*
 * How ranks share the tree in which a batch's gradients are summed (runner_tree_left). Each rank
 * has a contiguous range of micro-batches. The largest subtrees within one rank's range are
 * roots: a rank sums its own, and whoever has the sums of all roots adds the rest in the same
 * order as one process would.
 */
#ifndef RETAIN_NN_RANKS_TREE_H
#define RETAIN_NN_RANKS_TREE_H

#include "nn/ranks/ranks.h"

struct tree_root {
	int first, count; /* pieces */
	int rank;         /* who sums them */
};

/* Fills in the roots, at most one per piece, in the order of pieces; returns their number. */
int tree_roots(const struct ranks *ranks, int pieces, struct tree_root *roots);

#endif
