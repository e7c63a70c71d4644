/*
 * The index of a folder of images: which files, in which class, in which part.
 * Made by walking the folder, or found as an index file, in which case only the
 * folders' times of change are looked at.
 *
 *	ROOT/CLASS/...                       all of the stream
 *	ROOT/train/CLASS/...                 the stream
 *	ROOT/val/CLASS/...                   evaluation
 *	ROOT/val/NAME, ROOT/val/images/NAME  evaluation, labels in a file (folder_labels.h)
 *
 * Classes are numbered in the order of their folders' names, by bytes. Folders
 * below a class belong to it. Evaluation is the first of val, valid, validation,
 * test and eval that has labels.
 */
#ifndef RETAIN_RECORDS_FOLDER_INDEX_H
#define RETAIN_RECORDS_FOLDER_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "records/index_file.h"
#include "records/records.h"

struct folder_index {
	struct index_file file;
	const struct folder_header *header;
	const uint64_t *entries; /* where its name is, label, part */
	const uint32_t *classes; /* where their names are */
	const char *class_names, *names;
};

int folder_index_open(struct folder_index *index, const char *root, struct err *err);
void folder_index_close(struct folder_index *index);

int64_t folder_index_count(const struct folder_index *index);
int folder_index_classes(const struct folder_index *index);
bool folder_index_parted(const struct folder_index *index);
struct record folder_index_look(const struct folder_index *index, int64_t i);
const char *folder_index_class(const struct folder_index *index, int label);

/* The path of a record from ROOT on; what does not fit is cut off. */
void folder_index_path(const struct folder_index *index, int64_t i, char *out, size_t size);

#endif
