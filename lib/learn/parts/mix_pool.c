/*
 * A mixture of six mixtures (mix_config.pool). Three are by record, each with a memory of its
 * own. Three are logarithmic pools, p = softmax(sum_i w_i l_i) over the models' log-probabilities
 * l_i, whose weights w follow the labels by Newton steps with forgetting. The answer mixes these
 * six by their own record.
 *
 * A pool's weights need not be positive, nor sum to 1: two models that agree by habit share one
 * weight, and a model that is too sure of itself gets less than its record would give it.
 *
 * Late samples (mix.h) leave out the models that use the label just before: those have no weight by
 * record, and add nothing to a pool. The six then have a record of their own, which samples in
 * turn count in, too, by what would have been said had they been late. So the answer to a question
 * outside the stream is weighed honestly even if all that came so far was in turn.
 *
 * Sums run in a fixed order and in double precision, so the bits depend on nothing but the input.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/mem.h"
#include "learn/parts/mix_impl.h"

enum { POOLS = 3, RECORDS = 3, BLENDS = POOLS + RECORDS };
enum { IN_TURN, LATE, TURNS };
_Static_assert((int)BLENDS == (int)MIX_BLENDS, "there is room for what is blended");

static const double LEAST = MIX_LEAST;
static const double RIDGE = 2; /* holds the weights of a pool near 1 / models */
static const double TOP_KEEP = 0.99;
static const double RECORD_KEEP[RECORDS] = {0.98, 0.9, 0.998};
static const double POOL_KEEP[POOLS] = {0.998, 0.99, 0.9998};

/* Outcomes below this share in a pool's answer do not count in its curvature. */
static const double CURVED = 1e-3;

/* What answers need comes first: it is what a copy has. */
struct mix_pool {
	double record[RECORDS][MIX_MODELS];
	double weights[POOLS][MIX_MODELS];
	double top[TURNS][BLENDS];
	double curvature[POOLS][MIX_MODELS][MIX_MODELS]; /* its lower half; beyond it, anything */
	double *apart; /* [outcome][model]: log-probabilities less their mean under a pool */
};

/* Two numbers side by side. */
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));
enum { SIDE = 2 };

static inline pair pair_at(const double *at)
{
	return *(const pair *)at;
}

bool mix_pool_init(struct mix *mix)
{
	if (!mix->config.pool)
		return true;
	mix->pool = mem_new(1, sizeof(*mix->pool));
	return mix->pool && !mix_said_init(&mix->said, mix, MIX_CHUNK, NULL) &&
	       (mix->pool->apart = mem_new(MIX_MODELS * (size_t)mix->said.width, sizeof(double)));
}

void mix_pool_release(struct mix *mix)
{
	mix_said_release(&mix->said);
	if (mix->pool)
		mem_free(mix->pool->apart);
	mem_free(mix->pool);
}

bool mix_pool_copy_init(struct mix *copy)
{
	return !copy->config.pool || (copy->pool = mem_new(1, sizeof(*copy->pool)));
}

void mix_pool_copy(struct mix *copy, const struct mix *mix)
{
	if (mix->pool)
		memcpy(copy->pool, mix->pool, offsetof(struct mix_pool, curvature));
}

void mix_pool_restart(struct mix *mix)
{
	struct mix_pool *pool = mix->pool;

	if (!pool)
		return;
	memset(pool->record, 0, sizeof(pool->record));
	memset(pool->curvature, 0, sizeof(pool->curvature));
	memset(pool->top, 0, sizeof(pool->top));
	for (int k = 0; k < POOLS; k++)
		for (int i = 0; i < mix->count; i++)
			pool->weights[k][i] = 1.0 / mix->count;
}

static void forget_blends(struct mix_said *said)
{
	said->blended[IN_TURN] = said->blended[LATE] = 0;
}

