/*
 * Dense nets: the three products, those that pass over zeros, and the sums on every
 * kernel table, the loss of a panel, and nets wide and batches long enough to be
 * cut, against the path that other nets take.
 */
#include "check.h"
#include "policies.h"

/* A product's operands: a[step][row] and b[step][2 B] as the job addresses them. */
struct product {
	struct dense_job job;
	int steps, wide;
	float *a, *b, *out, *before, *extra;
	size_t a_floats, b_floats, out_floats, extra_floats;
};

static size_t a_at(const struct product *p, int step, int row)
{
	switch (p->job.kind) {
	case DENSE_FORWARD:
		return row * p->job.a_row + step;
	case DENSE_BACKWARD:
		return step * p->job.a_step + row;
	default:
		return step / p->wide * p->job.a_run + (size_t)row * p->wide + step % p->wide;
	}
}

static size_t out_at(const struct product *p, int row)
{
	return (size_t)row * (p->job.kind == DENSE_WEIGHTS ? p->job.out_row : (size_t)p->wide);
}

/* Vectors of b and out that the job does not count are NaN: reading them would show. */
static void open_product(struct product *p, const struct kernels *k)
{
	struct dense_job *job = &p->job;
	const int counted = job->cols <= k->block ? k->block : p->wide;

	p->wide = 2 * k->block;
	job->runs = job->kind == DENSE_WEIGHTS ? (p->steps + p->wide - 1) / p->wide : 1;
	job->depth = p->steps - (job->runs - 1) * p->wide;
	job->a_row = p->steps + 3, job->a_step = job->rows + 2, job->out_row = job->cols + 1;
	job->a_run = (size_t)(job->rows + 1) * p->wide, job->b_run = (size_t)p->wide * p->wide;
	p->a_floats = a_at(p, p->steps - 1, job->rows - 1) + 1;
	p->b_floats = (size_t)p->steps * p->wide;
	p->out_floats =
		job->kind == DENSE_WEIGHTS ? job->rows * job->out_row : (size_t)job->rows * p->wide;
	p->extra_floats = job->kind == DENSE_FORWARD ? (size_t)job->rows : p->out_floats;
	p->a = guarded_new(p->a_floats), p->b = guarded_new(p->b_floats);
	p->out = guarded_new(p->out_floats), p->extra = guarded_new(p->extra_floats);
	fill(p->a, p->a_floats, 1), fill(p->b, p->b_floats, 2), fill(p->extra, p->extra_floats, 3);
	for (size_t i = 0; i < p->b_floats; i++)
		if (i % p->wide >= (size_t)counted)
			p->b[i] = NAN;
	if (job->accumulate)
		fill(p->out, p->out_floats, 4);
	p->before = guarded_copy(p->out, p->out_floats);
}

static void close_product(struct product *p)
{
	guarded_free(p->a), guarded_free(p->b), guarded_free(p->out), guarded_free(p->before);
	guarded_free(p->extra);
}

static double wanted(const struct product *p, int row, int col, bool extra)
{
	const size_t at = out_at(p, row) + col;
	double sum = p->job.accumulate ? p->before[at] : 0;

	for (int s = 0; s < p->steps; s++)
		sum += (double)p->a[a_at(p, s, row)] * p->b[(size_t)s * p->wide + col];
	if (extra && p->job.kind == DENSE_FORWARD)
		sum += p->extra[row];
	if (extra && p->job.kind == DENSE_BACKWARD && !(p->extra[at] > 0))
		sum = 0;
	return p->job.kind == DENSE_FORWARD && p->job.relu && sum < 0 ? 0 : sum;
}

static void check_product(const struct kernels *k, struct dense_job job, int steps, bool extra)
{
	struct product p = {.job = job, .steps = steps, .wide = 2 * k->block};

	open_product(&p, k);
	k->dense(&p.job, p.a, p.b, p.out, extra ? p.extra : NULL);
	for (int r = 0; r < job.rows; r++)
		for (int c = 0; c < job.cols; c++) {
			const double want = wanted(&p, r, c, extra), got = p.out[out_at(&p, r) + c];
			if (!(fabs(got - want) <= 1e-6 * (1 + steps)))
				fail_msg("%s, product %d of %d rows, %d columns, %d steps: "
					 "[%d][%d] is %g, "
					 "should be %g",
					k->isa, job.kind, job.rows, job.cols, steps, r, c, got,
					want);
		}
	if (job.kind == DENSE_WEIGHTS)
		for (int r = 0; r < job.rows; r++) {
			const size_t gap = out_at(&p, r) + job.cols;
			assert_true(same_bits(p.out + gap, p.before + gap, 1));
		}
	close_product(&p);
}

