/* The table of losses, their keys, and their common part: rows for a batch's samples. */
#include "learn/losses/loss.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner.h"
#include "learn/losses/loss_impl.h"

const struct loss_type *const loss_types[] = {&loss_cross_entropy, &loss_smooth, &loss_ace,
	&loss_der, &loss_distill, &loss_ewc, &loss_huber, &loss_squared, &loss_absolute,
	&loss_quantile, &loss_program, NULL};

const struct option_row loss_options[] = {
	{"loss", "kind", OPTION_CHOICE, "cross-entropy",
		"cross-entropy | smooth | ace | der | distill | ewc | huber | squared | "
		"absolute | quantile | program",
		"the loss (see retain list); for numbers huber unless set"},
	{"loss", "quantile", OPTION_FLOAT, "0.5", "(0, 1)",
		"quantile: share of values that are to lie below the answer"},
	{"loss", "smoothing", OPTION_FLOAT, "0.1", "[0, 1)",
		"smooth: share of a label's probability that is spread over all classes"},
	{"loss", "alpha", OPTION_FLOAT, "0.1", "[0, inf)",
		"der: weight of the distance to stored logits"},
	{"loss", "beta", OPTION_FLOAT, "0.5", "[0, inf)",
		"der: weight of the cross-entropy of replayed samples"},
	{"loss", "distill", OPTION_FLOAT, "1", "[0, inf)",
		"distill: weight of the divergence from the average"},
	{"loss", "temperature", OPTION_FLOAT, "2", "(0, inf)", "distill: divisor of the logits"},
	{"loss", "hold", OPTION_FLOAT, "100", "[0, inf)",
		"ewc: penalty on changes of important weights"},
	{"loss", "hold_samples", OPTION_INT, "128", "[1, 65536]",
		"ewc: samples of a task used to estimate the importance of weights"},
	{0},
};

static const struct loss_type *type_of(const struct options *options)
{
	const char *kind = options_text(options, "loss.kind");

	for (size_t i = 0; loss_types[i]; i++)
		if (!strcmp(loss_types[i]->name, kind))
			return loss_types[i];
	return NULL;
}

int loss_check_target(const struct options *options, struct err *err)
{
	const struct loss_type *type = type_of(options);
	const char *target = options_text(options, "model.target");

	if (!type)
		return err_set(err, ERR_INPUT, "loss.kind = %.100s: not one of %s",
			options_text(options, "loss.kind"), loss_options[0].allowed);
	if (type->target == target_kind(target))
		return 0;
	if (options_origin(options, "loss.kind") == ORIGIN_FOLDER &&
		options_origin(options, "model.target") == ORIGIN_CALL)
		return err_set(err, ERR_INPUT,
			"model.target = %s: the folder has learned a %s, and goes on with it; "
			"leave --target out, or begin another folder",
			target, target_types[type->target]->name);
	return err_set(err, ERR_INPUT,
		"loss.kind = %s: is for targets that are a %s; leave it out, or set model.target = "
		"%s",
		type->name, target_types[type->target]->name, target_types[type->target]->name);
}

int loss_check(const struct learner_config *config, struct err *err)
{
	const struct loss_type *type = type_of(config->options);

	return type->check ? type->check(config, err) : 0;
}

int loss_new(struct loss **loss, const struct loss_view *view, struct err *err)
{
	const struct loss_type *type = type_of(view->options);
	struct loss *made;
	int code;

	*loss = NULL;
	assert(type);
	made = mem_new(1, type->size);
	if (!made)
		return err_memory(err, "a loss", type->size);
	made->type = type;
	made->sample.value = type->value;
	made->sample.target = type->target;
	made->sample.width = target_width(view->options);
	made->batch = view->batch;
	made->weights.classes = 1;
	code = loss_classes(made, net_spec(view->net)->classes, err);
	if (!code && type->begin)
		code = type->begin(made, view, err);
	if (code)
		loss_free(made);
	else
		*loss = made;
	return code;
}

void loss_free(struct loss *loss)
{
	if (!loss)
		return;
	if (loss->type->end)
		loss->type->end(loss);
	kept_release(&loss->weights);
	mem_free(loss->rows);
	mem_free(loss->sample.rows);
	mem_free(loss);
}

/* Rows mean nothing between iterations. */
static int grow(float **rows, size_t floats, struct err *err)
{
	float *more = mem_resize(*rows, floats, sizeof(*more));

	if (!more)
		return err_memory(err, "a loss", floats * sizeof(*more));
	*rows = more;
	return 0;
}

