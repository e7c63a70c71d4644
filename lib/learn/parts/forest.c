/*
 * Rolling forests, in two models: trees of short and of long windows of the newest rows. One tree
 * at a time is built anew, from a bag of rows of a window of random length, as soon as the rows
 * that came have paid for it; so a row costs about the same whenever it comes. Leaves go on
 * counting, and trees are weighed by their record.
 *
 * A node splits by the largest sum of squared class counts (Gini) over some random columns and
 * thresholds, each the value of a random row. Everything random follows from the seed and the
 * number of the tree.
 *
 * Trees know the first CLASSES_MOST classes. Rows of others count in class frequencies only, which are
 * what leaves fall back on.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "learn/parts/part.h"
#include "learn/parts/shares.h"
#include "replay/mix.h"

enum {
	MODELS = 2,
	TREES = 24,   /* of both */
	NODES = 512,  /* of a tree, at most; the first is the root */
	TURNED = 16,  /* nodes whose counts are turned together */
	DEEPEST = 14, /* levels */
	BAG = 2000,   /* rows that a tree is built from, at most */
	THRESHOLDS = 8,
	TOGETHER = 2, /* trees; both forests have a multiple of it */
	LEAST_LEAF = 2,
	FIRST = 20,           /* rows before the first tree */
	CLASSES_MOST = 128,   /* that trees know: they count each in every node */
	ROOM_BYTES = 1 << 24, /* of rows that are kept */
};

static const struct {
	int first, trees;      /* in the list */
	int shortest, longest; /* windows, in rows */
	double credit;         /* what a row pays, in visits of a row to a column */
} FORESTS[MODELS] = {{0, 10, 100, 1000, 200}, {10, 14, 1000, 20000, 400}};

static const double BUILD_PRICE = 50; /* of a tree, beside its visits */
static const double KEEP = 0.98, TRUST = 0.3, LEAST = 1e-3;

struct tree {
	bool built;
	int32_t nodes;
	int32_t column[NODES],
		child[NODES]; /* child: the left one, the right one is next; 0: leaf */
	float threshold[NODES];
	double record;
};

struct forest {
	struct part part;
	int dim, classes, known; /* known: classes that trees count */
	int tries;               /* columns of a node */
	int64_t room, seen;      /* rows that are kept, and that came, */
	int64_t others;          /* but for those of other classes */
	float *rows;             /* [room][dim]; row i is at i % room */
	int32_t *labels;
	struct tree *trees;
	float *counts; /* [tree][node][class] */
	float *turned; /* [class][node]: of one, for checkpoints */
	/* The row that was asked about last, where it ended in each tree, and bits of the models asked. */
	float *asked;
	int32_t leaves[TREES];
	unsigned known_leaves;
	double credit[MODELS];
	int64_t built[MODELS];
	struct shares frequent;
	/* While a tree is built. */
	struct bagged {
		int32_t place, label;
	} * bag;        /* rows */
	float *values;  /* of these, in the column that is tried, */
	int32_t *cells; /* ... and where they count */
	struct rng rng;
	uint64_t key, drawn;
	int64_t visits;
};

static struct forest *mine(struct part *part)
{
	return (struct forest *)part;
}

/* Of a node, by class. */
static float *counts_of(const struct forest *forest, int tree, int node)
{
	return forest->counts + ((size_t)tree * NODES + (size_t)node) * (size_t)forest->known;
}

static void end(struct part *part)
{
	struct forest *forest = mine(part);

	mem_free(forest->rows);
	mem_free(forest->labels);
	mem_free(forest->trees);
	mem_free(forest->counts);
	mem_free(forest->turned);
	mem_free(forest->asked);
	shares_release(&forest->frequent);
	mem_free(forest->bag);
	mem_free(forest->values);
	mem_free(forest->cells);
	mem_free(forest);
}

