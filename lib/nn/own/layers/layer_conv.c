/* Convolution without bias, perhaps of standardized weights: nn/own/conv/conv.h computes it. */
#include <math.h>
#include "nn/own/layers/conv_step.h"
#include "nn/own/layers/init.h"

static void shape(struct layer *layer, struct value_shape in)
{
	layer->height = layer_out_side(layer, in.height);
	layer->width = layer_out_side(layer, in.width);
}

static int params(struct net *net, struct layer *layer, const char *name, struct err *err)
{
	const int64_t sizes[] = {layer->channels, layer->inputs, layer->size, layer->size};

	layer->weight = net_add_param(net, PARAM_CONV, name, "weight", 4, sizes, err);
	return layer->weight < 0 ? layer->weight : 0;
}

/* He's, by what goes out. */
static void init(const struct net *net, const struct layer *layer, uint64_t seed, float *values,
	float *stats)
{
	const double fan_out = (double)layer->channels * layer->size * layer->size;

	(void)stats;
	init_normal(&net->params, layer->weight, seed, sqrt(2 / fan_out), values);
}

const struct layer_type layer_conv = {
	.name = "convolution",
	.shape = shape,
	.params = params,
	.init = init,
	.macs = conv_step_macs,
	.reads_planar = true,
	.computes_norm = true,
	.rereads_input = true,
	.state = sizeof(struct conv_step),
	.plan = conv_step_plan,
	.release = conv_step_release,
	.bind = conv_step_bind,
	.forward = conv_step_forward,
	.backward = conv_step_backward,
};
