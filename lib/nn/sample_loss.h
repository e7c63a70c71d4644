/*
 * A loss other than cross-entropy, computed for one sample at a time from its logits. A runner
 * takes it with a batch (struct runner_batch) and computes the net's gradient from it.
 *
 * A loss embeds this struct as its first member and keeps its other data behind it, complete for
 * the whole batch before the runner starts: threads process samples in any order, and the result
 * must not depend on it.
 */
#ifndef RETAIN_NN_SAMPLE_LOSS_H
#define RETAIN_NN_SAMPLE_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "target/target.h"

struct ops;

struct sample_loss {
	/*
	 * The loss of sample number `at` of the batch. grad receives the gradient with respect to
	 * the logits, times weight. The logits are not modified.
	 */
	float (*value)(const struct sample_loss *loss, const struct ops *ops, int at,
		const float *logits, const union target *label, float weight, float *grad);
	enum target_kind target; /* of its labels, */
	int width;               /* cells of each */
	bool program;            /* the program that computes the net computes it, too */
	int classes;
	float *rows; /* for the runner: two rows of classes for each sample of the batch */
};

#endif
