/*
 * Labels for a folder of images that has no folders for its classes, as ImageNet's
 * validation images come. The first of these files that lies in the folder, or in
 * the one above it, gives them:
 *
 *	val_annotations.txt, val.txt,      a line per image: its name, with or without
 *	LOC_val_solution.csv               its ending, then its class's name or number
 *	                                   (from 0), parted by blanks or a comma; what
 *	                                   follows does not count
 *	ILSVRC2012_validation_ground_truth.txt
 *	                                   a line per image, in the order of their names:
 *	                                   the number (from 1) that the development kit
 *	                                   gives a class, which is not the order of its
 *	                                   name; the k-th line of ILSVRC2012_wnids.txt
 *	                                   beside it names class k
 */
#ifndef RETAIN_RECORDS_LABEL_FILE_H
#define RETAIN_RECORDS_LABEL_FILE_H

#include <stdint.h>

#include "base/err.h"
#include "base/words/name_list.h"

/* The path of the labels for `folder`, for mem_free; *path is NULL if there are none. */
int label_file_find(char **path, const char *folder, struct err *err);

/*
 * Fills in the label of each image. `images` and `classes` are sorted. A missing label, an
 * unknown class or an incomplete line is an error that names the file and its row.
 */
int label_file_read(const char *path, const struct name_list *images,
	const struct name_list *classes, int32_t *labels, struct err *err);

#endif
