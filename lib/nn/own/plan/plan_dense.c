/*
 * Nets of dense layers only. Weights are read, and their gradients written, where
 * they lie in the flat buffers. Samples go in panels, side by side in vectors.
 *
 * Where all weights together fit into a second-level cache, a worker carries a
 * panel through all layers, the loss and back again, down to the gradients of
 * every layer's outputs, in its own scratch: one team region. Of larger nets every
 * layer and pass is a region, whose tasks take some rows of the weights, or some
 * columns on the way back, through all panels: weights are read from memory once.
 * The sums and their order are the same.
 *
 * Last come the weights' gradients, each task a rectangle of one layer's. They
 * need, per layer, the outputs' gradients in panels and the inputs as rows of 2 B
 * features per sample, sample after sample: [feature / 2 B][sample][2 B].
 */
#include <string.h>
#include "nn/own/conv/conv.h"
#include "nn/own/plan/plan_dense_impl.h"
#include "nn/sample_loss.h"

enum {
	DEPTH = 256,   /* features summed in one go: a panel of them fits the first-level cache */
	SAMPLES = 256, /* samples summed in one go */
	TILES_PER_TASK = 4, /* rows of a task of weight gradients, in tiles */
	FEATURES_PER_TASK = 128,
	WEIGHTS_CACHED = 1 << 18,
	TILES_PER_STRIP = 8, /* rows or columns of a task of a large net, in tiles */
};

