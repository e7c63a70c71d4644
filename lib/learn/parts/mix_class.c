/*
 * A mixture by class: models have a record for each class that the first one, the slow net,
 * predicts. So a part may lead for the classes that drifted, and the slow net for all others.
 *
 * Records are ordered by class, so that new classes are appended.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/parts/mix.h"
#include "learn/parts/mix_impl.h"

static size_t numbers(const struct mix *mix)
{
	return (size_t)mix->classes * (size_t)mix->count;
}

bool mix_class_init(struct mix *mix)
{
	if (!mix->config.by_class)
		return true;
	mix->class_record = mem_new(numbers(mix), sizeof(double));
	mix->class_gain = mem_new(numbers(mix), sizeof(double));
	mix->spoken = mem_new(MIX_CHUNK, sizeof(*mix->spoken));
	return mix->class_record && mix->class_gain && mix->spoken;
}

void mix_class_release(struct mix *mix)
{
	mem_free(mix->class_record);
	mem_free(mix->class_gain);
	mem_free(mix->spoken);
}

void mix_class_restart(struct mix *mix)
{
	if (!mix->config.by_class)
		return;
	memset(mix->class_record, 0, numbers(mix) * sizeof(double));
	memset(mix->class_gain, 0, numbers(mix) * sizeof(double));
	memset(mix->spoken, 0, MIX_CHUNK * sizeof(*mix->spoken));
}

void mix_look(struct mix *mix, const float *probabilities, int n)
{
	assert(n <= MIX_CHUNK);
	for (int i = 0; i < n && mix->config.by_class; i++, probabilities += mix->classes) {
		mix->spoken[i] = 0;
		for (int c = 1; c < mix->classes; c++)
			if (probabilities[c] > probabilities[mix->spoken[i]])
				mix->spoken[i] = c;
	}
}

void mix_class_gain(struct mix *mix, int model, int sample, double gain)
{
	if (mix->config.by_class)
		mix->class_gain[(size_t)mix->spoken[sample] * (size_t)mix->count + (size_t)model] +=
			gain;
}

void mix_add_by_class(
	const struct mix *mix, int model, const float *probabilities, int n, float *sum)
{
	const bool prior = !model && mix->config.prior > 0;
	double weights[MIX_MODELS];

	for (int i = 0; i < n; i++, probabilities += mix->classes, sum += mix->classes) {
		mix_record_weights(mix,
			mix->class_record + (size_t)mix->spoken[i] * (size_t)mix->count, weights);
		mix_add(mix, weights[model], prior ? weights[mix->count - 1] : 0, probabilities, 1,
			sum);
	}
}

void mix_class_reveal(struct mix *mix)
{
	for (size_t i = 0; i < numbers(mix) && mix->config.by_class; i++) {
		mix->class_record[i] = mix->config.keep * mix->class_record[i] + mix->class_gain[i];
		mix->class_gain[i] = 0;
	}
}

bool mix_class_right(const struct mix *mix)
{
	bool right = true;

	for (size_t i = 0; i < numbers(mix) && mix->config.by_class; i++)
		right = right && isfinite(mix->class_record[i]);
	return right;
}

void mix_class_state(struct mix *mix, struct state *state)
{
	if (mix->config.by_class)
		state_class_doubles(state, "by_class", mix->class_record, (size_t)mix->classes,
			(size_t)mix->count);
}
