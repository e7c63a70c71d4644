/*
 * Persistent numbers are doubles: P is corrected a little by every sample of an endless stream.
 * Sums have a fixed order.
 *
 * Invariant: P is symmetric, to the bit. It is positive definite up to rounding; if it is found
 * not to be, it is reset.
 */
#include "learn/parts/linear.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/portable_math.h"
#include "learn/parts/part.h"

/* The loss is taken to be at least and at most so curved: steps stay within bounds where it is
 * sure of itself, and small enough where it is not. */
static const double FLATTEST = 0.1, STEEPEST = 0.5;

static const double KEEP = 0.998, SHRINK = 10; /* of the part */

static const double FARTHEST = -100; /* a logit so far below the largest is as good as none */

struct linear {
	struct part part;
	struct linear_config config;
	int size;        /* inputs and the 1 */
	size_t spreads;  /* of P: its numbers, */
	double *spread;  /* [size][size], or its diagonal */
	double *weights; /* [classes][size] */
	double *row;     /* [size]: a sample; */
	double *gain;    /* P x */
	float *shares;   /* [classes]: probabilities */
};

static bool is_whole(const struct linear *linear)
{
	return linear->spreads > (size_t)linear->size;
}

static void begin(struct linear *linear)
{
	const size_t step = is_whole(linear) ? (size_t)linear->size + 1 : 1;

	memset(linear->spread, 0, linear->spreads * sizeof(double));
	for (size_t i = 0; i < linear->spreads; i += step)
		linear->spread[i] = 1 / linear->config.shrink;
}

int linear_new(struct part **part, const struct linear_config *config, struct err *err)
{
	const size_t size = (size_t)config->dim + 1, classes = (size_t)config->classes;
	struct linear *made = mem_new(1, sizeof(*made));

	*part = NULL;
	if (!made)
		return err_memory(err, "a linear model", sizeof(*made));
	*made = (struct linear){.config = *config,
		.size = (int)size,
		.spreads = (config->first ? config->first : config->dim) > LINEAR_WHOLE
				   ? size
				   : size * size,
		.weights = mem_new(classes * size, sizeof(double)),
		.row = mem_new(size, sizeof(double)),
		.gain = mem_new(size, sizeof(double)),
		.shares = mem_new(classes, sizeof(float))};
	made->spread = mem_new(made->spreads, sizeof(double));
	if (!made->weights || !made->row || !made->gain || !made->shares || !made->spread) {
		linear_free(&made->part);
		return err_memory(err, "a linear model", 8 * (classes * size + size * size));
	}
	begin(made);
	*part = &made->part;
	return 0;
}

void linear_free(struct part *part)
{
	struct linear *linear = (struct linear *)part;

	if (!linear)
		return;
	mem_free(linear->weights);
	mem_free(linear->row);
	mem_free(linear->gain);
	mem_free(linear->shares);
	mem_free(linear->spread);
	mem_free(linear);
}

void linear_answer(
	const double *weights, int dim, int classes, const float *inputs, float *probabilities)
{
	double most = -INFINITY, sum = 0;

	for (int class = 0; class < classes; class ++, weights += dim + 1) {
		double score = weights[dim];

		for (int i = 0; i < dim; i++)
			score += weights[i] * (double)inputs[i];
		probabilities[class] = (float)score;
		most = fmax(most, (double)probabilities[class]);
	}
	for (int class = 0; class < classes; class ++) {
		const double below = (double)probabilities[class] - most;
		const double share = below > FARTHEST ? portable_exp(below) : 0;

		probabilities[class] = (float)share;
		sum += share;
	}
	/* NaN scores say nothing. */
	for (int class = 0; class < classes; class ++)
		probabilities[class] =
			sum > 0 ? (float)((double)probabilities[class] / sum) : 1 / (float)classes;
}

void linear_predict(const struct part *part, const float *inputs, float *probabilities)
{
	const struct linear *linear = (const struct linear *)part;

	linear_answer(
		linear->weights, linear->config.dim, linear->config.classes, inputs, probabilities);
}

/* P x; returns x' P x. */
static double reach(struct linear *linear)
{
	const int size = linear->size;
	double sum = 0;

	if (is_whole(linear)) {
		memset(linear->gain, 0, (size_t)size * sizeof(double));
		for (int i = 0; i < size; i++) {
			const double *spread = linear->spread + (size_t)i * (size_t)size;

			for (int k = 0; k < size; k++)
				linear->gain[k] += linear->row[i] * spread[k];
		}
	} else {
		for (int i = 0; i < size; i++)
			linear->gain[i] = linear->row[i] * linear->spread[i];
	}
	for (int i = 0; i < size; i++)
		sum += linear->row[i] * linear->gain[i];
	return sum;
}

/* Whether P may grow: inputs that are always the same would make it so without end. */
static bool may_grow(const struct linear *linear)
{
	const size_t step = is_whole(linear) ? (size_t)linear->size + 1 : 1;
	double trace = 0;

	for (size_t i = 0; i < linear->spreads; i += step)
		trace += linear->spread[i];
	return trace * linear->config.shrink < linear->size;
}

