/*
 * Training passes. A batch's gradient is the sum of its micro-batches' in a binary tree
 * that depends on their number alone, so that processes that share a batch can
 * sum subtrees and get the same bits.
 */
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "nn/own/kernels.h"
#include "nn/ranks/shared.h"
#include "nn/runner_impl.h"
#include "nn/vectors.h"

enum { ADD_PIECE = 1 << 16 }; /* floats per task when gradients are added */

static const float STATS_MOMENTUM = 0.1f;

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

/* Masks of a micro-batch are its own, whichever process computes it. */
static uint64_t piece_seed(const struct walk *walk, int piece)
{
	uint32_t bits[4];

	rng_bits((struct rng){walk->batch->seed, RNG_MASK}, (uint64_t)piece, bits);
	return (uint64_t)bits[0] << 32 | bits[1];
}

int runner_run_piece(struct walk *walk, int piece, float *grad, plan_final_fn *final, void *context,
	struct err *err)
{
	struct runner *runner = walk->runner;
	const bool shares = walk->pieces.shared;
	const size_t first = (size_t)piece * walk->pieces.size;
	const struct source source = {walk->params, walk->stats};
	const struct plan_run run = {
		.input = walk->batch->input + first * runner_sample_floats(runner),
		.labels = walk->batch->labels + first * runner_width(walk->batch),
		.weights = walk->weights + first,
		.losses = walk->losses + first,
		.loss = walk->batch->loss,
		.loss_at = (int)first,
		.grad = grad,
		.stats = shares ? shared_piece_stats(walk, piece) : walk->stats,
		.momentum = shares ? 1 : walk->momentum,
		.seed = piece_seed(walk, piece),
		.final = final,
		.final_context = context,
		.logits = walk->logits ? walk->logits + first * net_spec(runner->net)->classes
				       : NULL};

	return runner_run_plan(runner, &walk->pieces, piece, &source, &run, err);
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

void runner_add(const struct runner *runner, float *into, const float *from, size_t floats)
{
	struct add_run run = {runner->engine->kernels, into, from, floats};

	if (runner->engine->vectors)
		vectors_combine(runner->engine->vectors, into, 1, into, 1, from, floats);
	else
		team_run(runner->engine->team, (int)((floats + ADD_PIECE - 1) / ADD_PIECE),
			add_task, &run);
}

int runner_tree_left(int count)
{
	int left = 1;

	while (2 * left < count)
		left *= 2;
	return left;
}

int runner_walk(struct walk *walk, int first, int count, int depth, float *grad, struct err *err)
{
	int code;

	if (count == 1)
		return runner_run_piece(walk, first, grad, NULL, NULL, err);
	const int left = runner_tree_left(count);
	float *right = walk->runner->partial[depth];
	code = runner_walk(walk, first, left, depth + 1, grad, err);
	if (!code)
		code = runner_walk(walk, first + left, count - left, depth + 1, right, err);
	if (!code)
		runner_add(walk->runner, grad, right, net_params(walk->runner->net)->floats);
	return code;
}

int runner_make_tree(struct runner *runner, int pieces, struct err *err)
{
	const size_t floats = net_params(runner->net)->floats;
	int code = 0;

	for (int depth = 0; 1 << depth < pieces && !code; depth++) {
		if (runner->partial[depth])
			continue;
		code = vector_new(&runner->partial[depth], runner->engine, floats,
			"a micro-batch's gradient", err);
	}
	return code;
}

static int begin(struct walk *walk, enum plan_mode mode, struct err *err)
{
	struct runner *runner = walk->runner;
	const struct runner_batch *batch = walk->batch;
	int code = runner_check_labels(runner, batch, err);

	if (!code)
		code = runner_cut(runner, batch->n, mode, &walk->pieces, err);
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

float runner_loss(const struct walk *walk)
{
	double total = 0;

	for (int i = 0; i < walk->batch->n; i++)
		total += (double)walk->weights[i] * walk->losses[i];
	return (float)total;
}

/* A step where every process has all of the gradient: each makes its slices. */
static void step(const struct walk *walk)
{
	const struct runner_descent *descent = walk->descent;
	const struct runner *runner = walk->runner;
	const size_t floats = net_params(runner->net)->floats;

	if (!descent->sound(descent->context, walk->loss))
		return;
	for (int i = 0; i < slices_count(runner->engine, floats); i++) {
		const struct slice slice = slices_at(runner->engine, floats, i);

		descent->step(descent->context, &slice);
	}
	if (runner->shared)
		shared_gather(runner, descent->params);
}

/* Leaves the own slices of the gradient. */
static int pass(struct walk *walk, float *grad, struct err *err)
{
	struct runner *runner = walk->runner;
	int code = begin(walk, PLAN_TRAIN, err);

	if (!code)
		code = walk->pieces.shared ? shared_ready(walk, err)
					   : runner_make_tree(runner, walk->pieces.count, err);
	if (code)
		return code;
	if (walk->pieces.shared)
		return shared_descend(walk, grad, err);
	code = runner_walk(walk, 0, walk->pieces.count, 0, grad, err);
	walk->loss = runner_loss(walk);
	if (!code && walk->descent)
		step(walk);
	return code ? code : vectors_failed(runner->engine, err);
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
	const int code = pass(&walk, grad, err);

	if (code)
		return code;
	if (walk.pieces.shared)
		shared_gather(runner, grad);
	if (loss)
		*loss = walk.loss;
	return 0;
}

int runner_descend(struct runner *runner, const struct runner_descent *descent, float *stats,
	const struct runner_batch *batch, float *logits, struct err *err)
{
	struct walk walk = {.runner = runner,
		.batch = batch,
		.params = descent->params,
		.stats = stats,
		.logits = logits,
		.momentum = STATS_MOMENTUM,
		.descent = descent};

	return pass(&walk, descent->grad, err);
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
	int code = begin(&walk, PLAN_FORWARD, err);

	if (!code && walk.pieces.shared)
		code = shared_ready(&walk, err);
	if (code)
		return code;
	for (int i = walk.pieces.begin; i < walk.pieces.end && !code; i++)
		code = runner_run_piece(&walk, i, NULL, NULL, NULL, err);
	if (!code && walk.pieces.shared) {
		shared_samples(runner, &walk.pieces, walk.losses, 1, batch->n);
		shared_results(&walk);
	}
	return code;
}
