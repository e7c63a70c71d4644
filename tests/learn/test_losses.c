/*
 * Losses: each sample's value and gradient as PyTorch has them (tests/golden/make_goldens.py),
 * the gradient of a whole net against finite differences on every way through a plan, the
 * table of kept logits against a plain list, and what is refused.
 */
#include "check.h"

#include "../base/folder.h"
#include "learn/losses/loss_der.h"
#include "nn/weights/safetensors.h"
#include "cells.h"

enum { BATCH = 6, KINDS = 7 /* classes of the golden */, NEW = 3 };

/* The formula of make_goldens.py. */
static uint32_t mix(uint32_t x)
{
	x = (x ^ x >> 16) * 0x85ebca6bu;
	x = (x ^ x >> 13) * 0xc2b2ae35u;
	return x ^ x >> 16;
}

static uint32_t hash(const char *text, size_t i)
{
	uint32_t h = 2166136261u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return mix(mix((uint32_t)i) + h);
}

static float u(const char *text, size_t i)
{
	return (float)(hash(text, i) >> 8) * 0x1p-23f - 1;
}

static void read_golden(const char *kind, const char *what, float *values, size_t count)
{
	const char *tests = getenv("RETAIN_TESTS");
	struct safetensors *file;
	struct err err;
	char text[512];

	snprintf(text, sizeof(text), "%s/golden/losses.safetensors", tests ? tests : "tests");
	assert_ok(safetensors_open(&file, text, &err), err);
	snprintf(text, sizeof(text), "%s.%s", kind, what);
	const struct safetensor *tensor = safetensors_find(file, text);
	assert_non_null(tensor);
	assert_int_equal(tensor->count, count);
	assert_ok(safetensors_read_float(file, tensor, values, &err), err);
	safetensors_close(file);
}

/* A learner of the golden's size that has seen its labels. */
static struct school golden_school(const char *kind, int32_t *labels)
{
	char setting[64];
	struct school school = {0};
	struct err err;

	snprintf(setting, sizeof(setting), "loss.kind=%s", kind);
	struct options *options =
		options_of(SETTINGS(setting, "replay.holdout=0", "average.kind=ema",
			"schedule.kind=constant", "replay.pool=reservoir", "run.batch=6"));
	const struct learner_config config = {
		.options = options, .classes = KINDS, .channels = DIM, .height = 1, .width = 1};
	const float inputs[BATCH * DIM] = {0};
	assert_ok(store_in_memory(&school.store, DIM, 1, &err), err);
	assert_ok(learner_new(&school.learner, &config, school.store, &err), err);
	options_free(options);
	for (size_t i = 0; i < BATCH; i++)
		labels[i] = (int32_t)(hash("label", i) % KINDS);
	assert_ok(learner_reveal(school.learner, inputs, CELLS(labels), BATCH, &err), err);
	return school;
}

static int batch_of(
	struct learner *learner, const int64_t *ids, struct runner_batch *batch, struct err *err)
{
	const struct loss_view view = learner_loss_view(learner);

	return loss_batch(learner->loss, &view, ids, batch, err);
}

static double held(struct learner *learner)
{
	const struct loss_view view = learner_loss_view(learner);

	return loss_held(learner->loss, &view);
}

/* What the golden compares logits with takes the place of what the learner has itself. */
static void teach_der(struct school *school)
{
	struct der *der = (struct der *)school->learner->loss;

	objective_step(school->learner->objective, BATCH, BATCH);
	for (int i = 0; i < BATCH; i++)
		for (int c = 0; c < KINDS; c++)
			((float *)kept_find(&der->kept, i))[c] =
				3 * u("teacher", (size_t)(i * KINDS + c));
}

static void teach_distill(struct school *school)
{
	for (int i = 0; i < BATCH; i++) {
		float *row = loss_row(school->learner->loss, i, 0);
		double sum = 0;

		for (int c = 0; c < KINDS; c++)
			sum += exp(1.5 * (double)u("teacher", (size_t)(i * KINDS + c)));
		for (int c = 0; c < KINDS; c++)
			row[c] = (float)(exp(1.5 * (double)u("teacher", (size_t)(i * KINDS + c))) /
					 sum);
	}
}