static bool make_arrays(struct forest *forest)
{
	const size_t room = (size_t)forest->room;

	return shares_init(&forest->frequent, forest->classes) &&
	       (forest->rows = mem_new(room * (size_t)forest->dim, sizeof(float))) &&
	       (forest->labels = mem_new(room, sizeof(*forest->labels))) &&
	       (forest->trees = mem_new(TREES, sizeof(*forest->trees))) &&
	       (forest->bag = mem_new(BAG, sizeof(*forest->bag))) &&
	       (forest->values = mem_new(BAG, sizeof(*forest->values))) &&
	       (forest->cells = mem_new(BAG, sizeof(*forest->cells))) &&
	       (forest->asked = mem_new((size_t)forest->dim, sizeof(float))) &&
	       (forest->turned = mem_new((size_t)forest->known * NODES, sizeof(float))) &&
	       (forest->counts = mem_new(TREES * (size_t)forest->known * NODES, sizeof(float)));
}

static int make(struct part **part, const struct part_view *view, struct err *err)
{
	struct forest *made = mem_new(1, sizeof(*made));
	const int64_t rows = ROOM_BYTES / (int64_t)(view->first * sizeof(float));

	if (!made)
		return err_memory(err, "a forest", sizeof(*made));
	made->dim = (int)view->floats;
	made->classes = net_spec(view->net)->classes;
	made->known = made->classes < CLASSES_MOST ? made->classes : CLASSES_MOST;
	made->room = rows < FORESTS[1].longest ? rows + 1 : FORESTS[1].longest;
	made->tries = 1 + (int)sqrt((double)made->dim);
	if (made->tries < 2)
		made->tries = 2;
	made->rng = (struct rng){(uint64_t)options_int64(view->options, "run.seed"), RNG_FOREST};
	if (!make_arrays(made)) {
		end(&made->part);
		return err_memory(err, "a forest", ROOM_BYTES);
	}
	*part = &made->part;
	return 0;
}

static uint64_t draw(struct forest *forest, uint64_t below)
{
	const uint64_t bits = mix64(forest->key + ++forest->drawn * MIX_STEP);

	return (uint64_t)((unsigned __int128)bits * below >> 64);
}

static float draw_float(struct forest *forest)
{
	return (float)draw(forest, 1 << 24) * 0x1p-24F;
}

static const float *row_of(const struct forest *forest, int64_t place)
{
	return forest->rows + (size_t)place * (size_t)forest->dim;
}

/* A node that is to be split: bag[from..to-1]. */
struct branch {
	int from, to, depth, node;
};

struct split {
	float gain, threshold;
	int column;
};

/* The value of a random row of a branch. */
static float draw_value(struct forest *forest, const struct branch *b, int column)
{
	const int at = b->from + (int)draw(forest, (uint64_t)(b->to - b->from));

	return row_of(forest, forest->bag[at].place)[column];
}

/* Thresholds of a column for the rows of a branch, rising; returns how many, 0 if all are alike. */
static int draw_thresholds(
	struct forest *forest, const struct branch *b, int column, float thresholds[THRESHOLDS])
{
	const int count = b->to - b->from < 16 ? THRESHOLDS / 2 : THRESHOLDS;
	bool alike = true;

	for (int k = 0; k < count; k++) {
		const float value = draw_value(forest, b, column);
		int at = k;

		alike = alike && (!k || value == thresholds[0]);
		for (; at > 0 && thresholds[at - 1] > value; at--)
			thresholds[at] = thresholds[at - 1];
		thresholds[at] = value;
	}
	for (int k = 0; k < THRESHOLDS && alike; k++) {
		const float value = draw_value(forest, b, column);

		if (value == thresholds[0])
			continue;
		thresholds[1] = fmaxf(value, thresholds[0]);
		thresholds[0] = fminf(value, thresholds[0]);
		return 2;
	}
	return alike ? 0 : count;
}

/* Counts the rows of a branch by class, between which thresholds they lie: [place][class]. */
static void count_places(const struct forest *forest, const struct branch *b, int column,
	const float t[THRESHOLDS], int32_t *places)
{
	const int rows = b->to - b->from, classes = forest->known;
	const struct bagged *bag = forest->bag + b->from;
	const float *from = forest->rows + column;
	float *values = forest->values;
	int32_t *cells = forest->cells;

	for (int i = 0; i < rows; i++)
		values[i] = from[(size_t)bag[i].place * (size_t)forest->dim];
	for (int i = 0; i < rows; i++) {
		const float v = values[i];

		cells[i] = classes * ((v > t[0]) + (v > t[1]) + (v > t[2]) + (v > t[3]) +
					     (v > t[4]) + (v > t[5]) + (v > t[6]) + (v > t[7])) +
			   bag[i].label;
	}
	for (int i = 0; i < rows; i++)
		places[cells[i]]++;
}

