/*
 * What serves inference, for those who keep a copy of it: the version moves with
 * every change, by whatever call, and stays while an average that predicts does.
 */
#include "check.h"

#include "../base/folder.h"
#include "base/state.h"

/* A copy as its owner would keep it. */
struct copy {
	const struct school *school;
	float *params, *stats;
	uint64_t version;
	int refreshed;
};

static void refresh(struct copy *copy)
{
	const struct learner *learner = copy->school->learner;
	const size_t stats = net_stats(learner->net)->floats;

	memcpy(copy->params, learner_params(learner, LEARNER_INFERENCE),
		params_of(copy->school) * sizeof(float));
	if (stats)
		memcpy(copy->stats, learner_stats(learner, LEARNER_INFERENCE),
			stats * sizeof(float));
	copy->version = learner_version(learner);
	copy->refreshed++;
}

static struct copy copy_of(const struct school *school)
{
	struct copy copy = {.school = school};

	copy.params = calloc(params_of(school), sizeof(float));
	copy.stats = calloc(net_stats(school->learner->net)->floats + 1, sizeof(float));
	refresh(&copy);
	return copy;
}

/* Whoever looks at the version alone has what serves. */
static void look(struct copy *copy, const char *after)
{
	const struct learner *learner = copy->school->learner;
	const size_t params = params_of(copy->school) * sizeof(float);
	const size_t stats = net_stats(learner->net)->floats * sizeof(float);

	if (learner_version(learner) != copy->version)
		refresh(copy);
	if (memcmp(copy->params, learner_params(learner, LEARNER_INFERENCE), params) != 0 ||
		(stats &&
			memcmp(copy->stats, learner_stats(learner, LEARNER_INFERENCE), stats) != 0))
		fail_msg("after %s the version is still %llu", after,
			(unsigned long long)copy->version);
}

static void copy_release(struct copy *copy)
{
	free(copy->params);
	free(copy->stats);
}

static void visit(void *object, struct state *state)
{
	struct school *school = object;

	store_state(school->store, state);
	learner_state(school->learner, state);
	state_int64(state, "shown", &school->shown);
}

/* So many time steps of six iterations, looked at after every call. */
static void go_and_look(struct school *school, struct copy *copy, int steps)
{
	for (int step = 0; step < steps; step++) {
		school_reveal(school);
		look(copy, "reveal");
		for (int i = 0; i < 6; i++) {
			school_train(school, 1);
			look(copy, "train");
		}
	}
}

static void every_change_is_told(void **state)
{
#define PLAIN "average.kind=none", "schedule.kind=constant"
	static const struct {
		const char *settings[6];
		bool images;
	} rows[] = {
		{{"average.kind=ama"}, false},
		{{"average.kind=ama", "average.every=5", "average.gamma=0.5"}, false},
		{{"average.kind=ema", "schedule.kind=rwp"}, false},
		{{PLAIN}, false},
		{{PLAIN, "optimizer.kind=schedule-free"}, false},
		{{PLAIN, "learn.retrain=on", "run.task_steps=3"}, false},
		{{PLAIN, "learn.population=polrs", "learn.part_steps=1"}, false},
		{{"model.arch=resnet20-cifar", "model.norm=bn", "average.every=6",
			 "average.statistics_every=4", "run.batch=4"},
			true},
		{{PLAIN, "model.arch=resnet20-cifar", "model.norm=bn",
			 "optimizer.kind=schedule-free", "run.batch=4"},
			true},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		const char *const *s = rows[i].settings;
		const char *const *settings = SETTINGS(s[0], s[1], s[2], s[3], s[4], s[5]);
		struct school school = rows[i].images
					       ? school_images(settings, (struct learner_watch){0})
					       : school_of(settings);
		struct copy copy = copy_of(&school);
		struct err err;

		go_and_look(&school, &copy, 12);
		/* Back to an earlier state. */
		assert_ok(state_save(in_folder("state"), visit, &school, &err), err);
		go_and_look(&school, &copy, 1);
		assert_ok(state_load(in_folder("state"), visit, &school, &err), err);
		look(&copy, "going back");
		copy_release(&copy);
		school_close(&school);
	}
}

/* An average that moves every 5 iterations is copied as often; the end of a window is no reason. */
static void copies_are_not_made_in_vain(void **state)
{
	struct school school = school_of(SETTINGS("average.kind=ema", "average.every=5",
		"schedule.kind=constant", "schedule.window=30", "schedule.patience=30"));
	struct copy copy = copy_of(&school);

	(void)state;
	go_and_look(&school, &copy, 10);
	assert_int_equal(copy.refreshed, 1 + 60 / 5);
	copy_release(&copy);
	school_close(&school);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(every_change_is_told),
		cmocka_unit_test(copies_are_not_made_in_vain),
	};

	return cmocka_run_group_tests_name("serving", tests, NULL, NULL);
}
