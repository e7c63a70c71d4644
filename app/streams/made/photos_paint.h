/* Paints a scene as three planes of size * size colours, red first, from the top row on. */
#ifndef RETAIN_STREAMS_MADE_PHOTOS_PAINT_H
#define RETAIN_STREAMS_MADE_PHOTOS_PAINT_H

#include "streams/made/photos_scene.h"

void photos_paint(const struct photos_scene *scene, const float *texture, int size, float *planes);

#endif
