/*
 * Whether ranks are worth their while. What a micro-batch takes and what a gradient takes
 * between ranks is measured, with zeros for inputs, and the rest is counting: one process
 * runs all micro-batches, one of N ranks its share of them, and then the gradient travels, and
 * what became of the parameters.
 */
#include <string.h>

#include "base/clock.h"
#include "learn/learner_impl.h"

enum { TRIES = 3, TRAVELS = 5 };

/* The shortest of some tries, the first of which makes plans and connections. */
static double piece_seconds(struct learner *learner, int n, struct err *err)
{
	const struct runner_batch batch = {
		.input = learner->inputs, .labels = learner->labels, .n = n};
	double least = 0;

	memset(learner->inputs, 0, (size_t)n * learner->floats * sizeof(float));
	memset(learner->labels, 0, (size_t)n * sizeof(*learner->labels));
	for (int i = 0; i <= TRIES; i++) {
		const double begun = clock_now();

		if (runner_gradient(learner->runner, learner->params, NULL, &batch, learner->grad,
			    NULL, NULL, NULL, err))
			return -1;
		const double taken = clock_now() - begun;
		least = i <= 1 || taken < least ? taken : least;
	}
	return least;
}

/* An iteration's messages without what is computed in between, on average. */
static double travel_seconds(struct learner *learner)
{
	struct ranks *ranks = learner->ranks;
	const size_t floats = net_params(learner->net)->floats;
	struct learner_told told = {0};
	double begun = 0;

	for (int i = 0; i <= TRAVELS; i++) {
		begun = i == 1 ? clock_now() : begun;
		ranks->type->share(ranks, 0, &told, sizeof(told));
		learner_share_labels(learner, learner->batch, learner->labels);
		learner_share_labels(learner, learner->batch, learner->labels); /* losses */
		ranks_gather_slices(ranks, learner->grad, floats);
		ranks_gather_slices(ranks, learner->grad, floats); /* parameters */
	}
	return (clock_now() - begun) / TRAVELS;
}

int learner_worth(struct learner *learner, struct err *err)
{
	struct ranks *ranks = learner->ranks;
	const int micro = options_int(learner->config.options, "run.micro_batch");
	double one, many, piece, travel;

	if (!ranks || ranks->anyway)
		return 0;
	if (!runner_is_cut(learner->runner, learner->batch))
		return err_set(err, ERR_INPUT,
			"run.micro_batch = %d: a batch of %d is not cut, so %d ranks have nothing "
			"to share; set it to %d or less (which changes bits), or start one process",
			micro, learner->batch, ranks->count,
			learner->batch > ranks->count ? learner->batch / ranks->count : 1);
	piece = piece_seconds(learner, micro, err);
	if (piece < 0) {
		ranks->lost = true;
		return err->code;
	}
	travel = travel_seconds(learner);
	const int pieces = (learner->batch + micro - 1) / micro;
	one = pieces * piece;
	many = (double)((pieces + ranks->count - 1) / ranks->count) * piece + travel;
	ranks->type->share(ranks, 0, &one, sizeof(one));
	ranks->type->share(ranks, 0, &many, sizeof(many));
	ranks->type->share(ranks, 0, &travel, sizeof(travel));
	if (many < one)
		return 0;
	return err_set(err, ERR_INPUT,
		"the net is too small for %d ranks: a batch takes one process about %.2g ms, and "
		"them %.2g ms, %.2g of which it is on its way between them; start one process, "
		"or give --ranks-anyway",
		ranks->count, 1000 * one, 1000 * many, 1000 * travel);
}
