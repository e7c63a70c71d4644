/*
 * Averages against traces worked out by hand: for each of AMA's rules the
 * weights, the copies and who serves, over windows with prescribed scores.
 * Beyond that: when updates are due, the unfolded equation, state, refusals.
 */
#include <math.h>

#include "../base/check.h"
#include "../base/folder.h"
#include "optim/average.h"
#include "scores_of.h"

enum { FLOATS = 3 };

static const float start_params[FLOATS] = {1, -2, 0.5f};

static struct average_config config_of(const char *kind, const char *rule)
{
	return (struct average_config){kind, rule, 0.99, 5, 2500, 1};
}

static struct average *average_of(const struct average_config *config)
{
	struct average *average;
	struct err err;

	if (average_new(&average, config, start_params, FLOATS, &err))
		fail_msg("%s", err.message);
	return average;
}

/* What the optimizer's pass does to averages that are due. */
static void update(struct average *average, int64_t k, float param)
{
	const struct average_step *step = average_due(average, k);

	for (int i = 0; step && i < step->count; i++)
		for (int j = 0; j < FLOATS; j++)
			step->average[i][j] = step->keep[i] * step->average[i][j] +
					      (1 - step->keep[i]) * (param + (float)j);
}

static struct scores accuracies(double first, double second)
{
	const struct score means[SCORES_MODELS] = {{9, 0.3}, {3, first}, {2, second}};

	return scores_of(3, means);
}

/* One window: two accuracies, the better one, then gamma 1 and 2 and who serves after the move. */
struct window {
	double first, second;
	int better;
	double gamma[2];
	int serves;
};

static void follow(const char *rule, const double start[2], const struct window *rows, size_t count)
{
	const struct average_config config = config_of("ama", rule);
	struct average *average = average_of(&config);
	const struct scores none = {.models = 3};

	assert_int_equal(average_best(average, &none), 0);
	for (int i = 0; i < 2; i++)
		if (fabs(average_gamma(average, i) - start[i]) > 1e-12)
			fail_msg("%s starts with gamma%d = %.15g", rule, i + 1,
				average_gamma(average, i));
	for (size_t n = 0; n < count; n++) {
		const struct scores scores = accuracies(rows[n].first, rows[n].second);
		float better[FLOATS];

		update(average, (int64_t)n + 1, (float)n);
		memcpy(better, average_params(average, rows[n].better), sizeof(better));
		assert_int_equal(average_best(average, &scores), rows[n].better);
		assert_int_equal(average_window(average, &scores), rows[n].better);
		for (int i = 0; i < 2; i++) {
			if (fabs(average_gamma(average, i) - rows[n].gamma[i]) > 1e-12)
				fail_msg("%s, window %zu: gamma%d = %.15g, not %g", rule, n + 1,
					i + 1, average_gamma(average, i), rows[n].gamma[i]);
			assert_true(average_due(average, 1)->keep[i] ==
				    (float)average_gamma(average, i));
			if (memcmp(better, average_params(average, i), sizeof(better)))
				fail_msg("%s, window %zu: average %d is not a copy of the better "
					 "one",
					rule, n + 1, i + 1);
		}
		if (average_best(average, &none) != rows[n].serves)
			fail_msg("%s, window %zu: average %d serves", rule, n + 1,
				average_best(average, &none) + 1);
	}
	average_free(average);
}

/* gamma1 <- min(1, 5 gamma1), gamma2 = gamma1 / 5; or both / 5. Then i_best is the other one. */
static void paper(void **state)
{
	static const double start[2] = {0.99, 0.198};
	static const struct window rows[] = {
		{0.50, 0.40, 0, {1, 0.2}, 1}, /* 4.95 is too much */
		{0.40, 0.50, 1, {0.2, 0.04}, 0},
		{0.50, 0.40, 0, {1, 0.2}, 1}, /* exactly 1; 0.99 does not return */
		{0.50, 0.40, 0, {1, 0.2}, 1}, /* 5 is too much: frozen */
		{0.40, 0.50, 1, {0.2, 0.04}, 0},
		{0.10, 0.15, 1, {0.04, 0.008}, 0},
		{0.50, 0.50, 1, {0.008, 0.0016}, 0}, /* a tie */
		{0.60, 0.50, 0, {0.04, 0.008}, 1},
	};

	follow("paper", start, rows, COUNT(rows));
}

