/*
 * NaN losses and probabilities, of a net that diverged, count as the
 * worst loss and as "do not know": all classes alike.
 *
 * Invariant: raise[c] follows from recent[c], ever[c] and seen; with `last`, from what repeats.
 */
#include "learn/parts/mix.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/parts/mix_impl.h"
#include "nn/ops.h"
#include "nn/rank.h"

static const double LEAST = MIX_LEAST;

static const double REPEAT_ERRORS = 2; /* standard errors by which repeats differ from accidents */

static const double GUARD_SPAN = 1000;   /* samples that guesses and mixture are compared over, */
static const double GUARD_LEAST = 0.5;   /* by how many more of them a guess must be right, */
static const double GUARD_ERRORS = 0.25; /* and by how many standard errors */

static const double NEGLIGIBLE = 1e-4; /* a weight that no answer depends on */

enum {
	LEAD_CHUNKS = 100, /* for how long another leads before the lead has changed */
	SETTLED = 20,      /* labels from which on shares of repeats can be trusted */
};

int mix_init(struct mix *mix, const struct mix_config *config, const struct ops *ops, int classes,
	struct err *err)
{
	const size_t count = (size_t)classes;

	*mix = (struct mix){.config = *config,
		.ops = ops,
		.classes = classes,
		.count = config->models + (config->prior > 0)};
	if (config->prior > 0)
		mix->config.in_turn[mix->count - 1] = config->last;
	mix->recent = mem_new(count, sizeof(double));
	mix->ever = mem_new(count, sizeof(double));
	mix->raise = mem_new(count, sizeof(float));
	mix->gained = mem_new(count, sizeof(double));
	if (!mix->recent || !mix->ever || !mix->raise || !mix->gained || !mix_class_init(mix) ||
		!mix_pool_init(mix)) {
		mix_release(mix);
		return err_memory(err, "a mixture", 3 * count * sizeof(double));
	}
	mix_restart(mix);
	return 0;
}

void mix_release(struct mix *mix)
{
	mem_free(mix->recent);
	mem_free(mix->ever);
	mem_free(mix->raise);
	mem_free(mix->gained);
	mix_class_release(mix);
	mix_pool_release(mix);
	*mix = (struct mix){0};
}

/* Whether labels repeat the one before so much more often, or less, that it is no accident. */
static bool repeats_matter(const struct mix *mix)
{
	const double chance = mix->expected * (1 - mix->expected);

	return mix->config.last && mix->guess[MIX_LAST] >= 0 &&
	       fabs(mix->repeats - mix->expected) >
		       REPEAT_ERRORS * sqrt(chance / fmin(mix->seen, mix->config.span));
}

/*
 * The natural logarithm of a normal number above 0, to some units in the last place: of
 * 2^e m, m from 1/sqrt 2 to sqrt 2, it is e log 2 + 2 artanh((m - 1) / (m + 1)). Without branches
 * and calls, so a compiler makes vectors of it.
 */
static inline float log_of(float x)
{
	union {
		float number;
		int32_t bits;
	} u = {.number = x};
	const int32_t exponent = (u.bits - 0x3f3504f3) >> 23;
	float t, s;

	u.bits -= (int32_t)((uint32_t)exponent << 23);
	t = (u.number - 1) / (u.number + 1);
	s = t * t;
	return (float)exponent * 0.69314718f +
	       t * (2 + s * (0.66666667f + s * (0.4f + s * (0.28571429f + s * 0.22222222f))));
}

/* exp(x) of numbers within +-80, likewise: 2^k times the series of what is left. */
static inline float exp_of(float x)
{
	const float magic = 12582912.0f; /* 1.5 * 2^23: adding it rounds to a whole number */
	const float k = (x * 1.44269504f + magic) - magic;
	const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f;
	union {
		int32_t bits;
		float number;
	} power = {.bits = ((int32_t)k + 127) * (1 << 23)};

	return power.number *
	       (1 + r * (1 + r * (0.5f + r * (0.16666667f +
						     r * (0.041666667f + r * 0.0083333333f)))));
}