/* Probabilities in proportion to exp(logits), in place. */
static void normalise(double *logits, int classes)
{
	double most = logits[0], sum = 0;

	for (int c = 1; c < classes; c++)
		most = logits[c] > most ? logits[c] : most;
	for (int c = 0; c < classes; c++)
		sum += logits[c] = exp(logits[c] - most);
	for (int c = 0; c < classes; c++)
		logits[c] /= sum;
}

/* Shares in proportion to exp(record). */
static void weigh(const double *record, int count, double *weights)
{
	memcpy(weights, record, (size_t)count * sizeof(*weights));
	normalise(weights, count);
}

/* Which of the records of the six counts; both are one where no model uses the label before. */
static int turn_of(const struct mix *mix)
{
	return mix->late ? LATE : IN_TURN;
}

static bool turn_matters(const struct mix *mix)
{
	bool matters = false;

	for (int i = 0; i < mix->count; i++)
		matters = matters || mix->config.in_turn[i];
	return matters;
}

/* The sum of what models say, in one of the arrays, by weight. */
static void add_up(const struct mix *mix, const struct mix_said *said, const float *array,
	const double *weights, int sample, double *sum)
{
	const int outcomes = mix_said_outcomes(mix, said, sample);

	memset(sum, 0, (size_t)outcomes * sizeof(*sum));
	for (int i = 0; i < mix->count; i++) {
		const float *row = mix_said_row(said, array, i, sample);

		if (!mix_answers(mix, i))
			continue;
		for (int c = 0; c < outcomes; c++)
			sum[c] += weights[i] * (double)row[c];
	}
}

static void blend_by_record(const struct mix *mix, const struct mix_said *said,
	const double *record, int sample, double *shares)
{
	double weights[MIX_MODELS];

	for (int i = 0; i < mix->count; i++)
		weights[i] = mix_answers(mix, i) ? record[i] : -INFINITY;
	normalise(weights, mix->count);
	add_up(mix, said, said->shares, weights, sample, shares);
}

static void blend_by_pool(const struct mix *mix, const struct mix_said *said, const double *weights,
	int sample, double *shares)
{
	add_up(mix, said, said->logs, weights, sample, shares);
	normalise(shares, mix_said_outcomes(mix, said, sample));
}

/* All six answers of a sample, one row each; they are kept until something else is said. */
static const double *blend(const struct mix *mix, struct mix_said *said, int sample)
{
	const struct mix_pool *pool = mix->pool;
	const size_t width = (size_t)said->width;
	double *blends = said->blends[turn_of(mix)];

	if (said->blended[turn_of(mix)] == 1 + sample)
		return blends;
	for (int k = 0; k < RECORDS; k++)
		blend_by_record(mix, said, pool->record[k], sample, blends + (size_t)k * width);
	for (int k = 0; k < POOLS; k++)
		blend_by_pool(mix, said, pool->weights[k], sample,
			blends + (size_t)(RECORDS + k) * width);
	said->blended[turn_of(mix)] = 1 + sample;
	return blends;
}

void mix_pool_answer(const struct mix *mix, struct mix_said *said, int n, float *sum)
{
	double weights[BLENDS];

	mix_said_shorten(mix, said, n);
	weigh(mix->pool->top[turn_of(mix)], BLENDS, weights);
	for (int i = 0; i < n; i++, sum += mix->classes) {
		const int outcomes = mix_said_outcomes(mix, said, i);
		const double *blends = blend(mix, said, i);

		for (int c = 0; c < outcomes; c++) {
			double all = 0;

			for (int k = 0; k < BLENDS; k++)
				all += weights[k] * blends[(size_t)k * (size_t)said->width + c];
			said->answer[c] = all;
		}
		mix_said_spread(mix, said, i, said->answer, sum);
	}
}

/*
 * Solves (A + RIDGE I) x = b by Cholesky, x in place of b; A is a lower half. Column by column:
 * what a column takes from the rest is the same for numbers side by side. The rest may spill over
 * its edges, where nobody looks.
 */
