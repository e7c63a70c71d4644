/*
 * Makes a plan. Moments count the steps of a run: the input is copied at 0,
 * layer i runs at i + 1, the loss comes behind the last, layer i's backward
 * pass at 2 L + 1 - i. Each buffer is alive from the moment it is written to
 * the last moment it is read, which for training means deep into the backward
 * pass; what is not needed together shares memory.
 *
 * Gradients are written by the consumers of a value, at most two of them, and
 * added by its producer while it reads them. Where a pass may work in place,
 * it is given the buffer it reads.
 */
#include <string.h>
#include "nn/plan/plan_dense.h"

/* Up to so many input channels the first layer reads planar input. */
enum { PLANAR_CHANNELS = 4 };

static int forward_moment(int layer)
{
	return layer + 1;
}

static int backward_moment(const struct plan *plan, int layer)
{
	return 2 * plan->net->count + 1 - layer;
}

static int loss_moment(const struct plan *plan)
{
	return plan->net->count + 1;
}

static struct tensor vectors(const struct plan *plan, int features)
{
	return tensor_blocked(1, features, 1, plan->n, plan->kernels->block);
}

static struct tensor input_tensor(const struct plan *plan)
{
	const struct net_spec *s = &plan->net->spec;
	const struct layer *first = plan->net->layers;

	if (first->kind == LAYER_DENSE)
		return vectors(plan, s->channels * s->height * s->width);
	if (s->channels <= PLANAR_CHANNELS)
		return tensor_planar(plan->n, s->channels, s->height, s->width, first->pad);
	return tensor_blocked(plan->n, s->channels, s->height, s->width, plan->kernels->block);
}

static struct tensor layer_tensor(const struct plan *plan, const struct layer *layer)
{
	if (layer->kind == LAYER_DENSE || layer->kind == LAYER_MEAN_POOL)
		return vectors(plan, layer->channels);
	return tensor_blocked(
		plan->n, layer->channels, layer->height, layer->width, plan->kernels->block);
}

/* Whether layer i's convolution can compute the norm behind it, too. */
static bool folds(const struct plan *plan, int i)
{
	const struct layer *layer = plan->net->layers + i;
	return plan_infers(plan) && layer->kind == LAYER_CONV && i + 1 < plan->net->count &&
	       layer[1].kind == LAYER_NORM && layer[1].norm != NORM_GROUP && layer[1].in == i + 1;
}

/* Outside of training a norm writes over its input. */
static bool in_place(const struct plan *plan, const struct layer *layer)
{
	return plan->mode != PLAN_TRAIN && layer->kind == LAYER_NORM;
}

static int place_value(struct plan *plan, int i, struct err *err)
{
	const struct layer *layer = plan->net->layers + i;
	struct value *value = plan->values + i + 1;
	struct step *step = plan->steps + i;

	value->tensor = layer_tensor(plan, layer);
	value->data = -1;
	step->layer = layer;
	step->output = i + 1;
	step->extra = step->join = step->dx = -1;
	if (folds(plan, i)) {
		step->folded = layer + 1;
		step->output = i + 2;
		return 0;
	}
	if (i > 0 && step[-1].folded) {
		step->skip = true;
		value->data = lifetimes_add(
			&plan->buffers, value->tensor.floats, forward_moment(i - 1), err);
		return value->data < 0 ? value->data : 0;
	}
	if (in_place(plan, layer)) {
		value->data = plan->values[layer->in].data;
		lifetimes_extend(&plan->buffers, value->data, forward_moment(i));
		return 0;
	}
	value->data = lifetimes_add(&plan->buffers, value->tensor.floats, forward_moment(i), err);
	return value->data < 0 ? value->data : 0;
}

/* Values a layer reads again in its backward pass. */
static bool reads_input_again(const struct layer *layer)
{
	return layer->kind == LAYER_CONV || layer->kind == LAYER_DENSE || layer->kind == LAYER_NORM;
}

static void keep_inputs(struct plan *plan, int i)
{
	const struct layer *layer = plan->net->layers + i;
	const int in = plan->values[layer->in].data, own = plan->values[i + 1].data;

	if (in >= 0)
		lifetimes_extend(&plan->buffers, in, forward_moment(i));
	if (layer->add >= 0)
		lifetimes_extend(&plan->buffers, plan->values[layer->add].data, forward_moment(i));
	if (plan->mode != PLAN_TRAIN)
		return;
	if (reads_input_again(layer))
		lifetimes_extend(&plan->buffers, in, backward_moment(plan, i));
	if (layer->kind == LAYER_DENSE && layer->relu)
		lifetimes_extend(&plan->buffers, own, backward_moment(plan, i));
}

