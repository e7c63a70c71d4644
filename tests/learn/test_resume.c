/*
 * Saved in the midst of things, loaded into a fresh learner and continued: the
 * same bits as a learner that went straight on, for every row of every table.
 */
#include "check.h"
#include "../base/folder.h"

#include "base/file.h"
#include "base/state.h"

enum { STEPS = 24, ITERATIONS = 4 };

static void visit(void *object, struct state *state)
{
	struct school *school = object;

	store_state(school->store, state);
	learner_state(school->learner, state);
	state_int64(state, "shown", &school->shown);
}

static struct school school_for(const char *const *settings, bool images)
{
	return images ? school_images(settings, (struct learner_watch){0}) : school_of(settings);
}

/* Stops after `stop` steps and, of the next one, some iterations. */
static void go_on(const char *const *settings, bool images, int steps, int stop, int within)
{
	struct school straight = school_for(settings, images), first, second;
	struct err err;

	school_go(&straight, steps, ITERATIONS);
	first = school_for(settings, images);
	second = school_for(settings, images);
	school_go(&first, stop, ITERATIONS);
	school_reveal(&first);
	school_train(&first, within);
	assert_ok(state_save(in_folder("state"), visit, &first, &err), err);
	assert_ok(state_load(in_folder("state"), visit, &second, &err), err);
	assert_twins(&first, &second);
	school_close(&first);
	school_train(&second, ITERATIONS - within);
	school_go(&second, steps - stop - 1, ITERATIONS);
	assert_twins(&straight, &second);
	school_close(&straight);
	school_close(&second);
}

/* Early and late, at and off the ends of windows (of 6 iterations). */
static void go_on_often(const char *const *settings)
{
	static const int stops[][2] = {{0, 0}, {2, 3}, {11, 0}, {13, 4}};

	for (size_t i = 0; i < COUNT(stops); i++)
		go_on(settings, false, STEPS, stops[i][0], stops[i][1]);
}

/* Which objectives a pool goes with is the learner's to say; whatever it takes must go on. */
static bool possible(const char *const *settings)
{
	struct school school = {0};
	struct err err = {0};
	const int code =
		school_try(&school, options_of(settings), (struct learner_watch){0}, 1, &err);

	if (code)
		assert_says(err, "replay.objective = epochs");
	school_close(&school);
	return !code;
}

static void pools_and_objectives_go_on(void **state)
{
	int tried = 0;

	(void)state;
	for (size_t p = 0; pool_types[p]; p++)
		for (size_t o = 0; objective_types[o]; o++) {
			char pool[64], objective[64];
			const char *const *settings = SETTINGS(
				pool, objective, "replay.limit=60", "replay.validation_limit=20");

			snprintf(pool, sizeof(pool), "replay.pool=%s",
				pool_type_name(pool_types[p]));
			snprintf(objective, sizeof(objective), "replay.objective=%s",
				objective_type_name(objective_types[o]));
			if (possible(settings)) {
				go_on_often(settings);
				tried++;
			}
		}
	assert_true(tried >= 9);
	go_on_often(SETTINGS("replay.recency_share=0.25"));
	go_on_often(SETTINGS("replay.objective=mixed", "replay.history=100"));
	go_on_often(SETTINGS("replay.objective=mir", "replay.pool=halves", "replay.limit=60",
		"run.task_steps=3"));
	go_on_often(SETTINGS(
		"replay.pool=balanced", "replay.limit=60", "run.task_steps=3", "learn.retrain=on"));
}

/* Parts of 2 steps, a selection every 3: at steps 6, 12 and on. */
static void populations_go_on(void **state)
{
	(void)state;
	for (size_t i = 0; optimizer_types[i]; i++) {
		char setting[64];

		if (!strcmp(optimizer_type_name(optimizer_types[i]), "schedule-free") ||
			optimizer_traits(optimizer_type_name(optimizer_types[i])).program)
			continue;
		snprintf(setting, sizeof(setting), "optimizer.kind=%s",
			optimizer_type_name(optimizer_types[i]));
		go_on_often(SETTINGS(setting, "average.kind=none", "schedule.kind=constant",
			"learn.population=polrs", "learn.part_steps=1", "replay.objective=mixed",
			"replay.history=30", "learn.adapt_history=on"));
	}
}

static void losses_go_on(void **state)
{
	(void)state;
	for (size_t i = 0; loss_types[i]; i++) {
		char setting[64], target[64];

		if (loss_type_program(loss_types[i]))
			continue;
		snprintf(setting, sizeof(setting), "loss.kind=%s", loss_type_name(loss_types[i]));
		snprintf(target, sizeof(target), "model.target=%s",
			target_types[loss_type_target(loss_types[i])]->name);
		go_on_often(SETTINGS(setting, target, "replay.pool=reservoir", "replay.limit=60",
			"replay.objective=er", "run.task_steps=3", "loss.hold_samples=9"));
	}
}

