/*
 * A batch shared by ranks: assignment of pieces, buffers, and per-sample results. Gradients are
 * reduced in flow.c.
 *
 * Batch norm's running statistics must be updated by the pieces in order. So each piece produces
 * its own (momentum 1 from zeros), and when all ranks have all of them they are folded in.
 */
#include <string.h>

#include "base/mem.h"
#include "nn/ranks/shared.h"

int shared_new(struct shared **shared, struct ranks *ranks, struct err *err)
{
	struct shared *made = mem_new(1, sizeof(*made));

	*shared = made;
	if (!made)
		return err_memory(err, "what ranks share", sizeof(*made));
	made->ranks = ranks;
	return 0;
}

bool shared_cuts(const struct runner *runner, int n)
{
	return runner->shared && runner->micro && n > runner->micro;
}

int shared_begin(const struct runner *runner, const struct pieces *pieces, int rank)
{
	return (int)ranks_begin(runner->shared->ranks, (size_t)pieces->count, rank);
}

void shared_cut(const struct runner *runner, struct pieces *pieces)
{
	const int rank = runner->shared->ranks->rank;

	pieces->shared = pieces->count > 1;
	if (!pieces->shared)
		return;
	pieces->begin = shared_begin(runner, pieces, rank);
	pieces->end = shared_begin(runner, pieces, rank + 1);
}

void shared_part(const struct runner *runner, int n, int rank, int *first, int *count)
{
	const struct pieces pieces = {.size = runner->micro,
		.count = runner->micro ? (n + runner->micro - 1) / runner->micro : 1};
	int end;

	*first = 0;
	*count = n;
	if (!shared_cuts(runner, n))
		return;
	end = shared_begin(runner, &pieces, rank + 1) * pieces.size;
	*first = shared_begin(runner, &pieces, rank) * pieces.size;
	*first = *first < n ? *first : n;
	*count = (end < n ? end : n) - *first;
}

static void release(struct shared *shared)
{
	for (int i = 0; i < shared->own_count; i++)
		mem_free(shared->own[i]);
	mem_free(shared->roots);
	mem_free(shared->sums);
	mem_free(shared->own);
	mem_free(shared->send);
	mem_free(shared->receive);
	mem_free(shared->stats);
	mem_free(shared->received);
}

void shared_free(struct shared *shared)
{
	if (shared)
		release(shared);
	mem_free(shared);
}

/* How many pieces there is room for. */
static int make_room(struct runner *runner, int pieces, struct err *err)
{
	struct shared *shared = runner->shared;
	const size_t count = (size_t)pieces, ranks = (size_t)shared->ranks->count;
	const size_t stats = net_stats(runner->net)->floats;
	struct ranks *kept = shared->ranks;

	if (pieces <= shared->room)
		return 0;
	release(shared);
	*shared = (struct shared){.ranks = kept};
	if (!(shared->roots = mem_new(count, sizeof(*shared->roots))) ||
		!(shared->sums = mem_new(count, sizeof(*shared->sums))) ||
		!(shared->own = mem_new(count, sizeof(*shared->own))) ||
		!(shared->send = mem_new(ranks, sizeof(*shared->send))) ||
		!(shared->receive = mem_new(count, sizeof(*shared->receive))) ||
		(stats && !(shared->stats = mem_new(count * stats, sizeof(float)))))
		return err_memory(err, "what ranks share", count * stats * sizeof(float));
	shared->room = pieces;
	return 0;
}

void shared_samples(
	struct runner *runner, const struct pieces *pieces, float *values, size_t width, int n)
{
	struct ranks *ranks = runner->shared->ranks;
	size_t begins[RANKS_MOST + 1];

	if (!values)
		return;
	for (int r = 0; r <= ranks->count; r++) {
		const int begin = shared_begin(runner, pieces, r) * pieces->size;

		begins[r] = (size_t)(begin < n ? begin : n);
	}
	ranks->type->gather(ranks, values, width * sizeof(*values), begins);
}

/* Gradients of own roots beyond the first, and of all others' roots what is kept. */
static int make_sums(struct runner *runner, int roots, struct err *err)
{
	struct shared *shared = runner->shared;
	const size_t floats = net_params(runner->net)->floats;
	const size_t slice = ranks_own(shared->ranks, floats);
	int own = 0, largest = 0, code;

	for (int i = 0; i < roots; i++) {
		if (shared->roots[i].rank != shared->ranks->rank)
			continue;
		own++;
		largest = shared->roots[i].count > largest ? shared->roots[i].count : largest;
	}
	code = largest ? runner_make_tree(runner, largest, err) : 0;
	for (; !code && shared->own_count < own - 1; shared->own_count++) {
		shared->own[shared->own_count] = mem_new(floats, sizeof(float));
		if (!shared->own[shared->own_count])
			code = err_memory(err, "a micro-batch's gradient", floats * sizeof(float));
	}
	if (code || (size_t)(roots - own) * slice <= shared->received_room)
		return code;
	mem_free(shared->received);
	shared->received_room = 0;
	shared->received = mem_new((size_t)(roots - own) * slice, sizeof(float));
	if (!shared->received)
		return err_memory(err, "other ranks' gradients",
			(size_t)(roots - own) * slice * sizeof(float));
	shared->received_room = (size_t)(roots - own) * slice;
	return 0;
}

int shared_ready(struct walk *walk, struct err *err)
{
	struct runner *runner = walk->runner;
	const struct shared *shared = runner->shared;
	int code = make_room(runner, walk->pieces.count, err);

	if (!code && plan_mode(walk->pieces.whole_plan) == PLAN_TRAIN)
		code = make_sums(
			runner, tree_roots(shared->ranks, walk->pieces.count, shared->roots), err);
	if (!code && shared->stats)
		memset(shared->stats, 0,
			(size_t)walk->pieces.count * net_stats(runner->net)->floats *
				sizeof(float));
	return code;
}

float *shared_piece_stats(const struct walk *walk, int piece)
{
	const size_t floats = net_stats(walk->runner->net)->floats;

	return walk->stats ? walk->runner->shared->stats + (size_t)piece * floats : NULL;
}

static void fold_stats(struct walk *walk)
{
	struct runner *runner = walk->runner;
	struct ranks *ranks = runner->shared->ranks;
	const size_t floats = net_stats(runner->net)->floats;
	const float keep = 1 - walk->momentum;
	size_t begins[RANKS_MOST + 1];

	if (!walk->stats || !floats)
		return;
	for (int r = 0; r <= ranks->count; r++)
		begins[r] = (size_t)shared_begin(runner, &walk->pieces, r);
	ranks->type->gather(ranks, runner->shared->stats, floats * sizeof(float), begins);
	for (int piece = 0; piece < walk->pieces.count; piece++) {
		const float *row = runner->shared->stats + (size_t)piece * floats;

		for (size_t i = 0; i < floats; i++)
			walk->stats[i] = keep * walk->stats[i] + walk->momentum * row[i];
	}
}

void shared_results(struct walk *walk)
{
	struct runner *runner = walk->runner;

	shared_samples(runner, &walk->pieces, walk->logits, (size_t)net_spec(runner->net)->classes,
		walk->batch->n);
	fold_stats(walk);
}

void shared_gather(const struct runner *runner, float *values)
{
	ranks_gather_slices(runner->shared->ranks, values, net_params(runner->net)->floats);
}
