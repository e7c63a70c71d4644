/*
 * DER++ (dark experience replay). Logits are those of the trained weights, in evaluation mode,
 * before training on the sample. A row is kept as long as the store keeps the sample, so the pool
 * must be limited. Held-out samples have none. Samples of the current time step are new: their
 * loss is cross-entropy. If classes were added after a row, the distance is over those it has.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/losses/loss_der.h"

static int check(const struct learner_config *config, struct err *err)
{
	const char *pool = options_text(config->options, "replay.pool");

	if (pool_kind_limited(pool))
		return 0;
	return err_set(err, ERR_INPUT,
		"loss.kind = der: keeps logits in memory with every sample of the pool, and "
		"replay.pool = %s has no bound; set it to reservoir, and replay.limit",
		pool);
}

static int begin(struct loss *loss, const struct loss_view *view, struct err *err)
{
	const struct options *o = view->options;
	struct der *der = (struct der *)loss;

	der->alpha = (float)options_float(o, "loss.alpha");
	der->beta = (float)options_float(o, "loss.beta");
	der->targets = mem_new((size_t)view->batch, sizeof(*der->targets));
	der->ready = mem_new((size_t)view->batch + 1, sizeof(*der->ready));
	return der->targets && der->ready
		       ? 0
		       : err_memory(err, "a loss", (size_t)view->batch * sizeof(*der->targets));
}

static void end(struct loss *loss)
{
	struct der *der = (struct der *)loss;

	kept_release(&der->kept);
	mem_free(der->targets);
	mem_free(der->ready);
}

/* There will be another runner. */
static int more_classes(struct loss *loss, int classes, struct err *err)
{
	struct der *der = (struct der *)loss;

	if (der->ready)
		memset(der->ready, 0, ((size_t)loss->batch + 1) * sizeof(*der->ready));
	return kept_widen(&der->kept, classes, err);
}

/* A runner makes its plans for a size when it first sees it: so it is shown some zeros. */
static int show(struct der *der, const struct loss_view *view, int n, struct err *err)
{
	const float *zeros = view->inputs;
	int code;

	if (!n || der->ready[n])
		return 0;
	memset(view->inputs, 0, (size_t)n * view->floats * sizeof(float));
	code = learner_scaled(view->learner, &zeros, n, err);
	if (!code)
		code = runner_infer(
			view->runner, view->params, view->stats, zeros, n, view->logits, err);
	der->ready[n] = !code;
	return code;
}

static int ready(struct loss *loss, const struct loss_view *view, int n, struct err *err)
{
	struct der *der = (struct der *)loss;
	int code = kept_reserve(&der->kept, n, err);

	if (!code && n >= view->batch)
		code = show(der, view, view->batch, err);
	return code ? code : show(der, view, n % view->batch, err);
}

/* Rows are as wide as there is room for classes, which the net may not have yet. */
static int keep_some(struct der *der, const struct loss_view *view, int64_t first,
	const float *inputs, int n, struct err *err)
{
	const int classes = net_spec(view->net)->classes;
	const int code =
		runner_infer(view->runner, view->params, view->stats, inputs, n, view->logits, err);

	for (int i = 0; i < n && !code; i++) {
		float *row;

		if (!pool_wants(view->pool, first + i))
			continue;
		row = kept_put(&der->kept, first + i);
		memcpy(row, view->logits + (size_t)i * (size_t)classes,
			(size_t)classes * sizeof(float));
		for (int c = classes; c < der->kept.classes; c++)
			row[c] = NAN;
	}
	learner_tell(view->learner, LEARNER_TEACH, n);
	return code;
}

static int revealed(struct loss *loss, const struct loss_view *view, int64_t first,
	const float *inputs, int n, struct err *err)
{
	int code = 0;

	for (int at = 0; at < n && !code; at += view->batch) {
		const int count = n - at < view->batch ? n - at : view->batch;
		const float *some;

		code = learner_new_inputs(view->learner, first + at,
			inputs ? inputs + (size_t)at * view->floats : NULL, count, &some, err);
		if (!code)
			code = keep_some((struct der *)loss, view, first + at, some, count, err);
	}
	return code;
}

static void forget(struct loss *loss, int64_t id)
{
	kept_drop(&((struct der *)loss)->kept, id);
}

static int batch(struct loss *loss, const struct loss_view *view, const int64_t *ids,
	const struct runner_batch *samples, struct err *err)
{
	struct der *der = (struct der *)loss;

	(void)err;
	for (int i = 0; i < samples->n; i++)
		der->targets[i] = ids[i] < objective_step_first(view->objective)
					  ? kept_find(&der->kept, ids[i])
					  : NULL;
	return 0;
}

static float value(const struct sample_loss *sample, const struct ops *ops, int at,
	const float *logits, const union target *label, float weight, float *grad)
{
	const struct der *der = (const struct der *)sample;
	const float *target = der->targets[at];
	const float counts = target ? weight * der->beta : weight;
	int known = 0;
	double sum = 0;
	float entropy;

	ops->softmax_loss(logits, sample->classes, &label->class, &counts, 1, &entropy, grad);
	if (!target)
		return entropy;
	while (known < sample->classes && !isnan(target[known]))
		known++;
	for (int c = 0; c < known; c++) {
		const float away = logits[c] - target[c];

		grad[c] += weight * der->alpha * 2 * away / (float)known;
		sum += (double)away * (double)away;
	}
	return der->beta * entropy + (known ? der->alpha * (float)(sum / known) : 0);
}

static void state(struct loss *loss, struct state *state)
{
	kept_state(&((struct der *)loss)->kept, state);
}

const struct loss_type loss_der = {
	.name = "der",
	.help = "cross-entropy, and replayed samples keep close to the logits they had (DER++)",
	.size = sizeof(struct der),
	.check = check,
	.begin = begin,
	.end = end,
	.classes = more_classes,
	.ready = ready,
	.revealed = revealed,
	.forget = forget,
	.batch = batch,
	.value = value,
	.state = state,
};
