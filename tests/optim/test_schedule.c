/*
 * Schedules against tables worked out by hand: for every window its scores, and
 * then ages, conditions and cuts. Windows are 10 iterations, patience is 30,
 * gaps are whole 64ths, so that sums and means are exact.
 */
#include <math.h>

#include "../base/check.h"
#include "../base/folder.h"
#include "base/file.h"
#include "optim/schedule.h"
#include "scores_of.h"

enum { WINDOW = 10, PATIENCE = 30 };

static struct schedule_config config_of(const char *kind)
{
	return (struct schedule_config){.kind = kind,
		.rate = 1,
		.factor = 0.5,
		.patience = PATIENCE,
		.epsilon = 3 / 64.0,
		.c1 = true,
		.c2 = true,
		.c3 = true,
		.window = WINDOW,
		.validate_every = 5,
		.iterations = 1000,
		.cycles = 0,
		.replay = folder};
}

/* The log of a run that started at 1 and was cut after iterations 20 and 50. */
static void write_log(const char *words)
{
	static const char usual[] =
		"{\"event\": \"window\", \"iteration\": 10, \"rate\": 1}\n"
		"{\"event\": \"window\", \"iteration\": 20, \"rate\": 0.5}\n"
		"{\"event\": \"cut\", \"iteration\": 20, \"before\": 1, \"after\": 0.5}\n"
		"{\"event\": \"window\", \"iteration\": 50, \"rate\": 0.125}\n"
		"{\"event\": \"cut\", \"iteration\": 50, \"before\": 0.5, \"after\": 0.125}\n"
		"{\"event\": \"part\", \"iteration\": 60, \"step\": 7}\n"
		"{\"event\": \"win";
	struct err err;

	words = words ? words : usual;
	if (file_write(in_folder("events.jsonl"), words, strlen(words), &err))
		fail_msg("%s", err.message);
}

static struct schedule *schedule_of(const struct schedule_config *config)
{
	struct schedule *schedule;
	struct err err;

	if (schedule_new(&schedule, config, &err))
		fail_msg("%s", err.message);
	return schedule;
}

/* Scores where `best` has this loss and gap (in 64ths) and the other average is far off. */
static struct scores scores_with(int best, double loss, double gap)
{
	struct score means[SCORES_MODELS] = {{5, 0.5}, {7, 0.875}, {7, 0.875}};

	means[best].loss = loss;
	means[best].accuracy = 0.5 + gap / 64;
	return scores_of(SCORES_MODELS, means);
}

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
		double spread; /* around a gap of 4/64; epsilon / 6 is half of 1/64 */
		bool c3;
		int64_t k;
		bool noisy;
	} rows[] = {
		{0.75 / 64, true, PATIENCE, true},
		{0.25 / 64, true, PATIENCE, false},
		{0.75 / 64, true, PATIENCE - WINDOW, false},
		{0.75 / 64, false, PATIENCE, false},
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

/* A loss that is no number is no improvement, and does not become the best. */
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

static void assert_rates(
	struct schedule *schedule, int64_t first, const double *rates, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const double rate = schedule_rate(schedule, first + (int64_t)i);

		if (fabs(rate - rates[i]) > 1e-15)
			fail_msg("iteration %d: rate %.17g, not %.17g", (int)first + (int)i, rate,
				rates[i]);
	}
}

static void constant(void **state)
{
	struct schedule_config config = config_of("constant");
	struct schedule *schedule;

	config.rate = 0.025;
	config.iterations = 0;
	config.patience = 0;
	schedule = schedule_of(&config);
	for (int64_t k = 1; k < 100; k++) {
		const struct scores scores = scores_with(SCORES_AVERAGE, 2, 9);
		const struct schedule_verdict v =
			schedule_window(schedule, k * WINDOW, &scores, SCORES_AVERAGE);

		assert_true(schedule_rate(schedule, k) == 0.025);
		assert_false(v.cut);
		/* The log wants these from every kind. */
		assert_true(v.before == 0.025 && v.after == 0.025 && v.score == -2);
		assert_true(v.sigma == 9 / 64.0);
	}
	assert_true(schedule_rate(schedule, INT64_MAX) == 0.025);
	schedule_free(schedule);
	schedule_free(NULL);
}

static void cosine(void **state)
{
	static const double four[] = {1, 0.85355339059327373, 0.5, 0.14644660940672627, 0, 0};
	struct schedule_config config = config_of("cosine");
	struct schedule *schedule;

	config.iterations = 4;
	schedule = schedule_of(&config);
	assert_rates(schedule, 1, four, COUNT(four));
	schedule_free(schedule);

	config.iterations = 1000;
	config.rate = 0.1;
	schedule = schedule_of(&config);
	for (int k = 1; k <= 1000; k++) {
		const double wanted = 0.1 * (1 + cos(acos(-1) * (k - 1) / 1000)) / 2;

		assert_rates(schedule, k, &wanted, 1);
		assert_true(schedule_rate(schedule, k) > schedule_rate(schedule, k + 1));
	}
	schedule_free(schedule);
}

