/*
 * What kinds of records share whose images are named by lists (records/path_index.h) and
 * lie below one folder: cldatasets and cloc differ only in how they make the index.
 */
#ifndef RETAIN_RECORDS_IMAGE_LIST_H
#define RETAIN_RECORDS_IMAGE_LIST_H

#include "records/path_index.h"

struct image_list {
	struct image_records images;
	char *root;   /* of the data set, without slashes at its end */
	char *folder; /* that paths start from */
};

/*
 * The lists of a part; times and users are NULL for kinds without them. Names of files are from
 * root on. Times are read if the stream has them, users if it and the part have them.
 */
struct image_list_part {
	const char *name, *paths, *labels, *times;
	enum records_part part;
	const char *users;
};

struct image_list_kind {
	const char *name;
	const struct image_list_part *parts; /* the stream first; ends with a row without a name */
	bool labels_count; /* a part that has only labels is there, and an error */
	/* Folders below root that paths may start from; ends with NULL. */
	const char *const *folders;
	int (*read_list)(const char *path, list_visit *visit, void *lists, struct err *err);
	/* Reads a file that names the images of one more part. */
	int (*read_more)(struct path_lists *lists, const char *path, bool timed, struct err *err);
};

/*
 * Reads the lists, or their index. `more` is the
 * name of the file for read_more; NULL: there is none. `folder` is what the user says;
 * where that is empty it is the first of the kind's folders that has one of a few images;
 * where none has, the first one that exists.
 */
int image_list_open(struct records *records, const char *path, const struct image_list_kind *kind,
	const char *more, const char *folder, struct err *err);

/* For rows of records_types. A path is always one from the folder on. */
void image_list_close(struct records *records);
int image_list_read(
	struct records *records, int64_t i, struct record_bytes *bytes, struct err *err);
void image_list_where(const struct records *records, int64_t i, char *out, size_t size);
int image_list_path(struct records *records, int64_t i, char *out, size_t size, struct err *err);
int64_t image_list_user(const struct records *records, int64_t i);

#endif
