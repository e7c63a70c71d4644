/*
 * The runner: the same bits from run to run and for any number of threads,
 * micro-batches and their tree, weights per sample, statistics of batch norm,
 * and what it says to bad input.
 */
#include "check.h"
#include "cells.h"

/* One net of every kind, small. */
static const struct net_spec nets[] = {
	{"resnet20-cifar", "gn-ws", 5, 3, 9, 11, false},
	{"resnet20-cifar", "bn", 5, 6, 11, 9, false},
	{"resnet20-cifar", "none", 5, 1, 8, 8, false},
	{"cnn:6,20", NULL, 5, 3, 9, 11, false},
	{"mlp:24,17", NULL, 5, 3, 2, 7, false},
	{"linear", NULL, 5, 13, 1, 1, false},
};

static struct rig_config config_of(const struct net_spec *spec, int n, int micro)
{
	return (struct rig_config){*spec, {"auto", "auto", 1}, micro, n, 21, false};
}

/* Everything a step leaves behind. */
static void assert_same_step(const struct rig *a, const struct rig *b, const char *what)
{
	if (!same_bits(a->grad, b->grad, a->floats))
		fail_msg("%s: other gradients", what);
	if (!same_bits(a->stats, b->stats, a->stat_floats))
		fail_msg("%s: other statistics", what);
	if (!same_bits(a->losses, b->losses, (size_t)a->n) || !same_bits(&a->loss, &b->loss, 1))
		fail_msg("%s: other losses", what);
	if (!same_bits(a->logits, b->logits, (size_t)a->n * a->classes))
		fail_msg("%s: other logits", what);
}

static void compare_threads(struct rig_config config)
{
	struct rig one, many;
	char what[128];

	config.engine.threads = 1;
	rig_open(&one, &config);
	rig_gradient(&one);
	assert_true(isfinite(one.loss));
	for (int threads = 2; threads <= 3; threads++) {
		config.engine.threads = threads;
		rig_open(&many, &config);
		rig_gradient(&many);
		snprintf(what, sizeof(what), "%s %s, %s, %d threads", config.spec.arch,
			net_spec(one.net)->norm, config.engine.isa, threads);
		assert_same_step(&one, &many, what);
		rig_close(&many);
	}
	rig_close(&one);
}

static void same_bits_for_any_thread_count(void **state)
{
	for (size_t i = 0; i < COUNT(nets); i++)
		for (int k = 0; kernels_at(k); k++) {
			struct rig_config config = config_of(nets + i, 5, 2);
			config.engine.isa = kernels_at(k)->isa;
			compare_threads(config);
			config.engine.conv = "direct";
			config.micro = 0;
			compare_threads(config);
		}
}

/* Wide enough that weights are shared in chunks. */
static void same_bits_for_any_thread_count_in_a_large_net(void **state)
{
	const struct net_spec large = {"resnet50", "gn-ws", 10, 3, 33, 20, false};

	compare_threads(config_of(&large, 1, 0));
}

/* The last layer applied to the features, by hand, gives the logits; in every way a net is run. */
static void features_are_what_the_last_layer_sees(void **state)
{
	static const struct net_spec more[] = {
		{"mlp:32,16", NULL, 5, 9, 1, 1, false},
		{"mlp:600,500", NULL, 5, 9, 1, 1, false},
	};
	static const int sizes[] = {1, 5, 70};

	for (size_t i = 0; i < COUNT(nets) + COUNT(more); i++)
		for (size_t k = 0; k < COUNT(sizes); k++) {
			const struct rig_config config = config_of(
				i < COUNT(nets) ? nets + i : more + i - COUNT(nets), sizes[k], 3);
			struct rig rig;
			struct err err;

			rig_open(&rig, &config);
			const struct param_table *table = net_params(rig.net);
			const int width = net_features(rig.net), n = sizes[k];
			const float *weights = rig.params + table->rows[table->count - 2].offset;
			const float *bias = rig.params + table->rows[table->count - 1].offset;
			float *features = calloc((size_t)n * width, sizeof(float));

			assert_ok(runner_features(rig.runner, rig.params, rig.stats, rig.input, n,
					  rig.logits, features, &err),
				err);
			for (int s = 0; s < n * rig.classes; s++) {
				const int c = s % rig.classes;
				double sum = bias[c];

				for (int f = 0; f < width; f++)
					sum += (double)weights[c * width + f] *
					       features[s / rig.classes * width + f];
				assert_float_equal(sum, rig.logits[s], 1e-3);
			}
			free(features);
			rig_close(&rig);
		}
}

