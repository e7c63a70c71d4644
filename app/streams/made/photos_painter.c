/*
 * Paints things, shape by shape. A shape says how much it covers of each pixel in a piece of a row;
 * for discs that is exact at the edge and only a sign elsewhere, which is all an edge needs.
 */
#include "streams/made/photos_painter.h"

void painter_blend(const struct painter *p, int row, int first, int end,
	const float *restrict cover, const float *restrict share, const struct rgb *from,
	const struct rgb *to)
{
	for (int c = 0; c < 3; c++) {
		float *restrict out = p->planes[c] + (int64_t)row * p->size + first;
		const float a = from->c[c], way = to->c[c] - from->c[c];

		for (int i = 0; i < end - first; i++)
			out[i] += cover[i] * (a + share[i] * way - out[i]);
	}
}

/* A part in the scene's coordinates: centre, radii; for upright shapes foot and height. */
struct placed {
	float x, y, w, h, ratio, lean;
	float columns, rows; /* of windows */
};

/* x and y of pixels of a row, n of them, and what a pixel is wide; what is covered of each. */
typedef void coverage(
	const struct placed *at, const float *x, const float *y, int n, float pixel, float *cover);

static void cover_trapeze(
	const struct placed *at, const float *x, const float *y, int n, float pixel, float *cover)
{
	const float sharp = 1 / pixel, rise = 1 / at->h, foot = at->y, head = at->y + at->h;

	for (int i = 0; i < n; i++) {
		const float up = (y[i] - foot) * rise;
		const float off = x[i] - at->x - at->lean * up;
		const float half = at->w * (1 + (at->ratio - 1) * up);
		const float inside = half - (off < 0 ? -off : off);
		const float level = y[i] - foot < head - y[i] ? y[i] - foot : head - y[i];

		cover[i] = clamp01(inside * sharp + 0.5f) * clamp01(level * sharp + 0.5f);
	}
}

/* Windows are half as wide and as high as the cells they stand in. */
static void cover_windows(
	const struct placed *at, const float *x, const float *y, int n, float pixel, float *cover)
{
	const float wide = 2 * at->w / at->columns, high = at->h / at->rows, sharp = 1 / pixel;

	for (int i = 0; i < n; i++) {
		const float column = (x[i] - at->x + at->w) / wide, row = (y[i] - at->y) / high;
		const float across = column - (float)(int)column - 0.5f;
		const float along = row - (float)(int)row - 0.5f;
		const float a = 0.27f - (across < 0 ? -across : across);
		const float b = 0.27f - (along < 0 ? -along : along);
		const bool inside =
			column >= 0 && row >= 0 && column < at->columns && row < at->rows;

		cover[i] =
			inside ? clamp01(a * wide * sharp + 0.5f) * clamp01(b * high * sharp + 0.5f)
			       : 0;
	}
}

/* An ellipse whose inner `ratio` is open, from `floor` up. */
static void cover_ellipse(const struct placed *at, const float *x, const float *y, int n,
	float pixel, float floor, float *cover)
{
	const float across = 1 / at->w, along = 1 / at->h, sharp = 1 / pixel;
	const float half = 0.5f * (at->w < at->h ? at->w : at->h) * sharp;
	const float open = at->ratio > 0 ? 1 / (at->ratio * at->ratio) : 0;

	for (int i = 0; i < n; i++) {
		const float a = (x[i] - at->x) * across, b = (y[i] - at->y) * along;
		const float far = a * a + b * b;
		const float outer = clamp01((1 - far) * half + 0.5f);
		const float inner = open > 0 ? clamp01((1 - far * open) * half + 0.5f) : 0;

		cover[i] = (outer - inner) * clamp01((y[i] - floor) * sharp + 0.5f);
	}
}

static void cover_whole(
	const struct placed *at, const float *x, const float *y, int n, float pixel, float *cover)
{
	cover_ellipse(at, x, y, n, pixel, at->y - 2 * at->h, cover);
}

static void cover_upper(
	const struct placed *at, const float *x, const float *y, int n, float pixel, float *cover)
{
	cover_ellipse(at, x, y, n, pixel, at->y, cover);
}

static const struct {
	coverage *cover;
	bool round; /* y is the centre's */
} shapes[PART_SHAPES] = {
	[PART_TRAPEZE] = {cover_trapeze, false},
	[PART_WINDOWS] = {cover_windows, false},
	[PART_DISC] = {cover_whole, true},
	[PART_DOME] = {cover_upper, true},
	[PART_RING] = {cover_whole, true},
};

/* A pixel's number from its distance to the first, within 0 .. size. */
static int pixel_of(const struct painter *p, float distance)
{
	const float at = distance / p->pixel;

	return at <= 0 ? 0 : at >= (float)p->size ? p->size : (int)at;
}

static struct placed place(const struct thing *thing, const struct part *part)
{
	struct placed at = {
		.x = thing->x + part->x * thing->width,
		.y = thing->y + part->y * thing->height,
		.w = part->w * thing->width,
		.h = part->h * thing->height,
		.ratio = part->ratio,
		.lean = part->lean * thing->width,
		.columns = part->ratio,
	};

	/* As many rows as make the cells somewhat higher than they are wide. */
	at.rows = (float)(int)(1 + at.h * part->ratio / (2.6f * at.w));
	return at;
}

static void paint_part(const struct painter *p, const struct thing *thing, const struct part *part)
{
	const struct placed at = place(thing, part);
	const bool round = shapes[part->shape].round;
	const float widest = at.ratio > 1 && part->shape == PART_TRAPEZE ? at.w * at.ratio : at.w;
	const float reach = widest + (at.lean < 0 ? -at.lean : at.lean) + p->pixel;
	const float head = at.y + at.h + p->most + p->pixel;
	const float foot = at.y - (round ? at.h : 0) - p->most - p->pixel;
	const int first = pixel_of(p, at.x - reach - p->left);
	const int end = pixel_of(p, at.x + reach - p->left + p->pixel);
	const int last = pixel_of(p, p->top - foot + p->pixel);
	/* The side that light comes from is brighter, as if the thing were round. */
	const float tilt = 0.3f * p->scene->light.side / (thing->width + p->pixel);
	const struct rgb *paint = &thing->paints[part->paint];
	const struct rgb shadow = rgb_scaled(*paint, 0.66f), shine = rgb_scaled(*paint, 1.1f);
	const bool even = part->paint == PAINT_WINDOW || part->paint == PAINT_AIR;
	float y[PHOTOS_SIZE_MOST], cover[PHOTOS_SIZE_MOST], share[PHOTOS_SIZE_MOST];

	for (int i = first; i < end; i++)
		share[i - first] = even ? 0 : clamp01(0.6f + tilt * (p->x[i] - thing->x));
	for (int row = pixel_of(p, p->top - head); row < last; row++) {
		for (int i = first; i < end; i++)
			y[i - first] = p->top - (float)row * p->pixel + p->lift[i];
		shapes[part->shape].cover(&at, p->x + first, y, end - first, p->pixel, cover);
		painter_blend(p, row, first, end, cover, share, even ? paint : &shadow, &shine);
	}
}

void painter_thing(const struct painter *painter, const struct thing *thing)
{
	for (int i = 0; i < PARTS_MOST && thing->kind->parts[i].w > 0; i++)
		paint_part(painter, thing, &thing->kind->parts[i]);
}