static void cyclic(void **state)
{
	/* Ten iterations in three parts: 4, 3, 3. */
	static const double parts[] = {
		1, 0.85355339059327373, 0.5, 0.14644660940672627, 1, 0.75, 0.25, 1, 0.75, 0.25, 0};
	static const double tasks[] = {1, 0.75, 0.25, 1, 0.5, 1, 1, 0.75, 0.25, 0};
	struct schedule_config config = config_of("cyclic");
	struct schedule *schedule;

	config.iterations = 10;
	config.cycles = 3;
	schedule = schedule_of(&config);
	assert_rates(schedule, 1, parts, COUNT(parts));
	schedule_task(schedule, 0, 3);
	assert_rates(schedule, 1, parts, COUNT(parts));
	schedule_free(schedule);

	/* Tasks of 3, 2, 1 and 3 iterations. */
	config.cycles = 0;
	schedule = schedule_of(&config);
	schedule_task(schedule, 20, 3);
	assert_rates(schedule, 21, tasks, 3);
	schedule_task(schedule, 23, 2);
	assert_rates(schedule, 24, tasks + 3, 2);
	schedule_task(schedule, 25, 1);
	assert_rates(schedule, 26, tasks + 5, 1);
	schedule_task(schedule, 26, 3);
	assert_rates(schedule, 27, tasks + 6, 4);
	schedule_free(schedule);

	/* Nothing known: the rate waits for the first task. */
	config.iterations = 0;
	schedule = schedule_of(&config);
	assert_true(schedule_rate(schedule, 1) == 1 && schedule_rate(schedule, 99) == 1);
	schedule_task(schedule, 0, 3);
	assert_rates(schedule, 1, tasks, 3);
	schedule_free(schedule);
}

static void visit(void *schedule, struct state *state)
{
	schedule_state(schedule, state);
}

static void replay(void **state)
{
	static const struct {
		int64_t k;
		double rate;
	} rows[] = {{1, 1}, {20, 1}, {21, 0.5}, {50, 0.5}, {51, 0.125}, {100000, 0.125}};
	static const struct {
		const char *log, *says;
	} bad[] = {
		{"", "tells no rate"},
		{"{\"event\": \"part\", \"iteration\": 60}\n", "tells no rate"},
		{"{\"iteration\": 60}\n", "events.jsonl:1: not an event"},
		{"{\"event\": \"window\", \"iteration\": 10}\n", ":1: a window without a rate"},
		{"{\"event\": \"cut\", \"iteration\": 10, \"after\": 1}\n", "without rates"},
		{"{\"event\": \n", "events.jsonl"},
		{"{\"event\": \"window\", \"iteration\": 10, \"rate\": 1}\n"
		 "{\"event\": \"window\", \"iteration\": 20, \"rate\": 0.9}\n",
			":2: the rate changed without a cut"},
		{"{\"event\": \"cut\", \"iteration\": 10, \"before\": 1, \"after\": 0.5}\n"
		 "{\"event\": \"cut\", \"iteration\": 10, \"before\": 1, \"after\": 0.5}\n",
			":2: cuts are not in the order of time"},
	};
	struct schedule_config config = config_of("replay");
	struct schedule *schedule, *other;
	struct err err;

	write_log(NULL);
	schedule = schedule_of(&config);
	for (size_t i = 0; i < COUNT(rows); i++)
		assert_true(schedule_rate(schedule, rows[i].k) == rows[i].rate);
	/* A run without cuts stays where it was; going on with other rates is refused. */
	assert_int_equal(state_save(in_folder("state"), visit, schedule, &err), 0);
	write_log("{\"event\": \"window\", \"iteration\": 10, \"rate\": 0.25}\n");
	other = schedule_of(&config);
	assert_true(schedule_rate(other, 1) == 0.25 && schedule_rate(other, 99) == 0.25);
	assert_true(state_load(in_folder("state"), visit, other, &err) < 0);
	assert_says(err, "followed other rates");
	schedule_free(schedule), schedule_free(other);
	for (size_t i = 0; i < COUNT(bad); i++) {
		write_log(bad[i].log);
		assert_int_equal(schedule_new(&schedule, &config, &err), ERR_FORMAT);
		assert_says(err, bad[i].says);
	}
	config.replay = in_folder("none");
	assert_int_equal(schedule_new(&schedule, &config, &err), ERR_FILE);
	assert_says(err, "none/events.jsonl");
	config.replay = "";
	assert_int_equal(schedule_new(&schedule, &config, &err), ERR_INPUT);
	assert_says(err, "schedule.replay must name");
}

