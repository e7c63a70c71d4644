/*
 * A mixture of six mixtures (mix_config.pool). Three are by record, each with a memory of its
 * own. Three are logarithmic pools, p = softmax(sum_i w_i l_i) over the models' log-probabilities
 * l_i, whose weights w follow the labels by Newton steps with forgetting. The answer mixes these
 * six by their own record.
 *
 * A pool's weights need not be positive, nor sum to 1: two models that agree by habit share one
 * weight, and a model that is too sure of itself gets less than its record would give it.
 *
 * Sums run in a fixed order and in double precision, so the bits depend on nothing but the input.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/parts/mix_impl.h"

enum { POOLS = 3, RECORDS = 3, BLENDS = POOLS + RECORDS };

static const double LEAST = 1e-3; /* no probability counts as less */
static const double RIDGE = 2;    /* holds the weights of a pool near 1 / models */
static const double TOP_KEEP = 0.99;
static const double RECORD_KEEP[RECORDS] = {0.98, 0.9, 0.998};
static const double POOL_KEEP[POOLS] = {0.998, 0.99, 0.9998};

/* Classes below this share in a pool's answer do not count in its curvature: so the cost of
 * many classes is bounded. */
static const double CURVED = 1e-3;

struct mix_pool {
	double record[RECORDS][MIX_MODELS];
	double weights[POOLS][MIX_MODELS];
	double curvature[POOLS][MIX_MODELS][MIX_MODELS]; /* its lower half */
	double top[BLENDS];
	float *said;    /* [model][MIX_CHUNK][class]: log-probabilities */
	double *shares; /* [BLENDS][class]: of one sample */
	double *apart;  /* [model][class]: log-probabilities less their mean under a pool */
};

bool mix_pool_init(struct mix *mix)
{
	const size_t classes = (size_t)mix->classes, models = (size_t)mix->count;
	struct mix_pool *pool;

	if (!mix->config.pool)
		return true;
	pool = mix->pool = mem_new(1, sizeof(*pool));
	return pool && (mix->raised = mem_new(MIX_CHUNK * classes, sizeof(*mix->raised))) &&
	       (pool->said = mem_new(models * MIX_CHUNK * classes, sizeof(*pool->said))) &&
	       (pool->shares = mem_new(BLENDS * classes, sizeof(*pool->shares))) &&
	       (pool->apart = mem_new(models * classes, sizeof(*pool->apart)));
}

