/*
 * Safetensors files: the bytes around the header, which safetensors_header.c reads and writes.
 *
 * Numbers are read with pread rather than mapped: a file that shrinks meanwhile is then an error,
 * not a signal.
 */
#include "nn/weights/safetensors.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "base/mem.h"
#include "nn/weights/dtype.h"
#include "nn/weights/safetensors_header.h"

#define PREFIX_BYTES     8
#define HEADER_BYTES_MAX 100000000 /* the reference library's limit */

struct safetensors {
	struct safetensors_header header;
	const char *path;
	int fd;
	uint64_t size;
	const struct safetensor **by_name; /* the header's tensors, sorted for find */
};

/* 0 when all bytes were read; a file that ends early is an error like any other. */
static int read_at(
	const struct safetensors *file, void *to, size_t bytes, uint64_t offset, struct err *err)
{
	char *next = to;

	while (bytes) {
		ssize_t got = pread(file->fd, next, bytes, (off_t)offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_set(
				err, ERR_FILE, "%s: cannot read: %s", file->path, strerror(errno));
		if (got == 0)
			return err_set(
				err, ERR_FILE, "%s: it shrank while it was read", file->path);
		next += got;
		bytes -= (size_t)got;
		offset += (uint64_t)got;
	}
	return 0;
}

static int compare_names(const void *a, const void *b)
{
	const struct safetensor *const *x = a, *const *y = b;

	return strcmp((*x)->name, (*y)->name);
}

static int index_tensors(struct safetensors *file, uint64_t data_offset, struct err *err)
{
	struct safetensors_header *header = &file->header;
	size_t count = (size_t)header->count;

	file->by_name = arena_new(&header->arena, count ? count : 1, sizeof(*file->by_name));
	if (!file->by_name)
		return err_memory(err, "the list of tensors", count * sizeof(*file->by_name));
	for (size_t i = 0; i < count; i++) {
		header->tensors[i].offset += data_offset;
		file->by_name[i] = &header->tensors[i];
	}
	qsort(file->by_name, count, sizeof(*file->by_name), compare_names);
	return 0;
}

static int read_length(const struct safetensors *file, uint64_t *length, struct err *err)
{
	if (file->size < PREFIX_BYTES)
		return err_set(err, ERR_FORMAT,
			"%s: is %" PRIu64 " bytes long, too short for a safetensors file",
			file->path, file->size);
	int code = read_at(file, length, PREFIX_BYTES, 0, err);
	if (code)
		return code;
	if (*length > HEADER_BYTES_MAX)
		return err_set(err, ERR_FORMAT,
			"%s: a header of %" PRIu64
			" bytes is too long, the limit is %d; is it a safetensors file?",
			file->path, *length, HEADER_BYTES_MAX);
	if (*length > file->size - PREFIX_BYTES)
		return err_set(err, ERR_FORMAT,
			"%s: the header of %" PRIu64
			" bytes reaches past the end of the file (%" PRIu64 " bytes)",
			file->path, *length, file->size);
	return 0;
}

static int read_header(struct safetensors *file, struct err *err)
{
	uint64_t length;
	int code = read_length(file, &length, err);

	if (code)
		return code;
	const uint64_t data_offset = PREFIX_BYTES + length;
	char *json = mem_new(length + 1, 1);
	if (!json)
		return err_memory(err, "the header", length);
	code = read_at(file, json, length, PREFIX_BYTES, err);
	if (!code)
		code = header_parse(
			&file->header, file->path, json, length, file->size - data_offset, err);
	mem_free(json);
	return code ? code : index_tensors(file, data_offset, err);
}

int safetensors_open(struct safetensors **result, const char *path, struct err *err)
{
	struct stat status;
	int code;

	*result = NULL;
	struct safetensors *file = mem_new(1, sizeof(*file));
	if (!file)
		return err_memory(err, "a safetensors file", sizeof(*file));
	/* O_NONBLOCK: a pipe is refused below rather than waited for. */
	file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file->fd < 0)
		code = err_set(err, ERR_FILE, "%s: cannot open: %s", path, strerror(errno));
	else if (fstat(file->fd, &status))
		code = err_set(err, ERR_FILE, "%s: cannot be examined: %s", path, strerror(errno));
	else if (!S_ISREG(status.st_mode))
		code = err_set(err, ERR_FILE, "%s: is not a regular file", path);
	else if (!(file->path = arena_text(&file->header.arena, path)))
		code = err_memory(err, "a file's name", strlen(path) + 1);
	else {
		file->size = (uint64_t)status.st_size;
		code = read_header(file, err);
	}
	if (code)
		safetensors_close(file);
	else
		*result = file;
	return code;
}

void safetensors_close(struct safetensors *file)
{
	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	arena_release(&file->header.arena);
	mem_free(file);
}

int safetensors_release(struct safetensors *file)
{
	const int fd = file->fd;

	file->fd = -1;
	return fd;
}

