/* SGD with momentum, as PyTorch defines it: the momentum starts as the first gradient. */
#include "optim/optimizer_type.h"

static void take_step(const struct optimizer_slice *s)
{
	const struct optimizer *o = s->optimizer;
	const struct sgd_step step = {.rate = s->rate,
		.momentum = o->config.momentum,
		.decay = s->decay,
		.first = o->steps == 1};

	vector_sgd(o->engine, s->params, s->grad, s->buffers[0], s->count, &step, &s->averages);
}

const struct optimizer_type optimizer_sgd = {
	.name = "sgd",
	.help = "stochastic gradient descent with momentum",
	.defaults = {.momentum = 0.9f, .decay = 1e-4f},
	.buffers = {"momentum"},
	.step = take_step,
};
