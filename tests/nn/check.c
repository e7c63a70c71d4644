/*
 * The helpers of check.h. Guarded memory is [16 floats: count, guard][count floats]
 * [16 floats: guard].
 */
#include "check.h"

#include <string.h>
#include "base/rng.h"
#include "nn/own/layer.h"
#include "optim/optimizer.h"
#include "cells.h"

enum { GUARD = 16 };

static const uint32_t POISON = 0x7fc0beef, CANARY = 0x5ca1ab1e;

void fill(float *values, size_t count, uint64_t seed)
{
	const struct rng rng = {seed, RNG_TEST};

	for (size_t i = 0; i < count; i++)
		values[i] = 2 * rng_float(rng, i) - 1;
}

void fill_labels(int32_t *labels, int count, int classes, uint64_t seed)
{
	const struct rng rng = {seed, RNG_TEST};

	for (int i = 0; i < count; i++)
		labels[i] = (int32_t)rng_below(rng, (uint64_t)i, (uint64_t)classes);
}

static void set_words(float *values, size_t count, uint32_t word)
{
	for (size_t i = 0; i < count; i++)
		memcpy(values + i, &word, sizeof(word));
}

static bool words_are(const float *values, size_t count, uint32_t word)
{
	for (size_t i = 0; i < count; i++)
		if (memcmp(values + i, &word, sizeof(word)))
			return false;
	return true;
}

float *guarded_new(size_t count)
{
	float *block = mem_new(count + 2 * GUARD, sizeof(float));

	assert_non_null(block);
	memcpy(block, &count, sizeof(count));
	set_words(block + 2, GUARD - 2, CANARY);
	set_words(block + GUARD, count, POISON);
	set_words(block + GUARD + count, GUARD, CANARY);
	return block + GUARD;
}

float *guarded_copy(const float *values, size_t count)
{
	float *copy = guarded_new(count);

	if (count)
		memcpy(copy, values, count * sizeof(float));
	return copy;
}

void guarded_free(float *values)
{
	size_t count;

	if (!values)
		return;
	memcpy(&count, values - GUARD, sizeof(count));
	if (!words_are(values - GUARD + 2, GUARD - 2, CANARY))
		fail_msg("something wrote before a buffer of %zu floats", count);
	if (!words_are(values + count, GUARD, CANARY))
		fail_msg("something wrote behind a buffer of %zu floats", count);
	mem_free(values - GUARD);
}

bool guarded_untouched(const float *values, size_t count)
{
	return words_are(values, count, POISON);
}

static size_t place(const struct tensor *t, int block, int n, int c, int y, int x)
{
	if (t->planar_pad >= 0) {
		const size_t line = (size_t)t->width + 2 * t->planar_pad;
		return n * t->image + c * t->plane + (y + t->planar_pad) * line + x + t->planar_pad;
	}
	return n * t->image + c / block * t->plane + ((size_t)y * t->width + x) * block + c % block;
}

void tensor_put(const struct tensor *t, int block, const float *plain, float *data)
{
	const bool planar = t->planar_pad >= 0;
	const size_t used = planar ? t->plane : tensor_pixels(t) * block;

	set_words(data, t->floats, POISON);
	for (int n = 0; n < t->n; n++)
		for (int b = 0; b < t->blocks; b++)
			memset(data + n * t->image + b * t->plane, 0, used * sizeof(float));
	for (int n = 0; n < t->n; n++)
		for (int c = 0; c < t->channels; c++)
			for (int y = 0; y < t->height; y++)
				for (int x = 0; x < t->width; x++)
					data[place(t, block, n, c, y, x)] = *plain++;
}

void tensor_get(const struct tensor *t, int block, const float *data, float *plain)
{
	for (int n = 0; n < t->n; n++)
		for (int c = 0; c < t->blocks * block; c++)
			for (int y = 0; y < t->height; y++)
				for (int x = 0; x < t->width; x++) {
					const float value = data[place(t, block, n, c, y, x)];
					if (c < t->channels)
						*plain++ = value;
					else if (value != 0)
						fail_msg(
							"padded channel %d of %d is %g at (%d, %d)",
							c, t->channels, value, y, x);
				}
}

double worst(const float *got, const double *want, const double *size, size_t count)
{
	double most = 0, largest = 0;

	for (size_t i = 0; i < count; i++)
		largest = fmax(largest, fabs(want[i]));
	for (size_t i = 0; i < count; i++) {
		const double error = fabs(got[i] - want[i]), against = size ? size[i] : largest;
		if (isnan(error) && !isnan(want[i]))
			return INFINITY;
		if (error > 0)
			most = fmax(most, error / against);
	}
	return most;
}

double norm_of(const float *values, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (double)values[i] * values[i];
	return sqrt(sum);
}

