/* The mixture and the prior's correction, against traces that are worked out beside them. */
#include "check.h"
#include "learn/parts/tops.h"
#include "nn/own/kernels.h"

#define assert_near(a, b) assert_float_equal(a, b, 1e-6)

static struct mix mix_of(int models, int classes, double prior)
{
	const struct mix_config config = {.models = models, .keep = 0.5, .prior = prior, .span = 4};
	struct mix mix;
	struct err err;

	assert_ok(mix_init(&mix, &config, &kernels_at(0)->ops, classes, &err), err);
	return mix;
}

/* Records 0.5 * old + sum of logs; weights are their softmax. */
static void records_fade_and_weigh(void **state)
{
	struct mix mix = mix_of(2, 2, 0);
	const float good[] = {0.1f, 0.2f}, bad[] = {2, 1e9f};
	const int32_t labels[] = {0, 1};
	double weights[MIX_MODELS];

	(void)state;
	mix_weights(&mix, weights);
	assert_near(weights[0], 0.5);
	mix_score(&mix, 0, bad, 2);
	mix_score(&mix, 1, good, 2);
	mix_reveal(&mix, labels, 2);
	/* A loss counts as -log 0.001 at most. */
	assert_near(mix.record[0], -2 + log(1e-3));
	assert_near(mix.record[1], -0.3);
	mix_score(&mix, 0, good, 1);
	mix_score(&mix, 1, bad, 1);
	mix_reveal(&mix, labels, 1);
	assert_near(mix.record[0], 0.5 * (-2 + log(1e-3)) - 0.1);
	assert_near(mix.record[1], 0.5 * -0.3 - 2);
	mix_weights(&mix, weights);
	assert_near(weights[0] / weights[1], exp(mix.record[0] - mix.record[1]));
	assert_near(weights[0] + weights[1], 1);
	mix.record[0] = mix.record[1] - 10;
	mix_weights(&mix, weights);
	assert_true(weights[0] == 0 && weights[1] == 1);
	mix_release(&mix);
}

static void probabilities_are_mixed(void **state)
{
	struct mix mix = mix_of(2, 2, 0);
	const float one[] = {0.9f, 0.1f}, two[] = {0.2f, 0.8f};
	double weights[MIX_MODELS];
	float sum[2] = {0};

	(void)state;
	mix.record[1] = log(3);
	mix_weights(&mix, weights);
	mix_add(&mix, weights[0], 0, one, 1, sum);
	mix_add(&mix, weights[1], 0, two, 1, sum);
	mix_log(&mix, sum, 1);
	assert_near(exp((double)sum[0]), 0.25 * 0.9 + 0.75 * 0.2);
	assert_near(exp((double)sum[1]), 0.25 * 0.1 + 0.75 * 0.8);
	mix_release(&mix);
}

/* Who weighs all answers by its own logits; not so the prior's, nor while others weigh anything. */
static void one_may_answer_alone(void **state)
{
	struct mix mix = mix_of(2, 2, 0.7);
	float logits[] = {3, -1, NAN, 2, -INFINITY, 0};
	double weights[MIX_MODELS];

	(void)state;
	mix_weights(&mix, weights);
	assert_int_equal(mix_alone(&mix, weights), -1);
	mix.record[1] = 10;
	mix_weights(&mix, weights);
	assert_int_equal(mix_alone(&mix, weights), 1);
	mix.record[2] = 20;
	mix_weights(&mix, weights);
	assert_int_equal(mix_alone(&mix, weights), -1);
	mix_sound(&mix, logits, 3);
	assert_true(logits[0] == 3 && logits[1] == -1);
	for (int i = 2; i < 6; i++)
		assert_true(logits[i] == 0);
	/* Numbers whose squares are none stay as they are. */
	logits[2] = 1e30f;
	mix_sound(&mix, logits, 3);
	assert_true(logits[2] == 1e30f);
	mix_release(&mix);
}

/*
 * Two classes, a span of 4, two labels 0: shares of late go 1/2 -> 5/8 -> 23/32; of all
 * time, with one of each at first, 3/4.
 */
