/*
 * How parts learn. All are scored by their answers before they saw the labels; then they learn;
 * then the mixture adds the scores to its records.
 */
#include <string.h>

#include "learn/extras/extra.h"
#include "learn/parts/parts.h"
#include "nn/rank.h"

/*
 * The mixture takes what a model says of n samples, before it learns from them: its losses, which
 * stand in the buffer, and its probabilities, which fast weights give only where there is a guard.
 */
static void take_answer(struct parts *parts, int model, const float *probabilities, int n)
{
	const struct mix *mix = &parts->mix;

	if (!mix->config.pool)
		mix_score(&parts->mix, model, parts->losses, n);
	if (mix->config.pool)
		mix_say(&parts->mix, &parts->mix.said, model, probabilities, n);
	else if (parts->mixed)
		mix_gather(mix, mix->config.by_class ? NULL : parts->weights, model, probabilities,
			n, parts->mixed);
	if (parts->answer && parts->ever[model] > 0)
		mix_gather(mix, parts->ever, model, probabilities, n, parts->answer);
}

void part_scored(struct part_lesson *lesson, const struct part *part, int model)
{
	struct parts *parts = lesson->parts;
	const struct part_samples *samples = &lesson->samples;
	int i = 1;

	while (parts->models[i].part != part || parts->models[i].model != model)
		i++;
	if (lesson->mixes)
		parts_softmax(parts, samples, parts->logits);
	take_answer(parts, i, parts->logits, samples->n);
}

int part_look_behind(struct part_lesson *lesson, int n, struct err *err)
{
	const struct part_view *view = lesson->samples.view;
	struct parts *parts = lesson->parts;
	const size_t at = (size_t)lesson->samples.n;

	return runner_features(view->runner, view->params, view->stats,
		parts->inputs + at * view->floats, n, parts->logits,
		parts->features + at * parts->width, err);
}

int part_recent(struct part_lesson *lesson, int recent, struct err *err)
{
	const struct part_view *view = lesson->samples.view;
	struct parts *parts = lesson->parts;
	const int n = lesson->samples.n;
	int code;

	if (!learner_recent(view->learner, recent, parts->ids))
		return n;
	code = learner_fetch_all(view->learner, parts->ids, recent,
		parts->inputs + (size_t)n * view->floats, parts->labels + n, err);
	if (!code && parts->features) {
		learner_tell(view->learner, LEARNER_FAST_FORWARD, recent);
		code = part_look_behind(lesson, recent, err);
	}
	return code ? code : n + recent;
}

/* They were asked about just now, and nothing has changed since. */
static void recall(struct parts *parts, struct part_samples *samples, int *hits)
{
	samples->features = parts->features;
	samples->slow = parts->slow;
	samples->gist = parts->gist;
	for (int i = 1; i < parts->mix.count; i++)
		if (!mix_answers(&parts->mix, i))
			mix_pass(&parts->mix, i, samples->n);
	*hits += rank_hits(
		parts->slow, parts->mix.classes, target_classes(samples->labels), samples->n);
}

static int score_slow(struct parts *parts, struct part_samples *samples, int *hits, struct err *err)
{
	const int n = samples->n, classes = parts->mix.classes;
	const int code = parts_look(parts, samples, parts->slow, err);

	if (code)
		return code;
	if (!parts->answer)
		*hits += rank_hits(parts->slow, classes, target_classes(samples->labels), n);
	parts_softmax(parts, samples, parts->slow);
	mix_look(&parts->mix, parts->slow, n);
	mix_score_prior(&parts->mix, parts->slow, target_classes(samples->labels), n);
	take_answer(parts, 0, parts->slow, n);
	return 0;
}

/* All that do not score themselves; and how often the answer about ever is right. */
static int score(struct parts *parts, struct part_samples *samples, int *hits, struct err *err)
{
	const size_t size = (size_t)samples->n * (size_t)parts->mix.classes * sizeof(float);
	int code;

	learner_tell(samples->view->learner, LEARNER_FAST_FORWARD, samples->n);
	if (parts_heard(parts, samples)) {
		recall(parts, samples, hits);
		return 0;
	}
	if (parts->mixed) {
		memset(parts->mixed, 0, size);
		parts_now_weights(parts, parts->weights);
	}
	if (parts->answer)
		memset(parts->answer, 0, size);
	parts_glance(parts, samples);
	code = score_slow(parts, samples, hits, err);
	for (int i = 1; i <= parts->count && !code; i++) {
		if (parts->models[i].part->type->scores)
			continue;
		if (!mix_answers(&parts->mix, i)) {
			mix_pass(&parts->mix, i, samples->n);
			continue;
		}
		code = parts_answer(parts, i, samples, parts->logits, err);
		take_answer(parts, i, parts->logits, samples->n);
	}
	if (!code && parts->answer)
		*hits += rank_hits(parts->answer, parts->mix.classes,
			target_classes(samples->labels), samples->n);
	return code;
}

static int learn_part(struct part *part, struct part_lesson *lesson, struct err *err)
{
	const struct part_samples *samples = &lesson->samples;

	if (part->type->learn)
		return part->type->learn(part, lesson, err);
	parts_fill_rows(lesson->parts, samples);
	for (int i = 0; i < samples->n; i++)
		part->type->add(part, lesson->parts->rows + (size_t)i * (samples->view->floats + 1),
			samples->labels[i].class);
	if (part->type->settle)
		part->type->settle(part);
	return 0;
}

