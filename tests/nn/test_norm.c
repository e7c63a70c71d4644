/*
 * Group norm, batch norm and none, with ReLU, residual and two incoming
 * gradients, against a double-precision reference: on every kernel table, and
 * with the same bits for one, two and three threads.
 */
#include "check.h"
#include "nn/own/norm/norm.h"

enum { THREADS = 3 };

static const double TOLERANCE = 1e-6;

static struct team *teams[THREADS];

struct norm_case {
	const struct norm_type *kind;
	int n, channels, groups, height, width;
	bool relu, join, second; /* join: a residual and ReLU bits; second: two gradients arrive */
	float level, spread;     /* of the input: mean and half width */
};

/*
 * Plain (n, channels, height, width) arrays, and what should come out. Sizes are the scales on
 * which rounding errors are measured: a mean far from zero costs digits, and the difference of
 * two numbers has the errors of both.
 */
struct reference {
	size_t count, pixels;
	float *x, *add, *dy0, *dy1, *scale, *shift;
	double *y, *dx, *join, *scale_grad, *shift_grad;
	double *y_size, *dx_size, *join_size, *scale_size, *shift_size;
	double *mean, *variance; /* of batch norm */
};

static double *doubles(size_t count)
{
	double *values = mem_new(count, sizeof(double));

	assert_non_null(values);
	return values;
}

/* Numbers with common statistics: planes [first, first + width) of so many images. */
struct set {
	int first, width, images;
};

static size_t element(const struct reference *r, const struct norm_case *c, struct set s, size_t i)
{
	const size_t run = s.width * r->pixels;
	return i / run * c->channels * r->pixels + s.first * r->pixels + i % run;
}

static size_t channel_of(const struct reference *r, const struct norm_case *c, size_t at)
{
	return at / r->pixels % c->channels;
}

static void normalize(struct reference *r, const struct norm_case *c, struct set s)
{
	const size_t count = (size_t)s.images * s.width * r->pixels;
	double mean = 0, variance = 0;

	for (size_t i = 0; i < count; i++)
		mean += r->x[element(r, c, s, i)] / (double)count;
	for (size_t i = 0; i < count; i++)
		variance += pow(r->x[element(r, c, s, i)] - mean, 2) / (double)count;
	const double inverse = c->kind == &norm_plain ? 1 : 1 / sqrt(variance + 1e-5);
	if (c->kind == &norm_plain)
		mean = 0;
	if (c->kind == &norm_batch) {
		r->mean[s.first] = mean;
		r->variance[s.first] = variance * (double)count / (double)(count - 1);
	}

	double dy_sum = 0, product_sum = 0, dy_size = 0, product_size = 0;
	for (size_t i = 0; i < count; i++) {
		const size_t at = element(r, c, s, i), ch = channel_of(r, c, at);
		const double hat = (r->x[at] - mean) * inverse, gain = r->scale[ch];
		const double far = (fabs(r->x[at]) + fabs(mean)) * inverse;
		r->y[at] = gain * hat + r->shift[ch] + (c->join ? r->add[at] : 0);
		r->y_size[at] =
			fabs(gain) * far + fabs(r->shift[ch]) + (c->join ? fabs(r->add[at]) : 0);
		double dy = (double)r->dy0[at] + (c->second ? r->dy1[at] : 0);
		if ((c->relu || c->join) && r->y[at] <= 0)
			dy = 0;
		if (c->relu)
			r->y[at] = fmax(0, r->y[at]);
		r->join[at] = dy;
		r->join_size[at] = 1;
		r->scale_grad[ch] += dy * hat;
		r->scale_size[ch] += fabs(dy) * far;
		r->shift_grad[ch] += dy;
		r->shift_size[ch] += fabs(dy);
		dy_sum += gain * dy / (double)count;
		product_sum += gain * dy * hat / (double)count;
		dy_size += fabs(gain * dy) / (double)count;
		product_size += fabs(gain * dy * hat) / (double)count;
	}
	for (size_t i = 0; i < count; i++) {
		const size_t at = element(r, c, s, i);
		const double hat = (r->x[at] - mean) * inverse;
		const double dy = r->scale[channel_of(r, c, at)] * r->join[at];
		const double far = (fabs(r->x[at]) + fabs(mean)) * inverse;
		r->dx[at] =
			c->kind == &norm_plain ? dy : inverse * (dy - dy_sum - hat * product_sum);
		r->dx_size[at] = inverse * (fabs(dy) + dy_size + far * product_size);
	}
}

