/*
 * Schedules that decide by scores, against tables worked out by hand: for every window
 * its scores, and then ages, conditions and cuts.
 */
#include "schedule_check.h"

/* A window: its scores; what is expected of the verdict. A mean of -100: do not look. */
struct row {
	double loss, gap;
	int score_age, sigma_age;
	double mean;      /* in 64ths */
	const char *held; /* which conditions: "12", "3", ... */
	bool cut;
};

static void follow(const char *what, const struct schedule_config *config, const struct row *rows,
	size_t count)
{
	struct schedule *schedule = schedule_of(config);
	double rate = config->rate;

	for (size_t n = 0; n < count; n++) {
		const int64_t k = (int64_t)(n + 1) * WINDOW;
		const int best = SCORES_AVERAGE + (int)(n % 2);
		const struct scores scores = scores_with(best, rows[n].loss, rows[n].gap);
		const struct schedule_verdict v = schedule_window(schedule, k, &scores, best);
		char held[4] = "", *end = held;

		if (v.c1)
			*end++ = '1';
		if (v.c2)
			*end++ = '2';
		if (v.c3)
			*end++ = '3';
		*end = '\0';
		assert_true(v.score == -rows[n].loss && v.sigma == rows[n].gap / 64);
		if (v.score_age != rows[n].score_age || v.sigma_age != rows[n].sigma_age)
			fail_msg("%s, window %zu: ages %d and %d", what, n + 1, (int)v.score_age,
				(int)v.sigma_age);
		if (rows[n].mean != -100 && fabs(v.sigma_mean * 64 - rows[n].mean) > 1e-12)
			fail_msg("%s, window %zu: mean %g", what, n + 1, v.sigma_mean * 64);
		if (strcmp(held, rows[n].held) || v.cut != rows[n].cut)
			fail_msg("%s, window %zu: conditions \"%s\", %s", what, n + 1, held,
				v.cut ? "cut" : "not cut");
		assert_true(v.before == rate);
		rate *= v.cut ? config->factor : 1;
		assert_true(v.after == rate);
		assert_true(schedule_rate(schedule, k + 1) == rate);
	}
	schedule_free(schedule);
}

static void rwp(void **state)
{
	static const struct row rows[] = {
		{2.00, 0, 0, 0, 0, "", false},
		{1.50, 0, 0, 0, 0, "", false},
		{1.75, 0, 10, 0, 0, "", false},
		{1.50, 9, 20, 0, 0, "", false}, /* as good is not better */
		{1.75, 9, 30, 0, 0, "1", true},
		{1.75, 9, 10, 0, 0, "", false}, /* patience starts again, the best stays 1.5 */
		{1.625, 0, 20, 0, 0, "", false},
		{1.5625, 0, 30, 0, 0, "1", true},
		{1.25, 0, 0, 0, 0, "", false},
		{1.25, 0, 10, 0, 0, "", false},
		{1.50, 0, 20, 0, 0, "", false},
		{1.50, 0, 30, 0, 0, "1", true},
	};
	const struct schedule_config config = config_of("rwp");

	follow("rwp", &config, rows, COUNT(rows));
}

static void rwp_that_forgets(void **state)
{
	static const struct row rows[] = {
		{2.00, 0, 0, 0, 0, "", false},
		{1.50, 0, 0, 0, 0, "", false},
		{1.75, 0, 10, 0, 0, "", false},
		{1.50, 0, 20, 0, 0, "", false},
		{1.75, 0, 30, 0, 0, "1", true},
		{1.75, 0, 0, 0, 0, "", false}, /* the first after a cut is the best */
		{1.625, 0, 0, 0, 0, "", false},
		{1.625, 0, 10, 0, 0, "", false},
		{1.75, 0, 20, 0, 0, "", false},
		{1.75, 0, 30, 0, 0, "1", true},
	};
	struct schedule_config config = config_of("rwp");

	config.reset_best = true;
	follow("rwp, reset_best", &config, rows, COUNT(rows));
}