void mix_pool_release(struct mix *mix)
{
	if (!mix->pool)
		return;
	mem_free(mix->raised);
	mem_free(mix->pool->said);
	mem_free(mix->pool->shares);
	mem_free(mix->pool->apart);
	mem_free(mix->pool);
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

/* What a model says of a sample. */
static const float *said(const struct mix *mix, int model, int sample)
{
	return mix->pool->said +
	       ((size_t)model * MIX_CHUNK + (size_t)sample) * (size_t)mix->classes;
}

void mix_pool_say(struct mix *mix, int model, const float *probabilities, int n)
{
	const size_t count = (size_t)n * (size_t)mix->classes;
	float *to = mix->pool->said + (size_t)model * MIX_CHUNK * (size_t)mix->classes;

	for (size_t i = 0; i < count; i++)
		to[i] = probabilities[i] > (float)LEAST ? probabilities[i] : (float)LEAST;
	mix_log(mix, to, n);
}

/* Probabilities in proportion to exp(logits), in place. */
static void normalise(double *logits, int classes)
{
	double most = logits[0], sum = 0;

	for (int c = 1; c < classes; c++)
		most = fmax(most, logits[c]);
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

static void blend_by_record(const struct mix *mix, const double *record, int sample, double *shares)
{
	double weights[MIX_MODELS];

	weigh(record, mix->count, weights);
	memset(shares, 0, (size_t)mix->classes * sizeof(*shares));
	for (int i = 0; i < mix->count; i++) {
		const float *log = said(mix, i, sample);

		for (int c = 0; c < mix->classes && weights[i] > 1e-4; c++)
			shares[c] += weights[i] * exp((double)log[c]);
	}
}

static void blend_by_pool(const struct mix *mix, const double *weights, int sample, double *shares)
{
	memset(shares, 0, (size_t)mix->classes * sizeof(*shares));
	for (int i = 0; i < mix->count; i++) {
		const float *log = said(mix, i, sample);

		for (int c = 0; c < mix->classes; c++)
			shares[c] += weights[i] * (double)log[c];
	}
	normalise(shares, mix->classes);
}

/* All six answers of a sample, one row each. */
static void blend(const struct mix *mix, int sample)
{
	const struct mix_pool *pool = mix->pool;
	const size_t classes = (size_t)mix->classes;

	for (int k = 0; k < RECORDS; k++)
		blend_by_record(mix, pool->record[k], sample, pool->shares + (size_t)k * classes);
	for (int k = 0; k < POOLS; k++)
		blend_by_pool(mix, pool->weights[k], sample,
			pool->shares + (size_t)(RECORDS + k) * classes);
}

void mix_pool_answer(const struct mix *mix, int n, float *sum)
{
	const struct mix_pool *pool = mix->pool;
	double weights[BLENDS];

	weigh(pool->top, BLENDS, weights);
	for (int i = 0; i < n; i++, sum += mix->classes) {
		blend(mix, i);
		for (int c = 0; c < mix->classes; c++) {
			double all = 0;

			for (int k = 0; k < BLENDS; k++)
				all += weights[k] * pool->shares[(size_t)k * mix->classes + c];
			sum[c] = (float)all;
		}
	}
}

/* Solves (A + RIDGE I) x = b by Cholesky, x in place of b; A is a lower half. */
static void solve(const double a[MIX_MODELS][MIX_MODELS], int count, double *b)
{
	double root[MIX_MODELS][MIX_MODELS];

	for (int i = 0; i < count; i++)
		for (int j = 0; j <= i; j++) {
			double left = a[i][j] + (i == j ? RIDGE : 0);

			for (int k = 0; k < j; k++)
				left -= root[i][k] * root[j][k];
			root[i][j] = i == j ? sqrt(fmax(left, 1e-6)) : left / root[j][j];
		}
	for (int i = 0; i < count; i++) {
		for (int k = 0; k < i; k++)
			b[i] -= root[i][k] * b[k];
		b[i] /= root[i][i];
	}
	for (int i = count - 1; i >= 0; i--) {
		for (int k = i + 1; k < count; k++)
			b[i] -= root[k][i] * b[k];
		b[i] /= root[i][i];
	}
}

/* Log-probabilities less their mean under the pool's answer, of classes that matter there. */
static int set_apart(
	const struct mix *mix, const double *shares, int sample, int32_t label, double *by)
{
	const int classes = mix->classes;
	double *apart = mix->pool->apart;
	int kept = 0;

	for (int i = 0; i < mix->count; i++) {
		const float *log = said(mix, i, sample);
		double mean = 0;

		for (int c = 0; c < classes; c++)
			mean += shares[c] * (double)log[c];
		by[i] = (double)log[label] - mean;
		kept = 0;
		for (int c = 0; c < classes; c++)
			if (shares[c] > CURVED)
				apart[(size_t)i * classes + kept++] =
					sqrt(shares[c]) * ((double)log[c] - mean);
	}
	return kept;
}

/* A Newton step: M <- keep M + (Cov_p(l) + e e') / 2, w <- w - (M + RIDGE I)^-1 gradient. */
static void pool_learn(struct mix *mix, int k, int sample, int32_t label)
{
	struct mix_pool *pool = mix->pool;
	const size_t classes = (size_t)mix->classes;
	double by[MIX_MODELS], step[MIX_MODELS];
	const int kept =
		set_apart(mix, pool->shares + (size_t)(RECORDS + k) * classes, sample, label, by);

	for (int i = 0; i < mix->count; i++) {
		const double *a = pool->apart + (size_t)i * classes;

		for (int j = 0; j <= i; j++) {
			const double *b = pool->apart + (size_t)j * classes;
			double product = by[i] * by[j];

			for (int c = 0; c < kept; c++)
				product += a[c] * b[c];
			pool->curvature[k][i][j] =
				POOL_KEEP[k] * pool->curvature[k][i][j] + product / 2;
		}
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

void mix_pool_reveal(struct mix *mix, const int32_t *labels, int n)
{
	struct mix_pool *pool = mix->pool;

	for (int s = 0; s < n && pool; s++) {
		blend(mix, s);
		for (int k = 0; k < BLENDS; k++) {
			const double share = pool->shares[(size_t)k * mix->classes + labels[s]];

			pool->top[k] = TOP_KEEP * pool->top[k] + log(share + LEAST);
		}
		for (int k = 0; k < RECORDS; k++)
			for (int i = 0; i < mix->count; i++)
				pool->record[k][i] = RECORD_KEEP[k] * pool->record[k][i] +
						     (double)said(mix, i, s)[labels[s]];
		for (int k = 0; k < POOLS; k++)
			pool_learn(mix, k, s, labels[s]);
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
		right = right && isfinite(pool->top[k]);
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
	state_doubles(state, "top", pool->top, BLENDS);
	for (int k = 0; k < RECORDS; k++)
		state_doubles(state, "record", pool->record[k], count);
	for (int k = 0; k < POOLS; k++) {
		state_doubles(state, "weights", pool->weights[k], count);
		for (size_t i = 0; i < count; i++)
			state_doubles(state, "curvature", pool->curvature[k][i], i + 1);
	}
	state_leave(state);
}
