/*
 * Optimizers are rows: how many state buffers, what they are called, and how a
 * slice of the flat buffers is stepped. Slices are cut at fixed places, so the
 * result does not depend on the number of threads.
 */
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "optim/optimizer.h"

enum { SLICE = 1 << 14 };

struct slice {
	size_t first, count;
};

struct step_run {
	struct optimizer *optimizer;
	float *params;
	const float *grad;
	float rate;
	const struct average_step *averages;
};

struct optimizer_type {
	const char *kind;
	struct optimizer_config defaults;
	int buffers;
	const char *names[2];
	void (*step)(const struct step_run *run, struct slice slice, const struct average_step *averages);
};

struct optimizer {
	const struct optimizer_type *type;
	struct optimizer_config config;
	struct engine *engine;
	size_t floats;
	uint64_t steps;
	float *buffers[2];
};

static void step_sgd(const struct step_run *run, struct slice s, const struct average_step *averages)
{
	const struct optimizer *o = run->optimizer;
	const struct sgd_step step = {.rate = run->rate, .momentum = o->config.momentum,
		.decay = o->config.decay, .first = o->steps == 1};

	o->engine->kernels->sgd(run->params + s.first, run->grad + s.first, o->buffers[0] + s.first, s.count,
		&step, averages);
}

static void step_adam(const struct step_run *run, struct slice s, const struct average_step *averages)
{
	const struct optimizer *o = run->optimizer;
	const struct optimizer_config *c = &o->config;
	const struct adam_step step = {.rate = run->rate, .beta1 = c->beta1, .beta2 = c->beta2,
		.epsilon = c->epsilon, .decay = c->decay,
		.correction1 = (float)(1 - pow((double)c->beta1, (double)o->steps)),
		.correction2 = (float)(1 - pow((double)c->beta2, (double)o->steps))};

	o->engine->kernels->adam(run->params + s.first, run->grad + s.first, o->buffers[0] + s.first,
		o->buffers[1] + s.first, s.count, &step, averages);
}

static const struct optimizer_type types[] = {
	{"sgd", {.kind = "sgd", .momentum = 0.9f, .decay = 1e-4f}, 1, {"momentum"}, step_sgd},
	{"adam", {.kind = "adam", .beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f}, 2, {"mean", "square"},
		step_adam},
};

static const struct optimizer_type *find_type(const char *kind, struct err *err)
{
	for (size_t i = 0; i < sizeof types / sizeof *types; i++)
		if (!strcmp(types[i].kind, kind))
			return types + i;
	err_set(err, ERR_INPUT, "optimizer.kind = %s: not known; choose sgd or adam", kind);
	return NULL;
}

int optimizer_defaults(struct optimizer_config *config, const char *kind, struct err *err)
{
	const struct optimizer_type *type = find_type(kind, err);

	if (!type)
		return ERR_INPUT;
	*config = type->defaults;
	return 0;
}

int optimizer_new(struct optimizer **optimizer, const struct optimizer_config *config, size_t floats,
	struct engine *engine, struct err *err)
{
	const struct optimizer_type *type = find_type(config->kind, err);

	*optimizer = NULL;
	if (!type)
		return ERR_INPUT;
	struct optimizer *made = mem_new(1, sizeof *made);
	if (!made)
		return err_memory(err, "an optimizer", sizeof *made);
	*made = (struct optimizer){.type = type, .config = *config, .engine = engine, .floats = floats};
	made->config.kind = type->kind;
	for (int i = 0; i < type->buffers; i++) {
		made->buffers[i] = mem_new(floats ? floats : 1, sizeof(float));
		if (!made->buffers[i]) {
			optimizer_free(made);
			return err_memory(err, "an optimizer's state", floats * sizeof(float));
		}
	}
	*optimizer = made;
	return 0;
}

void optimizer_free(struct optimizer *optimizer)
{
	if (!optimizer)
		return;
	for (int i = 0; i < optimizer->type->buffers; i++)
		mem_free(optimizer->buffers[i]);
	mem_free(optimizer);
}

static void step_task(void *context, int task, int worker)
{
	const struct step_run *run = context;
	const size_t first = (size_t)task * SLICE, left = run->optimizer->floats - first;
	struct average_step averages = {0};

	(void)worker;
	if (run->averages)
		averages = *run->averages;
	for (int i = 0; i < averages.count; i++)
		averages.average[i] += first;
	run->optimizer->type->step(run, (struct slice){first, left < SLICE ? left : SLICE}, &averages);
}

void optimizer_step(struct optimizer *optimizer, float *params, const float *grad, float rate,
	const struct average_step *averages)
{
	struct step_run run = {optimizer, params, grad, rate, averages};

	optimizer->steps++;
	team_run(optimizer->engine->team, (int)((optimizer->floats + SLICE - 1) / SLICE), step_task, &run);
}

struct optimizer_state optimizer_state(struct optimizer *optimizer)
{
	const struct optimizer_type *type = optimizer->type;

	return (struct optimizer_state){&optimizer->steps, type->buffers, {type->names[0], type->names[1]},
		{optimizer->buffers[0], optimizer->buffers[1]}};
}