static void the_prior_follows_labels(void **state)
{
	struct mix mix = mix_of(1, 2, 0.7);
	const int32_t labels[] = {0, 0};
	const float losses[] = {0.5f, 0.5f}, even[] = {0.5f, 0.5f};
	const double by0 = pow((23 / 32.0 + 1e-3) / (3 / 4.0 + 1e-3), 0.7);
	const double by1 = pow((9 / 32.0 + 1e-3) / (1 / 4.0 + 1e-3), 0.7);
	float sum[2] = {0};

	(void)state;
	assert_int_equal(mix.count, 2);
	mix_score(&mix, 0, losses, 2);
	mix_score_prior(&mix, (const float[]){0.5f, 0.5f, 0.25f, 0.75f}, labels, 2);
	mix_reveal(&mix, labels, 2);
	/* When it was scored the prior knew no label yet. */
	assert_near(mix.record[1], log(0.5) + log(0.25));
	assert_near(mix.recent[0], 23 / 32.0);
	assert_near(mix.ever[0] / mix.seen, 3 / 4.0);
	mix_add(&mix, 0.5, 0.5, even, 1, sum);
	assert_near(sum[0], 0.5 * 0.5 + 0.5 * by0 / (by0 + by1));
	assert_near(sum[1], 0.5 * 0.5 + 0.5 * by1 / (by0 + by1));
	mix_release(&mix);
}

/* Labels come in pairs, so every second one repeats: by their shares a half would, too. In threes: two of three. */
static void the_prior_knows_the_last_label(void **state)
{
	for (int run = 2; run <= 3; run++) {
		const struct mix_config config = {
			.models = 1, .keep = 0.5, .prior = 0.7, .span = 500, .last = true};
		struct mix mix;
		struct err err;

		(void)state;
		assert_ok(mix_init(&mix, &config, &kernels_at(0)->ops, 2, &err), err);
		for (int k = 0; k < 4002; k++) {
			mix_score(&mix, 0, &(float){0.5f}, 1);
			mix_reveal(&mix, &(int32_t){k / run % 2}, 1);
		}
		assert_float_equal(mix.repeats, (run - 1.0) / run, 0.01);
		assert_float_equal(mix.expected, 0.5, 0.01);
		/* 4001 / 2 and 4001 / 3 are odd and even. */
		assert_int_equal(mix.guess[MIX_LAST], 4001 / run % 2);
		assert_float_equal(mix.raise[mix.guess[MIX_LAST]], run == 2 ? 1 : 4 / 3.0, 0.02);
		assert_float_equal(mix.raise[!mix.guess[MIX_LAST]], run == 2 ? 1 : 2 / 3.0, 0.02);
		mix_release(&mix);
	}
}

static int32_t most_probable(const float sum[3])
{
	int32_t most = 0;

	for (int32_t c = 1; c < 3; c++)
		most = sum[c] > sum[most] ? c : most;
	return most;
}

/* A mixture says class 0, of labels 0 1 1, then of labels that repeat; then it is always right. */
static void the_better_guess_answers(void **state)
{
	const struct mix_config config = {.models = 1, .keep = 0.5, .span = 4, .guard = true};
	struct mix mix;
	struct err err;

	(void)state;
	assert_ok(mix_init(&mix, &config, &kernels_at(0)->ops, 3, &err), err);
	for (int k = 0; k < 9000; k++) {
		const int32_t label = k < 3000 ? k % 3 > 0 : k < 6000 ? k / 50 % 3 : k % 3;
		float said[3] = {0.05f, 0.05f, 0.05f}, sum[3];

		said[k < 6000 ? 0 : label] = 0.9f;
		memcpy(sum, said, sizeof(sum));
		mix_guard(&mix, 1, sum);
		assert_near(sum[0] + sum[1] + sum[2], 1);
		if (k < 3 || k >= 7000)
			assert_memory_equal(sum, said, sizeof(sum));
		else if (k >= 100 && k < 3000)
			assert_true(sum[1] > sum[0]);
		else if (k >= 5000 && k < 6000)
			assert_int_equal(most_probable(sum), mix.guess[MIX_LAST]);
		/* What comes first anyway is left alone. */
		if (k >= 5000 && k < 6000 && mix.guess[MIX_LAST] == 0)
			assert_memory_equal(sum, said, sizeof(sum));
		mix_score(&mix, 0, &(float){0.5f}, 1);
		mix_score_guesses(&mix, said, &label, 1);
		mix_reveal(&mix, &label, 1);
	}
	mix_release(&mix);
}

