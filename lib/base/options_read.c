/* Config files: every value of an INI file sets a key. */
#include <stdio.h>
#include <string.h>

#include "base/ini_read.h"
#include "base/options.h"
#include "base/options_set.h"

struct reading {
	struct options *options;
	unsigned number;
	const char *name;
};

static int set_value(void *context, const char *section, const char *name, const char *value,
	int line, struct err *err)
{
	struct reading *reading = context;
	char key[128], source[512];

	snprintf(source, sizeof(source), "%.480s:%d", reading->name, line);
	if (!*section)
		return err_set(
			err, ERR_INPUT, "%s: %.100s stands before any [section]", source, name);
	snprintf(key, sizeof(key), "%s.%s", section, name);
	return options_set_line(reading->options, reading->number, line, key, value, source, err);
}

int options_read_text(
	struct options *options, const char *name, const char *words, size_t size, struct err *err)
{
	struct reading reading = {options, options_reading(options), name};

	return ini_read(name, words, size, set_value, &reading, err);
}

int options_read(struct options *options, const char *path, struct err *err)
{
	struct reading reading = {options, options_reading(options), path};

	return ini_read_file(path, set_value, &reading, err);
}
