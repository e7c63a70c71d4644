/* Runs a plan: one function per kind of layer and pass. */
#include <string.h>
#include "nn/plan/plan_dense.h"

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

static const float *param_at(const struct plan *plan, int row)
{
	return row < 0 ? NULL : plan->params + plan->net->params.rows[row].offset;
}

static float *grad_at(const struct plan *plan, int row)
{
	return row < 0 ? NULL : plan->run.grad + plan->net->params.rows[row].offset;
}

static float *stat_at(const struct plan *plan, float *stats, int row)
{
	return row < 0 || !stats ? NULL : stats + plan->net->stats.rows[row].offset;
}

/* Binding: scratch to everyone, weights to the convolutions. */

static void bind_conv(struct plan *plan, struct step *step, const float *stats)
{
	const struct layer *layer = step->layer, *norm = step->folded;
	const float *fold = NULL, *bias = param_at(plan, layer->bias);

	if (norm && norm->norm == NORM_BATCH) {
		const struct param *rows = plan->net->stats.rows;
		norm_fold(param_at(plan, norm->weight), param_at(plan, norm->bias),
			stats + rows[norm->mean].offset, stats + rows[norm->variance].offset,
			norm->channels, step->fold_scale, step->fold_shift);
		fold = step->fold_scale;
		bias = step->fold_shift;
	}
	conv_bind(&step->conv, param_at(plan, layer->weight), fold, bias);
}

/* Shared scratch, workers' scratch, then buffers: each starts on a cache line. */
static void take_workspace(struct plan *plan, float *workspace)
{
	plan->worker = workspace + (plan->shared_floats + 15) / 16 * 16;
	plan->worker_stride = (plan->worker_floats + 15) / 16 * 16;
	plan->workspace = plan->worker + plan->worker_stride * team_size(plan->team);
	for (int i = 0; i < plan->net->count && !plan->dense; i++) {
		struct step *step = plan->steps + i;
		step->conv.shared = workspace;
		step->conv.worker = step->norm.worker = plan->worker;
		step->conv.worker_stride = step->norm.worker_stride = plan->worker_stride;
	}
}

static bool is_conv(const struct step *step)
{
	return step->layer->kind == LAYER_CONV || step->layer->kind == LAYER_DENSE;
}

void plan_bind(struct plan *plan, float *workspace, const float *params, const float *stats)
{
	take_workspace(plan, workspace);
	plan->params = params;
	for (int i = 0; i < plan->net->count && !plan->dense; i++)
		if (is_conv(plan->steps + i))
			bind_conv(plan, plan->steps + i, stats);
}

void plan_borrow(struct plan *plan, float *workspace, const struct plan *packed)
{
	take_workspace(plan, workspace);
	plan->params = packed->params;
	for (int i = 0; i < plan->net->count && !plan->dense; i++)
		if (is_conv(plan->steps + i))
			conv_borrow(&plan->steps[i].conv, &packed->steps[i].conv);
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

	if (plan->net->layers->kind == LAYER_DENSE)
		team_run(plan->team, sample_tasks(plan), vector_input, plan);
	else
		team_run(plan->team, plan->n, t->planar_pad >= 0 ? planar_input : blocked_input,
			plan);
}

/* Layers. A task of a pool is one channel block of one image. */

struct step_run {
	struct plan *plan;
	struct step *step;
};

static void forward_conv(struct plan *plan, struct step *step)
{
	const struct layer *layer = step->layer, *norm = step->folded;
	const float *add = norm && norm->add >= 0 ? value_data(plan, norm->add) : NULL;

	conv_forward(&step->conv, value_data(plan, layer->in), value_data(plan, step->output), add,
		norm ? norm->relu : layer->relu);
}

static struct norm_flow norm_flow_of(const struct plan *plan, const struct step *step)
{
	const struct layer *layer = step->layer;

	return (struct norm_flow){.x = value_data(plan, layer->in),
		.y = value_data(plan, step->output),
		.add = layer->add >= 0 ? value_data(plan, layer->add) : NULL,
		.mask = plan_buffer(plan, step->extra),
		.scale = param_at(plan, layer->weight),
		.shift = param_at(plan, layer->bias),
		.running_mean = stat_at(plan, plan->run.stats, layer->mean),
		.running_variance = stat_at(plan, plan->run.stats, layer->variance),
		.momentum = plan->run.momentum};
}

