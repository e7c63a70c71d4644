/*
 * The experiment chooses the columns. Fractions are shown as percent, differences as points. Text
 * columns are padded by visible width, not by bytes: a plus-minus sign is two bytes.
 */
#include "contest/contest_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"

enum { FEW_SEEDS = 5, CELL = 64, NAME = 128 };

const char *contest_shown(const struct contest *contest)
{
	return contest->shown;
}

static const char *differing(const struct contest *contest)
{
	const char *differ = contest->plan.experiment->differ;

	return differ ? differ : contest->target->words.differ;
}

/* The next measure of a list; false at its end. */
static bool next_measure(const char **list, int *measure)
{
	char name[NAME];

	if (!experiment_word(list, name, sizeof(name)))
		return false;
	*measure = measure_find(name);
	return true;
}

static const char *title_of(const struct contest *contest, int measure)
{
	const char *other = measures[measure].of[contest->target->kind].title;

	return other ? other : measures[measure].title;
}

static int columns_of(const char *words)
{
	int columns = 0;

	for (; *words; words++)
		columns += (*words & 0xc0) != 0x80;
	return columns;
}

static void add_right(struct text *out, const char *cell, int width)
{
	text_addf(out, "%*s%s", width > columns_of(cell) ? width - columns_of(cell) : 0, "", cell);
}

static void mean_cell(char cell[CELL], struct stats stats, int digits, const char *between)
{
	if (!stats.count)
		snprintf(cell, CELL, "–");
	else if (stats.count == 1)
		snprintf(cell, CELL, "%.*f", digits, stats.mean);
	else
		snprintf(cell, CELL, "%.*f%s%.*f", digits, stats.mean, between, digits, stats.sd);
}

static int name_width(const struct contest *contest)
{
	int width = 0;

	for (int v = 0; v < contest->variant_count; v++)
		if (columns_of(contest_variant(contest, v)) > width)
			width = columns_of(contest_variant(contest, v));
	return width + 2;
}

static int finished_of(const struct contest *contest, int variant)
{
	int finished = 0;

	for (int seed = 0; seed < contest->plan.seed_count; seed++)
		finished += contest_run(contest, variant, seed)->state == CONTEST_FINISHED;
	return finished;
}

static void add_title(const struct contest *contest, struct text *out)
{
	const struct experiment *e = contest->plan.experiment;
	const int seeds = contest->plan.seed_count;

	if (e->figure)
		text_addf(out, "Figure %s: ", e->figure);
	text_addf(out, "%s", e->title);
	if (contest->plan.scale)
		text_addf(out, " · %s", contest->plan.scale->name);
	text_addf(out, " · %d seed%s", seeds, seeds == 1 ? "" : "s");
	text_addf(out, "%s\n\n", seeds > 1 ? " · mean ± standard deviation" : "");
}

/* What stands in a row of a table, for one measure. */
typedef void cell_fn(char cell[CELL], const struct contest *contest, int variant, int measure);

static void cell_of_mean(char cell[CELL], const struct contest *contest, int variant, int measure)
{
	const struct stats stats = contest_stats(contest, variant, measure);

	mean_cell(cell, stats, measure_digits(&measures[measure], stats.mean), " ± ");
}

static void cell_of_difference(
	char cell[CELL], const struct contest *contest, int variant, int measure)
{
	const struct stats_paired paired = contest_paired(contest, variant, 0, measure);
	const int digits =
		measure_digits(&measures[measure], contest_stats(contest, variant, measure).mean);

	if (!paired.count)
		snprintf(cell, CELL, "–  ");
	else if (paired.count == 1)
		snprintf(cell, CELL, "%+.*f  ", digits, paired.mean);
	else
		snprintf(cell, CELL, "%+.*f ± %.*f [%+.*f, %+.*f] %c", digits, paired.mean, digits,
			paired.error, digits, paired.low, digits, paired.high,
			paired.clear ? '*' : ' ');
}

