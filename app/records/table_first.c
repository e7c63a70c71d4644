/* Implements the header rules of table_plan.h. */
#include "records/table_first.h"

#include <string.h>

#include "base/words/decimal.h"
#include "base/paths.h"

/* So many lines below the first are looked at for what it is; or for whether all is a table. */
enum { HEADER_LINES = 1000, LIKELY_LINES = 20, LIKELY_BYTES = 1 << 16 };

/* What a cell of the first lines is. */
static enum schema_is cell_is(char separator, struct csv_field cell)
{
	const struct schema_value value = schema_value(cell.at, cell.size);
	double number;

	return schema_written_number(&value, separator != ',', &number) ? SCHEMA_IS_NUMBER
									: value.is;
}

/* How many columns the line has that begins a text, and whether a number is among them. */
static int glance(const char *bytes, size_t size, struct csv_field *fields, bool *number)
{
	const char separator = size ? csv_separator(bytes, size) : ',';
	size_t used;
	const int n = size ? csv_row(bytes, size, separator, fields, TABLE_COLUMNS, &used) : 0;

	*number = false;
	for (int i = 0; i < n && i < TABLE_COLUMNS; i++)
		*number |= cell_is(separator, csv_trim(&fields[i])) == SCHEMA_IS_NUMBER;
	return n;
}

static size_t next_line(const char *bytes, size_t size)
{
	const char *end = memchr(bytes, '\n', size);

	return end ? (size_t)(end - bytes) + 1 : size;
}

/* Whether a line that begins with # is not a header: that has the columns of what is below it. */
static bool is_comment(const char *bytes, size_t size, struct csv_field *fields)
{
	const size_t used = next_line(bytes, size);
	const char *below = bytes + used;
	const size_t left = size - used, more = next_line(below, left);
	bool number, numbers[2];
	const int n = glance(bytes, size, fields, &number);

	if (n < 2 || n != glance(below, left, fields, &numbers[0]))
		return true;
	return !numbers[0] && n == glance(below + more, left - more, fields, &numbers[1]) &&
	       numbers[1];
}

static bool line_is_blank(const char *bytes, size_t size)
{
	size_t i = 0;

	while (i < size && (bytes[i] == ' ' || bytes[i] == '\r' || bytes[i] == '\n'))
		i++;
	return i == size;
}

bool table_first_leads(const char *bytes, size_t size, struct csv_field *fields)
{
	return line_is_blank(bytes, next_line(bytes, size)) ||
	       (*bytes == '#' && is_comment(bytes, size, fields));
}

void table_first_find(struct table_plan *plan, struct table_lines *lines, struct csv_field *fields)
{
	while (lines->size && table_first_leads(lines->bytes, lines->size, fields)) {
		const size_t used = next_line(lines->bytes, lines->size);

		plan->lead += used;
		plan->lead_lines++;
		lines->bytes += used;
		lines->size -= used;
	}
}

int table_first_check(const char *path, const struct table_lines *lines, struct err *err)
{
	const unsigned char *bytes = (const unsigned char *)lines->bytes;
	const bool marked = lines->size > 1 && ((bytes[0] == 0xff && bytes[1] == 0xfe) ||
						       (bytes[0] == 0xfe && bytes[1] == 0xff));
	const bool little = lines->size > 3 && bytes[0] && !bytes[1] && bytes[2] && !bytes[3];
	const bool big = lines->size > 3 && !bytes[0] && bytes[1] && !bytes[2] && bytes[3];

	if (lines->first_only)
		return 0;
	if (memchr(bytes, '\r', lines->size) && !memchr(bytes, '\n', lines->size))
		return err_set(err, ERR_FORMAT,
			"%s: its lines end with a carriage return alone; tr '\\r' '\\n' < %s > "
			"lines-%s makes it a table",
			path, path, path_name(path));
	if (!marked && !little && !big)
		return 0;
	return err_set(err, ERR_FORMAT,
		"%s: is UTF-16, and retain reads UTF-8; iconv -f UTF-16%s -t UTF-8 %s > "
		"utf8-%s makes it that",
		path,
		marked   ? ""
		: little ? "LE"
			 : "BE",
		path, path_name(path));
}

/* What the first line holds, and what stands below it. */
struct first_line {
	bool word, number; /* it has some */
	bool counts;       /* its numbers count up by one */
	bool heads;        /* a word of it stands above numbers alone */
	bool again;        /* a word of it comes again below */
};

static struct first_line look_at_first(char separator, const struct csv_field *fields, int count)
{
	struct first_line first = {.counts = true};
	int64_t last = 0, whole = 0;

	for (int i = 0; i < count; i++) {
		const struct csv_field cell = csv_trim(&fields[i]);
		const enum schema_is is = cell_is(separator, cell);

		first.word |= is == SCHEMA_IS_WORDS;
		if (is != SCHEMA_IS_NUMBER)
			continue;
		first.counts &= decimal_whole(cell.at, cell.size, &whole) &&
				(!first.number || (uint64_t)whole == (uint64_t)last + 1);
		first.number = true;
		last = whole;
	}
	return first;
}

