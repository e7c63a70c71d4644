/*
 * The only file that knows jansson. A jvalue is a jansson value; reading rejects duplicate keys,
 * zero bytes in text (jansson's default) and anything after the value.
 */
#include "base/json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const json_t *inner(const struct jvalue *value)
{
	return (const json_t *)value;
}

static const struct jvalue *outer(const json_t *value)
{
	return (const struct jvalue *)value;
}

int jvalue_read(
	struct jvalue **value, const char *bytes, size_t size, const char *where, struct err *err)
{
	json_error_t why;
	json_t *read = json_loadb(bytes, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &why);

	*value = (struct jvalue *)read;
	if (read)
		return 0;
	if (json_error_code(&why) == json_error_out_of_memory)
		return err_memory(err, "JSON", size);
	if (json_error_code(&why) == json_error_null_character)
		return err_set(
			err, ERR_FORMAT, "%s: a text holds \\u0000 (byte %d)", where, why.position);
	for (char *c = why.text; *c; c++) /* it may quote the document */
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
	return err_set(err, ERR_FORMAT, "%s is not valid JSON: %s (byte %d)", where, why.text,
		why.position);
}

void jvalue_free(struct jvalue *value)
{
	json_decref((json_t *)value);
}

enum jvalue_kind jvalue_kind(const struct jvalue *value)
{
	static const enum jvalue_kind kinds[] = {
		[JSON_OBJECT] = JVALUE_TABLE,
		[JSON_ARRAY] = JVALUE_LIST,
		[JSON_STRING] = JVALUE_TEXT,
		[JSON_INTEGER] = JVALUE_NUMBER,
		[JSON_REAL] = JVALUE_NUMBER,
		[JSON_TRUE] = JVALUE_TRUTH,
		[JSON_FALSE] = JVALUE_TRUTH,
	};

	if (!value)
		return JVALUE_NOTHING;
	return json_is_null(inner(value)) ? JVALUE_NONE : kinds[json_typeof(inner(value))];
}

size_t jvalue_count(const struct jvalue *value)
{
	return json_is_array(inner(value)) ? json_array_size(inner(value))
					   : json_object_size(inner(value));
}

const struct jvalue *jvalue_at(const struct jvalue *list, size_t i)
{
	return outer(json_array_get(inner(list), i));
}

const struct jvalue *jvalue_find(const struct jvalue *table, const char *key)
{
	return outer(json_object_get(inner(table), key));
}

bool jvalue_next(
	const struct jvalue *table, void **at, const char **key, const struct jvalue **value)
{
	json_t *object = (json_t *)table;

	*at = *at ? json_object_iter_next(object, *at) : json_object_iter(object);
	if (!*at)
		return false;
	*key = json_object_iter_key(*at);
	*value = outer(json_object_iter_value(*at));
	return true;
}

const char *jvalue_text(const struct jvalue *value)
{
	return json_string_value(inner(value));
}

bool jvalue_number(const struct jvalue *value, double *number)
{
	if (!json_is_number(inner(value)))
		return false;
	*number = json_number_value(inner(value));
	return true;
}

bool jvalue_whole(const struct jvalue *value, int64_t *number)
{
	if (!json_is_integer(inner(value)))
		return false;
	*number = json_integer_value(inner(value));
	return true;
}

bool jvalue_truth(const struct jvalue *value, bool *truth)
{
	if (!json_is_boolean(inner(value)))
		return false;
	*truth = json_is_true(inner(value));
	return true;
}

struct jvalue *jvalue_table(void)
{
	return (struct jvalue *)json_object();
}

struct jvalue *jvalue_of_number(double number)
{
	return (struct jvalue *)(isfinite(number) ? json_real(number) : json_null());
}

struct jvalue *jvalue_of_text(const char *words, size_t size)
{
	return memchr(words, '\0', size) ? NULL : (struct jvalue *)json_stringn(words, size);
}

struct jvalue *jvalue_share(const struct jvalue *value)
{
	return (struct jvalue *)json_incref((json_t *)value);
}

int jvalue_put(struct jvalue *table, const char *key, struct jvalue *value, struct err *err)
{
	const bool twice = jvalue_find(table, key);

	if (twice)
		jvalue_free(value);
	else if (!json_object_set_new((json_t *)table, key, (json_t *)value))
		return 0;
	return twice ? err_set(err, ERR_INPUT, "%s: is there twice", key)
		     : err_memory(err, "JSON", strlen(key));
}
