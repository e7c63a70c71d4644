/*
 * The models of learn/numbers/numbers.h for targets of several numbers, as they stand beside a slow
 * net: an independent set for each number, which share only the net's features. Beyond WHOLE numbers
 * the expensive kinds are left out, so that a row of 64 numbers costs no more than a few rows of one.
 *
 * The slow net looks at samples first, chunk by chunk, for its values and for what its last layer
 * sees. Inputs by number are split for the models, and answers merged: they are (n, width,
 * NUMBER_OUTPUTS), the slow net's values and labels (n, width).
 */
#include <string.h>

#include "base/mem.h"
#include "learn/beside.h"
#include "learn/extras/extra.h"
#include "learn/numbers/numbers.h"
#include "learn/parts/part.h"

enum { CHUNK = PART_CHUNK, WHOLE = 8 };

struct several {
	struct beside beside;
	int width;
	struct numbers *each[TARGET_WIDTH];
	/* A copy has none of these. */
	float *features;       /* [CHUNK][net_features] */
	float *outputs;        /* [CHUNK][width][NUMBER_OUTPUTS] */
	float *raw;            /* [CHUNK][floats]: samples of the store */
	float *slow;           /* [CHUNK][width] */
	union target *labels;  /* [CHUNK][width] */
	bool ready[CHUNK + 1]; /* the runner has plans for so many samples */
};

static struct several *several_of(const struct beside *beside)
{
	return (struct several *)beside;
}

static bool wanted(const struct options *options)
{
	return !strcmp(options_text(options, "fast.heads"), "numbers");
}

static int check(const struct learner_config *config, struct err *err)
{
	const char *parts = options_text(config->options, "fast.parts");
	const char *heads = options_text(config->options, "fast.heads");

	if (strcmp(parts, "none") != 0)
		return err_set(err, ERR_INPUT,
			"fast.parts = %s: fast weights are for classes; with model.target = number "
			"set it to none",
			parts);
	if (!wanted(config->options) && strcmp(heads, "none") != 0)
		return err_set(err, ERR_INPUT,
			"fast.heads = %.100s: with model.target = number there is only: numbers, "
			"or none",
			heads);
	return 0;
}

static void end(struct beside *beside)
{
	struct several *several = several_of(beside);

	for (int k = 0; k < several->width; k++)
		numbers_free(several->each[k]);
	mem_free(several->features);
	mem_free(several->outputs);
	mem_free(several->raw);
	mem_free(several->slow);
	mem_free(several->labels);
	mem_free(several);
}

static struct several *make_empty(int width, struct err *err)
{
	struct several *made = mem_new(1, sizeof(*made));

	if (made)
		*made = (struct several){.beside.type = &beside_numbers, .width = width};
	else
		err_memory(err, "models of numbers", sizeof(*made));
	return made;
}

static int make_models(struct several *made, const struct options *o, const struct part_view *view,
	struct err *err)
{
	int code = 0;

	for (int k = 0; k < made->width && !code; k++)
		code = numbers_new(&made->each[k],
			&(struct numbers_config){.floats = view->floats,
				.features = (size_t)net_features(view->net),
				.seed = (uint64_t)options_int64(o, "run.seed") + (uint64_t)k,
				.coverage = options_float(o, "model.coverage"),
				.ops = view->engine->ops,
				.lean = made->width > WHOLE},
			err);
	return code;
}

static int make(struct beside **beside, const struct part_view *view, struct err *err)
{
	const int width = target_width(view->options);
	const size_t cells = CHUNK * (size_t)width, floats = CHUNK * view->floats;
	struct several *made;
	int code;

	if (!wanted(view->options))
		return 0;
	made = make_empty(width, err);
	if (!made)
		return ERR_MEMORY;
	code = make_models(made, view->options, view, err);
	if (!code && !((made->features = mem_new(
				CHUNK * (size_t)net_features(view->net), sizeof(float))) &&
			     (made->outputs = mem_new(cells * NUMBER_OUTPUTS, sizeof(float))) &&
			     (made->raw = mem_new(floats, sizeof(float))) &&
			     (made->slow = mem_new(cells, sizeof(float))) &&
			     (made->labels = mem_new(cells, sizeof(*made->labels)))))
		code = err_memory(err, "models of numbers", floats * sizeof(float));
	if (code)
		end(&made->beside);
	else
		*beside = &made->beside;
	return code;
}

static void restart(struct beside *beside)
{
	for (int k = 0; k < several_of(beside)->width; k++)
		numbers_restart(several_of(beside)->each[k]);
}

