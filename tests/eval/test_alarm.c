/*
 * Drift detectors: ADWIN's first call against river's (0.26, its defaults), the test of Page
 * and Hinkley by hand, and what both owe a user: no call while nothing changes, one soon after
 * it has.
 */
#include <math.h>

#include "check.h"
#include "eval/alarm.h"

static struct alarm *alarm_of(const char *kind)
{
	struct alarm *alarm;
	struct err err = {0};

	assert_ok(alarm_new(&alarm, kind, &err), err);
	return alarm;
}

/* Errors that come in so many percent of cases; the same numbers in any language. */
static bool wrong_at(uint64_t *seed, int percent)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return *seed >> 33 < (uint64_t)percent * 2147483648u / 100;
}

/*
 *	from river import drift
 *	adwin = drift.ADWIN()
 *	for i in range(60000):
 *	    seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
 *	    adwin.update(int(seed >> 33 < (before if i < at else after) * 2**31 // 100))
 *	    if adwin.drift_detected: print(i + 1); break
 */
static void adwin_calls_when_river_does(void **state)
{
	static const struct {
		uint64_t seed;
		int before, after, at, river;
	} rows[] = {
		{1, 10, 30, 5000, 5088},
		{2, 20, 25, 20000, 20640},
		{3, 5, 50, 1000, 1056},
		{4, 30, 10, 3000, 3200},
		{5, 1, 4, 10000, 11808},
		{6, 45, 55, 8000, 8384},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct alarm *alarm = alarm_of("adwin");
		struct alarm_change change = {0};
		uint64_t seed = rows[i].seed;
		int calls = 0, first = 0;

		for (int n = 1; n <= rows[i].river; n++) {
			const bool wrong =
				wrong_at(&seed, n <= rows[i].at ? rows[i].before : rows[i].after);

			if (alarm_add(alarm, wrong, &change)) {
				calls++;
				first = first ? first : n;
			}
		}
		/* River calls for the better, too; here that is no alarm. */
		assert_int_equal(calls, rows[i].after > rows[i].before);
		if (calls)
			assert_int_equal(first, rows[i].river);
		if (calls)
			assert_true(fabs(100 * change.before - rows[i].before) < 2);
		alarm_free(alarm);
	}
}

/*
 * After 200 right ones the sum is lowest. The j-th wrong one after that adds
 * 1 - j / (200 + j) - 0.025: 49.37 after 58 of them, 50.11 after 59.
 */
static void page_hinkley_by_hand(void **state)
{
	struct alarm *alarm = alarm_of("page-hinkley");
	struct alarm_change change = {0};

	(void)state;
	for (int i = 0; i < 200; i++)
		assert_false(alarm_add(alarm, false, &change));
	for (int i = 1; i <= 58; i++)
		assert_false(alarm_add(alarm, true, &change));
	assert_true(alarm_add(alarm, true, &change));
	assert_number(change.before, 0);
	assert_number(change.after, 1);
	/* It has begun anew: what it hears now is how things are. */
	for (int i = 0; i < 1000; i++)
		assert_false(alarm_add(alarm, true, &change));
	assert_int_equal(alarm_count(alarm), 1);
	alarm_free(alarm);
}

static int calls_over(struct alarm *alarm, uint64_t *seed, int percent, int samples, int *first)
{
	struct alarm_change change;
	int calls = 0;

	for (int i = 1; i <= samples; i++)
		if (alarm_add(alarm, wrong_at(seed, percent), &change) && !calls++)
			*first = i;
	return calls;
}

static void calls_after_a_change_and_only_then(void **state)
{
	static const int levels[] = {2, 10, 30, 50};

	(void)state;
	for (int kind = 0; alarm_types[kind]; kind++)
		for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
			struct alarm *alarm = alarm_of(alarm_type_name(alarm_types[kind]));
			const bool armed = alarm_armed(alarm);
			uint64_t seed = 7 + i;
			int first = 0;

			assert_int_equal(calls_over(alarm, &seed, levels[i], 200000, &first), 0);
			/* 25 points worse, and better again. */
			assert_int_equal(calls_over(alarm, &seed, levels[i] + 25, 50000, &first),
				armed ? 1 : 0);
			assert_true(first <= 400);
			assert_int_equal(calls_over(alarm, &seed, levels[i], 50000, &first), 0);
			assert_int_equal(alarm_count(alarm), armed ? 1 : 0);
			alarm_free(alarm);
		}
}