bool dense_fits(const struct net *net, const struct engine *engine)
{
	for (int i = 0; i < net->count; i++)
		if (!net->layers[i].type->dense || net->layers[i].in != i)
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

static struct dense_layer dense_layer_of(const struct net *net, const struct layer *layer)
{
	const struct value_shape in = net_value(net, layer->in);

	return (struct dense_layer){.in = in.channels * in.height * in.width,
		.out = layer->channels,
		.relu = layer->relu,
		.weights = net->params.rows[layer->weight].offset,
		.bias = net->params.rows[layer->bias].offset};
}

static int strip_rows(const struct plan *plan)
{
	return TILES_PER_STRIP * plan->kernels->tile_rows;
}

/*
 * Values of panels lie in the workers' scratch; those of a large net, whose scratch is for
 * weights, in a buffer.
 */
static int place_values(struct plan *plan, struct err *err)
{
	struct dense *d = plan->dense;

	d->values = -1;
	plan->worker_floats = d->values_floats;
	if (plan->net->params.floats <= WEIGHTS_CACHED)
		return 0;
	plan->worker_floats = (size_t)DEPTH * strip_rows(plan);
	d->values = lifetimes_add(&plan->buffers, d->panels * d->values_floats, 0, err);
	return d->values < 0 ? d->values : 0;
}

int dense_plan(struct plan *plan, struct err *err)
{
	const struct net *net = plan->net;
	const size_t size = sizeof(struct dense) + net->count * sizeof(struct dense_layer);
	struct dense *d = arena_new(&plan->arena, 1, size);
	int code;

	if (!d)
		return err_memory(err, "a plan", size);
	plan->dense = d;
	d->count = net->count;
	d->wide = 2 * plan->kernels->block;
	d->panels = conv_runs(plan->n, d->wide);
	for (int i = 0; i < net->count; i++) {
		struct dense_layer *l = d->layers + i;
		*l = dense_layer_of(net, net->layers + i);
		l->input = i ? l[-1].output : 0;
		l->output = l->input + (size_t)l->in * d->wide;
		d->values_floats = l->output + (size_t)l->out * d->wide;
	}
	d->sparse = net->params.floats <= WEIGHTS_CACHED && sparse_fits(plan);
	code = d->sparse ? sparse_plan(plan, err) : place_values(plan, err);
	for (int i = 0; i < net->count && !code && !d->sparse && plan->mode == PLAN_TRAIN; i++)
		code = place_training(plan, d->layers + i, err);
	for (int i = 0; i < net->count; i++)
		d->tasks += d->layers[i].tasks;
	return code ? code : lifetimes_assign(&plan->buffers, err);
}

/* Where a panel's first sample is in the rows of a layer's input. */
static float *panel_rows(const struct plan *plan, const struct dense_layer *l, int panel)
{
	return plan_buffer(plan, l->rows) + (size_t)panel * plan->dense->wide * plan->dense->wide;
}

/* The following five are for one panel. */

void dense_take_input(const struct span *span)
{
	const struct plan *plan = span->plan;
	const struct dense_layer *l = plan->dense->layers;
	const int wide = plan->dense->wide, samples = panel_samples(plan, span->first);
	const float *input = plan->run.input + (size_t)span->first * wide * l->in;

	if (samples < wide)
		memset(span->values, 0, (size_t)l->in * wide * sizeof(float));
	plan->kernels->transpose(input, l->in, samples, l->in, span->values, wide);
}

static void keep_input_rows(const struct span *span)
{
	const struct plan *plan = span->plan;
	const struct dense_layer *l = plan->dense->layers;
	const int wide = plan->dense->wide, samples = panel_samples(plan, span->first);
	const float *input = plan->run.input + (size_t)span->first * wide * l->in;
	float *rows = panel_rows(plan, l, span->first);

	for (int f = 0; f < l->in; f += wide, rows += (size_t)plan->n * wide) {
		const int cols = l->in - f < wide ? l->in - f : wide;
		if (cols < wide)
			memset(rows, 0, (size_t)samples * wide * sizeof(float));
		plan->kernels->copy_rows(input + f, l->in, samples, cols, rows, wide);
	}
}

/* A hidden value as rows of features. */
static void keep_rows(const struct span *span, const struct dense_layer *l)
{
	const struct plan *plan = span->plan;
	const int wide = plan->dense->wide, samples = panel_samples(plan, span->first);
	const float *from = span->values + l->input;
	float *rows = panel_rows(plan, l, span->first);

	for (int f = 0; f < l->in; f += wide, rows += (size_t)plan->n * wide) {
		const int count = l->in - f < wide ? l->in - f : wide;
		if (count < wide)
			memset(rows, 0, (size_t)samples * wide * sizeof(float));
		plan->kernels->transpose(from + (size_t)f * wide, wide, count, samples, rows, wide);
	}
}

/* A panel has a sample in each lane; a loss wants it in a row. */
static void sample_losses(const struct span *span, const struct dense_layer *last, int first)
{
	const struct plan *plan = span->plan;
	const struct plan_run *run = &plan->run;
	const size_t wide = plan->dense->wide, classes = last->out;
	const float *logits = span->values + last->output;
	float *grads = run->grad ? panel_grads(plan, last, span->first) : NULL;
	const size_t width = (size_t)run->loss->width;
	const int samples = panel_samples(plan, span->first);
	/* Only losses of numbers are asked for without gradients. */
	float scored[2 * NUMBER_OUTPUTS * TARGET_WIDTH];

	/* Sums over samples take whole vectors. */
	for (size_t c = 0; c < classes && grads && samples < (int)wide; c++)
		memset(grads + c * wide + samples, 0, (wide - (size_t)samples) * sizeof(float));
	for (int i = 0; i < samples; i++) {
		const int at = run->loss_at + first + i;
		float *row = grads ? run->loss->rows + 2 * classes * at : scored;
		float *grad = row + classes;

		for (size_t c = 0; c < classes; c++)
			row[c] = logits[c * wide + i];
		run->losses[first + i] = run->loss->value(run->loss, &plan->kernels->ops, at, row,
			run->labels + (size_t)(first + i) * width,
			grads ? run->weights[first + i] : 1, grad);
		for (size_t c = 0; c < classes && grads; c++)
			grads[c * wide + i] = grad[c];
	}
}

void dense_losses(const struct span *span)
{
	const struct plan *plan = span->plan;
	const struct plan_run *run = &plan->run;
	const struct dense_layer *last = plan->dense->layers + plan->dense->count - 1;
	const int first = span->first * plan->dense->wide,
		  samples = panel_samples(plan, span->first);

	if (run->losses && run->loss)
		sample_losses(span, last, first);
	else if (run->losses)
		plan->kernels->softmax_panel(span->values + last->output, last->out,
			target_classes(run->labels + first),
			run->grad ? run->weights + first : NULL, samples, run->losses + first,
			run->grad ? panel_grads(plan, last, span->first) : NULL);
}

static void give_logits(const struct span *span)
{
	const struct plan *plan = span->plan;
	const struct dense_layer *last = plan->dense->layers + plan->dense->count - 1;
	const size_t first = (size_t)span->first * plan->dense->wide;

	if (plan->run.features)
		plan->kernels->transpose(span->values + last->input, plan->dense->wide, last->in,
			panel_samples(plan, span->first), plan->run.features + first * last->in,
			last->in);
	if (plan->run.logits)
		plan->kernels->transpose(span->values + last->output, plan->dense->wide, last->out,
			panel_samples(plan, span->first), plan->run.logits + first * last->out,
			last->out);
}

void dense_forward(const struct span *span, const struct dense_layer *l, int first, int rows)
{
	const struct plan *plan = span->plan;
	const size_t wide = plan->dense->wide, values = plan->dense->values_floats;
	const float *weights = plan->params + l->weights + (size_t)first * l->in;
	const float *bias = plan->params + l->bias + first;
	struct dense_job job = {.kind = DENSE_FORWARD, .rows = rows, .runs = 1, .a_row = l->in};

	for (int f = 0; f < l->in; f += DEPTH) {
		const bool last = l->in - f <= DEPTH;
		job.depth = last ? l->in - f : DEPTH;
		job.accumulate = f > 0;
		job.relu = last && l->relu;
		for (int p = 0; p < span->count; p++) {
			float *panel = span->values + p * values;
			job.cols = panel_samples(plan, span->first + p);
			plan->kernels->dense(&job, weights + f, panel + l->input + f * wide,
				panel + l->output + first * wide, last ? bias : NULL);
		}
	}
}

void dense_backward(
	const struct span *span, const struct dense_layer *l, int first, int rows, float *scratch)
{
	const struct plan *plan = span->plan;
	const size_t wide = plan->dense->wide, values = plan->dense->values_floats;
	struct dense_job job = {
		.kind = DENSE_BACKWARD, .rows = rows, .runs = 1, .a_step = scratch ? rows : l->in};

	for (int o = 0; o < l->out; o += DEPTH) {
		const bool last = l->out - o <= DEPTH;
		const float *weights = plan->params + l->weights + (size_t)o * l->in + first;
		job.depth = last ? l->out - o : DEPTH;
		job.accumulate = o > 0;
		if (scratch)
			plan->kernels->copy_rows(weights, l->in, job.depth, rows, scratch, rows);
		for (int p = 0; p < span->count; p++) {
			const int panel = span->first + p;
			const float *mask = span->values + p * values + l->input + first * wide;
			job.cols = panel_samples(plan, panel);
			plan->kernels->dense(&job, scratch ? scratch : weights,
				panel_grads(plan, l, panel) + o * wide,
				panel_grads(plan, l - 1, panel) + first * wide,
				last && l[-1].relu ? mask : NULL);
		}
	}
}

/* A panel through a small net. */
static void panel_task(void *context, int task, int worker)
{
	const struct plan *plan = context;
	const struct dense *d = plan->dense;
	const struct span span = span_of(plan, task, 1, worker);

	dense_take_input(&span);
	if (plan->run.grad)
		keep_input_rows(&span);
	for (const struct dense_layer *l = d->layers; l < d->layers + d->count; l++) {
		if (plan->run.grad && l > d->layers)
			keep_rows(&span, l);
		dense_forward(&span, l, 0, l->out);
	}
	dense_losses(&span);
	give_logits(&span);
	for (const struct dense_layer *l = d->layers + d->count - 1;
		plan->run.grad && l > d->layers + plan->net->trained; l--)
		dense_backward(&span, l, 0, l->in, NULL);
}

/* The tasks of a large net. */

struct layer_run {
	const struct plan *plan;
	const struct dense_layer *layer;
};

static void input_task(void *context, int task, int worker)
{
	const struct span span = span_of(context, task, 1, worker);
	dense_take_input(&span);
	if (span.plan->run.grad)
		keep_input_rows(&span);
}

static void forward_task(void *context, int task, int worker)
{
	const struct layer_run *run = context;
	const struct span all = span_of(run->plan, 0, run->plan->dense->panels, worker);
	const int step = strip_rows(run->plan), first = task * step, left = run->layer->out - first;

	dense_forward(&all, run->layer, first, left < step ? left : step);
}

static void loss_task(void *context, int task, int worker)
{
	const struct plan *plan = context;
	const struct span span = span_of(plan, task, 1, worker);

	for (int i = 1; plan->run.grad && i < plan->dense->count; i++)
		keep_rows(&span, plan->dense->layers + i);
	dense_losses(&span);
	give_logits(&span);
}

static void backward_task(void *context, int task, int worker)
{
	const struct layer_run *run = context;
	const struct span all = span_of(run->plan, 0, run->plan->dense->panels, worker);
	const int step = strip_rows(run->plan), first = task * step, left = run->layer->in - first;

	dense_backward(&all, run->layer, first, left < step ? left : step,
		run->plan->worker + worker * run->plan->worker_stride);
}

static void run_large(struct plan *plan)
{
	const struct dense *d = plan->dense;

	team_run(plan->team, d->panels, input_task, plan);
	for (const struct dense_layer *l = d->layers; l < d->layers + d->count; l++) {
		struct layer_run run = {plan, l};
		team_run(plan->team, conv_runs(l->out, strip_rows(plan)), forward_task, &run);
	}
	team_run(plan->team, d->panels, loss_task, plan);
	for (const struct dense_layer *l = d->layers + d->count - 1;
		plan->run.grad && l > d->layers + plan->net->trained; l--) {
		struct layer_run run = {plan, l};
		team_run(plan->team, conv_runs(l->in, strip_rows(plan)), backward_task, &run);
	}
}

/* Rows [first, first + job->rows) of the weights' gradient, features [f, f + job->cols). */
static void weights_strip(const struct plan *plan, const struct dense_layer *l,
	struct dense_job *job, int first, int f)
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
	if (l < plan->dense->layers + plan->net->trained)
		return; /* frozen */
	const int first = task / l->in_tasks * step, f0 = task % l->in_tasks * FEATURES_PER_TASK;
	const int end = f0 + FEATURES_PER_TASK < l->in ? f0 + FEATURES_PER_TASK : l->in;
	struct dense_job job = {.kind = DENSE_WEIGHTS,
		.rows = l->out - first < step ? l->out - first : step,
		.a_run = (size_t)l->out * wide,
		.b_run = (size_t)wide * wide,
		.out_row = l->in};

	if (f0 == 0)
		plan->kernels->dense_sums(plan_buffer(plan, l->grads) + first * wide, job.a_run,
			plan->n, job.rows, plan->run.grad + l->bias + first);
	for (int f = f0; f < end; f += wide) {
		job.cols = end - f < wide ? end - f : wide;
		weights_strip(plan, l, &job, first, f);
	}
}

void dense_run(struct plan *plan)
{
	if (plan->dense->sparse) {
		sparse_run(plan);
		return;
	}
	if (plan->dense->values < 0)
		team_run(plan->team, plan->dense->panels, panel_task, plan);
	else
		run_large(plan);
	if (plan->run.grad)
		team_run(plan->team, plan->dense->tasks, weights_task, plan);
}
