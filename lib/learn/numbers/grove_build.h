/* How a tree of a grove is built. */
#ifndef RETAIN_LEARN_NUMBERS_GROVE_BUILD_H
#define RETAIN_LEARN_NUMBERS_GROVE_BUILD_H

#include "learn/numbers/grove.h"

enum {
	GROVE_BAG = 2000, /* rows that a tree is built from, at most */
	GROVE_SAMPLE =
		16 /* rows of a node that are compared to see whether a column varies there */
};

/* Scratch: places of the bag's rows; one column and the targets of a node's rows. */
struct grove_bench {
	int32_t bag[GROVE_BAG];
	float values[GROVE_BAG], targets[GROVE_BAG];
};

struct grove_work {
	const struct ops *ops;
	const struct rows *rows;
	const float *targets; /* of all places of rows */
	size_t numbers;       /* of a row, in use */
	float *worth, worths; /* of columns, and their sum */
	float apart;          /* squared error of the root */
	struct grove_bench *bench;
	int32_t sample[GROVE_SAMPLE]; /* of the node in hand */
	uint64_t key, drawn, bits;    /* of random numbers */
	int64_t visits;               /* of rows to columns, so far */
};

uint64_t grove_draw(struct grove_work *work, uint64_t below);
float grove_draw_share(struct grove_work *work);

/* From the first `count` rows of the bag. */
void grove_build(struct grove_work *work, struct grove_tree *tree, int count);

#endif
