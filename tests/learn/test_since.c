/* The time since the newest known target: which input is the clock, and what it is good for. */
#include <math.h>

#include "../base/check.h"
#include "../base/folder.h"
#include "base/rng.h"
#include "learn/numbers/numbers_impl.h"
#include "nn/own/kernels.h"

enum { NOISE, EVEN, CLOCK, FLOATS };

static double uniform(uint64_t n)
{
	return rng_double((struct rng){11, RNG_TEST}, n);
}

/* Rows come after 1 to 8 minutes. */
static double gap_of(int t)
{
	return 1 + floor(8 * uniform((uint64_t)t));
}

static double time_at(int t)
{
	double time = 100;

	for (int i = 1; i <= t; i++)
		time += gap_of(i);
	return time;
}

static void fill(float raw[FLOATS], int t, double time)
{
	raw[NOISE] = (float)uniform(1000000 + (uint64_t)t);
	raw[EVEN] = (float)t;
	raw[CLOCK] = (float)time;
}

struct clocked {
	struct since since;
	struct values values;
	struct values_change change;
};

static void begin(struct clocked *clocked)
{
	struct err err = {0};

	since_init(&clocked->since);
	assert_ok(values_init(&clocked->values, FLOATS, &err), err);
	clocked->change = (struct values_change){0};
}

static void learn(struct clocked *clocked, int t, double time)
{
	float raw[FLOATS];

	fill(raw, t, time);
	since_learn(&clocked->since, &clocked->values, raw, FLOATS, t, t, &clocked->change);
}

static void the_clock_is_found(void **state)
{
	struct clocked clocked;
	double time = time_at(0);
	float raw[FLOATS], row[VALUES_EACH];
	int t = 0;

	(void)state;
	begin(&clocked);
	for (; t < 3 * SINCE_TRIED; time += gap_of(++t))
		learn(&clocked, t, time);
	assert_int_equal(clocked.since.column, CLOCK);
	assert_int_equal(clocked.since.place, 0);
	assert_true(clocked.change.taken == 1 && clocked.values.place[0] == VALUES_CLOCK);
	/* Twice, and without what is usual; never more than 16 times, nothing where it fell. */
	time = (double)clocked.since.newest;
	fill(raw, t, time + 2 * clocked.since.passed);
	since_fill(&clocked.since, raw, FLOATS, t, row);
	assert_float_equal(row[0], 1, 1e-3);
	assert_float_equal(row[1], sqrt(2) - 1, 1e-3);
	fill(raw, t, time);
	since_fill(&clocked.since, raw, FLOATS, t, row);
	assert_true(row[0] == -1 && row[1] == -1);
	fill(raw, t, time + 1e9);
	since_fill(&clocked.since, raw, FLOATS, t, row);
	assert_true(row[0] == 16 && row[1] == 15);
	fill(raw, t, time - 1);
	since_fill(&clocked.since, raw, FLOATS, t, row);
	assert_true(row[0] == 0 && row[1] == 0);
	raw[CLOCK] = NAN;
	since_fill(&clocked.since, raw, FLOATS, t, row);
	assert_true(row[0] == 0 && row[1] == 0);
	values_release(&clocked.values);
}

/* An hour that is repeated changes nothing; a clock that keeps falling is none. */
static void a_clock_that_falls_is_left(void **state)
{
	struct clocked clocked;
	double time = time_at(0);
	int t = 0;

	(void)state;
	begin(&clocked);
	for (; t < 3 * SINCE_TRIED; time += gap_of(++t))
		learn(&clocked, t, time);
	learn(&clocked, t++, time -= 60);
	assert_int_equal(clocked.since.place, 0);
	for (int i = 0; i < 20; i++)
		learn(&clocked, t++, time -= 60);
	assert_int_equal(clocked.since.place, -1);
	assert_true(clocked.change.left == 1 && clocked.values.place[0] == -1);
	values_release(&clocked.values);
}

/* Days since 1970 as a schema gives them, with the time of day three inputs behind. */
static void seconds_are_told_apart(void **state)
{
	enum { WITH = 4 };
	struct clocked clocked;
	float raw[WITH] = {0}, row[VALUES_EACH];
	double seconds = 20000 * 86400.0;

	(void)state;
	begin(&clocked);
	for (int t = 0; t < SINCE_TRIED; t++) {
		seconds += gap_of(t);
		raw[0] = (float)(seconds / 86400);
		raw[3] = (float)fmod(seconds / 86400, 1);
		since_learn(&clocked.since, &clocked.values, raw, WITH, t, t, &clocked.change);
	}
	assert_int_equal(clocked.since.place, 0);
	assert_true(clocked.since.passed * 86400 > 2 && clocked.since.passed * 86400 < 7);
	seconds += 3 * clocked.since.passed * 86400;
	raw[0] = (float)(seconds / 86400);
	raw[3] = (float)fmod(seconds / 86400, 1);
	since_fill(&clocked.since, raw, WITH, SINCE_TRIED, row);
	assert_float_equal(row[0], 2, 0.02);
	values_release(&clocked.values);
}

