/*
 * G is symmetric: only the first i + 1 numbers of row i are stored, row after row, and likewise
 * for its Cholesky factor L. Sums are doubles with a fixed order, in lanes that the compiler
 * vectorizes.
 */
#include "learn/parts/ridge.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/parts/part.h"

static const double SHRINK = 0.1; /* of the part */

enum { LANES = 8, DUE_SHARE = 20, DUE_DIMS = 4 };

struct ridge {
	struct part part;
	struct ridge_config config;
	int64_t count, solved; /* samples: added, known to the last solution */
	double *gram, *factor; /* [dim (dim + 1) / 2]: G; L */
	double *sums;          /* [classes][dim]: b */
	double *solution;      /* [dim] of a class */
	float *weights;        /* [classes][dim]: w */
};

static size_t triangle(int dim)
{
	return (size_t)dim * ((size_t)dim + 1) / 2;
}

int ridge_new(struct part **part, const struct ridge_config *config, struct err *err)
{
	const size_t dim = (size_t)config->dim, cells = triangle(config->dim);
	const size_t rows = (size_t)config->classes * dim;
	struct ridge *made = mem_new(1, sizeof(*made));

	*part = NULL;
	if (!made)
		return err_memory(err, "a ridge regression", sizeof(*made));
	*made = (struct ridge){.config = *config,
		.gram = mem_new(cells, sizeof(double)),
		.factor = mem_new(cells, sizeof(double)),
		.sums = mem_new(rows, sizeof(double)),
		.solution = mem_new(dim, sizeof(double)),
		.weights = mem_new(rows, sizeof(float))};
	if (!made->gram || !made->factor || !made->sums || !made->solution || !made->weights) {
		ridge_free(&made->part);
		return err_memory(
			err, "a ridge regression", 2 * cells * sizeof(double) + rows * 12);
	}
	*part = &made->part;
	return 0;
}

void ridge_free(struct part *part)
{
	struct ridge *ridge = (struct ridge *)part;

	if (!ridge)
		return;
	mem_free(ridge->gram);
	mem_free(ridge->factor);
	mem_free(ridge->sums);
	mem_free(ridge->solution);
	mem_free(ridge->weights);
	mem_free(ridge);
}

void ridge_add(struct part *part, const float *features, int32_t label)
{
	struct ridge *ridge = (struct ridge *)part;
	const int dim = ridge->config.dim;
	double *sums = ridge->sums + (int64_t)label * dim, *row = ridge->gram;

	for (int i = 0; i < dim; row += ++i) {
		const double own = features[i];

		for (int k = 0; k <= i; k++)
			row[k] += own * features[k];
	}
	for (int i = 0; i < dim; i++)
		sums[i] += features[i];
	ridge->count++;
}

/* So many samples lie between two solutions. */
static int64_t due_after(const struct ridge *ridge)
{
	const int64_t share = ridge->solved / DUE_SHARE,
		      least = ridge->config.least ? ridge->config.least
						  : ridge->config.dim / DUE_DIMS;
	const int64_t after = share < least ? least : share;

	return after ? after : 1;
}

bool ridge_due(const struct part *part)
{
	const struct ridge *ridge = (const struct ridge *)part;

	return ridge->count - ridge->solved >= due_after(ridge);
}

double ridge_solving(const struct part *part)
{
	const struct ridge *ridge = (const struct ridge *)part;
	const double dim = ridge->config.dim;

	return (dim * dim * dim / 6 + ridge->config.classes * dim * dim) / (double)due_after(ridge);
}

static double dot(const double *a, const double *b, int size)
{
	double lanes[LANES] = {0}, sum = 0;
	int i = 0;

	for (; i + LANES <= size; i += LANES)
		for (int k = 0; k < LANES; k++)
			lanes[k] += a[i + k] * b[i + k];
	for (; i < size; i++)
		sum += a[i] * b[i];
	for (int k = 0; k < LANES; k++)
		sum += lanes[k];
	return sum;
}

static double trace(const struct ridge *ridge)
{
	double sum = 0;

	for (int i = 0; i < ridge->config.dim; i++)
		sum += ridge->gram[triangle(i + 1) - 1];
	return sum;
}

/* G + more I = L L'. More than 0 keeps what is under the root above 0. */
static void factorise(struct ridge *ridge, double more)
{
	double *row = ridge->factor;

	memcpy(row, ridge->gram, triangle(ridge->config.dim) * sizeof(double));
	for (int i = 0; i < ridge->config.dim; row += ++i) {
		const double *other = ridge->factor;

		for (int k = 0; k < i; other += ++k)
			row[k] = (row[k] - dot(row, other, k)) / other[k];
		row[i] = sqrt(row[i] + more - dot(row, row, i));
	}
}

