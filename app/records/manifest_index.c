/*
 * The index has the layout of image_records.h. An entry is a number: in bits 0..37
 * where its row begins, in 38..39 its part, in 40..63 its label.
 *
 * It is built in place: lines are counted first, which takes a tenth of the time and
 * is an upper bound of the rows, so there is never more than one copy of 16 bytes
 * for each record.
 */
#include "records/manifest_index.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "records/columns.h"
#include "base/words/name_list.h"
#include "images/image.h"
#include "records/records_types.h"

#define AT_BITS    38
#define PART_BITS  2
#define AT_MASK    ((UINT64_C(1) << AT_BITS) - 1)
#define PART_MASK  ((UINT64_C(1) << PART_BITS) - 1)
#define LABEL_FROM (AT_BITS + PART_BITS)

enum { VERSION = 4, KEEP_FROM = 32 << 20 };
enum role { PATH, LABEL, TIME, USER, PART, ROLES };

struct manifest_header {
	struct image_header images;
	uint64_t size; /* of the manifest */
	uint32_t columns, path_column, headed, separator;
	uint32_t users, user_column; /* users: there is such a column */
};

static const char *const role_names[ROLES] = {
	[PATH] = "path", [LABEL] = "label", [TIME] = "time", [USER] = "user", [PART] = "part"};

static const struct {
	const char *name;
	enum role role;
} known[] = {{"path", PATH}, {"file", PATH}, {"filename", PATH}, {"file_name", PATH},
	{"image", PATH}, {"image_path", PATH}, {"img", PATH}, {"label", LABEL}, {"class", LABEL},
	{"class_id", LABEL}, {"target", LABEL}, {"category", LABEL}, {"y", LABEL}, {"time", TIME},
	{"timestamp", TIME}, {"date", TIME}, {"datetime", TIME}, {"date_taken", TIME},
	{"user", USER}, {"user_id", USER}, {"userid", USER}, {"part", PART}, {"split", PART},
	{"subset", PART}};

struct building {
	const struct mapped *manifest;
	struct manifest_header header;
	int column[ROLES]; /* -1: there is none */
	struct label_column labels;
	enum time_kind time_kind;
	unsigned char *bytes; /* of the index */
	uint64_t *rows;
	int64_t *times;
	uint64_t bound, bad;
	bool lenient;
};

static int role_of(struct csv_field field)
{
	field = csv_trim(&field);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strlen(known[i].name) == field.size &&
			!strncasecmp(known[i].name, field.at, field.size))
			return (int)known[i].role;
	return -1;
}

bool manifest_index_likely(const char *bytes, size_t size)
{
	const size_t mark = csv_mark(bytes, size);
	struct csv_field fields[MANIFEST_COLUMNS];
	char first[4096];
	bool likely = false;
	size_t used;
	int n;

	bytes += mark;
	size = size - mark < MANIFEST_ROW ? size - mark : MANIFEST_ROW;
	n = size ? csv_row(bytes, size, csv_separator(bytes, size), fields, MANIFEST_COLUMNS, &used)
		 : 0;
	for (int i = 0; i < n && i < MANIFEST_COLUMNS && !likely; i++)
		likely = role_of(fields[i]) == PATH;
	return likely || (n > 1 && csv_text(fields, first, sizeof(first)) && image_named(first));
}

static int read_header(struct building *b, const struct csv_field *fields, struct err *err)
{
	for (int i = 0; i < ROLES; i++)
		b->column[i] = -1;
	for (uint32_t i = 0; i < b->header.columns; i++) {
		const int role = role_of(fields[i]);

		if (role < 0)
			continue;
		if (b->column[role] >= 0)
			return err_set(err, ERR_FORMAT,
				"%s, row 1: columns %d and %u both stand for the %s",
				b->manifest->path, b->column[role] + 1, i + 1, role_names[role]);
		b->column[role] = (int)i;
	}
	for (int role = PATH; role <= LABEL; role++)
		if (b->column[role] < 0)
			return err_set(err, ERR_FORMAT, "%s, row 1: no column is called %s",
				b->manifest->path, role_names[role]);
	return 0;
}

