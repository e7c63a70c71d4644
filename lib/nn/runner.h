/*
 * Runs a net on an engine: batches of any size, cut into micro-batches, on
 * cached plans. Once a batch size has been seen, a call allocates nothing.
 *
 * Inputs are float32 (n, channels, height, width), labels class numbers.
 * params and stats are flat buffers as the net's tables describe them; any
 * base pointer will do. Batch norm's statistics may be NULL for other nets.
 */
#ifndef RETAIN_NN_RUNNER_H
#define RETAIN_NN_RUNNER_H

#include <stdbool.h>
#include <stdint.h>
#include "base/err.h"
#include "nn/engine.h"
#include "nn/net.h"
#include "nn/packed.h"
#include "nn/sample_loss.h"
#include "nn/slices.h"
#include "target/target.h"

struct runner;

/* micro: samples per micro-batch, 0: never cut. net and engine are borrowed. */
int runner_new(struct runner **runner, const struct net *net, struct engine *engine, int micro,
	struct err *err);
void runner_free(struct runner *runner);

/*
 * With an engine of several processes, the micro-batches of a batch are distributed: each process
 * runs some, and all get all results, with the bits of one process. All must make the same calls.
 * runner_reads returns which of n samples' inputs this process reads; a single process reads all.
 */
void runner_reads(const struct runner *runner, int n, int *first, int *count);

struct runner_batch {
	const float *input;
	const union target *labels; /* as many cells each as the loss takes */
	const float *weights;       /* weight of each sample's loss; NULL: 1/n each, the mean */
	int n;
	const struct sample_loss *loss; /* NULL: cross-entropy */
	uint64_t seed;                  /* of masks (dropout) of a net that a program computes */
};

/* logits: (n, classes). Evaluation mode: batch norm uses stats. */
int runner_infer(struct runner *runner, const float *params, const float *stats, const float *input,
	int n, float *logits, struct err *err);
/* The same, with the inputs of the last layer, (n, net_features); NULL: not wanted. */
int runner_features(struct runner *runner, const float *params, const float *stats,
	const float *input, int n, float *logits, float *features, struct err *err);
/* The same with weights packed for this net on an engine of the same settings. */
int runner_infer_packed(struct runner *runner, const struct packed *packed, const float *input,
	int n, float *logits, float *features, struct err *err);
/* The same with the losses (n) of labels. */
int runner_score(struct runner *runner, const float *params, const float *stats,
	const struct runner_batch *batch, float *losses, float *logits, struct err *err);

/*
 * Training mode: forward and backward. grad receives the gradient of the weighted sum of losses;
 * micro-batches are summed in a fixed binary tree. stats (batch norm) are updated as in PyTorch
 * with momentum 0.1. losses (n), logits (n, classes) and loss may be NULL.
 */
int runner_gradient(struct runner *runner, const float *params, float *stats,
	const struct runner_batch *batch, float *grad, float *loss, float *losses, float *logits,
	struct err *err);

/*
 * The same, followed by a step. Once the loss is known, `sound` decides whether to step. If so,
 * `step` is called for slices (nn/slices.h) whose gradient is in grad, and updates the parameters
 * there. A single process has one slice of all parameters; with several processes each steps its
 * own slices, as soon as all have finished with one and while they compute others. In the end all
 * have all parameters; the rest of grad is undefined.
 */
struct runner_descent {
	float *params, *grad;
	void *context;
	bool (*sound)(void *context, float loss);
	void (*step)(void *context, const struct slice *slice);
};
int runner_descend(struct runner *runner, const struct runner_descent *descent, float *stats,
	const struct runner_batch *batch, float *logits, struct err *err);

/*
 * Cross-entropy and logits of each sample in training mode, without a backward pass. stats, if
 * not NULL, are updated with this momentum: this computes the statistics of averaged weights.
 */
int runner_losses(struct runner *runner, const float *params, float *stats, float momentum,
	const struct runner_batch *batch, float *losses, float *logits, struct err *err);

#endif