static void numbers_go_on(void **state)
{
	(void)state;
	go_on_often(SETTINGS("model.target=number", "loss.kind=huber", "fast.heads=numbers",
		"model.scale=running"));
	go_on_often(SETTINGS("model.target=number", "model.numbers=2", "loss.kind=huber",
		"fast.heads=numbers", "model.scale=running"));
	go_on_often(SETTINGS("model.target=number", "loss.kind=squared", "replay.pool=halves",
		"replay.limit=60", "run.task_steps=3", "learn.retrain=on"));
}

static void optimizers_go_on(void **state)
{
	(void)state;
	for (size_t i = 0; optimizer_types[i]; i++) {
		char setting[64];

		if (optimizer_traits(optimizer_type_name(optimizer_types[i])).program)
			continue;
		snprintf(setting, sizeof(setting), "optimizer.kind=%s",
			optimizer_type_name(optimizer_types[i]));
		go_on_often(SETTINGS(setting, "average.kind=none", "schedule.kind=rwp"));
		if (strcmp(optimizer_type_name(optimizer_types[i]), "schedule-free"))
			go_on_often(SETTINGS(setting));
	}
}

static void averages_go_on(void **state)
{
	static const char *const rules[] = {
		"average.rule=window", "average.rule=swap", "average.rule=paper"};

	(void)state;
	for (size_t i = 0; average_types[i]; i++)
		for (size_t r = 0; r < COUNT(rules); r++) {
			char setting[64];

			snprintf(setting, sizeof(setting), "average.kind=%s",
				average_type_name(average_types[i]));
			go_on_often(SETTINGS(setting, rules[r], "schedule.kind=rwp"));
		}
}

static void schedules_go_on(void **state)
{
	static const char log[] =
		"{\"event\": \"cut\", \"iteration\": 20, \"before\": 0.1, \"after\": 0.05}\n";
	char replay[500];
	struct err err;

	(void)state;
	assert_ok(file_write(in_folder("events.jsonl"), log, strlen(log), &err), err);
	snprintf(replay, sizeof(replay), "schedule.replay=%s", folder);
	for (size_t i = 0; schedule_types[i]; i++) {
		char setting[64];

		snprintf(setting, sizeof(setting), "schedule.kind=%s",
			schedule_type_name(schedule_types[i]));
		go_on_often(SETTINGS(setting, replay, "schedule.cycles=3"));
		go_on_often(SETTINGS(setting, replay, "run.task_steps=5"));
		go_on_often(
			SETTINGS(setting, replay, "schedule.reset_best=on", "schedule.patience=6",
				"schedule.window=3", "average.kind=ema", "schedule.epsilon=0"));
	}
}

static void batch_norm_goes_on(void **state)
{
	const char *const *settings = SETTINGS("model.arch=resnet20-cifar", "model.norm=bn",
		"run.batch=4", "schedule.validation_batch=4", "average.statistics_every=3",
		"schedule.validate_every=2", "schedule.window=4", "schedule.patience=4");

	(void)state;
	go_on(settings, true, 3, 1, 1);
	go_on(SETTINGS("model.arch=resnet20-cifar", "model.norm=bn", "run.batch=4",
		      "optimizer.kind=schedule-free", "average.kind=none", "schedule.kind=constant",
		      "average.statistics_every=3"),
		true, 3, 1, 1);
}

static void other_learners_are_refused(void **state)
{
	static const struct {
		const char *setting, *words;
	} rows[] = {
		{"model.arch=linear", "arch"},
		{"optimizer.kind=adam", "kind"},
		{"average.kind=ema", "sums"},
		{"average.rule=paper", "rule"},
		{"schedule.kind=rwp", "kind"},
		{"replay.pool=fifo", "kind"},
		{"replay.objective=mixed", "kind"},
		{"run.seed=4", "seed"},
		{"replay.holdout=0.3", "holdout"},
	};
	struct school school = school_of(NULL);
	struct err err;

	(void)state;
	school_go(&school, 3, 5);
	assert_ok(state_save(in_folder("state"), visit, &school, &err), err);
	school_close(&school);
	for (size_t i = 0; i < COUNT(rows); i++) {
		school = school_of(SETTINGS(rows[i].setting));
		if (!state_load(in_folder("state"), visit, &school, &err))
			fail_msg("%s: took the state of another learner", rows[i].setting);
		assert_says(err, "state");
		assert_says(err, rows[i].words);
		school_close(&school);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(pools_and_objectives_go_on),
		folder_test(populations_go_on),
		folder_test(losses_go_on),
		folder_test(numbers_go_on),
		folder_test(optimizers_go_on),
		folder_test(averages_go_on),
		folder_test(schedules_go_on),
		folder_test(batch_norm_goes_on),
		folder_test(other_learners_are_refused),
	};

	return cmocka_run_group_tests_name("resume", tests, NULL, NULL);
}