/* Nets that diverged, certain nets that are wrong, classes never seen: all stays finite. */
static void everything_stays_finite(void **state)
{
	static const float hostile[][3] = {
		{NAN, NAN, NAN}, {INFINITY, 0, 0}, {0, 0, 0}, {1, 0, 0}, {-INFINITY, NAN, 1}};
	static const float losses[] = {NAN, INFINITY, 1e30f, -0.0f};
	const int32_t label = 2;

	(void)state;
	for (size_t h = 0; h < COUNT(hostile); h++) {
		struct mix mix = mix_of(2, 3, 0.7);

		for (int k = 0; k < 2000; k++) {
			double weights[MIX_MODELS], all = 0;
			float sum[3] = {0};

			mix_weights(&mix, weights);
			mix_add(&mix, weights[0], weights[2], hostile[h], 1, sum);
			mix_add(&mix, weights[1], 0, hostile[3], 1, sum);
			mix_log(&mix, sum, 1);
			for (int c = 0; c < 3; c++)
				assert_true(isfinite(sum[c]));
			mix_score(&mix, 0, &losses[k % 4], 1);
			mix_score(&mix, 1, &losses[(k + 1) % 4], 1);
			mix_score_prior(&mix, hostile[h], &label, 1);
			mix_reveal(&mix, &label, 1);
			mix_weights(&mix, weights);
			for (int i = 0; i < mix.count; i++)
				all += weights[i];
			assert_near(all, 1);
		}
		mix_release(&mix);
	}
}

/* The first model is right where it sees class 0, the second where the first sees class 1. */
static void records_by_class(void **state)
{
	const struct mix_config config = {.models = 2, .keep = 0.5, .span = 4, .by_class = true};
	/* Samples that are seen as 0, 1 and 1. */
	const float seen[] = {0.9f, 0.1f, 0.4f, 0.6f, 0.3f, 0.7f};
	const float first[] = {0.1f, 2, 1e9f}, second[] = {3, 0.2f, 0.3f};
	const float one[] = {0.8f, 0.2f, 0.8f, 0.2f}, two[] = {0.1f, 0.9f, 0.1f, 0.9f};
	const int32_t labels[] = {0, 0, 0};
	float sum[4] = {0};
	double share[2];
	struct mix mix;
	struct err err;

	(void)state;
	assert_ok(mix_init(&mix, &config, &kernels_at(0)->ops, 2, &err), err);
	for (int k = 0; k < 2; k++) {
		mix_look(&mix, seen, 3);
		mix_score(&mix, 0, first, 3);
		mix_score(&mix, 1, second, 3);
		mix_reveal(&mix, labels, 3);
	}
	/* By now 1.5 times a chunk's: of class 0 -0.1 and -3, of class 1 -2 + log 0.001 and -0.5. */
	assert_near(mix.class_record[0] - mix.class_record[1], 1.5 * (3 - 0.1));
	assert_near(mix.class_record[2] - mix.class_record[3], 1.5 * (-2 + log(1e-3) + 0.5));
	share[0] = 1 / (1 + exp(-1.5 * 2.9));
	share[1] = 0; /* negligible */
	mix_look(&mix, seen, 2);
	mix_add_by_class(&mix, 0, one, 2, sum);
	mix_add_by_class(&mix, 1, two, 2, sum);
	for (int i = 0; i < 2; i++)
		assert_near(sum[2 * i], share[i] * 0.8 + (1 - share[i]) * 0.1);
	mix_restart(&mix);
	assert_true(mix.class_record[0] == 0 && mix.class_record[3] == 0);
	mix_release(&mix);
}

