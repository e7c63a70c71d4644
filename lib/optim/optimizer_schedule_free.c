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

/* c of the last step. */
static double share(const struct optimizer *o)
{
	const double r = (double)o->config.r;

	return (r + 1) / ((double)o->steps + r);
}

/* x goes c (z - x), and y - x is (1 - beta + beta c) (z - x). */
static double approach(const struct optimizer *o)
{
	const double beta = (double)o->config.beta, c = share(o);

	return c / (1 - beta + beta * c);
}

static void take_step(const struct optimizer_slice *s)
{
	const struct optimizer *o = s->optimizer;
	const struct schedule_free_step step = {.rate = s->rate,
		.decay = s->decay,
		.beta = o->config.beta,
		.share = (float)share(o),
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
	.approach = approach,
	.step = take_step,
};
