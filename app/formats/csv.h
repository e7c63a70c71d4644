/*
 * Rows of CSV files, taken apart where they lie. Fields are parted by one
 * separator; one that begins with a quote ends with the next quote that is not
 * doubled, and may hold separators and line ends. Lines end with LF or CR LF, the
 * last one may do without. A pure function of its bytes.
 */
#ifndef RETAIN_FORMATS_CSV_H
#define RETAIN_FORMATS_CSV_H

#include <stdbool.h>
#include <stddef.h>

struct csv_field {
	const char *at; /* without the quotes around it */
	size_t size;
	bool doubled; /* quotes inside are still doubled */
};

/* What csv_row returns in place of a number of fields. */
enum { CSV_OPEN = -1, CSV_AFTER = -2 };

/*
 * Takes the row apart that begins at `bytes`, of which there is at least one. Returns
 * how many fields it has (at least 1), or one of the codes above. Fills in the first
 * `most` fields. *used becomes the row's size with its line end.
 */
int csv_row(const char *bytes, size_t size, char separator, struct csv_field *fields, int most,
	size_t *used);

/* What a code means: "a quote is never closed". */
const char *csv_reason(int code);

/* The field as text: quotes are single. False if it does not fit, with a NUL, into `room`. */
bool csv_text(const struct csv_field *field, char *out, size_t room);

/* The field without blanks around it. */
struct csv_field csv_trim(struct csv_field field);

/*
 * The separator of a file, from its first line: a comma, or else a tab, a semicolon or a bar. Commas
 * within numbers (1,5;2,5) are none.
 */
char csv_separator(const char *bytes, size_t size);

/* How many bytes of a file's beginning are a mark that it is UTF-8: 0 or 3. */
size_t csv_mark(const char *bytes, size_t size);

#endif