static void tell_macs(const struct parts *parts, const struct part_samples *samples)
{
	double macs = 0;

	for (int i = 0; i < PART_TYPES; i++)
		if (parts->list[i] && part_types[i]->macs)
			macs += part_types[i]->macs(parts->list[i]);
	if (macs > 0)
		learner_tell_macs(samples->view->learner, samples->n * macs);
}

static void tell_lead(const struct parts *parts, const struct part_view *view)
{
	const struct mix *mix = &parts->mix;
	struct learner_lead lead = {.models = mix->count, .lead = mix->lead};

	for (int i = 1; i <= parts->count; i++) {
		const struct part_type *type = parts->models[i].part->type;

		lead.names[i] = type->names ? type->names[parts->models[i].model] : type->word;
	}
	if (mix->config.prior > 0)
		lead.names[mix->count - 1] = "prior";
	mix_weights(mix, lead.weights);
	learner_tell_lead(view->learner, &lead);
}

static int learn_chunk(
	struct parts *parts, struct part_samples *samples, int *hits, struct err *err)
{
	struct part_lesson lesson = {.samples = *samples,
		.parts = parts,
		.losses = parts->losses,
		.logits = parts->logits,
		.mixes = parts->mixed || parts->mix.config.pool};
	int code = score(parts, &lesson.samples, hits, err);

	tell_macs(parts, samples);
	for (int i = 0; i < PART_TYPES && !code; i++)
		if (parts->list[i])
			code = learn_part(parts->list[i], &lesson, err);
	if (code)
		return code;
	if (parts->mixed && parts->mix.config.pool)
		mix_pool_answer(&parts->mix, &parts->mix.said, samples->n, parts->mixed);
	if (parts->mixed)
		mix_score_guesses(
			&parts->mix, parts->mixed, target_classes(samples->labels), samples->n);
	parts->heard.n = 0;
	if (mix_reveal(&parts->mix, target_classes(samples->labels), samples->n))
		tell_lead(parts, samples->view);
	return 0;
}

/* A chunk must be in the buffers if its inputs are in the store, or if recent ones join it. */
static int fill_chunk(struct parts *parts, struct part_samples *samples, struct err *err)
{
	const struct part_view *view = samples->view;
	const int n = samples->n;
	int code = 0;

	samples->raw = samples->inputs;
	if (!samples->inputs && parts->raw)
		code = learner_unscaled(
			view->learner, samples->first, n, parts->raw, &samples->raw, err);
	if (samples->inputs)
		code = learner_scaled(view->learner, &samples->inputs, n, err);
	if (code || (samples->inputs && parts->room == PART_CHUNK))
		return code;
	for (int i = 0; i < n; i++)
		parts->ids[i] = samples->first + i;
	if (samples->inputs)
		memcpy(parts->inputs, samples->inputs, (size_t)n * view->floats * sizeof(float));
	else
		code = learner_fetch_all(
			view->learner, parts->ids, n, parts->inputs, parts->labels, err);
	memcpy(parts->labels, samples->labels, (size_t)n * sizeof(*parts->labels));
	samples->inputs = parts->inputs;
	samples->labels = parts->labels;
	return code;
}

int parts_learn(struct beside *beside, const struct part_view *view,
	const struct learner_step *step, struct err *err)
{
	struct parts *parts = parts_of(beside);
	const int n = step->n;
	int hits = 0, code = 0;

	for (int at = 0; at < n && !code; at += PART_CHUNK) {
		struct part_samples samples = {.view = view,
			.inputs = step->inputs ? step->inputs + (size_t)at * view->floats : NULL,
			.first = step->first + at,
			.labels = step->labels + at,
			.n = n - at < PART_CHUNK ? n - at : PART_CHUNK};

		/* As it was asked: with the labels of steps before, not of chunks. */
		parts->mix.late = step->late || at;
		code = fill_chunk(parts, &samples, err);
		if (!code)
			code = learn_chunk(parts, &samples, &hits, err);
	}
	if (code)
		return code;
	parts->steps++;
	parts->slow_hits += (double)hits / n;
	return 0;
}

/* A runner makes its plans for a size when it first sees it: so it is shown some zeros. */
static int make_ready(struct parts *parts, const struct part_view *view, int n, struct err *err)
{
	struct part_lesson lesson = {.samples = {.view = view,
					     .inputs = parts->inputs,
					     .raw = parts->raw,
					     .labels = parts->labels,
					     .n = n},
		.parts = parts,
		.losses = parts->losses,
		.logits = parts->logits,
		.mixes = parts->mixed || parts->mix.config.pool};
	int code;

	if (parts->ready[n])
		return 0;
	memset(parts->inputs, 0, (size_t)parts->room * view->floats * sizeof(float));
	memset(parts->labels, 0, (size_t)parts->room * sizeof(*parts->labels));
	code = parts_look(parts, &lesson.samples, parts->logits, err);
	for (int i = 0; i < PART_TYPES && !code; i++)
		if (parts->list[i] && part_types[i]->ready)
			code = part_types[i]->ready(parts->list[i], &lesson, err);
	parts->ready[n] = !code;
	return code;
}

int parts_ready(struct beside *beside, const struct part_view *view, int n, struct err *err)
{
	struct parts *parts = parts_of(beside);
	int code = n >= PART_CHUNK ? make_ready(parts, view, PART_CHUNK, err) : 0;

	if (!code && n % PART_CHUNK)
		code = make_ready(parts, view, n % PART_CHUNK, err);
	for (int i = 0; i < PART_TYPES && !code; i++)
		if (parts->list[i] && part_types[i]->reserve)
			code = part_types[i]->reserve(parts->list[i], n, err);
	return code;
}
