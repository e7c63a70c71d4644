/*
 * Mapped to inspect, pread to copy: touching a mapping of a truncated file is a signal, a pread
 * returns an error.
 */
#include "formats/mapped.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/packed.h"
#include "base/mem.h"
#include "base/os.h"

static const unsigned char nothing[1];

static int system_error(const char *path, const char *doing, struct err *err)
{
	return err_set(err, ERR_FILE, "%s: %s: %s", path, doing, strerror(errno));
}

/* Opens a plain file and tells its facts; the descriptor or an error's code. */
static int open_plain(const char *path, struct stat *facts, struct err *err)
{
	/* A FIFO would have us wait for somebody to write to it. */
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (file < 0)
		return system_error(path, "cannot open", err);
	if (fstat(file, facts) == 0 && S_ISREG(facts->st_mode))
		return file;
	close(file);
	return err_set(err, ERR_FILE, "%s: is not a plain file", path);
}

static int map(struct mapped *m, struct err *err)
{
	void *data;

	m->data = nothing;
	if (m->size == 0)
		return 0;
	data = mmap(NULL, m->size, PROT_READ, MAP_SHARED, m->file, 0);
	if (data == MAP_FAILED)
		return system_error(m->path, "cannot map", err);
	m->data = data;
	m->reserved = m->size;
	return 0;
}

void mapped_looked(struct mapped *mapped)
{
	if (!mapped->reserved)
		return;
	munmap((void *)(uintptr_t)mapped->data, mapped->reserved);
	mapped->data = nothing;
	mapped->reserved = 0;
}

static void unmap(struct mapped *m)
{
	mapped_looked(m);
	if (m->file >= 0)
		close(m->file);
	m->file = -1;
}

int mapped_keep(struct mapped *mapped, size_t most, struct err *err)
{
	unsigned char *data = NULL;
	int code = 0;

	if (mapped->file >= 0 && mapped->size && mapped->size <= most) {
		data = mem_new(mapped->size, 1);
		code = data ? mapped_copy(mapped, 0, mapped->size, data, err)
			    : err_memory(err, "a file of data", mapped->size);
	}
	if (code) {
		mem_free(data);
		return code;
	}
	if (!data) {
		mapped_looked(mapped);
		return 0;
	}
	unmap(mapped);
	mapped->data = data;
	return 0;
}

void mapped_replace(struct mapped *mapped, unsigned char *data, size_t size)
{
	if (mapped->file < 0 && mapped->data != nothing)
		mem_free((void *)(uintptr_t)mapped->data);
	unmap(mapped);
	mapped->data = data;
	mapped->size = size;
}

static int unpack(struct mapped *m, size_t most, struct err *err)
{
	unsigned char *data;
	size_t size;
	const int code = packed_unpack(m->path, m->data, m->size, most, &data, &size, err);

	if (!code)
		mapped_replace(m, data, size);
	return code;
}

int mapped_open(struct mapped *mapped, const char *path, size_t most, struct err *err)
{
	struct stat facts;
	int code;

	*mapped = (struct mapped){.file = -1};
	mapped->path = mem_text(path);
	if (!mapped->path)
		return err_memory(err, "a path", strlen(path) + 1);
	code = open_plain(path, &facts, err);
	if (code >= 0) {
		mapped->file = code;
		mapped->size = (size_t)facts.st_size;
		mapped->changed = os_changed(&facts);
		code = map(mapped, err);
	}
	if (!code && most && packed_find(mapped->data, mapped->size))
		code = unpack(mapped, most, err);
	if (code)
		mapped_close(mapped);
	return code;
}

void mapped_close(struct mapped *mapped)
{
	if (!mapped->path)
		return;
	if (mapped->file < 0 && mapped->data && mapped->data != nothing)
		mem_free((void *)(uintptr_t)mapped->data);
	else
		unmap(mapped);
	mem_free(mapped->path);
	*mapped = (struct mapped){.file = -1};
}

static int copy_from(
	int file, const char *path, uint64_t at, size_t size, unsigned char *out, struct err *err)
{
	while (size) {
		const ssize_t got = pread(file, out, size, (off_t)at);

		if (got == 0)
			return err_set(
				err, ERR_FILE, "%s: has become shorter since it was opened", path);
		if (got < 0 && errno != EINTR)
			return system_error(path, "cannot read", err);
		if (got > 0) {
			out += got;
			at += (uint64_t)got;
			size -= (size_t)got;
		}
	}
	return 0;
}

int mapped_copy(const struct mapped *mapped, uint64_t at, size_t size, void *out, struct err *err)
{
	if (at > mapped->size || size > mapped->size - at)
		return err_set(err, ERR_FORMAT, "%s: has no bytes %llu to %llu", mapped->path,
			(unsigned long long)at, (unsigned long long)(at + size));
	if (mapped->file >= 0)
		return copy_from(mapped->file, mapped->path, at, size, out, err);
	if (size)
		memcpy(out, mapped->data + at, size);
	return 0;
}

int mapped_record(const struct mapped *mapped, uint64_t at, size_t size, struct record_bytes *bytes,
	struct err *err)
{
	const int code = record_bytes_resize(bytes, size, err);

	return code ? code : mapped_copy(mapped, at, size, bytes->data, err);
}

int mapped_read_part(
	const char *path, uint64_t at, size_t size, struct record_bytes *bytes, struct err *err)
{
	struct stat facts;
	const int file = open_plain(path, &facts, err);
	int code;

	if (file < 0)
		return file;
	code = record_bytes_resize(bytes, size, err);
	if (!code)
		code = copy_from(file, path, at, size, bytes->data, err);
	close(file);
	return code;
}

int mapped_read_whole(const char *path, size_t most, struct record_bytes *bytes, struct err *err)
{
	struct stat facts;
	const int file = open_plain(path, &facts, err);
	int code;

	if (file < 0)
		return file;
	if ((uint64_t)facts.st_size > most)
		code = err_set(
			err, ERR_FORMAT, "%s: larger than the %zu bytes allowed here", path, most);
	else
		code = record_bytes_resize(bytes, (size_t)facts.st_size, err);
	if (!code)
		code = copy_from(file, path, 0, bytes->size, bytes->data, err);
	close(file);
	return code;
}
