/*
 * A session whose samples lie elsewhere: its owner makes the time steps, the session trains,
 * evaluates, checkpoints and goes back. Samples here follow from their ids.
 */
#include "../base/check.h"
#include "../base/folder.h"

#include <math.h>

#include "base/file.h"
#include "base/mem.h"
#include "config/app_config.h"
#include "session/config/config.h"
#include "session/config/defaults.h"
#include "session/session.h"
#include "store/store_impl.h"

enum { FLOATS = 3, CLASSES = 3, PER_STEP = 8, STEPS = 30, EVALUATIONS = 6 };

/* Samples from this one on cannot be learned, until the session has gone back; 0: all can. */
static int64_t spoiled;
static const struct session *spoiled_for;

static void sample(int64_t id, float *input, union target *label)
{
	label->class = (int32_t)(id * 7 % CLASSES);
	for (int i = 0; i < FLOATS; i++)
		input[i] = (float)(label->class == i) + (float)(id * (i + 3) % 11) / 20;
	if (spoiled && id >= spoiled && !spoiled_for->backs)
		input[0] = NAN;
}

/* --- the store: nothing is kept --- */

static void store_done(struct store *store)
{
	mem_free(store);
}

static int add(struct store *store, const float *inputs, const union target *labels, int n,
	struct err *err)
{
	return 0;
}

static int fetch(struct store *store, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err)
{
	for (int i = 0; i < n; i++)
		sample(ids[i], inputs + (size_t)i * FLOATS, &labels[i]);
	return 0;
}

static void count_state(struct store *store, struct state *state)
{
	state_int64(state, "count", &store->count);
}

static const struct store_type type = {
	.free = store_done, .add = add, .fetch = fetch, .state = count_state};

static struct store *store_of_ids(void)
{
	struct store *store = mem_new(1, sizeof(*store));

	*store = (struct store){&type, FLOATS, 0};
	return store;
}

/* --- its owner --- */

struct owner {
	struct session session; /* must be first */
	int evaluated, made, iterated, stop_after;
	sig_atomic_t stop;
};

static int on_made(struct run *run, struct err *err)
{
	((struct owner *)run)->made++;
	return 0;
}

/* Every third time step trains nothing. */
static void pace(struct run *run)
{
	run->iterations = run->step % 3 == 2 ? 0 : 4;
}

static void iterated(struct run *run)
{
	struct owner *owner = (struct owner *)run;

	owner->iterated++;
	owner->stop = owner->stop || owner->iterated == owner->stop_after;
}

static bool due(const struct run *run)
{
	return (int)(run->step * EVALUATIONS / STEPS) > ((const struct owner *)run)->evaluated;
}

static int evaluate(struct run *run, struct err *err)
{
	((struct owner *)run)->evaluated++;
	return run_evaluate(run, err);
}

static void evaluated_state(struct run *run, struct state *state)
{
	state_int(state, "evaluated", &((struct owner *)run)->evaluated);
}

static const struct run_driver driver = {.made = on_made,
	.pace = pace,
	.iterated = iterated,
	.due = due,
	.evaluate = evaluate,
	.state = evaluated_state};

static struct options *options_of(const char *const *settings)
{
	struct config *config;
	struct options *options;
	struct err err;

	assert_ok(config_new(&config, &app_scope, &err), err);
	for (; *settings; settings++)
		assert_ok(config_assign(config, *settings, &err), err);
	assert_ok(config_resolve(config, &options, &err), err);
	assert_ok(defaults_fill(options, defaults_of_input("3"), true, &err), err);
	config_free(config);
	return options;
}

static struct options *usual(void)
{
	return options_of(SETTINGS("model.input=3", "model.classes=3", "model.arch=mlp:8",
		"run.batch=4", "engine.threads=1", "run.checkpoint_every=7 steps"));
}

static void owner_open(struct owner *owner, const struct options *options, int stop_after)
{
	static char path[400];
	const struct run_config run = {
		.options = options, .folder = path, .start = RUN_RESUME, .stop = &owner->stop};
	const struct session_config config = {.driver = &driver, .rows = EVALUATIONS};
	struct session *s = &owner->session;
	struct err err = {0};

	snprintf(path, sizeof(path), "%s/run", folder);
	*owner = (struct owner){.stop_after = stop_after};
	assert_ok(session_init(s, &run, &config, &err), err);
	s->learner = (struct learner_config){
		.classes = CLASSES, .channels = FLOATS, .height = 1, .width = 1, .steps = STEPS};
	s->run.store = store_of_ids();
	s->run.planned_steps = STEPS;
	assert_ok(session_make(s, &err), err);
	assert_null(s->journal);
	assert_int_equal(owner->made, 1);
	assert_ok(session_begin(s, &err), err);
}

