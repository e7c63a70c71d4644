/* What an iteration costs: worked out by hand, and counted for every row of every table. */
#include "check.h"

struct works {
	int times[LEARNER_WORKS], samples[LEARNER_WORKS];
};

static void note_work(void *context, enum learner_work work, int samples)
{
	struct works *works = context;

	works->times[work]++;
	works->samples[work] += samples;
}

/* 1 for plain SGD. A perceptron 8-12-5 has 156 multiply-adds. */
static void prices_are_what_passes_cost(void **state)
{
	static const double macs = 156;
	static const struct {
		const char *settings[4];
		double forward, sweeps; /* beyond plain SGD: samples, backward counting twice */
	} rows[] = {
		{{"average.kind=none", "schedule.kind=constant", "replay.holdout=0"}, 0, 0},
		{{"average.kind=none", "schedule.kind=rwp"}, 24 / 3.0, 0},
		{{"average.kind=ama"}, 3 * 24 / 3.0, 2 / 2.0},
		{{"average.kind=none", "schedule.kind=constant", "replay.holdout=0",
			 "replay.objective=mir"},
			3 * 8 + 2 * 16, 1},
		{{"average.kind=none", "schedule.kind=constant", "replay.holdout=0",
			 "learn.population=polrs"},
			2 * 3 * 16, 2},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *const *s = rows[i].settings;
		struct school school = school_of(SETTINGS(s[0], s[1], s[2], s[3]));

		assert_true(net_macs(school.learner->net) == macs);
		const double params = (double)params_of(&school), sgd = 3 * macs * 16 + params;
		const double more = rows[i].forward * macs + rows[i].sweeps * params;

		if (fabs(learner_price(school.learner) - (1 + more / sgd)) > 1e-9)
			fail_msg("row %zu costs %g", i, learner_price(school.learner));
		school_close(&school);
	}
}

