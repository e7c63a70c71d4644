/*
 * A scene is put together from the outside in: the hour, the land, the things in it, the
 * viewpoint, the camera. Each takes its random numbers from words of its own, so that
 * none depends on how many another took.
 */
#include "streams/made/photos_scene.h"

#include "base/mem.h"

/* How a view looks, by numbers that wander. */
enum look {
	LOOK_HEIGHT,
	LOOK_WIDTH,
	LOOK_HUE,
	LOOK_BRIGHT,
	LOOK_ROOF,
	LOOK_X,
	LOOK_HORIZON,
	LOOK_LAND,
	LOOK_PHASE,
	LOOK_BESIDE,
	LOOK_BESIDE_X,
	LOOK_BESIDE_HUE,
	LOOK_GROUND,
	LOOK_BEFORE,
	LOOK_BEFORE_X,
	LOOK_CHROMA,
};

enum { WORDS = 8, JITTERS = 8 };

/* All that is random about a photo. */
struct draw {
	struct drift_album album;
	const struct thing_kind *landmark;
	double u;
	float look[PHOTOS_LOOK];
	uint32_t place[4], view[4];          /* of the class; of the mode */
	float hour[WORDS], shot[2 * WORDS];  /* of the album; of the photo: in [0, 1) */
	float stand[JITTERS], move[JITTERS]; /* normals of the album, of the photo */
};

static float unit(uint32_t word)
{
	return (float)(word >> 8) * 0x1p-24f;
}

static int pick(uint32_t word, int count)
{
	return (int)((uint64_t)word * (uint64_t)count >> 32);
}

static void units(struct rng rng, uint64_t counter, float *out, int count)
{
	uint32_t bits[4];

	for (int i = 0; i < count; i++) {
		if (i % 4 == 0)
			rng_bits(rng, counter * (uint64_t)(count / 4) + (uint64_t)(i / 4), bits);
		out[i] = unit(bits[i % 4]);
	}
}

static void draw_fill(
	const struct photos_world *world, enum source_part part, int64_t id, struct draw *draw)
{
	static const struct {
		enum drift_use hour, shot, stand, move;
	} uses[] = {
		[SOURCE_STREAM] = {PHOTOS_ALBUM, PHOTOS_PHOTO, DRIFT_OFFSET, DRIFT_NOISE},
		[SOURCE_EVAL] = {PHOTOS_EVAL_ALBUM, PHOTOS_EVAL_PHOTO, DRIFT_EVAL_OFFSET,
			DRIFT_EVAL_NOISE},
	};
	const struct drift_world *drift = world->drift;
	const int64_t step = drift_step(drift, part, id);
	const struct drift_album album = drift_album_of(drift, part, id);
	const uint64_t mode =
		(uint64_t)album.class * (uint64_t)drift->config.modes + (uint64_t)album.mode;

	draw->album = album;
	draw->landmark =
		thing_kind(THING_LANDMARK, (int)(((uint64_t)album.class + drift->config.seed) %
						   (uint64_t)thing_count(THING_LANDMARK)));
	draw->u = drift_time(drift, step);
	drift_mean(drift, album.class, album.mode, step, draw->look);
	rng_bits(drift_rng(drift, PHOTOS_PLACE), (uint64_t)album.class, draw->place);
	rng_bits(drift_rng(drift, PHOTOS_VIEW), mode, draw->view);
	units(drift_rng(drift, uses[part].hour), (uint64_t)album.number, draw->hour, WORDS);
	units(drift_rng(drift, uses[part].shot), (uint64_t)id, draw->shot, 2 * WORDS);
	rng_normals(drift_rng(drift, uses[part].stand), (uint64_t)album.number * JITTERS,
		draw->stand, JITTERS);
	rng_normals(drift_rng(drift, uses[part].move), (uint64_t)id * JITTERS, draw->move, JITTERS);
}

static float outline_flat(const float *texture, float x, float phase)
{
	return 0;
}

static float outline_hills(const float *texture, float x, float phase)
{
	return texture_at(texture, 9 * x + phase, phase);
}

static float outline_peaks(const float *texture, float x, float phase)
{
	const float smooth = texture_at(texture, 13 * x + phase, phase);
	const float fine = texture_at(texture, 40 * x + phase, 2 * phase);
	const float fold = smooth < 0.5f ? 1 - 2 * smooth : 2 * smooth - 1;

	return 1.15f - 1.6f * fold + 0.2f * (fine - 0.5f);
}

static float outline_trees(const float *texture, float x, float phase)
{
	return 0.35f + 0.65f * texture_at(texture, 70 * x + phase, phase);
}

/* A house to each eighth of a view. */
static float outline_town(const float *texture, float x, float phase)
{
	const int house = (int)(8 * x + phase + 1024);

	return 0.15f + 0.85f * texture_at(texture, (float)(house * 37 % 128), phase);
}

