/*
 * Batches of any size on plans of at most `micro` samples. Plans are kept by
 * batch size and mode; they share one workspace, as long as the neediest of
 * them wants. A batch's gradient is the sum of its micro-batches' in a binary
 * tree that depends on their number alone: the left subtree holds the largest
 * power of two, so processes that share a batch can sum subtrees and get the
 * same bits.
 */
#include <string.h>
#include "base/mem.h"
#include "nn/kernels.h"
#include "nn/plan/plan.h"
#include "nn/runner.h"

enum {
	TREE_DEPTH = 31,
	ADD_PIECE = 1 << 16, /* floats per task when gradients are added */
};

static const float STATS_MOMENTUM = 0.1f;

struct runner {
	const struct net *net;
	struct engine *engine;
	int micro;
	struct plan **plans;
	int plan_count;
	float *workspace;
	size_t workspace_floats;
	float *partial[TREE_DEPTH]; /* gradients waiting for their sibling, by depth */
	float *weights, *losses;
	int room; /* of the two above */
};

int runner_new(struct runner **runner, const struct net *net, struct engine *engine, int micro,
	struct err *err)
{
	*runner = NULL;
	if (micro < 0)
		return err_set(err, ERR_INPUT,
			"micro-batches of %d samples: must be 0 (never cut) or more", micro);
	struct runner *made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, "a runner", sizeof(*made));
	made->net = net;
	made->engine = engine;
	made->micro = micro;
	*runner = made;
	return 0;
}

void runner_free(struct runner *runner)
{
	if (!runner)
		return;
	for (int i = 0; i < runner->plan_count; i++)
		plan_free(runner->plans[i]);
	for (int i = 0; i < TREE_DEPTH; i++)
		mem_free(runner->partial[i]);
	mem_free(runner->plans);
	mem_free(runner->workspace);
	mem_free(runner->weights);
	mem_free(runner->losses);
	mem_free(runner);
}

static int grow_workspace(struct runner *runner, size_t floats, struct err *err)
{
	if (floats <= runner->workspace_floats)
		return 0;
	/* The old one goes first: the two together might not fit. */
	mem_free(runner->workspace);
	runner->workspace_floats = 0;
	runner->workspace = mem_new(floats, sizeof(float));
	if (!runner->workspace)
		return err_memory(err, "the workspace of this batch size",
			(unsigned long long)floats * sizeof(float));
	runner->workspace_floats = floats;
	return 0;
}

static int add_plan(
	struct runner *runner, int n, enum plan_mode mode, struct plan **plan, struct err *err)
{
	struct plan **grown = mem_resize(runner->plans, runner->plan_count + 1, sizeof(*grown));

	if (!grown)
		return err_memory(err, "a list of plans", sizeof(*grown));
	runner->plans = grown;
	const int code = plan_new(plan, runner->net, runner->engine, n, mode, err);
	if (code)
		return code;
	runner->plans[runner->plan_count++] = *plan;
	return 0;
}

static int get_plan(
	struct runner *runner, int n, enum plan_mode mode, struct plan **plan, struct err *err)
{
	*plan = NULL;
	for (int i = 0; i < runner->plan_count && !*plan; i++)
		if (plan_batch(runner->plans[i]) == n && plan_mode(runner->plans[i]) == mode)
			*plan = runner->plans[i];
	if (!*plan) {
		const int code = add_plan(runner, n, mode, plan, err);
		if (code)
			return code;
	}
	return grow_workspace(runner, plan_floats(*plan), err);
}

/* The plans for whole micro-batches and for the rest, made before anything runs. */
struct pieces {
	int size, whole, rest; /* samples per whole piece, their number, samples left over */
	struct plan *whole_plan, *rest_plan;
	struct plan *bound; /* the one whose weights are packed */
};

static int cut(
	struct runner *runner, int n, enum plan_mode mode, struct pieces *pieces, struct err *err)
{
	if (n < 1)
		return err_set(err, ERR_INPUT, "a batch of %d samples: at least 1 is needed", n);
	*pieces = (struct pieces){.size = runner->micro && runner->micro < n ? runner->micro : n};
	pieces->whole = n / pieces->size;
	pieces->rest = n % pieces->size;
	int code = get_plan(runner, pieces->size, mode, &pieces->whole_plan, err);
	if (!code && pieces->rest)
		code = get_plan(runner, pieces->rest, mode, &pieces->rest_plan, err);
	return code;
}