/* P <- (P - by (P x) (P x)') grow */
static void narrow(struct linear *linear, double by, double grow)
{
	const int size = linear->size;

	for (int i = 0; i < size && !is_whole(linear); i++)
		linear->spread[i] =
			(linear->spread[i] - by * (linear->gain[i] * linear->gain[i])) * grow;
	for (int i = 0; i < size && is_whole(linear); i++) {
		double *spread = linear->spread + (size_t)i * (size_t)size;
		const double own = linear->gain[i];

		for (int k = 0; k < size; k++)
			spread[k] = (spread[k] - by * (own * linear->gain[k])) * grow;
	}
}

static double curvature(const struct linear *linear)
{
	double left = 1;

	for (int class = 0; class < linear->config.classes; class ++)
		left -= (double)linear->shares[class] * (double)linear->shares[class];
	return fmin(fmax(left, FLATTEST), STEEPEST);
}

void linear_learn(struct part *part, const float *inputs, int32_t label)
{
	struct linear *linear = (struct linear *)part;
	const int size = linear->size;
	double square, bend, grow;

	for (int i = 0; i < size - 1; i++)
		linear->row[i] = (double)inputs[i];
	linear->row[size - 1] = 1;
	linear_predict(part, inputs, linear->shares);
	square = reach(linear);
	if (!(square >= 0) || !isfinite(square)) {
		begin(linear);
		return;
	}
	bend = curvature(linear);
	grow = may_grow(linear) ? 1 / linear->config.keep : 1;
	narrow(linear, bend / (1 + bend * square), grow);
	for (int class = 0; class < linear->config.classes; class ++) {
		const double wrong = (class == label) - (double)linear->shares[class];
		const double step = wrong * grow / (1 + bend * square);
		double *weights = linear->weights + (size_t) class * (size_t)size;

		for (int i = 0; i < size && wrong != 0; i++)
			weights[i] += step * linear->gain[i];
	}
}

const double *linear_weights(const struct part *part)
{
	const struct linear *linear = (const struct linear *)part;

	return linear->weights;
}

double linear_macs(const struct part *part)
{
	const struct linear *linear = (const struct linear *)part;

	return 2 * (double)linear->spreads + 3.0 * linear->config.classes * linear->size;
}

double linear_bytes(const struct part *part)
{
	const struct linear *linear = (const struct linear *)part;

	return 8 * ((double)linear->spreads + (double)linear->config.classes * linear->size);
}

/* Nothing that was saved may make a number that cannot be. */
static void check(struct linear *linear, struct state *state)
{
	const size_t weights = (size_t)linear->config.classes * (size_t)linear->size;
	bool right = true;

	for (size_t i = 0; i < linear->spreads; i++)
		right = right && isfinite(linear->spread[i]);
	for (size_t i = 0; i < weights; i++)
		right = right && isfinite(linear->weights[i]);
	if (right)
		return;
	state_refuse(state, ERR_FORMAT, "a linear model with weights that are not finite");
	memset(linear->weights, 0, weights * sizeof(double));
	begin(linear);
}

void linear_state(struct part *part, struct state *state)
{
	struct linear *linear = (struct linear *)part;
	const size_t size = (size_t)linear->size;

	state_enter(state, "linear");
	state_input_doubles(state, "spread", linear->spread,
		(struct state_inputs){
			1, size, 1, 1, is_whole(linear) ? STATE_MATRIX : STATE_BY_ROWS});
	state_input_doubles(state, "weights", linear->weights,
		(struct state_inputs){(size_t)linear->config.classes, size, 1, 1, STATE_BY_ROWS});
	state_leave(state);
	if (state_reading(state) && !state_failed(state))
		check(linear, state);
}

static int make(struct part **part, const struct part_view *view, struct err *err)
{
	const struct linear_config config = {
		(int)view->floats, net_spec(view->net)->classes, KEEP, SHRINK, (int)view->first};

	return linear_new(part, &config, err);
}

static size_t copied(const struct part *part)
{
	const struct linear *linear = (const struct linear *)part;

	return (size_t)linear->config.classes * (size_t)linear->size * sizeof(double);
}

static void copy(const struct part *part, void *to)
{
	memcpy(to, linear_weights(part), copied(part));
}

static void answer_copy(
	const void *copy, int model, const struct part_questions *questions, float *probabilities)
{
	(void)model;
	for (int i = 0; i < questions->n; i++)
		linear_answer(copy, questions->dim, questions->classes,
			questions->inputs + (size_t)i * (size_t)questions->dim,
			probabilities + (size_t)i * (size_t)questions->classes);
}

const struct part_type part_linear = {
	.word = "linear",
	.make = make,
	.free = linear_free,
	.ask = linear_predict,
	.add = linear_learn,
	.macs = linear_macs,
	.bytes = linear_bytes,
	.state = linear_state,
	.copied = copied,
	.copy = copy,
	.answer_copy = answer_copy,
};
