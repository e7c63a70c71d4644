/*
 * Photos without a download: the stream drift as small colour pictures of its places. Classes,
 * modes, albums, labels and their noise are drift's, number by number; what a sample looks like is
 * a scene (photos_scene.h) that is painted (photos_paint.c) and taken with a camera of its time
 * (photos_camera.h).
 *
 * Everything is a function of (seed, part, id): nothing is kept but the world. Numbers are floats,
 * with +, -, *, / in a fixed order and products that are never fused with sums, so that a photo has
 * the same bits on every machine.
 */
#include "streams/made/photos_scene.h"
#include "streams/source_types.h"

struct photos {
	struct made_source made; /* must be first; its world is the photos' */
	struct photos_world *world;
};

static void photos_close(struct source *source)
{
	photos_world_free(((struct photos *)source)->world);
}

static int photos_open(struct source *source, const struct options *options, struct err *err)
{
	struct photos *photos = (struct photos *)source;
	struct photos_config config;
	int code;

	photos_config_read(&config, options);
	code = photos_world_new(&photos->world, &config, err);
	if (code)
		return code;
	photos->made.world = photos->world->drift;
	made_source_info(&photos->made, 3, config.size, config.size);
	return 0;
}

static int photos_inputs(struct source *source, enum source_part part, const int64_t *ids, int n,
	float *inputs, struct err *err)
{
	const struct photos_world *world = ((struct photos *)source)->world;
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

const struct source_type source_photos = {
	.name = "photos",
	.help = "made-up colour photos of places, of any size: drift to look at",
	.options = photos_options,
	.size = sizeof(struct photos),
	.open = photos_open,
	.close = photos_close,
	.inputs = photos_inputs,
	.labels = made_source_labels,
	.eval_time = made_source_eval_time,
	.task = made_source_task,
	.task_begins = made_source_task_begins,
};
