/* Models of numbers as a whole: streams that must not ruin them, resuming, copies, memory. */
#include <math.h>

#include "../base/check.h"
#include "../base/folder.h"
#include "base/rng.h"
#include "learn/numbers/numbers_impl.h"
#include "nn/own/kernels.h"

enum { FLOATS = 4, FEATURES = 6 };

static struct numbers *numbers_of(size_t floats, size_t features)
{
	const struct numbers_config config = {floats, features, 7, 0.9, &kernels_at(0)->ops};
	struct numbers *numbers;
	struct err err = {0};

	assert_ok(numbers_new(&numbers, &config, &err), err);
	return numbers;
}

static double uniform(uint64_t n)
{
	return rng_double((struct rng){11, RNG_TEST}, n);
}

static double normal(uint64_t n)
{
	return (double)rng_normal((struct rng){12, RNG_TEST}, n);
}

/* A row of a stream: two numbers, the first of which matters, a 0 or 1, and an hour. */
struct sample {
	float raw[FLOATS], inputs[FLOATS], features[FEATURES], slow;
	union target label;
};

typedef double stream_fn(int t, const float *inputs);

static void make_sample(struct sample *sample, stream_fn *stream, int t)
{
	for (int j = 0; j < 2; j++) {
		sample->raw[j] = (float)uniform((uint64_t)(t * FLOATS + j));
		sample->inputs[j] = (sample->raw[j] - 0.5F) * 3.46F;
	}
	sample->raw[FLOATS - 1] = (float)(t % 24);
	sample->inputs[FLOATS - 1] = (float)(t % 24) / 7 - 1.7F;
	sample->raw[2] = t % 5 == 0; /* taken as it is, not as scaled */
	sample->inputs[2] = sample->raw[2] * 2.5F - 0.5F;
	if (t % 10 == 3) {
		sample->raw[1] = NAN;
		sample->inputs[1] = 0;
	}
	for (int j = 0; j < FEATURES; j++)
		sample->features[j] = fmaxf(sample->inputs[j % FLOATS] - (float)j / 4, 0);
	sample->slow = 0;
	sample->label.number = (float)stream(t, sample->raw);
}

static struct numbers_samples samples_of(const struct sample *sample)
{
	return (struct numbers_samples){
		sample->inputs, sample->raw, sample->features, &sample->slow, 1};
}

static double smooth(int t, const float *inputs)
{
	return 5 * (double)inputs[0] + sin(t / 50.0) + (t % 24 > 12) + 0.1 * normal((uint64_t)t);
}

static double scale_grows(int t, const float *inputs)
{
	return (t < 1500 ? 1 : 1000) * smooth(t, inputs);
}

static double scale_shrinks(int t, const float *inputs)
{
	return (t < 1500 ? 1000 : 1) * smooth(t, inputs);
}

static double outliers(int t, const float *inputs)
{
	return smooth(t, inputs) +
	       (uniform(90000 + (uint64_t)t) < 0.005 ? 2e6 * normal((uint64_t)t) : 0);
}

static double constant(int t, const float *inputs)
{
	return 42;
}

static double zero(int t, const float *inputs)
{
	return 0;
}

static double huge(int t, const float *inputs)
{
	return 1e30 * smooth(t, inputs);
}

static double hugest(int t, const float *inputs)
{
	return t % 2 ? 3.4e38 : -3.4e38;
}

static double tiny(int t, const float *inputs)
{
	return 1e-30 * smooth(t, inputs);
}

static double tiniest(int t, const float *inputs)
{
	return t % 3 ? 1e-45 : 0;
}

static double noise(int t, const float *inputs)
{
	return 100 + normal((uint64_t)t);
}

static double walk(int t, const float *inputs)
{
	static double at;

	at = t ? at + normal((uint64_t)t) : 0;
	return at;
}

/* What inputs say turns round every 300 rows. */
static double turns(int t, const float *inputs)
{
	return (t / 300 % 2 ? 10 : -10) * (double)inputs[0] + normal((uint64_t)t);
}

static double no_number(int t, const float *inputs)
{
	return t % 7 == 5 ? (double)NAN : t % 50 == 3 ? (double)INFINITY : smooth(t, inputs);
}

/* Mean absolute errors of answers, of the last value and of the running mean. */
struct errors {
	double ours, last, mean, worst;
};

