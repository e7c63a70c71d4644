/*
 * Orders and cuts of made-up records: hand-worked small cases, and over random
 * configs that nothing serves twice and nothing is lost without a reason.
 */
#include "streams/order.h"

#include "check.h"

#include "base/rng.h"

enum { MOST = 1200 };

struct made {
	struct records records; /* must be first */
	struct record rows[MOST];
};

static struct record look(const struct records *records, int64_t i)
{
	return ((const struct made *)records)->rows[i];
}

static const struct records_type type = {.name = "made", .look = look};

/* Labels and times from texts of digits, parts from "s", "e" and "p"; NULL: none. */
static void make_records(
	struct made *made, const char *labels, const char *times, const char *parts)
{
	const int count = (int)strlen(labels);

	made->records = (struct records){.type = &type,
		.info = {.count = count, .classes = 10, .timed = times, .parted = parts}};
	for (int i = 0; i < count; i++)
		made->rows[i] = (struct record){.label = labels[i] == '-' ? -1 : labels[i] - '0',
			.time = times ? times[i] - '0' : 0,
			.part = !parts || parts[i] == 's' ? RECORDS_STREAM
				: parts[i] == 'e'         ? RECORDS_EVAL
							  : RECORDS_PREPARE};
}

static struct order order_of(
	const struct made *made, const struct order_config *config, int64_t bad_wanted)
{
	struct order order;
	struct err err = {0};
	int64_t bad;

	if (order_make(&order, &made->records, config, &bad, &err))
		fail_msg("%s", err.message);
	assert_int_equal(bad, bad_wanted);
	return order;
}

static void assert_list(const uint32_t *list, int64_t count, const char *wanted)
{
	char words[256] = "";

	for (int64_t i = 0; i < count; i++)
		sprintf(words + strlen(words), "%s%u", i ? " " : "", list[i]);
	assert_string_equal(words, wanted);
}

/* Parts that are stream and preparation only leave evaluation to be cut out. */
static void an_empty_part_is_replaced(void **state)
{
	const struct order_config config = {.kind = ORDER_GIVEN, .eval_else = 2};
	struct made made;
	struct order order;

	make_records(&made, "00000", NULL, "spsss");
	order = order_of(&made, &config, 0);
	assert_list(order.stream, order.samples, "0 3");
	assert_list(order.evals, order.count, "2 4");
	order_release(&order);
	make_records(&made, "00000", NULL, "spsse");
	order = order_of(&made, &config, 0);
	assert_list(order.stream, order.samples, "0 2 3");
	assert_list(order.evals, order.count, "4");
	order_release(&order);
}

static void time_sorts_and_keeps_ties(void **state)
{
	struct order_config config = {.kind = ORDER_TIME, .eval_every = -1};
	struct made made;
	struct order order;

	make_records(&made, "000000", "315131", NULL);
	order = order_of(&made, &config, 0);
	assert_list(order.stream, order.samples, "1 3 5 0 4 2");
	assert_int_equal(order.count, 0);
	order_release(&order);
	config.kind = ORDER_GIVEN;
	order = order_of(&made, &config, 0);
	assert_list(order.stream, order.samples, "0 1 2 3 4 5");
	order_release(&order);
}

static void every_third_is_for_evaluation(void **state)
{
	const struct order_config config = {.kind = ORDER_TIME, .eval_every = 3};
	struct made made;
	struct order order;

	make_records(&made, "0123012", "7654321", NULL);
	order = order_of(&made, &config, 0);
	assert_list(order.stream, order.samples, "6 5 3 2 0");
	assert_list(order.evals, order.count, "4 1");
	/* Two and five of seven came before them. */
	assert_true(order.eval_times[0] == 2.0f / 7 && order.eval_times[1] == 5.0f / 7);
	order_release(&order);
}

static void given_parts_have_moments(void **state)
{
	struct order_config config = {.kind = ORDER_TIME};
	struct made made;
	struct order order;

	make_records(&made, "00000000", "12345067", "sssspeee");
	order = order_of(&made, &config, 0);
	assert_list(order.stream, order.samples, "0 1 2 3");
	assert_list(order.evals, order.count, "5 6 7");
	assert_true(
		order.eval_times[0] == 0 && order.eval_times[1] < 1 && order.eval_times[1] > 0.99f);
	order_release(&order);
	config.use_prepare = true;
	order = order_of(&made, &config, 0);
	assert_list(order.stream, order.samples, "4");
	order_release(&order);
	/* Without times they lie evenly. */
	made.records.info.timed = false;
	config.use_prepare = false;
	order = order_of(&made, &config, 0);
	assert_true(order.eval_times[1] == 1.0f / 3);
	order_release(&order);
}