/* The gradient of what is trained has the same bits; of what is frozen none is written. */
static void compare_frozen(const struct net_spec *spec, const char *list, int n)
{
	struct rig_config config = config_of(spec, n, 0);
	struct rig whole, part;

	rig_open(&whole, &config);
	rig_gradient(&whole);
	config.spec.frozen = list;
	rig_open(&part, &config);
	memcpy(part.params, whole.params, whole.floats * sizeof(float));
	rig_gradient(&part);
	const struct param_table *table = net_params(whole.net);
	double trained = 0;

	assert_true(same_bits(&whole.loss, &part.loss, 1));
	for (int i = 0; i < table->count; i++) {
		const struct param *row = table->rows + i;
		const bool frozen = net_layer_in(row->name, list);

		if (!frozen)
			trained += (double)row->count;
		for (size_t j = 0; j < row->count && frozen; j++)
			if (part.grad[row->offset + j] != 0)
				fail_msg("%s: %s has a gradient", spec->arch, row->name);
		if (!frozen &&
			!same_bits(part.grad + row->offset, whole.grad + row->offset, row->count))
			fail_msg("%s: %s has another gradient", spec->arch, row->name);
	}
	/* Tensors have gaps between them. */
	assert_true(net_trained_params(part.net) >= trained &&
		    net_trained_params(part.net) < trained + 16 * table->count);
	assert_true(net_macs(part.net) == net_macs(whole.net) &&
		    net_macs(whole.net) == net_trained_macs(whole.net) &&
		    net_macs(part.net) > net_trained_macs(part.net));
	assert_true((double)table->floats == net_trained_params(whole.net));
	rig_close(&whole);
	rig_close(&part);
}

static void frozen_layers_have_no_gradient(void **state)
{
	static const struct net_spec residual = {"resnet20-cifar", "gn-ws", 5, 3, 9, 11, false},
				     deep = {"resnet50", "bn", 5, 3, 33, 20, false},
				     dense = {"mlp:24,17", NULL, 5, 3, 2, 7, false},
				     sparse = {"mlp:32,16", NULL, 40, 9, 1, 1, false},
				     large = {"mlp:600,500", NULL, 5, 9, 1, 1, false};

	for (int n = 1; n <= 70; n += 23) {
		compare_frozen(&residual, "stem, layer1", n);
		compare_frozen(&residual, "stem, layer1, layer2, layer3", n);
		compare_frozen(&dense, "0", n);
		compare_frozen(&dense, "0, 2", n);
		compare_frozen(&sparse, "0", n);
		compare_frozen(&sparse, "0, 2", n);
		compare_frozen(&large, "0", n);
		compare_frozen(&large, "0, 2", n);
	}
	compare_frozen(&deep, "stem, layer1, layer2", 2);
}

/* Also when other batch sizes and modes have been at the same memory in between. */
static void same_bits_from_run_to_run(void **state)
{
	for (size_t i = 0; i < COUNT(nets); i++) {
		struct rig_config config = config_of(nets + i, 6, 4);
		struct rig first, again;
		struct err err;
		config.engine.threads = 2;
		rig_open(&first, &config);
		rig_open(&again, &config);
		float *stats = guarded_copy(again.stats, again.stat_floats);
		rig_gradient(&first);
		for (int n = 1; n <= 6; n++) {
			const struct runner_batch batch = rig_batch(&again, 0, n, NULL);
			assert_ok(runner_infer(again.runner, again.params, again.stats, again.input,
					  n, again.logits, &err),
				err);
			if (n > 1)
				assert_ok(runner_losses(again.runner, again.params, NULL, 0, &batch,
						  again.losses, NULL, &err),
					err);
			rig_gradient(&again);
			memcpy(again.stats, stats, again.stat_floats * sizeof(float));
		}
		rig_gradient(&again);
		assert_same_step(&first, &again, config.spec.arch);
		guarded_free(stats);
		rig_close(&first);
		rig_close(&again);
	}
}

