/* The steps of a program that keeps the vectors (nn/vectors.h): any optimizer of PyTorch's, say. */
#include "optim/optimizer_type.h"

static void take_step(const struct optimizer_slice *s)
{
	vectors_step(s->optimizer->engine->vectors, s->params, s->grad, s->count, s->rate,
		s->optimizer->steps == 1, &s->averages);
}

const struct optimizer_type optimizer_program = {
	.name = "program",
	.help = "steps of the program that computes the net",
	.program = true,
	.step = take_step,
};
