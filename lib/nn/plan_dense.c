/*
 * Nets of dense layers only. A worker carries a panel of samples through all
 * layers, the loss and back again, down to the gradients of every layer's
 * outputs, in its own scratch: one team region. A second one computes the
 * weights' gradients, each task a rectangle of one layer's over all samples.
 * Weights are read, and their gradients written, where they lie in the flat
 * buffers; nothing is packed.
 *
 * Between the two regions are, per layer, the outputs' gradients in panels and
 * the inputs as rows of 2 B features per sample, sample after sample:
 * [feature / 2 B][sample][2 B].
 */
#include <string.h>
#include "nn/conv.h"
#include "nn/plan_dense.h"

enum {
	DEPTH = 256,	      /* features summed in one go: a panel of them stays in the first-level cache */
	SAMPLES = 256,	      /* samples summed in one go */
	TILES_PER_TASK = 4,   /* rows of a task of weight gradients, in tiles */
	FEATURES_PER_TASK = 128,
};

struct dense_layer {
	int in, out;
	bool relu;
	size_t weights, bias; /* in the flat buffers */
	size_t input, output; /* panels in a worker's scratch */
	int rows, grads;      /* buffers: inputs as rows of features, gradients of outputs in panels */
	int in_tasks, tasks;  /* of the weights' gradient: across the features, in all */
};

struct dense {
	int count, wide; /* layers; samples per panel */
	int panels;
	int tasks;
	struct dense_layer layers[];
};

bool dense_fits(const struct net *net, const struct engine *engine)
{
	for (int i = 0; i < net->count; i++)
		if (net->layers[i].kind != LAYER_DENSE || net->layers[i].in != i)
			return false;
	return engine->conv != &conv_onednn;
}

static int rows_per_task(const struct plan *plan)
{
	return TILES_PER_TASK * plan->kernels->tile_rows;
}

static int place_training(struct plan *plan, struct dense_layer *l, struct err *err)
{
	const struct dense *d = plan->dense;
	const int in_panels = conv_runs(l->in, d->wide);

	l->in_tasks = conv_runs(l->in, FEATURES_PER_TASK);
	l->tasks = l->in_tasks * conv_runs(l->out, rows_per_task(plan));
	l->rows = lifetimes_add(&plan->buffers, (size_t)in_panels * plan->n * d->wide, 0, err);
	if (l->rows < 0)
		return l->rows;
	l->grads = lifetimes_add(&plan->buffers, (size_t)d->panels * l->out * d->wide, 0, err);
	return l->grads < 0 ? l->grads : 0;
}

int dense_plan(struct plan *plan, struct err *err)
{
	const struct net *net = plan->net;
	const size_t size = sizeof(struct dense) + net->count * sizeof(struct dense_layer);
	struct dense *d = arena_new(&plan->arena, 1, size);
	int code = 0;

	if (!d)
		return err_memory(err, "a plan", size);
	plan->dense = d;
	d->count = net->count;
	d->wide = 2 * plan->kernels->block;
	d->panels = conv_runs(plan->n, d->wide);
	for (int i = 0; i < net->count && !code; i++) {
		const struct layer *layer = net->layers + i;
		const struct value_shape in = net_value(net, layer->in);
		struct dense_layer *l = d->layers + i;
		*l = (struct dense_layer){.in = in.channels * in.height * in.width, .out = layer->channels,
			.relu = layer->relu, .weights = net->params.rows[layer->weight].offset,
			.bias = net->params.rows[layer->bias].offset};
		l->input = i ? l[-1].output : 0;
		l->output = l->input + (size_t)l->in * d->wide;
		if (plan->mode == PLAN_TRAIN)
			code = place_training(plan, l, err);
		d->tasks += l->tasks;
		plan->worker_floats = l->output + (size_t)l->out * d->wide;
	}
	return code ? code : lifetimes_assign(&plan->buffers, err);
}

/* A panel on its way. */
struct panel {
	const struct plan *plan;
	int index, first, samples;
	float *scratch;
};

static float *panel_grads(const struct panel *panel, const struct dense_layer *l)
{
	const size_t floats = (size_t)l->out * panel->plan->dense->wide;
	return plan_buffer(panel->plan, l->grads) + panel->index * floats;
}

/* Where the panel's first sample is in the rows of its features. */
static float *panel_rows(const struct panel *panel, const struct dense_layer *l)
{
	return plan_buffer(panel->plan, l->rows) + (size_t)panel->first * panel->plan->dense->wide;
}

static void take_input(const struct panel *panel)
{
	const struct plan *plan = panel->plan;
	const struct kernels *k = plan->kernels;
	const struct dense_layer *l = plan->dense->layers;
	const int wide = plan->dense->wide;
	const float *input = plan->run.input + (size_t)panel->first * l->in;

	if (panel->samples < wide)
		memset(panel->scratch, 0, (size_t)l->in * wide * sizeof(float));
	k->transpose(input, l->in, panel->samples, l->in, panel->scratch, wide);
	if (plan->mode != PLAN_TRAIN)
		return;
	float *rows = panel_rows(panel, l);
	for (int f = 0; f < l->in; f += wide, rows += (size_t)plan->n * wide) {
		const int cols = l->in - f < wide ? l->in - f : wide;
		if (cols < wide)
			memset(rows, 0, (size_t)panel->samples * wide * sizeof(float));
		k->copy_rows(input + f, l->in, panel->samples, cols, rows, wide);
	}
}

