/*
 * Tables on disk, kept by LMDB in a folder: records of bytes under keys.
 * lmdb.c is the only file that knows LMDB.
 *
 * All writing is done in transactions. When lmdb_write has returned 0, the whole
 * change is synced to disk; if it fails, or the process ends before, nothing of
 * the change is there. Changes may be held, to share a sync: see lmdb_hold.
 *
 * One process has the tables, by a lock on the folder, and one thread uses them
 * at a time; other processes may copy them meanwhile (lmdb_copy.c). Space that a transaction frees is used again from the second
 * transaction after it. The file, data.mdb, never shrinks; it is sparse and looks
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
	bool ids; /* keys are int64_t, each new one above all before it; else they are text */
};

struct lmdb_key {
	const void *data;
	size_t size; /* 1 to LMDB_KEY */
};

enum { LMDB_TABLES = 8, LMDB_KEY = 500 };

/*
 * Opens the tables in the folder, or makes both. All other calls name a table by
 * its place in the list. Refuses files without these tables and files that were
 * cut off (ERR_FORMAT), and tables that are open already (ERR_STATE).
 */
int lmdb_open(struct lmdb **lmdb, const char *folder, const struct lmdb_table *list, int count,
	struct err *err);
void lmdb_close(struct lmdb *lmdb);

/*
 * Makes one transaction of what the body does. The body returns 0, or the status
 * of the call that failed; it may be run more than once. `doing` begins the error's
 * sentence: "cannot add samples".
 */
typedef int lmdb_body(struct lmdb *lmdb, const void *job);

int lmdb_write(
	struct lmdb *lmdb, lmdb_body *body, const void *job, const char *doing, struct err *err);

/*
 * From lmdb_hold on lmdb_write does not sync; lmdb_settle does, for all changes since, and
 * ends the holding. A process that ends before has made none of them, and so has one whose
 * lmdb_settle fails: then nothing can be written until the tables are opened again. Where
 * the file must grow, what was held is settled early.
 */
void lmdb_hold(struct lmdb *lmdb);
int lmdb_settle(struct lmdb *lmdb, struct err *err);

/*
 * For bodies only. They return LMDB's own status, 0 for success. Put gives the place
 * for a record of `size` bytes, which the caller fills before the next call. Removing
 * what is not there succeeds. Peek finds a record as the transaction has it so far,
 * good until the next put or remove; NULL if there is none. Peek_from finds the one
 * with the least id that is not below *id, and its id.
 */
int lmdb_put(struct lmdb *lmdb, int table, struct lmdb_key key, size_t size, void **record);
int lmdb_remove(struct lmdb *lmdb, int table, struct lmdb_key key);
int lmdb_peek(struct lmdb *lmdb, int table, struct lmdb_key key, const void **record, size_t *size);
int lmdb_peek_from(struct lmdb *lmdb, int table, int64_t *id, const void **record, size_t *size);

/*
 * Reading, outside of bodies. Records that lmdb_find gives are good from lmdb_begin
 * to lmdb_end; nothing may be written in between. *record is NULL if there is none.
 * No call allocates.
 */
int lmdb_begin(struct lmdb *lmdb, struct err *err);
int lmdb_find(struct lmdb *lmdb, int table, struct lmdb_key key, const void **record, size_t *size,
	struct err *err);
void lmdb_end(struct lmdb *lmdb);

/* How many records a table has. */
int64_t lmdb_count(const struct lmdb *lmdb, int table);

/*
 * A snapshot is the tables of a folder as they are at one moment, whoever writes them
 * meanwhile. Where this process has them open, they are given; otherwise they are NULL. A
 * process must not open the tables of a folder twice.
 */
struct lmdb_snapshot;
struct MDB_env;

struct MDB_env *lmdb_environment(const struct lmdb *lmdb); /* for lmdb_copy.c */

int lmdb_snapshot_open(
	struct lmdb_snapshot **snapshot, const char *folder, struct lmdb *lmdb, struct err *err);
void lmdb_snapshot_close(struct lmdb_snapshot *snapshot);

/*
 * Writes the tables into a new file data.mdb of a folder that is there, without the space that is
 * free, and syncs it. `progress` may be NULL; it is told of bytes.
 */
struct lmdb_progress {
	void (*tell)(void *context, uint64_t done, uint64_t total);
	void *context;
};
int lmdb_snapshot_copy(struct lmdb_snapshot *snapshot, const char *folder,
	const struct lmdb_progress *progress, struct err *err);

#endif
