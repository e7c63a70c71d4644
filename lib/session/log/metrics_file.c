/*
 * Writing and reading metrics.csv by the table of columns.
 *
 * Invariant of an open file: it holds the header and `rows` complete rows, `size` bytes in all,
 * and the descriptor is at its end.
 */
#define _GNU_SOURCE 1
#include "session/log/metrics_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "session/log/times.h"

#define FILE_MOST ((size_t)1 << 30)
enum { HEADER_MOST = 256, LINE_MOST = 64 * TEXT_NUMBER };

struct metrics_file {
	char *path;
	int fd;
	int64_t rows;
	off_t size;
	struct times times;
};

static int64_t *whole_at(const struct metrics_row *row, const struct metrics_column *column)
{
	return (int64_t *)((char *)row + column->offset);
}

static double *number_at(const struct metrics_row *row, const struct metrics_column *column)
{
	return (double *)((char *)row + column->offset);
}

/* Both lines end with a newline; they return its length. */
static size_t header_line(char line[LINE_MOST])
{
	size_t size = 0;

	for (const struct metrics_column *column = metrics_columns; column->name; column++)
		size += (size_t)snprintf(line + size, LINE_MOST - size, "%s%c", column->name,
			column[1].name ? ',' : '\n');
	assert(size < LINE_MOST);
	return size;
}

static size_t row_line(char line[LINE_MOST], const struct metrics_row *row)
{
	size_t size = 0;

	for (const struct metrics_column *column = metrics_columns; column->name; column++) {
		char cell[TEXT_NUMBER] = "";

		if (column->type == METRICS_WHOLE)
			snprintf(cell, sizeof(cell), "%" PRId64, *whole_at(row, column));
		else if (!isnan(*number_at(row, column)))
			text_from_double(cell, *number_at(row, column));
		size += (size_t)snprintf(
			line + size, LINE_MOST - size, "%s%c", cell, column[1].name ? ',' : '\n');
	}
	assert(size < LINE_MOST);
	return size;
}

/* A decimal, or inf; strtod would also take hexadecimals and nan. */
static bool parse_number(const char *cell, double *number)
{
	const char *digits = cell + (*cell == '-');

	if (strcmp(digits, "inf") != 0 && strspn(cell, "0123456789+-.eE") != strlen(cell))
		return false;
	return text_to_double(cell, number);
}

static bool parse_whole(const char *cell, int64_t *whole)
{
	char *end;

	if (!*cell || strspn(cell, "-0123456789") != strlen(cell))
		return false;
	errno = 0;
	*whole = strtoll(cell, &end, 10);
	return !errno && !*end;
}

static bool parse_cell(
	const char *cell, const struct metrics_column *column, struct metrics_row *row)
{
	if (column->type == METRICS_WHOLE)
		return parse_whole(cell, whole_at(row, column));
	return !*cell || parse_number(cell, number_at(row, column));
}

/* A file that is being read: its text, where in it we are, and which columns it has. */
struct reader {
	const char *path;
	char *at, *end;
	int line;
	const struct metrics_column *columns[HEADER_MOST]; /* NULL: not known here */
	int count;
};

/* Cuts off the next line; NULL at the end of the text, or, with *code set, if there is half a line
 * or a NUL. */
static char *next_line(struct reader *reader, int *code, struct err *err)
{
	char *line = reader->at, *newline;

	if (line == reader->end)
		return NULL;
	reader->line++;
	newline = memchr(line, '\n', (size_t)(reader->end - line));
	if (!newline || memchr(line, '\0', (size_t)(newline - line))) {
		*code = err_set(err, ERR_FORMAT, "%s:%d: %s", reader->path, reader->line,
			newline ? "not text" : "the line breaks off");
		return NULL;
	}
	*newline = '\0';
	reader->at = newline + 1;
	return line;
}

static int read_header(struct reader *reader, struct err *err)
{
	bool iteration = false;
	char *name;
	int code = 0;
	char *header = next_line(reader, &code, err);

	if (code)
		return code;
	while ((name = strsep(&header, ","))) {
		if (reader->count == HEADER_MOST)
			return err_set(err, ERR_FORMAT, "%s:1: more than %d columns", reader->path,
				HEADER_MOST);
		reader->columns[reader->count++] = metrics_column(name);
		iteration |= !strcmp(name, "iteration");
	}
	if (!iteration)
		return err_set(err, ERR_FORMAT,
			"%s:1: not the header of a metrics file: there is no column \"iteration\"",
			reader->path);
	return 0;
}

static int parse_row(
	const struct reader *reader, char *line, struct metrics_row *row, struct err *err)
{
	int cells = 1;

	for (const char *c = line; *c; c++)
		cells += *c == ',';
	if (cells != reader->count)
		return err_set(err, ERR_FORMAT, "%s:%d: %d cells, but there are %d columns",
			reader->path, reader->line, cells, reader->count);
	metrics_row_init(row);
	for (int i = 0; i < cells; i++) {
		const struct metrics_column *column = reader->columns[i];
		const char *cell = strsep(&line, ",");

		if (column && !parse_cell(cell, column, row))
			return err_set(err, ERR_FORMAT, "%s:%d: %s = \"%.60s\": must be a %s",
				reader->path, reader->line, column->name, cell,
				column->type == METRICS_WHOLE ? "whole number" : "number");
	}
	return 0;
}

