/*
 * The kernels that no layer's test looks at closely: exp, log and softmax, pooling,
 * rows and layouts. On every kernel table.
 */
#include "check.h"

#include "base/rng.h"

/* The vectors' own exp and log, compiled as plain C; the tables' are seen through the softmax. */
#pragma GCC diagnostic ignored "-Wpsabi"
#define VW  8
#define ISA test
#include "nn/own/kernels/simd.h"

/* In units of the last place of the exact value. */
static double ulps(float got, double want)
{
	const float next = nextafterf((float)want, INFINITY);

	return fabs(got - want) / (next - (double)(float)want);
}

static float exp_of(float x)
{
	return v_exp(v_set1(x))[3];
}

static void exp_is_right_to_two_ulps(void **state)
{
	double most = 0;

	for (double x = -87; x <= 88; x += 0.000173)
		most = fmax(most, ulps(exp_of((float)x), exp((double)(float)x)));
	for (int n = -125; n <= 126; n++)
		for (int k = -3; k <= 3; k++) {
			/* Around places where the power of two changes, and halves of it. */
			const float x = (float)((n + k / 6.0) * 0.693147180559945);
			if (x >= -87 && x <= 88)
				most = fmax(most, ulps(exp_of(x), exp((double)x)));
		}
	if (most > 2)
		fail_msg("exp is off by %.2f ulps", most);
	assert_true(exp_of(0) == 1);
	assert_true(isnan(exp_of(NAN)));
	assert_true(exp_of(-INFINITY) < 2e-38f && exp_of(-INFINITY) >= 0);
	assert_true(exp_of(INFINITY) > 1e38f);
}

static float log_of(float x)
{
	return v_log(v_set1(x))[3];
}

static void log_is_right_to_two_ulps(void **state)
{
	double most = 0;

	for (float x = 1.2e-38f; x < 3e38f; x *= 1.000317f)
		most = fmax(most, ulps(log_of(x), log((double)x)));
	/* Where the power of two steps, and close to one, where a softmax's sums often are. */
	for (int n = -125; n <= 127; n++)
		for (int k = -4; k <= 4; k++) {
			const float x = ldexpf(0.70710678f * (1 + (float)k * 0x1p-23f), n);
			most = fmax(most, ulps(log_of(x), log((double)x)));
		}
	for (int k = 1; k < 1 << 20; k = k * 5 / 4 + 1) {
		const float x = 1 + (float)k * 0x1p-23f;
		most = fmax(most, ulps(log_of(x), log((double)x)));
	}
	if (most > 2)
		fail_msg("log is off by %.2f ulps", most);
	assert_true(log_of(1) == 0);
	assert_true(isnan(log_of(NAN)));
}

/* Far below the largest logit a class's gradient is exp itself: the sum is one. */
static void exp_of_the_tables(void **state)
{
	enum { CLASSES = 16 };
	const int32_t label = 0;
	const float one = 1;

	for (int i = 0; kernels_at(i); i++) {
		double most = 0;
		for (double x = -86.9; x < -20; x += 0.0137) {
			float logits[CLASSES] = {0}, grad[CLASSES], loss;
			for (int c = 1; c < CLASSES; c++)
				logits[c] = (float)(x - c * 1e-3);
			kernels_at(i)->ops.softmax_loss(
				logits, CLASSES, &label, &one, 1, &loss, grad);
			for (int c = 1; c < CLASSES; c++)
				most = fmax(most, ulps(grad[c], exp((double)logits[c])));
		}
		if (most > 2)
			fail_msg("%s: exp is off by %.2f ulps", kernels_at(i)->isa, most);
	}
}

