/*
 * Losses of numbers. They differ in what they make of the error of the value. All are bounded in
 * slope, so that no outlier takes the weights far away. The bounds of the
 * interval are quantiles, learned by the slope that has its balance there: for q, tau below y and
 * 1 - tau above it. They count for little beside the value, with which they share the net.
 */
#include <math.h>

#include "learn/losses/loss_impl.h"

static const float BOUND_SHARE = 0.3f;
static const float SQUARED_REACH = 4; /* scales up to which `squared` is */

struct number_loss {
	struct loss loss;
	float tail; /* share of true values beyond each bound */
	float quantile;
};

static int begin(struct loss *loss, const struct loss_view *view, struct err *err)
{
	struct number_loss *mine = (struct number_loss *)loss;

	(void)err;
	mine->tail = (float)((1 - options_float(view->options, "model.coverage")) / 2);
	mine->quantile = (float)options_float(view->options, "loss.quantile");
	return 0;
}

/* Its slope by the answer; and the loss. */
static float quantile_loss(float answer, float label, float tau, float *slope)
{
	*slope = answer > label ? 1 - tau : -tau;
	return *slope * (answer - label);
}

static float bounds(const struct number_loss *loss, const float *outputs, float label, float weight,
	float *grad)
{
	const float taus[] = {[NUMBER_LOW] = loss->tail, [NUMBER_HIGH] = 1 - loss->tail};
	float sum = 0;

	for (int k = NUMBER_LOW; k <= NUMBER_HIGH; k++) {
		sum += BOUND_SHARE * quantile_loss(outputs[k], label, taus[k], &grad[k]);
		grad[k] *= weight * BOUND_SHARE;
	}
	return sum;
}

/* e^2 / 2 up to `reach`, beyond it a line of the same slope. */
static float value_loss(const struct number_loss *loss, const float *outputs, float label,
	float weight, float reach, float *grad)
{
	const float e = outputs[NUMBER_VALUE] - label, far = fabsf(e);

	grad[NUMBER_VALUE] = weight * (far <= reach ? e : copysignf(reach, e));
	return (far <= reach ? e * e / 2 : reach * (far - reach / 2)) +
	       bounds(loss, outputs, label, weight, grad);
}

static float huber_one(const struct number_loss *loss, const float *outputs, float label,
	float weight, float *grad)
{
	return value_loss(loss, outputs, label, weight, 1, grad);
}

static float squared_one(const struct number_loss *loss, const float *outputs, float label,
	float weight, float *grad)
{
	return value_loss(loss, outputs, label, weight, SQUARED_REACH, grad);
}

/* Twice the loss of the median. */
static float absolute_one(const struct number_loss *loss, const float *outputs, float label,
	float weight, float *grad)
{
	const float e = outputs[NUMBER_VALUE] - label;

	grad[NUMBER_VALUE] = e > 0 ? weight : e < 0 ? -weight : 0;
	return fabsf(e) + bounds(loss, outputs, label, weight, grad);
}

static float quantile_one(const struct number_loss *loss, const float *outputs, float label,
	float weight, float *grad)
{
	const float value =
		quantile_loss(outputs[NUMBER_VALUE], label, loss->quantile, &grad[NUMBER_VALUE]);

	grad[NUMBER_VALUE] *= weight;
	return value + bounds(loss, outputs, label, weight, grad);
}

typedef float number_loss_one(const struct number_loss *loss, const float *outputs, float label,
	float weight, float *grad);

/* The mean over the numbers of a target, so that rates fit any count of them. */
static inline float mean(const struct sample_loss *sample, const float *outputs,
	const union target *label, float weight, float *grad, number_loss_one *one)
{
	const float share = 1 / (float)sample->width;
	float sum = 0;

	for (int k = 0; k < sample->width; k++)
		sum += one((const struct number_loss *)sample, outputs + NUMBER_OUTPUTS * k,
			label[k].number, weight * share, grad + NUMBER_OUTPUTS * k);
	return sum * share;
}

static float huber(const struct sample_loss *sample, const struct ops *ops, int at,
	const float *outputs, const union target *label, float weight, float *grad)
{
	(void)ops;
	(void)at;
	return mean(sample, outputs, label, weight, grad, huber_one);
}

static float squared(const struct sample_loss *sample, const struct ops *ops, int at,
	const float *outputs, const union target *label, float weight, float *grad)
{
	(void)ops;
	(void)at;
	return mean(sample, outputs, label, weight, grad, squared_one);
}

static float absolute(const struct sample_loss *sample, const struct ops *ops, int at,
	const float *outputs, const union target *label, float weight, float *grad)
{
	(void)ops;
	(void)at;
	return mean(sample, outputs, label, weight, grad, absolute_one);
}

static float quantile(const struct sample_loss *sample, const struct ops *ops, int at,
	const float *outputs, const union target *label, float weight, float *grad)
{
	(void)ops;
	(void)at;
	return mean(sample, outputs, label, weight, grad, quantile_one);
}

const struct loss_type loss_huber = {
	.name = "huber",
	.help = "numbers: squared error up to one scale, absolute beyond",
	.target = TARGET_NUMBER,
	.size = sizeof(struct number_loss),
	.begin = begin,
	.value = huber,
};

const struct loss_type loss_squared = {
	.name = "squared",
	.help = "numbers: squared error, up to four scales",
	.target = TARGET_NUMBER,
	.size = sizeof(struct number_loss),
	.begin = begin,
	.value = squared,
};

const struct loss_type loss_absolute = {
	.name = "absolute",
	.help = "numbers: absolute error",
	.target = TARGET_NUMBER,
	.size = sizeof(struct number_loss),
	.begin = begin,
	.value = absolute,
};

const struct loss_type loss_quantile = {
	.name = "quantile",
	.help = "numbers: error whose smallest mean is at a quantile",
	.target = TARGET_NUMBER,
	.size = sizeof(struct number_loss),
	.begin = begin,
	.value = quantile,
};
