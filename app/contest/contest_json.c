/* compare.json: all that is known of a contest, for programs and for reports. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/json.h"
#include "contest/contest_table.h"

static void add_text(struct text *out, const char *name, const char *words)
{
	text_addf(out, "\"%s\": ", name);
	if (!words || !json_quote(out, words))
		text_add(out, "null");
}

/* A comma before it, unless a table was just opened. */
static void add_comma(struct text *out)
{
	if (out->size && out->data[out->size - 1] != '{')
		text_add(out, ", ");
}

static void add_number(struct text *out, const char *name, double value)
{
	char number[TEXT_NUMBER] = "null";

	if (isfinite(value))
		text_from_double(number, value);
	add_comma(out);
	text_addf(out, "\"%s\": %s", name, number);
}

static void add_head(const struct contest *contest, struct text *out)
{
	const struct experiment *e = contest->plan.experiment;

	text_add(out, "{\n  ");
	add_text(out, "experiment", e->scale_count || e->rule_count ? e->name : NULL);
	text_add(out, ",\n  ");
	add_text(out, "title", e->title);
	text_add(out, ",\n  ");
	add_text(out, "figure", e->figure);
	text_add(out, ",\n  ");
	add_text(out, "claim", e->claim);
	text_add(out, ",\n  ");
	add_text(out, "note", e->note);
	text_add(out, ",\n  ");
	add_text(out, "scale", contest->plan.scale ? contest->plan.scale->name : NULL);
	text_add(out, ",\n  ");
	add_text(out, "scale_about", contest->plan.scale ? contest->plan.scale->about : NULL);
	text_add(out, ",\n  ");
	add_text(out, "config", contest->plan.config);
	text_add(out, ",\n  \"seeds\": [");
	for (int i = 0; i < contest->plan.seed_count; i++)
		text_addf(out, "%s%" PRId64, i ? ", " : "", contest->plan.seeds[i]);
	text_add(out, "]");
}

/* The columns of the table, with what a table says of them. */
static void add_columns(const struct contest *contest, struct text *out)
{
	const char *list = contest_shown(contest);
	char name[128];
	bool first = true;

	text_add(out, ",\n  \"columns\": [");
	while (experiment_word(&list, name, sizeof(name))) {
		const struct measure *measure = &measures[measure_find(name)];

		text_add(out, first ? "{" : ", {");
		add_text(out, "name", measure->name);
		text_add(out, ", ");
		add_text(out, "title", measure->title);
		text_addf(out, ", \"share\": %s, \"digits\": %d}",
			measure->share ? "true" : "false", measure->digits);
		first = false;
	}
	text_add(out, "]");
}

static void add_variant(const struct contest *contest, int v, struct text *out)
{
	const struct experiment_variant *variant =
		&contest->plan.experiment->variants[contest->variants[v]];

	text_addf(out, "%s\n    {", v ? "," : "");
	add_text(out, "name", variant->name);
	text_add(out, ", ");
	add_text(out, "title", variant->title);
	text_add(out, ", \"settings\": [");
	for (int i = 0; i < variant->settings.count; i++) {
		text_add(out, i ? ", " : "");
		json_quote(out, variant->settings.items[i]);
	}
	text_add(out, "], \"mean\": {");
	for (int m = 0; m < MEASURES; m++)
		add_number(out, measures[m].name, contest_stats(contest, v, m).mean);
	text_add(out, "}, \"sd\": {");
	for (int m = 0; m < MEASURES; m++)
		add_number(out, measures[m].name, contest_stats(contest, v, m).sd);
	text_add(out, "}, \"less_the_first\": {");
	for (int m = 0; m < MEASURES && v; m++) {
		const struct stats_paired paired = contest_paired(contest, v, 0, m);

		add_comma(out);
		text_addf(out, "\"%s\": {\"pairs\": %d, \"clear\": %s", measures[m].name,
			paired.count, paired.clear ? "true" : "false");
		add_number(out, "mean", paired.mean);
		add_number(out, "error", paired.error);
		add_number(out, "low", paired.low);
		add_number(out, "high", paired.high);
		text_add(out, "}");
	}
	text_add(out, "}}");
}

static void add_run(const struct contest *contest, const struct contest_run *run, struct text *out)
{
	static const char *const states[] = {[CONTEST_ABSENT] = "absent",
		[CONTEST_BEGUN] = "begun",
		[CONTEST_FINISHED] = "finished"};

	text_addf(out, "%s\n    {", run == contest->runs ? "" : ",");
	add_text(out, "variant", contest_variant(contest, run->variant));
	text_addf(out, ", \"seed\": %" PRId64 ", ", contest->plan.seeds[run->seed]);
	/* From the folder that this file is in. */
	add_text(out, "folder", run->folder + strlen(contest->plan.out) + 1);
	text_add(out, ", ");
	add_text(out, "state", run->failure ? "failed" : states[run->state]);
	text_add(out, ", ");
	add_text(out, "message", run->failure);
	text_add(out, ", \"values\": {");
	for (int m = 0; m < MEASURES; m++)
		add_number(out, measures[m].name, run->values[m]);
	text_add(out, "}}");
}

static void add_rule(const struct contest *contest, int i, struct text *out)
{
	const struct experiment_rule *rule = &contest->plan.experiment->rules[i];
	struct contest_verdict verdict;
	const bool known = contest_judge(contest, rule, &verdict);

	text_addf(out, "%s\n    {", i ? "," : "");
	add_text(out, "name", rule->name);
	text_add(out, ", ");
	add_text(out, "text", rule->text);
	text_add(out, ", ");
	add_text(out, "metric", measures[rule->metric].name);
	add_number(out, "least", rule->least);
	add_number(out, "most", rule->most);
	add_number(out, "mean", known ? verdict.value.mean : NAN);
	add_number(out, "sd", known ? verdict.value.sd : NAN);
	text_addf(out, ", \"met\": %s",
		!known || !verdict.decided ? "null"
		: verdict.met              ? "true"
					   : "false");
	text_add(out, "}");
}

void contest_table_json(const struct contest *contest, struct text *out)
{
	const struct experiment *e = contest->plan.experiment;

	add_head(contest, out);
	add_columns(contest, out);
	text_add(out, ",\n  \"variants\": [");
	for (int v = 0; v < contest->variant_count; v++)
		add_variant(contest, v, out);
	text_add(out, "\n  ],\n  \"runs\": [");
	for (int i = 0; i < contest->run_count; i++)
		add_run(contest, &contest->runs[i], out);
	text_add(out, "\n  ],\n  \"rules\": [");
	for (int i = 0; i < e->rule_count; i++)
		add_rule(contest, i, out);
	text_add(out, "\n  ],\n  ");
	add_text(out, "conclusion", contest_conclusion(contest));
	text_add(out, "\n}\n");
}
