/*
 * Batches that ranks share: gradients, statistics, losses, logits and features have the bits
 * of one process, on any number of ranks and for any number of pieces. Inputs of other
 * ranks' samples are not looked at.
 */
#include "../base/thread_ranks.h"
#include "check.h"
#include "nn/tree.h"

enum { MOST = 17 }; /* pieces */

static const struct net_spec nets[] = {
	{"resnet20-cifar", "gn-ws", 5, 3, 9, 11, false},
	{"resnet20-cifar", "bn", 5, 6, 11, 9, false},
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

	runner_mine(rig->runner, rig->n, &first, &count);
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
	const size_t width = (size_t)net_features(alone->net);
	float *features = guarded_new((size_t)alone->n * width);
	float *forward = guarded_new((size_t)alone->n);
	struct rig rig;

	rig_open(&rig, &trial->config);
	runner_share(rig.runner, ranks);
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

/* A rank has its own slice without asking others for theirs. */
static void slice_is_enough(struct ranks *ranks, void *context)
{
	const struct trial *trial = context;
	struct rig rig;
	struct err err;
	size_t count;

	rig_open(&rig, &trial->config);
	runner_share(rig.runner, ranks);
	const struct runner_batch batch = rig_batch(&rig, 0, rig.n, NULL);
	assert_ok(runner_gradient_slice(rig.runner, rig.params, rig.stats, &batch, rig.grad,
			  &rig.loss, NULL, NULL, &err),
		err);
	const size_t first = ranks_own(ranks, rig.floats, &count);
	assert_true(same_bits(rig.grad + first, trial->alone->grad + first, count));
	rig_close(&rig);
}

static void slices_have_the_bits_of_one(void **state)
{
	struct rig alone;
	struct trial trial = {
		.config = {nets[2], {"auto", "auto", 1}, 1, 7, 3, false}, .alone = &alone};

	rig_open(&alone, &trial.config);
	rig_gradient(&alone);
	for (int count = 1; count <= 4; count++)
		thread_ranks(count, slice_is_enough, &trial);
	rig_close(&alone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(roots_cover_the_tree),
		cmocka_unit_test(ranks_have_the_bits_of_one),
		cmocka_unit_test(slices_have_the_bits_of_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
