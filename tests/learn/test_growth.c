/*
 * A learner whose classes come while it runs takes over all that it has: of the net's
 * parameters tensor by tensor, of what stands by class class by class. The two are told apart
 * even where they grow by the same length: 16 classes more are 16 (DIM + 1) numbers more for a
 * head that sees DIM inputs, and for a net whose last layer does.
 */
#include "check.h"
#include "../base/folder.h"

#include "learn/parts/fast_impl.h"
#include "learn/parts/linear.h"
#include "learn/parts/parts.h"
#include "cells.h"

#define ALL_HEADS                                                                                  \
	"fast.heads=ridge, knn, linear, newton, hidden, labels, windows, forest, young, values, "  \
	"sparse, units, near"

enum { MOST = 40 };

static const struct {
	const char *arch;
	int before, after;
} rows[] = {
	{"model.arch=mlp:8", 16, 32},
	{"model.arch=mlp:8", 1, 17},
	{"model.arch=linear", 16, 32},
	{"model.arch=linear", 8, 24},
	{"model.arch=mlp:8", 5, 6},
	{"model.arch=mlp:8", 5, MOST},
	{"model.arch=mlp:5", 2, 3},
};

/* Learners that grow look their options up again. */
static struct school growing(const struct options *options, int classes)
{
	const struct learner_config config = {.options = options,
		.classes = classes,
		.classes_most = MOST,
		.channels = DIM,
		.height = 1,
		.width = 1,
		.steps = 75,
		.iterations = 300};
	struct school school = {0};
	struct err err;

	assert_ok(store_in_memory(&school.store, DIM, 1, &err), err);
	assert_ok(learner_new(&school.learner, &config, school.store, &err), err);
	return school;
}

/* Steps of samples of so many classes. */
static void go(struct school *school, int steps, int classes)
{
	float inputs[STEP * DIM];
	int32_t labels[STEP];
	struct err err;

	for (int k = 0; k < steps; k++, school->shown += STEP) {
		for (int i = 0; i < STEP; i++) {
			sample_input(school->shown + i, inputs + (size_t)i * DIM, DIM);
			labels[i] = (int32_t)rng_below((struct rng){4, RNG_TEST},
				(uint64_t)(school->shown + i), (uint64_t)classes);
		}
		labels[0] = classes - 1;
		assert_ok(learner_reveal(school->learner, inputs, CELLS(labels), STEP, &err), err);
		school_train(school, 2);
	}
}

static void grow(struct school *school, int classes)
{
	struct learner *former;
	struct err err;

	assert_ok(learner_grow(
			  school->learner, classes, school->learner->inputs.floats, &former, &err),
		err);
	learner_grown(school->learner, former, 0);
}

static struct part *part_of(const struct learner *learner, const struct part_type *type)
{
	int row = 0;

	while (part_types[row] != type)
		row++;
	return parts_of(learner->beside)->list[row];
}

static void visit_heads(void *object, struct state *state)
{
	part_ridge.state(part_of(object, &part_ridge), state);
	part_knn.state(part_of(object, &part_knn), state);
}

static void visit_school(void *object, struct state *state)
{
	struct school *school = object;

	store_state(school->store, state);
	learner_state(school->learner, state);
	state_int64(state, "shown", &school->shown);
}

/* What was visited, as a file has it; the caller frees it. */
static char *saved(state_fn *visit, void *object, size_t *size)
{
	struct err err;
	char *bytes;
	FILE *file;

	assert_ok(state_save(in_folder("state"), visit, object, &err), err);
	file = fopen(in_folder("state"), "rb");
	assert_non_null(file);
	assert_int_equal(fseek(file, 0, SEEK_END), 0);
	*size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*size);
	assert_int_equal(fread(bytes, 1, *size, file), *size);
	fclose(file);
	return bytes;
}

static void assert_saves_the_same(state_fn *visit, void *one, void *other)
{
	size_t size, other_size;
	char *bytes = saved(visit, one, &size), *other_bytes = saved(visit, other, &other_size);

	assert_int_equal(size, other_size);
	assert_memory_equal(bytes, other_bytes, size);
	free(bytes);
	free(other_bytes);
}

static const double *linear_of(const struct school *school)
{
	return linear_weights(part_of(school->learner, &part_linear));
}

static const struct fast *fast_of(const struct learner *learner)
{
	return (const struct fast *)part_of(learner, &part_fast);
}

/* Ridge regression and neighbours do not learn from classes that have not come. */
static void heads_are_as_if_classes_had_been_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct options *options =
			options_of(SETTINGS(rows[i].arch, "fast.heads=ridge, knn"));
		struct school grown = growing(options, rows[i].before);
		struct school straight = growing(options, rows[i].after);

		go(&grown, 8, rows[i].before);
		go(&straight, 8, rows[i].before);
		grow(&grown, rows[i].after);
		assert_saves_the_same(visit_heads, grown.learner, straight.learner);
		go(&grown, 1, rows[i].after);
		go(&straight, 1, rows[i].after);
		assert_saves_the_same(visit_heads, grown.learner, straight.learner);
		school_close(&grown);
		school_close(&straight);
		options_free(options);
	}
}

