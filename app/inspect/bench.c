/* Times steps one by one and reports the fastest: the others only show how busy the machine was. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "nn/runner.h"
#include "optim/optimizer.h"
#include "inspect/bench.h"

enum { STEPS_MAX = 1 << 20 };

struct bench {
	const struct bench_config *config;
	struct net *net;
	struct engine *engine;
	struct runner *runner;
	struct optimizer *optimizer;
	float *params, *stats, *grad, *input, *logits;
	union target *labels;
	double *times;
	int steps;
	float loss;
};

static int check(const struct bench_config *config, struct err *err)
{
	if (config->batch < 1 || config->batch > 1 << 20)
		return err_set(err, ERR_INPUT, "batch %d: must be 1 to %d", config->batch, 1 << 20);
	if (config->micro < 0)
		return err_set(err, ERR_INPUT, "micro-batch %d: must be 0 (do not cut) or more",
			config->micro);
	if (config->repeat < 1 || config->seconds < 0)
		return err_set(err, ERR_INPUT, "repeat %d, seconds %g: must be at least 1 and 0",
			config->repeat, config->seconds);
	return 0;
}

static int open_parts(struct bench *b, struct err *err)
{
	const struct bench_config *config = b->config;
	struct optimizer_config sgd;
	int code = check(config, err);

	if (!code)
		code = net_new(&b->net, &config->net, err);
	if (!code)
		code = engine_new(&b->engine, &config->engine, err);
	if (!code)
		code = runner_new(&b->runner, b->net, b->engine, config->micro, err);
	if (!code)
		code = optimizer_defaults(&sgd, "sgd", err);
	if (!code && !config->infer)
		code = optimizer_new(
			&b->optimizer, &sgd, net_params(b->net)->floats, b->engine, err);
	return code;
}

static int make_data(struct bench *b, struct err *err)
{
	const struct net_spec *spec = net_spec(b->net);
	const size_t params = net_params(b->net)->floats, n = b->config->batch;
	const size_t floats = n * spec->channels * spec->height * spec->width;
	int code;

	b->params = mem_new(params, sizeof(float));
	b->grad = b->config->infer ? NULL : mem_new(params, sizeof(float));
	b->stats = mem_new(net_stats(b->net)->floats + 1, sizeof(float));
	b->input = mem_new(floats, sizeof(float));
	b->logits = mem_new(n * spec->classes, sizeof(float));
	b->labels = mem_new(n, sizeof(*b->labels));
	b->times = mem_new(STEPS_MAX, sizeof(*b->times));
	if (!b->params || (!b->grad && !b->config->infer) || !b->stats || !b->input || !b->logits ||
		!b->labels || !b->times)
		return err_memory(
			err, "a benchmark's batch", (2 * params + floats) * sizeof(float));
	code = net_init(b->net, 1, b->params, b->stats, err);
	if (code)
		return code;
	rng_normals((struct rng){1, RNG_TEST}, 0, b->input, floats);
	for (size_t i = 0; i < n; i++)
		b->labels[i].class =
			(int32_t)rng_below((struct rng){2, RNG_TEST}, i, spec->classes);
	return 0;
}

static int one_step(struct bench *b, struct err *err)
{
	const struct runner_batch batch = {b->input, b->labels, NULL, b->config->batch};

	if (b->config->infer)
		return runner_infer(
			b->runner, b->params, b->stats, b->input, batch.n, b->logits, err);
	const int code = runner_gradient(
		b->runner, b->params, b->stats, &batch, b->grad, &b->loss, NULL, NULL, err);
	if (!code)
		optimizer_step(b->optimizer, b->params, b->grad, 0.01f, NULL);
	return code;
}

static int run(struct bench *b, struct err *err)
{
	/* The first step makes the plan and touches the memory. */
	int code = one_step(b, err);
	const double start = clock_now();
	double last = start;

	while (!code && b->steps < STEPS_MAX &&
		(b->steps < b->config->repeat || last - start < b->config->seconds)) {
		code = one_step(b, err);
		const double end = clock_now();
		b->times[b->steps++] = end - last;
		last = end;
	}
	return code;
}

static int ascending(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

static void summarise(struct bench *b, struct bench_result *result)
{
	struct rusage usage;
	const int n = b->config->batch;

	qsort(b->times, b->steps, sizeof(*b->times), ascending);
	getrusage(RUSAGE_SELF, &usage);
	result->steps = b->steps;
	result->images_per_s = n / b->times[0];
	result->median_images_per_s = n / b->times[b->steps / 2];
	result->gflops = 2e-9 * net_macs(b->net) * n * (b->config->infer ? 1 : 3) / b->times[0];
	result->peak_gflops = engine_peak(b->engine);
	result->rss_mb = (double)usage.ru_maxrss / 1024;
	result->loss = b->loss;
	result->isa = engine_isa(b->engine);
	result->threads = team_size(b->engine->team);
}

static void close_parts(struct bench *b)
{
	optimizer_free(b->optimizer);
	runner_free(b->runner);
	engine_free(b->engine);
	net_free(b->net);
	mem_free(b->params);
	mem_free(b->stats);
	mem_free(b->grad);
	mem_free(b->input);
	mem_free(b->logits);
	mem_free(b->labels);
	mem_free(b->times);
}

int bench_train(const struct bench_config *config, struct bench_result *result, struct err *err)
{
	struct bench b = {.config = config};
	int code = open_parts(&b, err);

	if (!code)
		code = make_data(&b, err);
	if (!code)
		code = run(&b, err);
	if (!code)
		summarise(&b, result);
	close_parts(&b);
	return code;
}
