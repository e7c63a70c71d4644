/*
 * Predictions of many threads: the bits of a runner that is alone, whatever is
 * published meanwhile; no allocation in the steady state; errors leave it usable.
 * Small, because ThreadSanitizer looks at all of it.
 */
#include "check.h"
#include "policies.h"
#include <pthread.h>
#include <stdatomic.h>
#include "nn/own/kernels.h"
#include "nn/predictor.h"

enum { THREADS = 4, ROUNDS = 30, MOST = 37, VERSIONS = 3 };

static const struct net_spec nets[] = {
	{"resnet20-cifar", "gn-ws", 5, 3, 9, 8, false},
	{"resnet20-cifar", "bn", 5, 6, 8, 9, false},
	{"resnet20-cifar", "none", 5, 3, 7, 7, false},
	{"cnn:6,20", NULL, 5, 3, 9, 11, false},
	{"mlp:24,16", NULL, 5, 3, 2, 7, false},
	{"linear", NULL, 5, 13, 1, 1, false},
};

static struct predictor *predictor_of(const struct rig *rig, const struct predictor_config *config)
{
	struct predictor *predictor;
	struct err err;

	assert_ok(predictor_new(&predictor, rig->net, config, rig->params, rig->stats, NULL, &err),
		err);
	return predictor;
}

static const float *these(void *params, int model)
{
	(void)model;
	return *(const float **)params;
}

static int publish(struct predictor *predictor, const float *params, const float *stats,
	const struct scale *scale, struct err *err)
{
	const struct predictor_source source = {these, stats, scale, NULL, &params};

	return predictor_publish(predictor, &source, err);
}

static void infer(const struct rig *rig, int n, float *logits)
{
	struct err err;

	assert_ok(runner_infer(rig->runner, rig->params, rig->stats, rig->input, n, logits, &err),
		err);
}

/* A scale that is another for every version. */
static struct scale scale_new(const struct net_spec *spec, int version)
{
	const size_t floats = (size_t)spec->channels * (size_t)spec->height * (size_t)spec->width;
	struct scale scale = {floats, guarded_new(floats), guarded_new(floats)};

	for (size_t i = 0; i < floats; i++) {
		scale.mean[i] = 0.1f * (float)version + 0.01f * (float)(i % 7);
		scale.factor[i] = 1.1f - 0.2f * (float)version;
	}
	return scale;
}

static void scale_free(struct scale *scale)
{
	guarded_free(scale->mean);
	guarded_free(scale->factor);
}

static void infer_scaled(const struct rig *rig, const struct scale *scale, int n, float *logits)
{
	float *scaled = guarded_new((size_t)n * scale->floats);
	struct err err;

	scale_apply(scale, &kernels_find("auto")->ops, rig->input, n, scaled);
	assert_ok(runner_infer(rig->runner, rig->params, rig->stats, scaled, n, logits, &err), err);
	guarded_free(scaled);
}

/* Other weights in the same buffers. */
static void change(struct rig *rig, float factor)
{
	for (size_t i = 0; i < rig->floats; i++)
		rig->params[i] *= factor;
	for (size_t i = 0; i < rig->stat_floats; i++)
		rig->stats[i] *= factor;
}

static void it_has_a_runners_bits(void **state)
{
	static const int sizes[] = {1, 3, 8, MOST};

	for (size_t k = 0; k < COUNT(nets) * policies_of(kernels_at(0)); k++) {
		const char *policy = policies[k / COUNT(nets)];
		const struct rig_config config = {
			nets[k % COUNT(nets)], {NULL, policy, 2}, 8, MOST, 3, false};
		struct rig rig;
		struct err err;
		rig_open(&rig, &config);
		const struct predictor_config settings = {{NULL, policy, 1 + k % 2}, 8, 2};
		struct predictor *predictor = predictor_of(&rig, &settings);
		float *logits = guarded_new((size_t)MOST * rig.classes);
		for (int version = 0; version < 4; version++) {
			for (size_t i = 0; i < COUNT(sizes); i++) {
				infer(&rig, sizes[i], rig.logits);
				assert_ok(predictor_predict(
						  predictor, rig.input, sizes[i], logits, &err),
					err);
				assert_true(same_bits(
					logits, rig.logits, (size_t)sizes[i] * rig.classes));
			}
			change(&rig, 0.9f);
			assert_ok(publish(predictor, rig.params, rig.stats, NULL, &err), err);
		}
		guarded_free(logits);
		predictor_free(predictor);
		rig_close(&rig);
	}
}

