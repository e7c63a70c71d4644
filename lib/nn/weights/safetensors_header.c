/*
 * Reads and writes the JSON of a safetensors header.
 *
 * The result of header_parse is validated: tensors are in the order of their bytes, the first
 * begins with the data, each begins where the previous one ends, and the last ends with the data.
 * Names hold no control characters, so they are safe to print.
 */
#include "nn/weights/safetensors_header.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/json_write.h"
#include "nn/weights/dtype.h"

#define METADATA_KEY "__metadata__"

/* What is being read, for error sentences. */
struct spot {
	const char *path;
	const char *tensor;
};

static int fault(const struct spot *spot, struct err *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fault(const struct spot *spot, struct err *err, const char *format, ...)
{
	char problem[256];
	va_list args;

	va_start(args, format);
	vsnprintf(problem, sizeof(problem), format, args);
	va_end(args);
	return err_set(
		err, ERR_FORMAT, "%s: tensor '%.100s' %s", spot->path, spot->tensor, problem);
}

/* Terminals obey U+0080 to U+009F too, which are C2 80 to C2 9F in UTF-8. */
static bool has_control_character(const char *text)
{
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (*c < 0x20 || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
			return true;
	return false;
}

static int parse_shape(struct safetensor *tensor, unsigned bits, const struct jvalue *shape,
	struct arena *arena, const struct spot *spot, struct err *err)
{
	if (jvalue_kind(shape) != JVALUE_LIST)
		return fault(spot, err, "has no shape list");

	size_t dims = jvalue_count(shape);
	int64_t *sizes = arena_new(arena, dims ? dims : 1, sizeof(*sizes));
	if (!sizes)
		return err_memory(err, "a tensor's shape", dims * sizeof(*sizes));

	uint64_t count = 1, total;
	for (size_t i = 0; i < dims; i++) {
		if (!jvalue_whole(jvalue_at(shape, i), &sizes[i]))
			return fault(spot, err, "has a shape entry that is not a whole number");
		if (sizes[i] < 0)
			return fault(spot, err, "has the negative size %" PRId64 " in its shape",
				sizes[i]);
		if (__builtin_mul_overflow(count, (uint64_t)sizes[i], &count))
			return fault(spot, err, "has a shape whose product overflows");
	}
	if (__builtin_mul_overflow(count, bits, &total))
		return fault(spot, err, "has a shape whose product overflows");
	if (total % 8)
		return fault(spot, err, "of dtype %s does not fill whole bytes", tensor->dtype);
	tensor->dims = (int)dims;
	tensor->shape = sizes;
	tensor->count = count;
	tensor->bytes = total / 8;
	return 0;
}

static int parse_offsets(struct safetensor *tensor, const struct jvalue *offsets,
	uint64_t data_size, const struct spot *spot, struct err *err)
{
	int64_t begin, end;

	if (jvalue_kind(offsets) != JVALUE_LIST || jvalue_count(offsets) != 2 ||
		!jvalue_whole(jvalue_at(offsets, 0), &begin) ||
		!jvalue_whole(jvalue_at(offsets, 1), &end))
		return fault(spot, err, "has no data_offsets pair of whole numbers");
	if (begin < 0 || end < 0)
		return fault(spot, err, "has negative data_offsets [%" PRId64 ", %" PRId64 "]",
			begin, end);
	if (begin > end)
		return fault(spot, err,
			"ends before it begins: data_offsets [%" PRId64 ", %" PRId64 "]", begin,
			end);
	if ((uint64_t)end > data_size)
		return fault(spot, err,
			"ends at byte %" PRId64 " of the data, which has %" PRIu64 " bytes", end,
			data_size);
	if ((uint64_t)(end - begin) != tensor->bytes) {
		char shape[128];
		safetensors_shape_text(shape, sizeof(shape), tensor->dims, tensor->shape);
		return fault(spot, err,
			"has %" PRId64 " bytes, but its shape %s of %s needs %" PRIu64, end - begin,
			shape, tensor->dtype, tensor->bytes);
	}
	tensor->offset = (uint64_t)begin;
	return 0;
}

static int check_keys(const struct jvalue *entry, const struct spot *spot, struct err *err)
{
	const struct jvalue *value;
	const char *key;

	for (void *at = NULL; jvalue_next(entry, &at, &key, &value);) {
		if (strcmp(key, "dtype") && strcmp(key, "shape") && strcmp(key, "data_offsets"))
			return fault(spot, err, "has a header entry with an unknown key");
	}
	return 0;
}

static int parse_tensor(struct safetensor *tensor, const char *name, const struct jvalue *entry,
	uint64_t data_size, struct arena *arena, const char *path, struct err *err)
{
	const struct spot spot = {path, name};

	if (has_control_character(name))
		return err_set(
			err, ERR_FORMAT, "%s: a tensor's name holds a control character", path);
	if (jvalue_kind(entry) != JVALUE_TABLE)
		return fault(&spot, err, "has a header entry that is not an object");

	const char *dtype_name = jvalue_text(jvalue_find(entry, "dtype"));
	if (!dtype_name)
		return fault(&spot, err, "has no dtype");
	const struct dtype *dtype = dtype_find(dtype_name);
	if (!dtype)
		return fault(&spot, err, "has the unknown dtype '%.32s'",
			has_control_character(dtype_name) ? "?" : dtype_name);
	tensor->dtype = dtype->name;
	tensor->name = arena_text(arena, name);
	if (!tensor->name)
		return err_memory(err, "a tensor's name", strlen(name) + 1);

	int code = parse_shape(tensor, dtype->bits, jvalue_find(entry, "shape"), arena, &spot, err);
	if (!code)
		code = parse_offsets(
			tensor, jvalue_find(entry, "data_offsets"), data_size, &spot, err);
	if (!code)
		code = check_keys(entry, &spot, err);
	return code;
}

static int parse_notes(struct safetensors_header *header, const struct jvalue *object,
	const char *path, struct err *err)
{
	const struct jvalue *value;
	const char *key;

	if (jvalue_kind(object) != JVALUE_TABLE)
		return err_set(err, ERR_FORMAT, "%s: " METADATA_KEY " is not an object", path);
	size_t count = jvalue_count(object);
	header->notes = arena_new(&header->arena, count ? count : 1, sizeof(*header->notes));
	if (!header->notes)
		return err_memory(err, "the metadata", count * sizeof(*header->notes));
	for (void *at = NULL; jvalue_next(object, &at, &key, &value);) {
		struct safetensors_note *note = &header->notes[header->notes_count++];
		if (!jvalue_text(value))
			return err_set(err, ERR_FORMAT,
				"%s: " METADATA_KEY " key '%.100s' is not a string", path,
				has_control_character(key) ? "?" : key);
		note->key = arena_text(&header->arena, key);
		note->value = arena_text(&header->arena, jvalue_text(value));
		if (!note->key || !note->value)
			return err_memory(err, "the metadata", strlen(jvalue_text(value)) + 1);
	}
	return 0;
}

static int compare_offsets(const void *a, const void *b)
{
	const struct safetensor *x = a, *y = b;

	if (x->offset != y->offset)
		return x->offset < y->offset ? -1 : 1;
	/* An empty tensor shares its offset with the tensor that follows it. */
	if (x->bytes != y->bytes)
		return x->bytes < y->bytes ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Sorts the tensors by offset and checks that they tile the data. */
static int order_tensors(
	struct safetensors_header *header, const char *path, uint64_t data_size, struct err *err)
{
	uint64_t end = 0;

	qsort(header->tensors, (size_t)header->count, sizeof(*header->tensors), compare_offsets);
	for (int i = 0; i < header->count; i++) {
		const struct safetensor *tensor = &header->tensors[i];
		const struct spot spot = {path, tensor->name};
		if (tensor->offset > end)
			return fault(&spot, err,
				"leaves a hole before it: bytes %" PRIu64 " to %" PRIu64
				" of the data belong to no tensor",
				end, tensor->offset);
		if (tensor->offset < end)
			return fault(&spot, err, "overlaps tensor '%.100s'", tensor[-1].name);
		end += tensor->bytes;
	}
	if (end < data_size)
		return err_set(err, ERR_FORMAT, "%s: %" PRIu64 " bytes follow the last tensor",
			path, data_size - end);
	return 0;
}

static int parse_object(struct safetensors_header *header, const char *path,
	const struct jvalue *object, uint64_t data_size, struct err *err)
{
	const struct jvalue *entry;
	const char *name;
	size_t count = jvalue_count(object);

	header->tensors = arena_new(&header->arena, count ? count : 1, sizeof(*header->tensors));
	if (!header->tensors)
		return err_memory(err, "the list of tensors", count * sizeof(*header->tensors));
	for (void *at = NULL; jvalue_next(object, &at, &name, &entry);) {
		int code;

		if (!strcmp(name, METADATA_KEY))
			code = parse_notes(header, entry, path, err);
		else
			code = parse_tensor(&header->tensors[header->count++], name, entry,
				data_size, &header->arena, path, err);
		if (code)
			return code;
	}
	return order_tensors(header, path, data_size, err);
}

int header_parse(struct safetensors_header *header, const char *path, const char *json,
	size_t length, uint64_t data_size, struct err *err)
{
	struct jvalue *object;
	struct text where = {0};
	int code;

	/* Cheap, and the sentence a file of another format deserves. */
	if (length == 0 || json[0] != '{')
		return err_set(err, ERR_FORMAT,
			"%s: the header is not a JSON object; is it a safetensors file?", path);
	text_addf(&where, "%s: the header", path);
	code = where.failed ? err_memory(err, "a path", strlen(path))
			    : jvalue_read(&object, json, length, where.data, err);
	text_release(&where);
	if (code)
		return code;
	code = parse_object(header, path, object, data_size, err);
	jvalue_free(object);
	return code;
}

bool header_item_bytes(const struct safetensors_item *item, uint64_t *bytes)
{
	*bytes = item->ints ? sizeof(*item->ints) : sizeof(*item->floats);
	for (int i = 0; i < item->dims; i++)
		if (item->shape[i] < 0 ||
			__builtin_mul_overflow(*bytes, (uint64_t)item->shape[i], bytes))
			return false;
	return *bytes <= PTRDIFF_MAX && (*bytes == 0 || !item->ints != !item->floats);
}

/* One item's entry; *end is where the data ends so far. */
static int add_item(struct jwriter *json, const struct safetensors_item *item, uint64_t *end,
	const char *path, struct err *err)
{
	uint64_t begin = *end, bytes;

	if (has_control_character(item->name))
		return err_set(
			err, ERR_INPUT, "%s: a tensor's name holds a control character", path);
	if (!strcmp(item->name, METADATA_KEY))
		return err_set(
			err, ERR_INPUT, "%s: a tensor cannot be named '" METADATA_KEY "'", path);
	if (!header_item_bytes(item, &bytes) || bytes > (uint64_t)INT64_MAX - begin)
		return err_set(err, ERR_INPUT,
			"%s: tensor '%.100s' has an impossible shape or no numbers", path,
			item->name);
	*end = begin + bytes;
	if (!text_is_utf8(item->name))
		return err_set(err, ERR_INPUT, "%s: a tensor's name is not UTF-8", path);
	jwriter_table(json, item->name);
	jwriter_text(json, "dtype", item->ints ? "I64" : "F32");
	jwriter_list(json, "shape");
	for (int i = 0; i < item->dims; i++)
		jwriter_whole(json, NULL, item->shape[i]);
	jwriter_end(json);
	jwriter_list(json, "data_offsets");
	jwriter_whole(json, NULL, (int64_t)begin);
	jwriter_whole(json, NULL, (int64_t)*end);
	jwriter_end(json);
	jwriter_end(json);
	return 0;
}

static int add_notes(struct jwriter *json, const struct safetensors_note *notes, int count,
	const char *path, struct err *err)
{
	jwriter_table(json, METADATA_KEY);
	for (int i = 0; i < count; i++) {
		if (!text_is_utf8(notes[i].key) || !text_is_utf8(notes[i].value))
			return err_set(err, ERR_INPUT, "%s: metadata %d is not UTF-8", path, i);
		jwriter_text(json, notes[i].key, notes[i].value);
	}
	jwriter_end(json);
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_names(
	const struct safetensors_item *items, int count, const char *path, struct err *err)
{
	const char **names = mem_new(count ? (size_t)count : 1, sizeof(*names));
	int code = 0;

	if (!names)
		return err_memory(err, "the tensors' names", (size_t)count * sizeof(*names));
	for (int i = 0; i < count; i++)
		names[i] = items[i].name;
	qsort(names, (size_t)count, sizeof(*names), compare_names);
	for (int i = 1; i < count && !code; i++)
		if (!strcmp(names[i - 1], names[i]))
			code = err_set(err, ERR_INPUT, "%s: there are two tensors named '%.100s'",
				path, names[i]);
	mem_free(names);
	return code;
}

int header_format(char **json, size_t *length, const char *path,
	const struct safetensors_item *items, int count, const struct safetensors_note *notes,
	int notes_count, struct err *err)
{
	struct text made = {0};
	struct jwriter writer = {.out = &made, .dense = true};
	uint64_t end = 0;
	int code = check_names(items, count, path, err);

	*json = NULL;
	jwriter_table(&writer, NULL);
	if (notes_count && !code)
		code = add_notes(&writer, notes, notes_count, path, err);
	for (int i = 0; i < count && !code; i++)
		code = add_item(&writer, &items[i], &end, path, err);
	jwriter_end(&writer);
	if (!code && made.failed)
		code = err_memory(err, "the header's JSON", made.size);
	if (code) {
		text_release(&made);
		return code;
	}
	*json = made.data;
	*length = made.size;
	return 0;
}
