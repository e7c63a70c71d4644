#include "conv_reference.h"

#include "check.h"

static double *doubles(size_t count)
{
	double *values = mem_new(count + 1, sizeof(double));

	assert_non_null(values);
	return values;
}

static float *random_floats(size_t count, uint64_t seed)
{
	float *values = mem_new(count + 1, sizeof(float));

	assert_non_null(values);
	fill(values, count, seed);
	return values;
}

/* Standardized weights, as the networks' definition says, and the size of what is subtracted. */
static void standardize(const float *w, double *v, double *size, int filters, size_t count)
{
	for (int f = 0; f < filters; f++, w += count, v += count, size += count) {
		double mean = 0, square = 0;
		for (size_t i = 0; i < count; i++)
			mean += w[i];
		mean /= (double)count;
		for (size_t i = 0; i < count; i++)
			square += (w[i] - mean) * (w[i] - mean);
		const double deviation = sqrt(square / (double)(count - 1));
		for (size_t i = 0; i < count; i++) {
			v[i] = (w[i] - mean) / (deviation + 1e-5);
			size[i] = (fabs(w[i]) + fabs(mean)) / (deviation + 1e-5);
		}
	}
}

/*
 * The gradient through it, step by step backwards: v = d * s, s = 1 / (r + e),
 * r = sqrt(q / (K - 1)), q = sum d^2, d = w - mean.
 */
static void standardize_backward(
	const float *w, double *g, double *g_size, int filters, size_t count)
{
	for (int f = 0; f < filters; f++, w += count, g += count, g_size += count) {
		double mean = 0, q = 0, ds = 0, mean_dd = 0, most = 0;
		for (size_t i = 0; i < count; i++)
			mean += w[i] / (double)count;
		for (size_t i = 0; i < count; i++)
			q += (w[i] - mean) * (w[i] - mean);
		const double r = sqrt(q / (double)(count - 1)), s = 1 / (r + 1e-5);
		for (size_t i = 0; i < count; i++)
			ds += g[i] * (w[i] - mean);
		const double dr = -s * s * ds, dq = dr / (2 * r * (double)(count - 1));
		for (size_t i = 0; i < count; i++) {
			g[i] = g[i] * s + dq * 2 * (w[i] - mean);
			mean_dd += g[i] / (double)count;
			most = fmax(most, g_size[i] * s);
		}
		for (size_t i = 0; i < count; i++) {
			g[i] -= mean_dd;
			g_size[i] = most;
		}
	}
}

struct pair {
	size_t x, w, y;
};

/* The weights as used, and the scale of their rounding errors. */
struct weights {
	double *v, *size;
};

static void multiply(struct conv_reference *r, const struct weights *w, struct pair at)
{
	const double x = r->x[at.x], dy = r->dy[at.y];

	r->y[at.y] += x * w->v[at.w];
	r->dx[at.x] += dy * w->v[at.w];
	r->dw[at.w] += dy * x;
	r->y_size[at.y] += fabs(x) * w->size[at.w];
	r->dx_size[at.x] += fabs(dy) * w->size[at.w];
	r->dw_size[at.w] += fabs(dy * x);
}

/* One filter over one plane of one image. */
static void convolve(struct conv_reference *r, const struct conv_case *c, const struct weights *w,
	int n, int o, int i)
{
	const size_t plane = ((size_t)n * c->in + i) * c->height,
		     filter = ((size_t)o * c->in + i) * c->size;
	const size_t out = ((size_t)n * c->out + o) * r->out_height;

	for (int y = 0; y < r->out_height; y++)
		for (int x = 0; x < r->out_width; x++)
			for (int ky = 0; ky < c->size; ky++)
				for (int kx = 0; kx < c->size; kx++) {
					const int iy = y * c->stride + ky - c->pad,
						  ix = x * c->stride + kx - c->pad;
					if (iy < 0 || iy >= c->height || ix < 0 || ix >= c->width)
						continue;
					multiply(r, w,
						(struct pair){(plane + iy) * c->width + ix,
							(filter + ky) * c->size + kx,
							(out + y) * r->out_width + x});
				}
}