/* A measure's column is as wide as the widest of its title and cells, and some air. */
static int column_width(const struct contest *contest, int first, int measure, cell_fn *cell_of)
{
	int width = columns_of(title_of(contest, measure));
	char cell[CELL];

	for (int v = first; v < contest->variant_count; v++) {
		cell_of(cell, contest, v, measure);
		if (columns_of(cell) > width)
			width = columns_of(cell);
	}
	return width + 3;
}

/* What rows are made of: variants from the first on, and what stands in a cell. */
struct rows {
	const struct contest *contest;
	int first;
	cell_fn *cell_of;
};

/* How many measures of a list fit beside the names; at least one. */
static int count_fitting(const struct rows *rows, const char *list, int width)
{
	int used = 2 + name_width(rows->contest), count = 0, m;

	while (next_measure(&list, &m)) {
		used += column_width(rows->contest, rows->first, m, rows->cell_of);
		if (width && count && used > width)
			break;
		count++;
	}
	return count;
}

/* A column for each of the next measures of the list, a row per variant. Returns the others. */
static const char *add_block(
	const struct rows *rows, const char *measured, int count, struct text *out)
{
	const struct contest *contest = rows->contest;
	const int width = name_width(contest);
	const char *list = measured;
	char cell[CELL];
	int m;

	text_addf(out, "  %-*s", width, "");
	for (int i = 0; i < count && next_measure(&list, &m); i++)
		add_right(out, title_of(contest, m),
			column_width(contest, rows->first, m, rows->cell_of));
	text_add(out, "\n");
	for (int v = rows->first; v < contest->variant_count; v++) {
		const char *name = contest_variant(contest, v);
		const int finished = finished_of(contest, v);

		text_addf(out, "  %s%*s", name, width - columns_of(name), "");
		list = measured;
		for (int i = 0; i < count && next_measure(&list, &m); i++) {
			rows->cell_of(cell, contest, v, m);
			add_right(out, cell, column_width(contest, rows->first, m, rows->cell_of));
		}
		if (finished < contest->plan.seed_count)
			text_addf(out, "   (%d of %d runs)", finished, contest->plan.seed_count);
		text_add(out, "\n");
	}
	return list;
}

static void add_rows(const struct rows *rows, const char *measured, int width, struct text *out)
{
	for (int count; (count = count_fitting(rows, measured, width));) {
		measured = add_block(rows, measured, count, out);
		text_add(out, count_fitting(rows, measured, width) ? "\n" : "");
	}
}

/* Samples trained on per time step, where they are not the same for all. */
static void add_budgets(const struct contest *contest, struct text *out)
{
	const double first = contest_run(contest, 0, 0)->work;
	bool same = true;

	for (int v = 1; v < contest->variant_count; v++)
		same &= contest_run(contest, v, 0)->work == first;
	if (same)
		return;
	text_add(out, "\nBudgets differ, in samples trained on per time step:");
	for (int v = 0; v < contest->variant_count; v++)
		text_addf(out, "%s %s %g", v ? "," : "", contest_variant(contest, v),
			contest_run(contest, v, 0)->work);
	text_add(out, ".\n");
}

/* What the numbers of seeds allow to say. */
static void add_honesty(const struct contest *contest, struct text *out)
{
	const int seeds = contest->plan.seed_count;
	int measured = 0, m;
	const char *list = differing(contest);

	while (next_measure(&list, &m))
		measured++;
	if (seeds < 2) {
		text_add(out, "With one seed it is unknown how much of a difference is chance: "
			      "nothing is marked.\n");
		return;
	}
	text_addf(out,
		"mean ± standard error [95 %% interval by Student's t]; * beyond the seeds' noise: "
		"zero is outside.\n");
	if (seeds < FEW_SEEDS)
		text_addf(out,
			"With %d seeds an interval reaches %.1f standard errors to either side: "
			"what "
			"is not marked may still differ.\n",
			seeds, stats_t(seeds - 1, STATS_LEVEL));
	if (measured * (contest->variant_count - 1) >= 20)
		text_addf(out, "Of %d intervals about %.0f would exclude zero by chance alone.\n",
			measured * (contest->variant_count - 1),
			(1 - STATS_LEVEL) * measured * (contest->variant_count - 1));
}

