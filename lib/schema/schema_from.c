/* A schema that somebody has made before: in a file of its own, or with the weights of a model. */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/paths.h"
#include "nn/weights/metadata.h"
#include "nn/weights/safetensors.h"
#include "schema/schema.h"

enum { JSON_MOST = 64 << 20 };

static int of_weights(
	struct schema **schema, const char *path, const struct schema_sizes *sizes, struct err *err)
{
	struct safetensors *file;
	const char *words;
	int code = safetensors_open(&file, path, err);

	if (code)
		return code;
	words = safetensors_get(file, METADATA_SCHEMA);
	code = words ? schema_parse(schema, sizes, words, strlen(words), path, err)
		     : err_set(err, ERR_INPUT,
			       "%s: its metadata has no schema; its inputs are numbers without "
			       "names",
			       path);
	safetensors_close(file);
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
	char *inside;
	int code;

	*schema = NULL;
	if (!path_is_folder(path))
		return path_ends(path, ".safetensors") ? of_weights(schema, path, sizes, err)
						       : of_json(schema, path, sizes, err);
	inside = path_join(path, "model.safetensors");
	code = inside ? of_weights(schema, inside, sizes, err)
		      : err_memory(err, "a path", strlen(path));
	mem_free(inside);
	return code;
}

int schema_from(struct schema **schema, const struct options *options, struct err *err)
{
	const struct schema_sizes sizes = schema_sizes(options);
	const char *path = options_text(options, "schema.from");

	*schema = NULL;
	return *path ? schema_open(schema, path, &sizes, err) : 0;
}
