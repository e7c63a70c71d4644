/* An existing schema: from its own file, or from the weights of a model. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/paths.h"
#include "nn/weights/metadata.h"
#include "nn/weights/safetensors.h"
#include "schema/schema.h"

enum { JSON_MOST = 64 << 20 };

static int read_words(const char *path, struct text *words, struct err *err)
{
	struct safetensors *file;
	const char *said;
	int code = safetensors_open(&file, path, err);

	if (code)
		return code;
	said = safetensors_get(file, METADATA_SCHEMA);
	text_add(words, said ? said : "");
	code = words->failed ? err_memory(err, "a schema", words->size) : 0;
	safetensors_close(file);
	return code;
}

int schema_words(const char *path, struct text *words, struct err *err)
{
	char *inside;
	int code;

	if (!path_is_folder(path))
		return read_words(path, words, err);
	inside = path_join(path, "model.safetensors");
	code = inside ? read_words(inside, words, err) : err_memory(err, "a path", strlen(path));
	mem_free(inside);
	return code;
}

static int of_weights(
	struct schema **schema, const char *path, const struct schema_sizes *sizes, struct err *err)
{
	struct text words = {0};
	int code = schema_words(path, &words, err);

	if (!code && !words.size)
		code = err_set(err, ERR_INPUT,
			"%s: its metadata has no schema; its inputs are numbers without names",
			path);
	if (!code)
		code = schema_parse(schema, sizes, words.data, words.size, path, err);
	text_release(&words);
	return code;
}

int schema_of_weights(struct schema **schema, const char *words, size_t floats, const char *where,
	struct err *err)
{
	struct jvalue *value = NULL;
	int code = words ? jvalue_read(&value, words, strlen(words), where, err) : 0;

	*schema = NULL;
	/* It says how large everything is, so sizes do not matter. */
	if (!code && jvalue_find(value, "columns"))
		code = schema_read(schema, &(struct schema_sizes){1, 1, 0}, value, where, err);
	jvalue_free(value);
	if (code || !*schema || schema_floats(*schema) == floats)
		return code;
	code = err_set(err, ERR_FORMAT, "%s: its schema makes %zu inputs, its net takes %zu", where,
		schema_floats(*schema), floats);
	schema_free(*schema);
	*schema = NULL;
	return code;
}

static int of_json(
	struct schema **schema, const char *path, const struct schema_sizes *sizes, struct err *err)
{
	char *words = NULL;
	size_t size = 0;
	int code = file_read(path, JSON_MOST, &words, &size, err);

	if (!code)
		code = schema_parse(schema, sizes, words, size, path, err);
	mem_free(words);
	return code;
}

int schema_open(
	struct schema **schema, const char *path, const struct schema_sizes *sizes, struct err *err)
{
	*schema = NULL;
	return path_is_folder(path) || path_ends(path, ".safetensors")
		       ? of_weights(schema, path, sizes, err)
		       : of_json(schema, path, sizes, err);
}

int schema_from(struct schema **schema, const struct options *options, struct err *err)
{
	const struct schema_sizes sizes = schema_sizes(options);
	const char *path = options_text(options, "schema.from");

	*schema = NULL;
	return *path ? schema_open(schema, path, &sizes, err) : 0;
}
