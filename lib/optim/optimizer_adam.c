/* ADAM as PyTorch defines it, with decay added to the gradient. */
#include "optim/optimizer_type.h"

#include <math.h>

static void take_step(const struct optimizer_slice *s)
{
	const struct optimizer *o = s->optimizer;
	const struct optimizer_config *c = &o->config;
	const struct adam_step step = {.rate = s->rate,
		.beta1 = c->beta1,
		.beta2 = c->beta2,
		.epsilon = c->epsilon,
		.decay = s->decay,
		.correction1 = (float)(1 - pow((double)c->beta1, (double)o->steps)),
		.correction2 = (float)(1 - pow((double)c->beta2, (double)o->steps))};

	vector_adam(o->engine, s->params, s->grad, s->buffers[0], s->buffers[1], s->count, &step,
		&s->averages);
}

const struct optimizer_type optimizer_adam = {
	.name = "adam",
	.help = "steps scaled by running means of the gradient and its square",
	.defaults = {.beta1 = 0.9f, .beta2 = 0.999f, .epsilon = 1e-8f},
	.buffers = {"mean", "square"},
	.step = take_step,
};
