/*
 * A sparse linear model: softmax regression by AdaGrad on features that a row has or has not. These are
 * its categories, its numbers in bins of half a spread, and pairs of these, which count half. A category is
 * an input that is 1 as it came; an input that is 0 or missing has no feature.
 *
 * The weights of a feature, one for each class, lie side by side in a ring of CELLS, from where its hash
 * says; features may share some. So neither memory nor state grow with inputs and classes.
 *
 * Of more than TOPS_FEW classes only those compete that the slow net puts first (learn/parts/tops.h).
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/parts/part.h"
#include "learn/parts/tops.h"

enum { CELLS = 1 << 17, SINGLE = 128, PAIRS = 128, FARTHEST = 1000 };

static const float RATE = 0.1F, FIRST = 0.1F, PAIR = 0.5F;

struct feature {
	uint32_t at; /* cell of class 0 */
	float value;
};

struct sparse {
	struct part part;
	int classes;
	size_t floats;
	float *weights, *squares; /* [CELLS]: squares of gradients, added up */
	float *shares;            /* [class]: of the row that is learned */
};

static struct sparse *mine(struct part *part)
{
	return (struct sparse *)part;
}

static void end(struct part *part)
{
	struct sparse *sparse = mine(part);

	mem_free(sparse->weights);
	mem_free(sparse->squares);
	mem_free(sparse->shares);
	mem_free(sparse);
}

static int make(struct part **part, const struct part_view *view, struct err *err)
{
	struct sparse *made = mem_new(1, sizeof(*made));

	if (!made)
		return err_memory(err, "a sparse model", sizeof(*made));
	made->part.raw = true;
	made->classes = net_spec(view->net)->classes;
	made->floats = view->floats;
	made->weights = mem_new(CELLS, sizeof(float));
	made->squares = mem_new(CELLS, sizeof(float));
	made->shares = mem_new((size_t)made->classes, sizeof(float));
	if (!made->weights || !made->squares || !made->shares) {
		end(&made->part);
		return err_memory(err, "a sparse model", 2 * CELLS * sizeof(float));
	}
	*part = &made->part;
	return 0;
}

