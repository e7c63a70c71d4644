/*
 * The set of keys and their values. Every value is kept both as parsed and as
 * text in its canonical form, so that writing the config is writing texts.
 * Texts and sources live in the arena until the options go: keys are set a few
 * times per run, not in a loop.
 *
 * Invariant: every entry has a value that its row allows, from options_new on.
 */
#include "base/options.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/options_set.h"
#include "base/options_value.h"

struct entry {
	const struct option_row *row;
	struct option_value value;
	const char *text, *source;
	unsigned reading; /* the last file that set it, by options->readings, and where */
	int line;
};

struct options {
	struct arena arena;
	struct entry *entries;
	size_t count;
	unsigned readings;
};

static bool key_is(const struct option_row *row, const char *key)
{
	size_t size = strlen(row->section);

	return strncmp(key, row->section, size) == 0 && key[size] == '.' &&
	       strcmp(key + size + 1, row->name) == 0;
}

static struct entry *entry_find(const struct options *options, const char *key)
{
	for (size_t i = 0; i < options->count; i++)
		if (key_is(options->entries[i].row, key))
			return &options->entries[i];
	return NULL;
}

/* The key most like this one, be it full or a bare name, or NULL if none is close. */
static const struct option_row *nearest_row(const struct options *options, const char *key)
{
	const struct option_row *nearest = NULL;
	int best = 2 + (int)strnlen(key, 64) / 4; /* so many slips would be a stretch */
	char full[64];

	for (size_t i = 0; i < options->count; i++) {
		const struct option_row *row = options->entries[i].row;
		int distance;

		snprintf(full, sizeof(full), "%s.%s", row->section, row->name);
		distance = text_distance(key, strchr(key, '.') ? full : row->name);
		if (distance < best) {
			best = distance;
			nearest = row;
		}
	}
	return nearest;
}

static bool section_exists(const struct options *options, const char *section, size_t size)
{
	for (size_t i = 0; i < options->count; i++)
		if (strlen(options->entries[i].row->section) == size &&
			strncmp(options->entries[i].row->section, section, size) == 0)
			return true;
	return false;
}

static const char *nearest_section(const struct options *options, const char *section)
{
	const char *nearest = NULL;
	int best = 2 + (int)strnlen(section, 64) / 4;

	for (size_t i = 0; i < options->count; i++) {
		int distance = text_distance(section, options->entries[i].row->section);

		if (distance < best) {
			best = distance;
			nearest = options->entries[i].row->section;
		}
	}
	return nearest;
}

static int unknown_section(
	const struct options *options, const char *place, const char *section, struct err *err)
{
	const char *nearest = nearest_section(options, section);

	if (nearest)
		return err_set(err, ERR_INPUT, "%s[%.100s]: no such section; did you mean [%s]?",
			place, section, nearest);
	return err_set(err, ERR_INPUT, "%s[%.100s]: no such section", place, section);
}

static int unknown_key(
	const struct options *options, const char *source, const char *key, struct err *err)
{
	const struct option_row *nearest = nearest_row(options, key);
	size_t size = strcspn(key, ".");
	char section[64], place[256];

	if (nearest)
		return err_set(err, ERR_INPUT, "%s: %.100s: no such key; did you mean %s.%s?",
			source, key, nearest->section, nearest->name);
	if (key[size] == '\0' || section_exists(options, key, size))
		return err_set(err, ERR_INPUT, "%s: %.100s: no such key", source, key);
	snprintf(section, sizeof(section), "%.*s", (int)(size < 64 ? size : 63), key);
	snprintf(place, sizeof(place), "%s: ", source);
	return unknown_section(options, place, section, err);
}

/* A copy in the arena without the blanks around it. */
static char *trimmed_copy(struct options *options, const char *words)
{
	size_t size;
	char *copy;

	words += strspn(words, " \t");
	copy = arena_text(&options->arena, words);
	if (!copy)
		return NULL;
	for (size = strlen(copy); size > 0 && strchr(" \t", copy[size - 1]); size--)
		copy[size - 1] = '\0';
	return copy;
}

