/*
 * Small nets of dense layers with ReLUs between them, by products that pass over
 * zeros: a hidden value is half zeros, and so is its gradient. The results are
 * those of plan_dense.c to the last bit.
 *
 * What has zeros must stand left in a product, row by row, and what stands right
 * must lie in rows of whole vectors:
 *                               zeros                     whole vectors
 *   a sample's outputs          its inputs             x  weights, turned over
 *   a sample's input gradients  its output gradients   x  weights
 *   a row of weight gradients   an output's gradients  x  inputs, a row per sample
 *   ... a column, last layer    an input               x  logit gradients, a row per sample
 * The first layer's outputs and the gradient that leaves the last layer have no
 * such zeros and are dense products of panels.
 */
#include <string.h>
#include "nn/own/conv/conv.h"
#include "nn/own/plan/plan_dense_impl.h"

enum {
	TASK_ROWS = 64,
	GROUP = 8, /* most panels that a worker takes through the net together */
	TURN_ROWS = 64,
	LINE = 16, /* floats of a cache line */
	LONG_ROW = 8 * LINE,
	MANY_INPUTS = 256, /* then passing over zeros pays even where classes are few */
};

/*
 * Floats from row to row: whole vectors. Long rows are an odd number of cache lines apart, so
 * that the same part of many rows does not fall on few sets of the cache.
 */
static size_t padded(const struct plan *plan, int floats)
{
	const size_t whole = (size_t)conv_runs(floats, plan->kernels->block) * plan->kernels->block;

	return whole >= LONG_ROW && whole % (2 * LINE) == 0 ? whole + LINE : whole;
}

bool sparse_fits(const struct plan *plan)
{
	const struct dense *d = plan->dense;

	for (int i = 0; i + 1 < d->count; i++)
		if (!d->layers[i].relu || d->layers[i].out % plan->kernels->block)
			return false;
	/* The logits of few classes are short rows, whose sums wait for each other. */
	return d->count > 1 && d->panels > 1 &&
	       (d->layers[d->count - 1].out > d->wide || d->layers[0].in > MANY_INPUTS);
}

static int add_buffer(struct plan *plan, size_t rows, int cols, int *buffer, struct err *err)
{
	*buffer = lifetimes_add(&plan->buffers, rows * padded(plan, cols), 0, err);
	return *buffer < 0 ? *buffer : 0;
}

static int place_layer(struct plan *plan, struct dense_layer *l, struct err *err)
{
	const struct dense *d = plan->dense;
	const size_t samples = (size_t)d->panels * d->wide;
	const bool last = l == d->layers + d->count - 1;
	int code = 0;

	l->rows = l->turned = l->apart = -1;
	if (l > d->layers || (plan->mode == PLAN_TRAIN && padded(plan, l->in) != (size_t)l->in))
		code = add_buffer(plan, samples, l->in, &l->rows, err);
	if (!code && l > d->layers)
		code = add_buffer(plan, (size_t)l->in + 1, l->out, &l->turned, err);
	if (!code && l > d->layers && !last && plan->mode == PLAN_TRAIN)
		code = add_buffer(plan, l->out, l->in, &l->apart, err);
	if (!code && plan->mode == PLAN_TRAIN)
		code = add_buffer(plan, (size_t)d->panels * l->out, d->wide, &l->grads, err);
	l->tasks = plan->mode == PLAN_TRAIN ? conv_runs(last ? l->in : l->out, TASK_ROWS) : 0;
	return code;
}

int sparse_plan(struct plan *plan, struct err *err)
{
	struct dense *d = plan->dense;
	const int classes = d->layers[d->count - 1].out;
	int code = add_buffer(plan, d->panels, (int)d->values_floats, &d->values, err), widest = 0;

	if (!code)
		code = add_buffer(plan, (size_t)d->panels * d->wide, classes, &d->logits, err);
	for (int i = 0; i < d->count && !code; i++) {
		code = place_layer(plan, d->layers + i, err);
		widest = d->layers[i].in > widest ? d->layers[i].in : widest;
	}
	widest = classes > widest ? classes : widest;
	d->group = d->panels / team_size(plan->team);
	d->group = d->group < 1 ? 1 : d->group > GROUP ? GROUP : d->group;
	plan->worker_floats = (2 * d->group * d->wide + TASK_ROWS) * padded(plan, widest);
	return code;
}