enum tint { TINT_OWN, TINT_GRASS, TINT_LEAVES, TINT_SKY };

static const struct land {
	photos_outline *outline;
	float low, high; /* how far it rises */
	enum tint tint;
	struct rgb colour;
	float snow;
} lands[] = {
	{outline_hills, 0.3f, 0.7f, TINT_GRASS, {{0}}, 0.8f},
	{outline_peaks, 0.5f, 1.1f, TINT_OWN, {{0.42f, 0.42f, 0.48f}}, 1},
	{outline_trees, 0.25f, 0.5f, TINT_LEAVES, {{0}}, 0.5f},
	{outline_town, 0.35f, 0.8f, TINT_OWN, {{0.55f, 0.52f, 0.52f}}, 0.2f},
	{outline_hills, 0.1f, 0.35f, TINT_OWN, {{0.80f, 0.66f, 0.44f}}, 0.6f},
	{outline_flat, 0, 0, TINT_OWN, {{0}}, 0},
};

enum { SOIL_WATER = 1 };

static const struct soil {
	enum tint tint;
	struct rgb colour, other;
	float stretch, across, snow;
	bool water;
} soils[] = {
	{TINT_GRASS, {{1, 1, 1}}, {{0.72f, 0.78f, 0.7f}}, 20, 12, 1, false},
	[SOIL_WATER] = {TINT_SKY, {{0.62f, 0.8f, 0.88f}}, {{0.4f, 0.55f, 0.7f}}, 5, 30, 0, true},
	{TINT_OWN, {{0.86f, 0.74f, 0.52f}}, {{0.74f, 0.62f, 0.42f}}, 12, 6, 0.7f, false},
	{TINT_OWN, {{0.62f, 0.60f, 0.58f}}, {{0.46f, 0.45f, 0.46f}}, 30, 20, 0.6f, false},
	{TINT_GRASS, {{1.1f, 1.05f, 0.7f}}, {{0.6f, 0.56f, 0.4f}}, 2, 40, 1, false},
};

#define COUNT(table) ((int)(sizeof(table) / sizeof(*(table))))

static const struct rgb white = {{0.93f, 0.95f, 0.98f}};

static struct rgb tinted(enum tint tint, struct rgb own, const struct photos_season *season,
	const struct photos_light *light)
{
	const struct rgb tints[] = {
		[TINT_OWN] = {{1, 1, 1}},
		[TINT_GRASS] = season->grass,
		[TINT_LEAVES] = season->leaves,
		[TINT_SKY] = rgb_between(light->low, light->high, 0.4f),
	};

	return rgb_times(tints[tint], own);
}

static void make_ridge(const struct land *land, const struct draw *draw, float size, float phase,
	float haze, const struct photos_season *season, const struct photos_light *light,
	struct photos_ridge *ridge)
{
	const bool own = land->tint == TINT_OWN;
	const struct rgb base =
		tinted(land->tint, own ? land->colour : (struct rgb){{1, 1, 1}}, season, light);

	ridge->outline = land->outline;
	ridge->height = size * within(land->low, land->high, draw->look[LOOK_LAND]);
	ridge->stretch = 1;
	ridge->phase = phase;
	ridge->colour =
		rgb_times(rgb_between(base, white, 0.7f * land->snow * season->snow), light->light);
	ridge->colour = rgb_between(ridge->colour, light->low, haze);
	ridge->snow = land->outline == outline_peaks ? 1 - haze : 0;
}

/* What floats is at home on water. */
static const struct soil *soil_of(const struct draw *draw)
{
	return &soils[draw->landmark->uses & THING_AFLOAT ? SOIL_WATER
							  : pick(draw->view[3] << 8, COUNT(soils))];
}

static void make_land(const struct draw *draw, const struct photos_season *season, float fog,
	struct photos_scene *scene)
{
	const struct land *far = &lands[pick(draw->place[1], COUNT(lands))];
	const struct land *near = &lands[pick(draw->view[2], COUNT(lands))];
	const struct soil *soil = soil_of(draw);
	const struct photos_light *light = &scene->light;
	const float phase = 16 * unit(draw->view[3]) + within(0, 16, draw->look[LOOK_PHASE]);
	const float bright = within(0.8f, 1.2f, draw->look[LOOK_GROUND]);
	struct photos_ground *ground = &scene->ground;

