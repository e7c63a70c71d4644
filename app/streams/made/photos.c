/*
 * Photos without a download: the stream drift as small colour pictures of its places. Classes,
 * modes, albums, labels and their noise are drift's, number by number; what a sample looks like is
 * a scene (photos_scene.h) that is painted (photos_paint.h) and taken with a camera of its time
 * (photos_camera.h).
 *
 * Everything is a function of (seed, part, id): nothing is kept but the world. Numbers are floats,
 * with +, -, *, / in a fixed order and products that are never fused with sums, so that a photo has
 * the same bits on every machine.
 */
#include "base/mem.h"
#include "streams/made/photos_paint.h"
#include "streams/made/photos_scene.h"
#include "streams/source_types.h"

struct photos {
	struct source source; /* must be first */
	struct photos_world *world;
};

static const struct photos_world *world_of(const struct source *source)
{
	return ((const struct photos *)source)->world;
}

static void photos_close(struct source *source)
{
	struct photos *photos = (struct photos *)source;

	photos_world_free(photos->world);
	mem_free(photos);
}

static int photos_open(struct source **source, const struct options *options, struct err *err)
{
	struct photos *photos = mem_new(1, sizeof(*photos));
	struct photos_config config;
	const struct drift_config *drift = &config.drift;
	int code;

	*source = NULL;
	if (!photos)
		return err_memory(err, "the stream photos", sizeof(*photos));
	photos_config_read(&config, options);
	code = photos_world_new(&photos->world, &config, err);
	if (code) {
		mem_free(photos);
		return code;
	}
	photos->source.info = (struct source_info){
		.classes = drift->classes,
		.channels = 3,
		.height = config.size,
		.width = config.size,
		.samples = (int64_t)drift->steps * drift->per_step,
		.evals = (int64_t)drift->steps * drift->eval_per_step,
		.per_step = drift->per_step,
		.tasks = drift->tasks,
	};
	*source = &photos->source;
	return 0;
}

static int photos_inputs(struct source *source, enum source_part part, const int64_t *ids, int n,
	float *inputs, struct err *err)
{
	const struct photos_world *world = world_of(source);
	const int size = world->config.size;
	const struct rng grain =
		drift_rng(world->drift, part == SOURCE_EVAL ? PHOTOS_EVAL_GRAIN : PHOTOS_GRAIN);

	for (int i = 0; i < n; i++) {
		float *planes = inputs + (int64_t)i * 3 * size * size;
		struct photos_scene scene;

		photos_scene_of(world, part, ids[i], &scene);
		photos_paint(&scene, world->texture, size, planes);
		camera_develop(&scene.camera, grain, (uint64_t)ids[i], size, planes);
	}
	return 0;
}

static int photos_labels(struct source *source, enum source_part part, const int64_t *ids, int n,
	int32_t *labels, struct err *err)
{
	for (int i = 0; i < n; i++)
		labels[i] = drift_label(world_of(source)->drift, part, ids[i]);
	return 0;
}

static double photos_eval_time(const struct source *source, int64_t id)
{
	const struct drift_world *drift = world_of(source)->drift;

	return (double)drift_step(drift, SOURCE_EVAL, id) / drift->config.steps;
}

static int64_t photos_task_of(const struct source *source, int64_t step)
{
	return drift_task(world_of(source)->drift, step);
}

const struct source_type source_photos = {
	.name = "photos",
	.help = "made-up colour photos of places, of any size: drift to look at",
	.options = photos_options,
	.open = photos_open,
	.close = photos_close,
	.inputs = photos_inputs,
	.labels = photos_labels,
	.eval_time = photos_eval_time,
	.task = photos_task_of,
};
