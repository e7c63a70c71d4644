/* Runs a plan: weights, the input, the layers' passes, the loss between them. */
#include <string.h>
#include "nn/foreign/foreign.h"
#include "nn/own/plan/plan_dense.h"
#include "nn/sample_loss.h"

/* Samples per task where work goes by sample. */
enum { SAMPLES_PER_TASK = 16 };

static int sample_tasks(const struct plan *plan)
{
	return (plan->n + SAMPLES_PER_TASK - 1) / SAMPLES_PER_TASK;
}

static int samples_in_task(const struct plan *plan, int task)
{
	const int left = plan->n - task * SAMPLES_PER_TASK;
	return left < SAMPLES_PER_TASK ? left : SAMPLES_PER_TASK;
}

/* Shared scratch, workers' scratch, then buffers: each starts on a cache line. */
static void bind(struct plan *plan, float *workspace, const float *params, const float *stats,
	const struct plan *packed)
{
	plan->shared = workspace;
	plan->worker = workspace + (plan->shared_floats + 15) / 16 * 16;
	plan->worker_stride = (plan->worker_floats + 15) / 16 * 16;
	plan->workspace = plan->worker + plan->worker_stride * team_size(plan->team);
	plan->params = params;
	plan->stats = packed ? packed->stats : stats;
	if (plan->net->foreign)
		plan->version = packed ? packed->version : foreign_version(plan->net->foreign);
	for (int i = 0; i < plan->net->count && !plan->dense; i++) {
		struct step *step = plan->steps + i;
		const struct binding from = {stats, packed ? packed->steps + i : NULL};
		if (step->state && step->layer->type->bind)
			step->layer->type->bind(plan, step, &from);
	}
}

int plan_bind(struct plan *plan, float *workspace, const float *params, const float *stats,
	struct err *err)
{
	bind(plan, workspace, params, stats, NULL);
	return 0;
}

void plan_borrow(struct plan *plan, float *workspace, const struct plan *packed)
{
	bind(plan, workspace, packed->params, NULL, packed);
}

/* The input, from plain (n, channels, height, width). */

static void planar_input(void *context, int n, int worker)
{
	const struct plan *plan = context;
	const struct tensor *t = &plan->values[0].tensor;
	const size_t pad = t->planar_pad, line = t->width + 2 * pad;
	const float *from = plan->run.input + n * t->channels * tensor_pixels(t);
	float *to = value_data(plan, 0) + n * t->image;

	(void)worker;
	memset(to, 0, t->image * sizeof(float));
	for (int c = 0; c < t->channels; c++)
		for (int y = 0; y < t->height; y++, from += t->width)
			memcpy(to + c * t->plane + (y + pad) * line + pad, from,
				t->width * sizeof(float));
}

static void blocked_input(void *context, int n, int worker)
{
	const struct plan *plan = context;
	const struct tensor *t = &plan->values[0].tensor;
	const int block = plan->kernels->block;
	const size_t pixels = tensor_pixels(t);
	const float *from = plan->run.input + n * t->channels * pixels;
	float *to = value_data(plan, 0) + n * t->image;

	(void)worker;
	memset(to, 0, t->image * sizeof(float));
	for (int c = 0; c < t->channels; c += block) {
		const int rows = t->channels - c < block ? t->channels - c : block;
		plan->kernels->transpose(from + c * pixels, pixels, rows, (int)pixels,
			to + c / block * t->plane, block);
	}
}

static void vector_input(void *context, int task, int worker)
{
	const struct plan *plan = context;
	const struct tensor *t = &plan->values[0].tensor;
	const size_t first = (size_t)task * SAMPLES_PER_TASK;

	(void)worker;
	plan->kernels->vectors_to_blocks(plan->run.input + first * t->channels,
		samples_in_task(plan, task), t->channels,
		value_data(plan, 0) + first * plan->kernels->block, t->plane);
}

static void take_input(struct plan *plan)
{
	const struct tensor *t = &plan->values[0].tensor;

	if (plan->net->layers->type->reads_vectors)
		team_run(plan->team, sample_tasks(plan), vector_input, plan);
	else
		team_run(plan->team, plan->n, t->planar_pad >= 0 ? planar_input : blocked_input,
			plan);
}

/* Where plain logits go: straight to the caller, if it asked for them. */
static float *plain_logits(const struct plan *plan)
{
	return plan->run.logits ? plan->run.logits : plan->logits;
}