/* Without averages the plain model's loss counts. */
static void rwp_of_the_plain_model(void **state)
{
	const struct schedule_config config = config_of("rwp");
	struct schedule *schedule = schedule_of(&config);

	for (int64_t n = 1; n <= 4; n++) {
		const struct score means[SCORES_MODELS] = {{2, 0.5}};
		const struct scores scores = scores_of(1, means);
		const struct schedule_verdict v =
			schedule_window(schedule, n * WINDOW, &scores, SCORES_PLAIN);

		assert_true(v.score == -2 && v.sigma == 0);
		assert_int_equal(v.score_age, (n - 1) * WINDOW);
		assert_true(v.cut == (n == 4));
	}
	schedule_free(schedule);
}

static void c1_alone(void **state)
{
	static const struct row rows[] = {
		{2.00, 0, 0, 0, 0, "", false},
		{1.50, 6, 0, 0, 3, "", false},
		{1.75, 6, 10, 10, 4, "", false},
		{1.50, 7, 20, 0, -100, "", false},
		{1.75, 9, 30, 0, -100, "1", true}, /* though the gap grows */
		{1.75, 0, 0, 0, 0, "", false},     /* all is forgotten */
		{1.75, 0, 10, 10, 0, "", false},
		{1.75, 0, 20, 20, 0, "", false},
		{1.50, 0, 0, 30, 0, "", false},
		{1.50, 0, 10, 40, 0, "", false},
		{1.50, 0, 20, 50, 0, "", false},
		{1.50, 0, 30, 60, 0, "1", true},
	};
	struct schedule_config config = config_of("malr");

	config.c2 = config.c3 = false;
	follow("c1", &config, rows, COUNT(rows));
}

static void c2_alone(void **state)
{
	static const struct row rows[] = {
		{2.00, 1, 0, 0, 1, "", false},
		{1.50, 3, 0, 0, 2, "", false},
		{1.25, 2, 0, 10, 2, "", false},
		{1.00, 3, 0, 20, -100, "", false},  /* as large is not larger */
		{0.50, -1, 0, 30, -100, "2", true}, /* though the loss falls */
		{0.50, -2, 0, 0, -2, "", false},
		{0.50, -1, 10, 0, -1.5, "", false},
		{0.50, -1, 20, 10, -100, "", false},
		{0.50, -2, 30, 20, -100, "", false},
		{0.50, -3, 40, 30, -2, "2", true},
	};
	struct schedule_config config = config_of("malr");

	config.c1 = config.c3 = false;
	follow("c2", &config, rows, COUNT(rows));
}

static void c3_alone(void **state)
{
	static const struct row rows[] = {
		{2.00, 6, 0, 0, 6, "", false}, /* large, but not for 30 iterations */
		{1.50, 6, 0, 10, 6, "", false},
		{1.25, 0, 0, 20, 4, "3", true},
		{1.00, 3, 0, 0, 3, "", false}, /* 6, 6, 0 are forgotten */
		{0.75, 3, 0, 10, 3, "", false},
		{0.50, 3, 0, 20, 3, "", false}, /* as large as epsilon is not enough */
		{0.25, 6, 0, 0, 4, "3", true},
		{0.25, 0, 0, 0, 0, "", false},
		{0.25, 0, 10, 10, 0, "", false},
		{0.25, 0, 20, 20, 0, "", false},
		{0.25, 0, 30, 30, 0, "", false},
		{0.25, 6, 40, 0, 2, "", false},
		{0.25, 6, 50, 10, 4, "3", true},
	};
	struct schedule_config config = config_of("malr");

	config.c1 = config.c2 = false;
	follow("c3", &config, rows, COUNT(rows));
}

