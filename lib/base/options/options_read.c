/* Config files: every value of an INI file sets a key, once. */
#include <stdio.h>
#include <string.h>

#include "base/words/ini_read.h"
#include "base/options/options_impl.h"

struct reading {
	struct options *options;
	unsigned number; /* of this file, to tell a key that stands twice in it */
	const char *name;
	enum option_origin origin;
	bool sections, keys; /* skip those that are not known here */
};

static int set_value(void *context, const char *section, const char *name, const char *value,
	int line, struct err *err)
{
	const struct reading *reading = context;
	struct option_entry *entry;
	char key[OPTION_KEY], source[512];
	int code;

	snprintf(source, sizeof(source), "%.480s:%d", reading->name, line);
	if (!name)
		return reading->sections || options_has_section(reading->options, section)
			       ? 0
			       : options_unknown_section(reading->options, source, section, err);
	if (!*section)
		return err_set(
			err, ERR_INPUT, "%s: %.100s stands before any [section]", source, name);
	if (reading->sections && !options_has_section(reading->options, section))
		return 0;
	snprintf(key, sizeof(key), "%s.%s", section, name);
	entry = option_entry_find(reading->options, key);
	if (!entry && reading->keys)
		return 0;
	if (!entry)
		return options_unknown_key(reading->options, source, key, err);
	if (entry->reading == reading->number)
		return err_set(err, ERR_INPUT, "%s: %s was set before, in line %d", source, key,
			entry->line);
	code = option_entry_set(reading->options, entry, value, reading->origin, source, err);
	if (!code) {
		entry->reading = reading->number;
		entry->line = line;
	}
	return code;
}

int options_read_text(
	struct options *options, const char *name, const char *words, size_t size, struct err *err)
{
	struct reading reading = {options, ++options->readings, name, ORIGIN_FILE, false, false};

	return ini_read(name, words, size, set_value, &reading, err);
}

int options_read_saved(struct options *options, const char *name, const char *words, size_t size,
	bool strict, struct err *err)
{
	struct reading reading = {options, ++options->readings, name, ORIGIN_FOLDER, true, !strict};
	int code = ini_read(name, words, size, set_value, &reading, err);

	for (size_t i = 0; i < options->count && !code; i++) {
		struct option_entry *entry = &options->entries[i];

		if (entry->reading == reading.number)
			continue;
		if (entry->row->before)
			code = option_entry_set(
				options, entry, entry->row->before, ORIGIN_ABSENT, name, err);
		entry->origin = ORIGIN_ABSENT;
	}
	return code;
}

int options_read(struct options *options, const char *path, struct err *err)
{
	struct reading reading = {options, ++options->readings, path, ORIGIN_FILE, false, false};

	return ini_read_file(path, set_value, &reading, err);
}