/* Of 156 multiply-adds the first layer, which is frozen, has 96; gradients are the others'. */
static void frozen_layers_are_not_paid_for(void **state)
{
	static const char *const settings[][4] = {
		{"average.kind=none", "schedule.kind=constant", "replay.holdout=0"},
		{"average.kind=ama"},
		{"average.kind=none", "schedule.kind=constant", "replay.holdout=0",
			"replay.objective=mir"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(settings); i++) {
		const char *const *s = settings[i];
		struct school school =
			school_of(SETTINGS("model.frozen=0", s[0], s[1], s[2], s[3]));
		const double params = net_trained_params(school.learner->net);
		const double step = (156 + 2 * 60) * 16 + params;
		const double costs[] = {step, step + 3 * 156 * 24 / 3.0 + 2 * params / 2.0,
			step + (156 + 2 * 60) * 8 + params + 2 * 156 * 16};
		const double sgd = 3 * 156 * 16 + (double)params_of(&school);

		assert_true(params >= 5 * 12 + 5 && params < (double)params_of(&school) - 8 * 12);
		if (fabs(learner_price(school.learner) - costs[i] / sgd) > 1e-9)
			fail_msg("row %zu costs %g", i, learner_price(school.learner));
		school_close(&school);
	}
}

/* What an iteration costs in plain SGD's, as a mean over 30, in which all periods fit. */
static double cost_of(struct school *school, struct works *work)
{
	const double macs = net_macs(school->learner->net), params = (double)params_of(school);

	school_go(school, 2, 0);
	*work = (struct works){0};
	school_train(school, 30);
	return (macs * (3 * (work->samples[LEARNER_TRAIN] + work->samples[LEARNER_VIRTUAL]) +
			       work->samples[LEARNER_VALIDATE] + work->samples[LEARNER_STATISTICS] +
			       work->samples[LEARNER_CANDIDATES]) +
		       params * (work->times[LEARNER_UPDATE] + work->times[LEARNER_VIRTUAL] +
					work->times[LEARNER_MOVE])) /
	       (30 * (3 * macs * 16 + params));
}

/* False where the learner refuses the combination. */
static bool price_is_cost(const char *const *settings, int height)
{
	struct works work;
	struct school school = {0};
	struct err err;
	double cost;

	if (school_try(&school, options_of(settings),
		    (struct learner_watch){note_work, NULL, &work, NULL}, height, &err)) {
		assert_says(err, " = ");
		school_close(&school);
		return false;
	}
	cost = cost_of(&school, &work);
	if (fabs(cost - learner_price(school.learner)) > 1e-9)
		fail_msg("%s, %s, %s, %s, %s: costs %g, not %g", settings[0], settings[1],
			settings[2], settings[3], settings[4], cost, learner_price(school.learner));
	school_close(&school);
	return true;
}

/* Every row of every table is priced by what it does, so a new one needs no price of its own. */
static void every_row_has_its_price(void **state)
{
	char average[64], optimizer[64], objective[64], population[64];
	int priced = 0;

	(void)state;
	for (int a = 0; average_types[a]; a++)
		for (int o = 0; optimizer_types[o]; o++) {
			snprintf(average, sizeof(average), "average.kind=%s",
				average_type_name(average_types[a]));
			snprintf(optimizer, sizeof(optimizer), "optimizer.kind=%s",
				optimizer_type_name(optimizer_types[o]));
			for (int b = 0; objective_types[b]; b++)
				for (int p = 0; population_types[p].name; p++) {
					snprintf(objective, sizeof(objective),
						"replay.objective=%s",
						objective_type_name(objective_types[b]));
					snprintf(population, sizeof(population),
						"learn.population=%s", population_types[p].name);
					priced += price_is_cost(
						SETTINGS(average, optimizer, objective, population,
							"model.norm=none",
							"schedule.kind=constant"),
						1);
				}
			priced += price_is_cost(
				SETTINGS(average, optimizer, "model.arch=resnet20-cifar",
					"schedule.rate=0.01", "model.norm=bn",
					"schedule.kind=constant"),
				8);
		}
	/* Seven pairs go together, two of them in a population that leaves out mir. */
	assert_int_equal(priced, 7 * 5 + 2 * 4 + 7);
}

static void note_macs(void *context, int64_t macs)
{
	*(int64_t *)context += macs;
}

/*
 * Multiply-adds of a sample beside passes of nets: inputs are 8 and a 1, units 12 and a 1, classes
 * 5. The young net takes steps, and the label chain only counts.
 */
static void parts_have_their_prices(void **state)
{
	static const struct {
		const char *heads;
		double macs;
	} rows[] = {
		{"newton", 2 * (2 * 9 * 9 + 3 * 5 * 9)},
		{"units", 2 * (2 * 13 * 13 + 3 * 5 * 13)},
		{"linear", 2 * 9 * 9 + 3 * 5 * 9},
		{"windows", 2048 * 8},
		{"near", 2048 * 12},
		{"forest", 200 + 400},
		{"values", 2 * 6 * 8},
		{"sparse", 3 * (8 + 128) * 5},
		{"labels", 0},
		{"young", 0},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		char heads[64];
		int64_t macs = 0;
		struct school school;

		snprintf(heads, sizeof(heads), "fast.heads=%s", rows[i].heads);
		school = school_watched(SETTINGS("fast.parts=none", "fast.mix_by=pool", heads),
			(struct learner_watch){.context = &macs, .macs = note_macs}, NULL);
		for (int k = 0; k < 3; k++)
			school_reveal(&school);
		if ((double)macs != 3 * STEP * rows[i].macs)
			fail_msg("%s: %g multiply-adds, not %g", rows[i].heads,
				(double)macs / (3 * STEP), rows[i].macs);
		school_close(&school);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prices_are_what_passes_cost),
		cmocka_unit_test(frozen_layers_are_not_paid_for),
		cmocka_unit_test(every_row_has_its_price),
		cmocka_unit_test(parts_have_their_prices),
	};

	return cmocka_run_group_tests_name("prices", tests, NULL, NULL);
}