static void logits_task(void *context, int task, int worker)
{
	const struct plan *plan = context;
	const struct tensor *t = &plan->values[plan->net->count].tensor;
	const size_t first = (size_t)task * SAMPLES_PER_TASK;

	(void)worker;
	plan->kernels->blocks_to_vectors(
		value_data(plan, plan->net->count) + first * plan->kernels->block, t->plane,
		samples_in_task(plan, task), t->channels, plain_logits(plan) + first * t->channels);
}

static void features_task(void *context, int task, int worker)
{
	const struct plan *plan = context;
	const int value = plan->net->layers[plan->net->count - 1].in;
	const struct tensor *t = &plan->values[value].tensor;
	const size_t first = (size_t)task * SAMPLES_PER_TASK;

	(void)worker;
	plan->kernels->blocks_to_vectors(value_data(plan, value) + first * plan->kernels->block,
		t->plane, samples_in_task(plan, task), t->channels,
		plan->run.features + first * t->channels);
}

/* One after the other. */
static void sample_losses(const struct plan *plan, size_t first, int count)
{
	const struct plan_run *run = &plan->run;
	const size_t classes = (size_t)plan->net->spec.classes;
	const size_t width = (size_t)run->loss->width;
	/* Only losses of numbers are asked for without gradients. */
	float scored[NUMBER_OUTPUTS * TARGET_WIDTH];

	for (size_t i = first; i < first + count; i++)
		run->losses[i] = run->loss->value(run->loss, &plan->kernels->ops,
			run->loss_at + (int)i, plain_logits(plan) + i * classes,
			run->labels + i * width, run->grad ? run->weights[i] : 1,
			run->grad ? plan->logit_grads + i * classes : scored);
}

void plan_losses(const struct plan *plan, size_t first, int count)
{
	const struct plan_run *run = &plan->run;
	const int classes = plan->net->spec.classes;
	const size_t at = first * (size_t)classes;

	if (run->loss)
		sample_losses(plan, first, count);
	else
		plan->kernels->ops.softmax_loss(plain_logits(plan) + at, classes,
			target_classes(run->labels + first),
			run->grad ? run->weights + first : NULL, count, run->losses + first,
			run->grad ? plan->logit_grads + at : NULL);
}

static void loss_task(void *context, int task, int worker)
{
	const struct plan *plan = context;
	const struct plan_run *run = &plan->run;
	const struct tensor *t = &plan->values[plan->net->count].tensor;
	const size_t first = (size_t)task * SAMPLES_PER_TASK, at = first * t->channels;
	const int count = samples_in_task(plan, task);

	logits_task(context, task, worker);
	plan_losses(plan, first, count);
	if (run->grad)
		plan->kernels->vectors_to_blocks(plan->logit_grads + at, count, t->channels,
			value_grad(plan, plan->net->count, 0) + first * plan->kernels->block,
			t->plane);
}

/* Layers before one have no parameters from here on. */
static size_t end_before(const struct plan *plan, int layer)
{
	const struct param_table *params = &plan->net->params;
	size_t end = 0;

	for (int i = 0; i < layer; i++) {
		const int rows[] = {plan->net->layers[i].weight, plan->net->layers[i].bias};

		for (int k = 0; k < 2; k++) {
			const struct param *row = rows[k] < 0 ? NULL : &params->rows[rows[k]];

			if (row && end < row->offset + row->count)
				end = row->offset + row->count;
		}
	}
	return end;
}

static void backward(struct plan *plan)
{
	const struct plan_run *run = &plan->run;

	if (run->final)
		run->final(run->final_context, plan->net->params.floats);
	for (int i = plan->net->count - 1; i >= plan->net->trained; i--) {
		plan->steps[i].layer->type->backward(plan, plan->steps + i);
		if (run->final)
			run->final(run->final_context, end_before(plan, i));
	}
}

int plan_run(struct plan *plan, const struct plan_run *run, struct err *err)
{
	plan->run = *run;
	if (plan->net->foreign)
		return foreign_run(plan, err);
	if (plan->dense) {
		dense_run(plan);
		return 0;
	}
	take_input(plan);
	for (int i = 0; i < plan->net->count; i++)
		if (!plan->steps[i].skip)
			plan->steps[i].layer->type->forward(plan, plan->steps + i);
	if (run->features)
		team_run(plan->team, sample_tasks(plan), features_task, plan);
	if (run->losses)
		team_run(plan->team, sample_tasks(plan), loss_task, plan);
	else if (run->logits)
		team_run(plan->team, sample_tasks(plan), logits_task, plan);
	if (run->grad)
		backward(plan);
	return 0;
}
