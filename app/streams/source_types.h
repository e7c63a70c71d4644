/* The kinds of sources, one file each. For source.c. */
#ifndef RETAIN_STREAMS_SOURCE_TYPES_H
#define RETAIN_STREAMS_SOURCE_TYPES_H

#include "streams/source.h"

extern const struct source_type source_drift;  /* drift.c */
extern const struct source_type source_photos; /* photos.c */
extern const struct source_type source_data;   /* source_records.c: any other name */

#endif
