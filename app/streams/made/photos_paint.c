/*
 * From back to front: sky, sun and clouds, the land, the ground, things. The picture's columns
 * stand upright however the camera is tilted, which lifts one side instead: x belongs to a
 * column, and y is that of the row plus the column's lift. Edges are as soft as a pixel is wide,
 * so a picture looks the same at any size.
 */
#include "streams/made/photos_scene.h"

#include <string.h>

#include "streams/made/photos_painter.h"

static void painter_init(struct painter *painter, const struct photos_scene *scene,
	const float *texture, int size, float *planes)
{
	const struct photos_view *view = &scene->view;

	painter->scene = scene;
	painter->texture = texture;
	painter->size = size;
	painter->pixel = 2 / ((float)size * view->zoom);
	painter->left = view->x - 1 / view->zoom + painter->pixel / 2;
	painter->top = view->y + 1 / view->zoom - painter->pixel / 2;
	painter->most = 0;
	for (int i = 0; i < size; i++) {
		const float x = painter->left + (float)i * painter->pixel;
		const float lift = view->tilt * (x - view->x);

		painter->x[i] = x;
		painter->lift[i] = lift;
		painter->most = lift > painter->most ? lift : painter->most;
	}
	for (int c = 0; c < 3; c++)
		painter->planes[c] = planes + (int64_t)c * size * size;
}

/* How much of each pixel of a row is cloud. */
static void cloud_row(const struct painter *p, float y, float *cover)
{
	const struct photos_light *light = &p->scene->light;
	const float down = light->cloud_y - 22 * y, floor = light->cover;

	for (int i = 0; i < p->size; i++) {
		const float thick = texture_at(p->texture, 11 * p->x[i] + light->cloud_x, down);

		cover[i] = clamp01((thick - floor) * 5) * 0.85f;
	}
}

static void sky_row(const struct painter *p, int row, float y)
{
	const struct photos_light *light = &p->scene->light;
	const float hard = 1 / (2 * light->sun_radius * p->pixel);
	const float round = light->sun_radius * light->sun_radius;
	float cover[PHOTOS_SIZE_MOST], disc[PHOTOS_SIZE_MOST], glow[PHOTOS_SIZE_MOST];
	float rise[PHOTOS_SIZE_MOST];

	cloud_row(p, y, cover);
	for (int i = 0; i < p->size; i++) {
		const float over = y + p->lift[i] - p->scene->horizon;
		const float across = p->x[i] - light->sun_x, up = over - light->sun_y;
		const float far = across * across + up * up;
		const float t = clamp01(over * 0.75f);

		rise[i] = t * (2 - t);
		disc[i] = light->disc * clamp01((round - far) * hard + 0.5f) * (1 - cover[i]);
		glow[i] = light->glow / (1 + 14 * far);
	}
	for (int c = 0; c < 3; c++) {
		float *out = p->planes[c] + (int64_t)row * p->size;
		const float low = light->low.c[c], high = light->high.c[c];
		const float cloud = light->cloud.c[c], sun = light->sun.c[c];

		for (int i = 0; i < p->size; i++) {
			float colour = between(low, high, rise[i]);

			colour = between(colour, cloud, cover[i]);
			colour += glow[i] * (sun - colour);
			out[i] = between(colour, sun, disc[i]);
		}
	}
}

/* The row at or above which y lies, within the picture. */
static int row_of(const struct painter *p, float y)
{
	const float row = (p->top - y) / p->pixel;

	return row <= 0 ? 0 : row >= (float)p->size ? p->size : (int)row;
}

static void paint_ridge(const struct painter *p, const struct photos_ridge *ridge)
{
	const float horizon = p->scene->horizon, sharp = 1 / p->pixel;
	const struct rgb white = rgb_times((struct rgb){{0.95f, 0.96f, 1}}, p->scene->light.light);
	const struct rgb cap = rgb_between(ridge->colour, white, ridge->snow);
	float tops[PHOTOS_SIZE_MOST], cover[PHOTOS_SIZE_MOST], share[PHOTOS_SIZE_MOST], most = 0;

	if (ridge->height <= 0)
		return;
	for (int i = 0; i < p->size; i++) {
		const float rise = ridge->outline(p->texture, p->x[i], ridge->phase);

		tops[i] = rise > 0 ? ridge->height * rise : 0;
		most = tops[i] > most ? tops[i] : most;
	}
	for (int row = row_of(p, horizon + most + p->most + p->pixel),
		 end = row_of(p, horizon - p->most - 2 * p->pixel);
		row < end; row++) {
		const float y = p->top - (float)row * p->pixel - horizon;

		for (int i = 0; i < p->size; i++) {
			const float over = y + p->lift[i];

			cover[i] = clamp01((tops[i] - over) * sharp + 0.5f);
			share[i] = clamp01((over - 0.6f * ridge->height) * 8);
		}
		painter_blend(p, row, 0, p->size, cover, share, &ridge->colour, &cap);
	}
}

static void paint_ground(const struct painter *p)
{
	const struct photos_ground *ground = &p->scene->ground;
	const float horizon = p->scene->horizon, sharp = 1 / p->pixel;
	float cover[PHOTOS_SIZE_MOST], share[PHOTOS_SIZE_MOST];

	for (int row = row_of(p, horizon + p->most + p->pixel); row < p->size; row++) {
		const float y = p->top - (float)row * p->pixel - horizon;
		const float depth = 1 / ((y < 0 ? -y : 0) + 0.15f);
		const float along = ground->across * depth * 0.4f + ground->shift;
		const float stretch = ground->stretch * depth * 0.25f;
		/* Far away many points of the texture fall into a pixel: their mean is left. */
		const float seen = clamp01(1.4f - depth * 0.2f);

		for (int i = 0; i < p->size; i++) {
			const float grain = texture_at(p->texture, stretch * p->x[i], along);

			cover[i] = clamp01(0.5f - (y + p->lift[i]) * sharp);
			share[i] = clamp01(0.5f + (grain - 0.5f) * 2.4f * seen);
		}
		painter_blend(p, row, 0, p->size, cover, share, &ground->colour, &ground->other);
	}
}

/*
 * Black from a row down. Painting mixes with what is there, and even where it covers all
 * of a pixel the last bit depends on that.
 */
static void clear_from(const struct painter *p, int row)
{
	const size_t at = (size_t)row * (size_t)p->size;

	for (int c = 0; c < 3; c++)
		memset(p->planes[c] + at, 0,
			((size_t)p->size * (size_t)p->size - at) * sizeof(float));
}

void photos_paint(const struct photos_scene *scene, const float *texture, int size, float *planes)
{
	struct painter painter;
	int sky;

	painter_init(&painter, scene, texture, size, planes);
	sky = row_of(&painter, scene->horizon - painter.most - 2 * painter.pixel);
	for (int row = 0; row < sky; row++)
		sky_row(&painter, row, painter.top - (float)row * painter.pixel);
	clear_from(&painter, sky);
	/* Below the horizon all of a row is ground; what a tilt leaves open is sky. */
	for (int i = 0; i < 2; i++)
		paint_ridge(&painter, &scene->ridges[i]);
	paint_ground(&painter);
	for (int i = 0; i < scene->count; i++)
		painter_thing(&painter, &scene->things[i]);
}
