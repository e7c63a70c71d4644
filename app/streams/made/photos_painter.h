/* What the files that paint share. */
#ifndef RETAIN_STREAMS_MADE_PHOTOS_PAINTER_H
#define RETAIN_STREAMS_MADE_PHOTOS_PAINTER_H

#include "streams/made/photos_scene.h"

struct painter {
	const struct photos_scene *scene;
	const float *texture;
	int size;
	float pixel;     /* its width in the scene */
	float left, top; /* the scene's coordinates of the first pixel, without lift */
	float most;      /* the largest lift there is, and less the smallest */
	float *planes[3];
	float x[PHOTOS_SIZE_MOST];    /* of a column */
	float lift[PHOTOS_SIZE_MOST]; /* what a tilted camera adds to y */
};

/*
 * Lays paint over the columns first .. end-1 of a row: as much as `cover` says, of a colour between
 * two, as `share` says. Both have a number per column, the first of them for `first`.
 */
void painter_blend(const struct painter *painter, int row, int first, int end, const float *cover,
	const float *share, const struct rgb *from, const struct rgb *to);

void painter_thing(const struct painter *painter, const struct thing *thing);

#endif
