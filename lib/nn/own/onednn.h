/*
 * The door to oneDNN: convolutions of blocked float32 images, planned once and
 * run by the workers of a team. Nothing of oneDNN's own is seen outside, for its
 * C API changed between versions 2 and 3.
 *
 * oneDNN is kept to one thread: ours are the only pool, and a result does not
 * depend on how many there are. Any number of workers may be inside the same
 * convolution at a time, each under its own number.
 */
#ifndef RETAIN_NN_ONEDNN_H
#define RETAIN_NN_ONEDNN_H

#include <stdbool.h>
#include <stddef.h>
#include "base/err.h"

/* Channels are multiples of the block, images lie without gaps. */
struct onednn_shape {
	int n; /* images per run */
	int in, out, height, width, out_height, out_width;
	int size, stride, pad;
	int block;
};

enum onednn_pass { ONEDNN_FORWARD, ONEDNN_BACKWARD_INPUT, ONEDNN_BACKWARD_WEIGHTS, ONEDNN_PASSES };

struct onednn_conv;

/*
 * What oneDNN can do with images in such blocks: nothing, where this build has none of it, a
 * convolution by its reference kernels, or one by kernels made for this processor's vectors.
 */
enum onednn_speed { ONEDNN_NONE, ONEDNN_SLOW, ONEDNN_FAST };
enum onednn_speed onednn_speed(int block);

/* Passes: the bits 1 << pass of those that will be run, beside the forward one. */
int onednn_conv_new(struct onednn_conv **conv, const struct onednn_shape *shape, unsigned passes,
	int workers, struct err *err);
void onednn_conv_free(struct onednn_conv *conv);

/* Scratch a run needs, in floats. */
size_t onednn_conv_scratch(const struct onednn_conv *conv);

/*
 * Weights and their gradient are [out block][in block][tap][in][out]. The weights of the input's
 * gradient are [out block][in block][tap][out][in], or, where this is true, begin with [in block].
 */
bool onednn_conv_in_first(const struct onednn_conv *conv);

/* A run reads two and writes one: out, in or weights, by its pass. Aligned like mem_new's. */
struct onednn_arrays {
	float *in, *weights, *out;
	float *scratch;
};

/*
 * Non-zero: oneDNN failed (its own allocations may), or the pass was not asked for. What was to
 * be written is then undefined.
 */
int onednn_conv_run(struct onednn_conv *conv, enum onednn_pass pass, int worker,
	const struct onednn_arrays *arrays);

#endif
