/*
 * Tables on disk, in a folder: records of bytes under keys. A change is made in
 * a transaction: when tables_write has returned, all of it is synced, and if it
 * fails or the process ends before, there is nothing of it. LMDB does the
 * keeping; tables.c is the only file to know it.
 *
 * The tables belong to one process, which holds a lock on the folder, and to
 * one caller at a time. Disk space of what a transaction removed is used again
 * from the second one after it, but the file, data.mdb, does not shrink; it is
 * sparse and looks larger than it is.
 */
#ifndef RETAIN_STORE_TABLES_H
#define RETAIN_STORE_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct tables;

/* Keys are text, or ids: int64_t, which are only ever added in their order. */
struct table {
	const char *name;
	bool ids;
};

struct table_key {
	const void *data;
	size_t size; /* 1 to TABLES_KEY */
};

enum { TABLES_MOST = 8, TABLES_KEY = 500 };

/*
 * Opens the tables in folder, or makes them, and the folder. Below they are
 * known by their places in the list. Files that have no such tables, or are cut
 * off, are ERR_FORMAT; tables that are open already ERR_STATE.
 */
int tables_open(struct tables **tables, const char *folder, const struct table *list, int count,
	struct err *err);
void tables_close(struct tables *tables);

/*
 * Has the body make the changes of a transaction. The body returns the first
 * failure of the calls below, or 0; it may be run more than once. `doing` is
 * for the error: "cannot add samples".
 */
typedef int tables_body(struct tables *tables, const void *job);

int tables_write(struct tables *tables, tables_body *body, const void *job, const char *doing,
	struct err *err);

/* For the body. Put gives the place for a record of `size` bytes, good until the next call. */
int tables_put(struct tables *tables, int table, struct table_key key, size_t size, void **record);
int tables_remove(struct tables *tables, int table, struct table_key key); /* if it is there */
/* What the transaction has so far, good until the next put or remove; NULL if there is none. */
int tables_peek(
	struct tables *tables, int table, struct table_key key, const void **record, size_t *size);

/*
 * Reading, outside of a body: records that were found stay between begin and
 * end, where there must be no writing. *record is NULL if there is none. No
 * call allocates.
 */
int tables_begin(struct tables *tables, struct err *err);
int tables_find(struct tables *tables, int table, struct table_key key, const void **record,
	size_t *size, struct err *err);
void tables_end(struct tables *tables);

/* How many records a table has. */
int64_t tables_count(const struct tables *tables, int table);

#endif
