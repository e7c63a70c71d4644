/*
 * The kinds of things, one row each. Parts are painted in their order, later ones over
 * earlier ones. A new kind changes what places look like, since they choose by number: it
 * makes other streams.
 */
#include "streams/made/photos_things.h"

#include <stddef.h>

#define TRAPEZE(paint, x, y, w, h, ratio, lean)                                                    \
	{                                                                                          \
		PART_TRAPEZE, PAINT_##paint, x, y, w, h, ratio, lean                               \
	}
#define BOX(paint, x, y, w, h)         TRAPEZE(paint, x, y, w, h, 1, 0)
#define SPIRE(paint, x, y, w, h)       TRAPEZE(paint, x, y, w, h, 0, 0)
#define STRIP(paint, x, y, w, h, lean) TRAPEZE(paint, x, y, w, h, 1, lean)
#define WINDOWS(x, y, w, h, columns)                                                               \
	{                                                                                          \
		PART_WINDOWS, PAINT_WINDOW, x, y, w, h, columns, 0                                 \
	}
#define DISC(paint, x, y, w, h)                                                                    \
	{                                                                                          \
		PART_DISC, PAINT_##paint, x, y, w, h, 0, 0                                         \
	}
#define DOME(paint, x, y, w, h)                                                                    \
	{                                                                                          \
		PART_DOME, PAINT_##paint, x, y, w, h, 0, 0                                         \
	}
#define RING(paint, x, y, w, h, ratio)                                                             \
	{                                                                                          \
		PART_RING, PAINT_##paint, x, y, w, h, ratio, 0                                     \
	}

enum { BOTH = THING_LANDMARK | THING_BESIDE };

