/* NOW and EVER: asks the slow net and the parts, and mixes their answers by weight. */
#include <math.h>
#include <string.h>

#include "learn/parts/gist_features.h"
#include "learn/parts/parts.h"
#include "nn/ops.h"

/* Probabilities must not show which label was known: its own would be rounded otherwise. */
void parts_softmax(struct parts *parts, const struct part_samples *samples, float *logits)
{
	const struct ops *ops = samples->view->engine->ops;
	const int n = samples->n;
	float unused[PART_CHUNK];

	if (samples->labels)
		ops->softmax_loss(logits, parts->mix.classes, target_classes(samples->labels), NULL,
			n, parts->losses, NULL);
	parts_probabilities(ops, parts->mix.classes, logits, parts->none, parts->ones, n,
		samples->labels ? unused : parts->losses);
}

/* The kernel's gradient is the probabilities but for the label's, which is less by 1. */
void parts_probabilities(const struct ops *ops, int classes, float *logits, const int32_t *labels,
	const float *ones, int n, float *losses)
{
	ops->softmax_loss(logits, classes, labels, ones, n, losses, logits);
	for (int i = 0; i < n; i++)
		logits[(size_t)i * (size_t)classes + (size_t)labels[i]] += 1;
}

bool parts_heard(const struct parts *parts, const struct part_samples *samples)
{
	const size_t size = (size_t)samples->n * samples->view->floats * sizeof(float);

	return parts->heard.n == samples->n && parts->heard.late == parts->mix.late &&
	       parts->heard.version == samples->view->version &&
	       !memcmp(parts->heard.inputs, samples->inputs, size) &&
	       (!parts->heard.raw ||
		       (samples->raw && !memcmp(parts->heard.raw, samples->raw, size)));
}

void parts_hear(struct parts *parts, const struct part_samples *samples)
{
	const size_t size = (size_t)samples->n * samples->view->floats * sizeof(float);

	if (!parts->heard.inputs)
		return;
	memcpy(parts->heard.inputs, samples->inputs, size);
	if (parts->heard.raw)
		memcpy(parts->heard.raw, samples->raw, size);
	parts->heard.n = samples->n;
	parts->heard.late = parts->mix.late;
	parts->heard.version = samples->view->version;
}

int parts_look(struct parts *parts, struct part_samples *samples, float *logits, struct err *err)
{
	const struct part_view *view = samples->view;

	samples->features = parts->features;
	samples->slow = parts->slow;
	parts->heard.n = 0;
	return runner_features(view->runner, view->params, view->stats, samples->inputs, samples->n,
		logits, parts->features, err);
}

void parts_glance(struct parts *parts, struct part_samples *samples)
{
	const struct picture_shape shape = gist_shape(samples->view->net);

	if (!parts->gist)
		return;
	parts->heard.n = 0;
	gist_rows(&shape, samples->view->engine->team, samples->inputs, samples->n, parts->gist);
	samples->gist = parts->gist;
}

void parts_now_weights(const struct parts *parts, double weights[MIX_MODELS])
{
	mix_weights(&parts->mix, weights);
	for (int i = 0; i < parts->mix.count && parts->config.alone; i++)
		weights[i] = i == parts->config.alone;
}

bool parts_know_ever(const struct beside *beside)
{
	const struct parts *parts = parts_of(beside);
	bool know = false;

	for (int i = 1; i <= parts->count; i++)
		know = know || parts->models[i].part->type->share > 0;
	return know;
}

void parts_fill_rows(struct parts *parts, const struct part_samples *samples)
{
	const size_t floats = samples->view->floats;

	for (int i = 0; i < samples->n; i++) {
		float *row = parts->rows + (size_t)i * (floats + 1);

		memcpy(row, samples->inputs + (size_t)i * floats, floats * sizeof(*row));
		row[floats] = 1;
	}
}

struct asking_rows {
	const struct part *part;
	const float *rows;
	size_t width, classes;
	float *probabilities;
};

static void ask_row(void *context, int task, int worker)
{
	const struct asking_rows *a = context;

	(void)worker;
	a->part->type->ask(a->part, a->rows + (size_t)task * a->width,
		a->probabilities + (size_t)task * a->classes);
}

int parts_answer(struct parts *parts, int model, const struct part_samples *samples, float *answers,
	struct err *err)
{
	struct part *part = parts->models[model].part;
	struct asking_rows asking = {
		part, parts->rows, samples->view->floats + 1, (size_t)parts->mix.classes, answers};

	int code = 0;

	if (part->type->answer) {
		code = part->type->answer(part, parts->models[model].model, samples, answers, err);
	} else {
		parts_fill_rows(parts, samples);
		team_run(samples->view->engine->team, samples->n, ask_row, &asking);
	}
	if (!code && part->type->logits)
		parts_softmax(parts, samples, answers);
	else if (!code && samples->labels)
		for (int i = 0; i < samples->n; i++)
			parts->losses[i] =
				-logf(answers[i * parts->mix.classes + samples->labels[i].class]);
	return code;
}

