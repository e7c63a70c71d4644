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
#include "nn/foreign/foreign.h"
#include "nn/own/plan/plan_dense.h"

/* Up to this many input channels the first layer reads planar input. */
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

	if (first->type->reads_vectors)
		return vectors(plan, s->channels * s->height * s->width);
	if (first->type->reads_planar && s->channels <= PLANAR_CHANNELS)
		return tensor_planar(plan->n, s->channels, s->height, s->width, first->pad);
	return tensor_blocked(plan->n, s->channels, s->height, s->width, plan->kernels->block);
}

static struct tensor layer_tensor(const struct plan *plan, const struct layer *layer)
{
	if (layer->type->writes_vectors)
		return vectors(plan, layer->channels);
	return tensor_blocked(
		plan->n, layer->channels, layer->height, layer->width, plan->kernels->block);
}

/* Whether layer i can compute the norm behind it, too. */
static bool folds(const struct plan *plan, int i)
{
	const struct layer *layer = plan->net->layers + i;
	return plan_infers(plan) && layer->type->computes_norm && i + 1 < plan->net->count &&
	       layer[1].norm && layer[1].norm->folds && layer[1].in == i + 1;
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
	if (layer->type->in_place && plan->mode != PLAN_TRAIN) {
		value->data = plan->values[layer->in].data;
		lifetimes_extend(&plan->buffers, value->data, forward_moment(i));
		return 0;
	}
	value->data = lifetimes_add(&plan->buffers, value->tensor.floats, forward_moment(i), err);
	return value->data < 0 ? value->data : 0;
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
	if (layer->type->rereads_input)
		lifetimes_extend(&plan->buffers, in, backward_moment(plan, i));
	if (layer->type->rereads_output && layer->relu)
		lifetimes_extend(&plan->buffers, own, backward_moment(plan, i));
}

/* What the backward pass needs besides values. */
static int place_extra(struct plan *plan, int i, struct err *err)
{
	struct step *step = plan->steps + i;
	const struct layer_type *type = step->layer->type;
	const size_t bytes = plan->mode == PLAN_TRAIN && type->extra ? type->extra(plan, step) : 0;

	if (!bytes)
		return 0;
	const int row = lifetimes_add(&plan->buffers, (bytes + 3) / 4, forward_moment(i), err);
	if (row < 0)
		return row;
	step->extra = row;
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

/*
 * A norm turns its output's gradient into its input's in place; a join leaves the masked
 * gradient where the first one was, for the residual, and uses the second one's place,
 * if any, for its input's.
 */
static int place_grad_in_place(struct plan *plan, int i, struct err *err)
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
	if (layer->type->in_place)
		return place_grad_in_place(plan, i, err);
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

static int make_step(struct plan *plan, struct step *step, struct err *err)
{
	const struct layer_type *type = step->layer->type;

	if (step->skip || !type->plan)
		return 0;
	step->state = arena_new(&plan->arena, 1, type->state);
	if (!step->state)
		return err_memory(err, "a layer", type->state);
	return type->plan(plan, step, err);
}

static int make(struct plan *plan, struct err *err)
{
	const int count = plan->net->count;
	const size_t logits = (size_t)plan->n * plan->net->spec.classes;

	if (plan->net->foreign)
		return foreign_plan(plan, err);
	if (dense_fits(plan->net, plan->engine))
		return dense_plan(plan, err);
	plan->values = arena_new(&plan->arena, count + 1, sizeof(*plan->values));
	plan->steps = arena_new(&plan->arena, count, sizeof(*plan->steps));
	plan->logits = arena_new(&plan->arena, 2 * logits, sizeof(float));
	if (!plan->values || !plan->steps || !plan->logits)
		return err_memory(
			err, "a plan", count * sizeof(*plan->steps) + 2 * logits * sizeof(float));
	plan->logit_grads = plan->logits + logits;
	int code = place_forward(plan, err);
	if (!code && plan->mode == PLAN_TRAIN)
		code = place_backward(plan, err);
	for (int i = 0; i < count && !code; i++)
		code = make_step(plan, plan->steps + i, err);
	return code ? code : lifetimes_assign(&plan->buffers, err);
}

int plan_new(struct plan **plan, const struct net *net, struct engine *engine, int n,
	enum plan_mode mode, struct err *err)
{
	struct plan *made = mem_new(1, sizeof(*made));

	*plan = NULL;
	if (!made)
		return err_memory(err, "a plan", sizeof(*made));
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
		if (plan->steps[i].state && plan->steps[i].layer->type->release)
			plan->steps[i].layer->type->release(plan->steps + i);
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
