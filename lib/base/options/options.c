/* Creating options, setting keys, and reading values. */
#include "base/options.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mark.h"
#include "base/options/options_impl.h"

static bool key_is(const struct option_row *row, const char *key)
{
	size_t size = strlen(row->section);

	return strncmp(key, row->section, size) == 0 && key[size] == '.' &&
	       strcmp(key + size + 1, row->name) == 0;
}

struct option_entry *option_entry_find(const struct options *options, const char *key)
{
	const uint64_t mark = mark_words(MARK_NOTHING, key);

	for (size_t i = 0; i < options->all; i++)
		if (options->entries[i].mark == mark && key_is(options->entries[i].row, key))
			return &options->entries[i];
	return NULL;
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

int option_entry_set(struct options *options, struct option_entry *entry, const char *words,
	enum option_origin origin, const char *source, struct err *err)
{
	const struct option_row *row = entry->row;
	const char *value_text, *text, *source_text;
	char printed[TEXT_NUMBER], allowed[256];
	struct option_value value = {0};

	text = trimmed_copy(options, words);
	source_text = arena_text(&options->arena, source);
	if (!text || !source_text)
		return err_memory(err, "an option's value", strlen(words) + strlen(source) + 2);
	if (row->formerly && !strcmp(text, row->formerly))
		text = row->value;
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
	if (row->flags & OPTION_RETIRED && origin > ORIGIN_FOLDER && strcmp(text, row->value) != 0)
		return err_set(err, ERR_INPUT,
			"%s: %s.%s = %.100s: is no longer a key%s%s (%s): leave it out", source,
			row->section, row->name, text, *row->value ? ", and stays " : "",
			row->value, row->help);
	entry->value = value;
	entry->text = text;
	entry->origin = origin;
	entry->source = source_text;
	return 0;
}

int options_put(struct options *options, const char *key, const char *value,
	enum option_origin origin, const char *source, struct err *err)
{
	struct option_entry *entry = option_entry_find(options, key);

	if (!entry)
		return options_unknown_key(options, source, key, err);
	return option_entry_set(options, entry, value, origin, source, err);
}

int options_set(struct options *options, const char *key, const char *value, const char *source,
	struct err *err)
{
	return options_put(options, key, value, ORIGIN_CALL, source, err);
}

int options_overlay(struct options *options, const struct options *layer, struct err *err)
{
	int code = 0;

	assert(options->all == layer->all && "options of other rows");
	for (size_t i = 0; i < layer->all && !code; i++) {
		const struct option_entry *from = &layer->entries[i];
		struct option_entry *entry = &options->entries[i];

		if (from->origin == ORIGIN_ABSENT && !from->row->before)
			entry->origin = ORIGIN_ABSENT;
		else if (from->origin >= ORIGIN_ABSENT)
			code = option_entry_set(
				options, entry, from->text, from->origin, from->source, err);
	}
	return code;
}

const char *options_split(const char *setting, char key[OPTION_KEY])
{
	const char *equals = strchr(setting, '=');
	size_t size;

	if (!equals)
		return NULL;
	setting += strspn(setting, " \t");
	for (size = (size_t)(equals - setting); size > 0 && strchr(" \t", setting[size - 1]);)
		size--;
	snprintf(key, OPTION_KEY, "%.*s", (int)size, setting);
	return equals + 1;
}

int options_assign(
	struct options *options, const char *setting, const char *source, struct err *err)
{
	char key[OPTION_KEY];
	const char *value = options_split(setting, key);