static void micro_batches_change_next_to_nothing(void **state)
{
	for (size_t i = 0; i < COUNT(nets); i++) {
		struct rig whole, cut;
		struct rig_config config = config_of(nets + i, 7, 0);
		if (config.spec.norm && !strcmp(config.spec.norm, "bn"))
			continue;
		rig_open(&whole, &config);
		rig_gradient(&whole);
		for (config.micro = 1; config.micro <= 8; config.micro += 1 + config.micro / 3) {
			rig_open(&cut, &config);
			rig_gradient(&cut);
			/* Kinks: a ReLU on the edge would show as 1e-3. */
			const double grad = distance(cut.grad, whole.grad, whole.floats);
			const double logits =
				distance(cut.logits, whole.logits, (size_t)cut.n * cut.classes);
			const double losses = distance(cut.losses, whole.losses, (size_t)cut.n);
			if (grad > 1e-5 || logits > 1e-5 || losses > 1e-5 ||
				fabsf(cut.loss - whole.loss) > 1e-5f)
				fail_msg("%s, micro-batches of %d: %.1e, %.1e, %.1e away",
					config.spec.arch, config.micro, grad, logits, losses);
			rig_close(&cut);
		}
		rig_close(&whole);
	}
}

/* Sums gradients `first` to `first + count - 1` as the header promises. */
static void sum_tree(float **grads, int first, int count, size_t floats)
{
	int left = 1;

	if (count == 1)
		return;
	while (2 * left < count)
		left *= 2;
	sum_tree(grads, first, left, floats);
	sum_tree(grads, first + left, count - left, floats);
	for (size_t i = 0; i < floats; i++)
		grads[first][i] += grads[first + left][i];
}

static void micro_batches_are_summed_in_a_tree(void **state)
{
	for (int pieces = 1; pieces <= 9; pieces++) {
		/* The last piece is smaller. */
		const int n = 2 * pieces - 1;
		const struct rig_config config = config_of(nets, n, 2);
		float *grads[9], *weights = guarded_new(n);
		struct rig rig;
		struct err err;
		rig_open(&rig, &config);
		for (int i = 0; i < n; i++)
			weights[i] = 1.0f / (float)n;
		for (int p = 0; p < pieces; p++) {
			const int first = 2 * p, count = first + 2 > n ? n - first : 2;
			const struct runner_batch batch =
				rig_batch(&rig, first, count, weights + first);
			grads[p] = guarded_copy(rig.grad, rig.floats);
			assert_ok(runner_gradient(rig.runner, rig.params, rig.stats, &batch,
					  grads[p], NULL, NULL, NULL, &err),
				err);
		}
		sum_tree(grads, 0, pieces, rig.floats);
		rig_gradient(&rig);
		if (!same_bits(rig.grad, grads[0], rig.floats))
			fail_msg("%d micro-batches are not summed as a tree", pieces);
		for (int p = 0; p < pieces; p++)
			guarded_free(grads[p]);
		guarded_free(weights);
		rig_close(&rig);
	}
}

/* The gradient of a weighted sum is the weighted sum of the gradients. */
static void weights_count(void **state)
{
	static const float weights[] = {0.5f, 0, 2, -1, 0.125f};
	struct rig rig;
	struct err err;

	for (size_t k = 0; k < COUNT(nets); k++) {
		struct rig_config config = config_of(nets + k, 5, 3);
		if (config.spec.norm && !strcmp(config.spec.norm, "bn"))
			continue;
		rig_open(&rig, &config);
		float *sum = guarded_copy(rig.grad, rig.floats),
		      *one = guarded_copy(rig.grad, rig.floats);
		double loss = 0;
		for (int i = 0; i < rig.n; i++) {
			const struct runner_batch batch = rig_batch(&rig, i, 1, NULL);
			assert_ok(runner_gradient(rig.runner, rig.params, NULL, &batch, one,
					  &rig.loss, rig.losses + i, NULL, &err),
				err);
			assert_true(same_bits(&rig.loss, rig.losses + i, 1));
			loss += (double)weights[i] * rig.loss;
			for (size_t j = 0; j < rig.floats; j++)
				sum[j] += weights[i] * one[j];
		}
		const struct runner_batch batch = rig_batch(&rig, 0, 5, weights);
		assert_ok(runner_gradient(rig.runner, rig.params, NULL, &batch, rig.grad, &rig.loss,
				  rig.losses, NULL, &err),
			err);
		assert_true(distance(rig.grad, sum, rig.floats) < 1e-5);
		assert_true(fabs(rig.loss - loss) < 1e-5);

		/* What counts nothing changes nothing. */
		float *before = guarded_copy(rig.grad, rig.floats);
		fill(rig.input + rig.sample, rig.sample, 77);
		assert_ok(runner_gradient(rig.runner, rig.params, NULL, &batch, rig.grad, NULL,
				  NULL, NULL, &err),
			err);
		assert_true(distance(rig.grad, before, rig.floats) == 0);
		guarded_free(before);
		guarded_free(sum);
		guarded_free(one);
		rig_close(&rig);
	}
}

