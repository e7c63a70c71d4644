#include "learn/numbers/grove_build.h"

#include <math.h>
#include <string.h>

#include "replay/mix.h"

enum { DEEPEST = 14, THRESHOLDS = 8, LEAST_LEAF = 3 };
enum { TRY_PRICE = 12 }; /* of a column in a node, beside its visits */

/* A node that is to be split: bag[from..to-1]. */
struct branch {
	int from, to, depth, node;
};

struct split {
	float gain, threshold;
	size_t column;
	bool found;
};

uint64_t grove_draw(struct grove_work *work, uint64_t below)
{
	/* Half of the bits at a time. */
	if (work->drawn++ % 2)
		work->bits <<= 32;
	else
		work->bits = mix64(work->key + work->drawn * MIX_STEP);
	return (work->bits >> 32) * below >> 32;
}

float grove_draw_share(struct grove_work *work)
{
	return (float)grove_draw(work, 1 << 24) * 0x1p-24F;
}

static float value_of(const struct grove_work *work, int32_t place, size_t column)
{
	return rows_number(work->rows, column)[place];
}

static float draw_value(struct grove_work *work, const struct branch *b, size_t column)
{
	const uint64_t rows = (uint64_t)(b->to - b->from);

	return value_of(work, work->bag[b->from + (int)grove_draw(work, rows)], column);
}

/* Thresholds of a column for the rows of a branch, rising; returns how many, 0 if all are alike. */
static int draw_thresholds(struct grove_work *work, const struct branch *b, size_t column,
	float thresholds[THRESHOLDS])
{
	const int count = b->to - b->from < 16 ? THRESHOLDS / 2 : THRESHOLDS;

	for (int k = 0; k < count; k++) {
		const float value = draw_value(work, b, column);
		int at = k;

		for (; at > 0 && thresholds[at - 1] > value; at--)
			thresholds[at] = thresholds[at - 1];
		thresholds[at] = value;
	}
	if (thresholds[0] != thresholds[count - 1])
		return count;
	for (int k = 0; k < THRESHOLDS; k++) {
		const float value = draw_value(work, b, column);

		if (value == thresholds[0])
			continue;
		thresholds[1] = fmaxf(value, thresholds[0]);
		thresholds[0] = fminf(value, thresholds[0]);
		return 2;
	}
	return 0;
}

struct place {
	float sum, count;
};

/* Rows of a branch by the number of thresholds below them. */
static void sort_rows(struct grove_work *work, const struct branch *b, size_t column,
	const float thresholds[THRESHOLDS], struct place places[THRESHOLDS + 1])
{
	const float *values = rows_number(work->rows, column);

	memset(places, 0, (THRESHOLDS + 1) * sizeof(*places));
	for (int i = b->from; i < b->to; i++) {
		const float value = values[work->bag[i]];
		int at = 4 * (value > thresholds[3]);

		at += 2 * (value > thresholds[at + 1]);
		at += value > thresholds[at];
		at += value > thresholds[at];
		places[at].sum += work->targets[work->bag[i]];
		places[at].count++;
	}
	work->visits += b->to - b->from + TRY_PRICE;
}

static void try_column(struct grove_work *work, const struct branch *b, float sum, size_t column,
	struct split *best)
{
	struct place places[THRESHOLDS + 1], left = {0};
	float thresholds[THRESHOLDS];
	const int count = draw_thresholds(work, b, column, thresholds);
	const float rows = (float)(b->to - b->from);

	if (!count)
		return;
	for (int k = count; k < THRESHOLDS; k++)
		thresholds[k] = INFINITY;
	sort_rows(work, b, column, thresholds, places);
	for (int k = 0; k < count; k++) {
		const float next = k + 1 < count ? thresholds[k + 1] : thresholds[k];
		float gain;

		left.sum += places[k].sum;
		left.count += places[k].count;
		if ((k + 1 < count && next == thresholds[k]) || left.count < LEAST_LEAF ||
			rows - left.count < LEAST_LEAF)
			continue;
		gain = left.sum * left.sum / left.count +
		       (sum - left.sum) * (sum - left.sum) / (rows - left.count);
		if (!(gain > best->gain))
			continue;
		best->gain = gain;
		best->threshold =
			thresholds[k] + (next - thresholds[k]) * grove_draw_share(work) / 2;
		best->column = column;
		best->found = true;
	}
}

/* Moves rows of the left branch to the front; returns the first of the right one. */
static int part_rows(struct grove_work *work, const struct branch *b, const struct split *split)
{
	int from = b->from, to = b->to - 1;

	while (from <= to) {
		const int32_t place = work->bag[from];

		if (value_of(work, place, split->column) <= split->threshold) {
			from++;
		} else {
			work->bag[from] = work->bag[to];
			work->bag[to--] = place;
		}
	}
	return from;
}

/* The sums of a node; false for a leaf, else what a split's gain must exceed. */
static bool count_node(
	struct grove_work *work, struct grove_tree *tree, const struct branch *b, float *least)
{
	const int rows = b->to - b->from;
	float sum = 0, squares = 0;

	for (int i = b->from; i < b->to; i++) {
		const float target = work->targets[work->bag[i]];

		sum += target;
		squares += target * target;
	}
	tree->node[b->node] = (struct grove_node){INFINITY, sum, (float)rows, 0, (int16_t)b->node};
	*least = sum * sum / (float)rows + 1e-6F * squares + 1e-12F;
	return squares - sum * sum / (float)rows > 1e-6F * squares && rows >= 2 * LEAST_LEAF &&
	       b->depth < DEEPEST && tree->nodes + 2 <= GROVE_NODES;
}

void grove_build(struct grove_work *work, struct grove_tree *tree, int count)
{
	const size_t columns = work->numbers - 1; /* all but the 1 */
	const size_t tries = columns < 4 ? columns : 1 + columns / 3;
	struct branch stack[2 * DEEPEST + 2] = {{0, count, 0, 0}};
	int waiting = 1;

	tree->nodes = 1;
	while (waiting) {
		const struct branch b = stack[--waiting];
		struct grove_node *node = &tree->node[b.node];
		struct split split = {0};
		int middle;

		if (!count_node(work, tree, &b, &split.gain))
			continue;
		for (size_t k = 0; k < tries; k++) {
			const size_t column = (size_t)grove_draw(work, columns);

			try_column(work, &b, node->sum, column + (column >= ROWS_ONE), &split);
		}
		middle = split.found ? part_rows(work, &b, &split) : b.from;
		if (middle == b.from || middle == b.to)
			continue;
		node->column = (int16_t)split.column;
		node->threshold = split.threshold;
		node->child = (int16_t)tree->nodes;
		stack[waiting++] = (struct branch){b.from, middle, b.depth + 1, tree->nodes};
		stack[waiting++] = (struct branch){middle, b.to, b.depth + 1, tree->nodes + 1};
		tree->nodes += 2;
	}
}
