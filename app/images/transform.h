/*
 * Converts a record to a net's input: bytes of an image file, or 8-bit pixels, become size * size
 * floats per channel, plane after plane, normalised: (pixel / 255 - mean) / std.
 *
 * Kinds:
 *
 *	crop    training: a random part, resized, with `flip` perhaps mirrored; evaluation: the
 *	        image resized to `resize` pixels on its shorter side, its centre.
 *	        For photographs of any size
 *	pad     training: shifted by up to `pad` pixels in each direction, padded with zeros,
 *	        with `flip` perhaps mirrored; evaluation: unchanged. For CIFAR; images must
 *	        have the size
 *	plain   unchanged, for training too. For digits; images must have the size
 *
 * Randomness is a function of (seed, iteration, position in the batch) alone. The same input
 * gives the same bits on every processor with the same version of libjpeg.
 *
 * A transform is immutable and may be used by any number of threads, each with its own scratch.
 * Scratch allocates only when it needs more memory than ever before, and then doubles.
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
	bool flip;    /* crop and pad: mirror half of the training samples */
	int channels; /* 1 or 3; grey images fill all three, colour is converted to grey for one */
	float mean[TRANSFORM_CHANNELS_MAX], std[TRANSFORM_CHANNELS_MAX];
	uint64_t seed;
};

struct transform {
	const struct transform_kind *kind;
	struct transform_config config;
	float scale[TRANSFORM_CHANNELS_MAX], shift[TRANSFORM_CHANNELS_MAX]; /* of pixels 0 .. 255 */
	const struct pixel_kernels *kernels;
};

/* Checks the config; there is nothing to release. The kind's name need not outlive the call. */
int transform_init(
	struct transform *transform, const struct transform_config *config, struct err *err);

/* Whether samples for training differ from those for evaluation. */
bool transform_augments(const struct transform *transform);

/*
 * A record: an image file's bytes if width is 0, else pixels, interleaved or in planes. Borrowed.
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

/* The place in training that determines the randomness. iteration < 2^40, position < 2^20. */
struct transform_place {
	uint64_t iteration;
	int position; /* in the batch */
};

/* Writes channels * size * size floats: for a place in training, or, with NULL, for evaluation. */
int transform_apply(const struct transform *transform, struct transform_scratch *scratch,
	const struct transform_input *input, const struct transform_place *place, float *out,
	struct err *err);

#endif
