/*
 * Resolves an experiment's references: rules to measures and variants, {NAME} to the folders of
 * earlier variants, columns to measures.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "contest/experiment_impl.h"
#include "contest/measure.h"
#include "base/words/nearest.h"

static int look_up_metric(const struct experiment *e, const struct experiment_rule *rule,
	const char *name, int *metric, struct err *err)
{
	const char *nearest;

	if (!name)
		return err_set(err, ERR_INPUT, "%s: rule %s has no metric", e->path, rule->name);
	*metric = measure_find(name);
	if (*metric >= 0)
		return 0;
	nearest = nearest_name(name, &measures->name, sizeof(*measures));
	return err_set(err, ERR_INPUT, "%s: rule %s: metric = %s: no such measure%s%s%s", e->path,
		rule->name, name, nearest ? "; did you mean " : "", nearest ? nearest : "",
		nearest ? "?" : "");
}

/* "A", or "A, B, ..." */
static int look_up_metrics(const struct experiment *e, struct experiment_rule *rule,
	const char *words, struct err *err)
{
	const char *list = words;
	char name[128];
	int code = 0;

	while (!code && list && experiment_word(&list, name, sizeof(name))) {
		if (rule->metric_count == EXPERIMENT_METRICS)
			return err_set(err, ERR_INPUT, "%s: rule %s: has more than %d metrics",
				e->path, rule->name, EXPERIMENT_METRICS);
		code = look_up_metric(e, rule, name, &rule->metrics[rule->metric_count++], err);
	}
	return code || rule->metric_count ? code : look_up_metric(e, rule, NULL, NULL, err);
}

static int look_up_variant(const struct experiment *e, const struct experiment_rule *rule,
	const char *name, int *variant, struct err *err)
{
	*variant = experiment_variant(e, name);
	if (*variant >= 0)
		return 0;
	return err_set(
		err, ERR_INPUT, "%s: rule %s: there is no variant %s", e->path, rule->name, name);
}

/* "A, B" */
static int look_up_less(const struct experiment *e, struct experiment_rule *rule, const char *words,
	struct err *err)
{
	char name[128];
	int count = 0, code = 0;

	rule->less[0] = rule->less[1] = -1;
	if (!words)
		return 0;
	while (!code && count < 2 && experiment_word(&words, name, sizeof(name)))
		code = look_up_variant(e, rule, name, &rule->less[count++], err);
	if (!code &&
		(count < 2 || experiment_word(&words, name, sizeof(name)) || rule->against < 0))
		code = err_set(err, ERR_INPUT,
			"%s: rule %s: less has two variants, and takes their difference off that "
			"of "
			"of and against",
			e->path, rule->name);
	return code;
}

static int look_up_bound(const struct experiment *e, const struct experiment_rule *rule,
	const char *words, double otherwise, double *bound, struct err *err)
{
	*bound = otherwise;
	if (!words || text_to_double(words, bound))
		return 0;
	return err_set(
		err, ERR_INPUT, "%s: rule %s: %s is not a number", e->path, rule->name, words);
}

static int finish_rule(const struct experiment *e, struct experiment_rule *rule,
	const struct rule_words *words, struct err *err)
{
	const char *of = words->of ? words->of : "";
	char name[128];
	int code = look_up_metrics(e, rule, words->metric, err);

	rule->against = rule->against_metric = -1;
	while (!code && rule->of_count < EXPERIMENT_VARIANTS &&
		experiment_word(&of, name, sizeof(name)))
		code = look_up_variant(e, rule, name, &rule->of[rule->of_count++], err);
	if (!code && words->against)
		code = look_up_variant(e, rule, words->against, &rule->against, err);
	if (!code)
		code = look_up_less(e, rule, words->less, err);
	if (!code && words->against_metric)
		code = look_up_metric(e, rule, words->against_metric, &rule->against_metric, err);
	if (!code)
		code = look_up_bound(e, rule, words->least, -INFINITY, &rule->least, err);
	if (!code)
		code = look_up_bound(e, rule, words->most, INFINITY, &rule->most, err);
	if (code)
		return code;
	if (!rule->of_count || (rule->of_count > 1 && rule->against >= 0) || !rule->text ||
		(!words->least && !words->most) ||
		(rule->metric_count > 1 && words->against_metric))
		return err_set(err, ERR_INPUT,
			"%s: rule %s: needs text, of, and least or most; several variants after of "
			"have no against, several metrics no against_metric",
			e->path, rule->name);
	return 0;
}

