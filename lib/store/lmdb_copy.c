/*
 * A snapshot is a read transaction of LMDB, unaffected by later writes. Records are copied one by
 * one, in the order of their keys: the copy has no free pages and no page that LMDB may still
 * write to. (LMDB's own mdb_env_copy begins its own transaction, so the moment it copies would be
 * unknown.)
 *
 * The reader's slot keeps the writer from reusing pages that the snapshot needs; so its file may
 * grow while it is copied. The writer removes a killed copier's slot.
 */
#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/lmdb.h"

enum { BATCH = 16 << 20 }; /* bytes in a transaction of the copy */

struct lmdb_snapshot {
	char *folder;
	MDB_env *env;
	bool own; /* the environment was opened for this */
	MDB_txn *txn;
	size_t map;
};

struct copying {
	struct lmdb_snapshot *from;
	MDB_env *env;
	MDB_txn *txn;
	size_t batch; /* bytes in the transaction */
	uint64_t done, total;
	const struct lmdb_progress *progress;
};

static int failed(const char *folder, int status, const char *doing, struct err *err)
{
	return err_set(err, status == ENOMEM ? ERR_MEMORY : ERR_FILE, "%s: %s: %s", folder, doing,
		mdb_strerror(status));
}

/* A writer may have made the map larger than it was when we opened it. */
static int begin(struct lmdb_snapshot *s)
{
	int status = mdb_txn_begin(s->env, NULL, MDB_RDONLY, &s->txn);

	for (int tries = 0; s->own && status == MDB_MAP_RESIZED && tries < 100; tries++) {
		status = mdb_env_set_mapsize(s->env, 0);
		if (!status)
			status = mdb_txn_begin(s->env, NULL, MDB_RDONLY, &s->txn);
	}
	return status;
}

static int open_own(struct lmdb_snapshot *s)
{
	const int pin = lmdb_pin(s->folder);
	int status;

	if (pin < 0)
		return errno;
	status = mdb_env_create(&s->env);
	s->own = !status;
	if (!status)
		status = mdb_env_set_maxdbs(s->env, LMDB_TABLES);
	if (!status)
		status = mdb_env_open(s->env, s->folder, MDB_RDONLY | MDB_NOTLS, 0666);
	if (!status)
		status = begin(s);
	close(pin);
	return status;
}

int lmdb_snapshot_open(
	struct lmdb_snapshot **snapshot, const char *folder, struct lmdb *lmdb, struct err *err)
{
	struct lmdb_snapshot *made = mem_new(1, sizeof(*made));
	MDB_envinfo info;
	int status;

	*snapshot = NULL;
	if (!made)
		return err_memory(err, "a snapshot", sizeof(*made));
	made->folder = mem_text(folder);
	made->env = lmdb ? lmdb_environment(lmdb) : NULL;
	status = !made->folder ? ENOMEM : lmdb ? begin(made) : open_own(made);
	if (!status)
		status = mdb_env_info(made->env, &info);
	if (status) {
		lmdb_snapshot_close(made);
		return failed(folder, status, "cannot be read", err);
	}
	made->map = info.me_mapsize;
	*snapshot = made;
	return 0;
}

void lmdb_snapshot_close(struct lmdb_snapshot *snapshot)
{
	if (!snapshot)
		return;
	if (snapshot->txn)
		mdb_txn_abort(snapshot->txn);
	if (snapshot->own)
		mdb_env_close(snapshot->env);
	mem_free(snapshot->folder);
	mem_free(snapshot);
}

/* Commits what is in the transaction, and begins the next. */
static int next_batch(struct copying *c)
{
	int status = mdb_txn_commit(c->txn);

	c->txn = NULL;
	c->batch = 0;
	if (c->progress && c->progress->tell)
		c->progress->tell(c->progress->context, c->done, c->total);
	return status ? status : mdb_txn_begin(c->env, NULL, 0, &c->txn);
}

static int copy_records(struct copying *c, MDB_dbi from, MDB_dbi to)
{
	MDB_cursor *cursor;
	MDB_val key, value;
	int status = mdb_cursor_open(c->from->txn, from, &cursor);

	if (status)
		return status;
	while (!status && !(status = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
		const size_t size = key.mv_size + value.mv_size;

		status = mdb_put(c->txn, to, &key, &value, MDB_APPEND);
		c->batch += size;
		c->done += size;
		if (!status && c->batch > BATCH)
			status = next_batch(c);
	}
	mdb_cursor_close(cursor);
	return status == MDB_NOTFOUND ? 0 : status;
}

/* A table of this name; the unnamed one lists them all. */
static int copy_table(struct copying *c, const MDB_val *name)
{
	char text[64] = "";
	unsigned flags;
	MDB_dbi from, to;
	int status = name->mv_size < sizeof(text) ? 0 : MDB_INCOMPATIBLE;

	if (!status)
		memcpy(text, name->mv_data, name->mv_size);
	if (!status)
		status = mdb_dbi_open(c->from->txn, text, 0, &from);
	if (!status)
		status = mdb_dbi_flags(c->from->txn, from, &flags);
	if (!status)
		status = mdb_dbi_open(c->txn, text, flags | MDB_CREATE, &to);
	return status ? status : copy_records(c, from, to);
}

static int copy_tables(struct copying *c)
{
	MDB_cursor *cursor;
	MDB_val name, value;
	MDB_dbi all;
	int status = mdb_dbi_open(c->from->txn, NULL, 0, &all);

	if (!status)
		status = mdb_cursor_open(c->from->txn, all, &cursor);
	if (status)
		return status;
	while (!status && !(status = mdb_cursor_get(cursor, &name, &value, MDB_NEXT)))
		status = copy_table(c, &name);
	mdb_cursor_close(cursor);
	return status == MDB_NOTFOUND ? 0 : status;
}

/* The pages that are in use, roughly: what there is to copy. */
static uint64_t bytes_of(const struct lmdb_snapshot *s)
{
	MDB_stat stat;
	MDB_envinfo info;

	return mdb_env_info(s->env, &info) || mdb_env_stat(s->env, &stat)
		       ? 0
		       : (uint64_t)(info.me_last_pgno + 1) * stat.ms_psize;
}

int lmdb_snapshot_copy(struct lmdb_snapshot *snapshot, const char *folder,
	const struct lmdb_progress *progress, struct err *err)
{
	struct copying c = {.from = snapshot, .progress = progress, .total = bytes_of(snapshot)};
	int status = mdb_env_create(&c.env);

	if (status)
		return failed(folder, status, "cannot be made", err);
	status = mdb_env_set_maxdbs(c.env, LMDB_TABLES);
	if (!status)
		status = mdb_env_set_mapsize(c.env, snapshot->map);
	if (!status)
		status = mdb_env_open(c.env, folder, MDB_NOLOCK | MDB_NOSYNC, 0666);
	if (!status)
		status = mdb_txn_begin(c.env, NULL, 0, &c.txn);
	if (!status)
		status = copy_tables(&c);
	if (!status) {
		status = mdb_txn_commit(c.txn);
		c.txn = NULL;
	}
	if (c.txn)
		mdb_txn_abort(c.txn);
	if (!status)
		status = mdb_env_sync(c.env, 1);
	mdb_env_close(c.env);
	return status ? failed(folder, status, "cannot copy the journal", err) : 0;
}
