/*
 * Optimizers against the formulas in double precision, for lengths that fill no
 * vector; averages taken on the way against averages taken afterwards; the same
 * bits for any number of threads and after a resume. PyTorch's own numbers are
 * compared with in nn/golden.
 */
#include "../nn/check.h"
#include "../base/folder.h"
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
	{.kind = "schedule-free", .r = 8, .beta = 0.9f, .decay = 1e-4f},
	{.kind = "schedule-free", .r = 0, .beta = 0, .decay = 0},
	{.kind = "schedule-free", .r = 2.5f, .beta = 0.5f, .decay = 0.1f},
};

/* The names of the state; a kind that is not here fails the test. */
static const struct {
	const char *kind, *buffers[2];
} memories[] = {
	{"sgd", {"momentum"}},
	{"adam", {"mean", "square"}},
	{"schedule-free", {"z", "x"}},
};

static const float *memory_of(const struct optimizer *optimizer, const char *kind, int index)
{
	for (size_t i = 0; i < COUNT(memories); i++)
		if (!strcmp(memories[i].kind, kind))
			return memories[i].buffers[index]
				       ? optimizer_buffer(optimizer, memories[i].buffers[index])
				       : NULL;
	fail_msg("what does %s remember?", kind);
	return NULL;
}

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

static void exact_sgd(
	const struct optimizer_config *c, struct exact *e, size_t i, double g, int step)
{
	e->a[i] = step == 1 ? g : c->momentum * e->a[i] + g;
	e->p[i] -= RATE * e->a[i];
}

static void exact_adam(
	const struct optimizer_config *c, struct exact *e, size_t i, double g, int step)
{
	const double first = 1 - pow(c->beta1, step), second = 1 - pow(c->beta2, step);

	e->a[i] = c->beta1 * e->a[i] + (1 - (double)c->beta1) * g;
	e->b[i] = c->beta2 * e->b[i] + (1 - (double)c->beta2) * g * g;
	e->p[i] -= RATE / first * e->a[i] / (sqrt(e->b[i] / second) + c->epsilon);
}

/* a is z, b is x. */
static void exact_schedule_free(
	const struct optimizer_config *c, struct exact *e, size_t i, double g, int step)
{
	const double share = (c->r + 1.0) / (step + (double)c->r);

	if (step == 1)
		e->a[i] = e->b[i] = e->p[i];
	e->a[i] -= RATE * g;
	e->b[i] = (1 - share) * e->b[i] + share * e->a[i];
	e->p[i] = (1 - (double)c->beta) * e->a[i] + c->beta * e->b[i];
}

static void exact_step(const struct optimizer_config *c, struct exact *e, const float *grad,
	size_t count, int step)
{
	for (size_t i = 0; i < count; i++) {
		const double g = grad[i] + c->decay * e->p[i];
		if (!strcmp(c->kind, "adam"))
			exact_adam(c, e, i, g, step);
		else if (!strcmp(c->kind, "schedule-free"))
			exact_schedule_free(c, e, i, g, step);
		else
			exact_sgd(c, e, i, g, step);
	}
}

