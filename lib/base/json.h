/*
 * JSON: reading a document into values that can be asked for, and strings as
 * JSON. A document comes from outside, so nothing about it is taken for granted:
 * every question has an answer for a value of another kind, NULL included.
 */
#ifndef RETAIN_BASE_JSON_H
#define RETAIN_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/text.h"

struct json_value; /* lives as long as its document */

enum json_kind {
	JSON_NOTHING,
	JSON_NONE,
	JSON_TRUTH,
	JSON_NUMBER,
	JSON_TEXT,
	JSON_LIST,
	JSON_TABLE
};

/*
 * Reads `size` bytes that hold one value and nothing more, UTF-8, no key twice in
 * one table. `where` begins the sentence of an error ("FILE: the header"); it then
 * says what is wrong at which byte, without control characters. The value is for
 * json_free; so is none of those it holds.
 */
int json_read(struct json_value **value, const char *bytes, size_t size, const char *where,
	struct err *err);
void json_free(struct json_value *value);

/* JSON_NOTHING for NULL. */
enum json_kind json_kind(const struct json_value *value);

/* How many a list or a table holds; 0 for others. */
size_t json_count(const struct json_value *value);

/* NULL where there is none, or where it is another kind of value. */
const struct json_value *json_at(const struct json_value *list, size_t i);
const struct json_value *json_find(const struct json_value *table, const char *key);

/*
 * The table's entries in no particular order: *at starts as NULL; false after the
 * last one.
 */
bool json_next(const struct json_value *table, void **at, const char **key,
	const struct json_value **value);

/* NULL for what is no text. Text that holds a zero byte is refused by json_read. */
const char *json_text(const struct json_value *value);

/* False, and *number as it was, for other kinds; json_whole wants a number without fraction. */
bool json_number(const struct json_value *value, double *number);
bool json_whole(const struct json_value *value, int64_t *number);
bool json_truth(const struct json_value *value, bool *truth);

/* Adds words as a JSON string, quotes included. False, and nothing added, if they are not UTF-8. */
bool json_quote(struct text *text, const char *words);

#endif