/*
 * Of late more frequent than ever: the class becomes more probable by this factor. So does the
 * last label's where labels repeat.
 */
static void follow_labels(struct mix *mix)
{
	const float power = (float)mix->config.prior, by = (float)(1 / mix->seen);
	const float least = (float)LEAST;
	float again, other;

	for (int c = 0; c < mix->classes; c++)
		mix->raise[c] = exp_of(power * log_of(((float)mix->recent[c] + least) /
						       ((float)mix->ever[c] * by + least)));
	if (!repeats_matter(mix))
		return;
	again = (float)((mix->repeats + LEAST) / (mix->expected + LEAST));
	other = (float)((1 - mix->repeats + LEAST) / (1 - mix->expected + LEAST));
	for (int c = 0; c < mix->classes; c++)
		mix->raise[c] *= c == mix->guess[MIX_LAST] ? again : other;
}

void mix_restart(struct mix *mix)
{
	memset(mix->record, 0, sizeof(mix->record));
	mix_class_restart(mix);
	mix_pool_restart(mix);
	for (int c = 0; c < mix->classes; c++) {
		mix->recent[c] = 1.0 / mix->classes;
		mix->ever[c] = 1;
	}
	mix->seen = mix->classes;
	mix->guess[MIX_MOST] = mix->guess[MIX_LAST] = -1;
	mix->repeats = mix->expected = 0.5;
	for (int g = 0; g < MIX_GUESSES; g++)
		mix->right[g] = mix->either[g] = mix->over[g] = 0;
	follow_labels(mix);
	mix->lead = mix->rival = mix->rival_chunks = 0;
}

bool mix_answers(const struct mix *mix, int model)
{
	return !mix->late || !mix->config.in_turn[model];
}

void mix_record_weights(const struct mix *mix, const double *records, double weights[MIX_MODELS])
{
	double most = records[0], all = 0, sum = 0;

	for (int i = 1; i < mix->count; i++)
		if (mix_answers(mix, i))
			most = fmax(most, records[i]);
	for (int i = 0; i < mix->count; i++)
		all += weights[i] = mix_answers(mix, i) ? exp(records[i] - most) : 0;
	for (int i = 0; i < mix->count; i++)
		sum += weights[i] = weights[i] < NEGLIGIBLE * all ? 0 : weights[i];
	for (int i = 0; i < mix->count; i++)
		weights[i] /= sum;
}

void mix_weights(const struct mix *mix, double weights[MIX_MODELS])
{
	mix_record_weights(mix, mix->record, weights);
}

/* What a sample's raised probabilities must be divided by; not finite if one of them is not. */
static float raised_sum(const struct mix *mix, const float *probabilities)
{
	return mix->ops->row_dot(mix->raise, probabilities, (size_t)mix->classes);
}

/* Whether all are finite: none has an exponent of ones only. */
static bool all_finite(const float *numbers, int count)
{
	int bad = 0;

	for (int i = 0; i < count; i++)
		bad |= !(fabsf(numbers[i]) <= FLT_MAX);
	return !bad;
}

/* The usual case, without the prior. */
static void add_plain(int classes, float weight, const float *probabilities, float *sum)
{
	if (all_finite(probabilities, classes))
		for (int c = 0; c < classes; c++)
			sum[c] += weight * probabilities[c];
	else
		for (int c = 0; c < classes; c++)
			sum[c] += weight / (float)classes;
}

