/*
 * An image becomes a vector of all its numbers, channel after channel, as PyTorch's
 * Flatten orders them. A task is one image. Numbers only change places, so nothing is
 * rounded; what fills up blocks, of channels or of the vector, is 0.
 */
#include "nn/own/plan/plan_impl.h"

static void shape(struct layer *layer, struct value_shape in)
{
	layer->channels = in.channels * in.height * in.width;
	layer->height = layer->width = 1;
}

/* Where sample n's number f is in vectors. */
static size_t vector_at(const struct tensor *vectors, size_t block, size_t n, size_t f)
{
	return f / block * vectors->plane + n * block + f % block;
}

static void forward_task(void *context, int task, int worker)
{
	const struct step_run *run = context;
	const struct plan *plan = run->plan;
	const struct tensor *in = &plan->values[run->step->layer->in].tensor;
	const struct tensor *out = &plan->values[run->step->output].tensor;
	const size_t block = (size_t)plan->kernels->block, pixels = tensor_pixels(in);
	const size_t n = (size_t)task, all = (size_t)in->channels * pixels;
	const float *from = value_data(plan, run->step->layer->in) + n * in->image;
	float *to = value_data(plan, run->step->output);

	(void)worker;
	for (size_t f = 0; f < (size_t)out->blocks * block; f++) {
		const size_t c = f / pixels, p = f % pixels;

		to[vector_at(out, block, n, f)] =
			f < all ? from[c / block * in->plane + p * block + c % block] : 0;
	}
}

static void forward(struct plan *plan, struct step *step)
{
	struct step_run run = {plan, step};

	team_run(plan->team, plan->n, forward_task, &run);
}

static void backward_task(void *context, int task, int worker)
{
	const struct step_run *run = context;
	const struct plan *plan = run->plan;
	const struct tensor *in = &plan->values[run->step->layer->in].tensor;
	const struct tensor *out = &plan->values[run->step->output].tensor;
	const size_t block = (size_t)plan->kernels->block, pixels = tensor_pixels(in);
	const size_t n = (size_t)task, channels = (size_t)in->channels;
	const float *from = value_grad(plan, run->step->output, 0);
	float *to = plan_buffer(plan, run->step->dx) + n * in->image;

	(void)worker;
	for (size_t c = 0; c < (size_t)in->blocks * block; c++)
		for (size_t p = 0; p < pixels; p++)
			to[c / block * in->plane + p * block + c % block] =
				c < channels ? from[vector_at(out, block, n, c * pixels + p)] : 0;
}

static void backward(struct plan *plan, struct step *step)
{
	struct step_run run = {plan, step};

	team_run(plan->team, plan->n, backward_task, &run);
}

const struct layer_type layer_flatten = {
	.name = "flatten",
	.shape = shape,
	.writes_vectors = true,
	.forward = forward,
	.backward = backward,
};