/* The linear head shares its answer among all classes, so only what it had stays. */
static void what_is_by_class_stays(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const size_t classes = (size_t)rows[i].before, more = (size_t)rows[i].after;
		struct options *options = options_of(SETTINGS(rows[i].arch, ALL_HEADS,
			"fast.parts=0.3:0.97", "fast.mix_by=class", "fast.prior=0.7"));
		struct school school = growing(options, rows[i].before);
		double weights[MOST * (DIM + 1)] = {0}, records[MOST * MIX_MODELS] = {0};
		double ever[MOST] = {0};
		const struct mix *mix;
		size_t models;

		go(&school, 8, rows[i].before);
		mix = &parts_of(school.learner->beside)->mix;
		models = (size_t)mix->count;
		memcpy(weights, linear_of(&school), classes * (DIM + 1) * sizeof(double));
		memcpy(records, mix->class_record, classes * models * sizeof(double));
		memcpy(ever, mix->ever, classes * sizeof(double));
		grow(&school, rows[i].after);
		mix = &parts_of(school.learner->beside)->mix;
		assert_memory_equal(linear_of(&school), weights, more * (DIM + 1) * sizeof(double));
		assert_memory_equal(mix->class_record, records, more * models * sizeof(double));
		assert_memory_equal(mix->ever, ever, more * sizeof(double));
		school_close(&school);
		options_free(options);
	}
}

/* Nothing stands between tensors. */
static void assert_gaps(const struct param_table *table, const float *values, size_t first)
{
	for (int row = 0; row < table->count; row++) {
		const struct param *param = &table->rows[row];
		const size_t end = row + 1 < table->count ? param[1].offset : table->floats;

		for (size_t i = param->offset + param->count; i < end && i >= first; i++)
			assert_true(values[i - first] == 0);
	}
}

/* A tensor of `to` is that of `from`, and zeros behind it; both arrays begin at `first`. */
static void assert_grown(const struct param *from, const struct param *to, const float *old,
	const float *new, size_t first)
{
	if (from->offset < first)
		return;
	assert_true(from->offset == to->offset || from->kind == PARAM_BIAS);
	assert_same(old + from->offset - first, new + to->offset - first, from->count);
	for (size_t i = from->count; i < to->count; i++)
		assert_true(new[to->offset - first + i] == 0);
}

static void the_net_stays(void **state)
{
	static const char *const layers[] = {"fast.layers=all", "fast.layers=head"};

	(void)state;
	for (size_t i = 0; i < 2 * COUNT(rows); i++) {
		const int before = rows[i / 2].before, after = rows[i / 2].after;
		struct options *options = options_of(SETTINGS(rows[i / 2].arch,
			"fast.parts=0.3:0.97", layers[i % 2], "optimizer.kind=adam"));
		struct school school = growing(options, before);
		struct learner *learner = school.learner, *former;
		const struct param_table *from, *to;
		struct err err;

		go(&school, 5, before);
		assert_ok(learner_grow(learner, after, learner->inputs.floats, &former, &err), err);
		from = net_params(former->net);
		to = net_params(learner->net);
		assert_int_equal(from->count, to->count);
		assert_gaps(from, former->params, 0);
		assert_gaps(from, fast_of(former)->delta[0][0], fast_of(former)->first);
		for (int row = 0; row < from->count; row++) {
			const struct param *one = &from->rows[row], *other = &to->rows[row];

			assert_grown(one, other, former->params, learner->params, 0);
			assert_grown(one, other, optimizer_buffer(former->optimizer, "mean"),
				optimizer_buffer(learner->optimizer, "mean"), 0);
			assert_grown(one, other, fast_of(former)->delta[0][0],
				fast_of(learner)->delta[0][0], fast_of(learner)->first);
		}
		learner_grown(learner, former, 0);
		school_close(&school);
		options_free(options);
	}
}

static void it_goes_on_after_growth(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct options *options =
			options_of(SETTINGS(rows[i].arch, ALL_HEADS, "fast.parts=0.3:0.97:1:8"));
		struct school straight = growing(options, rows[i].before);
		struct school first = growing(options, rows[i].before);
		struct school second = growing(options, rows[i].before);
		struct err err;

		go(&straight, 6, rows[i].before);
		go(&straight, 5, rows[i].after);
		go(&first, 6, rows[i].before);
		go(&first, 1, rows[i].after);
		assert_ok(state_save(in_folder("state"), visit_school, &first, &err), err);
		assert_ok(state_load(in_folder("state"), visit_school, &second, &err), err);
		go(&second, 4, rows[i].after);
		assert_saves_the_same(visit_school, &straight, &second);
		school_close(&straight);
		school_close(&first);
		school_close(&second);
		options_free(options);
	}
}

/* Rows that may become longer; `late` says whether samples have the new numbers. */
enum { WIDE = DIM + 19 };

