/*
 * Things that stand in a picture: landmarks, trees, boats, people. A kind of thing
 * is a list of simple shapes in coordinates of its own, x from -1 to 1 and y from 0
 * at its foot to 1; a thing says where it stands, how large it is, and its colours.
 * Kinds are rows of a table.
 */
#ifndef RETAIN_STREAMS_MADE_PHOTOS_THINGS_H
#define RETAIN_STREAMS_MADE_PHOTOS_THINGS_H

#include "streams/made/photos_colour.h"

enum part_shape {
	PART_TRAPEZE, /* level top and bottom; `ratio` is the top's width over the bottom's */
	PART_WINDOWS, /* a rectangle with `ratio` columns of windows */
	PART_DISC,    /* an ellipse around (x, y) */
	PART_DOME,    /* its upper half */
	PART_RING,    /* an ellipse without its inner `ratio` */
	PART_SHAPES
};

enum part_paint {
	PAINT_WALL,   /* the thing's first colour */
	PAINT_ROOF,   /* its second; white under snow */
	PAINT_DARK,   /* doors, iron, tyres */
	PAINT_WOOD,   /* trunks, masts */
	PAINT_LEAVES, /* turn with the seasons */
	PAINT_GREEN,  /* stays green, white under snow */
	PAINT_PALE,   /* sails, stripes */
	PAINT_WINDOW, /* shines at night */
	PAINT_AIR,    /* what is behind: openings */
	PAINT_SHADE,  /* the first colour in shadow */
	PAINTS
};

/* For discs y is the centre, w and h are radii; else y is the foot, w half the width at the foot
 * and h the height. Tops stand `lean` to the right of their feet. */
struct part {
	unsigned char shape, paint;
	float x, y, w, h, ratio, lean;
};

enum { PARTS_MOST = 14 };

enum thing_use {
	THING_LANDMARK = 1, /* may be what a place is known for */
	THING_BESIDE = 2,   /* may stand next to it */
	THING_PASSING = 4,  /* may come into any picture */
	THING_SOUTHERN = 8, /* only where no snow falls */
	THING_AFLOAT = 16,  /* may come into any picture with water */
};

struct thing_kind {
	const char *name;
	int uses;
	float width, height; /* half its width and its height where it is the landmark */
	struct part parts[PARTS_MOST];
};

struct thing {
	const struct thing_kind *kind;
	float x, y, width, height; /* its foot; half its width; its height */
	struct rgb paints[PAINTS];
};

/* How many kinds have a use, and the i-th of those (from 0, i below their number). */
int thing_count(int use);
const struct thing_kind *thing_kind(int use, int i);

#endif
