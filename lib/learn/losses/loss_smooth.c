/*
 * Label smoothing, e = loss.smoothing: (1 - e) * CE + e * mean over classes of -log p, as
 * torch.nn.CrossEntropyLoss(label_smoothing=e) has it. With L = log sum exp, -log p_c is
 * L - z_c, and L follows from CE = L - z_label.
 */
#include "learn/losses/loss_impl.h"

struct smooth {
	struct loss loss;
	float share;
};

static int begin(struct loss *loss, const struct loss_view *view, struct err *err)
{
	struct smooth *smooth = (struct smooth *)loss;

	(void)err;
	smooth->share = (float)options_float(view->options, "loss.smoothing");
	return 0;
}

static float value(const struct sample_loss *sample, const struct ops *ops, int at,
	const float *logits, const union target *label, float weight, float *grad)
{
	const struct smooth *smooth = (const struct smooth *)sample;
	const int classes = sample->classes;
	const float each = smooth->share / (float)classes;
	float entropy;
	double sum = 0;

	(void)at;
	ops->softmax_loss(logits, classes, &label->class, &weight, 1, &entropy, grad);
	for (int c = 0; c < classes; c++) {
		sum += (double)logits[c];
		grad[c] -= weight * each;
	}
	grad[label->class] += weight * smooth->share;
	return entropy + smooth->share * (logits[label->class] - (float)(sum / classes));
}

const struct loss_type loss_smooth = {
	.name = "smooth",
	.help = "cross-entropy with label smoothing",
	.size = sizeof(struct smooth),
	.begin = begin,
	.value = value,
};
