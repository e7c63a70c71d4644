/*
 * Convolutions and their gradients against the definition, for every kernel
 * table and algorithm, and with the same bits for one, two and three threads.
 * Scratch and outputs start as NaN and are guarded, so that a number read before
 * it was written or written past the end does not go unnoticed.
 */
#include "check.h"
#include "conv_reference.h"
#include "nn/conv.h"

enum { THREADS = 3 };

static struct team *teams[THREADS];

/* Errors are allowed relative to the sum of absolute products; Winograd mixes the numbers of a tile,
 * so its errors are measured against the largest of these sums. */
static const struct {
	const struct conv_algorithm *algorithm;
	double tolerance;
	bool mixes;
} algorithms[] = {
	{&conv_direct, 2e-6, false},
	{&conv_winograd, 5e-6, true},
	{&conv_onednn, 2e-6, false},
};

/* What came out, plain. */
struct outcome {
	float *y, *dx, *dw;
};

struct rows {
	float *in, *out, *out_grad, *add, *in_grad;
};

static void run_backward(struct conv *conv, const struct conv_reference *r, struct rows *data,
	struct outcome *outcome)
{
	const int block = conv->kernels->block;

	data->out_grad = guarded_new(conv->out.floats);
	data->in_grad = guarded_new(conv->in.floats);
	tensor_put(&conv->out, block, r->dy, data->out_grad);
	conv_backward_weights(conv, r->w, data->in, data->out_grad, outcome->dw);
	if (conv->input_grad) {
		conv_backward_input(conv, data->out_grad, data->in_grad);
		tensor_get(&conv->in, block, data->in_grad, outcome->dx);
	}
	guarded_free(data->out_grad);
	guarded_free(data->in_grad);
}

static struct conv conv_of(const struct conv_case *c, const struct conv_reference *r, const struct kernels *k,
	struct team *team)
{
	struct conv conv = {.kernels = k, .team = team, .standardize = c->standardize, .has_bias = c->bias,
		.train = !c->infer, .input_grad = !c->infer && !c->planar, .fused = c->bias || c->add || c->relu};

	conv.shape = (struct conv_shape){c->n, c->in, c->out, c->height, c->width, c->size, c->stride, c->pad,
		r->out_height, r->out_width, c->planar};
	conv.in = c->planar ? tensor_planar(c->n, c->in, c->height, c->width, c->pad)
			    : tensor_blocked(c->n, c->in, c->height, c->width, k->block);
	conv.out = tensor_blocked(c->n, c->out, r->out_height, r->out_width, k->block);
	return conv;
}

static void plan_case(struct conv *conv, const struct conv_algorithm *algorithm, struct arena *arena)
{
	struct err err;

	assert_ok(conv_plan(conv, algorithm, arena, &err), err);
	assert_string_equal(conv->algorithm->name, algorithm->name);
	/* A line between the workers that must stay as it was. */
	conv->worker_stride = (conv->worker_floats + 15) / 16 * 16 + 16;
	conv->shared = guarded_new(conv->shared_floats);
	conv->worker = guarded_new(conv->worker_stride * team_size(conv->team));
}

static void run_case(const struct conv_case *c, const struct conv_reference *r, const struct kernels *k,
	struct team *team, const struct conv_algorithm *algorithm, struct outcome *outcome)
{
	struct arena arena = {0};
	struct conv conv = conv_of(c, r, k, team);
	struct rows data;