/* The same moves for g = 1 - gamma: 0.01 and 0.002 to start with. */
static void swap(void **state)
{
	static const double start[2] = {0.99, 0.998};
	static const struct window rows[] = {
		{0.50, 0.40, 0, {0.95, 0.99}, 1},      /* g: 0.05, 0.01 */
		{0.50, 0.40, 0, {0.75, 0.95}, 1},      /* 0.25, 0.05 */
		{0.50, 0.40, 0, {0, 0.8}, 1},          /* 1 (1.25 is too much), 0.2 */
		{0.50, 0.40, 0, {0, 0.8}, 1},          /* 1, 0.2 */
		{0.40, 0.50, 1, {0.8, 0.96}, 0},       /* 0.2, 0.04 */
		{0.50, 0.50, 1, {0.96, 0.992}, 0},     /* a tie: 0.04, 0.008 */
		{0.40, 0.50, 1, {0.992, 0.9984}, 0},   /* 0.008, 0.0016 */
		{0.40, 0.50, 1, {0.9984, 0.99968}, 0}, /* 0.0016, 0.00032 */
		{0.50, 0.40, 0, {0.992, 0.9984}, 1},
	};

	follow("swap", start, rows, COUNT(rows));
}

/* Windows, in updates: 100 and 20 to start with; the longer one in [5, 2500]. */
static void window(void **state)
{
	static const double start[2] = {0.99, 0.95};
	static const struct window rows[] = {
		{0.50, 0.40, 0, {0.998, 0.99}, 1},   /* 500, 100 */
		{0.50, 0.40, 0, {0.9996, 0.998}, 1}, /* 2500, 500 */
		{0.50, 0.40, 0, {0.9996, 0.998}, 0}, /* the longest; nothing moves */
		{0.40, 0.50, 1, {0.998, 0.99}, 0},   /* 500, 100 */
		{0.50, 0.50, 1, {0.99, 0.95}, 0},    /* a tie: 100, 20 */
		{0.40, 0.50, 1, {0.95, 0.75}, 0},    /* 20, 4 */
		{0.40, 0.50, 1, {0.8, 0}, 0},        /* 5 (4 is too short), 1; 5 is nearer to 4 */
		{0.40, 0.50, 1, {0.8, 0}, 1},        /* the shortest; nothing moves */
		{0.50, 0.40, 0, {0.96, 0.8}, 1},     /* 25, 5 */
		{0.50, 0.40, 0, {0.992, 0.96}, 1},   /* 125, 25 */
	};

	follow("window", start, rows, COUNT(rows));
}

/* A start beyond the limits starts at the limit. */
static void window_starts_within_limits(void **state)
{
	static const struct {
		double gamma, first, second;
	} rows[] = {
		{0.5, 0.8, 0},            /* 2 updates: 5 and 1 */
		{0.8, 0.8, 0},            /* just 5 */
		{0.9995, 0.9995, 0.9975}, /* 2000 and 400 */
		{0.9999, 0.9996, 0.998},  /* 10000: 2500 and 500 */
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct average_config config = config_of("ama", "window");
		struct average *average;

		config.gamma = rows[i].gamma;
		average = average_of(&config);
		assert_true(fabs(average_gamma(average, 0) - rows[i].first) < 1e-12);
		assert_true(fabs(average_gamma(average, 1) - rows[i].second) < 1e-12);
		average_free(average);
	}
}