/* The samples for the models of number k. */
static struct numbers_samples samples_of(
	const struct numbers_samples *samples, int width, int k, float *slow)
{
	struct numbers_samples one = *samples;

	for (int i = 0; i < samples->n; i++)
		slow[i] = samples->slow[(ptrdiff_t)i * width + k];
	one.slow = slow;
	if (one.said)
		one.said += (ptrdiff_t)k * NUMBER_OUTPUTS;
	return one;
}

/* `mine`: on the learning thread, for models that will learn these samples. */
static void answer(const struct several *several, const struct numbers_samples *samples, bool mine,
	float *answers)
{
	float slow[CHUNK], said[CHUNK * NUMBER_OUTPUTS];

	for (int k = 0; k < several->width; k++) {
		const struct numbers_samples one = samples_of(samples, several->width, k, slow);

		if (mine)
			numbers_ask(several->each[k], &one, said);
		else
			numbers_answer(several->each[k], &one, said);
		for (int i = 0; i < samples->n; i++)
			memcpy(answers + ((ptrdiff_t)i * several->width + k) * NUMBER_OUTPUTS,
				said + (ptrdiff_t)i * NUMBER_OUTPUTS,
				NUMBER_OUTPUTS * sizeof(*said));
	}
}

static void teach(
	struct several *several, const struct numbers_samples *samples, const union target *labels)
{
	const int width = several->width;
	union target mine[CHUNK];
	float slow[CHUNK];

	for (int k = 0; k < width; k++) {
		const struct numbers_samples one = samples_of(samples, width, k, slow);

		for (int i = 0; i < samples->n; i++)
			mine[i] = labels[(ptrdiff_t)i * width + k];
		numbers_learn(several->each[k], &one, mine);
	}
}

/* What the slow net makes of at most a chunk of inputs, unscaled and scaled. */
static int look(struct several *several, const struct part_view *view, const float *raw,
	const float *inputs, int n, struct numbers_samples *samples, struct err *err)
{
	struct number_scales scales;
	const int code = runner_features(view->runner, view->params, view->stats, inputs, n,
		several->outputs, several->features, err);

	if (code)
		return code;
	learner_number_scales(view->learner, &scales);
	number_unscale(&scales, several->outputs, n);
	for (int i = 0; i < n * scales.width; i++)
		several->slow[i] = several->outputs[i * NUMBER_OUTPUTS + NUMBER_VALUE];
	*samples = (struct numbers_samples){inputs, raw, several->features, several->slow, n};
	return 0;
}

static int predict(struct beside *beside, const struct part_view *view, int question,
	const float *inputs, const float *raw, int n, float *answers, struct err *err)
{
	struct several *several = several_of(beside);
	struct numbers_samples samples;
	int code = 0;

	(void)question;
	for (int at = 0; at < n && !code; at += CHUNK) {
		const int count = n - at < CHUNK ? n - at : CHUNK;
		const size_t first = (size_t)at * view->floats;

		learner_tell(view->learner, LEARNER_PREDICT, count);
		code = look(several, view, raw + first, inputs + first, count, &samples, err);
		if (!code)
			answer(several, &samples, true,
				answers + (ptrdiff_t)at * several->width * NUMBER_OUTPUTS);
	}
	return code;
}

/* A runner makes its plans for a size when it first sees it: so it is shown some zeros, once. */
static int ready(struct beside *beside, const struct part_view *view, int n, struct err *err)
{
	struct several *several = several_of(beside);
	const int sizes[] = {n < CHUNK ? n : CHUNK, n > CHUNK ? n % CHUNK : 0};
	struct numbers_samples samples;
	int code = 0;

	for (int k = 0; k < several->width && !code; k++)
		code = numbers_reserve(several->each[k], sizes[0], err);
	several->ready[0] = true;
	for (int i = 0; i < 2 && !code; i++)
		if (!several->ready[sizes[i]]) {
			memset(several->raw, 0, CHUNK * view->floats * sizeof(float));
			code = look(
				several, view, several->raw, several->raw, sizes[i], &samples, err);
			several->ready[sizes[i]] = !code;
		}
	return code;
}

/* Inputs of the store come as they are kept; those of other processes only scaled. */
static int fetch(struct several *several, const struct part_view *view, int64_t first, int n,
	const float **raw, const float **inputs, struct err *err)
{
	int64_t ids[CHUNK];
	int code = learner_unscaled(view->learner, first, n, several->raw, raw, err);

	*inputs = several->raw;
	if (code || *raw)
		return code ? code : learner_scaled(view->learner, inputs, n, err);
	for (int i = 0; i < n; i++)
		ids[i] = first + i;
	return learner_fetch_all(view->learner, ids, n, several->raw, several->labels, err);
}

