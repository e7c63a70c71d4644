/*
 * times.csv: when each line of events.jsonl and metrics.csv was written. It is a file of its own,
 * since those two must be the same bytes whenever a run is made.
 *
 *	file,bytes,time
 *	events.jsonl,1834,2026-11-18T08:14:23.120Z
 *
 * `bytes` is the file's size including that line. A killed run writes the lines after its
 * checkpoint again: of several rows with the same size the last one counts. Rows are not synced,
 * and rows that cannot be written are dropped.
 */
#ifndef RETAIN_SESSION_LOG_TIMES_H
#define RETAIN_SESSION_LOG_TIMES_H

#include <stdint.h>

struct times {
	int file;         /* descriptor; negative: none */
	const char *name; /* of the log, within its path */
};

/* Opens the file beside a log; the path is borrowed until times_close. */
void times_open(struct times *times, const char *path);
void times_close(struct times *times);
void times_add(const struct times *times, int64_t bytes);

#endif
