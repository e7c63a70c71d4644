/*
 * How a learner takes a time step: validation of labels, and the stages that follow once the net
 * has all of its classes.
 */
#include "base/mem.h"
#include "learn/learner_impl.h"

int learner_reserve_leaving(struct learner *learner, int64_t count, struct err *err)
{
	int64_t *more;

	if (count <= learner->leaving.room)
		return 0;
	more = mem_resize(learner->leaving.ids, (size_t)count, sizeof(*more));
	if (!more)
		return err_memory(
			err, "samples that leave", (unsigned long long)count * sizeof(*more));
	learner->leaving.ids = more;
	learner->leaving.room = count;
	return 0;
}

/* What a bounded pool lets go of leaves the store with the next time step. */
static int offer(struct learner *learner, int64_t id, const union target *label, struct err *err)
{
	int64_t gone = -1;
	const int code = pool_offer(learner->pool, learner->validation, id,
		learner_target(learner)->stratum(label), &gone, err);

	if (code)
		return code;
	if (gone >= 0)
		learner->leaving.ids[learner->leaving.count++] = gone;
	return 0;
}

static void forget_leaving(struct learner *learner)
{
	for (int64_t i = 0; i < learner->leaving.count; i++) {
		store_forget(learner->store, learner->leaving.ids[i]);
		loss_forget(learner->loss, learner->leaving.ids[i]);
	}
	learner->leaving.count = 0;
}

/*
 * The stages of a time step. All that may run out of memory comes before the store takes it for
 * good; what fails later leaves a step that was taken. The net has all classes that it has.
 */
typedef int step_stage(struct learner *learner, struct learner_step *step, struct err *err);

static int reserve_pools(struct learner *learner, struct learner_step *step, struct err *err)
{
	const int64_t leaving = step->n + (step->task ? pool_task_room(learner->pool) : 0);
	int code = learner_reserve_leaving(learner, leaving, err);

	if (!code)
		code = pool_reserve(learner->pool, step->n, err);
	if (!code && learner->validation)
		code = pool_reserve(learner->validation, step->n, err);
	return code;
}

static int ready_parts(struct learner *learner, struct learner_step *step, struct err *err)
{
	struct part_view view;

	if (!learner->beside)
		return 0;
	view = learner_view(learner);
	return learner->beside->type->ready(learner->beside, &view, step->n, err);
}

static int ready_loss(struct learner *learner, struct learner_step *step, struct err *err)
{
	const struct loss_view view = learner_loss_view(learner);

	return loss_ready(learner->loss, &view, step->weights, step->n, err);
}

/* Inputs that are at hand are looked at before the store takes them, others afterwards. */
static int foresee_given(struct learner *learner, struct learner_step *step, struct err *err)
{
	return step->inputs ? extras_foresee(learner, step, err) : 0;
}

static int store_step(struct learner *learner, struct learner_step *step, struct err *err)
{
	return store_add(learner->store, step->given, step->labels, step->n, err);
}

static int foresee_stored(struct learner *learner, struct learner_step *step, struct err *err)
{
	return step->inputs ? 0 : extras_foresee(learner, step, err);
}

/* Whatever fails here, the new task begins. */
static int change_task(struct learner *learner, struct learner_step *step, struct err *err)
{
	const struct loss_view view = learner_loss_view(learner);
	int code = 0;

	if (step->task && step->first > 0)
		code = loss_end_task(
			learner->loss, &view, learner->steps.task.first, step->first, err);
	forget_leaving(learner);
	if (step->task)
		learner_begin_task(learner, step->first);
	return code;
}

static int offer_samples(struct learner *learner, struct learner_step *step, struct err *err)
{
	int code = 0;

	for (int i = 0; i < step->n && !code; i++)
		code = offer(learner, step->first + i,
			step->labels + (size_t)i * (size_t)learner->target.width, err);
	return code;
}

static int show_loss(struct learner *learner, struct learner_step *step, struct err *err)
{
	const struct loss_view view = learner_loss_view(learner);

	return loss_revealed(
		learner->loss, &view, step->first, step->inputs, step->weights, step->n, err);
}

static int show_objective(struct learner *learner, struct learner_step *step, struct err *err)
{
	(void)err;
	objective_step(learner->objective, step->first, step->first + step->n);
	objective_task(learner->objective, learner->steps.task.first);
	return 0;
}

static int show_extras(struct learner *learner, struct learner_step *step, struct err *err)
{
	(void)err;
	EXTRAS_EACH (learner, revealed)
		extra_types[e]->revealed(learner->extras[e], learner, step);
	return 0;
}

