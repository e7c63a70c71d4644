/* Scores: means over a window, the squares of gaps, clearing, state. */
#include "../base/check.h"
#include "../base/folder.h"
#include "optim/scores.h"

static const struct score rounds[2][SCORES_MODELS] = {
	{{2.0, 0.25}, {1.0, 0.50}, {1.5, 0.25}},
	{{4.0, 0.50}, {2.0, 0.625}, {0.5, 0.25}},
};

static void means_and_gaps(void **state)
{
	struct scores scores = {.models = 3};

	for (int i = 0; i < SCORES_MODELS; i++) {
		assert_true(scores_mean(&scores, i).loss == 0);
		assert_true(scores_mean(&scores, i).accuracy == 0);
	}
	scores_add(&scores, rounds[0]);
	scores_add(&scores, rounds[1]);
	assert_int_equal(scores.rounds, 2);
	assert_true(scores_mean(&scores, SCORES_PLAIN).loss == 3);
	assert_true(scores_mean(&scores, SCORES_PLAIN).accuracy == 0.375);
	assert_true(scores_mean(&scores, SCORES_AVERAGE).loss == 1.5);
	assert_true(scores_mean(&scores, SCORES_AVERAGE).accuracy == 0.5625);
	assert_true(scores_mean(&scores, SCORES_AVERAGE + 1).loss == 1);
	assert_true(scores_mean(&scores, SCORES_AVERAGE + 1).accuracy == 0.25);
	/* Gaps: 1/4 and 1/8; 0 and -1/4. */
	assert_true(scores.gap_squares[SCORES_PLAIN] == 0);
	assert_true(scores.gap_squares[SCORES_AVERAGE] == 0.0625 + 0.015625);
	assert_true(scores.gap_squares[SCORES_AVERAGE + 1] == 0.0625);

	scores_clear(&scores);
	assert_int_equal(scores.models, 3);
	assert_int_equal(scores.rounds, 0);
	assert_true(scores_mean(&scores, SCORES_AVERAGE).accuracy == 0);
	assert_true(scores.gap_squares[SCORES_AVERAGE] == 0);
}

/* A round has room for all models, whatever their number; those that are not there do not count. */
static void only_models_that_are_there(void **state)
{
	struct scores scores = {.models = 1};

	scores_add(&scores, rounds[0]);
	assert_true(scores.sum[SCORES_PLAIN].loss == 2);
	assert_true(scores.sum[SCORES_AVERAGE].loss == 0);
}

static void visit(void *scores, struct state *state)
{
	scores_state(scores, state);
}

static void round_trip(void **state)
{
	for (int models = 1; models <= SCORES_MODELS; models++) {
		struct scores straight = {.models = models}, resumed = {.models = models};
		struct err err = {0};

		scores_add(&straight, rounds[0]);
		if (state_save(in_folder("state"), visit, &straight, &err) ||
			state_load(in_folder("state"), visit, &resumed, &err))
			fail_msg("%s", err.message);
		scores_add(&straight, rounds[1]);
		scores_add(&resumed, rounds[1]);
		assert_memory_equal(&straight.sum, &resumed.sum, sizeof(straight.sum));
		assert_memory_equal(
			&straight.gap_squares, &resumed.gap_squares, sizeof(straight.gap_squares));
		assert_int_equal(resumed.rounds, 2);
	}
}

static void bad_state_is_refused(void **state)
{
	struct scores bad = {.models = 1, .rounds = -1};
	struct err err;

	/* Already while saving: what could not be read back is not written. */
	assert_int_equal(state_save(in_folder("state"), visit, &bad, &err), ERR_FORMAT);
	assert_says(err, "-1 rounds");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_and_gaps),
		cmocka_unit_test(only_models_that_are_there),
		folder_test(round_trip),
		folder_test(bad_state_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
