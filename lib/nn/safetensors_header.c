/*
 * The JSON of a safetensors header, both ways. The only file that knows jansson.
 *
 * What header_parse returns was checked: tensors stand in the order of their
 * bytes, the first begins with the data, each begins where the one before ends,
 * and the last ends with the data. Names hold no control characters, so they
 * may be shown to people.
 */
#include "nn/safetensors_header.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "nn/dtype.h"

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

static int parse_shape(struct safetensor *tensor, unsigned bits, const json_t *shape,
	struct arena *arena, const struct spot *spot, struct err *err)
{
	if (!json_is_array(shape))
		return fault(spot, err, "has no shape list");

	size_t dims = json_array_size(shape);
	int64_t *sizes = arena_new(arena, dims ? dims : 1, sizeof(*sizes));
	if (!sizes)
		return err_memory(err, "a tensor's shape", dims * sizeof(*sizes));

	uint64_t count = 1, total;
	for (size_t i = 0; i < dims; i++) {
		const json_t *size = json_array_get(shape, i);
		if (!json_is_integer(size))
			return fault(spot, err, "has a shape entry that is no whole number");
		sizes[i] = json_integer_value(size);
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

static int parse_offsets(struct safetensor *tensor, const json_t *offsets, uint64_t data_size,
	const struct spot *spot, struct err *err)
{
	const json_t *first = json_array_get(offsets, 0), *last = json_array_get(offsets, 1);

	if (json_array_size(offsets) != 2 || !json_is_integer(first) || !json_is_integer(last))
		return fault(spot, err, "has no data_offsets pair of whole numbers");

	int64_t begin = json_integer_value(first), end = json_integer_value(last);
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

static int check_keys(json_t *entry, const struct spot *spot, struct err *err)
{
	for (void *at = json_object_iter(entry); at; at = json_object_iter_next(entry, at)) {
		const char *key = json_object_iter_key(at);
		if (strcmp(key, "dtype") && strcmp(key, "shape") && strcmp(key, "data_offsets"))
			return fault(spot, err, "has a header entry with an unknown key");
	}
	return 0;
}

static int parse_tensor(struct safetensor *tensor, const char *name, json_t *entry,
	uint64_t data_size, struct arena *arena, const char *path, struct err *err)
{
	const struct spot spot = {path, name};

	if (has_control_character(name))
		return err_set(
			err, ERR_FORMAT, "%s: a tensor's name holds a control character", path);
	if (!json_is_object(entry))
		return fault(&spot, err, "has a header entry that is not an object");

	const char *dtype_name = json_string_value(json_object_get(entry, "dtype"));
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

	int rc = parse_shape(
		tensor, dtype->bits, json_object_get(entry, "shape"), arena, &spot, err);
	if (!rc)
		rc = parse_offsets(
			tensor, json_object_get(entry, "data_offsets"), data_size, &spot, err);
	if (!rc)
		rc = check_keys(entry, &spot, err);
	return rc;
}

static int parse_notes(
	struct safetensors_header *header, json_t *object, const char *path, struct err *err)
{
	if (!json_is_object(object))
		return err_set(err, ERR_FORMAT, "%s: " METADATA_KEY " is not an object", path);
	size_t count = json_object_size(object);
	header->notes = arena_new(&header->arena, count ? count : 1, sizeof(*header->notes));
	if (!header->notes)
		return err_memory(err, "the metadata", count * sizeof(*header->notes));
	for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
		const char *key = json_object_iter_key(at);
		const json_t *value = json_object_iter_value(at);
		struct safetensors_note *note = &header->notes[header->notes_count++];
		if (!json_is_string(value))
			return err_set(err, ERR_FORMAT,
				"%s: " METADATA_KEY " key '%.100s' is not a string", path,
				has_control_character(key) ? "?" : key);
		note->key = arena_text(&header->arena, key);
		note->value = arena_text(&header->arena, json_string_value(value));
		if (!note->key || !note->value)
			return err_memory(err, "the metadata", json_string_length(value) + 1);
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

static int parse_object(struct safetensors_header *header, const char *path, json_t *object,
	uint64_t data_size, struct err *err)
{
	size_t count = json_object_size(object);

	header->tensors = arena_new(&header->arena, count ? count : 1, sizeof(*header->tensors));
	if (!header->tensors)
		return err_memory(err, "the list of tensors", count * sizeof(*header->tensors));
	for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
		const char *name = json_object_iter_key(at);
		json_t *entry = json_object_iter_value(at);
		int rc;
		if (!strcmp(name, METADATA_KEY))
			rc = parse_notes(header, entry, path, err);
		else
			rc = parse_tensor(&header->tensors[header->count++], name, entry, data_size,
				&header->arena, path, err);
		if (rc)
			return rc;
	}
	return order_tensors(header, path, data_size, err);
}

int header_parse(struct safetensors_header *header, const char *path, const char *json,
	size_t length, uint64_t data_size, struct err *err)
{
	json_error_t why;

	/* Cheap, and the sentence a file of another format deserves. */
	if (length == 0 || json[0] != '{')
		return err_set(err, ERR_FORMAT,
			"%s: the header is not a JSON object; is it a safetensors file?", path);
	json_t *object = json_loadb(json, length, JSON_REJECT_DUPLICATES, &why);
	if (!object && json_error_code(&why) == json_error_out_of_memory)
		return err_memory(err, "the header's JSON", length);
	if (!object) {
		for (char *c = why.text; *c; c++) /* it may quote the file */
			if ((unsigned char)*c < 0x20 || *c == 0x7f)
				*c = '?';
		return err_set(err, ERR_FORMAT, "%s: the header is not valid JSON: %s (byte %d)",
			path, why.text, why.position);
	}
	int rc = parse_object(header, path, object, data_size, err);
	json_decref(object);
	return rc;
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

/* One item's header entry, or NULL when memory runs out. */
static json_t *make_entry(const struct safetensors_item *item, uint64_t begin, uint64_t end)
{
	json_t *shape = json_array();

	for (int i = 0; i < item->dims; i++)
		if (json_array_append_new(shape, json_integer(item->shape[i]))) {
			json_decref(shape);
			return NULL;
		}
	return json_pack("{s:s, s:o, s:[I, I]}", "dtype", item->ints ? "I64" : "F32", "shape",
		shape, "data_offsets", (json_int_t)begin, (json_int_t)end);
}

/* *end is where the data ends so far. */
static int add_item(json_t *object, const struct safetensors_item *item, uint64_t *end,
	const char *path, struct err *err)
{
	uint64_t begin = *end, bytes;

	if (has_control_character(item->name))
		return err_set(
			err, ERR_INPUT, "%s: a tensor's name holds a control character", path);
	if (!strcmp(item->name, METADATA_KEY))
		return err_set(
			err, ERR_INPUT, "%s: a tensor cannot be named '" METADATA_KEY "'", path);
	if (json_object_get(object, item->name))
		return err_set(err, ERR_INPUT, "%s: there are two tensors named '%.100s'", path,
			item->name);
	if (!header_item_bytes(item, &bytes) || bytes > (uint64_t)INT64_MAX - begin)
		return err_set(err, ERR_INPUT,
			"%s: tensor '%.100s' has an impossible shape or no numbers", path,
			item->name);
	*end = begin + bytes;

	json_t *entry = make_entry(item, begin, *end);
	if (!entry)
		return err_memory(err, "the header's JSON", sizeof(*item));
	if (json_object_set_new(object, item->name, entry))
		return err_set(err, ERR_INPUT, "%s: a tensor's name is not UTF-8", path);
	return 0;
}

static int add_notes(json_t *object, const struct safetensors_note *notes, int count,
	const char *path, struct err *err)
{
	json_t *metadata = json_object();

	if (json_object_set_new(object, METADATA_KEY, metadata))
		return err_memory(err, "the header's JSON", sizeof(*notes));
	for (int i = 0; i < count; i++)
		if (json_object_set_new(metadata, notes[i].key, json_string(notes[i].value)))
			return err_set(err, ERR_INPUT, "%s: metadata %d is not UTF-8", path, i);
	return 0;
}

/* The object's text in memory of our own. */
static int format_object(char **json, size_t *length, const json_t *object, struct err *err)
{
	*length = json_dumpb(object, NULL, 0, JSON_COMPACT);
	*json = mem_new(*length + 1, 1);
	if (!*json || json_dumpb(object, *json, *length, JSON_COMPACT) != *length) {
		mem_free(*json);
		*json = NULL;
		return err_memory(err, "the header's JSON", *length);
	}
	return 0;
}

int header_format(char **json, size_t *length, const char *path,
	const struct safetensors_item *items, int count, const struct safetensors_note *notes,
	int notes_count, struct err *err)
{
	json_t *object = json_object();
	uint64_t end = 0;
	int rc = 0;

	*json = NULL;
	if (!object)
		return err_memory(err, "the header's JSON", sizeof(*items));
	if (notes_count)
		rc = add_notes(object, notes, notes_count, path, err);
	for (int i = 0; i < count && !rc; i++)
		rc = add_item(object, &items[i], &end, path, err);
	if (!rc)
		rc = format_object(json, length, object, err);
	json_decref(object);
	return rc;
}