static void the_beginning_is_cut_off(void **state)
{
	struct order_config config = {.kind = ORDER_GIVEN, .eval_every = -1, .prepare = 0.25};
	struct made made;
	struct order order;

	make_records(&made, "00000000", NULL, NULL);
	order = order_of(&made, &config, 0);
	assert_list(order.stream, order.samples, "2 3 4 5 6 7");
	order_release(&order);
	config.use_prepare = true;
	order = order_of(&made, &config, 0);
	assert_list(order.stream, order.samples, "0 1");
	order_release(&order);
}

static void small_classes_go_and_labels_close_up(void **state)
{
	const struct order_config config = {.kind = ORDER_GIVEN, .eval_every = -1, .min_class = 2};
	struct made made;
	struct order order;

	make_records(&made, "30-355591", NULL, NULL);
	order = order_of(&made, &config, 1);
	assert_list(order.stream, order.samples, "0 3 4 5 6");
	assert_int_equal(order.classes, 2);
	assert_int_equal(order.class_of[3], 0);
	assert_int_equal(order.class_of[5], 1);
	assert_int_equal(order.class_of[9], -1);
	order_release(&order);
}

static void a_limit_is_spread(void **state)
{
	const struct order_config config = {.kind = ORDER_GIVEN, .eval_every = -1, .limit = 3};
	struct made made;
	struct order order;

	make_records(&made, "000000000", NULL, NULL);
	order = order_of(&made, &config, 0);
	assert_list(order.stream, order.samples, "2 5 8");
	order_release(&order);
}

/* Each task has all records of its classes, and evaluation its task's moment. */
static void tasks_divide_classes(void **state)
{
	const struct order_config config = {.kind = ORDER_TASKS, .tasks = 3, .seed = 5};
	struct made made;
	struct order order;
	int task_of[10];

	make_records(&made, "01234567890123456789012345678901234567890123456789", NULL,
		"ssssssssssssssssssssssssssssssssssssssssseeeeeeeee");
	order = order_of(&made, &config, 0);
	assert_int_equal(order.tasks, 3);
	assert_int_equal(order.samples, 41);
	memset(task_of, -1, sizeof(task_of));
	for (int task = 0, classes = 0; task < 3; task++, classes = 0) {
		for (int64_t i = order.task_first[task]; i < order.task_first[task + 1]; i++) {
			int *of = &task_of[made.rows[order.stream[i]].label];

			assert_true(*of == -1 || *of == task);
			classes += *of == -1;
			*of = task;
		}
		assert_true(classes == 3 || classes == 4);
	}
	assert_int_equal(order.task_first[3], 41);
	for (int64_t i = 0; i < order.count; i++) {
		const int task = task_of[made.rows[order.evals[i]].label];

		assert_true(order.eval_times[i] == (float)(order.task_first[task] / 41.0));
		assert_true(order.eval_first[task] <= i && i < order.eval_first[task + 1]);
		assert_true(i == 0 || order.eval_times[i] >= order.eval_times[i - 1]);
	}
	order_release(&order);
}

/* What the learner holds out stays in the stream, and is evaluation data of its own task. */
static void held_samples_are_of_their_task(void **state)
{
	const struct order_config config = {.kind = ORDER_TASKS,
		.tasks = 3,
		.seed = 5,
		.eval_every = -1,
		.eval_held = true,
		.holdout = {.seed = 1, .share = 0.4}};
	struct made made;
	struct order order;
	int64_t found = 0;

	make_records(&made, "01234567890123456789012345678901234567890123456789", NULL, NULL);
	order = order_of(&made, &config, 0);
	assert_int_equal(order.samples, 50);
	for (int task = 0; task < 3; task++)
		for (int64_t i = order.task_first[task]; i < order.task_first[task + 1]; i++)
			if (holdout_has(&config.holdout, i)) {
				assert_int_equal(order.evals[found], order.stream[i]);
				assert_true(order.eval_first[task] <= found);
				assert_true(found < order.eval_first[task + 1]);
				found++;
			}
	assert_true(found > 10);
	assert_int_equal(order.count, found);
	order_release(&order);
}