static void reference_init(struct reference *r, const struct norm_case *c)
{
	const size_t pixels = (size_t)c->height * c->width, count = c->n * c->channels * pixels;

	*r = (struct reference){.count = count, .pixels = pixels};
	float **const inputs[] = {&r->x, &r->add, &r->dy0, &r->dy1};
	for (size_t i = 0; i < COUNT(inputs); i++) {
		*inputs[i] = guarded_new(count);
		fill(*inputs[i], count, i);
	}
	r->scale = guarded_new(c->channels), r->shift = guarded_new(c->channels);
	fill(r->scale, c->channels, 5), fill(r->shift, c->channels, 6);
	for (int ch = 0; ch < c->channels && c->kind == &norm_plain; ch++)
		r->scale[ch] = 1, r->shift[ch] = 0;
	for (size_t i = 0; i < count; i++)
		r->x[i] = c->level + c->spread * r->x[i];
	double **const wide[] = {&r->y, &r->dx, &r->join, &r->y_size, &r->dx_size, &r->join_size};
	double **const narrow[] = {&r->scale_grad, &r->shift_grad, &r->scale_size, &r->shift_size,
		&r->mean, &r->variance};
	for (size_t i = 0; i < COUNT(wide); i++)
		*wide[i] = doubles(count);
	for (size_t i = 0; i < COUNT(narrow); i++)
		*narrow[i] = doubles(c->channels);
	if (c->kind == &norm_batch) {
		for (int ch = 0; ch < c->channels; ch++)
			normalize(r, c, (struct set){ch, 1, c->n});
		return;
	}
	const int width = c->channels / c->groups;
	for (int first = 0; first < c->n * c->channels; first += width)
		normalize(r, c, (struct set){first, width, 1});
}

static void reference_release(struct reference *r)
{
	float *const floats[] = {r->x, r->add, r->dy0, r->dy1, r->scale, r->shift};
	double *const wide[] = {r->y, r->dx, r->join, r->scale_grad, r->shift_grad, r->y_size,
		r->dx_size, r->join_size, r->scale_size, r->shift_size, r->mean, r->variance};

	for (size_t i = 0; i < COUNT(floats); i++)
		guarded_free(floats[i]);
	for (size_t i = 0; i < COUNT(wide); i++)
		mem_free(wide[i]);
}

/* What came out. */
struct outcome {
	float *y, *dx, *join, *scale_grad, *shift_grad, *mean, *variance;
};

enum { OUTCOMES = sizeof(struct outcome) / sizeof(float *) };

static void outcome_init(struct outcome *o, const struct norm_case *c, const struct reference *r)
{
	*o = (struct outcome){guarded_new(r->count), guarded_new(r->count), guarded_new(r->count),
		guarded_new(c->channels), guarded_new(c->channels), guarded_new(c->channels),
		guarded_new(c->channels)};
	for (int i = 0; i < c->channels; i++) {
		o->mean[i] = 2;
		o->variance[i] = 3;
		o->scale_grad[i] = o->shift_grad[i] = 0;
	}
}

static void outcome_release(struct outcome *o)
{
	float **const all = (float **)o;

	for (int i = 0; i < OUTCOMES; i++)
		guarded_free(all[i]);
}

static float *put(const struct tensor *t, int block, const float *plain)
{
	float *data = guarded_new(t->floats);

	tensor_put(t, block, plain, data);
	return data;
}

static void run_case(const struct norm_case *c, const struct reference *r, const struct kernels *k,
	struct team *team, struct outcome *o)
{
	const struct tensor t = tensor_blocked(c->n, c->channels, c->height, c->width, k->block);
	struct norm norm = {.type = c->kind, .groups = c->groups, .relu = c->relu, .train = true};
	struct arena arena = {0};
	struct err err;

