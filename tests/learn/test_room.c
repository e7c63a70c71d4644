/*
 * Memory: a steady iteration asks for none, limited pools keep the store small,
 * and whatever allocation fails, the learner says so and leaves nothing behind.
 */
#include "check.h"
#include "cells.h"

static void steady_iterations_allocate_nothing(void **state)
{
	static const char *const kinds[][4] = {
		{"replay.pool=unlimited"},
		{"replay.pool=reservoir", "replay.limit=100", "replay.objective=mixed"},
		{"replay.pool=balanced", "replay.limit=100"},
		{"average.kind=none", "optimizer.kind=schedule-free", "schedule.kind=constant"},
		{"replay.recency_share=0.1", "average.rule=paper", "optimizer.kind=adam"},
		{"engine.threads=2", "replay.objective=epochs"},
		{"engine.threads=0", "run.micro_batch=7"}, /* validation on another thread */
		{"loss.kind=der", "replay.pool=reservoir", "replay.limit=100"},
		{"loss.kind=distill", "replay.objective=er"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct school school =
			school_of(SETTINGS(kinds[i][0], kinds[i][1], kinds[i][2], kinds[i][3]));
		uint64_t before;

		school_go(&school, 10, 6);
		before = mem_count();
		school_train(&school, 100);
		if (mem_count() != before)
			fail_msg("%s: %d allocations in 100 iterations", kinds[i][0],
				(int)(mem_count() - before));
		school_close(&school);
	}
}

static void images_allocate_nothing_either(void **state)
{
	struct school school = school_images(
		SETTINGS("model.arch=resnet20-cifar", "model.norm=bn", "run.batch=4",
			"average.statistics_every=2", "schedule.validation_batch=4",
			"schedule.validate_every=2", "schedule.window=4", "schedule.patience=4"),
		(struct learner_watch){0});
	uint64_t before;

	(void)state;
	school_go(&school, 1, 4);
	before = mem_count();
	school_train(&school, 8);
	assert_int_equal(mem_count(), before);
	school_close(&school);
}

static int64_t count_kept(const struct school *school)
{
	float input[DIM];
	int32_t label;
	struct err err;
	int64_t kept = 0;

	for (int64_t id = 0; id < school->shown; id++)
		kept += !store_fetch(school->store, &id, 1, input, CELLS(&label), &err);
	return kept;
}

/* With pools of so many samples the store in memory keeps those and one time step. */
static void limited_pools_bound_the_store(void **state)
{
	(void)state;
	for (size_t p = 0; pool_types[p]; p++) {
		const bool limited = strcmp(pool_type_name(pool_types[p]), "unlimited") != 0;

		for (size_t o = 0; objective_types[o]; o++) {
			char pool[64], objective[64];
			struct school school = {0};
			struct err err;
			uint64_t before;
			int64_t kept;

			snprintf(pool, sizeof(pool), "replay.pool=%s",
				pool_type_name(pool_types[p]));
			snprintf(objective, sizeof(objective), "replay.objective=%s",
				objective_type_name(objective_types[o]));
			if (school_try(&school,
				    options_of(SETTINGS(pool, objective, "replay.limit=500",
					    "replay.validation_limit=100")),
				    (struct learner_watch){0}, 1, &err)) {
				school_close(&school);
				continue;
			}
			school_go(&school, 400, 1);
			before = mem_count();
			for (int i = 0; i < 4000; i++)
				school_reveal(&school);
			school_train(&school, 50);
			kept = count_kept(&school);
			if (limited && (kept > 500 + 100 + STEP || mem_count() != before))
				fail_msg("%s, %s: the store has %lld samples", pool, objective,
					(long long)kept);
			if (!limited)
				assert_true(kept > 4000 * STEP * 7 / 10);
			school_close(&school);
		}
	}
}

/* Each allocation of learner_new in turn; the options are not what is tried. */
static void making_one_runs_out_of_memory(void **state)
{
	static const char *const kinds[][4] = {
		{"model.arch=mlp:12"},
		{"average.kind=ema", "replay.pool=balanced", "replay.objective=mixed"},
		{"optimizer.kind=adam", "schedule.kind=rwp", "engine.threads=2"},
		{"loss.kind=der", "replay.pool=reservoir", "replay.limit=100"}, {"loss.kind=ewc"},
		{"loss.kind=ace"},
		{"model.arch=resnet20-cifar", "model.norm=bn", "replay.validation_limit=9"},
		{"engine.threads=0"}, /* validation on another thread */
	};

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++)
		for (uint64_t n = 1, made = 0; !made; n++) {
			struct options *options =
				options_of(SETTINGS(kinds[i][0], kinds[i][1], kinds[i][2]));
			struct school school = {0};
			struct err err = {0};
			int code;

			mem_fail_at(n);
			code = school_try(
				&school, options, (struct learner_watch){0}, i == 3 ? 8 : 1, &err);
			mem_fail_at(0);
			made = !code;
			if (made)
				assert_true(n > 10);
			else
				assert_null(school.learner);
			if (code) {
				assert_int_equal(code, ERR_MEMORY);
				assert_says(err, "out of memory");
			}
			school_close(&school);
		}
}

