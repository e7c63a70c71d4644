/* Opens an engine: finds the kernels, starts the team. */
#include <string.h>
#include <time.h>
#include "base/mem.h"
#include "base/os.h"
#include "nn/own/conv/conv.h"
#include "nn/engine.h"
#include "nn/own/kernels.h"
#include "nn/own/onednn.h"
#include "nn/ranks/ranks.h"

static void list_isas(char *text, size_t size)
{
	text[0] = 0;
	for (int i = 0; kernels_at(i); i++) {
		strncat(text, i ? ", " : "", size - strlen(text) - 1);
		strncat(text, kernels_at(i)->isa, size - strlen(text) - 1);
	}
}

static int choose(struct engine *engine, const struct engine_config *config, struct err *err)
{
	const char *isa = config->isa ? config->isa : "auto",
		   *conv = config->conv ? config->conv : "auto";

	engine->kernels = kernels_find(isa);
	if (!engine->kernels) {
		char known[128];
		list_isas(known, sizeof(known));
		return err_set(err, ERR_INPUT,
			"engine.isa = %s: not known or not on this machine, which has auto, %s",
			isa, known);
	}
	engine->ops = &engine->kernels->ops;
	if (conv_policy_find(conv, &engine->conv))
		return err_set(err, ERR_INPUT,
			"engine.conv = %s: not known; choose auto, own, direct or onednn", conv);
	if (engine->conv == &conv_onednn && onednn_speed(engine->kernels->block) == ONEDNN_NONE)
		return err_set(err, ERR_INPUT,
			"engine.conv = onednn: this build has no oneDNN for %s; choose auto, own "
			"or direct",
			engine->kernels->isa);
	if (config->threads < 0 || config->threads > 1024)
		return err_set(err, ERR_INPUT,
			"engine.threads = %d: must be 0 (all processors) to 1024", config->threads);
	return 0;
}

int engine_new(struct engine **engine, const struct engine_config *config, struct err *err)
{
	struct engine *made = mem_new(1, sizeof(*made));

	*engine = NULL;
	if (!made)
		return err_memory(err, "an engine", sizeof(*made));
	int threads = config->threads, code = choose(made, config, err);
	if (!code && config->vectors && !ranks_alone(config->ranks))
		code = err_set(
			err, ERR_INPUT, "vectors that a program keeps cannot be shared by ranks");
	if (!ranks_alone(config->ranks))
		made->ranks = config->ranks;
	made->vectors = config->vectors;
	if (!threads)
		threads = made->ranks ? made->ranks->threads : os_processors();
	if (!code)
		code = team_new(&made->team, threads, err);
	if (code) {
		mem_free(made);
		return code;
	}
	*engine = made;
	return 0;
}

void engine_free(struct engine *engine)
{
	if (!engine)
		return;
	team_free(engine->team);
	mem_free(engine);
}

const char *engine_isa(const struct engine *engine)
{
	return engine->kernels->isa;
}

struct peak_run {
	const struct kernels *kernels;
	double done;
};

static void peak_task(void *context, int task, int worker)
{
	struct peak_run *run = context;
	const double done = run->kernels->peak(200000);

	(void)worker;
	if (task == 0)
		run->done = done;
}

static double seconds_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

double engine_peak(struct engine *engine)
{
	struct peak_run run = {engine->kernels, 0};
	const int threads = team_size(engine->team);
	double best = 0;

	for (int i = 0; i < 40; i++) {
		const double start = seconds_now();
		team_run(engine->team, threads, peak_task, &run);
		const double rate = 2 * run.done * threads / (seconds_now() - start) * 1e-9;
		best = rate > best ? rate : best;
	}
	return best;
}
