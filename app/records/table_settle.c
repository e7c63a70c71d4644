/* Decides the kind of columns that no key defines, by all of their cells. */
#include "records/table_plan.h"

#include <inttypes.h>

/* A column is numeric with exceptions if it has this many cells and this share are numbers. */
enum { NUMBERS_LEAST = 20, NUMBERS_PERCENT = 95 };

enum { NOTES_MOST = 5 };

/* Words are ids if there are this many, and this share of them never came before. */
enum { IDS_LEAST = 50, IDS_PERCENT = 95 };

static void note_lax(struct table_plan *plan, const struct table_column *column)
{
	const struct table_cells *cells = &column->cells;
	const int64_t odd = cells->words - cells->written;
	const bool more = odd > 1;

	text_addf(&plan->notes,
		"column %s: %" PRId64 " cell%s of %" PRId64 " %s not %snumber%s, %s\"%s\" in row "
		"%" PRIu64 "; %s as missing (table.categorical=auto,%s: the column has "
		"categories)\n",
		column->name, odd, more ? "s" : "", cells->numbers + cells->words,
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

/* All columns of numbers that have decimal commas, or groups and units, in one line. */
static void note_written(struct table_plan *plan, bool commas)
{
	const struct table_column *first = NULL;
	int count = 0;

	for (int i = 0; i < plan->count; i++) {
		const struct table_column *column = plan->columns + i;

		if (column->role != TABLE_NUMBER || column->fixed || !column->cells.words ||
			column->lax || column->commas != commas)
			continue;
		if (!count++)
			first = column;
	}
	if (!count)
		return;
	text_addf(&plan->notes, "column%s %s", count > 1 ? "s" : "", first->name);
	if (count > 1)
		text_addf(&plan->notes, " and %d more", count - 1);
	text_addf(&plan->notes,
		": numbers %s, like %s in row %" PRIu64
		" (--set table.categorical=auto,%s makes them categories)\n",
		commas ? "have decimal commas" : "are written with units or in groups",
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

/* All of them in one line. */
static void note_ids(struct table_plan *plan)
{
	const struct table_column *first = NULL;
	int count = 0;

	for (int i = 0; i < plan->count; i++)
		if (plan->columns[i].left_out && !count++)
			first = plan->columns + i;
	if (!count)
		return;
	text_addf(&plan->notes, "column%s %s", count > 1 ? "s" : "", first->name);
	for (const struct table_column *at = first + 1; at < plan->columns + plan->count; at++)
		if (at->left_out)
			text_addf(&plan->notes, ", %s", at->name);
	if (count > 1)
		text_addf(&plan->notes, ": values never come again, as those of ids; left out "
					"(--set table.ids=keep, or --set table.text=NAME for a "
					"text, keeps them)\n");
	else
		text_addf(&plan->notes, ": %s; left out (--set table.ids=keep keeps it)\n",
			first->cells.words ? "its values never come again, as those of ids or notes"
					   : "counts up, as row numbers do");
}

/* Line by line, up to a few. */
static void note_columns(struct table_plan *plan)
{
	int count = 0;

	note_name(plan);
	note_ids(plan);
	note_written(plan, true);
	note_written(plan, false);
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

/* Dates, with few exceptions. */
static bool has_dates(struct table_column *column)
{
	const struct table_cells *cells = &column->cells;
	const int64_t all = cells->numbers + cells->words;

	column->lax = cells->dates < all;
	column->clock = cells->clocks;
	column->day_first = cells->day_first > cells->month_first;
	return cells->dates == all ||
	       (all >= NUMBERS_LEAST && 100 * cells->dates >= NUMBERS_PERCENT * all);
}

/* Whether all words are like 1,234, and commas may part thousands or decimals. */
static bool is_unclear(const struct table_plan *plan, const struct table_cells *cells)
{
	return cells->thousands == cells->words && plan->separator != ',';
}

/* What a column is, by its cells. */
static enum table_role settled(const struct table_plan *plan, struct table_column *column)
{
	const struct table_cells *cells = &column->cells;
	const int64_t all = cells->numbers + cells->words;

	if (plan->schema)
		return TABLE_CATEGORY; /* it does not say how numbers are to be read */
	if (cells->dates && has_dates(column))
		return TABLE_DATE;
	column->commas = column->lax = column->clock = column->day_first = false;
	if (!cells->words)
		return TABLE_NUMBER;
	if (cells->written == cells->words && !is_unclear(plan, cells))
		return TABLE_NUMBER;
	column->commas =
		cells->commas == cells->words && !is_unclear(plan, cells) && !cells->points;
	column->lax = !column->commas && all >= NUMBERS_LEAST &&
		      100 * (cells->numbers + cells->written) >= NUMBERS_PERCENT * all;
	if (column->commas || column->lax)
		return TABLE_NUMBER;
	return column->role == TABLE_TEXT ? TABLE_TEXT : TABLE_CATEGORY;
}

/* Whether a column's values never come again: words, or numbers that count up. */
static bool is_id(const struct table_column *column)
{
	const struct table_cells *cells = &column->cells;

	if (column->role == TABLE_NUMBER)
		return !cells->words && cells->numbers >= IDS_LEAST &&
		       cells->counting == cells->numbers - 1;
	return (column->role == TABLE_CATEGORY || column->role == TABLE_TEXT) &&
	       cells->looked >= IDS_LEAST &&
	       100 * (int64_t)column->met.names.count >= IDS_PERCENT * cells->looked;
}

/* How many inputs there are beside a column. */
static int inputs_but(const struct table_plan *plan, int but)
{
	int inputs = 0;

	for (int i = 0; i < plan->count; i++)
		inputs += i != but && plan->columns[i].role <= TABLE_TEXT;
	return inputs;
}

/* Something must remain to learn from; where there is nothing but dates, text is that. */
static void leave_out_ids(struct table_plan *plan)
{
	int inputs = 0;

	for (int i = 0; i < plan->count; i++)
		inputs += plan->columns[i].role <= TABLE_CATEGORY && !is_id(plan->columns + i);
	for (int i = 0; i < plan->count && !plan->keep_ids && !plan->schema; i++) {
		struct table_column *column = plan->columns + i;

		if (column->fixed || column->role > TABLE_TEXT || !is_id(column) ||
			(!inputs && (column->role == TABLE_TEXT || !inputs_but(plan, i))))
			continue;
		column->left_out = true;
		column->role = TABLE_IGNORED;
		vocabulary_release(&column->vocabulary);
	}
}

bool table_plan_settle(struct table_plan *plan)
{
	bool again = false;

	for (int i = 0; i < plan->count; i++) {
		struct table_column *column = plan->columns + i;
		enum table_role role;

		if (column->fixed || column->role > TABLE_TEXT ||
			!(column->cells.words || column->cells.dates))
			continue;
		role = settled(plan, column);
		again |= column->role == TABLE_NUMBER && role == TABLE_CATEGORY;
		if (role != TABLE_CATEGORY)
			vocabulary_release(&column->vocabulary);
		column->role = role;
	}
	if (!again)
		leave_out_ids(plan);
	text_release(&plan->notes); /* of an earlier pass */
	if (!again)
		note_columns(plan);
	return again;
}
