/*
 * Distillation from the best average, as LwF does from an earlier model. With q = softmax(teacher
 * / T), p = softmax(z / T) and the factor d = loss.distill:
 *
 *	loss = CE(z) + d T^2 sum q (log q - log p),   its gradient adds d T (p - q).
 *
 * The rows of a sample: q, and z / T.
 */
#include <math.h>
#include <string.h>

#include "learn/losses/loss_impl.h"
#include "optim/average.h"
#include "optim/optimizer.h"

struct distill {
	struct loss loss;
	float weight, temperature;
};

static int check(const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;

	if (average_traits(options_text(o, "average.kind")).count ||
		optimizer_traits(options_text(o, "optimizer.kind")).averages)
		return 0;
	return err_set(err, ERR_INPUT,
		"loss.kind = distill: learns from an average of the weights, and average.kind = %s "
		"keeps none; set it to ama or ema",
		options_text(o, "average.kind"));
}

static int begin(struct loss *loss, const struct loss_view *view, struct err *err)
{
	const struct options *o = view->options;
	struct distill *distill = (struct distill *)loss;

	(void)err;
	distill->weight = (float)options_float(o, "loss.distill");
	distill->temperature = (float)options_float(o, "loss.temperature");
	return 0;
}

/* Of a row, in place; the largest logit is taken away first. */
static void softmax(float *row, int classes)
{
	float top = row[0];
	double sum = 0;

	for (int c = 1; c < classes; c++)
		top = row[c] > top ? row[c] : top;
	for (int c = 0; c < classes; c++) {
		row[c] = expf(row[c] - top);
		sum += (double)row[c];
	}
	for (int c = 0; c < classes; c++)
		row[c] = (float)((double)row[c] / sum);
}

/* The average does not know its batch norm statistics better in training mode. */
static int batch(struct loss *loss, const struct loss_view *view, const int64_t *ids,
	const struct runner_batch *samples, struct err *err)
{
	struct distill *distill = (struct distill *)loss;
	const int classes = distill->loss.sample.classes;
	const int which = learner_teacher(view->learner);
	const int code = runner_infer(view->runner, learner_weights(view->learner, which),
		learner_stats(view->learner, which), samples->input, samples->n, view->logits, err);

	(void)ids;
	if (code)
		return code;
	for (int i = 0; i < samples->n; i++) {
		float *teacher = loss_row(&distill->loss, i, 0);

		for (int c = 0; c < classes; c++)
			teacher[c] = view->logits[(size_t)i * (size_t)classes + (size_t)c] /
				     distill->temperature;
		softmax(teacher, classes);
	}
	learner_tell(view->learner, LEARNER_TEACH, samples->n);
	return 0;
}

static float value(const struct sample_loss *sample, const struct ops *ops, int at,
	const float *logits, const union target *label, float weight, float *grad)
{
	const struct distill *distill = (const struct distill *)sample;
	const float *q = loss_row(&distill->loss, at, 0), t = distill->temperature;
	const float factor = weight * distill->weight * t;
	float *p = loss_row(&distill->loss, at, 1);
	const int classes = sample->classes;
	double divergence = 0;
	float entropy;

	ops->softmax_loss(logits, classes, &label->class, &weight, 1, &entropy, grad);
	for (int c = 0; c < classes; c++)
		p[c] = logits[c] / t;
	softmax(p, classes);
	for (int c = 0; c < classes; c++) {
		grad[c] += factor * (p[c] - q[c]);
		if (q[c] > 0)
			divergence +=
				(double)q[c] * (log((double)q[c]) - log(fmax((double)p[c], 1e-45)));
	}
	return entropy + distill->weight * t * t * (float)divergence;
}

static double price(const struct loss *loss, const struct net *net)
{
	return net_macs(net) * loss->batch;
}

const struct loss_type loss_distill = {
	.name = "distill",
	.help = "cross-entropy, and staying close to what the best average says (as LwF)",
	.size = sizeof(struct distill),
	.rows = 2,
	.check = check,
	.begin = begin,
	.batch = batch,
	.value = value,
	.price = price,
};
