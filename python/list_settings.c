/*
 * Writes pyretain/_settings.py: every key of a learner's configuration as a keyword,
 * with its type, default, range and meaning. Made from the rows, so that it cannot
 * disagree with them.
 */
#include <stdio.h>
#include <string.h>

#include "retain.h"

static const char *type_of(enum retain_type type)
{
	static const char *const types[] = {
		[RETAIN_TYPE_BOOL] = "bool",
		[RETAIN_TYPE_INT] = "int | str",
		[RETAIN_TYPE_FLOAT] = "float",
		[RETAIN_TYPE_TEXT] = "str | int | float",
		[RETAIN_TYPE_CHOICE] = "str",
	};

	return types[type];
}

static void put_text(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		if (strchr("\"\\", *text))
			putchar('\\');
		putchar(*text);
	}
	putchar('"');
}

static void put_row(const struct retain_key *key)
{
	char help[1024], word[sizeof(key->name)];

	snprintf(word, sizeof(word), "%s", key->name);
	*strchr(word, '.') = '_';
	snprintf(help, sizeof(help), "%s%s%s%s", key->help, *key->allowed ? " (" : "", key->allowed,
		*key->allowed ? ")" : "");
	printf("    %s: %s\n    ", word, type_of(key->type));
	put_text(help);
	putchar('\n');
}

static void put_entry(const struct retain_key *key)
{
	char word[sizeof(key->name)];

	snprintf(word, sizeof(word), "%s", key->name);
	*strchr(word, '.') = '_';
	printf("    \"%s\": Setting(", word);
	put_text(key->name);
	printf(", ");
	put_text(key->value);
	printf(", ");
	put_text(key->allowed);
	printf(", ");
	put_text(key->help);
	printf(", %s),\n", key->may_change ? "True" : "False");
}

int main(void)
{
	struct retain_config *config = retain_config_new();
	struct retain_err err = {0};
	struct retain_key key;
	size_t count = 0;

	if (retain_config_count(config, &count, &err))
		goto end;
	printf("\"\"\"The settings of a learner, made from the library's own list of "
	       "keys.\"\"\"\n\n"
	       "from __future__ import annotations\n\n"
	       "from typing import NamedTuple, TypedDict\n\n\n"
	       "class Setting(NamedTuple):\n"
	       "    \"\"\"A key of the library's configuration.\"\"\"\n\n"
	       "    key: str\n    default: str\n    allowed: str\n    help: str\n"
	       "    may_change: bool\n\n\n"
	       "class Settings(TypedDict, total=False):\n"
	       "    \"\"\"What can be set, as keywords: section.name is section_name.\"\"\"\n\n");
	for (size_t i = 0; i < count && !retain_config_key(config, i, &key, &err); i++)
		put_row(&key);
	printf("\n\nSETTINGS: dict[str, Setting] = {\n");
	for (size_t i = 0; i < count && !retain_config_key(config, i, &key, &err); i++)
		put_entry(&key);
	printf("}\n");
end:
	if (err.code)
		fprintf(stderr, "list_settings: %s\n", err.message);
	retain_config_free(config);
	return err.code != 0;
}
