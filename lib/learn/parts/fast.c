/*
 * Fast weights: a few decaying displacements of the slow net's weights that track the newest
 * samples. When labels are revealed, each makes plain SGD steps on their samples at the point
 * "slow weights + displacement"; then the displacement shrinks. It may be a sum of two terms, a
 * fast one and a lasting one.
 *
 * The training pass yields the losses for the record, so the record is free; only nets with batch
 * norm, which behave differently in training, need an extra forward pass.
 *
 * A rate suits a net only if a step does not overshoot. So the step is limited such that, to
 * first order, it lowers the loss L by at most a fraction `reach`: rate |g|^2 <= reach L; with
 * several terms, the sum of their rates counts. A net whose outputs depend strongly on its
 * weights thus gets smaller steps without tuning.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "learn/parts/fast_impl.h"

static int wanted(const struct options *options, int *models, struct err *err)
{
	struct fast_config config;
	const int code = fast_config(&config, options, err);

	*models = config.count;
	return code;
}

static int check(const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;

	if (!*options_text(o, "model.frozen") || !strcmp(options_text(o, "fast.layers"), "head"))
		return 0;
	return err_set(err, ERR_INPUT,
		"fast.parts = %s: displaces all layers, and model.frozen = %s are not "
		"differentiated; set fast.layers = head",
		options_text(o, "fast.parts"), options_text(o, "model.frozen"));
}

/* The last layer's are the last dense tensor's and those behind it. */
static size_t head_begins(const struct param_table *table)
{
	int row = table->count - 1;

	while (row > 0 && table->rows[row].kind != PARAM_DENSE)
		row--;
	return table->rows[row].offset;
}

/* Which net is displaced, and which of the slow net's parameters are its. */
static int choose_net(struct fast *fast, const struct part_view *view, struct err *err)
{
	const struct param_table *table = net_params(view->net);
	const struct net_spec spec = {.arch = "linear",
		.classes = net_spec(view->net)->classes,
		.channels = net_features(view->net),
		.height = 1,
		.width = 1};
	int code;

	fast->floats = table->floats;
	fast->stats_floats = net_stats(view->net)->floats;
	fast->part.features = fast->config.head;
	if (!fast->config.head) {
		fast->engine = view->engine;
		return 0;
	}
	if (!net_ends_dense(view->net))
		return err_set(err, ERR_INPUT,
			"fast.layers = head: %s does not end with the weights (classes, features) "
			"and biases of a dense layer whose inputs it tells",
			net_spec(view->net)->arch);
	fast->stats_floats = 0;
	fast->first = head_begins(table);
	fast->floats = table->floats - fast->first;
	fast->whole_floats = table->floats;
	fast->part.apart = net_vectors(view->net) != NULL;
	code = net_new(&fast->head, &spec, err);
	return code ? code : runner_new(&fast->runner, fast->head, view->engine, 0, err);
}

static int make_vector(const struct fast *fast, float **vector, struct err *err)
{
	return vector_new(vector, fast->engine, fast->floats, "fast weights", err);
}

static int make_buffers(struct fast *fast, struct err *err)
{
	int code = make_vector(fast, &fast->point, err);

	for (int i = 0; i < fast->config.count; i++)
		for (int t = 0; t < fast->config.parts[i].count && !code; t++)
			code = make_vector(fast, &fast->delta[i][t], err);
	if (!code && fast->head)
		code = make_vector(fast, &fast->grad, err);
	if (!code && fast->head)
		code = make_vector(fast, &fast->slow, err);
	if (!code && fast->head && !fast->part.apart)
		code = vector_new(
			&fast->whole, fast->engine, fast->whole_floats, "fast weights", err);
	if (code)
		return code;
	if ((!fast->stats_floats || (fast->stats = mem_new(fast->stats_floats, sizeof(float)))) &&
		(fast->squares = mem_new(fast->floats / FAST_SLICE + 1, sizeof(float))))
		return 0;
	return err_memory(err, "fast weights", fast->stats_floats * sizeof(float));
}

static double bytes(const struct part *part)
{
	const struct fast *fast = (const struct fast *)part;
	int terms = 0;

	for (int i = 0; i < fast->config.count; i++)
		terms += fast->config.parts[i].count;
	return (double)terms * (double)fast->floats * sizeof(float);
}

static void end(struct part *part)
{
	struct fast *fast = (struct fast *)part;

	runner_free(fast->runner);
	net_free(fast->head);
	for (int i = 0; i < FAST_PARTS * FAST_TERMS; i++)
		vector_free(fast->engine, fast->delta[i / FAST_TERMS][i % FAST_TERMS]);
	vector_free(fast->engine, fast->point);
	vector_free(fast->engine, fast->grad);
	vector_free(fast->engine, fast->slow);
	vector_free(fast->engine, fast->whole);
	mem_free(fast->stats);
	mem_free(fast->squares);
	mem_free(fast);
}

static int make(struct part **part, const struct part_view *view, struct err *err)
{
	struct fast *made = mem_new(1, sizeof(*made));
	int code;

	if (!made)
		return err_memory(err, "fast weights", sizeof(*made));
	code = fast_config(&made->config, view->options, err);
	for (int i = 0; i < made->config.count; i++)
		if (made->part.recent < made->config.parts[i].recent)
			made->part.recent = made->config.parts[i].recent;
	if (!code)
		code = choose_net(made, view, err);
	if (!code)
		code = make_buffers(made, err);
	if (code)
		end(&made->part);
	else
		*part = &made->part;
	return code;
}

static struct runner *runner_of(const struct fast *fast, const struct part_view *view)
{
	return fast->head ? fast->runner : view->runner;
}

/* What is displaced sees features, or the inputs. */
static const float *seen(const struct fast *fast, const struct part_samples *samples)
{
	return fast->head ? samples->features : samples->inputs;
}

