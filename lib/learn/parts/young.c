/*
 * A young net: as the slow one, but it learns from the newest rows only, and starts anew when its
 * own errors rise. After a sudden change the slow net knows too much that is wrong; this one is
 * right again within some hundred rows.
 *
 * It takes a step of schedule-free SGD for each row, on that row and some of the last WINDOW since
 * the alarm. The alarm: after LEAST rows the share of errors of late exceeds that of a longer time
 * by ERRORS standard errors.
 *
 * With thousands of columns or classes it costs more than it is worth, and knows little before it
 * would start anew: beyond MANY of either, all classes are alike to this part.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "learn/parts/part.h"
#include "nn/ops.h"
#include "nn/rank.h"
#include "nn/vectors.h"

enum { BATCH = 8, WINDOW = 2000, LEAST = 60, BEFORE = 20, MANY = 1000 };

static const double QUICK = 1.0 / 30, STEADY = 1.0 / 500, ERRORS = 3;
static const float RATE = 0.5F, BETA = 0.9F, KAPPA = 0.1F, MOST_DECAY = 0.1F;
static const double WEIGHT = 8, SHARE_LEAST = 0.01; /* of z in the average */

struct young {
	struct part part;
	int dim, classes;
	size_t floats, stats_floats;
	uint64_t seed;
	const struct engine *engine;
	float *params, *z, *x, *stats; /* see optim/optimizer_schedule_free.c */
	int64_t steps;                 /* of this net */
	int64_t seen, since, alarms;   /* rows that came; the first that counts */
	double quick, steady;          /* shares of errors */
	int64_t judged;                /* ... over so many rows */
	float *rows;                   /* [WINDOW][dim]; row i is at i % WINDOW */
	int32_t *labels;
	float *batch; /* [BATCH][dim] */
	bool large;   /* there are many columns or classes; */
	bool retired; /* ... and it was cleared */
};

static struct young *mine(struct part *part)
{
	return (struct young *)part;
}

static void end(struct part *part)
{
	struct young *young = mine(part);

	vector_free(young->engine, young->params);
	vector_free(young->engine, young->z);
	vector_free(young->engine, young->x);
	mem_free(young->stats);
	mem_free(young->rows);
	mem_free(young->labels);
	mem_free(young->batch);
	mem_free(young);
}

/* The first values of net number `alarms`. */
static int start(struct young *young, const struct net *net, struct err *err)
{
	struct rng rng = {young->seed, RNG_YOUNG};
	uint32_t bits[4];
	int code;

	rng_bits(rng, (uint64_t)young->alarms, bits);
	code = vector_init(young->engine, net, (uint64_t)bits[0] << 32 | bits[1], young->params,
		young->stats_floats ? young->stats : NULL, err);
	if (code)
		return code;
	vector_copy(young->engine, young->x, young->params, young->floats);
	vector_copy(young->engine, young->z, young->params, young->floats);
	young->steps = young->judged = 0;
	young->quick = young->steady = 0;
	return 0;
}

static int make(struct part **part, const struct part_view *view, struct err *err)
{
	struct young *made = mem_new(1, sizeof(*made));
	const size_t dim = view->floats;
	int code;

	if (!made)
		return err_memory(err, "a young net", sizeof(*made));
	made->dim = (int)dim;
	made->classes = net_spec(view->net)->classes;
	made->large = made->classes > MANY ||
		      (net_spec(view->net)->height * net_spec(view->net)->width == 1 && dim > MANY);
	made->floats = net_params(view->net)->floats;
	made->stats_floats = net_stats(view->net)->floats;
	made->seed = (uint64_t)options_int64(view->options, "run.seed");
	made->engine = view->engine;
	made->stats = mem_new(made->stats_floats + 1, sizeof(float));
	made->rows = mem_new(WINDOW * dim, sizeof(float));
	made->labels = mem_new(WINDOW, sizeof(*made->labels));
	made->batch = mem_new(BATCH * dim, sizeof(float));
	code = made->stats && made->rows && made->labels && made->batch
		       ? 0
		       : err_memory(err, "a young net", WINDOW * dim * sizeof(float));
	for (int i = 0; i < 3 && !code; i++)
		code = vector_new((float **[]){&made->params, &made->z, &made->x}[i], view->engine,
			made->floats, "a young net", err);
	if (!code)
		code = start(made, view->net, err);
	if (code)
		end(&made->part);
	else
		*part = &made->part;
	return code;
}

