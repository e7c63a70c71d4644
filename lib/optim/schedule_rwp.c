/*
 * Reduce when plateau: a cut when the validation loss of the model that serves
 * inference has not improved for `patience` iterations. As PyTorch's
 * ReduceLROnPlateau does, a cut restarts patience but keeps the best loss,
 * unless reset_best says otherwise.
 */
#include "optim/schedule_type.h"

struct rwp {
	struct schedule base;
	double rate;
	struct plateau score;
};

static int init(struct schedule *schedule, struct err *err)
{
	struct rwp *rwp = (struct rwp *)schedule;

	(void)err;
	rwp->rate = schedule->config.rate;
	plateau_clear(&rwp->score, 0);
	return 0;
}

static double rate(const struct schedule *schedule, int64_t k)
{
	(void)k;
	return ((const struct rwp *)schedule)->rate;
}

static void window(struct schedule *schedule, int64_t k, const struct scores *scores, int best,
	struct schedule_verdict *verdict)
{
	struct rwp *rwp = (struct rwp *)schedule;

	(void)scores;
	(void)best;
	verdict->score_age = plateau_age(&rwp->score, k, verdict->score);
	verdict->c1 = verdict->score_age >= schedule_patience(schedule, k);
	if (!verdict->c1)
		return;
	verdict->cut = true;
	verdict->after = rwp->rate *= schedule->config.factor;
	rwp->score.since = k;
	if (schedule->config.reset_best)
		plateau_clear(&rwp->score, k);
}

static void visit(struct schedule *schedule, struct state *state)
{
	struct rwp *rwp = (struct rwp *)schedule;

	state_double(state, "rate", &rwp->rate);
	plateau_state(&rwp->score, "score", state);
}

const struct schedule_type schedule_rwp = {
	.name = "rwp",
	.help = "a cut when the validation loss stops improving",
	.size = sizeof(struct rwp),
	.init = init,
	.rate = rate,
	.window = window,
	.state = visit,
};