	plan_case(&conv, algorithm, &arena);
	data.in = guarded_new(conv.in.floats);
	data.out = guarded_new(conv.out.floats);
	data.add = guarded_new(conv.out.floats);
	tensor_put(&conv.in, k->block, r->x, data.in);
	tensor_put(&conv.out, k->block, r->add, data.add);
	conv_bind(&conv, r->w, c->fold ? r->fold : NULL, r->bias);
	conv_forward(&conv, data.in, data.out, c->add ? data.add : NULL, c->relu);
	tensor_get(&conv.out, k->block, data.out, outcome->y);
	if (!c->infer)
		run_backward(&conv, r, &data, outcome);
	for (int i = 0; i < team_size(team); i++)
		if (!guarded_untouched(conv.worker + i * conv.worker_stride + conv.worker_floats,
			    conv.worker_stride - conv.worker_floats))
			fail_msg("worker %d wrote past the %zu floats it asked for", i, conv.worker_floats);
	guarded_free(data.in);
	guarded_free(data.out);
	guarded_free(data.add);
	guarded_free(conv.shared);
	guarded_free(conv.worker);
	conv_release(&conv);
	arena_release(&arena);
}

static void outcome_init(struct outcome *o, const struct conv_reference *r)
{
	*o = (struct outcome){guarded_new(r->y_count), guarded_new(r->x_count), guarded_new(r->w_count)};
}

static void outcome_release(struct outcome *o)
{
	guarded_free(o->y);
	guarded_free(o->dx);
	guarded_free(o->dw);
}

static double error_of(const float *got, const double *want, const double *size, size_t count, bool mixes)
{
	double largest = 0;

	for (size_t i = 0; mixes && i < count; i++)
		largest = fmax(largest, size[i]);
	if (!mixes)
		return worst(got, want, size, count);
	double most = 0;
	for (size_t i = 0; i < count; i++)
		most = isnan(got[i]) ? INFINITY : fmax(most, fabs(got[i] - want[i]) / largest);
	return most;
}

static void compare(const struct conv_case *c, const struct conv_reference *r, const struct outcome *o,
	const struct kernels *k, size_t row)
{
	const bool mixes = algorithms[row].mixes;
	const double y = error_of(o->y, r->y, r->y_size, r->y_count, mixes);
	const double dx = c->infer || c->planar ? 0 : error_of(o->dx, r->dx, r->dx_size, r->x_count, mixes);
	const double dw = c->infer ? 0 : error_of(o->dw, r->dw, r->dw_size, r->w_count, mixes);
	char text[256];

	if (y > algorithms[row].tolerance || dx > algorithms[row].tolerance || dw > algorithms[row].tolerance)
		fail_msg("%s, %s, %s: forward off by %.1e, input gradient by %.1e, weight gradient by %.1e", k->isa,
			algorithms[row].algorithm->name, conv_case_text(c, text, sizeof(text)), y, dx, dw);
}

static void compare_threads(const struct conv_case *c, const struct conv_reference *r,
	const struct kernels *k, const struct conv_algorithm *algorithm, const struct outcome *one, int threads)
{
	struct outcome many;
	char text[256];

	outcome_init(&many, r);
	run_case(c, r, k, teams[threads - 1], algorithm, &many);
	if (!same_bits(one->y, many.y, r->y_count) || !same_bits(one->dx, many.dx, r->x_count) ||
		!same_bits(one->dw, many.dw, r->w_count))
		fail_msg("%s, %s, %s: %d threads give other bits than one", k->isa, algorithm->name,
			conv_case_text(c, text, sizeof(text)), threads);
	outcome_release(&many);
}

/* Every table, every algorithm that fits, every thread count. */
static void check(struct conv_case c)
{
	struct conv_reference r;

	conv_reference_init(&r, &c);
	assert_true(r.y_count > 0);
	for (int i = 0; kernels_at(i); i++) {
		for (size_t row = 0; row < COUNT(algorithms); row++) {
			const struct conv_algorithm *algorithm = algorithms[row].algorithm;
			const struct conv conv = conv_of(&c, &r, kernels_at(i), teams[0]);
			struct outcome one;
			if (!algorithm->fits(&conv))
				continue;
			outcome_init(&one, &r);
			run_case(&c, &r, kernels_at(i), teams[0], algorithm, &one);
			compare(&c, &r, &one, kernels_at(i), row);
			for (int t = 2; t <= THREADS; t++)
				compare_threads(&c, &r, kernels_at(i), algorithm, &one, t);
			outcome_release(&one);
		}
	}
	conv_reference_release(&r);
}