/* The first samples of the batch are those that came last. */
static void make_new(struct school *school)
{
	objective_step(school->learner->objective, BATCH - NEW, BATCH);
}

static void assert_golden(const struct school *school, const int32_t *labels)
{
	const struct loss *loss = school->learner->loss;
	float logits[BATCH * KINDS], values[BATCH], grads[BATCH * KINDS], grad[KINDS];

	for (size_t i = 0; i < BATCH * KINDS; i++)
		logits[i] = 3 * u("logits", i);
	read_golden(loss->type->name, "loss", values, BATCH);
	read_golden(loss->type->name, "grad", grads, BATCH * KINDS);
	for (int i = 0; i < BATCH; i++) {
		const float value = loss->sample.value(&loss->sample, school->learner->engine->ops,
			i, logits + i * KINDS, &(const union target){labels[i]}, 0.25f, grad);

		assert_float_equal(value, values[i], 3e-6);
		for (int c = 0; c < KINDS; c++)
			assert_float_equal(4 * grad[c], grads[i * KINDS + c], 3e-6);
	}
}

static void values_are_pytorchs(void **state)
{
	static const struct {
		const char *kind;
		void (*before)(struct school *), (*after)(struct school *); /* the batch */
		int turn; /* by so many the batch's ids are turned */
	} rows[] = {
		{"smooth", NULL, NULL, 0},
		{"ace", make_new, NULL, NEW},
		{"der", teach_der, NULL, 0},
		{"distill", NULL, teach_distill, 0},
	};

	(void)state;
	for (size_t k = 0; k < COUNT(rows); k++) {
		int32_t labels[BATCH];
		int64_t ids[BATCH];
		const float inputs[BATCH * DIM] = {0};
		struct school school = golden_school(rows[k].kind, labels);
		struct runner_batch batch = {.input = inputs, .labels = CELLS(labels), .n = BATCH};
		struct err err;

		for (int i = 0; i < BATCH; i++)
			ids[i] = (i + rows[k].turn) % BATCH;
		if (rows[k].before)
			rows[k].before(&school);
		assert_ok(batch_of(school.learner, ids, &batch, &err), err);
		assert_ptr_equal(batch.loss, school.learner->loss);
		if (rows[k].after)
			rows[k].after(&school);
		assert_golden(&school, labels);
		school_close(&school);
	}
}

/* The loss of the batch in hand with parameters that were moved along a direction. */
static double loss_along(struct learner *learner, const struct runner_batch *batch,
	const float *direction, float step, float *grad)
{
	const size_t params = net_params(learner->net)->floats;
	float *moved = calloc(params, sizeof(float)), loss = 0;
	struct err err;

	for (size_t i = 0; i < params; i++)
		moved[i] = learner->params[i] + step * direction[i];
	assert_ok(
		runner_gradient(learner->runner, moved, NULL, batch, grad, &loss, NULL, NULL, &err),
		err);
	free(moved);
	return (double)loss;
}

/* What the loss changes by along a direction, by its gradient, and the gradient's square. */
static double slope_along(struct learner *learner, const struct runner_batch *batch,
	const float *direction, float *grad, double *length)
{
	const size_t params = net_params(learner->net)->floats;
	double slope = 0;

	*length = 0;
	loss_along(learner, batch, direction, 0, grad);
	for (size_t i = 0; i < params; i++) {
		slope += (double)grad[i] * (double)direction[i];
		*length += (double)grad[i] * (double)grad[i];
	}
	return slope;
}

/* How far off that is. The shorter step is in the noise, the longer one may step over a kink. */
static double off_by(struct learner *learner, const struct runner_batch *batch,
	const float *direction, float *grad, double slope, double most)
{
	double off = INFINITY;

	for (float step = 4e-4f; step > 3e-5f && off > most; step /= 2)
		off = fabs((loss_along(learner, batch, direction, step, grad) -
				   loss_along(learner, batch, direction, -step, grad)) /
				   (2 * (double)step) -
			   slope);
	return off;
}

