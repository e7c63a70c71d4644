/* The rows of records_types, one file each. */
#ifndef RETAIN_DATA_RECORDS_TYPES_H
#define RETAIN_DATA_RECORDS_TYPES_H

#include "data/records.h"

extern const struct records_type records_cifar, records_idx;

#endif
