/*
 * The binary tree in which the gradients of a batch's micro-batches are added. It depends
 * on their number alone: the left subtree holds the largest power of two below it.
 *
 * Ranks that share a batch have a run of micro-batches each. The largest subtrees that lie
 * in one rank's run are roots: a rank sums its own, and whoever has the sums of all roots
 * adds up the rest in the same order as one process would.
 */
#ifndef RETAIN_NN_TREE_H
#define RETAIN_NN_TREE_H

#include "base/ranks.h"

/* How many of `count` pieces go to the left. */
int tree_left(int count);

struct tree_root {
	int first, count; /* pieces */
	int rank;         /* who sums them */
};

/* Fills in the roots, at most one per piece, in the order of pieces; returns how many there are. */
int tree_roots(const struct ranks *ranks, int pieces, struct tree_root *roots);

#endif