static void losses_are_those_of_the_logits(void **state)
{
	for (size_t k = 0; k < COUNT(nets); k++) {
		const struct rig_config config = config_of(nets + k, 5, 2);
		struct rig rig, forward;
		struct err err;
		rig_open(&rig, &config);
		rig_open(&forward, &config);
		rig_gradient(&rig);
		double mean = 0;
		for (int i = 0; i < rig.n; i++) {
			const float *row = rig.logits + (size_t)i * rig.classes;
			double sum = 0;
			for (int c = 0; c < rig.classes; c++)
				sum += exp(row[c]);
			const double loss = log(sum) - row[rig.labels[i]];
			assert_true(fabs(rig.losses[i] - loss) < 1e-5);
			mean += loss / rig.n;
		}
		assert_true(fabs(rig.loss - mean) < 1e-5);

		/* The forward pass alone gives the same, and updates statistics the same. */
		const struct runner_batch batch = rig_batch(&forward, 0, 5, NULL);
		assert_ok(runner_losses(forward.runner, forward.params, forward.stats, 0.1f, &batch,
				  forward.losses, forward.logits, &err),
			err);
		memcpy(forward.grad, rig.grad, rig.floats * sizeof(float));
		forward.loss = rig.loss;
		assert_same_step(&rig, &forward, config.spec.arch);
		rig_close(&rig);
		rig_close(&forward);
	}
}

/* Momentum m leaves (1 - m) old + m new; the new ones alone are had with momentum 1. */
static void statistics_follow_the_momentum(void **state)
{
	const struct rig_config config = config_of(nets + 1, 4, 0);
	const float momenta[] = {0, 0.1f, 0.25f, 0.5f};
	struct rig rig;
	struct err err;

	rig_open(&rig, &config);
	const struct runner_batch batch = rig_batch(&rig, 0, 4, NULL);
	float *fresh = guarded_copy(rig.stats, rig.stat_floats);
	assert_ok(runner_losses(rig.runner, rig.params, fresh, 1, &batch, rig.losses, NULL, &err),
		err);
	assert_true(distance(fresh, rig.stats, rig.stat_floats) > 0.1);
	for (size_t i = 0; i < COUNT(momenta); i++) {
		float *stats = guarded_copy(rig.stats, rig.stat_floats);
		assert_ok(runner_losses(rig.runner, rig.params, stats, momenta[i], &batch,
				  rig.losses, NULL, &err),
			err);
		for (size_t j = 0; j < rig.stat_floats; j++) {
			const float want = (1 - momenta[i]) * rig.stats[j] + momenta[i] * fresh[j];
			assert_true(fabsf(stats[j] - want) <= 1e-6f * (1 + fabsf(want)));
		}
		guarded_free(stats);
	}

	/* A gradient does it with 0.1; other weights leave other statistics. */
	float *stats = guarded_copy(rig.stats, rig.stat_floats);
	assert_ok(runner_gradient(
			  rig.runner, rig.params, stats, &batch, rig.grad, NULL, NULL, NULL, &err),
		err);
	for (size_t j = 0; j < rig.stat_floats; j++)
		assert_true(fabsf(stats[j] - (0.9f * rig.stats[j] + 0.1f * fresh[j])) <=
			    1e-6f * (1 + fabsf(stats[j])));
	float *average = guarded_copy(rig.params, rig.floats);
	for (size_t j = 0; j < rig.floats; j++)
		average[j] *= 1.5f;
	memcpy(stats, rig.stats, rig.stat_floats * sizeof(float));
	assert_ok(
		runner_losses(rig.runner, average, stats, 1, &batch, rig.losses, NULL, &err), err);
	assert_true(distance(stats, fresh, rig.stat_floats) > 0.1);
	guarded_free(average);
	guarded_free(stats);
	guarded_free(fresh);
	rig_close(&rig);
}

