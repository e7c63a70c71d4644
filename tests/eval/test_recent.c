/* Accuracy of the latest thousand, against counting them all anew. */
#include "check.h"
#include "eval/recent.h"

enum { SAMPLES = 3500 };

static bool right_at(int sample)
{
	return sample * 2654435761u >> 16 & 1 || sample > 2000;
}

static double counted(int samples)
{
	const int first = samples > RECENT_SAMPLES ? samples - RECENT_SAMPLES : 0;
	int right = 0;

	for (int i = first; i < samples; i++)
		right += right_at(i);
	return samples ? (double)right / (samples - first) : NAN;
}

static void counts_the_latest_thousand(void **state)
{
	struct recent recent = {0};

	(void)state;
	for (int i = 0; i < SAMPLES; i++) {
		assert_number(recent_accuracy(&recent), counted(i));
		recent_add(&recent, right_at(i));
	}
	assert_number(recent_accuracy(&recent), 1);
}

static void visit(void *object, struct state *state)
{
	recent_state(object, state);
}

static void a_resumed_one_goes_on(void **state)
{
	struct err err = {0};

	(void)state;
	for (int stop = 0; stop < SAMPLES; stop += 700) {
		struct recent before = {0}, after = {.seen = 5, .right = 3};

		for (int i = 0; i < stop; i++)
			recent_add(&before, right_at(i));
		assert_ok(state_save(in_folder("state"), visit, &before, &err), err);
		assert_ok(state_load(in_folder("state"), visit, &after, &err), err);
		for (int i = stop; i < SAMPLES; i++) {
			assert_number(recent_accuracy(&after), counted(i));
			recent_add(&after, right_at(i));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_the_latest_thousand),
		folder_test(a_resumed_one_goes_on),
	};

	return cmocka_run_group_tests_name("recent", tests, NULL, NULL);
}