/* Windows first .. last with scores that wander; a task begins at every seventh. */
static void run(struct schedule *schedule, int first, int last, struct schedule_verdict *verdicts)
{
	static const double losses[] = {2, 1.5, 1.75, 1.5, 1.5, 1.625, 1.75, 2, 1.25, 1.5, 1.5};
	static const double gaps[] = {3, 5, 4, 4, 6, 4, 3, 5, 2, 4, 5, 4, 4};

	for (int n = first; n <= last; n++) {
		const int best = SCORES_AVERAGE + n % 2;
		const struct scores scores =
			scores_with(best, losses[n % COUNT(losses)], gaps[n % COUNT(gaps)]);

		verdicts[n] = schedule_window(schedule, n * WINDOW, &scores, best);
		if (n % 7 == 0)
			schedule_task(schedule, n * WINDOW, 70 + n);
	}
}

static bool same_verdict(const struct schedule_verdict *a, const struct schedule_verdict *b)
{
	return a->cut == b->cut && a->before == b->before && a->after == b->after &&
	       a->score == b->score && a->sigma == b->sigma && a->score_age == b->score_age &&
	       a->sigma_age == b->sigma_age && a->sigma_mean == b->sigma_mean &&
	       a->sigma_error == b->sigma_error && a->c1 == b->c1 && a->c2 == b->c2 &&
	       a->c3 == b->c3;
}

static void the_state_is_all_there_is(void **state)
{
	enum { LAST = 40 };

	write_log(NULL);
	for (int t = 0; schedule_types[t]; t++) {
		const struct schedule_config config =
			config_of(schedule_type_name(schedule_types[t]));
		struct schedule_verdict wanted[LAST + 1], got[LAST + 1];
		struct schedule *straight = schedule_of(&config);
		int cuts = 0;

		run(straight, 1, LAST, wanted);
		for (int n = 1; n <= LAST; n++)
			cuts += wanted[n].cut;
		if (schedule_traits(config.kind).scores && cuts < 2)
			fail_msg("%s: %d cuts show little", config.kind, cuts);
		for (int stop = 0; stop <= LAST; stop++) {
			struct schedule *resumed = schedule_of(&config);
			struct err err;

			run(resumed, 1, stop, got);
			if (state_save(in_folder("state"), visit, resumed, &err))
				fail_msg("%s", err.message);
			schedule_free(resumed);
			resumed = schedule_of(&config);
			if (state_load(in_folder("state"), visit, resumed, &err))
				fail_msg("%s", err.message);
			run(resumed, stop + 1, LAST, got);
			for (int n = stop + 1; n <= LAST; n++)
				if (!same_verdict(&wanted[n], &got[n]))
					fail_msg("%s, resumed after window %d: window %d differs",
						config.kind, stop, n);
			for (int64_t k = LAST * WINDOW; k < LAST * WINDOW + 100; k++)
				assert_true(
					schedule_rate(straight, k) == schedule_rate(resumed, k));
			schedule_free(resumed);
		}
		schedule_free(straight);
	}
}

static void another_kinds_state_is_refused(void **state)
{
	const struct schedule_config configs[] = {config_of("rwp"), config_of("malr")};
	struct schedule *rwp_one = schedule_of(&configs[0]), *malr = schedule_of(&configs[1]);
	struct err err;

	assert_int_equal(state_save(in_folder("state"), visit, rwp_one, &err), 0);
	assert_int_equal(state_load(in_folder("state"), visit, malr, &err), ERR_FORMAT);
	assert_says(err, "was saved with kind \"rwp\", not \"malr\"");
	schedule_free(rwp_one), schedule_free(malr);
}

