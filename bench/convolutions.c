/*
 * Times every convolution of a net alone: forward, gradient of the input,
 * gradient of the weights. Prints GFLOP/s counted as direct convolution, so
 * Winograd's may exceed the processor's peak.
 *
 *	build/bench/convolutions [ARCH [SIZE [BATCH [THREADS [CONV]]]]]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/rng.h"
#include "nn/own/layers/conv_step.h"

enum { ROUNDS = 9, SHAPES_MAX = 64 };

struct row {
	struct conv_shape shape;
	const char *algorithm;
	int count;
	double seconds[3];
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void keep_best(double *best, double start)
{
	const double time = now() - start;
	if (*best == 0 || time < *best)
		*best = time;
}

static void time_conv(
	struct plan *plan, struct step *step, const float *params, float *grad, struct row *row)
{
	struct conv *conv = &((struct conv_step *)step->state)->conv;
	const struct param *weight = plan->net->params.rows + step->layer->weight;
	float *in = mem_new(conv->in.floats, sizeof(float)),
	      *out = mem_new(conv->out.floats, sizeof(float));

	if (!in || !out)
		exit(1);
	rng_normals((struct rng){1, RNG_TEST}, 0, in, conv->in.floats);
	for (int i = 0; i < ROUNDS; i++) {
		double start = now();
		conv_forward(conv, in, out, NULL, false);
		keep_best(&row->seconds[0], start);
		start = now();
		if (conv->input_grad)
			conv_backward_input(conv, out, in);
		keep_best(&row->seconds[1], start);
		start = now();
		conv_backward_weights(conv, params + weight->offset, in, out, grad);
		keep_best(&row->seconds[2], start);
	}
	mem_free(in);
	mem_free(out);
}

static struct row *find_row(struct row *rows, int *count, const struct conv *conv)
{
	for (int i = 0; i < *count; i++)
		if (!memcmp(&rows[i].shape, &conv->shape, sizeof conv->shape))
			return rows + i;
	if (*count == SHAPES_MAX)
		exit(1);
	struct row *row = rows + (*count)++;
	*row = (struct row){conv->shape, conv->algorithm->name, 0, {0}};
	return row;
}

static double gflop(const struct conv_shape *s)
{
	return 2e-9 * s->n * s->in * s->out * s->size * s->size * s->out_height * s->out_width;
}

static void print_rows(const struct row *rows, int count)
{
	double total[3] = {0}, work = 0;

	for (int i = 0; i < count; i++) {
		const struct row *r = rows + i;
		const double g = gflop(&r->shape);
		printf("%4d -> %4d  %dx%d/%d  %3d px  x%d  %-9s", r->shape.in, r->shape.out,
			r->shape.size, r->shape.size, r->shape.stride, r->shape.width, r->count,
			r->algorithm);
		for (int pass = 0; pass < 3; pass++) {
			const bool none = pass == 1 && r->shape.planar;
			printf("  %7.2f ms %4.0f", none ? 0 : r->seconds[pass] * 1e3,
				none ? 0 : g / r->seconds[pass]);
			total[pass] += none ? 0 : r->count * r->seconds[pass];
		}
		printf("\n");
		work += r->count * g;
	}
	printf("all: forward %.0f ms (%.0f GFLOP/s), input's gradient %.0f ms (%.0f), weights' "
	       "%.0f ms (%.0f)\n",
		total[0] * 1e3, work / total[0], total[1] * 1e3, work / total[1], total[2] * 1e3,
		work / total[2]);
}

int main(int argc, char **argv)
{
	const int size = argc > 2 ? atoi(argv[2]) : 224;
	struct net_spec spec = {.arch = argc > 1 ? argv[1] : "resnet50",
		.classes = 1000,
		.channels = 3,
		.height = size,
		.width = size};
	struct engine_config config = {.threads = argc > 4 ? atoi(argv[4]) : 2,
		.conv = argc > 5 ? argv[5] : NULL,
		.isa = argc > 6 ? argv[6] : NULL};
	struct row rows[SHAPES_MAX];
	struct net *net;
	struct engine *engine;
	struct plan *plan;
	struct err err = {0};
	int count = 0;

	if (net_new(&net, &spec, &err) || engine_new(&engine, &config, &err) ||
		plan_new(&plan, net, engine, argc > 3 ? atoi(argv[3]) : 32, PLAN_TRAIN, &err)) {
		fprintf(stderr, "convolutions: %s\n", err.message);
		return 1;
	}
	float *params = mem_new(net_params(net)->floats, sizeof(float));
	float *grad = mem_new(net_params(net)->floats, sizeof(float));
	float *workspace = mem_new(plan_floats(plan), sizeof(float));
	if (!params || !grad || !workspace)
		return 1;
	if (net_init(net, 1, params, NULL, &err) || plan_bind(plan, workspace, params, NULL, &err))
		return 1;
	for (int i = 0; i < net->count; i++) {
		struct step *step = plan->steps + i;
		if (step->layer->type != &layer_conv)
			continue;
		struct row *row = find_row(rows, &count, &((struct conv_step *)step->state)->conv);
		if (row->count++ == 0)
			time_conv(plan, step, params, grad, row);
	}
	print_rows(rows, count);
	plan_free(plan);
	engine_free(engine);
	net_free(net);
	mem_free(params);
	mem_free(grad);
	mem_free(workspace);
	return 0;
}
