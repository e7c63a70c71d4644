/*
 * A guide is a schedule, averages of no weights, and the scores of a window: what a learner has
 * beside its net.
 */
#include <math.h>

#include "api/args.h"
#include "api/config.h"
#include "api/guide_impl.h"
#include "api/bytes.h"
#include "base/mem.h"
#include "learn/learner.h"

static_assert((int)RETAIN_MODELS == (int)SCORES_MODELS, "models are numbered alike");

static int make(
	struct retain_guide *made, const struct options *o, int64_t iterations, struct err *err)
{
	const float nothing = 0;
	struct schedule_config schedule;
	struct average_config average;
	int code = learner_kinds_check(o, err);

	schedule_config(&schedule, o, iterations);
	average_config(&average, o);
	made->validate_every = options_int64(o, "schedule.validate_every");
	made->statistics_every = options_int64(o, "average.statistics_every");
	made->serve_plain = learner_serves_plain(o);
	if (!code)
		code = average_new(&made->average, &average, &nothing, 0, err);
	if (!code)
		code = schedule_new(&made->schedule, &schedule, err);
	if (!code)
		scoring_begin(&made->scoring, made->average, made->schedule, 0);
	return code;
}

int retain_guide_new(struct retain_guide **guide, const struct retain_config *config,
	int64_t iterations, struct retain_err *err)
{
	struct options *options = NULL;
	struct retain_guide *made;
	int code = ARGS_CHECK(err, ARG(guide));

	if (code)
		return code;
	*guide = NULL;
	if (iterations < 0)
		return err_set(inner(err), ERR_INPUT, "%s: iterations = %lld: must be at least 0",
			__func__, (long long)iterations);
	made = mem_new(1, sizeof(*made));
	code = made ? api_config_options(&options, config, inner(err))
		    : err_memory(inner(err), "a guide", sizeof(*made));
	if (!code)
		code = make(made, options, iterations, inner(err));
	options_free(options);
	if (code)
		retain_guide_free(made);
	else
		*guide = made;
	return code;
}

void retain_guide_free(struct retain_guide *guide)
{
	if (!guide)
		return;
	average_free(guide->average);
	schedule_free(guide->schedule);
	mem_free(guide);
}

int retain_guide_due(
	const struct retain_guide *guide, struct retain_due *due, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(guide), ARG(due));
	int64_t k;

	if (code)
		return code;
	k = guide->iteration + 1;
	*due = (struct retain_due){.iteration = k,
		.rate = schedule_rate(guide->schedule, k),
		.averages = average_count(guide->average),
		.move = average_due(guide->average, k) != NULL,
		.statistics = k % guide->statistics_every == 0,
		.validate = k % guide->validate_every == 0,
		.window = k == guide->scoring.end,
		.serving = scoring_served(&guide->scoring, guide->average, guide->serve_plain)};
	for (int i = 0; i < due->averages; i++)
		due->keep[i] = (double)(float)average_gamma(guide->average, i);
	return 0;
}

static void tell(const struct scoring_window *window, struct retain_verdict *verdict)
{
	const struct schedule_verdict *v = &window->verdict;

	*verdict = (struct retain_verdict){.window = 1,
		.best = window->best + 1,
		.iteration = window->iteration,
		.rounds = window->rounds,
		.rate_before = v->before,
		.rate_after = v->after,
		.cut = v->cut,
		.c1 = v->c1,
		.c2 = v->c2,
		.c3 = v->c3,
		.noisy = v->noisy,
		.score = v->score,
		.sigma = v->sigma,
		.sigma_mean = v->sigma_mean,
		.sigma_error = v->sigma_error,
		.score_age = v->score_age,
		.sigma_age = v->sigma_age};
	for (int i = 0; i <= window->averages; i++)
		verdict->scores[i] =
			(struct retain_score){window->scores[i].loss, window->scores[i].accuracy};
	for (int i = 0; i < window->averages; i++) {
		verdict->keep_before[i] = window->gamma_before[i];
		verdict->keep_after[i] = window->gamma_after[i];
	}
}

static int check_scores(const struct retain_guide *guide, const char *function,
	const struct retain_score *scores, size_t count, struct err *err)
{
	const size_t models = (size_t)guide->scoring.scores.models;

	if (count != (scores ? models : 0))
		return err_set(err, ERR_INPUT, "%s: count = %zu: there are %zu models to score",
			function, count, models);
	for (size_t i = 0; i < count; i++)
		if (isnan(scores[i].loss) || !isfinite(scores[i].accuracy))
			return err_set(err, ERR_INPUT,
				"%s: iteration %lld: model %zu has loss %f and accuracy %f",
				function, (long long)guide->iteration + 1, i, scores[i].loss,
				scores[i].accuracy);
	return 0;
}

int retain_guide_done(struct retain_guide *guide, const struct retain_score *scores, size_t count,
	struct retain_verdict *verdict, struct retain_err *err)
{
	struct score round[SCORES_MODELS] = {0};
	struct scoring_window window;
	int code = ARGS_CHECK(err, ARG(guide), ARG(verdict));

	if (!code)
		code = check_scores(guide, __func__, scores, count, inner(err));
	if (code)
		return code;
	for (size_t i = 0; i < count; i++)
		round[i] = (struct score){scores[i].loss, scores[i].accuracy};
	if (count)
		scores_add(&guide->scoring.scores, round);
	*verdict = (struct retain_verdict){0};
	guide->iteration++;
	if (guide->iteration == guide->scoring.end &&
		scoring_end(&guide->scoring, guide->iteration, guide->schedule, guide->average,
			&window))
		tell(&window, verdict);
	return 0;
}

int retain_guide_task(struct retain_guide *guide, int64_t iterations, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(guide));

	if (code)
		return code;
	if (iterations < 1)
		return err_set(inner(err), ERR_INPUT, "%s: iterations = %lld: must be at least 1",
			__func__, (long long)iterations);
	schedule_task(guide->schedule, guide->iteration, iterations);
	return 0;
}

static void visit(void *object, struct state *state)
{
	struct retain_guide *guide = object;

	state_enter(state, "guide");
	state_int64(state, "iteration", &guide->iteration);
	scoring_state(&guide->scoring, state);
	average_state(guide->average, state);
	schedule_state(guide->schedule, state);
	state_leave(state);
	if (guide->iteration < 0) {
		state_refuse(state, ERR_FORMAT, "iteration %lld", (long long)guide->iteration);
		guide->iteration = 0;
	}
	if (!state_failed(state))
		scoring_begin(&guide->scoring, guide->average, guide->schedule, guide->iteration);
}

int retain_guide_pack(struct retain_guide *guide, void *bytes, size_t *size, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(guide), ARG(size));

	return code ? code : bytes_pack(__func__, visit, guide, bytes, size, inner(err));
}

int retain_guide_unpack(
	struct retain_guide *guide, const void *bytes, size_t size, struct retain_err *err)
{
	const int code = ARGS_CHECK(err, ARG(guide), ARG(bytes));

	return code ? code
		    : state_unpack("the state of a guide", bytes, size, visit, guide, inner(err));
}
