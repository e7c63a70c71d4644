/*
 * SGD with momentum on generated images, with a learning rate that rises over a
 * few steps and then falls along half a cosine. Image numbers go up from 0 for
 * training; the test images are numbered from far above, so they stay unseen.
 */
#include "run/demo.h"

#include <math.h>
#include <time.h>

#include "base/mem.h"
#include "nn/net.h"
#include "nn/runner.h"
#include "optim/optimizer.h"
#include "run/shapes.h"

static const uint64_t TEST_FIRST = UINT64_C(1) << 40;
static const double RATE = 0.2; /* at its highest, for batches of RATE_BATCH */
static const double RATE_BATCH = 64;
static const double WARM_UP = 0.1; /* share of the steps */
static const double FORGET = 0.05; /* what one batch counts in the recent scores */

struct demo {
	struct demo_config config;
	struct net *net;
	struct engine *engine;
	struct runner *runner;
	struct optimizer *optimizer;
	float *params, *stats, *grad;
	float *images, *logits; /* of one batch */
	int32_t *labels;
	struct demo_score score;
	double weight; /* what all batches so far count together in the recent scores */
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int make_parts(struct demo *demo, struct err *err)
{
	const struct demo_config *config = &demo->config;
	const struct net_spec spec = {.arch = config->arch,
		.norm = config->norm,
		.classes = SHAPES_CLASSES,
		.channels = SHAPES_CHANNELS,
		.height = SHAPES_SIDE,
		.width = SHAPES_SIDE};
	struct optimizer_config sgd;
	int code = net_new(&demo->net, &spec, err);

	if (!code)
		code = engine_new(&demo->engine, &config->engine, err);
	if (!code)
		code = runner_new(&demo->runner, demo->net, demo->engine, 0, err);
	if (!code)
		code = optimizer_defaults(&sgd, "sgd", err);
	if (!code)
		code = optimizer_new(
			&demo->optimizer, &sgd, net_params(demo->net)->floats, demo->engine, err);
	return code;
}

static int make_buffers(struct demo *demo, struct err *err)
{
	const size_t params = net_params(demo->net)->floats, batch = (size_t)demo->config.batch;

	demo->params = mem_new(params, sizeof(float));
	demo->grad = mem_new(params, sizeof(float));
	/* Most nets have no statistics, and an allocation of nothing may be NULL. */
	demo->stats = mem_new(net_stats(demo->net)->floats + 1, sizeof(float));
	demo->images = mem_new(batch * SHAPES_FLOATS, sizeof(float));
	demo->logits = mem_new(batch * SHAPES_CLASSES, sizeof(float));
	demo->labels = mem_new(batch, sizeof(*demo->labels));
	if (!demo->params || !demo->grad || !demo->stats || !demo->images || !demo->logits ||
		!demo->labels)
		return err_memory(err, "the net and its batch",
			(2 * params + batch * SHAPES_FLOATS) * sizeof(float));
	net_init(demo->net, demo->config.seed, demo->params, demo->stats);
	return 0;
}

int demo_new(struct demo **demo, const struct demo_config *config, struct err *err)
{
	struct demo *made;
	int code;

	*demo = NULL;
	if (config->steps < 1 || config->batch < 1)
		return err_set(err, ERR_INPUT, "%d steps of %d images: must be at least 1 of each",
			config->steps, config->batch);
	made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, "a demo", sizeof(*made));
	made->config = *config;
	code = make_parts(made, err);
	if (!code)
		code = make_buffers(made, err);
	if (code) {
		demo_free(made);
		return code;
	}
	*demo = made;
	return 0;
}

void demo_free(struct demo *demo)
{
	if (!demo)
		return;
	optimizer_free(demo->optimizer);
	runner_free(demo->runner);
	engine_free(demo->engine);
	net_free(demo->net);
	mem_free(demo->params);
	mem_free(demo->grad);
	mem_free(demo->stats);
	mem_free(demo->images);
	mem_free(demo->logits);
	mem_free(demo->labels);
	mem_free(demo);
}

