/*
 * What a photo shows, before anyone paints it: the light, the land, the things
 * that stand in it and where the photographer stands.
 *
 * A class is a place. It has a landmark of its own, a kind of land behind it and
 * a kind of ground. A mode is a view of the place: how far away one stands, which
 * other things are in sight. How they look (sizes, colours, the horizon) are the
 * PHOTOS_LOOK numbers of the mode's mean in drift's world, which wander with time.
 * An album is an hour at a place: weather, time of day, a viewpoint, a camera; its
 * photos differ by small steps and by who walks into the picture.
 *
 * Coordinates: x from -1 at the left to 1 at the right of an untouched view, y from
 * -1 at the bottom to 1 at the top. Colours are what a screen shows, 0 to 1.
 */
#ifndef RETAIN_STREAMS_MADE_PHOTOS_SCENE_H
#define RETAIN_STREAMS_MADE_PHOTOS_SCENE_H

#include "streams/made/drift_album.h"
#include "streams/made/photos_camera.h"
#include "streams/made/photos_things.h"

/* The keys of section photos; photos_options says what they mean. */
struct photos_config {
	struct drift_config drift;
	int size, cameras;
	double viewpoint, weather, night, clutter, grain;
};

extern const struct option_row photos_options[];
void photos_config_read(struct photos_config *config, const struct options *options);

enum {
	PHOTOS_LOOK = 16,  /* numbers that say how a view looks */
	PHOTOS_THINGS = 8, /* landmarks, neighbours, passers-by: the most there are in a photo */
	PHOTOS_SIZE_MOST = 512,
	PHOTOS_TEXTURE_SIDE = 128,
};

/* The outline of the land against the sky, as a height over the horizon. */
typedef float photos_outline(const float *texture, float x, float phase);

/* A strip of land, from the horizon up to its outline. */
struct photos_ridge {
	photos_outline *outline;
	float height, stretch, phase;
	struct rgb colour;
	float snow; /* how much of it is white above half its height */
};

struct photos_light {
	struct rgb high, low; /* the sky above and at the horizon */
	struct rgb light;     /* what colours are multiplied with */
	struct rgb sun, cloud;
	float sun_x, sun_y, sun_radius; /* or the moon's */
	float disc, glow;               /* how much clouds let through */
	float cover, cloud_x, cloud_y;  /* how much of the sky clouds take; where they are */
	float dark;                     /* 0 by day, 1 at night */
	float side;                     /* where light comes from: -1 left, 1 right */
};

struct photos_ground {
	struct rgb colour, other; /* between which its texture goes */
	float stretch, across;    /* of the texture along x; into the depth */
	float shift;
};

struct photos_view {
	float x, y, zoom, tilt;
};

struct photos_scene {
	struct photos_light light;
	float horizon;
	struct photos_ridge ridges[2]; /* the farther one first */
	struct photos_ground ground;
	struct thing things[PHOTOS_THINGS]; /* the farthest first */
	int count;
	struct photos_view view;
	struct camera camera;
};

/* What scenes are made from; only read once it is made. */
struct photos_world {
	struct photos_config config;
	struct drift_world *drift;
	float *texture; /* [side][side], 0 to 1, continues at its edges */
};

int photos_world_new(
	struct photos_world **world, const struct photos_config *config, struct err *err);
void photos_world_free(struct photos_world *world);

/* The scene of a sample. */
void photos_scene_of(const struct photos_world *world, enum source_part part, int64_t id,
	struct photos_scene *scene);

/* A texture's value between its points; x and y in points, not below -1024. */
static inline float texture_at(const float *texture, float x, float y)
{
	const float right = x + 1024, down = y + 1024;
	const int column = (int)right, row = (int)down;
	const float across = right - (float)column, along = down - (float)row;
	const int mask = PHOTOS_TEXTURE_SIDE - 1;
	const float *upper = texture + (row & mask) * PHOTOS_TEXTURE_SIDE;
	const float *lower = texture + ((row + 1) & mask) * PHOTOS_TEXTURE_SIDE;
	const int left = column & mask, next = (column + 1) & mask;
	const float above = upper[left] + across * (upper[next] - upper[left]);
	const float below = lower[left] + across * (lower[next] - lower[left]);

	return above + along * (below - above);
}

/* Paints a scene as three planes of size * size colours, red first, from the top row on. */
void photos_paint(const struct photos_scene *scene, const float *texture, int size, float *planes);

/* What time of day, weather and season do to colours. */

struct photos_season {
	struct rgb leaves, grass;
	float sun;  /* how high it stands, 1 in the middle of the year */
	float snow; /* how much of what can be white is */
};

/* A time of the year in turns, 0 in spring; cold places have snow. */
struct photos_season photos_season_of(double turn, float cold);

/* The light at a height of the sun, -0.25 at night to 1, below clouds (0 to 1). */
void photos_light_of(float height, float overcast, struct photos_light *light);

#endif
