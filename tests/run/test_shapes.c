/* Generated images: repeatable, balanced, in range, and really showing something. */
#include <math.h>

#include "../base/check.h"
#include "run/shapes.h"

static void test_repeatable(void **state)
{
	static float a[SHAPES_FLOATS], b[SHAPES_FLOATS];

	for (uint64_t i = 0; i < 20; i++) {
		shapes_draw(7, i, a);
		memset(b, 0xff, sizeof(b));
		shapes_draw(7, i + 1, b); /* whatever was drawn in between */
		assert_memory_not_equal(a, b, sizeof(a));
		shapes_draw(7, i, b);
		assert_memory_equal(a, b, sizeof(a));
		shapes_draw(8, i, b);
		assert_memory_not_equal(a, b, sizeof(a));
		assert_int_equal(shapes_label(7, i), shapes_label(7, i));
	}
}

static void test_balanced(void **state)
{
	int follows[SHAPES_CLASSES][SHAPES_CLASSES] = {{0}};

	for (uint64_t ten = 0; ten < 500; ten++) {
		unsigned seen = 0;
		for (uint64_t i = 0; i < SHAPES_CLASSES; i++) {
			const int label = shapes_label(3, ten * SHAPES_CLASSES + i);
			assert_in_range(label, 0, SHAPES_CLASSES - 1);
			seen |= 1u << label;
			follows[i][label]++;
		}
		assert_int_equal(seen, (1u << SHAPES_CLASSES) - 1);
	}
	/* 50 expected in each place of the ten, with a deviation of 6.7. */
	for (int i = 0; i < SHAPES_CLASSES; i++)
		for (int label = 0; label < SHAPES_CLASSES; label++)
			assert_in_range(follows[i][label], 20, 80);
}

static void test_in_range(void **state)
{
	static float image[SHAPES_FLOATS + 1];
	const uint64_t last = (UINT64_C(1) << 56) - 1;

	for (uint64_t i = 0; i < 2000; i++) {
		float least = 1, most = -1;
		image[SHAPES_FLOATS] = 5;
		shapes_draw(1, i % 2 ? i : last - i, image);
		for (int k = 0; k < SHAPES_FLOATS; k++) {
			assert_true(image[k] >= -1 && image[k] <= 1);
			least = image[k] < least ? image[k] : least;
			most = image[k] > most ? image[k] : most;
		}
		assert_true(most - least > 0.5f);
		assert_true(image[SHAPES_FLOATS] == 5);
	}
}

/*
 * Neither the mean brightness of a class nor its mean image may give it away: the
 * first is 0 for all, and the second stays within what chance makes of it.
 */
static void test_no_linear_hint(void **state)
{
	enum { IMAGES = 4000 };
	static float image[SHAPES_FLOATS];
	static double mean[SHAPES_CLASSES][SHAPES_FLOATS];
	const double each = (double)IMAGES / SHAPES_CLASSES;

	for (uint64_t i = 0; i < IMAGES; i++) {
		const int label = shapes_label(1, i);
		shapes_draw(1, i, image);
		for (int k = 0; k < SHAPES_FLOATS; k++)
			mean[label][k] += image[k] / each;
	}
	for (int label = 0; label < SHAPES_CLASSES; label++) {
		double all = 0;
		for (int k = 0; k < SHAPES_FLOATS; k++) {
			all += mean[label][k] / SHAPES_FLOATS;
			/* A number's deviation is below 0.6, that of its mean below 0.03. */
			assert_true(fabs(mean[label][k]) < 0.15);
		}
		assert_true(fabs(all) < 0.1);
	}
}

static void test_names(void **state)
{
	for (int i = 0; i < SHAPES_CLASSES; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(shapes_name(i), shapes_name(k));
	assert_string_equal(shapes_name(0), "disc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_repeatable),
		cmocka_unit_test(test_balanced),
		cmocka_unit_test(test_in_range),
		cmocka_unit_test(test_no_linear_hint),
		cmocka_unit_test(test_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