/* What the backward pass needs besides values: ReLU bits, winners. */
static int place_extra(struct plan *plan, int i, struct err *err)
{
	const struct layer *layer = plan->net->layers + i;
	const struct tensor *out = &plan->values[i + 1].tensor;
	size_t bytes = 0;

	if (plan->mode != PLAN_TRAIN)
		return 0;
	if (layer->kind == LAYER_NORM && layer->add >= 0)
		bytes = norm_mask_bytes(out, plan->kernels->block);
	else if (layer->kind == LAYER_MAX_POOL)
		bytes = out->floats;
	if (!bytes)
		return 0;
	const int row = lifetimes_add(&plan->buffers, (bytes + 3) / 4, forward_moment(i), err);
	if (row < 0)
		return row;
	plan->steps[i].extra = row;
	lifetimes_extend(&plan->buffers, row, backward_moment(plan, i));
	return 0;
}

static int place_forward(struct plan *plan, struct err *err)
{
	plan->values[0].tensor = input_tensor(plan);
	plan->values[0].data = lifetimes_add(&plan->buffers, plan->values[0].tensor.floats, 0, err);
	int code = plan->values[0].data < 0 ? plan->values[0].data : 0;
	for (int i = 0; i < plan->net->count && !code; i++) {
		code = place_value(plan, i, err);
		if (!code)
			keep_inputs(plan, i);
		if (!code)
			code = place_extra(plan, i, err);
	}
	if (!code)
		lifetimes_extend(
			&plan->buffers, plan->values[plan->net->count].data, loss_moment(plan));
	return code;
}

static void push_grad(struct plan *plan, int value, int row)
{
	struct value *v = plan->values + value;
	v->grad[v->grads++] = row;
}

static int new_grad(struct plan *plan, int value, int moment, struct err *err)
{
	return lifetimes_add(&plan->buffers, plan->values[value].tensor.floats, moment, err);
}

/* A norm turns its output's gradient into its input's in place; a join leaves the masked gradient where
 * the first one was, for the residual, and uses the second one's place, if any, for its input's. */
static int place_norm_grad(struct plan *plan, int i, struct err *err)
{
	const struct layer *layer = plan->net->layers + i;
	const struct value *out = plan->values + i + 1;
	struct step *step = plan->steps + i;

	step->dx = out->grad[0];
	if (layer->add >= 0) {
		step->join = out->grad[0];
		push_grad(plan, layer->add, step->join);
		step->dx = out->grads > 1
				   ? out->grad[1]
				   : new_grad(plan, layer->in, backward_moment(plan, i), err);
		if (step->dx < 0)
			return step->dx;
	}
	push_grad(plan, layer->in, step->dx);
	return 0;
}

static int place_layer_grad(struct plan *plan, int i, struct err *err)
{
	const struct layer *layer = plan->net->layers + i;
	const struct value *out = plan->values + i + 1;
	struct step *step = plan->steps + i;

	for (int g = 0; g < out->grads; g++)
		lifetimes_extend(&plan->buffers, out->grad[g], backward_moment(plan, i));
	if (layer->kind == LAYER_NORM)
		return place_norm_grad(plan, i, err);
	if (layer->in == 0)
		return 0;
	step->dx = new_grad(plan, layer->in, backward_moment(plan, i), err);
	if (step->dx < 0)
		return step->dx;
	push_grad(plan, layer->in, step->dx);
	return 0;
}

static int place_backward(struct plan *plan, struct err *err)
{
	const int last = new_grad(plan, plan->net->count, loss_moment(plan), err);
	int code = last < 0 ? last : 0;

	if (!code)
		push_grad(plan, plan->net->count, last);
	for (int i = plan->net->count - 1; i >= 0 && !code; i--)
		code = place_layer_grad(plan, i, err);
	return code;
}

static void want(size_t *most, size_t floats)
{
	if (*most < floats)
		*most = floats;
}

static int plan_conv(struct plan *plan, struct step *step, struct err *err)
{
	const struct layer *layer = step->layer;
	const struct value *in = plan->values + layer->in, *out = plan->values + step->output;
	const bool dense = layer->kind == LAYER_DENSE;
	struct conv *conv = &step->conv;

	*conv = (struct conv){.in = in->tensor,
		.out = out->tensor,
		.kernels = plan->kernels,
		.team = plan->team,
		.standardize = layer->standardize,
		.train = plan->mode == PLAN_TRAIN,
		.input_grad = plan->mode == PLAN_TRAIN && layer->in > 0,
		.borrows = plan->mode == PLAN_SERVE,
		.fused = dense || step->folded || layer->relu,
		.has_bias = dense || (step->folded && step->folded->norm == NORM_BATCH)};
	conv->shape = (struct conv_shape){.n = in->tensor.n,
		.in = in->tensor.channels,
		.out = layer->channels,
		.height = in->tensor.height,
		.width = in->tensor.width,
		.size = dense ? 1 : layer->size,
		.stride = dense ? 1 : layer->stride,
		.pad = layer->pad,
		.out_height = out->tensor.height,
		.out_width = out->tensor.width,
		.planar = in->tensor.planar_pad >= 0};
	const int code = conv_plan(conv, plan->engine->conv, &plan->arena, err);
	want(&plan->shared_floats, conv->shared_floats);
	want(&plan->worker_floats, conv->worker_floats);
	if (code)
		return code;
	const size_t padded = (size_t)out->tensor.blocks * plan->kernels->block;
	step->bias_grad = arena_new(&plan->arena, padded, sizeof(float));
	step->fold_scale = arena_new(&plan->arena, 2 * padded, sizeof(float));
	if (!step->bias_grad || !step->fold_scale)
		return err_memory(err, "a layer", 3 * padded * sizeof(float));
	step->fold_shift = step->fold_scale + padded;
	return 0;
}

