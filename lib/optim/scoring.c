/* Scores of a window, and its end. The schedule decides before the averages move. */
#include "optim/scoring.h"

#include <math.h>

void scoring_begin(struct scoring *scoring, const struct average *average,
	const struct schedule *schedule, int64_t k)
{
	scoring->scores.models = 1 + average_count(average);
	scoring->end = schedule_window_end(schedule, k + 1);
}

int scoring_best(const struct scoring *scoring, const struct average *average)
{
	return SCORES_AVERAGE + average_best(average, &scoring->scores);
}

/* By what AMA compares its averages by: early on, nets that know nothing have the lower loss. */
static bool validates_better(const struct score *one, const struct score *other)
{
	if (one->accuracy != other->accuracy)
		return one->accuracy > other->accuracy;
	return one->loss < other->loss;
}

/* Until something was validated, it is unknown whether an average has caught up. */
int scoring_served(const struct scoring *scoring, const struct average *average, bool plain)
{
	const struct scores *scores = &scoring->scores;
	const struct score *known = scores->rounds ? scores->sum : scoring->last;
	const int best = scoring_best(scoring, average);

	if (!plain || best == SCORES_PLAIN || !(scores->rounds || scoring->scored))
		return plain ? SCORES_PLAIN : best;
	if (isnan(known[best].loss) || validates_better(&known[SCORES_PLAIN], &known[best]))
		return SCORES_PLAIN;
	return best;
}

bool scoring_end(struct scoring *scoring, int64_t k, struct schedule *schedule,
	struct average *average, struct scoring_window *window)
{
	const int best = scoring_best(scoring, average);

	*window = (struct scoring_window){.iteration = k,
		.rounds = scoring->scores.rounds,
		.averages = average_count(average)};
	scoring->end = schedule_window_end(schedule, k + 1);
	if (!scoring->scores.rounds)
		return false;
	for (int i = 0; i < scoring->scores.models; i++)
		window->scores[i] = scoring->last[i] = scores_mean(&scoring->scores, i);
	scoring->sigma = scoring->last[best].accuracy - scoring->last[SCORES_PLAIN].accuracy;
	scoring->judged = best;
	scoring->scored = true;
	window->verdict = schedule_window(schedule, k, &scoring->scores, best);
	for (int i = 0; i < window->averages; i++)
		window->gamma_before[i] = average_gamma(average, i);
	window->best = average_window(average, &scoring->scores);
	for (int i = 0; i < window->averages; i++)
		window->gamma_after[i] = average_gamma(average, i);
	scores_clear(&scoring->scores);
	return true;
}

void scoring_state(struct scoring *scoring, struct state *state)
{
	state_bool(state, "scored", &scoring->scored);
	for (int i = 0; i < SCORES_MODELS; i++) {
		state_double(state, "last_loss", &scoring->last[i].loss);
		state_double(state, "last_accuracy", &scoring->last[i].accuracy);
	}
	state_int(state, "judged", &scoring->judged);
	if (scoring->judged < 0 || scoring->judged >= SCORES_MODELS) {
		state_refuse(state, ERR_FORMAT, "model %d was the best", scoring->judged);
		scoring->judged = SCORES_PLAIN;
	}
	state_double(state, "sigma", &scoring->sigma);
	scores_state(&scoring->scores, state);
}
