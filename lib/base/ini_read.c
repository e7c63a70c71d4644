/*
 * Reads with inih, which only this file knows. inih hands out keys and values but
 * no line numbers, and cuts lines to 200 bytes, fewer than a path may need; both
 * are made up for here, where lines are handed to it one by one.
 */
#include "base/ini_read.h"

#include <ctype.h>
#include <ini.h>
#include <stdbool.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#define CONFIG_MOST ((size_t)1 << 20)

struct reading {
	ini_value_fn *found;
	void *context;
	const char *at, *end; /* what is left of the text */
	int line;             /* the one inih is looking at, from 1 */
	const char *rest;     /* the end of that line if inih did not get it all */
	size_t rest_size;
	struct err failure; /* the first one met in a value, */
	int failure_line;   /* and its line; 0: none */
};

static bool blank(char c)
{
	return isspace((unsigned char)c);
}

static size_t without_blanks(const char *line, size_t size)
{
	while (size > 0 && blank(line[size - 1]))
		size--;
	return size;
}

/* The line's size without its comment, by inih's rules. */
static size_t without_comment(const char *line, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((i == 0 && (line[i] == ';' || line[i] == '#')) ||
			(i > 0 && line[i] == ';' && blank(line[i - 1])))
			return without_blanks(line, i);
	return size;
}

/*
 * inih's fgets. The blanks at a line's start are dropped, as inih would take the
 * line for the last one's continuation. Of a line too long for inih it gets the
 * beginning, cut after a character that it will not strip; value_found adds the
 * rest.
 */
static char *line_next(char *out, int room, void *stream)
{
	struct reading *reading = stream;
	const char *line = reading->at, *end = reading->end;
	size_t size, most = (size_t)room - 2; /* "\n" and NUL */

	if (line == end)
		return NULL;
	reading->line++;
	size = (size_t)(end - line);
	if (memchr(line, '\n', size))
		size = (size_t)((const char *)memchr(line, '\n', size) - line);
	reading->at = line + size < end ? line + size + 1 : end;
	for (; size > 0 && blank(*line); size--)
		line++;
	size = without_blanks(line, size);
	if (size > most)
		size = without_comment(line, size);
	reading->rest = line + size;
	if (size > most)
		reading->rest = line + without_blanks(line, most);
	reading->rest_size = (size_t)(line + size - reading->rest);
	memcpy(out, line, size - reading->rest_size);
	memcpy(out + size - reading->rest_size, "\n", 2);
	return out;
}

/* inih's handler: 1 for success. */
static int value_found(void *context, const char *section, const char *name, const char *value)
{
	struct reading *reading = context;
	struct text joined = {0};
	int code;

	if (reading->failure_line)
		return 0;
	if (reading->rest_size) {
		text_addf(&joined, "%s%.*s", value, (int)reading->rest_size, reading->rest);
		value = joined.data;
	}
	code = joined.failed ? err_memory(&reading->failure, "a config line", reading->rest_size)
			     : reading->found(reading->context, section, name, value, reading->line,
				       &reading->failure);
	text_release(&joined);
	if (code)
		reading->failure_line = reading->line;
	return code == 0;
}

int ini_read(const char *name, const char *words, size_t size, ini_value_fn *found, void *context,
	struct err *err)
{
	struct reading reading = {
		.found = found, .context = context, .at = words, .end = words + size};
	int line;

	if (memchr(words, '\0', size))
		return err_set(err, ERR_FORMAT, "%s: not a text file: it has NUL bytes", name);
	line = ini_parse_stream(line_next, &reading, value_found, &reading);
	if (line == 0)
		return 0;
	/* inih goes on after an error and returns the first one's line, be it ours or its own. */
	if (line == reading.failure_line) {
		if (err)
			*err = reading.failure;
		return reading.failure.code;
	}
	if (line < 0)
		return err_memory(err, name, 0);
	return err_set(err, ERR_FORMAT, "%s:%d: neither [section] nor name = value", name, line);
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