/* Neighbours that are right or wrong together: bursts of 10, one in four of them wrong. */
static void bursts_are_no_change(void **state)
{
	(void)state;
	for (int kind = 0; alarm_types[kind]; kind++) {
		struct alarm *alarm = alarm_of(alarm_type_name(alarm_types[kind]));
		struct alarm_change change;
		uint64_t seed = 11;
		int calls = 0;
		bool wrong = false;

		for (int i = 0; i < 400000; i++) {
			if (i % 10 == 0)
				wrong = wrong_at(&seed, i < 300000 ? 25 : 60);
			if (alarm_add(alarm, wrong, &change) && i >= 20000 && i < 300000)
				calls++;
		}
		assert_int_equal(calls, 0);
		/* A change is heard all the same. */
		if (alarm_armed(alarm))
			assert_true(alarm_count(alarm) > 0);
		alarm_free(alarm);
	}
}

static void visit(void *object, struct state *state)
{
	alarm_state(object, state);
}

static void a_resumed_detector_goes_on(void **state)
{
	struct alarm_change one, other;
	struct err err = {0};

	(void)state;
	for (int kind = 0; alarm_types[kind]; kind++) {
		const char *name = alarm_type_name(alarm_types[kind]);
		struct alarm *straight = alarm_of(name), *resumed = alarm_of(name);
		uint64_t seed = 3, once = 4;
		int first;

		calls_over(resumed, &once, 90, 500, &first); /* to be replaced */
		for (int i = 0; i < 12000; i++) {
			const bool wrong = wrong_at(&seed, i / 3000 % 2 ? 40 : 10);

			if (i % 1777 == 0) {
				assert_ok(
					state_save(in_folder("state"), visit, straight, &err), err);
				assert_ok(
					state_load(in_folder("state"), visit, resumed, &err), err);
			}
			const bool called = alarm_add(straight, wrong, &one);
			assert_int_equal(alarm_add(resumed, wrong, &other), called);
			if (called) {
				assert_number(other.before, one.before);
				assert_number(other.after, one.after);
			}
		}
		assert_int_equal(alarm_count(resumed), alarm_count(straight));
		assert_int_equal(alarm_count(straight), alarm_armed(straight) ? 2 : 0);
		alarm_free(straight);
		alarm_free(resumed);
	}
}

static void another_kind_is_refused(void **state)
{
	struct alarm *adwin = alarm_of("adwin"), *other = alarm_of("page-hinkley");
	struct err err = {0};

	(void)state;
	assert_ok(state_save(in_folder("state"), visit, adwin, &err), err);
	assert_true(state_load(in_folder("state"), visit, other, &err) < 0);
	alarm_free(adwin);
	alarm_free(other);
	assert_int_equal(alarm_new(&other, "bell", &err), ERR_INPUT);
	assert_says(err, "eval.alarm = bell");
}

static int new_attempt(void *context, struct err *err)
{
	struct alarm *alarm;
	const int code = alarm_new(&alarm, "adwin", err);

	(void)context;
	alarm_free(alarm);
	return code;
}

static void memory_runs_out(void **state)
{
	(void)state;
	assert_int_equal(each_allocation_fails(new_attempt, NULL), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adwin_calls_when_river_does),
		cmocka_unit_test(page_hinkley_by_hand),
		cmocka_unit_test(calls_after_a_change_and_only_then),
		cmocka_unit_test(bursts_are_no_change),
		folder_test(a_resumed_detector_goes_on),
		folder_test(another_kind_is_refused),
		cmocka_unit_test(memory_runs_out),
	};

	return cmocka_run_group_tests_name("alarm", tests, NULL, NULL);
}