/* The first iterations make plans. One that fails can be made again, as if it had not. */
static void training_runs_out_of_memory(void **state)
{
	struct school twin = school_of(NULL), school = school_of(NULL);
	int failures = 0;

	(void)state;
	school_go(&twin, 3, 6);
	for (int step = 0; step < 3; step++) {
		struct learner_report before, after;
		uint64_t n = 1;

		school_reveal(&school);
		learner_report(school.learner, &before);
		do {
			struct err err = {0};
			int code;

			mem_fail_at(n++);
			code = learner_train(school.learner, 1, &err);
			mem_fail_at(0);
			learner_report(school.learner, &after);
			if (code) {
				assert_int_equal(code, ERR_MEMORY);
				assert_int_equal(after.iteration % 6, before.iteration % 6);
				failures++;
			}
			before = after;
		} while (after.iteration < 6 * (step + 1));
	}
	assert_true(failures > 0);
	school_close(&school);
	school_close(&twin);
}

/* A time step without room for it, in the store or in a pool, is not taken and may come again. */
static void reveal_without_room(const char *const *settings, int steps)
{
	struct school twin = school_of(settings), school = school_of(settings);
	int failures = 0;

	for (int step = 0; step < steps; step++) {
		struct err err = {0};
		int code = 1;

		for (uint64_t n = 1; code; n++) {
			mem_fail_at(n);
			code = school_reveal_try(&school, &err);
			mem_fail_at(0);
			if (code)
				assert_int_equal(code, ERR_MEMORY);
			failures += code != 0;
		}
		school_reveal(&twin);
	}
	assert_true(failures > 0);
	school_train(&twin, 30);
	school_train(&school, 30);
	assert_twins(&school, &twin);
	school_close(&school);
	school_close(&twin);
}

static void revealing_runs_out_of_memory(void **state)
{
	(void)state;
	for (size_t p = 0; pool_types[p]; p++) {
		char pool[64];

		snprintf(pool, sizeof(pool), "replay.pool=%s", pool_type_name(pool_types[p]));
		reveal_without_room(SETTINGS(pool, "replay.validation_limit=2000"), 400);
	}
	reveal_without_room(
		SETTINGS("loss.kind=der", "replay.pool=reservoir", "replay.limit=90"), 40);
	reveal_without_room(SETTINGS("loss.kind=ewc", "loss.hold_samples=4"), 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady_iterations_allocate_nothing),
		cmocka_unit_test(images_allocate_nothing_either),
		cmocka_unit_test(limited_pools_bound_the_store),
		cmocka_unit_test(making_one_runs_out_of_memory),
		cmocka_unit_test(training_runs_out_of_memory),
		cmocka_unit_test(revealing_runs_out_of_memory),
	};

	return cmocka_run_group_tests_name("room", tests, NULL, NULL);
}