static int teach_all(struct learner *learner, struct learner_step *step, struct err *err)
{
	struct part_view view;

	if (!learner->beside)
		return 0;
	view = learner_view(learner);
	return learner->beside->type->learn(learner->beside, &view, step, err);
}

/* Samples of weight 0 are left out: what is between them is a step of its own. */
static int teach_parts(struct learner *learner, struct learner_step *step, struct err *err)
{
	struct learner_step part = *step;
	int code = 0;

	if (!step->weights)
		return teach_all(learner, step, err);
	for (int at = 0, end; at < step->n && !code; at = end + 1) {
		for (end = at; end < step->n && step->weights[end] > 0; end++)
			;
		part.first = step->first + at;
		part.inputs =
			step->inputs ? step->inputs + (size_t)at * learner->inputs.floats : NULL;
		part.labels = step->labels + (size_t)at * (size_t)learner->target.width;
		if (step->guesses)
			part.guesses =
				step->guesses + (size_t)at * target_guess(learner->target.width);
		part.n = end - at;
		if (part.n)
			code = teach_all(learner, &part, err);
	}
	return code;
}

int learner_teach_beside(struct learner *learner, struct learner_step *step, struct err *err)
{
	const int code = ready_parts(learner, step, err);

	return code ? code : teach_parts(learner, step, err);
}

static int scale_inputs(struct learner *learner, struct learner_step *step, struct err *err)
{
	if (learner->target.scaling)
		scaling_see(learner->target.scaling, target_numbers(step->labels), step->n);
	return learner->scale.scaling
		       ? learner_count_inputs(learner, step->first, step->inputs, step->n, err)
		       : 0;
}

/* Another model may be the best now, and the mixture is another one. */
static int end_step(struct learner *learner, struct learner_step *step, struct err *err)
{
	(void)step;
	(void)err;
	learner->steps.count++;
	learner->steps.fresh = true;
	learner_end_part(learner);
	learner->version += learner_population(learner) || learner->beside;
	return 0;
}

static step_stage *const stages[] = {
	reserve_pools,
	ready_parts,
	ready_loss,
	foresee_given,
	store_step,
	foresee_stored,
	change_task,
	offer_samples,
	show_loss,
	show_objective,
	show_extras,
	teach_parts,
	scale_inputs,
	end_step,
};

static int take_step(struct learner *learner, const float *inputs, const union target *labels,
	int n, struct err *err)
{
	struct learner_step step = {.first = store_count(learner->store),
		.inputs = inputs,
		.given = inputs,
		.labels = labels,
		.weights = learner->steps.coming.weights,
		.n = n,
		.task = learner_task_due(learner),
		.late = learner->steps.coming.late,
		.late_by = learner->steps.coming.late_by,
		.guesses = learner->steps.coming.guesses,
		.right = -1};
	int code = learner_narrowed(learner, &step.inputs, n, err);

	for (size_t i = 0; i < sizeof(stages) / sizeof(*stages) && !code; i++)
		code = stages[i](learner, &step, err);
	return code;
}

static int reveal(struct learner *learner, const float *inputs, const union target *labels, int n,
	struct err *err)
{
	const int64_t first = store_count(learner->store);
	const size_t floats = learner_needs(learner, inputs, n);
	struct learner *former = NULL;
	int classes = net_spec(learner->net)->classes;
	int code = learner_target(learner)->check(labels, learner->target.width, n, first,
		learner->config.classes_most, &classes, err);

	if (!code && (classes > net_spec(learner->net)->classes || floats > learner->inputs.floats))
		code = learner_grow(learner, classes, floats, &former, err);
	if (!code)
		code = take_step(learner, inputs, labels, n, err);
	/* What the store has taken needs its class, whatever failed later. */
	learner_grown(learner, former, store_count(learner->store) == first ? code : 0);
	return code;
}

int learner_reveal(struct learner *learner, const float *inputs, const union target *labels, int n,
	struct err *err)
{
	const struct learner_call call = {LEARNER_CALL_REVEAL, n,
		learner->steps.coming.late ? 1 + learner->steps.coming.late_by : 0,
		.inputs = inputs, .labels = labels, .weights = learner->steps.coming.weights,
		.guesses = learner->steps.coming.guesses};
	int code;

	learner_begin(learner, &call);
	code = reveal(learner, inputs, labels, n, err);
	learner->steps.coming = (struct learner_coming){0};
	return learner_end(learner, &call, code, err);
}

void learner_late(struct learner *learner, int by, const union target *guesses)
{
	learner->steps.coming.late = true;
	learner->steps.coming.late_by = by;
	learner->steps.coming.guesses = by ? guesses : NULL;
}

void learner_weighted(struct learner *learner, const float *weights)
{
	learner->steps.coming.weights = weights;
}
