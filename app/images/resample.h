/*
 * Resampling: bilinear with antialiasing, as in Pillow and torchvision. An output pixel is the
 * mean of the input pixels around it, weighted by a triangle that is two output pixels wide (two
 * input pixels, if the output is larger). Rows and columns are resampled one after the other, in
 * fixed point, and the result is normalised on its way out. The same bits on every processor.
 */
#ifndef RETAIN_IMAGES_RESAMPLE_H
#define RETAIN_IMAGES_RESAMPLE_H

#include "images/image.h"
#include "images/pixel_kernels.h"

/*
 * One direction, in the image's pixels: output i has its centre at start + (i + 1/2) * scale, and
 * nothing outside low .. high-1 is read.
 */
struct resample_axis {
	double start, scale;
	int low, high;
	int count;
	bool mirror; /* the last output first */
};

struct resample_job {
	struct resample_axis x, y;
	int channels;       /* of the output; a grey image fills them all */
	const float *scale; /* per channel: output = pixel * scale + shift, */
	const float *shift; /* pixels from 0 to 255 */
	const struct pixel_kernels *kernels;
};

/* Reusable growing buffers. Zeroed: empty. */
struct resample_scratch {
	struct pixel_taps *taps;
	int16_t *weights, *values;
	uint8_t *shrunk;
	size_t taps_count, weights_count, values_count, shrunk_count;
};

void resample_release(struct resample_scratch *scratch);

/* Writes channels * y.count * x.count floats, plane after plane. */
int resample(const struct image *image, const struct resample_job *job,
	struct resample_scratch *scratch, float *out, struct err *err);

#endif
