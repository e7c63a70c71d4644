/* Ridge regression: by hand, against its own equation, saved and loaded. */
#include <math.h>

#include "../base/check.h"
#include "../base/folder.h"
#include "base/rng.h"
#include "learn/parts/ridge.h"

static struct part *ridge_of(int dim, int classes, double shrink)
{
	const struct ridge_config config = {dim, classes, shrink};
	struct part *ridge;
	struct err err = {0};

	assert_ok(ridge_new(&ridge, &config, &err), err);
	return ridge;
}

static void assert_predicts(const struct part *ridge, float x, float y, double p0, double p1)
{
	const float features[] = {x, y};
	float p[2];

	ridge_predict(ridge, features, p);
	assert_float_equal(p[0], p0, 1e-6);
	assert_float_equal(p[1], p1, 1e-6);
}

/*
 * G = (2 1; 1 2), b = (1, 0) and (1, 2); half of the trace's mean, 1, makes (3 1; 1 3), whose
 * inverse is (3 -1; -1 3) / 8: w = (3, -1) / 8 and (1, 5) / 8.
 */
static void by_hand(void **state)
{
	static const float samples[][2] = {{1, 0}, {0, 1}, {1, 1}};
	static const int32_t labels[] = {0, 1, 1};
	struct part *ridge = ridge_of(2, 2, 0.5);

	assert_predicts(ridge, 1, 0, 0.5, 0.5);
	for (int i = 0; i < 3; i++)
		ridge_add(ridge, samples[i], labels[i]);
	assert_predicts(ridge, 1, 0, 0.5, 0.5);
	ridge_solve(ridge);
	assert_predicts(ridge, 1, 0, 0.75, 0.25);
	assert_predicts(ridge, 1, 1, 0.25, 0.75);
	assert_predicts(ridge, 0, 1, 0, 1);
	assert_predicts(ridge, -1, -1, 0.5, 0.5);
	ridge_free(ridge);
}

static void zeros_say_nothing(void **state)
{
	static const float zeros[2] = {0};
	struct part *ridge = ridge_of(2, 2, 0.1);

	ridge_solve(ridge);
	ridge_add(ridge, zeros, 1);
	ridge_solve(ridge);
	assert_predicts(ridge, 1, 0, 0.5, 0.5);
	ridge_free(ridge);
}

enum { DIM = 37, CLASSES = 3, N = 300 };

static int32_t sample_of(int i, float *features)
{
	const int32_t label = i % CLASSES;

	rng_normals((struct rng){7, RNG_TEST}, (uint64_t)i * DIM, features, DIM);
	features[label] += 1;
	return label;
}

static void add_samples(struct part *ridge, int from, int to)
{
	float features[DIM];

	for (int i = from; i < to; i++) {
		const int32_t label = sample_of(i, features);

		ridge_add(ridge, features, label);
		if (ridge_due(ridge))
			ridge_solve(ridge);
	}
}

/* What the regression says of a class, by elimination: the matrix is positive and needs no pivots. */
static void eliminate(double gram[DIM][DIM], double sums[DIM][CLASSES])
{
	for (int a = 0; a < DIM; a++)
		for (int b = 0; b < DIM; b++) {
			const double part = gram[b][a] / gram[a][a];

			for (int k = 0; k < DIM && b != a; k++)
				gram[b][k] -= part * gram[a][k];
			for (int c = 0; c < CLASSES && b != a; c++)
				sums[b][c] -= part * sums[a][c];
		}
	for (int a = 0; a < DIM; a++)
		for (int c = 0; c < CLASSES; c++)
			sums[a][c] /= gram[a][a];
}

static void solves_its_equation(void **state)
{
	static double gram[DIM][DIM], sums[DIM][CLASSES];
	struct part *ridge = ridge_of(DIM, CLASSES, 0.1);
	float f[DIM], p[CLASSES];
	double trace = 0;

	for (int i = 0; i < N; i++) {
		const int32_t label = sample_of(i, f);

		ridge_add(ridge, f, label);
		for (int a = 0; a < DIM; a++) {
			sums[a][label] += f[a];
			trace += (double)f[a] * f[a];
			for (int b = 0; b < DIM; b++)
				gram[a][b] += (double)f[a] * f[b];
		}
	}
	for (int a = 0; a < DIM; a++)
		gram[a][a] += 0.1 * trace / DIM;
	eliminate(gram, sums);
	ridge_solve(ridge);
	for (int i = 0; i < N; i++) {
		double scores[CLASSES] = {0}, sum = 0;

		sample_of(i, f);
		ridge_predict(ridge, f, p);
		for (int c = 0; c < CLASSES; c++) {
			for (int a = 0; a < DIM; a++)
				scores[c] += sums[a][c] * f[a];
			scores[c] = fmax(scores[c], 0);
			sum += scores[c];
		}
		for (int c = 0; c < CLASSES && sum > 0.01; c++)
			assert_float_equal(p[c], scores[c] / sum, 1e-4);
	}
	ridge_free(ridge);
}

/* A quarter of dim, then a twentieth more. */
static void is_due(void **state)
{
	struct part *ridge = ridge_of(40, 1, 0.1);
	const float features[40] = {1};
	int64_t solved[100], count = 0;

	for (int64_t i = 1; i <= 1000; i++) {
		ridge_add(ridge, features, 0);
		if (ridge_due(ridge)) {
			ridge_solve(ridge);
			solved[count++] = i;
		}
	}
	assert_int_equal(solved[0], 10);
	assert_int_equal(solved[1], 20);
	assert_int_equal(solved[19], 200);
	assert_int_equal(solved[20], 210);
	assert_int_equal(solved[22], 231);
	ridge_free(ridge);
}

static void visit(void *object, struct state *state)
{
	ridge_state(object, state);
}

static void goes_on_where_it_stopped(void **state)
{
	struct part *straight = ridge_of(DIM, CLASSES, 0.1), *stopped = ridge_of(DIM, CLASSES, 0.1);
	struct part *resumed = ridge_of(DIM, CLASSES, 0.1);
	struct err err = {0};
	int right = 0;

	add_samples(straight, 0, N);
	add_samples(stopped, 0, N / 2 + 1);
	assert_ok(state_save(in_folder("state"), visit, stopped, &err), err);
	assert_ok(state_load(in_folder("state"), visit, resumed, &err), err);
	add_samples(resumed, N / 2 + 1, N);
	for (int i = N; i < 2 * N; i++) {
		float features[DIM], one[CLASSES], other[CLASSES];
		const int32_t label = sample_of(i, features);

		ridge_predict(straight, features, one);
		ridge_predict(resumed, features, other);
		assert_memory_equal(one, other, sizeof(one));
		right += one[label] >= one[0] && one[label] >= one[1] && one[label] >= one[2];
	}
	assert_true(right > N / 2);
	ridge_free(straight);
	ridge_free(stopped);
	ridge_free(resumed);
}

static int attempt(void *context, struct err *err)
{
	const struct ridge_config config = {3, 2, 0.1};
	struct part *ridge;
	const int code = ridge_new(&ridge, &config, err);

	ridge_free(ridge);
	return code;
}

static void memory_may_run_out(void **state)
{
	assert_int_equal(each_allocation_fails(attempt, NULL), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(zeros_say_nothing),
		cmocka_unit_test(solves_its_equation),
		cmocka_unit_test(is_due),
		cmocka_unit_test_setup_teardown(
			goes_on_where_it_stopped, folder_make, folder_remove),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
