/* Errors of cells describe the value; the caller prefixes file, row and column. */
#include "records/columns.h"

#include <stdio.h>
#include <string.h>

#include "base/words/decimal.h"
#include "base/grow.h"
#include "base/mem.h"
#include "base/words/moment.h"

enum { NAME_MOST = 1024 };

const char *cell_shown(struct csv_field cell, char out[CELL_SHOWN])
{
	const size_t size = cell.size < 60 ? cell.size : 60;

	for (size_t i = 0; i < size; i++)
		out[i] = (unsigned char)cell.at[i] < ' ' ? '.' : cell.at[i];
	memcpy(out + size, cell.size > size ? "..." : "", cell.size > size ? 4 : 1);
	return out;
}

/* Blank lines may follow the last row. */
static bool only_blanks(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (!bytes[i] || !strchr(" \t\r\n", bytes[i]))
			return false;
	return true;
}

int64_t columns_row(const struct mapped *file, size_t at, char separator, int columns, int most,
	uint64_t number, struct csv_field *fields, struct err *err)
{
	const char *bytes = (const char *)file->data + at;
	const size_t left = file->size - at;
	size_t used;
	const int n = csv_row(bytes, left, separator, fields, columns, &used);

	if (n == 1 && strchr(" \r\n", *bytes) && only_blanks(bytes, left))
		return 0;
	if (n < 0)
		return err_set(err, ERR_FORMAT, "%s, row %llu: %s", file->path,
			(unsigned long long)number, csv_reason(n));
	if (n != columns)
		return err_set(err, ERR_FORMAT,
			"%s, row %llu: has %d column%s, and row 1 has %d "
			"(stream.on_bad=skip leaves such rows out)",
			file->path, (unsigned long long)number, n, n == 1 ? "" : "s", columns);
	if (used > (size_t)most)
		return err_set(err, ERR_FORMAT, "%s, row %llu: is longer than %d bytes", file->path,
			(unsigned long long)number, most);
	return (int64_t)used;
}

size_t columns_line(const struct mapped *file, size_t at)
{
	const unsigned char *from = file->data + at, *newline = memchr(from, '\n', file->size - at);

	return newline ? (size_t)(newline - from) + 1 : file->size - at;
}

int columns_bad_cell(
	const struct mapped *file, uint64_t number, const char *column, int code, struct err *err)
{
	const struct err why = err ? *err : (struct err){0};

	if (code >= 0 || code == ERR_MEMORY)
		return code;
	return err_set(err, code, "%s, row %llu, column %s: %.300s", file->path,
		(unsigned long long)number, column, why.message);
}

/* Up to this many classes, unused ones cost nothing. */
enum { GAPS_LEAST = 100 };

enum label_kind label_kind(const char *word)
{
	static const char *const words[] = {
		[LABEL_NUMBERS] = "numbers", [LABEL_NAMES] = "names", [LABEL_AUTO] = "auto"};
	int kind = LABEL_NUMBERS;

	while (kind < LABEL_AUTO && strcmp(words[kind], word) != 0)
		kind++;
	return (enum label_kind)kind;
}

/* Counts a number that comes for the first time. */
static int count_number(struct label_column *column, int64_t label, struct err *err)
{
	const size_t byte = (size_t)label / 8, before = column->room;
	const unsigned char bit = (unsigned char)(1u << label % 8);

	if (!grow_room(&column->came, &column->room, byte + 1, 1))
		return err_memory(err, "labels", byte + 1);
	memset(column->came + before, 0, column->room - before);
	column->different += !(column->came[byte] & bit);
	column->came[byte] |= bit;
	return 0;
}

static bool has_gaps(const struct label_column *column)
{
	return column->kind == LABEL_AUTO && !column->named && column->largest >= GAPS_LEAST &&
	       2 * column->different < column->largest;
}

static int named_label(
	struct label_column *column, struct csv_field cell, int64_t *label, struct err *err)
{
	char name[NAME_MOST], shown[CELL_SHOWN];

	if (!cell.doubled) {
		*label = vocabulary_number(&column->vocabulary, cell.at, cell.size, err);
	} else {
		if (!csv_text(&cell, name, sizeof(name)))
			return err_set(err, ERR_FORMAT, "%s is too long for a name",
				cell_shown(cell, shown));
		*label = vocabulary_number(&column->vocabulary, name, strlen(name), err);
	}
	if (*label >= COLUMN_LABELS)
		return err_set(err, ERR_INPUT, "more than %d different names", COLUMN_LABELS);
	return *label < 0 ? (int)*label : 0;
}

int label_column_cell(
	struct label_column *column, struct csv_field cell, int64_t *label, struct err *err)
{
	cell = csv_trim(&cell);
	if (!cell.size)
		return err_set(err, ERR_FORMAT,
			"the label is empty (stream.on_bad=skip leaves such rows out)");
	if (column->named || column->kind == LABEL_NAMES) {
		column->named = true;
		return named_label(column, cell, label, err);
	}
	/* Numbers that cannot be classes, as -1 and 1, are names. */
	if (!decimal_whole(cell.at, cell.size, label) || *label < 0 || *label >= COLUMN_LABELS) {
		column->named = true;
		return COLUMN_AGAIN;
	}
	if (*label > column->largest)
		column->largest = *label;
	return column->kind == LABEL_AUTO ? count_number(column, *label, err) : 0;
}

int label_column_end(struct label_column *column, int *classes, uint32_t **ranks, struct err *err)
{
	*ranks = NULL;
	if (has_gaps(column)) {
		column->named = true;
		return COLUMN_AGAIN;
	}
	*classes = (int)(column->named ? (int64_t)column->vocabulary.names.count
				       : column->largest + 1);
	return column->named ? vocabulary_sort(&column->vocabulary, ranks, err) : 0;
}

void label_column_release(struct label_column *column)
{
	vocabulary_release(&column->vocabulary);
	mem_free(column->came);
	*column = (struct label_column){0};
}

int time_column_cell(enum time_kind *kind, struct csv_field cell, int64_t *time, struct err *err)
{
	char shown[CELL_SHOWN];

	cell = csv_trim(&cell);
	if (*kind == TIME_UNKNOWN) {
		*kind = decimal_whole(cell.at, cell.size, time)    ? TIME_WHOLE
			: moment_seconds(cell.at, cell.size, time) ? TIME_SECONDS
								   : TIME_DATE;
	}
	if (*kind == TIME_DATE && moment_date(cell.at, cell.size, time))
		return 0;
	if (*kind == TIME_WHOLE && decimal_whole(cell.at, cell.size, time))
		return 0;
	if (*kind != TIME_DATE && moment_seconds(cell.at, cell.size, time)) {
		if (*kind == TIME_SECONDS)
			return 0;
		*kind = TIME_SECONDS;
		return COLUMN_AGAIN;
	}
	return err_set(err, ERR_FORMAT, "%s is not a %s", cell_shown(cell, shown),
		*kind == TIME_DATE ? "date like 2024-02-29T12:30:00" : "number of seconds");
}

int part_column_cell(struct csv_field cell, enum records_part *part, struct err *err)
{
	char shown[CELL_SHOWN];

	cell = csv_trim(&cell);
	if (part_from_word(cell.at, cell.size, part))
		return 0;
	return err_set(err, ERR_FORMAT, "%s is not one of train, val, test, pretrain",
		cell_shown(cell, shown));
}
