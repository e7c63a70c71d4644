/*
 * Memory: a steady step allocates nothing, and an allocation that fails anywhere
 * is an error that leaves everything usable.
 */
#include "check.h"
#include "policies.h"
#include "optim/optimizer.h"

static const struct net_spec nets[] = {
	{"resnet20-cifar", "gn-ws", 5, 3, 9, 8, false},
	{"resnet20-cifar", "bn", 5, 6, 8, 9, false},
	{"mlp:24,17", NULL, 5, 3, 2, 7, false},
	{"linear", NULL, 5, 13, 1, 1, false},
};

/* A batch that needs two plans and the tree, its evaluation, its losses, an optimizer's step. */
static void step(struct rig *rig, struct optimizer *optimizer, const struct average_step *averages)
{
	const struct runner_batch batch = rig_batch(rig, 0, rig->n, NULL);
	struct err err;

	rig_gradient(rig);
	assert_ok(runner_infer(rig->runner, rig->params, rig->stats, rig->input, rig->n,
			  rig->logits, &err),
		err);
	assert_ok(runner_losses(rig->runner, rig->params, rig->stats, 0.1f, &batch, rig->losses,
			  NULL, &err),
		err);
	optimizer_step(optimizer, rig->params, rig->grad, 1e-3f, averages);
}

static void a_steady_step_allocates_nothing(void **state)
{
	static const char *const kinds[] = {"sgd", "adam"};

	for (size_t k = 0; k < COUNT(nets); k++)
		for (size_t p = 0; p < policies_of(kernels_at(0)); p++) {
			const struct rig_config config = {
				nets[k], {"auto", policies[p], 2}, 4, 10, 3, false};
			struct optimizer_config settings;
			struct optimizer *optimizer;
			struct rig rig;
			struct err err;
			rig_open(&rig, &config);
			assert_ok(optimizer_defaults(&settings, kinds[p % 2], &err), err);
			assert_ok(
				optimizer_new(&optimizer, &settings, rig.floats, rig.engine, &err),
				err);
			float *average = guarded_copy(rig.params, rig.floats);
			const struct average_step averages = {1, {average}, {0.99f}};
			step(&rig, optimizer, &averages);
			const uint64_t before = mem_count();
			for (int i = 0; i < (k + p ? 3 : 100); i++)
				step(&rig, optimizer, &averages);
			assert_int_equal(mem_count() - before, 0);
			assert_true(isfinite(rig.loss));
			guarded_free(average);
			optimizer_free(optimizer);
			rig_close(&rig);
		}
}

static int try_net(void *context, struct err *err)
{
	struct net *net;
	const int code = net_new(&net, context, err);

	if (code)
		assert_null(net);
	net_free(net);
	return code;
}

static int try_engine(void *context, struct err *err)
{
	struct engine *engine;
	const int code = engine_new(&engine, context, err);

	if (code)
		assert_null(engine);
	engine_free(engine);
	return code;
}

static int try_runner(void *context, struct err *err)
{
	const struct rig *rig = context;
	struct runner *runner;
	const int code = runner_new(&runner, rig->net, rig->engine, 1, err);

	if (code)
		assert_null(runner);
	runner_free(runner);
	return code;
}

static int try_optimizer(void *context, struct err *err)
{
	const struct rig *rig = context;
	struct optimizer_config settings;
	struct optimizer *optimizer;

	assert_int_equal(optimizer_defaults(&settings, "adam", err), 0);
	const int code = optimizer_new(&optimizer, &settings, rig->floats, rig->engine, err);
	if (code)
		assert_null(optimizer);
	optimizer_free(optimizer);
	return code;
}

static void failing_memory_when_things_are_made(void **state)
{
	struct engine_config engine = {NULL, NULL, 3};
	const struct rig_config config = {nets[0], {NULL, NULL, 1}, 0, 1, 3, false};
	struct rig rig;

	for (size_t k = 0; k < COUNT(nets); k++) {
		struct net_spec spec = nets[k];
		assert_true(each_allocation_fails(try_net, &spec) > 3);
	}
	assert_true(each_allocation_fails(try_engine, &engine) >= 2);
	rig_open(&rig, &config);
	assert_int_equal(each_allocation_fails(try_runner, &rig), 1);
	assert_int_equal(each_allocation_fails(try_optimizer, &rig), 3);
	rig_close(&rig);
}

/* A runner that has seen nothing yet does all it can, on one rig over and over. */
struct attempt {
	struct rig *rig;
	struct runner *runner;
	float *stats; /* as they were */
	bool fresh;   /* a new runner each time, or the same one again */
};

static int try_steps(void *context, struct err *err)
{
	const struct attempt *attempt = context;
	struct rig *rig = attempt->rig;
	const struct runner_batch batch = rig_batch(rig, 0, rig->n, NULL);
	struct runner *runner = attempt->runner;
	int code = attempt->fresh ? runner_new(&runner, rig->net, rig->engine, 2, err) : 0;

	memcpy(rig->stats, attempt->stats, rig->stat_floats * sizeof(float));
	if (!code)
		code = runner_infer(
			runner, rig->params, rig->stats, rig->input, rig->n, rig->logits, err);
	if (!code)
		code = runner_losses(
			runner, rig->params, NULL, 0, &batch, rig->losses, rig->logits, err);
	if (!code)
		code = runner_gradient(runner, rig->params, rig->stats, &batch, rig->grad,
			&rig->loss, rig->losses, rig->logits, err);
	if (attempt->fresh)
		runner_free(runner);
	return code;
}

/* Every allocation of a first step fails once; the runner goes on and ends with the bits of one
 * that never met a failure. */
static void failing_memory_in_a_first_step(void **state)
{
	for (size_t k = 0; k < COUNT(nets); k++)
		for (int fresh = 0; fresh < 2; fresh++) {
			const struct rig_config config = {nets[k],
				{"auto", policies[k % policies_of(kernels_at(0))], 2}, 2, 5, 3,
				false};
			struct rig rig, spared;
			rig_open(&rig, &config);
			rig_open(&spared, &config);
			rig_gradient(&spared);
			struct attempt attempt = {
				&rig, rig.runner, guarded_copy(rig.stats, rig.stat_floats), fresh};
			assert_true(each_allocation_fails(try_steps, &attempt) >= (fresh ? 12 : 1));
			assert_true(same_bits(rig.grad, spared.grad, rig.floats));
			assert_true(same_bits(rig.stats, spared.stats, rig.stat_floats));
			assert_true(same_bits(rig.losses, spared.losses, (size_t)rig.n));
			guarded_free(attempt.stats);
			rig_close(&rig);
			rig_close(&spared);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_steady_step_allocates_nothing),
		cmocka_unit_test(failing_memory_when_things_are_made),
		cmocka_unit_test(failing_memory_in_a_first_step),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
