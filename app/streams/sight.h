/* Properties of a data set found by inspecting it. */
#ifndef RETAIN_STREAMS_SIGHT_H
#define RETAIN_STREAMS_SIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "records/records.h"

struct sight {
	int side;  /* in pixels, the longer side of the largest inspected picture; 0: unknown */
	bool same; /* all are squares of that size */
	bool grey; /* none is coloured */
};

/* For pictures: inspects some of the files, or the set's metadata. */
int sight_pictures(struct sight *sight, struct records *records, struct err *err);

/* Whether records are sorted by class, as in folders. */
bool sight_sorted(const struct records *records);

/* The same, for this many records with this many changes of class. */
bool sight_in_runs(int64_t count, int64_t changes, int classes);

#endif