static int plan_norm(struct plan *plan, struct step *step, struct err *err)
{
	const struct layer *layer = step->layer;
	const struct tensor *out = &plan->values[step->output].tensor;

	if (layer->norm == NORM_BATCH && !plan_infers(plan) && out->n * tensor_pixels(out) < 2)
		return err_set(err, ERR_INPUT,
			"batch norm needs more than one value per channel in training: a batch of "
			"one image whose "
			"features are 1 x 1 has only one");
	step->norm = (struct norm){.kind = layer->norm,
		.groups = layer->groups,
		.relu = layer->relu,
		.train = plan->mode == PLAN_TRAIN,
		.tensor = *out,
		.kernels = plan->kernels,
		.team = plan->team};
	const int code = norm_plan(&step->norm, &plan->arena, err);
	want(&plan->worker_floats, step->norm.worker_floats);
	return code;
}

static int plan_max_pool(struct plan *plan, struct step *step, struct err *err)
{
	const struct layer *layer = step->layer;
	const struct tensor *in = &plan->values[layer->in].tensor;

	(void)err;
	step->pool = (struct pool_shape){in->height, in->width, layer->height, layer->width,
		layer->size, layer->stride, layer->pad};
	return 0;
}

static int plan_nothing(struct plan *plan, struct step *step, struct err *err)
{
	(void)plan, (void)step, (void)err;
	return 0;
}

static int (*const plan_step[LAYER_KINDS])(struct plan *, struct step *, struct err *) = {
	[LAYER_CONV] = plan_conv,
	[LAYER_NORM] = plan_norm,
	[LAYER_MAX_POOL] = plan_max_pool,
	[LAYER_MEAN_POOL] = plan_nothing,
	[LAYER_DENSE] = plan_conv,
};

static int make(struct plan *plan, struct err *err)
{
	const int count = plan->net->count;
	const size_t logits = (size_t)plan->n * plan->net->spec.classes;

	if (dense_fits(plan->net, plan->engine))
		return dense_plan(plan, err);
	plan->values = arena_new(&plan->arena, count + 1, sizeof *plan->values);
	plan->steps = arena_new(&plan->arena, count, sizeof *plan->steps);
	plan->logits = arena_new(&plan->arena, 2 * logits, sizeof(float));
	if (!plan->values || !plan->steps || !plan->logits)
		return err_memory(
			err, "a plan", count * sizeof *plan->steps + 2 * logits * sizeof(float));
	plan->logit_grads = plan->logits + logits;
	int code = place_forward(plan, err);
	if (!code && plan->mode == PLAN_TRAIN)
		code = place_backward(plan, err);
	for (int i = 0; i < count && !code; i++)
		code = plan_step[plan->net->layers[i].kind](plan, plan->steps + i, err);
	return code ? code : lifetimes_assign(&plan->buffers, err);
}

int plan_new(struct plan **plan, const struct net *net, struct engine *engine, int n,
	enum plan_mode mode, struct err *err)
{
	struct plan *made = mem_new(1, sizeof *made);

	*plan = NULL;
	if (!made)
		return err_memory(err, "a plan", sizeof *made);
	*made = (struct plan){.net = net,
		.engine = engine,
		.kernels = engine->kernels,
		.team = engine->team,
		.n = n,
		.mode = mode};
	const int code = make(made, err);
	if (code) {
		plan_free(made);
		return code;
	}
	*plan = made;
	return 0;
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (int i = 0; plan->steps && i < plan->net->count; i++)
		conv_release(&plan->steps[i].conv);
	lifetimes_release(&plan->buffers);
	arena_release(&plan->arena);
	mem_free(plan);
}

int plan_batch(const struct plan *plan)
{
	return plan->n;
}

enum plan_mode plan_mode(const struct plan *plan)
{
	return plan->mode;
}

size_t plan_floats(const struct plan *plan)
{
	return plan->buffers.floats + plan->shared_floats +
	       plan->worker_floats * team_size(plan->team) + 64;
}
