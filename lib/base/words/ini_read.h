/*
 * INI files: `[section]`, `name = value`, comments after `;` (at the start of a line also `#`);
 * indentation is ignored. The reader calls a function for every heading and every value.
 */
#ifndef RETAIN_BASE_WORDS_INI_READ_H
#define RETAIN_BASE_WORDS_INI_READ_H

#include <stddef.h>

#include "base/err.h"

/*
 * A value and its line, or a heading: then name and value are NULL. `section` may be empty. An
 * error stops the reader.
 */
typedef int ini_value_fn(void *context, const char *section, const char *name, const char *value,
	int line, struct err *err);

/* `name` stands for the file in messages. */
int ini_read(const char *name, const char *words, size_t size, ini_value_fn *found, void *context,
	struct err *err);

/* The same for a file. */
int ini_read_file(const char *path, ini_value_fn *found, void *context, struct err *err);

#endif