/* A counter whose readings come `late` rows behind their questions. */
struct stream {
	struct numbers *numbers;
	int late;
	float said[32][NUMBER_OUTPUTS];
	double ours, last; /* errors, from row 1000 on */
};

static struct numbers *numbers_new_here(void)
{
	const struct numbers_config config = {FLOATS, 0, 7, 0.9, &kernels_at(0)->ops};
	struct numbers *numbers;
	struct err err = {0};

	assert_ok(numbers_new(&numbers, &config, &err), err);
	return numbers;
}

static union target reading(int t, double time)
{
	return (union target){.number = (float)(2 * time + 0.3 * uniform(2000000 + (uint64_t)t))};
}

static struct numbers_samples sample_of(float raw[FLOATS], float inputs[FLOATS], int t, double time)
{
	static const float slow = 0;

	fill(raw, t, time);
	for (int j = 0; j < FLOATS; j++)
		inputs[j] = j == NOISE ? raw[j] : raw[j] / 5000;
	return (struct numbers_samples){.inputs = inputs, .raw = raw, .slow = &slow, .n = 1};
}

static void step(struct stream *stream, int t, const double *times)
{
	float raw[FLOATS], inputs[FLOATS], *answer = stream->said[t % 32];
	struct numbers_samples samples = sample_of(raw, inputs, t, times[t]);
	const int then = t - stream->late;
	union target label;

	numbers_answer(stream->numbers, &samples, answer);
	if (then > 0 && t >= 1000) {
		const double truth = (double)reading(t, times[t]).number;

		stream->ours += fabs((double)answer[NUMBER_VALUE] - truth);
		stream->last += fabs((double)reading(then - 1, times[then - 1]).number - truth);
	}
	if (then < 0)
		return;
	samples = sample_of(raw, inputs, then, times[then]);
	samples.late = stream->late < then ? stream->late : then;
	samples.said = stream->said[then % 32];
	samples.stride = NUMBER_OUTPUTS;
	label = reading(then, times[then]);
	numbers_learn(stream->numbers, &samples, &label);
}

static void visit(void *object, struct state *state)
{
	numbers_state(object, state);
}

/* What passed tells how far the counter went, late or not; a stop at any row changes no bit. */
static void what_passed_tells(void **state)
{
	enum { ROWS = 3000 };
	static double times[ROWS];
	struct err err = {0};

	(void)state;
	times[0] = 100;
	for (int t = 1; t < ROWS; t++)
		times[t] = times[t - 1] + gap_of(t);
	for (int late = 0; late <= 10; late += 10) {
		struct stream straight = {numbers_new_here(), late}, stopped = straight;

		stopped.numbers = numbers_new_here();
		for (int t = 0; t < ROWS; t++) {
			if (t % 379 == 100) {
				assert_ok(state_save(in_folder("numbers"), visit, stopped.numbers,
						  &err),
					err);
				numbers_free(stopped.numbers);
				stopped.numbers = numbers_new_here();
				assert_ok(state_load(in_folder("numbers"), visit, stopped.numbers,
						  &err),
					err);
			}
			step(&straight, t, times);
			step(&stopped, t, times);
			assert_memory_equal(straight.said, stopped.said, sizeof(stopped.said));
		}
		assert_true(straight.numbers->since.place >= 0);
		if (straight.ours > 0.25 * straight.last)
			fail_msg("%d late: %g, last value %g", late, straight.ours, straight.last);
		numbers_free(straight.numbers);
		numbers_free(stopped.numbers);
	}
}

/* The place of the clock moves with the others. */
static void grows_with_its_inputs(void **state)
{
	enum { ROWS = 2000 };
	const struct numbers_config config = {FLOATS + 5, 0, 7, 0.9, &kernels_at(0)->ops};
	static double times[ROWS];
	struct stream stream = {numbers_new_here(), 0};
	struct numbers *grown;
	struct err err = {0};
	double off = 0, last = 0;

	(void)state;
	times[0] = 100;
	for (int t = 1; t < ROWS; t++) {
		times[t] = times[t - 1] + gap_of(t);
		if (t < ROWS - 200)
			step(&stream, t, times);
	}
	assert_ok(numbers_new(&grown, &config, &err), err);
	numbers_grow(grown, stream.numbers);
	for (int t = ROWS - 200; t < ROWS; t++) {
		float raw[FLOATS + 5] = {0}, inputs[FLOATS + 5] = {0}, answer[NUMBER_OUTPUTS];
		const struct numbers_samples samples = sample_of(raw, inputs, t, times[t]);
		const union target label = reading(t, times[t]);

		numbers_answer(grown, &samples, answer);
		numbers_learn(grown, &samples, &label);
		off += fabs((double)answer[NUMBER_VALUE] - (double)label.number);
		last += fabs((double)reading(t - 1, times[t - 1]).number - (double)label.number);
	}
	assert_true(off < 0.25 * last);
	numbers_free(stream.numbers);
	numbers_free(grown);
}

#define folder_test(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_clock_is_found),
		cmocka_unit_test(a_clock_that_falls_is_left),
		cmocka_unit_test(seconds_are_told_apart),
		folder_test(what_passed_tells),
		cmocka_unit_test(grows_with_its_inputs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
