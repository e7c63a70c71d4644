/*
 * Whether ranks are worthwhile. The times of a micro-batch and of a gradient exchange are
 * measured, with zeros as inputs; the rest is arithmetic: one process runs all micro-batches, one
 * of N ranks its share, and then the gradient and the updated parameters travel.
 */
#include "base/clock.h"
#include "base/mem.h"
#include "nn/ranks/shared.h"

enum { TRIES = 3, TRAVELS = 5, WORDS = 64 };

/* Zeros of a batch, and room for a gradient. */
struct room {
	float *inputs, *grad;
	union target *labels;
};

/* The shortest of some tries, the first of which makes plans and connections. */
static double piece_seconds(
	struct runner *runner, const float *params, const struct room *room, struct err *err)
{
	const struct runner_batch batch = {
		.input = room->inputs, .labels = room->labels, .n = runner->micro};
	double least = 0;

	for (int i = 0; i <= TRIES; i++) {
		const double begun = clock_now();

		if (runner_gradient(
			    runner, params, NULL, &batch, room->grad, NULL, NULL, NULL, err))
			return -1;
		const double taken = clock_now() - begun;
		least = i <= 1 || taken < least ? taken : least;
	}
	return least;
}

/* What every rank has of a number per sample of a batch goes to all. */
static void travel_samples(struct runner *runner, const struct room *room, int batch)
{
	struct ranks *ranks = runner->shared->ranks;
	size_t begins[RANKS_MOST + 1];

	for (int r = 0; r < ranks->count; r++) {
		int first, count;

		shared_part(runner, batch, r, &first, &count);
		begins[r] = (size_t)first;
	}
	begins[ranks->count] = (size_t)batch;
	ranks->type->gather(ranks, room->labels, sizeof(*room->labels), begins);
}

/* An iteration's messages without what is computed in between, on average. */
static double travel_seconds(struct runner *runner, const struct room *room, int batch)
{
	struct ranks *ranks = runner->shared->ranks;
	char words[WORDS] = {0};
	double begun = 0;

	for (int i = 0; i <= TRAVELS; i++) {
		begun = i == 1 ? clock_now() : begun;
		ranks->type->share(ranks, 0, words, sizeof(words));
		travel_samples(runner, room, batch); /* labels */
		travel_samples(runner, room, batch); /* losses */
		shared_gather(runner, room->grad);
		shared_gather(runner, room->grad); /* parameters */
	}
	return (clock_now() - begun) / TRAVELS;
}

static int judge(struct runner *runner, const float *params, const struct room *room, int batch,
	struct err *err)
{
	struct ranks *ranks = runner->shared->ranks;
	const double piece = piece_seconds(runner, params, room, err);
	const int pieces = (batch + runner->micro - 1) / runner->micro;
	double one, many, travel;

	if (piece < 0) {
		ranks->lost = true;
		return err->code;
	}
	travel = travel_seconds(runner, room, batch);
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

int shared_worth(struct runner *runner, const float *params, int batch, struct err *err)
{
	const size_t inputs = (size_t)runner->micro * runner_sample_floats(runner);
	struct ranks *ranks = runner->engine->ranks;
	struct arena arena = {0};
	struct room room;
	int code;

	if (!ranks || ranks->anyway)
		return 0;
	if (!shared_cuts(runner, batch))
		return err_set(err, ERR_INPUT,
			"run.micro_batch = %d: a batch of %d is not cut, so %d ranks have nothing "
			"to share; set it to %d or less (which changes bits), or start one process",
			runner->micro, batch, ranks->count,
			batch > ranks->count ? batch / ranks->count : 1);
	room.inputs = arena_new(&arena, inputs, sizeof(float));
	room.labels = arena_new(&arena, (size_t)batch, sizeof(*room.labels));
	room.grad = arena_new(&arena, net_params(runner->net)->floats, sizeof(float));
	if (room.inputs && room.labels && room.grad) {
		code = judge(runner, params, &room, batch, err);
	} else {
		ranks->lost = true;
		code = err_memory(err, "a trial of ranks", inputs * sizeof(float));
	}
	arena_release(&arena);
	return code;
}
