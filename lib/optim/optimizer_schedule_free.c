/*
 * Schedule-free SGD. Three points: z takes the steps, x is a running average of
 * all z, and the gradient is taken in between, at y = (1 - beta) z + beta x.
 * The trained parameters are y; x is what predicts. In step k
 *
 *	z <- z - rate (gradient at y + decay y)
 *	x <- (1 - c) x + c z,   c = (r + 1) / (k + r)
 *
 * so the first c is 1 and x starts as the first z; r > 0 lets later steps weigh
 * more (as k to the r). No schedule is needed, and no momentum: y's memory is x.
 */
#include "optim/optimizer_type.h"

static void take_step(const struct optimizer_slice *s)
{
	const struct optimizer *o = s->optimizer;
	const double r = (double)o->config.r;
	const struct schedule_free_step step = {.rate = s->rate,
		.decay = s->decay,
		.beta = o->config.beta,
		.share = (float)((r + 1) / ((double)o->steps + r)),
		.first = o->steps == 1};

	vector_schedule_free(o->engine, s->params, s->grad, s->buffers[0], s->buffers[1], s->count,
		&step, &s->averages);
}

const struct optimizer_type optimizer_schedule_free = {
	.name = "schedule-free",
	.help = "SGD that predicts with a running average and needs no schedule",
	.defaults = {.decay = 1e-4f, .r = 8, .beta = 0.9f},
	.buffers = {"z", "x"},
	.inference = "x",
	.step = take_step,
};
