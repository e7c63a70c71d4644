/* What the runs of a contest come to: statistics over seeds, and rules. */
#include <math.h>
#include <string.h>

#include "contest/contest.h"

static double unit(int measure)
{
	return measures[measure].share ? 100 : 1;
}

static void values_of(
	const struct contest *contest, int variant, int measure, double values[EXPERIMENT_SEEDS])
{
	for (int seed = 0; seed < contest->plan.seed_count; seed++) {
		const struct contest_run *run = contest_run(contest, variant, seed);

		values[seed] =
			run->state == CONTEST_FINISHED ? unit(measure) * run->values[measure] : NAN;
	}
}

struct stats contest_stats(const struct contest *contest, int variant, int measure)
{
	double values[EXPERIMENT_SEEDS];

	values_of(contest, variant, measure, values);
	return stats_of(values, contest->plan.seed_count);
}

struct stats_paired contest_paired(
	const struct contest *contest, int variant, int other, int measure)
{
	double a[EXPERIMENT_SEEDS], b[EXPERIMENT_SEEDS];

	values_of(contest, variant, measure, a);
	values_of(contest, other, measure, b);
	return stats_paired(a, b, contest->plan.seed_count, STATS_LEVEL);
}

/* Where the contest has a variant of the experiment; -1: nowhere. */
static int place_of(const struct contest *contest, int variant)
{
	for (int i = 0; i < contest->variant_count; i++)
		if (contest->variants[i] == variant)
			return i;
	return -1;
}

/* The rule's number for every seed. */
static bool measure_rule(const struct contest *contest, const struct experiment_rule *rule,
	double values[EXPERIMENT_SEEDS])
{
	double low[EXPERIMENT_SEEDS], other[EXPERIMENT_SEEDS];
	const int against = rule->against < 0 ? 0 : place_of(contest, rule->against);
	const int seeds = contest->plan.seed_count;

	for (int i = 0; i < rule->of_count; i++) {
		const int place = place_of(contest, rule->of[i]);

		if (place < 0 || against < 0)
			return false;
		values_of(contest, place, rule->metric, other);
		for (int seed = 0; seed < seeds; seed++) {
			const double value = other[seed];

			if (i == 0 || isnan(value)) {
				low[seed] = values[seed] = value;
			} else if (!isnan(values[seed])) {
				low[seed] = fmin(low[seed], value);
				values[seed] = fmax(values[seed], value);
			}
		}
	}
	if (rule->against >= 0)
		values_of(contest, against, rule->against_metric, other);
	for (int seed = 0; seed < seeds; seed++)
		values[seed] -= rule->of_count > 1   ? low[seed]
				: rule->against >= 0 ? other[seed]
						     : 0;
	return true;
}

bool contest_judge(const struct contest *contest, const struct experiment_rule *rule,
	struct contest_verdict *verdict)
{
	*verdict = (struct contest_verdict){.met = false};
	if (!measure_rule(contest, rule, verdict->values))
		return false;
	verdict->value = stats_of(verdict->values, contest->plan.seed_count);
	verdict->decided = verdict->value.count == contest->plan.seed_count;
	verdict->met = verdict->decided && verdict->value.mean >= rule->least &&
		       verdict->value.mean <= rule->most;
	return true;
}

const char *contest_conclusion(const struct contest *contest)
{
	const struct experiment *e = contest->plan.experiment;
	int met = 0;

	if (!e->rule_count)
		return NULL;
	for (int i = 0; i < e->rule_count; i++) {
		struct contest_verdict verdict;

		if (!contest_judge(contest, &e->rules[i], &verdict) || !verdict.decided)
			return "undecided";
		met += verdict.met;
	}
	return met == e->rule_count ? "reproduced" : met ? "partly reproduced" : "not reproduced";
}
