/* The pieces that models of numbers are made of, each by hand or against a slow reference. */
#include <math.h>

#include "../base/check.h"
#include "base/rng.h"
#include "learn/numbers/band.h"
#include "learn/numbers/bank.h"
#include "learn/numbers/blend.h"
#include "learn/numbers/grove_build.h"
#include "learn/numbers/rls.h"
#include "nn/own/kernels.h"

static const struct ops *ops(void)
{
	return &kernels_at(0)->ops;
}

static float normal(uint64_t n)
{
	return rng_normal((struct rng){5, RNG_TEST}, n);
}

/* Solves a small system by elimination. */
static void solve(double *a, double *b, int n)
{
	for (int k = 0; k < n; k++)
		for (int i = 0; i < n; i++) {
			const double by = i == k ? 0 : a[i * n + k] / a[k * n + k];

			for (int j = k; j < n; j++)
				a[i * n + j] -= by * a[k * n + j];
			b[i] -= by * b[k];
		}
	for (int k = 0; k < n; k++)
		b[k] /= a[k * n + k];
}

/* The weights that minimise the decayed squares and the decayed ridge of the beginning. */
static void least_squares_are_least(void **state)
{
	enum { NUMBERS = 7, ROWS = 300 };
	static const double KEEP = 0.98;
	double squares[NUMBERS * NUMBERS] = {0}, products[NUMBERS] = {0};
	struct rls rls;
	struct err err = {0};

	assert_ok(rls_init(&rls, NUMBERS, (float)KEEP, ops(), false, &err), err);
	for (int i = 0; i < NUMBERS; i++)
		squares[i * (NUMBERS + 1)] = 1;
	for (int t = 0; t < ROWS; t++) {
		float row[RLS_LANES] = {0}, target = 0.1F * normal((uint64_t)t);

		for (int i = 0; i < NUMBERS; i++) {
			row[i] = normal(1000 + (uint64_t)(t * NUMBERS + i));
			target += row[i] * 0.1F * (float)(i - 2);
		}
		row[NUMBERS] = 1e3F; /* not in use */
		for (int i = 0; i < NUMBERS; i++) {
			for (int j = 0; j < NUMBERS; j++)
				squares[i * NUMBERS + j] = KEEP * squares[i * NUMBERS + j] +
							   (double)row[i] * (double)row[j];
			products[i] = KEEP * products[i] + (double)row[i] * (double)target;
		}
		rls_learn(&rls, row, NUMBERS, target);
	}
	solve(squares, products, NUMBERS);
	for (int i = 0; i < NUMBERS; i++)
		assert_float_equal(rls.weights[i], products[i], 2e-4);
	for (int i = 0; i < NUMBERS; i++)
		for (int j = 0; j < i; j++)
			assert_true(rls.spread[(size_t)i * rls.room + (size_t)j] ==
				    rls.spread[(size_t)j * rls.room + (size_t)i]);
	rls_release(&rls);
}

/* Rows that never come from a direction, and one target far away, for long. */
static void least_squares_stay_bounded(void **state)
{
	struct rls rls;
	struct err err = {0};

	for (size_t numbers = 5; numbers <= RLS_WHOLE + 5; numbers += RLS_WHOLE) {
		float row[RLS_WHOLE + 64] = {[0] = 1, [1] = 0.5F};

		assert_ok(rls_init(&rls, numbers, 0.98F, ops(), false, &err), err);
		assert_int_equal(rls.whole, numbers <= RLS_WHOLE);
		for (int t = 0; t < 20000; t++) {
			row[2] = t % 5000 == 0;
			rls_learn(&rls, row, numbers, t == 7000 ? 1e30F : 2);
		}
		assert_float_equal(rls_ask(&rls, row, numbers), 2, 1e-3);
		for (size_t i = 0; i < numbers; i++)
			assert_true(rls.spread[rls.whole ? i * (rls.room + 1) : i] <= 1.2F);
		rls_release(&rls);
	}
}

