/*
 * Dense layer: y = W x + b, perhaps with a ReLU. In a plan it is a convolution of size 1
 * over vectors; nets of dense layers only are run by plan_dense.c instead.
 */
#include <math.h>
#include <string.h>
#include "nn/own/layers/conv_step.h"
#include "nn/own/layers/init.h"

static void shape(struct layer *layer, struct value_shape in)
{
	(void)in;
	layer->height = layer->width = 1;
}

static int params(struct net *net, struct layer *layer, const char *name, struct err *err)
{
	const int64_t sizes[] = {layer->channels, layer->inputs};

	layer->weight = net_add_param(net, PARAM_DENSE, name, "weight", 2, sizes, err);
	if (layer->weight < 0)
		return layer->weight;
	layer->bias = net_add_param(net, PARAM_BIAS, name, "bias", 1, sizes, err);
	return layer->bias < 0 ? layer->bias : 0;
}

/* He's, by what comes in, before a ReLU; elsewhere uniform, as PyTorch's. */
static void init(const struct net *net, const struct layer *layer, uint64_t seed, float *values,
	float *stats)
{
	const double fan_in = layer->inputs;
	const float bound = (float)(1 / sqrt(fan_in));

	(void)stats;
	if (layer->relu) {
		init_normal(&net->params, layer->weight, seed, sqrt(2 / fan_in), values);
		return;
	}
	init_uniform(&net->params, layer->weight, seed, bound, values);
	init_uniform(&net->params, layer->bias, seed, bound, values);
}

static void bias_task(void *context, int b, int worker)
{
	const struct step_run *run = context;
	const struct plan *plan = run->plan;
	const struct step *step = run->step;
	const struct conv_step *own = step->state;
	const size_t at = b * plan->values[step->output].tensor.plane;
	const float *y = step->layer->relu ? value_data(plan, step->output) + at : NULL;

	(void)worker;
	plan->kernels->bias_grad(value_grad(plan, step->output, 0) + at, y, plan->n,
		own->bias_grad + b * plan->kernels->block);
}

static void backward(struct plan *plan, struct step *step)
{
	struct step_run run = {plan, step};
	const struct conv_step *own = step->state;

	team_run(plan->team, plan->values[step->output].tensor.blocks, bias_task, &run);
	memcpy(grad_at(plan, step->layer->bias), own->bias_grad,
		step->layer->channels * sizeof(float));
	conv_step_backward(plan, step);
}

const struct layer_type layer_dense = {
	.name = "dense",
	.shape = shape,
	.params = params,
	.init = init,
	.macs = conv_step_macs,
	.dense = true,
	.reads_vectors = true,
	.writes_vectors = true,
	.rereads_input = true,
	.rereads_output = true,
	.state = sizeof(struct conv_step),
	.plan = conv_step_plan,
	.release = conv_step_release,
	.bind = conv_step_bind,
	.forward = conv_step_forward,
	.backward = backward,
};
