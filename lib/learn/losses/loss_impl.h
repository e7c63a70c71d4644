/*
 * Shared by the files of the losses: the row of a kind, and the struct that each object begins
 * with.
 */
#ifndef RETAIN_LEARN_LOSSES_LOSS_IMPL_H
#define RETAIN_LEARN_LOSSES_LOSS_IMPL_H

#include <stddef.h>

#include "learn/learner_view.h"
#include "learn/losses/kept.h"
#include "learn/losses/loss.h"
#include "nn/ops.h"

struct loss {
	struct sample_loss sample; /* first: its function gets this object */
	const struct loss_type *type;
	int batch;           /* samples of a training batch */
	int classes;         /* capacity in classes */
	float *rows;         /* for each sample of the batch, type->rows rows of `classes` */
	struct kept weights; /* of samples, other than 1 */
};

/* Functions may be NULL. */
struct loss_type {
	const char *name, *help;
	enum target_kind target;
	size_t size;  /* of the kind's struct, which begins with struct loss */
	bool program; /* computed by the program that computes the net, of whole batches */
	int rows;     /* rows of classes that the kind needs for each sample of a batch */

	int (*check)(const struct learner_config *config, struct err *err);
	int (*begin)(struct loss *loss, const struct loss_view *view, struct err *err);
	void (*end)(struct loss *loss);
	int (*classes)(struct loss *loss, int classes, struct err *err);
	int (*ready)(struct loss *loss, const struct loss_view *view, int n, struct err *err);
	int (*end_task)(struct loss *loss, const struct loss_view *view, int64_t task, int64_t end,
		struct err *err);
	int (*revealed)(struct loss *loss, const struct loss_view *view, int64_t first,
		const float *inputs, int n, struct err *err);
	void (*forget)(struct loss *loss, int64_t id);
	/* Called before the batch's gradient. */
	int (*batch)(struct loss *loss, const struct loss_view *view, const int64_t *ids,
		const struct runner_batch *batch, struct err *err);
	float (*value)(const struct sample_loss *loss, const struct ops *ops, int at,
		const float *logits, const union target *label, float weight, float *grad);
	double (*held)(const struct loss *loss, const struct loss_view *view);
	void (*hold)(const struct loss *loss, const float *params, float *grad,
		const struct slice *slice);
	double (*price)(const struct loss *loss, const struct net *net);
	void (*state)(struct loss *loss, struct state *state);
};

extern const struct loss_type loss_cross_entropy, loss_smooth, loss_ace, loss_der, loss_distill,
	loss_ewc, loss_huber, loss_squared, loss_absolute, loss_quantile, loss_program;

/* One of the kind's rows for sample number `at` of a batch. */
static inline float *loss_row(const struct loss *loss, int at, int row)
{
	const size_t rows = (size_t)loss->type->rows;

	return loss->rows + ((size_t)at * rows + (size_t)row) * (size_t)loss->sample.classes;
}

#endif