static void try_column(struct forest *forest, const struct branch *b, const float *all, int column,
	struct split *best)
{
	float thresholds[THRESHOLDS], left[CLASSES_MOST], below = 0;
	int32_t places[(THRESHOLDS + 1) * CLASSES_MOST];
	const int count = draw_thresholds(forest, b, column, thresholds), classes = forest->known;
	const float rows = (float)(b->to - b->from);

	if (!count)
		return;
	forest->visits += b->to - b->from + classes;
	memset(left, 0, (size_t)classes * sizeof(*left));
	memset(places, 0, (size_t)((count + 1) * classes) * sizeof(*places));
	for (int k = count; k < THRESHOLDS; k++)
		thresholds[k] = INFINITY;
	count_places(forest, b, column, thresholds, places);
	for (int k = 0; k < count; k++) {
		float gain_left = 0, gain_right = 0, gain;

		for (int c = 0; c < classes; c++) {
			left[c] += (float)places[k * classes + c];
			below += (float)places[k * classes + c];
		}
		if ((k + 1 < count && thresholds[k + 1] == thresholds[k]) || below < LEAST_LEAF ||
			rows - below < LEAST_LEAF)
			continue;
		for (int c = 0; c < classes; c++) {
			gain_left += left[c] * left[c];
			gain_right += (all[c] - left[c]) * (all[c] - left[c]);
		}
		gain = gain_left / below + gain_right / (rows - below);
		if (gain <= best->gain)
			continue;
		*best = (struct split){gain, thresholds[k], column};
		if (k + 1 < count)
			best->threshold +=
				(thresholds[k + 1] - thresholds[k]) * draw_float(forest) / 2;
	}
}

/* Counts the rows of a node; returns what a split must exceed, or infinity for a leaf. */
static float count_node(
	struct forest *forest, int tree, const struct branch *b, float all[CLASSES_MOST])
{
	const float rows = (float)(b->to - b->from);
	float squares = 0;
	bool pure = false;

	memset(all, 0, (size_t)forest->known * sizeof(*all));
	for (int i = b->from; i < b->to; i++)
		all[forest->bag[i].label]++;
	for (int c = 0; c < forest->known; c++) {
		counts_of(forest, tree, b->node)[c] = all[c];
		squares += all[c] * all[c];
		pure = pure || all[c] == rows;
	}
	if (pure || rows < 2 * LEAST_LEAF || b->depth >= DEEPEST ||
		forest->trees[tree].nodes + 2 > NODES)
		return INFINITY;
	return squares / rows + 1e-6F;
}

/* Sorts the rows of a branch; returns the first on the right. */
static int part_rows(struct forest *forest, const struct branch *b, const struct split *split)
{
	int from = b->from, to = b->to - 1;

	while (from <= to) {
		const struct bagged row = forest->bag[from];

		if (row_of(forest, row.place)[split->column] <= split->threshold) {
			from++;
		} else {
			forest->bag[from] = forest->bag[to];
			forest->bag[to--] = row;
		}
	}
	return from;
}

static void build(struct forest *forest, int at, int rows)
{
	struct tree *tree = &forest->trees[at];
	struct branch stack[2 * DEEPEST + 2] = {{0, rows, 0, 0}};
	float all[CLASSES_MOST];
	int waiting = 1;

	tree->nodes = 1;
	while (waiting) {
		const struct branch b = stack[--waiting];
		struct split split = {.gain = count_node(forest, at, &b, all), .column = -1};
		int middle;

		tree->child[b.node] = tree->column[b.node] = 0;
		for (int k = 0; k < forest->tries && isfinite(split.gain); k++)
			try_column(
				forest, &b, all, (int)draw(forest, (uint64_t)forest->dim), &split);
		middle = split.column < 0 ? b.from : part_rows(forest, &b, &split);
		if (middle == b.from || middle == b.to)
			continue;
		tree->column[b.node] = split.column;
		tree->threshold[b.node] = split.threshold;
		tree->child[b.node] = tree->nodes;
		stack[waiting++] = (struct branch){b.from, middle, b.depth + 1, tree->nodes};
		stack[waiting++] = (struct branch){middle, b.to, b.depth + 1, tree->nodes + 1};
		tree->nodes += 2;
	}
}

