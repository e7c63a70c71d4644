/*
 * Reads logs that have grown for a year. Up to THIN bytes a log is read completely; of a longer
 * one only the first and the last line, every n-th in between, and all rare ones: a chart has no
 * more points than that anyway, and counts are kept elsewhere.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "log/run_log_impl.h"

enum { THIN = 16 << 20, LINE_MOST = 64 << 10 };

/* A line of the log, with its newline; at its end perhaps without. */
struct line {
	char bytes[LINE_MOST];
	size_t size;
};

/* False at the end. Lines that are too long to be ours are left out. */
static bool next_line(FILE *file, struct line *line)
{
	while (fgets(line->bytes, sizeof(line->bytes), file)) {
		line->size = strlen(line->bytes);
		if (line->size < sizeof(line->bytes) - 1 || line->bytes[line->size - 1] == '\n')
			return true;
		for (int c = getc(file); c != EOF && c != '\n';)
			c = getc(file);
	}
	return false;
}

static void thin(FILE *file, size_t size, bool (*rare)(const char *line), struct text *out)
{
	const size_t stride = (size + THIN - 1) / THIN;
	struct line line, last = {.size = 0};
	size_t rares = 0;

	for (size_t i = 0; next_line(file, &line); i++) {
		const bool kept = i == 0 || i % stride == 0;

		last.size = 0;
		if (kept || (rares < THIN && rare && rare(line.bytes))) {
			rares += kept ? 0 : line.size;
			text_add_bytes(out, line.bytes, line.size);
		} else {
			last.size = line.size;
			memcpy(last.bytes, line.bytes, line.size);
		}
	}
	text_add_bytes(out, last.bytes, last.size);
}

int run_log_read(const char *path, bool (*rare)(const char *line), char **bytes, size_t *size,
	struct err *err)
{
	FILE *file = fopen(path, "re");
	struct text out = {0};
	struct stat found;
	int code = 0;

	if (!file || fstat(fileno(file), &found))
		code = err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
	else if (found.st_size <= THIN)
		code = file_read(path, 2 * (size_t)THIN, bytes, size, err);
	else
		thin(file, (size_t)found.st_size, rare, &out);
	if (file)
		fclose(file);
	if (code || !out.data)
		return code;
	if (out.failed) {
		text_release(&out);
		return err_memory(err, path, out.capacity);
	}
	*bytes = out.data;
	*size = out.size;
	return 0;
}