static void seeds_differ_and_repeat(void **state)
{
	struct order_config config = {.kind = ORDER_RANDOM, .eval_every = -1, .seed = 1};
	struct made made;
	struct order one, again, other;

	make_records(&made, "01234567890123456789", NULL, NULL);
	one = order_of(&made, &config, 0);
	again = order_of(&made, &config, 0);
	config.seed = 2;
	other = order_of(&made, &config, 0);
	assert_memory_equal(one.stream, again.stream, 20 * sizeof(*one.stream));
	assert_memory_not_equal(one.stream, other.stream, 20 * sizeof(*one.stream));
	order_release(&one);
	order_release(&again);
	order_release(&other);
}

/* Counts how often each record serves, over configs of every kind. */
static void nothing_serves_twice(void **state)
{
	static struct made made;
	const struct rng rng = {7, RNG_TEST};

	for (uint64_t round = 0; round < 200; round++) {
		const struct order_config config = {.kind = (enum order_kind)(round % 4),
			.tasks = 1 + (int)rng_below(rng, 8 * round, 10),
			.eval_every = (int)rng_below(rng, 8 * round + 1, 5) - 1 == 1
					      ? 2
					      : (int)rng_below(rng, 8 * round + 1, 5) - 1,
			.prepare = rng_double(rng, 8 * round + 2) / 2,
			.use_prepare = round % 3 == 0,
			.limit = round % 5 == 0 ? 100 : 0,
			.min_class = 1,
			.seed = round};
		int64_t times[MOST] = {0};
		struct order order;

		made.records = (struct records){.type = &type,
			.info = {.count = 200 + (int64_t)rng_below(rng, 8 * round + 3, 1000),
				.classes = 10,
				.timed = round % 2,
				.parted = round % 7 < 3}};
		for (int64_t i = 0; i < made.records.info.count; i++) {
			uint32_t bits[4];

			rng_bits((struct rng){round, RNG_TEST}, (uint64_t)i, bits);
			made.rows[i] = (struct record){(int32_t)(bits[0] % 10),
				made.records.info.parted ? bits[1] % 3 : 0, bits[2] % 50};
		}
		order = order_of(&made, &config, 0);
		for (int64_t i = 0; i < order.samples; i++)
			times[order.stream[i]]++;
		for (int64_t i = 0; i < order.count; i++) {
			times[order.evals[i]]++;
			assert_true(order.eval_times[i] >= 0 && order.eval_times[i] < 1);
			assert_true(i == 0 || order.eval_times[i] >= order.eval_times[i - 1]);
		}
		for (int i = 0; i < MOST; i++)
			assert_true(times[i] <= 1);
		order_release(&order);
	}
}

static void too_many_tasks_are_refused(void **state)
{
	const struct order_config config = {.kind = ORDER_TASKS, .tasks = 3, .min_class = 1};
	struct made made;
	struct order order;
	struct err err = {0};
	int64_t bad;

	make_records(&made, "0101", NULL, NULL);
	assert_int_equal(order_make(&order, &made.records, &config, &bad, &err), ERR_INPUT);
	assert_says(err, "tasks:3");
}

static int attempt(void *context, struct err *err)
{
	const struct order_config config = {.kind = ORDER_TASKS, .tasks = 2, .eval_every = 2};
	struct order order;
	int64_t bad;
	const int code = order_make(&order, context, &config, &bad, err);

	if (!code)
		order_release(&order);
	return code;
}

static void memory_may_run_out(void **state)
{
	struct made made;

	make_records(&made, "010123", NULL, NULL);
	assert_true(each_allocation_fails(attempt, &made.records) > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_sorts_and_keeps_ties),
		cmocka_unit_test(an_empty_part_is_replaced),
		cmocka_unit_test(every_third_is_for_evaluation),
		cmocka_unit_test(given_parts_have_moments),
		cmocka_unit_test(the_beginning_is_cut_off),
		cmocka_unit_test(small_classes_go_and_labels_close_up),
		cmocka_unit_test(a_limit_is_spread),
		cmocka_unit_test(tasks_divide_classes),
		cmocka_unit_test(held_samples_are_of_their_task),
		cmocka_unit_test(seeds_differ_and_repeat),
		cmocka_unit_test(nothing_serves_twice),
		cmocka_unit_test(too_many_tasks_are_refused),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