/* A tree in place of the one that has stood longest; it begins with the others' mean record. */
static void renew(struct forest *forest, int model)
{
	const int first = FORESTS[model].first, trees = FORESTS[model].trees;
	const int at = first + (int)(forest->built[model] % trees);
	double record = 0;
	int others = 0;
	int64_t window, rows;
	uint32_t bits[4];

	rng_bits(forest->rng, (uint64_t)(forest->built[model] * MODELS + model), bits);
	forest->key = (uint64_t)bits[0] << 32 | bits[1];
	forest->drawn = 0;
	window = (int64_t)(FORESTS[model].shortest *
			   pow((double)FORESTS[model].longest / FORESTS[model].shortest,
				   (double)draw_float(forest)));
	if (window > forest->room)
		window = forest->room;
	if (window > forest->seen)
		window = forest->seen;
	rows = window < BAG ? window : BAG;
	for (int64_t i = 0; i < rows; i++) {
		const int64_t place =
			(forest->seen - 1 - (int64_t)draw(forest, (uint64_t)window)) % forest->room;

		forest->bag[i] = (struct bagged){(int32_t)place, forest->labels[place]};
	}
	forest->visits = 0;
	build(forest, at, (int)rows);
	forest->credit[model] -= (double)forest->visits + BUILD_PRICE;
	for (int i = first; i < first + trees; i++)
		if (forest->trees[i].built && i != at) {
			record += forest->trees[i].record;
			others++;
		}
	forest->trees[at].record = others ? record / others : 0;
	forest->trees[at].built = true;
	forest->built[model]++;
}

static int leaf_of(const struct tree *tree, const float *row)
{
	int node = 0;

	while (tree->child[node])
		node = tree->child[node] + (row[tree->column[node]] > tree->threshold[node]);
	return node;
}

/* The same of several trees at once: one alone would wait for its own steps. */
static void leaves_of(const struct tree *trees, const float *row, int32_t leaves[TOGETHER])
{
	bool moved = true;

	for (int k = 0; k < TOGETHER; k++)
		leaves[k] = 0;
	while (moved) {
		moved = false;
		for (int k = 0; k < TOGETHER; k++) {
			const struct tree *tree = trees + k;
			const int32_t node = leaves[k], child = tree->child[node];
			const int32_t next =
				child + (row[tree->column[node]] > tree->threshold[node]);

			leaves[k] = child ? next : node;
			moved |= child != 0;
		}
	}
}

/* What a model falls back on where a leaf has seen nothing. */
static double prior_of(const struct forest *forest, int model, int class)
{
	return shares_of(&forest->frequent, class, model, forest->seen + forest->others);
}

/* Also tells where the row ended in each tree of the model. */
static void vote(const struct forest *forest, int model, const float *row, float *shares,
	int32_t leaves[TREES])
{
	const int first = FORESTS[model].first, last = first + FORESTS[model].trees;
	double most = -INFINITY, weights = 0, prior = 0;

	memset(shares, 0, (size_t)forest->classes * sizeof(*shares));
	for (int i = first; i < last; i++)
		if (forest->trees[i].built)
			most = fmax(most, forest->trees[i].record);
	for (int i = first; i < last; i += TOGETHER)
		leaves_of(forest->trees + i, row, leaves + i);
	for (int i = first; i < last; i++) {
		const struct tree *tree = &forest->trees[i];
		const float *counts;
		double weight, rows = 1;

		if (!tree->built)
			continue;
		counts = counts_of(forest, i, leaves[i]);
		weight = exp(TRUST * (tree->record - most));
		for (int c = 0; c < forest->known; c++)
			rows += (double)counts[c];
		for (int c = 0; c < forest->known; c++)
			shares[c] += (float)(weight * (double)counts[c] / rows);
		weights += weight;
		prior += weight / rows;
	}
	if (!(weights > 0))
		weights = prior = 1;
	for (int c = 0; c < forest->classes; c++)
		shares[c] =
			(shares[c] + (float)(prior * prior_of(forest, model, c))) / (float)weights;
}