static int entry_set(struct options *options, struct entry *entry, const char *words,
	const char *source, struct err *err)
{
	const struct option_row *row = entry->row;
	const char *value_text, *text, *source_text;
	char printed[TEXT_NUMBER], allowed[256];
	struct option_value value = {0};

	text = trimmed_copy(options, words);
	source_text = arena_text(&options->arena, source);
	if (!text || !source_text)
		return err_memory(err, "an option's value", strlen(words) + strlen(source) + 2);
	if (!option_value_parse(row, text, &value)) {
		option_row_describe(row, allowed, sizeof(allowed));
		return err_set(err, ERR_INPUT, "%s: %s.%s = %.100s: must be %s", source,
			row->section, row->name, text, allowed);
	}
	value_text = option_value_print(row, &value, printed);
	if (value_text)
		text = arena_text(&options->arena, value_text);
	if (!text)
		return err_memory(err, "an option's value", sizeof(printed));
	entry->value = value;
	entry->text = text;
	entry->source = source_text;
	return 0;
}

int options_set(struct options *options, const char *key, const char *value, const char *source,
	struct err *err)
{
	struct entry *entry = entry_find(options, key);

	if (!entry)
		return unknown_key(options, source, key, err);
	return entry_set(options, entry, value, source, err);
}

unsigned options_reading(struct options *options)
{
	return ++options->readings;
}

int options_set_line(struct options *options, unsigned reading, int line, const char *key,
	const char *value, const char *source, struct err *err)
{
	struct entry *entry = entry_find(options, key);
	int code;

	if (!entry)
		return unknown_key(options, source, key, err);
	if (entry->reading == reading)
		return err_set(err, ERR_INPUT, "%s: %s was set before, in line %d", source, key,
			entry->line);
	code = entry_set(options, entry, value, source, err);
	if (!code) {
		entry->reading = reading;
		entry->line = line;
	}
	return code;
}

int options_assign(
	struct options *options, const char *setting, const char *source, struct err *err)
{
	const char *equals = strchr(setting, '=');
	char key[128];
	size_t size;

	if (!equals)
		return err_set(
			err, ERR_INPUT, "%s: %.100s: must be section.name=value", source, setting);
	setting += strspn(setting, " \t");
	for (size = (size_t)(equals - setting); size > 0 && strchr(" \t", setting[size - 1]);)
		size--;
	if (size >= sizeof(key))
		return err_set(err, ERR_INPUT, "%s: %.100s: no such key", source, setting);
	memcpy(key, setting, size);
	key[size] = '\0';
	return options_set(options, key, equals + 1, source, err);
}

static int row_add(struct options *options, const struct option_row *row, struct err *err)
{
	struct entry *entry = &options->entries[options->count];
	struct err reason;
	char key[128];
	int code;

	snprintf(key, sizeof(key), "%s.%s", row->section, row->name);
	if (entry_find(options, key))
		return err_set(err, ERR_STATE, "option row %s: there are two of them", key);
	if (!option_row_valid(row))
		return err_set(err, ERR_STATE, "option row %s: \"%s\" does not fit its type", key,
			row->allowed ? row->allowed : "");
	entry->row = row;
	code = entry_set(options, entry, row->value, OPTIONS_DEFAULT, &reason);
	if (code)
		return err_set(err, code == ERR_INPUT ? ERR_STATE : code, "option row %s: %s", key,
			reason.message);
	options->count++;
	return 0;
}