/* Scores of the window so far decide who serves at any time, and do not move anything. */
static void serving_within_a_window(void **state)
{
	static const char *const rules[] = {
		"window", "swap", "paper", "window-longer", "swap-shorter"};
	static const int at_tie[] = {1, 1, 1, 0, 0};

	for (size_t r = 0; r < COUNT(rules); r++) {
		const struct average_config config = config_of("ama", rules[r]);
		struct average *average = average_of(&config);
		const struct scores first = accuracies(0.5, 0.4), second = accuracies(0.4, 0.5);
		const struct scores tie = accuracies(0.5, 0.5), none = {.models = 3};
		const double gamma = average_gamma(average, 0);

		assert_int_equal(average_best(average, &second), 1);
		assert_int_equal(average_best(average, &first), 0);
		assert_int_equal(average_best(average, &tie), at_tie[r]);
		assert_int_equal(average_best(average, &none), 0);

		/* A window without scores: nothing moves, nothing is copied. */
		update(average, 1, 7);
		assert_int_equal(average_window(average, &none), 0);
		assert_true(average_gamma(average, 0) == gamma);
		assert_memory_not_equal(average_params(average, 0), average_params(average, 1),
			sizeof(start_params));
		average_free(average);
	}
}

static void none_and_ema(void **state)
{
	struct average_config config = config_of("none", "window");
	const struct scores scores = accuracies(0.5, 0.4);
	struct average *average = average_of(&config);

	assert_int_equal(average_count(average), 0);
	assert_int_equal(average_best(average, &scores), -1);
	assert_int_equal(average_window(average, &scores), -1);
	assert_null(average_due(average, 10));
	average_free(average);

	config.kind = "ema";
	average = average_of(&config);
	assert_int_equal(average_count(average), 1);
	for (int64_t k = 1; k < 4; k++) {
		assert_int_equal(average_best(average, &scores), 0);
		assert_int_equal(average_window(average, &scores), 0);
		assert_true(average_gamma(average, 0) == 0.99);
		assert_true(average_due(average, k)->keep[0] == 0.99f);
	}
	average_free(average);
	average_free(NULL);
}

static void due_every_so_many_iterations(void **state)
{
	struct average_config config = config_of("ama", "window");
	struct average *average;

	config.every = 10;
	average = average_of(&config);
	for (int64_t k = 1; k <= 40; k++) {
		const struct average_step *step = average_due(average, k);

		assert_true((step != NULL) == (k == 10 || k == 20 || k == 30 || k == 40));
		if (step) {
			assert_int_equal(step->count, 2);
			assert_ptr_equal(step->average[0], average_params(average, 0));
			assert_ptr_equal(step->average[1], average_params(average, 1));
		}
	}
	average_free(average);
}

/*
 * Eq. MA_unfold: the average is (1 - g_k) p_k, + the sum over i < k of (1 - g_i) g_(i+1) ... g_k
 * p_i, + g_1 ... g_k p_0, where g_j is gamma at update j. MA1 wins every window here, so it is
 * never overwritten while its gamma changes.
 */
static double unfolded(const double *gammas, const float *params, int k)
{
	double sum = (1 - gammas[k]) * params[k], shares = 1 - gammas[k];

	for (int i = k - 1; i >= 0; i--) {
		double share = i ? 1 - gammas[i] : 1;

		for (int j = i + 1; j <= k; j++)
			share *= gammas[j];
		sum += share * params[i];
		shares += share;
	}
	/* A point of the convex hull. */
	assert_true(fabs(shares - 1) < 1e-12);
	return sum;
}

