/* The table of kinds. */
#include "target/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"

const struct target_type *const target_types[TARGET_KINDS] = {
	[TARGET_CLASS] = &target_class,
	[TARGET_NUMBER] = &target_number,
};

enum target_kind target_kind(const char *name)
{
	enum target_kind kind = TARGET_CLASS;

	for (int i = 0; i < TARGET_KINDS; i++)
		if (!strcmp(target_types[i]->name, name))
			kind = i;
	return kind;
}

static const char *after(const char *name)
{
	const char *comma = strchr(name, ',');

	return comma ? comma + 1 : NULL;
}

/* Names of one letter at least, each once, that need no quotes in a table. */
static int count_names(const char *words)
{
	char name[NUMBER_NAME], other[NUMBER_NAME];
	int count = 0;

	for (const char *at = words; *at; at++)
		if (*at == '"' || (unsigned char)*at < ' ')
			return 0;
	for (const char *at = words; at; at = after(at), count++)
		if (count == TARGET_WIDTH || strcspn(at, ",") == 0 ||
			strcspn(at, ",") >= NUMBER_NAME)
			return 0;
	for (int i = 0; i < count; i++)
		for (int k = 0; k < i; k++)
			if (!strcmp(number_name(words, i, name), number_name(words, k, other)))
				return 0;
	return count;
}

int numbers_count(const char *words)
{
	char *end;
	const long count = strtol(words, &end, 10);

	if (end == words || *end)
		return count_names(words);
	return count >= 1 && count <= TARGET_WIDTH ? (int)count : 0;
}

const char *number_name(const char *words, int k, char out[NUMBER_NAME])
{
	char *end;

	*out = '\0';
	(void)strtol(words, &end, 10);
	if (end != words && !*end)
		return out;
	for (; k > 0 && words; k--)
		words = after(words);
	if (words) {
		const size_t size = strcspn(words, ",");

		memcpy(out, words, size);
		out[size] = '\0';
	}
	return out;
}

const char *number_said(const char *words, int k, char out[NUMBER_NAME])
{
	if (!*number_name(words, k, out))
		snprintf(out, NUMBER_NAME, "%d", k + 1);
	return out;
}

int target_width(const struct options *options)
{
	if (target_kind(options_text(options, "model.target")) == TARGET_CLASS)
		return 1;
	return numbers_count(options_text(options, "model.numbers"));
}

int target_outputs(const struct options *options)
{
	const enum target_kind kind = target_kind(options_text(options, "model.target"));

	return target_types[kind]->outputs * target_width(options);
}

/* A class c becomes -3 - c, and TARGET_NONE -2. */
void target_mark_late(union target *guess, int width, int64_t known)
{
	int32_t *last = &guess[target_guess(width) - 1].class;

	*last = *last >= -1 ? -3 - *last : *last;
	if (known >= 0)
		last[-1] = (int32_t)(known & INT32_MAX);
}

bool target_late(const union target *guesses, int width, int n)
{
	bool late = false;

	for (int i = 1; i <= n; i++)
		late = late || guesses[(size_t)i * target_guess(width) - 1].class < -1;
	return late;
}

int target_late_by(const union target *guesses, int width, int n, int64_t known)
{
	int32_t most = 0;

	for (int i = 1; i <= n; i++) {
		const union target *last = guesses + (size_t)i * target_guess(width) - 1;
		const int32_t then = last[-1].class;

		if (last->class < -1 && then >= 0) {
			const int32_t by = (int32_t)((known - then) & INT32_MAX);

			most = by > most ? by : most;
		}
	}
	return most;
}