static void products(void **state)
{
	static const int depths[] = {1, 2, 5, 16, 31, 32, 33, 70};

	for (int i = 0; kernels_at(i); i++)
		for (int kind = 0; kind < DENSE_KINDS; kind++)
			for (int rows = 1; rows <= 31; rows += 1 + rows / 14)
				for (size_t d = 0; d < COUNT(depths); d++) {
					const int wide = 2 * kernels_at(i)->block;
					const struct dense_job job = {.kind = kind,
						.rows = rows,
						.cols = 1 + (rows * 5 + (int)d * 7) % wide,
						.accumulate = (rows + d) % 3 == 0,
						.relu = d % 2};
					struct dense_job whole = job;
					whole.cols = wide / (1 + rows % 2);
					check_product(kernels_at(i), job, depths[d],
						rows % 2 && kind != DENSE_WEIGHTS);
					check_product(kernels_at(i), whole, depths[d],
						d % 4 < 2 && kind != DENSE_WEIGHTS);
				}
}

enum sparse_end { END_NOTHING, END_BIAS, END_RELU, END_MASK, SPARSE_ENDS };

/* Runs of a have gaps between them, and rows of b and out gaps behind them, all of NaN. */
static void check_sparse(
	const struct kernels *k, struct sparse_job job, enum sparse_end end, int zeros)
{
	const size_t wide = 2 * (size_t)k->block, runs = (job.depth + wide - 1) / wide;
	const size_t vectors = (size_t)(job.cols + k->block - 1) / k->block;

	job.a_row = wide, job.a_run = (job.rows + 1) * wide, job.relu = end == END_RELU;
	job.b_row = job.out_row = job.mask_row = (vectors + 1) * k->block;
	const size_t a_floats = runs * job.a_run, b_floats = job.depth * job.b_row;
	const size_t out_floats = job.rows * job.out_row, mask_floats = job.rows * job.mask_row;
	float *a = guarded_new(a_floats), *b = guarded_new(b_floats),
	      *out = guarded_new(out_floats);
	float *bias = guarded_new(job.b_row), *mask = guarded_new(mask_floats);

	fill(a, a_floats, 1), fill(b, b_floats, 2), fill(bias, job.b_row, 3),
		fill(mask, mask_floats, 4);
	for (size_t i = 0; i < a_floats; i++)
		a[i] = (int)(i * 7 % 10) < zeros ? 0 : a[i];
	k->sparse(&job, a, b, out, end == END_BIAS || end == END_RELU ? bias : NULL,
		end == END_MASK ? mask : NULL);
	for (int r = 0; r < job.rows; r++)
		for (int c = 0; c < job.cols; c++) {
			double want = end == END_BIAS || end == END_RELU ? bias[c] : 0;
			for (int s = 0; s < job.depth; s++)
				want += (double)a[s / wide * job.a_run + r * wide + s % wide] *
					b[s * job.b_row + c];
			if ((end == END_RELU && want < 0) ||
				(end == END_MASK && !(mask[r * job.mask_row + c] > 0)))
				want = 0;
			const double got = out[r * job.out_row + c];
			if (!(fabs(got - want) <= 1e-6 * (1 + job.depth)))
				fail_msg("%s, %d x %d x %d, end %d: [%d][%d] is %g, should be %g",
					k->isa, job.rows, job.depth, job.cols, end, r, c, got,
					want);
		}
	for (int r = 0; r < job.rows; r++)
		assert_true(isnan(out[(r + 1) * job.out_row - 1]));
	guarded_free(a), guarded_free(b), guarded_free(out), guarded_free(bias), guarded_free(mask);
}

static void sparse_products(void **state)
{
	static const int depths[] = {1, 7, 16, 63, 64, 65, 150},
			 cols[] = {1, 8, 17, 47, 100, 104, 105, 250};

	for (int i = 0; kernels_at(i); i++)
		for (size_t d = 0; d < COUNT(depths); d++)
			for (size_t c = 0; c < COUNT(cols); c++)
				for (int zeros = 0; zeros <= 10; zeros += 5) {
					const struct sparse_job job = {
						.rows = 1 + (int)(d * 31 + c * 13) % 70,
						.depth = depths[d],
						.cols = cols[c]};
					check_sparse(kernels_at(i), job,
						(d + c + zeros) % SPARSE_ENDS, zeros);
				}
}

