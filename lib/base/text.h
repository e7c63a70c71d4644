/* Growing strings, locale-independent number formatting, and edit distance. */
#ifndef RETAIN_BASE_TEXT_H
#define RETAIN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A growing string. Zeroed: empty. If memory runs out, `failed` is set and further additions do
 * nothing, so one check at the end is enough. `data` may be NULL while it is empty.
 */
struct text {
	char *data;
	size_t size, capacity;
	bool failed;
	bool safe; /* text_add_field: for spreadsheets */
};

void text_add(struct text *text, const char *words);
void text_add_bytes(struct text *text, const char *bytes, size_t size); /* of any value */
void text_add_whole(struct text *text, int64_t number);
void text_addf(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_release(struct text *text);

/*
 * Adds words that start in this column, wrapped to 80 columns; further lines are indented by
 * `indent`. Input lines that start with a blank are kept as they are. Ends the last line.
 */
void text_add_wrapped(struct text *text, const char *words, int column, int indent);

/*
 * A CSV field, quoted if necessary. Spreadsheets run fields that begin with =, +, - or @ as
 * formulas: in a safe text such a field that is not a number is prefixed by an apostrophe.
 */
void text_add_field(struct text *text, const char *field);

/* The shortest decimal that reads back as exactly this number (not NaN): "0.1", "1e-05", "inf". */
#define TEXT_NUMBER 32
void text_from_double(char out[TEXT_NUMBER], double number);
/* ... as exactly this 32-bit number. */
void text_from_float(char out[TEXT_NUMBER], float number);

/* Parses all of `words` as a number; false if there is anything else. */
bool text_to_double(const char *words, double *number);

/*
 * Edit distance: single-character insertions, deletions, replacements and swaps of neighbours
 * that turn a into b. Words beyond 63 bytes are infinitely far (INT_MAX) from all others.
 */
int text_distance(const char *a, const char *b);

/*
 * The length in bytes of the UTF-8 character that begins here, or 0 if it is invalid: a stray or
 * missing continuation, an overlong form, a surrogate, beyond U+10FFFF. A final NUL is a
 * character, so a string is not read past its end.
 */
int text_utf8(const unsigned char *at);
bool text_is_utf8(const char *words); /* all of it */

/*
 * Makes words safe for a terminal: replaces control characters by question marks, except line
 * ends and tabs. This includes U+0080 to U+009F, and bytes of these values that belong to no
 * character.
 */
void text_tame(char *words);

#endif