/* Where weights come from: plain, or packed already. */
struct source {
	const float *params, *stats;
	const struct packed *packed;
};

static struct plan *piece_plan(
	struct runner *runner, struct pieces *pieces, int piece, const struct source *source)
{
	struct plan *plan = piece < pieces->whole ? pieces->whole_plan : pieces->rest_plan;

	if (pieces->bound == plan)
		return plan;
	if (source->packed)
		plan_borrow(plan, runner->workspace, packed_plan(source->packed));
	else
		plan_bind(plan, runner->workspace, source->params, source->stats);
	pieces->bound = plan;
	return plan;
}

static size_t sample_floats(const struct runner *runner)
{
	const struct net_spec *spec = net_spec(runner->net);
	return (size_t)spec->channels * spec->height * spec->width;
}

/* losses may be NULL: labels do not matter then. So may features. */
static int infer(struct runner *runner, const struct source *source,
	const struct runner_batch *batch, float *losses, float *logits, float *features,
	struct err *err)
{
	const size_t width = (size_t)net_features(runner->net);
	struct pieces pieces;
	const int code =
		cut(runner, batch->n, source->packed ? PLAN_SERVE : PLAN_INFER, &pieces, err);

	for (int i = 0, first = 0; !code && first < batch->n; first += pieces.size, i++) {
		struct plan *plan = piece_plan(runner, &pieces, i, source);
		plan_run(plan,
			&(struct plan_run){.input = batch->input + first * sample_floats(runner),
				.labels = losses ? batch->labels + first : NULL,
				.losses = losses ? losses + first : NULL,
				.features = features ? features + first * width : NULL,
				.logits = logits + (size_t)first * net_spec(runner->net)->classes});
	}
	return code;
}

int runner_infer(struct runner *runner, const float *params, const float *stats, const float *input,
	int n, float *logits, struct err *err)
{
	const struct runner_batch batch = {.input = input, .n = n};

	return infer(runner, &(struct source){params, stats}, &batch, NULL, logits, NULL, err);
}

int runner_features(struct runner *runner, const float *params, const float *stats,
	const float *input, int n, float *logits, float *features, struct err *err)
{
	const struct runner_batch batch = {.input = input, .n = n};

	return infer(runner, &(struct source){params, stats}, &batch, NULL, logits, features, err);
}

int runner_infer_packed(struct runner *runner, const struct packed *packed, const float *input,
	int n, float *logits, struct err *err)
{
	const struct runner_batch batch = {.input = input, .n = n};

	return infer(runner, &(struct source){.packed = packed}, &batch, NULL, logits, NULL, err);
}

static int check_labels(
	const struct runner *runner, const struct runner_batch *batch, struct err *err)
{
	const int classes = net_spec(runner->net)->classes;

	for (int i = 0; i < batch->n; i++)
		if (batch->labels[i] < 0 || batch->labels[i] >= classes)
			return err_set(err, ERR_INPUT,
				"label %d of the batch is %d: must be 0 to %d", i, batch->labels[i],
				classes - 1);
	return 0;
}

int runner_score(struct runner *runner, const float *params, const float *stats,
	const struct runner_batch *batch, float *losses, float *logits, struct err *err)
{
	const int code = check_labels(runner, batch, err);

	return code ? code
		    : infer(runner, &(struct source){params, stats}, batch, losses, logits, NULL,
			      err);
}

/* Room for weights and losses of n samples. */
static int make_room(struct runner *runner, int n, struct err *err)
{
	if (n <= runner->room)
		return 0;
	mem_free(runner->weights);
	mem_free(runner->losses);
	runner->room = 0;
	runner->weights = mem_new(n, sizeof(float));
	runner->losses = mem_new(n, sizeof(float));
	if (!runner->weights || !runner->losses)
		return err_memory(err, "a batch's losses", 2ull * n * sizeof(float));
	runner->room = n;
	return 0;
}

/* One gradient as the tree is walked. */
struct walk {
	struct runner *runner;
	const struct runner_batch *batch;
	struct pieces pieces;
	const float *params, *weights;
	float *stats;
	float *losses, *logits;
	float momentum;
};