/* What rows have behind `cols`. */
static void zero_behind(float *rows, int count, size_t step, int cols)
{
	for (int r = 0; r < count && step > (size_t)cols; r++)
		memset(rows + r * step + cols, 0, (step - cols) * sizeof(float));
}

/*
 * The weights of layers whose input is sparse, turned over, with the bias as one row more and
 * zeros behind the last output; and the weights of those whose output is sparse, too, row by
 * row.
 */
static void turn_task(void *context, int task, int worker)
{
	const struct plan *plan = context;
	const struct dense_layer *l = plan->dense->layers + 1;

	(void)worker;
	for (; task >= conv_runs(l->out, TURN_ROWS); l++)
		task -= conv_runs(l->out, TURN_ROWS);
	const int first = task * TURN_ROWS,
		  rows = l->out - first < TURN_ROWS ? l->out - first : TURN_ROWS;
	const size_t step = padded(plan, l->out);
	const float *weights = plan->params + l->weights + (size_t)first * l->in;
	float *to = plan_buffer(plan, l->turned);

	plan->kernels->transpose(weights, l->in, rows, l->in, to + first, step);
	if (l->apart >= 0 && plan->run.grad)
		plan->kernels->copy_rows(weights, l->in, rows, l->in,
			plan_buffer(plan, l->apart) + first * padded(plan, l->in),
			padded(plan, l->in));
	memcpy(to + l->in * step + first, plan->params + l->bias + first, rows * sizeof(float));
	if (first + rows == l->out)
		zero_behind(to, l->in + 1, step, l->out);
}

/* Where the rows of a panel's samples begin in a buffer of rows. */
static float *sample_rows(const struct plan *plan, int buffer, int floats, int panel)
{
	return plan_buffer(plan, buffer) + (size_t)panel * plan->dense->wide * padded(plan, floats);
}

static int span_samples(const struct span *span)
{
	const int first = span->first * span->plan->dense->wide, left = span->plan->n - first;
	const int all = span->count * span->plan->dense->wide;

	return left < all ? left : all;
}

/* Panels, `step` floats apart, from rows of features; zero behind the last sample. */
static void panels_from_rows(
	const struct span *span, const float *rows, int features, float *panels, size_t step)
{
	const struct plan *plan = span->plan;
	const int wide = plan->dense->wide;
	const size_t row = padded(plan, features);

	for (int p = 0; p < span->count; p++, rows += wide * row, panels += step) {
		const int samples = panel_samples(plan, span->first + p);
		if (samples < wide)
			memset(panels, 0, (size_t)features * wide * sizeof(float));
		plan->kernels->transpose(rows, row, samples, features, panels, wide);
	}
}

/* What is behind the features stays: zeros that a product left there, or what nobody reads. */
static void rows_from_panels(
	const struct span *span, const float *panels, size_t step, int features, float *rows)
{
	const struct plan *plan = span->plan;
	const size_t wide = plan->dense->wide, row = padded(plan, features);

	for (int p = 0; p < span->count; p++)
		plan->kernels->transpose(panels + p * step, wide, features,
			panel_samples(plan, span->first + p), rows + p * wide * row, row);
}

/* Inputs are rows already. They are copied if they are no whole vectors, or too close together. */
static void keep_input(const struct span *span)
{
	const struct plan *plan = span->plan;
	const struct dense_layer *l = plan->dense->layers;
	const size_t step = padded(plan, l->in);
	const float *input = plan->run.input + (size_t)span->first * plan->dense->wide * l->in;
	float *rows;

	if (l->rows < 0)
		return;
	rows = sample_rows(plan, l->rows, l->in, span->first);
	plan->kernels->copy_rows(input, l->in, span_samples(span), l->in, rows, step);
	zero_behind(rows, span_samples(span), step, l->in);
}

