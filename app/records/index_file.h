/*
 * Index files cache what is expensive to find out about data. An index is a position-independent
 * array of bytes. It is stored beside the data, as DATA.retain-index. If that cannot be written,
 * it goes to $XDG_CACHE_HOME/retain ($HOME/.cache/retain), under a name made from the data's
 * path. Index files can be removed at any time.
 *
 * An index is valid for one state of the data: its kind, the version of the index's layout, and a
 * fingerprint that the kind makes from sizes, modification times and options. The file stays
 * mapped while it is used: it is replaced by renaming, and must not be truncated. An index that
 * is outdated, damaged or unreadable is rebuilt.
 */
#ifndef RETAIN_RECORDS_INDEX_FILE_H
#define RETAIN_RECORDS_INDEX_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mark.h"
#include "formats/mapped.h"

struct index_id {
	const char *path; /* of the data */
	const char *kind; /* a name of at most 15 bytes */
	uint32_t version;
	uint64_t mark;
};

/* The bytes of an index: a mapped file, or memory. Zeroed: none. */
struct index_file {
	const unsigned char *bytes; /* aligned to 64 */
	size_t size;
	struct mapped file;
	unsigned char *memory;
};

/* True if there is a valid index of the current data; its checksum has been verified. */
bool index_file_find(struct index_file *index, const struct index_id *id);

/*
 * Takes ownership of `memory` (for mem_free, of `size` bytes) as the index. With keep, writes it
 * to a file and maps that instead. If the file cannot be written, the index stays in memory; that
 * is not a failure.
 */
void index_file_make(struct index_file *index, const struct index_id *id, unsigned char *memory,
	size_t size, bool keep);
void index_file_release(struct index_file *index);

#endif
