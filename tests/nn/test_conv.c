/*
 * Convolutions and their gradients against the definition, for every kernel
 * table and algorithm, and with the same bits for one, two and three threads.
 * Scratch and outputs start as NaN and are guarded, so that a number read before
 * it was written or written past the end does not go unnoticed.
 */
#include "check.h"
#include "conv_reference.h"
#include "nn/own/conv/conv.h"
#include "nn/own/onednn.h"

enum { THREADS = 3 };

static struct team *teams[THREADS];

/*
 * Errors are allowed relative to the sum of absolute products. Winograd mixes the numbers of a
 * tile, so its errors are measured against the largest of these sums.
 */
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

static struct conv conv_of(const struct conv_case *c, const struct conv_reference *r,
	const struct kernels *k, struct team *team)
{
	struct conv conv = {.kernels = k,
		.team = team,
		.standardize = c->flags & STANDARDIZED,
		.has_bias = c->flags & BIAS,
		.train = !(c->flags & INFER),
		.input_grad = !(c->flags & INFER) && !(c->flags & PLANAR),
		.fused = c->flags & (BIAS | ADD | RELU)};

	conv.shape = (struct conv_shape){c->n, c->in, c->out, c->height, c->width, c->size,
		c->stride, c->pad, r->out_height, r->out_width, c->flags & PLANAR};
	conv.in = c->flags & PLANAR ? tensor_planar(c->n, c->in, c->height, c->width, c->pad)
				    : tensor_blocked(c->n, c->in, c->height, c->width, k->block);
	conv.out = tensor_blocked(c->n, c->out, r->out_height, r->out_width, k->block);
	return conv;
}

static void plan_case(
	struct conv *conv, const struct conv_algorithm *algorithm, struct arena *arena)
{
	struct err err;

	assert_ok(conv_plan(conv, algorithm, arena, &err), err);
	assert_string_equal(conv->algorithm->name, algorithm->name);
	/* A line between the workers that must stay as it was. */
	conv->worker_stride = (conv->worker_floats + 15) / 16 * 16 + 16;
	conv->shared = guarded_new(conv->shared_floats);
	conv->worker = guarded_new(conv->worker_stride * team_size(conv->team));
}

static void run_case(const struct conv_case *c, const struct conv_reference *r,
	const struct kernels *k, struct team *team, const struct conv_algorithm *algorithm,
	struct outcome *outcome)
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
	conv_bind(&conv, r->w, c->flags & FOLD ? r->fold : NULL, r->bias);
	conv_forward(&conv, data.in, data.out, c->flags & ADD ? data.add : NULL, c->flags & RELU);
	tensor_get(&conv.out, k->block, data.out, outcome->y);
	if (!(c->flags & INFER))
		run_backward(&conv, r, &data, outcome);
	for (int i = 0; i < team_size(team); i++)
		if (!guarded_untouched(conv.worker + i * conv.worker_stride + conv.worker_floats,
			    conv.worker_stride - conv.worker_floats))
			fail_msg("worker %d wrote past the %zu floats it asked for", i,
				conv.worker_floats);
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
	*o = (struct outcome){
		guarded_new(r->y_count), guarded_new(r->x_count), guarded_new(r->w_count)};
}

static void outcome_release(struct outcome *o)
{
	guarded_free(o->y);
	guarded_free(o->dx);
	guarded_free(o->dw);
}

static double error_of(
	const float *got, const double *want, const double *size, size_t count, bool mixes)
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

static void compare(const struct conv_case *c, const struct conv_reference *r,
	const struct outcome *o, const struct kernels *k, size_t row)
{
	const bool mixes = algorithms[row].mixes;
	const double y = error_of(o->y, r->y, r->y_size, r->y_count, mixes);
	const double dx = c->flags & INFER || c->flags & PLANAR
				  ? 0
				  : error_of(o->dx, r->dx, r->dx_size, r->x_count, mixes);
	const double dw =
		c->flags & INFER ? 0 : error_of(o->dw, r->dw, r->dw_size, r->w_count, mixes);
	char text[256];

	if (y > algorithms[row].tolerance || dx > algorithms[row].tolerance ||
		dw > algorithms[row].tolerance)
		fail_msg("%s, %s, %s: forward off by %.1e, input gradient by %.1e, weight gradient "
			 "by %.1e",
			k->isa, algorithms[row].algorithm->name,
			conv_case_text(c, text, sizeof(text)), y, dx, dw);
}