/* A chunk that is asked about: by which weights (NULL: by class), and where answers are gathered. */
struct asking {
	struct part_samples samples;
	const double *weights;
	bool pool; /* what models say is pooled, not added up by weights */
	bool ever;
	float *sum;
};

/* Models without a weight are not computed. */
static bool counts(const struct parts *parts, const struct asking *a, int model)
{
	if (!a->ever && !mix_answers(&parts->mix, model))
		return false;
	return a->pool || !a->weights || a->weights[model] > 0 ||
	       (!model && mix_prior_weight(&parts->mix, a->weights) > 0);
}

static void gather(
	struct parts *parts, const struct asking *a, int model, const float *probabilities)
{
	if (a->pool)
		mix_say(&parts->mix, &parts->mix.said, model, probabilities, a->samples.n);
	else
		mix_gather(&parts->mix, a->weights, model, probabilities, a->samples.n, a->sum);
}

static int ask_slow(struct parts *parts, struct asking *a, struct err *err)
{
	const int n = a->samples.n;
	int code;

	if (!counts(parts, a, 0) && !parts->features)
		return 0;
	learner_tell(a->samples.view->learner, LEARNER_PREDICT, n);
	code = parts_look(parts, &a->samples, parts->slow, err);
	if (code)
		return code;
	parts_softmax(parts, &a->samples, parts->slow);
	mix_look(&parts->mix, parts->slow, n);
	gather(parts, a, 0, parts->slow);
	return 0;
}

static int ask_part(struct parts *parts, const struct asking *a, int model, struct err *err)
{
	int code;

	if (!counts(parts, a, model))
		return 0;
	code = parts_answer(parts, model, &a->samples, parts->logits, err);
	if (!code)
		gather(parts, a, model, parts->logits);
	return code;
}

static int ask_chunk(struct parts *parts, struct asking *a, struct err *err)
{
	int code;

	parts_glance(parts, &a->samples);
	code = ask_slow(parts, a, err);
	for (int i = 1; i <= parts->count && !code; i++)
		code = ask_part(parts, a, i, err);
	if (!code && a->pool) {
		parts_hear(parts, &a->samples);
		mix_pool_answer(&parts->mix, &parts->mix.said, a->samples.n, a->sum);
	}
	if (!code && !a->ever)
		mix_guard(&parts->mix, a->samples.n, a->sum);
	return code;
}

/* If one model has all the weight, its logits are the answer: nothing is mixed. */
static int ask_alone(struct parts *parts, struct asking *a, int model, struct err *err)
{
	struct part *part = parts->models[model].part;
	int code = 0;

	if (!part || parts->features) {
		learner_tell(a->samples.view->learner, LEARNER_PREDICT, a->samples.n);
		code = parts_look(parts, &a->samples, a->sum, err);
	}
	if (!code && part)
		code = part->type->answer(
			part, parts->models[model].model, &a->samples, a->sum, err);
	if (!code)
		mix_sound(&parts->mix, a->sum, a->samples.n);
	return code;
}

/* The model that answers alone, and has logits; -1: several are mixed. */
static int alone(const struct parts *parts, const double weights[MIX_MODELS])
{
	const int model = mix_alone(&parts->mix, weights);
	const struct part *part = model > 0 ? parts->models[model].part : NULL;

	return part && !part->type->logits ? -1 : model;
}

int parts_predict(struct beside *beside, const struct part_view *view, int question,
	const float *inputs, const float *raw, int n, float *logits, struct err *err)
{
	struct parts *parts = parts_of(beside);
	const bool ever = question == LEARNER_EVER;
	const size_t classes = (size_t)parts->mix.classes;
	const bool by_class = parts->mix.config.by_class && !ever;
	const bool pool = parts->mix.config.pool && !ever;
	double now[MIX_MODELS];
	const double *weights = ever ? parts->ever : now;
	int code = 0, one;

	parts->mix.late = question != LEARNER_NEXT;
	if (!pool)
		parts_now_weights(parts, now);
	one = ever || by_class || pool ? -1 : alone(parts, weights);
	memset(logits, 0, (size_t)n * classes * sizeof(*logits));
	for (int at = 0; at < n && !code; at += PART_CHUNK) {
		struct asking asking = {.samples = {.view = view,
						.inputs = inputs + (size_t)at * view->floats,
						.raw = raw + (size_t)at * view->floats,
						.n = n - at < PART_CHUNK ? n - at : PART_CHUNK},
			.weights = by_class ? NULL : weights,
			.pool = pool,
			.ever = ever,
			.sum = logits + (size_t)at * classes};

		/* Labels of the chunk before it are not known yet. */
		if (at && !parts->mix.late) {
			parts->mix.late = true;
			if (!pool)
				parts_now_weights(parts, now);
		}
		code = one < 0 ? ask_chunk(parts, &asking, err)
			       : ask_alone(parts, &asking, one, err);
	}
	if (code || one >= 0)
		return code;
	mix_log(&parts->mix, logits, n);
	return 0;
}
