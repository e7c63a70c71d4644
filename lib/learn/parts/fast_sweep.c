/*
 * Sweeps over the displaced parameters: w + delta, |g|^2, a step. They are cut into slices at
 * fixed places, so the bits do not depend on the number of threads.
 *
 * A part's point is recomputed only when its displacement or the slow weights have changed:
 * `point_of` identifies the part in the buffer, 0: none.
 */
#include <string.h>

#include "learn/parts/fast_impl.h"
#include "nn/ops.h"

enum { SLICE = FAST_SLICE };

struct sweep {
	const struct ops *ops;
	struct fast *fast;
	const float *from; /* slow weights, or a gradient */
	struct terms_step terms;
};

/* A slice's length. */
static size_t slice_floats(const struct sweep *s, int task)
{
	const size_t left = s->fast->floats - (size_t)task * SLICE;

	return left < SLICE ? left : SLICE;
}

/* A part's displacements there. */
static struct terms_step slice_terms(const struct sweep *s, int task)
{
	struct terms_step terms = s->terms;

	for (int t = 0; t < terms.count; t++)
		terms.term[t] += (size_t)task * SLICE;
	return terms;
}

static void point_task(void *context, int task, int worker)
{
	const struct sweep *s = context;
	const struct terms_step terms = slice_terms(s, task);
	const size_t at = (size_t)task * SLICE;

	(void)worker;
	s->ops->displace(s->from + at, &terms, s->fast->point + at, slice_floats(s, task));
}

static void square_task(void *context, int task, int worker)
{
	const struct sweep *s = context;
	const float *from = s->from + (size_t)task * SLICE;

	(void)worker;
	s->fast->squares[task] = s->ops->row_dot(from, from, slice_floats(s, task));
}

static void move_task(void *context, int task, int worker)
{
	const struct sweep *s = context;
	const struct terms_step terms = slice_terms(s, task);

	(void)worker;
	s->ops->step_terms(s->from + (size_t)task * SLICE, &terms, slice_floats(s, task));
}

static int slices(const struct fast *fast)
{
	return (int)((fast->floats + SLICE - 1) / SLICE);
}

/* The displacements of a part, as the engine wants them. */
static struct terms_step terms_of(const struct fast *fast, int part)
{
	struct terms_step terms = {.count = fast->config.parts[part].count};

	for (int t = 0; t < terms.count; t++)
		terms.term[t] = fast->delta[part][t];
	return terms;
}

static void sweep(struct fast *fast, const struct part_view *view, team_fn *task, struct sweep *s)
{
	s->ops = view->engine->ops;
	s->fast = fast;
	team_run(view->engine->team, slices(fast), task, s);
}

/* The vectors that a program keeps; NULL: all is in memory. */
static struct vectors *kept(const struct fast *fast)
{
	return fast->engine ? fast->engine->vectors : NULL;
}

/* Leaves the point of a part. */
static void displace(struct fast *fast, const struct part_view *view, const float *slow, int part)
{
	const struct terms_step terms = terms_of(fast, part);

	for (int t = 0; t < terms.count && kept(fast); t++)
		vectors_combine(kept(fast), fast->point, 1, t ? fast->point : slow, 1,
			terms.term[t], fast->floats);
	if (kept(fast))
		return;
	/* A failure to read is noted, and the slow net's next pass fails. */
	if (view->engine->vectors)
		vector_read(view->engine, slow, fast->slow, fast->floats, NULL);
	sweep(fast, view, point_task,
		&(struct sweep){.from = view->engine->vectors ? fast->slow : slow, .terms = terms});
}

const float *fast_point(struct fast *fast, const struct part_view *view, int part)
{
	if (fast->point_of == 1 + part && fast->point_version == view->version &&
		fast->point_slow == view->params)
		return fast->point;
	displace(fast, view, view->params + fast->first, part);
	fast->point_of = 1 + part;
	fast->point_version = view->version;
	fast->point_slow = view->params;
	return fast->point;
}

float *fast_grad(const struct fast *fast, const struct part_view *view)
{
	return fast->head ? fast->grad : view->grad;
}

double fast_square(struct fast *fast, const struct part_view *view)
{
	double sum = 0;

	if (kept(fast))
		return vectors_square(kept(fast), view->grad, fast->floats);
	sweep(fast, view, square_task, &(struct sweep){.from = fast_grad(fast, view)});
	for (int i = 0; i < slices(fast); i++)
		sum += (double)fast->squares[i];
	return sum;
}

void fast_move(
	struct fast *fast, const struct part_view *view, int part, double share, bool forgets)
{
	const struct fast_part *row = &fast->config.parts[part];
	struct sweep s = {.from = fast_grad(fast, view), .terms = terms_of(fast, part)};

	for (int t = 0; t < row->count; t++) {
		const double keep = forgets ? row->terms[t].keep : 1;

		s.terms.keep[t] = (float)keep;
		s.terms.step[t] = (float)(-keep * share * row->terms[t].rate);
	}
	fast->point_of = 0;
	for (int t = 0; t < row->count && kept(fast); t++)
		vectors_combine(kept(fast), s.terms.term[t], s.terms.keep[t], s.terms.term[t],
			s.terms.step[t], view->grad, fast->floats);
	if (!kept(fast))
		sweep(fast, view, move_task, &s);
}

void fast_clear(struct fast *fast, int part)
{
	for (int t = 0; t < fast->config.parts[part].count; t++)
		vector_zero(fast->engine, fast->delta[part][t], fast->floats);
	fast->point_of = 0;
}
