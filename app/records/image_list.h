/*
 * What kinds of records share whose images are named by lists (records/path_index.h) and
 * lie below one folder: cldatasets and cloc differ only in how they make the index.
 */
#ifndef RETAIN_RECORDS_IMAGE_LIST_H
#define RETAIN_RECORDS_IMAGE_LIST_H

#include "records/path_index.h"
#include "records/records.h"

struct image_list {
	struct records base;
	struct path_index index;
	char *root;   /* of the data set, without slashes at its end */
	char *images; /* the folder that paths start from */
};

int image_list_new(struct image_list **list, const char *root, struct err *err);

/* Adds name, size and time of change of a file below root to a mark; it may be missing. */
uint64_t image_list_mark(const struct image_list *list, uint64_t mark, const char *name);

/*
 * To be called when the index is there. `images` is what the user says; where that is
 * empty it is the first of these folders below root, a list that ends with NULL, which
 * has one of a few images; where none has, the first one that exists.
 */
int image_list_find_folder(
	struct image_list *list, const char *images, const char *const *folders, struct err *err);

/* For rows of records_types. A path is always one from the images' folder on. */
void image_list_close(struct records *records);
void image_list_look(const struct records *records, int64_t first, int n, struct record *out);
int image_list_read(
	struct records *records, int64_t i, struct record_bytes *bytes, struct err *err);
void image_list_where(const struct records *records, int64_t i, char *out, size_t size);
int image_list_path(struct records *records, int64_t i, char *out, size_t size, struct err *err);

#endif
