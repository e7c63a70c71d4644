/*
 * A line for each column, then what looks wrong. Text from a file is shown without control
 * characters.
 */
#include "data_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

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

static void print_plain(const char *words)
{
	for (; *words; words++)
		putchar((unsigned char)*words < ' ' || *words == 0x7f ? '.' : *words);
}

static void print_values(const struct table_info_column *column, int64_t rows)
{
	const bool label = !strcmp(column->kind, "label");
	const bool numbers = column->numbers && !column->words && !label;

	if (column->number) {
		printf("a number, from %g to %g, %s%" PRId64 " values", column->least, column->most,
			column->more ? "more than " : "", column->different);
		return;
	}
	if (numbers) {
		printf("from %g to %g, mean %g", column->least, column->most, column->mean);
		return;
	}
	print("%s%" PRId64 " %s", column->more ? "more than " : "", column->different,
		label ? "classes" : "different");
	for (int i = 0; i < column->shown_count && strcmp(column->kind, "text") != 0; i++) {
		print("%s ", i ? "," : ":");
		print_plain(column->shown[i].name);
		printf(" %.1f %%", 100 * (double)column->shown[i].count / (double)rows);
	}
	if (column->different > column->shown_count && strcmp(column->kind, "text") != 0)
		printf(", ...");
}

void data_table_print(const struct table_info *info)
{
	const int width = name_width(info);

	print("\n  %-*s kind      inputs  missing  values\n", width, "column");
	for (int i = 0; i < info->count; i++) {
		const struct table_info_column *column = info->columns + i;

		printf("  ");
		print_plain(column->name);
		print("%*s %-8s  %6d  %7" PRId64 "  ",
			(int)strlen(column->name) < width ? width - (int)strlen(column->name) : 0,
			"", column->kind, column->inputs, column->missing);
		print_values(column, info->rows);
		putchar('\n');
	}
	if (!info->headed)
		printf("\n  The first line is taken as a row (table.header); columns are "
		       "numbered.\n");
	if (info->wrong_count)
		printf("\n  looks wrong\n");
	for (int i = 0; i < info->wrong_count; i++) {
		printf("    ");
		print_plain(info->wrong[i].words);
		putchar('\n');
	}
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