/* A lead counts when it has lasted for 100 chunks; a flicker does not. */
static void a_lead_changes_once(void **state)
{
	struct mix mix = mix_of(2, 2, 0);
	const float good = 0, bad = 1;
	const int32_t label = 0;
	int changes = 0;

	(void)state;
	for (int k = 0; k < 400; k++) {
		const bool second = k >= 200 || k % 50 == 49;

		mix_score(&mix, 0, second ? &bad : &good, 1);
		mix_score(&mix, 1, second ? &good : &bad, 1);
		if (mix_reveal(&mix, &label, 1)) {
			changes++;
			/* The second has led since the flicker at 199. */
			assert_int_equal(k, 298);
		}
	}
	assert_int_equal(changes, 1);
	assert_int_equal(mix.lead, 1);
	mix_release(&mix);
}

/* A logarithmic pool as its formulas have it, with full matrices and Gauss's elimination. */
struct pool_reference {
	double keep, weights[3], curvature[3][3];
};

static void reference_answer(const struct pool_reference *pool, double said[3][2], double answer[2])
{
	double logits[2] = {0};

	for (int i = 0; i < 3; i++)
		for (int c = 0; c < 2; c++)
			logits[c] += pool->weights[i] * said[i][c];
	answer[0] = 1 / (1 + exp(logits[1] - logits[0]));
	answer[1] = 1 - answer[0];
}

static void reference_learn(struct pool_reference *pool, double said[3][2], int label)
{
	double p[2], apart[3][2], a[3][4];

	reference_answer(pool, said, p);
	for (int i = 0; i < 3; i++)
		for (int c = 0; c < 2; c++)
			apart[i][c] = said[i][c] - p[0] * said[i][0] - p[1] * said[i][1];
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 3; j++) {
			pool->curvature[i][j] = pool->keep * pool->curvature[i][j] +
						(p[0] * apart[i][0] * apart[j][0] +
							p[1] * apart[i][1] * apart[j][1] +
							apart[i][label] * apart[j][label]) /
							2;
			a[i][j] = pool->curvature[i][j] + 2 * (i == j);
		}
		a[i][3] = -apart[i][label] + (1 - pool->keep) * 2 * (pool->weights[i] - 1.0 / 3);
	}
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < 3; i++)
			for (int j = 3; j >= k && i != k; j--)
				a[i][j] -= a[i][k] / a[k][k] * a[k][j];
	for (int i = 0; i < 3; i++)
		pool->weights[i] -= a[i][3] / a[i][i];
}

/* Three records and three pools, mixed by a record of their own. */
static void pools_learn_whom_to_trust(void **state)
{
	static const double keeps[3] = {0.98, 0.9, 0.998};
	const struct mix_config config = {.models = 3, .keep = 0.5, .span = 4, .pool = true};
	struct pool_reference pools[3] = {
		{0.998, {0}, {{0}}}, {0.99, {0}, {{0}}}, {0.9998, {0}, {{0}}}};
	double record[3][3] = {{0}}, top[6] = {0};
	struct mix mix;
	struct err err;

	(void)state;
	assert_ok(mix_init(&mix, &config, &kernels_at(0)->ops, 2, &err), err);
	for (int k = 0; k < 3; k++)
		for (int i = 0; i < 3; i++)
			pools[k].weights[i] = 1.0 / 3;
	for (int t = 0; t < 300; t++) {
		const float noise = rng_float((struct rng){5, RNG_TEST}, (uint64_t)t);
		const int32_t label = noise > 0.5f;
		/* One that knows, one that repeats it more timidly, one that is wrong but sure. */
		const float first[3] = {
			0.1f + 0.8f * noise, 0.4f + 0.2f * noise, t % 3 ? 1 - label : (float)label};
		double said[3][2], blends[6][2] = {{0}}, all = 0, expected = 0;
		float sum[2];

		for (int i = 0; i < 3; i++) {
			const float shares[2] = {1 - first[i], first[i]};

			mix_say(&mix, &mix.said, i, shares, 1);
			for (int c = 0; c < 2; c++)
				said[i][c] = log(fmax((double)shares[c], 1e-3));
		}
		for (int k = 0; k < 3; k++) {
			double weights = 0;

			for (int i = 0; i < 3; i++)
				weights += exp(record[k][i]);
			for (int i = 0; i < 3; i++)
				for (int c = 0; c < 2; c++)
					blends[k][c] +=
						exp(record[k][i]) / weights * exp(said[i][c]);
			reference_answer(&pools[k], said, blends[3 + k]);
		}
		for (int k = 0; k < 6; k++)
			all += exp(top[k]);
		for (int k = 0; k < 6; k++)
			expected += exp(top[k]) / all * blends[k][1];
		mix_pool_answer(&mix, &mix.said, 1, sum);
		assert_float_equal(sum[1], expected, 2e-4);
		for (int i = 0; i < 3; i++)
			mix_score(&mix, i, &(float){(float)-said[i][label]}, 1);
		mix_reveal(&mix, &label, 1);
		for (int k = 0; k < 6; k++)
			top[k] = 0.99 * top[k] + log(blends[k][label] + 1e-3);
		for (int k = 0; k < 3; k++) {
			for (int i = 0; i < 3; i++)
				record[k][i] = keeps[k] * record[k][i] + said[i][label];
			reference_learn(&pools[k], said, label);
		}
	}
	mix_release(&mix);
}