	norm.tensor = t;
	norm.kernels = k;
	norm.team = team;
	assert_ok(norm_plan(&norm, &arena, &err), err);
	norm.worker_stride = (norm.worker_floats + 15) / 16 * 16 + 16;
	norm.worker = guarded_new(norm.worker_stride * team_size(team));
	float *mask = guarded_new((norm_mask_bytes(&t, k->block) + 3) / 4);
	struct norm_flow flow = {.scale = r->scale,
		.shift = r->shift,
		.momentum = 0.25f,
		.mask = c->join ? mask : NULL};
	float *x = put(&t, k->block, r->x), *add = put(&t, k->block, r->add);
	float *dy0 = put(&t, k->block, r->dy0), *dy1 = put(&t, k->block, r->dy1);
	float *y = guarded_new(t.floats), *dx = guarded_new(t.floats);

	flow.x = x, flow.y = y, flow.add = c->join ? add : NULL;
	if (c->kind == &norm_batch)
		flow.running_mean = o->mean, flow.running_variance = o->variance;
	norm_forward(&norm, &flow);
	tensor_get(&t, k->block, y, o->y);
	/*
	 * As plans do it: the masked gradient replaces the first one, the input's takes the
	 * place of the second or, where nothing is joined, of the first.
	 */
	flow.dy0 = dy0, flow.dy1 = c->second ? dy1 : NULL;
	flow.join = c->join ? dy0 : NULL;
	flow.dx = !c->join ? dy0 : c->second ? dy1 : dx;
	flow.scale_grad = o->scale_grad, flow.shift_grad = o->shift_grad;
	norm_backward(&norm, &flow);
	tensor_get(&t, k->block, flow.dx, o->dx);
	if (c->join)
		tensor_get(&t, k->block, flow.join, o->join);
	for (int i = 0; i < team_size(team); i++)
		assert_true(
			guarded_untouched(norm.worker + i * norm.worker_stride + norm.worker_floats,
				norm.worker_stride - norm.worker_floats));
	float *const all[] = {norm.worker, mask, x, add, dy0, dy1, y, dx};
	for (size_t i = 0; i < COUNT(all); i++)
		guarded_free(all[i]);
	arena_release(&arena);
}

static void compare(const struct norm_case *c, const struct reference *r, const struct outcome *o,
	const char *isa)
{
	const size_t channels = c->kind == &norm_plain ? 0 : (size_t)c->channels;
	const double y = worst(o->y, r->y, r->y_size, r->count);
	const double dx = worst(o->dx, r->dx, r->dx_size, r->count);
	const double join = worst(o->join, r->join, r->join_size, c->join ? r->count : 0);
	const double scale = worst(o->scale_grad, r->scale_grad, r->scale_size, channels);
	const double shift = worst(o->shift_grad, r->shift_grad, r->shift_size, channels);

	if (y > TOLERANCE / 2 || join > TOLERANCE || dx > TOLERANCE || scale > TOLERANCE ||
		shift > TOLERANCE)
		fail_msg("%s, %s, %d x %d channels in %d groups, %d x %d%s%s%s, level %g: y "
			 "off by "
			 "%.1e, join %.1e, dx %.1e, scale %.1e, shift %.1e",
			isa, c->kind->name, c->n, c->channels, c->groups, c->height, c->width,
			c->relu ? " relu" : "", c->join ? " join" : "", c->second ? " second" : "",
			c->level, y, join, dx, scale, shift);
	for (int i = 0; i < c->channels && c->kind == &norm_batch; i++) {
		const double mean = 0.75 * 2 + 0.25 * r->mean[i];
		const double variance = 0.75 * 3 + 0.25 * r->variance[i];
		assert_true(fabs(o->mean[i] - mean) <= 1e-6 * (1 + fabs(mean)));
		assert_true(fabs(o->variance[i] - variance) <= 1e-6 * (1 + variance));
	}
}

static void check(struct norm_case c)
{
	struct reference r;

	if (c.spread == 0)
		c.spread = 1;
	reference_init(&r, &c);
	for (int i = 0; kernels_at(i); i++) {
		struct outcome one;
		outcome_init(&one, &c, &r);
		run_case(&c, &r, kernels_at(i), teams[0], &one);
		compare(&c, &r, &one, kernels_at(i)->isa);
		for (int t = 1; t < THREADS; t++) {
			struct outcome many;
			outcome_init(&many, &c, &r);
			run_case(&c, &r, kernels_at(i), teams[t], &many);
			for (int k = 0; k < OUTCOMES; k++)
				assert_true(same_bits(((float **)&one)[k], ((float **)&many)[k],
					k < 3 ? r.count : (size_t)c.channels));
			outcome_release(&many);
		}
		outcome_release(&one);
	}
	reference_release(&r);
}

