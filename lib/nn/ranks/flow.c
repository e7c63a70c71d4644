/*
 * How the gradient of a shared batch is reduced. Each rank sums its pieces by roots of the tree,
 * sends every other rank the slices it owns, and sums what it receives in the tree's order. That
 * is as many bytes as any reduction, and no float is added in another order than by one process.
 *
 * It goes band by band, from the last layers to the first, during the backward pass of a root's
 * last piece: a final band is added to the waiting sums and sent. When all ranks' bands have
 * arrived, nothing reads the parameters there any more. So the rank's own slice is stepped and
 * sent at once, and little is left to wait for at the end of the backward pass.
 */
#include <string.h>

#include "base/mem.h"
#include "nn/ranks/shared.h"

/* Messages about gradients have a lane for each band, so that a rank's roots keep their order. */
enum { LANE_LOSSES, LANE_PARAMS, LANE_GRADIENT };
_Static_assert(LANE_GRADIENT + RANKS_BANDS <= RANKS_LANES, "a lane for each band");

struct flow {
	struct walk *walk;
	struct shared *shared;
	struct ranks *ranks;
	float *grad;
	size_t floats;
	int bands, roots;
	int parcels[RANKS_BANDS];      /* others' gradients, by band */
	int told;                      /* the parcel of losses; -1: they are not known yet */
	bool known, sound;             /* the batch's loss is; whether to step */
	bool last;                     /* no root follows this one: */
	float *sums[RUNNER_DEPTH + 1]; /* it, and what still waits for the right side below it */
	int depth;
	int sent;    /* bands of it from this one on are on their way, */
	int stepped; /* and those from this one on are done with */
};

static int other(const struct flow *flow, int i)
{
	return (flow->ranks->rank + i) % flow->ranks->count;
}

/* Others' sums will come, into what is kept of each of their roots. */
static void expect_gradients(struct flow *flow)
{
	struct shared *shared = flow->shared;

	for (int band = flow->bands - 1; band >= 0; band--) {
		const struct slice slice = ranks_own_slice(flow->ranks, flow->floats, band);
		int receives = 0;

		for (int i = 0; i < flow->roots; i++)
			if (shared->roots[i].rank != flow->ranks->rank)
				shared->receive[receives++] = (struct ranks_message){
					shared->roots[i].rank, shared->sums[i] + slice.at,
					slice.count * sizeof(float), LANE_GRADIENT + band};
		flow->parcels[band] =
			flow->ranks->type->begin(flow->ranks, NULL, 0, shared->receive, receives);
	}
}

/* Of roots: this rank's own have buffers as long as the gradient, the first being it. */
static void place_sums(struct flow *flow)
{
	struct shared *shared = flow->shared;
	const size_t kept = ranks_own(flow->ranks, flow->floats);
	float *next = shared->received;
	int own = 0;

	for (int i = 0; i < flow->roots; i++) {
		if (shared->roots[i].rank == flow->ranks->rank) {
			shared->sums[i] = own ? shared->own[own - 1] : flow->grad;
			own++;
		} else {
			shared->sums[i] = next;
			next += kept;
		}
	}
}

static void samples_of(const struct flow *flow, int rank, size_t *first, size_t *count)
{
	const struct pieces *pieces = &flow->walk->pieces;
	const int n = flow->walk->batch->n;
	const int begin = shared_begin(flow->walk->runner, pieces, rank) * pieces->size;
	const int end = shared_begin(flow->walk->runner, pieces, rank + 1) * pieces->size;

	*first = (size_t)(begin < n ? begin : n);
	*count = (size_t)(end < n ? end : n) - *first;
}

static void trade_losses(struct flow *flow)
{
	struct ranks_message send[RANKS_MOST], receive[RANKS_MOST];
	float *losses = flow->walk->losses;
	size_t mine, my_count, first, count;

	samples_of(flow, flow->ranks->rank, &mine, &my_count);
	for (int i = 1; i < flow->ranks->count; i++) {
		const int rank = other(flow, i);

		samples_of(flow, rank, &first, &count);
		send[i - 1] = (struct ranks_message){
			rank, losses + mine, my_count * sizeof(*losses), LANE_LOSSES};
		receive[i - 1] = (struct ranks_message){
			rank, losses + first, count * sizeof(*losses), LANE_LOSSES};
	}
	flow->told = flow->ranks->type->begin(
		flow->ranks, send, flow->ranks->count - 1, receive, flow->ranks->count - 1);
}

/* A band of the running root is final: it is added to what waits, from the leaf up, and sent. */
static void send_band(struct flow *flow, int band)
{
	const size_t first = ranks_band(flow->ranks, flow->floats, band);
	const size_t count = ranks_band(flow->ranks, flow->floats, band + 1) - first;
	struct ranks_message *send = flow->shared->send;

	for (int d = flow->depth; d > 0; d--)
		runner_add(flow->walk->runner, flow->sums[d - 1] + first, flow->sums[d] + first,
			count);
	for (int i = 1; i < flow->ranks->count; i++) {
		const struct slice slice =
			ranks_slice(flow->ranks, flow->floats, band, other(flow, i));

		send[i - 1] = (struct ranks_message){other(flow, i), flow->sums[0] + slice.first,
			slice.count * sizeof(float), LANE_GRADIENT + band};
	}
	flow->ranks->type->begin(flow->ranks, send, flow->ranks->count - 1, NULL, 0);
}

