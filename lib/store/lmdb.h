/*
 * Tables on disk, kept by LMDB in a folder: records of bytes under keys. lmdb.c is the only file
 * that knows LMDB.
 *
 * All writes are transactions. Once lmdb_write has returned 0, the whole change is synced to
 * disk; if it fails, or the process ends before, none of it is there. Changes may be held, to
 * share a sync: see lmdb_hold.
 *
 * One process owns the tables, by a lock on the folder, and one thread uses them at a time; other
 * processes may copy them meanwhile (lmdb_copy.c). Space that a transaction frees is reused from
 * the second transaction after it. The file, data.mdb, never shrinks; it is sparse and looks
 * larger than it is.
 */
#ifndef RETAIN_STORE_LMDB_H
#define RETAIN_STORE_LMDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct lmdb;

struct lmdb_table {
	const char *name;
	bool ids;   /* keys are int64_t, mostly in increasing order; else they are text */
	bool later; /* it may be missing: files of former versions get it when they are opened */
};

struct lmdb_key {
	const void *data;
	size_t size; /* 1 to LMDB_KEY */
};

enum { LMDB_TABLES = 16, LMDB_KEY = 500 };

/*
 * Opens the tables in the folder, or creates both. All other calls name a table by its index in
 * the list. Refuses files without these tables and truncated files (ERR_FORMAT), and tables that
 * are already open (ERR_STATE).
 */
int lmdb_open(struct lmdb **lmdb, const char *folder, const struct lmdb_table *list, int count,
	struct err *err);

/*
 * Opens the tables as they are at this moment, for reading only, from lmdb_begin to lmdb_end as
 * usual. Another process may own them and go on writing, this one must not. Tables that may be
 * missing are empty if they are.
 */
int lmdb_open_snapshot(struct lmdb **lmdb, const char *folder, const struct lmdb_table *list,
	int count, struct err *err);
bool lmdb_reads_only(const struct lmdb *lmdb);
void lmdb_close(struct lmdb *lmdb);

/*
 * Runs the body as one transaction. The body returns 0, or the status of the call that failed; it
 * may be run more than once. `doing` begins the error message: "cannot add samples".
 */
typedef int lmdb_body(struct lmdb *lmdb, const void *job);

int lmdb_write(
	struct lmdb *lmdb, lmdb_body *body, const void *job, const char *doing, struct err *err);

/*
 * After lmdb_hold, lmdb_write does not sync; lmdb_settle syncs all changes since and ends the
 * hold. If the process ends before, or lmdb_settle fails, none of them is kept; after such a
 * failure nothing can be written until the tables are reopened. If the file must grow, held
 * changes are settled early.
 */
void lmdb_hold(struct lmdb *lmdb);
int lmdb_settle(struct lmdb *lmdb, struct err *err);

/*
 * For bodies only. They return LMDB's own status, 0 for success. Put returns the place for a
 * record of `size` bytes, which the caller fills before the next call. Removing a missing record
 * succeeds. Peek finds a record as the transaction has it so far, valid until the next put or
 * remove; NULL if there is none. Peek_from finds the one with the least id that is not below *id,
 * and its id.
 */
int lmdb_put(struct lmdb *lmdb, int table, struct lmdb_key key, size_t size, void **record);
int lmdb_remove(struct lmdb *lmdb, int table, struct lmdb_key key);
int lmdb_peek(struct lmdb *lmdb, int table, struct lmdb_key key, const void **record, size_t *size);
int lmdb_peek_from(struct lmdb *lmdb, int table, int64_t *id, const void **record, size_t *size);

/*
 * Reading, outside of bodies. Records returned by lmdb_find are valid from lmdb_begin to
 * lmdb_end; nothing may be written in between. *record is NULL if there is none. No call
 * allocates.
 */
int lmdb_begin(struct lmdb *lmdb, struct err *err);
int lmdb_find(struct lmdb *lmdb, int table, struct lmdb_key key, const void **record, size_t *size,
	struct err *err);
int lmdb_find_from(struct lmdb *lmdb, int table, int64_t *id, const void **record, size_t *size,
	struct err *err); /* as lmdb_peek_from */
void lmdb_end(struct lmdb *lmdb);

/* The number of records in a table. */
int64_t lmdb_count(const struct lmdb *lmdb, int table);

/*
 * Writes the tables to a new file without free pages, which takes the place of the old one: nothing
 * that was removed or replaced before is left, but for snapshots of other processes, which keep the
 * old file as long as they are open. Waits while one of them is being opened. After a failure the
 * tables may have to be reopened. Nothing may be held.
 */
int lmdb_compact(struct lmdb *lmdb, struct err *err);

/*
 * For readers in other processes: keeps the file from being replaced while its descriptor is open,
 * so that they open data and locks that belong together. Negative: an error of the system, by errno.
 */
int lmdb_pin(const char *folder);

/*
 * A snapshot of a folder's tables at one moment, even while they are written. Pass the tables if
 * this process has them open, else NULL. A process must not open the tables of a folder twice.
 */
struct lmdb_snapshot;
struct MDB_env;

struct MDB_env *lmdb_environment(const struct lmdb *lmdb); /* for lmdb_copy.c */

int lmdb_snapshot_open(
	struct lmdb_snapshot **snapshot, const char *folder, struct lmdb *lmdb, struct err *err);
void lmdb_snapshot_close(struct lmdb_snapshot *snapshot);

/*
 * Writes the tables to a new file data.mdb in an existing folder, without free space, and syncs
 * it. `progress` reports bytes and may be NULL.
 */
struct lmdb_progress {
	void (*tell)(void *context, uint64_t done, uint64_t total);
	void *context;
};
int lmdb_snapshot_copy(struct lmdb_snapshot *snapshot, const char *folder,
	const struct lmdb_progress *progress, struct err *err);

#endif
