/*
 * What tests of schedules share. Windows are 10 iterations, patience is 30, gaps are
 * whole 64ths, so that sums and means are exact.
 */
#ifndef RETAIN_TESTS_OPTIM_SCHEDULE_CHECK_H
#define RETAIN_TESTS_OPTIM_SCHEDULE_CHECK_H

#include <math.h>

#include "../base/check.h"
#include "../base/folder.h"
#include "optim/schedule.h"
#include "scores_of.h"

enum { WINDOW = 10, PATIENCE = 30 };

static inline struct schedule_config config_of(const char *kind)
{
	return (struct schedule_config){.kind = kind,
		.rate = 1,
		.factor = 0.5,
		.patience = PATIENCE,
		.epsilon = 3 / 64.0,
		.c1 = true,
		.c2 = true,
		.c3 = true,
		.window = WINDOW,
		.validate_every = 5,
		.iterations = 1000,
		.cycles = 0,
		.replay = folder};
}

static inline struct schedule *schedule_of(const struct schedule_config *config)
{
	struct schedule *schedule;
	struct err err;

	if (schedule_new(&schedule, config, &err))
		fail_msg("%s", err.message);
	return schedule;
}

/* Scores where `best` has this loss and gap (in 64ths) and the other average is far off. */
static inline struct scores scores_with(int best, double loss, double gap)
{
	struct score means[SCORES_MODELS] = {{5, 0.5}, {7, 0.875}, {7, 0.875}};

	means[best].loss = loss;
	means[best].accuracy = 0.5 + gap / 64;
	return scores_of(SCORES_MODELS, means);
}

#endif
