/*
 * What all photos of a stream share: drift's world, and a texture that clouds, hills and
 * ground are cut from. The texture is the sum of a few grids of random numbers, each twice as
 * fine and half as strong as the one before, with smooth ways between their points.
 */
#include "base/mem.h"
#include "streams/made/photos_scene.h"

enum { COARSEST = 8, OCTAVES = 4 };

/* Between the points of a grid of side * side numbers; x and y in shares of the texture. */
static float grid_at(const float *grid, int side, float x, float y)
{
	const float right = x * (float)side, down = y * (float)side;
	const int column = (int)right, row = (int)down;
	const float a = right - (float)column, b = down - (float)row;
	const float across = a * a * (3 - 2 * a), along = b * b * (3 - 2 * b);
	const float *upper = grid + row % side * side, *lower = grid + (row + 1) % side * side;
	const int left = column % side, next = (column + 1) % side;

	return between(between(upper[left], upper[next], across),
		between(lower[left], lower[next], across), along);
}

static void texture_fill(const struct drift_world *drift, float *texture)
{
	float grid[(COARSEST << (OCTAVES - 1)) * (COARSEST << (OCTAVES - 1))];
	float weight = 0.53f;
	uint64_t counter = 0;

	for (int octave = 0; octave < OCTAVES; octave++, weight *= 0.5f) {
		const int side = COARSEST << octave;

		for (int i = 0; i < side * side; i++)
			grid[i] = rng_float(drift_rng(drift, PHOTOS_TEXTURE), counter++);
		for (int i = 0; i < PHOTOS_TEXTURE_SIDE * PHOTOS_TEXTURE_SIDE; i++)
			texture[i] +=
				weight *
				grid_at(grid, side,
					(float)(i % PHOTOS_TEXTURE_SIDE) / PHOTOS_TEXTURE_SIDE,
					(float)(i / PHOTOS_TEXTURE_SIDE) / PHOTOS_TEXTURE_SIDE);
	}
}

int photos_world_new(
	struct photos_world **world, const struct photos_config *config, struct err *err)
{
	const size_t points = (size_t)PHOTOS_TEXTURE_SIDE * PHOTOS_TEXTURE_SIDE;
	struct photos_world *made = mem_new(1, sizeof(*made));
	int code;

	*world = NULL;
	if (!made)
		return err_memory(err, "the stream photos", sizeof(*made));
	made->config = *config;
	made->texture = mem_new(points, sizeof(float));
	code = made->texture ? drift_world_new(&made->drift, &config->drift, err)
			     : err_memory(err, "the stream photos", points * sizeof(float));
	if (code) {
		photos_world_free(made);
		return code;
	}
	texture_fill(made->drift, made->texture);
	*world = made;
	return 0;
}

void photos_world_free(struct photos_world *world)
{
	if (!world)
		return;
	drift_world_free(world->drift);
	mem_free(world->texture);
	mem_free(world);
}
