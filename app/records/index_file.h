/*
 * Index files keep, for the next time, what it took long to find out about data. An
 * index is an array of bytes that does not depend on its address. It is kept beside
 * the data, as DATA.retain-index. If that cannot be written, it goes to
 * $XDG_CACHE_HOME/retain ($HOME/.cache/retain), under a name made from the data's
 * path. Index files can be removed at any time.
 *
 * An index belongs to data in one state: its kind, the version of the index's
 * layout, and a mark that the kind makes from sizes, times of change and options.
 * The file stays mapped while it is used: it is replaced by renaming, and must not be
 * cut short. An index that belongs to another state, is damaged or cannot be read is
 * made again.
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

/* The bytes of an index: of a mapped file, or in memory. Zeroed: none. */
struct index_file {
	const unsigned char *bytes; /* aligned to 64 */
	size_t size;
	struct mapped file;
	unsigned char *memory;
};

/* True if there is an index of the data as it is now; its checksum has been verified. */
bool index_file_find(struct index_file *index, const struct index_id *id);

/*
 * Takes `memory` (for mem_free, of `size` bytes) as the index. With keep, writes it to
 * a file and uses the file in its place. If the file cannot be written, the index
 * stays in memory; that is no failure.
 */
void index_file_make(struct index_file *index, const struct index_id *id, unsigned char *memory,
	size_t size, bool keep);
void index_file_release(struct index_file *index);

#endif
