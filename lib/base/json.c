/*
 * The only file that knows jansson. A json_value is one of jansson's, by another
 * name; reading refuses duplicate keys, zero bytes in text (jansson's default) and
 * anything behind the value.
 */
#include "base/json.h"

#include <jansson.h>
#include <stdlib.h>

static const json_t *inner(const struct json_value *value)
{
	return (const json_t *)value;
}

static const struct json_value *outer(const json_t *value)
{
	return (const struct json_value *)value;
}

int json_read(struct json_value **value, const char *bytes, size_t size, const char *where,
	struct err *err)
{
	json_error_t why;
	json_t *read = json_loadb(bytes, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);

	*value = (struct json_value *)read;
	if (read)
		return 0;
	if (json_error_code(&why) == json_error_out_of_memory)
		return err_memory(err, "JSON", size);
	for (char *c = why.text; *c; c++) /* it may quote the document */
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	return err_set(err, ERR_FORMAT, "%s is not valid JSON: %s (byte %d)", where, why.text,
		why.position);
}

void json_free(struct json_value *value)
{
	json_decref((json_t *)value);
}

enum json_kind json_kind(const struct json_value *value)
{
	static const enum json_kind kinds[] = {
		[JSON_OBJECT] = JSON_TABLE,
		[JSON_ARRAY] = JSON_LIST,
		[JSON_STRING] = JSON_TEXT,
		[JSON_INTEGER] = JSON_NUMBER,
		[JSON_REAL] = JSON_NUMBER,
		[JSON_TRUE] = JSON_TRUTH,
		[JSON_FALSE] = JSON_TRUTH,
	};

	if (!value)
		return JSON_NOTHING;
	return json_is_null(inner(value)) ? JSON_NONE : kinds[json_typeof(inner(value))];
}

size_t json_count(const struct json_value *value)
{
	return json_is_array(inner(value)) ? json_array_size(inner(value))
					   : json_object_size(inner(value));
}

const struct json_value *json_at(const struct json_value *list, size_t i)
{
	return outer(json_array_get(inner(list), i));
}

const struct json_value *json_find(const struct json_value *table, const char *key)
{
	return outer(json_object_get(inner(table), key));
}

bool json_next(const struct json_value *table, void **at, const char **key,
	const struct json_value **value)
{
	json_t *object = (json_t *)table;

	*at = *at ? json_object_iter_next(object, *at) : json_object_iter(object);
	if (!*at)
		return false;
	*key = json_object_iter_key(*at);
	*value = outer(json_object_iter_value(*at));
	return true;
}

const char *json_text(const struct json_value *value)
{
	return json_string_value(inner(value));
}

bool json_number(const struct json_value *value, double *number)
{
	if (!json_is_number(inner(value)))
		return false;
	*number = json_number_value(inner(value));
	return true;
}

bool json_whole(const struct json_value *value, int64_t *number)
{
	if (!json_is_integer(inner(value)))
		return false;
	*number = json_integer_value(inner(value));
	return true;
}

bool json_truth(const struct json_value *value, bool *truth)
{
	if (!json_is_boolean(inner(value)))
		return false;
	*truth = json_is_true(inner(value));
	return true;
}

bool json_quote(struct text *text, const char *words)
{
	json_t *string = json_string(words);
	char *quoted = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;

	if (quoted)
		text_add(text, quoted);
	else if (string)
		text->failed = true;
	free(quoted);
	json_decref(string);
	return string != NULL;
}
