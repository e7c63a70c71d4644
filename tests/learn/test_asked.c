/* Answers of a mixture have one value, however they are asked for. */
#include "check.h"
#include "../base/folder.h"

#define MANY                                                                                       \
	"fast.heads=newton, hidden, labels, windows, forest, young, values, sparse, units, near"
#define POOL "fast.mix_by=pool"
#define TWO  "fast.parts=0.3:0.97, 0.1:0.999:2"

static const int models[] = {LEARNER_NEXT, LEARNER_NOW, LEARNER_EVER};

/* Answers do not depend on how many are asked together. */
static void a_batch_answers_as_its_samples(void **state)
{
	static const char *const rows[][3] = {{MANY, POOL}, {"fast.heads=newton", POOL},
		{"fast.heads=hidden", POOL}, {"fast.heads=labels", POOL},
		{"fast.heads=windows", POOL}, {"fast.heads=forest", POOL},
		{"fast.heads=young", POOL}, {"fast.heads=linear", POOL}};

	(void)state;
	for (size_t r = 0, m = 0; r < COUNT(rows); r += m == 2, m = (m + 1) % 3) {
		struct school school = school_of(rows[r]);
		float inputs[STEP * DIM], all[STEP * CLASSES], one[CLASSES];
		struct err err;

		school_go(&school, 30, 3);
		for (int i = 0; i < STEP; i++)
			sample_input(5000 + i, inputs + (size_t)i * DIM, DIM);
		assert_ok(learner_predict(school.learner, models[m], inputs, STEP, all, &err), err);
		for (int i = 0; i < STEP; i++) {
			assert_ok(learner_predict(school.learner, models[m],
					  inputs + (size_t)i * DIM, 1, one, &err),
				err);
			if (memcmp(one, all + (size_t)i * CLASSES, sizeof(one)))
				fail_msg("%s, model %d: sample %d", rows[r][0], models[m], i);
		}
		school_close(&school);
	}
}

static void visit_learner(void *object, struct state *state)
{
	struct school *school = object;

	store_state(school->store, state);
	learner_state(school->learner, state);
}

/* What is loaded answers as what was saved, to the last bit. */
static void a_loaded_one_answers_the_same(void **state)
{
	static const char *const rows[][4] = {{MANY, POOL, "fast.guard=true"},
		{"fast.heads=newton", POOL}, {"fast.heads=hidden", POOL},
		{"fast.heads=labels", POOL}, {"fast.heads=windows", POOL},
		{"fast.heads=forest", POOL}, {"fast.heads=young", POOL},
		{"fast.heads=linear", POOL}, {TWO}, {"fast.heads=linear"}};

	(void)state;
	for (size_t r = 0; r < COUNT(rows); r++) {
		struct school school = school_of(rows[r]), loaded = school_of(rows[r]);
		float inputs[STEP * DIM], one[STEP * CLASSES], other[STEP * CLASSES];
		struct err err;

		school_go(&school, 30, 3);
		assert_ok(state_save(in_folder("s"), visit_learner, &school, &err), err);
		assert_ok(state_load(in_folder("s"), visit_learner, &loaded, &err), err);
		for (int i = 0; i < STEP; i++)
			sample_input(5000 + i, inputs + (size_t)i * DIM, DIM);
		for (size_t m = 0; m < COUNT(models); m++) {
			assert_ok(
				learner_predict(school.learner, models[m], inputs, STEP, one, &err),
				err);
			assert_ok(learner_predict(
					  loaded.learner, models[m], inputs, STEP, other, &err),
				err);
			if (memcmp(one, other, sizeof(one)))
				fail_msg("%s, model %d", rows[r][0], models[m]);
		}
		school_close(&school);
		school_close(&loaded);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_answers_as_its_samples),
		folder_test(a_loaded_one_answers_the_same),
	};

	return cmocka_run_group_tests_name("asked", tests, NULL, NULL);
}