	scene->horizon = within(-0.5f, 0.05f, draw->look[LOOK_HORIZON]);
	make_ridge(far, draw, 1, phase, 0.25f + 0.5f * fog, season, light, &scene->ridges[0]);
	make_ridge(
		near, draw, 0.4f, phase + 20, 0.08f + 0.5f * fog, season, light, &scene->ridges[1]);
	ground->colour = tinted(soil->tint, soil->colour, season, light);
	ground->other = tinted(soil->tint, soil->other, season, light);
	ground->colour = rgb_between(ground->colour, white, soil->snow * season->snow);
	ground->other = rgb_between(ground->other, white, 0.8f * soil->snow * season->snow);
	if (!soil->water) {
		ground->colour = rgb_times(rgb_scaled(ground->colour, bright), light->light);
		ground->other = rgb_times(rgb_scaled(ground->other, bright), light->light);
	}
	ground->stretch = soil->stretch;
	ground->across = soil->across;
	ground->shift = phase + 8 * draw->hour[6];
}

/* What a thing is painted with; `haze` is how much air is before it. */
static void paint_thing(struct thing *thing, struct rgb wall, struct rgb roof, float haze,
	const struct photos_season *season, const struct photos_light *light)
{
	const struct rgb lamp = {{1, 0.84f, 0.45f}};
	struct rgb *paints = thing->paints;

	paints[PAINT_WALL] = wall;
	paints[PAINT_SHADE] = rgb_scaled(wall, 0.72f);
	paints[PAINT_ROOF] = rgb_between(roof, white, 0.85f * season->snow);
	paints[PAINT_DARK] = (struct rgb){{0.20f, 0.18f, 0.18f}};
	paints[PAINT_WOOD] = (struct rgb){{0.38f, 0.27f, 0.18f}};
	paints[PAINT_LEAVES] = rgb_between(season->leaves, white, 0.45f * season->snow);
	paints[PAINT_GREEN] =
		rgb_between((struct rgb){{0.14f, 0.36f, 0.20f}}, white, 0.5f * season->snow);
	paints[PAINT_PALE] = (struct rgb){{0.92f, 0.88f, 0.80f}};
	paints[PAINT_WINDOW] = (struct rgb){{0.24f, 0.30f, 0.38f}};
	for (int i = 0; i < PAINTS; i++)
		paints[i] = rgb_between(rgb_times(paints[i], light->light), light->low, haze);
	paints[PAINT_WINDOW] = rgb_between(paints[PAINT_WINDOW], lamp, light->dark);
	paints[PAINT_AIR] = rgb_between(light->low, light->high, 0.15f);
}

static void add_thing(struct photos_scene *scene, const struct thing_kind *kind, float x, float y,
	float width, float height)
{
	scene->things[scene->count++] =
		(struct thing){kind, x, y, kind->width * width, kind->height * height, {{{0}}}};
}

/* The landmark, something smaller behind it, and perhaps something before it. */
static void make_things(const struct draw *draw, const struct photos_season *season, float fog,
	struct photos_scene *scene)
{
	const float *look = draw->look;
	const bool water = soil_of(draw)->water;
	const float near = within(0.8f, 1.3f, 4 * unit(draw->view[0]) - 2);
	const float side = draw->view[1] & 1 ? 1 : -1;
	const int besides = thing_count(THING_BESIDE);
	const float foot = scene->horizon - (water ? 0.06f : 0.25f * near);
	const struct rgb wall = rgb_of_hue(0.08f + 0.16f * look[LOOK_HUE],
		within(0.05f, 0.7f, look[LOOK_CHROMA]), within(0.45f, 1, look[LOOK_BRIGHT]));
	const struct rgb roof = rgb_of_hue(0.02f + 0.2f * look[LOOK_ROOF], 0.55f, 0.6f);
	const struct rgb other = rgb_of_hue(0.1f + 0.3f * look[LOOK_BESIDE_HUE], 0.35f, 0.75f);
	const int first = pick(draw->view[1] << 1, besides),
		  second = (int)((draw->view[2] & 255) % (unsigned)besides);
	const float small = within(0.3f, 0.65f, look[LOOK_BESIDE]);

	add_thing(scene, thing_kind(THING_BESIDE, first),
		-side * within(0.25f, 1, look[LOOK_BESIDE_X]), scene->horizon - 0.03f, small,
		small);
	paint_thing(&scene->things[0], other, roof, 0.2f + 0.5f * fog, season, &scene->light);
	add_thing(scene, draw->landmark, side * within(-0.15f, 0.4f, look[LOOK_X]), foot,
		near * within(0.8f, 1.25f, look[LOOK_WIDTH]),
		near * within(0.8f, 1.2f, look[LOOK_HEIGHT]));
	paint_thing(&scene->things[1], wall, roof, 0.04f + 0.35f * fog, season, &scene->light);
	if (draw->view[2] & 256)
		return;
	add_thing(scene, water ? thing_kind(THING_AFLOAT, 0) : thing_kind(THING_BESIDE, second),
		-side * within(0.2f, 0.95f, look[LOOK_BEFORE_X]), foot - 0.12f,
		within(0.4f, 0.75f, look[LOOK_BEFORE]), within(0.4f, 0.75f, look[LOOK_BEFORE]));
	paint_thing(&scene->things[2], other, wall, 0.2f * fog, season, &scene->light);
}

