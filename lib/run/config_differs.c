/* Two configs line by line: options_write gives the same keys in the same order. */
#include <stdio.h>
#include <string.h>

#include "run/config.h"

/* Keys that may change between two parts of a run without changing its numbers. */
static bool may_change(const char *line, size_t name)
{
	static const char *const keys[] = {"threads", "isa", "conv", "checkpoint_every", "cache",
		"on_nan", "waiting", "remember", "on_bad", "loaders"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (name == strlen(keys[i]) && !strncmp(line, keys[i], name))
			return true;
	return false;
}

/* What stands behind the "=" of a line. */
static const char *value_of(const char *line, size_t length, int *size)
{
	const char *value = memchr(line, '=', length);

	value = value ? value + 1 : line;
	while (value < line + length && *value == ' ')
		value++;
	*size = (int)(line + length - value);
	return value;
}

static void say_how(const char *section, const char *saved, size_t a, const char *now, size_t b,
	char *how, size_t size)
{
	const size_t name = strcspn(saved, " =\n");
	int was_size, is_size;
	const char *was = value_of(saved, a, &was_size), *is = value_of(now, b, &is_size);

	if (*saved == '[' || strcspn(now, " =\n") != name || strncmp(saved, now, name) != 0)
		snprintf(how, size, "by a retain with other keys, \"%.*s\" in place of \"%.*s\"",
			(int)a, saved, (int)b, now);
	else
		snprintf(how, size, "%.*s.%.*s = %.*s, not %.*s", (int)strcspn(section, "]\n"),
			section, (int)name, saved, was_size, was, is_size, is);
}

bool config_differs(const char *saved, const char *now, char *how, size_t size)
{
	const char *section = "";

	while (*saved || *now) {
		const size_t a = strcspn(saved, "\n"), b = strcspn(now, "\n");

		if (*saved == '[')
			section = saved + 1;
		if ((a != b || strncmp(saved, now, a) != 0) &&
			!may_change(saved, strcspn(saved, " =\n"))) {
			say_how(section, saved, a, now, b, how, size);
			return true;
		}
		saved += a + (saved[a] == '\n');
		now += b + (now[b] == '\n');
	}
	return false;
}