static void solve(const double a[MIX_MODELS][MIX_MODELS], int count, double *b)
{
	double left[MIX_MODELS][MIX_MODELS], lower[MIX_MODELS][MIX_MODELS];
	const int width = (count + SIDE - 1) / SIDE * SIDE;

	for (int i = 0; i < count; i++) {
		memcpy(left[i], a[i], (size_t)width * sizeof(double));
		left[i][i] += RIDGE;
	}
	for (int j = 0; j < count; j++) {
		const double rest = left[j][j] > 1e-6 ? left[j][j] : 1e-6, root = 1 / sqrt(rest);
		double *column = lower[j];

		memset(column, 0, (size_t)width * sizeof(double));
		column[j] = root;
		for (int i = j + 1; i < count; i++)
			column[i] = left[i][j] * root;
		for (int i = j + 1; i < count; i++)
			for (int k = (j + 1) / SIDE * SIDE; k <= i; k += SIDE)
				*(pair *)&left[i][k] -= column[i] * pair_at(column + k);
		b[j] *= root;
		for (int i = j + 1; i < count; i++)
			b[i] -= column[i] * b[j];
	}
	for (int i = count - 1; i >= 0; i--) {
		b[i] *= lower[i][i];
		for (int k = 0; k < i; k++)
			b[k] -= lower[k][i] * b[i];
	}
}

/* Log-probabilities less their mean under the pool's answer, of outcomes that matter there. */
static int set_apart(const struct mix *mix, const double *shares, int sample, int label, double *by)
{
	const int outcomes = mix_said_outcomes(mix, &mix->said, sample);
	double *apart = mix->pool->apart;
	int kept = 0;

	for (int i = 0; i < mix->count; i++) {
		const float *log = mix_said_row(&mix->said, mix->said.logs, i, sample);
		double mean = 0;

		for (int c = 0; c < outcomes; c++)
			mean += shares[c] * (double)log[c];
		by[i] = mean;
	}
	for (int c = 0; c < outcomes; c++) {
		const double root = sqrt(shares[c]);

		if (!(shares[c] > CURVED))
			continue;
		for (int i = 0; i < mix->count; i++)
			apart[kept * MIX_MODELS + i] =
				root *
				((double)mix_said_row(&mix->said, mix->said.logs, i, sample)[c] -
					by[i]);
		kept++;
	}
	for (int i = 0; i < mix->count; i++)
		by[i] = (double)mix_said_row(&mix->said, mix->said.logs, i, sample)[label] - by[i];
	return kept;
}

/* A row of M <- keep M + (Cov_p(l) + e e') / 2, up to its diagonal. */
static void curve(const struct mix_pool *pool, int kept, int row, double keep, const double *by,
	double *curvature)
{
	for (int j = 0; j <= row; j += SIDE) {
		pair product = by[row] * pair_at(by + j);

		for (int c = 0; c < kept; c++)
			product += pool->apart[c * MIX_MODELS + row] *
				   pair_at(pool->apart + c * MIX_MODELS + j);
		*(pair *)(curvature + j) = keep * pair_at(curvature + j) + product / 2;
	}
}

/* A Newton step: w <- w - (M + RIDGE I)^-1 gradient. */
static void pool_learn(struct mix *mix, int k, int sample, int label)
{
	struct mix_pool *pool = mix->pool;
	const size_t width = (size_t)mix->said.width;
	double by[MIX_MODELS] = {0}, step[MIX_MODELS];
	const int kept = set_apart(mix,
		mix->said.blends[turn_of(mix)] + (size_t)(RECORDS + k) * width, sample, label, by);

	for (int i = 0; i < mix->count; i++) {
		curve(pool, kept, i, POOL_KEEP[k], by, pool->curvature[k][i]);
		step[i] = -by[i] +
			  (1 - POOL_KEEP[k]) * RIDGE * (pool->weights[k][i] - 1.0 / mix->count);
	}
	solve(pool->curvature[k], mix->count, step);
	for (int i = 0; i < mix->count; i++)
		pool->weights[k][i] -= step[i];
}

static bool sound(const struct mix *mix, const double *weights)
{
	double sum = 0;

	for (int i = 0; i < mix->count; i++)
		sum += fabs(weights[i]);
	return sum < 1e6; /* false for a NaN */
}

