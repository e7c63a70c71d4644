/* The mean of each channel: an image becomes a vector. A task is one channel block of one image. */
#include "nn/own/plan/plan_impl.h"

static void shape(struct layer *layer, struct value_shape in)
{
	layer->channels = in.channels;
	layer->height = layer->width = 1;
}

static void forward_task(void *context, int task, int worker)
{
	const struct step_run *run = context;
	const struct plan *plan = run->plan;
	const struct step *step = run->step;
	const struct tensor *in = &plan->values[step->layer->in].tensor;
	const struct tensor *out = &plan->values[step->output].tensor;
	const size_t n = task / in->blocks, b = task % in->blocks;

	(void)worker;
	plan->kernels->pool_mean(value_data(plan, step->layer->in) + n * in->image + b * in->plane,
		tensor_pixels(in),
		value_data(plan, step->output) + b * out->plane + n * plan->kernels->block);
}

static void forward(struct plan *plan, struct step *step)
{
	struct step_run run = {plan, step};
	team_run(plan->team, plan->n * plan->values[step->layer->in].tensor.blocks, forward_task,
		&run);
}

static void backward_task(void *context, int task, int worker)
{
	const struct step_run *run = context;
	const struct plan *plan = run->plan;
	const struct step *step = run->step;
	const struct tensor *in = &plan->values[step->layer->in].tensor;
	const struct tensor *out = &plan->values[step->output].tensor;
	const size_t n = task / in->blocks, b = task % in->blocks;

	(void)worker;
	plan->kernels->pool_mean_grad(
		value_grad(plan, step->output, 0) + b * out->plane + n * plan->kernels->block,
		tensor_pixels(in), plan_buffer(plan, step->dx) + n * in->image + b * in->plane);
}

static void backward(struct plan *plan, struct step *step)
{
	struct step_run run = {plan, step};
	team_run(plan->team, plan->n * plan->values[step->layer->in].tensor.blocks, backward_task,
		&run);
}

const struct layer_type layer_mean_pool = {
	.name = "mean pool",
	.shape = shape,
	.writes_vectors = true,
	.forward = forward,
	.backward = backward,
};
