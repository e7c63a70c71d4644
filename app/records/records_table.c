/*
 * Rows of a CSV file as vectors, encoded by a schema. A record is encoded from its row's text
 * each time, and all rows were learned when the table was opened, so it always has the same bits.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/paths.h"
#include "records/index_file.h"
#include "formats/json_rows.h"
#include "formats/mapped.h"
#include "formats/packed.h"
#include "records/records_types.h"
#include "records/table_first.h"
#include "records/table_plan.h"
#include "records/table_scan.h"
#include "records/table_target.h"

enum { KEPT = 1 << 24 }; /* bytes of a table whose text stays in memory */

struct table {
	struct records base;
	struct mapped file;
	struct table_plan plan;
	struct table_scan scan;
	float *numbers; /* of labels; NULL: they are classes, or several numbers */
	bool lenient;   /* rows may be bad */
};

static void table_close(struct records *records)
{
	struct table *t = (struct table *)records;

	mem_free(t->numbers);
	table_scan_release(&t->scan);
	table_plan_release(&t->plan);
	mapped_close(&t->file);
}

static int table_open(
	struct records *records, const char *path, const struct options *options, struct err *err)
{
	struct table *t = (struct table *)records;
	bool json;
	int code = json_rows_open(&t->file, &json, path, err);

	t->lenient = records_lenient(options);
	if (!code)
		code = table_plan_init(&t->plan, path,
			&(struct table_lines){
				(const char *)t->file.data, t->file.size, .headed = json},
			options, err);
	if (!code)
		code = table_scan(&t->scan, &t->plan, &t->file, t->lenient, err);
	if (!code)
		code = table_target(&t->numbers, &t->scan, &t->plan, path, options, err);
	if (!code)
		code = mapped_keep(&t->file, KEPT, err);
	if (code)
		return code;
	records->info = (struct records_info){
		.form = RECORDS_FLOATS,
		.count = (int64_t)t->scan.rows.count,
		.classes = t->scan.classes,
		.channels = (int)schema_floats(t->plan.schema),
		.height = 1,
		.width = 1,
		.numbers = t->plan.targets > 1 ? t->plan.targets : t->numbers != NULL,
		.timed = t->plan.time >= 0,
		.unlabelled = t->plan.label >= 0
				      ? NULL
				      : "has no column for the label that its schema names",
	};
	return 0;
}

static bool ends_with_any(const char *path, const char *const *endings)
{
	for (; *endings; endings++)
		if (path_ends(path, *endings))
			return true;
	return false;
}

/* Manifests, which are CSV files too, are asked first. Of other files the first lines tell. */
static bool table_guess(const char *path)
{

	static const char *const others[] = {
		".ini", ".cfg", ".conf", ".json", ".ndjson", ".jsonl", NULL};
	struct mapped file;
	bool found;

	if (!path_exists(path) || path_is_folder(path))
		return false;
	if (packed_ends(path, ".csv") || packed_ends(path, ".tsv"))
		return true;
	if (mapped_open(&file, path, 0, NULL))
		return false;
	found = json_rows_begin((const char *)file.data, file.size) ||
		(!ends_with_any(path, others) &&
			table_first_likely((const char *)file.data, file.size));
	mapped_close(&file);
	return found;
}

static struct record table_look(const struct records *records, int64_t i)
{
	const struct table *t = (const struct table *)records;
	const uint64_t label = t->scan.rows.at[i] >> TABLE_AT_BITS;

	return (struct record){.label = label == RECORD_NO_LABEL ? -1 : (int32_t)label,
		.time = t->scan.times.count ? (int64_t)t->scan.times.at[i] : 0};
}

static const float *table_numbers(const struct records *records, int64_t i)
{
	const struct table *t = (const struct table *)records;

	return t->numbers ? t->numbers + (t->scan.rows.at[i] >> TABLE_AT_BITS)
			  : t->scan.values.at + i * t->plan.targets;
}

