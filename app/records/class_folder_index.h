/*
 * The index of a folder of images: which files, in which class, in which part.
 * Made by walking the folder, or found as an index file, in which case only the
 * folders' times of change are looked at.
 *
 *	ROOT/CLASS/...                       all of the stream
 *	ROOT/train/CLASS/...                 the stream
 *	ROOT/val/CLASS/...                   evaluation
 *	ROOT/val/NAME, ROOT/val/images/NAME  evaluation, labels in a file (label_file.h)
 *
 * Classes are numbered in the order of their folders' names, by bytes. Folders
 * below a class belong to it. Evaluation is the first of val, valid, validation,
 * test and eval that has labels.
 */
#ifndef RETAIN_RECORDS_CLASS_FOLDER_INDEX_H
#define RETAIN_RECORDS_CLASS_FOLDER_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "records/index_file.h"
#include "records/records.h"

struct class_folder_index {
	struct index_file file;
	const struct class_folder_header *header;
	const uint64_t *entries; /* where its name is, label, part */
	const uint32_t *classes; /* where their names are */
	const char *class_names, *names;
};

int class_folder_index_open(struct class_folder_index *index, const char *root, struct err *err);
void class_folder_index_close(struct class_folder_index *index);

void class_folder_index_info(const struct class_folder_index *index, struct records_info *info);
struct record class_folder_index_look(const struct class_folder_index *index, int64_t i);
const char *class_folder_index_class(const struct class_folder_index *index, int label);

/* The path of a record from ROOT on; what does not fit is cut off. */
void class_folder_index_path(
	const struct class_folder_index *index, int64_t i, char *out, size_t size);

#endif