static void softmax_case(const struct kernels *k, int classes, float scale, float level)
{
	enum { ROWS = 21 }; /* some whole vectors of samples, and a rest */
	const size_t count = (size_t)ROWS * classes;
	float *logits = guarded_new(count), *grad = guarded_new(count), *losses = guarded_new(ROWS);
	float *losses_only = guarded_new(ROWS);
	float weights[ROWS] = {1, 0.25f, 0, -2, 1};
	int32_t labels[ROWS];

	fill(logits, count, (uint64_t)classes);
	for (size_t i = 0; i < count; i++)
		logits[i] = level + scale * logits[i];
	fill_labels(labels, ROWS, classes, 3);
	labels[1] = classes - 1;
	for (int n = 5; n < ROWS; n++)
		weights[n] = weights[n - 5];
	k->ops.softmax_loss(logits, classes, labels, weights, ROWS, losses, grad);
	k->ops.softmax_loss(logits, classes, labels, NULL, ROWS, losses_only, NULL);
	assert_true(same_bits(losses, losses_only, ROWS));
	for (int n = 0; n < ROWS; n++) {
		const float *row = logits + (size_t)n * classes;
		double top = row[0], sum = 0;
		for (int c = 0; c < classes; c++)
			top = fmax(top, row[c]);
		for (int c = 0; c < classes; c++)
			sum += exp(row[c] - top);
		const double loss = log(sum) + top - row[labels[n]];
		if (!(fabs(losses[n] - loss) <= 4e-7 * (1 + loss)))
			fail_msg("%s, %d classes: loss %g, should be %g", k->isa, classes,
				losses[n], loss);
		for (int c = 0; c < classes; c++) {
			const double share = exp(row[c] - top) / sum;
			const double want = weights[n] * (share - (c == labels[n]));
			if (!(fabs(grad[(size_t)n * classes + c] - want) <=
				    4e-7 * fabs(weights[n])))
				fail_msg("%s, %d classes: gradient %g, should be %g", k->isa,
					classes, grad[(size_t)n * classes + c], want);
		}
	}
	/* In place. */
	k->ops.softmax_loss(logits, classes, labels, weights, ROWS, losses_only, logits);
	assert_true(same_bits(grad, logits, count));
	assert_true(same_bits(losses, losses_only, ROWS));
	guarded_free(logits), guarded_free(grad), guarded_free(losses), guarded_free(losses_only);
}

static void softmax(void **state)
{
	static const int classes[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 100, 1000};

	for (int i = 0; kernels_at(i); i++)
		for (size_t k = 0; k < COUNT(classes); k++) {
			softmax_case(kernels_at(i), classes[k], 3, 0);
			softmax_case(kernels_at(i), classes[k], 50, -2000);
			softmax_case(kernels_at(i), classes[k], 1e4f, 1e6f);
			softmax_case(kernels_at(i), classes[k], 0, 5);
		}
}

/* A broken step must show, wherever in the row it broke. */
static void softmax_of_nan(void **state)
{
	for (int i = 0; kernels_at(i); i++)
		for (int classes = 1; classes <= 40; classes += 3)
			for (int at = 0; at < classes; at++) {
				const int32_t labels[2] = {classes - 1, 0};
				float logits[80] = {0}, losses[2];
				logits[at] = NAN;
				kernels_at(i)->ops.softmax_loss(
					logits, classes, labels, NULL, 2, losses, NULL);
				assert_true(isnan(losses[0]));
				assert_true(fabs(losses[1] - log(classes)) < 1e-6 * classes);
			}
}

/* One channel block of pooling, each lane a picture of its own. */
struct pooled {
	const struct pool_shape *s;
	int block;
	float *x, *y, *dy, *dx;
	uint8_t *which;
};

/* The window's winner: the first of the largest. */
static int winner_of(const struct pooled *p, int out, int lane)
{
	const struct pool_shape *s = p->s;
	int winner = -1;
	float best = 0;

	for (int k = 0; k < s->size * s->size; k++) {
		const int y = out / s->out_width * s->stride - s->pad + k / s->size;
		const int x = out % s->out_width * s->stride - s->pad + k % s->size;
		if (y < 0 || y >= s->height || x < 0 || x >= s->width)
			continue;
		const float value = p->x[(size_t)(y * s->width + x) * p->block + lane];
		if (winner < 0 || value > best)
			best = value, winner = y * s->width + x;
	}
	return winner;
}