static int look_up_extra(
	const struct experiment *e, struct experiment_extra *extra, struct err *err)
{
	const char *at = strstr(extra->name, EXPERIMENT_AT), *scale = at + strlen(EXPERIMENT_AT);
	char name[128];

	snprintf(name, sizeof(name), "%.*s", (int)(at - extra->name), extra->name);
	extra->variant = experiment_variant(e, name);
	extra->scale = e->scale_count - 1;
	while (extra->scale >= 0 && strcmp(e->scales[extra->scale].name, scale) != 0)
		extra->scale--;
	if (extra->variant >= 0 && extra->scale >= 0)
		return 0;
	return err_set(err, ERR_INPUT, "%s: [variant %s]: there is no %s %s", e->path, extra->name,
		extra->variant < 0 ? "variant" : "scale", extra->variant < 0 ? name : scale);
}

/* The variants that a scale names, and its moment. */
static int finish_scale(const struct experiment *e, struct experiment_scale *scale, struct err *err)
{
	const char *words = scale->variants;
	char name[128];

	while (words && experiment_word(&words, name, sizeof(name)))
		if (experiment_variant(e, name) < 0)
			return err_set(err, ERR_INPUT, "%s: scale %s: there is no variant %s",
				e->path, scale->name, name);
	scale->moment_share = 0.5;
	if (scale->moment && (!text_to_double(scale->moment, &scale->moment_share) ||
				     !(scale->moment_share > 0 && scale->moment_share <= 1)))
		return err_set(err, ERR_INPUT,
			"%s: scale %s: moment = %s: must be a share of the run, in (0, 1]", e->path,
			scale->name, scale->moment);
	return 0;
}

/* {NAME} stands for a variant that comes before, {seed} for the seed. */
static int check_references(const struct experiment *e, int at, struct err *err)
{
	const struct experiment_settings *settings = &e->variants[at].settings;

	for (int i = 0; i < settings->count; i++) {
		const char *open = strchr(settings->items[i], '{');
		char name[128];
		int other;

		if (!open)
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(open + 1, "}"), open + 1);
		if (!strcmp(name, "seed"))
			continue;
		other = experiment_variant(e, name);
		if (!strchr(open, '}') || other < 0 || other >= at)
			return err_set(err, ERR_INPUT,
				"%s: variant %s: %s: {%s} is no variant that comes before", e->path,
				e->variants[at].name, settings->items[i], name);
	}
	return 0;
}

static int check_columns(const struct experiment *e, const char *words, struct err *err)
{
	char name[128];

	while (words && experiment_word(&words, name, sizeof(name)))
		if (measure_find(name) < 0)
			return err_set(err, ERR_INPUT, "%s: %s: no such measure", e->path, name);
	return 0;
}

int experiment_look_up(struct experiment *e, const struct rule_words *rules, struct err *err)
{
	int code = check_columns(e, e->show, err);

	if (!code)
		code = check_columns(e, e->differ, err);
	for (int i = 0; i < e->variant_count && !code; i++) {
		if (!e->variants[i].title)
			e->variants[i].title = e->variants[i].name;
		code = check_references(e, i, err);
	}
	for (int i = 0; i < e->extra_count && !code; i++)
		code = look_up_extra(e, &e->extras[i], err);
	for (int i = 0; i < e->scale_count && !code; i++)
		code = finish_scale(e, &e->scales[i], err);
	for (int i = 0; i < e->rule_count && !code; i++)
		code = finish_rule(e, &e->rules[i], &rules[i], err);
	if (!code && (!e->title || !e->variant_count))
		code = err_set(
			err, ERR_INPUT, "%s: an experiment has a title and variants", e->path);
	return code;
}
