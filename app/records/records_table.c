/*
 * Rows of a CSV file as vectors: numbers standardized by the rows before them,
 * categories one input each or hashed. A record is made from its row's text each
 * time, and from what table_scan.h knows of its block, so it always has the same
 * bits.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/paths.h"
#include "records/index_file.h"
#include "formats/mapped.h"
#include "records/records_types.h"
#include "records/table_plan.h"
#include "records/table_scan.h"

#define AT_MASK ((UINT64_C(1) << TABLE_AT_BITS) - 1)

struct table {
	struct records base;
	struct mapped file;
	struct table_plan plan;
	struct table_scan scan;
};

static void table_close(struct records *records)
{
	struct table *t = (struct table *)records;

	table_scan_release(&t->scan);
	table_plan_release(&t->plan);
	mapped_close(&t->file);
}

static int table_open(
	struct records *records, const char *path, const struct options *options, struct err *err)
{
	struct table *t = (struct table *)records;
	int code = mapped_open(&t->file, path, MAPPED_UNPACK, err);

	if (!code)
		code = table_plan_init(&t->plan, &t->file, options, err);
	if (!code)
		code = table_scan(&t->scan, &t->plan, &t->file, records_lenient(options), err);
	if (code)
		return code;
	mapped_looked(&t->file);
	records->info = (struct records_info){
		.form = RECORDS_FLOATS,
		.count = (int64_t)t->scan.rows.count,
		.classes = t->scan.classes,
		.channels = (int)t->plan.floats,
		.height = 1,
		.width = 1,
		.timed = t->plan.time >= 0,
	};
	return 0;
}

/* Manifests, which are CSV files too, are asked first. */
static bool table_guess(const char *path)
{
	return (path_ends(path, ".csv") || path_ends(path, ".tsv")) && path_exists(path) &&
	       !path_is_folder(path);
}

static struct record table_look(const struct records *records, int64_t i)
{
	const struct table *t = (const struct table *)records;
	const uint64_t label = t->scan.rows.at[i] >> TABLE_AT_BITS;

	return (struct record){.label = label == RECORD_NO_LABEL ? -1 : (int32_t)label,
		.time = t->scan.times.count ? (int64_t)t->scan.times.at[i] : 0};
}

static void table_where(const struct records *records, int64_t i, char *out, size_t size)
{
	const struct table *t = (const struct table *)records;

	snprintf(out, size, "%s, row %lld", t->file.path, (long long)i + 1 + t->plan.headed);
}

static float number_of(
	const struct table *t, struct csv_field cell, const struct table_known *known)
{
	double number;

	if (table_cell(cell, &number) != TABLE_CELL_NUMBER || known->scale == 0)
		return 0;
	number = (number - (double)known->mean) * (double)known->scale;
	return (float)fmin(fmax(number, -t->plan.clip), t->plan.clip);
}

static void put_category(const struct table *t, const struct table_column *column,
	struct csv_field cell, unsigned char *floats)
{
	uint64_t mark;
	size_t place;
	double number;
	float sum;

	if (table_cell(cell, &number) == TABLE_CELL_MISSING)
		return;
	if (t->plan.hash_bits) {
		/* The upper bits are the better mixed ones. */
		mark = mark_add(mark_words(MARK_NOTHING, column->name), cell.at, cell.size);
		mark *= UINT64_C(0x9e3779b97f4a7c15);
		place = (size_t)(mark >> (64 - t->plan.hash_bits));
	} else {
		const long found = name_list_find(&column->vocabulary.names, cell.at, cell.size);

		if (found < 0)
			return;
		place = (size_t)found;
	}
	memcpy(&sum, floats + (column->at + place) * sizeof(sum), sizeof(sum));
	sum += 1;
	memcpy(floats + (column->at + place) * sizeof(sum), &sum, sizeof(sum));
}

static void put_cells(
	const struct table *t, const struct csv_field *fields, int64_t i, unsigned char *floats)
{
	const struct table_known *known = table_known(&t->scan, &t->plan, i);

	memset(floats, 0, t->plan.floats * sizeof(float));
	for (int c = 0; c < t->plan.count; c++) {
		const struct table_column *column = t->plan.columns + c;
		const struct csv_field cell = csv_trim(fields[c]);
		float number;

		if (column->role == TABLE_NUMBER) {
			number = number_of(t, cell, known + c);
			memcpy(floats + column->at * sizeof(number), &number, sizeof(number));
		} else if (column->role == TABLE_CATEGORY) {
			put_category(t, column, cell, floats);
		}
	}
}

static int table_read(
	struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	const struct table *t = (const struct table *)records;
	const size_t floats = t->plan.floats * sizeof(float);
	const uint64_t at = t->scan.rows.at[i] & AT_MASK;
	const uint64_t next = i + 1 < records->info.count ? t->scan.rows.at[i + 1] & AT_MASK
							  : (uint64_t)t->file.size;
	/* Blank lines may follow the last row. */
	const size_t size = next - at < TABLE_ROW ? (size_t)(next - at) : TABLE_ROW;
	struct csv_field fields[TABLE_COLUMNS];
	size_t used;
	int code = record_bytes_resize(bytes, floats + size, err);

	/* The row's text stands behind the floats, until they are made. */
	if (!code)
		code = mapped_copy(&t->file, at, size, bytes->data + floats, err);
	if (code)
		return code;
	if (csv_row((const char *)bytes->data + floats, size, t->plan.separator, fields,
		    TABLE_COLUMNS, &used) != t->plan.count)
		return err_set(err, ERR_FILE, "%s, row %lld: has changed since it was opened",
			t->file.path, (long long)i + 1 + t->plan.headed);
	put_cells(t, fields, i, bytes->data);
	bytes->size = floats;
	return 0;
}

static const char *table_class_name(const struct records *records, int label)
{
	const struct name_list *names = &((const struct table *)records)->scan.class_names;

	return label >= 0 && (size_t)label < names->count ? name_list_at(names, (size_t)label)
							  : NULL;
}

const struct records_type records_table = {
	.name = "table",
	.help = "rows of a CSV file as vectors of numbers and categories",
	.options = table_options,
	.guess = table_guess,
	.size = sizeof(struct table),
	.open = table_open,
	.close = table_close,
	.look = table_look,
	.read = table_read,
	.where = table_where,
	.class_name = table_class_name,
};
