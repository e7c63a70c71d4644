#include "learn/numbers/grove_build.h"

#include <math.h>
#include <string.h>

#include "replay/mix.h"

enum { DEEPEST = 14, LEAST_LEAF = 3 };
enum { TRY_PRICE = 12 }; /* of a column in a node, beside its visits */
enum { GUIDED = 3 };     /* columns of a node that are drawn by their worth, at most */

static const float KEEP_WORTH = 0.9F; /* from tree to tree */

/* A node to split: bag[from..to-1]. */
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

	return value_of(work, work->bench->bag[b->from + (int)grove_draw(work, rows)], column);
}

/* Samples rows of a node; columns that are constant in the sample are skipped. */
static void draw_sample(struct grove_work *work, const struct branch *b)
{
	const uint64_t rows = (uint64_t)(b->to - b->from);

	for (int k = 0; k < GROVE_SAMPLE; k++)
		work->sample[k] = work->bench->bag[b->from + (int)grove_draw(work, rows)];
}

/* The first value in the sample that differs from its first row's; if none does, that one. */
static float find_other(const struct grove_work *work, size_t column)
{
	const float *numbers = rows_number(work->rows, column), first = numbers[work->sample[0]];

	for (int k = 1; k < GROVE_SAMPLE; k++)
		if (numbers[work->sample[k]] != first)
			return numbers[work->sample[k]];
	return first;
}

/* Compare and exchange. */
static void put_in_order(float *x, float *y)
{
	const float low = *x < *y ? *x : *y, high = *x < *y ? *y : *x;

	*x = low;
	*y = high;
}

/* Batcher's network sorts without branches. */
static void sort_all(float values[OPS_LIMITS])
{
	static const uint8_t pairs[][2] = {{0, 1}, {2, 3}, {4, 5}, {6, 7}, {0, 2}, {1, 3}, {4, 6},
		{5, 7}, {1, 2}, {5, 6}, {0, 4}, {1, 5}, {2, 6}, {3, 7}, {2, 4}, {3, 5}, {1, 2},
		{3, 4}, {5, 6}};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++)
		put_in_order(&values[pairs[i][0]], &values[pairs[i][1]]);
}

/*
 * Fills in ascending thresholds of a column for the rows of a branch, padded with infinity. Returns
 * their number, 0 if the column is constant.
 */
static int draw_thresholds(struct grove_work *work, const struct branch *b, size_t column,
	float thresholds[OPS_LIMITS])
{
	const int count = b->to - b->from < 16 ? OPS_LIMITS / 2 : OPS_LIMITS;
	const float first = value_of(work, work->sample[0], column);
	const float other = find_other(work, column);

	if (other == first)
		return 0;
	for (int k = 0; k < OPS_LIMITS; k++)
		thresholds[k] = k < count ? draw_value(work, b, column) : INFINITY;
	sort_all(thresholds);
	if (thresholds[0] != thresholds[count - 1])
		return count;
	for (int i = 0; i < OPS_LIMITS; i++)
		thresholds[i] = INFINITY;
	thresholds[0] = fminf(other, first);
	thresholds[1] = fmaxf(other, first);
	return 2;
}

static void try_column(struct grove_work *work, const struct branch *b, float sum, size_t column,
	struct split *best)
{
	float thresholds[OPS_LIMITS], sums[OPS_LIMITS], counts[OPS_LIMITS];
	const float *numbers = rows_number(work->rows, column);
	const int count = draw_thresholds(work, b, column, thresholds), rows = b->to - b->from;

	if (!count)
		return;
	for (int i = 0; i < rows; i++)
		work->bench->values[i] = numbers[work->bench->bag[b->from + i]];
	work->ops->sums_below(
		work->bench->values, work->bench->targets, (size_t)rows, thresholds, sums, counts);
	work->visits += rows + TRY_PRICE;
	for (int k = 0; k < count; k++) {
		const float next = k + 1 < count ? thresholds[k + 1] : thresholds[k];
		const float below = counts[k], above = (float)rows - below;
		float gain;

		if ((k + 1 < count && next == thresholds[k]) || below < LEAST_LEAF ||
			above < LEAST_LEAF)
			continue;
		gain = sums[k] * sums[k] / below + (sum - sums[k]) * (sum - sums[k]) / above;
		if (!(gain > best->gain))
			continue;
		best->gain = gain;
		best->threshold =
			thresholds[k] + (next - thresholds[k]) * grove_draw_share(work) / 2;
		best->column = column;
		best->found = true;
	}
}

