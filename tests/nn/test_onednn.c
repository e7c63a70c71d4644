/*
 * Convolutions through oneDNN: they agree with our own direct ones, do not
 * depend on the thread count, start no threads, leave OpenMP's settings and the
 * heap alone, and are used for what they can do and nothing else; a net trained
 * on them stays with one trained on ours.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include "../base/check.h"
#include "base/rng.h"
#include "nn/own/layers/conv_step.h"
#include "nn/own/onednn.h"
#include "nn/runner.h"
#include "cells.h"

int omp_get_max_threads(void);
void omp_set_num_threads(int threads);

/* The index-th table that oneDNN has layouts for. */
static const struct kernels *kernels_on(int index)
{
	for (int i = 0; kernels_at(i); i++)
		if (onednn_speed(kernels_at(i)->block) != ONEDNN_NONE && index-- == 0)
			return kernels_at(i);
	return NULL;
}

static void fill(float *values, size_t count, uint64_t seed)
{
	const struct rng rng = {seed, RNG_TEST};

	for (size_t i = 0; i < count; i++)
		values[i] = 2 * rng_float(rng, i) - 1;
}

static float *filled(size_t count, uint64_t seed)
{
	float *values = mem_new(count, sizeof(float));

	assert_non_null(values);
	fill(values, count, seed);
	return values;
}

/* The largest difference, in units of the largest value wanted. NaN counts as infinite. */
static double distance(const float *got, const float *want, size_t count)
{
	double most = 0, size = 0;

	for (size_t i = 0; i < count; i++) {
		const double off = fabs((double)got[i] - want[i]);
		most = off <= most ? most : isnan(off) ? INFINITY : off;
		size = fmax(size, fabs(want[i]));
	}
	assert_true(size > 0);
	return most / size;
}

/* One convolution with a team, scratch, and room for all that goes in and comes out. */
struct bed {
	struct conv conv;
	struct arena arena;
	struct team *team;
	float *in, *out, *in_grad, *out_grad, *weights, *weights_grad;
	size_t weights_count;
};

struct sample {
	const char *name;
	int n, in, out, height, width, size, stride, pad;
	bool standardize;
};

static int bed_plan(struct bed *bed, const struct sample *s, const struct kernels *kernels,
	int threads, const struct conv_algorithm *algorithm, struct err *err)
{
	const int high = (s->height + 2 * s->pad - s->size) / s->stride + 1;
	const int wide = (s->width + 2 * s->pad - s->size) / s->stride + 1;

	*bed = (struct bed){0};
	const int code = team_new(&bed->team, threads, err);
	if (code)
		return code;
	bed->conv = (struct conv){.kernels = kernels,
		.team = bed->team,
		.train = true,
		.input_grad = true,
		.standardize = s->standardize,
		.in = tensor_blocked(s->n, s->in, s->height, s->width, kernels->block),
		.out = tensor_blocked(s->n, s->out, high, wide, kernels->block),
		.shape = {.n = s->n,
			.in = s->in,
			.out = s->out,
			.height = s->height,
			.width = s->width,
			.size = s->size,
			.stride = s->stride,
			.pad = s->pad,
			.out_height = high,
			.out_width = wide}};
	return conv_plan(&bed->conv, algorithm, &bed->arena, err);
}

static void bed_fill(struct bed *bed, const struct sample *s)
{
	struct conv *conv = &bed->conv;

	bed->weights_count = (size_t)s->in * s->out * s->size * s->size;
	bed->in = filled(conv->in.floats, 1);
	bed->out_grad = filled(conv->out.floats, 2);
	bed->weights = filled(bed->weights_count, 3);
	bed->out = filled(conv->out.floats, 4);
	bed->in_grad = filled(conv->in.floats, 5);
	bed->weights_grad = filled(bed->weights_count, 6);
	conv->worker_stride = (conv->worker_floats + 15) / 16 * 16;
	conv->worker = filled(conv->worker_stride * team_size(bed->team), 7);
	conv->shared = filled(conv->shared_floats, 8);
}

static void bed_run(struct bed *bed)
{
	struct conv *conv = &bed->conv;

	conv_bind(conv, bed->weights, NULL, NULL);
	conv_forward(conv, bed->in, bed->out, NULL, false);
	conv_backward_input(conv, bed->out_grad, bed->in_grad);
	conv_backward_weights(conv, bed->weights, bed->in, bed->out_grad, bed->weights_grad);
}