static void add_differences(const struct contest *contest, int width, struct text *out)
{
	if (contest->variant_count < 2)
		return;
	text_addf(out, "\nDifference from %s, paired by seed:\n\n", contest_variant(contest, 0));
	add_rows(&(struct rows){contest, 1, cell_of_difference}, differing(contest), width, out);
	text_add(out, "\n");
	add_honesty(contest, out);
}

static void add_bounds(struct text *out, const struct experiment_rule *rule)
{
	if (isfinite(rule->least))
		text_addf(out, ">= %g", rule->least);
	if (isfinite(rule->least) && isfinite(rule->most))
		text_add(out, ", ");
	if (isfinite(rule->most))
		text_addf(out, "<= %g", rule->most);
}

static void add_rules(const struct contest *contest, struct text *out)
{
	const struct experiment *e = contest->plan.experiment;
	struct contest_verdicts verdicts;

	if (!e->rule_count)
		return;
	contest_judge(contest, &verdicts);
	if (!verdicts.conclusion)
		return;
	if (e->claim)
		text_addf(out, "\nThe paper: %s\n", e->claim);
	text_add(out, "\n");
	for (int i = 0; i < e->rule_count; i++) {
		const struct contest_verdict *verdict = &verdicts.of[i];

		if (verdict->word == CONTEST_LEFT_OUT)
			continue;
		text_addf(out, "  %-9s  %s: ", contest_words[verdict->word], e->rules[i].text);
		if (verdict->value.count)
			text_addf(out, "%.3f", verdict->value.mean);
		if (verdict->value.count > 1)
			text_addf(out, " [%.2f, %.2f]", verdict->value.low, verdict->value.high);
		text_add(out, verdict->value.count ? ", should be " : "should be ");
		add_bounds(out, &e->rules[i]);
		text_add(out, verdict->word == CONTEST_MISSED ? "; against the claim\n" : "\n");
	}
	text_addf(out, "\nAltogether: %s. %d met, %d open, %d not met%s.\n", verdicts.conclusion,
		verdicts.counts[CONTEST_MET], verdicts.counts[CONTEST_OPEN],
		verdicts.counts[CONTEST_MISSED],
		verdicts.counts[CONTEST_OPEN] ? "; open: the seeds' noise allows either" : "");
}

static void add_failures(const struct contest *contest, struct text *out)
{
	for (int i = 0; i < contest->run_count; i++) {
		const struct contest_run *run = &contest->runs[i];

		if (run->failure)
			text_addf(out, "%s%s, seed %" PRId64 ", failed: %s\n", "\n",
				contest_variant(contest, run->variant),
				contest->plan.seeds[run->seed], run->failure);
	}
}

void contest_table(const struct contest *contest, int width, struct text *out)
{
	add_title(contest, out);
	add_rows(&(struct rows){contest, 0, cell_of_mean}, contest_shown(contest), width, out);
	add_budgets(contest, out);
	add_differences(contest, width, out);
	add_rules(contest, out);
	add_failures(contest, out);
}

static const char *help_of(const struct contest *contest, int measure)
{
	const char *other = measures[measure].of[contest->target->kind].help;

	return other ? other : measures[measure].help;
}

void contest_legend(const struct contest *contest, struct text *out)
{
	const char *list = contest_shown(contest);
	int width = 0, m;

	while (next_measure(&list, &m))
		if (columns_of(title_of(contest, m)) > width)
			width = columns_of(title_of(contest, m));
	text_add(out, "\n");
	/* Who sees what the first of many ranges is knows the others. */
	for (list = contest_shown(contest); next_measure(&list, &m);)
		if (measures[m].range < 2)
			text_addf(out, "  %-*s  %s\n", width, title_of(contest, m),
				help_of(contest, m));
}

/* ---- CSV ---- */

