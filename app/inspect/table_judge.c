/* What looks wrong about a table, by its counts. Shared by retain run and data info. */
#include "inspect/table_info_impl.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/words/decimal.h"
#include "streams/sight.h"

enum { ROWS_LEAST = 20, QUANTITY = 50, WRONG_MOST = 40 };

static void add(struct survey *s, const struct table_info_wrong *wrong)
{
	struct table_info *info = s->info;

	if (info->wrong_count < WRONG_MOST &&
		grow_room(&info->wrong, &s->wrong_room, (size_t)info->wrong_count + 1,
			sizeof(*info->wrong)))
		info->wrong[info->wrong_count++] = *wrong;
}

/* Something that is worth a look, or costs accuracy. */
enum weight { ODD, COSTS };

static void say(struct survey *s, enum weight weight, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void say(struct survey *s, enum weight weight, const char *format, ...)
{
	struct table_info_wrong wrong = {.costs = weight == COSTS};
	va_list list;

	va_start(list, format);
	vsnprintf(wrong.words, sizeof(wrong.words), format, list);
	va_end(list);
	add(s, &wrong);
}

/* The share of rows that a guess by this column's values alone gets right. */
static double told_by(const struct seen *seen, int64_t rows)
{
	int64_t right = 0;

	for (size_t i = 0; i < seen->values.names.count; i++)
		right += seen->agree[i];
	return rows ? (double)right / (double)rows : 0;
}

/* Words that are dates, free text or ids. False: they are none of these. */
static bool judge_words(struct survey *s, int i, bool unique)
{
	const struct table_info_column *column = s->info->columns + i;
	const struct seen *seen = s->seen + i;
	const int64_t there = s->info->rows - column->missing;

	if (s->plan.columns[i].role != TABLE_CATEGORY)
		return false;
	if (20 * seen->dates >= 19 * there && s->plan.time < 0)
		say(s, COSTS,
			"column %s: its dates are read as categories; are they the times of "
			"the rows? --time %s",
			column->name, column->name);
	else if (unique && seen->blanks >= 2 * there)
		say(s, COSTS,
			"column %s: no value comes twice, and they have several words; is it a "
			"text? --set table.text=%s",
			column->name, column->name);
	else if (unique)
		say(s, COSTS,
			"column %s: no value comes twice, as in an id; leave it out: "
			"--ignore %s",
			column->name, column->name);
	else
		return false;
	return true;
}

/* What is odd about the values themselves, however often they come. */
static void judge_kind(struct survey *s, int i)
{
	const struct table_info_column *column = s->info->columns + i;
	const struct seen *seen = s->seen + i;

	if (s->plan.columns[i].role != TABLE_CATEGORY ||
		(column->words && seen->commas == column->words))
		return;
	if (seen->commas && 10 * seen->commas >= 9 * column->words)
		say(s, COSTS, "column %s: %s is not a number; write decimal points, not commas",
			column->name, seen->odd);
	else if (column->words && column->numbers > 9 * column->words)
		say(s, COSTS,
			"column %s: %" PRId64 " of %" PRId64
			" cells are not numbers (%s), so all are categories; empty cells would be "
			"missing",
			column->name, column->words, column->words + column->numbers, seen->odd);
	else if (20 * seen->dates < 19 * column->words &&
		 (column->more || column->different > s->plan.sizes.slots))
		say(s, ODD,
			"column %s: has %s%" PRId64
			" different values; the first %d have an input each, the rest share them "
			"(schema.slots)",
			column->name, column->more ? "more than " : "", column->different,
			s->plan.sizes.slots);
}

/* Of a table's beginning, a few rows say nothing about the others. */
static void judge_constant(
	struct survey *s, const struct table_info_column *column, const char *value)
{
	if (!s->cut)
		say(s, ODD, "column %s: is always %s; it tells nothing", column->name, value);
	else if (s->info->rows >= ROWS_LEAST)
		say(s, ODD, "column %s: is always %s in the first %" PRId64 " rows", column->name,
			value, s->info->rows);
}

static void judge_input(struct survey *s, int i, double majority)
{
	const struct table_info_column *column = s->info->columns + i;
	const struct seen *seen = s->seen + i;
	const int64_t rows = s->info->rows, there = rows - column->missing;
	const bool unique = !column->more ? column->different == there
					  : seen->growing == there; /* more than can be counted */
	const bool number = s->plan.columns[i].role == TABLE_NUMBER;

	if (!there)
		say(s, ODD, "column %s: has no values", column->name);
	else if (s->plan.columns[i].role == TABLE_DATE && s->plan.time < 0)
		say(s, ODD,
			"column %s: its dates become days, week and year; are they the times "
			"of the rows? --time %s",
			column->name, column->name);
	else if (column->different == 1 && !column->more && !column->missing)
		judge_constant(s, column, name_list_at(&seen->values.names, 0));
	else if (rows >= ROWS_LEAST && number && unique && seen->growing == there)
		say(s, COSTS, "column %s: counts up, as an id does; leave it out: --ignore %s",
			column->name, column->name);
	else if (rows >= ROWS_LEAST && judge_words(s, i, unique))
		return;
	else if (rows >= ROWS_LEAST && !column->more && column->different <= rows / 4 &&
		 majority < 0.98 && told_by(seen, there) > 0.995 && there > rows / 2)
		say(s, ODD,
			"column %s: gives the label away (%.1f %% of the rows by its value alone); "
			"was it known before the label?",
			column->name, 100 * told_by(seen, there));
	judge_kind(s, i);
}

#define QUANTITY_WORDS                                                                             \
	"it looks like a quantity, and is learned as classes; is it the label? "                   \
	"--target number learns it as it is, --label NAME names another column"

static void judge_numbers(struct survey *s, const struct table_info_column *column)
{
	const bool named = s->scan.class_names.count;

	/* Numbers from 1 on, without a gap, are as good as those from 0 on. */
	if (column->most + 1 <= (double)column->different ||
		(!named && column->least == 1 && column->most == (double)column->different))
		return;
	if (named)
		say(s, ODD,
			"label %s: has %" PRId64
			" different numbers from %g to %g; they are taken as names (table.labels); "
			"--target number learns them as "
			"quantities",
			column->name, column->different, column->least, column->most);
	else
		say(s, ODD,
			"label %s: has %" PRId64
			" different numbers from %g to %g; classes are 0 to %g, those between and "
			"below never come",
			column->name, column->different, column->least, column->most, column->most);
}

/* Whether words are a number but for a unit: $5, 5 %, 1,234.5. Bytes beyond ASCII are one, too. */
static bool has_unit(const char *words)
{
	char number[CELL_SHOWN];
	size_t size = 0;
	double value;

	for (; *words; words++)
		if (!strchr("\"$%, ", *words) && (unsigned char)*words < 128)
			number[size++] = *words;
	return decimal_number(number, size, &value);
}

/* Labels some of which are words. */
static void judge_label_words(struct survey *s, const struct table_info_column *column)
{
	const struct seen *seen = s->seen + s->plan.label;
	const bool many = column->more || 10 * column->different > s->info->rows;
	const char *more = column->more ? "more than " : "";

	if (column->words && column->numbers > 9 * column->words)
		say(s, COSTS,
			"label %s: has words in %" PRId64 " of %" PRId64
			" rows (%s), so all labels are classes; --target number "
			"--set stream.on_bad=skip learns the numbers",
			column->name, column->words, column->words + column->numbers, seen->odd);
	else if (many && 10 * seen->commas >= 9 * column->words && seen->commas)
		say(s, COSTS,
			"label %s: %s is not a number, so all are classes; write decimal points, "
			"not commas",
			column->name, seen->odd);
	else if (many && has_unit(seen->odd))
		say(s, COSTS,
			"label %s: %s is not a number, so all are classes; write digits and a "
			"decimal point alone",
			column->name, seen->odd);
	else if (many)
		say(s, COSTS,
			"label %s: has %s%" PRId64 " classes in %" PRId64
			" rows; is it the label? --label NAME names another column",
			column->name, more, column->different, s->info->rows);
}

static void judge_label(struct survey *s, double *majority)
{
	const struct table_info_column *column = s->info->columns + s->plan.label;
	const struct seen *seen = s->seen + s->plan.label;
	const int64_t rows = s->info->rows;
	const char *more = column->more ? "more than " : "";

	*majority = column->shown_count ? (double)column->shown[0].count / (double)rows : 1;
	if (column->different == 1 && !column->more) {
		if (!s->cut)
			say(s, COSTS, "label %s: is always %s; there is nothing to learn",
				column->name, column->shown[0].name);
	} else if (s->number) {
		*majority = 1; /* no value of a column stands for a class */
	} else if (column->numbers == rows && seen->wholes < rows) {
		say(s, COSTS, "label %s: has numbers with fractions; " QUANTITY_WORDS,
			column->name);
	} else if (column->numbers == rows &&
		   (column->more ||
			   (column->different > QUANTITY && 10 * column->different > rows))) {
		say(s, COSTS,
			"label %s: has %s%" PRId64 " different numbers in %" PRId64
			" rows; " QUANTITY_WORDS,
			column->name, more, column->different, rows);
	} else if (column->numbers == rows) {
		judge_numbers(s, column);
	} else if (rows >= ROWS_LEAST) {
		judge_label_words(s, column);
	}
}

/* Class after class: what was learned first is asked for last, if ever. */
static void judge_order(struct survey *s)
{
	const struct numbers *rows = &s->scan.rows;
	int64_t changes = 0;

	for (size_t i = 1; i < rows->count; i++)
		changes += rows->at[i] >> TABLE_AT_BITS != rows->at[i - 1] >> TABLE_AT_BITS;
	if (!s->number && s->as_it_lies && s->plan.time < 0 && changes &&
		s->info->rows >= ROWS_LEAST &&
		sight_in_runs((int64_t)rows->count, changes, s->scan.classes))
		say(s, COSTS,
			"rows lie class by class; unless that is how they came, "
			"--set stream.order=random "
			"mixes them");
}

static void add_notes(struct survey *s)
{
	struct table_info_wrong wrong = {.costs = true, .noted = true};
	const char *at = s->plan.notes.data;

	for (const char *end; at && (end = strchr(at, '\n')); at = end + 1) {
		snprintf(wrong.words, sizeof(wrong.words), "%.*s", (int)(end - at), at);
		add(s, &wrong);
	}
}

/* What costs comes first, else as it was found. */
static void sort(struct table_info *info)
{
	for (int i = 1; i < info->wrong_count; i++)
		for (int k = i; k && info->wrong[k].costs && !info->wrong[k - 1].costs; k--) {
			const struct table_info_wrong other = info->wrong[k];

			info->wrong[k] = info->wrong[k - 1];
			info->wrong[k - 1] = other;
		}
}

void table_judge(struct survey *s)
{
	double majority = 1;

	add_notes(s);
	if (s->plan.label >= 0) {
		judge_label(s, &majority);
		judge_order(s);
	}
	for (int i = 0; i < s->plan.count; i++)
		if (s->plan.columns[i].input >= 0)
			judge_input(s, i, majority);
	sort(s->info);
}