static void step(struct session *s)
{
	float inputs[PER_STEP * FLOATS], logits[PER_STEP * CLASSES];
	union target labels[PER_STEP], guesses[PER_STEP * TARGET_GUESS];
	struct err err = {0};

	for (int i = 0; i < PER_STEP; i++)
		sample(s->run.step * PER_STEP + i, inputs + (size_t)i * FLOATS, &labels[i]);
	assert_ok(
		learner_predict(s->run.learner, LEARNER_NEXT, inputs, PER_STEP, logits, &err), err);
	for (int i = 0; i < PER_STEP; i++)
		learner_target(s->run.learner)
			->guess(logits + (size_t)i * CLASSES, CLASSES, 1,
				guesses + (size_t)i * TARGET_GUESS);
	assert_ok(session_learn(s,
			  &(struct session_samples){inputs, labels, guesses, NULL, PER_STEP}, &err),
		err);
}

static struct run_result go(struct owner *owner)
{
	struct session *s = &owner->session;
	struct run_result result = {0};
	struct err err = {0};

	while (s->run.step < STEPS && !run_stopping(&s->run))
		step(s);
	assert_ok(session_end(s, 0, &result, &err), err);
	return result;
}

static char *read_of(const char *name, size_t *size)
{
	char *bytes;
	struct err err;

	assert_ok(file_read(in_folder(name), 1 << 20, &bytes, size, &err), err);
	return bytes;
}

/* What a time step trains, and when there is a row, its owner says. */
static void the_owner_sets_the_pace(void **state)
{
	struct options *options = usual();
	struct owner owner;
	struct run_result result;

	owner_open(&owner, options, 0);
	result = go(&owner);
	assert_false(result.stopped);
	assert_int_equal(result.step, STEPS);
	assert_int_equal(owner.iterated, STEPS / 3 * 2 * 4);
	assert_int_equal(owner.evaluated, EVALUATIONS);
	assert_int_equal(result.rows, EVALUATIONS);
	assert_int_equal(run_scored(&owner.session.run), STEPS * PER_STEP);
	session_release(&owner.session);
	options_free(options);
}

/* Wherever it is stopped, in the middle of a time step, too, it comes to the same end. */
static void a_stop_changes_nothing(void **state)
{
	static const int stops[] = {1, 6, 29, 50, 79};
	struct options *options = usual();
	struct owner owner;
	size_t size[2];
	char *straight;

	owner_open(&owner, options, 0);
	go(&owner);
	session_release(&owner.session);
	straight = read_of("run/model.safetensors", &size[0]);
	remove_all(in_folder("run"));
	for (size_t i = 0; i < COUNT(stops); i++) {
		char *model;

		owner_open(&owner, options, stops[i]);
		assert_true(go(&owner).stopped);
		assert_int_equal(owner.iterated, stops[i]);
		session_release(&owner.session);
		owner_open(&owner, options, 0);
		assert_false(go(&owner).stopped);
		assert_int_equal(owner.evaluated, EVALUATIONS);
		session_release(&owner.session);
		model = read_of("run/model.safetensors", &size[1]);
		assert_int_equal(size[0], size[1]);
		assert_memory_equal(model, straight, size[0]);
		mem_free(model);
		remove_all(in_folder("run"));
	}
	mem_free(straight);
	options_free(options);
}

/* A loss of NaN takes it back to a checkpoint, from which its owner's time steps go on. */
static void it_goes_back(void **state)
{
	struct options *options =
		options_of(SETTINGS("model.input=3", "model.classes=3", "model.arch=mlp:8",
			"run.batch=4", "engine.threads=1", "run.method=sgd+clr", "schedule.rate=3",
			"model.scale=off", "run.on_nan=rollback", "run.checkpoint_every=4 steps"));
	struct owner owner;
	struct run_result result;
	size_t size;
	char *events;

	owner_open(&owner, options, 0);
	spoiled = 100;
	spoiled_for = &owner.session;
	result = go(&owner);
	spoiled = 0;
	assert_int_equal(result.step, STEPS);
	assert_int_equal(owner.session.backs, 1);
	session_release(&owner.session);
	events = read_of("run/events.jsonl", &size);
	assert_non_null(strstr(events, "\"rollback\""));
	mem_free(events);
	options_free(options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(the_owner_sets_the_pace),
		tree_test(a_stop_changes_nothing),
		tree_test(it_goes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
