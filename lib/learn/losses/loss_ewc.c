/*
 * EWC (elastic weight consolidation), for reference. When a task ends, the importance of a weight
 * is the mean of its squared gradient, sample by sample, over some of the task's samples in the
 * pool, with their true labels. Importances are summed over tasks, and the current weights become
 * the anchor. The pull is limited so that a step at the initial rate, including all of its
 * momentum, does not overshoot the anchor.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/extras/population.h"
#include "learn/losses/loss_impl.h"

struct ewc {
	struct loss loss;
	double hold;
	float most; /* that a weight is pulled by */
	int samples;
	size_t params;
	bool ready; /* the runner has seen a single sample */
	bool any;   /* a task has ended */
	float *importance, *anchor;
	int64_t *ids;
};

static int check(const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;
	const char *population = options_text(o, "learn.population");

	if (config->classes_most)
		return err_set(err, ERR_INPUT,
			"loss.kind = ewc: holds weights where they were, and a net whose classes "
			"come while it runs does not stay the same; say how many there are");
	if (population_type_find(population)->count)
		return err_set(err, ERR_INPUT,
			"loss.kind = ewc: holds one model, and learn.population = %s has several; "
			"set it to none",
			population);
	return 0;
}

static int begin(struct loss *loss, const struct loss_view *view, struct err *err)
{
	const struct options *o = view->options;
	struct ewc *ewc = (struct ewc *)loss;

	if (net_stats(view->net)->floats)
		return err_set(err, ERR_INPUT,
			"loss.kind = ewc: takes gradients of single samples, which model.norm = bn "
			"has none of; set it to gn-ws or none");
	if (net_vectors(view->net))
		return err_set(err, ERR_INPUT,
			"loss.kind = ewc: weighs weights one by one, which a net on a device keeps "
			"there; it works on a CPU");
	ewc->hold = options_float(o, "loss.hold");
	/* Momentum may gather a pull while the rate is near 0, and let it go at once. */
	ewc->most = (float)((1 - options_float(o, "optimizer.momentum")) /
			    options_float(o, "schedule.rate"));
	ewc->samples = options_int(o, "loss.hold_samples");
	ewc->params = net_params(view->net)->floats;
	ewc->importance = mem_new(ewc->params, sizeof(float));
	ewc->anchor = mem_new(ewc->params, sizeof(float));
	ewc->ids = mem_new((size_t)ewc->samples, sizeof(*ewc->ids));
	if (!ewc->importance || !ewc->anchor || !ewc->ids)
		return err_memory(
			err, "the importance of weights", 2 * ewc->params * sizeof(float));
	return 0;
}

static void end(struct loss *loss)
{
	struct ewc *ewc = (struct ewc *)loss;

	mem_free(ewc->importance);
	mem_free(ewc->anchor);
	mem_free(ewc->ids);
}

/* A runner makes its plans for a size when it first sees it: so it is shown zeros. */
static int ready(struct loss *loss, const struct loss_view *view, int n, struct err *err)
{
	struct ewc *ewc = (struct ewc *)loss;
	const struct runner_batch one = {.input = view->inputs, .labels = view->labels, .n = 1};
	int code;

	(void)n;
	if (ewc->ready)
		return 0;
	memset(view->inputs, 0, view->floats * sizeof(float));
	view->labels[0] = (union target){0};
	code = runner_gradient(
		view->runner, view->params, NULL, &one, view->grad, NULL, NULL, NULL, err);
	ewc->ready = !code;
	return code;
}

static int weigh(struct ewc *ewc, const struct loss_view *view, int64_t id, struct err *err)
{
	const struct runner_batch one = {.input = view->inputs, .labels = view->labels, .n = 1};
	int code = learner_fetch_all(view->learner, &id, 1, view->inputs, view->labels, err);

	if (!code)
		code = runner_gradient(
			view->runner, view->params, NULL, &one, view->grad, NULL, NULL, NULL, err);
	for (size_t i = 0; i < ewc->params && !code; i++)
		ewc->importance[i] += view->grad[i] * view->grad[i] / (float)ewc->samples;
	learner_tell(view->learner, LEARNER_TRAIN, 1);
	return code;
}

/* A draw for the iteration that was made last, whose batch is gone. */
static int end_task(struct loss *loss, const struct loss_view *view, int64_t task, int64_t last,
	struct err *err)
{
	struct ewc *ewc = (struct ewc *)loss;
	int code = 0;

	if (!pool_draw_range(
		    view->pool, (uint64_t)view->iteration, 0, task, last, ewc->ids, ewc->samples))
		return 0;
	for (int i = 0; i < ewc->samples && !code; i++)
		code = weigh(ewc, view, ewc->ids[i], err);
	memcpy(ewc->anchor, view->params, ewc->params * sizeof(float));
	ewc->any = true;
	return code;
}

static float pull(const struct ewc *ewc, size_t i)
{
	return fminf((float)ewc->hold * ewc->importance[i], ewc->most);
}

static double held(const struct loss *loss, const struct loss_view *view)
{
	const struct ewc *ewc = (const struct ewc *)loss;
	double sum = 0;

	if (!ewc->any)
		return 0;
	for (size_t i = 0; i < ewc->params; i++) {
		const double moved = view->params[i] - ewc->anchor[i];

		sum += (double)pull(ewc, i) * moved * moved;
	}
	learner_tell(view->learner, LEARNER_UPDATE, 0);
	return sum / 2;
}

static void hold(
	const struct loss *loss, const float *params, float *grad, const struct slice *slice)
{
	const struct ewc *ewc = (const struct ewc *)loss;

	for (size_t i = slice->first; ewc->any && i < slice->first + slice->count; i++)
		grad[i] += pull(ewc, i) * (params[i] - ewc->anchor[i]);
}

static double price(const struct loss *loss, const struct net *net)
{
	(void)loss;
	return (double)net_params(net)->floats;
}

static void state(struct loss *loss, struct state *state)
{
	struct ewc *ewc = (struct ewc *)loss;

	state_bool(state, "any", &ewc->any);
	state_floats(state, "importance", ewc->importance, ewc->params);
	state_floats(state, "anchor", ewc->anchor, ewc->params);
}

const struct loss_type loss_ewc = {
	.name = "ewc",
	.help = "cross-entropy, and staying where weights matter to earlier tasks (EWC)",
	.size = sizeof(struct ewc),
	.check = check,
	.begin = begin,
	.end = end,
	.ready = ready,
	.end_task = end_task,
	.held = held,
	.hold = hold,
	.price = price,
	.state = state,
};