static void forward(const struct span *span, const struct dense_layer *l)
{
	const struct plan *plan = span->plan;
	const struct dense *d = plan->dense;
	const bool last = l == d->layers + d->count - 1;
	const size_t in_row = padded(plan, l->in), out_row = padded(plan, l->out);
	const struct sparse_job job = {.rows = span_samples(span),
		.depth = l->in,
		.cols = l->out,
		.a_row = in_row,
		.a_run = d->wide,
		.b_row = out_row,
		.out_row = out_row,
		.relu = l->relu};
	float *out = sample_rows(plan, last ? d->logits : l[1].rows, l->out, span->first);

	plan->kernels->sparse(&job, sample_rows(plan, l->rows, l->in, span->first),
		plan_buffer(plan, l->turned), out, plan_buffer(plan, l->turned) + l->in * out_row,
		NULL);
	if (last ? plan->run.losses != NULL : plan->run.grad != NULL)
		panels_from_rows(span, out, l->out, span->values + l->output, d->values_floats);
	if (last && plan->run.logits)
		plan->kernels->copy_rows(out, out_row, job.rows, l->out,
			plan->run.logits + (size_t)span->first * d->wide * l->out, l->out);
}

/* The gradient of a hidden layer's input, which is hidden, too. */
static void backward(const struct span *span, const struct dense_layer *l, float *scratch)
{
	const struct plan *plan = span->plan;
	const size_t wide = plan->dense->wide, out_row = padded(plan, l->out),
		     in_row = padded(plan, l->in);
	const struct sparse_job job = {.rows = span_samples(span),
		.depth = l->out,
		.cols = l->in,
		.a_row = out_row,
		.a_run = wide,
		.b_row = in_row,
		.out_row = in_row,
		.mask_row = in_row};
	float *rows = scratch, *out = scratch + span->count * wide * out_row;

	rows_from_panels(span, panel_grads(plan, l, span->first), l->out * wide, l->out, rows);
	plan->kernels->sparse(&job, rows, plan_buffer(plan, l->apart), out, NULL,
		sample_rows(plan, l->rows, l->in, span->first));
	panels_from_rows(span, out, l->in, panel_grads(plan, l - 1, span->first), l->in * wide);
}

static void group_forward(const struct span *span)
{
	const struct plan *plan = span->plan;
	const struct dense *d = plan->dense;
	const struct dense_layer *first = d->layers, *last = first + d->count - 1;

	for (int p = span->first; p < span->first + span->count; p++) {
		const struct span panel = span_of(plan, p, 1, 0);
		dense_take_input(&panel);
	}
	dense_forward(span, first, 0, first->out);
	rows_from_panels(span, span->values + first->output, d->values_floats, first->out,
		sample_rows(plan, first[1].rows, first->out, span->first));
	for (const struct dense_layer *l = first + 1; l <= last; l++)
		forward(span, l);
	if (plan->run.features)
		plan->kernels->copy_rows(sample_rows(plan, last->rows, last->in, span->first),
			padded(plan, last->in), span_samples(span), last->in,
			plan->run.features + (size_t)span->first * d->wide * last->in, last->in);
	for (int p = span->first; p < span->first + span->count; p++) {
		const struct span panel = span_of(plan, p, 1, 0);
		dense_losses(&panel);
	}
}

