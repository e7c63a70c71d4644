/*
 * Fast weights: each against a small case that is worked out beside it; what they do
 * not touch; how they go on; what they cost.
 */
#include "check.h"
#include "../base/folder.h"
#include "cells.h"
#include "learn/parts/parts.h"

#define MANY                                                                                       \
	"fast.heads=newton, hidden, labels, windows, forest, young, values, sparse, units, near"
#define POOL "fast.mix_by=pool"
#define TWO  "fast.parts=0.3:0.97, 0.1:0.999:2"

static void fill(int64_t first, int n, float *inputs, int32_t *labels)
{
	for (int i = 0; i < n; i++) {
		sample_input(first + i, inputs + (size_t)i * DIM, DIM);
		labels[i] = sample_label(first + i);
	}
}

struct told {
	int works[LEARNER_WORKS], samples[LEARNER_WORKS], leads;
	int64_t macs;
};

static void note_work(void *context, enum learner_work work, int samples)
{
	struct told *told = context;

	told->works[work]++;
	told->samples[work] += samples;
}

static void note_macs(void *context, int64_t macs)
{
	struct told *told = context;

	told->macs += macs;
}

/* The losses of a model with these weights, and its gradient of their mean. */
static double gradient_by_hand(struct learner *learner, const float *params, const float *inputs,
	const int32_t *labels, int n, float *grad, double *sum)
{
	const struct runner_batch batch = {inputs, CELLS(labels), NULL, n};
	float losses[64], loss;
	struct err err;

	assert_ok(runner_gradient(
			  learner->runner, params, NULL, &batch, grad, &loss, losses, NULL, &err),
		err);
	*sum = 0;
	for (int i = 0; i < n; i++)
		*sum -= fmin((double)losses[i], -log(1e-3));
	return (double)loss;
}

/*
 * Every term <- keep * (term - step g); the steps of a part's terms are cut alike such that
 * their sum is at most reach * loss / |g|^2.
 */
static void displacements_follow_new_samples(void **state)
{
	struct school school = school_of(SETTINGS(
		"fast.parts=0.3:0.9, 0.03:0.5+0.02:0.95:2", "fast.prior=0", "fast.reach=0.2"));
	const size_t params = params_of(&school);
	float *delta = calloc(4 * params, sizeof(float)), *point = calloc(params, sizeof(float));
	float *grad = calloc(params, sizeof(float)), inputs[STEP * DIM], logits[STEP * CLASSES];
	/* [part][term] */
	const double rates[2][2] = {{0.3, 0}, {0.03, 0.02}}, keeps[2][2] = {{0.9, 0}, {0.5, 0.95}};
	double records[3] = {0}, gains[3];
	int32_t labels[STEP];
	bool cut = false, whole = false;
	struct err err;

	(void)state;
	for (int k = 0; k < 6; k++) {
		const float *slow = learner_params(school.learner, LEARNER_INFERENCE);

		fill(school.shown, STEP, inputs, labels);
		gradient_by_hand(school.learner, slow, inputs, labels, STEP, grad, &gains[0]);
		for (int j = 0; j < 2; j++)
			for (int pass = 0; pass <= j; pass++) {
				float *d = delta + (size_t)(2 * j) * params;
				const double rate = rates[j][0] + rates[j][1];
				double loss, square = 0, share, sum;

				for (size_t i = 0; i < params; i++)
					point[i] = slow[i] + d[i] + d[params + i];
				loss = gradient_by_hand(
					school.learner, point, inputs, labels, STEP, grad, &sum);
				if (!pass)
					gains[1 + j] = sum;
				for (size_t i = 0; i < params; i++)
					square += (double)grad[i] * (double)grad[i];
				share = fmin(1, 0.2 * loss / square / rate);
				cut = cut || share < 1;
				whole = whole || share == 1;
				for (size_t i = 0; i < 2 * params; i++)
					d[i] = (pass == j ? (float)keeps[j][i / params] : 1) *
					       (d[i] - (float)(share * rates[j][i / params]) *
							       grad[i % params]);
			}
		for (int i = 0; i < 3; i++)
			records[i] = 0.98 * records[i] + gains[i];
		school_reveal(&school);
		for (int i = 0; i < 3; i++)
			assert_float_equal(
				parts_of(school.learner->beside)->mix.record[i], records[i], 1e-3);
		school_train(&school, 3);
	}
	assert_true(cut && whole);
	/* What the mixture answers, by the same displacements. */
	fill(school.shown, 1, inputs, labels);
	assert_ok(learner_predict(school.learner, LEARNER_NOW, inputs, 1, logits, &err), err);
	{
		const float *slow = learner_params(school.learner, LEARNER_INFERENCE);
		const double most = fmax(records[0], fmax(records[1], records[2]));
		const int32_t label = 1;
		double all = 0, p = 0, sum = 0;

		for (int m = 0; m < 3; m++) {
			const double q = exp(records[m] - most);
			double gain;

			for (size_t i = 0; i < params; i++)
				point[i] = slow[i] +
					   (m ? delta[(size_t)(2 * m - 2) * params +
							i] + delta[(size_t)(2 * m - 1) * params + i]
					      : 0);
			p += q * exp(-gradient_by_hand(
					 school.learner, point, inputs, &label, 1, grad, &gain));
			all += q;
		}
		for (int c = 0; c < CLASSES; c++)
			sum += exp((double)logits[c]);
		assert_float_equal(exp((double)logits[1]) / sum, p / all, 1e-3);
	}
	free(delta);
	free(point);
	free(grad);
	school_close(&school);
}

