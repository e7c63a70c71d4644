/* The place of the label among all classes. */
#include "../base/check.h"

#include <math.h>

#include "nn/rank.h"

static void places(void **state)
{
	static const float rows[][4] = {
		{1, 4, 2, 3},
		{1, 4, 2, 3},
		{2, 2, 2, 2},
		{2, 2, 2, 2},
		{5, 1, 5, 0},
		{NAN, 1, 2, 3},
	};
	static const int32_t labels[] = {1, 0, 0, 3, 2, 0};
	static const int32_t firsts[] = {1, 1, 0, 0, 0, 0}, ranks[] = {1, 4, 1, 4, 2, 4};
	int32_t predicted[6], rank[6];

	(void)state;
	rank_labels(rows[0], 4, labels, 6, predicted, rank);
	for (int i = 0; i < 6; i++)
		if (predicted[i] != firsts[i] || rank[i] != ranks[i])
			fail_msg("row %d: class %d, place %d; expected %d and %d", i, predicted[i],
				rank[i], firsts[i], ranks[i]);
	assert_int_equal(rank_hits(rows[0], 4, labels, 6), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(places)};

	return cmocka_run_group_tests_name("rank", tests, NULL, NULL);
}
