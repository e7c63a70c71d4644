/*
 * Batches that ranks share: gradients, statistics, losses, logits and features have the bits
 * of one process, on any number of ranks and for any number of pieces. Inputs of other
 * ranks' samples are not looked at.
 */
#include "check.h"
#include "base/mem.h"
#include "nn/plan.h"
#include "nn/ranks/tree.h"
#include "thread_ranks.h"
#include "cells.h"

enum { MOST = 17 }; /* pieces */

static const struct net_spec nets[] = {
	{"resnet20-cifar", "gn-ws", 5, 3, 9, 11, false},
	{"resnet20-cifar", "bn", 5, 6, 11, 9, false},
	{"cnn:6,20", NULL, 5, 3, 9, 11, false},
	{"mlp:24,17", NULL, 5, 3, 2, 7, false},
};

/* Every piece is in one root, roots are subtrees, and ranks have what they were dealt. */
static void roots_cover_the_tree(void **state)
{
	struct tree_root roots[MOST];

	for (int count = 1; count <= 6; count++)
		for (int pieces = 1; pieces <= MOST; pieces++) {
			const struct ranks ranks = {.count = count};
			const int found = tree_roots(&ranks, pieces, roots);
			int next = 0;

			for (int i = 0; i < found; next += roots[i++].count) {
				assert_int_equal(roots[i].first, next);
				assert_true(roots[i].first >=
					    (int)ranks_begin(&ranks, pieces, roots[i].rank));
				assert_true(roots[i].first + roots[i].count <=
					    (int)ranks_begin(&ranks, pieces, roots[i].rank + 1));
			}
			assert_int_equal(next, pieces);
		}
}

struct trial {
	struct rig_config config;
	const struct rig *alone;
	float *features, *forward; /* of `alone` */
};

/* What this rank does not need is NaN, and would be seen. */
static void spoil_others(struct rig *rig)
{
	int first, count;

	runner_reads(rig->runner, rig->n, &first, &count);
	for (int i = 0; i < rig->n; i++)
		if (i < first || i >= first + count)
			for (size_t k = 0; k < rig->sample; k++)
				rig->input[(size_t)i * rig->sample + k] = NAN;
}

static void all_passes(struct rig *rig, float *features, float *forward)
{
	const struct runner_batch batch = rig_batch(rig, 0, rig->n, NULL);
	float *logits = guarded_new((size_t)rig->n * rig->classes);
	struct err err;

	rig_gradient(rig);
	assert_ok(runner_losses(rig->runner, rig->params, rig->stats, 0.1f, &batch, forward, logits,
			  &err),
		err);
	assert_ok(runner_features(rig->runner, rig->params, rig->stats, rig->input, rig->n, logits,
			  features, &err),
		err);
	guarded_free(logits);
}

static void compare_rank(struct ranks *ranks, void *context)
{
	const struct trial *trial = context;
	const struct rig *alone = trial->alone;
	struct rig_config config = trial->config;
	const size_t width = (size_t)net_features(alone->net);
	float *features = guarded_new((size_t)alone->n * width);
	float *forward = guarded_new((size_t)alone->n);
	struct rig rig;

	config.engine.ranks = ranks;
	rig_open(&rig, &config);
	spoil_others(&rig);
	for (int i = 0; i < 2; i++) /* the second time in buffers that are there */
		all_passes(&rig, features, forward);
	if (!same_bits(rig.grad, alone->grad, rig.floats))
		fail_msg("rank %d of %d: other gradients", ranks->rank, ranks->count);
	if (!same_bits(rig.stats, alone->stats, rig.stat_floats))
		fail_msg("rank %d of %d: other statistics", ranks->rank, ranks->count);
	assert_true(same_bits(rig.losses, alone->losses, (size_t)rig.n));
	assert_true(same_bits(&rig.loss, &alone->loss, 1));
	assert_true(same_bits(rig.logits, alone->logits, (size_t)rig.n * rig.classes));
	assert_true(same_bits(features, trial->features, (size_t)rig.n * width));
	assert_true(same_bits(forward, trial->forward, (size_t)rig.n));
	rig_close(&rig);
	guarded_free(features);
	guarded_free(forward);
}

static void ranks_have_the_bits_of_one(void **state)
{
	static const int sizes[] = {1, 2, 3, 7, 8, 11};

	for (size_t i = 0; i < COUNT(nets); i++)
		for (size_t k = 0; k < COUNT(sizes); k++) {
			struct rig alone;
			struct trial trial = {
				.config = {nets[i], {"auto", "auto", 1}, 2, sizes[k], 21, false},
				.alone = &alone};

			rig_open(&alone, &trial.config);
			trial.features =
				guarded_new((size_t)alone.n * (size_t)net_features(alone.net));
			trial.forward = guarded_new((size_t)alone.n);
			for (int again = 0; again < 2; again++)
				all_passes(&alone, trial.features, trial.forward);
			for (int count = 1; count <= 5; count++)
				thread_ranks(count, compare_rank, &trial);
			guarded_free(trial.features);
			guarded_free(trial.forward);
			rig_close(&alone);
		}
}

/* What is final is final: neither its gradient nor its parameters are looked at any more. */
struct watched {
	struct rig *rig;
	float *params, *grad, *seen; /* seen: the gradient when it was told to be final */
	size_t from;
	int told;
};

