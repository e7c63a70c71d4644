/*
 * Whole runs that are stopped or killed at odd moments and resumed by a fresh run,
 * for every row of every table: the same bytes as runs that went straight on. A
 * field that a strategy forgets to save fails here.
 */
#define _GNU_SOURCE 1 /* scandir */
#include "stream.h"

#include "optim/average.h"
#include "optim/optimizer_type.h"
#include "optim/schedule_type.h"
#include "replay/objective.h"
#include "replay/pool.h"

/* Which rows go together is the run's to say; whatever it takes must go on. */
static bool possible(const char *const *settings)
{
	struct trial trial = {0};
	struct err err = {0};
	const int code = trial_open(&trial, settings, NULL, RUN_ANEW, &err);

	if (code)
		assert_int_equal(code, ERR_INPUT);
	trial_close(&trial);
	return !code;
}

/* What is not in the files that same_run compares, but in the report or in run.json. */
static void assert_same_memory(const struct run *one, const struct run *other, const char *what)
{
	if (memcmp(&one->ledger, &other->ledger, sizeof(one->ledger)))
		fail_msg("%s: the ledgers differ", what);
	if (one->row_count != other->row_count)
		fail_msg("%s: there are other rows", what);
	for (int i = 0; i < one->row_count; i++)
		if (memcmp(&one->rows[i], &other->rows[i], offsetof(struct metrics_row, seconds)))
			fail_msg("%s: row %d differs", what, i);
	assert_int_equal(one->warned_noise, other->warned_noise);
}

/*
 * Stopped after step 13; then killed some time after step 25, that is, without the
 * checkpoint of a stop, so that it goes on in the midst of step 21; then to the end.
 */
static void resume(const char *const *settings, const char *what)
{
	struct trial straight = {0}, first = {.stop_at = 13}, second = {.stop_at = 25}, last = {0};
	struct err err = {0};

	assert_ok(trial_open(&straight, settings, "straight", RUN_ANEW, &err), err);
	assert_ok(trial_go(&straight, &err), err);
	trial_whole(&first, settings, "broken", RUN_ANEW);
	trial_whole(&second, settings, "broken", RUN_RESUME);
	assert_true(strstr(checkpoint_in("broken", 0), ".stop.state") != NULL);
	assert_int_equal(unlink(checkpoint_in("broken", 0)), 0);
	assert_ok(trial_open(&last, settings, "broken", RUN_RESUME, &err), err);
	assert_int_equal(last.run->step, 21);
	assert_int_equal(last.run->made, 1);
	assert_ok(trial_go(&last, &err), err);
	assert_same_memory(straight.run, last.run, what);
	trial_close(&straight);
	trial_close(&last);
	assert_same_run("straight", "broken", what);
}

/* Tries the settings as they are and, where they are refused, in the supervised form. */
static int resume_if_possible(const char *one, const char *two, const char *three)
{
	static const char *const forms[] = {"run.form=online", "run.form=supervised"};
	const char *const every = "run.checkpoint_every=7 steps";
	char what[300];

	snprintf(what, sizeof(what), "%s %s %s", one, two, three);
	for (size_t i = 0; i < COUNT(forms); i++) {
		const char *const *settings = SETTINGS(one, two, three, forms[i], every,
			"replay.limit=60", "replay.validation_limit=20");

		if (!possible(settings))
			continue;
		resume(settings, what);
		return 1;
	}
	return 0;
}

static const char *setting(const char *key, const char *name)
{
	static char words[3][100];
	static int turn;

	turn = (turn + 1) % 3;
	snprintf(words[turn], sizeof(words[turn]), "%s=%s", key, name);
	return words[turn];
}

static void every_pool_and_objective(void **state)
{
	(void)state;
	for (size_t p = 0; pool_types[p]; p++) {
		int tried = 0;

		for (size_t o = 0; objective_types[o]; o++)
			tried += resume_if_possible(
				setting("replay.pool", pool_type_name(pool_types[p])),
				setting("replay.objective",
					objective_type_name(objective_types[o])),
				"replay.recency_share=0.25");
		assert_true(tried >= 2);
	}
	/* Each objective with the pool that suits all of them. */
	for (size_t o = 0; objective_types[o]; o++)
		assert_true(resume_if_possible("replay.pool=unlimited",
			setting("replay.objective", objective_type_name(objective_types[o])),
			"run.seed=2"));
}

static void evaluations_within_steps(void **state)
{
	(void)state;
	assert_true(resume_if_possible("eval.count=75", "run.iterations=5", "run.seed=3"));
	assert_true(resume_if_possible("eval.count=75", "run.iterations=5", "run.equal=on"));
}

