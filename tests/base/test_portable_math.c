/* The series against the C library, which is right to the last bit or so. */
#include "check.h"

#include <math.h>

#include "base/portable_math.h"

static void exponentials(void **state)
{
	for (double x = -700; x <= 700; x += 0.37)
		assert_true(fabs(portable_exp(x) / exp(x) - 1) < 3e-13);
	for (double x = -1; x <= 1; x += 0.001)
		assert_true(fabs(portable_exp(x) / exp(x) - 1) < 1e-15);
	for (int count = 0; count < 20; count++) {
		double all[20];

		for (int i = 0; i < 20; i++)
			all[i] = 90 * i - 800;
		portable_exps(all, count);
		for (int i = 0; i < 20; i++)
			assert_true(
				all[i] == (i < count ? portable_exp(90 * i - 800) : 90 * i - 800));
	}
	assert_true(portable_exp(0) == 1);
	assert_true(isfinite(portable_exp(1e9)));
	assert_true(portable_exp(-1e9) > 0);
}

static void logarithms(void **state)
{
	for (double x = 1e-300; x < 1e300; x *= 1.37)
		assert_true(fabs(portable_log(x) - log(x)) < 1e-15 * (1 + fabs(log(x))));
	for (double x = 0.25; x < 4; x += 0.001)
		assert_true(fabs(portable_log(x) - log(x)) < 1e-14);
	assert_true(portable_log(1) == 0);
}

static void sines(void **state)
{
	for (double x = -20; x <= 20; x += 0.00317)
		assert_true(fabs(portable_sine(x) - sin(2 * acos(-1) * x)) < 1e-13);
	assert_true(portable_sine(0) == 0);
	assert_true(portable_sine(4) == 0);
	assert_true(fabs(portable_sine(0.25) - 1) < 1e-15);
	assert_true(fabs(portable_sine(-0.25) + 1) < 1e-15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(exponentials),
		cmocka_unit_test(logarithms),
		cmocka_unit_test(sines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