static void check_pool(const struct kernels *k, const struct pool_shape *s, bool ties)
{
	const size_t in = (size_t)s->height * s->width * k->block;
	const size_t out = (size_t)s->out_height * s->out_width * k->block;
	struct pooled p = {s, k->block, guarded_new(in), guarded_new(out), guarded_new(out),
		guarded_new(in), (uint8_t *)guarded_new(out / 4)};
	float *want = guarded_new(in), *plain = guarded_new(out);

	fill(p.x, in, 1), fill(p.dy, out, 2);
	for (size_t i = 0; i < in; i++)
		p.x[i] = ties ? (float)(int)(2 * p.x[i]) - 2 : p.x[i] - 2;
	k->pool_max(s, p.x, p.y, p.which);
	k->pool_max(s, p.x, plain, NULL);
	assert_true(same_bits(p.y, plain, out));
	k->pool_max_grad(s, p.dy, p.which, p.dx);
	memset(want, 0, in * sizeof(float));
	for (int o = 0; o < s->out_height * s->out_width; o++)
		for (int lane = 0; lane < k->block; lane++) {
			const size_t at = (size_t)o * k->block + lane;
			const int winner = winner_of(&p, o, lane);
			assert_true(p.y[at] == p.x[(size_t)winner * k->block + lane]);
			want[(size_t)winner * k->block + lane] += p.dy[at];
		}
	for (size_t i = 0; i < in; i++)
		if (!(fabsf(p.dx[i] - want[i]) <= 1e-6f))
			fail_msg("%s: %d x %d pool %d stride %d pad %d: gradient %g, should be %g",
				k->isa, s->height, s->width, s->size, s->stride, s->pad, p.dx[i],
				want[i]);
	guarded_free(p.x), guarded_free(p.y), guarded_free(p.dy), guarded_free(p.dx);
	guarded_free((float *)p.which), guarded_free(want), guarded_free(plain);
}

static void max_pool(void **state)
{
	for (int i = 0; kernels_at(i); i++)
		for (int size = 2; size <= 3; size++)
			for (int stride = 1; stride <= 3; stride++)
				for (int pad = 0; pad < size - 1 + (size == 2); pad++)
					for (int side = 0; side < 16; side++) {
						const int height = 3 + side % 4,
							  width = 3 + side / 4 * 3;
						const struct pool_shape s = {height, width,
							(height + 2 * pad - size) / stride + 1,
							(width + 2 * pad - size) / stride + 1, size,
							stride, pad};
						check_pool(kernels_at(i), &s, side % 2);
					}
}

/* A NaN anywhere in a window comes out, and minus infinity finds its way back. */
static void max_pool_of_odd_numbers(void **state)
{
	static const struct pool_shape s = {5, 6, 3, 3, 3, 2, 1};

	for (int i = 0; kernels_at(i); i++) {
		const size_t block = kernels_at(i)->block;
		float *x = guarded_new(30 * block), *y = guarded_new(9 * block);
		for (int at = 0; at < 30; at++) {
			fill(x, 30 * block, 1);
			x[at * block + 1] = NAN;
			kernels_at(i)->pool_max(&s, x, y, NULL);
			for (int o = 0; o < 9; o++) {
				const int dy = at / 6 - (o / 3 * 2 - 1),
					  dx = at % 6 - (o % 3 * 2 - 1);
				const bool inside = dy >= 0 && dy < 3 && dx >= 0 && dx < 3;
				if (!isnan(y[o * block + 1]) == inside)
					fail_msg("%s: a NaN at pixel %d gives %g at output %d",
						kernels_at(i)->isa, at, y[o * block + 1], o);
				assert_false(isnan(y[o * block]));
			}
		}
		/* Each window's gradient goes to its first pixel where all are minus infinity. */
		float *which = guarded_new(9 * block / 4);
		for (size_t k = 0; k < 30 * block; k++)
			x[k] = -INFINITY;
		kernels_at(i)->pool_max(&s, x, y, (uint8_t *)which);
		for (size_t k = 0; k < 9 * block; k++)
			y[k] = 1;
		kernels_at(i)->pool_max_grad(&s, y, (uint8_t *)which, x);
		double sum = 0;
		for (size_t k = 0; k < 30 * block; k++)
			sum += x[k];
		assert_true(sum == 9 * (double)block);
		guarded_free(which);
		guarded_free(x), guarded_free(y);
	}
}

