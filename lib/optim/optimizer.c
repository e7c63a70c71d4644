/*
 * Common part of all optimizers: buffers, cutting a step into slices, state. Slices are cut at
 * fixed places and each writes only its own part, so the result does not depend on the number of
 * threads.
 */
#include "optim/optimizer.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "optim/optimizer_type.h"

enum { SLICE = 1 << 14 };

static const double DECAY_MOST = 0.1; /* of a decay that follows the pool */

const struct optimizer_type *const optimizer_types[] = {
	&optimizer_sgd,
	&optimizer_adam,
	&optimizer_schedule_free,
	&optimizer_program,
	NULL,
};

const struct option_row optimizer_options[] = {
	{"optimizer", "kind", OPTION_CHOICE, "sgd", "sgd | adam | schedule-free | program",
		"the optimizer; program: of a net of a program's own"},
	{"optimizer", "momentum", OPTION_FLOAT, "0.9", "[0, 1)", "sgd: momentum"},
	{"optimizer", "decay", OPTION_FLOAT, "0.0001", "[0, inf) | pool",
		"weight decay, as L2 in the gradient; pool shrinks it as samples accumulate "
		"(optimizer.kappa)"},
	{"optimizer", "kappa", OPTION_FLOAT, "0.25", "(0, inf)",
		"decay = pool: kappa * inputs of a layer / samples in the pool, at most 0.1; not "
		"for biases and norms"},
	{"optimizer", "beta1", OPTION_FLOAT, "0.9", "[0, 1)",
		"adam: decay rate of the mean of gradients"},
	{"optimizer", "beta2", OPTION_FLOAT, "0.999", "[0, 1)",
		"adam: decay rate of the mean of their squares"},
	{"optimizer", "epsilon", OPTION_FLOAT, "1e-08", "(0, inf)",
		"adam: added to the root of the mean square"},
	{"optimizer", "r", OPTION_FLOAT, "8", "[0, inf)",
		"schedule-free: the average weights step k by about k to the power of r"},
	{"optimizer", "beta", OPTION_FLOAT, "0.9", "[0, 1]",
		"schedule-free: share of the average in the point where gradients are taken"},
	{NULL},
};

const char *optimizer_type_name(const struct optimizer_type *type)
{
	return type->name;
}

const char *optimizer_type_help(const struct optimizer_type *type)
{
	return type->help;
}

static const struct optimizer_type *find_type(const char *kind, struct err *err)
{
	for (size_t i = 0; optimizer_types[i]; i++)
		if (strcmp(optimizer_types[i]->name, kind) == 0)
			return optimizer_types[i];
	err_set(err, ERR_INPUT, "optimizer.kind = %s: not one of %s", kind,
		optimizer_options[0].allowed);
	return NULL;
}

struct optimizer_traits optimizer_traits(const char *kind)
{
	const struct optimizer_type *type = find_type(kind, NULL);

	assert(type);
	return (struct optimizer_traits){
		.program = type->program, .averages = type->inference != NULL};
}

int optimizer_defaults(struct optimizer_config *config, const char *kind, struct err *err)
{
	const struct optimizer_type *type = find_type(kind, err);

	if (!type)
		return ERR_INPUT;
	*config = type->defaults;
	config->kind = type->name;
	return 0;
}

void optimizer_config(struct optimizer_config *config, const struct options *options)
{
	const double decay = options_float(options, "optimizer.decay");

	*config = (struct optimizer_config){
		.kind = options_text(options, "optimizer.kind"),
		.momentum = (float)options_float(options, "optimizer.momentum"),
		.decay = isnan(decay) ? 0 : (float)decay,
		.kappa = isnan(decay) ? (float)options_float(options, "optimizer.kappa") : 0,
		.beta1 = (float)options_float(options, "optimizer.beta1"),
		.beta2 = (float)options_float(options, "optimizer.beta2"),
		.epsilon = (float)options_float(options, "optimizer.epsilon"),
		.r = (float)options_float(options, "optimizer.r"),
		.beta = (float)options_float(options, "optimizer.beta"),
	};
}

/* How many buffers a kind has. */
static int buffer_count(const struct optimizer_type *type)
{
	int count = 0;

	while (count < OPTIMIZER_BUFFERS && type->buffers[count])
		count++;
	return count;
}

int optimizer_new(struct optimizer **optimizer, const struct optimizer_config *config,
	size_t floats, struct engine *engine, struct err *err)
{
	const struct optimizer_type *type = find_type(config->kind, err);

	*optimizer = NULL;
	if (!type)
		return ERR_INPUT;
	if (type->program && !engine->vectors)
		return err_set(err, ERR_INPUT,
			"optimizer.kind = program: only a program that brings its net and keeps "
			"its vectors has one (optimizer= in Python)");
	struct optimizer *made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, "an optimizer", sizeof(*made));
	*made = (struct optimizer){
		.type = type, .config = *config, .engine = engine, .floats = floats};
	made->config.kind = type->name;
	made->count = slices_kept(engine, floats);
	for (int i = 0; i < buffer_count(type); i++) {
		const int code = vector_new(
			&made->buffers[i], engine, made->count, "an optimizer's state", err);

		if (code) {
			optimizer_free(made);
			return code;
		}
	}
	*optimizer = made;
	return 0;
}

void optimizer_free(struct optimizer *optimizer)
{
	if (!optimizer)
		return;
	for (int i = 0; i < OPTIMIZER_BUFFERS; i++)
		vector_free(optimizer->engine, optimizer->buffers[i]);
	mem_free(optimizer->segments);
	mem_free(optimizer);
}