/* The slow net is what it is without. */
static void the_slow_net_does_not_notice(void **state)
{
	static const char *const kinds[][2] = {
		{"average.kind=ama", "schedule.kind=malr"},
		{"average.kind=none", "schedule.kind=rwp"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct school with = school_of(SETTINGS(kinds[i][0], kinds[i][1], TWO));
		struct school without = school_of(SETTINGS(kinds[i][0], kinds[i][1]));

		school_go(&with, 20, 4);
		school_go(&without, 20, 4);
		assert_twins(&with, &without);
		school_close(&with);
		school_close(&without);
	}
}

/* Batch norm's statistics belong to the slow net, whichever layers are displaced. */
static void statistics_are_left_alone(void **state)
{
	static const char *const kinds[][2] = {
		{TWO, "fast.layers=all"},
		{"fast.parts=0.3:0.97:2:8", "fast.layers=head"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct school with = school_images(
			SETTINGS("model.arch=resnet20-cifar", "model.norm=bn", "run.batch=4",
				"schedule.validation_batch=4", "average.statistics_every=3",
				kinds[i][0], kinds[i][1]),
			(struct learner_watch){0});
		struct school without = school_images(
			SETTINGS("model.arch=resnet20-cifar", "model.norm=bn", "run.batch=4",
				"schedule.validation_batch=4", "average.statistics_every=3"),
			(struct learner_watch){0});

		school_go(&with, 2, 3);
		school_go(&without, 2, 3);
		assert_twins(&with, &without);
		school_close(&with);
		school_close(&without);
	}
}

static void now_is_ever_without_fast_weights(void **state)
{
	struct school school = school_of(NULL);
	float inputs[STEP * DIM], now[STEP * CLASSES], ever[STEP * CLASSES];
	int32_t labels[STEP];
	struct err err;

	(void)state;
	school_go(&school, 3, 3);
	fill(school.shown, STEP, inputs, labels);
	assert_ok(learner_predict(school.learner, LEARNER_NOW, inputs, STEP, now, &err), err);
	assert_ok(
		learner_predict(school.learner, LEARNER_INFERENCE, inputs, STEP, ever, &err), err);
	assert_same(now, ever, STEP * CLASSES);
	school_close(&school);
}

/* Only the last layer's weights move: by the length of their gradient, and nothing else. */
static void a_head_is_displaced_alone(void **state)
{
	struct school school = school_of(SETTINGS(
		"fast.parts=0.3:0.9", "fast.layers=head", "fast.prior=0", "fast.reach=0.2"));
	const struct param_table *table = net_params(school.learner->net);
	const size_t params = params_of(&school), head = table->rows[table->count - 2].offset;
	float *point = calloc(params, sizeof(float)), *grad = calloc(params, sizeof(float));
	float inputs[STEP * DIM], logits[CLASSES];
	double loss, square = 0, step, sum, slow;
	int32_t labels[STEP], label = 1;
	struct err err;

	(void)state;
	assert_true(head > 0 && table->rows[table->count - 2].kind == PARAM_DENSE);
	fill(0, STEP, inputs, labels);
	memcpy(point, school.learner->params, params * sizeof(float));
	loss = gradient_by_hand(school.learner, point, inputs, labels, STEP, grad, &sum);
	for (size_t i = head; i < params; i++)
		square += (double)grad[i] * (double)grad[i];
	step = fmin(0.3, 0.2 * loss / square);
	for (size_t i = head; i < params; i++)
		point[i] -= (float)(0.9 * step) * grad[i];
	school_reveal(&school);
	/* Both records are the same after one step: half and half. */
	assert_ok(learner_predict(school.learner, LEARNER_NOW, inputs, 1, logits, &err), err);
	slow = gradient_by_hand(
		school.learner, school.learner->params, inputs, &label, 1, grad, &sum);
	loss = gradient_by_hand(school.learner, point, inputs, &label, 1, grad, &sum);
	assert_float_equal(exp((double)logits[1]), (exp(-slow) + exp(-loss)) / 2, 1e-5);
	free(point);
	free(grad);
	school_close(&school);
}

/* The trunk goes forward once for all parts; their passes are the last layer's alone. */
static void a_head_costs_little(void **state)
{
	struct told told = {0};
	struct school school = school_watched(
		SETTINGS("fast.parts=0.3:0.97, 0.1:0.9:2", "fast.layers=head"),
		(struct learner_watch){.work = note_work, .context = &told, .macs = note_macs},
		NULL);
	const struct param_table *table = net_params(school.learner->net);
	const size_t floats = table->floats - table->rows[table->count - 2].offset;

	(void)state;
	for (int k = 0; k < 10; k++)
		school_reveal(&school);
	assert_int_equal(told.works[LEARNER_FAST_STEP], 0);
	assert_int_equal(told.samples[LEARNER_FAST_FORWARD], 10 * STEP);
	assert_int_equal(told.macs, 10 * 3 * (STEP * 3 * 12 * CLASSES + 2 * (int)floats));
	school_close(&school);
}

/* 150 samples are two chunks of 64 and one of 22, learned one after another. */
static void long_steps_are_several(void **state)
{
	struct school whole = school_of(SETTINGS(TWO)), cut = school_of(SETTINGS(TWO));
	float inputs[150 * DIM];
	int32_t labels[150];
	struct err err;

	(void)state;
	fill(0, 150, inputs, labels);
	assert_ok(learner_reveal(whole.learner, inputs, CELLS(labels), 150, &err), err);
	for (int at = 0; at < 150; at += 64)
		assert_ok(learner_reveal(cut.learner, inputs + (size_t)at * DIM, CELLS(labels + at),
				  at + 64 > 150 ? 150 - at : 64, &err),
			err);
	assert_memory_equal(parts_of(whole.learner->beside)->mix.record,
		parts_of(cut.learner->beside)->mix.record, sizeof(double) * 4);
	school_close(&whole);
	school_close(&cut);
}

static void assert_same_answers(struct school *one, struct school *other)
{
	float inputs[STEP * DIM], a[STEP * CLASSES], b[STEP * CLASSES];
	int32_t labels[STEP];
	struct err err;

	assert_twins(one, other);
	fill(one->shown, STEP, inputs, labels);
	assert_ok(learner_predict(one->learner, LEARNER_NOW, inputs, STEP, a, &err), err);
	assert_ok(learner_predict(other->learner, LEARNER_NOW, inputs, STEP, b, &err), err);
	assert_same(a, b, STEP * CLASSES);
	assert_true(beside_parts.efficacy(one->learner->beside) ==
		    beside_parts.efficacy(other->learner->beside));
}

/* In turn if they are the next time step. */
static void ask(struct school *school, int64_t first, int n)
{
	const int model = first == school->shown && n == STEP ? LEARNER_NEXT : LEARNER_NOW;
	float inputs[STEP * DIM], logits[STEP * CLASSES];
	int32_t labels[STEP];
	struct err err;

	fill(first, n, inputs, labels);
	assert_ok(learner_predict(school->learner, model, inputs, n, logits, &err), err);
}

/* It does not show whether samples were asked about before they are learned from, when, or others. */
static void asking_changes_nothing(void **state)
{
	static const char *const kinds[][2] = {
		{TWO},
		{"fast.parts=0.3:0.97:1:8", "fast.layers=head"},
		{TWO, "fast.guard=true"},
		{"fast.heads=ridge, knn"},
		{MANY, POOL},
		{TWO, POOL},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++) {
		const char *const *settings = SETTINGS(kinds[i][0], kinds[i][1]);
		struct school asked = school_of(settings), silent = school_of(settings);

		for (int k = 0; k < 15; k++) {
			ask(&asked, asked.shown, STEP);
			if (k % 5 == 1)
				ask(&asked, asked.shown + 7, STEP);
			if (k % 5 == 2)
				ask(&asked, asked.shown, STEP - 1);
			if (k % 5 == 3) {
				school_train(&asked, 2);
				school_train(&silent, 2);
			}
			school_go(&asked, 1, 3 * (k % 2));
			school_go(&silent, 1, 3 * (k % 2));
		}
		assert_same_answers(&asked, &silent);
		assert_memory_equal(parts_of(asked.learner->beside)->mix.record,
			parts_of(silent.learner->beside)->mix.record, sizeof(double) * 3);
		school_close(&asked);
		school_close(&silent);
	}
}

static void visit(void *object, struct state *state)
{
	struct school *school = object;

	store_state(school->store, state);
	learner_state(school->learner, state);
	state_int64(state, "shown", &school->shown);
}

static void they_go_on(void **state)
{
	static const char *const kinds[][3] = {
		{TWO},
		{"fast.parts=0.3:0.97:1:8", "fast.layers=head", "fast.prior=0"},
		{"fast.parts=0.3:0.97:1:8", "fast.layers=head", "fast.reach=0.05"},
		{TWO, "optimizer.decay=pool", "replay.pool=fifo"},
		{"fast.parts=0.3:0.9:2:20", "replay.pool=reservoir", "replay.limit=50"},
		{"fast.heads=ridge, knn", "fast.bank=40"},
		{TWO, "fast.heads=knn", "fast.bank=0"},
		{TWO, "fast.mix_by=class", "fast.guard=true"},
		{TWO, "fast.heads=linear"},
		{TWO, "fast.heads=linear", "fast.mix_by=class"},
		{TWO, MANY, POOL},
		{MANY, "fast.guard=true"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(kinds); i++)
		for (int stop = 0; stop < 12; stop += 5) {
			const char *const *settings =
				SETTINGS(kinds[i][0], kinds[i][1], kinds[i][2]);
			struct school straight = school_of(settings), first = school_of(settings),
				      second = school_of(settings);
			struct err err;

			school_go(&straight, 14, 3);
			school_go(&first, stop, 3);
			assert_ok(state_save(in_folder("state"), visit, &first, &err), err);
			assert_ok(state_load(in_folder("state"), visit, &second, &err), err);
			school_go(&second, 14 - stop, 3);
			assert_same_answers(&straight, &second);
			school_close(&straight);
			school_close(&first);
			school_close(&second);
		}
}

/*
 * What heads say is mixed in: about now by their record, about ever in fixed shares. Both
 * heads alone are asked, too, and the mixtures worked out from their answers.
 */
static void heads_answer_both_questions(void **state)
{
	static const char *const alone[] = {"fast.alone=1", "fast.alone=2"};
	struct school both = school_of(SETTINGS("fast.heads=ridge, knn", "fast.prior=0"));
	float inputs[STEP * DIM], now[STEP * CLASSES], ever[STEP * CLASSES];
	float slow[STEP * CLASSES], heads[2][STEP * CLASSES];
	int32_t labels[STEP];
	double q[MIX_MODELS];
	struct err err;

	(void)state;
	school_go(&both, 20, 3);
	fill(both.shown, STEP, inputs, labels);
	assert_ok(learner_predict(both.learner, LEARNER_NOW, inputs, STEP, now, &err), err);
	assert_ok(learner_predict(both.learner, LEARNER_EVER, inputs, STEP, ever, &err), err);
	assert_ok(learner_predict(both.learner, LEARNER_INFERENCE, inputs, STEP, slow, &err), err);
	mix_weights(&parts_of(both.learner->beside)->mix, q);
	for (int i = 0; i < 2; i++) {
		struct school one =
			school_of(SETTINGS("fast.heads=ridge, knn", "fast.prior=0", alone[i]));

		school_go(&one, 20, 3);
		assert_ok(learner_predict(one.learner, LEARNER_NOW, inputs, STEP, heads[i], &err),
			err);
		school_close(&one);
	}
	for (int s = 0; s < STEP; s++) {
		double sum = 0;

		for (int c = 0; c < CLASSES; c++)
			sum += exp((double)slow[s * CLASSES + c]);
		for (int c = 0; c < CLASSES; c++) {
			const int at = s * CLASSES + c;
			const double p = exp((double)slow[at]) / sum;
			const double ridge = exp((double)heads[0][at]);
			const double knn = exp((double)heads[1][at]);

			assert_float_equal(
				exp((double)ever[at]), 0.4 * p + 0.4 * ridge + 0.2 * knn, 1e-5);
			assert_float_equal(
				exp((double)now[at]), q[0] * p + q[1] * ridge + q[2] * knn, 1e-5);
		}
	}
	school_close(&both);
}

/* A bank that keeps all grows, but not with every step; others ask for no memory at all. */
static void heads_take_memory_ahead(void **state)
{
	static const struct {
		const char *bank;
		uint64_t most;
	} rows[] = {{"fast.bank=100", 0}, {"fast.bank=0", 8}};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct school school = school_of(SETTINGS("fast.heads=ridge, knn", rows[i].bank,
			"replay.pool=reservoir", "replay.limit=500", "replay.validation_limit=99"));
		uint64_t before;

		school_go(&school, 100, 1);
		before = mem_count();
		school_go(&school, 100, 1);
		assert_true(mem_count() - before <= rows[i].most);
		school_close(&school);
	}
}

/* Pixels are no embeddings. */
static void heads_are_for_vectors(void **state)
{
	struct school school = {0};
	struct err err;

	(void)state;
	assert_int_equal(
		school_try(&school,
			options_of(SETTINGS("fast.heads=knn", "model.arch=resnet20-cifar")),
			(struct learner_watch){0}, 8, &err),
		ERR_INPUT);
	assert_says(err, "fast.heads = knn: only for vectors");
	school_close(&school);
}

static void threads_change_nothing(void **state)
{
	struct school one = school_of(SETTINGS(TWO, "model.arch=mlp:2048", "optimizer.decay=pool"));
	struct school three = school_of(
		SETTINGS(TWO, "model.arch=mlp:2048", "optimizer.decay=pool", "engine.threads=3"));

	(void)state;
	school_go(&one, 4, 2);
	school_go(&three, 4, 2);
	assert_same_answers(&one, &three);
	school_close(&one);
	school_close(&three);
	one = school_of(SETTINGS(TWO, "fast.heads=ridge, knn, linear"));
	three = school_of(SETTINGS(TWO, "fast.heads=ridge, knn, linear", "engine.threads=3"));
	school_go(&one, 20, 2);
	school_go(&three, 20, 2);
	assert_same_answers(&one, &three);
	school_close(&one);
	school_close(&three);
	one = school_of(SETTINGS(TWO, MANY, POOL));
	three = school_of(SETTINGS(TWO, MANY, POOL, "engine.threads=3"));
	school_go(&one, 20, 2);
	school_go(&three, 20, 2);
	assert_same_answers(&one, &three);
	school_close(&one);
	school_close(&three);
}

/* Once a size of step is known neither answers nor learning ask for memory. */
static void they_allocate_nothing(void **state)
{
	static const char *const kinds[][2] = {
		{"fast.mix_by=class"}, {POOL, MANY}, {"fast.heads=linear", "fast.guard=true"}};
	float inputs[STEP * DIM], logits[STEP * CLASSES];
	int32_t labels[STEP];
	uint64_t before = 0;
	struct err err;

	(void)state;
	fill(0, STEP, inputs, labels);
	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct school school = school_of(SETTINGS(TWO, kinds[i][0], "replay.pool=reservoir",
			"replay.limit=500", "replay.validation_limit=99", kinds[i][1]));

		for (int k = 0; k < 200; k++) {
			if (k == 100)
				before = mem_count();
			assert_ok(learner_predict(
					  school.learner, LEARNER_NOW, inputs, STEP, logits, &err),
				err);
			school_go(&school, 1, 1);
		}
		assert_int_equal(mem_count(), before);
		school_close(&school);
	}
}

/* Whatever allocation of a reveal fails, it can be revealed again as if nothing had happened. */
static void a_reveal_that_fails_takes_nothing(void **state)
{
	const char *const *settings =
		SETTINGS(TWO, "fast.prior=0.7", "fast.heads=ridge, knn", "fast.bank=0");
	struct school straight = school_of(settings), tried = school_of(settings);
	struct err err;
	int failures = 0;

	(void)state;
	for (uint64_t n = 1; !tried.shown; n++) {
		mem_fail_at(n);
		failures += school_reveal_try(&tried, &err) != 0;
		mem_fail_at(0);
	}
	assert_true(failures > 3);
	school_reveal(&straight);
	assert_same_answers(&straight, &tried);
	school_close(&straight);
	school_close(&tried);
}

static void note_lead(void *context, const struct learner_lead *lead)
{
	struct told *told = context;
	double sum = 0;

	for (int i = 0; i < lead->models; i++)
		sum += lead->weights[i];
	assert_float_equal(sum, 1, 1e-9);
	assert_true(lead->lead > 0);
	assert_int_equal(lead->models, 4);
	told->leads++;
}

static void their_cost_is_told(void **state)
{
	struct told told = {0};
	struct school school = school_watched(SETTINGS(TWO),
		(struct learner_watch){note_work, NULL, &told, NULL, note_lead}, NULL);

	(void)state;
	for (int k = 0; k < 300; k++)
		school_reveal(&school);
	assert_int_equal(told.samples[LEARNER_FAST_FORWARD], 300 * STEP);
	assert_int_equal(told.works[LEARNER_FAST_STEP], 300 * 3);
	assert_int_equal(told.samples[LEARNER_FAST_STEP], 300 * 3 * STEP);
	/* The slow net was never trained, so a part must lead. */
	assert_int_equal(told.leads, 1);
	school_close(&school);
}

/* A rate that destroys a part does no harm to answers: steps are cut, and the record knows. */
static void rates_that_are_too_high_do_no_harm(void **state)
{
	struct school school = school_of(SETTINGS("fast.parts=1000:0.999:3", "fast.reach=1000000"));
	float inputs[STEP * DIM], logits[STEP * CLASSES];
	int32_t labels[STEP];
	double weights[MIX_MODELS];
	struct err err;

	(void)state;
	school_go(&school, 60, 3);
	fill(school.shown, STEP, inputs, labels);
	assert_ok(learner_predict(school.learner, LEARNER_NOW, inputs, STEP, logits, &err), err);
	for (int i = 0; i < STEP * CLASSES; i++)
		assert_true(isfinite(logits[i]));
	mix_weights(&parts_of(school.learner->beside)->mix, weights);
	assert_true(weights[1] < 1e-3);
	school_close(&school);
}

/* A kind answers and learns in one of two ways, has a copy or none, and a name of its own. */
static void rows_are_whole(void **state)
{
	(void)state;
	for (int i = 0; i < PART_TYPES; i++) {
		const struct part_type *type = part_types[i];

		assert_true(type->make && type->free && type->bytes && type->state);
		assert_true(type->word ? !type->wanted : type->wanted != NULL);
		assert_true(type->ask ? type->add && !type->answer && !type->learn
				      : type->answer && type->learn && !type->add);
		assert_true(!type->settle || type->add);
		assert_true(!type->scores || type->learn);
		assert_true(!type->weights || type->logits);
		assert_true(!type->copied == !type->copy && !type->copy == !type->answer_copy);
		for (int k = 0; k < i && type->word; k++)
			assert_true(
				!part_types[k]->word || strcmp(part_types[k]->word, type->word));
	}
}

static void mistakes_are_named(void **state)
{
	static const struct {
		const char *settings[4], *words;
	} rows[] = {
		{{"fast.parts=0.3"}, "fast.parts = 0.3: \"0.3\" is not rate:keep"},
		{{"fast.parts=0.3:1"}, "\"0.3:1\" is no"},
		{{"fast.parts=0.3:0.9, x:0.9"}, "\"x:0.9\" is no"},
		{{"fast.parts=0.3:0.9:1:2:3"}, "is not rate"},
		{{"fast.parts=-1:0.9"}, "is not rate"},
		{{"fast.parts=nan:0.9"}, "is not rate"},
		{{"fast.parts=0.3:0.9:1.5"}, "is not rate"},
		{{"fast.parts=0.3:0.9+"}, "\"0.3:0.9+\" is no"},
		{{"fast.parts=0.3:0.9+0.1:1"}, "is not rate"},
		{{"fast.parts=0.3:0.9:1+0.1:0.9"}, "is not rate"},
		{{"fast.parts=0.3:0.9+0.1:0.9+0.1:0.9"}, "is not rate"},
		{{"fast.parts=1:0,1:0,1:0,1:0,1:0,1:0,1:0"}, "more than 6 parts"},
		{{TWO, "learn.retrain=on"}, "does not go with learn.retrain = on"},
		{{"fast.heads=ridge", "learn.retrain=on"}, "fast.heads = ridge: does not go"},
		{{"fast.heads=ridge, tree"},
			"\"tree\" is not a head; there are ridge, knn, linear, newton"},
		{{"fast.heads=knn,knn"}, "knn twice"},
		{{TWO, "fast.alone=3"}, "fast.alone = 3: there are 2 parts and heads"},
		{{TWO, "average.kind=none", "schedule.kind=constant", "learn.population=polrs"},
			"does not go with learn.population = polrs"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct school school = {0};
		struct err err = {0};

		assert_int_equal(
			school_try(&school,
				options_of(SETTINGS(rows[i].settings[0], rows[i].settings[1],
					rows[i].settings[2], rows[i].settings[3])),
				(struct learner_watch){0}, 1, &err),
			ERR_INPUT);
		assert_says(err, rows[i].words);
		school_close(&school);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(displacements_follow_new_samples),
		cmocka_unit_test(the_slow_net_does_not_notice),
		cmocka_unit_test(statistics_are_left_alone),
		cmocka_unit_test(now_is_ever_without_fast_weights),
		cmocka_unit_test(a_head_is_displaced_alone),
		cmocka_unit_test(long_steps_are_several),
		cmocka_unit_test(a_head_costs_little),
		cmocka_unit_test(heads_answer_both_questions),
		cmocka_unit_test(heads_take_memory_ahead),
		cmocka_unit_test(heads_are_for_vectors),
		cmocka_unit_test(asking_changes_nothing),
		folder_test(they_go_on),
		cmocka_unit_test(threads_change_nothing),
		cmocka_unit_test(they_allocate_nothing),
		cmocka_unit_test(a_reveal_that_fails_takes_nothing),
		cmocka_unit_test(their_cost_is_told),
		cmocka_unit_test(rates_that_are_too_high_do_no_harm),
		cmocka_unit_test(rows_are_whole),
		cmocka_unit_test(mistakes_are_named),
	};

	return cmocka_run_group_tests_name("fast", tests, NULL, NULL);
}
