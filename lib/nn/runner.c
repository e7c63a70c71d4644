/*
 * Batches of any size on plans of at most `micro` samples. Plans are cached by batch size and
 * mode; they share one workspace of the largest size needed. Training is in runner_gradient.c.
 */
#include "base/mem.h"
#include "nn/ranks/shared.h"
#include "nn/runner_impl.h"
#include "nn/vectors.h"

int runner_new(struct runner **runner, const struct net *net, struct engine *engine, int micro,
	struct err *err)
{
	*runner = NULL;
	if (micro < 0)
		return err_set(err, ERR_INPUT,
			"micro-batches of %d samples: must be 0 (never cut) or more", micro);
	struct runner *made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, "a runner", sizeof(*made));
	made->net = net;
	made->engine = engine;
	made->micro = micro;
	const int code = engine->ranks ? shared_new(&made->shared, engine->ranks, err) : 0;
	if (code)
		runner_free(made);
	else
		*runner = made;
	return code;
}

void runner_free(struct runner *runner)
{
	if (!runner)
		return;
	for (int i = 0; i < runner->plan_count; i++)
		plan_free(runner->plans[i]);
	for (int i = 0; i < RUNNER_DEPTH; i++)
		vector_free(runner->engine, runner->partial[i]);
	mem_free(runner->plans);
	mem_free(runner->workspace);
	mem_free(runner->weights);
	mem_free(runner->losses);
	shared_free(runner->shared);
	mem_free(runner);
}

static int grow_workspace(struct runner *runner, size_t floats, struct err *err)
{
	if (floats <= runner->workspace_floats)
		return 0;
	/* The old one goes first: the two together might not fit. */
	mem_free(runner->workspace);
	runner->workspace_floats = 0;
	runner->workspace = mem_new(floats, sizeof(float));
	if (!runner->workspace)
		return err_memory(err, "the workspace of this batch size",
			(unsigned long long)floats * sizeof(float));
	runner->workspace_floats = floats;
	return 0;
}

static int add_plan(
	struct runner *runner, int n, enum plan_mode mode, struct plan **plan, struct err *err)
{
	struct plan **grown = mem_resize(runner->plans, runner->plan_count + 1, sizeof(*grown));

	if (!grown)
		return err_memory(err, "a list of plans", sizeof(*grown));
	runner->plans = grown;
	const int code = plan_new(plan, runner->net, runner->engine, n, mode, err);
	if (code)
		return code;
	runner->plans[runner->plan_count++] = *plan;
	return 0;
}

static int get_plan(
	struct runner *runner, int n, enum plan_mode mode, struct plan **plan, struct err *err)
{
	*plan = NULL;
	for (int i = 0; i < runner->plan_count && !*plan; i++)
		if (plan_batch(runner->plans[i]) == n && plan_mode(runner->plans[i]) == mode)
			*plan = runner->plans[i];
	if (!*plan) {
		const int code = add_plan(runner, n, mode, plan, err);
		if (code)
			return code;
	}
	return grow_workspace(runner, plan_floats(*plan), err);
}

int runner_cut(
	struct runner *runner, int n, enum plan_mode mode, struct pieces *pieces, struct err *err)
{
	if (n < 1)
		return err_set(err, ERR_INPUT, "a batch of %d samples: at least 1 is needed", n);
	*pieces = (struct pieces){.size = runner->micro && runner->micro < n ? runner->micro : n};
	pieces->whole = n / pieces->size;
	pieces->rest = n % pieces->size;
	pieces->count = pieces->whole + (pieces->rest > 0);
	pieces->end = pieces->count;
	if (runner->shared)
		shared_cut(runner, pieces);
	int code = get_plan(runner, pieces->size, mode, &pieces->whole_plan, err);
	if (!code && pieces->rest)
		code = get_plan(runner, pieces->rest, mode, &pieces->rest_plan, err);
	return code;
}