static int answer(struct part *part, int model, const struct part_samples *samples,
	float *probabilities, struct err *err)
{
	struct forest *forest = mine(part);

	const size_t dim = (size_t)forest->dim;
	const float *last = samples->inputs + (size_t)(samples->n - 1) * dim;

	(void)err;
	for (int i = 0; i < samples->n; i++)
		vote(forest, model, samples->inputs + (size_t)i * dim,
			probabilities + (size_t)i * (size_t)forest->classes, forest->leaves);
	if (memcmp(forest->asked, last, dim * sizeof(float)) != 0)
		forest->known_leaves = 0;
	memcpy(forest->asked, last, dim * sizeof(float));
	forest->known_leaves |= 1U << model;
	return 0;
}

/* Every tree is scored by what it said of the row, and counts it. */
static void count_row(struct forest *forest, const float *row, int32_t label)
{
	const bool known = forest->known_leaves == (1U << MODELS) - 1 &&
			   !memcmp(row, forest->asked, (size_t)forest->dim * sizeof(float));

	for (int i = 0; i < TREES; i++) {
		struct tree *tree = &forest->trees[i];
		const int model = i >= FORESTS[1].first;
		double rows = 1, share;
		float *counts;

		if (!tree->built)
			continue;
		counts = counts_of(forest, i, known ? forest->leaves[i] : leaf_of(tree, row));
		for (int c = 0; c < forest->known; c++)
			rows += (double)counts[c];
		share = ((double)counts[label] + prior_of(forest, model, label)) / rows;
		tree->record = KEEP * tree->record + log(share + LEAST);
		counts[label]++;
	}
}

static int learn(struct part *part, struct part_lesson *lesson, struct err *err)
{
	struct forest *forest = mine(part);
	const struct part_samples *samples = &lesson->samples;

	(void)err;
	for (int i = 0; i < samples->n; i++) {
		const float *row = samples->inputs + (size_t)i * (size_t)forest->dim;
		const int32_t label = samples->labels[i].class;

		if (label < forest->known)
			count_row(forest, row, label);
		forest->known_leaves = 0;
		shares_add(&forest->frequent, label, forest->seen + forest->others);
		if (label >= forest->known) {
			forest->others++;
			continue;
		}
		memcpy(forest->rows + (size_t)(forest->seen % forest->room) * (size_t)forest->dim,
			row, (size_t)forest->dim * sizeof(float));
		forest->labels[forest->seen++ % forest->room] = label;
		for (int k = 0; k < MODELS; k++) {
			forest->credit[k] += FORESTS[k].credit;
			if (forest->seen > FIRST && forest->credit[k] > 0)
				renew(forest, k);
		}
	}
	return 0;
}

static double macs(const struct part *part)
{
	(void)part;
	return FORESTS[0].credit + FORESTS[1].credit;
}

static double bytes(const struct part *part)
{
	const struct forest *forest = (const struct forest *)part;

	return (double)forest->room * (forest->dim + 1) * 4 + TREES * (double)sizeof(struct tree) +
	       4.0 * TREES * NODES * forest->known;
}

/* A saved tree may lead nowhere but to nodes of its own, further on, by columns that there are. */
static bool tree_is_sound(const struct forest *forest, const struct tree *tree)
{
	bool sound = tree->nodes >= 0 && tree->nodes <= NODES && isfinite(tree->record);

	for (int i = 0; i < tree->nodes && sound; i++)
		sound = tree->column[i] >= 0 && tree->column[i] < forest->dim &&
			(tree->child[i] == 0 ||
				(tree->child[i] > i && tree->child[i] + 1 < tree->nodes));
	return sound;
}

/*
 * Checkpoints have a tree's counts class by class, which is how they grow: there, and back. A few nodes
 * at a time, so that both sides stay in the cache: a stream whose classes are new in every row does this
 * for every row.
 */
