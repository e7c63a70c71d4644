/* Albums found by looking back are those that a walk through time with open slots would see. */
#include "check.h"

static const char *const rows[][3] = {
	{"drift.slots=8", "drift.renew=0.125"}, /* packed: a byte for a sample */
	{"drift.slots=1", "drift.renew=1"},     /* no bits at all */
	{"drift.slots=1", "drift.renew=0.0078125"},
	{"drift.slots=2", "drift.renew=0.0078125"}, /* all eight bits */
	{"drift.slots=256", "drift.renew=1"},
	{"drift.slots=16", "drift.renew=0.25"},
	{"drift.slots=7", "drift.renew=0.125"}, /* loose */
	{"drift.slots=8", "drift.renew=0.1"},
	{"drift.slots=256", "drift.renew=0.5"},
	{"drift.slots=3", "drift.renew=1"},
};
static const bool packed[] = {true, false, true, true, true, true, false, false, false, false};

static void looking_back_is_going_forward(void **state)
{
	for (size_t r = 0; r < COUNT(rows); r++) {
		struct drift_world *world = world_with(rows[r]);
		const int slots = world->config.slots;
		int64_t open[256];

		assert_int_equal(world->slot_mask != 0, packed[r]);
		for (int i = 0; i < slots; i++)
			open[i] = i;
		for (int64_t n = 0; n < 20000; n++) {
			bool renewed;
			const int slot = drift_slot(world, n, &renewed);

			assert_true(slot >= 0 && slot < slots);
			if (renewed)
				open[slot] = n + slots;
			if (drift_album_number(world, n) != open[slot])
				fail_msg("%s, %s: sample %d has album %d, not %d", rows[r][0],
					rows[r][1], (int)n, (int)drift_album_number(world, n),
					(int)open[slot]);
		}
		drift_world_free(world);
	}
}

static void slots_and_renewals_are_as_likely_as_said(void **state)
{
	const double draws = 40000;

	for (size_t r = 0; r < COUNT(rows); r++) {
		struct drift_world *world = world_with(rows[r]);
		const double slots = world->config.slots, renew = world->config.renew;
		double counts[256] = {0}, renewals = 0, worst = 0;

		for (int64_t n = 0; n < draws; n++) {
			bool renewed;

			counts[drift_slot(world, n, &renewed)]++;
			renewals += renewed;
		}
		for (int i = 0; i < slots; i++)
			worst = fmax(worst, fabs(counts[i] / draws - 1 / slots));
		assert_near("slots", worst, 0, sqrt(1 / slots / draws));
		assert_near("renewals", renewals / draws, renew,
			sqrt(renew * (1 - renew) / draws) + 1e-12);
		drift_world_free(world);
	}
}

/* The same slot, and not renewed since. */
static void neighbours_are_alike(void **state)
{
	static const int distances[] = {1, 2, 10, 64};
	struct drift_world *world = world_with(NULL);
	static int64_t numbers[100100];

	for (int64_t n = 0; n < (int64_t)COUNT(numbers); n++)
		numbers[n] = drift_album_number(world, n);
	for (size_t i = 0; i < COUNT(distances); i++) {
		const int far = distances[i];
		const double expected = 1.0 / 8 * 7 / 8 * pow(1 - 1.0 / 64, far - 1);
		int same = 0;

		for (int n = 0; n < 100000; n++)
			same += numbers[n] == numbers[n + far];
		/* An album's pairs are not independent: allow for runs of about eight. */
		assert_near("pairs of an album", same / 1e5, expected, sqrt(8 * expected / 100000));
	}
	drift_world_free(world);
}

static void albums_are_drawn_from_the_prior_of_their_time(void **state)
{
	struct drift_world *world = world_with(NULL);
	double shares[100], expected[100] = {0}, chi = 0;
	int counts[100] = {0}, modes[3] = {0}, albums = 0, cells = 0;

	for (int64_t n = 0; n < 160000; n++) {
		const struct drift_album album = drift_album_of(world, SOURCE_STREAM, n);

		if (album.number != n + 8)
			continue;
		drift_prior(world, drift_refresh(world, n / 32), shares);
		assert_true(shares[album.class] > 0);
		for (int i = 0; i < 100; i++)
			expected[i] += shares[i];
		counts[album.class]++;
		modes[album.mode]++;
		albums++;
	}
	for (int i = 0; i < 100; i++)
		if (expected[i] > 5)
			chi += pow(counts[i] - expected[i], 2) / expected[i], cells++;
	if (chi > cells + 5 * sqrt(2 * cells))
		fail_msg("chi-square %g over %d cells", chi, cells);
	assert_near("albums", albums / 160000.0, 0.125, sqrt(0.11 / 160000));
	for (int i = 0; i < 3; i++)
		assert_near("modes", (double)modes[i] / albums, 1 / 3.0, sqrt(0.23 / albums));
	drift_world_free(world);
}

static void first_albums_are_of_classes_that_exist(void **state)
{
	for (int seed = 1; seed <= 50; seed++) {
		char setting[32];
		struct drift_world *world;

		snprintf(setting, sizeof(setting), "run.seed=%d", seed);
		world = world_with(SETTINGS(setting));
		for (int64_t n = 0; n < 20; n++) {
			const struct drift_album album = drift_album_of(world, SOURCE_STREAM, n);

			assert_true(album.number < n + 9);
			assert_true(world->births[album.class] == 0);
		}
		drift_world_free(world);
	}
}

static void evaluation_samples_have_albums_of_their_own(void **state)
{
	struct drift_world *world = world_with(NULL);
	int same = 0;

	for (int64_t n = 0; n < 20000; n++) {
		const struct drift_album album = drift_album_of(world, SOURCE_EVAL, n);

		assert_int_equal(album.number, n);
		assert_true(world->births[album.class] <= (double)(n / 4) / 5000);
		same += album.class == drift_album_of(world, SOURCE_STREAM, n).class;
	}
	assert_true(same < 5000);
	drift_world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looking_back_is_going_forward),
		cmocka_unit_test(slots_and_renewals_are_as_likely_as_said),
		cmocka_unit_test(neighbours_are_alike),
		cmocka_unit_test(albums_are_drawn_from_the_prior_of_their_time),
		cmocka_unit_test(first_albums_are_of_classes_that_exist),
		cmocka_unit_test(evaluation_samples_have_albums_of_their_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