static void all_conditions_together(void **state)
{
	static const struct row rows[] = {
		{2.000, 1, 0, 0, 1, "", false},
		{1.750, 4, 0, 0, 2.5, "", false},
		{1.500, 7, 0, 0, 4, "3", false},
		{1.500, 7, 10, 10, 6, "3", false},
		{1.750, 4, 20, 20, 6, "3", false},
		{1.250, 4, 0, 30, 5, "23", false}, /* C1 is missing */
		{1.500, 10, 10, 0, 6, "3", false},
		{1.500, 4, 20, 10, 6, "3", false},
		{1.500, 1, 30, 20, 5, "13", false}, /* C2 is missing */
		{1.500, 1, 40, 30, 2, "12", false}, /* C3 is missing */
		{1.500, 7, 50, 40, 3, "12", false}, /* still: 3 is not above 3 */
		{1.500, 4, 60, 50, 4, "123", true},
		{3.000, 1, 0, 0, 1, "", false}, /* bests and gaps are forgotten */
		{3.000, 1, 10, 10, 1, "", false},
		{3.000, 1, 20, 20, 1, "", false},
		{3.000, 1, 30, 30, 1, "12", false},
		{3.000, 7, 40, 0, 3, "1", false},
		{3.000, 7, 50, 10, 5, "13", false},
		{3.000, 7, 60, 20, 7, "13", false},
		{3.000, 7, 70, 30, 7, "123", true},
	};
	const struct schedule_config config = config_of("malr");

	follow("malr", &config, rows, COUNT(rows));
}

/* In supervised learning C3 is off and a cut is to a tenth. */
static void c1_and_c2(void **state)
{
	static const struct row rows[] = {
		{2.00, 0, 0, 0, 0, "", false},
		{2.00, 1, 10, 0, 0.5, "", false},
		{2.00, 1, 20, 10, -100, "", false},
		{2.00, 1, 30, 20, 1, "1", false},
		{2.00, 1, 40, 30, 1, "12", true},
	};
	struct schedule_config config = config_of("malr");

	config.c3 = false;
	config.factor = 0.1;
	follow("c1 and c2", &config, rows, COUNT(rows));
}

/* Patience that is no multiple of a window: ages round up to a window's end, the mean down. */
static void patience_between_windows(void **state)
{
	static const struct row rows[] = {
		{2.00, 6, 0, 0, 6, "", false},
		{2.00, 4, 10, 10, 5, "3", false},
		{2.00, 4, 20, 20, 4, "3", false},
		{2.00, 2, 30, 30, 3, "12", false},
		{2.00, 6, 40, 40, 4, "123", true},
	};
	struct schedule_config config = config_of("malr");

	config.patience = 25;
	follow("patience 25", &config, rows, COUNT(rows));
}

/* Gaps of 2/64 and 4/64 in turn: deviation sqrt(2)/64 of two, sqrt(4/3)/64 of four rounds, over
 * sqrt(n). */
static void the_error_of_the_mean_gap(void **state)
{
	const struct schedule_config config = config_of("malr");
	struct schedule *schedule = schedule_of(&config);
	static const double wanted[] = {1 / 64.0, 0.57735026918962576 / 64};
	struct scores one = {.models = 2};
	const struct score lone[SCORES_MODELS] = {{1, 0.5}, {1, 0.6}};

	for (int n = 0; n < 2; n++) {
		struct scores scores = {.models = 2};
		const struct score rounds[2][SCORES_MODELS] = {
			{{1, 0.25}, {1, 0.25 + 2 / 64.0}}, {{1, 0.75}, {1, 0.75 + 4 / 64.0}}};
		struct schedule_verdict v;

		scores_add(&scores, rounds[0]);
		scores_add(&scores, rounds[1]);
		v = schedule_window(schedule, (n + 1) * WINDOW, &scores, SCORES_AVERAGE);
		assert_true(fabs(v.sigma_mean - 3 / 64.0) < 1e-15);
		assert_true(fabs(v.sigma_error - wanted[n]) < 1e-15);
	}
	schedule_free(schedule);

	/* One round has no spread. */
	schedule = schedule_of(&config);
	scores_add(&one, lone);
	assert_true(schedule_window(schedule, WINDOW, &one, SCORES_AVERAGE).sigma_error == 0);
	schedule_free(schedule);
}

