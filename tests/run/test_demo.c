/*
 * The demonstration: that it learns, that it does the same again, on any number
 * of threads, and that whatever allocation fails it says so and leaves nothing.
 */
#include "../base/check.h"
#include "run/demo.h"

static const struct demo_config tiny = {
	.arch = "linear", .engine = {.threads = 1}, .steps = 20, .batch = 8, .seed = 1};

static void run_steps(struct demo *demo, int steps)
{
	struct err err = {0};

	for (int i = 0; i < steps; i++)
		if (demo_step(demo, &err))
			fail_msg("step %d: %s", i + 1, err.message);
}

static struct demo *make(const struct demo_config *config)
{
	struct demo *demo;
	struct err err = {0};

	if (demo_new(&demo, config, &err))
		fail_msg("%s", err.message);
	return demo;
}

static double test_accuracy(struct demo *demo)
{
	double accuracy = -1;
	struct err err = {0};

	if (demo_test(demo, &accuracy, &err))
		fail_msg("%s", err.message);
	return accuracy;
}

/*
 * 2400 images are enough to name half of the shapes. Chance is 10 %, a linear
 * model stays below 20 %.
 */
static void test_learns(void **state)
{
	const struct demo_config config = {.arch = "resnet20-cifar",
		.engine = {.threads = 1},
		.steps = 150,
		.batch = 16,
		.seed = 1};
	struct demo *demo = make(&config);
	const double before = test_accuracy(demo);

	run_steps(demo, 10);
	const double first_loss = demo_score(demo).loss;
	run_steps(demo, config.steps - 10);
	const struct demo_score score = demo_score(demo);
	const double after = test_accuracy(demo);
	demo_free(demo);

	print_message("# test accuracy %.3f -> %.3f, loss %.2f -> %.2f\n", before, after,
		first_loss, score.loss);
	assert_true(before > 0.05 && before < 0.2);
	assert_true(after > 0.35 && after <= 1);
	assert_true(score.accuracy > 0.35 && score.accuracy <= 1);
	assert_true(score.loss < 0.8 * first_loss);
}

static void test_score(void **state)
{
	struct demo *demo = make(&tiny);
	struct demo_score score = demo_score(demo);

	assert_int_equal(score.steps, 0);
	assert_int_equal(score.images, 0);
	assert_true(score.seconds == 0);
	run_steps(demo, 3);
	score = demo_score(demo);
	demo_free(demo);
	assert_int_equal(score.steps, 3);
	assert_int_equal(score.images, 3 * tiny.batch);
	assert_true(score.seconds > 0);
	assert_true(score.loss > 0);
	assert_true(score.accuracy >= 0 && score.accuracy <= 1);
}

static void test_about(void **state)
{
	struct demo *demo = make(&tiny);
	const struct demo_about about = demo_about(demo);

	assert_string_equal(about.arch, "linear");
	assert_string_equal(about.norm, "none");
	assert_int_equal(about.threads, 1);
	assert_int_equal(about.parameters, 10 * 3 * 32 * 32 + 10);
	demo_free(demo);
}

static double loss_of(struct demo_config config)
{
	struct demo *demo = make(&config);

	run_steps(demo, 4);
	const double loss = demo_score(demo).loss;
	demo_free(demo);
	return loss;
}

static void test_repeatable(void **state)
{
	struct demo_config config = tiny;

	config.arch = "resnet20-cifar";
	const double loss = loss_of(config);
	assert_true(loss_of(config) == loss);
	config.engine.threads = 3;
	assert_true(loss_of(config) == loss);
	config.seed = 2;
	assert_true(loss_of(config) != loss);
}

/* A test between steps looks, and touches nothing. */
static void test_test_changes_nothing(void **state)
{
	static const char *const norms[] = {"gn-ws", "bn"};

	for (size_t i = 0; i < COUNT(norms); i++) {
		struct demo_config config = tiny;
		config.arch = "resnet20-cifar";
		config.norm = norms[i];
		struct demo *demo = make(&config);
		run_steps(demo, 2);
		test_accuracy(demo);
		run_steps(demo, 2);
		assert_true(demo_score(demo).loss == loss_of(config));
		demo_free(demo);
	}
}

static void test_refusals(void **state)
{
	struct demo_config config = tiny;
	struct demo *demo = (struct demo *)&config;
	struct err err = {0};

	config.steps = 0;
	assert_int_equal(demo_new(&demo, &config, &err), ERR_INPUT);
	assert_null(demo);
	assert_says(err, "0 steps");
	config = tiny;
	config.batch = -1;
	assert_int_equal(demo_new(&demo, &config, &err), ERR_INPUT);
	assert_says(err, "-1 images");
	config = tiny;
	config.arch = "lenet";
	assert_int_equal(demo_new(&demo, &config, &err), ERR_INPUT);
	assert_says(err, "lenet");
	config = tiny;
	config.engine.isa = "sse9";
	assert_int_equal(demo_new(&demo, &config, &err), ERR_INPUT);
	assert_says(err, "sse9");
	assert_null(demo);
	demo_free(NULL);
}

static int attempt(void *context, struct err *err)
{
	struct demo *demo;
	double accuracy;
	int code = demo_new(&demo, &tiny, err);

	if (code)
		return code;
	code = demo_test(demo, &accuracy, err);
	if (!code)
		code = demo_step(demo, err);
	demo_free(demo);
	return code;
}

static void test_memory_runs_out(void **state)
{
	assert_true(each_allocation_fails(attempt, NULL) > 10);
}

static void test_steps_allocate_nothing(void **state)
{
	struct demo *demo = make(&tiny);

	run_steps(demo, 1);
	const uint64_t count = mem_count();
	run_steps(demo, 10);
	assert_int_equal(mem_count(), count);
	demo_free(demo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_learns),
		cmocka_unit_test(test_score),
		cmocka_unit_test(test_about),
		cmocka_unit_test(test_repeatable),
		cmocka_unit_test(test_test_changes_nothing),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_memory_runs_out),
		cmocka_unit_test(test_steps_allocate_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
