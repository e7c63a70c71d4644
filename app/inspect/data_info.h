/*
 * What a source contains: counts, classes, times, the distribution of classes over time, the
 * sizes of its pictures, and unreadable records. Equal digests mean the same data in the same
 * order.
 */
#ifndef RETAIN_INSPECT_DATA_INFO_H
#define RETAIN_INSPECT_DATA_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/words/name_list.h"
#include "base/options.h"
#include "streams/source.h"

enum { DATA_PARTS = 10, DATA_FAULTS = 20, DATA_DIGEST = 33, DATA_NAME = 64 };

/* One of the equal parts of the stream. */
struct data_part {
	int classes;            /* that occur in it */
	int most;               /* the most frequent one, */
	double most_share;      /* ... its share */
	char name[DATA_NAME];   /* ... and its name, or number */
	int fresh;              /* classes that did not occur before */
	int64_t numbers;        /* labels that are numbers: how many, */
	double low, high, mean; /* ... and their range and mean */
};

struct data_info {
	char kind[DATA_NAME];
	bool table;      /* its records are rows with columns */
	int64_t records; /* of the data set, before any cut; 0: none, samples are generated */
	struct source_info source;
	bool timed;
	int64_t first_time, last_time; /* of the stream */
	int classes;                   /* that come in the stream */
	int64_t smallest, largest;     /* samples of the smallest and the largest of these */
	double least, most;            /* of labels that are numbers */
	struct data_part parts[DATA_PARTS];

	/* Of the inspected pictures: width and height, and the bytes of their files. */
	int64_t looked;
	int least_width, least_height, most_width, most_height;
	double mean_bytes;

	struct name_list left_out; /* files among the images that are not images */

	/* Records read and bad ones; a record in both the stream and evaluation counts once. */
	int64_t read, bad;
	char faults[DATA_FAULTS][256]; /* the first ones */
	char digest[DATA_DIGEST];      /* "": not everything was read */
};

/*
 * Opens what stream.source names and inspects a few records or, with `check`, all of them, on
 * this many threads (0: one per processor). `progress` is called from time to time. Faults of
 * single records are listed in the result and are not errors.
 */
int data_info(struct data_info *info, const struct options *options, bool check, int threads,
	void (*progress)(void *context, int64_t done, int64_t total), void *context,
	struct err *err);
void data_info_release(struct data_info *info); /* also after a failure */

/* The name of a class, or its number; of a number itself. */
void data_label_name(struct source *source, union target label, char out[DATA_NAME]);

#endif
