/*
 * The index of a manifest: a CSV file with a row for each record, its path, its
 * label and perhaps its time, user and part. The index knows where each row begins,
 * its label, part and time: 8 bytes for each record, 16 with times.
 *
 * With a header columns may stand in any order, and others among them:
 *	path   path, file, filename, file_name, image, image_path, img
 *	label  label, class, class_id, target, category, y
 *	time   time, timestamp, date, datetime, date_taken
 *	part   part, split, subset: train, val, test, pretrain
 *	user   user, user_id, userid
 * Without one they are path, label, time, user; the last one or two may be missing.
 * The first row is a header if one of its cells is such a name of a path or a label.
 */
#ifndef RETAIN_RECORDS_MANIFEST_INDEX_H
#define RETAIN_RECORDS_MANIFEST_INDEX_H

#include "formats/csv.h"
#include "records/image_records.h"

/* Limits on columns and on the length of a row. */
enum { MANIFEST_COLUMNS = 256, MANIFEST_ROW = 1 << 20 };

struct manifest {
	struct image_records images;
	struct mapped file;
	const struct manifest_header *header;
	char *root;
};

/* Whether the first row of a CSV file has a column called path, or begins with an image's path. */
bool manifest_index_likely(const char *bytes, size_t size);

/*
 * Fills in the images and the header. The file is open, and its bytes are read only now. Invalid
 * rows are errors or, if `lenient`, records without a label.
 */
int manifest_index_open(struct manifest *manifest, bool lenient, struct err *err);

struct record manifest_index_look(const struct records *records, int64_t i);

/* The offset of row i and its maximum length; its number, counting the header. */
uint64_t manifest_index_row(
	const struct manifest *manifest, int64_t i, size_t *size, uint64_t *number);

/* The path in a row's current bytes. False if there is none that fits. */
bool manifest_index_path(
	const struct manifest *manifest, const char *row, size_t size, char *path, size_t room);

/*
 * A number for the user of a record, read from the manifest; RECORDS_NO_USER if it can no longer
 * be read.
 */
int64_t manifest_index_user(const struct records *records, int64_t i);

#endif
