/* What a learner publishes: copies that answer while it goes on learning. */
#include "../base/check.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "config/app_config.h"
#include "session/config/config.h"
#include "session/config/defaults.h"
#include "session/copy.h"
#include "session/session.h"

enum { FLOATS = 3, N = 6, CLASSES_MOST = 8 };

static const struct answers_wish now = {.question = ANSWERS_NOW}, ever = {.question = ANSWERS_EVER};

static struct options *options_of(const char *method)
{
	struct config *config;
	struct options *options;
	struct err err;
	char words[80];

	snprintf(words, sizeof(words), "run.method=%s", method);
	assert_ok(config_new(&config, &app_scope, &err), err);
	for (const char *const *at = SETTINGS("model.input=3", "model.classes=auto",
		     "model.arch=mlp:8", "run.batch=4", "engine.threads=1", words);
		*at; at++)
		assert_ok(config_assign(config, *at, &err), err);
	assert_ok(config_resolve(config, &options, &err), err);
	assert_ok(defaults_fill(options, defaults_of_input("3"), true, &err), err);
	config_free(config);
	return options;
}

static void begin(struct session *s, const struct options *options)
{
	const struct run_config run = {.options = options};
	const struct session_config config = {.iterations = 2, .every = 1000};
	struct err err = {0};

	*s = (struct session){0};
	assert_ok(session_init(s, &run, &config, &err), err);
	assert_ok(session_find_shape(s, &err), err);
	assert_ok(session_make(s, &err), err);
}

/* Samples of so many classes, and some iterations. */
static void learn(struct session *s, int classes, int iterations)
{
	float inputs[N * FLOATS];
	union target labels[N], guesses[N * TARGET_GUESS];
	struct err err = {0};
	bool back;

	memset(guesses, 0, sizeof(guesses));
	for (int i = 0; i < N; i++) {
		labels[i].class = i % classes;
		guesses[i * TARGET_GUESS].class = -1;
		for (int d = 0; d < FLOATS; d++)
			inputs[i * FLOATS + d] = (float)(i % classes == d) + (float)i / 10;
	}
	assert_ok(session_reveal(
			  s, &(struct session_samples){inputs, labels, guesses, NULL, N}, &err),
		err);
	for (int i = 0; i < iterations; i++)
		assert_ok(session_train(s, false, &back, &err), err);
}

static void ask(struct copy *copy, struct answers_wish wish, float *logits)
{
	const float inputs[FLOATS] = {1, 0.5f, -1};
	struct err err = {0};

	assert_true(copy_answers(copy, &wish, 1));
	assert_ok(copy_predict(copy, &wish, inputs, 1, logits, &err), err);
}

static void assert_same(const struct session *s, struct copy *copy, struct answers_wish wish)
{
	const float inputs[FLOATS] = {1, 0.5f, -1};
	float expected[CLASSES_MOST] = {0}, logits[CLASSES_MOST] = {0};
	struct err err = {0};

	assert_ok(learner_predict(
			  s->run.learner, answers_wish_model(wish), inputs, 1, expected, &err),
		err);
	ask(copy, wish, logits);
	assert_memory_equal(logits, expected, sizeof(logits));
}

/* Both questions are answered as the learner would, and as it would have before it went on. */
static void copies_answer_as_the_learner_did(void **state)
{
	static const char *const tried[] = {"ama+malr", "sgd+clr", "ama+malr+fast"};

	for (size_t m = 0; m < COUNT(tried); m++) {
		struct options *options = options_of(tried[m]);
		float before[CLASSES_MOST] = {0}, after[CLASSES_MOST] = {0};
		struct copy *copy;
		struct session s;
		struct err err = {0};

		begin(&s, options);
		learn(&s, 3, 5);
		assert_ok(copy_of_run(&copy, &s.run, &err), err);
		assert_same(&s, copy, now);
		assert_same(&s, copy, ever);
		ask(copy, ever, before);
		learn(&s, 3, 5);
		ask(copy, ever, after);
		assert_memory_equal(before, after, sizeof(before));
		assert_true(copy_fits(copy, s.run.learner));
		assert_ok(copy_renew(copy, s.run.learner, &err), err);
		ask(copy, ever, after);
		assert_memory_not_equal(before, after, sizeof(before));
		assert_same(&s, copy, now);
		copy_free(copy);
		session_release(&s);
		options_free(options);
	}
}

/* With another class there is another net: who still has the old copy can go on asking it. */
static void classes_make_another_copy(void **state)
{
	struct options *options = options_of("ama+malr");
	struct copy *old, *new, *held;
	float logits[CLASSES_MOST];
	struct session s;
	struct err err = {0};

	begin(&s, options);
	learn(&s, 2, 2);
	assert_ok(copy_of_run(&old, &s.run, &err), err);
	held = copy_hold(old);
	assert_ptr_equal(held, old);
	assert_int_equal(copy_known(old), 2);
	learn(&s, 5, 2);
	assert_false(copy_fits(old, s.run.learner));
	assert_ok(copy_of_run(&new, &s.run, &err), err);
	assert_int_equal(copy_known(new), 5);
	copy_free(old);
	ask(held, ever, logits);
	assert_int_equal(copy_known(held), 2);
	copy_free(held);
	copy_free(new);
	copy_free(NULL);
	assert_null(copy_hold(NULL));
	session_release(&s);
	options_free(options);
}

/* --- threads --- */

struct asker {
	struct copy *copy;
	atomic_bool stop;
	atomic_int asked;
};

static void *keep_asking(void *context)
{
	struct asker *asker = context;
	float logits[CLASSES_MOST];

	while (!asker->stop) {
		ask(asker->copy, asker->asked % 2 ? now : ever, logits);
		for (int i = 0; i < copy_known(asker->copy); i++)
			assert_true(isfinite(logits[i]));
		asker->asked++;
	}
	return NULL;
}

static void copies_are_renewed_under_readers(void **state)
{
	struct options *options = options_of("ama+malr+fast");
	struct asker asker = {0};
	pthread_t thread;
	struct session s;
	struct err err = {0};

	begin(&s, options);
	learn(&s, 3, 2);
	assert_ok(copy_of_run(&asker.copy, &s.run, &err), err);
	assert_int_equal(pthread_create(&thread, NULL, keep_asking, &asker), 0);
	for (int i = 0; i < 50 || asker.asked < 20; i++) {
		learn(&s, 3, 1);
		assert_ok(copy_renew(asker.copy, s.run.learner, &err), err);
	}
	asker.stop = true;
	pthread_join(thread, NULL);
	assert_same(&s, asker.copy, now);
	copy_free(asker.copy);
	session_release(&s);
	options_free(options);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_answer_as_the_learner_did),
		cmocka_unit_test(classes_make_another_copy),
		cmocka_unit_test(copies_are_renewed_under_readers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
