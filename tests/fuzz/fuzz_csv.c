/* Rows of CSV files, and what cells may mean. Fields must lie within the bytes. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "records/columns.h"
#include "formats/csv.h"
#include "base/words/decimal.h"
#include "base/words/moment.h"
#include "fuzz.h"

enum { FIELDS = 8, NUMBER_MOST = 64 };

static void check_field(const char *row, size_t size, const struct csv_field *field)
{
	const struct csv_field cell = csv_trim(field);
	char *text = malloc(field->size + 1), shown[CELL_SHOWN];
	enum time_kind kind = TIME_UNKNOWN;
	enum records_part part;
	int64_t whole, time;
	double number;

	fuzz_check(text && field->at >= row && field->at + field->size <= row + size);
	fuzz_check(csv_text(field, text, field->size + 1));
	fuzz_check(strnlen(text, field->size + 1) <= field->size);
	fuzz_check(!csv_text(field, text, 0));
	/* Longer ones are not numbers, however many zeros they begin with. */
	if (cell.size < NUMBER_MOST && decimal_whole(cell.at, cell.size, &whole))
		fuzz_check(decimal_number(cell.at, cell.size, &number));
	if (decimal_number(cell.at, cell.size, &number))
		for (size_t i = 0; i < cell.size; i++)
			fuzz_check(strchr("0123456789+-.eE", cell.at[i]) && cell.at[i]);
	moment_seconds(cell.at, cell.size, &time);
	moment_date(cell.at, cell.size, &time);
	time_column_cell(&kind, cell, &time, NULL);
	part_column_cell(cell, &part, NULL);
	cell_shown(cell, shown);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *at = (const char *)data, *const end = at + size;
	struct label_column labels = {0};
	struct csv_field fields[FIELDS];
	uint32_t *ranks = NULL;
	char separator;
	int classes;

	if (!size)
		return 0;
	separator = csv_separator(at, size);
	at += csv_mark(at, size);
	while (at < end) {
		size_t used = 0;
		const size_t left = (size_t)(end - at);
		const int n = csv_row(at, left, separator, fields, FIELDS, &used);
		int64_t label;

		if (n < 0) {
			fuzz_check(csv_reason(n));
			break;
		}
		fuzz_check(n > 0 && used > 0 && used <= left);
		for (int i = 0; i < n && i < FIELDS; i++)
			check_field(at, left, &fields[i]);
		if (label_column_cell(&labels, csv_trim(&fields[0]), &label, NULL) < 0)
			break;
		at += used;
	}
	if (at == end && !label_column_end(&labels, &classes, &ranks, NULL))
		fuzz_check(classes >= 0);
	mem_free(ranks);
	label_column_release(&labels);
	return 0;
}
