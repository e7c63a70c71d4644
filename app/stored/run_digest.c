/* Which data a run learned from, in a number. */
#include <string.h>

#include "base/checksum.h"
#include "run/run_impl.h"

enum { DIGEST_SAMPLES = 64 };

/* The samples in the middle of so many equal parts. */
static bool add_part(const struct run *run, enum source_part part, int64_t samples, float *inputs,
	uint32_t *digest)
{
	const struct source_info *info = source_info(run->source);
	const size_t floats = (size_t)info->channels * (size_t)info->height * (size_t)info->width;
	const int64_t count = samples < DIGEST_SAMPLES ? samples : DIGEST_SAMPLES;

	for (int64_t i = 0; i < count; i++) {
		const int64_t id = i * (samples / count) + samples / count / 2;
		struct err err;
		int32_t label;

		if (source_inputs(run->source, part, &id, 1, inputs, &err) ||
			source_labels(run->source, part, &id, 1, &label, &err))
			return false;
		*digest = checksum_add(*digest, inputs, floats * sizeof(*inputs));
		*digest = checksum_add(*digest, &label, sizeof(label));
	}
	return true;
}

bool run_digest(const struct run *run, uint32_t *digest)
{
	const struct source_info *info = source_info(run->source);
	float *inputs = mem_new((size_t)info->channels * (size_t)info->height * (size_t)info->width,
		sizeof(*inputs));
	bool whole;

	*digest = 0;
	whole = inputs && add_part(run, SOURCE_STREAM, info->samples, inputs, digest) &&
		add_part(run, SOURCE_EVAL, info->evals, inputs, digest);
	mem_free(inputs);
	return whole;
}