static void forward_norm(struct plan *plan, struct step *step)
{
	const struct norm_flow flow = norm_flow_of(plan, step);
	norm_forward(&step->norm, &flow);
}

static void max_pool_task(void *context, int task, int worker)
{
	const struct step_run *run = context;
	const struct plan *plan = run->plan;
	const struct tensor *in = &plan->values[run->step->layer->in].tensor;
	const struct tensor *out = &plan->values[run->step->output].tensor;
	const size_t n = task / out->blocks, b = task % out->blocks,
		     at = n * out->image + b * out->plane;
	uint8_t *which = (uint8_t *)plan_buffer(plan, run->step->extra);

	(void)worker;
	plan->kernels->pool_max(&run->step->pool,
		value_data(plan, run->step->layer->in) + n * in->image + b * in->plane,
		value_data(plan, run->step->output) + at, which ? which + at : NULL);
}

static void forward_max_pool(struct plan *plan, struct step *step)
{
	struct step_run run = {plan, step};
	team_run(plan->team, plan->n * plan->values[step->output].tensor.blocks, max_pool_task,
		&run);
}

static void mean_pool_task(void *context, int task, int worker)
{
	const struct step_run *run = context;
	const struct plan *plan = run->plan;
	const struct tensor *in = &plan->values[run->step->layer->in].tensor;
	const struct tensor *out = &plan->values[run->step->output].tensor;
	const size_t n = task / in->blocks, b = task % in->blocks;

	(void)worker;
	plan->kernels->pool_mean(
		value_data(plan, run->step->layer->in) + n * in->image + b * in->plane,
		tensor_pixels(in),
		value_data(plan, run->step->output) + b * out->plane + n * plan->kernels->block);
}

static void forward_mean_pool(struct plan *plan, struct step *step)
{
	struct step_run run = {plan, step};
	team_run(plan->team, plan->n * plan->values[step->layer->in].tensor.blocks, mean_pool_task,
		&run);
}

static void backward_conv(struct plan *plan, struct step *step)
{
	const struct layer *layer = step->layer;
	const float *dy = value_grad(plan, step->output, 0);

	conv_backward_weights(&step->conv, param_at(plan, layer->weight),
		value_data(plan, layer->in), dy, grad_at(plan, layer->weight));
	if (layer->in > 0)
		conv_backward_input(&step->conv, dy, plan_buffer(plan, step->dx));
}

static void bias_task(void *context, int b, int worker)
{
	const struct step_run *run = context;
	const struct plan *plan = run->plan;
	const struct tensor *out = &plan->values[run->step->output].tensor;
	const float *y = run->step->layer->relu
				 ? value_data(plan, run->step->output) + b * out->plane
				 : NULL;

	(void)worker;
	plan->kernels->bias_grad(value_grad(plan, run->step->output, 0) + b * out->plane, y,
		plan->n, run->step->bias_grad + b * plan->kernels->block);
}

static void backward_dense(struct plan *plan, struct step *step)
{
	struct step_run run = {plan, step};

	team_run(plan->team, plan->values[step->output].tensor.blocks, bias_task, &run);
	memcpy(grad_at(plan, step->layer->bias), step->bias_grad,
		step->layer->channels * sizeof(float));
	backward_conv(plan, step);
}

static void backward_norm(struct plan *plan, struct step *step)
{
	struct norm_flow flow = norm_flow_of(plan, step);

	flow.dy0 = value_grad(plan, step->output, 0);
	flow.dy1 = value_grad(plan, step->output, 1);
	flow.join = plan_buffer(plan, step->join);
	flow.dx = plan_buffer(plan, step->dx);
	flow.scale_grad = grad_at(plan, step->layer->weight);
	flow.shift_grad = grad_at(plan, step->layer->bias);
	norm_backward(&step->norm, &flow);
}

