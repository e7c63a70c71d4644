/* Predictions of learners from any thread: while others train, and with the newest weights at rest. */
#include "learner.h"

static void predict(struct retain_learner *learner, struct step *step)
{
	struct retain_err err;

	assert_ok(retain_learner_predict(
			  learner, step->inputs[0], N * DIM, step->predictions, N, NULL, 0, &err),
		err);
}

/* Whatever has changed the weights: a prediction has those that an observation has. */
static void at_rest_weights_are_the_newest(void **state)
{
	static const char *const methods[] = {"ama+malr", "sgd+clr", "schedule-free"};

	(void)state;
	for (size_t m = 0; m < COUNT(methods); m++) {
		struct retain_learner *learner = learner_of(SETTINGS("run.method", methods[m]));
		struct step seen = step_of(90), again = seen;
		struct retain_err err;

		for (unsigned i = 0; i < 12; i++) {
			struct step step = step_of(i);

			observe(learner, &step);
			reveal(learner, &step);
			train(learner, (int)i);
			predict(learner, &again);
			observe(learner, &seen);
			assert_same_predictions(&seen, &again);
		}
		assert_ok(retain_learner_save_weights(
				  learner, RETAIN_WEIGHTS_PLAIN, in_folder("w"), &err),
			err);
		assert_ok(retain_learner_load_weights(learner, in_folder("w"), &err), err);
		predict(learner, &again);
		observe(learner, &seen);
		assert_same_predictions(&seen, &again);
		retain_learner_free(learner);
	}
}

static void ask_for(
	struct retain_learner *learner, enum retain_question question, struct step *step)
{
	struct retain_err err;

	assert_ok(retain_learner_predict_for(learner, question, step->inputs[0], N * DIM,
			  step->predictions, N, NULL, 0, &err),
		err);
}

/*
 * Now is what an observation answers whose turn it is not, ever what a prediction does; fast
 * weights part the two.
 */
static void there_are_two_questions(void **state)
{
	static const char *const methods[] = {"ama+malr", "schedule-free+fast"};

	(void)state;
	for (size_t m = 0; m < COUNT(methods); m++) {
		struct retain_learner *learner = learner_of(SETTINGS("run.method", methods[m]));
		struct step seen = step_of(90), now = seen, ever = seen, plain = seen;
		struct retain_metrics metrics;
		struct retain_err err;
		int differences = 0;

		for (unsigned i = 0; i < 12; i++) {
			struct step step = step_of(i);

			observe(learner, &step);
			reveal(learner, &step);
			train(learner, 2);
			observe(learner, &seen);
			observe(learner, &seen);
			predict(learner, &plain);
			ask_for(learner, RETAIN_NOW, &now);
			ask_for(learner, RETAIN_EVER, &ever);
			assert_same_predictions(&seen, &now);
			assert_same_predictions(&plain, &ever);
			differences += memcmp(now.predictions, ever.predictions,
					       sizeof(now.predictions)) != 0;
		}
		assert_int_equal(differences > 0, m == 1);
		assert_ok(retain_learner_metrics(learner, &metrics, &err), err);
		assert_int_equal(isnan(metrics.learning_efficacy_ever), m == 0);
		retain_learner_free(learner);
	}
}

static void *predict_in_thread(void *context)
{
	struct step step = step_of(5);

	predict(context, &step);
	return NULL;
}

struct warned {
	struct retain_learner *learner;
	int count;
};

/* In the middle of a call: whoever waited for it to end would wait forever. */
static void predict_meanwhile(void *context, const char *message)
{
	struct warned *warned = context;
	pthread_t thread;

	(void)message;
	assert_int_equal(pthread_create(&thread, NULL, predict_in_thread, warned->learner), 0);
	pthread_join(thread, NULL);
	warned->count++;
}

static void predictions_do_not_wait(void **state)
{
	/* Every iteration changes the weights, so the copy is nearly always an old one. */
	const char *const *settings = SETTINGS("run.method", "sgd+clr", "run.on_nan", "rollback",
		"run.checkpoint_every", "3 steps", "schedule.rate", "1024");
	struct retain_config *config = retain_config_new();
	struct warned warned = {0};
	struct step step = step_of(1);
	struct retain_err err;

	(void)state;
	assert_ok(config_try(config, settings, &err), err);
	assert_ok(retain_config_on_warning(config, predict_meanwhile, &warned, &err), err);
	assert_ok(retain_learner_open(&warned.learner, config, in_folder("run"), &err), err);
	retain_config_free(config);
	predict(warned.learner, &step);
	for (int i = 0; i < 24 && warned.count == 0; i++)
		go(warned.learner, 1);
	assert_true(warned.count > 0);
	retain_learner_free(warned.learner);
}

/* One call that trains without end, until somebody has seen its weights change twice. */
struct watched {
	struct retain_learner *learner;
	atomic_bool seen;
};

static void *watch(void *context)
{
	struct watched *watched = context;
	struct step before = step_of(5), now = before;

	predict(watched->learner, &before);
	for (int changes = 0; changes < 2;) {
		predict(watched->learner, &now);
		if (memcmp(now.predictions, before.predictions, sizeof(now.predictions)) != 0) {
			before = now;
			changes++;
		}
	}
	atomic_store(&watched->seen, true);
	return NULL;
}

static int until_seen(void *context, const struct retain_progress *progress)
{
	struct watched *watched = context;

	(void)progress;
	return atomic_load(&watched->seen);
}

static void weights_are_renewed_while_training(void **state)
{
	struct retain_config *config = retain_config_new();
	struct watched watched = {0};
	struct step step = step_of(1);
	struct retain_err err;
	pthread_t thread;

	(void)state;
	assert_ok(config_try(config, SETTINGS("run.method", "sgd+clr"), &err), err);
	assert_ok(retain_config_on_progress(config, until_seen, &watched, &err), err);
	assert_ok(retain_learner_new(&watched.learner, config, &err), err);
	retain_config_free(config);
	observe(watched.learner, &step);
	reveal(watched.learner, &step);
	assert_int_equal(pthread_create(&thread, NULL, watch, &watched), 0);
	assert_int_equal(retain_learner_train(watched.learner, 1 << 30, &err), RETAIN_ERR_STOPPED);
	pthread_join(thread, NULL);
	retain_learner_free(watched.learner);
}

/* Others ask while one trains: nobody is turned away, and learning does not notice. */
static void others_may_ask_while_one_trains(void **state)
{
	struct retain_learner *asked = learner_of(SETTINGS("engine.threads", "2"));
	struct retain_learner *alone = learner_of(NULL);
	struct step a = step_of(7), b = step_of(7);

	(void)state;
	go_while_asked(asked, 15);
	go(alone, 15);
	observe(alone, &a);
	observe(asked, &b);
	assert_same_predictions(&a, &b);
	assert_int_equal(metrics_of(asked).steps, 15);
	retain_learner_free(asked);
	retain_learner_free(alone);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(at_rest_weights_are_the_newest),
		folder_test(there_are_two_questions),
		tree_test(predictions_do_not_wait),
		cmocka_unit_test(weights_are_renewed_while_training),
		cmocka_unit_test(others_may_ask_while_one_trains),
	};

	return cmocka_run_group_tests_name("serving", tests, NULL, NULL);
}