static void bed_free(struct bed *bed)
{
	float *const blocks[] = {bed->in, bed->out, bed->in_grad, bed->out_grad, bed->weights,
		bed->weights_grad, bed->conv.worker, bed->conv.shared};

	for (size_t i = 0; i < COUNT(blocks); i++)
		mem_free(blocks[i]);
	conv_release(&bed->conv);
	arena_release(&bed->arena);
	team_free(bed->team);
}

static void bed_new(struct bed *bed, const struct sample *s, const struct kernels *kernels,
	int threads, const struct conv_algorithm *algorithm)
{
	struct err err;

	if (bed_plan(bed, s, kernels, threads, algorithm, &err))
		fail_msg("%s, %s: %s", s->name, kernels->isa, err.message);
	assert_ptr_equal(bed->conv.algorithm, algorithm);
	bed_fill(bed, s);
	bed_run(bed);
}

/* Small enough for oneDNN's reference kernels: they do 16-wide blocks where AVX-512 is missing. */
static const struct sample samples[] = {
	{"1x1", 4, 32, 48, 5, 7, 1, 1, 0},
	{"1x1, one image, standardized", 1, 48, 32, 6, 6, 1, 1, 0, .standardize = true},
	{"1x1 stride 2", 3, 32, 64, 7, 6, 1, 2, 0},
	{"3x3", 2, 16, 32, 6, 5, 3, 1, 1},
	{"3x3, standardized, parts of two images", 10, 32, 16, 5, 5, 3, 1, 1, .standardize = true},
	{"3x3 without padding", 2, 32, 32, 6, 6, 3, 1, 0},
	{"3x3 stride 2", 6, 32, 16, 8, 7, 3, 2, 1},
	{"5x5 stride 2", 2, 16, 16, 9, 9, 5, 2, 2},
};

static void agrees_with_direct(void **state)
{
	struct bed ours, theirs;

	for (int k = 0; kernels_on(k); k++) {
		for (size_t i = 0; i < COUNT(samples); i++) {
			const struct sample *s = samples + i;
			bed_new(&ours, s, kernels_on(k), 1, &conv_direct);
			bed_new(&theirs, s, kernels_on(k), 2, &conv_onednn);
			const double out = distance(theirs.out, ours.out, ours.conv.out.floats);
			const double in_grad =
				distance(theirs.in_grad, ours.in_grad, ours.conv.in.floats);
			const double weights_grad = distance(
				theirs.weights_grad, ours.weights_grad, ours.weights_count);
			if (!(out < 2e-6 && in_grad < 2e-6 && weights_grad < 2e-6))
				fail_msg("%s, %s: off by %g, gradients %g and %g", s->name,
					kernels_on(k)->isa, out, in_grad, weights_grad);
			bed_free(&ours);
			bed_free(&theirs);
		}
	}
}

static void threads_do_not_change_bits(void **state)
{
	struct bed one, other;

	for (size_t i = 0; i < COUNT(samples); i++) {
		bed_new(&one, samples + i, kernels_on(0), 1, &conv_onednn);
		for (int threads = 2; threads <= 3; threads++) {
			bed_new(&other, samples + i, kernels_on(0), threads, &conv_onednn);
			for (int again = 0; again < 3; again++) {
				assert_memory_equal(
					one.out, other.out, one.conv.out.floats * sizeof(float));
				assert_memory_equal(one.in_grad, other.in_grad,
					one.conv.in.floats * sizeof(float));
				assert_memory_equal(one.weights_grad, other.weights_grad,
					one.weights_count * sizeof(float));
				bed_run(&other);
			}
			bed_free(&other);
		}
		bed_free(&one);
	}
}

static int thread_count(void)
{
	DIR *threads = opendir("/proc/self/task");
	int count = -2; /* . and .. */

	assert_non_null(threads);
	while (readdir(threads))
		count++;
	closedir(threads);
	return count;
}

static void callers_openmp_is_left_alone(void **state)
{
	const int before = omp_get_max_threads(), threads = thread_count();
	struct bed bed;

	omp_set_num_threads(3);
	for (int k = 0; kernels_on(k); k++) {
		bed_new(&bed, samples + 3, kernels_on(k), 2, &conv_onednn);
		assert_int_equal(omp_get_max_threads(), 3);
		assert_int_equal(thread_count(), threads + 1);
		bed_free(&bed);
	}
	omp_set_num_threads(before);
}