/* Inference leaves the statistics alone, uses them, and gives the same logits in any company. */
static void inference_knows_only_the_sample(void **state)
{
	for (size_t k = 0; k < COUNT(nets); k++) {
		const struct rig_config config = config_of(nets + k, 6, 4);
		struct rig rig;
		struct err err;
		rig_open(&rig, &config);
		const size_t classes = (size_t)rig.classes;
		float *alone = guarded_new(classes),
		      *stats = guarded_copy(rig.stats, rig.stat_floats);
		assert_ok(
			runner_infer(rig.runner, rig.params, stats, rig.input, 6, rig.logits, &err),
			err);
		assert_true(same_bits(stats, rig.stats, rig.stat_floats));
		for (size_t i = 0; i < 6; i++) {
			assert_ok(runner_infer(rig.runner, rig.params, stats,
					  rig.input + i * rig.sample, 1, alone, &err),
				err);
			assert_true(distance(alone, rig.logits + i * classes, classes) < 1e-5);
		}
		for (size_t i = 0; i < rig.stat_floats; i++)
			stats[i] += 0.5f;
		assert_ok(runner_infer(rig.runner, rig.params, stats, rig.input, 1, alone, &err),
			err);
		assert_true(rig.stat_floats == 0 || distance(alone, rig.logits, classes) > 1e-3);
		guarded_free(alone);
		guarded_free(stats);
		rig_close(&rig);
	}
}

/* Flat buffers may start anywhere: what stands in the middle of a file, or an average of many. */
static void any_base_pointer_will_do(void **state)
{
	for (size_t k = 0; k < COUNT(nets); k++)
		for (int i = 0; kernels_at(i); i++) {
			struct rig_config config = config_of(nets + k, 3, 2);
			struct rig rig, moved;
			config.engine.isa = kernels_at(i)->isa;
			rig_open(&rig, &config);
			rig_gradient(&rig);
			rig_open(&moved, &config);
			struct rig shifted = moved;
			float **const buffers[] = {&shifted.params, &shifted.stats, &shifted.input};
			const size_t counts[] = {moved.floats, moved.stat_floats, 3 * moved.sample};
			float *blocks[3];
			for (int b = 0; b < 3; b++) {
				blocks[b] = guarded_new(counts[b] + 1);
				memcpy(blocks[b] + 1, *buffers[b], counts[b] * sizeof(float));
				*buffers[b] = blocks[b] + 1;
			}
			rig_gradient(&shifted);
			assert_same_step(&rig, &shifted, config.spec.arch);
			for (int b = 0; b < 3; b++)
				guarded_free(blocks[b]);
			rig_close(&rig);
			rig_close(&moved);
		}
}

/* A broken step must show. */
static void nan_shows_in_the_loss(void **state)
{
	for (size_t k = 0; k < COUNT(nets); k++)
		for (int i = 0; kernels_at(i); i++) {
			struct rig_config config = config_of(nets + k, 3, 0);
			struct rig rig;
			config.engine.isa = kernels_at(i)->isa;
			rig_open(&rig, &config);
			rig.input[rig.sample + rig.sample / 2] = NAN;
			rig_gradient(&rig);
			if (!isnan(rig.losses[1]) || !isnan(rig.loss))
				fail_msg("%s, %s: a NaN in the input gives a loss of %g",
					config.spec.arch, config.engine.isa, rig.losses[1]);
			rig_close(&rig);
		}
}