int metrics_file_parse(const char *where, char *bytes, size_t size, struct metrics_row **rows,
	size_t *count, struct err *err)
{
	struct reader reader = {.path = where, .at = bytes, .end = bytes + size};
	size_t lines = 0;
	int code = read_header(&reader, err);
	char *line;

	*rows = NULL;
	*count = 0;
	for (const char *at = reader.at; at < reader.end; at++)
		lines += *at == '\n';
	if (!code && lines) {
		*rows = mem_new(lines, sizeof(**rows));
		if (!*rows)
			code = err_memory(err, where, lines * sizeof(**rows));
	}
	while (!code && (line = next_line(&reader, &code, err))) {
		code = parse_row(&reader, line, *rows + *count, err);
		*count += 1;
	}
	if (code) {
		mem_free(*rows);
		*rows = NULL;
		*count = 0;
	}
	return code;
}

static bool has_header(const char *bytes, size_t size)
{
	char header[LINE_MOST];
	const size_t length = header_line(header);

	return size >= length && !memcmp(bytes, header, length);
}

/* The columns must be ours, in their order; an earlier version lacks those that came after it. */
static int check_columns(const struct reader *reader, struct err *err)
{
	char header[LINE_MOST];
	bool ours = true;
	int at = 0;

	for (const struct metrics_column *column = metrics_columns; column->name; column++)
		if (at < reader->count && reader->columns[at] == column)
			at++;
		else
			ours &= column->since > 0;
	if (ours && at == reader->count)
		return 0;
	header_line(header);
	return err_set(err, ERR_FORMAT,
		"%s:1: not the header of a metrics file of this version, which begins with "
		"%.40s...",
		reader->path, header);
}

/* Reads the first rows; words, unless NULL, get them as this version writes them. */
static int take_rows(struct reader *reader, int64_t rows, struct text *words, struct err *err)
{
	char written[LINE_MOST];
	struct metrics_row row;
	int code = 0;

	header_line(written);
	if (words)
		text_add(words, written);
	for (int64_t i = 0; i < rows && !code; i++) {
		char *line = next_line(reader, &code, err);

		if (line)
			code = parse_row(reader, line, &row, err);
		else if (!code)
			code = err_set(err, ERR_FORMAT,
				"%s: has %" PRId64 " rows, but %" PRId64 " should be kept",
				reader->path, i, rows);
		if (code || !words)
			continue;
		row_line(written, &row);
		text_add(words, written);
	}
	return !code && words && words->failed ? err_memory(err, reader->path, words->capacity)
					       : code;
}

/*
 * How many bytes the header and the first rows take. Rows are going to be appended, so a
 * file of an earlier version is written anew, with the columns that it lacks.
 */
static int measure(const char *path, int64_t rows, off_t *size, struct err *err)
{
	struct reader reader = {.path = path};
	struct text words = {0};
	size_t all;
	char *data;
	bool current;
	int code = file_read(path, FILE_MOST, &data, &all, err);

	if (code)
		return code;
	reader.at = data;
	reader.end = data + all;
	current = has_header(data, all);
	code = read_header(&reader, err);
	if (!code)
		code = check_columns(&reader, err);
	if (!code)
		code = take_rows(&reader, rows, current ? NULL : &words, err);
	*size = (off_t)(current ? (size_t)(reader.at - data) : words.size);
	if (!code && !current)
		code = file_write(path, words.data, words.size, err);
	text_release(&words);
	mem_free(data);
	return code;
}

static int begin_anew(const char *path, off_t *size, struct err *err)
{
	char header[LINE_MOST];
	const size_t length = header_line(header);

	*size = (off_t)length;
	return file_write(path, header, length, err);
}

static int file_error(struct err *err, const char *path, const char *doing)
{
	return err_set(err, ERR_FILE, "%s: %s: %s", path, doing, strerror(errno));
}

int metrics_file_open(
	struct metrics_file **file, const char *path, int64_t keep_rows, struct err *err)
{
	struct metrics_file *made;
	off_t size;
	int code;

	*file = NULL;
	code = keep_rows > 0 ? measure(path, keep_rows, &size, err) : begin_anew(path, &size, err);
	if (code)
		return code;
	made = mem_new(1, sizeof(*made));
	if (!made)
		return err_memory(err, path, sizeof(*made));
	*made = (struct metrics_file){
		mem_text(path), -1, keep_rows > 0 ? keep_rows : 0, size, {-1, NULL}};
	if (!made->path) {
		metrics_file_close(made);
		return err_memory(err, path, strlen(path) + 1);
	}
	made->fd = open(path, O_WRONLY | O_CLOEXEC);
	if (made->fd < 0 || ftruncate(made->fd, size) != 0 ||
		lseek(made->fd, size, SEEK_SET) != size) {
		code = file_error(err, path, "cannot open for writing");
		metrics_file_close(made);
		return code;
	}
	times_open(&made->times, made->path);
	*file = made;
	return 0;
}

void metrics_file_close(struct metrics_file *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	times_close(&file->times);
	mem_free(file->path);
	mem_free(file);
}

int metrics_file_append(struct metrics_file *file, const struct metrics_row *row, struct err *err)
{
	char line[LINE_MOST];
	const size_t size = row_line(line, row);

	for (size_t done = 0; done < size;) {
		const ssize_t put = write(file->fd, line + done, size - done);

		if (put < 0 && errno != EINTR) {
			const int code = file_error(err, file->path, "cannot write");
			/* If taking it back fails too, so will reading: half a row is refused. */
			if (ftruncate(file->fd, file->size) == 0)
				lseek(file->fd, file->size, SEEK_SET);
			return code;
		}
		done += put > 0 ? (size_t)put : 0;
	}
	file->rows++;
	file->size += (off_t)size;
	times_add(&file->times, file->size);
	return 0;
}

int64_t metrics_file_rows(const struct metrics_file *file)
{
	return file->rows;
}

int metrics_file_sync(struct metrics_file *file, struct err *err)
{
	return fsync(file->fd) == 0 ? 0 : file_error(err, file->path, "cannot sync");
}
