/* Decides the kind of columns that no key defines, by all of their cells. */
#include "records/table_plan.h"

#include <inttypes.h>

/* A column is numeric with exceptions if it has this many cells and this share are numbers. */
enum { NUMBERS_LEAST = 20, NUMBERS_PERCENT = 95 };

enum { NOTES_MOST = 5 };

static void note_lax(struct table_plan *plan, const struct table_column *column)
{
	const struct table_cells *cells = &column->cells;
	const bool more = cells->words > 1;

	text_addf(&plan->notes,
		"column %s: %" PRId64 " cell%s of %" PRId64 " %s not %snumber%s, %s\"%s\" in row "
		"%" PRIu64 "; %s as missing (table.categorical=auto,%s: the column has "
		"categories)\n",
		column->name, cells->words, more ? "s" : "", cells->numbers + cells->words,
		more ? "are" : "is", more ? "" : "a ", more ? "s" : "", more ? "the first " : "",
		cells->shown, cells->row, more ? "they count" : "it counts", column->name);
}

/* Words that look like numbers, and yet were not taken for such. */
static void note_words(struct table_plan *plan, const struct table_column *column)
{
	const struct table_cells *cells = &column->cells;
	const bool thousands = cells->thousands == cells->words;

	text_addf(&plan->notes,
		"column %s: \"%s\" in row %" PRIu64
		" is not a number%s, so the column has categories; write %s\n",
		column->name, cells->shown, cells->row,
		thousands ? ", for its comma may part thousands or decimals" : "",
		thousands ? "it without a comma" : "decimal points, not commas");
}

/* All columns with decimal commas in one line. */
static void note_commas(struct table_plan *plan)
{
	const struct table_column *first = NULL;
	int count = 0;

	for (int i = 0; i < plan->count; i++)
		if (plan->columns[i].commas) {
			if (!count++)
				first = plan->columns + i;
		}
	if (!count)
		return;
	text_addf(&plan->notes, "column%s %s", count > 1 ? "s" : "", first->name);
	if (count > 1)
		text_addf(&plan->notes, " and %d more", count - 1);
	text_addf(&plan->notes,
		": numbers have decimal commas, as %s in row %" PRIu64
		" (table.categorical=auto,%s: they are categories)\n",
		first->cells.shown, first->cells.row, first->name);
}

/* Of the first. */
static void note_name(struct table_plan *plan)
{
	int i = 0;

	while (i < plan->count && !plan->columns[i].too_long)
		i++;
	if (i < plan->count)
		text_addf(&plan->notes,
			"column %d: its name has %zu bytes, more than %d, so it is called %d\n",
			i + 1, plan->columns[i].too_long, TABLE_NAME - 1, i + 1);
}

/* Line by line, up to a few. */
static void note_columns(struct table_plan *plan)
{
	int count = 0;

	note_name(plan);
	note_commas(plan);
	for (int i = 0; i < plan->count; i++) {
		const struct table_column *column = plan->columns + i;
		const bool commas = !column->commas && !column->lax && column->cells.words &&
				    column->cells.commas == column->cells.words;

		if (column->fixed || column->role > TABLE_TEXT || (!column->lax && !commas) ||
			count++ >= NOTES_MOST)
			continue;
		(column->lax ? note_lax : note_words)(plan, column);
	}
	if (count > NOTES_MOST)
		text_addf(&plan->notes, "and so with %d columns more\n", count - NOTES_MOST);
}

/* What a column is, by its cells. */
static enum table_role settled(const struct table_plan *plan, struct table_column *column)
{
	const struct table_cells *cells = &column->cells;

	if (plan->schema)
		return TABLE_CATEGORY; /* it does not say how numbers are to be read */
	column->commas = cells->commas == cells->words && cells->thousands < cells->words &&
			 !cells->points && plan->separator != ',';
	column->lax = !column->commas && cells->numbers + cells->words >= NUMBERS_LEAST &&
		      100 * cells->numbers >= NUMBERS_PERCENT * (cells->numbers + cells->words);
	if (column->commas || column->lax)
		return TABLE_NUMBER;
	return column->role == TABLE_TEXT ? TABLE_TEXT : TABLE_CATEGORY;
}

bool table_plan_settle(struct table_plan *plan)
{
	bool again = false;

	for (int i = 0; i < plan->count; i++) {
		struct table_column *column = plan->columns + i;
		enum table_role role;

		if (column->fixed || column->role > TABLE_TEXT || !column->cells.words)
			continue;
		role = settled(plan, column);
		again |= column->role == TABLE_NUMBER && role != TABLE_NUMBER;
		if (role == TABLE_NUMBER)
			vocabulary_release(&column->vocabulary);
		column->role = role;
	}
	text_release(&plan->notes); /* of an earlier pass */
	if (!again)
		note_columns(plan);
	return again;
}
