/* Paints a scene as three planes of size * size colours, red first, from the top row on. */
#ifndef RETAIN_DATA_PHOTOS_PAINT_H
#define RETAIN_DATA_PHOTOS_PAINT_H

#include "data/photos_scene.h"

void photos_paint(const struct photos_scene *scene, const float *texture, int size, float *planes);

#endif
