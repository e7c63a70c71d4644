/*
 * Sweeps over the displaced parameters: w + delta, |g|^2, a step. They are cut into slices at
 * fixed places, so the bits do not depend on the number of threads; and slices into blocks, of
 * which all that a sweep reads and writes stays in the first cache.
 *
 * A part's point is made anew only when its displacement or the slow weights have moved:
 * `point_of` says whose stands in the buffer, 0 for nobody's.
 */
#include <string.h>

#include "learn/fast_impl.h"
#include "nn/kernels.h"

enum { SLICE = FAST_SLICE, BLOCK = 1 << 10 };

struct sweep {
	const struct kernels *kernels;
	struct fast *fast;
	const float *from; /* slow weights, or a gradient */
	int part;
	float keep[FAST_TERMS], step[FAST_TERMS];
};

/* One slice; returns where it ends. */
static size_t slice_end(const struct sweep *s, int task)
{
	const size_t end = ((size_t)task + 1) * SLICE;

	return end < s->fast->floats ? end : s->fast->floats;
}

static size_t block_size(size_t at, size_t end)
{
	return end - at < BLOCK ? end - at : BLOCK;
}

static void point_task(void *context, int task, int worker)
{
	const struct sweep *s = context;
	const struct fast *fast = s->fast;
	const size_t end = slice_end(s, task);

	(void)worker;
	for (size_t at = (size_t)task * SLICE; at < end; at += BLOCK)
		for (int t = 0; t < fast->config.parts[s->part].count; t++)
			s->kernels->row_combine(t ? fast->point + at : s->from + at,
				fast->delta[s->part][t] + at, fast->point + at, block_size(at, end),
				1, 1, 0);
}

static void square_task(void *context, int task, int worker)
{
	const struct sweep *s = context;
	const size_t at = (size_t)task * SLICE;
	float sum;

	(void)worker;
	s->kernels->row_products(s->from + at, s->from + at, 0, slice_end(s, task) - at, &sum,
		&s->fast->squares[task]);
}

static void move_task(void *context, int task, int worker)
{
	const struct sweep *s = context;
	const size_t end = slice_end(s, task);

	(void)worker;
	for (size_t at = (size_t)task * SLICE; at < end; at += BLOCK)
		for (int t = 0; t < s->fast->config.parts[s->part].count; t++) {
			float *term = s->fast->delta[s->part][t] + at;

			s->kernels->row_combine(term, s->from + at, term, block_size(at, end),
				s->keep[t], s->step[t], 0);
		}
}

static int slices(const struct fast *fast)
{
	return (int)((fast->floats + SLICE - 1) / SLICE);
}

static void sweep(const struct learner *learner, team_fn *task, struct sweep *s)
{
	s->kernels = learner->engine->kernels;
	s->fast = learner->fast;
	team_run(learner->engine->team, slices(s->fast), task, s);
}

const float *fast_point(const struct learner *learner, int part)
{
	struct fast *fast = learner->fast;
	const float *slow = learner_weights(learner, LEARNER_INFERENCE);

	if (fast->point_of == 1 + part && fast->point_version == learner->version &&
		fast->point_slow == slow)
		return fast->point;
	sweep(learner, point_task, &(struct sweep){.from = slow + fast->first, .part = part});
	fast->point_of = 1 + part;
	fast->point_version = learner->version;
	fast->point_slow = slow;
	return fast->point;
}

float *fast_grad(const struct learner *learner)
{
	return learner->fast->head ? learner->fast->grad : learner->grad;
}

double fast_square(const struct learner *learner)
{
	const struct fast *fast = learner->fast;
	double sum = 0;

	sweep(learner, square_task, &(struct sweep){.from = fast_grad(learner)});
	for (int i = 0; i < slices(fast); i++)
		sum += (double)fast->squares[i];
	return sum;
}

void fast_move(const struct learner *learner, int part, double share, bool forgets)
{
	const struct fast_part *row = &learner->fast->config.parts[part];
	struct sweep s = {.from = fast_grad(learner), .part = part};

	for (int t = 0; t < row->count; t++) {
		const double keep = forgets ? row->terms[t].keep : 1;

		s.keep[t] = (float)keep;
		s.step[t] = (float)(-keep * share * row->terms[t].rate);
	}
	learner->fast->point_of = 0;
	sweep(learner, move_task, &s);
}

void fast_clear(struct fast *fast, int part)
{
	for (int t = 0; t < fast->config.parts[part].count; t++)
		memset(fast->delta[part][t], 0, fast->floats * sizeof(float));
	fast->point_of = 0;
}