/* What batch norm needs when nothing is learned; the last layer needs nothing. */
static const float *quiet_stats(const struct fast *fast, const struct part_view *view)
{
	return fast->head ? NULL : view->stats;
}

static int answer(struct part *part, int model, const struct part_samples *samples, float *logits,
	struct err *err)
{
	struct fast *fast = (struct fast *)part;
	const struct part_view *view = samples->view;

	if (!fast->head)
		learner_tell(view->learner, LEARNER_PREDICT, samples->n);
	return runner_infer(runner_of(fast, view), fast_point(fast, view, model),
		quiet_stats(fast, view), seen(fast, samples), samples->n, logits, err);
}

/* One step of a part at its point. A gradient that is not finite clears the displacement. */
static void move(
	struct fast *fast, const struct part_view *view, int part, double loss, bool forgets)
{
	const struct fast_part *row = &fast->config.parts[part];
	const double square = fast_square(fast, view);
	const double most = fast->config.reach * loss / square;
	double rate = 0;

	for (int t = 0; t < row->count; t++)
		rate += row->terms[t].rate;
	if (isfinite(square) && isfinite(loss))
		fast_move(fast, view, part, most < rate ? most / rate : 1, forgets);
	else
		fast_clear(fast, part);
}

/* Forward and backward at a part's point, which does not touch the slow net's statistics. */
static int gradient_at(struct fast *fast, int part, const struct part_lesson *lesson,
	const struct runner_batch *batch, float *loss, struct err *err)
{
	const struct part_view *view = lesson->samples.view;
	const float *params = fast_point(fast, view, part);

	if (fast->stats)
		memcpy(fast->stats, view->stats, fast->stats_floats * sizeof(float));
	return runner_gradient(runner_of(fast, view), params, fast->stats, batch,
		fast_grad(fast, view), loss, lesson->losses, lesson->mixes ? lesson->logits : NULL,
		err);
}

/* Two sweeps for each term. */
static void tell_step(
	const struct fast *fast, const struct part_view *view, const struct fast_part *row, int n)
{
	const double sweeps = 2 * (double)fast->floats;

	if (fast->head)
		learner_tell_macs(
			view->learner, n * 3 * net_macs(fast->head) + row->count * sweeps);
	else
		learner_tell(view->learner, LEARNER_FAST_STEP, n);
	if (!fast->head && row->count > 1)
		learner_tell_macs(view->learner, (row->count - 1) * sweeps);
}

static int learn_part(struct fast *fast, int part, struct part_lesson *lesson, struct err *err)
{
	const struct fast_part *row = &fast->config.parts[part];
	const struct part_view *view = lesson->samples.view;
	const struct runner_batch own = {.input = seen(fast, &lesson->samples),
		.labels = lesson->samples.labels,
		.n = lesson->samples.n,
		.seed = (uint64_t)lesson->samples.first};
	struct runner_batch batch = own;
	float loss;
	int code = 0;

	if (row->recent) {
		batch.n = part_recent(lesson, row->recent, err);
		code = batch.n < 0 ? batch.n : 0;
	}
	for (int pass = 0; pass < row->passes && !code; pass++) {
		code = gradient_at(fast, part, lesson, &batch, &loss, err);
		if (!code && !pass && fast->stats)
			code = runner_score(view->runner, fast->point, view->stats, &own,
				lesson->losses, lesson->logits, err);
		if (code)
			return code;
		if (!pass)
			part_scored(lesson, &fast->part, part);
		move(fast, view, part, (double)loss, pass + 1 == row->passes);
		tell_step(fast, view, row, batch.n);
	}
	return code;
}

static int learn(struct part *part, struct part_lesson *lesson, struct err *err)
{
	struct fast *fast = (struct fast *)part;
	int code = 0;

	for (int i = 0; i < fast->config.count && !code; i++)
		code = learn_part(fast, i, lesson, err);
	return code;
}

static int ready(struct part *part, struct part_lesson *lesson, struct err *err)
{
	struct fast *fast = (struct fast *)part;
	int code = 0;

	for (int i = 0; i < fast->config.count && !code; i++) {
		const int recent = fast->config.parts[i].recent;
		const struct runner_batch batch = {.input = seen(fast, &lesson->samples),
			.labels = lesson->samples.labels,
			.n = lesson->samples.n + recent};

		code = gradient_at(fast, i, lesson, &batch, NULL, err);
		if (!code && recent && fast->head)
			code = part_look_behind(lesson, recent, err);
	}
	return code;
}

static void restart(struct part *part)
{
	struct fast *fast = (struct fast *)part;

	for (int i = 0; i < fast->config.count; i++)
		fast_clear(fast, i);
}

static const float *weights(struct part *part, int model, const struct part_view *view)
{
	struct fast *fast = (struct fast *)part;
	const float *point = fast_point(fast, view, model);

	if (!fast->head)
		return point;
	memcpy(fast->whole, view->params, fast->first * sizeof(float));
	memcpy(fast->whole + fast->first, point, fast->floats * sizeof(float));
	return fast->whole;
}

static void state(struct part *part, struct state *state)
{
	struct fast *fast = (struct fast *)part;

	for (int i = 0; i < fast->config.count; i++)
		for (int t = 0; t < fast->config.parts[i].count; t++)
			vector_state(fast->engine, state, "delta", fast->delta[i][t], fast->floats);
	fast->point_of = 0;
}

const struct part_type part_fast = {
	.logits = true,
	.scores = true,
	.wanted = wanted,
	.check = check,
	.make = make,
	.free = end,
	.ready = ready,
	.answer = answer,
	.learn = learn,
	.restart = restart,
	.bytes = bytes,
	.state = state,
	.weights = weights,
};
