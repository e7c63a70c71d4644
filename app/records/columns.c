/* Errors of cells say what is wrong with the value; the caller puts file, row and column before. */
#include "records/columns.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "formats/decimal.h"
#include "formats/moment.h"

enum { NAME_MOST = 1024 };

const char *cell_shown(struct csv_field cell, char out[CELL_SHOWN])
{
	const size_t size = cell.size < 60 ? cell.size : 60;

	for (size_t i = 0; i < size; i++)
		out[i] = (unsigned char)cell.at[i] < ' ' ? '.' : cell.at[i];
	memcpy(out + size, cell.size > size ? "..." : "", cell.size > size ? 4 : 1);
	return out;
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
	char shown[CELL_SHOWN];

	cell = csv_trim(cell);
	if (!cell.size)
		return err_set(err, ERR_FORMAT, "is empty");
	if (column->named)
		return named_label(column, cell, label, err);
	if (!decimal_whole(cell.at, cell.size, label)) {
		column->named = true;
		return COLUMN_AGAIN;
	}
	if (*label < 0 || *label >= COLUMN_LABELS)
		return err_set(err, ERR_FORMAT, "%s is not from 0 to %d", cell_shown(cell, shown),
			COLUMN_LABELS - 1);
	if (*label > column->largest)
		column->largest = *label;
	return 0;
}

int label_column_end(struct label_column *column, int *classes, uint32_t **ranks, struct err *err)
{
	*ranks = NULL;
	*classes = (int)(column->named ? (int64_t)column->vocabulary.names.count
				       : column->largest + 1);
	return column->named ? vocabulary_sort(&column->vocabulary, ranks, err) : 0;
}

void label_column_release(struct label_column *column)
{
	vocabulary_release(&column->vocabulary);
	*column = (struct label_column){0};
}

int time_column_cell(enum time_kind *kind, struct csv_field cell, int64_t *time, struct err *err)
{
	char shown[CELL_SHOWN];

	cell = csv_trim(cell);
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
	return err_set(err, ERR_FORMAT, "%s is no %s", cell_shown(cell, shown),
		*kind == TIME_DATE ? "date like 2024-02-29T12:30:00" : "number of seconds");
}

int part_column_cell(struct csv_field cell, enum records_part *part, struct err *err)
{
	char shown[CELL_SHOWN];

	cell = csv_trim(cell);
	if (part_from_word(cell.at, cell.size, part))
		return 0;
	return err_set(err, ERR_FORMAT, "%s is none of train, val, test, pretrain",
		cell_shown(cell, shown));
}
