/*
 * Distorts a picture: rotated and scaled about its centre, with another contrast, brightness, hue
 * and saturation. Input and output have the form of a transform's values (images/transform.h).
 *
 * Values are interpolated linearly between pixels; outside the picture the nearest edge pixel is
 * used. Numbers are floats with +, -, *, / in a fixed order and never fused, so that a picture
 * has the same bits on every machine.
 */
#ifndef RETAIN_IMAGES_WARP_H
#define RETAIN_IMAGES_WARP_H

#include "images/transform.h"

/*
 * A pixel p, 0 to 1, becomes 1/2 + brightness + contrast (C p - 1/2), clipped to 0 and 1. C
 * rotates colours about the grey axis and scales their distance from it; grey pictures have no
 * colour.
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
