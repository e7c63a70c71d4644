/* Convolutions and dense layers in a plan. */
#include "nn/own/layers/conv_step.h"

double conv_step_macs(const struct net *net, const struct layer *layer)
{
	return (double)net->params.rows[layer->weight].count * layer->height * layer->width;
}

/* A folded norm that also scales and shifts. */
static bool folds_scale(const struct step *step)
{
	return step->folded && step->folded->norm->running;
}

/* Nobody asks for the gradient of the net's input, nor of what frozen layers made. */
static bool wants_input_grad(const struct plan *plan, const struct layer *layer)
{
	return layer->in > plan->net->trained;
}

static struct conv_shape shape_of(
	const struct layer *layer, const struct tensor *in, const struct tensor *out)
{
	return (struct conv_shape){.n = in->n,
		.in = in->channels,
		.out = layer->channels,
		.height = in->height,
		.width = in->width,
		.size = layer->size,
		.stride = layer->stride,
		.pad = layer->pad,
		.out_height = out->height,
		.out_width = out->width,
		.planar = in->planar_pad >= 0};
}

static int make_buffers(struct plan *plan, struct step *step, struct err *err)
{
	struct conv_step *own = step->state;
	const size_t padded =
		(size_t)plan->values[step->output].tensor.blocks * plan->kernels->block;

	if (step->layer->bias >= 0)
		own->bias_grad = arena_new(&plan->arena, padded, sizeof(float));
	if (folds_scale(step))
		own->fold_scale = arena_new(&plan->arena, 2 * padded, sizeof(float));
	if ((step->layer->bias >= 0 && !own->bias_grad) || (folds_scale(step) && !own->fold_scale))
		return err_memory(err, "a layer", 3 * padded * sizeof(float));
	own->fold_shift = own->fold_scale ? own->fold_scale + padded : NULL;
	return 0;
}

int conv_step_plan(struct plan *plan, struct step *step, struct err *err)
{
	struct conv *conv = &((struct conv_step *)step->state)->conv;
	const struct layer *layer = step->layer;
	const struct tensor *in = &plan->values[layer->in].tensor,
			    *out = &plan->values[step->output].tensor;

	*conv = (struct conv){.shape = shape_of(layer, in, out),
		.in = *in,
		.out = *out,
		.kernels = plan->kernels,
		.team = plan->team,
		.standardize = layer->standardize,
		.train = plan->mode == PLAN_TRAIN,
		.input_grad = plan->mode == PLAN_TRAIN && wants_input_grad(plan, layer),
		.fused = layer->bias >= 0 || step->folded || layer->relu,
		.borrows = plan->mode == PLAN_SERVE,
		.has_bias = layer->bias >= 0 || folds_scale(step)};
	const int code = conv_plan(conv, plan->engine->conv, &plan->arena, err);
	plan_want(plan, conv->shared_floats, conv->worker_floats);
	return code ? code : make_buffers(plan, step, err);
}

void conv_step_release(struct step *step)
{
	conv_release(&((struct conv_step *)step->state)->conv);
}

static void pack(const struct plan *plan, struct step *step, const float *stats)
{
	struct conv_step *own = step->state;
	const struct layer *layer = step->layer, *norm = step->folded;
	const struct param *rows = plan->net->stats.rows;

	if (own->fold_scale)
		norm_fold(param_at(plan, norm->weight), param_at(plan, norm->bias),
			stats + rows[norm->mean].offset, stats + rows[norm->variance].offset,
			norm->channels, own->fold_scale, own->fold_shift);
	conv_bind(&own->conv, param_at(plan, layer->weight), own->fold_scale,
		own->fold_scale ? own->fold_shift : param_at(plan, layer->bias));
}

void conv_step_bind(struct plan *plan, struct step *step, const struct binding *from)
{
	struct conv *conv = &((struct conv_step *)step->state)->conv;

	conv->shared = plan->shared;
	conv->worker = plan->worker;
	conv->worker_stride = plan->worker_stride;
	if (from->packed)
		conv_borrow(conv, &((const struct conv_step *)from->packed->state)->conv);
	else
		pack(plan, step, from->stats);
}

void conv_step_forward(struct plan *plan, struct step *step)
{
	const struct layer *layer = step->layer, *norm = step->folded;
	const float *add = norm && norm->add >= 0 ? value_data(plan, norm->add) : NULL;

	conv_forward(&((struct conv_step *)step->state)->conv, value_data(plan, layer->in),
		value_data(plan, step->output), add, norm ? norm->relu : layer->relu);
}

void conv_step_backward(struct plan *plan, struct step *step)
{
	struct conv *conv = &((struct conv_step *)step->state)->conv;
	const struct layer *layer = step->layer;
	const float *dy = value_grad(plan, step->output, 0);

	conv_backward_weights(conv, param_at(plan, layer->weight), value_data(plan, layer->in), dy,
		grad_at(plan, layer->weight));
	if (wants_input_grad(plan, layer))
		conv_backward_input(conv, dy, plan_buffer(plan, step->dx));
}