/* The gradient along a random direction is what the loss changes by. */
static void check_gradient(const char *const *settings, int height)
{
	struct school school = {0};
	struct err err;

	assert_ok(
		school_try(&school, options_of(settings), (struct learner_watch){0}, height, &err),
		err);
	struct learner *learner = school.learner;
	const size_t params = net_params(learner->net)->floats;
	float *direction = calloc(params, sizeof(float)), *grad = calloc(params, sizeof(float));
	struct runner_batch batch = {.input = learner->room.inputs,
		.labels = learner->room.labels,
		.n = learner->set.batch};
	double slope = 0, length = 0, off = INFINITY;

	school_go(&school, 4, 3);
	for (int i = 0; i < learner->set.batch; i++)
		learner->room.ids[i] = (i * 5) % (4 * STEP);
	assert_ok(learner_fetch(learner, learner->room.ids, learner->set.batch,
			  learner->room.inputs, learner->room.labels, &err),
		err);
	assert_ok(batch_of(learner, learner->room.ids, &batch, &err), err);
	/* One direction in some hundred has a kink however short the step: another one has none. */
	for (uint64_t k = 0; k < 3 && off > 0.02 * sqrt(length) + 2e-3; k++) {
		rng_normals((struct rng){5 + k, RNG_TEST}, 0, direction, params);
		slope = slope_along(learner, &batch, direction, grad, &length);
		off = off_by(learner, &batch, direction, grad, slope, 0.02 * sqrt(length) + 2e-3);
	}
	if (off > 0.02 * sqrt(length) + 2e-3)
		fail_msg("%s, %s: the gradient %g is off by %g", settings[0], settings[3], slope,
			off);
	free(direction);
	free(grad);
	school_close(&school);
}

