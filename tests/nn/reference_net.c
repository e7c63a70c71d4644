#include "reference_net.h"

#include "check.h"
#include "nn/own/layers/layer_type.h"
#include "nn/own/norm/norm.h"

static double *widen(const float *from, size_t count)
{
	double *to = mem_new(count + 1, sizeof(double));

	assert_non_null(to);
	for (size_t i = 0; i < count; i++)
		to[i] = from[i];
	return to;
}

static size_t value_pixels(const struct reference_net *r, int value)
{
	const struct value_shape s = net_value(r->net, value);
	return (size_t)s.height * s.width;
}

static size_t value_count(const struct reference_net *r, int value)
{
	return r->n * net_value(r->net, value).channels * value_pixels(r, value);
}

static const double *param(const struct reference_net *r, int row)
{
	return row < 0 ? NULL : r->params + r->net->params.rows[row].offset;
}

static const double *stat(const struct reference_net *r, int row)
{
	return r->stats + r->net->stats.rows[row].offset;
}

/* A filter's weights, standardized where the layer says so. */
static void filter_weights(const struct reference_net *r, const struct layer *layer, int filter,
	size_t count, double *v)
{
	const double *w = param(r, layer->weight) + filter * count;
	double mean = 0, square = 0, scale = 1;

	if (layer->standardize) {
		for (size_t i = 0; i < count; i++)
			mean += w[i] / (double)count;
		for (size_t i = 0; i < count; i++)
			square += (w[i] - mean) * (w[i] - mean);
		scale = 1 / (sqrt(square / (double)(count - 1)) + 1e-5);
	}
	for (size_t i = 0; i < count; i++)
		v[i] = (w[i] - mean) * scale;
}

/* Output columns [*first, *end) that tap column kx joins to a column of the image. */
static void columns(const struct layer *layer, int kx, int width, int *first, int *end)
{
	*first = kx < 0 ? (-kx + layer->stride - 1) / layer->stride : 0;
	*end = kx < width ? (width - 1 - kx) / layer->stride + 1 : 0;
	*end = *end < layer->width ? *end : layer->width;
}

/* Adds one tap of one filter over one plane. */
static void add_tap(const struct layer *layer, struct value_shape from, const double *x, double w,
	int tap, double *restrict y)
{
	const int ky = tap / layer->size - layer->pad, kx = tap % layer->size - layer->pad;
	int first, end;

	columns(layer, kx, from.width, &first, &end);
	for (int oy = 0; oy < layer->height; oy++) {
		const int iy = oy * layer->stride + ky;
		if (iy < 0 || iy >= from.height)
			continue;
		const double *row = x + iy * from.width + kx;
		for (int ox = first; ox < end; ox++)
			y[oy * layer->width + ox] += row[ox * layer->stride] * w;
	}
}

static void run_conv(struct reference_net *r, int i)
{
	const struct layer *layer = r->net->layers + i;
	const struct value_shape from = net_value(r->net, layer->in);
	const int taps = layer->size * layer->size;
	const size_t in_pixels = value_pixels(r, layer->in), pixels = value_pixels(r, i + 1);
	const size_t count = (size_t)from.channels * taps;
	double *v = mem_new(count, sizeof(double));

	assert_non_null(v);
	memset(r->values[i + 1], 0, value_count(r, i + 1) * sizeof(double));
	for (int f = 0; f < layer->channels; f++) {
		filter_weights(r, layer, f, count, v);
		for (int n = 0; n < r->n; n++)
			for (size_t k = 0; k < count; k++)
				add_tap(layer, from,
					r->values[layer->in] +
						(n * from.channels + k / taps) * in_pixels,
					v[k], (int)(k % taps),
					r->values[i + 1] +
						((size_t)n * layer->channels + f) * pixels);
	}
	mem_free(v);
}

/* Mean and variance of `count` runs of `length` numbers, `step` apart. */
static void moments(
	const double *x, size_t count, size_t step, size_t length, double *mean, double *variance)
{
	double sum = 0, square = 0;

	for (size_t i = 0; i < count * length; i++)
		sum += x[i / length * step + i % length];
	*mean = sum / (double)(count * length);
	for (size_t i = 0; i < count * length; i++) {
		const double d = x[i / length * step + i % length] - *mean;
		square += d * d;
	}
	*variance = square / (double)(count * length);
}

static void run_norm(struct reference_net *r, int i)
{
	const struct layer *layer = r->net->layers + i;
	const size_t pixels = value_pixels(r, i + 1), image = layer->channels * pixels;
	const double *x = r->values[layer->in],
		     *add = layer->add < 0 ? NULL : r->values[layer->add];
	double *y = r->values[i + 1];

	for (size_t c = 0; c < (size_t)r->n * layer->channels; c++) {
		const size_t channel = c % layer->channels, width = layer->channels / layer->groups;
		const size_t group = (c - channel) + channel / width * width;
		double mean = 0, variance = 1, scale = 1, shift = 0;
		if (layer->norm == &norm_group)
			moments(x + group * pixels, 1, 0, width * pixels, &mean, &variance);
		else if (layer->norm == &norm_batch && !r->infer)
			moments(x + channel * pixels, r->n, image, pixels, &mean, &variance);
		else if (layer->norm == &norm_batch) {
			mean = stat(r, layer->mean)[channel];
			variance = stat(r, layer->variance)[channel];
		}
		if (layer->norm != &norm_plain) {
			scale = param(r, layer->weight)[channel] / sqrt(variance + 1e-5);
			shift = param(r, layer->bias)[channel];
		}
		for (size_t p = c * pixels; p < (c + 1) * pixels; p++) {
			y[p] = (x[p] - mean) * scale + shift + (add ? add[p] : 0);
			y[p] = layer->relu && y[p] < 0 ? 0 : y[p];
		}
	}
}

