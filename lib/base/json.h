/*
 * Reading JSON: a document becomes values that can be asked for (json_write.h
 * writes). A document comes from outside, so nothing about it is taken for granted:
 * every question has an answer for a value of another kind, NULL included.
 */
#ifndef RETAIN_BASE_JSON_H
#define RETAIN_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct jvalue; /* lives as long as its document */

enum jvalue_kind {
	JVALUE_NOTHING,
	JVALUE_NONE,
	JVALUE_TRUTH,
	JVALUE_NUMBER,
	JVALUE_TEXT,
	JVALUE_LIST,
	JVALUE_TABLE
};

/*
 * Reads `size` bytes that hold one value and nothing more, UTF-8, no key twice in
 * one table. `where` begins the sentence of an error ("FILE: the header"); it then
 * says what is wrong at which byte, without control characters. Free the
 * value with jvalue_free, which also frees those it holds.
 */
int jvalue_read(
	struct jvalue **value, const char *bytes, size_t size, const char *where, struct err *err);
void jvalue_free(struct jvalue *value);

/* JVALUE_NOTHING for NULL. */
enum jvalue_kind jvalue_kind(const struct jvalue *value);

/* How many a list or a table holds; 0 for others. */
size_t jvalue_count(const struct jvalue *value);

/* NULL where there is none, or where it is another kind of value. */
const struct jvalue *jvalue_at(const struct jvalue *list, size_t i);
const struct jvalue *jvalue_find(const struct jvalue *table, const char *key);

/*
 * The table's entries in no particular order: *at starts as NULL; false after the
 * last one.
 */
bool jvalue_next(
	const struct jvalue *table, void **at, const char **key, const struct jvalue **value);

/* NULL for what is no text. Text that holds a zero byte is refused by jvalue_read. */
const char *jvalue_text(const struct jvalue *value);

/* False, and *number as it was, for other kinds; jvalue_whole wants a number without fraction. */
bool jvalue_number(const struct jvalue *value, double *number);
bool jvalue_whole(const struct jvalue *value, int64_t *number);
bool jvalue_truth(const struct jvalue *value, bool *truth);

#endif
