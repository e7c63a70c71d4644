/* compare.json: a contest's complete results, for programs and for reports. */
#include <math.h>
#include <string.h>

#include "base/json_write.h"
#include "contest/contest_table.h"

static void add_head(const struct contest *contest, struct jwriter *out)
{
	const struct experiment *e = contest->plan.experiment;
	const struct experiment_scale *scale = contest->plan.scale;

	jwriter_text(out, "experiment", e->scale_count || e->rule_count ? e->name : NULL);
	jwriter_text(out, "title", e->title);
	jwriter_text(out, "figure", e->figure);
	jwriter_text(out, "claim", e->claim);
	jwriter_text(out, "note", e->note);
	jwriter_text(out, "scale", scale ? scale->name : NULL);
	jwriter_text(out, "scale_about", scale ? scale->about : NULL);
	jwriter_text(out, "config", contest->plan.config);
	jwriter_list(out, "seeds");
	for (int i = 0; i < contest->plan.seed_count; i++)
		jwriter_whole(out, NULL, contest->plan.seeds[i]);
	jwriter_end(out);
}

/* The columns of the table, with what a table says of them. */
static void add_columns(const struct contest *contest, struct jwriter *out)
{
	const char *list = contest_shown(contest);
	char name[128];

	jwriter_list(out, "columns");
	while (experiment_word(&list, name, sizeof(name))) {
		const struct measure *measure = &measures[measure_find(name)];

		jwriter_table(out, NULL);
		jwriter_text(out, "name", measure->name);
		jwriter_text(out, "title", measure->title);
		jwriter_truth(out, "share", measure->share);
		jwriter_whole(out, "digits",
			measure_digits(
				measure, contest_stats(contest, 0, measure_find(name)).mean));
		jwriter_end(out);
	}
	jwriter_end(out);
}

static void add_difference(const char *name, const struct stats_paired *paired, struct jwriter *out)
{
	jwriter_table(out, name);
	jwriter_whole(out, "pairs", paired->count);
	jwriter_truth(out, "clear", paired->clear);
	jwriter_number(out, "mean", paired->mean);
	jwriter_number(out, "error", paired->error);
	jwriter_number(out, "low", paired->low);
	jwriter_number(out, "high", paired->high);
	jwriter_end(out);
}

static void add_variant(const struct contest *contest, int v, struct jwriter *out)
{
	const struct experiment_variant *variant =
		&contest->plan.experiment->variants[contest->variants[v]];

	jwriter_table(out, NULL);
	jwriter_text(out, "name", variant->name);
	jwriter_text(out, "title", variant->title);
	jwriter_list(out, "settings");
	for (int i = 0; i < variant->settings.count; i++)
		jwriter_text(out, NULL, variant->settings.items[i]);
	jwriter_end(out);
	jwriter_table(out, "mean");
	for (int m = 0; m < MEASURES; m++)
		jwriter_number(out, measures[m].name, contest_stats(contest, v, m).mean);
	jwriter_end(out);
	jwriter_table(out, "sd");
	for (int m = 0; m < MEASURES; m++)
		jwriter_number(out, measures[m].name, contest_stats(contest, v, m).sd);
	jwriter_end(out);
	jwriter_table(out, "less_the_first");
	for (int m = 0; m < MEASURES && v; m++) {
		const struct stats_paired paired = contest_paired(contest, v, 0, m);

		add_difference(measures[m].name, &paired, out);
	}
	jwriter_end(out);
	jwriter_end(out);
}

static void add_run(
	const struct contest *contest, const struct contest_run *run, struct jwriter *out)
{
	static const char *const states[] = {[CONTEST_ABSENT] = "absent",
		[CONTEST_BEGUN] = "begun",
		[CONTEST_FINISHED] = "finished"};

	jwriter_table(out, NULL);
	jwriter_text(out, "variant", contest_variant(contest, run->variant));
	jwriter_whole(out, "seed", contest->plan.seeds[run->seed]);
	/* From the folder that this file is in. */
	jwriter_text(out, "folder", run->folder + strlen(contest->plan.out) + 1);
	jwriter_text(out, "state", run->failure ? "failed" : states[run->state]);
	jwriter_text(out, "message", run->failure);
	jwriter_table(out, "values");
	for (int m = 0; m < MEASURES; m++)
		jwriter_number(out, measures[m].name, run->values[m]);
	jwriter_end(out);
	jwriter_end(out);
}

static void add_rule(const struct experiment_rule *rule, const struct contest_verdict *verdict,
	struct jwriter *out)
{
	static const char *const words[CONTEST_WORDS] = {
		[CONTEST_OPEN] = "open", [CONTEST_MET] = "met", [CONTEST_MISSED] = "not met"};

	if (verdict->word == CONTEST_LEFT_OUT)
		return;
	jwriter_table(out, NULL);
	jwriter_text(out, "name", rule->name);
	jwriter_text(out, "text", rule->text);
	jwriter_text(out, "metric", measures[verdict->metric].name);
	jwriter_number(out, "least", rule->least);
	jwriter_number(out, "most", rule->most);
	jwriter_number(out, "mean", verdict->value.mean);
	jwriter_number(out, "low", verdict->value.low);
	jwriter_number(out, "high", verdict->value.high);
	jwriter_text(out, "verdict", words[verdict->word]);
	jwriter_end(out);
}

static void begin_lines(struct jwriter *out, const char *name)
{
	jwriter_list(out, name);
	jwriter_lines(out);
}

void contest_table_json(const struct contest *contest, struct text *words)
{
	const struct experiment *e = contest->plan.experiment;
	struct jwriter out = {.out = words};
	struct contest_verdicts verdicts;

	contest_judge(contest, &verdicts);
	jwriter_table(&out, NULL);
	jwriter_lines(&out);
	add_head(contest, &out);
	add_columns(contest, &out);
	begin_lines(&out, "variants");
	for (int v = 0; v < contest->variant_count; v++)
		add_variant(contest, v, &out);
	jwriter_end(&out);
	begin_lines(&out, "runs");
	for (int i = 0; i < contest->run_count; i++)
		add_run(contest, &contest->runs[i], &out);
	jwriter_end(&out);
	begin_lines(&out, "rules");
	for (int i = 0; i < e->rule_count; i++)
		add_rule(&e->rules[i], &verdicts.of[i], &out);
	jwriter_end(&out);
	jwriter_text(&out, "conclusion", verdicts.conclusion);
	jwriter_end(&out);
	text_add(words, "\n");
}