static void run_max_pool(struct reference_net *r, int i)
{
	const struct layer *layer = r->net->layers + i;
	const struct value_shape from = net_value(r->net, layer->in);
	const double *x = r->values[layer->in];
	double *y = r->values[i + 1];

	for (int plane = 0; plane < r->n * from.channels; plane++, x += from.height * from.width)
		for (int o = 0; o < layer->height * layer->width; o++, y++) {
			*y = -INFINITY;
			for (int k = 0; k < layer->size * layer->size; k++) {
				const int iy = o / layer->width * layer->stride - layer->pad +
					       k / layer->size;
				const int ix = o % layer->width * layer->stride - layer->pad +
					       k % layer->size;
				if (iy >= 0 && iy < from.height && ix >= 0 && ix < from.width)
					*y = fmax(*y, x[iy * from.width + ix]);
			}
		}
}

static void run_mean_pool(struct reference_net *r, int i)
{
	const size_t pixels = value_pixels(r, r->net->layers[i].in);

	for (size_t c = 0; c < value_count(r, i + 1); c++) {
		double sum = 0;
		for (size_t p = 0; p < pixels; p++)
			sum += r->values[r->net->layers[i].in][c * pixels + p];
		r->values[i + 1][c] = sum / (double)pixels;
	}
}

/* Values lie channel after channel already. */
static void run_flatten(struct reference_net *r, int i)
{
	memcpy(r->values[i + 1], r->values[r->net->layers[i].in],
		value_count(r, i + 1) * sizeof(double));
}

static void run_dense(struct reference_net *r, int i)
{
	const struct layer *layer = r->net->layers + i;
	const size_t features = value_count(r, layer->in) / r->n;

	for (int n = 0; n < r->n; n++)
		for (int f = 0; f < layer->channels; f++) {
			const double *w = param(r, layer->weight) + f * features;
			double sum = param(r, layer->bias)[f];
			for (size_t k = 0; k < features; k++)
				sum += w[k] * r->values[layer->in][n * features + k];
			r->values[i + 1][(size_t)n * layer->channels + f] =
				layer->relu && sum < 0 ? 0 : sum;
		}
}

static const struct {
	const struct layer_type *type;
	void (*run)(struct reference_net *r, int layer);
} references[] = {
	{&layer_conv, run_conv},
	{&layer_norm, run_norm},
	{&layer_max_pool, run_max_pool},
	{&layer_mean_pool, run_mean_pool},
	{&layer_flatten, run_flatten},
	{&layer_dense, run_dense},
};

static void run_layer(struct reference_net *r, int layer)
{
	const struct layer_type *type = r->net->layers[layer].type;

	for (size_t i = 0; i < COUNT(references); i++)
		if (references[i].type == type) {
			references[i].run(r, layer);
			return;
		}
	fail_msg("layers of type %s have no reference", type->name);
}

void reference_net_init(struct reference_net *r, const struct net *net, int n, bool infer,
	const float *params, const float *stats, const float *input)
{
	*r = (struct reference_net){.net = net,
		.n = n,
		.infer = infer,
		.params = widen(params, net->params.floats),
		.stats = widen(stats, net->stats.floats),
		.values = mem_new(net->count + 1, sizeof(double *))};
	assert_non_null(r->values);
	r->values[0] = widen(input, value_count(r, 0));
	for (int i = 1; i <= net->count; i++) {
		r->values[i] = mem_new(value_count(r, i), sizeof(double));
		assert_non_null(r->values[i]);
	}
	reference_net_run(r, 0);
}

void reference_net_release(struct reference_net *r)
{
	for (int i = 0; i <= r->net->count; i++)
		mem_free(r->values[i]);
	mem_free(r->values);
	mem_free(r->params);
	mem_free(r->stats);
}

void reference_net_run(struct reference_net *r, int first)
{
	for (int i = first; i < r->net->count; i++)
		run_layer(r, i);
}

const double *reference_net_logits(const struct reference_net *r)
{
	return r->values[r->net->count];
}

double reference_net_loss(
	const struct reference_net *r, const int32_t *labels, const float *weights, double *losses)
{
	const int classes = r->net->spec.classes;
	double total = 0;

	for (int n = 0; n < r->n; n++) {
		const double *row = reference_net_logits(r) + (size_t)n * classes;
		double top = row[0], sum = 0;
		for (int c = 0; c < classes; c++)
			top = fmax(top, row[c]);
		for (int c = 0; c < classes; c++)
			sum += exp(row[c] - top);
		const double loss = log(sum) - (row[labels[n]] - top);
		if (losses)
			losses[n] = loss;
		total += loss * (weights ? weights[n] : 1.0 / r->n);
	}
	return total;
}

int reference_net_layer(const struct reference_net *r, int row)
{
	for (int i = 0; i < r->net->count; i++)
		if (r->net->layers[i].weight == row || r->net->layers[i].bias == row)
			return i;
	fail_msg("no layer reads parameter %d", row);
	return -1;
}