static void run_piece(struct walk *walk, int piece, float *grad)
{
	struct runner *runner = walk->runner;
	const size_t first = (size_t)piece * walk->pieces.size;
	const struct source source = {walk->params, walk->stats};
	struct plan *plan = piece_plan(runner, &walk->pieces, piece, &source);

	plan_run(plan,
		&(struct plan_run){.input = walk->batch->input + first * sample_floats(runner),
			.labels = walk->batch->labels + first,
			.weights = walk->weights + first,
			.losses = walk->losses + first,
			.grad = grad,
			.stats = walk->stats,
			.momentum = walk->momentum,
			.logits = walk->logits
					  ? walk->logits + first * net_spec(runner->net)->classes
					  : NULL});
}

struct add_run {
	const struct kernels *kernels;
	float *into;
	const float *from;
	size_t floats;
};

static void add_task(void *context, int task, int worker)
{
	const struct add_run *run = context;
	const size_t first = (size_t)task * ADD_PIECE, left = run->floats - first;

	(void)worker;
	run->kernels->add(
		run->into + first, run->from + first, left < ADD_PIECE ? left : ADD_PIECE);
}

static void add_gradient(struct runner *runner, float *into, const float *from)
{
	const size_t floats = net_params(runner->net)->floats;
	struct add_run run = {runner->engine->kernels, into, from, floats};

	team_run(runner->engine->team, (int)((floats + ADD_PIECE - 1) / ADD_PIECE), add_task, &run);
}

/* How many of `count` pieces go to the left: the largest power of two below count. */
static int left_share(int count)
{
	int left = 1;
	while (2 * left < count)
		left *= 2;
	return left;
}

static void walk_tree(struct walk *walk, int first, int count, int depth, float *grad)
{
	if (count == 1) {
		run_piece(walk, first, grad);
		return;
	}
	const int left = left_share(count);
	float *right = walk->runner->partial[depth];
	walk_tree(walk, first, left, depth + 1, grad);
	walk_tree(walk, first + left, count - left, depth + 1, right);
	add_gradient(walk->runner, grad, right);
}

/* Buffers for the tree's right siblings: one per level. */
static int make_tree(struct runner *runner, int pieces, struct err *err)
{
	const size_t floats = net_params(runner->net)->floats;

	for (int depth = 0; 1 << depth < pieces; depth++) {
		if (runner->partial[depth])
			continue;
		runner->partial[depth] = mem_new(floats, sizeof(float));
		if (!runner->partial[depth])
			return err_memory(err, "a micro-batch's gradient", floats * sizeof(float));
	}
	return 0;
}

static int begin(struct walk *walk, enum plan_mode mode, struct err *err)
{
	struct runner *runner = walk->runner;
	const struct runner_batch *batch = walk->batch;
	int code = check_labels(runner, batch, err);

	if (!code)
		code = cut(runner, batch->n, mode, &walk->pieces, err);
	if (!code)
		code = make_room(runner, batch->n, err);
	if (code)
		return code;
	walk->weights = batch->weights;
	if (!walk->weights) {
		for (int i = 0; i < batch->n; i++)
			runner->weights[i] = 1.0f / (float)batch->n;
		walk->weights = runner->weights;
	}
	if (!walk->losses)
		walk->losses = runner->losses;
	return 0;
}

int runner_gradient(struct runner *runner, const float *params, float *stats,
	const struct runner_batch *batch, float *grad, float *loss, float *losses, float *logits,
	struct err *err)
{
	struct walk walk = {.runner = runner,
		.batch = batch,
		.params = params,
		.stats = stats,
		.losses = losses,
		.logits = logits,
		.momentum = STATS_MOMENTUM};
	int code = begin(&walk, PLAN_TRAIN, err);
	const int pieces = walk.pieces.whole + (walk.pieces.rest > 0);

	if (!code)
		code = make_tree(runner, pieces, err);
	if (code)
		return code;
	walk_tree(&walk, 0, pieces, 0, grad);
	double total = 0;
	for (int i = 0; i < batch->n; i++)
		total += (double)walk.weights[i] * walk.losses[i];
	if (loss)
		*loss = (float)total;
	return 0;
}

int runner_losses(struct runner *runner, const float *params, float *stats, float momentum,
	const struct runner_batch *batch, float *losses, float *logits, struct err *err)
{
	struct walk walk = {.runner = runner,
		.batch = batch,
		.params = params,
		.stats = stats,
		.losses = losses,
		.logits = logits,
		.momentum = momentum};
	const int code = begin(&walk, PLAN_FORWARD, err);

	for (int i = 0; !code && i < walk.pieces.whole + (walk.pieces.rest > 0); i++)
		run_piece(&walk, i, NULL);
	return code;
}
