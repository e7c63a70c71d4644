/* Invariant: trees' weights follow from their records; a tree that is not built has weight 0. */
#include "learn/numbers/grove.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/portable_math.h"
#include "base/rng.h"
#include "learn/numbers/grove_build.h"

enum { FIRST = 20, LEAF_MOST = 50 }; /* rows before the first tree; that a leaf's mean is of */
enum { SIDE_BY_SIDE = 16 };

static const struct {
	int first, trees;      /* in the list */
	int shortest, longest; /* windows, in rows */
	double credit;         /* what a row pays, in visits of a row to a column */
	enum rows_target target;
} KINDS[GROVE_MODELS] = {
	[GROVE_LEVEL_SHORT] = {0, 10, 100, 1000, 150, ROWS_LEVEL},
	[GROVE_LEVEL_LONG] = {10, 14, 1000, 20000, 300, ROWS_LEVEL},
	[GROVE_REST_SHORT] = {24, 10, 100, 1000, 150, ROWS_REST},
	[GROVE_REST_LONG] = {34, 14, 1000, 20000, 300, ROWS_REST},
};

static const double BUILD_PRICE = 50; /* of a tree, beside its visits */
static const double KEEP = 0.98, TRUST = 0.3, RATE = 0.02, WORST = 5;

/* An unbuilt tree is an empty leaf. */
static void fell(struct grove_tree *tree)
{
	tree->nodes = 0;
	tree->weight = 0;
	tree->node[0] = (struct grove_node){.threshold = INFINITY};
}

int grove_init(
	struct grove *grove, uint64_t seed, const struct ops *ops, bool copy, struct err *err)
{
	*grove = (struct grove){.seed = seed, .ops = ops};
	for (int k = 0; k < GROVE_MODELS; k++)
		grove->model[k].error = 1;
	grove->tree = mem_new(GROVE_TREES, sizeof(*grove->tree));
	if (!copy)
		grove->bench = mem_new(1, sizeof(*grove->bench));
	for (int i = 0; i < GROVE_TREES && grove->tree; i++)
		fell(&grove->tree[i]);
	if (grove->tree && (copy || grove->bench))
		return 0;
	return err_memory(err, "trees", GROVE_TREES * sizeof(*grove->tree));
}

void grove_release(struct grove *grove)
{
	mem_free(grove->tree);
	mem_free(grove->bench);
}

/*
 * Finds a row's leaves in some trees side by side, since a single walk waits for memory at every
 * step. Walks that have arrived stay, since nothing exceeds a leaf's threshold.
 */
static void find_leaves(
	const struct grove_tree *trees, int count, const float *row, int16_t *leaves)
{
	bool moved = true;

	memset(leaves, 0, (size_t)count * sizeof(*leaves));
	while (moved) {
		moved = false;
		for (int i = 0; i < count; i++) {
			const struct grove_node *node = &trees[i].node[leaves[i]];
			const int next = node->child + (row[node->column] > node->threshold);

			moved |= next != leaves[i];
			leaves[i] = (int16_t)next;
		}
	}
}

static float mean_of(const struct grove_node *leaf)
{
	return leaf->sum / (leaf->count + 1);
}

static int64_t built(const struct grove *grove)
{
	int64_t sum = 0;

	for (int k = 0; k < GROVE_MODELS; k++)
		sum += grove->model[k].built;
	return sum;
}

static void find_all(const struct grove *grove, const float *row, struct grove_leaves *leaves)
{
	leaves->built = built(grove);
	for (int k = 0; k < GROVE_MODELS; k++)
		find_leaves(grove->tree + KINDS[k].first, KINDS[k].trees, row,
			leaves->leaf + KINDS[k].first);
}

void grove_ask(const struct grove *grove, const float *row, float answers[GROVE_MODELS],
	struct grove_leaves *leaves)
{
	find_all(grove, row, leaves);
	for (int k = 0; k < GROVE_MODELS; k++) {
		const struct grove_tree *tree = grove->tree + KINDS[k].first;
		const int16_t *leaf = leaves->leaf + KINDS[k].first;
		double sum = 0, weights = 0;

		for (int i = 0; i < KINDS[k].trees; i++, tree++) {
			sum += tree->weight * (double)mean_of(&tree->node[leaf[i]]);
			weights += tree->weight;
		}
		answers[k] = weights > 0 ? (float)(sum / weights) : 0;
	}
}

