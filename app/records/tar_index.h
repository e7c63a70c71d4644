/*
 * The index of a list of tar archives: which images are where, with label, part and
 * perhaps time. An image's label comes from the members that share its key, its
 * name up to the first dot: KEY.cls holds the class's number, KEY.json has it under
 * "label", "cls" or "class", and perhaps a "time" (WebDataset). Where no image has
 * such a member the folder that it is in is its class, train/CLASS/NAME.jpg, as
 * for images in folders. Members of one key stand next to each other.
 *
 * A word val, valid, validation, test or eval in an image's folders above its
 * class's, or else in an archive's name, makes an image one for evaluation.
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

/*
 * `path` is where the index belongs, `shards` the archives. Gzipped ones are given
 * unpacked, or all are read here: `unpacked` is NULL, or has one for each shard.
 * Labels that make no sense are errors, or where `lenient` none.
 */
int tar_index_open(struct tar_index *index, const char *path, const struct name_list *shards,
	const struct mapped *unpacked, bool lenient, struct err *err);
void tar_index_close(struct tar_index *index);

void tar_index_info(const struct tar_index *index, struct records_info *info);
struct record tar_index_look(const struct tar_index *index, int64_t i);
const char *tar_index_class(const struct tar_index *index, int label);

/* Where the bytes of image i are. The shard may be one that does not exist. */
size_t tar_index_place(const struct tar_index *index, int64_t i, uint64_t *at, size_t *size);

#endif
