/*
 * The built-in stream: no download, any length, a miniature of photos that are
 * taken at places and sorted by time. drift_world.h says what there is to see,
 * drift_album.h why neighbours are alike; a sample is
 *
 *	(mean of its album's mode at its time + offset N_album + noise N_sample) Q
 *
 * where the rows of Q are orthogonal, their squared lengths fall as a power of
 * the row and sum to dim, and everything is scaled to variance 1. Its label is
 * the album's class, or, for a share of the samples, drawn anew.
 *
 * Everything is a function of (seed, part, id): nothing is kept but the world.
 */
#include <string.h>

#include "streams/made/drift_album.h"
#include "streams/made/drift_world.h"
#include "streams/source_types.h"

/* What each part takes its random numbers from. */
static const struct {
	enum drift_use offset, noise;
} uses[] = {
	[SOURCE_STREAM] = {DRIFT_OFFSET, DRIFT_NOISE},
	[SOURCE_EVAL] = {DRIFT_EVAL_OFFSET, DRIFT_EVAL_NOISE},
};

static void drift_close(struct source *source)
{
	drift_world_free(((struct made_source *)source)->world);
}

static int drift_open(struct source *source, const struct options *options, struct err *err)
{
	struct made_source *made = (struct made_source *)source;
	struct drift_config config;
	int code;

	drift_config_read(&config, options);
	code = drift_world_new(&made->world, &config, err);
	if (!code)
		made_source_info(made, config.dim, 1, 1);
	return code;
}

/* latent times the mixing matrix, a block of inputs at a time, which stays in registers. */
static void mix(const struct drift_world *world, const float *latent, float *inputs)
{
	const int dim = world->config.dim, stride = world->stride;

	for (int first = 0; first < dim; first += DRIFT_BLOCK) {
		const int left = dim - first;
		const float *row = world->mixing + first;
		float sums[DRIFT_BLOCK] = {0};

		for (int i = 0; i < dim; i++, row += stride)
			for (int k = 0; k < DRIFT_BLOCK; k++)
				sums[k] += latent[i] * row[k];
		memcpy(inputs + first, sums,
			(size_t)(left < DRIFT_BLOCK ? left : DRIFT_BLOCK) * sizeof(float));
	}
}

/*
 * Where the samples of an album lie in a step, but for their noise. Neighbours mostly share it, so
 * that of the last albums is kept, each at the place that its number says.
 */
enum { BASES_MOST = 64, BASES_FLOATS = 8 * DRIFT_DIM_MOST };

struct bases {
	int64_t count; /* a power of two */
	int64_t numbers[BASES_MOST], steps[BASES_MOST];
	float values[BASES_FLOATS];
};

static void bases_init(struct bases *bases, const struct drift_world *world, enum source_part part)
{
	/* Evaluation samples share nothing. */
	bases->count = part == SOURCE_EVAL ? 1 : BASES_MOST;
	while (bases->count * world->stride > BASES_FLOATS)
		bases->count /= 2;
	for (int64_t i = 0; i < bases->count; i++)
		bases->numbers[i] = -1;
}

static void make_base(const struct drift_world *world, enum source_part part,
	const struct drift_album *album, int64_t step, float *base)
{
	const size_t stride = (size_t)world->stride;
	const float spread = (float)world->config.offset;
	float mean[DRIFT_DIM_MOST];

	drift_mean(world, album->class, album->mode, step, mean);
	rng_normals(drift_rng(world, uses[part].offset), (uint64_t)album->number * stride, base,
		stride);
	for (size_t k = 0; k < stride; k++)
		base[k] = mean[k] + spread * base[k];
}

/* All calls with the same `bases` must be for the same part. */
static const float *base_of(
	struct bases *bases, const struct drift_world *world, enum source_part part, int64_t id)
{
	const struct drift_album album = drift_album_of(world, part, id);
	const int64_t step = drift_step(world, part, id), at = album.number & (bases->count - 1);
	float *base = bases->values + at * world->stride;

	if (bases->numbers[at] != album.number || bases->steps[at] != step) {
		make_base(world, part, &album, step, base);
		bases->numbers[at] = album.number;
		bases->steps[at] = step;
	}
	return base;
}

static int drift_inputs(struct source *source, enum source_part part, const int64_t *ids, int n,
	float *inputs, struct err *err)
{
	const struct drift_world *world = ((struct made_source *)source)->world;
	const size_t stride = (size_t)world->stride;
	const float noise = (float)world->config.noise;
	float latent[DRIFT_DIM_MOST];
	struct bases bases;

	bases_init(&bases, world, part);
	for (int i = 0; i < n; i++) {
		const float *base = base_of(&bases, world, part, ids[i]);

		rng_normals(drift_rng(world, uses[part].noise), (uint64_t)ids[i] * stride, latent,
			stride);
		for (size_t k = 0; k < stride; k++)
			latent[k] = base[k] + noise * latent[k];
		mix(world, latent, inputs + (int64_t)i * world->config.dim);
	}
	return 0;
}

const struct source_type source_drift = {
	.name = "drift",
	.help = "a made-up stream of any length: places that are born, wander and turn with "
		"seasons",
	.options = drift_options,
	.size = sizeof(struct made_source),
	.open = drift_open,
	.close = drift_close,
	.inputs = drift_inputs,
	.labels = made_source_labels,
	.eval_time = made_source_eval_time,
	.task = made_source_task,
	.task_begins = made_source_task_begins,
};