/* Noise is told once there was patience, and only where C3 counts. */
static void gaps_that_drown(void **state)
{
	static const struct {
		double spread; /* around a gap of 4/64; epsilon / 3 is 1/64 */
		bool c3;
		int64_t k;
		bool noisy;
	} rows[] = {
		{1.5 / 64, true, PATIENCE, true},
		{0.5 / 64, true, PATIENCE, false},
		{1.5 / 64, true, PATIENCE - WINDOW, false},
		{1.5 / 64, false, PATIENCE, false},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct schedule_config config = config_of("malr");
		const double least = 4 / 64.0 - rows[i].spread, most = 4 / 64.0 + rows[i].spread;
		const struct score rounds[2][SCORES_MODELS] = {
			{{1, 0.5}, {1, 0.5 + least}}, {{1, 0.5}, {1, 0.5 + most}}};
		struct scores scores = {.models = 2};
		struct schedule *schedule;

		config.c3 = rows[i].c3;
		schedule = schedule_of(&config);
		scores_add(&scores, rounds[0]);
		scores_add(&scores, rounds[1]);
		assert_int_equal(
			schedule_window(schedule, rows[i].k, &scores, SCORES_AVERAGE).noisy,
			rows[i].noisy);
		schedule_free(schedule);
	}
}

/* A window without scores decides nothing, however old the best is. */
static void windows_without_scores(void **state)
{
	static const char *const kinds[] = {"rwp", "malr"};

	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct schedule_config config = config_of(kinds[i]);
		const struct scores none = {.models = SCORES_MODELS};
		const struct scores some = scores_with(SCORES_AVERAGE, 2, 5);
		struct schedule *schedule;
		struct schedule_verdict v;

		config.c2 = config.c3 = false;
		schedule = schedule_of(&config);
		for (int64_t k = WINDOW; k <= 10 * WINDOW; k += WINDOW)
			assert_false(schedule_window(schedule, k, &none, SCORES_AVERAGE).cut);
		v = schedule_window(schedule, 110, &some, SCORES_AVERAGE);
		assert_int_equal(v.score_age, 0);
		assert_false(schedule_window(schedule, 150, &none, SCORES_AVERAGE).cut);
		v = schedule_window(schedule, 160, &some, SCORES_AVERAGE);
		assert_int_equal(v.score_age, 50);
		assert_true(v.cut);
		schedule_free(schedule);
	}
}

/* A loss that is not a number is no improvement, and does not become the best. */
static void losses_that_are_no_numbers(void **state)
{
	const struct schedule_config config = config_of("rwp");
	struct schedule *schedule = schedule_of(&config);
	const struct scores bad = scores_with(SCORES_AVERAGE, NAN, 0);
	const struct scores good = scores_with(SCORES_AVERAGE, 100, 0);

	assert_int_equal(schedule_window(schedule, 10, &bad, SCORES_AVERAGE).score_age, 10);
	assert_int_equal(schedule_window(schedule, 20, &good, SCORES_AVERAGE).score_age, 0);
	assert_int_equal(schedule_window(schedule, 30, &bad, SCORES_AVERAGE).score_age, 10);
	schedule_free(schedule);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rwp),
		cmocka_unit_test(rwp_that_forgets),
		cmocka_unit_test(rwp_of_the_plain_model),
		cmocka_unit_test(c1_alone),
		cmocka_unit_test(c2_alone),
		cmocka_unit_test(c3_alone),
		cmocka_unit_test(all_conditions_together),
		cmocka_unit_test(c1_and_c2),
		cmocka_unit_test(patience_between_windows),
		cmocka_unit_test(the_error_of_the_mean_gap),
		cmocka_unit_test(gaps_that_drown),
		cmocka_unit_test(windows_without_scores),
		cmocka_unit_test(losses_that_are_no_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
