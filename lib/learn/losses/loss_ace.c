/*
 * ER-ACE (asymmetric cross-entropy). A sample is new if it belongs to the current time step. Its
 * softmax is over the classes of the batch's new samples; other classes get no gradient from it.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/losses/loss_impl.h"

struct ace {
	struct loss loss;
	bool *fresh;   /* by position in the batch: the sample is new */
	bool *present; /* by class: a new sample of the batch has it */
};

static int begin(struct loss *loss, const struct loss_view *view, struct err *err)
{
	struct ace *ace = (struct ace *)loss;

	ace->fresh = mem_new((size_t)view->batch, sizeof(bool));
	return ace->fresh ? 0 : err_memory(err, "a loss", (size_t)view->batch);
}

static void end(struct loss *loss)
{
	struct ace *ace = (struct ace *)loss;

	mem_free(ace->fresh);
	mem_free(ace->present);
}

static int more_classes(struct loss *loss, int classes, struct err *err)
{
	struct ace *ace = (struct ace *)loss;
	bool *more = mem_resize(ace->present, (size_t)classes, sizeof(bool));

	if (!more)
		return err_memory(err, "a loss", (size_t)classes);
	ace->present = more;
	return 0;
}

static int batch(struct loss *loss, const struct loss_view *view, const int64_t *ids,
	const struct runner_batch *samples, struct err *err)
{
	struct ace *ace = (struct ace *)loss;

	(void)err;
	memset(ace->present, 0, (size_t)ace->loss.sample.classes * sizeof(bool));
	for (int i = 0; i < samples->n; i++) {
		ace->fresh[i] = ids[i] >= objective_step_first(view->objective);
		if (ace->fresh[i])
			ace->present[samples->labels[i].class] = true;
	}
	return 0;
}

static float value(const struct sample_loss *sample, const struct ops *ops, int at,
	const float *logits, const union target *label, float weight, float *grad)
{
	const struct ace *ace = (const struct ace *)sample;
	const int classes = sample->classes;
	const float *row = logits;
	float entropy;

	if (ace->fresh[at]) {
		float *masked = loss_row(&ace->loss, at, 0);

		for (int c = 0; c < classes; c++)
			masked[c] = ace->present[c] ? logits[c] : -INFINITY;
		row = masked;
	}
	ops->softmax_loss(row, classes, &label->class, &weight, 1, &entropy, grad);
	return entropy;
}

const struct loss_type loss_ace = {
	.name = "ace",
	.help = "cross-entropy; samples of the current step only among their own classes (ER-ACE)",
	.size = sizeof(struct ace),
	.rows = 1,
	.begin = begin,
	.end = end,
	.classes = more_classes,
	.batch = batch,
	.value = value,
};
