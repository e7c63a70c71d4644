/*
 * Reads JSON into values (json_write.h writes). Documents are untrusted input: every function
 * below also accepts a value of another kind, or NULL, and reports it by its result.
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
 * Parses `size` bytes that hold exactly one value, in UTF-8. Duplicate keys in a table are an
 * error. An error message begins with `where` ("FILE: the header"), says what is wrong at which
 * byte, and holds no control characters. Free the value with jvalue_free, which also frees nested
 * values.
 */
int jvalue_read(
	struct jvalue **value, const char *bytes, size_t size, const char *where, struct err *err);
void jvalue_free(struct jvalue *value);

/* JVALUE_NOTHING for NULL. */
enum jvalue_kind jvalue_kind(const struct jvalue *value);

/* The number of entries of a list or a table; 0 for others. */
size_t jvalue_count(const struct jvalue *value);

/* NULL if there is no such entry, or for another kind of value. */
const struct jvalue *jvalue_at(const struct jvalue *list, size_t i);
const struct jvalue *jvalue_find(const struct jvalue *table, const char *key);

/*
 * Iterates over a table's entries in no particular order: *at starts as NULL; false after the
 * last one.
 */
bool jvalue_next(
	const struct jvalue *table, void **at, const char **key, const struct jvalue **value);

/* NULL if the value is not text. jvalue_read rejects text that contains a zero byte. */
const char *jvalue_text(const struct jvalue *value);

/* False for other kinds; *number is then unchanged. jvalue_whole rejects fractions. */
bool jvalue_number(const struct jvalue *value, double *number);
bool jvalue_whole(const struct jvalue *value, int64_t *number);
bool jvalue_truth(const struct jvalue *value, bool *truth);

/*
 * Values without a text: an empty table, a number (null if it is not finite), a text, another
 * document's value. NULL if out of memory, or for a text that is not UTF-8 or holds a zero byte.
 * jvalue_put gives a table an entry and takes the value over, whatever happens; ERR_INPUT if there
 * is an entry of this name already.
 */
struct jvalue *jvalue_table(void);
struct jvalue *jvalue_of_number(double number);
struct jvalue *jvalue_of_text(const char *words, size_t size);
struct jvalue *jvalue_share(const struct jvalue *value);
int jvalue_put(struct jvalue *table, const char *key, struct jvalue *value, struct err *err);

#endif
