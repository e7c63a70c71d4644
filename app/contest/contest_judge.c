/* The outcome of a contest: statistics over seeds, and rules. */
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

/* Whether the contest has all variants that a rule is about. */
static bool has_rule(const struct contest *contest, const struct experiment_rule *rule)
{
	const int others[] = {rule->against, rule->less[0], rule->less[1]};
	bool has = true;

	for (int i = 0; i < rule->of_count; i++)
		has &= place_of(contest, rule->of[i]) >= 0;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		has &= others[i] < 0 || place_of(contest, others[i]) >= 0;
	return has;
}

/* The rule's number for every seed, of one of its metrics. */
static void measure_rule(const struct contest *contest, const struct experiment_rule *rule,
	int metric, double values[EXPERIMENT_SEEDS])
{
	const int against_metric = rule->against_metric >= 0 ? rule->against_metric : metric;
	double low[EXPERIMENT_SEEDS], other[EXPERIMENT_SEEDS];
	const int seeds = contest->plan.seed_count;

	for (int i = 0; i < rule->of_count; i++) {
		values_of(contest, place_of(contest, rule->of[i]), metric, other);
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
		values_of(contest, place_of(contest, rule->against), against_metric, other);
	for (int seed = 0; seed < seeds; seed++)
		values[seed] -= rule->of_count > 1   ? low[seed]
				: rule->against >= 0 ? other[seed]
						     : 0;
	for (int i = 0; i < 2 && rule->less[0] >= 0; i++) {
		values_of(contest, place_of(contest, rule->less[i]), i ? against_metric : metric,
			other);
		for (int seed = 0; seed < seeds; seed++)
			values[seed] -= i ? -other[seed] : other[seed];
	}
}

const char *const contest_words[CONTEST_WORDS] = {
	"left out", "undecided", "open", "met", "NOT met"};

/* By one metric of a rule: the verdict by the mean alone, and how probable it is by chance. */
static void judge_metric(const struct contest *contest, const struct experiment_rule *rule,
	int metric, struct contest_verdict *verdict, double *chance)
{
	const int seeds = contest->plan.seed_count;
	double values[EXPERIMENT_SEEDS], zeros[EXPERIMENT_SEEDS] = {0};
	struct stats_bounded bounded;
	struct stats stats = {0};

	*verdict = (struct contest_verdict){
		.metric = metric, .value = {.mean = NAN, .low = NAN, .high = NAN}};
	*chance = NAN;
	if (!has_rule(contest, rule))
		return;
	verdict->word = CONTEST_UNDECIDED;
	measure_rule(contest, rule, metric, values);
	stats = stats_of(values, seeds);
	verdict->value = stats_paired(values, zeros, seeds, STATS_LEVEL);
	if (stats.count < seeds)
		return;
	bounded = stats_bounded(&stats, rule->least, rule->most);
	verdict->word = bounded.inside ? CONTEST_MET : CONTEST_MISSED;
	*chance = bounded.chance;
}

/* How sure it is that the bound holds; below 0: that it does not; 0: one seed cannot tell. */
static double strength(const struct contest_verdict *verdict, double chance)
{
	if (verdict->word == CONTEST_UNDECIDED)
		return -INFINITY;
	if (isnan(chance))
		return 0;
	return verdict->word == CONTEST_MET ? 1 - chance : chance - 1;
}

/*
 * All metrics must hold, so the weakest decides. If it is met, chance meets all of them no more
 * often than this one. If it is missed, chance had as many tries as there are metrics.
 */
static void judge_rule(const struct contest *contest, const struct experiment_rule *rule,
	struct contest_verdict *verdict, double *chance)
{
	struct contest_verdict other;
	double other_chance;

	judge_metric(contest, rule, rule->metrics[0], verdict, chance);
	for (int i = 1; i < rule->metric_count; i++) {
		judge_metric(contest, rule, rule->metrics[i], &other, &other_chance);
		if (strength(&other, other_chance) < strength(verdict, *chance)) {
			*verdict = other;
			*chance = other_chance;
		}
	}
	if (verdict->word == CONTEST_MISSED)
		*chance *= rule->metric_count;
}

static const char *conclusion_of(const int counts[CONTEST_WORDS], int rules)
{
	if (!rules)
		return NULL;
	if (counts[CONTEST_UNDECIDED])
		return "undecided";
	if (counts[CONTEST_MET])
		return counts[CONTEST_MET] == rules ? "reproduced" : "partly reproduced";
	return counts[CONTEST_MISSED] ? "not reproduced" : "open";
}

void contest_judge(const struct contest *contest, struct contest_verdicts *verdicts)
{
	const struct experiment *e = contest->plan.experiment;
	double chances[EXPERIMENT_RULES];
	bool sure[EXPERIMENT_RULES];

	memset(verdicts->counts, 0, sizeof(verdicts->counts));
	for (int i = 0; i < e->rule_count; i++)
		judge_rule(contest, &e->rules[i], &verdicts->of[i], &chances[i]);
	stats_holm(chances, e->rule_count, STATS_LEVEL, sure);
	for (int i = 0; i < e->rule_count; i++) {
		enum contest_word *word = &verdicts->of[i].word;

		if (*word > CONTEST_UNDECIDED && !sure[i])
			*word = CONTEST_OPEN;
		verdicts->counts[*word]++;
	}
	verdicts->conclusion =
		conclusion_of(verdicts->counts, e->rule_count - verdicts->counts[CONTEST_LEFT_OUT]);
}