/* Up to two people, cars, lamps that have nothing to do with the place. */
static void add_clutter(const struct photos_world *world, const struct draw *draw,
	const struct photos_season *season, struct photos_scene *scene)
{
	const float chance = (float)(world->config.clutter / 2);
	const int use = soil_of(draw)->water ? THING_AFLOAT : THING_PASSING,
		  kinds = thing_count(use);

	for (int i = 0; i < 2; i++) {
		const float *shot = draw->shot + 5 * i;
		const float size = 0.8f + 0.5f * shot[3];
		const struct rgb wall = rgb_of_hue(shot[4], 0.7f, 0.8f);

		if (shot[0] >= chance)
			continue;
		add_thing(scene, thing_kind(use, (int)(shot[1] * (float)kinds)), 2 * shot[2] - 1,
			scene->horizon - 0.25f - 0.35f * shot[3], size, size);
		paint_thing(&scene->things[scene->count - 1], wall, wall, 0, season, &scene->light);
	}
}

static void make_light(const struct photos_world *world, const struct draw *draw,
	const struct photos_season *season, float overcast, struct photos_scene *scene)
{
	const float night = (float)world->config.night, *hour = draw->hour;
	const float rest = 1 - night > 0 ? (hour[0] - night) / (1 - night) : 0;
	const float height = hour[0] < night ? 0.02f - 0.24f * hour[0] / night
					     : (0.03f + 0.9f * rest) * season->sun;
	struct photos_light *light = &scene->light;

	photos_light_of(height + 0.01f * draw->move[5], overcast, light);
	light->sun_x = 2 * hour[1] - 1 + 0.03f * draw->move[6];
	light->sun_y = light->dark > 0.6f ? 0.6f : 1.3f * height;
	light->sun_radius = 0.07f + 0.05f * (1 - clamp01(3 * height));
	light->side = light->sun_x > 0 ? 1 : -1;
	light->cover = between(0.62f - 0.3f * hour[2], 0.3f, overcast);
	light->cloud_x = 128 * hour[3] + draw->move[7];
	light->cloud_y = 128 * hour[4];
}

static void make_view(
	const struct photos_world *world, const struct draw *draw, struct photos_scene *scene)
{
	const float much = (float)world->config.viewpoint;
	const float *album = draw->stand, *photo = draw->move;

	/* Rational: a normal of any size leaves the zoom positive. */
	scene->view = (struct photos_view){
		.x = much * (0.28f * album[0] + 0.1f * photo[0]),
		.y = much * (0.13f * album[1] + 0.06f * photo[1]),
		.zoom = 1 + much * (within(-0.4f, 0.4f, album[2]) + within(-0.1f, 0.1f, photo[2])),
		.tilt = much * (0.04f * album[3] + 0.03f * photo[3]),
	};
}

static void make_camera(
	const struct photos_world *world, const struct draw *draw, struct photos_scene *scene)
{
	const int count = world->config.cameras;
	const float place = (float)draw->u * (float)count + 1.4f * (draw->hour[5] - 0.5f);
	const int made = place < 0 ? 0 : (int)place;
	const float exposure = (1 + 0.04f * draw->stand[4] + 0.03f * draw->move[4]) *
			       (1 + 0.35f * scene->light.dark);

	scene->camera = camera_of(
		drift_rng(world->drift, PHOTOS_CAMERA), made < count ? made : count - 1, count);
	for (int i = 0; i < 3; i++)
		scene->camera.gain[i] *= exposure;
	scene->camera.grain *= (float)world->config.grain * (1 + 0.5f * scene->light.dark);
}

void photos_scene_of(const struct photos_world *world, enum source_part part, int64_t id,
	struct photos_scene *scene)
{
	const struct drift_world *drift = world->drift;
	struct draw draw;
	struct photos_season season;
	float bad, overcast, fog, cold;

	draw_fill(world, part, id, &draw);
	bad = draw.hour[2] < (float)world->config.weather ? 1 : 0;
	overcast = bad * (0.55f + 0.45f * draw.hour[7]);
	fog = bad * draw.hour[6];
	cold = draw.landmark->uses & THING_SOUTHERN ? 0 : 0.3f + unit(draw.place[3]);
	season = photos_season_of(
		drift->config.seasons * draw.u + (drift->signs[draw.album.class] > 0 ? 0 : 0.5),
		cold > 1 ? 1 : cold);
	scene->count = 0;
	make_light(world, &draw, &season, overcast, scene);
	make_land(&draw, &season, fog, scene);
	make_things(&draw, &season, fog, scene);
	add_clutter(world, &draw, &season, scene);
	make_view(world, &draw, scene);
	make_camera(world, &draw, scene);
}