void mix_add(const struct mix *mix, double weight, double prior, const float *probabilities, int n,
	float *sum)
{
	const int classes = mix->classes;

	for (int i = 0; i < n && !(prior > 0); i++)
		add_plain(classes, (float)weight, probabilities + (size_t)i * classes,
			sum + (size_t)i * classes);
	for (int i = 0; i < n && prior > 0; i++, probabilities += classes, sum += classes) {
		const float all = raised_sum(mix, probabilities), by = (float)prior / all;

		if (!isfinite(all) || !isfinite(by)) {
			for (int c = 0; c < classes; c++)
				sum[c] += (float)((weight + prior) / classes);
			continue;
		}
		for (int c = 0; c < classes; c++)
			sum[c] += ((float)weight + by * mix->raise[c]) * probabilities[c];
	}
}

double mix_prior_weight(const struct mix *mix, const double *weights)
{
	return mix->config.prior > 0 ? weights[mix->count - 1] : 0;
}

void mix_gather(const struct mix *mix, const double *weights, int model, const float *probabilities,
	int n, float *sum)
{
	if (weights)
		mix_add(mix, weights[model], model ? 0 : mix_prior_weight(mix, weights),
			probabilities, n, sum);
	else
		mix_add_by_class(mix, model, probabilities, n, sum);
}

/* Whether it was right so much more often that it is no accident. */
static bool is_better(const struct mix *mix, enum mix_guess g)
{
	return mix->over[g] > GUARD_LEAST && mix->over[g] > GUARD_ERRORS * sqrt(mix->either[g]);
}

static enum mix_guess better_guess(const struct mix *mix)
{
	return !mix->late && mix->over[MIX_LAST] > mix->over[MIX_MOST] ? MIX_LAST : MIX_MOST;
}

static bool guess_answers(const struct mix *mix)
{
	return mix->config.guard && is_better(mix, better_guess(mix));
}

/*
 * The guess comes first, by a little: what the mixture says is otherwise kept in its order, so that
 * probabilities of answers with and without a guess can be compared.
 */
void mix_guard(const struct mix *mix, int n, float *sum)
{
	const float ahead = 1e-3F;
	const enum mix_guess g = better_guess(mix);

	for (int i = 0; i < n && guess_answers(mix); i++, sum += mix->classes) {
		float most = 0, by;

		for (int c = 0; c < mix->classes; c++)
			if (c != mix->guess[g] && sum[c] > most)
				most = sum[c];
		if (sum[mix->guess[g]] > most)
			continue;
		by = most - sum[mix->guess[g]] + ahead;
		by /= 1 + by;
		for (int c = 0; c < mix->classes; c++)
			sum[c] *= 1 - by;
		sum[mix->guess[g]] += by;
	}
}

int mix_alone(const struct mix *mix, const double weights[MIX_MODELS])
{
	const int own = mix->count - (mix->config.prior > 0);

	for (int i = 0; i < own && !mix->config.pool && !guess_answers(mix); i++)
		if (weights[i] >= 1)
			return i;
	return -1;
}

void mix_sound(const struct mix *mix, float *logits, int n)
{
	/* Nearly always all are finite, and so is the sum of their squares. */
	if (isfinite(mix->ops->row_dot(logits, logits, (size_t)n * (size_t)mix->classes)))
		return;
	for (int i = 0; i < n; i++, logits += mix->classes)
		if (!all_finite(logits, mix->classes))
			memset(logits, 0, (size_t)mix->classes * sizeof(*logits));
}

void mix_logs(float *numbers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		numbers[i] = log_of(numbers[i] > FLT_MIN ? numbers[i] : FLT_MIN);
}

void mix_log(const struct mix *mix, float *sum, int n)
{
	mix_logs(sum, (size_t)n * (size_t)mix->classes);
}

void mix_score(struct mix *mix, int model, const float *losses, int n)
{
	const double most = -log(LEAST);
	double sum = 0;

	for (int i = 0; i < n; i++) {
		const double loss = (double)losses[i] < most ? (double)losses[i] : most;

		sum += loss;
		mix_class_gain(mix, model, i, -loss);
	}
	mix->gain[model] = -sum;
}