static void mean_pool(void **state)
{
	for (int i = 0; kernels_at(i); i++)
		for (size_t pixels = 1; pixels <= 49; pixels += 6) {
			const size_t block = kernels_at(i)->block, count = pixels * block;
			float *x = guarded_new(count), *y = guarded_new(block);
			fill(x, count, 4);
			kernels_at(i)->pool_mean(x, pixels, y);
			for (size_t lane = 0; lane < block; lane++) {
				double mean = 0;
				for (size_t p = 0; p < pixels; p++)
					mean += x[p * block + lane] / (double)pixels;
				assert_true(fabs(y[lane] - mean) < 5e-7);
			}
			kernels_at(i)->pool_mean_grad(y, pixels, x);
			for (size_t k = 0; k < count; k++)
				assert_true(fabsf(x[k] - y[k % block] / (float)pixels) <= 1e-7f);
			guarded_free(x), guarded_free(y);
		}
}

static void bias_gradient(void **state)
{
	for (int i = 0; kernels_at(i); i++) {
		const size_t block = kernels_at(i)->block, pixels = 11, count = pixels * block;
		float *dy = guarded_new(count), *y = guarded_new(count), *sum = guarded_new(block);
		float *before = guarded_new(count);
		fill(before, count, 1), fill(y, count, 2);
		y[0] = 0;
		memcpy(dy, before, count * sizeof(float));
		kernels_at(i)->bias_grad(dy, y, pixels, sum);
		for (size_t lane = 0; lane < block; lane++) {
			double want = 0;
			for (size_t k = lane; k < count; k += block) {
				assert_true(dy[k] == (y[k] > 0 ? before[k] : 0));
				want += dy[k];
			}
			assert_true(fabs(sum[lane] - want) < 1e-6);
		}
		kernels_at(i)->bias_grad(before, NULL, 1, sum);
		assert_true(same_bits(sum, before, block));
		guarded_free(dy), guarded_free(y), guarded_free(sum), guarded_free(before);
	}
}

static void transposes_and_copies(void **state)
{
	static const int sides[] = {1, 2, 7, 8, 9, 15, 16, 17, 24, 33};

	for (int i = 0; kernels_at(i); i++)
		for (size_t r = 0; r < COUNT(sides); r++)
			for (size_t c = 0; c < COUNT(sides); c++) {
				const struct kernels *k = kernels_at(i);
				const int rows = sides[r], cols = sides[c];
				const size_t from_step = (size_t)cols + 3,
					     to_step = (size_t)rows + 5;
				float *from = guarded_new(rows * from_step);
				float *to = guarded_new(cols * to_step),
				      *copy = guarded_new(rows * from_step);
				fill(from, rows * from_step, 1);
				k->transpose(from, from_step, rows, cols, to, to_step);
				k->copy_rows(from, from_step, rows, cols, copy, from_step);
				for (int y = 0; y < rows; y++) {
					for (int x = 0; x < cols; x++)
						assert_true(to[x * to_step + y] ==
							    from[y * from_step + x]);
					assert_true(same_bits(copy + y * from_step,
						from + y * from_step, (size_t)cols));
					assert_true(
						guarded_untouched(copy + y * from_step + cols, 3));
				}
				for (int x = 0; x < cols; x++)
					assert_true(guarded_untouched(to + x * to_step + rows, 5));
				guarded_free(from), guarded_free(to), guarded_free(copy);
			}
}

