/*
 * An index file is a header of 64 bytes and the index. The header's checksum
 * covers the header before it, the index's the index. Numbers are in the
 * machine's order: the files are a cache and do not travel.
 */
#include "records/index_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/grow.h"
#include "base/paths.h"

static const char magic[8] = "retain-x";

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

	memcpy(header.magic, magic, sizeof(magic));
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
	if (memcmp(found.magic, magic, sizeof(magic)) || found.order != ORDER ||
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

struct index_writer {
	struct index_id id;
	struct file_writer *file; /* NULL: it is in memory */
	bool alone;               /* no file can be made */
	unsigned char *memory;
	size_t keep, room, size;
	uint32_t sum;
};

int index_writer_open(
	struct index_writer **writer, const struct index_id *id, size_t keep, struct err *err)
{
	struct index_writer *made = mem_new(1, sizeof(*made));

	*writer = made;
	if (!made)
		return err_memory(err, id->path, sizeof(*made));
	made->id = *id;
	made->keep = keep;
	return 0;
}

/* From memory to a file, with room for the header. */
static int move_out(struct index_writer *w, struct err *err)
{
	static const struct header none;
	int code;

	w->alone = !begin_file(&w->file, &w->id);
	if (w->alone)
		return 0;
	file_writer_write(w->file, &none, sizeof(none), NULL);
	code = file_writer_write(w->file, w->memory, w->size, err);
	w->sum = checksum_add(0, w->memory, w->size);
	mem_free(w->memory);
	w->memory = NULL;
	return code;
}

int index_writer_write(struct index_writer *writer, const void *bytes, size_t size, struct err *err)
{
	struct index_writer *w = writer;
	int code = 0;

	if (!size)
		return 0;
	if (!w->file && !w->alone && size > w->keep - w->size)
		code = move_out(w, err);
	if (code)
		return code;
	if (w->file) {
		w->sum = checksum_add(w->sum, bytes, size);
		code = file_writer_write(w->file, bytes, size, err);
	} else if (grow_room(&w->memory, &w->room, w->size + size, 1)) {
		memcpy(w->memory + w->size, bytes, size);
	} else {
		code = err_memory(err, w->id.path, w->size + size);
	}
	w->size += size;
	return code;
}

int index_writer_end(struct index_writer *writer, struct index_file *index, struct err *err)
{
	struct index_writer *w = writer;
	const struct header header = header_of(&w->id, w->sum, w->size);
	int code = 0;

	*index = (struct index_file){0};
	if (w->file) {
		file_writer_begin(w->file, &header, sizeof(header), NULL);
		code = file_writer_commit(w->file, err);
		w->file = NULL;
		if (!code && !index_file_find(index, &w->id))
			code = err_set(err, ERR_FILE,
				"%s: the index file that was made for it cannot be read",
				w->id.path);
	} else {
		*index = (struct index_file){
			.bytes = w->memory, .size = w->size, .memory = w->memory};
		w->memory = NULL;
	}
	index_writer_abort(w);
	return code;
}

void index_writer_abort(struct index_writer *writer)
{
	if (!writer)
		return;
	file_writer_abort(writer->file);
	mem_free(writer->memory);
	mem_free(writer);
}