static void compare_with_formula(
	const struct optimizer_config *config, size_t count, struct engine *engine)
{
	struct optimizer *optimizer = optimizer_of(config, count, engine);
	struct exact e = {mem_new(count, sizeof(double)), mem_new(count, sizeof(double)),
		mem_new(count, sizeof(double))};
	float *params = guarded_new(count), *grad = guarded_new(count);
	const float *first = memory_of(optimizer, config->kind, 0);
	const float *second = memory_of(optimizer, config->kind, 1);

	fill(params, count, 3);
	for (size_t i = 0; i < count; i++)
		e.p[i] = params[i];
	for (int step = 1; step <= STEPS; step++) {
		fill_gradient(grad, count, step);
		optimizer_step(optimizer, params, grad, RATE, NULL);
		exact_step(config, &e, grad, count, step);
	}
	/* Without momentum there is nothing to remember. */
	const bool forgets = !strcmp(config->kind, "sgd") && config->momentum == 0;
	const double p = worst(params, e.p, NULL, count);
	const double a = forgets ? 0 : worst(first, e.a, NULL, count);
	const double b = second ? worst(second, e.b, NULL, count) : 0;
	if (p > 3e-6 || a > 3e-6 || b > 3e-6)
		fail_msg("%s, %s (momentum %g, beta %g, decay %g), %zu parameters: off by %.1e, "
			 "state %.1e, %.1e",
			engine_isa(engine), config->kind, config->momentum, config->beta,
			config->decay, count, p, a, b);
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

/* What a number of steps leaves: parameters, an optimizer and its state, two averages. */
struct trace {
	size_t count;
	const struct optimizer_config *config;
	struct engine *engine;
	struct optimizer *optimizer;
	float *params, *average[2];
	int steps;
};

static void trace_release(struct trace *t)
{
	guarded_free(t->params);
	for (int i = 0; i < 2; i++)
		guarded_free(t->average[i]);
	optimizer_free(t->optimizer);
}

static void trace_start(
	struct trace *t, const struct optimizer_config *config, struct engine *engine, size_t count)
{
	*t = (struct trace){
		count, config, engine, optimizer_of(config, count, engine), guarded_new(count)};
	fill(t->params, count, 3);
	for (int i = 0; i < 2; i++)
		t->average[i] = guarded_copy(t->params, count);
}

/* So many more steps, with the averages in the same pass or in one of their own. */
static void trace_run(struct trace *t, int steps, bool fused)
{
	const struct average_step averages = {2, {t->average[0], t->average[1]}, {0.9f, 0.999f}};
	float *grad = guarded_new(t->count);

	for (; steps > 0; steps--) {
		fill_gradient(grad, t->count, ++t->steps);
		optimizer_step(t->optimizer, t->params, grad, RATE, fused ? &averages : NULL);
		if (!fused)
			t->engine->ops->average(t->params, t->count, &averages);
	}
	guarded_free(grad);
}

static void visit(void *optimizer, struct state *state)
{
	optimizer_state(optimizer, state);
}

/* Goes on with an optimizer that knows only what a file has kept. */
static void trace_resume(struct trace *t)
{
	struct err err;

	assert_ok(state_save(in_folder("state"), visit, t->optimizer, &err), err);
	optimizer_free(t->optimizer);
	t->optimizer = optimizer_of(t->config, t->count, t->engine);
	assert_ok(state_load(in_folder("state"), visit, t->optimizer, &err), err);
}

static void assert_same_trace(const struct trace *a, const struct trace *b, const char *what)
{
	if (!same_bits(a->params, b->params, a->count))
		fail_msg("%s: other parameters", what);
	for (int i = 0; i < 2; i++) {
		const float *memory = memory_of(a->optimizer, a->config->kind, i);
		if (memory &&
			!same_bits(memory, memory_of(b->optimizer, b->config->kind, i), a->count))
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
				trace_start(&fused, configs + c, engine, lengths[i]);
				trace_start(&apart, configs + c, engine, lengths[i]);
				trace_run(&fused, 5, true);
				trace_run(&apart, 5, false);
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
		trace_start(&t, configs, engine, count);
		for (size_t i = 0; i < count; i++)
			averages[0][i] = averages[1][i] = t.params[i];
		for (int step = 0; step < 50; step++) {
			trace_run(&t, 1, true);
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
			trace_start(&one, configs + c, engine, 50001);
			trace_run(&one, 10, true);
			for (int threads = 2; threads <= 3; threads++) {
				struct engine *more = engine_of(kernels_at(k)->isa, threads);
				trace_start(&many, configs + c, more, 50001);
				trace_run(&many, 10, true);
				assert_same_trace(&one, &many, kernels_at(k)->isa);
				trace_release(&many);
				engine_free(more);
			}
			trace_release(&one);
			engine_free(engine);
		}
}

static void the_state_is_all_there_is(void **state)
{
	struct engine *engine = engine_of("auto", 1);

	for (size_t c = 0; c < COUNT(configs); c++)
		for (int stop = 0; stop <= 10; stop += 5) {
			struct trace straight, resumed;
			trace_start(&straight, configs + c, engine, 1001);
			trace_start(&resumed, configs + c, engine, 1001);
			trace_run(&straight, 10, true);
			trace_run(&resumed, stop, true);
			trace_resume(&resumed);
			trace_run(&resumed, 10 - stop, true);
			assert_same_trace(&straight, &resumed, configs[c].kind);
			trace_release(&straight), trace_release(&resumed);
		}
	engine_free(engine);
}

static void a_restart_is_a_new_one(void **state)
{
	struct engine *engine = engine_of("auto", 1);

	for (size_t c = 0; c < COUNT(configs); c++) {
		struct trace used, fresh;
		trace_start(&used, configs + c, engine, 1001);
		trace_start(&fresh, configs + c, engine, 1001);
		trace_run(&used, 3, true);
		optimizer_restart(used.optimizer);
		assert_null(optimizer_inference(used.optimizer));
		memcpy(used.params, fresh.params, used.count * sizeof(float));
		for (int i = 0; i < 2; i++)
			memcpy(used.average[i], fresh.average[i], used.count * sizeof(float));
		used.steps = 0;
		trace_run(&used, 5, true), trace_run(&fresh, 5, true);
		assert_same_trace(&used, &fresh, configs[c].kind);
		trace_release(&used), trace_release(&fresh);
	}
	engine_free(engine);
}

/* Every row of the table is among the configs above, and so in every test. */
static void every_kind_is_tested(void **state)
{
	for (int i = 0; optimizer_types[i]; i++) {
		const char *name = optimizer_type_name(optimizer_types[i]);
		bool found = false;
		for (size_t c = 0; c < COUNT(configs); c++)
			found = found || !strcmp(configs[c].kind, name);
		if (!found && !optimizer_traits(name).program) /* api/net has it */
			fail_msg("no config for %s", name);
		assert_true(strlen(optimizer_type_help(optimizer_types[i])) > 0);
		assert_true(optimizer_traits(name).averages == !strcmp(name, "schedule-free"));
	}
}

static void another_kinds_state_is_refused(void **state)
{
	struct engine *engine = engine_of("auto", 1);
	struct optimizer *sgd = optimizer_of(configs, 10, engine);
	struct optimizer *adam = optimizer_of(configs + 3, 10, engine);
	struct err err;

	assert_ok(state_save(in_folder("state"), visit, sgd, &err), err);
	assert_int_equal(state_load(in_folder("state"), visit, adam, &err), ERR_FORMAT);
	assert_says(err, "was saved with kind \"sgd\", not \"adam\"");
	optimizer_free(sgd), optimizer_free(adam);
	engine_free(engine);
}

static void what_predicts(void **state)
{
	struct engine *engine = engine_of("auto", 1);
	struct trace t;

	for (size_t c = 0; c < COUNT(configs); c++) {
		trace_start(&t, configs + c, engine, 100);
		assert_null(optimizer_inference(t.optimizer));
		trace_run(&t, 1, false);
		if (strcmp(configs[c].kind, "schedule-free")) {
			assert_null(optimizer_inference(t.optimizer));
		} else {
			/* c_1 = 1: after one step all three points are one. */
			const float *x = optimizer_inference(t.optimizer);
			assert_ptr_equal(x, optimizer_buffer(t.optimizer, "x"));
			assert_true(same_bits(x, optimizer_buffer(t.optimizer, "z"), t.count));
			assert_true(distance(t.params, x, t.count) < 1e-7);
			trace_run(&t, 1, false);
			assert_true(distance(t.params, x, t.count) > 1e-7 || configs[c].beta == 1);
		}
		assert_null(optimizer_buffer(t.optimizer, "speed"));
		trace_release(&t);
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

	assert_ok(optimizer_defaults(&config, "adam", &err), err);
	assert_true(config.beta1 == 0.9f && config.beta2 == 0.999f && config.epsilon == 1e-8f);
	assert_true(config.decay == 0);

	assert_ok(optimizer_defaults(&config, "schedule-free", &err), err);
	assert_true(config.r == 8 && config.beta == 0.9f);

	assert_int_equal(optimizer_defaults(&config, "rmsprop", &err), ERR_INPUT);
	assert_says(err, "optimizer.kind = rmsprop: not one of sgd | adam | schedule-free");
	config.kind = "lion";
	assert_int_equal(optimizer_new(&optimizer, &config, 3, engine, &err), ERR_INPUT);
	assert_says(err, "optimizer.kind = lion");
	assert_null(optimizer);
	optimizer_free(NULL);
	engine_free(engine);
}

/* Junk for a gradient moves nothing, neither parameters nor averages nor what predicts. */
static void frozen_segments_stand_still(void **state)
{
	enum { N = 3000, FIRST = 1001, END = 2003 };
	static const struct optimizer_segment rows[] = {
		{.first = 0}, {.first = FIRST, .frozen = true}, {.first = END}};
	struct engine *engine = engine_of("auto", 1);
	float params[N], start[N], grad[N], average[N];

	fill(start, N, 5);
	fill(grad, N, 6);
	for (size_t k = 0; k < COUNT(configs); k++) {
		struct optimizer *optimizer = optimizer_of(configs + k, N, engine);
		struct average_step averages = {.count = 1, .average = {average}, .keep = {0.9f}};
		struct err err;

		memcpy(params, start, sizeof(params));
		memcpy(average, start, sizeof(average));
		assert_ok(optimizer_segments(optimizer, rows, COUNT(rows), &err), err);
		for (int i = 0; i < 5; i++)
			optimizer_step(optimizer, params, grad, RATE, &averages);
		const float *predicts = optimizer_inference(optimizer);

		assert_true(same_bits(params + FIRST, start + FIRST, END - FIRST));
		assert_true(distance(average + FIRST, start + FIRST, END - FIRST) < 1e-7);
		if (predicts)
			assert_true(distance(predicts + FIRST, start + FIRST, END - FIRST) < 1e-7);
		assert_true(params[FIRST - 1] != start[FIRST - 1] && params[END] != start[END]);
		optimizer_free(optimizer);
	}
	engine_free(engine);
}

/* Each segment is, to the bit, what an optimizer with a fixed decay makes of it alone. */
static void decay_follows_the_pool(void **state)
{
	/* kappa 0.25: 1000 inputs make more than 0.1, 8 8/4/50 = 0.04, then none. */
	static const struct optimizer_segment rows[] = {
		{0, 1000}, {32, 8}, {16000, 0}, {20016, 200}};
	static const float decays[2][4] = {{0.1f, 0.04f, 0, 0.1f}, {0.025f, 0.0002f, 0, 0.005f}};
	static const int64_t samples[] = {50, 10000};
	enum { COUNT_ALL = 40000 };
	struct engine *engine = engine_of("auto", 2);
	float *grad = calloc(COUNT_ALL, sizeof(float)), *pooled = calloc(COUNT_ALL, sizeof(float));
	float *fixed = calloc(COUNT_ALL, sizeof(float));
	struct err err;

	(void)state;
	for (size_t c = 0; c < COUNT(configs); c++)
		for (size_t s = 0; s < COUNT(rows); s++) {
			const size_t end = s + 1 < COUNT(rows) ? rows[s + 1].first : COUNT_ALL;
			struct optimizer_config config = configs[c];
			struct optimizer *one, *other;

			config.kappa = 0.25f;
			one = optimizer_of(&config, COUNT_ALL, engine);
			assert_ok(optimizer_segments(one, rows, COUNT(rows), &err), err);
			fill(pooled, COUNT_ALL, 7);
			/* Two first steps. */
			for (int k = 0; k < 2; k++) {
				config = configs[c];
				config.decay = decays[k][s];
				other = optimizer_of(&config, COUNT_ALL, engine);
				optimizer_restart(one);
				optimizer_samples(one, samples[k]);
				fill_gradient(grad, COUNT_ALL, k);
				memcpy(fixed, pooled, COUNT_ALL * sizeof(float));
				optimizer_step(one, pooled, grad, RATE, NULL);
				optimizer_step(other, fixed, grad, RATE, NULL);
				assert_memory_equal(pooled + rows[s].first, fixed + rows[s].first,
					(end - rows[s].first) * sizeof(float));
				optimizer_free(other);
			}
			optimizer_free(one);
		}
	free(grad);
	free(pooled);
	free(fixed);
	engine_free(engine);
}

/* The rows know the same kinds and defaults as the table. */
static void keys(void **state)
{
	static const struct option_row *const tables[] = {optimizer_options, NULL};
	static const struct {
		const char *setting, *says;
	} bad[] = {
		{"optimizer.kind=lion", "one of sgd | adam | schedule-free"},
		{"optimizer.momentum=1", "optimizer.momentum"},
		{"optimizer.momentum=-0.1", "optimizer.momentum"},
		{"optimizer.decay=-1e-4", "optimizer.decay"},
		{"optimizer.decay=pond", "a number in [0, inf) | pool"},
		{"optimizer.kappa=0", "optimizer.kappa"},
		{"optimizer.beta1=1", "optimizer.beta1"},
		{"optimizer.beta2=-1", "optimizer.beta2"},
		{"optimizer.epsilon=0", "optimizer.epsilon"},
		{"optimizer.r=-1", "optimizer.r"},
		{"optimizer.beta=1.1", "optimizer.beta"},
	};
	struct options *options;
	struct optimizer_config config, defaults;
	struct err err;

	assert_ok(options_new(&options, tables, &err), err);
	for (int i = 0; optimizer_types[i]; i++) {
		const char *name = optimizer_type_name(optimizer_types[i]);
		assert_ok(options_set(options, "optimizer.kind", name, "test", &err), err);
		assert_int_equal(options_choice(options, "optimizer.kind"), i);
		optimizer_config(&config, options);
		assert_ok(optimizer_defaults(&defaults, name, &err), err);
		assert_string_equal(config.kind, name);
		assert_true(config.momentum == defaults.momentum || !defaults.momentum);
		assert_true(config.decay == defaults.decay || !defaults.decay);
		assert_true(config.beta1 == defaults.beta1 || !defaults.beta1);
		assert_true(config.beta2 == defaults.beta2 || !defaults.beta2);
		assert_true(config.epsilon == defaults.epsilon || !defaults.epsilon);
		assert_true(config.r == defaults.r || !defaults.r);
		assert_true(config.beta == defaults.beta || !defaults.beta);
	}
	assert_true(config.kappa == 0);
	assert_ok(options_assign(options, "optimizer.decay=pool", "test", &err), err);
	optimizer_config(&config, options);
	assert_true(config.decay == 0 && config.kappa == 0.25f);
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(options_assign(options, bad[i].setting, "test", &err), ERR_INPUT);
		assert_says(err, bad[i].says);
	}
	options_free(options);
}

static int make(void *engine, struct err *err)
{
	struct optimizer *optimizer;
	const int code = optimizer_new(&optimizer, configs + 5, 100, engine, err);

	assert_true(!code == !!optimizer);
	optimizer_free(optimizer);
	return code;
}

static void no_memory(void **state)
{
	struct engine *engine = engine_of("auto", 1);

	assert_int_equal(each_allocation_fails(make, engine), 3);
	engine_free(engine);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formulas),
		cmocka_unit_test(averages_on_the_way_are_averages_afterwards),
		cmocka_unit_test(averages_follow_their_definition),
		cmocka_unit_test(same_bits_for_any_thread_count),
		folder_test(the_state_is_all_there_is),
		cmocka_unit_test(a_restart_is_a_new_one),
		cmocka_unit_test(every_kind_is_tested),
		folder_test(another_kinds_state_is_refused),
		cmocka_unit_test(what_predicts),
		cmocka_unit_test(kinds_and_defaults),
		cmocka_unit_test(decay_follows_the_pool),
		cmocka_unit_test(frozen_segments_stand_still),
		cmocka_unit_test(keys),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
