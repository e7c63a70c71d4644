/*
 * Text that grows, numbers as text whatever the locale, and the distance
 * between two words.
 */
#ifndef RETAIN_BASE_TEXT_H
#define RETAIN_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A growing string. A zeroed struct text is empty. When memory runs out
 * `failed` is set and further additions do nothing, so it is enough to look at
 * it once at the end. `data` may be NULL while nothing was added.
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
 * Adds words that start in this column, wrapped to 80 columns: further lines are indented by
 * `indent`. A line of theirs that starts with a blank stays as it is. Ends the last line.
 */
void text_add_wrapped(struct text *text, const char *words, int column, int indent);

/*
 * A field of CSV, quoted where it must be. Spreadsheets run what begins with =, +, - or @ as a
 * formula: in a safe text such a field that is not a number gets an apostrophe in front.
 */
void text_add_field(struct text *text, const char *field);

/* The shortest decimal that reads back as exactly this number (not NaN): "0.1", "1e-05", "inf". */
#define TEXT_NUMBER 32
void text_from_double(char out[TEXT_NUMBER], double number);

/* The number that makes up the whole of `words`; false if there is anything else. */
bool text_to_double(const char *words, double *number);

/*
 * How many single-character insertions, deletions, replacements and swaps of
 * neighbours turn a into b. Words beyond 63 bytes count as infinitely far
 * (INT_MAX) from all others.
 */
int text_distance(const char *a, const char *b);

/*
 * The length in bytes of the character that begins here, or 0 if it is not UTF-8:
 * a stray or missing continuation, an overlong form, a surrogate, beyond U+10FFFF.
 * A final NUL is a character, so a string is not read past its end.
 */
int text_utf8(const unsigned char *at);
bool text_is_utf8(const char *words); /* all of it */

/*
 * Makes words fit for a terminal, which obeys control characters: each is a question mark then,
 * save for line ends and tabs. So are those of U+0080 to U+009F, and bytes of their value that
 * belong to no character.
 */
void text_tame(char *words);

#endif