/* So requests of several clients may be answered together. */
static void it_matters_not_who_is_asked_about_together(void **state)
{
	static const int sizes[] = {2, 5, 16, MOST};

	for (size_t k = 0; k < COUNT(nets) * policies_of(kernels_at(0)); k++) {
		const char *policy = policies[k / COUNT(nets)];
		const struct rig_config config = {
			nets[k % COUNT(nets)], {NULL, policy, 1}, 8, MOST, 3, false};
		const struct predictor_config settings = {{NULL, policy, 1}, 32, 1};
		struct predictor *predictor;
		float *logits, *alone;
		struct rig rig;
		struct err err;
		size_t floats;

		rig_open(&rig, &config);
		floats = (size_t)config.spec.channels * (size_t)config.spec.height *
			 (size_t)config.spec.width;
		predictor = predictor_of(&rig, &settings);
		logits = guarded_new((size_t)MOST * rig.classes);
		alone = guarded_new(rig.classes);
		for (size_t i = 0; i < COUNT(sizes); i++) {
			assert_ok(predictor_predict(predictor, rig.input, sizes[i], logits, &err),
				err);
			for (int j = 0; j < sizes[i]; j++) {
				assert_ok(predictor_predict(predictor,
						  rig.input + (size_t)j * floats, 1, alone, &err),
					err);
				assert_true(same_bits(
					alone, logits + (size_t)j * rig.classes, rig.classes));
			}
		}
		guarded_free(alone);
		guarded_free(logits);
		predictor_free(predictor);
		rig_close(&rig);
	}
}

/*
 * Threads that predict while weights are published by turns: three of them, so that
 * neither of the predictor's two sets gets the same ones again.
 */
struct crowd {
	const struct rig *rig;
	struct predictor *predictor;
	const float *expected[VERSIONS]; /* logits */
	atomic_int right;
};

static void *predict_thread(void *context)
{
	struct crowd *crowd = context;
	const size_t count = (size_t)crowd->rig->n * crowd->rig->classes;
	float *logits = guarded_new(count);
	struct err err;

	for (int i = 0; i < ROUNDS; i++) {
		bool right = false;
		const int code = predictor_predict(
			crowd->predictor, crowd->rig->input, crowd->rig->n, logits, &err);
		for (int v = 0; v < VERSIONS && !code; v++)
			right |= same_bits(logits, crowd->expected[v], count);
		atomic_fetch_add(&crowd->right, right);
	}
	guarded_free(logits);
	return NULL;
}

static void start(struct crowd *crowd, pthread_t *threads)
{
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, predict_thread, crowd), 0);
}

static void end(struct crowd *crowd, pthread_t *threads)
{
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(crowd->right, THREADS * ROUNDS);
}

static void many_predict_while_weights_and_scale_change(void **state)
{
	for (size_t k = 0; k < COUNT(nets); k++) {
		const struct rig_config config = {nets[k], {NULL, NULL, 1}, 0, 3, 3, false};
		const struct predictor_config settings = {{NULL, NULL, 1}, 0, 2};
		float *params[VERSIONS], *stats[VERSIONS], *logits[VERSIONS];
		struct scale scales[VERSIONS];
		struct crowd crowd = {0};
		pthread_t threads[THREADS];
		struct rig rig;
		struct err err;
		rig_open(&rig, &config);
		crowd.rig = &rig;
		for (int i = 0; i < VERSIONS; i++) {
			scales[i] = scale_new(&nets[k], i);
			params[i] = guarded_copy(rig.params, rig.floats);
			stats[i] = guarded_copy(rig.stats, rig.stat_floats);
			logits[i] = guarded_new((size_t)rig.n * rig.classes);
			infer_scaled(&rig, &scales[i], rig.n, logits[i]);
			crowd.expected[i] = logits[i];
			change(&rig, 0.9f);
		}
		assert_ok(predictor_new(&crowd.predictor, rig.net, &settings, params[0], stats[0],
				  &scales[0], &err),
			err);
		start(&crowd, threads);
		for (int i = 1; i <= ROUNDS; i++)
			assert_ok(publish(crowd.predictor, params[i % VERSIONS],
					  stats[i % VERSIONS], &scales[i % VERSIONS], &err),
				err);
		end(&crowd, threads);
		predictor_free(crowd.predictor);
		for (int i = 0; i < VERSIONS; i++) {
			guarded_free(params[i]);
			guarded_free(stats[i]);
			guarded_free(logits[i]);
			scale_free(&scales[i]);
		}
		rig_close(&rig);
	}
}

/*
 * A seat allocates when it first meets a batch size. So many threads together may not
 * allocate more than the first prediction did for each other seat, however often they
 * predict.
 */
