/*
 * formats/mapped.h over bytes in memory, in place of formats/mapped.c. A mapped file ends
 * with a whole page, so that steps beyond its end go unseen; these bytes end where
 * they end. And nothing outside of the fuzzer's own files can be opened, whatever
 * path an input names.
 */
#include "formats/mapped.h"

#include <stdlib.h>
#include <string.h>

#include "formats/packed.h"
#include "base/mem.h"
#include "fuzz.h"

enum { FILES_MOST = 8, UNPACK_MOST = 1 << 20 };

static struct {
	const char *path;
	unsigned char *bytes;
	size_t size;
} files[FILES_MOST];

const char *fuzz_mapped(const char *name, const void *bytes, size_t size)
{
	static const char nothing[1];
	int i;

	for (i = 0; files[i].path && strcmp(strrchr(files[i].path, '/') + 1, name); i++)
		fuzz_check(i + 1 < FILES_MOST);
	if (!files[i].path)
		files[i].path = fuzz_file(name, nothing, 0);
	free(files[i].bytes);
	files[i].bytes = malloc(size ? size : 1);
	fuzz_check(files[i].bytes);
	if (size)
		memcpy(files[i].bytes, bytes, size);
	files[i].size = size;
	return files[i].path;
}

static int find(const char *path, struct err *err)
{
	for (int i = 0; i < FILES_MOST && files[i].path; i++)
		if (!strcmp(files[i].path, path))
			return i;
	return err_set(err, ERR_FILE, "%s: cannot open: not the fuzzer's", path);
}

int mapped_open(struct mapped *mapped, const char *path, size_t unpack, struct err *err)
{
	const int i = find(path, err);
	unsigned char *unpacked;
	int code = 0;

	*mapped = (struct mapped){.file = -1};
	if (i < 0)
		return i;
	mapped->path = mem_text(path);
	mapped->data = files[i].bytes;
	mapped->size = files[i].size;
	mapped->file = i;
	if (unpack && packed_find(mapped->data, mapped->size)) {
		code = packed_unpack(path, mapped->data, mapped->size, UNPACK_MOST, &unpacked,
			&mapped->size, err);
		mapped->data = code ? NULL : unpacked;
		mapped->file = -1;
	}
	if (code)
		mapped_close(mapped);
	return code;
}

void mapped_replace(struct mapped *mapped, unsigned char *data, size_t size)
{
	if (mapped->file < 0)
		mem_free((void *)(uintptr_t)mapped->data);
	mapped->file = -1;
	mapped->data = data;
	mapped->size = size;
}

void mapped_close(struct mapped *mapped)
{
	if (!mapped->path)
		return;
	if (mapped->file < 0)
		mem_free((void *)(uintptr_t)mapped->data);
	mem_free(mapped->path);
	*mapped = (struct mapped){.file = -1};
}

/* Who looks afterwards is caught. */
void mapped_looked(struct mapped *mapped)
{
	if (mapped->file >= 0)
		mapped->data = NULL;
}

int mapped_keep(struct mapped *mapped, size_t most, struct err *err)
{
	(void)most, (void)err;
	mapped_looked(mapped);
	return 0;
}

int mapped_copy(const struct mapped *mapped, uint64_t at, size_t size, void *out, struct err *err)
{
	if (at > mapped->size || size > mapped->size - at)
		return err_set(err, ERR_FORMAT, "%s: has no such bytes", mapped->path);
	if (size)
		memcpy(out, (mapped->file < 0 ? mapped->data : files[mapped->file].bytes) + at,
			size);
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
	const int i = find(path, err);

	if (i < 0)
		return i;
	if (at > files[i].size || size > files[i].size - at)
		return err_set(err, ERR_FILE, "%s: has no such bytes", path);
	return mapped_record(
		&(struct mapped){.file = i, .size = files[i].size}, at, size, bytes, err);
}

int mapped_read_whole(const char *path, size_t most, struct record_bytes *bytes, struct err *err)
{
	const int i = find(path, err);

	if (i < 0)
		return i;
	if (files[i].size > most)
		return err_set(err, ERR_FORMAT, "%s: too large", path);
	return mapped_read_part(path, 0, files[i].size, bytes, err);
}