/*
 * Of a thousand classes one model always puts the label third, another one of ten that never come
 * first; every tenth label is one that nobody thinks of. What is mixed is a dozen outcomes, the
 * label that somebody knew soon wins, and the rest has what is left, as the first model has it.
 */
static void of_many_classes_few_are_mixed(void **state)
{
	enum { MANY = 1000 };
	const struct mix_config config = {.models = 2, .keep = 0.5, .span = 4, .pool = true};
	float shares[2][MANY], sum[MANY];
	struct mix mix;
	struct err err;

	(void)state;
	assert_ok(mix_init(&mix, &config, &kernels_at(0)->ops, MANY, &err), err);
	assert_true(mix.said.width < 20);
	for (int t = 0; t < 200; t++) {
		const int32_t known = 20 + t * 37 % 900, label = t % 10 == 9 ? 5 : known;
		double all = 0;
		int most = 0;

		for (int c = 0; c < MANY; c++)
			shares[0][c] = shares[1][c] = 0.2f / MANY;
		shares[0][known - 2] = shares[0][known - 1] = 0.3f;
		shares[0][known] = 0.2f;
		shares[1][990 + t % 10] = 0.5f;
		shares[1][known] = 0.3f;
		for (int i = 0; i < 2; i++)
			mix_say(&mix, &mix.said, i, shares[i], 1);
		mix_pool_answer(&mix, &mix.said, 1, sum);
		for (int c = 0; c < MANY; c++) {
			all += (double)sum[c];
			most = sum[c] > sum[most] ? c : most;
		}
		assert_float_equal(all, 1, 0.03);
		assert_true(sum[6] > 0 && sum[6] == sum[7]);
		if (t > 50)
			assert_int_equal(most, known);
		mix_reveal(&mix, &label, 1);
	}
	mix_release(&mix);
}

/* The largest first, the earlier of equals, nothing that is not above 0. */
static void tops_are_found(void **state)
{
	float shares[37] = {
		[3] = 0.2f, [16] = 0.5f, [20] = NAN, [33] = 0.2f, [36] = 0.1f, [0] = -1};
	struct tops tops;

	(void)state;
	tops_find(&tops, 3, shares, 37);
	assert_int_equal(tops.count, 3);
	assert_memory_equal(tops.classes, ((int32_t[]){16, 3, 33}), 3 * sizeof(int32_t));
	tops_find(&tops, 2, shares, 37);
	assert_memory_equal(tops.classes, ((int32_t[]){16, 3}), 2 * sizeof(int32_t));
	tops_find(&tops, TOPS_MOST, shares, 37);
	assert_int_equal(tops.count, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_fade_and_weigh),
		cmocka_unit_test(probabilities_are_mixed),
		cmocka_unit_test(one_may_answer_alone),
		cmocka_unit_test(the_prior_follows_labels),
		cmocka_unit_test(the_prior_knows_the_last_label),
		cmocka_unit_test(the_better_guess_answers),
		cmocka_unit_test(everything_stays_finite),
		cmocka_unit_test(records_by_class),
		cmocka_unit_test(a_lead_changes_once),
		cmocka_unit_test(pools_learn_whom_to_trust),
		cmocka_unit_test(of_many_classes_few_are_mixed),
		cmocka_unit_test(tops_are_found),
	};

	return cmocka_run_group_tests_name("mix", tests, NULL, NULL);
}
