/* Classes. A guess is a sorted list; softmax is in double, so that many classes still sum to 1. */
#include "target/class.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/lanes.h"

/* Into a sorted list, without a branch for each place: where a class goes cannot be predicted. */
static inline void insert(const float *logits, int32_t c, int32_t *best, int count)
{
	int place = 0;

	for (int k = 0; k < count; k++)
		place += best[k] >= 0 && !(logits[c] > logits[best[k]]);
	for (int k = count - 1; k > 0; k--)
		best[k] = k > place ? best[k - 1] : best[k];
	best[place] = c;
}

/* Takes a class in if it beats the last of the best, which a NaN does not. */
static inline void compete(const float *logits, int32_t c, int32_t *best, int count)
{
	if (logits[c] > logits[best[count - 1]])
		insert(logits, c, best, count);
}

/* Most are not above the last of the best so far: LANES of them are passed over at once. */
static inline void most(const float *logits, int classes, int32_t *best, int count)
{
	const int full = classes < count ? classes : count;
	int c = 0;

	for (int k = 0; k < count; k++)
		best[k] = -1;
	for (; c < full; c++)
		insert(logits, c, best, c + 1);
	for (; c + LANES <= classes; c += LANES)
		for (unsigned more = lanes_above(logits + c, logits[best[count - 1]]); more;
			more &= more - 1)
			compete(logits, c + __builtin_ctz(more), best, count);
	for (; c < classes; c++)
		compete(logits, c, best, count);
}

void class_most(const float *logits, int classes, int32_t *best, int count)
{
	if (count == TARGET_GUESS) /* by far the most frequent: compiled for this length */
		most(logits, classes, best, TARGET_GUESS);
	else
		most(logits, classes, best, count);
}

double class_probability(const float *logits, int classes, int32_t of)
{
	double sum = 0;

	for (int c = 0; c < classes; c++)
		sum += exp((double)logits[c] - (double)logits[of]);
	return 1 / sum;
}

void class_probabilities(const float *logits, int classes, int width, float *out)
{
	double most = -INFINITY, sum = 0;

	for (int c = 0; c < classes; c++)
		most = (double)logits[c] > most ? (double)logits[c] : most;
	for (int c = 0; c < classes; c++)
		sum += exp((double)logits[c] - most);
	for (int c = 0; c < width; c++)
		out[c] = c < classes ? (float)(exp((double)logits[c] - most) / sum) : 0;
}

static int32_t class_of(union target guess)
{
	return guess.class < -1 ? -3 - guess.class : guess.class;
}

int class_rank(const union target guesses[TARGET_GUESS], int32_t label)
{
	int place = 0;

	while (place < TARGET_GUESS && class_of(guesses[place]) != label)
		place++;
	return place + 1;
}

/*
 * Log-odds share a cell with classes and TARGET_NONE. As floats these are below 2^-126 and NaN, so
 * log-odds of this size are neither.
 */
static const float ODDS_LEAST = 1e-30F, ODDS_MOST = 1e30F;

static float odds_of(double difference)
{
	const double size = fmin(fmax(fabs(difference), (double)ODDS_LEAST), (double)ODDS_MOST);

	return (float)copysign(size, difference);
}

static void guess(const float *answer, int known, int width, union target *guess)
{
	(void)width;
	class_most(answer, known, &guess->class, TARGET_GUESS);
	if (known == 2)
		guess[2].number = odds_of((double)answer[1] - (double)answer[0]);
}

float class_odds(const union target guess[TARGET_GUESS])
{
	const float odds = guess[2].number;

	return fabsf(odds) >= ODDS_LEAST ? odds : NAN;
}

static bool same(const union target *a, const union target *b, int width)
{
	(void)width;
	return a->class == b->class;
}

static int check(const union target *labels, int width, int n, int64_t first, int most, int *known,
	struct err *err)
{
	(void)width;
	for (int i = 0; i < n; i++) {
		if (labels[i].class >= 0 && labels[i].class < *known)
			continue;
		if (labels[i].class < 0 || !most)
			return err_set(err, ERR_INPUT,
				"label %d of sample %lld: there are %d classes", labels[i].class,
				(long long)(first + i), *known);
		if (labels[i].class >= most)
			return err_set(err, ERR_INPUT,
				"label %d of sample %lld: model.classes_most = %d allows labels up "
				"to %d; if there are more classes, set it higher",
				labels[i].class, (long long)(first + i), most, most - 1);
		*known = labels[i].class + 1;
	}
	return 0;
}

static int32_t stratum(const union target *label)
{
	return label->class;
}

static void show(const union target *label, int width, char out[TARGET_SHOWN])
{
	(void)width;
	snprintf(out, TARGET_SHOWN, "%" PRId32, label->class);
}

static double keep(const float *answer, int known, const union target *guess)
{
	return known ? class_probability(answer, known, guess->class) : NAN;
}

static double recall(union target *guess, double kept)
{
	(void)guess;
	return kept;
}

static double loss(const union target *guess, const union target *label)
{
	return guess->class != label->class;
}

static double larger(double loss, double other)
{
	return loss - other;
}

const struct target_type target_class = {
	.kind = TARGET_CLASS,
	.name = "class",
	.help = "one of some classes; accuracy is the share of right answers",
	.guess = guess,
	.same = same,
	.stratum = stratum,
	.show = show,
	.keep = keep,
	.recall = recall,
	.check = check,
	.shares = true,
	.loss = loss,
	.larger = larger,
	.words = {"classes", "wrong", "LE", "validation accuracy", "share of wrong answers",
		"How many points accuracy falls", "accuracy, %", "recent", "accuracy",
		"le, ir, late_ir, ft, late_ft, kept, cost, seconds", "le, late_ir, late_ft"},
};