struct demo_about demo_about(const struct demo *demo)
{
	const struct net_spec *spec = net_spec(demo->net);
	const struct param_table *params = net_params(demo->net);
	struct demo_about about = {.arch = spec->arch,
		.norm = spec->norm,
		.isa = engine_isa(demo->engine),
		.threads = team_size(demo->engine->team)};

	for (int i = 0; i < params->count; i++)
		about.parameters += params->rows[i].count;
	return about;
}

struct drawing {
	struct demo *demo;
	uint64_t first;
};

static void draw_task(void *context, int task, int worker)
{
	const struct drawing *drawing = context;
	struct demo *demo = drawing->demo;
	const uint64_t index = drawing->first + (uint64_t)task;

	(void)worker;
	demo->labels[task] = shapes_label(demo->config.seed, index);
	shapes_draw(demo->config.seed, index, demo->images + (size_t)task * SHAPES_FLOATS);
}

static void draw(struct demo *demo, uint64_t first, int count)
{
	struct drawing drawing = {demo, first};

	team_run(demo->engine->team, count, draw_task, &drawing);
}

/* How many of the batch's first images have their own class's logit above all others. */
static int count_right(const struct demo *demo, int count)
{
	int right = 0;

	for (int i = 0; i < count; i++) {
		const float *logits = demo->logits + (size_t)i * SHAPES_CLASSES;
		int best = 0;
		for (int c = 1; c < SHAPES_CLASSES; c++)
			if (logits[c] > logits[best])
				best = c;
		right += best == demo->labels[i];
	}
	return right;
}

int demo_test(struct demo *demo, double *accuracy, struct err *err)
{
	int right = 0;

	for (int done = 0, count; done < DEMO_TEST_IMAGES; done += count) {
		const int left = DEMO_TEST_IMAGES - done;
		count = left < demo->config.batch ? left : demo->config.batch;
		draw(demo, TEST_FIRST + (uint64_t)done, count);
		const int code = runner_infer(demo->runner, demo->params, demo->stats, demo->images,
			count, demo->logits, err);
		if (code)
			return code;
		right += count_right(demo, count);
	}
	*accuracy = (double)right / DEMO_TEST_IMAGES;
	return 0;
}

static float rate_at(const struct demo_config *config, int step)
{
	static const double pi = 3.14159265358979323846;
	const double share = (step + 0.5) / config->steps;
	const double highest = RATE * sqrt(config->batch / RATE_BATCH);

	if (share < WARM_UP)
		return (float)(highest * share / WARM_UP);
	return (float)(highest * (1 + cos(pi * (share - WARM_UP) / (1 - WARM_UP))) / 2);
}

/* A mean that forgets; the weight makes it an ordinary mean at first. */
static void score_batch(struct demo *demo, double loss, double accuracy)
{
	demo->weight += FORGET * (1 - demo->weight);
	const double share = FORGET / demo->weight;
	demo->score.loss += share * (loss - demo->score.loss);
	demo->score.accuracy += share * (accuracy - demo->score.accuracy);
}

int demo_step(struct demo *demo, struct err *err)
{
	const double start = now();
	const int count = demo->config.batch;
	const struct runner_batch batch = {demo->images, demo->labels, NULL, count};
	float loss;

	draw(demo, (uint64_t)demo->score.images, count);
	const int code = runner_gradient(demo->runner, demo->params, demo->stats, &batch,
		demo->grad, &loss, NULL, demo->logits, err);
	if (code)
		return code;
	if (!isfinite(loss))
		return err_set(err, ERR_STATE,
			"step %d of %s, norm %s: the loss is no number any more; training went "
			"astray",
			demo->score.steps + 1, net_spec(demo->net)->arch,
			net_spec(demo->net)->norm);
	optimizer_step(demo->optimizer, demo->params, demo->grad,
		rate_at(&demo->config, demo->score.steps), NULL);
	score_batch(demo, loss, (double)count_right(demo, count) / count);
	demo->score.steps++;
	demo->score.images += count;
	demo->score.seconds += now() - start;
	return 0;
}

struct demo_score demo_score(const struct demo *demo)
{
	return demo->score;
}