/* clang-format off */
/* Ends with a row without a name. */
static const struct thing_kind thing_kinds[] = {
	{"tower", THING_LANDMARK, 0.24f, 1.15f, {
		BOX(WALL, 0, 0, 0.75f, 0.66f), WINDOWS(0, 0.12f, 0.5f, 0.5f, 2),
		BOX(SHADE, 0, 0.64f, 0.95f, 0.07f), SPIRE(ROOF, 0, 0.71f, 0.9f, 0.29f)}},
	{"dome", THING_LANDMARK, 0.62f, 0.78f, {
		BOX(WALL, 0, 0, 1, 0.42f), BOX(WALL, 0, 0.4f, 0.62f, 0.12f),
		DOME(ROOF, 0, 0.5f, 0.6f, 0.4f), SPIRE(ROOF, 0, 0.86f, 0.07f, 0.14f),
		BOX(DARK, 0, 0, 0.13f, 0.24f), WINDOWS(-0.58f, 0.12f, 0.3f, 0.2f, 3),
		WINDOWS(0.58f, 0.12f, 0.3f, 0.2f, 3)}},
	{"arch", THING_LANDMARK, 0.46f, 0.85f, {
		BOX(WALL, 0, 0, 0.92f, 0.95f), BOX(ROOF, 0, 0.93f, 1, 0.07f),
		BOX(SHADE, 0, 0.74f, 0.96f, 0.05f), BOX(AIR, 0, 0, 0.42f, 0.4f),
		DOME(AIR, 0, 0.4f, 0.42f, 0.22f)}},
	{"bridge", THING_LANDMARK, 1.15f, 0.62f, {
		STRIP(DARK, -0.95f, 0.33f, 0.025f, 0.62f, 0.42f),
		STRIP(DARK, -0.12f, 0.33f, 0.025f, 0.62f, -0.4f),
		STRIP(DARK, 0.12f, 0.33f, 0.025f, 0.62f, 0.4f),
		STRIP(DARK, 0.95f, 0.33f, 0.025f, 0.62f, -0.42f),
		BOX(WALL, -0.53f, 0, 0.075f, 1), BOX(WALL, 0.53f, 0, 0.075f, 1),
		BOX(ROOF, 0, 0.25f, 1.3f, 0.12f)}},
	{"pine", BOTH, 0.34f, 0.9f, {
		BOX(WOOD, 0, 0, 0.1f, 0.2f), SPIRE(GREEN, 0, 0.12f, 0.95f, 0.42f),
		SPIRE(GREEN, 0, 0.36f, 0.75f, 0.38f), SPIRE(GREEN, 0, 0.6f, 0.52f, 0.4f)}},
	{"oak", BOTH, 0.5f, 0.85f, {
		TRAPEZE(WOOD, 0, 0, 0.13f, 0.45f, 0.7f, 0),
		DISC(LEAVES, -0.42f, 0.6f, 0.52f, 0.25f),
		DISC(LEAVES, 0.44f, 0.58f, 0.5f, 0.24f), DISC(LEAVES, 0, 0.74f, 0.62f, 0.26f)}},
	{"boat", BOTH | THING_AFLOAT, 0.42f, 0.75f, {
		STRIP(WOOD, 0.05f, 0.15f, 0.03f, 0.85f, 0),
		TRAPEZE(PALE, -0.38f, 0.24f, 0.4f, 0.68f, 0, 0.4f),
		TRAPEZE(ROOF, 0.42f, 0.24f, 0.32f, 0.56f, 0, -0.3f),
		TRAPEZE(WALL, 0, 0, 0.6f, 0.18f, 1.5f, 0)}},
	{"windmill", THING_LANDMARK, 0.5f, 1, {
		TRAPEZE(WALL, 0, 0, 0.46f, 0.62f, 0.6f, 0), DOME(ROOF, 0, 0.6f, 0.3f, 0.14f),
		BOX(DARK, 0, 0, 0.1f, 0.16f), STRIP(PALE, -0.85f, 0.3f, 0.09f, 0.68f, 1.7f),
		STRIP(PALE, 0.85f, 0.3f, 0.09f, 0.68f, -1.7f), DISC(DARK, 0, 0.64f, 0.1f, 0.05f)}},
	{"church", BOTH, 0.52f, 0.9f, {
		BOX(WALL, 0.28f, 0, 0.7f, 0.34f),
		TRAPEZE(ROOF, 0.28f, 0.34f, 0.78f, 0.24f, 0.7f, 0),
		BOX(WALL, -0.62f, 0, 0.3f, 0.6f), SPIRE(ROOF, -0.62f, 0.6f, 0.34f, 0.4f),
		BOX(DARK, -0.62f, 0, 0.12f, 0.18f), WINDOWS(0.34f, 0.1f, 0.5f, 0.16f, 3),
		DISC(WINDOW, -0.62f, 0.47f, 0.12f, 0.07f)}},
	{"lighthouse", THING_LANDMARK, 0.24f, 1.15f, {
		TRAPEZE(PALE, 0, 0, 0.8f, 0.78f, 0.6f, 0),
		TRAPEZE(WALL, 0, 0.13f, 0.76f, 0.14f, 0.92f, 0),
		TRAPEZE(WALL, 0, 0.4f, 0.66f, 0.14f, 0.9f, 0),
		TRAPEZE(WALL, 0, 0.66f, 0.55f, 0.12f, 0.9f, 0),
		BOX(DARK, 0, 0.77f, 0.66f, 0.03f), BOX(WINDOW, 0, 0.8f, 0.34f, 0.1f),
		DOME(ROOF, 0, 0.9f, 0.42f, 0.1f)}},
	{"pyramid", THING_LANDMARK | THING_SOUTHERN, 0.75f, 0.72f, {
		SPIRE(WALL, 0, 0, 1, 1), TRAPEZE(SHADE, 0.62f, 0, 0.38f, 1, 0, -0.62f)}},
	{"wheel", THING_LANDMARK, 0.52f, 1.1f, {
		STRIP(DARK, -0.5f, 0, 0.06f, 0.52f, 0.5f),
		STRIP(DARK, 0.5f, 0, 0.06f, 0.52f, -0.5f),
		RING(WALL, 0, 0.54f, 0.95f, 0.46f, 0.86f), BOX(PALE, 0, 0.12f, 0.025f, 0.84f),
		STRIP(PALE, -0.6f, 0.23f, 0.035f, 0.62f, 1.2f),
		STRIP(PALE, 0.6f, 0.23f, 0.035f, 0.62f, -1.2f),
		BOX(PALE, 0, 0.53f, 0.9f, 0.02f), DISC(ROOF, 0, 0.54f, 0.16f, 0.08f)}},
	{"blocks", BOTH, 0.58f, 1, {
		BOX(WALL, -0.6f, 0, 0.34f, 0.62f), BOX(SHADE, 0.64f, 0, 0.3f, 0.78f),
		BOX(ROOF, 0.02f, 0, 0.34f, 1), WINDOWS(-0.6f, 0.06f, 0.28f, 0.52f, 3),
		WINDOWS(0.64f, 0.06f, 0.24f, 0.66f, 2), WINDOWS(0.02f, 0.08f, 0.28f, 0.86f, 3)}},
	{"house", BOTH, 0.42f, 0.58f, {
		BOX(ROOF, 0.52f, 0.62f, 0.1f, 0.34f), BOX(WALL, 0, 0, 0.78f, 0.52f),
		SPIRE(ROOF, 0, 0.5f, 1, 0.46f), BOX(DARK, -0.3f, 0, 0.15f, 0.3f),
		WINDOWS(0.32f, 0.16f, 0.28f, 0.2f, 2)}},
	{"pagoda", THING_LANDMARK, 0.44f, 1.1f, {
		BOX(WALL, 0, 0, 0.62f, 0.24f), TRAPEZE(ROOF, 0, 0.22f, 1, 0.12f, 0.55f, 0),
		BOX(WALL, 0, 0.34f, 0.46f, 0.16f), TRAPEZE(ROOF, 0, 0.48f, 0.8f, 0.11f, 0.5f, 0),
		BOX(WALL, 0, 0.59f, 0.32f, 0.13f), TRAPEZE(ROOF, 0, 0.7f, 0.62f, 0.12f, 0.3f, 0),
		SPIRE(ROOF, 0, 0.8f, 0.06f, 0.2f), BOX(DARK, 0, 0, 0.14f, 0.16f)}},
	{"obelisk", THING_LANDMARK, 0.26f, 1.15f, {
		BOX(SHADE, 0, 0, 1, 0.07f), BOX(WALL, 0, 0.06f, 0.6f, 0.08f),
		TRAPEZE(WALL, 0, 0.14f, 0.36f, 0.76f, 0.62f, 0),
		SPIRE(ROOF, 0, 0.9f, 0.24f, 0.1f)}},
	{"works", THING_LANDMARK, 0.7f, 0.88f, {
		TRAPEZE(SHADE, 0.45f, 0.2f, 0.1f, 0.8f, 0.65f, 0),
		TRAPEZE(SHADE, 0.78f, 0.2f, 0.1f, 0.66f, 0.65f, 0),
		BOX(WALL, 0, 0, 1, 0.34f), TRAPEZE(ROOF, -0.76f, 0.34f, 0.24f, 0.16f, 0, 0.24f),
		TRAPEZE(ROOF, -0.28f, 0.34f, 0.24f, 0.16f, 0, 0.24f),
		TRAPEZE(ROOF, 0.2f, 0.34f, 0.24f, 0.16f, 0, 0.24f),
		WINDOWS(0, 0.08f, 0.88f, 0.16f, 7)}},
	{"castle", THING_LANDMARK, 0.68f, 0.8f, {
		BOX(WALL, 0, 0, 0.8f, 0.5f), BOX(WALL, -0.78f, 0, 0.22f, 0.68f),
		BOX(WALL, 0.78f, 0, 0.22f, 0.68f), SPIRE(ROOF, -0.78f, 0.68f, 0.28f, 0.32f),
		SPIRE(ROOF, 0.78f, 0.68f, 0.28f, 0.32f), BOX(WALL, -0.34f, 0.48f, 0.09f, 0.1f),
		BOX(WALL, 0, 0.48f, 0.09f, 0.1f), BOX(WALL, 0.34f, 0.48f, 0.09f, 0.1f),
		BOX(DARK, 0, 0, 0.17f, 0.18f), DOME(DARK, 0, 0.18f, 0.17f, 0.1f),
		WINDOWS(-0.78f, 0.4f, 0.1f, 0.12f, 1), WINDOWS(0.78f, 0.4f, 0.1f, 0.12f, 1)}},
	{"palm", BOTH | THING_SOUTHERN, 0.48f, 0.95f, {
		TRAPEZE(WOOD, -0.15f, 0, 0.09f, 0.82f, 0.6f, 0.18f),
		DISC(GREEN, -0.45f, 0.74f, 0.4f, 0.07f),
		DISC(GREEN, 0.5f, 0.76f, 0.42f, 0.07f),
		STRIP(GREEN, -0.68f, 0.62f, 0.1f, 0.22f, 0.6f),
		STRIP(GREEN, 0.72f, 0.6f, 0.1f, 0.24f, -0.62f),
		STRIP(GREEN, 0.03f, 0.8f, 0.1f, 0.18f, 0.4f),
		STRIP(GREEN, 0.03f, 0.8f, 0.1f, 0.18f, -0.42f)}},
	{"dish", THING_LANDMARK, 0.5f, 0.9f, {
		TRAPEZE(SHADE, 0, 0, 0.5f, 0.5f, 0.2f, 0), DISC(WALL, 0.08f, 0.66f, 0.8f, 0.33f),
		DISC(PALE, 0.16f, 0.68f, 0.6f, 0.25f),
		STRIP(DARK, 0.16f, 0.66f, 0.04f, 0.26f, 0.3f),
		DISC(DARK, 0.46f, 0.92f, 0.1f, 0.05f)}},
	{"person", THING_PASSING, 0.09f, 0.42f, {
		TRAPEZE(DARK, 0, 0, 0.6f, 0.46f, 1, 0),
		TRAPEZE(WALL, 0, 0.42f, 0.75f, 0.38f, 0.7f, 0),
		DISC(PALE, 0, 0.9f, 0.42f, 0.1f)}},
	{"car", THING_PASSING, 0.3f, 0.24f, {
		BOX(WALL, 0, 0.15f, 1, 0.4f), TRAPEZE(WALL, -0.05f, 0.5f, 0.6f, 0.5f, 0.7f, 0),
		TRAPEZE(WINDOW, -0.05f, 0.55f, 0.48f, 0.34f, 0.74f, 0),
		DISC(DARK, -0.55f, 0.18f, 0.2f, 0.2f),
		DISC(DARK, 0.55f, 0.18f, 0.2f, 0.2f)}},
	{"lamp", THING_PASSING, 0.1f, 0.72f, {
		BOX(DARK, 0, 0, 0.2f, 0.9f), DISC(WINDOW, 0, 0.93f, 0.75f, 0.07f)}},
	{"umbrella", THING_PASSING, 0.2f, 0.4f, {
		BOX(WOOD, 0, 0, 0.08f, 0.8f), DOME(WALL, 0, 0.62f, 1, 0.38f)}},
	{"bush", THING_PASSING, 0.26f, 0.22f, {
		DOME(LEAVES, -0.35f, 0, 0.6f, 0.8f), DOME(LEAVES, 0.35f, 0, 0.62f, 1)}},
	{"barge", THING_AFLOAT, 0.4f, 0.22f, {
		BOX(PALE, -0.4f, 0.4f, 0.3f, 0.5f), WINDOWS(-0.4f, 0.5f, 0.26f, 0.3f, 3),
		TRAPEZE(WALL, 0, 0, 0.85f, 0.45f, 1.17f, 0)}},
	{"buoy", THING_AFLOAT, 0.09f, 0.3f, {
		TRAPEZE(WALL, 0, 0.1f, 0.8f, 0.7f, 0.3f, 0), DOME(DARK, 0, 0, 1, 0.2f),
		DISC(WINDOW, 0, 0.85f, 0.35f, 0.12f)}},
	{0},
};
/* clang-format on */

int thing_count(int use)
{
	int count = 0;

	for (const struct thing_kind *row = thing_kinds; row->name; row++)
		count += (row->uses & use) != 0;
	return count;
}

const struct thing_kind *thing_kind(int use, int i)
{
	for (const struct thing_kind *row = thing_kinds; row->name; row++)
		if ((row->uses & use) && i-- == 0)
			return row;
	return NULL;
}
