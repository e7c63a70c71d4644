/*
 * Runs the models of each number in turn: inputs by number are split for them, and answers merged.
 */
#include "learn/numbers/several.h"

#include <string.h>

#include "base/mem.h"

struct several {
	int width;
	struct numbers *each[TARGET_WIDTH];
};

static struct several *make(int width, struct err *err)
{
	struct several *made = mem_new(1, sizeof(*made));

	if (made)
		made->width = width;
	else
		err_memory(err, "models of numbers", sizeof(*made));
	return made;
}

static int done(struct several **several, struct several *made, int code)
{
	if (code)
		several_free(made);
	*several = code ? NULL : made;
	return code;
}

int several_new(
	struct several **several, const struct numbers_config *config, int width, struct err *err)
{
	struct several *made = make(width, err);
	struct numbers_config one = *config;
	int code = made ? 0 : ERR_MEMORY;

	one.lean = config->lean || width > SEVERAL_WHOLE;
	for (int k = 0; k < width && !code; k++) {
		one.seed = config->seed + (uint64_t)k;
		code = numbers_new(&made->each[k], &one, err);
	}
	return done(several, made, code);
}

void several_free(struct several *several)
{
	if (!several)
		return;
	for (int k = 0; k < several->width; k++)
		numbers_free(several->each[k]);
	mem_free(several);
}

int several_reserve(struct several *several, int n, struct err *err)
{
	int code = 0;

	for (int k = 0; k < several->width && !code; k++)
		code = numbers_reserve(several->each[k], n, err);
	return code;
}

void several_restart(struct several *several)
{
	for (int k = 0; k < several->width; k++)
		numbers_restart(several->each[k]);
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

static void put_answers(const float *one, int n, int width, int k, float *answers)
{
	for (int i = 0; i < n; i++)
		memcpy(answers + ((ptrdiff_t)i * width + k) * NUMBER_OUTPUTS,
			one + (ptrdiff_t)i * NUMBER_OUTPUTS, NUMBER_OUTPUTS * sizeof(*one));
}

void several_answer(
	const struct several *several, const struct numbers_samples *samples, float *answers)
{
	float slow[SEVERAL_MOST], one[SEVERAL_MOST * NUMBER_OUTPUTS];

	for (int k = 0; k < several->width; k++) {
		const struct numbers_samples mine = samples_of(samples, several->width, k, slow);

		numbers_answer(several->each[k], &mine, one);
		put_answers(one, samples->n, several->width, k, answers);
	}
}

void several_ask(struct several *several, const struct numbers_samples *samples, float *answers)
{
	float slow[SEVERAL_MOST], one[SEVERAL_MOST * NUMBER_OUTPUTS];

	for (int k = 0; k < several->width; k++) {
		const struct numbers_samples mine = samples_of(samples, several->width, k, slow);

		numbers_ask(several->each[k], &mine, one);
		put_answers(one, samples->n, several->width, k, answers);
	}
}

void several_learn(
	struct several *several, const struct numbers_samples *samples, const union target *labels)
{
	const int width = several->width;
	union target mine[SEVERAL_MOST];
	float slow[SEVERAL_MOST];

	for (int k = 0; k < width; k++) {
		const struct numbers_samples one = samples_of(samples, width, k, slow);

		for (int i = 0; i < samples->n; i++)
			mine[i] = labels[(ptrdiff_t)i * width + k];
		numbers_learn(several->each[k], &one, mine);
	}
}

int several_copy_new(struct several **copy, const struct several *several, struct err *err)
{
	struct several *made = make(several->width, err);
	int code = made ? 0 : ERR_MEMORY;

	for (int k = 0; k < several->width && !code; k++)
		code = numbers_copy_new(&made->each[k], several->each[k], err);
	return done(copy, made, code);
}

void several_copy(struct several *copy, const struct several *several)
{
	for (int k = 0; k < several->width; k++)
		numbers_copy(copy->each[k], several->each[k]);
}

void several_grow(struct several *to, const struct several *from)
{
	for (int k = 0; k < from->width; k++)
		numbers_grow(to->each[k], from->each[k]);
}

double several_macs(const struct several *several)
{
	double macs = 0;

	for (int k = 0; k < several->width; k++)
		macs += numbers_macs(several->each[k]);
	return macs;
}

double several_bytes(const struct several *several)
{
	double bytes = sizeof(*several);

	for (int k = 0; k < several->width; k++)
		bytes += numbers_bytes(several->each[k]);
	return bytes;
}

void several_state(struct several *several, struct state *state)
{
	for (int k = 0; k < several->width && !state_failed(state); k++)
		numbers_state(several->each[k], state);
}
