/* A sorted list, and softmax in double, so that many classes still sum to 1. */
#include "eval/guess.h"

#include <math.h>
#include <string.h>

void guess_most(const float *logits, int classes, int32_t *best, int count)
{
	for (int k = 0; k < count; k++)
		best[k] = -1;
	for (int c = 0; c < classes; c++) {
		int place = count;

		while (place > 0 && (best[place - 1] < 0 || logits[c] > logits[best[place - 1]]))
			place--;
		if (place == count)
			continue;
		memmove(best + place + 1, best + place,
			(size_t)(count - 1 - place) * sizeof(*best));
		best[place] = c;
	}
}

void guess_best(const float *logits, int classes, union target best[TARGET_GUESS])
{
	guess_most(logits, classes, &best->class, TARGET_GUESS);
}

double guess_probability(const float *logits, int classes, int32_t of)
{
	double sum = 0;

	for (int c = 0; c < classes; c++)
		sum += exp((double)logits[c] - (double)logits[of]);
	return 1 / sum;
}

void guess_probabilities(const float *logits, int classes, int width, float *out)
{
	double most = -INFINITY, sum = 0;

	for (int c = 0; c < classes; c++)
		most = fmax(most, (double)logits[c]);
	for (int c = 0; c < classes; c++)
		sum += exp((double)logits[c] - most);
	for (int c = 0; c < width; c++)
		out[c] = c < classes ? (float)(exp((double)logits[c] - most) / sum) : 0;
}

/* A class c becomes -3 - c, and -1, no class, -2. */
void guess_mark_late(union target guesses[TARGET_GUESS])
{
	int32_t *last = &guesses[TARGET_GUESS - 1].class;

	*last = *last >= -1 ? -3 - *last : *last;
}

bool guess_late(const union target *guesses, int n)
{
	bool late = false;

	for (int i = 1; i <= n; i++)
		late = late || guesses[(size_t)i * TARGET_GUESS - 1].class < -1;
	return late;
}

static int32_t class_of(union target guess)
{
	return guess.class < -1 ? -3 - guess.class : guess.class;
}

int guess_rank(const union target guesses[TARGET_GUESS], int32_t label)
{
	int place = 0;

	while (place < TARGET_GUESS && class_of(guesses[place]) != label)
		place++;
	return place + 1;
}