static void runs_without_allocating(void **state)
{
	struct bed bed;

	bed_new(&bed, samples + 3, kernels_on(0), 2, &conv_onednn);
	const uint64_t before = mem_count();
	for (int i = 0; i < 10; i++)
		bed_run(&bed);
	assert_int_equal(mem_count(), before);
	bed_free(&bed);
}

static int plan_attempt(void *context, struct err *err)
{
	struct bed bed;
	const int code = bed_plan(&bed, context, kernels_on(0), 2, &conv_onednn, err);

	bed_free(&bed);
	return code;
}

static void planning_survives_every_failing_allocation(void **state)
{
	struct sample s = samples[3];

	assert_true(each_allocation_fails(plan_attempt, &s) >= 3);
}

static void only_what_fits_is_taken(void **state)
{
	const struct kernels *k = kernels_on(0);
	const int block = k->block;
	struct conv conv = {.kernels = k,
		.in = tensor_blocked(2, 2 * block, 7, 7, block),
		.out = tensor_blocked(2, block, 7, 7, block)};

	assert_true(conv_onednn.fits(&conv));
	conv.fused = true;
	assert_false(conv_onednn.fits(&conv));
	conv.fused = false;
	conv.out = tensor_blocked(2, block + 1, 7, 7, block);
	assert_false(conv_onednn.fits(&conv));
	/* 8 x 16 pixels of 8 or 16 floats: a plane that is kept off the next one's cache sets */
	conv.out = tensor_blocked(2, block, 8, 16, block);
	assert_false(conv_onednn.fits(&conv));
	conv.out = tensor_blocked(2, block, 7, 7, block);
	conv.in = tensor_planar(2, block, 7, 7, 1);
	assert_false(conv_onednn.fits(&conv));
}

static void refusals_are_sentences(void **state)
{
	const struct onednn_shape odd = {1, 6, 6, 5, 5, 5, 5, 3, 1, 1, 3};
	const struct onednn_shape wrong = {1, 16, 16, 5, 5, 9, 9, 3, 1, 1, 8};
	struct onednn_conv *conv;
	struct err err;

	assert_int_equal(onednn_conv_new(&conv, &odd, 0, 1, &err), ERR_STATE);
	assert_null(conv);
	assert_says(err, "blocks of 3");
	assert_says(err, "unimplemented");
	assert_int_equal(onednn_conv_new(&conv, &wrong, 0, 1, &err), ERR_STATE);
	assert_null(conv);
	assert_says(err, "oneDNN cannot make the forward pass of a convolution");
	assert_says(err, "1 images, 16 x 5 x 5, to 16 channels");
	assert_says(err, "invalid_arguments");
	onednn_conv_free(NULL);
}

static void passes_not_asked_for_are_not_made(void **state)
{
	const struct onednn_shape shape = {1, 16, 16, 5, 5, 5, 5, 3, 1, 1, 8};
	struct onednn_arrays arrays = {
		filled(16 * 25, 1), filled(16 * 16 * 9, 2), filled(16 * 25, 3)};
	struct onednn_conv *conv;
	struct err err;

	assert_int_equal(onednn_conv_new(&conv, &shape, 1u << ONEDNN_BACKWARD_WEIGHTS, 1, &err), 0);
	arrays.scratch = mem_new(onednn_conv_scratch(conv) + 1, sizeof(float));
	assert_int_equal(onednn_conv_run(conv, ONEDNN_FORWARD, 0, &arrays), 0);
	assert_int_not_equal(onednn_conv_run(conv, ONEDNN_BACKWARD_INPUT, 0, &arrays), 0);
	assert_int_equal(onednn_conv_run(conv, ONEDNN_BACKWARD_WEIGHTS, 0, &arrays), 0);
	onednn_conv_free(conv);
	mem_free(arrays.in);
	mem_free(arrays.weights);
	mem_free(arrays.out);
	mem_free(arrays.scratch);
}

/* 20 x 20, 10 x 10 and 5 x 5 images make planes that fit, whatever the block. */
static const struct net_spec small_net = {"resnet20-cifar", NULL, 10, 3, 20, 20, false};

enum { BATCH = 6, STEPS = 4 };