static void finish(struct conv_reference *r, const struct conv_case *c)
{
	const size_t pixels = (size_t)r->out_height * r->out_width;

	for (size_t i = 0; i < r->y_count; i++) {
		const size_t filter = i / pixels % c->out;
		if (c->flags & BIAS) {
			r->y[i] += r->bias[filter];
			r->y_size[i] += fabsf(r->bias[filter]);
		}
		if (c->flags & ADD) {
			r->y[i] += r->add[i];
			r->y_size[i] += fabsf(r->add[i]);
		}
		if (c->flags & RELU)
			r->y[i] = fmax(0, r->y[i]);
	}
}

void conv_reference_init(struct conv_reference *r, const struct conv_case *c)
{
	const size_t filter = (size_t)c->in * c->size * c->size;

	*r = (struct conv_reference){
		.out_height = (c->height + 2 * c->pad - c->size) / c->stride + 1,
		.out_width = (c->width + 2 * c->pad - c->size) / c->stride + 1,
		.x_count = (size_t)c->n * c->in * c->height * c->width,
		.w_count = c->out * filter};
	r->y_count = (size_t)c->n * c->out * r->out_height * r->out_width;
	r->x = random_floats(r->x_count, 1);
	r->w = random_floats(r->w_count, 2);
	r->bias = random_floats(c->out, 3);
	r->fold = random_floats(c->out, 4);
	r->add = random_floats(r->y_count, 5);
	r->dy = random_floats(r->y_count, 6);
	r->y = doubles(r->y_count), r->y_size = doubles(r->y_count);
	r->dx = doubles(r->x_count), r->dx_size = doubles(r->x_count);
	r->dw = doubles(r->w_count), r->dw_size = doubles(r->w_count);
	const struct weights w = {doubles(r->w_count), doubles(r->w_count)};
	for (size_t i = 0; i < r->w_count; i++) {
		w.v[i] = r->w[i];
		w.size[i] = fabs(w.v[i]);
	}
	if (c->flags & STANDARDIZED)
		standardize(r->w, w.v, w.size, c->out, filter);
	for (size_t i = 0; c->flags & FOLD && i < r->w_count; i++) {
		w.v[i] *= r->fold[i / filter];
		w.size[i] *= fabs(r->fold[i / filter]);
	}
	for (int n = 0; n < c->n; n++)
		for (int o = 0; o < c->out; o++)
			for (int i = 0; i < c->in; i++)
				convolve(r, c, &w, n, o, i);
	finish(r, c);
	if (c->flags & STANDARDIZED)
		standardize_backward(r->w, r->dw, r->dw_size, c->out, filter);
	mem_free(w.v);
	mem_free(w.size);
}

void conv_reference_release(struct conv_reference *r)
{
	void *const blocks[] = {r->x, r->w, r->bias, r->fold, r->add, r->dy, r->y, r->y_size, r->dx,
		r->dx_size, r->dw, r->dw_size};

	for (size_t i = 0; i < COUNT(blocks); i++)
		mem_free(blocks[i]);
}

char *conv_case_text(const struct conv_case *c, char *text, size_t size)
{
	static const char *const words[] = {
		" planar", " standardized", " +bias", " folded", " +add", " relu", " infer"};
	int at = snprintf(text, size,
		"%d images of %d x %d, %d to %d channels, %d x %d stride %d pad %d", c->n,
		c->height, c->width, c->in, c->out, c->size, c->size, c->stride, c->pad);

	for (size_t i = 0; i < COUNT(words); i++)
		if (c->flags >> i & 1)
			at += snprintf(text + at, size - (size_t)at, "%s", words[i]);
	return text;
}