static void turn_counts(struct forest *forest, int at, bool back)
{
	for (int node = 0; node < NODES; node += TURNED)
		for (int c = 0; c < forest->known; c++)
			for (int i = node; i < node + TURNED; i++) {
				float *here = counts_of(forest, at, i) + c;
				float *there = forest->turned + (size_t)c * NODES + i;

				*(back ? here : there) = *(back ? there : here);
			}
}

static void tree_state(struct forest *forest, int at, struct state *state)
{
	struct tree *tree = &forest->trees[at];

	state_enter(state, "tree");
	state_bool(state, "built", &tree->built);
	state_int32s(state, "nodes", &tree->nodes, 1);
	state_int32s(state, "column", tree->column, NODES);
	state_int32s(state, "child", tree->child, NODES);
	state_floats(state, "threshold", tree->threshold, NODES);
	state_double(state, "record", &tree->record);
	turn_counts(forest, at, false);
	state_class_floats(state, "counts", forest->turned, (size_t)forest->known, NODES);
	if (state_reading(state))
		turn_counts(forest, at, true);
	state_leave(state);
	if (state_reading(state) && !state_failed(state) && !tree_is_sound(forest, tree)) {
		state_refuse(state, ERR_FORMAT, "a tree whose nodes cannot be");
		*tree = (struct tree){0};
	}
}

static void state(struct part *part, struct state *state)
{
	struct forest *forest = mine(part);
	bool right = true;

	forest->known_leaves = 0;
	state_enter(state, "forest");
	shares_state(&forest->frequent, state);
	state_int64(state, "seen", &forest->seen);
	if (state_version(state) >= 9)
		state_int64(state, "others", &forest->others);
	state_input_floats(state, "rows", forest->rows,
		(struct state_inputs){
			(size_t)forest->room, (size_t)forest->dim, 1, 0, STATE_BY_ROWS});
	state_int32s(state, "labels", forest->labels, (size_t)forest->room);
	state_doubles(state, "credit", forest->credit, MODELS);
	state_int64s(state, "trees", forest->built, MODELS);
	for (int i = 0; i < TREES && !state_failed(state); i++)
		tree_state(forest, i, state);
	state_leave(state);
	if (!state_reading(state) || state_failed(state))
		return;
	for (int64_t i = 0; i < forest->room; i++)
		right = right && forest->labels[i] >= 0 && forest->labels[i] < forest->known;
	for (int k = 0; k < MODELS; k++)
		right = right && forest->built[k] >= 0 && isfinite(forest->credit[k]);
	if (right && forest->seen >= 0 && forest->others >= 0)
		return;
	state_refuse(state, ERR_FORMAT, "a forest with rows that cannot be");
	memset(forest->labels, 0, (size_t)forest->room * sizeof(*forest->labels));
	forest->seen = forest->others = 0;
}

/* A copy is a forest that can vote: its trees, what they counted and class frequencies behind it. */
static size_t copied(const struct part *part)
{
	const struct forest *forest = (const struct forest *)part;

	return sizeof(*forest) + shares_size(&forest->frequent) +
	       TREES * (sizeof(struct tree) + (size_t)forest->known * NODES * sizeof(float));
}

static void copy(const struct part *part, void *to)
{
	const struct forest *forest = (const struct forest *)part;
	struct forest *made = to;

	*made = *forest;
	made->trees = shares_copy(&made->frequent, &forest->frequent, made + 1);
	made->counts = (float *)(made->trees + TREES);
	memcpy(made->trees, forest->trees, TREES * sizeof(struct tree));
	memcpy(made->counts, forest->counts, TREES * (size_t)forest->known * NODES * sizeof(float));
}

static void answer_copy(const void *copy_of, int model, const struct part_questions *questions,
	float *probabilities)
{
	int32_t leaves[TREES];

	for (int i = 0; i < questions->n; i++)
		vote(copy_of, model, questions->inputs + (size_t)i * (size_t)questions->dim,
			probabilities + (size_t)i * (size_t)questions->classes, leaves);
}

const struct part_type part_forest = {
	.word = "forest",
	.names = (const char *const[]){"forest-short", "forest-long"},
	.models = MODELS,
	.make = make,
	.free = end,
	.answer = answer,
	.learn = learn,
	.macs = macs,
	.bytes = bytes,
	.state = state,
	.copied = copied,
	.copy = copy,
	.answer_copy = answer_copy,
};
