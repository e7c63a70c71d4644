/*
 * How a stream is cut: into tasks, which the learner is told of or counts itself, and
 * into parts, after which a population is selected and the reach of replay moves.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/learner_impl.h"

void learner_task(struct learner *learner, int64_t iterations)
{
	learner_call(learner->ranks, &(struct learner_told){LEARNER_CALL_TASK, .wide = iterations});
	learner->tasks_told = learner->task_next = true;
	learner->task_told = iterations;
}

bool learner_task_due(const struct learner *learner)
{
	if (learner->tasks_told)
		return learner->task_next;
	return !learner->task_steps || learner->steps % learner->task_steps == 0;
}

/* Everything that training moved goes back to the start; what was seen stays. */
static void start_again(struct learner *learner)
{
	const size_t params = net_params(learner->net)->floats * sizeof(float);
	const size_t stats = net_stats(learner->net)->floats * sizeof(float);

	memcpy(learner->params, learner->start, params);
	for (int i = 0; i < SCORES_MODELS && stats; i++)
		memcpy(learner->stats[i], learner->start_stats, stats);
	optimizer_restart(learner->optimizer);
	average_restart(learner->average, learner->params);
	scores_clear(&learner->scores);
	learner_stale(learner);
	learner->version++;
}

void learner_begin_task(struct learner *learner, int64_t first)
{
	const int64_t steps = learner->task_steps ? learner->task_steps : 1;
	const double iterations = learner->tasks_told && learner->task_told
					  ? (double)learner->task_told
					  : learner->per_step * (double)steps;

	learner->leaving_count +=
		pool_task(learner->pool, learner->leaving + learner->leaving_count);
	learner->task_first = first;
	learner->task_next = false;
	if (iterations >= 0.5)
		schedule_task(learner->schedule, learner->iteration, llround(iterations));
	if (learner->start && first > 0)
		start_again(learner);
}

static void tell_population(const struct learner *learner, struct learner_part *part)
{
	const struct population *population = learner->population;

	part->models = population->type->count;
	part->best = population_best(population);
	for (int i = 0; i < part->models; i++)
		part->accuracy[i] = population->seen ? (double)population->members[i].hits /
							       (double)population->seen
						     : (double)NAN;
}

void learner_end_part(struct learner *learner)
{
	struct learner_part part = {.iteration = learner->iteration,
		.step = learner->steps,
		.fresh = NAN,
		.replayed = NAN};
	const int64_t seen = pool_seen(learner->pool);

	if (learner->adapt)
		objective_reach(learner->objective, adapt_history(learner->adapt, seen));
	if (!learner->part_steps || learner->steps % learner->part_steps)
		return;
	if (learner->population) {
		tell_population(learner, &part);
		part.selected = learner->steps / learner->part_steps % learner->select_every == 0;
		if (part.selected)
			population_select(learner->population, learner->net);
		for (int i = 0; i < part.models; i++)
			part.rate[i] = learner->population->members[i].scale *
				       schedule_rate(learner->schedule, learner->iteration + 1);
	}
	if (learner->adapt) {
		part.fresh = adapt_fresh(learner->adapt);
		part.replayed = adapt_replayed(learner->adapt);
		adapt_part(learner->adapt, seen);
		part.history = adapt_history(learner->adapt, seen);
		objective_reach(learner->objective, part.history);
	}
	if (learner->watch.part)
		learner->watch.part(learner->watch.context, &part);
}
