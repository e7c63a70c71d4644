/*
 * Learners in folders, through nothing but retain.h: killed at any moment they come
 * to the same bits as one that was not; whoever else wants the folder is refused.
 */
#define _GNU_SOURCE 1 /* seteuid */
#include "learner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { STEPS = 24, HEARD = 4096 };

static void assert_refused(
	const char *name, const char *const *settings, int code, const char *words)
{
	struct retain_learner *learner = NULL;
	struct retain_err err = {0};

	assert_int_equal(learner_try(&learner, in_folder(name), settings, &err), code);
	assert_null(learner);
	assert_says(err, words);
}

/* All that can be asked of two learners, to the last bit. Ends them. */
static void assert_same(struct retain_learner *one, struct retain_learner *other)
{
	const struct retain_metrics a = metrics_of(one), b = metrics_of(other);
	struct step s = step_of(999), t = s;
	struct retain_err err;

	assert_int_equal(a.steps, b.steps);
	assert_int_equal(a.iterations, b.iterations);
	assert_memory_equal(&a, &b, sizeof(a));
	observe(one, &s);
	observe(other, &t);
	assert_same_predictions(&s, &t);
	assert_ok(retain_learner_save_weights(
			  one, RETAIN_WEIGHTS_SERVING, in_folder("a.weights"), &err),
		err);
	assert_ok(retain_learner_save_weights(
			  other, RETAIN_WEIGHTS_SERVING, in_folder("b.weights"), &err),
		err);
	assert_same_file("a.weights", "b.weights");
	retain_learner_close(one);
	retain_learner_close(other);
}

/* What was predicted of each step, in memory that a child shares with us. */
typedef struct retain_prediction predicted[STEPS][N];