int runner_run_plan(struct runner *runner, struct pieces *pieces, int piece,
	const struct source *source, const struct plan_run *run, struct err *err)
{
	struct plan *plan = piece < pieces->whole ? pieces->whole_plan : pieces->rest_plan;
	int code = 0;

	if (pieces->bound != plan && source->packed)
		plan_borrow(plan, runner->workspace, packed_plan(source->packed));
	else if (pieces->bound != plan)
		code = plan_bind(plan, runner->workspace, source->params, source->stats, err);
	pieces->bound = plan;
	return code ? code : plan_run(plan, run, err);
}

void runner_reads(const struct runner *runner, int n, int *first, int *count)
{
	*first = 0;
	*count = n;
	if (runner->shared)
		shared_part(runner, n, runner->engine->ranks->rank, first, count);
}

size_t runner_sample_floats(const struct runner *runner)
{
	const struct net_spec *spec = net_spec(runner->net);
	return (size_t)spec->channels * spec->height * spec->width;
}

/* losses may be NULL: labels do not matter then. So may features. */
static int infer(struct runner *runner, const struct source *source,
	const struct runner_batch *batch, float *losses, float *logits, float *features,
	struct err *err)
{
	const size_t width = (size_t)net_features(runner->net);
	const size_t classes = (size_t)net_spec(runner->net)->classes;
	struct pieces pieces;
	int code = runner_cut(
		runner, batch->n, source->packed ? PLAN_SERVE : PLAN_INFER, &pieces, err);

	if (code)
		return code;
	for (int i = pieces.begin; i < pieces.end && !code; i++) {
		const size_t first = (size_t)i * (size_t)pieces.size;
		const struct plan_run run = {
			.input = batch->input + first * runner_sample_floats(runner),
			.labels = losses ? batch->labels + first * runner_width(batch) : NULL,
			.losses = losses ? losses + first : NULL,
			.loss = losses ? batch->loss : NULL,
			.loss_at = (int)first,
			.features = features ? features + first * width : NULL,
			.logits = logits + first * classes};

		code = runner_run_plan(runner, &pieces, i, source, &run, err);
	}
	if (!code && pieces.shared) {
		shared_samples(runner, &pieces, losses, 1, batch->n);
		shared_samples(runner, &pieces, features, width, batch->n);
		shared_samples(runner, &pieces, logits, classes, batch->n);
	}
	return code;
}

int runner_infer(struct runner *runner, const float *params, const float *stats, const float *input,
	int n, float *logits, struct err *err)
{
	const struct runner_batch batch = {.input = input, .n = n};

	return infer(runner, &(struct source){params, stats}, &batch, NULL, logits, NULL, err);
}

int runner_features(struct runner *runner, const float *params, const float *stats,
	const float *input, int n, float *logits, float *features, struct err *err)
{
	const struct runner_batch batch = {.input = input, .n = n};

	return infer(runner, &(struct source){params, stats}, &batch, NULL, logits, features, err);
}

int runner_infer_packed(struct runner *runner, const struct packed *packed, const float *input,
	int n, float *logits, float *features, struct err *err)
{
	const struct runner_batch batch = {.input = input, .n = n};

	return infer(
		runner, &(struct source){.packed = packed}, &batch, NULL, logits, features, err);
}

int runner_check_labels(
	const struct runner *runner, const struct runner_batch *batch, struct err *err)
{
	const int classes = net_spec(runner->net)->classes;

	for (int i = 0; i < batch->n && !(batch->loss && batch->loss->target); i++)
		if (batch->labels[i].class < 0 || batch->labels[i].class >= classes)
			return err_set(err, ERR_INPUT,
				"label %d of the batch is %d: must be 0 to %d", i,
				batch->labels[i].class, classes - 1);
	return 0;
}

int runner_score(struct runner *runner, const float *params, const float *stats,
	const struct runner_batch *batch, float *losses, float *logits, struct err *err)
{
	const int code = runner_check_labels(runner, batch, err);

	return code ? code
		    : infer(runner, &(struct source){params, stats}, batch, losses, logits, NULL,
			      err);
}
