/*
 * The common kind of JPEG, decoded fast: baseline, one scan, no restarts, grey or
 * YCbCr with chroma at full (4:4:4), half (4:2:2) or quarter (4:2:0) resolution.
 * libjpeg reads headers and decodes everything else, and everything that looks
 * wrong here. For sound files the pixels are the same bits as libjpeg-turbo's
 * (accurate integer transform, smooth upsampling); a test compares.
 */
#ifndef RETAIN_IMAGES_BASELINE_H
#define RETAIN_IMAGES_BASELINE_H

#include "images/image_format.h"
#include "images/pixel_kernels.h"

/* How often each length of code occurs (1 .. 16), and the symbols in the order of codes. */
struct baseline_codes {
	const uint8_t *counts; /* [17]; [0] is not used */
	const uint8_t *symbols;
};

struct baseline_component {
	int h, v;              /* sampling factors */
	const uint16_t *steps; /* of quantisation, row by row */
	struct baseline_codes dc, ac;
};

struct baseline_header {
	int width, height;
	int count; /* 1: grey; 3: YCbCr */
	struct baseline_component components[3];
	const uint8_t *data; /* behind the scan's header */
	size_t size;
};

struct baseline; /* buffers and tables, kept from image to image */

int baseline_new(struct baseline **baseline, const struct pixel_kernels *kernels, struct err *err);
void baseline_free(struct baseline *baseline);

/*
 * As image_read without shrinking. Returns 0; 1 if libjpeg has to do it, for
 * whatever reason; or ERR_MEMORY.
 */
int baseline_read(struct baseline *baseline, const struct baseline_header *header,
	const struct image_window *window, int components, struct image_buffer *buffer,
	struct image *image, struct err *err);

#endif
