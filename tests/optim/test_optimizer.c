/*
 * Optimizers against the formulas in double precision, for lengths that fill no
 * vector; averages taken on the way against averages taken afterwards; the same
 * bits for any number of threads and after a resume. PyTorch's own numbers are
 * compared with in nn/golden.
 */
#include "../nn/check.h"
#include "optim/optimizer.h"

enum { STEPS = 100 };

/* Slices are 16384 long: the largest lengths need several. */
static const size_t lengths[] = {1, 5, 15, 16, 17, 31, 1000, 16384, 16387, 50001};

static const struct optimizer_config configs[] = {
	{.kind = "sgd", .momentum = 0.9f, .decay = 1e-4f},
	{.kind = "sgd", .momentum = 0, .decay = 0},
	{.kind = "sgd", .momentum = 0.5f, .decay = 0.1f},
	{.kind = "adam", .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f},
	{.kind = "adam", .beta1 = 0.5f, .beta2 = 0.9f, .epsilon = 1e-3f, .decay = 0.01f},
};

static const float RATE = 0.01f;

static struct engine *engine_of(const char *isa, int threads)
{
	const struct engine_config config = {isa, NULL, threads};
	struct engine *engine;
	struct err err;

	assert_ok(engine_new(&engine, &config, &err), err);
	return engine;
}

static struct optimizer *optimizer_of(
	const struct optimizer_config *config, size_t count, struct engine *engine)
{
	struct optimizer *optimizer;
	struct err err;

	assert_ok(optimizer_new(&optimizer, config, count, engine, &err), err);
	return optimizer;
}

/* The gradient of a step: noise and a drift, so that momentum builds up. */
static void fill_gradient(float *grad, size_t count, int step)
{
	float drift[64];

	fill(drift, COUNT(drift), 1);
	fill(grad, count, 1000 + (uint64_t)step);
	for (size_t i = 0; i < count; i++)
		grad[i] += drift[i % COUNT(drift)];
}

/* Parameters and state in double precision; a and b are the state. */
struct exact {
	double *p, *a, *b;
};

static void exact_step(const struct optimizer_config *c, struct exact *e, const float *grad,
	size_t count, int step)
{
	const bool adam = !strcmp(c->kind, "adam");
	const double first = 1 - pow(c->beta1, step), second = 1 - pow(c->beta2, step);

	for (size_t i = 0; i < count; i++) {
		const double g = grad[i] + c->decay * e->p[i];
		if (adam) {
			e->a[i] = c->beta1 * e->a[i] + (1 - (double)c->beta1) * g;
			e->b[i] = c->beta2 * e->b[i] + (1 - (double)c->beta2) * g * g;
			e->p[i] -= RATE / first * e->a[i] / (sqrt(e->b[i] / second) + c->epsilon);
		} else {
			e->a[i] = step == 1 ? g : c->momentum * e->a[i] + g;
			e->p[i] -= RATE * e->a[i];
		}
	}
}

static void compare_with_formula(
	const struct optimizer_config *config, size_t count, struct engine *engine)
{
	struct optimizer *optimizer = optimizer_of(config, count, engine);
	const struct optimizer_state state = optimizer_state(optimizer);
	struct exact e = {mem_new(count, sizeof(double)), mem_new(count, sizeof(double)),
		mem_new(count, sizeof(double))};
	float *params = guarded_new(count), *grad = guarded_new(count);

	fill(params, count, 3);
	for (size_t i = 0; i < count; i++)
		e.p[i] = params[i];
	for (int step = 1; step <= STEPS; step++) {
		fill_gradient(grad, count, step);
		optimizer_step(optimizer, params, grad, RATE, NULL);
		exact_step(config, &e, grad, count, step);
	}
	assert_int_equal(*state.steps, STEPS);
	const double p = worst(params, e.p, NULL, count);
	const double a =
		config->momentum || config->beta1 ? worst(state.buffers[0], e.a, NULL, count) : 0;
	const double b = state.count > 1 ? worst(state.buffers[1], e.b, NULL, count) : 0;
	if (p > 3e-6 || a > 3e-6 || b > 3e-6)
		fail_msg("%s, %s (momentum %g, decay %g), %zu parameters: off by %.1e, state %.1e, "
			 "%.1e",
			engine_isa(engine), config->kind, config->momentum, config->decay, count, p,
			a, b);
	mem_free(e.p), mem_free(e.a), mem_free(e.b);
	guarded_free(params), guarded_free(grad);
	optimizer_free(optimizer);
}

