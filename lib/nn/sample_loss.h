/*
 * A loss other than cross-entropy, of one sample at a time by its logits. A runner takes
 * it with a batch (struct runner_batch) and makes the gradient of the net from it.
 *
 * What a loss needs besides the logits stands behind the struct, which it begins with, and
 * is ready for the whole batch before the runner begins: threads ask for samples in any
 * order, and the answer must not depend on it.
 */
#ifndef RETAIN_NN_SAMPLE_LOSS_H
#define RETAIN_NN_SAMPLE_LOSS_H

#include <stdint.h>

struct ops;

struct sample_loss {
	/*
	 * The loss of sample number `at` of the batch. grad receives its gradient by the
	 * logits, times weight. The logits stay.
	 */
	float (*value)(const struct sample_loss *loss, const struct ops *ops, int at,
		const float *logits, int32_t label, float weight, float *grad);
	int classes;
	float *rows; /* for the runner: two rows of classes for each sample of the batch */
};

#endif