int loss_classes(struct loss *loss, int classes, struct err *err)
{
	const size_t floats = (size_t)loss->batch * (size_t)classes;
	int code = 0;

	if (classes <= loss->classes || !loss->type->value)
		return 0;
	code = grow(&loss->sample.rows, 2 * floats, err);
	if (!code && loss->type->rows)
		code = grow(&loss->rows, (size_t)loss->type->rows * floats, err);
	if (!code && loss->type->classes)
		code = loss->type->classes(loss, classes, err);
	if (!code)
		loss->classes = classes;
	return code;
}

int loss_ready(struct loss *loss, const struct loss_view *view, const float *weights, int n,
	struct err *err)
{
	const int code = weights ? kept_reserve(&loss->weights, n, err) : 0;

	return code || !loss->type->ready ? code : loss->type->ready(loss, view, n, err);
}

int loss_end_task(
	struct loss *loss, const struct loss_view *view, int64_t task, int64_t end, struct err *err)
{
	return loss->type->end_task ? loss->type->end_task(loss, view, task, end, err) : 0;
}

int loss_revealed(struct loss *loss, const struct loss_view *view, int64_t first,
	const float *inputs, const float *weights, int n, struct err *err)
{
	for (int i = 0; weights && i < n; i++)
		if (weights[i] != 1)
			*kept_put(&loss->weights, first + i) = weights[i];
	return loss->type->revealed ? loss->type->revealed(loss, view, first, inputs, n, err) : 0;
}

float loss_weight(const struct loss *loss, int64_t id)
{
	const float *weight = loss->weights.count ? kept_find(&loss->weights, id) : NULL;

	return weight ? *weight : 1;
}

void loss_weigh(const struct loss *loss, const int64_t *ids, float *weights, int n)
{
	double before = 0, after = 0;

	if (!loss->weights.count)
		return;
	for (int i = 0; i < n; i++) {
		const float *weight = kept_find(&loss->weights, ids[i]);

		before += (double)weights[i];
		weights[i] *= weight ? *weight : 1;
		after += (double)weights[i];
	}
	for (int i = 0; i < n && after > 0; i++)
		weights[i] = (float)((double)weights[i] * (before / after));
}

void loss_forget(struct loss *loss, int64_t id)
{
	kept_drop(&loss->weights, id);
	if (loss->type->forget)
		loss->type->forget(loss, id);
}

const struct sample_loss *loss_to_score(struct loss *loss, const struct loss_view *view)
{
	loss->sample.classes = net_spec(view->net)->classes;
	return loss->type->target == TARGET_NUMBER ? &loss->sample : NULL;
}

int loss_batch(struct loss *loss, const struct loss_view *view, const int64_t *ids,
	struct runner_batch *batch, struct err *err)
{
	if (!loss->type->value && !loss->type->program)
		return 0;
	loss->sample.classes = net_spec(view->net)->classes;
	batch->loss = &loss->sample;
	return loss->type->batch ? loss->type->batch(loss, view, ids, batch, err) : 0;
}

double loss_held(const struct loss *loss, const struct loss_view *view)
{
	return loss->type->held ? loss->type->held(loss, view) : 0;
}

void loss_hold(const struct loss *loss, const float *params, float *grad, const struct slice *slice)
{
	if (loss->type->hold)
		loss->type->hold(loss, params, grad, slice);
}

double loss_price(const struct loss *loss, const struct net *net)
{
	return loss->type->price ? loss->type->price(loss, net) : 0;
}

/* Fields that most learners lack are not visited. */
static void weights_state(struct kept *weights, struct state *state)
{
	bool weighs = weights->count > 0;

	if (state_version(state) < 12)
		return;
	state_bool(state, "weighs_samples", &weighs);
	if (weighs)
		kept_state(weights, state);
}

void loss_state(struct loss *loss, struct state *state)
{
	weights_state(&loss->weights, state);
	if (!loss->type->state)
		return;
	state_enter(state, "loss");
	state_same(state, "kind", loss->type->name);
	loss->type->state(loss, state);
	state_leave(state);
}

const char *loss_type_name(const struct loss_type *type)
{
	return type->name;
}

const char *loss_type_help(const struct loss_type *type)
{
	return type->help;
}

bool loss_type_program(const struct loss_type *type)
{
	return type->program;
}

enum target_kind loss_type_target(const struct loss_type *type)
{
	return type->target;
}
