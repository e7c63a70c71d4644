/* The largest of each window, and which it was. A task is one channel block of one image. */
#include "nn/own/plan/plan_impl.h"

static void shape(struct layer *layer, struct value_shape in)
{
	layer->channels = in.channels;
	layer->height = layer_out_side(layer, in.height);
	layer->width = layer_out_side(layer, in.width);
}

/* The winners: a byte for each output. */
static size_t extra(const struct plan *plan, const struct step *step)
{
	return plan->values[step->output].tensor.floats;
}

static int plan_pool(struct plan *plan, struct step *step, struct err *err)
{
	const struct layer *layer = step->layer;
	const struct tensor *in = &plan->values[layer->in].tensor;

	(void)err;
	*(struct pool_shape *)step->state = (struct pool_shape){in->height, in->width,
		layer->height, layer->width, layer->size, layer->stride, layer->pad};
	return 0;
}

static void forward_task(void *context, int task, int worker)
{
	const struct step_run *run = context;
	const struct plan *plan = run->plan;
	const struct step *step = run->step;
	const struct tensor *in = &plan->values[step->layer->in].tensor;
	const struct tensor *out = &plan->values[step->output].tensor;
	const size_t n = task / out->blocks, b = task % out->blocks,
		     at = n * out->image + b * out->plane;
	uint8_t *which = (uint8_t *)plan_buffer(plan, step->extra);

	(void)worker;
	plan->kernels->pool_max(step->state,
		value_data(plan, step->layer->in) + n * in->image + b * in->plane,
		value_data(plan, step->output) + at, which ? which + at : NULL);
}

static void forward(struct plan *plan, struct step *step)
{
	struct step_run run = {plan, step};
	team_run(
		plan->team, plan->n * plan->values[step->output].tensor.blocks, forward_task, &run);
}

static void backward_task(void *context, int task, int worker)
{
	const struct step_run *run = context;
	const struct plan *plan = run->plan;
	const struct step *step = run->step;
	const struct tensor *in = &plan->values[step->layer->in].tensor;
	const struct tensor *out = &plan->values[step->output].tensor;
	const size_t n = task / out->blocks, b = task % out->blocks,
		     at = n * out->image + b * out->plane;
	float *dy = value_grad(plan, step->output, 0) + at;
	const float *second = value_grad(plan, step->output, 1);

	(void)worker;
	if (second)
		plan->kernels->add(dy, second + at, tensor_pixels(out) * plan->kernels->block);
	plan->kernels->pool_max_grad(step->state, dy,
		(uint8_t *)plan_buffer(plan, step->extra) + at,
		plan_buffer(plan, step->dx) + n * in->image + b * in->plane);
}

static void backward(struct plan *plan, struct step *step)
{
	struct step_run run = {plan, step};
	team_run(plan->team, plan->n * plan->values[step->output].tensor.blocks, backward_task,
		&run);
}

const struct layer_type layer_max_pool = {
	.name = "max pool",
	.shape = shape,
	.extra = extra,
	.state = sizeof(struct pool_shape),
	.plan = plan_pool,
	.forward = forward,
	.backward = backward,
};
