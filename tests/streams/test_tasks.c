/*
 * Tasks of the built-in streams: which classes are seen when, in the stream and in
 * evaluation; albums that end with them; what sources say about them. And classes
 * that are all born at once.
 */
#include "check.h"
#include "cells.h"

enum { CLASSES = 10, STEPS = 50, PER_STEP = 8, EVALS = 4, TASKS = 5 };

#define SHORT                                                                                      \
	"drift.classes=10", "drift.steps=50", "drift.per_step=8", "drift.eval_per_step=4",         \
		"drift.label_noise=0.3"

/* Every label is of its task's group, and so is the class that the input shows. */
static void assert_kept_apart(const char *const *settings, int tasks)
{
	struct source *source = source_with(settings);
	struct drift_world *world = world_with(settings);
	const struct drift_config *c = &world->config;

	assert_int_equal(source_info(source)->tasks, tasks);
	for (int part = SOURCE_STREAM; part <= SOURCE_EVAL; part++) {
		const int64_t count = (int64_t)c->steps * (part ? c->eval_per_step : c->per_step);

		for (int64_t id = 0; id < count; id++) {
			const int64_t step = drift_step(world, part, id);
			const int task = (int)(step * tasks / c->steps);
			const int32_t class = drift_album_of(world, part, id).class;
			struct err err;
			int32_t label;

			assert_ok(source_labels(source, part, &id, 1, CELLS(&label), &err), err);
			assert_int_equal(source_task(source, step), task);
			if (world->tasks[label] != task || world->tasks[class] != task)
				fail_msg("part %d, sample %d, of task %d, shows %d and is called "
					 "%d, of tasks %d and %d",
					part, (int)id, task, class, label, world->tasks[class],
					world->tasks[label]);
			if (part)
				assert_true(
					(int)(source_eval_time(source, id) * tasks + 1e-9) == task);
		}
	}
	drift_world_free(world);
	source_close(source);
}

static void tasks_have_classes_of_their_own(void **state)
{
	assert_kept_apart(SETTINGS(SHORT, "drift.tasks=5"), 5);
	assert_kept_apart(SETTINGS(SHORT, "drift.tasks=1"), 1);
	assert_kept_apart(SETTINGS(SHORT, "drift.tasks=10", "drift.renew=0.001"), 10);
	/* Neither steps nor refreshes can be divided evenly. */
	assert_kept_apart(SETTINGS(SHORT, "drift.tasks=3", "drift.refreshes=7"), 3);
	assert_kept_apart(SETTINGS(SHORT, "drift.tasks=7", "drift.slots=3"), 7);
	assert_kept_apart(SETTINGS(SHORT, "drift.tasks=5", "drift.stationary=true"), 5);
}

static void groups_are_random_and_alike_in_size(void **state)
{
	struct drift_world *world = world_with(SETTINGS("drift.classes=11", "drift.tasks=4"));
	struct drift_world *other =
		world_with(SETTINGS("drift.classes=11", "drift.tasks=4", "run.seed=2"));
	int sizes[4] = {0}, sorted = 0;

	for (int i = 0; i < 11; i++) {
		sizes[world->tasks[i]]++;
		sorted += i > 0 && world->tasks[i] >= world->tasks[i - 1];
	}
	for (int i = 0; i < 4; i++)
		assert_true(sizes[i] == 2 || sizes[i] == 3);
	assert_true(sorted < 10);
	assert_memory_not_equal(world->tasks, other->tasks, 11 * sizeof(*world->tasks));
	drift_world_free(world);
	drift_world_free(other);
}

/* Both classes of each fifth come, and nobody waits to be born. */
static void all_classes_are_seen(void **state)
{
	struct source *source = source_with(SETTINGS(SHORT, "drift.tasks=5", "drift.present=0"));
	bool seen[TASKS][CLASSES] = {{false}}, last[CLASSES] = {false};

	for (int64_t id = 0; id < STEPS * PER_STEP; id++) {
		int32_t label;
		struct err err;

		assert_ok(source_labels(source, SOURCE_STREAM, &id, 1, CELLS(&label), &err), err);
		seen[id * TASKS / (STEPS * PER_STEP)][label] = true;
	}
	for (int task = 0; task < TASKS; task++) {
		int count = 0;

		for (int i = 0; i < CLASSES; i++) {
			count += seen[task][i];
			assert_false(seen[task][i] && last[i]);
			last[i] |= seen[task][i];
		}
		assert_int_equal(count, 2);
	}
	source_close(source);
}