/* All eight ways to stand in a net. */
static void check_all(
	const struct norm_type *kind, int n, int channels, int groups, int height, int width)
{
	for (int i = 0; i < 8; i++)
		check((struct norm_case){kind, n, channels, groups, height, width, i & 1 || i & 2,
			i & 2, i & 4, 0.3f, 1});
}

static void group_norm(void **state)
{
	/* Groups that fit blocks, share them, span them, and lie across their edges. */
	static const int shapes[][2] = {{64, 32}, {32, 16}, {16, 8}, {24, 12}, {40, 20}, {96, 32},
		{20, 10}, {24, 3}, {48, 3}, {64, 2}, {13, 1}, {17, 17}, {40, 8}, {36, 4}, {1, 1}};

	for (size_t i = 0; i < COUNT(shapes); i++)
		check_all(
			&norm_group, 1 + (int)i % 3, shapes[i][0], shapes[i][1], 5, 3 + (int)i % 4);
	check_all(&norm_group, 2, 64, 32, 1, 1);
	check_all(&norm_group, 2, 32, 16, 8, 16); /* blocks with a gap between them */
}

static void batch_norm(void **state)
{
	static const int channels[] = {1, 3, 8, 13, 16, 17, 40};

	for (size_t i = 0; i < COUNT(channels); i++)
		check_all(&norm_batch, 1 + (int)i % 4, channels[i], 1, 4, 5);
	check_all(&norm_batch, 2, 24, 1, 1, 1);
	check_all(&norm_batch, 3, 24, 1, 8, 16);
	check_all(&norm_batch, 33, 8, 1, 2, 1);
}

static void no_norm(void **state)
{
	check_all(&norm_plain, 2, 16, 1, 4, 5);
	check_all(&norm_plain, 3, 21, 1, 3, 3);
}

static const struct norm_type *const scaling[] = {&norm_group, &norm_batch};

/* Means far from zero: E[x^2] - E[x]^2 in floats would leave nothing of these variances. */
static void large_means(void **state)
{
	static const float levels[] = {1000, -1000, 1e5f};

	for (size_t i = 0; i < COUNT(levels); i++)
		for (size_t k = 0; k < COUNT(scaling); k++)
			for (int second = 0; second < 2; second++) {
				check((struct norm_case){scaling[k], 3, 24, 12, 9, 11, false, false,
					second, levels[i], 1});
				check((struct norm_case){scaling[k], 2, 20, 10, 16, 16, false,
					false, second, levels[i], levels[i] / 1000});
			}
}

/* Constant input: nothing to divide by but epsilon. */
static void constant_input(void **state)
{
	for (size_t k = 0; k < COUNT(scaling); k++)
		check((struct norm_case){
			scaling[k], 2, 16, 8, 3, 3, false, false, false, 7, 1e-20f});
}

static void folding(void **state)
{
	const float scale[] = {1, 2, -0.5f}, shift[] = {0, 1, 3}, mean[] = {0, -2, 10};
	const float variance[] = {1, 0.25f, 0};
	float a[3], b[3];

	norm_fold(scale, shift, mean, variance, 3, a, b);
	for (int i = 0; i < 3; i++) {
		const double want = scale[i] / sqrt(variance[i] + 1e-5);
		assert_true(fabs(a[i] - want) <= 1e-6 * fabs(want));
		assert_true(fabs(b[i] - (shift[i] - mean[i] * want)) <=
			    1e-6 * (3 + fabs(mean[i] * want)));
	}
}

static int start_teams(void **state)
{
	struct err err;
	int code = 0;

	for (int i = 0; i < THREADS && !code; i++)
		code = team_new(teams + i, i + 1, &err);
	return code;
}

static int end_teams(void **state)
{
	for (int i = 0; i < THREADS; i++)
		team_free(teams[i]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(group_norm),
		cmocka_unit_test(batch_norm),
		cmocka_unit_test(no_norm),
		cmocka_unit_test(large_means),
		cmocka_unit_test(constant_input),
		cmocka_unit_test(folding),
	};

	return cmocka_run_group_tests(tests, start_teams, end_teams);
}
