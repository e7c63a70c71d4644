/*
 * Batches of training inputs, drawn at random over the stream as a learner would
 * draw them, with nothing computed on them.
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/rng.h"
#include "streams/source.h"
#include "inspect/bench.h"

static void draw_ids(int64_t *ids, int n, uint64_t batch, int64_t samples)
{
	const struct rng rng = {1, RNG_TEST};

	for (int i = 0; i < n; i++)
		ids[i] = (int64_t)rng_below(
			rng, batch * (uint64_t)n + (uint64_t)i, (uint64_t)samples);
}

static int run_batches(struct source *source, int n, double seconds, float *inputs, int64_t *ids,
	struct bench_data_result *result, struct err *err)
{
	const int64_t samples = source_info(source)->samples;
	const double start = clock_now();
	double before = start;
	int code = 0;

	while (!code && before - start < seconds) {
		double now;

		draw_ids(ids, n, (uint64_t)result->batches, samples);
		code = source_draw(source, ids, n, (uint64_t)result->batches + 1, 0, inputs, err);
		now = clock_now();
		if (n / (now - before) > result->samples_per_s)
			result->samples_per_s = n / (now - before);
		before = now;
		result->batches++;
	}
	result->mean_samples_per_s = (double)result->batches * n / (before - start);
	return code;
}

int bench_data(const struct options *options, double seconds, struct bench_data_result *result,
	struct err *err)
{
	const int n = options_int(options, "run.batch");
	struct source *source = NULL;
	const struct source_info *info;
	float *inputs;
	int64_t *ids;
	size_t floats;
	int code = source_open(&source, options, err);

	*result = (struct bench_data_result){0};
	if (code)
		return code;
	info = source_info(source);
	floats = (size_t)info->channels * (size_t)info->height * (size_t)info->width;
	inputs = mem_new((size_t)n * floats, sizeof(*inputs));
	ids = mem_new((size_t)n, sizeof(*ids));
	code = inputs && ids ? run_batches(source, n, seconds, inputs, ids, result, err)
			     : err_memory(err, "a batch", (size_t)n * floats * sizeof(float));
	result->bad = source_bad_count(source);
	mem_free(inputs);
	mem_free(ids);
	source_close(source);
	return code;
}