/* Finds out which column is which from the first row, which begins at `at`. */
static int read_first(struct building *b, size_t at, struct err *err)
{
	const char *bytes = (const char *)b->manifest->data + at;
	const size_t size = b->manifest->size - at;
	struct csv_field fields[MANIFEST_COLUMNS];
	size_t used;
	int n;

	if (!size)
		return err_set(err, ERR_FORMAT, "%s: is empty", b->manifest->path);
	b->header.separator = (unsigned char)csv_separator(bytes, size);
	n = csv_row(bytes, size, (char)b->header.separator, fields, MANIFEST_COLUMNS, &used);
	if (n < 0)
		return err_set(err, ERR_FORMAT, "%s, row 1: %s", b->manifest->path, csv_reason(n));
	if (n < 2 || n > MANIFEST_COLUMNS)
		return err_set(err, ERR_FORMAT,
			"%s, row 1: has %d column%s; a manifest has at least a path and a label",
			b->manifest->path, n, n == 1 ? "" : "s");
	b->header.columns = (uint32_t)n;
	for (int i = 0; i < n && !b->header.headed; i++)
		b->header.headed = role_of(fields[i]) == PATH || role_of(fields[i]) == LABEL;
	if (b->header.headed)
		return read_header(b, fields, err);
	if (n > USER + 1)
		return err_set(err, ERR_FORMAT,
			"%s, row 1: has %d columns and is not a header; without one they are path, "
			"label, time, user",
			b->manifest->path, n);
	for (int role = 0; role < ROLES; role++)
		b->column[role] = role < n && role != PART ? role : -1;
	return 0;
}

static int read_row(
	struct building *b, const struct csv_field *fields, uint64_t at, struct err *err)
{
	const uint64_t i = b->header.images.count, number = i + 1 + b->header.headed;
	enum records_part part = RECORDS_STREAM;
	int64_t label;
	int code;

	if (!fields[b->column[PATH]].size)
		return err_set(err, ERR_FORMAT, "%s, row %llu, column path: is empty",
			b->manifest->path, (unsigned long long)number);
	code = label_column_cell(&b->labels, fields[b->column[LABEL]], &label, err);
	if (code)
		return columns_bad_cell(b->manifest, number, role_names[LABEL], code, err);
	if (b->column[TIME] >= 0) {
		code = time_column_cell(&b->time_kind, fields[b->column[TIME]], b->times + i, err);
		if (code)
			return columns_bad_cell(b->manifest, number, role_names[TIME], code, err);
	}
	if (b->column[PART] >= 0) {
		code = part_column_cell(fields[b->column[PART]], &part, err);
		if (code)
			return columns_bad_cell(b->manifest, number, role_names[PART], code, err);
	}
	b->rows[i] = at | (uint64_t)part << AT_BITS | (uint64_t)label << LABEL_FROM;
	b->header.images.count++;
	return 0;
}

/* Makes a bad record of a row that makes no sense; it ends with its line. False: it is an error. */
static bool skip_row(struct building *b, size_t at, int64_t *used)
{
	const uint64_t i = b->header.images.count;

	if (!b->lenient || i >= b->bound)
		return false;
	*used = (int64_t)columns_line(b->manifest, at);
	b->rows[i] = at | RECORD_NO_LABEL << LABEL_FROM;
	if (b->column[TIME] >= 0)
		b->times[i] = 0;
	b->header.images.count++;
	b->bad++;
	return true;
}

/* All rows once; COLUMN_AGAIN if a column has turned out to be of another kind. */
static int read_rows(struct building *b, size_t at, struct err *err)
{
	struct csv_field fields[MANIFEST_COLUMNS];
	bool header = b->header.headed;
	int64_t used;

	b->header.images.count = b->bad = 0;
	for (; at < b->manifest->size; at += (size_t)used) {
		const uint64_t number = header ? 1 : b->header.images.count + 1 + b->header.headed;
		int code;

		used = columns_row(b->manifest, at, (char)b->header.separator,
			(int)b->header.columns, MANIFEST_ROW, number, fields, err);
		if (!used)
			break;
		if (header && used > 0) {
			header = false;
			continue;
		}
		code = used < 0 ? (int)used : read_row(b, fields, at, err);
		if (code && (header || code == ERR_MEMORY || code == COLUMN_AGAIN ||
				    !skip_row(b, at, &used)))
			return code;
	}
	if (!b->header.images.count)
		return err_set(err, ERR_FORMAT, "%s: has no rows", b->manifest->path);
	return 0;
}