static predicted *shared_new(void)
{
	void *shared = mmap(
		NULL, sizeof(predicted), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_true(shared != MAP_FAILED);
	return shared;
}

/* The loop of a program: from where the learner is to the end. Ends itself after so many calls. */
static void work(struct retain_learner *learner, predicted *said, int calls)
{
	for (int64_t i = metrics_of(learner).steps; i < STEPS; i++) {
		struct step step = step_of((unsigned)i);

		observe(learner, &step);
		memcpy((*said)[i], step.predictions, sizeof(step.predictions));
		if (--calls == 0)
			raise(SIGKILL);
		reveal(learner, &step);
		if (--calls == 0)
			raise(SIGKILL);
		train(learner, RETAIN_BUDGET);
		if (--calls == 0)
			raise(SIGKILL);
	}
}

/* In another process, killed after so many calls, or from here after some time (calls 0). */
static bool work_killed(const char *const *settings, predicted *said, int calls, unsigned wait)
{
	const pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (!child) {
		struct retain_learner *learner = NULL;

		if (learner_try(&learner, in_folder("broken"), settings, NULL))
			_exit(2);
		work(learner, said, calls);
		_exit(0);
	}
	if (!calls) {
		usleep(wait);
		kill(child, SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_false(WIFEXITED(status) && WEXITSTATUS(status));
	return WIFSIGNALED(status);
}

static void kills_change_nothing(const char *const *settings)
{
	predicted *said = shared_new(), *straight = shared_new();
	struct retain_learner *one = open_in("straight", settings), *other;
	uint32_t bits = 7;
	int kills = 0;

	work(one, straight, 0);
	/* After each kind of call, then wherever it happens to be. */
	for (int i = 0; i < 9; i++)
		kills += work_killed(settings, said, 1 + i, 0);
	for (int i = 0; i < 6; i++) {
		bits = bits * 1664525 + 1013904223;
		kills += work_killed(settings, said, 0, bits >> 16);
	}
	assert_true(kills >= 9);
	other = open_in("broken", settings);
	work(other, said, 0);
	assert_memory_equal(*said, *straight, sizeof(*said));
	assert_same(one, other);
	assert_same_file("straight/events.jsonl", "broken/events.jsonl");
	munmap(said, sizeof(*said));
	munmap(straight, sizeof(*straight));
}

/* Copies of any moment, between any two calls, go on to the bits of the original. */
static void a_backup_goes_on_to_the_same_bits(void **state)
{
	struct retain_learner *memory = NULL;
	struct retain_err err = {0};

	(void)state;
	assert_ok(retain_learner_new(&memory, NULL, &err), err);
	assert_int_equal(retain_learner_backup(memory, in_folder("copy"), &err), RETAIN_ERR_STATE);
	assert_says(err, "has no folder");
	retain_learner_free(memory);
	for (int calls = 0; calls < 4; calls++) {
		const char *name = (const char *const[]){"a", "b", "c", "d"}[calls];
		const char *to = (const char *const[]){"a1", "b1", "c1", "d1"}[calls];
		struct retain_learner *one = open_in(name, NULL), *other;

		for (unsigned i = 0; i < 9; i++) {
			struct step step = step_of(i);

			observe(one, &step);
			reveal(one, &step);
			if (i < 8 || calls)
				train(one, RETAIN_BUDGET);
			if (i == 5 && calls == 2)
				assert_ok(retain_learner_save(one, &err), err);
		}
		assert_ok(retain_learner_backup(one, in_folder(to), &err), err);
		assert_int_equal(retain_learner_backup(one, in_folder(to), &err), RETAIN_ERR_INPUT);
		assert_says(err, "is there already");
		other = open_in(to, NULL);
		if (!calls)
			train(one, RETAIN_BUDGET);
		assert_same(one, other);
	}
}

static void killed_it_comes_to_the_same_bits(void **state)
{
	(void)state;
	kills_change_nothing(NULL);
}

static void killed_with_checkpoints_in_between(void **state)
{
	(void)state;
	kills_change_nothing(SETTINGS("run.checkpoint_every", "3 steps", "replay.pool", "reservoir",
		"replay.limit", "60", "replay.validation_limit", "40", "eval.every", "5"));
}

/* A budget that is not a whole number of iterations. */
static void killed_with_a_budget(void **state)
{
	(void)state;
	kills_change_nothing(SETTINGS("run.budget", "3.7", "run.checkpoint_every", "7 steps"));
}

static void killed_with_a_population(void **state)
{
	(void)state;
	kills_change_nothing(SETTINGS("run.method", "polrs+adrep", "learn.part_steps", "5",
		"run.checkpoint_every", "4 steps"));
}

static void killed_with_fast_weights(void **state)
{
	(void)state;
	kills_change_nothing(SETTINGS(
		"run.method", "schedule-free+recency+fast", "run.checkpoint_every", "4 steps"));
}

/* A rate that no net survives, halved until one does. */
static void killed_with_rollbacks(void **state)
{
	struct retain_learner *learner;

	(void)state;
	kills_change_nothing(SETTINGS("run.on_nan", "rollback", "run.checkpoint_every", "7 steps",
		"schedule.rate", "1024", "schedule.kind", "constant", "average.kind", "ema",
		"model.scale", "off"));
	learner = open_in("straight", SETTINGS("run.on_nan", "rollback", "schedule.rate", "1024",
					      "schedule.kind", "constant", "average.kind", "ema"));
	assert_true(metrics_of(learner).learning_rate < 1024);
	retain_learner_free(learner);
}

/* Iterations by number, a label that comes late, one that never comes: all but the last is known. */
static void work_freely(struct retain_learner *learner)
{
	struct step late = step_of(77), never = step_of(78);

	observe(learner, &late);
	for (int i = 0; i < 12; i++) {
		struct step step = step_of((unsigned)i);

		observe(learner, &step);
		if (i == 5)
			observe(learner, &never);
		train(learner, i % 3);
		reveal(learner, &step);
		if (i == 8)
			reveal(learner, &late);
		train(learner, 3 * i % 7);
	}
	late = step_of(79);
	observe(learner, &late);
	reveal(learner, &late);
}

static void other_iterations_are_known_too(void **state)
{
	const pid_t child = fork();
	struct retain_learner *straight;
	int status;

	(void)state;
	if (!child) {
		work_freely(open_in("broken", NULL));
		raise(SIGKILL);
	}
	waitpid(child, &status, 0);
	assert_true(WIFSIGNALED(status));
	straight = learner_of(NULL);
	work_freely(straight);
	train(straight, RETAIN_BUDGET);
	assert_same(straight, open_in("broken", NULL));
}

/* In memory, in a folder, closed at any place: the same. */
static void closed_it_is_as_it_was(void **state)
{
	struct retain_learner *straight = learner_of(NULL), *learner = open_in("run", NULL);
	struct step step;

	(void)state;
	for (unsigned i = 0; i < 12; i++) {
		for (int j = 0; j < 2; j++) {
			step = step_of(i);
			observe(j ? learner : straight, &step);
			reveal(j ? learner : straight, &step);
			if (j && i % 3 == 0) {
				retain_learner_close(learner);
				learner = open_in("run", NULL);
				assert_int_equal(metrics_of(learner).iterations, 5 * (int)i);
			}
			train(j ? learner : straight, RETAIN_BUDGET);
		}
	}
	assert_same(straight, learner);
}

/* Trained after opening, then killed: nothing of that is lost either. */
static void closed_then_killed(void **state)
{
	struct retain_learner *straight = learner_of(NULL), *learner = open_in("run", NULL);
	struct step step = step_of(3);
	int status;
	pid_t child;

	(void)state;
	go(straight, 4);
	go(learner, 3);
	observe(learner, &step);
	reveal(learner, &step);
	retain_learner_close(learner);
	child = fork();
	if (!child) {
		train(open_in("run", NULL), RETAIN_BUDGET);
		raise(SIGKILL);
	}
	waitpid(child, &status, 0);
	assert_same(straight, open_in("run", NULL));
}

/* The one before it, and what came since, lead to the same place. */
static void a_damaged_checkpoint(void **state)
{
	struct retain_learner *straight = learner_of(NULL), *learner = open_in("run", NULL);
	struct retain_err err;
	char path[400];

	(void)state;
	go(straight, 9);
	for (int i = 0; i < 9; i++) {
		struct step step = step_of((unsigned)i);

		observe(learner, &step);
		reveal(learner, &step);
		train(learner, RETAIN_BUDGET);
		if (i % 3 == 0)
			assert_ok(retain_learner_save(learner, &err), err);
	}
	retain_learner_free(learner);
	snprintf(path, sizeof(path), "%s/checkpoint/000002.state", in_folder("run"));
	assert_int_equal(truncate(path, 1000), 0);
	assert_same(straight, open_in("run", NULL));
}

static void loaded_weights_are_kept(void **state)
{
	struct retain_learner *straight = learner_of(NULL), *learner = open_in("run", NULL);
	struct retain_err err;

	(void)state;
	go(straight, 2);
	assert_ok(
		retain_learner_save_weights(straight, RETAIN_WEIGHTS_SERVING, in_folder("w"), &err),
		err);
	retain_learner_free(straight);
	straight = learner_of(NULL);
	assert_ok(retain_learner_load_weights(straight, in_folder("w"), &err), err);
	assert_ok(retain_learner_load_weights(learner, in_folder("w"), &err), err);
	go(straight, 3);
	go(learner, 3);
	retain_learner_free(learner);
	assert_same(straight, open_in("run", NULL));
}

/* Inputs that wait are on disk: their labels may come to another process. */
static void tickets_outlive_the_process(void **state)
{
	struct retain_learner *learner = open_in("run", NULL), *straight = open_in("other", NULL);
	struct step step = step_of(1), dropped = step_of(3), after = step_of(2), same = step_of(1),
		    then = step_of(2);
	struct retain_err err;

	(void)state;
	observe(learner, &step);
	observe(learner, &dropped);
	retain_learner_free(learner); /* as a killed process leaves it */
	learner = open_in("run", NULL);
	observe(learner, &after);
	assert_int_not_equal(step.ticket.number, after.ticket.number);
	assert_int_equal(retain_learner_reveal(learner, step.ticket, step.labels, N - 1, &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "stands for");
	reveal(learner, &step);
	train(learner, RETAIN_BUDGET);
	assert_ok(retain_learner_drop(learner, dropped.ticket, &err), err);
	assert_int_equal(retain_learner_drop(learner, dropped.ticket, &err), RETAIN_ERR_INPUT);
	assert_says(err, "was revealed or dropped before");
	assert_int_equal(retain_learner_reveal(learner, step.ticket, step.labels, N, &err),
		RETAIN_ERR_INPUT);
	assert_says(err, "was revealed or dropped before");
	reveal(learner, &after);
	train(learner, RETAIN_BUDGET);
	observe(straight, &same);
	observe(straight, &then);
	reveal(straight, &same);
	train(straight, RETAIN_BUDGET);
	reveal(straight, &then);
	train(straight, RETAIN_BUDGET);
	assert_same(learner, straight);
}

static void a_folder_has_one_learner(void **state)
{
	struct retain_learner *learner = open_in("run", NULL);
	int status;
	pid_t child;

	(void)state;
	assert_refused("run", NULL, RETAIN_ERR_FILE, "run: another process works in this folder");
	child = fork();
	if (!child) {
		struct retain_learner *other = NULL;

		_exit(-learner_try(&other, in_folder("run"), NULL, NULL));
	}
	waitpid(child, &status, 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == -RETAIN_ERR_FILE);
	go(learner, 2);
	retain_learner_free(learner);
	learner = open_in("run", NULL);
	assert_int_equal(metrics_of(learner).steps, 2);
	retain_learner_close(learner);
}

/* With a checkpoint, and without one. */
static void another_config_is_refused(void **state)
{
	static const struct {
		const char *settings[3], *words;
	} rows[] = {
		{{"schedule.rate", "0.3"}, "run: was made with another config: schedule.rate = "},
		{{"schedule.rate", "0.3"}, ", not 0.3"},
		{{"model.input", "7"}, "model.input = 6, not 7"},
		{{"model.arch", "linear"}, "model.arch = mlp:8, not linear"},
		{{"run.iterations", "6"}, "run.iterations = 5, not 6"},
	};

	(void)state;
	for (int saved = 0; saved < 2; saved++) {
		struct retain_learner *learner = open_in("run", NULL);

		go(learner, 2);
		if (saved)
			retain_learner_close(learner);
		else
			retain_learner_free(learner);
		for (size_t i = 0; i < COUNT(rows); i++)
			assert_refused("run", rows[i].settings, RETAIN_ERR_INPUT, rows[i].words);
		learner = open_in(
			"run", SETTINGS("engine.threads", "2", "run.checkpoint_every", "5 steps"));
		assert_int_equal(metrics_of(learner).steps, 2 * (saved + 1));
		retain_learner_free(learner);
	}
}

/* A run of the command over a source is no learner of a program: its samples are elsewhere. */
static void other_runs_are_refused(void **state)
{
	FILE *file;

	(void)state;
	assert_int_equal(mkdir(in_folder("live"), 0777), 0);
	file = fopen(in_folder("live/config.ini"), "w");
	fputs("[stream]\nsource = drift\n", file);
	fclose(file);
	assert_refused("live", NULL, RETAIN_ERR_INPUT,
		"holds a run of the command retain over stream.source = drift");
}

static void a_read_only_folder(void **state)
{
	static const uid_t nobody = 65534;
	const bool root = geteuid() == 0;

	(void)state;
	/* Permissions mean nothing to root. */
	if (root && (chown(folder, nobody, (gid_t)-1) || seteuid(nobody))) {
		print_message("permissions cannot be tried here\n");
		skip();
	}
	retain_learner_close(open_in("run", NULL));
	assert_int_equal(chmod(folder, 0555), 0);
	assert_refused("new", NULL, RETAIN_ERR_FILE, "new: Permission denied");
	assert_int_equal(chmod(folder, 0755), 0);
	if (root)
		assert_int_equal(seteuid(0), 0);
}

/* Adds the message to what was heard before. */
static void hear(void *context, const char *message)
{
	char *heard = context;

	snprintf(heard + strlen(heard), HEARD - strlen(heard), "%s\n", message);
}

/* That the error stays as it was is a part of it: warnings are no failures. */
static struct retain_learner *open_hearing(const char *const *settings, char *heard)
{
	struct retain_config *config = retain_config_new();
	struct retain_learner *learner = NULL;
	struct retain_err err = {0};

	assert_ok(config_try(config, settings, &err), err);
	assert_ok(retain_config_on_warning(config, hear, heard, &err), err);
	*heard = '\0';
	assert_ok(retain_learner_open(&learner, config, in_folder("run"), &err), err);
	assert_int_equal(err.code, 0);
	retain_config_free(config);
	return learner;
}

static void assert_heard(char *heard, const char *words)
{
	if (!strstr(heard, words))
		fail_msg("\"%s\" was not said: %s", words, heard);
	*heard = '\0';
}

/* The path of the run's last checkpoint. */
static const char *newest_checkpoint(void)
{
	static char path[400];
	char name[40];

	*path = '\0';
	for (int number = 1; number < 100; number++) {
		snprintf(name, sizeof(name), "run/checkpoint/%06d.state", number);
		if (!access(in_folder(name), F_OK))
			snprintf(path, sizeof(path), "%s", in_folder(name));
	}
	return path;
}

static void warnings_are_heard(void **state)
{
	const char *const *settings = SETTINGS("run.on_nan", "rollback", "run.checkpoint_every",
		"3 steps", "schedule.rate", "1024", "schedule.kind", "constant", "average.kind",
		"ema", "model.scale", "off");
	struct retain_err err = {0};
	struct retain_learner *learner;
	char heard[HEARD];

	(void)state;
	learner = open_hearing(settings, heard);
	assert_string_equal(heard, "");
	for (unsigned i = 0; i < STEPS; i++) {
		struct step step = step_of(i);

		observe(learner, &step);
		reveal(learner, &step);
		assert_ok(retain_learner_train(learner, RETAIN_BUDGET, &err), err);
		assert_int_equal(err.code, 0);
	}
	assert_heard(heard, "; went back to iteration ");
	retain_learner_close(learner);
	assert_string_equal(heard, "");

	assert_int_equal(truncate(newest_checkpoint(), 1000), 0);
	learner = open_hearing(settings, heard);
	assert_heard(heard, "trying the checkpoint before it");

	/* Nothing can be written into a file. */
	remove_all(in_folder("run/checkpoint"));
	fclose(fopen(in_folder("run/checkpoint"), "w"));
	for (int i = 0; i < 3; i++)
		go(learner, 1);
	assert_heard(heard, "no checkpoint was made: ");
	retain_learner_close(learner);
	assert_heard(heard, "checkpoint");
}

/* Without a config it is what it was. */
static void its_own_config_is_enough(void **state)
{
	const char *const *settings =
		SETTINGS("schedule.rate", "0.13", "run.method", "ema+rwp", "run.seed", "5");
	struct retain_learner *straight = learner_of(settings), *learner;
	struct retain_err err = {0};

	(void)state;
	learner = open_in("run", settings);
	go(straight, 6);
	go(learner, 6);
	retain_learner_close(learner);
	assert_ok(retain_learner_open(&learner, NULL, in_folder("run"), &err), err);
	assert_same(straight, learner);
}

/* A folder's settings can be read, and those that may change be changed. */
static void its_config_can_be_changed_a_little(void **state)
{
	struct retain_config *config = retain_config_new();
	struct retain_learner *learner;
	const char *value;
	struct retain_err err = {0};

	(void)state;
	retain_learner_close(open_in("run", SETTINGS("schedule.rate", "0.13")));
	assert_ok(retain_config_load(config, in_folder("run"), &err), err);
	assert_ok(retain_config_get(config, "schedule.rate", &value, &err), err);
	assert_string_equal(value, "0.13");
	assert_ok(retain_config_set(config, "engine.threads", "2", &err), err);
	assert_ok(retain_learner_open(&learner, config, in_folder("run"), &err), err);
	retain_learner_free(learner);
	assert_ok(retain_config_set(config, "schedule.rate", "0.14", &err), err);
	assert_int_equal(
		retain_learner_open(&learner, config, in_folder("run"), &err), RETAIN_ERR_INPUT);
	assert_says(err, "schedule.rate = 0.13, not 0.14");
	retain_config_free(config);
}

struct stopper {
	int calls, stop_at;
	struct retain_progress last;
};

static int stop_there(void *context, const struct retain_progress *progress)
{
	struct stopper *stopper = context;

	assert_true(progress->done >= stopper->last.done && progress->done <= progress->total);
	stopper->last = *progress;
	return ++stopper->calls == stopper->stop_at;
}

/*
 * What takes long after a crash can be stopped, and tried again until it is done. Callbacks come every
 * 0.1 seconds; repeating takes several times as long on a fast machine.
 */
static void opening_can_be_stopped(void **state)
{
	const char *const *settings = SETTINGS("run.iterations", "6000");
	struct retain_learner *straight = learner_of(settings), *learner = open_in("run", settings);
	struct retain_config *config = retain_config_new();
	struct stopper stopper = {.stop_at = 1};
	struct retain_err err = {0};

	(void)state;
	go(straight, 12);
	go(learner, 12);
	retain_learner_free(learner);
	assert_ok(config_try(config, settings, &err), err);
	assert_ok(retain_config_on_progress(config, stop_there, &stopper, &err), err);
	for (int i = 0; i < 2; i++) {
		stopper = (struct stopper){.stop_at = 1};
		assert_int_equal(retain_learner_open(&learner, config, in_folder("run"), &err),
			RETAIN_ERR_STOPPED);
		assert_null(learner);
		assert_says(
			err, "retain_learner_open: was stopped by its progress function after ");
		assert_says(err, " of 192");
		assert_int_equal(stopper.calls, 1);
		assert_int_equal(stopper.last.total, 12 * N);
		assert_true(stopper.last.iterations > 0);
	}
	stopper = (struct stopper){.stop_at = -1};
	assert_ok(retain_learner_open(&learner, config, in_folder("run"), &err), err);
	assert_true(stopper.calls > 0);
	retain_config_free(config);
	assert_same(straight, learner);
}

/* Others predict from threads of their own: learning does not notice. */
static void others_may_ask_while_one_trains(void **state)
{
	struct retain_learner *asked =
		open_in("run", SETTINGS("engine.threads", "2", "run.checkpoint_every", "4 steps"));
	struct retain_learner *alone = learner_of(NULL);

	(void)state;
	go_while_asked(asked, 15);
	go(alone, 15);
	assert_same(alone, asked);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(a_backup_goes_on_to_the_same_bits),
		tree_test(killed_it_comes_to_the_same_bits),
		tree_test(killed_with_checkpoints_in_between),
		tree_test(killed_with_a_budget),
		tree_test(killed_with_a_population),
		tree_test(killed_with_fast_weights),
		tree_test(killed_with_rollbacks),
		tree_test(other_iterations_are_known_too),
		tree_test(closed_it_is_as_it_was),
		tree_test(closed_then_killed),
		tree_test(a_damaged_checkpoint),
		tree_test(loaded_weights_are_kept),
		tree_test(tickets_outlive_the_process),
		tree_test(a_folder_has_one_learner),
		tree_test(another_config_is_refused),
		tree_test(other_runs_are_refused),
		tree_test(a_read_only_folder),
		tree_test(warnings_are_heard),
		tree_test(its_own_config_is_enough),
		tree_test(its_config_can_be_changed_a_little),
		tree_test(opening_can_be_stopped),
		tree_test(others_may_ask_while_one_trains),
	};

	return cmocka_run_group_tests_name("folder", tests, NULL, NULL);
}
