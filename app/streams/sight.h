/* What a look at a data set shows, without learning from it. */
#ifndef RETAIN_STREAMS_SIGHT_H
#define RETAIN_STREAMS_SIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "records/records.h"

struct sight {
	int side;  /* in pixels, the longer one of the largest picture looked at; 0: unknown */
	bool same; /* all are squares of that side */
	bool grey; /* none has colours */
};

/* Of records that are pictures: some of the files, or what the set says of them. */
int sight_pictures(struct sight *sight, struct records *records, struct err *err);

/* Whether records come class after class, as folders have them. */
bool sight_sorted(const struct records *records);

/* The same, of so many records among which a class follows another one so often. */
bool sight_in_runs(int64_t count, int64_t changes, int classes);

#endif
