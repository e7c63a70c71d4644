/*
 * Records are bytes of any length under ids 0, 1, 2, ..., in two files of a folder or in memory:
 *
 *	index  a head and an entry of 24 bytes for every id: where the bytes are, how many, a label
 *	data   the bytes, at places that the owner chooses (store/places.h)
 *
 * One process owns them; its calls that add or mark take turns. Reading needs no turn: any thread
 * may read at any time, and so may a child of fork and, without owning them, any other process
 * (records_read_only). A record that is gone is refused by name, never read as another one.
 *
 * Adding is one call for many records, with a sync of either file. It is complete when it returns
 * 0; records_found tells an owner that opens the files again what is complete. Entries and bytes
 * have checksums, so that a call cut short by a crash is recognised, and damage by whoever reads.
 */
#ifndef RETAIN_STORE_RECORDS_H
#define RETAIN_STORE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct records;

struct record {
	const void *bytes;
	size_t size;
	int32_t label;
	int64_t place; /* in units of store/places.h */
	bool task;     /* the first of a task; */
	bool mark;     /* ... after a mark of the owner's */
};

struct record_facts {
	int64_t place;
	size_t size;
	int32_t label;
	bool last, task, mark; /* the last of its call; the others as in struct record */
};

/*
 * Opens the folder's files or creates them, and the folder; NULL: in memory. ERR_STATE if another
 * process has them. records_read_only opens what another process may own.
 */
int records_open(struct records **records, const char *folder, struct err *err);
int records_read_only(struct records **records, const char *folder, struct err *err);
void records_close(struct records *records);

/* The folder, "memory" without one; whether this process may add. */
const char *records_where(const struct records *records);
bool records_owned(const struct records *records);

/*
 * How many records are there by complete calls, the first `sure` of which, of records_end bytes,
 * are known. What follows is cut off. An owner calls it once, before any of the following.
 */
int records_found(
	struct records *records, int64_t sure, int64_t end, int64_t *count, struct err *err);
int64_t records_count(const struct records *records);
int64_t records_end(const struct records *records); /* of the data, in bytes */

/* Adds n records in one call. A failure adds nothing. */
int records_add(struct records *records, const struct record *list, int n, struct err *err);

/* What is known of a record, gone or not; `id` is below records_count. */
struct record_facts records_facts(const struct records *records, int64_t id);

/* Whether these bytes and this label are the record's. */
bool records_same(const struct records *records, int64_t id, const struct record *record);

/* Its place may be used for another record from now on. */
void records_forget(struct records *records, int64_t id);

/*
 * Copies a record to `bytes`, with room for `room`; NULL: only its size and label. An id that was
 * never added or is gone, and too little room, are ERR_INPUT; damage is ERR_FORMAT.
 */
int records_read(struct records *records, int64_t id, void *bytes, size_t room, size_t *size,
	int32_t *label, struct err *err);

/* The bytes of both files. */
int64_t records_bytes(const struct records *records);

#endif
