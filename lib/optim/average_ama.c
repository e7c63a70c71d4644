/*
 * The adaptive moving average: two averages whose windows differ by the factor delta.
 * At the end of a window of iterations both move to the side of the better one. MA1 and
 * MA2 of the paper's Alg. 2 are numbers 0 and 1 here. Which is better, and that it is
 * copied over the other, is always the same; how the weights move is a rule, a row of
 * the table below:
 *
 * paper: Alg. 2 to the letter. gamma weighs the average. gamma1 starts as gamma0, and
 * gamma2 = gamma1 / delta. If MA1 is better, both are multiplied by delta, gamma1 up to
 * 1; otherwise both are divided by it. From 0.99 the first increase gives 1, an average
 * that never moves again, and 0.99 does not return. The rule is there to compare with.
 *
 * swap: the same moves, but of the weight g = 1 - gamma of the new parameters, for which
 * a limit of 1 makes sense. g1 starts as 1 - gamma0, so that MA1 starts as in the other
 * rules, and g2 = g1 / delta. Here MA1 has the shorter window; ties go to MA2, which has
 * the longer one. Averages that hardly move tie, and so grow longer still; in swap-shorter ties
 * go to MA1.
 *
 * window: what moves is the window w = 1 / (1 - gamma), in updates. w1 starts as
 * 1 / (1 - gamma0), and w2 = w1 / delta. If MA1 is better, both are multiplied by delta;
 * otherwise both are divided by it. w1 stays within [delta, window_max], from the start
 * on, so w2 is at least 1, which is the plain parameters. Ties go to MA2, which has the
 * shorter window; in window-longer, there to compare with, to MA1.
 */
#include "optim/average_type.h"

#include <string.h>

struct ama_rule {
	const char *name;
	void (*start)(struct average *average);
	void (*move)(struct average *average, int better);
	double (*gamma)(double weight);
	bool limited; /* by window_max */
	int at_tie;   /* which average is the better one */
};

/* Alg. 2's moves. The one that inherits the better one's weight serves until there are scores. */
static void literal_move(struct average *average, int better)
{
	const double delta = average->config.delta;
	double *weights = average->weights;

	if (better == 0) {
		weights[0] = delta * weights[0] < 1 ? delta * weights[0] : 1;
		weights[1] = weights[0] / delta;
	} else {
		weights[0] /= delta;
		weights[1] /= delta;
	}
	average->best = 1 - better;
}

static void paper_start(struct average *average)
{
	average->weights[0] = average->config.gamma;
	average->weights[1] = average->weights[0] / average->config.delta;
}

static double paper_gamma(double weight)
{
	return weight;
}

static void swap_start(struct average *average)
{
	average->weights[0] = 1 - average->config.gamma;
	average->weights[1] = average->weights[0] / average->config.delta;
}

static double swap_gamma(double weight)
{
	return 1 - weight;
}

static void window_set(struct average *average, double window)
{
	const double shortest = average->config.delta, longest = average->config.window_max;

	window = window < shortest ? shortest : window > longest ? longest : window;
	average->weights[0] = window;
	average->weights[1] = window / average->config.delta;
}

static void window_start(struct average *average)
{
	window_set(average, 1 / (1 - average->config.gamma));
}

/* The average that inherits the better one's window serves, as in Alg. 2. At a limit, where windows
 * move less or not at all, it is the one whose window is nearer to that, as a ratio. */
static void window_move(struct average *average, int better)
{
	const double *windows = average->weights, was = windows[better];
	const double delta = average->config.delta;

	window_set(average, better == 0 ? windows[0] * delta : windows[0] / delta);
	average->best = was * was > windows[0] * windows[1] ? 0 : 1;
}

static double window_gamma(double weight)
{
	return 1 - 1 / weight;
}

static const struct ama_rule rules[] = {
	{"window", window_start, window_move, window_gamma, true, 1},
	{"window-longer", window_start, window_move, window_gamma, true, 0},
	{"swap", swap_start, literal_move, swap_gamma, false, 1},
	{"swap-shorter", swap_start, literal_move, swap_gamma, false, 0},
	{"paper", paper_start, literal_move, paper_gamma, false, 1},
};

static int check(struct average *average, struct err *err)
{
	const struct average_config *c = &average->config;

	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (strcmp(rules[i].name, c->rule) == 0)
			average->rule = &rules[i];
	if (!average->rule)
		return err_set(err, ERR_INPUT,
			"average.rule = %s: not one of window | window-longer | swap | "
			"swap-shorter | paper",
			c->rule);
	average->config.rule = average->rule->name;
	if (average->rule->limited && c->window_max < c->delta)
		return err_set(err, ERR_INPUT,
			"average.window_max = %g: less than average.delta = %g, but one window is "
			"the other one's length times delta, and none is shorter than 1",
			c->window_max, c->delta);
	return 0;
}

static void start(struct average *average)
{
	average->rule->start(average);
}

static double gamma_of(const struct average *average, int index)
{
	return average->rule->gamma(average->weights[index]);
}

/* Both have had the same number of rounds, so sums compare as means do. */
static int compare(const struct average *average, const struct scores *scores)
{
	const struct score *sums = scores->sum + SCORES_AVERAGE;

	if (sums[0].accuracy == sums[1].accuracy)
		return average->rule->at_tie;
	return sums[0].accuracy > sums[1].accuracy ? 0 : 1;
}

static void move(struct average *average, int better)
{
	average->rule->move(average, better);
}

static void visit(struct average *average, struct state *state)
{
	state_same(state, "rule", average->rule->name);
	state_doubles(state, "weights", average->weights, AVERAGES_MAX);
	state_int(state, "best", &average->best);
	if (average->best != 0 && average->best != 1) {
		state_refuse(
			state, ERR_FORMAT, "average number %d is the best of two", average->best);
		average->best = 0;
	}
}

const struct average_type average_ama = {
	.name = "ama",
	.help = "two moving averages, their weights adapted to what scores better",
	.count = 2,
	.check = check,
	.start = start,
	.gamma = gamma_of,
	.compare = compare,
	.move = move,
	.state = visit,
};
