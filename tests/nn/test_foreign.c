/*
 * Nets that a program computes, below the learner: gradients, features, what a pass is told, and
 * weights that predict while others are set.
 */
#include "check.h"

#include "../api/net.h"
#include "../base/folder.h"
#include "nn/foreign/foreign.h"
#include "nn/packed.h"
#include "nn/weights/weights_file.h"

enum { FLOATS = 6, OUT = 5, MANY = 13 };

static struct rig rig_of(const struct net_maker *maker, int micro)
{
	const struct rig_config config = {.spec = {.arch = "net:plain-c",
						  .classes = OUT,
						  .channels = FLOATS,
						  .height = 1,
						  .width = 1,
						  .maker = maker},
		.engine = {.threads = 2},
		.micro = micro,
		.n = MANY,
		.seed = 5};
	struct rig rig;

	rig_open(&rig, &config);
	return rig;
}

/* The loss of the batch with one parameter moved; statistics stay. */
static double loss_at(struct rig *rig, size_t place, float by)
{
	const struct runner_batch batch = rig_batch(rig, 0, MANY, NULL);
	float *stats = guarded_copy(rig->stats, rig->stat_floats + 1), kept = rig->params[place];
	double sum = 0;
	struct err err;

	rig->params[place] = kept + by;
	assert_ok(runner_losses(
			  rig->runner, rig->params, stats, 0.1f, &batch, rig->losses, NULL, &err),
		err);
	rig->params[place] = kept;
	guarded_free(stats);
	for (int i = 0; i < MANY; i++)
		sum += rig->losses[i];
	return sum / MANY;
}

static void gradients_are_the_slopes(void **state)
{
	struct net_test test = {.drops = 1};
	const struct net_maker maker = {net_make, &test};
	struct rig rig = rig_of(&maker, 0);
	double largest = 0;

	for (size_t i = 0; i < rig.floats; i++)
		rig.grad[i] = NAN;
	rig_gradient(&rig);
	for (int t = 0; t < net_params(rig.net)->count; t++) {
		const struct param *row = &net_params(rig.net)->rows[t];

		for (size_t i = row->offset; i < row->offset + row->count; i++) {
			const double slope =
				(loss_at(&rig, i, 1e-3f) - loss_at(&rig, i, -1e-3f)) / 2e-3;

			largest = fmax(largest, fabs(slope));
			assert_float_equal(slope, rig.grad[i], 1e-3);
		}
		/* Gaps are zero, whatever was there. */
		for (size_t i = row->offset + row->count; i % 16; i++)
			assert_true(rig.grad[i] == 0);
	}
	assert_true(largest > 0.05);
	rig_close(&rig);
	assert_int_equal(test.made, test.freed);
}

static void micro_batches_make_one_gradient(void **state)
{
	struct net_test test = {0};
	const struct net_maker maker = {net_make, &test};
	struct rig whole = rig_of(&maker, 0), pieces = rig_of(&maker, 4);

	rig_gradient(&whole);
	rig_gradient(&pieces);
	assert_true(distance(pieces.grad, whole.grad, whole.floats) < 1e-6);
	assert_float_equal(whole.loss, pieces.loss, 1e-6);
	rig_close(&whole);
	rig_close(&pieces);
}

static void features_are_the_last_layers_inputs(void **state)
{
	struct net_test test = {.features = 1};
	const struct net_maker maker = {net_make, &test};
	struct rig rig = rig_of(&maker, 4);
	const struct param *weight = params_find(net_params(rig.net), "2.weight"),
			   *bias = params_find(net_params(rig.net), "2.bias");
	float features[MANY][NET_HIDDEN];
	struct err err;

	assert_int_equal(net_features(rig.net), NET_HIDDEN);
	assert_true(net_ends_dense(rig.net));
	assert_ok(runner_features(rig.runner, rig.params, rig.stats, rig.input, MANY, rig.logits,
			  features[0], &err),
		err);
	for (int i = 0; i < MANY; i++)
		for (int c = 0; c < OUT; c++) {
			double sum = rig.params[bias->offset + (size_t)c];

			for (int h = 0; h < NET_HIDDEN; h++)
				sum += (double)features[i][h] *
				       rig.params[weight->offset + (size_t)(c * NET_HIDDEN + h)];
			assert_float_equal(sum, rig.logits[i * OUT + c], 1e-5);
		}
	rig_close(&rig);
}

/* The same seed, the same masks; another one, others; and each micro-batch has its own. */
static void masks_are_a_function_of_the_seed(void **state)
{
	struct net_test test = {.drops = 1};
	const struct net_maker maker = {net_make, &test};
	struct rig rig = rig_of(&maker, 0);
	struct runner_batch batch = rig_batch(&rig, 0, MANY, NULL);
	float losses[3][MANY];
	struct err err;

	for (int i = 0; i < 3; i++) {
		batch.seed = i == 2 ? 8 : 7;
		assert_ok(runner_losses(
				  rig.runner, rig.params, NULL, 0, &batch, losses[i], NULL, &err),
			err);
	}
	assert_true(same_bits(losses[0], losses[1], MANY));
	assert_false(same_bits(losses[0], losses[2], MANY));
	rig_close(&rig);

	rig = rig_of(&maker, MANY - 1);
	batch = rig_batch(&rig, 0, MANY, NULL);
	batch.seed = 7;
	assert_ok(
		runner_losses(rig.runner, rig.params, NULL, 0, &batch, losses[0], NULL, &err), err);
	const uint64_t last = test.seed;
	batch.n = MANY - 1;
	assert_ok(
		runner_losses(rig.runner, rig.params, NULL, 0, &batch, losses[0], NULL, &err), err);
	assert_true(test.seed && test.seed != last);
	rig_close(&rig);
}