static int answer(struct part *part, int model, const struct part_samples *samples, float *logits,
	struct err *err)
{
	struct young *young = mine(part);
	const struct part_view *view = samples->view;

	(void)model;
	if (young->large) {
		memset(logits, 0, (size_t)samples->n * (size_t)young->classes * sizeof(*logits));
		return 0;
	}
	learner_tell(view->learner, LEARNER_PREDICT, samples->n);
	return runner_infer(view->runner, young->x, young->stats_floats ? young->stats : NULL,
		samples->inputs, samples->n, logits, err);
}

/* Tensor by tensor: what decays, does so the less the more rows there are. */
static void step(struct young *young, const struct part_view *view, int64_t rows)
{
	const struct param_table *table = net_params(view->net);
	const double share = (WEIGHT + 1) / ((double)++young->steps + WEIGHT);
	const struct average_step none = {0};

	for (int i = 0; i < table->count; i++) {
		const struct param *row = &table->rows[i];
		const size_t at = row->offset;
		const float inputs = row->kind == PARAM_DENSE ? (float)row->shape[1] : 0;
		const struct schedule_free_step one = {.rate = RATE,
			.decay = fminf(MOST_DECAY, KAPPA * inputs / (float)rows),
			.beta = BETA,
			.share = (float)fmax(share, SHARE_LEAST),
			.first = young->steps == 1};

		vector_schedule_free(young->engine, young->params + at, view->grad + at,
			young->z + at, young->x + at, row->count, &one, &none);
	}
}

static int train(struct young *young, const struct part_view *view, struct err *err)
{
	const struct rng rng = {young->seed, RNG_YOUNG};
	const size_t dim = (size_t)young->dim;
	const int64_t since = young->seen - young->since;
	const uint64_t rows = (uint64_t)(since < WINDOW ? since : WINDOW);
	union target labels[BATCH];
	struct runner_batch batch = {
		.input = young->batch, .labels = labels, .n = BATCH, .seed = (uint64_t)young->seen};
	int code;

	for (int i = 0; i < BATCH; i++) {
		const uint64_t counter = ((uint64_t)young->seen * BATCH + (uint64_t)i) | 1ULL << 62;
		const int64_t back = i ? (int64_t)rng_below(rng, counter, rows) : 0;
		const size_t place = (size_t)((young->seen - 1 - back) % WINDOW);

		memcpy(young->batch + (size_t)i * dim, young->rows + place * dim,
			dim * sizeof(float));
		labels[i].class = young->labels[place];
	}
	code = runner_gradient(view->runner, young->params,
		young->stats_floats ? young->stats : NULL, &batch, view->grad, NULL, NULL, NULL,
		err);
	learner_tell(view->learner, LEARNER_FAST_STEP, BATCH);
	if (!code)
		step(young, view, (int64_t)rows);
	return code;
}

/* Whether errors have risen; counts one more row. */
static bool alarmed(struct young *young, bool wrong)
{
	const double chance = young->steady * (1 - young->steady) / LEAST;
	const double rows = (double)++young->judged;

	young->quick += fmax(QUICK, 1 / rows) * (wrong - young->quick);
	young->steady += fmax(STEADY, 1 / rows) * (wrong - young->steady);
	return rows > LEAST && young->quick > young->steady + ERRORS * sqrt(chance + 1e-4);
}