static void the_unfolded_equation(void **state)
{
	static const float params[] = {1, 3, -2, 5, 0.5f, 4, -1};
	static const struct {
		const char *kind, *rule;
		double gamma;
	} rows[] = {{"ema", "window", 0.6}, {"ama", "window", 0.8}, {"ama", "swap", 0.99},
		{"ama", "paper", 0.03}};

	for (size_t r = 0; r < COUNT(rows); r++) {
		struct average_config config = config_of(rows[r].kind, rows[r].rule);
		const struct scores scores = accuracies(0.5, 0.4);
		double gammas[COUNT(params)] = {0};
		struct average *average;

		config.gamma = rows[r].gamma;
		average = average_of(&config);
		for (int k = 1; k < (int)COUNT(params); k++) {
			const double got = (update(average, k, params[k]),
				(double)average_params(average, 0)[0]);
			double want;

			gammas[k] = average_gamma(average, 0);
			want = unfolded(gammas, params, k);
			if (fabs(got - want) > 1e-6)
				fail_msg("%s, %s, update %d: %.9g, not %.9g", rows[r].kind,
					rows[r].rule, k, got, want);
			if (k % 2 == 0)
				average_window(average, &scores);
		}
		average_free(average);
	}
}

static void visit(void *average, struct state *state)
{
	average_state(average, state);
}

/* Windows n, n + 1, ... up to `last`, each of three updates. */
static void run(struct average *average, int first, int last)
{
	static const double pairs[][2] = {
		{0.5, 0.4}, {0.4, 0.5}, {0.5, 0.5}, {0.6, 0.5}, {0.4, 0.3}, {0.2, 0.3}, {0.5, 0.4}};

	for (int n = first; n <= last; n++) {
		const struct scores scores = accuracies(pairs[n % 7][0], pairs[n % 7][1]);

		for (int i = 0; i < 3; i++)
			update(average, 3 * n + i, (float)(n * i) - 4);
		average_window(average, &scores);
	}
}

static void assert_same_average(struct average *a, struct average *b, const char *what)
{
	const struct scores none = {.models = 3};

	if (average_best(a, &none) != average_best(b, &none))
		fail_msg("%s: another one serves", what);
	for (int i = 0; i < average_count(a); i++) {
		if (average_gamma(a, i) != average_gamma(b, i) ||
			average_due(a, 1)->keep[i] != average_due(b, 1)->keep[i])
			fail_msg("%s: another gamma", what);
		if (memcmp(average_params(a, i), average_params(b, i), sizeof(start_params)))
			fail_msg("%s: other parameters", what);
	}
}

static void the_state_is_all_there_is(void **state)
{
	static const char *const rules[] = {"window", "swap", "paper", "swap-shorter"};

	for (int t = 0; average_types[t]; t++)
		for (size_t r = 0; r < COUNT(rules); r++)
			for (int stop = 0; stop <= 8; stop++) {
				const struct average_config config =
					config_of(average_type_name(average_types[t]), rules[r]);
				struct average *straight = average_of(&config);
				struct average *stopped = average_of(&config);
				struct average *resumed = average_of(&config);
				struct err err;

				run(straight, 1, 8);
				run(stopped, 1, stop);
				if (state_save(in_folder("state"), visit, stopped, &err) ||
					state_load(in_folder("state"), visit, resumed, &err))
					fail_msg("%s", err.message);
				assert_same_average(stopped, resumed, config.kind);
				run(resumed, stop + 1, 8);
				assert_same_average(straight, resumed, config.kind);
				average_free(straight), average_free(stopped),
					average_free(resumed);
			}
}

static void another_rules_state_is_refused(void **state)
{
	const struct average_config window_config = config_of("ama", "window");
	const struct average_config paper_config = config_of("ama", "paper");
	struct average *saved = average_of(&window_config), *loaded = average_of(&paper_config);
	struct err err;

	assert_int_equal(state_save(in_folder("state"), visit, saved, &err), 0);
	assert_int_equal(state_load(in_folder("state"), visit, loaded, &err), ERR_FORMAT);
	assert_says(err, "was saved with rule \"window\", not \"paper\"");
	average_free(saved), average_free(loaded);
}

static void a_restart_is_a_new_one(void **state)
{
	static const char *const rules[] = {"window", "swap", "paper", "swap-shorter"};

	for (int t = 0; average_types[t]; t++)
		for (size_t r = 0; r < COUNT(rules); r++) {
			const struct average_config config =
				config_of(average_type_name(average_types[t]), rules[r]);
			struct average *used = average_of(&config), *fresh = average_of(&config);

			run(used, 1, 4);
			average_restart(used, start_params);
			assert_same_average(used, fresh, config.kind);
			run(used, 2, 5), run(fresh, 2, 5);
			assert_same_average(used, fresh, config.kind);
			average_free(used), average_free(fresh);
		}
}