/* What the six say of a sample counts in their record. */
static void score_blends(struct mix *mix, int sample, int label)
{
	double *top = mix->pool->top[turn_of(mix)];
	const double *blends = blend(mix, &mix->said, sample);

	for (int k = 0; k < BLENDS; k++) {
		const double share = blends[k * mix->said.width + label];

		top[k] = TOP_KEEP * top[k] + log(share + LEAST);
	}
}

/* The record of late samples has those in turn, too. */
static void score_turns(struct mix *mix, int sample, int label)
{
	const bool late = mix->late;

	mix->late = true;
	if (!late && turn_matters(mix))
		score_blends(mix, sample, label);
	mix->late = late;
	score_blends(mix, sample, label);
	if (!turn_matters(mix))
		memcpy(mix->pool->top[!late], mix->pool->top[late], sizeof(mix->pool->top[0]));
}

void mix_pool_gain(struct mix *mix, const int32_t *labels, int n)
{
	if (!mix->pool)
		return;
	mix_said_shorten(mix, &mix->said, n);
	for (int i = 0; i < mix->count; i++)
		mix->gain[i] = 0;
	for (int s = 0; s < n; s++) {
		const int label = mix_said_outcome(mix, &mix->said, s, labels[s]);

		for (int i = 0; i < mix->count; i++)
			mix->gain[i] +=
				(double)mix_said_row(&mix->said, mix->said.logs, i, s)[label];
	}
}

void mix_pool_reveal(struct mix *mix, const int32_t *labels, int n)
{
	struct mix_pool *pool = mix->pool;

	for (int s = 0; s < n && pool; s++) {
		const int label = mix_said_outcome(mix, &mix->said, s, labels[s]);

		score_turns(mix, s, label);
		for (int k = 0; k < RECORDS; k++)
			for (int i = 0; i < mix->count; i++)
				pool->record[k][i] = RECORD_KEEP[k] * pool->record[k][i] +
						     (double)mix_said_row(&mix->said,
							     mix->said.logs, i, s)[label];
		for (int k = 0; k < POOLS; k++)
			pool_learn(mix, k, s, label);
		forget_blends(&mix->said);
	}
	for (int k = 0; k < POOLS && pool; k++)
		if (!sound(mix, pool->weights[k]))
			mix_pool_restart(mix);
}

bool mix_pool_right(const struct mix *mix)
{
	const struct mix_pool *pool = mix->pool;
	bool right = true;

	for (int k = 0; k < POOLS && pool; k++)
		right = right && sound(mix, pool->weights[k]);
	for (int k = 0; k < BLENDS && pool; k++)
		right = right && isfinite(pool->top[IN_TURN][k]) && isfinite(pool->top[LATE][k]);
	for (int k = 0; k < RECORDS && pool; k++)
		for (int i = 0; i < mix->count; i++)
			right = right && isfinite(pool->record[k][i]);
	for (int k = 0; k < POOLS && pool; k++)
		for (int i = 0; i < mix->count; i++)
			for (int j = 0; j <= i; j++)
				right = right && isfinite(pool->curvature[k][i][j]);
	return right;
}

void mix_pool_state(struct mix *mix, struct state *state)
{
	struct mix_pool *pool = mix->pool;
	const size_t count = (size_t)mix->count;

	if (!pool)
		return;
	state_enter(state, "pool");
	state_doubles(state, "top", pool->top[IN_TURN], BLENDS);
	if (state_version(state) >= 9)
		state_doubles(state, "top_late", pool->top[LATE], BLENDS);
	for (int k = 0; k < RECORDS; k++)
		state_doubles(state, "record", pool->record[k], count);
	for (int k = 0; k < POOLS; k++) {
		state_doubles(state, "weights", pool->weights[k], count);
		for (size_t i = 0; i < count; i++)
			state_doubles(state, "curvature", pool->curvature[k][i], i + 1);
	}
	state_leave(state);
}