	if (!value)
		return err_set(
			err, ERR_INPUT, "%s: %.100s: must be section.name=value", source, setting);
	return options_set(options, key, value, source, err);
}

static int row_add(struct options *options, const struct option_row *row, struct err *err)
{
	struct option_entry *entry = &options->entries[options->all];
	struct err reason;
	char key[OPTION_KEY];
	int code;

	option_row_key(row, key);
	if (option_entry_find(options, key))
		return err_set(err, ERR_STATE, "option row %s: there are two of them", key);
	if (!option_row_valid(row))
		return err_set(err, ERR_STATE, "option row %s: \"%s\" does not fit its type", key,
			row->allowed ? row->allowed : "");
	entry->row = row;
	entry->mark = mark_words(MARK_NOTHING, key);
	code = option_entry_set(options, entry, row->value, ORIGIN_DEFAULT, "default", &reason);
	if (code)
		return err_set(err, code == ERR_INPUT ? ERR_STATE : code, "option row %s: %s", key,
			reason.message);
	options->all++;
	if (!(row->flags & OPTION_RETIRED))
		options->count = options->all;
	return 0;
}

static int make(struct options **options, size_t count, struct err *err)
{
	struct options *made = mem_new(1, sizeof(*made));

	*options = made;
	if (!made)
		return err_memory(err, "options", sizeof(*made));
	made->entries = mem_new(count, sizeof(made->entries[0]));
	return made->entries ? 0 : err_memory(err, "options", count * sizeof(made->entries[0]));
}

static int give(struct options **options, struct options *made, int code)
{
	*options = code ? NULL : made;
	if (code)
		options_free(made);
	return code;
}

int options_new(struct options **options, const struct option_row *const tables[], struct err *err)
{
	struct options *made = NULL;
	size_t count = 0;
	int code;

	for (size_t i = 0; tables[i]; i++)
		for (const struct option_row *row = tables[i]; row->section; row++)
			count++;
	code = make(&made, count, err);
	for (unsigned last = 0; last <= OPTION_RETIRED; last += OPTION_RETIRED)
		for (size_t i = 0; tables[i] && !code; i++)
			for (const struct option_row *row = tables[i]; row->section && !code; row++)
				if ((row->flags & OPTION_RETIRED) == last)
					code = row_add(made, row, err);
	return give(options, made, code);
}

void options_free(struct options *options)
{
	if (!options)
		return;
	arena_release(&options->arena);
	mem_free(options->entries);
	mem_free(options);
}

static const struct option_entry *entry_get(
	const struct options *options, const char *key, unsigned types)
{
	const struct option_entry *entry = option_entry_find(options, key);

	assert(entry && "no such option");
	assert((types >> entry->row->type & 1) && "the option has another type");
	(void)types;
	return entry;
}

bool options_has(const struct options *options, const char *key)
{
	return option_entry_find(options, key) != NULL;
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

enum option_origin options_origin(const struct options *options, const char *key)
{
	return entry_get(options, key, UINT_MAX)->origin;
}

bool options_said(const struct options *options, const char *key)
{
	return options_origin(options, key) >= ORIGIN_PRESET;
}

const char *options_source(const struct options *options, const char *key)
{
	return entry_get(options, key, UINT_MAX)->source;
}

const char *options_value(const struct options *options, const char *key)
{
	return entry_get(options, key, UINT_MAX)->text;
}

int options_get(const struct options *options, const char *key, const char *source,
	const char **value, struct err *err)
{
	const struct option_entry *entry = option_entry_find(options, key);

	*value = entry ? entry->text : NULL;
	return entry ? 0 : options_unknown_key(options, source, key, err);
}

const struct option_row *options_at(const struct options *options, size_t index)
{
	return index < options->count ? options->entries[index].row : NULL;
}

const char *option_row_key(const struct option_row *row, char key[OPTION_KEY])
{
	snprintf(key, OPTION_KEY, "%s.%s", row->section, row->name);
	return key;
}

const struct option_row *options_row(const struct options *options, const char *key)
{
	const struct option_entry *entry = option_entry_find(options, key);

	return entry ? entry->row : NULL;
}

int options_defaults(struct options **options, const struct options *like, struct err *err)
{
	struct options *made = NULL;
	int code = make(&made, like->all, err);

	for (size_t i = 0; i < like->all && !code; i++)
		code = row_add(made, like->entries[i].row, err);
	return give(options, made, code);
}

const struct option_row *options_difference(const struct options *a, const struct options *b)
{
	assert(a->all == b->all && "options of other rows");
	for (size_t i = 0; i < a->all; i++)
		if (strcmp(a->entries[i].text, b->entries[i].text) != 0 &&
			!(a->entries[i].row->flags & OPTION_MAY_CHANGE))
			return a->entries[i].row;
	return NULL;
}
