/*
 * Norm: normalisation (or none), a residual that is added, perhaps a ReLU. Which
 * normalisation is layer->norm's business: nn/own/norm/norm.h.
 */
#include "nn/own/layers/init.h"
#include "nn/own/plan/plan_impl.h"

static void shape(struct layer *layer, struct value_shape in)
{
	layer->height = in.height;
	layer->width = in.width;
}

static int params(struct net *net, struct layer *layer, const char *name, struct err *err)
{
	const int64_t sizes[] = {layer->channels};
	const struct {
		bool has;
		enum param_kind kind;
		const char *part;
		int *row;
	} parts[] = {
		{layer->norm->scales, PARAM_SCALE, "weight", &layer->weight},
		{layer->norm->scales, PARAM_SHIFT, "bias", &layer->bias},
		{layer->norm->running, STAT_MEAN, "running_mean", &layer->mean},
		{layer->norm->running, STAT_VARIANCE, "running_var", &layer->variance},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!parts[i].has)
			continue;
		*parts[i].row =
			net_add_param(net, parts[i].kind, name, parts[i].part, 1, sizes, err);
		if (*parts[i].row < 0)
			return *parts[i].row;
	}
	return 0;
}

/* A scale that ends a residual block may start at zero: the block is the identity then. */
static void init(const struct net *net, const struct layer *layer, uint64_t seed, float *values,
	float *stats)
{
	const bool zero = net->spec.zero_init && layer->add >= 0;

	(void)seed;
	if (layer->norm->scales)
		init_constant(&net->params, layer->weight, zero ? 0 : 1, values);
	if (layer->norm->running)
		init_constant(&net->stats, layer->variance, 1, stats);
}

/* The bits of the ReLU behind a residual. */
static size_t extra(const struct plan *plan, const struct step *step)
{
	return step->layer->add < 0
		       ? 0
		       : norm_mask_bytes(&plan->values[step->output].tensor, plan->kernels->block);
}

static int plan_norm(struct plan *plan, struct step *step, struct err *err)
{
	struct norm *norm = step->state;
	const struct layer *layer = step->layer;

	*norm = (struct norm){.type = layer->norm,
		.groups = layer->groups,
		.relu = layer->relu,
		.train = plan->mode == PLAN_TRAIN,
		.tensor = plan->values[step->output].tensor,
		.kernels = plan->kernels,
		.team = plan->team};
	const int code = norm_plan(norm, &plan->arena, err);
	plan_want(plan, 0, norm->worker_floats);
	return code;
}

static void bind(struct plan *plan, struct step *step, const struct binding *from)
{
	struct norm *norm = step->state;

	(void)from;
	norm->worker = plan->worker;
	norm->worker_stride = plan->worker_stride;
}

static struct norm_flow flow_of(const struct plan *plan, const struct step *step)
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

static void forward(struct plan *plan, struct step *step)
{
	const struct norm_flow flow = flow_of(plan, step);
	norm_forward(step->state, &flow);
}

static void backward(struct plan *plan, struct step *step)
{
	struct norm_flow flow = flow_of(plan, step);

	flow.dy0 = value_grad(plan, step->output, 0);
	flow.dy1 = value_grad(plan, step->output, 1);
	flow.join = plan_buffer(plan, step->join);
	flow.dx = plan_buffer(plan, step->dx);
	flow.scale_grad = grad_at(plan, step->layer->weight);
	flow.shift_grad = grad_at(plan, step->layer->bias);
	norm_backward(step->state, &flow);
}

const struct layer_type layer_norm = {
	.name = "norm",
	.shape = shape,
	.params = params,
	.init = init,
	.in_place = true,
	.rereads_input = true,
	.extra = extra,
	.state = sizeof(struct norm),
	.plan = plan_norm,
	.bind = bind,
	.forward = forward,
	.backward = backward,
};
