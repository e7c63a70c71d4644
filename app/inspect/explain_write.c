/* What an explanation says, for people and programs. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "inspect/explain_impl.h"

enum { NAME_MOST = 20, CELL = 8, ERROR = 7 };

void explain_add(struct explain_sum *sum, double value)
{
	sum->count++;
	sum->sum += value;
	sum->squares += value * value;
}

double explain_mean(const struct explain_sum *sum)
{
	return sum->count ? sum->sum / (double)sum->count : NAN;
}

double explain_error(const struct explain_sum *sum)
{
	const double n = (double)sum->count, mean = explain_mean(sum);

	return n > 1 ? sqrt(fmax(0, sum->squares / n - mean * mean) / (n - 1)) : NAN;
}

struct explain_sum explain_all(const struct explain *e, const struct explain_sum *ranges)
{
	struct explain_sum all = {0};

	for (int i = 0; i < e->config.ranges; i++) {
		all.count += ranges[i].count;
		all.sum += ranges[i].sum;
		all.squares += ranges[i].squares;
	}
	return all;
}

static const struct explain_sum *last(const struct explain *e, const struct explain_sum *ranges)
{
	return &ranges[e->config.ranges - 1];
}

/* --- the order: by what they are worth now, then altogether --- */

struct place {
	double now, all;
	int column;
};

static int by_worth(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	if (x->now != y->now)
		return x->now < y->now ? 1 : -1;
	if (x->all != y->all)
		return x->all < y->all ? 1 : -1;
	return x->column - y->column;
}

static double or_none(double value)
{
	return isnan(value) ? -INFINITY : value;
}

static struct place *sorted(const struct explain *e)
{
	struct place *places = mem_new((size_t)e->columns, sizeof(*places));

	for (int i = 0; i < e->columns && places; i++) {
		const struct explain_sum all = explain_all(e, e->column[i].range);

		places[i] = (struct place){or_none(explain_mean(last(e, e->column[i].range))),
			or_none(explain_mean(&all)), i};
	}
	if (places)
		qsort(places, (size_t)e->columns, sizeof(*places), by_worth);
	return places;
}

/* --- for people --- */

/* Points of accuracy have one digit behind the point, numbers of any size two or three that count. */
static void add_cell(struct text *out, const struct explain *e, double value)
{
	char words[32];

	if (isnan(value))
		snprintf(words, sizeof(words), "-");
	else if (e->target->shares)
		snprintf(words, sizeof(words), "%.1f", 100 * value);
	else if (snprintf(words, sizeof(words), "%.3g", value) >= CELL - 1)
		snprintf(words, sizeof(words), "%.2g", value);
	text_addf(out, "%*s", CELL, words);
}

static void add_error(struct text *out, const struct explain *e, double error)
{
	if (isnan(error))
		text_addf(out, "%*s", ERROR, "");
	else if (e->target->shares)
		text_addf(out, " ±%-*.1f", ERROR - 2, 100 * error);
	else
		text_addf(out, " ±%-*.1g", ERROR - 2, error);
}

static void add_row(struct text *out, const struct explain *e, const struct explain_column *column)
{
	const struct explain_sum all = explain_all(e, column->range);
	const struct explain_sum *now = last(e, column->range);

	text_addf(out, "  %-*.*s", NAME_MOST, NAME_MOST, column->name);
	add_cell(out, e, explain_mean(now));
	add_error(out, e, explain_error(now));
	add_cell(out, e, explain_mean(&all));
	text_add(out, "  ");
	for (int i = 0; i < e->config.ranges; i++)
		add_cell(out, e, explain_mean(&column->range[i]));
	text_add(out, "\n");
}

static void add_base(struct text *out, const struct explain *e)
{
	text_addf(out, "  %-*s%*s", NAME_MOST, e->target->words.unharmed, CELL + ERROR + CELL + 2,
		"");
	for (int i = 0; i < e->config.ranges; i++) {
		const double mean = explain_mean(&e->range[i]);

		add_cell(out, e, e->target->shares ? 1 - mean : mean);
	}
	text_add(out, "\n");
}

void explain_text(const struct explain *e, int most, struct text *out)
{
	struct place *places = sorted(e);
	const int count = most && most < e->columns ? most : e->columns;

	out->failed |= !places;
	text_add(out, e->target->words.rises);
	text_addf(out,
		" when a column takes another row's\nvalue; before the label, on %" PRId64
		" rows.\n\n",
		explain_asked(e));
	text_addf(out, "  %-*s%*s%*s%*s  %*s\n", NAME_MOST, "", CELL, "now", ERROR, "", CELL, "all",
		CELL + 3, "over time");
	for (int i = 0; i < count && places; i++)
		add_row(out, e, &e->column[places[i].column]);
	if (count < e->columns)
		text_addf(out, "  and %d more (--most 0 shows all)\n", e->columns - count);
	text_add(out, "\n");
	add_base(out, e);
	mem_free(places);
}

/* --- for programs --- */

static void add_ranges(struct jwriter *json, const struct explain *e, const char *name,
	const struct explain_sum *ranges)
{
	jwriter_list(json, name);
	for (int i = 0; i < e->config.ranges; i++)
		jwriter_number(json, NULL, explain_mean(&ranges[i]));
	jwriter_end(json);
}

static void add_column(
	struct jwriter *json, const struct explain *e, const struct explain_column *column)
{
	const struct explain_sum all = explain_all(e, column->range);

	jwriter_table(json, NULL);
	jwriter_text(json, "name", column->name);
	jwriter_number(json, "now", explain_mean(last(e, column->range)));
	jwriter_number(json, "now_error", explain_error(last(e, column->range)));
	jwriter_number(json, "all", explain_mean(&all));
	jwriter_number(json, "all_error", explain_error(&all));
	add_ranges(json, e, "ranges", column->range);
	jwriter_end(json);
}

void explain_json(const struct explain *e, struct jwriter *json)
{
	struct place *places = sorted(e);

	json->out->failed |= !places;
	jwriter_table(json, NULL);
	jwriter_text(json, "target", e->target->name);
	jwriter_text(json, "loss", e->target->words.loss);
	jwriter_whole(json, "rows", explain_asked(e));
	add_ranges(json, e, "loss_by_range", e->range);
	jwriter_list(json, "columns");
	for (int i = 0; i < e->columns && places; i++)
		add_column(json, e, &e->column[places[i].column]);
	jwriter_end(json);
	jwriter_end(json);
	mem_free(places);
}