/* What a zero would be multiplied with does not matter; a NaN is no zero. */
static void sparse_products_of_nan(void **state)
{
	for (int i = 0; kernels_at(i); i++) {
		const struct kernels *k = kernels_at(i);
		const struct sparse_job job = {.rows = 2,
			.depth = 3,
			.cols = 1,
			.a_row = 2 * (size_t)k->block,
			.b_row = k->block,
			.out_row = 1}; /* the second row comes over the first one's rest */
		float *a = guarded_new(2 * job.a_row), *b = guarded_new(3 * job.b_row);
		float out[1 + BLOCK_MAX];
		fill(b, 3 * job.b_row, 1), fill(a, 2 * job.a_row, 2);
		b[job.b_row] = INFINITY, a[1] = 0, a[job.a_row + 2] = NAN;
		k->sparse(&job, a, b, out, NULL, NULL);
		assert_true(fabs(out[0] - (a[0] * b[0] + a[2] * b[2 * job.b_row])) < 1e-6);
		assert_true(isnan(out[1]));
		guarded_free(a), guarded_free(b);
	}
}

static void sums(void **state)
{
	for (int i = 0; kernels_at(i); i++)
		for (int rows = 1; rows <= 35; rows += 1 + rows / 4)
			for (int samples = 1; samples <= 70; samples += 1 + samples / 3) {
				const struct kernels *k = kernels_at(i);
				const int wide = 2 * k->block, panels = (samples + wide - 1) / wide;
				const size_t panel = (size_t)(rows + 1) * wide;
				float *x = guarded_new(panels * panel), *got = guarded_new(rows);
				fill(x, panels * panel, 1);
				/* Behind the samples: zeros in their vector, NaN in others. */
				for (int n = samples; n < panels * wide; n++)
					for (int r = 0; r < rows; r++)
						x[n / wide * panel + (size_t)r * wide + n % wide] =
							n / k->block == (samples - 1) / k->block
								? 0
								: NAN;
				k->dense_sums(x, panel, samples, rows, got);
				for (int r = 0; r < rows; r++) {
					double want = 0;
					for (int n = 0; n < samples; n++)
						want += x[n / wide * panel + (size_t)r * wide +
							  n % wide];
					if (!(fabs(got[r] - want) <= 1e-6 * (1 + samples)))
						fail_msg("%s: row %d of %d, %d samples: %g, should "
							 "be %g",
							k->isa, r, rows, samples, got[r], want);
				}
				guarded_free(x), guarded_free(got);
			}
}

/* A panel's loss against that of plain rows. */
static void check_panel_loss(const struct kernels *k, int classes, int count, float scale)
{
	const size_t wide = 2 * (size_t)k->block, panel = classes * wide,
		     plain = (size_t)count * classes;
	float *logits = guarded_new(panel), *grad = guarded_new(panel), *rows = guarded_new(plain);
	float *rows_grad = guarded_new(plain), *losses = guarded_new(count),
	      *rows_losses = guarded_new(count);
	float *weights = guarded_new(count), *only = guarded_new(count);
	int32_t labels[2 * BLOCK_MAX];

	fill(rows, plain, (uint64_t)classes), fill(weights, count, 2);
	fill_labels(labels, count, classes, 3);
	memset(logits, 0, panel * sizeof(float));
	for (size_t i = 0; i < plain; i++) {
		rows[i] *= scale;
		logits[i % classes * wide + i / classes] = rows[i];
	}
	k->ops.softmax_loss(rows, classes, labels, weights, count, rows_losses, rows_grad);
	k->softmax_panel(logits, classes, labels, weights, count, losses, grad);
	k->softmax_panel(logits, classes, labels, NULL, count, only, NULL);
	assert_true(same_bits(losses, only, count));
	for (int i = 0; i < count; i++)
		if (!(fabsf(losses[i] - rows_losses[i]) <= 8e-7f * (1 + rows_losses[i])))
			fail_msg("%s, %d classes: loss %g, of plain rows %g", k->isa, classes,
				losses[i], rows_losses[i]);
	for (size_t i = 0; i < plain; i++)
		assert_true(fabsf(grad[i % classes * wide + i / classes] - rows_grad[i]) <= 8e-7f);
	for (size_t i = count; i % k->block; i++)
		for (int c = 0; c < classes; c++)
			assert_true(grad[c * wide + i] == 0);
	guarded_free(logits), guarded_free(grad), guarded_free(rows), guarded_free(rows_grad);
	guarded_free(losses), guarded_free(rows_losses), guarded_free(weights), guarded_free(only);
}

static void panel_losses(void **state)
{
	for (int i = 0; kernels_at(i); i++)
		for (int count = 1; count <= 2 * kernels_at(i)->block; count++) {
			check_panel_loss(kernels_at(i), 1, count, 1);
			check_panel_loss(kernels_at(i), 2, count, 3);
			check_panel_loss(kernels_at(i), 100, count, 20);
		}
}