static void every_optimizer(void **state)
{
	(void)state;
	for (size_t i = 0; optimizer_types[i]; i++) {
		const char *kind =
			setting("optimizer.kind", optimizer_type_name(optimizer_types[i]));

		/* A program's own optimizer needs its net. */
		assert_int_equal(resume_if_possible(kind, "average.kind=none", "schedule.kind=rwp"),
			optimizer_types[i] != &optimizer_program);
		resume_if_possible(kind, "average.kind=ama", "schedule.kind=malr");
	}
}

static void every_average(void **state)
{
	static const char *const rules[] = {
		"average.rule=window", "average.rule=swap", "average.rule=paper"};

	(void)state;
	for (size_t i = 0; average_types[i]; i++)
		for (size_t r = 0; r < COUNT(rules); r++)
			assert_true(resume_if_possible(
				setting("average.kind", average_type_name(average_types[i])),
				rules[r], "schedule.kind=rwp"));
}

static void every_schedule(void **state)
{
	static const char log[] =
		"{\"event\": \"cut\", \"iteration\": 90, \"before\": 0.1, \"after\": 0.05}\n";
	struct err err;

	(void)state;
	assert_ok(file_write(in_folder("events.jsonl"), log, strlen(log), &err), err);
	for (size_t i = 0; schedule_types[i]; i++) {
		const char *kind = setting("schedule.kind", schedule_type_name(schedule_types[i]));

		if (schedule_types[i] == &schedule_replay) {
			assert_true(resume_if_possible(
				kind, setting("schedule.replay", folder), "average.kind=ema"));
			continue;
		}
		assert_true(resume_if_possible(kind, "schedule.cycles=3", "average.kind=ema"));
		assert_true(resume_if_possible(kind, "run.task_steps=7", "average.kind=ema"));
		assert_true(resume_if_possible(kind, "schedule.reset_best=on", "average.kind=ama"));
	}
}

static void every_method(void **state)
{
	(void)state;
	for (const struct bundle *row = methods; row->name; row++)
		if (!resume_if_possible(setting("run.method", row->name), "run.seed=3",
			    "schedule.validate_every=4"))
			fail_msg("%s cannot be run", row->name);
}

/* With every kind of method; the second one's time steps come in parts, without inputs. */
static void fast_weights(void **state)
{
	static const char *const names[] = {"ama+malr+fast", "schedule-free+recency+fast",
		"mixed+clr+pool+fast", "er+fast", "adam+rwp+fast", "sgd+clr+pool"};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		assert_true(resume_if_possible(setting("run.method", names[i]),
			i == 1 ? "drift.per_step=300" : "run.budget=8.3",
			i == 1 ? "fast.parts=0.3:0.97:2:9" : "drift.tasks=3"));
	resume(SETTINGS("run.method=ama+malr+fast", "model.arch=resnet20-cifar", "model.norm=bn",
		       "drift.dim=3", "run.checkpoint_every=7 steps", "run.iterations=1",
		       "run.batch=2", "schedule.validation_batch=2", "average.statistics_every=2",
		       "drift.steps=30", "eval.count=2", "drift.eval_per_step=1"),
		"fast weights, batch norm");
}

/* What a step may spend is what all steps before it left. */
static void budgets_and_tasks(void **state)
{
	static const char *const names[] = {"er", "mir", "gdumb", "ama+malr", "polrs+adrep"};

	(void)state;
	for (size_t i = 0; i < COUNT(names); i++)
		assert_true(resume_if_possible(
			setting("run.method", names[i]), "run.task_steps=20", "run.budget=8.3"));
	for (size_t i = 0; i < COUNT(names); i++)
		assert_true(resume_if_possible(
			setting("run.method", names[i]), "drift.tasks=3", "replay.limit=100"));
}

/* Batch norm keeps statistics of its own for every model. */
static void statistics_of_batch_norm(void **state)
{
	(void)state;
	resume(SETTINGS("model.arch=resnet20-cifar", "model.norm=bn", "drift.dim=3",
		       "run.checkpoint_every=7 steps", "run.iterations=1", "run.batch=2",
		       "schedule.validation_batch=2", "average.statistics_every=2",
		       "drift.steps=30", "eval.count=2", "drift.eval_per_step=1"),
		"batch norm");
}

static void photos(void **state)
{
	(void)state;
	resume(SETTINGS("stream.source=photos", "photos.steps=60", "photos.per_step=8",
		       "photos.eval_per_step=2", "photos.size=12", "run.checkpoint_every=7 steps"),
		"photos");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		stream_test(every_pool_and_objective),
		stream_test(evaluations_within_steps),
		stream_test(every_optimizer),
		stream_test(every_average),
		stream_test(every_schedule),
		stream_test(every_method),
		stream_test(fast_weights),
		stream_test(budgets_and_tasks),
		stream_test(statistics_of_batch_norm),
		stream_test(photos),
	};

	return cmocka_run_group_tests_name("resume", tests, NULL, NULL);
}
