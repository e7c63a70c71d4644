/* Duels: how often one is won by chance, however often it is looked at, and how soon by merit. */
#include "check.h"
#include "base/rng.h"
#include "eval/duel.h"

enum { TRIALS = 2000, PAIRS = 4000 };

static const double MARGIN = 0.005, P = 0.05;

/* Two models that err by chance, agreeing more often than not. */
static double difference(uint64_t trial, uint64_t pair, double gain)
{
	const double u = rng_double((struct rng){7, RNG_TEST}, trial * PAIRS + pair);
	const double disagree = 0.1;

	/* The one is right and the other wrong, the reverse, or both are alike. */
	if (u < (disagree + gain) / 2)
		return 1;
	return u < disagree ? -1 : 0;
}

/* The share of trials in which p was below P at any moment. */
static double won(double gain, double *pairs_needed)
{
	double count = 0, pairs = 0;

	for (uint64_t trial = 0; trial < TRIALS; trial++) {
		struct duel duel = {0};
		int at = 0;

		while (at < PAIRS && duel_p(&duel) >= P)
			duel_add(&duel, difference(trial, (uint64_t)at++, gain), MARGIN);
		count += duel_p(&duel) < P;
		pairs += at;
	}
	*pairs_needed = pairs / TRIALS;
	return count / TRIALS;
}

static void chance_wins_seldom(void **state)
{
	double pairs, alike, behind;

	(void)state;
	/* At the margin itself, which is the hardest case, with a look after every pair. */
	alike = won(MARGIN, &pairs);
	behind = won(-0.02, &pairs);
	print_message("won by chance: %.4f at the margin, %.4f behind it; allowed %.2f\n", alike,
		behind, P);
	assert_true(alike <= P + 3 * sqrt(P * (1 - P) / TRIALS));
	assert_true(behind <= alike);
}

static void merit_wins(void **state)
{
	double pairs;

	(void)state;
	assert_true(won(0.05, &pairs) > 0.99);
	print_message("5 points ahead: won after %.0f pairs on average\n", pairs);
	assert_true(pairs < PAIRS / 2);
}

/* A stream that drifts: first ahead, then as far behind. What was won stays won. */
static void p_never_rises(void **state)
{
	struct duel duel = {0};
	double least = 1;

	(void)state;
	for (int i = 0; i < PAIRS; i++) {
		duel_add(&duel, difference(1, (uint64_t)i, i < PAIRS / 2 ? 0.06 : -0.06), MARGIN);
		assert_true(duel_p(&duel) <= least);
		assert_true(isfinite(duel.fortune));
		least = duel_p(&duel);
	}
	assert_true(least < P && duel_mean(&duel) < 0.02);
}

static void extremes(void **state)
{
	struct duel ahead = {0}, behind = {0}, none = {0};

	(void)state;
	assert_true(isnan(duel_mean(&none)) && duel_p(&none) == 1);
	for (int i = 0; i < 1000; i++) {
		duel_add(&ahead, 1, MARGIN);
		duel_add(&behind, -1, MARGIN);
	}
	assert_true(duel_p(&ahead) < 1e-100 && duel_p(&behind) == 1);
	assert_true(duel_mean(&ahead) == 1 && duel_mean(&behind) == -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(chance_wins_seldom),
		cmocka_unit_test(merit_wins),
		cmocka_unit_test(p_never_rises),
		cmocka_unit_test(extremes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