/* Partitions rows: the left branch first. Returns the first row of the right one. */
static int part_rows(struct grove_work *work, const struct branch *b, const struct split *split)
{
	int from = b->from, to = b->to - 1;

	while (from <= to) {
		const int32_t place = work->bench->bag[from];

		if (value_of(work, place, split->column) <= split->threshold) {
			from++;
		} else {
			work->bench->bag[from] = work->bench->bag[to];
			work->bench->bag[to--] = place;
		}
	}
	return from;
}

/* Gathers a node's targets and sums; false for a leaf, else the gain that a split must exceed. */
static bool count_node(
	struct grove_work *work, struct grove_tree *tree, const struct branch *b, float *least)
{
	const int rows = b->to - b->from;
	float sum = 0, squares = 0;

	for (int i = 0; i < rows; i++) {
		const float target = work->targets[work->bench->bag[b->from + i]];

		work->bench->targets[i] = target;
		sum += target;
		squares += target * target;
	}
	work->apart = b->node ? work->apart : squares - sum * sum / (float)rows;
	tree->node[b->node] = (struct grove_node){INFINITY, sum, (float)rows, 0, (int16_t)b->node};
	*least = sum * sum / (float)rows + 1e-6F * squares + 1e-12F;
	return squares - sum * sum / (float)rows > 1e-6F * squares && rows >= 2 * LEAST_LEAF &&
	       b->depth < DEEPEST && tree->nodes + 2 <= GROVE_NODES;
}

static void fade_worth(struct grove_work *work)
{
	work->worths = 0;
	for (size_t j = 0; j < work->numbers; j++)
		work->worths += work->worth[j] *= KEEP_WORTH;
}

/* A split is worth the share of the root's error that it explains. */
static void add_worth(struct grove_work *work, size_t column, float gain)
{
	work->worth[column] += gain / work->apart;
	work->worths += gain / work->apart;
}

static size_t draw_by_worth(struct grove_work *work)
{
	float left = grove_draw_share(work) * work->worths;
	size_t j = 0;

	while (j + 1 < work->numbers && left >= work->worth[j])
		left -= work->worth[j++];
	return j == ROWS_ONE ? 0 : j;
}

static size_t draw_column(struct grove_work *work, size_t k)
{
	size_t column;

	if (work->worths > 0 && k % 2 == 0 && k < 2 * GUIDED)
		return draw_by_worth(work);
	column = (size_t)grove_draw(work, work->numbers - 1);
	return column + (column >= ROWS_ONE);
}

void grove_build(struct grove_work *work, struct grove_tree *tree, int count)
{
	const size_t columns = work->numbers - 1; /* all but the 1 */
	const size_t tries = columns < 4 ? columns : 1 + columns / 3;
	struct branch stack[2 * DEEPEST + 2] = {{0, count, 0, 0}};
	int waiting = 1;

	fade_worth(work);
	tree->nodes = 1;
	while (waiting) {
		const struct branch b = stack[--waiting];
		struct grove_node *node = &tree->node[b.node];
		struct split split = {0};
		float least;
		int middle;

		if (!count_node(work, tree, &b, &least))
			continue;
		split.gain = least;
		draw_sample(work, &b);
		for (size_t k = 0; k < tries; k++)
			try_column(work, &b, node->sum, draw_column(work, k), &split);
		middle = split.found ? part_rows(work, &b, &split) : b.from;
		if (middle == b.from || middle == b.to)
			continue;
		add_worth(work, split.column, split.gain - least);
		node->column = (int16_t)split.column;
		node->threshold = split.threshold;
		node->child = (int16_t)tree->nodes;
		stack[waiting++] = (struct branch){b.from, middle, b.depth + 1, tree->nodes};
		stack[waiting++] = (struct branch){middle, b.to, b.depth + 1, tree->nodes + 1};
		tree->nodes += 2;
	}
}