static void the_steady_state_allocates_nothing(void **state)
{
	for (size_t k = 0; k < COUNT(nets); k++) {
		const struct rig_config config = {nets[k], {NULL, NULL, 1}, 0, 3, 3, false};
		const struct predictor_config settings = {{NULL, NULL, 1}, 0, THREADS};
		struct rig rig;
		struct err err;
		rig_open(&rig, &config);
		struct predictor *predictor = predictor_of(&rig, &settings);
		infer(&rig, rig.n, rig.logits);
		const uint64_t before = mem_count();
		float *logits = guarded_new((size_t)rig.n * rig.classes);
		assert_ok(predictor_predict(predictor, rig.input, rig.n, logits, &err), err);
		const uint64_t first = mem_count();
		assert_true(first - before > 1);
		for (int i = 0; i < ROUNDS; i++)
			assert_ok(
				predictor_predict(predictor, rig.input, rig.n, logits, &err), err);
		assert_int_equal(mem_count(), first);

		struct crowd crowd = {&rig, predictor, {rig.logits, rig.logits, rig.logits}};
		pthread_t threads[THREADS];
		start(&crowd, threads);
		end(&crowd, threads);
		/* Each thread's own logits are one allocation more. */
		assert_true(mem_count() - first <= THREADS + (THREADS - 1) * (first - before));

		assert_ok(publish(predictor, rig.params, rig.stats, NULL, &err), err);
		const uint64_t published = mem_count();
		for (int i = 0; i < 3; i++) {
			assert_ok(publish(predictor, rig.params, rig.stats, NULL, &err), err);
			assert_ok(
				predictor_predict(predictor, rig.input, rig.n, logits, &err), err);
		}
		assert_int_equal(mem_count(), published);
		guarded_free(logits);
		predictor_free(predictor);
		rig_close(&rig);
	}
}

struct attempt {
	const struct rig *rig;
	struct predictor *predictor; /* NULL: a new one each time */
	const struct scale *scale;
};

static int try_all(void *context, struct err *err)
{
	const struct attempt *attempt = context;
	const struct rig *rig = attempt->rig;
	const struct predictor_config settings = {{NULL, NULL, 1}, 2, 2};
	struct predictor *predictor = attempt->predictor;
	int code = predictor ? 0
			     : predictor_new(&predictor, rig->net, &settings, rig->params,
				       rig->stats, attempt->scale, err);

	if (!code)
		code = predictor_predict(predictor, rig->input, rig->n, rig->logits, err);
	if (!code)
		code = publish(predictor, rig->params, rig->stats, attempt->scale, err);
	if (!attempt->predictor)
		predictor_free(predictor);
	return code;
}

static void failing_memory_is_an_error(void **state)
{
	for (size_t k = 0; k < COUNT(nets); k++) {
		const struct rig_config config = {nets[k], {NULL, NULL, 1}, 2, 3, 3, false};
		const struct predictor_config settings = {{NULL, NULL, 1}, 2, 1};
		struct rig rig;
		rig_open(&rig, &config);
		struct scale scale = scale_new(&nets[k], 1);
		struct attempt attempt = {&rig, NULL, &scale};
		assert_true(each_allocation_fails(try_all, &attempt) > 12);
		attempt.scale = NULL;
		attempt.predictor = predictor_of(&rig, &settings);
		assert_true(each_allocation_fails(try_all, &attempt) > 5);
		predictor_free(attempt.predictor);
		scale_free(&scale);
		rig_close(&rig);
	}
}

static void mistakes_are_refused(void **state)
{
	const struct rig_config config = {nets[3], {NULL, NULL, 1}, 0, 3, 3, false};
	struct predictor_config settings = {{NULL, NULL, 0}, 0, 1};
	struct predictor *predictor;
	struct rig rig;
	struct err err;

	rig_open(&rig, &config);
	predictor = predictor_of(&rig, &settings);
	for (int i = 0; i < 3; i++) /* there is one seat: it must have come back */
		assert_int_equal(
			predictor_predict(predictor, rig.input, 0, rig.logits, &err), ERR_INPUT);
	assert_ok(predictor_predict(predictor, rig.input, 3, rig.logits, &err), err);
	predictor_free(predictor);
	predictor_free(NULL);
	settings.at_once = -1;
	assert_int_equal(
		predictor_new(&predictor, rig.net, &settings, rig.params, rig.stats, NULL, &err),
		ERR_INPUT);
	assert_null(predictor);
	settings = (struct predictor_config){{"vax", NULL, 1}, 0, 0};
	assert_int_equal(
		predictor_new(&predictor, rig.net, &settings, rig.params, rig.stats, NULL, &err),
		ERR_INPUT);
	assert_says(err, "vax");
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_has_a_runners_bits),
		cmocka_unit_test(it_matters_not_who_is_asked_about_together),
		cmocka_unit_test(many_predict_while_weights_and_scale_change),
		cmocka_unit_test(the_steady_state_allocates_nothing),
		cmocka_unit_test(failing_memory_is_an_error),
		cmocka_unit_test(mistakes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