static void weigh(struct grove *grove, int model)
{
	struct grove_tree *tree = grove->tree + KINDS[model].first;
	const int trees = KINDS[model].trees;
	double most = -INFINITY, weights[SIDE_BY_SIDE];

	for (int i = 0; i < trees; i++)
		if (tree[i].nodes && tree[i].record > most)
			most = tree[i].record;
	for (int i = 0; i < trees; i++)
		weights[i] = tree[i].nodes ? TRUST * (tree[i].record - most) : 0;
	portable_exps(weights, trees);
	for (int i = 0; i < trees; i++)
		tree[i].weight = tree[i].nodes ? weights[i] : 0;
}

/* Scores every tree by its answer for the row, and lets its leaf learn the row. */
static void score(struct grove *grove, int model, const int16_t *leaves, float target)
{
	struct grove_model *of = &grove->model[model];
	const double least = of->error + 1e-9;
	double errors = 0;
	int trees = 0;

	for (int i = 0; i < KINDS[model].trees; i++) {
		struct grove_tree *tree = &grove->tree[KINDS[model].first + i];
		struct grove_node *leaf;
		double error;

		if (!tree->nodes)
			continue;
		leaf = &tree->node[leaves[i]];
		error = fabs((double)(target - mean_of(leaf)));
		tree->record = KEEP * tree->record - fmin(error / least, WORST);
		errors += error;
		trees++;
		leaf->sum += target;
		leaf->count++;
		if (leaf->count > LEAF_MOST) {
			leaf->sum *= LEAF_MOST / leaf->count;
			leaf->count = LEAF_MOST;
		}
	}
	if (trees)
		of->error += RATE * (errors / trees - of->error);
}

/* Draws a bag of rows from a window of random length, uniform in its logarithm. */
static int fill_bag(struct grove_work *work, int model)
{
	const struct rows *rows = work->rows;
	const double ratio = (double)KINDS[model].longest / KINDS[model].shortest;
	int64_t window =
		(int64_t)(KINDS[model].shortest *
			  portable_exp((double)grove_draw_share(work) * portable_log(ratio)));
	int count;

	if (window > rows_kept(rows))
		window = rows_kept(rows);
	count = window < GROVE_BAG ? (int)window : GROVE_BAG;
	for (int i = 0; i < count; i++) {
		const int64_t id = rows->seen - 1 - (int64_t)grove_draw(work, (uint64_t)window);

		work->bench->bag[i] = (int32_t)(id % rows->room);
	}
	return count;
}

/* Replaces the oldest tree; the new one begins with the others' mean record. */
static void renew(struct grove *grove, int model, const struct rows *rows, size_t numbers)
{
	struct grove_model *of = &grove->model[model];
	const int first = KINDS[model].first, trees = KINDS[model].trees;
	struct grove_tree *tree = &grove->tree[first + (int)(of->built % trees)];
	struct grove_work work = {.ops = grove->ops,
		.rows = rows,
		.targets = rows->target[KINDS[model].target],
		.numbers = numbers,
		.worth = grove->worth[KINDS[model].target],
		.bench = grove->bench};
	double record = 0;
	int others = 0;
	uint32_t bits[4];

	rng_bits((struct rng){grove->seed, RNG_FOREST},
		(uint64_t)(of->built * GROVE_MODELS + model), bits);
	work.key = (uint64_t)bits[0] << 32 | bits[1];
	grove_build(&work, tree, fill_bag(&work, model));
	of->credit -= (double)work.visits + BUILD_PRICE;
	of->built++;
	for (int i = first; i < first + trees; i++)
		if (grove->tree[i].nodes && &grove->tree[i] != tree) {
			record += grove->tree[i].record;
			others++;
		}
	tree->record = others ? record / others : 0;
}

void grove_learn(struct grove *grove, const float *row, const struct grove_leaves *leaves,
	const struct rows *rows, size_t numbers)
{
	const size_t at = rows_place(rows, rows->seen - 1);
	struct grove_leaves found;

	if (!leaves || leaves->built != built(grove)) {
		find_all(grove, row, &found);
		leaves = &found;
	}
	for (int k = 0; k < GROVE_MODELS; k++) {
		score(grove, k, leaves->leaf + KINDS[k].first, rows->target[KINDS[k].target][at]);
		grove->model[k].credit += KINDS[k].credit;
		if (rows->seen > FIRST && grove->model[k].credit > 0)
			renew(grove, k, rows, numbers);
		weigh(grove, k);
	}
}

