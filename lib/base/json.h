/*
 * Reading JSON: a document becomes values (json_write.h writes). A document comes
 * from outside, so nothing about it is taken for granted: every function below also
 * takes a value of another kind, or NULL, and then says so by its result.
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
 * Reads `size` bytes that hold one value and nothing more, in UTF-8. A table must not
 * have a key twice. An error message begins with `where` ("FILE: the header"), says
 * what is wrong at which byte, and holds no control characters. Free the value with
 * jvalue_free, which also frees the values in it.
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

/* NULL if the value is no text. jvalue_read refuses text that holds a zero byte. */
const char *jvalue_text(const struct jvalue *value);

/* False for other kinds; *number is then unchanged. jvalue_whole takes no fractions. */
bool jvalue_number(const struct jvalue *value, double *number);
bool jvalue_whole(const struct jvalue *value, int64_t *number);
bool jvalue_truth(const struct jvalue *value, bool *truth);

#endif
