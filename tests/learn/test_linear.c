/* A linear model of a stream: by hand, straight boundaries, odd inputs, saved and loaded. */
#include <math.h>

#include "../base/check.h"
#include "../base/folder.h"
#include "base/rng.h"
#include "learn/parts/linear.h"

enum { DIM = 20, WIDE = LINEAR_WHOLE + 1, CLASSES = 3 };

static struct part *linear_of(int dim, int classes, double keep, double shrink)
{
	const struct linear_config config = {dim, classes, keep, shrink};
	struct part *linear;
	struct err err = {0};

	assert_ok(linear_new(&linear, &config, &err), err);
	return linear;
}

/*
 * P = I, x = (1, 1), p = (1/2, 1/2), so h = 1/2 and x' P x = 2: P x = (1, 1) becomes, by the
 * new P, (1, 1) / (1 + 2 h) = (1, 1) / 2. The label's weights are (1, 1) / 4, the other's less that.
 */
static void by_hand(void **state)
{
	static const float x[] = {1};
	struct part *linear = linear_of(1, 2, 1, 1);
	float p[2];

	(void)state;
	linear_predict(linear, x, p);
	assert_float_equal(p[0], 0.5, 0);
	linear_learn(linear, x, 1);
	assert_float_equal(linear_weights(linear)[0], -0.25, 1e-12);
	assert_float_equal(linear_weights(linear)[1], -0.25, 1e-12);
	assert_float_equal(linear_weights(linear)[2], 0.25, 1e-12);
	assert_float_equal(linear_weights(linear)[3], 0.25, 1e-12);
	linear_predict(linear, x, p);
	assert_float_equal(p[1], 1 / (1 + exp(-1)), 1e-6);
	linear_free(linear);
}

/* The class is the largest of the first numbers, counted from `first` on. */
static int32_t sample_of(int i, int dim, int first, float *inputs)
{
	int32_t label = 0;

	rng_normals((struct rng){7, RNG_TEST}, (uint64_t)i * (uint64_t)dim, inputs, dim);
	for (int c = 1; c < CLASSES; c++)
		if (inputs[first + c] > inputs[first + label])
			label = c;
	return label;
}

/* How many of samples from..to-1 it had right before it learned them. */
static int hits(struct part *linear, int dim, int first, int from, int to)
{
	float inputs[WIDE], p[CLASSES];
	int right = 0;

	for (int i = from; i < to; i++) {
		const int32_t label = sample_of(i, dim, first, inputs);
		bool most = true;

		linear_predict(linear, inputs, p);
		for (int c = 0; c < CLASSES; c++)
			most = most && p[c] <= p[label];
		right += most;
		linear_learn(linear, inputs, label);
	}
	return right;
}

static void finds_straight_boundaries_and_new_ones(void **state)
{
	static const struct {
		int dim, least, again;
	} rows[] = {{DIM, 180, 160}, {WIDE, 150, 110}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct part *linear = linear_of(rows[i].dim, CLASSES, 0.998, 10);

		hits(linear, rows[i].dim, 0, 0, 800);
		assert_in_range(hits(linear, rows[i].dim, 0, 800, 1000), rows[i].least, 200);
		/* Other inputs matter from now on. */
		hits(linear, rows[i].dim, 3, 1000, 2800);
		assert_in_range(hits(linear, rows[i].dim, 3, 2800, 3000), rows[i].again, 200);
		linear_free(linear);
	}
}

static void assert_sound(const struct part *linear, const float *inputs)
{
	float p[CLASSES], sum = 0;

	linear_predict(linear, inputs, p);
	for (int c = 0; c < CLASSES; c++) {
		assert_true(p[c] >= 0 && p[c] <= 1);
		sum += p[c];
	}
	assert_float_equal(sum, 1, 1e-5);
}

/* Columns of zeros and columns that repeat others, for long; then very large numbers. */
static void odd_inputs_do_no_harm(void **state)
{
	static const int dims[] = {DIM, WIDE};

	(void)state;
	for (size_t k = 0; k < COUNT(dims); k++) {
		struct part *linear = linear_of(dims[k], CLASSES, 0.99, 10);
		float inputs[WIDE] = {0};

		for (int i = 0; i < 20000; i++) {
			inputs[0] = inputs[1] = (float)(i % CLASSES) - 1;
			linear_learn(linear, inputs, i % CLASSES);
		}
		assert_sound(linear, inputs);
		for (int i = 0; i < 100; i++) {
			inputs[2] = i % 2 ? 3e38f : -3e38f;
			linear_learn(linear, inputs, i % CLASSES);
			assert_sound(linear, inputs);
		}
		inputs[2] = 0;
		for (int i = 0; i < 2000; i++)
			hits(linear, dims[k], 0, i, i + 1);
		assert_in_range(hits(linear, dims[k], 0, 2000, 2200), 100, 200);
		linear_free(linear);
	}
}

static void visit(void *object, struct state *state)
{
	linear_state(object, state);
}

static void goes_on_from_its_state(void **state)
{
	static const int dims[] = {DIM, WIDE};

	(void)state;
	for (size_t k = 0; k < COUNT(dims); k++) {
		struct part *straight = linear_of(dims[k], CLASSES, 0.998, 10),
			    *other = linear_of(dims[k], CLASSES, 0.998, 10);
		const size_t bytes = CLASSES * ((size_t)dims[k] + 1) * sizeof(double);
		struct err err = {0};

		hits(straight, dims[k], 0, 0, 50);
		assert_ok(state_save(in_folder("linear"), visit, straight, &err), err);
		assert_ok(state_load(in_folder("linear"), visit, other, &err), err);
		hits(straight, dims[k], 0, 50, 90);
		hits(other, dims[k], 0, 50, 90);
		assert_memory_equal(linear_weights(straight), linear_weights(other), bytes);
		linear_free(straight);
		linear_free(other);
	}
}

static int attempt(void *context, struct err *err)
{
	const struct linear_config config = {DIM, CLASSES, 1, 1};
	struct part *linear;
	const int code = linear_new(&linear, &config, err);

	(void)context;
	linear_free(linear);
	return code;
}

static void memory_may_run_out(void **state)
{
	(void)state;
	assert_int_equal(each_allocation_fails(attempt, NULL), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(finds_straight_boundaries_and_new_ones),
		cmocka_unit_test(odd_inputs_do_no_harm),
		cmocka_unit_test_setup_teardown(goes_on_from_its_state, folder_make, folder_remove),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
