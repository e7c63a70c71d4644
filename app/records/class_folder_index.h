/*
 * The index of a folder of images: which files, in which class, in which part. Made by walking
 * the folder, or loaded from an index file, in which case only the folders' modification times
 * are checked.
 *
 *	ROOT/CLASS/...                       all of the stream
 *	ROOT/train/CLASS/...                 the stream
 *	ROOT/val/CLASS/...                   evaluation
 *	ROOT/val/NAME, ROOT/val/images/NAME  evaluation, labels in a file (label_file.h)
 *
 * Classes are numbered in the byte order of their folders' names. Folders below a class belong to
 * it. Evaluation is the first of val, valid, validation, test and eval that has labels.
 */
#ifndef RETAIN_RECORDS_CLASS_FOLDER_INDEX_H
#define RETAIN_RECORDS_CLASS_FOLDER_INDEX_H

#include "records/image_records.h"

struct class_folder {
	struct image_records images; /* with the usual entries */
	const struct class_folder_header *header;
	const char *names;
	char *root; /* without trailing slashes */
};

/* Fills in the images, the header and the names; root is set. */
int class_folder_index_open(struct class_folder *folder, struct err *err);

/* The path of a record relative to ROOT, truncated to fit. */
void class_folder_index_path(const struct class_folder *folder, int64_t i, char *out, size_t size);

#endif
