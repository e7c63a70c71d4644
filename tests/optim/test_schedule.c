/*
 * Schedules: their rates, what they keep, what they refuse. Cuts are in
 * test_schedule_cuts.c.
 */
#include "schedule_check.h"

#include "base/file.h"

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
	       a->c3 == b->c3 && a->noisy == b->noisy;
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

/* Windows grow with what was made, in whole rounds; where they end is a matter of k alone. */
static void windows_that_grow(void **state)
{
	const struct schedule_config config = {
		.kind = "malr", .rate = 1, .factor = 0.5, .c1 = true, .validate_every = 20};
	struct schedule *schedule = schedule_of(&config);
	int64_t last = 0, length = 0, windows = 0;

	(void)state;
	while (last < 1000000) {
		const int64_t end = schedule_window_end(schedule, last + 1);

		assert_true(end > last && (end - last) % 20 == 0);
		assert_true(end - last >= length);
		assert_true(schedule_window_end(schedule, end) == end);
		assert_true(schedule_window_end(schedule, (last + end) / 2 + 1) == end);
		length = end - last;
		last = end;
		windows++;
	}
	assert_true(length >= 1000000 / 300 && length <= 1000000 / 200);
	assert_true(schedule_window_end(schedule, 1) <= 200);
	assert_true(windows < 3000);
	schedule_free(schedule);
}

/* Patience is six windows: long after a plateau began there is a cut, soon after there is none. */
static void patience_that_grows(void **state)
{
	struct schedule_config config = config_of("rwp");
	struct schedule *schedule;
	int64_t end = 0, cut_early = 0, cut_late = 0, since = 0;

	(void)state;
	config.window = config.patience = 0;
	schedule = schedule_of(&config);
	while (end < 200000) {
		const int64_t next = schedule_window_end(schedule, end + 1);
		const struct scores scores = scores_with(1, 1, 1);

		if (schedule_window(schedule, next, &scores, 1).cut) {
			cut_early = cut_early ? cut_early : next - since;
			cut_late = next - since;
			since = next;
		}
		end = next;
	}
	assert_true(cut_early > 0 && cut_early < 1000);
	assert_true(cut_late > 3000 && cut_late < 10000);
	schedule_free(schedule);
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
		{"rwp", {.patience = 20}, "schedule.window and schedule.patience: one is auto"},
		{"malr", {.window = 20, .c1 = true}, "one is auto"},
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
		cmocka_unit_test(constant),
		cmocka_unit_test(cosine),
		cmocka_unit_test(cyclic),
		folder_test(replay),
		folder_test(the_state_is_all_there_is),
		folder_test(another_kinds_state_is_refused),
		cmocka_unit_test(windows_that_grow),
		cmocka_unit_test(patience_that_grows),
		cmocka_unit_test(bad_configs),
		cmocka_unit_test(keys),
		folder_test(no_memory),
		folder_test(slowed_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