/* A NaN shows in its sample's loss, wherever it stands, and in no other's. */
static void panel_loss_of_nan(void **state)
{
	enum { CLASSES = 9 };

	for (int i = 0; kernels_at(i); i++)
		for (int at = 0; at < CLASSES; at++) {
			const int wide = 2 * kernels_at(i)->block;
			float *logits = guarded_new(CLASSES * wide), losses[2 * BLOCK_MAX];
			int32_t labels[2 * BLOCK_MAX] = {0};
			memset(logits, 0, CLASSES * wide * sizeof(float));
			logits[at * wide + wide - 2] = NAN;
			kernels_at(i)->softmax_panel(
				logits, CLASSES, labels, NULL, wide, losses, NULL);
			for (int n = 0; n < wide; n++)
				assert_true(n == wide - 2 ? isnan(losses[n]) != 0
							  : fabs(losses[n] - log(CLASSES)) < 1e-6);
			guarded_free(logits);
		}
}

/* Layers and batches that are cut: sums in several goes, weights in several tasks. */
static const struct {
	struct net_spec spec;
	int n;
} large[] = {
	{{"mlp:300,523", NULL, 290, 521, 1, 1, false}, 37},
	{{"mlp:70", NULL, 33, 40, 1, 1, false}, 523},
	{{"linear", NULL, 3, 600, 1, 1, false}, 258},
	{{"mlp:40", NULL, 523, 20, 1, 1, false}, 21},
	{{"mlp:256,160", NULL, 100, 128, 1, 1, false}, 130},
	{{"mlp:48,16,272", NULL, 7, 5, 1, 1, false}, 77},
	{{"mlp:48,16,272", NULL, 37, 5, 1, 1, false}, 77},
	{{"mlp:64", NULL, 3, 300, 1, 1, false}, 77},
};

static void cut_nets_agree_with_the_other_path(void **state)
{
	for (size_t c = 0; c < COUNT(large); c++)
		for (int i = 0; kernels_at(i); i++) {
			struct rig_config config = {.spec = large[c].spec,
				.n = large[c].n,
				.seed = 5,
				.engine = {kernels_at(i)->isa, "auto", 1}};
			struct rig rig, other, threads;
			struct err err;
			rig_open(&rig, &config);
			config.engine.threads = 3;
			rig_open(&threads, &config);
			config.engine.conv =
				policies[policies_of(kernels_at(i)) - 1]; /* not through panels */
			rig_open(&other, &config);
			rig_gradient(&rig), rig_gradient(&threads), rig_gradient(&other);
			assert_true(same_bits(rig.grad, threads.grad, rig.floats));
			assert_true(
				same_bits(rig.logits, threads.logits, (size_t)rig.n * rig.classes));
			const double grad = distance(rig.grad, other.grad, rig.floats);
			const double losses = distance(rig.losses, other.losses, rig.n);
			if (!(grad < 1e-4) || !(losses < 1e-5))
				fail_msg("%s, %s: gradients %.1e and losses %.1e away",
					config.spec.arch, config.engine.isa, grad, losses);
			memcpy(other.logits, rig.logits,
				(size_t)rig.n * rig.classes * sizeof(float));
			assert_ok(runner_infer(threads.runner, rig.params, NULL, rig.input, rig.n,
					  rig.logits, &err),
				err);
			assert_true(
				same_bits(rig.logits, other.logits, (size_t)rig.n * rig.classes));
			rig_close(&rig), rig_close(&other), rig_close(&threads);
		}
}

/* Few samples take the dense path, many the sparse one. */
static void zeros_are_passed_over_without_a_trace(void **state)
{
	enum { ALL = 150, FEW = 7 };

	for (int i = 0; kernels_at(i); i++) {
		const struct rig_config config = {.spec = {"mlp:64,96", NULL, 35, 19, 1, 1, false},
			.n = ALL,
			.seed = 5,
			.engine = {kernels_at(i)->isa, "auto", 2}};
		float few[FEW * 35];
		struct rig rig;
		struct err err;
		rig_open(&rig, &config);
		assert_ok(runner_infer(
				  rig.runner, rig.params, NULL, rig.input, ALL, rig.logits, &err),
			err);
		for (int n = 0; n + FEW <= ALL; n += FEW) {
			assert_ok(runner_infer(rig.runner, rig.params, NULL, rig.input + n * 19,
					  FEW, few, &err),
				err);
			assert_true(same_bits(rig.logits + n * 35, few, FEW * 35));
		}
		rig_close(&rig);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(products),
		cmocka_unit_test(sparse_products),
		cmocka_unit_test(sparse_products_of_nan),
		cmocka_unit_test(sums),
		cmocka_unit_test(panel_losses),
		cmocka_unit_test(panel_loss_of_nan),
		cmocka_unit_test(cut_nets_agree_with_the_other_path),
		cmocka_unit_test(zeros_are_passed_over_without_a_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