/* Where the sum of root i has an own slice. */
static float *root_slice(const struct flow *flow, int i, const struct slice *slice)
{
	return flow->shared->sums[i] +
	       (flow->shared->roots[i].rank == flow->ranks->rank ? slice->first : slice->at);
}

/* The sum of a subtree in an own slice; roots come in order. */
static float *add_roots(
	const struct flow *flow, int first, int count, int *next, const struct slice *slice)
{
	const struct tree_root *root = &flow->shared->roots[*next];

	if (root->first == first && root->count == count)
		return root_slice(flow, (*next)++, slice);
	const int left = runner_tree_left(count);
	float *sum = add_roots(flow, first, left, next, slice);
	const float *right = add_roots(flow, first + left, count - left, next, slice);
	runner_add(flow->walk->runner, sum, right, slice->count);
	return sum;
}

/* Everyone's sums of a band are there. */
static void step_band(struct flow *flow, int band)
{
	const struct runner_descent *descent = flow->walk->descent;
	const struct slice slice = ranks_own_slice(flow->ranks, flow->floats, band);
	int next = 0;
	const float *sum = add_roots(flow, 0, flow->walk->pieces.count, &next, &slice);

	if (sum != flow->grad + slice.first)
		memcpy(flow->grad + slice.first, sum, slice.count * sizeof(*sum));
	if (!flow->sound)
		return;
	descent->step(descent->context, &slice);
	ranks_begin_gather(flow->ranks, descent->params, flow->floats, band, LANE_PARAMS);
}

/* All losses are there, or, if not waited for, perhaps not. */
static bool learn_loss(struct flow *flow, bool wait)
{
	struct walk *walk = flow->walk;

	if (flow->known)
		return true;
	if (!flow->ranks->type->done(flow->ranks, flow->told, wait))
		return false;
	walk->loss = runner_loss(walk);
	flow->sound = walk->descent && walk->descent->sound(walk->descent->context, walk->loss);
	flow->known = true;
	return true;
}

static void step_bands(struct flow *flow, bool wait)
{
	struct ranks *ranks = flow->ranks;

	for (; flow->stepped > flow->sent; flow->stepped--)
		if (!learn_loss(flow, wait) ||
			!ranks->type->done(ranks, flow->parcels[flow->stepped - 1], wait))
			return;
		else
			step_band(flow, flow->stepped - 1);
}

/* The gradient of the running root is final from here on. */
static void final(void *context, size_t from)
{
	struct flow *flow = context;

	if (flow->last && flow->told < 0)
		trade_losses(flow);
	while (flow->sent > 0 && ranks_band(flow->ranks, flow->floats, flow->sent - 1) >= from)
		send_band(flow, --flow->sent);
	if (flow->last)
		step_bands(flow, false);
}

/* As runner_walk, but the last piece tells how far it is. */
static int run_root(struct flow *flow, const struct tree_root *root, float *sum, struct err *err)
{
	struct walk *walk = flow->walk;
	int first = root->first, count = root->count, code = 0;

	flow->sums[0] = sum;
	flow->sent = flow->bands;
	for (flow->depth = 0; count > 1 && !code; flow->depth++) {
		const int left = runner_tree_left(count);

		code = runner_walk(
			walk, first, left, flow->depth + 1, flow->sums[flow->depth], err);
		flow->sums[flow->depth + 1] = walk->runner->partial[flow->depth];
		first += left;
		count -= left;
	}
	if (!code)
		code = runner_run_piece(walk, first, flow->sums[flow->depth], final, flow, err);
	if (!code)
		final(flow, 0);
	return code;
}

int shared_descend(struct walk *walk, float *grad, struct err *err)
{
	struct runner *runner = walk->runner;
	struct flow flow = {.walk = walk,
		.shared = runner->shared,
		.ranks = runner->shared->ranks,
		.grad = grad,
		.floats = net_params(runner->net)->floats,
		.told = -1};
	int own = 0, code = 0;

	flow.bands = flow.stepped = ranks_bands(flow.ranks, flow.floats);
	flow.roots = tree_roots(flow.ranks, walk->pieces.count, runner->shared->roots);
	place_sums(&flow);
	expect_gradients(&flow);
	for (int i = 0; i < flow.roots; i++)
		own += runner->shared->roots[i].rank == flow.ranks->rank;
	for (int i = 0; i < flow.roots && !code; i++)
		if (runner->shared->roots[i].rank == flow.ranks->rank) {
			flow.last = --own == 0;
			code = run_root(
				&flow, &runner->shared->roots[i], runner->shared->sums[i], err);
		}
	if (code)
		return code;
	if (flow.told < 0) /* there was nothing for this rank to run */
		trade_losses(&flow);
	flow.sent = 0;
	learn_loss(&flow, true);
	step_bands(&flow, true);
	flow.ranks->type->finish(flow.ranks);
	shared_results(walk);
	return 0;
}