static void bad_configs(void **state)
{
	static const struct {
		struct average_config config;
		const char *says;
	} rows[] = {
		{{"swa", "window", 0.99, 5, 2500, 10},
			"average.kind = swa: not one of none | ema | ama"},
		{{"ama", "median", 0.99, 5, 2500, 10}, "average.rule = median: not one of window"},
		{{"ama", "window", 0.99, 5, 4, 10},
			"average.window_max = 4: less than average.delta = 5"},
	};
	const struct average_config fine = {"ama", "paper", 0.99, 5, 4, 10};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct average *average;
		struct err err;

		assert_int_equal(average_new(&average, &rows[i].config, start_params, FLOATS, &err),
			ERR_INPUT);
		assert_says(err, rows[i].says);
		assert_null(average);
	}
	/* window_max is nothing to the other rules. */
	average_free(average_of(&fine));
}

static void keys(void **state)
{
	static const struct option_row *const tables[] = {average_options, NULL};
	static const struct {
		const char *setting, *says;
	} bad[] = {
		{"average.kind=swa", "one of none | ema | ama"},
		{"average.rule=median", "one of window | window-longer | swap"},
		{"average.gamma=0", "average.gamma"},
		{"average.gamma=1", "average.gamma"},
		{"average.gamma=1.5", "(0, 1)"},
		{"average.delta=1", "average.delta"},
		{"average.delta=-5", "(1, inf)"},
		{"average.window_max=0", "average.window_max"},
		{"average.every=0", "average.every"},
		{"average.statistics_every=0", "average.statistics_every"},
	};
	struct options *options;
	struct average_config config;
	struct err err;

	assert_int_equal(options_new(&options, tables, &err), 0);
	average_config(&config, options);
	assert_string_equal(config.kind, "ama");
	assert_string_equal(config.rule, "window");
	assert_true(config.gamma == 0.99 && config.delta == 5 && config.window_max == 2500);
	assert_int_equal(config.every, 10);
	/* The rows know the same kinds and rules as the tables. */
	for (int i = 0; average_types[i]; i++) {
		const char *name = average_type_name(average_types[i]);

		assert_int_equal(options_set(options, "average.kind", name, "test", &err), 0);
		assert_int_equal(options_choice(options, "average.kind"), i);
		assert_true(strlen(average_type_help(average_types[i])) > 0);
		assert_int_equal(average_traits(name).count, i);
		assert_true(average_traits(name).scores == !strcmp(name, "ama"));
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(options_assign(options, bad[i].setting, "test", &err), ERR_INPUT);
		assert_says(err, bad[i].says);
	}
	options_free(options);
}

static int make(void *config, struct err *err)
{
	struct average *average;
	const int code = average_new(&average, config, start_params, FLOATS, err);

	assert_true(!code == !!average);
	average_free(average);
	return code;
}

static void no_memory(void **state)
{
	struct average_config ama = config_of("ama", "window"), none = config_of("none", "window");

	assert_int_equal(each_allocation_fails(make, &ama), 3);
	assert_int_equal(each_allocation_fails(make, &none), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paper),
		cmocka_unit_test(swap),
		cmocka_unit_test(window),
		cmocka_unit_test(window_starts_within_limits),
		cmocka_unit_test(serving_within_a_window),
		cmocka_unit_test(none_and_ema),
		cmocka_unit_test(due_every_so_many_iterations),
		cmocka_unit_test(the_unfolded_equation),
		folder_test(the_state_is_all_there_is),
		folder_test(another_rules_state_is_refused),
		cmocka_unit_test(a_restart_is_a_new_one),
		cmocka_unit_test(bad_configs),
		cmocka_unit_test(keys),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