static uint64_t count_lines(const unsigned char *bytes, size_t size)
{
	const unsigned char *const end = bytes + size;
	uint64_t lines = 1;

	while ((bytes = memchr(bytes, '\n', (size_t)(end - bytes)))) {
		lines++;
		if (++bytes == end)
			break;
	}
	return lines;
}

static int make_room(struct building *b, struct err *err)
{
	const size_t each = b->column[TIME] >= 0 ? 16 : 8;

	b->bound = count_lines(b->manifest->data, b->manifest->size);
	b->bytes = mem_new(1, sizeof(b->header) + b->bound * each);
	if (!b->bytes)
		return err_memory(err, b->manifest->path, sizeof(b->header) + b->bound * each);
	b->rows = (uint64_t *)(void *)(b->bytes + sizeof(b->header));
	b->times = (int64_t *)(b->rows + b->bound);
	return 0;
}

/* Names get their classes' numbers only now that all are known. */
static int finish_labels(struct building *b, struct err *err)
{
	uint32_t *ranks;
	int classes;
	const int code = label_column_end(&b->labels, &classes, &ranks, err);

	if (code)
		return code;
	b->header.images.classes = (uint32_t)classes;
	for (uint64_t i = 0; ranks && i < b->header.images.count; i++) {
		uint64_t label = b->rows[i] >> LABEL_FROM;

		if (label == RECORD_NO_LABEL)
			continue;
		label = ranks[label];
		b->rows[i] = (b->rows[i] & ((UINT64_C(1) << LABEL_FROM) - 1)) | label << LABEL_FROM;
	}
	mem_free(ranks);
	return 0;
}

/* Closes the gap behind the rows, and adds the names. */
static int pack(struct building *b, size_t *size, struct err *err)
{
	struct image_header *h = &b->header.images;
	const struct name_list *names = &b->labels.vocabulary.names;
	const size_t named = b->labels.named ? names->count : 0;
	const size_t fixed = sizeof(b->header) + h->count * (h->timed ? 16 : 8);
	unsigned char *bytes;

	h->class_names_size = named ? names->size : 0;
	if (h->timed)
		memmove(b->rows + h->count, b->times, h->count * 8);
	*size = fixed + 4 * named + h->class_names_size + 1;
	bytes = mem_resize(b->bytes, *size, 1);
	if (!bytes)
		return err_memory(err, b->manifest->path, *size);
	b->bytes = bytes;
	memcpy(bytes, &b->header, sizeof(b->header));
	for (size_t i = 0; i < named; i++)
		memcpy(bytes + fixed + 4 * i, &(uint32_t){(uint32_t)names->starts[i]}, 4);
	if (named)
		memcpy(bytes + fixed + 4 * named, names->bytes, names->size);
	bytes[*size - 1] = '\0';
	return 0;
}

static int build(struct building *b, size_t *size, struct err *err)
{
	const size_t at = csv_mark((const char *)b->manifest->data, b->manifest->size);
	int code;

	if (b->manifest->size > AT_MASK)
		return err_set(err, ERR_INPUT, "%s: is larger than %llu bytes", b->manifest->path,
			(unsigned long long)AT_MASK);
	code = read_first(b, at, err);
	if (!code)
		code = make_room(b, err);
	if (!code) {
		do
			code = read_rows(b, at, err);
		while (code == COLUMN_AGAIN);
	}
	if (!code)
		code = finish_labels(b, err);
	b->header.size = b->manifest->size;
	b->header.path_column = (uint32_t)b->column[PATH];
	b->header.users = b->column[USER] >= 0;
	b->header.user_column = b->header.users ? (uint32_t)b->column[USER] : 0;
	b->header.images.timed = b->column[TIME] >= 0;
	b->header.images.parted = b->column[PART] >= 0;
	return code ? code : pack(b, size, err);
}

