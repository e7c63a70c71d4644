/*
 * Shared by the kinds of records with an index of images: folders, manifests, archives. Their
 * storage begins with a struct image_records.
 */
#ifndef RETAIN_RECORDS_IMAGE_RECORDS_H
#define RETAIN_RECORDS_IMAGE_RECORDS_H

#include "records/index_file.h"
#include "records/records.h"

struct image_records {
	struct records base;
	struct index_file file;
	const void *entries;     /* laid out by the kind */
	const int64_t *times;    /* NULL: none */
	const uint32_t *classes; /* offsets of their names; NULL: unnamed */
	const char *class_names;
	uint64_t class_names_size;
	struct name_list left_out; /* files that are not images; an index with any is not cached */
};

/*
 * The usual layout of an index: this header, or one that begins with it; entries[count];
 * times[count] if it is timed; the offsets of class names; the names with their NULs; a NUL.
 */
struct image_header {
	uint64_t count, class_names_size;
	uint32_t classes, timed, parted, unused;
};

/* Locates the parts of an index of that layout; false if they do not add up. */
bool image_records_unpack(struct image_records *images, size_t header_size, size_t entry_size);

/* Fills in info from a header. */
void image_records_info(struct image_records *images, const struct image_header *header);

/* The record of an entry: a label beyond the classes counts as none. */
struct record image_record(const struct records *records, int64_t i, uint64_t label, uint64_t part);

/* Usual entries are integers: bits 0..39 offset of the name, 40..61 label, 62..63 part. */
enum { IMAGE_AT_BITS = 40, IMAGE_LABEL_BITS = 22, IMAGE_PART_FROM = 62 };
#define IMAGE_AT_MASK    ((UINT64_C(1) << IMAGE_AT_BITS) - 1)
#define IMAGE_LABEL_MASK ((UINT64_C(1) << IMAGE_LABEL_BITS) - 1)

/* Releases everything held here. */
void image_records_release(struct image_records *images);

/* For rows of records_types; look is for usual entries. */
struct record image_records_look(const struct records *records, int64_t i);
const char *image_records_class_name(const struct records *records, int label);
const struct name_list *image_records_left_out(const struct records *records);

#endif