/* A group of panels through the net and back. */
static void group_task(void *context, int task, int worker)
{
	const struct plan *plan = context;
	const struct dense *d = plan->dense;
	const struct dense_layer *last = d->layers + d->count - 1;
	const int first = task * d->group, left = d->panels - first;
	const struct span span = span_of(plan, first, left < d->group ? left : d->group, worker);

	group_forward(&span);
	if (!plan->run.grad)
		return;
	keep_input(&span);
	rows_from_panels(&span, panel_grads(plan, last, first), (size_t)last->out * d->wide,
		last->out, sample_rows(plan, d->logits, last->out, first));
	if (last > d->layers + plan->net->trained)
		dense_backward(&span, last, 0, last->in, NULL);
	for (const struct dense_layer *l = last - 1; l > d->layers + plan->net->trained; l--)
		backward(&span, l, plan->worker + worker * plan->worker_stride);
}

/* Rows [first, first + rows) of a hidden layer's gradient, through scratch if not whole vectors. */
static void hidden_weights(
	const struct plan *plan, const struct dense_layer *l, int first, int rows, float *scratch)
{
	const struct dense *d = plan->dense;
	const float *grads = plan_buffer(plan, l->grads) + (size_t)first * d->wide;
	const bool whole = l->in % plan->kernels->block == 0;
	float *out = plan->run.grad + l->weights + (size_t)first * l->in;
	const struct sparse_job job = {.rows = rows,
		.depth = plan->n,
		.cols = l->in,
		.a_row = d->wide,
		.a_run = (size_t)l->out * d->wide,
		.b_row = padded(plan, l->in),
		.out_row = whole ? (size_t)l->in : padded(plan, l->in)};

	plan->kernels->dense_sums(
		grads, job.a_run, plan->n, rows, plan->run.grad + l->bias + first);
	plan->kernels->sparse(&job, grads,
		l->rows < 0 ? plan->run.input : plan_buffer(plan, l->rows), whole ? out : scratch,
		NULL, NULL);
	if (!whole)
		plan->kernels->copy_rows(scratch, job.out_row, rows, l->in, out, l->in);
}

/* Columns [first, first + cols) of the last layer's gradient. */
static void last_weights(
	const struct plan *plan, const struct dense_layer *l, int first, int cols, float *scratch)
{
	const struct dense *d = plan->dense;
	const struct sparse_job job = {.rows = cols,
		.depth = plan->n,
		.cols = l->out,
		.a_row = d->wide,
		.a_run = d->values_floats,
		.b_row = padded(plan, l->out),
		.out_row = padded(plan, l->out)};

	if (first == 0)
		plan->kernels->dense_sums(plan_buffer(plan, l->grads), (size_t)l->out * d->wide,
			plan->n, l->out, plan->run.grad + l->bias);
	plan->kernels->sparse(&job,
		plan_buffer(plan, d->values) + l->input + (size_t)first * d->wide,
		plan_buffer(plan, d->logits), scratch, NULL, NULL);
	plan->kernels->transpose(
		scratch, job.out_row, cols, l->out, plan->run.grad + l->weights + first, l->in);
}

static void weights_task(void *context, int task, int worker)
{
	const struct plan *plan = context;
	const struct dense_layer *l = plan->dense->layers, *last = l + plan->dense->count - 1;
	float *scratch = plan->worker + worker * plan->worker_stride;

	for (; task >= l->tasks; l++)
		task -= l->tasks;
	if (l < plan->dense->layers + plan->net->trained)
		return; /* frozen */
	const int first = task * TASK_ROWS, all = l == last ? l->in : l->out;
	const int rows = all - first < TASK_ROWS ? all - first : TASK_ROWS;

	if (l == last)
		last_weights(plan, l, first, rows, scratch);
	else
		hidden_weights(plan, l, first, rows, scratch);
}

void sparse_run(struct plan *plan)
{
	const struct dense *d = plan->dense;
	int turns = 0;

	for (const struct dense_layer *l = d->layers + 1; l < d->layers + d->count; l++)
		turns += conv_runs(l->out, TURN_ROWS);
	team_run(plan->team, turns, turn_task, plan);
	team_run(plan->team, conv_runs(d->panels, d->group), group_task, plan);
	if (plan->run.grad)
		team_run(plan->team, d->tasks, weights_task, plan);
}
