/*
 * How a stream is divided: into tasks, announced to the learner or counted by it, and into parts,
 * after which extras decide.
 */
#include <math.h>

#include "learn/learner_impl.h"

void learner_task(struct learner *learner, int64_t iterations)
{
	learner_begin(learner, &(struct learner_call){LEARNER_CALL_TASK, .count = iterations});
	learner->steps.task.told = learner->steps.task.next = true;
	learner->steps.task.iterations = iterations;
}

bool learner_task_due(const struct learner *learner)
{
	if (learner->steps.task.told)
		return learner->steps.task.next;
	return !learner->plan.task_steps || learner->steps.count % learner->plan.task_steps == 0;
}

void learner_begin_task(struct learner *learner, int64_t first)
{
	const int64_t steps = learner->plan.task_steps ? learner->plan.task_steps : 1;
	const struct learner_plan *plan = &learner->plan;
	const double cheaper =
		learner->config.budget > 0 && !first ? plan->price / plan->first_price : 1;
	const double iterations = learner->steps.task.told && learner->steps.task.iterations
					  ? (double)learner->steps.task.iterations
					  : plan->per_step * (double)steps * cheaper;

	learner->leaving.count +=
		pool_task(learner->pool, learner->leaving.ids + learner->leaving.count);
	learner->steps.task.first = first;
	learner->steps.task.next = false;
	if (iterations >= 0.5)
		schedule_task(learner->schedule, learner->iteration, llround(iterations));
	EXTRAS_EACH (learner, begin_task)
		extra_types[e]->begin_task(learner->extras[e], learner, first);
}

void learner_end_part(struct learner *learner)
{
	struct learner_part part = {.iteration = learner->iteration,
		.step = learner->steps.count,
		.fresh = NAN,
		.replayed = NAN};

	if (!learner->plan.part_steps || learner->steps.count % learner->plan.part_steps)
		return;
	EXTRAS_EACH (learner, end_part)
		extra_types[e]->end_part(learner->extras[e], learner, &part);
	if (learner->watch.part)
		learner->watch.part(learner->watch.context, &part);
}