static void max_pool_grad_task(void *context, int task, int worker)
{
	const struct step_run *run = context;
	const struct plan *plan = run->plan;
	const struct tensor *in = &plan->values[run->step->layer->in].tensor;
	const struct tensor *out = &plan->values[run->step->output].tensor;
	const size_t n = task / out->blocks, b = task % out->blocks,
		     at = n * out->image + b * out->plane;
	float *dy = value_grad(plan, run->step->output, 0) + at;
	const float *second = value_grad(plan, run->step->output, 1);

	(void)worker;
	if (second)
		plan->kernels->add(dy, second + at, tensor_pixels(out) * plan->kernels->block);
	plan->kernels->pool_max_grad(&run->step->pool, dy,
		(uint8_t *)plan_buffer(plan, run->step->extra) + at,
		plan_buffer(plan, run->step->dx) + n * in->image + b * in->plane);
}

static void backward_max_pool(struct plan *plan, struct step *step)
{
	struct step_run run = {plan, step};
	team_run(plan->team, plan->n * plan->values[step->output].tensor.blocks, max_pool_grad_task,
		&run);
}

static void mean_pool_grad_task(void *context, int task, int worker)
{
	const struct step_run *run = context;
	const struct plan *plan = run->plan;
	const struct tensor *in = &plan->values[run->step->layer->in].tensor;
	const struct tensor *out = &plan->values[run->step->output].tensor;
	const size_t n = task / in->blocks, b = task % in->blocks;

	(void)worker;
	plan->kernels->pool_mean_grad(
		value_grad(plan, run->step->output, 0) + b * out->plane + n * plan->kernels->block,
		tensor_pixels(in),
		plan_buffer(plan, run->step->dx) + n * in->image + b * in->plane);
}

static void backward_mean_pool(struct plan *plan, struct step *step)
{
	struct step_run run = {plan, step};
	team_run(plan->team, plan->n * plan->values[step->layer->in].tensor.blocks,
		mean_pool_grad_task, &run);
}

typedef void step_fn(struct plan *plan, struct step *step);

static const struct {
	step_fn *forward, *backward;
} passes[LAYER_KINDS] = {
	[LAYER_CONV] = {forward_conv, backward_conv},
	[LAYER_NORM] = {forward_norm, backward_norm},
	[LAYER_MAX_POOL] = {forward_max_pool, backward_max_pool},
	[LAYER_MEAN_POOL] = {forward_mean_pool, backward_mean_pool},
	[LAYER_DENSE] = {forward_conv, backward_dense},
};

/* Where plain logits go: straight to who asked for them. */
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

static void loss_task(void *context, int task, int worker)
{
	const struct plan *plan = context;
	const struct plan_run *run = &plan->run;
	const struct tensor *t = &plan->values[plan->net->count].tensor;
	const size_t first = (size_t)task * SAMPLES_PER_TASK, at = first * t->channels;
	const int count = samples_in_task(plan, task);

	logits_task(context, task, worker);
	plan->kernels->softmax_loss(plain_logits(plan) + at, t->channels, run->labels + first,
		run->grad ? run->weights + first : NULL, count, run->losses + first,
		run->grad ? plan->logit_grads + at : NULL);
	if (run->grad)
		plan->kernels->vectors_to_blocks(plan->logit_grads + at, count, t->channels,
			value_grad(plan, plan->net->count, 0) + first * plan->kernels->block,
			t->plane);
}

void plan_run(struct plan *plan, const struct plan_run *run)
{
	plan->run = *run;
	if (plan->dense) {
		dense_run(plan);
		return;
	}
	take_input(plan);
	for (int i = 0; i < plan->net->count; i++)
		if (!plan->steps[i].skip)
			passes[plan->steps[i].layer->kind].forward(plan, plan->steps + i);
	if (run->losses)
		team_run(plan->team, sample_tasks(plan), loss_task, plan);
	else if (run->logits)
		team_run(plan->team, sample_tasks(plan), logits_task, plan);
	for (int i = plan->net->count - 1; i >= 0 && run->grad; i--)
		passes[plan->steps[i].layer->kind].backward(plan, plan->steps + i);
}
