/*
 * From what a record holds to what a net takes: bytes of an image file, or
 * 8-bit pixels, become size * size floats per channel, plane after plane,
 * normalised: (pixel / 255 - mean) / std.
 *
 * Kinds:
 *
 *	crop    training: a random part, resized, with `flip` perhaps mirrored; evaluation: the
 *	        image resized to `resize` pixels on its shorter side, its centre.
 *	        For photographs of any size
 *	pad     training: shifted by up to `pad` pixels in each direction, zeros
 *	        coming in, with `flip` perhaps mirrored; evaluation: as it is. For CIFAR; images
 *	        must have the size
 *	plain   as it is, for training too. For digits; images must have the size
 *
 * What is random is a function of (seed, iteration, position in the batch) alone.
 * The same input gives the same bits on every processor, if libjpeg's version is
 * the same.
 *
 * A transform is constant once made and may be used by any number of threads,
 * each with a scratch of its own. Scratch allocates only when it needs more
 * memory than ever before, and then doubles.
 */
#ifndef RETAIN_IMAGES_TRANSFORM_H
#define RETAIN_IMAGES_TRANSFORM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

enum { TRANSFORM_CHANNELS_MAX = 3, TRANSFORM_SIZE_MAX = 4096 };

struct transform_config {
	const char *kind;
	int size;     /* pixels a side, of the output */
	int resize;   /* crop: the shorter side in evaluation; at least size */
	int pad;      /* pad: pixels added on each side */
	bool flip;    /* crop and pad: half of what is for training is mirrored */
	int channels; /* 1 or 3; grey images fill all three, colour is made grey for one */
	float mean[TRANSFORM_CHANNELS_MAX], std[TRANSFORM_CHANNELS_MAX];
	uint64_t seed;
};

struct transform {
	const struct transform_kind *kind;
	struct transform_config config;
	float scale[TRANSFORM_CHANNELS_MAX], shift[TRANSFORM_CHANNELS_MAX]; /* of pixels 0 .. 255 */
	const struct pixel_kernels *kernels;
};

/* Checks the config; nothing is to be released. The kind's name need not outlive the call. */
int transform_init(
	struct transform *transform, const struct transform_config *config, struct err *err);

/* Whether samples for training differ from those for evaluation. */
bool transform_augments(const struct transform *transform);

/*
 * A record: an image file's bytes if width is 0, else pixels, either component
 * beside component or plane after plane. The caller keeps them.
 */
struct transform_input {
	const void *bytes;
	size_t size;
	int width, height, components;
	bool planar;
};

struct transform_scratch;

int transform_scratch_new(struct transform_scratch **scratch, struct err *err);
void transform_scratch_free(struct transform_scratch *scratch);

/* The place in training that decides what is random. iteration < 2^40, position < 2^20. */
struct transform_place {
	uint64_t iteration;
	int position; /* in the batch */
};

/* Writes channels * size * size floats: for a place in training, or, with NULL, for evaluation. */
int transform_apply(const struct transform *transform, struct transform_scratch *scratch,
	const struct transform_input *input, const struct transform_place *place, float *out,
	struct err *err);

#endif
