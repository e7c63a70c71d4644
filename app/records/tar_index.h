/*
 * The index of what a list of tar archives holds, as tar_scan.h finds it: 16 bytes
 * for each image, 24 with times.
 */
#ifndef RETAIN_RECORDS_TAR_INDEX_H
#define RETAIN_RECORDS_TAR_INDEX_H

#include "base/err.h"
#include "records/index_file.h"
#include "records/name_list.h"
#include "records/records.h"

struct tar_index {
	struct index_file file;
	const struct tar_index_header *header;
	const struct tar_entry *entries;
	const int64_t *times; /* NULL: there are none */
	const uint32_t *classes;
	const char *class_names;
};

/* `path` is where the index belongs, `shards` the archives; all else as in tar_scan.h. */
int tar_index_open(struct tar_index *index, const char *path, const struct name_list *shards,
	const struct mapped *unpacked, bool lenient, struct err *err);
void tar_index_close(struct tar_index *index);

void tar_index_info(const struct tar_index *index, struct records_info *info);
struct record tar_index_look(const struct tar_index *index, int64_t i);
const char *tar_index_class(const struct tar_index *index, int label);

/* Where the bytes of image i are. The shard may be one that does not exist. */
size_t tar_index_place(const struct tar_index *index, int64_t i, uint64_t *at, size_t *size);

/* Whether it is none, but a member called so: a link that leads to no file, a device. */
bool tar_index_lost(const struct tar_index *index, int64_t i);

#endif