/* L y = b, then L' w = y. */
static void solve_class(struct ridge *ridge, int class)
{
	const int dim = ridge->config.dim;
	const double *sums = ridge->sums + (int64_t) class * dim, *row = ridge->factor;
	float *weights = ridge->weights + (int64_t) class * dim;
	double *x = ridge->solution;

	for (int i = 0; i < dim; row += ++i)
		x[i] = (sums[i] - dot(row, x, i)) / row[i];
	for (int i = dim - 1; i >= 0; i--) {
		row = ridge->factor + triangle(i);
		x[i] /= row[i];
		for (int k = 0; k < i; k++)
			x[k] -= row[k] * x[i];
		weights[i] = (float)x[i];
	}
}

void ridge_solve(struct part *part)
{
	struct ridge *ridge = (struct ridge *)part;
	const double more = ridge->config.shrink * trace(ridge) / ridge->config.dim;

	ridge->solved = ridge->count;
	/* Features of nothing but zeros say nothing. */
	if (!(more > 0))
		return;
	factorise(ridge, more);
	for (int class = 0; class < ridge->config.classes; class ++)
		solve_class(ridge, class);
}

void ridge_score(const struct part *part, const float *features, float *scores)
{
	const struct ridge *ridge = (const struct ridge *)part;
	const int dim = ridge->config.dim, classes = ridge->config.classes;

	for (int class = 0; class < classes; class ++) {
		const float *weights = ridge->weights + (int64_t) class * dim;
		float lanes[LANES] = {0}, score = 0;
		int i = 0;

		for (; i + LANES <= dim; i += LANES)
			for (int k = 0; k < LANES; k++)
				lanes[k] += weights[i + k] * features[i + k];
		for (; i < dim; i++)
			score += weights[i] * features[i];
		for (int k = 0; k < LANES; k++)
			score += lanes[k];
		scores[class] = score;
	}
}

void ridge_predict(const struct part *part, const float *features, float *probabilities)
{
	const struct ridge *ridge = (const struct ridge *)part;
	const int classes = ridge->config.classes;
	double sum = 0;

	ridge_score(part, features, probabilities);
	for (int class = 0; class < classes; class ++) {
		probabilities[class] = probabilities[class] > 0 ? probabilities[class] : 0;
		sum += probabilities[class];
	}
	for (int class = 0; class < classes; class ++)
		probabilities[class] =
			sum > 0 ? (float)(probabilities[class] / sum) : 1 / (float)classes;
}

/* The copy's arrays, which only learning needs, are not its own. */
size_t ridge_copied(const struct part *part)
{
	const struct ridge *ridge = (const struct ridge *)part;

	return sizeof(*ridge) +
	       (size_t)ridge->config.classes * (size_t)ridge->config.dim * sizeof(float);
}

void ridge_copy(const struct part *part, void *to)
{
	const struct ridge *ridge = (const struct ridge *)part;
	struct ridge *made = to;

	*made = *ridge;
	made->weights = (float *)(made + 1);
	memcpy(made->weights, ridge->weights, ridge_copied(part) - sizeof(*ridge));
}

void ridge_state(struct part *part, struct state *state)
{
	struct ridge *ridge = (struct ridge *)part;
	const size_t classes = (size_t)ridge->config.classes, dim = (size_t)ridge->config.dim;
	const struct state_inputs by_class = {classes, dim, 1, 1, STATE_BY_ROWS};

	state_enter(state, "ridge");
	state_int64(state, "count", &ridge->count);
	state_int64(state, "solved", &ridge->solved);
	state_input_doubles(
		state, "gram", ridge->gram, (struct state_inputs){1, dim, 1, 1, STATE_TRIANGLE});
	state_input_doubles(state, "sums", ridge->sums, by_class);
	state_input_floats(state, "weights", ridge->weights, by_class);
	state_leave(state);
}

/* By the 1 of a row it knows how frequent classes are. */
static int make(struct part **part, const struct part_view *view, struct err *err)
{
	const struct ridge_config config = {
		(int)view->floats + 1, net_spec(view->net)->classes, SHRINK, 0};

	return ridge_new(part, &config, err);
}

static void settle(struct part *part)
{
	if (ridge_due(part))
		ridge_solve(part);
}

/* Solving is spread over the samples between two of its times. */
double ridge_macs(const struct part *part)
{
	const struct ridge *ridge = (const struct ridge *)part;
	const double dim = ridge->config.dim, classes = ridge->config.classes;

	return dim * (dim + 1) / 2 + dim * classes + ridge_solving(part);
}

double ridge_bytes(const struct part *part)
{
	const struct ridge *ridge = (const struct ridge *)part;
	const double dim = ridge->config.dim, classes = ridge->config.classes;

	return 8 * dim * (dim + 1) + 12 * dim * classes;
}

const struct part_type part_ridge = {
	.word = "ridge",
	.share = 2,
	.check = part_for_vectors,
	.make = make,
	.free = ridge_free,
	.ask = ridge_predict,
	.add = ridge_add,
	.settle = settle,
	.macs = ridge_macs,
	.bytes = ridge_bytes,
	.state = ridge_state,
};