/* A hidden value as rows of features. */
static void keep_rows(const struct panel *panel, const struct dense_layer *l)
{
	const struct plan *plan = panel->plan;
	const int wide = plan->dense->wide;
	const float *from = panel->scratch + l->input;
	float *rows = panel_rows(panel, l);

	for (int f = 0; f < l->in; f += wide, rows += (size_t)plan->n * wide) {
		const int count = l->in - f < wide ? l->in - f : wide;
		if (count < wide)
			memset(rows, 0, (size_t)panel->samples * wide * sizeof(float));
		plan->kernels->transpose(from + (size_t)f * wide, wide, count, panel->samples, rows, wide);
	}
}

static void forward(const struct panel *panel, const struct dense_layer *l)
{
	const struct plan *plan = panel->plan;
	const size_t wide = plan->dense->wide;
	const float *weights = plan->params + l->weights, *bias = plan->params + l->bias;
	struct dense_job job = {.kind = DENSE_FORWARD, .rows = l->out, .cols = panel->samples, .runs = 1,
		.a_row = l->in};

	for (int f = 0; f < l->in; f += DEPTH) {
		const bool last = l->in - f <= DEPTH;
		job.depth = last ? l->in - f : DEPTH;
		job.accumulate = f > 0;
		job.relu = last && l->relu;
		plan->kernels->dense(&job, weights + f, panel->scratch + l->input + f * wide,
			panel->scratch + l->output, last ? bias : NULL);
	}
}

/* The gradient of layer l's input, which is the output of the layer before. */
static void backward(const struct panel *panel, const struct dense_layer *l)
{
	const struct plan *plan = panel->plan;
	const size_t wide = plan->dense->wide;
	const float *weights = plan->params + l->weights, *grads = panel_grads(panel, l);
	const float *mask = l[-1].relu ? panel->scratch + l->input : NULL;
	struct dense_job job = {.kind = DENSE_BACKWARD, .rows = l->in, .cols = panel->samples, .runs = 1,
		.a_step = l->in};

	for (int o = 0; o < l->out; o += DEPTH) {
		const bool last = l->out - o <= DEPTH;
		job.depth = last ? l->out - o : DEPTH;
		job.accumulate = o > 0;
		plan->kernels->dense(&job, weights + (size_t)o * l->in, grads + o * wide, panel_grads(panel, l - 1),
			last ? mask : NULL);
	}
}

static void give_losses(const struct panel *panel, const struct dense_layer *last)
{
	const struct plan *plan = panel->plan;
	const float *logits = panel->scratch + last->output;

	if (plan->run.losses)
		plan->kernels->softmax_panel(logits, last->out, plan->run.labels + panel->first,
			plan->run.grad ? plan->run.weights + panel->first : NULL, panel->samples,
			plan->run.losses + panel->first, plan->run.grad ? panel_grads(panel, last) : NULL);
	if (plan->run.logits)
		plan->kernels->transpose(logits, plan->dense->wide, last->out, panel->samples,
			plan->run.logits + (size_t)panel->first * last->out, last->out);
}

static void panel_task(void *context, int task, int worker)
{
	const struct plan *plan = context;
	const struct dense *d = plan->dense;
	const struct dense_layer *last = d->layers + d->count - 1;
	struct panel panel = {plan, task, task * d->wide, d->wide,
		plan->worker + worker * plan->worker_stride};

	if (panel.samples > plan->n - panel.first)
		panel.samples = plan->n - panel.first;
	take_input(&panel);
	for (const struct dense_layer *l = d->layers; l <= last; l++) {
		if (plan->run.grad && l > d->layers)
			keep_rows(&panel, l);
		forward(&panel, l);
	}
	give_losses(&panel, last);
	for (const struct dense_layer *l = last; plan->run.grad && l > d->layers; l--)
		backward(&panel, l);
}

/* Rows [first, first + job->rows) of the weights' gradient, features [f, f + job->cols). */
static void weights_strip(const struct plan *plan, const struct dense_layer *l, struct dense_job *job, int first,
	int f)
{
	const size_t wide = plan->dense->wide;
	const float *grads = plan_buffer(plan, l->grads) + first * wide;
	const float *rows = plan_buffer(plan, l->rows) + f * (size_t)plan->n;
	float *to = plan->run.grad + l->weights + (size_t)first * l->in + f;

	for (int n = 0; n < plan->n; n += SAMPLES) {
		const int samples = plan->n - n < SAMPLES ? plan->n - n : SAMPLES;
		job->runs = conv_runs(samples, (int)wide);
		job->depth = samples - (job->runs - 1) * (int)wide;
		job->accumulate = n > 0;
		plan->kernels->dense(job, grads + (size_t)n * l->out, rows + n * wide, to, NULL);
	}
}

static void weights_task(void *context, int task, int worker)
{
	const struct plan *plan = context;
	const struct dense_layer *l = plan->dense->layers;
	const int wide = plan->dense->wide, step = rows_per_task(plan);

	(void)worker;
	for (; task >= l->tasks; l++)
		task -= l->tasks;
	const int first = task / l->in_tasks * step, f0 = task % l->in_tasks * FEATURES_PER_TASK;
	const int end = f0 + FEATURES_PER_TASK < l->in ? f0 + FEATURES_PER_TASK : l->in;
	struct dense_job job = {.kind = DENSE_WEIGHTS, .rows = l->out - first < step ? l->out - first : step,
		.a_run = (size_t)l->out * wide, .b_run = (size_t)wide * wide, .out_row = l->in};

	if (f0 == 0)
		plan->kernels->dense_sums(plan_buffer(plan, l->grads) + first * wide, job.a_run, plan->n, job.rows,
			plan->run.grad + l->bias + first);
	for (int f = f0; f < end; f += wide) {
		job.cols = end - f < wide ? end - f : wide;
		weights_strip(plan, l, &job, first, f);
	}
}

void dense_run(struct plan *plan)
{
	team_run(plan->team, plan->dense->panels, panel_task, plan);
	if (plan->run.grad)
		team_run(plan->team, plan->dense->tasks, weights_task, plan);
}
