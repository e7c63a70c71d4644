/*
 * What a picture looks like at a glance, in a few hundred numbers, with nothing to learn: which way
 * its edges run in each of 4 x 4 overlapping cells, which colours it has, and how bright each
 * channel is in each cell. It tells classes apart while there is too little data for a net.
 *
 * Pixels should be of size about 1, as nets want them; edges are measured relative to one another.
 * The same bits on every processor: no libm, sums in a fixed order.
 */
#ifndef RETAIN_LEARN_PARTS_GIST_FEATURES_H
#define RETAIN_LEARN_PARTS_GIST_FEATURES_H

#include "base/team.h"
#include "nn/net.h"

struct picture_shape {
	int channels, height, width;
};

enum {
	GIST_CELLS = 4,
	GIST_PLACES = GIST_CELLS * GIST_CELLS,
	GIST_WAYS = 8,     /* right, right and down, down, ... */
	GIST_TONES = 4,    /* of a channel, around -1.5, -0.5, 0.5 and 1.5 */
	GIST_CHANNELS = 3, /* that colours have, and means are taken of at most */
	GIST_COLOURS = GIST_TONES * GIST_TONES * GIST_TONES
};

/* How many numbers: [place][way], [place][channel] and, of three channels, [tone][tone][tone]. */
int gist_size(const struct picture_shape *shape);

/* Of planes of pixels, (channels, height, width). Zeros if some are not finite. */
void gist_of(const struct picture_shape *shape, const float *pixels, float *gist);

/* Multiply-adds, roughly. */
double gist_macs(const struct picture_shape *shape);

/* The pictures that a net sees; a row for each of them, a gist followed by a 1. Team: may be NULL. */
struct picture_shape gist_shape(const struct net *net);
void gist_rows(const struct picture_shape *shape, struct team *team, const float *inputs, int n,
	float *rows);

#endif