/* What predicts has its own copy, statistics included. */
static void packed_weights_are_a_copy(void **state)
{
	struct net_test test = {.centers = 1};
	const struct net_maker maker = {net_make, &test};
	struct rig rig = rig_of(&maker, 4);
	float before[MANY * OUT], after[MANY * OUT];
	struct packed *packed;
	struct err err;

	assert_ok(packed_new(&packed, rig.net, rig.engine, &err), err);
	assert_ok(packed_set(packed, rig.params, rig.stats, &err), err);
	assert_ok(runner_infer(rig.runner, rig.params, rig.stats, rig.input, MANY, before, &err),
		err);
	for (size_t i = 0; i < rig.stat_floats; i++)
		rig.stats[i] += 1;
	for (size_t i = 0; i < rig.floats; i++)
		rig.params[i] += 1;
	assert_ok(runner_infer_packed(rig.runner, packed, rig.input, MANY, after, NULL, &err), err);
	assert_true(same_bits(before, after, MANY * OUT));
	packed_free(packed);
	rig_close(&rig);
}

/* Inference changes no statistics; training does once it has succeeded. */
static void statistics_follow_success(void **state)
{
	struct net_test test = {.centers = 1};
	const struct net_maker maker = {net_make, &test};
	struct rig rig = rig_of(&maker, 0);
	const struct runner_batch batch = rig_batch(&rig, 0, MANY, NULL);
	float *stats = guarded_copy(rig.stats, rig.stat_floats);
	struct err err;

	assert_ok(
		runner_infer(rig.runner, rig.params, rig.stats, rig.input, MANY, rig.logits, &err),
		err);
	assert_true(same_bits(stats, rig.stats, rig.stat_floats));
	test.backward_fails = 1;
	assert_int_equal(runner_gradient(rig.runner, rig.params, rig.stats, &batch, rig.grad, NULL,
				 NULL, NULL, &err),
		ERR_STATE);
	assert_true(same_bits(stats, rig.stats, rig.stat_floats));
	rig_gradient(&rig);
	assert_false(same_bits(stats, rig.stats, rig.stat_floats));
	guarded_free(stats);
	rig_close(&rig);
}

static void a_larger_net_has_the_same_tensors(void **state)
{
	struct net_test test = {0};
	const struct net_maker maker = {net_make, &test};
	struct net_spec spec = {"net:plain-c", NULL, 2, FLOATS, 1, 1, .maker = &maker};
	struct net *small, *large, *wide, *other;
	struct err err;

	assert_ok(net_new(&small, &spec, &err), err);
	spec.classes = 3;
	assert_ok(net_new(&large, &spec, &err), err);
	test.centers = 1;
	assert_ok(net_new(&wide, &spec, &err), err);
	test.centers = 0;
	test.head = "head";
	assert_ok(net_new(&other, &spec, &err), err);
	assert_ok(net_grows_into(small, large, &err), err);
	assert_int_equal(net_grows_into(large, small, &err), ERR_INPUT);
	assert_says(err, "for 2 classes: tensor '2.weight' does not fit the net for 3");
	assert_int_equal(net_grows_into(small, wide, &err), ERR_INPUT);
	assert_says(err, "tensor 'center.running_mean'");
	assert_int_equal(net_grows_into(small, other, &err), ERR_INPUT);
	assert_says(err, "tensor '2.weight'");
	net_free(small);
	net_free(large);
	net_free(wide);
	net_free(other);
	assert_int_equal(test.made, test.freed);
}

/* Weights for other classes: all but the head fits. */
static void the_head_is_told_apart(void **state)
{
	struct net_test test = {0};
	const struct net_maker maker = {net_make, &test};
	struct net_spec spec = {"net:plain-c", NULL, 2, FLOATS, 1, 1, .maker = &maker};
	struct rig rig = rig_of(&maker, 0);
	struct safetensors *file;
	struct weights *read = NULL;
	struct net *small;
	float params[256];
	struct err err;

	assert_ok(net_new(&small, &spec, &err), err);
	assert_ok(weights_save(
			  in_folder("w"), &(struct weights){rig.net, rig.params, rig.stats}, &err),
		err);
	assert_ok(safetensors_open(&file, in_folder("w"), &err), err);
	assert_int_equal(weights_load(small, file, params, NULL, &err), ERR_INPUT);
	assert_true(weights_body_fits(small, file));
	assert_ok(weights_load_body(small, file, params, NULL, &err), err);
	assert_true(same_bits(params, rig.params, FLOATS * NET_HIDDEN));
	/* The file alone does not have the net. */
	assert_int_equal(weights_read(&read, in_folder("w"), &err), ERR_INPUT);
	assert_says(err, "net:plain-c: this net is computed by the program");
	safetensors_close(file);
	net_free(small);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gradients_are_the_slopes),
		cmocka_unit_test(micro_batches_make_one_gradient),
		cmocka_unit_test(features_are_the_last_layers_inputs),
		cmocka_unit_test(masks_are_a_function_of_the_seed),
		cmocka_unit_test(packed_weights_are_a_copy),
		cmocka_unit_test(statistics_follow_success),
		cmocka_unit_test(a_larger_net_has_the_same_tensors),
		folder_test(the_head_is_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
