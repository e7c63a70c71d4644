/*
 * Two nets in one process, each with its team, learn at the same time and get
 * the bits they would get alone. A net and its parameters may be shared, too.
 * Small, because ThreadSanitizer looks at all of it.
 */
#include "check.h"
#include <pthread.h>

enum { STEPS = 4 };

static void *learn_thread(void *rig)
{
	rig_learn(rig, STEPS);
	return NULL;
}

static void two_nets_do_not_meet(void **state)
{
	static const struct rig_config configs[2] = {
		{{"resnet20-cifar", "gn-ws", 4, 3, 7, 6, false}, {NULL, NULL, 2}, 2, 3, 1, false},
		{{"resnet20-cifar", "bn", 4, 6, 6, 7, false}, {NULL, "direct", 2}, 0, 4, 2, false},
	};
	struct rig alone[2], together[2];
	pthread_t threads[2];

	for (int i = 0; i < 2; i++) {
		rig_open(&alone[i], &configs[i]);
		rig_open(&together[i], &configs[i]);
		rig_learn(&alone[i], STEPS);
	}
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, learn_thread, &together[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 2; i++) {
		assert_true(same_bits(alone[i].params, together[i].params, alone[i].floats));
		assert_true(same_bits(alone[i].stats, together[i].stats, alone[i].stat_floats));
		assert_true(same_bits(&alone[i].loss, &together[i].loss, 1));
		rig_close(&alone[i]);
		rig_close(&together[i]);
	}
}

/* One net, one set of parameters, two runners that only read them. */
struct reader {
	const struct rig *rig;
	struct engine *engine;
	struct runner *runner;
	float *logits;
};

static void *read_thread(void *context)
{
	const struct reader *reader = context;
	const struct rig *rig = reader->rig;
	struct err err;

	for (int i = 0; i < STEPS; i++)
		assert_ok(runner_infer(reader->runner, rig->params, rig->stats, rig->input, rig->n,
				  reader->logits, &err),
			err);
	return NULL;
}

static void readers_share_a_net(void **state)
{
	const struct rig_config config = {
		{"resnet20-cifar", "bn", 4, 3, 7, 6, false}, {NULL, NULL, 1}, 2, 3, 1, false};
	struct reader readers[2];
	pthread_t threads[2];
	struct rig rig;
	struct err err;

	rig_open(&rig, &config);
	const size_t logits = (size_t)rig.n * rig.classes;
	assert_ok(
		runner_infer(rig.runner, rig.params, rig.stats, rig.input, rig.n, rig.logits, &err),
		err);
	for (int i = 0; i < 2; i++) {
		const struct engine_config engine = {NULL, NULL, 2};
		readers[i] = (struct reader){.rig = &rig, .logits = guarded_new(logits)};
		assert_ok(engine_new(&readers[i].engine, &engine, &err), err);
		assert_ok(runner_new(&readers[i].runner, rig.net, readers[i].engine, 2, &err), err);
		assert_int_equal(pthread_create(&threads[i], NULL, read_thread, &readers[i]), 0);
	}
	for (int i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		assert_true(same_bits(readers[i].logits, rig.logits, logits));
		runner_free(readers[i].runner);
		engine_free(readers[i].engine);
		guarded_free(readers[i].logits);
	}
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_nets_do_not_meet),
		cmocka_unit_test(readers_share_a_net),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
