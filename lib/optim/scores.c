/* Keeps sums over a window; means are computed on demand. */
#include "optim/scores.h"

void scores_add(struct scores *scores, const struct score round[SCORES_MODELS])
{
	for (int i = 0; i < scores->models; i++) {
		const double gap = round[i].accuracy - round[SCORES_PLAIN].accuracy;

		scores->sum[i].loss += round[i].loss;
		scores->sum[i].accuracy += round[i].accuracy;
		scores->gap_squares[i] += gap * gap;
	}
	scores->rounds++;
}

struct score scores_mean(const struct scores *scores, int model)
{
	if (!scores->rounds)
		return (struct score){0};
	return (struct score){scores->sum[model].loss / (double)scores->rounds,
		scores->sum[model].accuracy / (double)scores->rounds};
}

void scores_clear(struct scores *scores)
{
	*scores = (struct scores){.models = scores->models};
}

void scores_state(struct scores *scores, struct state *state)
{
	state_int64(state, "rounds", &scores->rounds);
	for (int i = 0; i < scores->models; i++) {
		double sums[] = {
			scores->sum[i].loss, scores->sum[i].accuracy, scores->gap_squares[i]};

		state_doubles(state, "sums", sums, sizeof(sums) / sizeof(sums[0]));
		scores->sum[i] = (struct score){sums[0], sums[1]};
		scores->gap_squares[i] = sums[2];
	}
	if (scores->rounds < 0)
		state_refuse(
			state, ERR_FORMAT, "a window of %lld rounds", (long long)scores->rounds);
}
