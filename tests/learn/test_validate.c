/*
 * Validation beside training has the bits of validation in sequence: of every kind of average and
 * schedule, however iterations are called for, and whoever asks or saves in between.
 */
#include "check.h"
#include "../base/folder.h"

#include "base/file.h"
#include "base/os.h"
#include "base/state.h"

enum { STEPS = 30, ITERATIONS = 7 };

#define BESIDE "engine.threads=0"

/* One iteration at a time, as a run does; returns how often scores were still to come after one. */
static int go_by_one(struct school *school, int steps)
{
	int pending = 0;

	for (int step = 0; step < steps; step++) {
		school_reveal(school);
		learner_expect(school->learner, ITERATIONS);
		for (int i = 0; i < ITERATIONS; i++) {
			school_train(school, 1);
			pending += school->learner->validating.pending;
		}
	}
	return pending;
}

static void skip_unless_two_processors(void)
{
	if (os_processors() < 2) {
		print_message("# one processor: validation is always in sequence\n");
		skip();
	}
}

static void bits_are_those_of_sequence(void **state)
{
	static const char *const kinds[][3] = {
		{"average.kind=ama", "schedule.kind=malr"},
		{"average.kind=ama", "schedule.kind=rwp", "average.serve=best"},
		{"average.kind=ema", "schedule.kind=constant"},
		{"average.kind=none", "schedule.kind=rwp"},
		{"average.kind=ama", "schedule.kind=constant", "loss.kind=distill"},
		{"optimizer.kind=schedule-free", "average.kind=none", "schedule.kind=constant"},
		{"average.kind=ama", "schedule.kind=malr", "run.micro_batch=5"},
	};

	(void)state;
	skip_unless_two_processors();
	for (size_t i = 0; i < COUNT(kinds); i++) {
		const char *const *k = kinds[i];
		struct school sequence = school_of(SETTINGS(k[0], k[1], k[2]));
		struct school at_once = school_of(SETTINGS(BESIDE, k[0], k[1], k[2]));
		struct school by_one = school_of(SETTINGS(BESIDE, k[0], k[1], k[2]));
		int pending = 0;

		for (int step = 0; step < STEPS; step++) {
			school_go(&sequence, 1, ITERATIONS);
			school_go(&at_once, 1, ITERATIONS);
			pending += go_by_one(&by_one, 1);
			assert_twins(&sequence, &at_once);
			assert_twins(&sequence, &by_one);
		}
		assert_null(sequence.learner->validating.validator);
		assert_true(pending > STEPS / 2);
		school_close(&sequence);
		school_close(&at_once);
		school_close(&by_one);
	}
}

/* Statistics of batch norm are copied, too. */
static void bits_of_images_are_those_of_sequence(void **state)
{
	static const char *const net[] = {"model.arch=cnn:4,4", "model.norm=bn",
		"average.statistics_every=2", "schedule.validate_every=2", NULL};
	struct school sequence = school_images(net, (struct learner_watch){0});
	struct school beside = school_images(
		SETTINGS(BESIDE, net[0], net[1], net[2], net[3]), (struct learner_watch){0});

	(void)state;
	skip_unless_two_processors();
	assert_true(net_stats(beside.learner->net)->floats > 0);
	school_go(&sequence, 5, ITERATIONS);
	assert_true(go_by_one(&beside, 5) > 5);
	assert_twins(&sequence, &beside);
	school_close(&sequence);
	school_close(&beside);
}

static void visit(void *object, struct state *state)
{
	struct school *school = object;

	store_state(school->store, state);
	learner_state(school->learner, state);
	state_int64(state, "shown", &school->shown);
}

/* Trains both until scores of one are still to come. */
static void train_until_pending(struct school *sequence, struct school *beside)
{
	bool pending = false;

	for (int i = 0; i < ITERATIONS && !pending; i++) {
		learner_expect(beside->learner, ITERATIONS);
		school_train(sequence, 1);
		school_train(beside, 1);
		pending = beside->learner->validating.pending;
	}
	assert_true(pending);
}

/* A state is saved, and a learner ends, while scores are still to come. */
static void whoever_looks_waits(void **state)
{
	struct school sequence = school_of(NULL), beside = school_of(SETTINGS(BESIDE));
	struct school loaded = school_of(SETTINGS(BESIDE));
	struct err err;

	(void)state;
	skip_unless_two_processors();
	school_go(&sequence, 5, ITERATIONS);
	school_go(&beside, 5, ITERATIONS);
	train_until_pending(&sequence, &beside);
	assert_ok(state_save(in_folder("state"), visit, &beside, &err), err);
	assert_false(beside.learner->validating.pending);
	assert_ok(state_load(in_folder("state"), visit, &loaded, &err), err);
	assert_twins(&sequence, &beside);
	assert_twins(&sequence, &loaded);
	train_until_pending(&sequence, &beside);
	school_close(&sequence);
	school_close(&beside);
	school_close(&loaded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bits_are_those_of_sequence),
		cmocka_unit_test(bits_of_images_are_those_of_sequence),
		folder_test(whoever_looks_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