static void watch(void *context, size_t from)
{
	struct watched *w = context;

	assert_true(from <= w->from);
	for (size_t i = from; i < w->from; i++) {
		w->seen[i] = w->grad[i];
		w->params[i] = NAN;
	}
	w->told += from < w->from;
	w->from = from;
}

static void gradients_are_final_layer_by_layer(void **state)
{
	for (size_t i = 0; i < 2; i++) {
		const struct rig_config config = {nets[i], {"auto", "auto", 2}, 0, 5, 21, false};
		struct rig rig;
		struct watched w = {.rig = &rig};
		struct plan *plan;
		struct err err;
		float weights[5];

		rig_open(&rig, &config);
		for (int k = 0; k < rig.n; k++)
			weights[k] = 1.0f / (float)rig.n;
		w.from = rig.floats;
		w.params = guarded_copy(rig.params, rig.floats);
		w.grad = guarded_new(rig.floats);
		w.seen = guarded_new(rig.floats);
		memset(w.grad, 0, rig.floats * sizeof(float)); /* gaps */
		assert_ok(plan_new(&plan, rig.net, rig.engine, rig.n, PLAN_TRAIN, &err), err);
		float *workspace = mem_new(plan_floats(plan), sizeof(float));
		assert_ok(plan_bind(plan, workspace, w.params, rig.stats, &err), err);
		const struct plan_run run = {.input = rig.input,
			.labels = CELLS(rig.labels),
			.weights = weights,
			.losses = rig.losses,
			.grad = w.grad,
			.final = watch,
			.final_context = &w};
		assert_ok(plan_run(plan, &run, &err), err);
		assert_int_equal(w.from, 0);
		assert_true(w.told > 20);
		assert_true(same_bits(w.seen, w.grad, rig.floats));
		rig_gradient(&rig);
		assert_true(same_bits(rig.grad, w.grad, rig.floats));
		plan_free(plan);
		mem_free(workspace);
		guarded_free(w.params);
		guarded_free(w.grad);
		guarded_free(w.seen);
		rig_close(&rig);
	}
}

/* A step by plain gradient descent. */
struct descending {
	struct rig *rig;
	struct ranks *ranks;
	bool sound, asked;
	float loss;
	size_t stepped;
};

static bool sound(void *context, float loss)
{
	struct descending *d = context;

	assert_false(d->asked);
	d->asked = true;
	d->loss = loss;
	return d->sound;
}

static void step(void *context, const struct slice *slice)
{
	struct descending *d = context;

	assert_true(d->asked);
	d->stepped += slice->count;
	for (size_t i = slice->first; i < slice->first + slice->count; i++)
		d->rig->params[i] -= 0.1f * d->rig->grad[i];
}

static void descend(struct rig *rig, struct ranks *ranks, bool go)
{
	const struct runner_batch batch = rig_batch(rig, 0, rig->n, NULL);
	struct descending d = {.rig = rig, .ranks = ranks, .sound = go};
	const struct runner_descent descent = {rig->params, rig->grad, &d, sound, step};
	struct err err;

	assert_ok(
		runner_descend(rig->runner, &descent, rig->stats, &batch, rig->logits, &err), err);
	assert_true(d.asked);
	assert_int_equal(d.stepped, go ? ranks_own(ranks, rig->floats) : 0);
	rig->loss = d.loss;
}

static void compare_descent(struct ranks *ranks, void *context)
{
	const struct trial *trial = context;
	const struct rig *alone = trial->alone;
	struct rig_config config = trial->config;
	struct rig rig;

	config.engine.ranks = ranks;
	rig_open(&rig, &config);
	spoil_others(&rig);
	for (int i = 0; i < 3; i++)
		descend(&rig, ranks, true);
	if (!same_bits(rig.params, alone->params, rig.floats))
		fail_msg("rank %d of %d: other parameters", ranks->rank, ranks->count);
	assert_true(same_bits(rig.stats, alone->stats, rig.stat_floats));
	assert_true(same_bits(rig.logits, alone->logits, (size_t)rig.n * rig.classes));
	assert_true(same_bits(&rig.loss, &alone->loss, 1));
	descend(&rig, ranks, false);
	assert_true(same_bits(rig.params, alone->params, rig.floats));
	rig_close(&rig);
}

static void ranks_step_like_one(void **state)
{
	static const int sizes[] = {2, 7, 11, 16}; /* 16: of two ranks, each adds at two levels */

	for (size_t i = 0; i < COUNT(nets); i++)
		for (size_t k = 0; k < COUNT(sizes); k++) {
			struct rig alone;
			struct trial trial = {
				.config = {nets[i], {"auto", "auto", 1}, 2, sizes[k], 21, false},
				.alone = &alone};

			rig_open(&alone, &trial.config);
			for (int step = 0; step < 3; step++)
				descend(&alone, NULL, true);
			for (int count = 2; count <= 5; count += count - 1)
				thread_ranks(count, compare_descent, &trial);
			rig_close(&alone);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roots_cover_the_tree),
		cmocka_unit_test(ranks_have_the_bits_of_one),
		cmocka_unit_test(gradients_are_final_layer_by_layer),
		cmocka_unit_test(ranks_step_like_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