/* Its copies answer by the weights, too. */
static bool retire(struct young *young)
{
	if (!young->large)
		return false;
	if (!young->retired)
		vector_zero(young->engine, young->x, young->floats);
	return young->retired = true;
}

static int learn(struct part *part, struct part_lesson *lesson, struct err *err)
{
	struct young *young = mine(part);
	const struct part_samples *samples = &lesson->samples;
	const struct part_view *view = samples->view;
	const size_t dim = (size_t)young->dim, classes = (size_t)young->classes;
	int code;

	if (retire(young))
		return 0;
	code = runner_infer(view->runner, young->x, young->stats_floats ? young->stats : NULL,
		samples->inputs, samples->n, lesson->logits, err);
	for (int i = 0; i < samples->n && !code; i++) {
		const size_t place = (size_t)(young->seen % WINDOW);
		const bool wrong = rank_hits(lesson->logits + (size_t)i * classes, young->classes,
					   target_classes(samples->labels + i), 1) != 1;

		memcpy(young->rows + place * dim, samples->inputs + (size_t)i * dim,
			dim * sizeof(float));
		young->labels[place] = samples->labels[i].class;
		young->seen++;
		if (alarmed(young, wrong)) {
			young->since = young->seen > BEFORE ? young->seen - BEFORE : 0;
			young->alarms++;
			code = start(young, view->net, err);
		}
		if (!code)
			code = train(young, view, err);
	}
	return code;
}

static int ready(struct part *part, struct part_lesson *lesson, struct err *err)
{
	struct young *young = mine(part);
	const struct part_view *view = lesson->samples.view;
	union target labels[BATCH] = {{0}};
	const struct runner_batch batch = {.input = young->batch, .labels = labels, .n = BATCH};
	int code = runner_infer(view->runner, young->x, young->stats_floats ? young->stats : NULL,
		lesson->samples.inputs, lesson->samples.n, lesson->logits, err);

	return code ? code
		    : runner_losses(view->runner, young->params, NULL, 0, &batch, lesson->losses,
			      lesson->logits, err);
}

static double bytes(const struct part *part)
{
	const struct young *young = (const struct young *)part;

	return sizeof(float) * (3.0 * (double)young->floats + WINDOW * (young->dim + 1.0));
}

static void state(struct part *part, struct state *state)
{
	struct young *young = mine(part);
	bool right = true;

	state_enter(state, "young");
	vector_state(young->engine, state, "params", young->params, young->floats);
	vector_state(young->engine, state, "z", young->z, young->floats);
	vector_state(young->engine, state, "x", young->x, young->floats);
	state_floats(state, "stats", young->stats, young->stats_floats);
	state_int64(state, "steps", &young->steps);
	state_int64(state, "seen", &young->seen);
	state_int64(state, "since", &young->since);
	state_int64(state, "alarms", &young->alarms);
	state_double(state, "quick", &young->quick);
	state_double(state, "steady", &young->steady);
	state_int64(state, "judged", &young->judged);
	state_input_floats(state, "rows", young->rows,
		(struct state_inputs){WINDOW, (size_t)young->dim, 1, 0, STATE_BY_ROWS});
	state_int32s(state, "labels", young->labels, WINDOW);
	state_leave(state);
	if (!state_reading(state) || state_failed(state))
		return;
	for (int i = 0; i < WINDOW; i++)
		right = right && young->labels[i] >= 0 && young->labels[i] < young->classes;
	if (!right || young->seen < 0 || young->since < 0 || young->since > young->seen)
		state_refuse(state, ERR_FORMAT, "a young net with rows that cannot be");
}

static const float *weights(struct part *part, int model, const struct part_view *view)
{
	(void)model;
	(void)view;
	return mine(part)->x;
}

const struct part_type part_young = {
	.word = "young",
	.logits = true,
	.make = make,
	.free = end,
	.ready = ready,
	.answer = answer,
	.learn = learn,
	.bytes = bytes,
	.state = state,
	.weights = weights,
};