int options_new(struct options **options, const struct option_row *const tables[], struct err *err)
{
	struct options *made = mem_new(1, sizeof(*made));
	size_t count = 0;
	int code = 0;

	*options = NULL;
	if (!made)
		return err_memory(err, "options", sizeof(*made));
	for (size_t i = 0; tables[i]; i++)
		for (const struct option_row *row = tables[i]; row->section; row++)
			count++;
	made->entries = mem_new(count, sizeof(made->entries[0]));
	if (!made->entries)
		code = err_memory(err, "options", count * sizeof(made->entries[0]));
	for (size_t i = 0; tables[i] && !code; i++)
		for (const struct option_row *row = tables[i]; row->section && !code; row++)
			code = row_add(made, row, err);
	if (code) {
		options_free(made);
		return code;
	}
	*options = made;
	return 0;
}

void options_free(struct options *options)
{
	if (!options)
		return;
	arena_release(&options->arena);
	mem_free(options->entries);
	mem_free(options);
}

static const struct entry *entry_get(const struct options *options, const char *key, unsigned types)
{
	const struct entry *entry = entry_find(options, key);

	assert(entry && "no such option");
	assert((types >> entry->row->type & 1) && "the option has another type");
	(void)types;
	return entry;
}

bool options_has(const struct options *options, const char *key)
{
	return entry_find(options, key) != NULL;
}

bool options_bool(const struct options *options, const char *key)
{
	return entry_get(options, key, 1u << OPTION_BOOL)->value.whole;
}

int options_int(const struct options *options, const char *key)
{
	return (int)entry_get(options, key, 1u << OPTION_INT)->value.whole;
}

int64_t options_int64(const struct options *options, const char *key)
{
	return entry_get(options, key, 1u << OPTION_INT64)->value.whole;
}

double options_float(const struct options *options, const char *key)
{
	return entry_get(options, key, 1u << OPTION_FLOAT)->value.number;
}

const char *options_text(const struct options *options, const char *key)
{
	return entry_get(options, key, 1u << OPTION_TEXT | 1u << OPTION_CHOICE)->text;
}

int options_choice(const struct options *options, const char *key)
{
	return (int)entry_get(options, key, 1u << OPTION_CHOICE)->value.whole;
}

const char *options_source(const struct options *options, const char *key)
{
	return entry_get(options, key, UINT_MAX)->source;
}

typedef void entry_fn(const struct entry *entry, struct text *out);

static void entry_write(const struct entry *entry, struct text *out)
{
	text_addf(out, "%s = %s\n", entry->row->name, entry->text);
}

static void entry_help(const struct entry *entry, struct text *out)
{
	char allowed[256];

	option_row_describe(entry->row, allowed, sizeof(allowed));
	text_addf(out, "  %s = %s\n      %s (%s)\n", entry->row->name, entry->row->value,
		entry->row->help, allowed);
}

/* The entries under their headings: a section stands where its first row does, with all its rows,
 * whichever table they are from. */
static void by_section(
	const struct options *options, const char *only, entry_fn *fn, struct text *out)
{
	const char *blank = "";

	for (size_t i = 0; i < options->count; i++) {
		const char *section = options->entries[i].row->section;
		bool first = true;

		for (size_t j = 0; j < i && first; j++)
			first = strcmp(options->entries[j].row->section, section) != 0;
		if (!first || (only && strcmp(only, section) != 0))
			continue;
		text_addf(out, "%s[%s]\n", blank, section);
		blank = "\n";
		for (size_t j = i; j < options->count; j++)
			if (strcmp(options->entries[j].row->section, section) == 0)
				fn(&options->entries[j], out);
	}
}

int options_write(const struct options *options, struct text *out, struct err *err)
{
	by_section(options, NULL, entry_write, out);
	return out->failed ? err_memory(err, "the config's text", out->size) : 0;
}

int options_help(
	const struct options *options, const char *section, struct text *out, struct err *err)
{
	if (section && !section_exists(options, section, strlen(section)))
		return unknown_section(options, "", section, err);
	by_section(options, section, entry_help, out);
	return out->failed ? err_memory(err, "the help text", out->size) : 0;
}