/* Small and large dense nets, convolutions, micro-batches: a loss is asked in three places. */
static void gradients_are_slopes(void **state)
{
	static const struct {
		const char *kind, *target;
	} rows[] = {
		{"loss.kind=smooth", "model.target=class"},
		{"loss.kind=ace", "model.target=class"},
		{"loss.kind=der", "model.target=class"},
		{"loss.kind=distill", "model.target=class"},
		{"loss.kind=huber", "model.target=number"},
		{"loss.kind=squared", "model.target=number"},
		{"loss.kind=absolute", "model.target=number"},
		{"loss.kind=quantile", "model.target=number"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *kind = rows[i].kind, *target = rows[i].target;

		check_gradient(SETTINGS(kind, target, "replay.pool=fifo", "replay.limit=90",
				       "run.task_steps=2"),
			1);
		/* Fewer samples than a vector has room for. */
		check_gradient(SETTINGS(kind, target, "replay.pool=fifo", "replay.limit=90",
				       "run.micro_batch=3"),
			1);
		check_gradient(SETTINGS(kind, target, "replay.pool=fifo", "replay.limit=90",
				       "model.arch=mlp:600,600", "run.micro_batch=5"),
			1);
		check_gradient(SETTINGS(kind, target, "replay.pool=fifo", "replay.limit=90",
				       "model.arch=mlp:600,600", "engine.threads=2"),
			1);
		check_gradient(SETTINGS(kind, target, "replay.pool=fifo", "replay.limit=90",
				       "model.arch=resnet20-cifar", "run.micro_batch=3"),
			8);
	}
}

/* Two parameters by hand: the importance is the mean squared gradient, the hold pulls back. */
static void ewc_holds_what_matters(void **state)
{
	struct school school = school_of(
		SETTINGS("loss.kind=ewc", "loss.hold=7", "loss.hold_samples=4", "replay.holdout=0",
			"average.kind=none", "schedule.kind=constant", "run.task_steps=1"));
	struct learner *learner = school.learner;
	const size_t params = params_of(&school);
	float *before = calloc(params, sizeof(float)), *grad = calloc(params, sizeof(float));
	const struct slice all = {.count = params};
	double loss;

	(void)state;
	school_go(&school, 1, 3);
	loss = held(learner);
	loss_hold(learner->loss, learner->params, grad, &all);
	assert_true(loss == 0); /* no task has ended */
	memcpy(before, learner->params, params * sizeof(float));
	school_reveal(&school);
	loss = held(learner);
	loss_hold(learner->loss, learner->params, grad, &all);
	assert_true(loss == 0); /* nothing has moved */
	for (size_t i = 0; i < params; i++)
		learner->params[i] += 0.5f;
	loss = held(learner);
	loss_hold(learner->loss, learner->params, grad, &all);
	double sum = 0;
	for (size_t i = 0; i < params; i++) {
		assert_true(grad[i] >= 0);
		sum += (double)grad[i] * 0.5;
	}
	assert_true(loss > 0);
	assert_float_equal(loss, sum / 2, 1e-4 * sum);
	/* The importance of the first bias of the head, from four gradients made here. */
	const struct param *bias =
		&net_params(learner->net)->rows[net_params(learner->net)->count - 1];
	float *one = calloc(params, sizeof(float)), input[DIM];
	double squares = 0;
	int64_t ids[4];
	struct err err;
	assert_true(pool_draw_range(learner->pool, 3, 0, 0, STEP, ids, 4));
	for (int i = 0; i < 4; i++) {
		const int32_t label = sample_label(ids[i]);
		const struct runner_batch single = {
			.input = input, .labels = CELLS(&label), .n = 1};

		sample_input(ids[i], input, DIM);
		assert_ok(runner_gradient(learner->runner, before, NULL, &single, one, NULL, NULL,
				  NULL, &err),
			err);
		squares += (double)one[bias->offset] * (double)one[bias->offset];
	}
	assert_float_equal((double)grad[bias->offset], fmin(7 * squares / 4, 1) * 0.5, 1e-5);
	free(before);
	free(grad);
	free(one);
	school_close(&school);
}

/* Put, find and drop against a list, through growth, in sizes and in width. */
static void kept_is_a_map(void **state)
{
	enum { IDS = 500 };
	bool there[IDS] = {false};
	struct kept kept = {.classes = 2};
	int64_t count = 0;
	struct err err;

	(void)state;
	for (uint64_t step = 0; step < 20000; step++) {
		const int64_t id = (int64_t)rng_below((struct rng){6, RNG_TEST}, step, IDS);

		assert_ok(kept_reserve(&kept, 1, &err), err);
		if (step == 10000)
			assert_ok(kept_widen(&kept, 3, &err), err);
		if (there[id]) {
			const float *row = kept_find(&kept, id);

			assert_non_null(row);
			assert_true(row[0] == (float)id && row[1] == (float)-id);
			assert_true(kept.classes == 2 || isnan(row[2]));
			kept_drop(&kept, id);
			count--;
		} else {
			assert_null(kept_find(&kept, id));
			float *row = kept_put(&kept, id);
			for (int c = 0; c < kept.classes; c++)
				row[c] = c == 0 ? (float)id : c == 1 ? (float)-id : NAN;
			count++;
		}
		there[id] = !there[id];
		kept_drop(&kept, IDS + id); /* nobody's */
		assert_int_equal(kept.count, count);
	}
	assert_true(kept.room <= 1024);
	kept_release(&kept);
}

/* With a bounded pool, what is kept is bounded, and is the pool's. */
static void der_keeps_what_the_pool_has(void **state)
{
	struct school school =
		school_of(SETTINGS("loss.kind=der", "replay.pool=reservoir", "replay.limit=40"));
	const struct der *der = (const struct der *)school.learner->loss;

	(void)state;
	school_go(&school, 40, 1);
	for (int64_t id = 0; id < school.shown; id++)
		if (kept_find(&der->kept, id))
			assert_true(pool_wants(school.learner->pool, id));
	assert_true(der->kept.count >= 40 && der->kept.count <= 40 + STEP);
	school_close(&school);
}

static void visit_learner(void *learner, struct state *state)
{
	learner_state(learner, state);
}

/* Going back to a checkpoint from before a class came, as a rollback does. */
static void der_goes_back_to_fewer_classes(void **state)
{
	struct options *options =
		options_of(SETTINGS("loss.kind=der", "replay.pool=reservoir", "replay.limit=40"));
	const struct learner_config config = {.options = options,
		.classes = 1,
		.classes_most = 9,
		.channels = DIM,
		.height = 1,
		.width = 1};
	const int32_t labels[][2] = {{0, 1}, {2, 4}};
	const float inputs[2 * DIM] = {1, 2, 3};
	struct school school = {0};
	const struct der *der;
	struct err err;

	(void)state;
	assert_ok(store_in_memory(&school.store, DIM, 1, &err), err);
	assert_ok(learner_new(&school.learner, &config, school.store, &err), err);
	der = (const struct der *)school.learner->loss;
	assert_ok(learner_reveal(school.learner, inputs, CELLS(labels[0]), 2, &err), err);
	school_train(&school, 2);
	assert_ok(state_save(in_folder("few"), visit_learner, school.learner, &err), err);
	assert_ok(learner_reveal(school.learner, inputs, CELLS(labels[1]), 2, &err), err);
	school_train(&school, 2);
	assert_int_equal(der->kept.classes, 5);
	assert_ok(state_load(in_folder("few"), visit_learner, school.learner, &err), err);
	assert_int_equal(net_spec(school.learner->net)->classes, 2);
	for (int64_t id = 0; id < 4; id++) {
		const float *row = kept_find(&der->kept, id);

		assert_true(!row || id < 2);
		assert_true(!row || (isfinite(row[1]) && isnan(row[2])));
	}
	assert_true(der->kept.count > 0);
	school_train(&school, 2);
	school_close(&school);
	options_free(options); /* a net that grows is made by them */
}

/* A file of kept logits whose sizes are not to be believed. */
static void visit_sizes(void *sizes, struct state *state)
{
	const int64_t *size = sizes;
	int64_t count = size[0], ids[2] = {0, size[2]};
	int classes = (int)size[1];

	state_int(state, "classes", &classes);
	state_int64(state, "count", &count);
	state_int64s(state, "ids", ids, 2);
}

static void visit_kept(void *kept, struct state *state)
{
	kept_state(kept, state);
}

static void kept_believes_no_file(void **state)
{
	static const int64_t rows[][3] = {{2, 0, 1}, {2, -1, 1}, {-1, 3, 1},
		{INT64_C(1) << 40, 1 << 24, 1}, {INT64_MAX, 3, 1}, {INT64_C(1) << 62, INT32_MAX, 1},
		{2, INT32_MAX, 1}, {2, 3, 0}, {2, 3, -7}};
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct kept kept = {.classes = 3};

		assert_ok(state_save(in_folder("kept"), visit_sizes, (void *)rows[i], &err), err);
		assert_int_equal(
			state_load(in_folder("kept"), visit_kept, &kept, &err), ERR_FORMAT);
		kept_release(&kept);
	}
}

