/*
 * How ranks share the tree in which a batch's gradients are added (runner_tree_left). Ranks
 * that share a batch have a run of micro-batches each. The largest subtrees that lie
 * in one rank's run are roots: a rank sums its own, and whoever has the sums of all roots
 * adds up the rest in the same order as one process would.
 */
#ifndef RETAIN_NN_RANKS_TREE_H
#define RETAIN_NN_RANKS_TREE_H

#include "nn/ranks/ranks.h"

struct tree_root {
	int first, count; /* pieces */
	int rank;         /* who sums them */
};

/* Fills in the roots, at most one per piece, in the order of pieces; returns how many there are. */
int tree_roots(const struct ranks *ranks, int pieces, struct tree_root *roots);

#endif