static void pixels_are_gathered(void **state)
{
	for (int i = 0; kernels_at(i); i++)
		for (int stride = 1; stride <= 3; stride++) {
			const size_t block = kernels_at(i)->block, width = 13;
			float *from = guarded_new(10 * width * block),
			      *to = guarded_new(3 * 4 * block);
			fill(from, 10 * width * block, 1);
			kernels_at(i)->copy_pixels(
				from, stride * width * block, stride * block, 3, 4, to);
			for (size_t p = 0; p < 12; p++) {
				const size_t at = (p / 4 * width + p % 4) * stride * block;
				assert_true(same_bits(to + p * block, from + at, block));
			}
			guarded_free(from), guarded_free(to);
		}
}

static void check_rows(const struct kernels *k, size_t count)
{
	float *x = guarded_new(count), *y = guarded_new(count), *out = guarded_new(count);
	double sum = 0, square = 0, grads = 0, product = 0, size = 0;
	float mean, around, grad_sum, grad_product;

	fill(x, count, 1), fill(y, count, 2);
	for (size_t i = 0; i < count; i++)
		sum += x[i];
	k->row_moments(x, count, &mean, &around);
	assert_true(fabs(mean - sum / (double)count) < 2e-7);
	k->row_products(y, x, mean, count, &grad_sum, &grad_product);
	for (size_t i = 0; i < count; i++) {
		square += ((double)x[i] - mean) * ((double)x[i] - mean);
		grads += y[i];
		product += y[i] * ((double)x[i] - mean);
		size += fabsf(y[i]);
	}
	assert_true(fabs(around - square) <= 1e-6 * square);
	assert_true(fabs(grad_sum - grads) <= 1e-6 * size);
	assert_true(fabs(grad_product - product) <= 2e-6 * size);
	product = 0;
	for (size_t i = 0; i < count; i++)
		product += (double)x[i] * y[i];
	assert_true(fabs(k->ops.row_dot(x, y, count) - product) <= 1e-6 * size);
	k->row_affine(x, out, count, 3, -0.5f);
	for (size_t i = 0; i < count; i++)
		assert_true(fabs(out[i] - (3.0 * x[i] - 0.5)) <= 3e-7);
	k->ops.row_combine(x, y, out, count, 3, -0.5f, 0.25f);
	for (size_t i = 0; i < count; i++)
		assert_true(fabs(out[i] - (3.0 * x[i] - 0.5 * y[i] + 0.25)) <= 5e-7);
	memcpy(out, x, count * sizeof(float));
	k->add(out, y, count);
	for (size_t i = 0; i < count; i++)
		assert_true(out[i] == x[i] + y[i]);
	guarded_free(x), guarded_free(y), guarded_free(out);
}

/* Blocks of rows, number by number. */
static void check_distances(const struct kernels *k, size_t dim, size_t blocks)
{
	const size_t rows = blocks * OPS_BLOCK;
	float *at = guarded_new(rows * dim), *x = guarded_new(dim), *out = guarded_new(rows),
	      *twice = guarded_new(rows), *least = guarded_new(blocks);

	rng_normals((struct rng){4, RNG_TEST}, 0, at, rows * dim);
	rng_normals((struct rng){5, RNG_TEST}, 0, x, dim);
	k->ops.distances(at, x, dim, blocks, false, out, least);
	memcpy(twice, out, rows * sizeof(float));
	for (size_t r = 0; r < rows; r++) {
		double sum = 0;

		for (size_t j = 0; j < dim; j++) {
			const float *block = at + r / OPS_BLOCK * OPS_BLOCK * dim;
			const double apart = (double)block[j * OPS_BLOCK + r % OPS_BLOCK] - x[j];

			sum += apart * apart;
		}
		assert_true(fabs(out[r] - sum) <= 1e-5 * (1 + sum));
		assert_true(least[r / OPS_BLOCK] <= out[r]);
	}
	k->ops.distances(at, x, dim, blocks, true, twice, least);
	for (size_t r = 0; r < rows; r++) {
		assert_true(twice[r] == 2 * out[r]);
		assert_true(least[r / OPS_BLOCK] <= twice[r]);
	}
	guarded_free(at), guarded_free(x), guarded_free(out), guarded_free(twice);
	guarded_free(least);
}

