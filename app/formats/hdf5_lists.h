/*
 * Lists in HDF5 files: datasets of one dimension, or of N by 1, of whole numbers of any
 * size or of texts of fixed or any length, however they are laid out and compressed.
 * They are read block by block. Values in other files (external links, external storage,
 * virtual datasets) are refused. The only file that knows libhdf5.
 */
#ifndef RETAIN_FORMATS_HDF5_LISTS_H
#define RETAIN_FORMATS_HDF5_LISTS_H

#include "base/err.h"
#include "formats/list_value.h"

/*
 * Hands all values of a dataset to `visit`, as LIST_WHOLE or LIST_TEXT. Messages name
 * the file, and the value if one is at fault.
 */
int hdf5_list_read(
	const char *path, const char *dataset, list_visit *visit, void *self, struct err *err);

#endif
