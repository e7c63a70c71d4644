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

/* No row has more columns, no row is longer. */
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
 * Fills in the images and the header. The file is open, and its bytes are looked at only
 * now. Rows that make no sense are errors, or where `lenient` records without a label.
 */
int manifest_index_open(struct manifest *manifest, bool lenient, struct err *err);

struct record manifest_index_look(const struct records *records, int64_t i);

/* Where row i begins and how long it is at most; its number, which counts the header. */
uint64_t manifest_index_row(
	const struct manifest *manifest, int64_t i, size_t *size, uint64_t *number);

/* The path in a row's bytes as they are now. False if there is none that fits. */
bool manifest_index_path(
	const struct manifest *manifest, const char *row, size_t size, char *path, size_t room);

/* A number for the user of a record, read from the manifest; RECORDS_NO_USER if it cannot
 * be read any more. */
int64_t manifest_index_user(const struct records *records, int64_t i);

#endif