const char *safetensors_path(const struct safetensors *file)
{
	return file->path;
}

uint64_t safetensors_size(const struct safetensors *file)
{
	return file->size;
}

int safetensors_count(const struct safetensors *file)
{
	return file->header.count;
}

const struct safetensor *safetensors_at(const struct safetensors *file, int index)
{
	return &file->header.tensors[index];
}

const struct safetensor *safetensors_find(const struct safetensors *file, const char *name)
{
	const struct safetensor wanted = {.name = name}, *key = &wanted;
	const struct safetensor **found = bsearch(&key, file->by_name, (size_t)file->header.count,
		sizeof(*file->by_name), compare_names);

	return found ? *found : NULL;
}

int safetensors_notes(const struct safetensors *file)
{
	return file->header.notes_count;
}

const struct safetensors_note *safetensors_note(const struct safetensors *file, int index)
{
	return &file->header.notes[index];
}

const char *safetensors_get(const struct safetensors *file, const char *key)
{
	for (int i = 0; i < file->header.notes_count; i++)
		if (!strcmp(file->header.notes[i].key, key))
			return file->header.notes[i].value;
	return NULL;
}

/* Converts a tensor piece by piece, so that reading needs no memory but the caller's. */
static int read_values(const struct safetensors *file, const struct safetensor *tensor,
	dtype_convert *convert, void *values, size_t value_bytes, struct err *err)
{
	unsigned char piece[16384];
	const size_t number_bytes = dtype_find(tensor->dtype)->bits / 8;
	const uint64_t piece_count = sizeof(piece) / number_bytes;

	for (uint64_t done = 0; done < tensor->count;) {
		uint64_t left = tensor->count - done;
		size_t count = (size_t)(left < piece_count ? left : piece_count);
		int code = read_at(file, piece, count * number_bytes,
			tensor->offset + done * number_bytes, err);
		if (code)
			return code;
		convert(piece, (char *)values + done * value_bytes, count);
		done += count;
	}
	return 0;
}

int safetensors_read_float(const struct safetensors *file, const struct safetensor *tensor,
	float *values, struct err *err)
{
	dtype_convert *convert = dtype_find(tensor->dtype)->to_float;

	if (!convert)
		return err_set(err, ERR_INPUT,
			"%s: tensor '%.100s' has dtype %s, which cannot be read as floats",
			file->path, tensor->name, tensor->dtype);
	return read_values(file, tensor, convert, values, sizeof(*values), err);
}

int safetensors_read_int64(const struct safetensors *file, const struct safetensor *tensor,
	int64_t *values, struct err *err)
{
	dtype_convert *convert = dtype_find(tensor->dtype)->to_int64;

	if (!convert)
		return err_set(err, ERR_INPUT,
			"%s: tensor '%.100s' has dtype %s, which cannot be read as integers",
			file->path, tensor->name, tensor->dtype);
	return read_values(file, tensor, convert, values, sizeof(*values), err);
}

char *safetensors_shape_text(char *text, size_t size, int dims, const int64_t *shape)
{
	size_t used = (size_t)snprintf(text, size, "(");

	for (int i = 0; i < dims && used < size; i++)
		used += (size_t)snprintf(
			text + used, size - used, "%s%" PRId64, i ? ", " : "", shape[i]);
	if (used < size)
		used += (size_t)snprintf(text + used, size - used, ")");
	if (used >= size && size > 4)
		memcpy(text + size - 5, "...)", 5);
	return text;
}

static int write_header(
	struct file_writer *writer, const char *json, size_t length, struct err *err)
{
	size_t padding = -length % 8;
	uint64_t padded = length + padding;
	int code = file_writer_write(writer, &padded, PREFIX_BYTES, err);

	if (!code)
		code = file_writer_write(writer, json, length, err);
	if (!code)
		code = file_writer_write(writer, "       ", padding, err);
	return code;
}

static int write_item(
	struct file_writer *writer, const struct safetensors_item *item, struct err *err)
{
	const void *data = item->ints ? (const void *)item->ints : item->floats;
	uint64_t bytes;

	if (!header_item_bytes(item, &bytes) || bytes == 0)
		return 0;
	return file_writer_write(writer, data, (size_t)bytes, err);
}

int safetensors_save(const char *path, const struct safetensors_item *items, int count,
	const struct safetensors_note *notes, int notes_count, struct err *err)
{
	struct file_writer *writer;
	size_t length;
	char *json;
	int code = header_format(&json, &length, path, items, count, notes, notes_count, err);

	if (code)
		return code;
	code = file_writer_open(&writer, path, err);
	if (!code) {
		code = write_header(writer, json, length, err);
		for (int i = 0; i < count && !code; i++)
			code = write_item(writer, &items[i], err);
		if (code)
			file_writer_abort(writer);
		else
			code = file_writer_commit(writer, err);
	}
	mem_free(json);
	return code;
}
