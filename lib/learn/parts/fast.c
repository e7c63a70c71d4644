/*
 * What fast weights are. What they answer is in fast_answer.c, learning in fast_learn.c, sweeps
 * over the parameters in fast_sweep.c.
 */
#include "learn/parts/fast.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/parts/fast_impl.h"

/* The last layer's are the last dense tensor's and those behind it. */
static size_t head_begins(const struct param_table *table)
{
	int row = table->count - 1;

	while (row > 0 && table->rows[row].kind != PARAM_DENSE)
		row--;
	return table->rows[row].offset;
}

/* Which net is displaced, and which of the learner's parameters are its. */
static int choose_net(struct fast *fast, const struct learner *learner, struct err *err)
{
	const struct param_table *table = net_params(learner->net);
	const struct net_spec spec = {.arch = "linear",
		.classes = net_spec(learner->net)->classes,
		.channels = net_features(learner->net),
		.height = 1,
		.width = 1};
	int code;

	fast->runner = learner->runner;
	fast->width = learner->floats;
	fast->floats = table->floats;
	if (!fast->config.head)
		return 0;
	fast->width = (size_t)spec.channels;
	fast->first = head_begins(table);
	fast->floats = table->floats - fast->first;
	fast->runner = NULL;
	code = net_new(&fast->head, &spec, err);
	return code ? code : runner_new(&fast->runner, fast->head, learner->engine, 0, err);
}

static bool make_buffers(struct fast *fast, const struct learner *learner)
{
	const size_t stats = fast->head ? 0 : net_stats(learner->net)->floats;
	const size_t classes = (size_t)net_spec(learner->net)->classes, room = (size_t)fast->room;

	for (int i = 0; i < fast->config.count; i++)
		for (int t = 0; t < fast->config.parts[i].count; t++)
			if (!(fast->delta[i][t] = mem_new(fast->floats, sizeof(float))))
				return false;
	return (fast->point = mem_new(fast->floats, sizeof(float))) &&
	       (!fast->head || (fast->grad = mem_new(fast->floats, sizeof(float)))) &&
	       (!stats || (fast->stats = mem_new(stats, sizeof(float)))) &&
	       (fast->squares = mem_new(fast->floats / FAST_SLICE + 1, sizeof(float))) &&
	       (fast->inputs = mem_new(room * learner->floats, sizeof(float))) &&
	       (!fast->head || (fast->features = mem_new(room * fast->width, sizeof(float)))) &&
	       (fast->losses = mem_new(room, sizeof(float))) &&
	       (fast->weights = mem_new(room, sizeof(float))) &&
	       (fast->logits = mem_new(room * classes, sizeof(float))) &&
	       (!fast->config.heads.count ||
		       (fast->answer = mem_new(FAST_CHUNK * classes, sizeof(float)))) &&
	       (!fast->config.mix.guard ||
		       (fast->mixed = mem_new(FAST_CHUNK * classes, sizeof(float)))) &&
	       (fast->ids = mem_new(room, sizeof(*fast->ids))) &&
	       (fast->labels = mem_new(room, sizeof(*fast->labels)));
}

/* Of all displacements. */
static int terms(const struct fast_config *config)
{
	int count = 0;

	for (int i = 0; i < config->count; i++)
		count += config->parts[i].count;
	return count;
}

static int make(struct fast *fast, const struct learner *learner, struct err *err)
{
	const struct fast_config *config = &fast->config;
	int code = choose_net(fast, learner, err);

	fast->room = FAST_CHUNK;
	for (int i = 0; i < config->count; i++)
		if (fast->room < FAST_CHUNK + config->parts[i].recent)
			fast->room = FAST_CHUNK + config->parts[i].recent;
	if (!code)
		code = mix_init(&fast->mix, &config->mix, learner->engine->kernels,
			net_spec(learner->net)->classes, err);
	if (!code && config->heads.count)
		code = heads_new(&fast->heads, &config->heads, (int)learner->floats,
			net_spec(learner->net)->classes, config->seed, err);
	if (!code && !make_buffers(fast, learner))
		code = err_memory(err, "fast weights",
			(unsigned long long)terms(config) * fast->floats * sizeof(float));
	return code;
}

int fast_new(struct fast **fast, const struct fast_config *config, struct learner *learner,
	struct err *err)
{
	struct fast *made = mem_new(1, sizeof(*made));
	int code;

	*fast = NULL;
	if (!made)
		return err_memory(err, "fast weights", sizeof(*made));
	made->config = *config;
	code = make(made, learner, err);
	if (code)
		fast_free(made);
	else
		*fast = made;
	return code;
}

void fast_free(struct fast *fast)
{
	if (!fast)
		return;
	if (fast->head || fast->config.head)
		runner_free(fast->runner);
	net_free(fast->head);
	for (int i = 0; i < FAST_PARTS * FAST_TERMS; i++)
		mem_free(fast->delta[i / FAST_TERMS][i % FAST_TERMS]);
	mem_free(fast->point);
	mem_free(fast->grad);
	mem_free(fast->stats);
	mem_free(fast->squares);
	heads_free(fast->heads);
	mem_free(fast->inputs);
	mem_free(fast->features);
	mem_free(fast->losses);
	mem_free(fast->weights);
	mem_free(fast->logits);
	mem_free(fast->answer);
	mem_free(fast->mixed);
	mem_free(fast->ids);
	mem_free(fast->labels);
	mix_release(&fast->mix);
	mem_free(fast);
}

void fast_restart(struct fast *fast)
{
	for (int i = 0; i < fast->config.count; i++)
		fast_clear(fast, i);
	mix_restart(&fast->mix);
}

double fast_slow_efficacy(const struct fast *fast)
{
	return fast->steps ? fast->slow_hits / (double)fast->steps : (double)NAN;
}

const struct mix *fast_mix(const struct fast *fast)
{
	return &fast->mix;
}

const struct fast_config *fast_settings(const struct fast *fast)
{
	return &fast->config;
}

double fast_bytes(const struct fast *fast)
{
	return (double)terms(&fast->config) * (double)fast->floats * sizeof(float) +
	       (fast->heads ? heads_bytes(fast->heads) : 0);
}

void fast_state(struct fast *fast, struct state *state)
{
	state_enter(state, "fast");
	state_int64(state, "steps", &fast->steps);
	state_double(state, "slow_hits", &fast->slow_hits);
	for (int i = 0; i < fast->config.count; i++)
		for (int t = 0; t < fast->config.parts[i].count; t++)
			state_params(state, "delta", fast->delta[i][t], fast->floats);
	fast->point_of = 0;
	mix_state(&fast->mix, state);
	if (fast->heads)
		heads_state(fast->heads, state);
	state_leave(state);
}