/* Whether a line that was taken apart is the first one again, as where files were put together. */
static bool is_same_line(const struct csv_field *fields, const struct csv_field *below, int count)
{
	for (int i = 0; i < count; i++) {
		const struct csv_field cell = csv_trim(&below[i]), top = csv_trim(&fields[i]);

		if (cell.size != top.size || memcmp(cell.at, top.at, top.size) != 0)
			return false;
	}
	return true;
}

/* Compares the first line, whose fields are given, with lines from `bytes` on. */
static void look_below(struct first_line *first, const struct csv_field *fields,
	const struct table_plan *plan, const char *bytes, size_t size)
{
	bool numbers[TABLE_COLUMNS] = {0}, words[TABLE_COLUMNS] = {0};
	struct csv_field below[TABLE_COLUMNS];
	size_t used;

	for (int line = 0; line < HEADER_LINES; line++, bytes += used, size -= used) {
		const size_t mark = csv_mark(bytes, size);
		bool same;
		int n;

		bytes += mark;
		size -= mark;
		n = size ? csv_row(bytes, size, plan->separator, below, TABLE_COLUMNS, &used) : -1;
		if (n < 0)
			break;
		same = n == plan->count && is_same_line(fields, below, n);
		for (int i = 0; n == plan->count && i < n; i++) {
			const struct csv_field cell = csv_trim(&below[i]),
					       top = csv_trim(&fields[i]);
			const enum schema_is is = cell_is(plan->separator, cell);

			numbers[i] |= is == SCHEMA_IS_NUMBER && !same;
			words[i] |= is == SCHEMA_IS_WORDS && !same;
			first->again |= is == SCHEMA_IS_WORDS && cell.size == top.size &&
					!memcmp(cell.at, top.at, top.size);
		}
	}
	for (int i = 0; i < plan->count; i++)
		first->heads |= numbers[i] && !words[i] &&
				cell_is(plan->separator, csv_trim(&fields[i])) == SCHEMA_IS_WORDS;
}

bool table_first_heads(const struct table_plan *plan, const struct csv_field *fields,
	const char *below, size_t size)
{
	struct first_line first = look_at_first(plan->separator, fields, plan->count);

	if (!first.word || !first.counts)
		return false;
	look_below(&first, fields, plan, below, size);
	return (!first.number && first.heads) || !first.again;
}

/* What the first line alone says: names have no number among them, and all differ. */
bool table_first_heads_alone(const struct table_plan *plan, const struct csv_field *fields)
{
	for (int i = 0; i < plan->count; i++) {
		const struct csv_field cell = csv_trim(&fields[i]);

		if (cell_is(plan->separator, cell) != SCHEMA_IS_WORDS)
			return false;
		for (int k = 0; k < i; k++) {
			const struct csv_field other = csv_trim(&fields[k]);

			if (other.size == cell.size && !memcmp(other.at, cell.at, cell.size))
				return false;
		}
	}
	return true;
}

/* [section] or name = value, or JSON. */
static bool is_other(const char *bytes, size_t size)
{
	size_t i = 0;

	if (strchr("[{", *bytes))
		return true;
	while (i < size &&
		(bytes[i] == '_' || bytes[i] == '.' || (bytes[i] >= 'a' && bytes[i] <= 'z') ||
			(bytes[i] >= 'A' && bytes[i] <= 'Z')))
		i++;
	while (i && i < size && bytes[i] == ' ')
		i++;
	return i && i < size && bytes[i] == '=';
}

bool table_first_likely(const char *bytes, size_t size)
{
	const size_t looked = size < LIKELY_BYTES ? size : LIKELY_BYTES;
	const size_t mark = csv_mark(bytes, looked);
	struct csv_field fields[TABLE_COLUMNS];
	struct table_lines lines = {bytes + mark, looked - mark, false};
	struct table_plan plan = {0};
	size_t used = 0;
	int columns = 0, count = 0;

	if (memchr(bytes, '\0', looked))
		return false;
	table_first_find(&plan, &lines, fields);
	if (!lines.size || is_other(lines.bytes, lines.size))
		return false;
	plan.separator = csv_separator(lines.bytes, lines.size);
	for (; count < LIKELY_LINES && lines.size; lines.bytes += used, lines.size -= used) {
		const int n = csv_row(
			lines.bytes, lines.size, plan.separator, fields, TABLE_COLUMNS, &used);

		if (looked < size && (n < 0 || used == lines.size))
			break; /* cut short */
		if (n == 1 && line_is_blank(lines.bytes, used))
			continue;
		if (n < 2 || (columns && n != columns))
			return false;
		columns = n;
		count++;
	}
	return count > 1;
}
