/*
 * A line for each column, then what looks wrong. Text from a file is shown without control
 * characters.
 */
#include "data_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/cli.h"
#include "log/run_log.h"

enum { NAME_WIDTH = 20, NAME_MOST = 40, TOLD_MOST = 5 };

/* Of the longest name of a column, within reason. */
static int name_width(const struct table_info *info)
{
	int width = NAME_WIDTH;

	for (int i = 0; i < info->count; i++) {
		const int size = (int)strlen(info->columns[i].name);

		width = size > width ? size : width;
	}
	return width < NAME_MOST ? width : NAME_MOST;
}

static void add_plain(struct text *out, const char *words)
{
	for (; *words; words++)
		text_addf(out, "%c", (unsigned char)*words < ' ' || *words == 0x7f ? '.' : *words);
}

static void add_values(struct text *out, const struct table_info_column *column, int64_t rows)
{
	const bool label = !strcmp(column->kind, "label");
	const bool numbers = column->numbers && !column->words && !label;
	const char *more = column->more ? "more than " : "";
	char grouped[RUN_LOG_GROUPED];
	const char *different = run_log_grouped(grouped, column->different);

	if (column->number) {
		text_addf(out, "a number, from %g to %g, %s%s values", column->least, column->most,
			more, different);
		return;
	}
	if (numbers) {
		text_addf(out, "from %g to %g, mean %g", column->least, column->most, column->mean);
		return;
	}
	text_addf(out, "%s%s %s", more, different, label ? "classes" : "different");
	for (int i = 0; i < column->shown_count && strcmp(column->kind, "text") != 0; i++) {
		text_add(out, i ? ", " : ": ");
		add_plain(out, column->shown[i].name);
		text_addf(out, " %.1f %%", 100 * (double)column->shown[i].count / (double)rows);
	}
	if (column->different > column->shown_count && strcmp(column->kind, "text") != 0)
		text_add(out, ", ...");
}

static void add_column(
	struct text *out, const struct table_info_column *column, int64_t rows, int width)
{
	const int size = (int)strlen(column->name), at = width + 30;
	struct text values = {0};

	text_add(out, "  ");
	add_plain(out, column->name);
	text_addf(out, "%*s %-8s  %6d  %7" PRId64 "  ", size < width ? width - size : 0, "",
		column->kind, column->inputs, column->missing);
	add_values(&values, column, rows);
	add_fitting(out, stdout, at, at, values.data ? values.data : "");
	out->failed |= values.failed;
	text_release(&values);
}

void data_table_print(const struct table_info *info)
{
	const int width = name_width(info);
	struct text out = {0};

	text_addf(&out, "\n  %-*s kind      inputs  missing  values\n", width, "column");
	for (int i = 0; i < info->count; i++)
		add_column(&out, info->columns + i, info->rows, width);
	if (!info->headed)
		text_add(&out, "\n  The first line is taken as a row (table.header); columns are "
			       "numbered.\n");
	if (info->wrong_count)
		text_add(&out, "\n  looks wrong\n");
	for (int i = 0; i < info->wrong_count; i++) {
		struct text wrong = {0};

		add_plain(&wrong, info->wrong[i].words);
		text_add(&out, "    ");
		add_fitting(&out, stdout, 4, 6, wrong.data ? wrong.data : "");
		out.failed |= wrong.failed;
		text_release(&wrong);
	}
	print_words(stdout, &out, NULL);
}

void data_table_tell(const struct options *options, bool quiet)
{
	const char *source = options_text(options, "stream.source");
	const char *slash = strrchr(source, '/');
	const char *file = slash ? slash + 1 : source;
	struct table_info info;
	int told = 0, more = 0;

	if (!table_info_is(options) || table_info(&info, options, true, NULL))
		return;
	for (int i = 0; i < info.wrong_count; i++) {
		const struct table_info_wrong *wrong = info.wrong + i;

		if (wrong->noted || (quiet && !wrong->costs))
			continue;
		if (told == TOLD_MOST)
			more++;
		else if (++told)
			say("%s: %s: %s", wrong->costs ? "warning" : "note", file, wrong->words);
	}
	if (more)
		say("note: %s: %d more %s odd; see retain data info %s", file, more,
			more > 1 ? "things look" : "thing looks", source);
	table_info_release(&info);
}

void data_table_write(const struct table_info *info, struct jwriter *json)
{
	jwriter_list(json, "columns");
	for (int i = 0; i < info->count; i++) {
		const struct table_info_column *column = info->columns + i;

		jwriter_table(json, NULL);
		jwriter_text(json, "name", column->name);
		jwriter_text(json, "kind", column->kind);
		jwriter_whole(json, "inputs", column->inputs);
		jwriter_whole(json, "missing", column->missing);
		jwriter_whole(json, "different", column->different);
		if (column->numbers) {
			jwriter_number(json, "least", column->least);
			jwriter_number(json, "most", column->most);
			jwriter_number(json, "mean", column->mean);
		}
		jwriter_end(json);
	}
	jwriter_end(json);
	jwriter_list(json, "wrong");
	for (int i = 0; i < info->wrong_count; i++)
		jwriter_text(json, NULL, info->wrong[i].words);
	jwriter_end(json);
}
