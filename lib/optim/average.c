/*
 * Common part of all averages: buffers, due times, copying, state. Invariant: step.keep follows
 * from the weights; it is set whenever they change.
 */
#include "optim/average.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "nn/vectors.h"
#include "optim/average_type.h"

const struct average_type average_none = {
	.name = "none",
	.help = "no average: the trained parameters predict",
};

const struct average_type *const average_types[] = {
	&average_none,
	&average_ema,
	&average_ama,
	NULL,
};

const struct option_row average_options[] = {
	{"average", "kind", OPTION_CHOICE, "ama", "none | ema | ama",
		"moving average of the parameters that predicts"},
	{"average", "rule", OPTION_CHOICE, "window",
		"window | window-longer | swap | swap-shorter | paper",
		"ama: what delta adapts: window lengths, weights of new parameters (swap), or "
		"gammas (paper); -longer, -shorter: which window ties go to"},
	{"average", "gamma", OPTION_FLOAT, "0.99", "(0, 1)",
		"share that an average keeps at an update; ama: at the start"},
	{"average", "delta", OPTION_FLOAT, "5", "(1, inf)",
		"ama: ratio of the two windows, and the factor by which they change"},
	{"average", "window_max", OPTION_FLOAT, "2500", "(1, inf)",
		"ama with rule = window: the longest window, in updates"},
	{"average", "serve", OPTION_CHOICE, "average", "average | best",
		"serve the better average, or the plain model if it validates best"},
	{"average", "every", OPTION_INT, "10", "[1, inf)", "iterations between updates (K_M)"},
	{"average", "statistics_every", OPTION_INT64, "10", "[1, inf)",
		"batch norm: iterations between passes that gather an average's statistics (K_B)"},
	{NULL},
};

const char *average_type_name(const struct average_type *type)
{
	return type->name;
}

const char *average_type_help(const struct average_type *type)
{
	return type->help;
}

void average_config(struct average_config *config, const struct options *options)
{
	*config = (struct average_config){
		.kind = options_text(options, "average.kind"),
		.rule = options_text(options, "average.rule"),
		.gamma = options_float(options, "average.gamma"),
		.delta = options_float(options, "average.delta"),
		.window_max = options_float(options, "average.window_max"),
		.every = options_int(options, "average.every"),
	};
}

static const struct average_type *find_type(const char *kind)
{
	for (size_t i = 0; average_types[i]; i++)
		if (strcmp(average_types[i]->name, kind) == 0)
			return average_types[i];
	return NULL;
}

struct average_traits average_traits(const char *kind)
{
	const struct average_type *type = find_type(kind);

	assert(type);
	return (struct average_traits){.count = type->count, .scores = type->compare != NULL};
}

static void set_keep(struct average *average)
{
	for (int i = 0; i < average->step.count; i++)
		average->step.keep[i] = (float)average_gamma(average, i);
}

int average_new(struct average **average, const struct average_config *config, const float *params,
	size_t floats, struct err *err)
{
	struct average *made = mem_new(1, sizeof(*made));
	int code;

	*average = NULL;
	if (!made)
		return err_memory(err, "an average", sizeof(*made));
	made->config = *config;
	made->floats = floats;
	made->count = slices_kept(config->engine, floats);
	made->type = find_type(config->kind);
	code = made->type ? 0
			  : err_set(err, ERR_INPUT, "average.kind = %s: not one of %s",
				    config->kind, average_options[0].allowed);
	if (!code && made->type->check)
		code = made->type->check(made, err);
	for (int i = 0; !code && i < made->type->count; i++) {
		code = vector_new(&made->step.average[i], config->engine, made->count,
			"an average of the parameters", err);
	}
	if (code) {
		average_free(made);
		return code;
	}
	made->config.kind = made->type->name;
	made->step.count = made->type->count;
	average_restart(made, params);
	*average = made;
	return 0;
}

void average_free(struct average *average)
{
	if (!average)
		return;
	for (int i = 0; i < AVERAGES_MAX; i++)
		vector_free(average->config.engine, average->step.average[i]);
	mem_free(average);
}

void average_restart(struct average *average, const float *params)
{
	for (int i = 0; i < average->step.count; i++)
		slices_keep(
			average->config.engine, average->step.average[i], params, average->floats);
	average->best = 0;
	if (average->type->start)
		average->type->start(average);
	set_keep(average);
}

int average_count(const struct average *average)
{
	return average->step.count;
}

const float *average_params(const struct average *average, int index)
{
	return average->step.average[index];
}

const struct average_step *average_due(struct average *average, int64_t k)
{
	return average->step.count && k % average->config.every == 0 ? &average->step : NULL;
}

int average_best(const struct average *average, const struct scores *scores)
{
	if (!average->step.count)
		return -1;
	if (average->type->compare && scores->rounds)
		return average->type->compare(average, scores);
	return average->best;
}

double average_gamma(const struct average *average, int index)
{
	return average->type->gamma(average, index);
}

int average_window(struct average *average, const struct scores *scores)
{
	const int better = average_best(average, scores);

	if (!average->type->move || !scores->rounds)
		return better;
	vector_copy(average->config.engine, average->step.average[1 - better],
		average->step.average[better], average->count);
	average->type->move(average, better);
	set_keep(average);
	return better;
}

void average_state(struct average *average, struct state *state)
{
	state_same(state, "kind", average->type->name);
	if (average->type->state)
		average->type->state(average, state);
	for (int i = 0; i < average->step.count; i++)
		slices_state(average->config.engine, state, i ? "second" : "first",
			average->step.average[i], average->floats);
	set_keep(average);
}