static struct errors follow(struct numbers *numbers, stream_fn *stream, int rows)
{
	struct errors errors = {0};
	double last = 0, mean = 0;
	int seen = 0;

	for (int t = 0; t < rows; t++) {
		struct sample sample;
		struct numbers_samples samples;
		float answer[NUMBER_OUTPUTS];
		double y;

		make_sample(&sample, stream, t);
		samples = samples_of(&sample);
		samples.slow = &sample.slow;
		numbers_ask(numbers, &samples, answer);
		for (int k = 0; k < NUMBER_OUTPUTS; k++)
			assert_true(isfinite(answer[k]));
		assert_true(answer[NUMBER_LOW] <= answer[NUMBER_VALUE] &&
			    answer[NUMBER_VALUE] <= answer[NUMBER_HIGH]);
		numbers_learn(numbers, &samples, &sample.label);
		y = (double)sample.label.number;
		if (!isfinite(y))
			continue;
		if (seen) {
			errors.ours += fabs(y - (double)answer[NUMBER_VALUE]);
			errors.last += fabs(y - last);
			errors.mean += fabs(y - mean);
		}
		last = y;
		mean += (y - mean) / ++seen;
	}
	return errors;
}

/* Never behind the better of the last value and the mean, and far ahead where inputs tell. */
static void streams_do_not_ruin_it(void **state)
{
	static const struct {
		const char *name;
		stream_fn *stream;
		double most; /* of the better of the two */
	} rows[] = {
		{"smooth", smooth, 0.25},
		{"scale grows", scale_grows, 0.6},
		{"scale shrinks", scale_shrinks, 0.6},
		{"outliers", outliers, 1.01},
		{"constant", constant, 1.01},
		{"zero", zero, 1.01},
		{"huge", huge, 0.25},
		{"hugest", hugest, 1.01},
		{"tiny", tiny, 0.25},
		{"tiniest", tiniest, 1.01},
		{"noise", noise, 1.01},
		{"walk", walk, 1.01},
		{"no number", no_number, 0.5},
		{"turns", turns, 0.36},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (size_t features = 0; features <= FEATURES; features += FEATURES) {
			struct numbers *numbers = numbers_of(FLOATS, features);
			const struct errors errors = follow(numbers, rows[i].stream, 3000);
			const double better = fmin(errors.last, errors.mean);

			if (!(errors.ours <= rows[i].most * better))
				fail_msg("%s: %g, last value %g, mean %g", rows[i].name,
					errors.ours, errors.last, errors.mean);
			numbers_free(numbers);
		}
}

/* Outliers take an answer nowhere: errors of other rows stay what they are without them. */
static void outliers_take_no_answer_away(void **state)
{
	struct numbers *numbers = numbers_of(FLOATS, 0);
	double sum = 0, worst = 0;
	int rows = 0;

	for (int t = 0; t < 3000; t++) {
		struct sample sample;
		struct numbers_samples samples;
		float answer[NUMBER_OUTPUTS];
		double plain, error;

		make_sample(&sample, outliers, t);
		samples = samples_of(&sample);
		plain = smooth(t, sample.raw);
		numbers_answer(numbers, &samples, answer);
		numbers_learn(numbers, &samples, &sample.label);
		if (t < 500)
			continue;
		error = fabs((double)answer[NUMBER_VALUE] - plain);
		sum += error;
		worst = fmax(worst, error);
		rows++;
	}
	assert_true(sum / rows < 0.5);
	assert_true(worst < 100);
	numbers_free(numbers);
}

/* What models say of a few targets that grow fast is at most a quarter of their range beyond them. */
static void few_targets_foretell_little(void **state)
{
	struct numbers *numbers = numbers_of(0, 0);
	float none = 0, slow = 0, answer[NUMBER_OUTPUTS];
	double most = 40;

	for (int t = 0; t < 60; t++) {
		const struct numbers_samples samples = {&none, NULL, NULL, &slow, 1};
		const double beyond = 0.25 * (most - 40) + 1e-3 * most;
		union target label;

		numbers_ask(numbers, &samples, answer);
		for (int k = 0; k < NUMBERS_PARTS && t; k++) {
			assert_true(numbers->said[0].blend.part[k] <= most + beyond);
			assert_true(numbers->said[0].blend.part[k] >= 40 - beyond);
		}
		label.number = 40 * powf(1.6F, (float)(t % 10 < 7 ? t % 10 : 2 * (10 - t % 10)));
		most = fmax(most, (double)label.number);
		numbers_learn(numbers, &samples, &label);
	}
	numbers_free(numbers);
}

/* Steps of many, more than there is room for, and with no inputs at all. */
static void steps_may_be_large(void **state)
{
	enum { N = 40, STEPS = 60 };
	struct numbers *numbers = numbers_of(0, 0), *roomy = numbers_of(0, 0);
	struct err err = {0};

	assert_ok(numbers_reserve(roomy, N, &err), err);
	for (int s = 0; s < STEPS; s++) {
		float answers[N][NUMBER_OUTPUTS], none = 0, slow[N] = {0};
		union target labels[N];
		const struct numbers_samples samples = {&none, NULL, NULL, slow, N};

		for (int i = 0; i < N; i++)
			labels[i].number = (float)(100 + (i + 3 * s) % 20);
		numbers_answer(numbers, &samples, answers[0]);
		numbers_answer(roomy, &samples, answers[0]);
		for (int i = 0; i < N; i++)
			assert_true(isfinite(answers[i][NUMBER_VALUE]));
		for (int i = 0; i < N && s > STEPS / 2; i++)
			assert_true(fabsf(answers[i][NUMBER_VALUE] - 110) < 15);
		numbers_learn(numbers, &samples, labels);
		numbers_learn(roomy, &samples, labels);
	}
	numbers_free(numbers);
	numbers_free(roomy);
}

static void visit(void *object, struct state *state)
{
	numbers_state(object, state);
}

static void step(struct numbers *numbers, int t, float answer[NUMBER_OUTPUTS])
{
	struct sample sample;
	struct numbers_samples samples;

	make_sample(&sample, smooth, t);
	samples = samples_of(&sample);
	numbers_answer(numbers, &samples, answer);
	numbers_learn(numbers, &samples, &sample.label);
}

/* Saved and loaded at many places: the same bits ever after. */
static void goes_on_where_it_stopped(void **state)
{
	struct numbers *straight = numbers_of(FLOATS, FEATURES);
	struct numbers *stopped = numbers_of(FLOATS, FEATURES);
	struct err err = {0};

	for (int t = 0; t < 2600; t++) {
		float answer[NUMBER_OUTPUTS], other[NUMBER_OUTPUTS];

		if (t == 0 || t == 1 || t == 9 || t % 211 == 100) {
			assert_ok(state_save(in_folder("numbers"), visit, stopped, &err), err);
			numbers_free(stopped);
			stopped = numbers_of(FLOATS, FEATURES);
			assert_ok(state_load(in_folder("numbers"), visit, stopped, &err), err);
		}
		step(straight, t, answer);
		step(stopped, t, other);
		assert_memory_equal(answer, other, sizeof(answer));
	}
	assert_true(straight->values.used > 0 && straight->lags.season[0] > 0);
	numbers_free(straight);
	numbers_free(stopped);
}

/* A stream whose labels come `by` rows after their questions. */
enum { LATE = 12, LATEST = 100 };
struct late {
	struct numbers *numbers;
	stream_fn *stream;
	int by;
	float said[LATEST + 1][NUMBER_OUTPUTS];
};

/* Asks about row t, then learns the one whose label comes. */
static const float *late_step(struct late *late, int t)
{
	const int by = late->by;
	float *answer = late->said[t % (by + 1)];
	struct sample sample;
	struct numbers_samples samples;

	make_sample(&sample, late->stream, t);
	samples = samples_of(&sample);
	numbers_ask(late->numbers, &samples, answer);
	if (t < by)
		return answer;
	make_sample(&sample, late->stream, t - by);
	samples = samples_of(&sample);
	samples.late = t - by < by ? t - by : by;
	samples.said = late->said[(t + 1) % (by + 1)];
	samples.stride = NUMBER_OUTPUTS;
	numbers_learn(late->numbers, &samples, &sample.label);
	return answer;
}

static double season(int t, const float *inputs)
{
	return 10 * sin(t * 0.2617993877991494) + 3 * (double)inputs[0] + normal((uint64_t)t);
}

/* The walk, whose rows are asked for again. */
static double walk_again(int t, const float *inputs)
{
	static double at[5000];

	at[t] = t ? at[t - 1] + normal((uint64_t)t) : 0;
	return at[t];
}

/* Another level every 500 rows: at first the mean is as good as the last value, then far from it. */
static double levels(int t, const float *inputs)
{
	return 20 * (double)normal((uint64_t)(t / 500)) + (double)normal(1000000 + (uint64_t)t);
}

/* Hardly behind the newest known value or the mean, and as many within the interval as asked for. */
static void late_labels_are_learned_as_late(void **state)
{
	static const struct {
		const char *name;
		stream_fn *stream;
		int by;
		double most, apart; /* of the better error; from the share asked for */
	} rows[] = {
		{"walk", walk_again, LATE, 1.01, 0.01},
		{"noise", noise, LATE, 1.01, 0.01},
		{"season", season, LATE, 0.3, 0.01},
		{"walk", walk_again, LATEST, 1.01, 0.05},
		{"levels", levels, LATEST, 1.02, 0.08},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct late late = {numbers_of(FLOATS, FEATURES), rows[i].stream, rows[i].by};
		struct errors errors = {0};
		double mean = 0, inside = 0;
		int seen = 0;

		for (int t = 0; t < 5000; t++) {
			const float *answer = late_step(&late, t);
			struct sample sample, known;
			double y;

			if (t <= late.by)
				continue;
			make_sample(&sample, rows[i].stream, t);
			make_sample(&known, rows[i].stream, t - late.by - 1);
			y = (double)sample.label.number;
			mean += ((double)known.label.number - mean) / ++seen;
			errors.ours += fabs(y - (double)answer[NUMBER_VALUE]);
			errors.last += fabs(y - (double)known.label.number);
			errors.mean += fabs(y - mean);
			inside +=
				y >= (double)answer[NUMBER_LOW] && y <= (double)answer[NUMBER_HIGH];
		}
		if (errors.ours > rows[i].most * fmin(errors.last, errors.mean) ||
			fabs(inside / seen - 0.9) > rows[i].apart)
			fail_msg("%s, %d late: %g, last value %g, mean %g, %g within", rows[i].name,
				late.by, errors.ours, errors.last, errors.mean, inside / seen);
		numbers_free(late.numbers);
	}
}

static void late_labels_survive_a_stop(void **state)
{
	struct late straight = {numbers_of(FLOATS, FEATURES), smooth, LATE};
	struct late stopped = {numbers_of(FLOATS, FEATURES), smooth, LATE};
	struct err err = {0};

	for (int t = 0; t < 1500; t++) {
		if (t == 13 || t % 211 == 100) {
			assert_ok(state_save(in_folder("numbers"), visit, stopped.numbers, &err),
				err);
			numbers_free(stopped.numbers);
			stopped.numbers = numbers_of(FLOATS, FEATURES);
			assert_ok(state_load(in_folder("numbers"), visit, stopped.numbers, &err),
				err);
		}
		late_step(&straight, t);
		late_step(&stopped, t);
		assert_memory_equal(straight.said, stopped.said, sizeof(stopped.said));
	}
	assert_true(straight.numbers->taught == straight.numbers->rows.seen - LATE);
	numbers_free(straight.numbers);
	numbers_free(stopped.numbers);
}

/* numbers_ask and numbers_answer, a copy and its original: all say the same. */
static void copies_answer_alike(void **state)
{
	struct numbers *numbers = numbers_of(FLOATS, FEATURES), *asked, *copy;
	struct err err = {0};

	asked = numbers_of(FLOATS, FEATURES);
	assert_ok(numbers_copy_new(&copy, numbers, &err), err);
	for (int t = 0; t < 2500; t++) {
		float answers[4][NUMBER_OUTPUTS];
		struct sample sample;
		struct numbers_samples samples;

		make_sample(&sample, smooth, t);
		samples = samples_of(&sample);
		numbers_answer(numbers, &samples, answers[0]);
		numbers_ask(asked, &samples, answers[1]);
		assert_memory_equal(answers[0], answers[1], sizeof(answers[0]));
		if (t % 50 == 0) {
			numbers_copy(copy, numbers);
			numbers_answer(copy, &samples, answers[2]);
			assert_memory_equal(answers[0], answers[2], sizeof(answers[0]));
		}
		/* Asked about something else: what was kept must not be used. */
		if (t % 3 == 0) {
			sample.inputs[0] += 1;
			sample.slow += 1;
		}
		numbers_learn(numbers, &samples, &sample.label);
		numbers_learn(asked, &samples, &sample.label);
	}
	numbers_free(copy);
	numbers_free(asked);
	numbers_free(numbers);
}

/* With inputs that have always been 0 more, it says what it would have said, and learns them. */
static void grows_with_its_inputs(void **state)
{
	enum { MORE = FLOATS + 3 };
	struct numbers *numbers = numbers_of(FLOATS, FEATURES), *grown = numbers_of(MORE, FEATURES);
	float answer[NUMBER_OUTPUTS], other[NUMBER_OUTPUTS];
	double early = 0, late = 0;

	for (int t = 0; t < 2500; t++)
		step(numbers, t, answer);
	assert_true(numbers->values.used > 0);
	numbers_grow(grown, numbers);
	for (int t = 2500; t < 4500; t++) {
		struct sample sample;
		struct numbers_samples samples;
		float raw[MORE] = {0}, inputs[MORE] = {0};

		make_sample(&sample, smooth, t);
		samples = samples_of(&sample);
		numbers_answer(numbers, &samples, answer);
		numbers_learn(numbers, &samples, &sample.label);
		memcpy(raw, sample.raw, sizeof(sample.raw));
		memcpy(inputs, sample.inputs, sizeof(sample.inputs));
		if (t >= 3000) {
			inputs[MORE - 1] = (float)normal((uint64_t)t);
			raw[MORE - 1] = inputs[MORE - 1] + 7;
			sample.label.number += 10 * inputs[MORE - 1];
		}
		samples.inputs = inputs;
		samples.raw = raw;
		numbers_answer(grown, &samples, other);
		numbers_learn(grown, &samples, &sample.label);
		if (t < 2550)
			assert_float_equal(answer[0], other[0], t == 2500 ? 1e-4 : 0.5);
		early += t >= 3000 && t < 3050 ? fabsf(other[0] - sample.label.number) / 50 : 0;
		late += t >= 4000 ? fabsf(other[0] - sample.label.number) / 500 : 0;
	}
	assert_true(late < 1 && late < early / 2);
	numbers_free(numbers);
	numbers_free(grown);
}

static void a_step_allocates_nothing(void **state)
{
	struct numbers *numbers = numbers_of(FLOATS, FEATURES);
	const uint64_t before = mem_count();
	float answer[NUMBER_OUTPUTS];

	for (int t = 0; t < 500; t++)
		step(numbers, t, answer);
	assert_int_equal(mem_count(), before);
	assert_true(numbers_bytes(numbers) > 1e5 && numbers_macs(numbers) > 1e4);
	numbers_free(numbers);
}

static int attempt(void *context, struct err *err)
{
	const struct numbers_config config = {FLOATS, FEATURES, 7, 0.9, &kernels_at(0)->ops};
	struct numbers *numbers, *copy = NULL;
	int code = numbers_new(&numbers, &config, err);

	if (!code)
		code = numbers_reserve(numbers, 100, err);
	if (!code)
		code = numbers_copy_new(&copy, numbers, err);
	numbers_free(numbers);
	numbers_free(copy);
	return code;
}

static void memory_may_run_out(void **state)
{
	assert_true(each_allocation_fails(attempt, NULL) > 20);
}

static void far_season(struct numbers *numbers)
{
	numbers->lags.season[0] = 3;
}

static void no_history(struct numbers *numbers)
{
	numbers->lags.history[3] = NAN;
}

static void other_counts(struct numbers *numbers)
{
	numbers->lags.seen += 1;
}

static void negative(struct numbers *numbers)
{
	numbers->rows.seen = -5;
}

static void far_place(struct numbers *numbers)
{
	numbers->values.place[0] = 1000;
}

static void far_column(struct numbers *numbers)
{
	numbers->values.column[FLOATS - 1].place = 7;
}

static void unsorted(struct numbers *numbers)
{
	numbers->values.column[FLOATS - 1].value[3] = 0;
}

static void endless_tree(struct numbers *numbers)
{
	numbers->grove.tree[0].node[numbers->grove.tree[0].nodes - 1].child = 0;
}

static void far_number(struct numbers *numbers)
{
	numbers->grove.tree[0].node[0].column = 500;
}

static void many_nodes(struct numbers *numbers)
{
	numbers->grove.tree[0].nodes = -1;
}

static void far_clock(struct numbers *numbers)
{
	numbers->since.column = FLOATS;
}

static void lost_clock(struct numbers *numbers)
{
	numbers->since.place = 0;
}

static void no_weight(struct numbers *numbers)
{
	numbers->linear[2].weights[1] = NAN;
}

static void no_record(struct numbers *numbers)
{
	numbers->blend.record[1][2] = NAN;
}

static void no_width(struct numbers *numbers)
{
	numbers->band.factor = INFINITY;
}

static void no_target(struct numbers *numbers)
{
	numbers->rows.target[ROWS_REST][5] = INFINITY;
}

static void no_scale(struct numbers *numbers)
{
	numbers->rows.scale[5] = 0;
}

static void no_centre(struct numbers *numbers)
{
	numbers->level.centre = NAN;
}

/* Files that were made to harm: each is refused, and what was read before it does no harm. */
static void impossible_states_are_refused(void **state)
{
	static void (*const spoil[])(struct numbers *) = {far_season, no_history, other_counts,
		negative, far_place, far_column, unsorted, endless_tree, far_number, many_nodes,
		far_clock, lost_clock, no_weight, no_record, no_width, no_target, no_scale,
		no_centre};

	for (size_t i = 0; i < COUNT(spoil); i++) {
		struct numbers *numbers = numbers_of(FLOATS, FEATURES);
		struct err err = {0};
		float answer[NUMBER_OUTPUTS];

		for (int t = 0; t < 300; t++)
			step(numbers, t, answer);
		spoil[i](numbers);
		if (state_save(in_folder("numbers"), visit, numbers, &err) == 0) {
			numbers_free(numbers);
			numbers = numbers_of(FLOATS, FEATURES);
			if (state_load(in_folder("numbers"), visit, numbers, &err) != ERR_FORMAT)
				fail_msg("state %d was taken", (int)i);
			for (int t = 300; t < 400; t++) {
				step(numbers, t, answer);
				assert_true(isfinite(answer[NUMBER_VALUE]));
			}
		} else {
			assert_int_equal(err.code, ERR_FORMAT);
		}
		numbers_free(numbers);
	}
}

static void parts_have_names_and_weights(void **state)
{
	struct numbers *numbers = numbers_of(FLOATS, FEATURES);
	const char *names[NUMBERS_PARTS];
	double weights[NUMBERS_PARTS], sum = 0;
	float answer[NUMBER_OUTPUTS];

	for (int t = 0; t < 300; t++)
		step(numbers, t, answer);
	assert_int_equal(numbers_parts(numbers, names, weights), NUMBERS_PARTS);
	for (int i = 0; i < NUMBERS_PARTS; i++) {
		assert_non_null(names[i]);
		assert_true(weights[i] >= 0);
		sum += weights[i];
	}
	assert_float_equal(sum, 1, 1e-9);
	numbers_restart(numbers);
	step(numbers, 300, answer);
	assert_true(isfinite(answer[NUMBER_VALUE]));
	numbers_free(numbers);
	numbers = numbers_of(FLOATS, 0);
	assert_int_equal(numbers_parts(numbers, names, weights), NUMBERS_PARTS);
	numbers_free(numbers);
}

#define folder_test(f) cmocka_unit_test_setup_teardown(f, folder_make, folder_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(streams_do_not_ruin_it),
		cmocka_unit_test(outliers_take_no_answer_away),
		cmocka_unit_test(few_targets_foretell_little),
		cmocka_unit_test(steps_may_be_large),
		folder_test(goes_on_where_it_stopped),
		cmocka_unit_test(late_labels_are_learned_as_late),
		folder_test(late_labels_survive_a_stop),
		cmocka_unit_test(copies_answer_alike),
		cmocka_unit_test(grows_with_its_inputs),
		cmocka_unit_test(a_step_allocates_nothing),
		cmocka_unit_test(memory_may_run_out),
		folder_test(impossible_states_are_refused),
		cmocka_unit_test(parts_have_names_and_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