/* As if all classes were alike to it. */
void mix_pass(struct mix *mix, int model, int n)
{
	const double gain = log(fmax(1.0 / mix->classes, LEAST));

	for (int i = 0; i < n; i++)
		mix_class_gain(mix, model, i, gain);
	mix->gain[model] = n * gain;
	mix_pool_pass(mix, model, n);
}

void mix_score_prior(struct mix *mix, const float *probabilities, const int32_t *labels, int n)
{
	const size_t classes = (size_t)mix->classes;
	double sum = 0;

	if (!(mix->config.prior > 0) || mix->config.pool)
		return;
	if (!mix_answers(mix, mix->count - 1)) {
		mix_pass(mix, mix->count - 1, n);
		return;
	}
	for (int i = 0; i < n; i++, probabilities += classes) {
		const float all = raised_sum(mix, probabilities);
		const float share = mix->raise[labels[i]] * probabilities[labels[i]] / all;
		const double gain = (double)share > LEAST ? (double)log_of(share) : log(LEAST);

		sum += gain;
		mix_class_gain(mix, mix->count - 1, i, gain);
	}
	mix->gain[mix->count - 1] = sum;
}

void mix_score_guesses(struct mix *mix, const float *sum, const int32_t *labels, int n)
{
	for (int i = 0; i < n; i++, sum += mix->classes) {
		const bool mixed = rank_hits(sum, mix->classes, labels + i, 1) == 1;

		for (int g = 0; g < MIX_GUESSES; g++) {
			if (mix->late && g == MIX_LAST)
				continue;
			const bool right = labels[i] == mix->guess[g];

			mix->right[g] += (right - mix->right[g]) / GUARD_SPAN;
			mix->either[g] += (right != mixed) - mix->either[g] / GUARD_SPAN;
			mix->over[g] += (right - mixed) - mix->over[g] / GUARD_SPAN;
		}
	}
}

/* As if every label had come on its own: recent <- (1 - step) recent, plus step for the label's. */
static void count_labels(struct mix *mix, const int32_t *labels, int n)
{
	const double step = 1 / mix->config.span;
	double left = 1;

	for (int i = n - 1; i >= 0; i--, left *= 1 - step) {
		mix->gained[labels[i]] += left * step;
		mix->ever[labels[i]]++;
	}
	for (int i = 0; i < n; i++)
		if (mix->guess[MIX_MOST] < 0 ||
			mix->ever[labels[i]] > mix->ever[mix->guess[MIX_MOST]])
			mix->guess[MIX_MOST] = labels[i];
	mix->guess[MIX_LAST] = labels[n - 1];
	for (int c = 0; c < mix->classes; c++) {
		mix->recent[c] = left * mix->recent[c] + mix->gained[c];
		mix->gained[c] = 0;
	}
	mix->seen += n;
}

/* Samples of a chunk are all compared with the label before it, as they are predicted. */
static void count_repeats(struct mix *mix, const int32_t *labels, int n)
{
	for (int i = 0; i < n && mix->guess[MIX_LAST] >= 0; i++) {
		const double step = fmax(1 / mix->config.span, 1 / (mix->seen + i + SETTLED));

		mix->repeats += step * ((labels[i] == mix->guess[MIX_LAST]) - mix->repeats);
		mix->expected += step * (mix->recent[mix->guess[MIX_LAST]] - mix->expected);
	}
}

static bool lead_changes(struct mix *mix)
{
	int first = 0;

	for (int i = 1; i < mix->count; i++)
		if (mix->record[i] > mix->record[first])
			first = i;
	if (first == mix->lead || first != mix->rival)
		mix->rival_chunks = 0;
	mix->rival = first;
	if (first == mix->lead || ++mix->rival_chunks < LEAD_CHUNKS)
		return false;
	mix->lead = first;
	mix->rival_chunks = 0;
	return true;
}

