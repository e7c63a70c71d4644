/*
 * Lines are cut out of a copy of the text, so that there is no maximum length. Only a newline
 * ends a line; a carriage return is a blank.
 */
#include "base/words/ini_read.h"

#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"

#define CONFIG_MOST ((size_t)1 << 20)

struct reading {
	const char *name;
	ini_value_fn *found;
	void *context;
	const char *section;
	int line;
};

static bool blank(char c)
{
	return c && strchr(" \t\r\v\f", c);
}

/* Without the blanks around it. */
static char *trimmed(char *words)
{
	size_t size;

	while (blank(*words))
		words++;
	for (size = strlen(words); size > 0 && blank(words[size - 1]); size--)
		words[size - 1] = '\0';
	return words;
}

/* Cuts off a comment: what follows a ; after a blank, or begins the line. */
static void drop_comment(char *line)
{
	if (*line == '#')
		*line = '\0';
	for (char *at = line; *at; at++)
		if (*at == ';' && (at == line || blank(at[-1])))
			*at = '\0';
}

static int read_line(struct reading *reading, char *line, struct err *err)
{
	char *end, *rest;

	line = trimmed(line);
	if (reading->line == 1 && !strncmp(line, "\xef\xbb\xbf", 3)) /* an editor's mark of UTF-8 */
		line = trimmed(line + 3);
	drop_comment(line);
	if (!*line)
		return 0;
	end = *line == '[' ? strchr(line, ']') : strpbrk(line, "=:");
	if (!end)
		return err_set(err, ERR_FORMAT, "%s:%d: neither [section] nor name = value",
			reading->name, reading->line);
	*end = '\0';
	rest = trimmed(end + 1);
	if (*line != '[')
		return reading->found(reading->context, reading->section, trimmed(line), rest,
			reading->line, err);
	if (*rest)
		return err_set(err, ERR_FORMAT, "%s:%d: [%.40s] is followed by %.40s",
			reading->name, reading->line, line + 1, rest);
	reading->section = line + 1;
	return reading->found(reading->context, reading->section, NULL, NULL, reading->line, err);
}

int ini_read(const char *name, const char *words, size_t size, ini_value_fn *found, void *context,
	struct err *err)
{
	struct reading reading = {.name = name, .found = found, .context = context, .section = ""};
	char *copy, *at, *next;
	int code = 0;

	if (memchr(words, '\0', size))
		return err_set(err, ERR_FORMAT, "%s: not a text file: it has NUL bytes", name);
	copy = mem_new(size + 1, 1);
	if (!copy)
		return err_memory(err, name, size + 1);
	memcpy(copy, words, size);
	for (at = copy; at && !code; at = next) {
		next = strchr(at, '\n');
		if (next)
			*next++ = '\0';
		reading.line++;
		code = read_line(&reading, at, err);
	}
	mem_free(copy);
	return code;
}

int ini_read_file(const char *path, ini_value_fn *found, void *context, struct err *err)
{
	char *words;
	size_t size;
	int code = file_read(path, CONFIG_MOST, &words, &size, err);

	if (code)
		return code;
	code = ini_read(path, words, size, found, context, err);
	mem_free(words);
	return code;
}
