/* Counts are integers, so that a part is judged the same however often it is interrupted. */
#include "learn/extras/adapt.h"

#include <math.h>

#include "base/mem.h"
#include "learn/extras/population.h"
#include "learn/learner_impl.h"
#include "nn/rank.h"

static const double MARGIN = 0.005;

void adapt_fresh_hits(struct adapt *adapt, int64_t samples, int64_t hits)
{
	adapt->fresh += samples;
	adapt->fresh_hits += hits;
}

void adapt_replay_hit(struct adapt *adapt, int hit)
{
	adapt->replayed++;
	adapt->replayed_hits += hit;
}

static double share(int64_t hits, int64_t count)
{
	return count ? (double)hits / (double)count : NAN;
}

double adapt_fresh(const struct adapt *adapt)
{
	return share(adapt->fresh_hits, adapt->fresh);
}

double adapt_replayed(const struct adapt *adapt)
{
	return share(adapt->replayed_hits, adapt->replayed);
}

void adapt_part(struct adapt *adapt, int64_t seen)
{
	const double lead = adapt_replayed(adapt) - adapt_fresh(adapt);

	/* Without samples on one side the lead is NAN, and nothing moves. A reach beyond what was
	 * seen waits for the stream. */
	if (lead > MARGIN && adapt->reach < seen)
		adapt->reach = adapt->reach < seen / 2 ? 2 * adapt->reach : seen;
	else if (lead < -MARGIN)
		adapt->reach /= 2;
	if (adapt->reach < adapt->least)
		adapt->reach = adapt->least;
	adapt->fresh = adapt->fresh_hits = adapt->replayed = adapt->replayed_hits = 0;
}

int64_t adapt_history(const struct adapt *adapt, int64_t seen)
{
	return adapt->reach < seen ? adapt->reach : 0;
}

static bool wanted(const struct options *options)
{
	return options_bool(options, "learn.adapt_history");
}

static int check(const struct learner_config *config, struct err *err)
{
	const struct options *o = config->options;
	const char *objective = options_text(o, "replay.objective");

	if (!objective_traits(objective).reaches)
		return err_set(err, ERR_INPUT,
			"learn.adapt_history = on: only for replay.objective = mixed, not %s",
			objective);
	if (!options_int64(o, "replay.history"))
		return err_set(err, ERR_INPUT,
			"learn.adapt_history = on: replay.history = 0 reaches back to the start "
			"already; set it to what it should start from (40000 is usual)");
	return 0;
}

static int make(void **extra, struct learner *learner, struct err *err)
{
	struct adapt *made = mem_new(1, sizeof(*made));

	if (!made)
		return err_memory(err, "a learner", sizeof(*made));
	made->least = learner->set.batch;
	made->reach = options_int64(learner->config.options, "replay.history");
	*extra = made;
	return 0;
}

/* A population has counted what the best of its models had right; else it is counted here. */
static int foresee(void *extra, struct learner *learner, struct learner_step *step, struct err *err)
{
	int64_t hits[LEARNER_POPULATION];
	int code = 0;

	(void)extra;
	if (step->right < 0)
		code = population_predict(NULL, learner, step, hits, err);
	if (!code && step->right < 0)
		step->right = hits[0];
	return code;
}

static void revealed(void *extra, struct learner *learner, const struct learner_step *step)
{
	adapt_fresh_hits(extra, step->n, step->right);
	objective_reach(learner->objective, adapt_history(extra, pool_seen(learner->pool)));
}

/* In the logits of a step's first iteration replayed samples come after new ones. */
static int stepped(
	void *extra, struct learner *learner, struct learner_stride *stride, struct err *err)
{
	const int n = learner->set.batch, classes = net_spec(learner->net)->classes;

	(void)err;
	for (int i = n - n / 2; i < n && stride->logits; i++)
		adapt_replay_hit(
			extra, rank_hits(stride->logits + (size_t)i * (size_t)classes, classes,
				       target_classes(learner->room.labels + i), 1) == 1);
	return 0;
}

static void end_part(void *extra, struct learner *learner, struct learner_part *part)
{
	const int64_t seen = pool_seen(learner->pool);

	part->fresh = adapt_fresh(extra);
	part->replayed = adapt_replayed(extra);
	adapt_part(extra, seen);
	part->history = adapt_history(extra, seen);
	objective_reach(learner->objective, part->history);
}

static void state(void *extra, struct learner *learner, struct state *state)
{
	struct adapt *adapt = extra;

	(void)learner;
	state_enter(state, "adapt");
	state_int64(state, "reach", &adapt->reach);
	state_int64(state, "fresh", &adapt->fresh);
	state_int64(state, "fresh_hits", &adapt->fresh_hits);
	state_int64(state, "replayed", &adapt->replayed);
	state_int64(state, "replayed_hits", &adapt->replayed_hits);
	if (!state_failed(state) && adapt->reach < 1) {
		state_refuse(state, ERR_FORMAT, "replay reaches back %lld samples",
			(long long)adapt->reach);
		adapt->reach = adapt->least;
	}
	state_leave(state);
}

const struct extra_type extra_adapt = {
	.logits = true,
	.wanted = wanted,
	.check = check,
	.make = make,
	.free = mem_free,
	.foresee = foresee,
	.revealed = revealed,
	.end_part = end_part,
	.stepped = stepped,
	.state = state,
};
