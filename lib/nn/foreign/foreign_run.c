/*
 * The passes of a foreign net, with the loss between them, so that every kind of loss works.
 *
 * Statistics are changed in a copy that is kept once all of the pass has succeeded. Gaps between
 * tensors stay zero in the gradient, and so do frozen tensors, whatever the net writes there; in
 * vectors that the program keeps it sees to that itself.
 */
#include <string.h>

#include "nn/foreign/foreign_impl.h"
#include "nn/own/plan/plan_impl.h"
#include "nn/sample_loss.h"
#include "nn/vectors.h"

static bool trains(const struct plan *plan)
{
	return plan->mode == PLAN_TRAIN || plan->mode == PLAN_FORWARD;
}

int foreign_plan(struct plan *plan, struct err *err)
{
	const size_t logits = (size_t)plan->n * (size_t)plan->net->spec.classes;
	const size_t stats = plan->net->stats.floats;

	plan->logits = arena_new(&plan->arena, 2 * logits, sizeof(float));
	if (stats && trains(plan))
		plan->changed_stats = arena_new(&plan->arena, stats, sizeof(float));
	if (!plan->logits || (stats && trains(plan) && !plan->changed_stats))
		return err_memory(err, "a plan", (2 * logits + stats) * sizeof(float));
	plan->logit_grads = plan->logits + logits;
	return 0;
}

static void clear_gaps(const struct param_table *table, float *grad)
{
	for (int i = 0; i < table->count; i++) {
		const struct param *row = &table->rows[i];
		const size_t end = i + 1 < table->count ? row[1].offset : table->floats;
		const size_t from = row->offset + (row->frozen ? 0 : row->count);

		memset(grad + from, 0, (end - from) * sizeof(*grad));
	}
}

/* The statistics that a pass reads and may change; NULL for a net without any. */
static float *stats_of(const struct plan *plan)
{
	const float *from = plan->run.stats ? plan->run.stats : plan->stats;
	const size_t size = plan->net->stats.floats * sizeof(float);

	if (!size)
		return NULL;
	if (!trains(plan))
		return (float *)plan->stats;
	if (from)
		memcpy(plan->changed_stats, from, size);
	else
		memset(plan->changed_stats, 0, size);
	return plan->changed_stats;
}

/* A loss of the program's own. */
static int own_losses(const struct plan *plan, struct retain_err *why)
{
	const struct retain_net *said = &plan->net->foreign->net;
	const struct plan_run *run = &plan->run;
	const struct retain_losses of = {.count = (size_t)plan->n,
		.logits = run->logits ? run->logits : plan->logits,
		.labels = target_classes(run->labels),
		.weights = run->grad ? run->weights : NULL,
		.losses = run->losses,
		.logit_grads = run->grad ? plan->logit_grads : NULL};

	return said->loss(said->context, &of, why);
}

int foreign_run(struct plan *plan, struct err *err)
{
	const struct retain_net *said = &plan->net->foreign->net;
	const struct plan_run *run = &plan->run;
	struct vectors *vectors = plan->engine->vectors;
	struct retain_pass pass = {.params = vectors ? NULL : plan->params,
		.stats = stats_of(plan),
		.version = plan->version,
		.inputs = run->input,
		.count = (size_t)plan->n,
		.training = trains(plan),
		.keep = run->grad != NULL,
		.momentum = run->momentum,
		.seed = run->seed,
		.logits = run->logits ? run->logits : plan->logits,
		.features = run->features,
		.logit_grads = plan->logit_grads,
		.grad = vectors ? NULL : run->grad};
	struct retain_err why = {0};
	int code = vectors_failed(plan->engine, err);

	if (code)
		return code;
	if (vectors)
		pass.weights = vectors_span(vectors, plan->params);
	if (vectors && run->grad)
		pass.gradient = vectors_span(vectors, run->grad);
	code = said->forward(said->context, &pass, &why);
	if (code)
		return foreign_failed(plan->net, "forward", code, &why, err);
	if (run->losses && run->loss && run->loss->program)
		code = own_losses(plan, &why);
	else if (run->losses)
		plan_losses(plan, 0, plan->n);
	if (code)
		return foreign_failed(plan->net, "loss", code, &why, err);
	if (run->grad) {
		code = said->backward(said->context, &pass, &why);
		if (code)
			return foreign_failed(plan->net, "backward", code, &why, err);
		if (!vectors)
			clear_gaps(&plan->net->params, run->grad);
	}
	if (run->stats && pass.stats)
		memcpy(run->stats, pass.stats, plan->net->stats.floats * sizeof(float));
	return 0;
}
