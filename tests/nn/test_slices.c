/* Slices of a buffer: bands follow one another, every float has one owner, and what is kept comes back. */
#include "../base/check.h"

#include <stdlib.h>

#include "nn/ranks/ranks.h"
#include "thread_ranks.h"

enum { MOST = 1000 };

static void every_float_has_one_owner(void **state)
{
	static const size_t sizes[] = {0, 1, 15, 16, 17, 100, 999, 1000};

	for (int count = 1; count <= 9; count++)
		for (size_t k = 0; k < COUNT(sizes) * 3; k++) {
			const struct ranks ranks = {.count = count, .band = k % 3 * 40};
			const size_t floats = sizes[k / 3];
			const int bands = ranks_bands(&ranks, floats);
			size_t next = 0, kept[9] = {0};

			assert_in_range(bands, 1, RANKS_BANDS);
			for (int band = 0; band < bands; band++) {
				assert_int_equal(ranks_band(&ranks, floats, band), next);
				for (int r = 0; r < count; r++) {
					const struct slice slice =
						ranks_slice(&ranks, floats, band, r);

					assert_int_equal(slice.first, next);
					assert_int_equal(slice.at, kept[r]);
					assert_true(slice.first % 16 == 0 || slice.first == floats);
					next += slice.count;
					kept[r] += slice.count;
				}
			}
			assert_int_equal(next, floats);
			for (int r = 0; r < count; r++) {
				const struct ranks me = {
					.count = count, .rank = r, .band = ranks.band};

				assert_int_equal(ranks_own(&me, floats), kept[r]);
			}
		}
}

/* As many as are worth it: none of a small net, and fewer the more ranks there are. */
static void bands_are_worth_their_messages(void **state)
{
	static const struct {
		int count;
		size_t floats;
		int bands;
	} rows[] = {{1, 25557032, 1}, {2, 60000, 1}, {2, 11173962, 16}, {2, 1 << 20, 4},
		{64, 25557032, 16}, {1024, 25557032, 6}, {4096, 25557032, 1}};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const struct ranks ranks = {.count = rows[i].count};

		assert_int_equal(ranks_bands(&ranks, rows[i].floats), rows[i].bands);
	}
	assert_int_equal(ranks_bands(NULL, 25557032), 1);
}

static void keep_and_put(struct ranks *ranks, void *context)
{
	float whole[MOST], own[MOST], back[MOST] = {0};

	for (int i = 0; i < MOST; i++)
		whole[i] = (float)i;
	ranks_keep(ranks, own, whole, MOST);
	ranks_put(ranks, back, own, MOST);
	ranks_gather_slices(ranks, back, MOST);
	for (int i = 0; i < MOST; i++)
		assert_true(back[i] == (float)i);
}

static void what_is_kept_comes_back(void **state)
{
	for (int count = 1; count <= 5; count++)
		thread_ranks(count, keep_and_put, NULL);
}

/* Lanes keep their order, and do not wait for each other. */
static void pass_on(struct ranks *ranks, void *context)
{
	const int next = (ranks->rank + 1) % ranks->count;
	const int last = (ranks->rank + ranks->count - 1) % ranks->count;
	int send[4], receive[4] = {-1, -1, -1, -1}, parcels[4];

	for (int i = 0; i < 4; i++) {
		const struct ranks_message from = {last, &receive[i], sizeof(int), i % 2};

		parcels[i] = ranks->type->begin(ranks, NULL, 0, &from, 1);
		assert_int_equal(parcels[i], i);
	}
	for (int k = 0; k < 4; k++) {
		const int i = k < 2 ? 2 * k + 1 : 2 * (k - 2); /* 1, 3, 0, 2 */
		const struct ranks_message to = {next, &send[i], sizeof(int), i % 2};

		send[i] = 10 * ranks->rank + i;
		ranks->type->begin(ranks, &to, 1, NULL, 0);
		if (k == 1)
			assert_true(ranks->type->done(ranks, parcels[3], true));
	}
	ranks->type->finish(ranks);
	for (int i = 0; i < 4; i++)
		assert_int_equal(receive[i], 10 * last + i);
}

static void lanes_keep_their_order(void **state)
{
	for (int count = 2; count <= 4; count++)
		thread_ranks(count, pass_on, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_float_has_one_owner),
		cmocka_unit_test(bands_are_worth_their_messages),
		cmocka_unit_test(what_is_kept_comes_back),
		cmocka_unit_test(lanes_keep_their_order),
	};

	return cmocka_run_group_tests_name("ranks", tests, NULL, NULL);
}