static const char *table_number_names(const struct records *records)
{
	return ((const struct table *)records)->plan.label_names.data;
}

static void table_where(const struct records *records, int64_t i, char *out, size_t size)
{
	const struct table *t = (const struct table *)records;

	snprintf(out, size, "%s, row %" PRIu64, t->file.path,
		table_scan_row(&t->scan, &t->plan, (size_t)i));
}

static int put_cells(
	const struct table *t, const struct csv_field *fields, float *input, struct err *err)
{
	char copy[TABLE_CELL];
	int code = 0;

	schema_blank(t->plan.schema, input, schema_floats(t->plan.schema));
	for (int c = 0; c < t->plan.count && !code; c++)
		if (t->plan.columns[c].input >= 0) {
			const struct schema_value value = table_value(&fields[c], copy);

			code = schema_put(t->plan.schema, t->plan.columns[c].input, &value, input,
				schema_floats(t->plan.schema), err);
		}
	return code;
}

/*
 * A row that could not be read when the table was opened is still as bad as it was; `mark` parts
 * the row from what is wrong.
 */
static int bad_row(
	const struct table *t, int64_t i, const char *mark, const char *why, struct err *err)
{
	return err_set(err, t->lenient ? ERR_FORMAT : ERR_FILE, "%s, row %" PRIu64 "%s%s",
		t->file.path, table_scan_row(&t->scan, &t->plan, (size_t)i),
		t->lenient ? mark : ": ", t->lenient ? why : "has changed since it was opened");
}

static int table_read(
	struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	const struct table *t = (const struct table *)records;
	const size_t floats = schema_floats(t->plan.schema) * sizeof(float);
	const uint64_t at = t->scan.rows.at[i] & TABLE_AT_MASK;
	const uint64_t next = i + 1 < records->info.count ? t->scan.rows.at[i + 1] & TABLE_AT_MASK
							  : (uint64_t)t->file.size;
	/* Blank lines may follow the last row. */
	const size_t size = next - at < TABLE_ROW ? (size_t)(next - at) : TABLE_ROW;
	struct csv_field fields[TABLE_COLUMNS];
	struct err why = {0};
	size_t used;
	int count, code = record_bytes_resize(bytes, floats + size, err);

	/* The row's text stands behind the floats, until they are made. */
	if (!code)
		code = mapped_copy(&t->file, at, size, bytes->data + floats, err);
	if (code)
		return code;
	count = csv_row((const char *)bytes->data + floats, size, t->plan.separator, fields,
		TABLE_COLUMNS, &used);
	if (count != t->plan.count) {
		err_set(&why, ERR_FORMAT, "has %d column%s, and row 1 has %d", count,
			count == 1 ? "" : "s", t->plan.count);
		return bad_row(t, i, ": ", count < 1 ? csv_reason(count) : why.message, err);
	}
	/* Blocks of memory are aligned for any number. */
	code = put_cells(t, fields, (float *)(void *)bytes->data, &why);
	bytes->size = floats;
	return code ? bad_row(t, i, ", ", why.message, err) : 0;
}

static const char *table_class_name(const struct records *records, int label)
{
	const struct name_list *names = &((const struct table *)records)->scan.class_names;

	return label >= 0 && (size_t)label < names->count ? name_list_at(names, (size_t)label)
							  : NULL;
}

static const struct schema *table_schema(const struct records *records)
{
	return ((const struct table *)records)->plan.schema;
}

static void table_about(const struct records *records, struct text *words)
{
	table_plan_about(&((const struct table *)records)->plan, words);
}

static const char *table_notes(const struct records *records)
{
	return ((const struct table *)records)->plan.notes.data;
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
	.numbers = table_numbers,
	.number_names = table_number_names,
	.class_name = table_class_name,
	.about = table_about,
	.notes = table_notes,
	.schema = table_schema,
};