int optimizer_segments(struct optimizer *optimizer, const struct optimizer_segment *segments,
	int count, struct err *err)
{
	struct optimizer_segment *copy;

	bool own = optimizer->config.kappa > 0;

	for (int i = 0; i < count; i++)
		own |= segments[i].frozen || segments[i].factor > 0;
	if (!own || optimizer->type->program)
		return 0;
	copy = mem_new((size_t)count, sizeof(*copy));
	if (!copy)
		return err_memory(err, "an optimizer", (size_t)count * sizeof(*copy));
	memcpy(copy, segments, (size_t)count * sizeof(*copy));
	mem_free(optimizer->segments);
	optimizer->segments = copy;
	optimizer->segment_count = count;
	return 0;
}

void optimizer_samples(struct optimizer *optimizer, int64_t samples)
{
	optimizer->samples = (double)samples;
}

/* Count floats of a slice, from `first` on, with this decay and so much of the rate. */
static void step_part(
	const struct optimizer_slice *whole, size_t first, size_t count, float decay, float factor)
{
	struct optimizer_slice slice = *whole;

	slice.count = count;
	slice.rate *= factor;
	slice.decay = decay;
	slice.params += first;
	slice.grad += first;
	for (int i = 0; i < buffer_count(slice.optimizer->type); i++)
		slice.buffers[i] += first;
	for (int i = 0; i < slice.averages.count; i++)
		slice.averages.average[i] += first;
	slice.optimizer->type->step(&slice);
}

static float segment_decay(const struct optimizer *o, const struct optimizer_segment *segment)
{
	const double decay = (double)o->config.kappa * segment->inputs / fmax(o->samples, 1);

	if (segment->frozen || !(o->config.kappa > 0))
		return segment->frozen ? 0 : o->config.decay;
	return (float)fmin(DECAY_MOST, decay);
}

static float segment_factor(const struct optimizer_segment *segment)
{
	return segment->frozen ? 0 : segment->factor > 0 ? segment->factor : 1;
}

/*
 * Part of the step of one long slice. Segments count from the first parameter, the slice from the
 * first that is stepped.
 */
static void step_range(const struct optimizer_slice *whole, size_t first, size_t end)
{
	const struct optimizer *o = whole->optimizer;

	if (!o->segments)
		step_part(whole, first, end - first, o->config.decay, 1);
	for (int i = 0; i < o->segment_count; i++) {
		const size_t begin = whole->first + first;
		const size_t next = i + 1 < o->segment_count ? o->segments[i + 1].first : o->floats;
		const size_t from = o->segments[i].first > begin ? o->segments[i].first : begin;
		const size_t to = next < whole->first + end ? next : whole->first + end;

		/* What is frozen only has its buffers filled, once; averages began as it is. */
		if (from < to && (!o->segments[i].frozen || o->steps == 1))
			step_part(whole, from - whole->first, to - from,
				segment_decay(o, &o->segments[i]), segment_factor(&o->segments[i]));
	}
}

static void step_task(void *context, int task, int worker)
{
	const struct optimizer_slice *whole = context;
	const size_t first = (size_t)task * SLICE, left = whole->count - first;

	(void)worker;
	step_range(whole, first, first + (left < SLICE ? left : SLICE));
}

void optimizer_begin(struct optimizer *optimizer)
{
	optimizer->steps++;
}

void optimizer_step_slice(struct optimizer *optimizer, float *params, const float *grad, float rate,
	const struct average_step *averages, const struct slice *slice)
{
	struct optimizer_slice whole = {.optimizer = optimizer,
		.first = slice->first,
		.params = params + slice->first,
		.grad = grad + slice->first,
		.count = slice->count,
		.rate = rate};

	if (averages)
		whole.averages = *averages;
	for (int i = 0; i < whole.averages.count; i++)
		whole.averages.average[i] += slice->at;
	for (int i = 0; i < buffer_count(optimizer->type); i++)
		whole.buffers[i] = optimizer->buffers[i] + slice->at;
	if (optimizer->engine->vectors)
		step_range(&whole, 0, whole.count);
	else
		team_run(optimizer->engine->team, (int)((slice->count + SLICE - 1) / SLICE),
			step_task, &whole);
}

void optimizer_step(struct optimizer *optimizer, float *params, const float *grad, float rate,
	const struct average_step *averages)
{
	const struct engine *engine = optimizer->engine;

	optimizer_begin(optimizer);
	for (int i = 0; i < slices_count(engine, optimizer->floats); i++) {
		const struct slice slice = slices_at(engine, optimizer->floats, i);

		optimizer_step_slice(optimizer, params, grad, rate, averages, &slice);
	}
}

void optimizer_restart(struct optimizer *optimizer)
{
	optimizer->steps = 0;
	for (int i = 0; i < buffer_count(optimizer->type); i++)
		vector_zero(optimizer->engine, optimizer->buffers[i], optimizer->count);
}

const float *optimizer_buffer(const struct optimizer *optimizer, const char *name)
{
	for (int i = 0; i < buffer_count(optimizer->type); i++)
		if (strcmp(optimizer->type->buffers[i], name) == 0)
			return optimizer->buffers[i];
	return NULL;
}

const float *optimizer_inference(const struct optimizer *optimizer)
{
	const char *name = optimizer->type->inference;

	/* Buffers are filled by the first step. */
	return name && optimizer->steps ? optimizer_buffer(optimizer, name) : NULL;
}

double optimizer_approach(const struct optimizer *optimizer)
{
	return optimizer_inference(optimizer) ? optimizer->type->approach(optimizer) : 1;
}

void optimizer_state(struct optimizer *optimizer, struct state *state)
{
	state_same(state, "kind", optimizer->type->name);
	state_uint64(state, "steps", &optimizer->steps);
	for (int i = 0; i < buffer_count(optimizer->type); i++)
		slices_state(optimizer->engine, state, optimizer->type->buffers[i],
			optimizer->buffers[i], optimizer->floats);
}