double distance(const float *got, const float *want, size_t count)
{
	double sum = 0, size = 0;

	for (size_t i = 0; i < count; i++) {
		const double error = (double)got[i] - want[i];
		sum += error * error;
		size += (double)want[i] * want[i];
	}
	if (isnan(sum))
		return INFINITY;
	return sum > 0 ? sqrt(sum / size) : 0;
}

bool same_bits(const void *a, const void *b, size_t floats)
{
	return !floats || !memcmp(a, b, floats * sizeof(float));
}

/*
 * In every norm odd channels go well above zero and even ones well below, so that residuals,
 * too, add up to sums of one sign.
 */
static void make_firm(const struct param *row, float *values)
{
	for (size_t i = 0; i < row->count; i++) {
		if (row->kind == PARAM_SCALE)
			values[i] /= 4;
		else if (row->kind == PARAM_SHIFT)
			values[i] += i % 2 ? 2 : -2;
	}
}

/* Around one for scales and variances, around zero for the rest. */
static void randomize(const struct param *row, float *values, uint64_t seed)
{
	const bool positive = row->kind == PARAM_SCALE || row->kind == STAT_VARIANCE;

	fill(values, row->count, seed);
	for (size_t i = 0; i < row->count; i++)
		values[i] = (positive ? 1.0f : 0.0f) + values[i] / 4;
}

static void random_params(struct rig *rig, const struct rig_config *config)
{
	const struct param_table *params = net_params(rig->net), *stats = net_stats(rig->net);

	net_init(rig->net, config->seed, rig->params, rig->stats, NULL);
	for (int i = 0; i < params->count; i++) {
		const struct param *row = params->rows + i;
		if (row->kind == PARAM_CONV || row->kind == PARAM_DENSE)
			continue;
		randomize(row, rig->params + row->offset, config->seed + 100 + (uint64_t)i);
		if (config->firm)
			make_firm(row, rig->params + row->offset);
	}
	for (int i = 0; i < stats->count; i++)
		randomize(stats->rows + i, rig->stats + stats->rows[i].offset,
			config->seed + 10000 + (uint64_t)i);
}

void rig_open(struct rig *rig, const struct rig_config *config)
{
	const struct net_spec *spec = &config->spec;
	struct err err;

	*rig = (struct rig){.n = config->n,
		.classes = spec->classes,
		.sample = (size_t)spec->channels * spec->height * spec->width};
	assert_ok(net_new(&rig->net, spec, &err), err);
	assert_ok(engine_new(&rig->engine, &config->engine, &err), err);
	assert_ok(runner_new(&rig->runner, rig->net, rig->engine, config->micro, &err), err);
	rig->floats = net_params(rig->net)->floats;
	rig->stat_floats = net_stats(rig->net)->floats;
	rig->params = guarded_new(rig->floats);
	rig->stats = guarded_new(rig->stat_floats);
	rig->grad = guarded_new(rig->floats);
	rig->input = guarded_new(rig->sample * config->n);
	rig->losses = guarded_new(config->n);
	rig->logits = guarded_new((size_t)config->n * spec->classes);
	rig->labels = (int32_t *)guarded_new(config->n);
	/* Only the gaps between tensors matter: the rest is overwritten. */
	memset(rig->grad, 0, rig->floats * sizeof(float));
	random_params(rig, config);
	fill(rig->input, rig->sample * config->n, config->seed + 1);
	fill_labels(rig->labels, config->n, spec->classes, config->seed + 2);
}

void rig_close(struct rig *rig)
{
	runner_free(rig->runner);
	engine_free(rig->engine);
	net_free(rig->net);
	guarded_free(rig->params);
	guarded_free(rig->stats);
	guarded_free(rig->grad);
	guarded_free(rig->input);
	guarded_free(rig->losses);
	guarded_free(rig->logits);
	guarded_free((float *)rig->labels);
}

struct runner_batch rig_batch(const struct rig *rig, int first, int n, const float *weights)
{
	return (struct runner_batch){
		rig->input + first * rig->sample, CELLS(rig->labels + first), weights, n};
}

void rig_gradient(struct rig *rig)
{
	const struct runner_batch batch = rig_batch(rig, 0, rig->n, NULL);
	struct err err;

	assert_ok(runner_gradient(rig->runner, rig->params, rig->stats, &batch, rig->grad,
			  &rig->loss, rig->losses, rig->logits, &err),
		err);
}

void rig_learn(struct rig *rig, int steps)
{
	struct optimizer_config settings;
	struct optimizer *optimizer;
	struct err err;

	assert_ok(optimizer_defaults(&settings, "sgd", &err), err);
	assert_ok(optimizer_new(&optimizer, &settings, rig->floats, rig->engine, &err), err);
	for (int i = 0; i < steps; i++) {
		rig_gradient(rig);
		optimizer_step(optimizer, rig->params, rig->grad, 0.01f, NULL);
	}
	optimizer_free(optimizer);
}