static void add_number(struct text *out, double value)
{
	char number[TEXT_NUMBER] = "";

	if (!isnan(value))
		text_from_double(number, value);
	text_addf(out, ",%s", number);
}

void contest_table_csv(const struct contest *contest, struct text *out)
{
	const char *list = differing(contest);
	int d;

	text_add(out, "variant,runs");
	for (int m = 0; m < MEASURES; m++)
		text_addf(out, ",%s,%s_sd", measures[m].name, measures[m].name);
	while (next_measure(&list, &d))
		text_addf(out, ",%s_difference,%s_error,%s_low,%s_high", measures[d].name,
			measures[d].name, measures[d].name, measures[d].name);
	text_add(out, "\n");
	for (int v = 0; v < contest->variant_count; v++) {
		text_addf(out, "%s,%d", contest_variant(contest, v), finished_of(contest, v));
		for (int m = 0; m < MEASURES; m++) {
			const struct stats stats = contest_stats(contest, v, m);

			add_number(out, stats.mean);
			add_number(out, stats.sd);
		}
		for (list = differing(contest); next_measure(&list, &d);) {
			const struct stats_paired paired = contest_paired(contest, v, 0, d);

			add_number(out, v ? paired.mean : NAN);
			add_number(out, v ? paired.error : NAN);
			add_number(out, v ? paired.low : NAN);
			add_number(out, v ? paired.high : NAN);
		}
		text_add(out, "\n");
	}
}

/* ---- LaTeX ---- */

static void add_tex(struct text *out, const char *words)
{
	for (; *words; words++)
		if (strchr("&%$#_{}", *words))
			text_addf(out, "\\%c", *words);
		else if (strchr("\\~^", *words))
			text_add(out, " ");
		else
			text_addf(out, "%c", *words);
}

void contest_table_tex(const struct contest *contest, struct text *out)
{
	const char *list = contest_shown(contest);
	char cell[CELL];
	int m;

	text_add(out, "% needs \\usepackage{booktabs}\n\\begin{tabular}{l");
	while (next_measure(&list, &m))
		text_add(out, "r");
	text_add(out, "}\n\\toprule\n");
	for (list = contest_shown(contest); next_measure(&list, &m);) {
		text_add(out, " & ");
		add_tex(out, title_of(contest, m));
		if (measures[m].share)
			text_add(out, " (\\%)");
	}
	text_add(out, " \\\\\n\\midrule\n");
	for (int v = 0; v < contest->variant_count; v++) {
		add_tex(out, contest->plan.experiment->variants[contest->variants[v]].title);
		for (list = contest_shown(contest); next_measure(&list, &m);) {
			const struct stats stats = contest_stats(contest, v, m);

			mean_cell(cell, stats, measure_digits(&measures[m], stats.mean), " \\pm ");
			text_addf(out, stats.count ? " & $%s$" : " & --", cell);
		}
		text_add(out, " \\\\\n");
	}
	text_add(out, "\\bottomrule\n\\end{tabular}\n");
}

/* ---- files ---- */

static void whole_table(const struct contest *contest, struct text *out)
{
	contest_table(contest, 0, out);
}

int contest_table_write(const struct contest *contest, struct err *err)
{
	static const struct {
		const char *name;
		void (*add)(const struct contest *contest, struct text *out);
	} files[] = {{"compare.txt", whole_table}, {"compare.csv", contest_table_csv},
		{"compare.tex", contest_table_tex}, {"compare.json", contest_table_json}};
	int code = file_make_folder(contest->plan.out, err);

	for (size_t i = 0; i < sizeof(files) / sizeof(*files) && !code; i++) {
		struct text path = {0}, words = {0};

		text_addf(&path, "%s/%s", contest->plan.out, files[i].name);
		files[i].add(contest, &words);
		code = path.failed || words.failed
			       ? err_memory(err, files[i].name, words.size)
			       : file_write(path.data, words.data, words.size, err);
		text_release(&path);
		text_release(&words);
	}
	return code;
}
