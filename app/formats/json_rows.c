/*
 * Two passes over the objects, which are parsed one at a time: the first collects keys, the second
 * writes rows. Keys mostly come in one order, so the place of a key is looked for from the one
 * behind the last on.
 */
#include "formats/json_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "formats/csv.h"
#include "formats/pieces.h"

static const char BLANK[] = " \t\r\n";

struct rows {
	const char *path, *bytes;
	size_t size;
	bool list;
	struct pieces pieces;
	size_t at; /* of the next line */
	int64_t number;
	char **keys;
	size_t count, room;
};

static size_t skip_blank(const char *bytes, size_t size, size_t at)
{
	while (at < size && bytes[at] && strchr(BLANK, bytes[at]))
		at++;
	return at;
}

static void rewind_rows(struct rows *rows)
{
	rows->pieces = (struct pieces){rows->bytes, rows->size, 0};
	rows->at = 0;
	rows->number = 0;
}

static bool next_line(struct rows *rows, struct piece *piece)
{
	const char *end;

	rows->at = skip_blank(rows->bytes, rows->size, rows->at);
	if (rows->at == rows->size)
		return false;
	end = memchr(rows->bytes + rows->at, '\n', rows->size - rows->at);
	*piece = (struct piece){rows->bytes + rows->at,
		(end ? (size_t)(end - rows->bytes) : rows->size) - rows->at};
	rows->at += piece->size;
	return true;
}

/* The next object; *object becomes NULL after the last. */
static int next_object(struct rows *rows, struct jvalue **object, struct err *err)
{
	struct piece piece;
	char where[4200];
	int code;

	*object = NULL;
	if (!(rows->list ? pieces_next(&rows->pieces, &piece) : next_line(rows, &piece)))
		return 0;
	snprintf(where, sizeof(where), "%s, %s %" PRId64, rows->path,
		rows->list ? "object" : "line", ++rows->number);
	code = jvalue_read(object, piece.bytes, piece.size, where, err);
	if (!code && jvalue_kind(*object) != JVALUE_TABLE) {
		jvalue_free(*object);
		*object = NULL;
		code = err_set(err, ERR_FORMAT, "%s: is not a JSON object", where);
	}
	return code;
}

/* The place of a key, the last one's being `after`; rows->count if it is new. */
static size_t find_key(const struct rows *rows, const char *key, size_t after)
{
	for (size_t i = 1; i <= rows->count; i++) {
		const size_t at = (after + i) % rows->count;

		if (!strcmp(rows->keys[at], key))
			return at;
	}
	return rows->count;
}

static int add_keys(struct rows *rows, const struct jvalue *object, struct err *err)
{
	const struct jvalue *value;
	const char *key;
	void *at = NULL;
	size_t place = rows->count;

	while (jvalue_next(object, &at, &key, &value)) {
		place = rows->count ? find_key(rows, key, place) : 0;
		if (jvalue_kind(value) == JVALUE_LIST || jvalue_kind(value) == JVALUE_TABLE)
			return err_set(err, ERR_INPUT,
				"%s, %s %" PRId64
				": %.100s holds a list or an object; rows of a table are flat",
				rows->path, rows->list ? "object" : "line", rows->number, key);
		if (place < rows->count)
			continue;
		if (!grow_room(&rows->keys, &rows->room, rows->count + 1, sizeof(*rows->keys)) ||
			!(rows->keys[rows->count] = mem_text(key)))
			return err_memory(err, "a column", strlen(key));
		rows->count++;
	}
	return 0;
}

/* Line ends become blanks, so that a row is a line. */
static void add_quoted(struct text *out, const char *words)
{
	text_add(out, "\"");
	for (size_t size; *words; words += size) {
		size = strcspn(words, "\"\r\n");
		text_add_bytes(out, words, size);
		if (words[size])
			text_add(out, words[size++] == '"' ? "\"\"" : " ");
	}
	text_add(out, "\"");
}

static void add_cell(struct text *out, const struct jvalue *value)
{
	int64_t whole;
	double number;
	bool truth;

	if (jvalue_text(value))
		add_quoted(out, jvalue_text(value));
	else if (jvalue_truth(value, &truth))
		text_add(out, truth ? "true" : "false");
	else if (jvalue_whole(value, &whole))
		text_addf(out, "%" PRId64, whole);
	else if (jvalue_number(value, &number))
		text_addf(out, "%.17g", number);
}

static int each_object(struct rows *rows, struct text *out, struct err *err)
{
	struct jvalue *object;
	int code;

	rewind_rows(rows);
	while (!(code = next_object(rows, &object, err)) && object) {
		for (size_t i = 0; out && i < rows->count; i++) {
			text_add(out, i ? "," : "");
			add_cell(out, jvalue_find(object, rows->keys[i]));
		}
		if (out)
			text_add(out, "\n");
		else
			code = add_keys(rows, object, err);
		jvalue_free(object);
		if (code || (out && (out->failed || out->size > MAPPED_UNPACK)))
			break;
	}
	if (!code && out && out->size > MAPPED_UNPACK)
		code = err_set(
			err, ERR_INPUT, "%s: is larger than a table in JSON may be", rows->path);
	return code;
}

static int convert(struct rows *rows, struct text *out, struct err *err)
{
	int code = 0;

	if (rows->list && pieces_count(rows->bytes, rows->size) < 0)
		return err_set(err, ERR_FORMAT, "%s: the list is not JSON", rows->path);
	code = each_object(rows, NULL, err);
	for (size_t i = 0; i < rows->count && !code; i++) {
		text_add(out, i ? "," : "");
		add_quoted(out, rows->keys[i]);
	}
	text_add(out, "\n");
	if (!code)
		code = each_object(rows, out, err);
	return !code && out->failed ? err_memory(err, rows->path, out->size) : code;
}

/* What is behind a byte order mark, and whether it is a list. */
static const char *start_of(const char *bytes, size_t *size, bool *list)
{
	const size_t mark = csv_mark(bytes, *size);
	const size_t at = skip_blank(bytes, *size, mark);

	*list = at < *size && bytes[at] == '[';
	*size -= mark;
	return bytes + mark;
}

bool json_rows_begin(const char *bytes, size_t size)
{
	struct rows rows = {.path = ""};
	const struct jvalue *value;
	struct jvalue *object;
	const char *key;
	void *at = NULL;
	bool flat;

	rows.bytes = start_of(bytes, &size, &rows.list);
	rows.size = size;
	rewind_rows(&rows);
	if (next_object(&rows, &object, NULL) || !object)
		return false;
	flat = jvalue_count(object) > 1;
	while (flat && jvalue_next(object, &at, &key, &value))
		flat = jvalue_kind(value) != JVALUE_LIST && jvalue_kind(value) != JVALUE_TABLE &&
		       strcmp(key, "input") != 0;
	jvalue_free(object);
	return flat;
}

int json_rows_open(struct mapped *mapped, bool *json, const char *path, struct err *err)
{
	struct rows rows = {.path = path};
	struct text out = {0};
	int code = mapped_open(mapped, path, MAPPED_UNPACK, err);

	*json = !code && json_rows_begin((const char *)mapped->data, mapped->size);
	if (!*json)
		return code;
	rows.size = mapped->size;
	rows.bytes = start_of((const char *)mapped->data, &rows.size, &rows.list);
	code = convert(&rows, &out, err);
	for (size_t i = 0; i < rows.count; i++)
		mem_free(rows.keys[i]);
	mem_free(rows.keys);
	if (code) {
		text_release(&out);
		mapped_close(mapped);
	} else {
		mapped_replace(mapped, (unsigned char *)out.data, out.size);
	}
	return code;
}