static void sizes_strides_and_pads(void **state)
{
	static const int channels[][2] = {{5, 13}, {8, 16}, {17, 24}, {13, 8}, {16, 33}, {24, 5}, {33, 17}};
	static const int images[][2] = {{7, 9}, {8, 7}, {11, 8}, {9, 13}};
	int round = 0;

	for (int size = 1; size <= 7; size += 2)
		for (int stride = 1; stride <= 3; stride++)
			for (int pad = 0; pad < size; pad++)
				for (int image = 0; image < 2; image++, round++) {
					const int *to = channels[round % 7], *side = images[round % 4];
					check((struct conv_case){.n = round % 5 ? 1 : 3, .in = to[0], .out = to[1],
						.height = side[0], .width = side[1], .size = size, .stride = stride,
						.pad = pad, .standardize = round % 3 == 1});
				}
}

static void channel_counts(void **state)
{
	static const int counts[] = {1, 3, 5, 8, 13, 16, 17, 24, 33, 40};
	int round = 0;

	for (size_t i = 0; i < COUNT(counts); i++)
		for (size_t o = 0; o < COUNT(counts); o++, round++) {
			struct conv_case c = {.n = 1 + round % 2, .in = counts[i], .out = counts[o], .height = 5,
				.width = 4, .size = 3, .stride = 1, .pad = 1, .standardize = round % 2};
			check(c);
			c.size = 1;
			c.pad = 0;
			c.standardize = counts[i] > 1 && round % 3 == 0;
			check(c);
		}
}

/* The first layer of a net: few planes, padded beforehand. */
static void planar_inputs(void **state)
{
	int round = 0;

	for (int in = 1; in <= 4; in++)
		for (int size = 1; size <= 7; size += 2)
			for (int stride = 1; stride <= 3; stride++, round++) {
				const int outs[] = {5, 16, 24, 33, 64};
				check((struct conv_case){.n = 1 + round % 3, .in = in, .out = outs[round % 5],
					.height = 9 + round % 4, .width = 8 + round % 7, .size = size,
					.stride = stride, .pad = round % 2 ? size / 2 : size - 1, .planar = true,
					.standardize = size > 1 && round % 3 == 0, .bias = round % 4 == 0,
					.relu = round % 4 == 1, .infer = round % 6 == 5});
			}
}

static void bias_residual_and_relu(void **state)
{
	for (int bits = 0; bits < 32; bits++) {
		struct conv_case c = {.n = 1 + bits % 3, .in = 17, .out = 16 + bits % 9, .height = 6, .width = 7,
			.size = 3, .stride = 1, .pad = 1, .bias = bits & 1, .add = bits & 2, .relu = bits & 4,
			.fold = bits & 8, .standardize = bits & 16, .infer = true};
		check(c);
		c.stride = 2;
		check(c);
		c.size = 1;
		c.stride = 1 + bits % 2;
		c.pad = 0;
		check(c);
	}
}

/* Every remainder of a tile, every padding. */
static void winograd_tiles(void **state)
{
	for (int height = 3; height <= 13; height++)
		for (int width = 3; width <= 13; width++)
			check((struct conv_case){.n = 1 + (height + width) % 2, .in = 16 + height % 2, .out = 17,
				.height = height, .width = width, .size = 3, .stride = 1, .pad = (height + width) % 3});
	for (int pad = 0; pad <= 2; pad++)
		for (int side = 3; side <= 13; side++)
			check((struct conv_case){.n = 1, .in = 16, .out = 18, .height = side, .width = 16 - side,
				.size = 3, .stride = 1, .pad = pad, .standardize = side % 2});
	/* Images smaller than a filter. */
	for (int pad = 1; pad <= 2; pad++)
		for (int height = 1; height <= 2; height++)
			for (int width = 1; width <= 2; width++)
				check((struct conv_case){.n = 2, .in = 16, .out = 16, .height = height, .width = width,
					.size = 3, .stride = 1, .pad = pad});
}

