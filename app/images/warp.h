/*
 * The same picture, seen otherwise: turned and resized about its centre, with another
 * contrast, brightness, hue and saturation. It is made from the values that a transform
 * gave (images/transform.h), and has their form.
 *
 * Between pixels values are linear; what comes in from outside has the colour of the
 * nearest pixel of the edge. Numbers are floats with +, -, *, / in a fixed order and never
 * fused, so that a picture has the same bits on every machine.
 */
#ifndef RETAIN_IMAGES_WARP_H
#define RETAIN_IMAGES_WARP_H

#include "images/transform.h"

/*
 * A pixel p, 0 to 1, becomes 1/2 + brightness + contrast (C p - 1/2), kept within 0 and 1. C turns
 * colours about the axis of greys and stretches their distance from it; grey pictures have none.
 */
struct warp {
	double turn; /* clockwise, in turns */
	double zoom; /* 2: twice as large */
	double contrast, brightness;
	double hue; /* in turns */
	double saturation;
};

/* From `in` to `out`, channels * size * size values each that do not overlap. */
void warp_apply(const struct warp *warp, const struct transform_config *config, const float *in,
	float *out);

#endif