bool mix_reveal(struct mix *mix, const int32_t *labels, int n)
{
	mix_pool_gain(mix, labels, n);
	for (int i = 0; i < mix->count; i++)
		mix->record[i] = mix->config.keep * mix->record[i] + mix->gain[i];
	mix_class_reveal(mix);
	mix_pool_reveal(mix, labels, n);
	if (mix->config.last && !mix->late)
		count_repeats(mix, labels, n);
	count_labels(mix, labels, n);
	follow_labels(mix);
	return lead_changes(mix);
}

/* Nothing that was saved may make an index or a number that cannot be. */
static void check(struct mix *mix, struct state *state)
{
	bool right = mix->repeats >= 0 && mix->repeats <= 1 && mix->expected >= 0 &&
		     mix->expected <= 1 && mix->lead >= 0 && mix->lead < mix->count &&
		     mix->rival >= 0 && mix->rival < mix->count && mix->seen >= 1 &&
		     isfinite(mix->seen) && mix_class_right(mix) && mix_pool_right(mix);

	for (int i = 0; i < mix->count; i++)
		right = right && isfinite(mix->record[i]);
	for (int g = 0; g < MIX_GUESSES; g++)
		right = right && mix->guess[g] >= -1 && mix->guess[g] < mix->classes &&
			mix->right[g] >= 0 && mix->right[g] <= 1 && mix->either[g] >= 0 &&
			fabs(mix->over[g]) <= mix->either[g];
	for (int c = 0; c < mix->classes; c++)
		right = right && mix->recent[c] >= 0 && mix->recent[c] <= 2 && mix->ever[c] >= 0 &&
			mix->ever[c] <= mix->seen;
	if (!right)
		state_refuse(state, ERR_FORMAT, "a mixture with a record that cannot be");
	if (!right)
		mix_restart(mix);
	follow_labels(mix);
}

void mix_state(struct mix *mix, struct state *state)
{
	const size_t classes = (size_t)mix->classes;

	state_enter(state, "mix");
	state_doubles(state, "record", mix->record, (size_t)mix->count);
	state_class_doubles(state, "recent", mix->recent, classes, 1);
	state_class_doubles(state, "ever", mix->ever, classes, 1);
	state_double(state, "seen", &mix->seen);
	state_int(state, "lead", &mix->lead);
	state_int(state, "rival", &mix->rival);
	state_int(state, "rival_chunks", &mix->rival_chunks);
	if (mix->config.last || mix->config.guard)
		state_int32s(state, "guess", mix->guess, MIX_GUESSES);
	if (mix->config.guard) {
		state_doubles(state, "right", mix->right, MIX_GUESSES);
		state_doubles(state, "either", mix->either, MIX_GUESSES);
		state_doubles(state, "over", mix->over, MIX_GUESSES);
	}
	if (mix->config.last) {
		state_double(state, "repeats", &mix->repeats);
		state_double(state, "expected", &mix->expected);
	}
	mix_class_state(mix, state);
	mix_pool_state(mix, state);
	state_leave(state);
	if (!state_failed(state))
		check(mix, state);
}

int mix_copy_init(struct mix *copy, const struct mix *mix, struct err *err)
{
	*copy = (struct mix){.config = mix->config,
		.ops = mix->ops,
		.count = mix->count,
		.classes = mix->classes,
		.late = true};
	copy->raise = mem_new((size_t)mix->classes, sizeof(*copy->raise));
	if (copy->raise && mix_pool_copy_init(copy))
		return 0;
	return err_memory(err, "a mixture", (size_t)mix->classes * sizeof(*copy->raise));
}

void mix_copy(struct mix *copy, const struct mix *mix)
{
	memcpy(copy->raise, mix->raise, (size_t)mix->classes * sizeof(*mix->raise));
	mix_pool_copy(copy, mix);
	memcpy(copy->guess, mix->guess, sizeof(mix->guess));
	memcpy(copy->right, mix->right, sizeof(mix->right));
	memcpy(copy->either, mix->either, sizeof(mix->either));
	memcpy(copy->over, mix->over, sizeof(mix->over));
}