static void formulas(void **state)
{
	for (int k = 0; kernels_at(k); k++) {
		struct engine *engine = engine_of(kernels_at(k)->isa, 2);
		for (size_t c = 0; c < COUNT(configs); c++)
			for (size_t i = 0; i < COUNT(lengths) - 1; i++)
				compare_with_formula(configs + c, lengths[i], engine);
		engine_free(engine);
	}
}

/* What a number of steps leaves: parameters, state, two averages. */
struct trace {
	size_t count;
	float *params, *state[2], *average[2];
};

static void trace_release(struct trace *t)
{
	guarded_free(t->params);
	for (int i = 0; i < 2; i++) {
		guarded_free(t->state[i]);
		guarded_free(t->average[i]);
	}
}

static void trace_start(struct trace *t, size_t count)
{
	*t = (struct trace){.count = count, .params = guarded_new(count)};
	fill(t->params, count, 3);
	for (int i = 0; i < 2; i++) {
		t->average[i] = guarded_copy(t->params, count);
		t->state[i] = guarded_new(count);
		memset(t->state[i], 0, count * sizeof(float));
	}
}

/* Steps first+1 .. last on an optimizer that takes over the trace's state and gives it back. */
static void trace_run(struct trace *t, const struct optimizer_config *config, struct engine *engine,
	int first, int last, bool fused)
{
	struct optimizer *optimizer = optimizer_of(config, t->count, engine);
	const struct optimizer_state state = optimizer_state(optimizer);
	const struct average_step averages = {2, {t->average[0], t->average[1]}, {0.9f, 0.999f}};
	float *grad = guarded_new(t->count);

	*state.steps = (uint64_t)first;
	for (int i = 0; i < state.count; i++)
		memcpy(state.buffers[i], t->state[i], t->count * sizeof(float));
	for (int step = first + 1; step <= last; step++) {
		fill_gradient(grad, t->count, step);
		optimizer_step(optimizer, t->params, grad, RATE, fused ? &averages : NULL);
		if (!fused)
			engine->kernels->average(t->params, t->count, &averages);
	}
	for (int i = 0; i < state.count; i++)
		memcpy(t->state[i], state.buffers[i], t->count * sizeof(float));
	guarded_free(grad);
	optimizer_free(optimizer);
}

static void assert_same_trace(const struct trace *a, const struct trace *b, const char *what)
{
	if (!same_bits(a->params, b->params, a->count))
		fail_msg("%s: other parameters", what);
	for (int i = 0; i < 2; i++) {
		if (!same_bits(a->state[i], b->state[i], a->count))
			fail_msg("%s: other state", what);
		if (!same_bits(a->average[i], b->average[i], a->count))
			fail_msg("%s: other averages", what);
	}
}

static void averages_on_the_way_are_averages_afterwards(void **state)
{
	for (int k = 0; kernels_at(k); k++) {
		struct engine *engine = engine_of(kernels_at(k)->isa, 1);
		for (size_t c = 0; c < COUNT(configs); c++)
			for (size_t i = 0; i < COUNT(lengths); i++) {
				struct trace fused, apart;
				trace_start(&fused, lengths[i]), trace_start(&apart, lengths[i]);
				trace_run(&fused, configs + c, engine, 0, 5, true);
				trace_run(&apart, configs + c, engine, 0, 5, false);
				assert_same_trace(&fused, &apart, kernels_at(k)->isa);
				trace_release(&fused), trace_release(&apart);
			}
		engine_free(engine);
	}
}