static void compare_threads(const struct conv_case *c, const struct conv_reference *r,
	const struct kernels *k, const struct conv_algorithm *algorithm, const struct outcome *one,
	int threads)
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
	static const int channels[][2] = {
		{5, 13}, {8, 16}, {17, 24}, {13, 8}, {16, 33}, {24, 5}, {33, 17}};
	static const int images[][2] = {{7, 9}, {8, 7}, {11, 8}, {9, 13}};
	int round = 0;

	for (int size = 1; size <= 7; size += 2)
		for (int stride = 1; stride <= 3; stride++)
			for (int pad = 0; pad < size; pad++)
				for (int image = 0; image < 2; image++, round++) {
					const int *to = channels[round % 7];
					const int *side = images[round % 4];
					check((struct conv_case){round % 5 ? 1 : 3, to[0], to[1],
						side[0], side[1], size, stride, pad,
						round % 3 == 1 ? STANDARDIZED : 0});
				}
}

static void channel_counts(void **state)
{
	static const int counts[] = {1, 3, 5, 8, 13, 16, 17, 24, 33, 40};
	int round = 0;

	for (size_t i = 0; i < COUNT(counts); i++)
		for (size_t o = 0; o < COUNT(counts); o++, round++) {
			const int in = counts[i], out = counts[o], n = 1 + round % 2;
			/* A filter of one weight has nothing to standardize. */
			const bool standardize = in > 1 && round % 3 == 0;
			check((struct conv_case){
				n, in, out, 5, 4, 3, 1, 1, round % 2 ? STANDARDIZED : 0});
			check((struct conv_case){
				n, in, out, 5, 4, 1, 1, 0, standardize ? STANDARDIZED : 0});
		}
}

/* The first layer of a net: few planes, padded beforehand. */
static void planar_inputs(void **state)
{
	static const int outs[] = {5, 16, 24, 33, 64};
	static const unsigned flags[] = {BIAS, RELU, STANDARDIZED, INFER, STANDARDIZED | RELU, 0};
	int round = 0;

	for (int in = 1; in <= 4; in++)
		for (int size = 1; size <= 7; size += 2)
			for (int stride = 1; stride <= 3; stride++, round++) {
				const unsigned wanted = in * size > 1 ? flags[round % 6] : 0;
				check((struct conv_case){1 + round % 3, in, outs[round % 5],
					9 + round % 4, 8 + round % 7, size, stride,
					round % 2 ? size / 2 : size - 1, PLANAR | wanted});
			}
}

static void bias_residual_and_relu(void **state)
{
	static const unsigned bits[] = {BIAS, ADD, RELU, FOLD, STANDARDIZED};

	for (int i = 0; i < 32; i++) {
		const int n = 1 + i % 3, out = 16 + i % 9;
		unsigned flags = INFER;
		for (size_t k = 0; k < COUNT(bits); k++)
			flags |= i >> k & 1 ? bits[k] : 0;
		check((struct conv_case){n, 17, out, 6, 7, 3, 1, 1, flags});
		check((struct conv_case){n, 17, out, 6, 7, 3, 2, 1, flags});
		check((struct conv_case){n, 17, out, 6, 7, 1, 1 + i % 2, 0, flags});
	}
}

/* Every remainder of a tile, every padding. */
static void winograd_tiles(void **state)
{
	for (int height = 3; height <= 13; height++)
		for (int width = 3; width <= 13; width++)
			check((struct conv_case){1 + (height + width) % 2, 16 + height % 2, 17,
				height, width, 3, 1, (height + width) % 3, 0});
	for (int pad = 0; pad <= 2; pad++)
		for (int side = 3; side <= 13; side++)
			check((struct conv_case){1, 16, 18, side, 16 - side, 3, 1, pad,
				side % 2 ? STANDARDIZED : 0});
	/* Images smaller than a filter. */
	for (int pad = 1; pad <= 2; pad++)
		for (int height = 1; height <= 2; height++)
			for (int width = 1; width <= 2; width++)
				check((struct conv_case){2, 16, 16, height, width, 3, 1, pad, 0});
}

/* Images whose channel blocks would lie a multiple of 4 KiB apart get a gap, which nobody may
 * read. */
static void images_with_a_gap(void **state)
{
	static const int sides[][2] = {{8, 8}, {8, 16}, {16, 16}};

	for (size_t i = 0; i < COUNT(sides); i++)
		for (int size = 1; size <= 3; size += 2)
			for (int stride = 1; stride <= 2; stride++)
				check((struct conv_case){2, 18, 34, sides[i][0], sides[i][1], size,
					stride, size / 2, 0});
}