/* Values that are equal to a limit count as below it. */
static void check_sums_below(const struct kernels *k, size_t count)
{
	static const float limits[OPS_LIMITS] = {-2, -1, -0.5F, 0, 0, 1, 3, INFINITY};
	float *values = guarded_new(count), *targets = guarded_new(count);
	float sums[OPS_LIMITS], counts[OPS_LIMITS];

	rng_normals((struct rng){6, RNG_TEST}, 0, values, count);
	rng_normals((struct rng){7, RNG_TEST}, 0, targets, count);
	values[count / 2] = 0;
	k->ops.sums_below(values, targets, count, limits, sums, counts);
	for (int j = 0; j < OPS_LIMITS; j++) {
		double sum = 0, below = 0;

		for (size_t i = 0; i < count; i++)
			if (values[i] <= limits[j]) {
				sum += (double)targets[i];
				below++;
			}
		/* What fills up the last vector is at most infinity, too. */
		assert_true(j == OPS_LIMITS - 1 || counts[j] == (float)below);
		assert_true(fabs((double)sums[j] - sum) <= 1e-5 * (double)count);
	}
	guarded_free(values), guarded_free(targets);
}

static void sums_below(void **state)
{
	(void)state;
	for (int i = 0; kernels_at(i); i++)
		for (size_t count = 1; count < 500; count += 1 + count / 3)
			check_sums_below(kernels_at(i), count);
}

static void distances(void **state)
{
	(void)state;
	for (int i = 0; kernels_at(i); i++)
		for (size_t dim = 1; dim < 60; dim += 1 + dim / 2)
			for (size_t blocks = 1; blocks < 4; blocks++)
				check_distances(kernels_at(i), dim, blocks);
}

static void rows(void **state)
{
	for (int i = 0; kernels_at(i); i++)
		for (size_t count = 1; count < 5000; count += 1 + count / 3)
			check_rows(kernels_at(i), count);
}

/* One term or two; and nothing behind the last float is touched. */
static void check_terms(const struct kernels *k, size_t count, int terms)
{
	float *params = guarded_new(count), *grad = guarded_new(count), *out = guarded_new(count);
	float *term[TERMS_MAX] = {guarded_new(count), guarded_new(count)};
	const struct terms_step step = {
		.count = terms, .term = {term[0], term[1]}, .keep = {0.5f, 0.9f}, .step = {-2, 3}};

	fill(params, count, 1), fill(grad, count, 2);
	fill(term[0], count, 3), fill(term[1], count, 4);
	k->ops.displace(params, &step, out, count);
	for (size_t i = 0; i < count; i++)
		assert_true(out[i] == (terms == 1 ? params[i] + term[0][i]
						  : params[i] + term[0][i] + term[1][i]));
	memcpy(params, term[0], count * sizeof(float)), memcpy(out, term[1], count * sizeof(float));
	k->ops.step_terms(grad, &step, count);
	for (size_t i = 0; i < count; i++) {
		const double second = terms == 1 ? out[i] : 0.9f * out[i] + 3.0 * grad[i];
		assert_true(fabs(term[0][i] - (0.5 * params[i] - 2.0 * grad[i])) <= 3e-7);
		assert_true(fabs(term[1][i] - second) <= 5e-7);
	}
	guarded_free(params), guarded_free(grad), guarded_free(out);
	guarded_free(term[0]), guarded_free(term[1]);
}