static int learn(struct beside *beside, const struct part_view *view,
	const struct learner_step *step, struct err *err)
{
	struct several *several = several_of(beside);
	struct numbers_samples samples;
	int code = 0;

	for (int at = 0; at < step->n && !code; at += CHUNK) {
		const int count = step->n - at < CHUNK ? step->n - at : CHUNK;
		const float *raw = step->inputs ? step->inputs + (size_t)at * view->floats : NULL;
		const float *inputs = raw;
		double macs = 0;

		code = raw ? learner_scaled(view->learner, &inputs, count, err)
			   : fetch(several, view, step->first + at, count, &raw, &inputs, err);
		if (!code)
			code = look(several, view, raw, inputs, count, &samples, err);
		if (code)
			return code;
		samples.late = step->late_by;
		samples.stride = target_guess(several->width);
		if (step->late_by)
			samples.said = &step->guesses[(size_t)at * samples.stride].number;
		for (int k = 0; k < several->width; k++)
			macs += numbers_macs(several->each[k]);
		learner_tell(view->learner, LEARNER_FAST_FORWARD, count);
		learner_tell_macs(view->learner, count * macs);
		teach(several, &samples, step->labels + (ptrdiff_t)at * several->width);
	}
	return code;
}

static void copy(struct beside *to, const struct beside *beside)
{
	for (int k = 0; k < several_of(beside)->width; k++)
		numbers_copy(several_of(to)->each[k], several_of(beside)->each[k]);
}

static int copy_new(struct beside **copy, const struct beside *beside, struct err *err)
{
	const struct several *several = several_of(beside);
	struct several *made = make_empty(several->width, err);
	int code = 0;

	if (!made)
		return ERR_MEMORY;
	for (int k = 0; k < several->width && !code; k++)
		code = numbers_copy_new(&made->each[k], several->each[k], err);
	if (code)
		end(&made->beside);
	else
		*copy = &made->beside;
	return code;
}

static int copy_predict(const struct beside *copy, struct predictor *predictor,
	const struct predictor_turn *turn, const struct number_scales *scales, const float *raw,
	int n, float *answers, struct err *err)
{
	const struct several *several = several_of(copy);
	const struct numbers_config *config = numbers_config(several->each[0]);
	const size_t floats = CHUNK * (config->features + (size_t)several->width);
	float *features = mem_new(floats, sizeof(*features)); /* and what the slow net says */
	float *slow = features + CHUNK * config->features;
	int code = features ? 0 : err_memory(err, "predictions", floats * sizeof(float));

	for (int first = 0; first < n && !code; first += CHUNK) {
		const int count = n - first < CHUNK ? n - first : CHUNK;
		const size_t at = (size_t)first * config->floats;

		code = predictor_ask(predictor, turn, 0, first, count, answers, features, err);
		if (code)
			break;
		number_unscale(scales, answers, count);
		for (int i = 0; i < count * several->width; i++)
			slow[i] = answers[i * NUMBER_OUTPUTS + NUMBER_VALUE];
		answer(several,
			&(struct numbers_samples){
				turn->inputs + at, raw + at, features, slow, count},
			false, answers);
		answers += (ptrdiff_t)count * several->width * NUMBER_OUTPUTS;
	}
	mem_free(features);
	return code;
}

static void grow(struct beside *to, const struct beside *from)
{
	for (int k = 0; k < several_of(from)->width; k++)
		numbers_grow(several_of(to)->each[k], several_of(from)->each[k]);
}

static double bytes(const struct beside *beside)
{
	double bytes = sizeof(struct several);

	for (int k = 0; k < several_of(beside)->width; k++)
		bytes += numbers_bytes(several_of(beside)->each[k]);
	return bytes;
}

static void state(struct beside *beside, struct state *state)
{
	for (int k = 0; k < several_of(beside)->width && !state_failed(state); k++)
		numbers_state(several_of(beside)->each[k], state);
}

const struct beside_type beside_numbers = {
	.check = check,
	.make = make,
	.free = end,
	.restart = restart,
	.predict = predict,
	.ready = ready,
	.learn = learn,
	.grow = grow,
	.copy_new = copy_new,
	.copy = copy,
	.copy_predict = copy_predict,
	.bytes = bytes,
	.state = state,
};
