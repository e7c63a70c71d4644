/* How a tree of a grove is built. */
#ifndef RETAIN_LEARN_NUMBERS_GROVE_BUILD_H
#define RETAIN_LEARN_NUMBERS_GROVE_BUILD_H

#include "learn/numbers/grove.h"

enum {
	GROVE_BAG = 2000, /* rows that a tree is built from, at most */
	GROVE_SAMPLE = 16 /* of a node, that tell whether a column is alike there */
};

/* Of the rows in hand: their places, and a number and the target of those of a node. */
struct grove_bench {
	int32_t bag[GROVE_BAG];
	float values[GROVE_BAG], targets[GROVE_BAG];
};

struct grove_work {
	const struct ops *ops;
	const struct rows *rows;
	const float *targets; /* of all places of rows */
	size_t numbers;       /* of a row, in use */
	struct grove_bench *bench;
	int32_t sample[GROVE_SAMPLE]; /* of the node in hand */
	uint64_t key, drawn, bits;    /* for what is random */
	int64_t visits;               /* of rows to columns, so far */
};

uint64_t grove_draw(struct grove_work *work, uint64_t below);
float grove_draw_share(struct grove_work *work);

/* From the first `count` rows of the bag. */
void grove_build(struct grove_work *work, struct grove_tree *tree, int count);

#endif