static void refuses_what_does_not_go_together(void **state)
{
	static const struct {
		const char *settings[4], *says;
	} rows[] = {
		{{"loss.kind=der"}, "replay.pool = unlimited has no bound"},
		{{"loss.kind=distill", "average.kind=none", "schedule.kind=constant"},
			"average.kind = none"},
		{{"loss.kind=ewc", "learn.population=polrs", "average.kind=none",
			 "schedule.kind=constant"},
			"learn.population = polrs"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct school school = {0};
		struct err err = {0};

		assert_int_not_equal(
			school_try(&school,
				options_of(SETTINGS(rows[i].settings[0], rows[i].settings[1],
					rows[i].settings[2], rows[i].settings[3])),
				(struct learner_watch){0}, 1, &err),
			0);
		assert_says(err, rows[i].says);
		school_close(&school);
	}
	struct school school = {0};
	struct err err = {0};
	assert_int_not_equal(school_try(&school,
				     options_of(SETTINGS("loss.kind=ewc",
					     "model.arch=resnet20-cifar", "model.norm=bn")),
				     (struct learner_watch){0}, 8, &err),
		0);
	assert_says(err, "model.norm = bn");
	school_close(&school);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_pytorchs),
		cmocka_unit_test(gradients_are_slopes),
		cmocka_unit_test(ewc_holds_what_matters),
		cmocka_unit_test(kept_is_a_map),
		cmocka_unit_test(der_keeps_what_the_pool_has),
		folder_test(der_goes_back_to_fewer_classes),
		folder_test(kept_believes_no_file),
		cmocka_unit_test(refuses_what_does_not_go_together),
	};

	return cmocka_run_group_tests_name("losses", tests, NULL, NULL);
}