static void averages_follow_their_definition(void **state)
{
	for (int k = 0; kernels_at(k); k++) {
		struct engine *engine = engine_of(kernels_at(k)->isa, 1);
		const size_t count = 37;
		struct trace t;
		double averages[2][37];
		trace_start(&t, count);
		for (size_t i = 0; i < count; i++)
			averages[0][i] = averages[1][i] = t.params[i];
		for (int step = 0; step < 50; step++) {
			trace_run(&t, configs, engine, step, step + 1, true);
			for (size_t i = 0; i < count; i++) {
				averages[0][i] = 0.9f * averages[0][i] + (1 - 0.9f) * t.params[i];
				averages[1][i] =
					0.999f * averages[1][i] + (1 - 0.999f) * t.params[i];
			}
		}
		for (int i = 0; i < 2; i++)
			assert_true(worst(t.average[i], averages[i], NULL, count) < 2e-6);
		trace_release(&t);
		engine_free(engine);
	}
}

static void same_bits_for_any_thread_count(void **state)
{
	for (int k = 0; kernels_at(k); k++)
		for (size_t c = 0; c < COUNT(configs); c++) {
			struct trace one, many;
			struct engine *engine = engine_of(kernels_at(k)->isa, 1);
			trace_start(&one, 50001);
			trace_run(&one, configs + c, engine, 0, 10, true);
			engine_free(engine);
			for (int threads = 2; threads <= 3; threads++) {
				engine = engine_of(kernels_at(k)->isa, threads);
				trace_start(&many, 50001);
				trace_run(&many, configs + c, engine, 0, 10, true);
				assert_same_trace(&one, &many, kernels_at(k)->isa);
				trace_release(&many);
				engine_free(engine);
			}
			trace_release(&one);
		}
}

static void the_state_is_all_there_is(void **state)
{
	struct engine *engine = engine_of("auto", 1);

	for (size_t c = 0; c < COUNT(configs); c++)
		for (int stop = 0; stop <= 10; stop += 5) {
			struct trace straight, resumed;
			trace_start(&straight, 1001), trace_start(&resumed, 1001);
			trace_run(&straight, configs + c, engine, 0, 10, true);
			trace_run(&resumed, configs + c, engine, 0, stop, true);
			trace_run(&resumed, configs + c, engine, stop, 10, true);
			assert_same_trace(&straight, &resumed, configs[c].kind);
			trace_release(&straight), trace_release(&resumed);
		}
	engine_free(engine);
}

static void kinds_and_defaults(void **state)
{
	struct engine *engine = engine_of("auto", 1);
	struct optimizer_config config;
	struct optimizer *optimizer;
	struct err err;

	assert_ok(optimizer_defaults(&config, "sgd", &err), err);
	assert_string_equal(config.kind, "sgd");
	assert_true(config.momentum == 0.9f && config.decay == 1e-4f);
	optimizer = optimizer_of(&config, 3, engine);
	assert_int_equal(optimizer_state(optimizer).count, 1);
	assert_string_equal(optimizer_state(optimizer).names[0], "momentum");
	assert_int_equal(*optimizer_state(optimizer).steps, 0);
	optimizer_free(optimizer);

	assert_ok(optimizer_defaults(&config, "adam", &err), err);
	assert_true(config.beta1 == 0.9f && config.beta2 == 0.999f && config.epsilon == 1e-8f);
	assert_true(config.decay == 0);
	optimizer = optimizer_of(&config, 3, engine);
	assert_int_equal(optimizer_state(optimizer).count, 2);
	assert_string_equal(optimizer_state(optimizer).names[0], "mean");
	assert_string_equal(optimizer_state(optimizer).names[1], "square");
	optimizer_free(optimizer);

	assert_int_equal(optimizer_defaults(&config, "rmsprop", &err), ERR_INPUT);
	assert_says(err, "optimizer.kind = rmsprop");
	config.kind = "lion";
	assert_int_equal(optimizer_new(&optimizer, &config, 3, engine, &err), ERR_INPUT);
	assert_says(err, "optimizer.kind = lion");
	assert_null(optimizer);
	optimizer_free(NULL);
	engine_free(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formulas),
		cmocka_unit_test(averages_on_the_way_are_averages_afterwards),
		cmocka_unit_test(averages_follow_their_definition),
		cmocka_unit_test(same_bits_for_any_thread_count),
		cmocka_unit_test(the_state_is_all_there_is),
		cmocka_unit_test(kinds_and_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