/* Enough of something that work is cut: rows, pixels of a row, channels, images, tiles. */
static void large_shapes(void **state)
{
	static const struct conv_case cases[] = {
		{1, 3, 17, 40, 45, 3, 1, 1, 0},
		{2, 18, 16, 37, 31, 3, 2, 1, 0},
		{1, 5, 9, 3, 230, 3, 1, 1, 0},
		{1, 300, 20, 4, 5, 1, 1, 0, 0},
		{1, 20, 300, 5, 4, 1, 2, 0, 0},
		{3, 20, 140, 17, 19, 1, 1, 0, 0},
		{4, 24, 40, 6, 5, 3, 2, 1, 0},
		{9, 40, 16, 6, 7, 3, 1, 1, 0},
		{17, 16, 32, 4, 5, 1, 2, 0, 0},
		{64, 32, 16, 3, 3, 1, 1, 0, 0},
		{300, 20, 12, 1, 1, 1, 1, 0, 0},
		{1, 34, 20, 1, 700, 1, 1, 0, BIAS},
		{1, 16, 16, 57, 56, 3, 1, 1, 0},
		{1, 280, 88, 5, 6, 3, 1, 1, STANDARDIZED},
		{2, 170, 150, 5, 5, 3, 1, 1, 0},
		{1, 3, 20, 61, 40, 7, 2, 3, PLANAR | STANDARDIZED},
		{1, 3, 8, 3, 540, 3, 1, 1, PLANAR},
	};

	for (size_t i = 0; i < COUNT(cases); i++)
		check(cases[i]);
}

/* Images of one line or one column, longer than a task. */
static void thin_images(void **state)
{
	for (int stride = 1; stride <= 3; stride++)
		for (int size = 1; size <= 5; size += 2)
			for (int pad = size / 2; pad < size; pad++) {
				check((struct conv_case){1, 9, 18, 1, 210, size, stride, pad, 0});
				check((struct conv_case){1, 9, 18, 210, 1, size, stride, pad, 0});
			}
}

/* Strides that leave out whole lines, and images smaller than a stride. */
static void tiny_images(void **state)
{
	for (int height = 1; height <= 3; height++)
		for (int width = 1; width <= 3; width++)
			for (int stride = 1; stride <= 4; stride++)
				for (int size = 1; size <= 7; size += 2)
					check((struct conv_case){2, 9, 17, height, width, size,
						stride, size / 2, 0});
	check((struct conv_case){1, 9, 17, 11, 13, 3, 4, 1, 0});
	check((struct conv_case){1, 9, 17, 11, 13, 3, 5, 0, 0});
}

/* The transforms' errors grow with the number of channels, but not far. */
static void winograd_like_direct(void **state)
{
	const struct conv_case c = {5, 96, 256, 28, 27, 3, 1, 1, 0};
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
			fail_msg("%s: winograd is %.1e, %.1e, %.1e away from direct",
				kernels_at(i)->isa, y, dx, dw);
		outcome_release(&direct), outcome_release(&winograd);
	}
	guarded_free(r.x), guarded_free(r.w), guarded_free(r.dy), guarded_free(r.add);
}

static void choice_by_shape(void **state)
{
	/* No plane of any block is a multiple of 4 KiB, which would leave a gap behind it. */
	enum { SIDE = 10 };
	static const struct {
		const char *policy;
		int in, out, size, stride, pad;
		const char *name;
	} rows[] = {
		{"auto", 64, 64, 3, 1, 1, "winograd"},
		{"auto", 64, 64, 3, 2, 1, "direct"},
		{"auto", 64, 64, 1, 1, 0, "onednn"},
		{"auto", 60, 64, 1, 1, 0, "direct"},
		{"auto", 8, 64, 3, 1, 1, "direct"},
		{"own", 64, 64, 3, 1, 1, "winograd"},
		{"own", 64, 64, 1, 1, 0, "direct"},
		{"direct", 64, 64, 3, 1, 1, "direct"},
		{"onednn", 64, 64, 3, 1, 1, "onednn"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct kernels *k = kernels_at(0);
		struct arena arena = {0};
		struct err err;

		if (!strcmp(rows[i].name, "onednn") && onednn_speed(k->block) != ONEDNN_FAST)
			continue;
		struct conv conv = {.kernels = k,
			.team = teams[0],
			.shape = {1, rows[i].in, rows[i].out, SIDE, SIDE, rows[i].size,
				rows[i].stride, rows[i].pad, SIDE / rows[i].stride,
				SIDE / rows[i].stride, false},
			.in = tensor_blocked(1, rows[i].in, SIDE, SIDE, k->block),
			.out = tensor_blocked(1, rows[i].out, SIDE / rows[i].stride,
				SIDE / rows[i].stride, k->block)};
		const struct conv_algorithm *preferred = &conv_direct;
		assert_int_equal(conv_policy_find(rows[i].policy, &preferred), 0);
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
		cmocka_unit_test(choice_by_shape),
	};

	return cmocka_run_group_tests(tests, start_teams, end_teams);
}
