/*
 * Parses rows of CSV files in place. Fields are separated by one separator; a quoted field ends
 * with the next quote that is not doubled, and may contain separators and line ends. Lines end
 * with LF or CR LF, which is optional in the last one. A pure function of its bytes.
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

/* Error codes of csv_row. */
enum { CSV_OPEN = -1, CSV_AFTER = -2 };

/*
 * Parses the row that begins at `bytes`, at least one byte. Returns the number of fields (at
 * least 1), or one of the codes above. Fills in the first `most` fields. *used becomes the row's
 * size including its line end.
 */
int csv_row(const char *bytes, size_t size, char separator, struct csv_field *fields, int most,
	size_t *used);

/* The message of a code: "a quote is never closed". */
const char *csv_reason(int code);

/* The field as text, with quotes undoubled. False if it does not fit into `room` with a NUL. */
bool csv_text(const struct csv_field *field, char *out, size_t room);

/* The field without surrounding blanks. */
static inline struct csv_field csv_trim(const struct csv_field *field)
{
	const char *at = field->at;
	size_t size = field->size;

	while (size && (*at == ' ' || *at == '\t')) {
		at++;
		size--;
	}
	while (size && (at[size - 1] == ' ' || at[size - 1] == '\t'))
		size--;
	return (struct csv_field){at, size, field->doubled};
}

/*
 * Detects the separator from a file's first line: a comma, or else a tab, a semicolon or a bar.
 * Commas within numbers (1,5;2,5) do not count.
 */
char csv_separator(const char *bytes, size_t size);

/* The size of a UTF-8 byte order mark at the beginning: 0 or 3. */
size_t csv_mark(const char *bytes, size_t size);

#endif