/* A walk through time with open slots, all of which are filled anew when a task begins. */
static void albums_end_with_their_task(void **state)
{
	static const char *const rows[][6] = {
		{"drift.slots=8", "drift.renew=0.125", "drift.steps=90", "drift.tasks=9"},
		{"drift.slots=8", "drift.renew=0.0078125", "drift.steps=91", "drift.tasks=9"},
		{"drift.slots=3", "drift.renew=0.01", "drift.steps=100", "drift.tasks=7"},
	};

	for (size_t r = 0; r < COUNT(rows); r++) {
		struct drift_world *world = world_with(rows[r]);
		const int slots = world->config.slots;
		int64_t open[8];
		int task = 0;

		for (int i = 0; i < slots; i++)
			open[i] = i;
		for (int64_t n = 0; n < world->config.steps * 32; n++) {
			bool renewed;
			const int slot = drift_slot(world, n, &renewed);

			if (drift_task(world, n / 32) != task) {
				task = drift_task(world, n / 32);
				for (int i = 0; i < slots; i++)
					open[i] = DRIFT_TASK_ALBUMS + task * slots + i;
			}
			if (renewed)
				open[slot] = n + slots;
			if (drift_album_number(world, n) != open[slot])
				fail_msg("%s: sample %d has album %lld, not %lld", rows[r][3],
					(int)n, (long long)drift_album_number(world, n),
					(long long)open[slot]);
		}
		drift_world_free(world);
	}
}

/* Photos are of the same classes at the same time. */
static void photos_have_tasks(void **state)
{
	struct source *drift = source_with(SETTINGS(SHORT, "drift.tasks=5"));
	struct source *photos = source_with(SETTINGS("stream.source=photos", "photos.classes=10",
		"photos.steps=50", "photos.per_step=8", "photos.eval_per_step=4",
		"photos.label_noise=0.3", "photos.tasks=5"));

	assert_int_equal(source_info(photos)->tasks, 5);
	for (int part = SOURCE_STREAM; part <= SOURCE_EVAL; part++)
		for (int64_t id = 0; id < STEPS * (part ? EVALS : PER_STEP); id++) {
			int32_t one, other;
			struct err err;

			assert_ok(source_labels(drift, part, &id, 1, CELLS(&one), &err), err);
			assert_ok(source_labels(photos, part, &id, 1, CELLS(&other), &err), err);
			assert_int_equal(one, other);
		}
	for (int64_t step = 0; step < STEPS; step++)
		assert_int_equal(source_task(photos, step), source_task(drift, step));
	source_close(photos);
	source_close(drift);
}

static void without_tasks_there_are_none(void **state)
{
	struct source *source = source_with(NULL);

	assert_int_equal(source_info(source)->tasks, 0);
	assert_int_equal(source_task(source, 4999), 0);
	source_close(source);
}

static void refuses(const char *const *settings, const char *why)
{
	struct options *options = options_with(settings);
	struct source *source;
	struct err err = {0};

	assert_int_equal(source_open(&source, options, &err), ERR_INPUT);
	assert_null(source);
	assert_says(err, why);
	options_free(options);
}

static void too_many_tasks_are_refused(void **state)
{
	refuses(SETTINGS("drift.tasks=101"), "drift.tasks = 101: there are only 100 classes");
	refuses(SETTINGS("drift.tasks=7", "drift.steps=6"),
		"drift.tasks = 7: there are only 6 time steps");
	refuses(SETTINGS("stream.source=photos", "photos.tasks=21"), "photos.tasks = 21");
}

static void classes_can_be_born_at_once(void **state)
{
	struct drift_world *world = world_with(SETTINGS("drift.first_birth=0.6",
		"drift.last_birth=0.6", "drift.birth_weight=1", "drift.present=0.5"));
	double before[100], after[100];

	drift_prior(world, 599, before);
	drift_prior(world, 600, after);
	for (int i = 0; i < 100; i++) {
		assert_true(world->births[i] == (i < 50 ? 0 : 0.6));
		assert_true((before[i] > 0) == (i < 50));
		assert_true(after[i] > 0);
	}
	drift_world_free(world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_have_classes_of_their_own),
		cmocka_unit_test(groups_are_random_and_alike_in_size),
		cmocka_unit_test(all_classes_are_seen),
		cmocka_unit_test(albums_end_with_their_task),
		cmocka_unit_test(photos_have_tasks),
		cmocka_unit_test(without_tasks_there_are_none),
		cmocka_unit_test(too_many_tasks_are_refused),
		cmocka_unit_test(classes_can_be_born_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