static void widen(struct school *school)
{
	struct err err;

	assert_ok(learner_widen(school->learner, WIDE, &err), err);
}

static void fill_wide(int64_t at, bool late, float *input)
{
	sample_input(at, input, WIDE);
	for (int i = DIM; i < WIDE && !late; i++)
		input[i] = NAN;
}

static void go_wide(struct school *school, int steps, bool late)
{
	static float inputs[STEP * WIDE];
	union target labels[STEP];
	struct err err;

	for (int k = 0; k < steps; k++, school->shown += STEP) {
		for (int i = 0; i < STEP; i++) {
			fill_wide(school->shown + i, late, inputs + (size_t)i * WIDE);
			labels[i].class = (int32_t)rng_below(
				(struct rng){4, RNG_TEST}, (uint64_t)(school->shown + i), 3);
			if (school->learner->target.kind == TARGET_NUMBER)
				labels[i].number = 10 * (float)labels[i].class;
		}
		assert_ok(learner_reveal(school->learner, inputs, labels, STEP, &err), err);
		school_train(school, 2);
	}
}

static void ask_wide(struct school *school, int model, bool late, float logits[STEP * 3])
{
	static float inputs[STEP * WIDE];
	struct err err;

	for (int i = 0; i < STEP; i++)
		fill_wide(1000 + i, late, inputs + (size_t)i * WIDE);
	assert_ok(learner_predict(school->learner, model, inputs, STEP, logits, &err), err);
}

static const char *const arches[] = {
	"model.arch=mlp:8", "model.arch=linear", "model.arch=mlp:16,8"};

#define WIDE_SETTINGS(arch)                                                                        \
	SETTINGS(arch, ALL_HEADS, "fast.parts=0.3:0.97:1:8", "model.scale=running",                \
		"optimizer.kind=adam")

/* What a net lacks is not seen, and when it has it the answers are still the same. */
static void answers_stay_when_inputs_grow(void **state)
{
	(void)state;
	for (size_t i = 0; i <= COUNT(arches); i++) {
		struct options *options =
			i < COUNT(arches)
				? options_of(WIDE_SETTINGS(arches[i]))
				: options_of(SETTINGS("model.target=number", "loss.kind=huber",
					  "fast.heads=numbers", "model.scale=running"));
		struct school school = growing(options, 3);
		float before[STEP * 3], wide[STEP * 3], after[STEP * 3];
		struct learner *former;
		struct err err;

		widen(&school);
		go_wide(&school, 8, false);
		ask_wide(&school, LEARNER_NOW, false, before);
		ask_wide(&school, LEARNER_NOW, true, wide);
		assert_memory_equal(before, wide, sizeof(before));
		assert_int_equal(learner_floats(school.learner), DIM);
		assert_ok(learner_grow(school.learner, 3, WIDE, &former, &err), err);
		learner_grown(school.learner, former, 0);
		assert_int_equal(learner_floats(school.learner), WIDE);
		ask_wide(&school, LEARNER_NOW, false, after);
		for (int k = 0; k < STEP * 3; k++)
			assert_true(fabsf(after[k] - before[k]) < 1e-4F * (1 + fabsf(before[k])));
		go_wide(&school, 20, true);
		/* Labels are random, so that a mixture may go by them alone. */
		ask_wide(&school, LEARNER_PLAIN, true, wide);
		ask_wide(&school, LEARNER_PLAIN, false, after);
		assert_true(memcmp(after, wide, sizeof(after)) != 0);
		school_close(&school);
		options_free(options);
	}
}

static void it_goes_on_after_inputs_grew(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(arches); i++) {
		struct options *options = options_of(WIDE_SETTINGS(arches[i]));
		struct school straight = growing(options, 3), first = growing(options, 3);
		struct school second = growing(options, 3), third = growing(options, 3);
		struct err err;

		go(&straight, 6, 3);
		widen(&straight);
		go_wide(&straight, 5, true);
		go(&first, 6, 3);
		assert_ok(state_save(in_folder("narrow"), visit_school, &first, &err), err);
		widen(&first);
		go_wide(&first, 1, true);
		assert_ok(state_save(in_folder("state"), visit_school, &first, &err), err);
		widen(&second);
		assert_ok(state_load(in_folder("state"), visit_school, &second, &err), err);
		go_wide(&second, 4, true);
		assert_saves_the_same(visit_school, &straight, &second);
		/* Rows must be as long. */
		assert_int_equal(
			state_load(in_folder("state"), visit_school, &third, &err), ERR_FORMAT);
		school_close(&straight);
		school_close(&first);
		school_close(&second);
		school_close(&third);
		options_free(options);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(heads_are_as_if_classes_had_been_there),
		cmocka_unit_test(what_is_by_class_stays),
		cmocka_unit_test(the_net_stays),
		folder_test(it_goes_on_after_growth),
		cmocka_unit_test(answers_stay_when_inputs_grow),
		folder_test(it_goes_on_after_inputs_grew),
	};

	return cmocka_run_group_tests_name("growth", tests, NULL, NULL);
}