/* Finds the parts of an index; false if they do not add up. */
static bool unpack(struct manifest *m)
{
	const struct manifest_header *h = (const void *)m->images.file.bytes;

	m->header = h;
	return image_records_unpack(&m->images, sizeof(*h), sizeof(uint64_t)) &&
	       h->images.classes && h->size == m->file.size && h->path_column < h->columns &&
	       h->user_column < h->columns && h->columns <= MANIFEST_COLUMNS;
}

int manifest_index_open(struct manifest *m, bool lenient, struct err *err)
{
	const struct index_id id = {m->file.path, "manifest", VERSION,
		mark_number(mark_number(MARK_NOTHING, (int64_t)m->file.size), m->file.changed)};
	struct building b = {.manifest = &m->file, .lenient = lenient};
	size_t size = 0;
	int code;

	if (index_file_find(&m->images.file, &id) && unpack(m)) {
		m->images.base.info.users = m->header->users;
		return 0;
	}
	index_file_release(&m->images.file);
	code = build(&b, &size, err);
	label_column_release(&b.labels);
	if (code) {
		mem_free(b.bytes);
		return code;
	}
	/* An index with bad rows is not kept: it would hide them from a run that refuses them. */
	index_file_make(&m->images.file, &id, b.bytes, size, m->file.size >= KEEP_FROM && !b.bad);
	if (!unpack(m))
		return err_set(err, ERR_STATE, "%s: its index contradicts itself", m->file.path);
	m->images.base.info.users = m->header->users;
	return 0;
}

struct record manifest_index_look(const struct records *records, int64_t i)
{
	const uint64_t row =
		((const uint64_t *)((const struct manifest *)records)->images.entries)[i];

	return image_record(records, i, row >> LABEL_FROM, row >> AT_BITS & PART_MASK);
}

uint64_t manifest_index_row(const struct manifest *m, int64_t i, size_t *size, uint64_t *number)
{
	const uint64_t *rows = m->images.entries;
	const uint64_t at = rows[i] & AT_MASK;
	const uint64_t next =
		i + 1 < m->images.base.info.count ? rows[i + 1] & AT_MASK : m->header->size;

	*size = next > at ? (size_t)(next - at) : 0;
	if (*size > MANIFEST_ROW)
		*size = MANIFEST_ROW; /* blank lines at the end */
	*number = (uint64_t)i + 1 + m->header->headed;
	return at;
}

bool manifest_index_path(
	const struct manifest *m, const char *row, size_t size, char *path, size_t room)
{
	struct csv_field fields[MANIFEST_COLUMNS];
	size_t used;
	const int n = size ? csv_row(row, size, (char)m->header->separator, fields,
				     MANIFEST_COLUMNS, &used)
			   : 0;

	return n > (int)m->header->path_column && n <= MANIFEST_COLUMNS &&
	       csv_text(fields + m->header->path_column, path, room) && *path;
}

int64_t manifest_index_user(const struct records *records, int64_t i)
{
	const struct manifest *m = (const struct manifest *)records;
	struct csv_field fields[MANIFEST_COLUMNS];
	struct record_bytes bytes = {0};
	uint64_t number, user = (uint64_t)RECORDS_NO_USER;
	size_t size, used;
	const uint64_t at = manifest_index_row(m, i, &size, &number);

	if (size && !mapped_record(&m->file, at, size, &bytes, NULL)) {
		const int n = csv_row((const char *)bytes.data, bytes.size,
			(char)m->header->separator, fields, MANIFEST_COLUMNS, &used);

		if (n > (int)m->header->user_column && n <= MANIFEST_COLUMNS) {
			const struct csv_field field = csv_trim(&fields[m->header->user_column]);

			user = mark_add(MARK_NOTHING, field.at, field.size);
		}
	}
	record_bytes_release(&bytes);
	return (int64_t)user;
}