/* Images whose channel blocks would lie a multiple of 4 KiB apart get a gap, which nobody may read. */
static void images_with_a_gap(void **state)
{
	static const int sides[][2] = {{8, 8}, {8, 16}, {16, 16}};

	for (size_t i = 0; i < COUNT(sides); i++)
		for (int size = 1; size <= 3; size += 2)
			for (int stride = 1; stride <= 2; stride++)
				check((struct conv_case){.n = 2, .in = 18, .out = 34, .height = sides[i][0],
					.width = sides[i][1], .size = size, .stride = stride, .pad = size / 2});
}

/* Enough of something that work is cut: bands of rows, pieces of a row, blocks of channels, tiles. */
static void large_shapes(void **state)
{
	static const struct conv_case cases[] = {
		{.n = 1, .in = 3, .out = 17, .height = 40, .width = 45, .size = 3, .stride = 1, .pad = 1},
		{.n = 2, .in = 18, .out = 16, .height = 37, .width = 31, .size = 3, .stride = 2, .pad = 1},
		{.n = 1, .in = 5, .out = 9, .height = 3, .width = 230, .size = 3, .stride = 1, .pad = 1},
		{.n = 1, .in = 300, .out = 20, .height = 4, .width = 5, .size = 1, .stride = 1},
		{.n = 1, .in = 20, .out = 300, .height = 5, .width = 4, .size = 1, .stride = 2},
		{.n = 3, .in = 20, .out = 140, .height = 17, .width = 19, .size = 1, .stride = 1},
		{.n = 4, .in = 24, .out = 40, .height = 6, .width = 5, .size = 3, .stride = 2, .pad = 1},
		{.n = 9, .in = 40, .out = 16, .height = 6, .width = 7, .size = 3, .stride = 1, .pad = 1},
		{.n = 17, .in = 16, .out = 32, .height = 4, .width = 5, .size = 1, .stride = 2},
		{.n = 64, .in = 32, .out = 16, .height = 3, .width = 3, .size = 1, .stride = 1},
		{.n = 300, .in = 20, .out = 12, .height = 1, .width = 1, .size = 1, .stride = 1},
		{.n = 1, .in = 34, .out = 20, .height = 1, .width = 700, .size = 1, .stride = 1, .bias = true},
		{.n = 1, .in = 16, .out = 16, .height = 57, .width = 56, .size = 3, .stride = 1, .pad = 1},
		{.n = 1, .in = 280, .out = 88, .height = 5, .width = 6, .size = 3, .stride = 1, .pad = 1,
			.standardize = true},
		{.n = 2, .in = 170, .out = 150, .height = 5, .width = 5, .size = 3, .stride = 1, .pad = 1},
		{.n = 1, .in = 3, .out = 20, .height = 61, .width = 40, .size = 7, .stride = 2, .pad = 3,
			.planar = true, .standardize = true},
		{.n = 1, .in = 3, .out = 8, .height = 3, .width = 540, .size = 3, .stride = 1, .pad = 1,
			.planar = true},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		check(cases[i]);
}

/* Images of one line or one column, longer than a task; strides that leave out whole lines. */
static void thin_images(void **state)
{
	for (int stride = 1; stride <= 3; stride++)
		for (int size = 1; size <= 5; size += 2)
			for (int pad = size / 2; pad < size; pad++) {
				struct conv_case c = {.n = 1, .in = 9, .out = 18, .height = 1, .width = 210,
					.size = size, .stride = stride, .pad = pad};
				check(c);
				c.height = 210;
				c.width = 1;
				check(c);
			}
}

static void tiny_images(void **state)
{
	for (int height = 1; height <= 3; height++)
		for (int width = 1; width <= 3; width++)
			for (int stride = 1; stride <= 3; stride++)
				for (int size = 1; size <= 7; size += 2)
					check((struct conv_case){.n = 2, .in = 9, .out = 17, .height = height,
						.width = width, .size = size, .stride = stride, .pad = size / 2});
}

/* The transforms' errors grow with the number of channels; still they must agree with the direct sums. */
static void winograd_like_direct(void **state)
{
	const struct conv_case c = {.n = 5, .in = 96, .out = 256, .height = 28, .width = 27, .size = 3,
		.stride = 1, .pad = 1};
	struct conv_reference r = {.out_height = 28, .out_width = 27};
	struct outcome direct, winograd;

	r.x_count = (size_t)c.n * c.in * c.height * c.width;
	r.y_count = (size_t)c.n * c.out * c.height * c.width;
	r.w_count = (size_t)c.in * c.out * 9;
	r.x = guarded_new(r.x_count), r.w = guarded_new(r.w_count), r.dy = guarded_new(r.y_count);
	r.add = guarded_new(r.y_count);
	fill(r.x, r.x_count, 7), fill(r.w, r.w_count, 8), fill(r.dy, r.y_count, 9);
	for (int i = 0; kernels_at(i); i++) {
		outcome_init(&direct, &r), outcome_init(&winograd, &r);
		run_case(&c, &r, kernels_at(i), teams[1], &conv_direct, &direct);
		run_case(&c, &r, kernels_at(i), teams[1], &conv_winograd, &winograd);
		const double y = distance(winograd.y, direct.y, r.y_count);
		const double dx = distance(winograd.dx, direct.dx, r.x_count);
		const double dw = distance(winograd.dw, direct.dw, r.w_count);
		if (y > 5e-6 || dx > 5e-6 || dw > 5e-6)
			fail_msg("%s: winograd is %.1e, %.1e, %.1e away from direct", kernels_at(i)->isa, y, dx, dw);
		outcome_release(&direct), outcome_release(&winograd);
	}
	guarded_free(r.x), guarded_free(r.w), guarded_free(r.dy), guarded_free(r.add);
}

static void auto_takes_winograd_where_it_fits(void **state)
{
	static const struct {
		int in, out, size, stride, pad;
		const char *name;
	} rows[] = {
		{64, 64, 3, 1, 1, "winograd"},
		{64, 64, 3, 2, 1, "direct"},
		{64, 64, 1, 1, 0, "direct"},
		{8, 64, 3, 1, 1, "direct"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct kernels *k = kernels_at(0);
		struct arena arena = {0};
		struct err err;
		struct conv conv = {.kernels = k, .team = teams[0],
			.shape = {1, rows[i].in, rows[i].out, 8, 8, rows[i].size, rows[i].stride, rows[i].pad,
				8 / rows[i].stride, 8 / rows[i].stride, false},
			.in = tensor_blocked(1, rows[i].in, 8, 8, k->block),
			.out = tensor_blocked(1, rows[i].out, 8 / rows[i].stride, 8 / rows[i].stride, k->block)};
		const struct conv_algorithm *preferred = &conv_direct;
		assert_int_equal(conv_policy_find("auto", &preferred), 0);
		assert_ok(conv_plan(&conv, preferred, &arena, &err), err);
		assert_string_equal(conv.algorithm->name, rows[i].name);
		conv_release(&conv);
		arena_release(&arena);
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
		cmocka_unit_test(sizes_strides_and_pads),
		cmocka_unit_test(channel_counts),
		cmocka_unit_test(planar_inputs),
		cmocka_unit_test(bias_residual_and_relu),
		cmocka_unit_test(winograd_tiles),
		cmocka_unit_test(images_with_a_gap),
		cmocka_unit_test(large_shapes),
		cmocka_unit_test(thin_images),
		cmocka_unit_test(tiny_images),
		cmocka_unit_test(winograd_like_direct),
		cmocka_unit_test(auto_takes_winograd_where_it_fits),
	};

	return cmocka_run_group_tests(tests, start_teams, end_teams);
}
