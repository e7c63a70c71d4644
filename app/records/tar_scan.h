/*
 * One pass over a list of tar archives: where images are, with label, part and perhaps time. An
 * image's label comes from the members that share its key, its name up to the first dot: KEY.cls
 * holds the class number, KEY.json has it under "label", "cls" or "class", and perhaps a "time"
 * (WebDataset). If no image has such a member, its folder is its class, train/CLASS/NAME.jpg, as
 * for images in folders. Members of one key are adjacent.
 *
 * An image is for evaluation if the name of a folder above its class's folder, or else the name
 * of the archive, has a word val, valid, validation, test or eval.
 *
 * Links to a file of their archive (tar_links.h) count as files under their own name, links to a
 * folder as folders, as if the archive were unpacked. Every other member named like an image or a
 * label that is not a file is bad, and so is a link to a folder inside a folder reached by one.
 */
#ifndef RETAIN_RECORDS_TAR_SCAN_H
#define RETAIN_RECORDS_TAR_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "formats/mapped.h"
#include "base/words/vocabulary.h"

enum { TAR_LABEL_BITS = 24, TAR_SHARD_BITS = 24 };

struct tar_entry {
	uint32_t block, size; /* block: of its first byte, in the archive */
	uint64_t label : TAR_LABEL_BITS, shard : TAR_SHARD_BITS, part : 2, labelled : 1;
	uint64_t lost : 1; /* not a file; block is the one after its header */
	uint64_t unused : 12;
};

_Static_assert(sizeof(struct tar_entry) == 16, "what records.h promises");

/* Zeroed: empty. */
struct tar_scan {
	struct tar_entry *entries;
	int64_t *times;
	size_t count, room, times_room;
	size_t timed, labelled, bad; /* counts */
	int64_t largest;             /* label */
	bool parted;
	struct vocabulary folders; /* classes, if no label is given */
	struct name_list left_out; /* a member of each key that has no image */
};

/*
 * Gzipped archives are passed unpacked: `unpacked` is NULL, or has one for each shard, zeroed if
 * it is not gzipped. Bad records are errors or, if `lenient`, have no label (RECORD_NO_LABEL).
 */
int tar_scan(struct tar_scan *scan, const struct name_list *shards, const struct mapped *unpacked,
	bool lenient, struct err *err);
void tar_scan_release(struct tar_scan *scan);

#endif