static uint32_t hash_of(uint32_t first, uint32_t second)
{
	uint64_t hash = ((uint64_t)first << 32 | second) * UINT64_C(0x9e3779b97f4a7c15);

	hash = (hash ^ hash >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return (uint32_t)(hash >> 32);
}

/* A number's bin, as the net sees it; categories have their own. */
static uint32_t bin_of(float raw, float seen)
{
	if (raw == 1)
		return 0;
	return (uint32_t)(int32_t)floorf(fminf(fmaxf(2 * seen, -FARTHEST), FARTHEST)) +
	       2 * FARTHEST;
}

/* The features of a row; returns how many. None, if it is not known as it came. */
static int look(const struct sparse *sparse, const float *raw, const float *seen,
	struct feature features[SINGLE + PAIRS])
{
	uint32_t codes[SINGLE];
	int count = 0, pairs = 0;

	for (size_t j = 0; raw && j < sparse->floats && count < SINGLE; j++) {
		if (raw[j] == 0 || !isfinite(raw[j]))
			continue;
		codes[count] = hash_of((uint32_t)j, bin_of(raw[j], seen[j]));
		features[count] = (struct feature){codes[count] % CELLS, 1};
		count++;
	}
	for (int a = 1; a < count; a++)
		for (int b = 0; b < a && pairs < PAIRS; b++)
			features[count + pairs++] =
				(struct feature){hash_of(codes[a], codes[b]) % CELLS, PAIR};
	return count + pairs;
}

static size_t cell_of(const struct feature *feature, int class)
{
	return (feature->at + (uint32_t) class) % CELLS;
}

/* Shares of so many classes; NULL: of all. */
static void weigh(const struct sparse *sparse, const struct feature *features, int count,
	const int32_t *classes, int of, float *shares)
{
	float most = -INFINITY, sum = 0;

	memset(shares, 0, (size_t)of * sizeof(*shares));
	for (int i = 0; i < count; i++)
		for (int k = 0; k < of; k++)
			shares[k] +=
				features[i].value *
				sparse->weights[cell_of(features + i, classes ? classes[k] : k)];
	for (int k = 0; k < of; k++)
		most = shares[k] > most ? shares[k] : most;
	for (int k = 0; k < of; k++)
		sum += shares[k] = expf(shares[k] - most);
	for (int k = 0; k < of; k++)
		shares[k] /= sum;
}

static void say(const struct sparse *sparse, const float *raw, const float *seen, const float *slow,
	float *out)
{
	struct feature features[SINGLE + PAIRS];
	const int count = look(sparse, raw, seen, features);
	float some[TOPS_MOST];
	struct tops tops;

	if (tops_compete(&tops, slow, sparse->classes)) {
		weigh(sparse, features, count, tops.classes, tops.count, some);
		tops_share(&tops, slow, sparse->classes, some, out);
	} else {
		weigh(sparse, features, count, NULL, sparse->classes, out);
	}
}

static const float *row_of(const float *rows, int i, size_t numbers)
{
	return rows ? rows + (size_t)i * numbers : NULL;
}

static int answer(struct part *part, int model, const struct part_samples *samples,
	float *probabilities, struct err *err)
{
	const struct sparse *sparse = mine(part);
	const size_t classes = (size_t)sparse->classes;

	(void)model;
	(void)err;
	for (int i = 0; i < samples->n; i++)
		say(sparse, row_of(samples->raw, i, sparse->floats),
			row_of(samples->inputs, i, sparse->floats),
			row_of(samples->slow, i, classes), probabilities + (size_t)i * classes);
	return 0;
}

/* Of classes that compete; NULL: all do. */
static void learn_row(struct sparse *sparse, const struct feature *features, int count,
	const int32_t *classes, int of, int32_t label)
{
	weigh(sparse, features, count, classes, of, sparse->shares);
	for (int i = 0; i < count; i++)
		for (int k = 0; k < of; k++) {
			const int32_t class = classes ? classes[k] : k;
			const size_t cell = cell_of(features + i, class);
			const float grad =
				features[i].value * (sparse->shares[k] - (float)(class == label));

			sparse->squares[cell] += grad * grad;
			sparse->weights[cell] -= RATE * grad / sqrtf(sparse->squares[cell] + FIRST);
		}
}

static int learn(struct part *part, struct part_lesson *lesson, struct err *err)
{
	struct sparse *sparse = mine(part);
	const struct part_samples *samples = &lesson->samples;

	(void)err;
	for (int i = 0; i < samples->n; i++) {
		const int32_t label = samples->labels[i].class;
		struct feature features[SINGLE + PAIRS];
		int32_t classes[TOPS_MOST + 1];
		struct tops tops;
		const bool some = tops_compete(
			&tops, row_of(samples->slow, i, (size_t)sparse->classes), sparse->classes);

		learn_row(sparse, features,
			look(sparse, row_of(samples->raw, i, sparse->floats),
				row_of(samples->inputs, i, sparse->floats), features),
			some ? classes : NULL,
			some ? tops_with(&tops, label, classes) : sparse->classes, label);
	}
	return 0;
}

static double macs(const struct part *part)
{
	const struct sparse *sparse = (const struct sparse *)part;

	return 3 * (fmin((double)sparse->floats, SINGLE) + PAIRS) * tops_rivals(sparse->classes);
}

static double bytes(const struct part *part)
{
	return sizeof(float) * (2.0 * CELLS + ((const struct sparse *)part)->classes);
}

static size_t copied(const struct part *part)
{
	(void)part;
	return sizeof(struct sparse) + CELLS * sizeof(float);
}

static void copy(const struct part *part, void *to)
{
	struct sparse *made = to;

	*made = *(const struct sparse *)part;
	made->weights = (float *)(made + 1);
	memcpy(made->weights, ((const struct sparse *)part)->weights, CELLS * sizeof(float));
}

static void answer_copy(const void *copy_of, int model, const struct part_questions *questions,
	float *probabilities)
{
	const struct sparse *sparse = copy_of;
	const size_t classes = (size_t)sparse->classes;

	(void)model;
	for (int i = 0; i < questions->n; i++)
		say(sparse, row_of(questions->raw, i, sparse->floats),
			row_of(questions->inputs, i, sparse->floats),
			row_of(questions->slow, i, classes), probabilities + (size_t)i * classes);
}

static void state(struct part *part, struct state *state)
{
	struct sparse *sparse = mine(part);
	bool right = true;

	state_enter(state, "sparse");
	state_floats(state, "weights", sparse->weights, CELLS);
	state_floats(state, "squares", sparse->squares, CELLS);
	state_leave(state);
	if (!state_reading(state) || state_failed(state))
		return;
	for (size_t i = 0; i < CELLS; i++)
		right = right && isfinite(sparse->weights[i]) && isfinite(sparse->squares[i]) &&
			sparse->squares[i] >= 0;
	if (right)
		return;
	state_refuse(state, ERR_FORMAT, "a sparse model with weights that cannot be");
	memset(sparse->weights, 0, CELLS * sizeof(float));
	memset(sparse->squares, 0, CELLS * sizeof(float));
}

const struct part_type part_sparse = {
	.word = "sparse",
	.make = make,
	.free = end,
	.answer = answer,
	.learn = learn,
	.macs = macs,
	.bytes = bytes,
	.state = state,
	.copied = copied,
	.copy = copy,
	.answer_copy = answer_copy,
};
