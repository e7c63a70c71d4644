/* Messages about unknown keys and sections, suggesting the nearest. */
#include <stdio.h>
#include <string.h>

#include "base/options/options_impl.h"

/* What others call some of our keys. */
static const struct {
	const char *theirs, *ours;
} synonyms[] = {{"lr", "rate"}, {"learning_rate", "rate"}, {"batch_size", "batch"},
	{"weight_decay", "decay"}, {"epochs", "iterations"}, {"dataset", "source"},
	{"memory", "limit"}, {"num_workers", "loaders"}, {"num_classes", "classes"}};

const struct option_row *options_synonym(const struct options *options, const char *key)
{
	const char *dot = strchr(key, '.');
	char name[64];

	snprintf(name, sizeof(name), "%s", dot ? dot + 1 : key);
	for (char *dash = name; (dash = strchr(dash, '-'));)
		*dash = '_';
	for (size_t i = 0; i < sizeof(synonyms) / sizeof(*synonyms); i++)
		for (size_t k = 0; !strcmp(synonyms[i].theirs, name) && k < options->count; k++)
			if (!strcmp(options->entries[k].row->name, synonyms[i].ours))
				return options->entries[k].row;
	return NULL;
}

/* The key most like this one, which may lack its section; NULL: none is close. */
static const struct option_row *nearest_row(const struct options *options, const char *key)
{
	const struct option_row *nearest = NULL;
	int best = 2 + (int)strnlen(key, 64) / 4; /* so many slips would be a stretch */
	char full[OPTION_KEY];

	for (size_t i = 0; i < options->count; i++) {
		const struct option_row *row = options->entries[i].row;
		int distance;

		option_row_key(row, full);
		distance = text_distance(key, strchr(key, '.') ? full : row->name);
		if (distance < best) {
			best = distance;
			nearest = row;
		}
	}
	return nearest;
}

bool options_has_section(const struct options *options, const char *section)
{
	for (size_t i = 0; i < options->all; i++)
		if (strcmp(options->entries[i].row->section, section) == 0)
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

int options_unknown_section(
	const struct options *options, const char *place, const char *section, struct err *err)
{
	const char *nearest = nearest_section(options, section);

	if (nearest)
		return err_set(err, ERR_INPUT, "%s%s[%.100s]: no such section; did you mean [%s]?",
			place, *place ? ": " : "", section, nearest);
	return err_set(err, ERR_INPUT, "%s%s[%.100s]: no such section", place, *place ? ": " : "",
		section);
}

/* A section in the place of a key; its keys, as many as a message can hold. */
static int section_alone(
	const struct options *options, const char *source, const char *section, struct err *err)
{
	char keys[320] = "";
	size_t used = 0;

	for (size_t i = 0; i < options->count; i++) {
		const struct option_row *row = options->entries[i].row;
		const size_t more = strlen(row->section) + strlen(row->name) + 3;

		if (strcmp(row->section, section) != 0)
			continue;
		if (used + more + sizeof(", ...") > sizeof(keys)) {
			snprintf(keys + used, sizeof(keys) - used, ", ...");
			break;
		}
		used += (size_t)snprintf(keys + used, sizeof(keys) - used, "%s%s.%s",
			used ? ", " : "", row->section, row->name);
	}
	return err_set(
		err, ERR_INPUT, "%s: %s: is a section, whose keys are %s", source, section, keys);
}

int options_unknown_key(
	const struct options *options, const char *source, const char *key, struct err *err)
{
	const struct option_row *synonym = options_synonym(options, key);
	const struct option_row *nearest = synonym ? synonym : nearest_row(options, key);
	size_t size = strcspn(key, ".");
	char section[64];

	if (!synonym && options_has_section(options, key))
		return section_alone(options, source, key, err);
	if (nearest)
		return err_set(err, ERR_INPUT, "%s: %.100s: no such key; did you mean %s.%s?",
			source, key, nearest->section, nearest->name);
	snprintf(section, sizeof(section), "%.*s", (int)(size < 64 ? size : 63), key);
	if (key[size] == '\0' || options_has_section(options, section))
		return err_set(err, ERR_INPUT, "%s: %.100s: no such key", source, key);
	return options_unknown_section(options, source, section, err);
}