static void bad_configs(void **state)
{
	static const struct {
		const char *kind;
		struct schedule_config with;
		const char *says;
	} rows[] = {
		{"step", {.window = 10}, "schedule.kind = step: not one of constant | cosine"},
		{"constant", {.window = 30, .validate_every = 20},
			"schedule.window = 30: not a multiple of schedule.validate_every = 20"},
		{"malr", {.window = 10, .validate_every = 20, .patience = 10, .c1 = true},
			"schedule.window = 10: not a multiple of schedule.validate_every = 20"},
		{"rwp", {.window = 40, .patience = 39},
			"schedule.patience = 39: less than schedule.window = 40"},
		{"malr", {.window = 40, .patience = 20, .c1 = true},
			"schedule.patience = 20: less than schedule.window = 40"},
		{"rwp", {.patience = 20}, "schedule.window = 0"},
		{"malr", {.window = 40, .patience = 40},
			"schedule.c1, schedule.c2 and schedule.c3"},
		{"cosine", {.window = 10}, "schedule.kind = cosine: the length"},
		{"cyclic", {.window = 10, .iterations = 5, .cycles = 6}, "schedule.cycles = 6"},
		{"cyclic", {.window = 10, .cycles = 2}, "schedule.cycles = 2: the length"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct schedule_config config = rows[i].with;
		struct schedule *schedule;
		struct err err;

		config.kind = rows[i].kind;
		assert_int_equal(schedule_new(&schedule, &config, &err), ERR_INPUT);
		assert_says(err, rows[i].says);
		assert_null(schedule);
	}
}

static void keys(void **state)
{
	static const struct option_row *const tables[] = {schedule_options, NULL};
	static const struct {
		const char *setting, *says;
	} bad[] = {
		{"schedule.kind=step", "one of constant | cosine | cyclic | rwp | malr"},
		{"schedule.rate=-0.1", "schedule.rate"},
		{"schedule.factor=0", "schedule.factor"},
		{"schedule.factor=1", "(0, 1)"},
		{"schedule.factor=-0.5", "schedule.factor"},
		{"schedule.patience=0", "schedule.patience"},
		{"schedule.epsilon=-0.01", "schedule.epsilon"},
		{"schedule.c1=maybe", "schedule.c1"},
		{"schedule.cycles=-1", "schedule.cycles"},
		{"schedule.window=0", "schedule.window"},
		{"schedule.validate_every=-20", "schedule.validate_every"},
		{"schedule.validation_batch=0", "schedule.validation_batch"},
	};
	struct options *options;
	struct schedule_config config;
	struct err err;

	assert_int_equal(options_new(&options, tables, &err), 0);
	schedule_config(&config, options, 77);
	assert_string_equal(config.kind, "malr");
	assert_true(config.rate == 0.025 && config.factor == 0.5 && config.epsilon == 0.03);
	assert_true(config.c1 && config.c2 && config.c3 && !config.reset_best);
	assert_true(config.patience == 60000 && config.window == 10000);
	assert_true(config.validate_every == 20 && config.cycles == 0 && config.iterations == 77);
	/* The rows know the same kinds as the table, and every kind can be had by its defaults. */
	for (int i = 0; schedule_types[i]; i++) {
		const char *name = schedule_type_name(schedule_types[i]);
		struct schedule *schedule;

		assert_int_equal(options_set(options, "schedule.kind", name, "test", &err), 0);
		assert_int_equal(options_choice(options, "schedule.kind"), i);
		assert_true(strlen(schedule_type_help(schedule_types[i])) > 0);
		schedule_config(&config, options, 77);
		/* But that of another run, which has to be named. */
		if (!strcmp(name, "replay"))
			continue;
		schedule = schedule_of(&config);
		assert_true(schedule_traits(name).scores ==
			    (!strcmp(name, "rwp") || !strcmp(name, "malr")));
		assert_true(schedule_traits(name).gap == !strcmp(name, "malr"));
		assert_true(schedule_rate(schedule, 1) == 0.025);
		schedule_free(schedule);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(options_assign(options, bad[i].setting, "test", &err), ERR_INPUT);
		assert_says(err, bad[i].says);
	}
	options_free(options);
}

static int make(void *config, struct err *err)
{
	struct schedule *schedule;
	const int code = schedule_new(&schedule, config, err);

	assert_true(!code == !!schedule);
	schedule_free(schedule);
	return code;
}

static void no_memory(void **state)
{
	write_log(NULL);
	for (int i = 0; schedule_types[i]; i++) {
		struct schedule_config config = config_of(schedule_type_name(schedule_types[i]));
		const int allocations = each_allocation_fails(make, &config);

		assert_int_equal(allocations, !strcmp(config.kind, "replay") ? 3
					      : strcmp(config.kind, "malr")  ? 1
									     : 2);
	}
}

/* Every kind, exactly: halving is exact. */
static void slowed_rates(void **state)
{
	write_log(NULL);
	for (size_t i = 0; schedule_types[i]; i++) {
		const struct schedule_config config =
			config_of(schedule_type_name(schedule_types[i]));
		struct schedule *slowed = schedule_of(&config), *other = schedule_of(&config);

		schedule_slow(slowed, 0.5);
		schedule_slow(slowed, 0.5);
		for (int64_t k = 1; k < 100; k += 7)
			assert_true(schedule_rate(slowed, k) == schedule_rate(other, k) / 4);
		schedule_free(slowed);
		schedule_free(other);
	}
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
		cmocka_unit_test(constant),
		cmocka_unit_test(cosine),
		cmocka_unit_test(cyclic),
		folder_test(replay),
		folder_test(the_state_is_all_there_is),
		folder_test(another_kinds_state_is_refused),
		cmocka_unit_test(bad_configs),
		cmocka_unit_test(keys),
		folder_test(no_memory),
		folder_test(slowed_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