static void whole_net_is_taken(void **state)
{
	struct engine *engine;
	struct net *net;
	struct plan *plan;
	struct err err;
	int taken = 0;

	assert_int_equal(net_new(&net, &small_net, &err), 0);
	assert_int_equal(
		engine_new(&engine, &(struct engine_config){kernels_on(0)->isa, "onednn", 1}, &err),
		0);
	assert_int_equal(plan_new(&plan, net, engine, BATCH, PLAN_TRAIN, &err), 0);
	for (int i = 0; i < net->count; i++) {
		const struct layer_type *type = net->layers[i].type;
		if (type != &layer_conv && type != &layer_dense)
			continue;
		const struct conv *conv = &((struct conv_step *)plan->steps[i].state)->conv;
		if (type == &layer_conv && !conv->shape.planar) {
			assert_ptr_equal(conv->algorithm, &conv_onednn);
			taken++;
		} else {
			assert_null(conv->onednn);
		}
	}
	assert_true(taken >= 18);
	plan_free(plan);
	engine_free(engine);
	net_free(net);
}

/* Trains a little; fills losses and returns the parameters. */
static float *train(const struct net *net, const char *algorithm, float *losses)
{
	const size_t floats = net_params(net)->floats, sample = 3 * 20 * 20;
	float *params = mem_new(floats, sizeof(float)), *grad = mem_new(floats, sizeof(float));
	float *stats = mem_new(net_stats(net)->floats + 1, sizeof(float));
	float *input = filled(BATCH * sample, 9);
	const int32_t labels[BATCH] = {3, 1, 4, 1, 5, 9};
	const struct runner_batch batch = {input, CELLS(labels), NULL, BATCH};
	struct engine *engine;
	struct runner *runner;
	struct err err;

	assert_int_equal(engine_new(&engine,
				 &(struct engine_config){kernels_on(0)->isa, algorithm, 2}, &err),
		0);
	assert_int_equal(runner_new(&runner, net, engine, 0, &err), 0);
	net_init(net, 1, params, stats, NULL);
	for (int i = 0; i < STEPS; i++) {
		if (runner_gradient(
			    runner, params, stats, &batch, grad, losses + i, NULL, NULL, &err))
			fail_msg("%s: %s", algorithm, err.message);
		for (size_t p = 0; p < floats; p++)
			params[p] -= 0.02f * grad[p];
	}
	runner_free(runner);
	engine_free(engine);
	mem_free(grad);
	mem_free(stats);
	mem_free(input);
	return params;
}

static void trained_net_stays_with_ours(void **state)
{
	const char *norms[] = {"gn-ws", "bn"};

	if (onednn_speed(kernels_on(0)->block) != ONEDNN_FAST) {
		print_message("skipped: oneDNN has only its reference kernels here\n");
		skip();
	}

	for (size_t i = 0; i < COUNT(norms); i++) {
		struct net_spec spec = small_net;
		float ours[STEPS], theirs[STEPS];
		struct net *net;
		struct err err;

		spec.norm = norms[i];
		assert_int_equal(net_new(&net, &spec, &err), 0);
		float *direct = train(net, "direct", ours), *onednn = train(net, "onednn", theirs);
		assert_true(ours[STEPS - 1] < ours[0]);
		for (int s = 0; s < STEPS; s++)
			if (!(fabsf(theirs[s] - ours[s]) < 1e-4f * ours[s]))
				fail_msg("%s, step %d: loss %.7f is not %.7f", norms[i], s,
					theirs[s], ours[s]);
		const double off = distance(onednn, direct, net_params(net)->floats);
		if (!(off < 1e-4))
			fail_msg("%s: parameters differ by %g", norms[i], off);
		mem_free(direct);
		mem_free(onednn);
		net_free(net);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First, before anything could have started OpenMP's threads. */
		cmocka_unit_test(callers_openmp_is_left_alone),
		cmocka_unit_test(agrees_with_direct),
		cmocka_unit_test(threads_do_not_change_bits),
		cmocka_unit_test(runs_without_allocating),
		cmocka_unit_test(planning_survives_every_failing_allocation),
		cmocka_unit_test(only_what_fits_is_taken),
		cmocka_unit_test(refusals_are_sentences),
		cmocka_unit_test(passes_not_asked_for_are_not_made),
		cmocka_unit_test(whole_net_is_taken),
		cmocka_unit_test(trained_net_stays_with_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