static void bad_batches_are_refused(void **state)
{
	const struct rig_config config = config_of(nets, 4, 0);
	struct rig rig;
	struct err err;

	rig_open(&rig, &config);
	static const int32_t bad[][4] = {{0, 1, 5, 2}, {0, 1, 2, -1}, {0, INT32_MAX, 1, 1}};
	static const char *const words[] = {
		"label 2 of the batch is 5", "label 3 of the batch is -1", "must be 0 to 4"};
	for (size_t i = 0; i < COUNT(bad); i++) {
		struct runner_batch batch = rig_batch(&rig, 0, 4, NULL);
		batch.labels = targets_of_classes(bad[i]);
		assert_int_equal(runner_gradient(rig.runner, rig.params, NULL, &batch, rig.grad,
					 NULL, NULL, NULL, &err),
			ERR_INPUT);
		assert_says(err, words[i]);
		assert_int_equal(runner_losses(rig.runner, rig.params, NULL, 0, &batch, rig.losses,
					 NULL, &err),
			ERR_INPUT);
		assert_says(err, words[i]);
	}
	for (int n = -3; n <= 0; n += 3) {
		const struct runner_batch batch = rig_batch(&rig, 0, n, NULL);
		assert_int_equal(runner_gradient(rig.runner, rig.params, NULL, &batch, rig.grad,
					 NULL, NULL, NULL, &err),
			ERR_INPUT);
		assert_says(err, n ? "a batch of -3 samples" : "a batch of 0 samples");
		assert_int_equal(
			runner_infer(rig.runner, rig.params, NULL, rig.input, n, rig.logits, &err),
			ERR_INPUT);
		assert_says(err, "samples");
	}
	/* Nothing was written, and it still works. */
	assert_true(norm_of(rig.grad, rig.floats) == 0);
	rig_gradient(&rig);
	assert_true(norm_of(rig.grad, rig.floats) > 0);

	struct runner *runner;
	assert_int_equal(runner_new(&runner, rig.net, rig.engine, -1, &err), ERR_INPUT);
	assert_says(err, "micro-batches of -1");
	assert_null(runner);
	rig_close(&rig);
}

/* Batch norm cannot estimate a variance from one value. */
static void one_value_is_not_enough_for_batch_norm(void **state)
{
	const struct net_spec spec = {"resnet20-cifar", "bn", 3, 3, 4, 4, false};
	struct rig_config config = config_of(&spec, 3, 2);
	struct rig rig;
	struct err err;

	rig_open(&rig, &config);
	struct runner_batch batch = rig_batch(&rig, 0, 1, NULL);
	assert_int_equal(runner_gradient(rig.runner, rig.params, rig.stats, &batch, rig.grad, NULL,
				 NULL, NULL, &err),
		ERR_INPUT);
	assert_says(err, "batch norm needs more than one value per channel");
	/* The third sample would be alone. */
	batch.n = 3;
	assert_int_equal(runner_losses(rig.runner, rig.params, rig.stats, 0.1f, &batch, rig.losses,
				 NULL, &err),
		ERR_INPUT);
	batch.n = 2;
	assert_ok(runner_losses(
			  rig.runner, rig.params, rig.stats, 0.1f, &batch, rig.losses, NULL, &err),
		err);
	assert_ok(runner_infer(rig.runner, rig.params, rig.stats, rig.input, 1, rig.logits, &err),
		err);
	rig_close(&rig);
}

static void bad_engines_are_refused(void **state)
{
	static const struct {
		struct engine_config config;
		const char *words;
	} rows[] = {
		{{"avx9", NULL, 1}, "engine.isa = avx9"},
		{{NULL, "fast", 1}, "engine.conv = fast"},
		{{NULL, NULL, -1}, "engine.threads = -1"},
		{{NULL, NULL, 5000}, "engine.threads = 5000"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct engine *engine;
		struct err err;
		assert_int_equal(engine_new(&engine, &rows[i].config, &err), ERR_INPUT);
		assert_says(err, rows[i].words);
		assert_null(engine);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_bits_for_any_thread_count),
		cmocka_unit_test(same_bits_for_any_thread_count_in_a_large_net),
		cmocka_unit_test(features_are_what_the_last_layer_sees),
		cmocka_unit_test(frozen_layers_have_no_gradient),
		cmocka_unit_test(same_bits_from_run_to_run),
		cmocka_unit_test(micro_batches_change_next_to_nothing),
		cmocka_unit_test(micro_batches_are_summed_in_a_tree),
		cmocka_unit_test(weights_count),
		cmocka_unit_test(losses_are_those_of_the_logits),
		cmocka_unit_test(statistics_follow_the_momentum),
		cmocka_unit_test(inference_knows_only_the_sample),
		cmocka_unit_test(any_base_pointer_will_do),
		cmocka_unit_test(nan_shows_in_the_loss),
		cmocka_unit_test(bad_batches_are_refused),
		cmocka_unit_test(one_value_is_not_enough_for_batch_norm),
		cmocka_unit_test(bad_engines_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