static void terms_displace_and_step(void **state)
{
	for (int i = 0; kernels_at(i); i++)
		for (size_t count = 1; count < 300; count += 1 + count / 3)
			for (int terms = 1; terms <= TERMS_MAX; terms++)
				check_terms(kernels_at(i), count, terms);
}

/* As counted one by one; of equals, and where numbers are none, too. */
static void check_ranks(const struct kernels *k, int classes)
{
	float *logits = guarded_new((size_t)classes);

	fill(logits, (size_t)classes, (uint64_t)classes);
	for (int c = 0; c < classes; c++)
		logits[c] = c % 11 == 5 ? NAN : c % 7 == 3 ? -INFINITY : floorf(6 * logits[c]);
	for (int label = 0; label < classes; label++) {
		int rank = 1;

		for (int c = 0; c < classes; c++)
			rank += logits[c] > logits[label] ||
				(logits[c] == logits[label] && c < label);
		if (isnan(logits[label]))
			rank = classes;
		if (k->rank(logits, classes, label) != rank)
			fail_msg("%s: class %d of %d is %d., should be %d.", k->isa, label, classes,
				k->rank(logits, classes, label), rank);
	}
	guarded_free(logits);
}

static void ranks(void **state)
{
	for (int i = 0; kernels_at(i); i++)
		for (int classes = 1; classes < 140; classes++)
			check_ranks(kernels_at(i), classes);
}

static void vectors_go_to_blocks_and_back(void **state)
{
	for (int i = 0; kernels_at(i); i++)
		for (int features = 1; features < 40; features += 3)
			for (int n = 1; n <= 18; n += 17) {
				const struct kernels *k = kernels_at(i);
				const size_t block = k->block, plane = (n + 2) * block;
				const size_t blocks = (features + block - 1) / block;
				const size_t count = (size_t)n * features;
				float *plain = guarded_new(count), *back = guarded_new(count);
				float *data = guarded_new(blocks * plane);
				fill(plain, count, 9);
				k->vectors_to_blocks(plain, n, features, data, plane);
				for (size_t f = 0; f < blocks * block; f++)
					for (int s = 0; s < n; s++)
						assert_true(
							data[f / block * plane + s * block +
								f % block] ==
							(f < (size_t)features
									? plain[s * features + f]
									: 0));
				assert_true(guarded_untouched(data + n * block, 2 * block));
				k->blocks_to_vectors(data, plane, n, features, back);
				assert_true(same_bits(plain, back, count));
				guarded_free(plain), guarded_free(back), guarded_free(data);
			}
}

static void tables_have_names(void **state)
{
	int count = 0;

	for (; kernels_at(count); count++) {
		const struct kernels *k = kernels_at(count);
		assert_ptr_equal(kernels_find(k->isa), k);
		assert_true(k->block == 4 || k->block == 8 || k->block == 16);
		assert_int_equal(k->block % k->outer_rows, 0);
		assert_true(k->peak(10) > 0);
	}
	assert_true(count >= 1);
	assert_ptr_equal(kernels_find("auto"), kernels_at(0));
	assert_string_equal(kernels_at(count - 1)->isa, "baseline");
	assert_null(kernels_find("avx"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exp_is_right_to_two_ulps),
		cmocka_unit_test(log_is_right_to_two_ulps),
		cmocka_unit_test(exp_of_the_tables),
		cmocka_unit_test(softmax),
		cmocka_unit_test(softmax_of_nan),
		cmocka_unit_test(max_pool),
		cmocka_unit_test(max_pool_of_odd_numbers),
		cmocka_unit_test(mean_pool),
		cmocka_unit_test(bias_gradient),
		cmocka_unit_test(transposes_and_copies),
		cmocka_unit_test(pixels_are_gathered),
		cmocka_unit_test(rows),
		cmocka_unit_test(distances),
		cmocka_unit_test(sums_below),
		cmocka_unit_test(terms_displace_and_step),
		cmocka_unit_test(ranks),
		cmocka_unit_test(vectors_go_to_blocks_and_back),
		cmocka_unit_test(tables_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