static void a_renewed_number_starts_anew(void **state)
{
	const float row[RLS_LANES] = {1, 1, 2};
	struct rls rls;
	struct err err = {0};

	assert_ok(rls_init(&rls, 3, 0.99F, ops(), false, &err), err);
	for (int t = 0; t < 50; t++)
		rls_learn(&rls, row, 3, 3);
	assert_true(rls.weights[2] != 0);
	rls_renew(&rls, 2);
	assert_true(rls.weights[2] == 0 && rls.weights[1] != 0);
	assert_true(rls.spread[2 * rls.room + 2] == 1);
	assert_true(rls.spread[rls.room + 2] == 0 && rls.spread[2 * rls.room + 1] == 0);
	rls_release(&rls);
}

static void fill(float *row, size_t count, uint64_t seed)
{
	rng_normals((struct rng){seed, RNG_TEST}, 0, row, count);
}

/* The mean of the nearest, by sorting all distances. */
static double nearest_mean(
	float (*rows)[ROWS_FIRST + 3], const float *targets, int count, const float *row, bool lags)
{
	double distance[BANK_ROOM], sum = 0, weights = 0.5, last;
	int order[BANK_ROOM];

	for (int i = 0; i < count; i++) {
		int at = i;

		distance[i] = 0;
		for (int j = lags ? 0 : ROWS_FIRST; j < ROWS_FIRST + 3; j++)
			if (j != ROWS_ONE)
				distance[i] += ((double)rows[i][j] - (double)row[j]) *
					       ((double)rows[i][j] - (double)row[j]);
		for (; at > 0 && distance[order[at - 1]] > distance[i]; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	last = distance[order[(count < BANK_NEAREST ? count : BANK_NEAREST) - 1]];
	for (int i = 0; i < count && i < BANK_NEAREST; i++) {
		const double weight = exp(-2 * distance[order[i]] / last);

		sum += weight * (double)targets[order[i]];
		weights += weight;
	}
	return sum / weights;
}

/* The last two inputs are 0 or 1, if `binary`. */
static void fill_inputs(float *row, bool binary, uint64_t seed)
{
	fill(row, ROWS_FIRST + 3, seed);
	for (int j = ROWS_FIRST + 1; j < ROWS_FIRST + 3 && binary; j++)
		row[j] = row[j] > 0.5F;
}

static float apart(const float *a, const float *b)
{
	float sum = 0;

	for (int j = ROWS_FIRST; j < ROWS_FIRST + 3; j++)
		sum += (a[j] - b[j]) * (a[j] - b[j]);
	return sum;
}

/* The nearest are told with their distances, in their order; no other row is nearer. */
static void check_nearest(const struct bank *bank, const struct bank_nearest *nearest,
	float (*rows)[ROWS_FIRST + 3], int count, const float *row)
{
	int nearer = 0;

	assert_int_equal(nearest->count, count < BANK_NEAREST ? count : BANK_NEAREST);
	for (int k = 0; k < nearest->count; k++) {
		const int64_t at = bank_row(bank, nearest->place[k]);

		assert_float_equal(nearest->distance[k], apart(rows[at], row), 1e-5);
		assert_true(!k || nearest->distance[k] >= nearest->distance[k - 1]);
	}
	for (int i = 0; i < count; i++)
		nearer += apart(rows[i], row) < nearest->distance[nearest->count - 1] - 1e-5F;
	assert_true(nearer < BANK_NEAREST);
}

static void find_neighbours(bool binary)
{
	static const int counts[] = {1, 5, 16, 33, 161, 700};
	static float rows[700][ROWS_FIRST + 3], level[700], change[700];
	const struct values values = {.binary = {false, binary, binary}};
	const struct rows none = {.room = 1};
	struct bank bank;
	struct err err = {0};
	int added = 0;

	assert_ok(bank_init(&bank, 3, ops(), &err), err);
	bank_fill(&bank, &none, 3, &values);
	assert_int_equal(bank.binary, binary ? 2 : 0);
	for (size_t c = 0; c < COUNT(counts); c++) {
		float row[ROWS_PADDED] = {0}, answers[BANK_MODELS];
		struct bank_nearest nearest;

		for (; added < counts[c]; added++) {
			float target[ROWS_TARGETS];

			fill_inputs(rows[added], binary, 10 + (uint64_t)added);
			level[added] = target[ROWS_LEVEL] = normal((uint64_t)added);
			change[added] = target[ROWS_CHANGE] = normal(5000 + (uint64_t)added);
			bank_add(&bank, rows[added], target);
		}
		fill_inputs(row, binary, 3);
		bank_ask(&bank, row, answers, &nearest);
		check_nearest(&bank, &nearest, rows, added, row);
		assert_float_equal(
			answers[BANK_LEVEL], nearest_mean(rows, level, added, row, false), 1e-5);
		assert_float_equal(
			answers[BANK_CHANGE], nearest_mean(rows, change, added, row, true), 1e-5);
	}
	bank_release(&bank);
}

static void neighbours_are_the_nearest(void **state)
{
	find_neighbours(false);
}

static void neighbours_are_the_nearest_by_binary_columns(void **state)
{
	find_neighbours(true);
}

/* Old rows leave; a bank filled from kept rows is the one that saw them come. */
static void a_bank_can_be_filled_again(void **state)
{
	static const struct values values;
	struct bank bank, again;
	struct rows rows;
	struct err err = {0};
	float row[ROWS_PADDED] = {0}, answers[BANK_MODELS], others[BANK_MODELS];
	struct bank_nearest nearest;

	assert_ok(bank_init(&bank, 3, ops(), &err), err);
	assert_ok(bank_init(&again, 3, ops(), &err), err);
	assert_ok(rows_init(&rows, ROWS_FIRST + 3, &err), err);
	for (int i = 0; i < 2 * BANK_ROOM + 77; i++) {
		const float target[ROWS_TARGETS] = {normal((uint64_t)i), (float)i, 0};
		const struct lags_moment moment = {i, i, 0, 1};

		fill(row, ROWS_FIRST + 3, (uint64_t)i);
		bank_add(&bank, row, target);
		rows_add(&rows, row, target, &moment);
	}
	bank_fill(&again, &rows, 3, &values);
	for (uint64_t q = 0; q < 20; q++) {
		fill(row, ROWS_FIRST + 3, 1000000 + q);
		bank_ask(&bank, row, answers, &nearest);
		assert_int_equal(bank_row(&bank, (int)(bank.seen % BANK_ROOM)),
			bank.seen - BANK_ROOM); /* the oldest */
		bank_ask(&again, row, others, &nearest);
		assert_memory_equal(answers, others, sizeof(answers));
		assert_true(answers[BANK_CHANGE] > (BANK_ROOM + 77) / 2.0);
	}
	rows_release(&rows);
	bank_release(&bank);
	bank_release(&again);
}

/* Column ROWS_FIRST + 1 tells 1 from 5; nothing else tells anything. */
static void a_tree_splits_where_targets_differ(void **state)
{
	enum { COUNT_ROWS = 12, COLUMN = ROWS_FIRST + 1, WIDTH = ROWS_FIRST + 2 };
	static struct grove_bench bench;
	struct grove_tree *tree = mem_new(1, sizeof(*tree));
	struct rows rows;
	struct err err = {0};
	float worth[WIDTH] = {0};
	struct grove_work work = {.ops = ops(),
		.rows = &rows,
		.numbers = WIDTH,
		.worth = worth,
		.bench = &bench,
		.key = 1};

	assert_non_null(tree);
	assert_ok(rows_init(&rows, WIDTH, &err), err);
	for (int i = 0; i < COUNT_ROWS; i++) {
		float row[WIDTH] = {[ROWS_ONE] = 1, [COLUMN] = i % 2 ? 20 : 10};
		const float target[ROWS_TARGETS] = {i % 2 ? 5 : 1};

		rows_add(&rows, row, target, &(struct lags_moment){i, i, 0, 1});
		bench.bag[i] = i;
	}
	work.targets = rows.target[ROWS_LEVEL];
	/* A tree tries some columns only; one of these finds the right one. */
	for (int k = 0; k < 50 && tree->nodes != 3; k++, work.key++)
		grove_build(&work, tree, COUNT_ROWS);
	assert_int_equal(tree->nodes, 3);
	assert_int_equal(tree->node[0].column, COLUMN);
	assert_int_equal(tree->node[0].child, 1);
	assert_true(tree->node[0].threshold >= 10 && tree->node[0].threshold < 20);
	assert_float_equal(tree->node[0].sum, 36, 0);
	assert_float_equal(tree->node[1].sum, 6, 0);
	assert_float_equal(tree->node[1].count, 6, 0);
	assert_float_equal(tree->node[2].sum, 30, 0);
	assert_int_equal(tree->node[1].child, 1);
	assert_int_equal(tree->node[2].child, 2);
	/* The split explained everything. */
	assert_float_equal(worth[COLUMN], 1, 1e-4);
	assert_float_equal(work.worths, 1, 1e-4);
	rows_release(&rows);
	mem_free(tree);
}

/* Of 300 columns one tells something: hardly a tree tries it, but where it was of worth every one does. */
static void trees_try_what_was_of_worth(void **state)
{
	enum { COUNT_ROWS = 12, COLUMN = ROWS_FIRST + 200, WIDTH = ROWS_FIRST + 300, TREES = 30 };
	static struct grove_bench bench;
	struct grove_tree *tree = mem_new(1, sizeof(*tree));
	struct rows rows;
	struct err err = {0};
	int found[2] = {0};

	assert_non_null(tree);
	assert_ok(rows_init(&rows, WIDTH, &err), err);
	for (int i = 0; i < COUNT_ROWS; i++) {
		float row[WIDTH] = {[ROWS_ONE] = 1, [COLUMN] = i % 2};
		const float target[ROWS_TARGETS] = {i % 2};

		rows_add(&rows, row, target, &(struct lags_moment){i, i, 0, 1});
	}
	for (uint64_t k = 0; k < 2 * TREES; k++) {
		float worth[WIDTH] = {[COLUMN] = k < TREES ? 0 : 2, [ROWS_ONE - 1] = 1e-6F};
		struct grove_work work = {.ops = ops(),
			.rows = &rows,
			.targets = rows.target[ROWS_LEVEL],
			.numbers = WIDTH,
			.worth = worth,
			.bench = &bench,
			.key = k};

		for (int i = 0; i < COUNT_ROWS; i++)
			bench.bag[i] = i;
		grove_build(&work, tree, COUNT_ROWS);
		found[k >= TREES] += tree->nodes == 3 && tree->node[0].column == COLUMN;
		/* What was of worth fades. */
		if (k >= TREES)
			assert_float_equal(worth[COLUMN], 0.9 * 2 + 1, 1e-4);
	}
	assert_true(found[0] < TREES);
	assert_int_equal(found[1], TREES);
	rows_release(&rows);
	mem_free(tree);
}

/* Records and the answer, computed beside the blend in the plainest way. */
static void a_blend_follows_its_records(void **state)
{
	enum { PARTS = 4, ROWS = 200 };
	static const double keep[] = {0.98, 0.9, 0.998};
	double record[BLEND_RECORDS][PARTS] = {{0}}, error = 0;
	struct blend blend;

	blend_init(&blend, PARTS);
	for (int t = 0; t < ROWS; t++) {
		const double y = sin(t / 7.0), apart[PARTS] = {0.3, -0.5, 0.05, 1e9};
		struct blend_said said = {0};
		double worst, b;

		for (int i = 0; i < PARTS; i++)
			said.part[i] = y + apart[i] * (double)normal((uint64_t)t);
		blend_ask(&blend, &said);
		for (int k = 0; k < BLEND_RECORDS && t; k++) {
			double sum = 0, most = record[k][0];

			for (int i = 1; i < PARTS; i++)
				most = fmax(most, record[k][i]);
			for (int i = 0; i < PARTS; i++)
				sum += exp(record[k][i] - most);
			for (int i = 0; i < PARTS; i++)
				assert_float_equal(
					blend.share[k][i], exp(record[k][i] - most) / sum, 1e-9);
		}
		assert_true(!t || fabs(said.answer - y) < 40);
		worst = fabs(y - said.answer);
		blend_learn(&blend, &said, y, 1, 0);
		if (!t)
			continue;
		error = error > 0 ? error : worst;
		b = fmax(error, worst / 10);
		for (int k = 0; k < BLEND_RECORDS; k++)
			for (int i = 0; i < PARTS; i++)
				record[k][i] =
					keep[k] * record[k][i] -
					fmin(fmax((fabs(y - said.part[i]) - worst) / b, -10), 10);
		error += fmax(0.02, 1.0 / (t + 1)) * (fmin(worst, 30 * error) - error);
		assert_float_equal(blend.error, error, 1e-9 * error);
	}
	assert_true(blend.share[0][2] > 0.9);
}

/* The stack finds what no part says: a target twice the distance of two parts away. */
static void a_stack_combines(void **state)
{
	double late = 0, weights[BLEND_PARTS], sum = 0;
	struct blend blend;

	blend_init(&blend, 3);
	for (int t = 0; t < 2000; t++) {
		const double a = (double)normal((uint64_t)t),
			     b = (double)normal(9000 + (uint64_t)t);
		struct blend_said said = {.part = {0, a, b}};

		blend_ask(&blend, &said);
		late += t < 1000 ? 0 : fabs(a + b - said.answer) / 1000;
		blend_learn(&blend, &said, a + b, 1, 0);
	}
	assert_true(late < 0.3);
	blend_weights(&blend, weights);
	for (int i = 0; i < 3; i++)
		sum += weights[i];
	assert_float_equal(sum, 1, 1e-9);
}

static void intervals_hold_their_share(void **state)
{
	static const double coverages[] = {0.5, 0.9, 0.99};

	for (size_t c = 0; c < COUNT(coverages); c++) {
		struct band band;
		int inside = 0;

		band_init(&band, coverages[c]);
		for (int t = 0; t < 6000; t++) {
			/* Errors grow tenfold midway. */
			const double error = (t < 3000 ? 1 : 10) * (double)normal((uint64_t)t);
			const double half = band_half(&band);

			inside += t >= 1000 && fabs(error) <= half;
			band_learn(&band, error, half, 0);
		}
		assert_float_equal(inside / 5000.0, coverages[c], 0.01);
	}
}

/*
 * Most targets are 0, and answers differ from it by little, over many orders of magnitude. No stretch
 * of 2000 rows may hold a point more or less than was asked for.
 */
static void intervals_of_counts_hold_their_share(void **state)
{
	static const double coverages[] = {0.5, 0.8, 0.9, 0.95};
	enum { STRETCH = 2000, STRETCHES = 5 };

	for (size_t c = 0; c < COUNT(coverages); c++) {
		struct band band;
		uint64_t t = 0;

		band_init(&band, coverages[c]);
		for (int k = 0; k < STRETCHES; k++) {
			int inside = 0;

			for (int i = 0; i < STRETCH; i++, t++) {
				const bool zero = normal(2 * t) < 1.4F; /* 92 % */
				const double noise = exp(3 * (double)normal(2 * t + 1) - 14);
				const double half = band_half(&band);

				inside += (zero ? noise : 1 + k % 3) <= half;
				band_learn(&band, zero ? noise : 1 + k % 3, half, 0);
			}
			assert_float_equal(inside / (double)STRETCH, coverages[c], 0.01);
		}
	}
}

static void lags_by_hand(void **state)
{
	struct lags lags;
	struct level level;
	struct lags_moment moment;
	struct err err = {0};
	float row[LAGS];

	assert_ok(lags_init(&lags, &err), err);
	level_init(&level);
	for (int i = 0; i < 10; i++)
		lags_add(&lags, i * i);
	level.centre = 30;
	level.quick = 60;
	level.scale = 10;
	lags.season[0] = 4;
	moment = lags_moment_of(&lags, &level, 10, 10);
	assert_float_equal(moment.base, 81, 0);
	lags_fill(&lags, &level, &moment, row);
	assert_float_equal(row[0], 5.1, 1e-6);  /* 81 - 30 */
	assert_float_equal(row[1], -1.7, 1e-6); /* 64 - 81 */
	assert_float_equal(row[2], -1.5, 1e-6); /* 49 - 64 */
	assert_float_equal(row[3], -2.1, 1e-6); /* 60 - 81 */
	assert_float_equal(row[4], -4.5, 1e-6); /* 6 * 6 - 81 */
	assert_float_equal(row[5], 1.1, 1e-6);  /* 6 * 6 - 5 * 5 */
	assert_float_equal(row[6], 0, 0);       /* there is one season only */
	/* Five ahead: a season before is 11, not known; 7 is. */
	moment = lags_moment_of(&lags, &level, 15, 10);
	lags_fill(&lags, &level, &moment, row);
	assert_float_equal(row[4], -3.2, 1e-6); /* 7 * 7 - 81 */
	assert_float_equal(row[5], 2.4, 1e-6);  /* 7 * 7 - 5 * 5 */
	/* As it was known two targets ago. */
	moment = lags_moment_of(&lags, &level, 10, 8);
	assert_float_equal(moment.base, 49, 0);
	lags_fill(&lags, &level, &moment, row);
	assert_float_equal(row[1], -1.3, 1e-6); /* 36 - 49 */
	assert_float_equal(lags_median(&lags, 8), 16, 0);
	assert_float_equal(lags_median(&lags, 10), 25, 0);
	lags_release(&lags);
}

static void the_season_is_found(void **state)
{
	struct lags lags;
	struct err err = {0};
	unsigned changed = 0;

	assert_ok(lags_init(&lags, &err), err);
	for (int i = 0; i < 640; i++) {
		lags_add(&lags, i % 24 * 10 + (double)normal((uint64_t)i));
		changed |= lags_choose(&lags);
	}
	assert_int_equal(changed, 3);
	assert_int_equal(lags.season[0] % 24, 0);
	assert_int_equal(lags.season[1] % 24, 0);
	assert_int_not_equal(lags.season[0], lags.season[1]);
	lags_release(&lags);
}

/* Outliers that go are fenced; those that stay are taken from the second on. */
static void outliers_are_fenced_unless_they_stay(void **state)
{
	struct level level;
	struct level_value value = {0};

	level_init(&level);
	for (int i = 0; i < 300; i++) {
		value = level_add(&level, i % 10 == 9 ? 1e9 : i % 7);
		level_follow(&level, value.level, 0);
	}
	assert_true(value.level < 100 || level.scale > 100);
	level_init(&level);
	for (int i = 0; i < 300; i++) {
		value = level_add(&level, i % 150 == 149 ? 1e9 : i % 7);
		level_follow(&level, value.level, 0);
	}
	assert_true(value.history == value.level && value.level < 100);
	assert_true(level.mean < 10 && level.centre < 10);
	for (int i = 0; i < 20; i++)
		value = level_add(&level, 1000 + i);
	assert_true(value.history == 1019);
}

static void columns_of_few_values_have_places(void **state)
{
	struct values values;
	struct err err = {0};
	float row[VALUES_EACH * VALUES_PLACES], raw[3] = {0};

	assert_ok(values_init(&values, 3, &err), err);
	for (int i = 0; i < 2000; i++) {
		struct values_change change;

		raw[0] = (float)(i % 2);
		raw[1] = (float)(i % 24) / 10;
		raw[2] = (float)(i % 200 < 60 ? i % 200 : i);
		change = values_learn(&values, raw, raw[1] > 1 ? 4 : -4, 0);
		if (change.taken)
			assert_true(i >= 99);
	}
	assert_int_equal(values.column[0].place, -1); /* two values only */
	assert_int_equal(values.column[1].place, 0);
	assert_int_equal(values.column[2].count, -1); /* too many */
	values_fill(&values, raw, 2, row);
	raw[1] = 2;
	values_fill(&values, raw, 2, row);
	assert_true(row[0] > 1.5F && row[0] < 2);
	raw[1] = 0.05F; /* never seen */
	values_fill(&values, raw, 2, row);
	assert_true(row[0] == 0);
	raw[1] = NAN;
	values_fill(&values, raw, 2, row);
	assert_true(row[0] == 0);
	values_release(&values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(least_squares_are_least),
		cmocka_unit_test(least_squares_stay_bounded),
		cmocka_unit_test(a_renewed_number_starts_anew),
		cmocka_unit_test(neighbours_are_the_nearest),
		cmocka_unit_test(neighbours_are_the_nearest_by_binary_columns),
		cmocka_unit_test(a_bank_can_be_filled_again),
		cmocka_unit_test(a_tree_splits_where_targets_differ),
		cmocka_unit_test(trees_try_what_was_of_worth),
		cmocka_unit_test(a_blend_follows_its_records),
		cmocka_unit_test(a_stack_combines),
		cmocka_unit_test(intervals_hold_their_share),
		cmocka_unit_test(intervals_of_counts_hold_their_share),
		cmocka_unit_test(lags_by_hand),
		cmocka_unit_test(the_season_is_found),
		cmocka_unit_test(outliers_are_fenced_unless_they_stay),
		cmocka_unit_test(columns_of_few_values_have_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