void grove_copy(struct grove *to, const struct grove *from)
{
	for (int i = 0; i < GROVE_TREES; i++) {
		const struct grove_tree *tree = &from->tree[i];

		memcpy(&to->tree[i], tree,
			offsetof(struct grove_tree, node) +
				(size_t)tree->nodes * sizeof(*tree->node));
	}
}

double grove_visits(void)
{
	double visits = 2 * GROVE_TREES * 10; /* asked and scored, about ten nodes each */

	for (int k = 0; k < GROVE_MODELS; k++)
		visits += KINDS[k].credit;
	return visits;
}

double grove_bytes(void)
{
	return GROVE_TREES * (double)sizeof(struct grove_tree) + sizeof(struct grove_bench);
}

/* Children come after their parents, so every walk ends. */
static bool tree_sound(const struct grove_tree *tree, size_t numbers)
{
	bool right = fabs(tree->record) < 1e6;

	for (int i = 0; i < tree->nodes && right; i++) {
		const struct grove_node *node = &tree->node[i];

		right = isfinite(node->sum) && node->count >= 0 && node->count < 1e6F &&
			node->column >= 0 && (size_t)node->column < numbers &&
			(node->child == i ? node->threshold == INFINITY
					  : isfinite(node->threshold) && node->child > i &&
						    node->child + 1 < tree->nodes);
	}
	return right;
}

static void tree_state(struct grove_tree *tree, size_t numbers, struct state *state)
{
	state_enter(state, "tree");
	state_double(state, "record", &tree->record);
	state_int(state, "nodes", &tree->nodes);
	if (tree->nodes < 0 || tree->nodes > GROVE_NODES)
		state_refuse(state, ERR_FORMAT, "a tree of %d nodes", tree->nodes);
	if (!state_failed(state))
		state_bytes(state, "node", tree->node, (size_t)tree->nodes * sizeof(*tree->node));
	state_leave(state);
	if (state_reading(state) && !tree->nodes)
		fell(tree);
	if (!state_reading(state) || (!state_failed(state) && tree_sound(tree, numbers)))
		return;
	state_refuse(state, ERR_FORMAT, "a tree with nodes that cannot be");
	fell(tree);
}

/* Older versions had none. */
static void worth_state(struct grove *grove, size_t numbers, struct state *state)
{
	bool right = true;

	if (state_reading(state))
		memset(grove->worth, 0, sizeof(grove->worth));
	if (state_version(state) < 20)
		return;
	for (int k = 0; k < ROWS_TARGETS; k++) {
		state_floats(state, "worth", grove->worth[k], numbers);
		for (size_t j = 0; j < numbers; j++)
			right = right && grove->worth[k][j] >= 0 && grove->worth[k][j] < 1e6F;
	}
	if (!right)
		state_refuse(state, ERR_FORMAT, "columns of trees with a worth that cannot be");
	if (state_failed(state))
		memset(grove->worth, 0, sizeof(grove->worth));
}

void grove_state(struct grove *grove, size_t numbers, struct state *state)
{
	bool right = true;

	state_enter(state, "grove");
	for (int k = 0; k < GROVE_MODELS; k++) {
		struct grove_model *of = &grove->model[k];

		state_double(state, "credit", &of->credit);
		state_double(state, "error", &of->error);
		state_int64(state, "built", &of->built);
		right = right && fabs(of->credit) < 1e12 && of->error >= 0 && of->error < 1e6 &&
			of->built >= 0 && of->built < INT64_MAX / GROVE_MODELS - 1;
	}
	if (!right)
		state_refuse(state, ERR_FORMAT, "trees with records that cannot be");
	for (int i = 0; i < GROVE_TREES && !state_failed(state); i++)
		tree_state(&grove->tree[i], numbers, state);
	worth_state(grove, numbers, state);
	state_leave(state);
	if (!state_reading(state))
		return;
	for (int i = 0; i < GROVE_TREES && state_failed(state); i++)
		fell(&grove->tree[i]);
	for (int k = 0; k < GROVE_MODELS; k++)
		weigh(grove, k);
}
