/*
 * The index of images that lists name: path, label, part and perhaps time and user of each. It
 * is made from lists that are read one after the other, paths first, for each part of
 * a data set; paths go to the index as they come, so that while it is made there are 8
 * bytes for each record in memory, 8 more with times and 8 with users.
 *
 *	path_lists_open
 *	path_lists_part      once for each part, then for each of its records
 *	  path_lists_path      the paths,
 *	  path_lists_label     as many labels,
 *	  path_lists_time      and as many times, or none at all;
 *	  path_lists_user      as many users, or none in this part
 *	path_lists_end       an index
 */
#ifndef RETAIN_RECORDS_PATH_INDEX_H
#define RETAIN_RECORDS_PATH_INDEX_H

#include "formats/list_value.h"
#include "records/image_records.h"

/* Labels are below this, others are in no class; no path is longer than that. */
enum { PATH_LABELS = (1 << 22) - 1, PATH_LONGEST = 4095 };

/* The id's version is this. */
enum { PATH_INDEX_VERSION = 4 };

/* Fills in the images, whose entries are the usual ones, if there is an index file of them. */
bool path_index_find(struct image_records *images, const struct index_id *id);
/* Lives as long as the index. */
const char *path_index_path(const struct image_records *images, int64_t i);

struct path_lists;

/* The id must live as long. */
int path_lists_open(struct path_lists **lists, const struct index_id *id, struct err *err);

/* `name` is for messages: what is wrong with the part before shows now or at the end. */
int path_lists_part(
	struct path_lists *lists, enum records_part part, const char *name, struct err *err);

/*
 * For list_visit, with the lists as `self`. Blanks around a path and NULs after it are
 * not part of it. Times are whole numbers that stay as they are, or, where any has a
 * fraction, seconds that become microseconds. Users are whole numbers or names.
 */
int path_lists_path(void *lists, const struct list_value *value, struct err *err);
int path_lists_label(void *lists, const struct list_value *value, struct err *err);
int path_lists_time(void *lists, const struct list_value *value, struct err *err);
int path_lists_user(void *lists, const struct list_value *value, struct err *err);

/* Both end the lists, whether they succeed or not; abort accepts NULL. */
int path_lists_end(struct path_lists *lists, struct image_records *images, struct err *err);
void path_lists_abort(struct path_lists *lists);

#endif
