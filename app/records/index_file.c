/*
 * An index file is a header of 64 bytes and the index. The header's checksum covers the header
 * before it, the index's the index. Numbers are in native byte order: the files are a cache and
 * are not portable.
 */
#include "records/index_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/paths.h"

static const char magic[] = "retain-x";

struct header {
	char magic[8];
	char kind[16];
	uint32_t version, order; /* of bytes: ORDER as the machine writes it */
	uint64_t mark, size;
	uint32_t index_sum, unused[2], header_sum;
};

enum { ORDER = 0x01020304 };

_Static_assert(sizeof(struct header) == 64, "indexes are aligned to 64 bytes");

static char *beside(const struct index_id *id)
{
	const size_t size = strlen(id->path) + sizeof(".retain-index");
	char *path = mem_new(size, 1);

	if (path)
		snprintf(path, size, "%s.retain-index", id->path);
	return path;
}

/* $XDG_CACHE_HOME/retain or $HOME/.cache/retain; NULL where there is none. */
static char *cache_folder(void)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	if (cache && *cache == '/')
		return path_join(cache, "retain");
	return home && *home == '/' ? path_join(home, ".cache/retain") : NULL;
}

static char *in_cache(const struct index_id *id)
{
	char *folder = cache_folder(), *whole = realpath(id->path, NULL), *path = NULL;
	const char *name = path_name(id->path);
	const uint64_t mark = mark_words(MARK_NOTHING, whole ? whole : id->path);
	char file[128];

	/* The mark tells files apart; the name helps a person who looks into the folder. */
	snprintf(file, sizeof(file), "%.80s-%016llx.retain-index", name, (unsigned long long)mark);
	if (folder)
		path = path_join(folder, file);
	free(whole); /* realpath's */
	mem_free(folder);
	return path;
}

static struct header header_of(const struct index_id *id, uint32_t sum, size_t size)
{
	struct header header = {.version = id->version,
		.order = ORDER,
		.mark = id->mark,
		.size = size,
		.index_sum = sum};

	memcpy(header.magic, magic, sizeof(header.magic));
	snprintf(header.kind, sizeof(header.kind), "%s", id->kind);
	header.header_sum = checksum_add(0, &header, offsetof(struct header, header_sum));
	return header;
}

/* Whether a file is the index of this id. Mapped memory is read once, for its checksum. */
static bool belongs(const struct mapped *file, const struct index_id *id)
{
	struct header found, expected;

	if (file->size < sizeof(found))
		return false;
	memcpy(&found, file->data, sizeof(found));
	if (memcmp(found.magic, magic, sizeof(found.magic)) || found.order != ORDER ||
		found.version != id->version || found.mark != id->mark ||
		found.size != file->size - sizeof(found))
		return false;
	expected = header_of(id,
		checksum_add(0, file->data + sizeof(found), file->size - sizeof(found)),
		file->size - sizeof(found));
	return !memcmp(&found, &expected, sizeof(found));
}

static bool find_at(struct index_file *index, const struct index_id *id, char *path)
{
	bool found = false;

	if (path && path_exists(path) && !mapped_open(&index->file, path, 0, NULL)) {
		found = belongs(&index->file, id);
		if (found) {
			index->bytes = index->file.data + sizeof(struct header);
			index->size = index->file.size - sizeof(struct header);
		} else {
			mapped_close(&index->file);
		}
	}
	mem_free(path);
	return found;
}

bool index_file_find(struct index_file *index, const struct index_id *id)
{
	*index = (struct index_file){0};
	return find_at(index, id, beside(id)) || find_at(index, id, in_cache(id));
}

/* Begins a file beside the data, or else in the cache folder. */
static bool begin_file(struct file_writer **writer, const struct index_id *id)
{
	char *path = beside(id), *folder = NULL;
	bool begun = path && !file_writer_open(writer, path, NULL);

	if (!begun) {
		mem_free(path);
		folder = cache_folder();
		path = in_cache(id);
		begun = path && folder && !file_make_folder(folder, NULL) &&
			!file_writer_open(writer, path, NULL);
	}
	mem_free(folder);
	mem_free(path);
	return begun;
}

static void write_index(const struct index_id *id, const unsigned char *bytes, size_t size)
{
	const struct header header = header_of(id, checksum_add(0, bytes, size), size);
	struct file_writer *writer;

	if (!begin_file(&writer, id))
		return;
	file_writer_write(writer, &header, sizeof(header), NULL);
	file_writer_write(writer, bytes, size, NULL);
	file_writer_commit(writer, NULL);
}

void index_file_make(struct index_file *index, const struct index_id *id, unsigned char *memory,
	size_t size, bool keep)
{
	if (keep) {
		write_index(id, memory, size);
		if (index_file_find(index, id)) {
			mem_free(memory);
			return;
		}
	}
	*index = (struct index_file){.bytes = memory, .size = size, .memory = memory};
}

void index_file_release(struct index_file *index)
{
	mapped_close(&index->file);
	mem_free(index->memory);
	*index = (struct index_file){0};
}
