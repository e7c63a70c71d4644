/* The rows of records_types, one file each. */
#ifndef RETAIN_RECORDS_RECORDS_TYPES_H
#define RETAIN_RECORDS_RECORDS_TYPES_H

#include "records/records.h"

/* The maximum size of an image file. */
#define RECORD_IMAGE_MOST ((size_t)256 << 20)

/* In an index with 24 bits for a label: no label. */
#define RECORD_NO_LABEL ((UINT64_C(1) << 24) - 1)

extern const struct records_type records_cifar, records_folder, records_idx, records_manifest,
	records_npy, records_table, records_tar;

#endif
