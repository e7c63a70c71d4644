/*
 * A table is a database of LMDB. LMDB writes every changed page to a free place,
 * syncs, then writes and syncs the page that points to the new tree; so there is
 * always a whole tree. What it leaves to us:
 *
 * - The map has a fixed size. When it is full, we give the transaction up, double
 *   the map and make the transaction again.
 * - It reads through the map, where a file that ends too early is a SIGBUS. We make
 *   the file (sparse) as long as the map before the map gets that long. So a file
 *   that is shorter than the pages it says it has was cut off; we refuse it.
 * - Its lock file may list readers of killed processes, whose pages are then never
 *   used again. We strike these off when we open the file and before the map grows.
 * - It has one writer at a time, but lets another process be the next. We lock the
 *   folder, so that there is only one process that writes, and any number that copy.
 * - A reader's slot belongs to a thread. We have it belong to the transaction
 *   (MDB_NOTLS), because the thread that opens a journal need not be the one that uses it.
 * - It does not sync the folder in which it makes its file. We do.
 *
 * Changes that are held are transactions within one, `held`, which is synced when they are
 * settled. Reading goes through it as long as it is open. It cannot be made again when the map is
 * full. So the map has room to spare when it begins, and it is settled early when it may have
 * used it.
 *
 * Invariants: `writer` is open only while a body runs; `reader` only from begin to
 * end, and is reset otherwise; `records` is what the file has, with what is held. A `status` is
 * LMDB's (negative) or the system's (positive), a `code` is ours.
 */
#include "store/lmdb.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <lmdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum {
	SPARE = 32 << 20,  /* bytes of the map that are free when a held transaction begins, */
	SPENT = 24 << 20,  /* and by which it is settled */
	CHANGE = 3 * 4096, /* what putting or removing a record may use, but for its bytes */
};

struct lmdb {
	char *folder;
	int lock; /* the folder, open */
	pid_t owner;
	int count;
	struct lmdb_table list[LMDB_TABLES];
	MDB_env *env;
	MDB_dbi databases[LMDB_TABLES];
	int64_t records[LMDB_TABLES];
	MDB_txn *reader, *writer;
	MDB_txn *held;             /* NULL: nothing is; of a snapshot all that is read */
	bool missing[LMDB_TABLES]; /* in a snapshot */
	size_t spent;              /* how much of the map that may use, at most */
	bool holding;              /* the next change will be held */
	bool lost;                 /* what was held could not be synced */
};

static int failed(const struct lmdb *lmdb, int status, const char *doing, struct err *err)
{
	static const struct {
		int status, code;
		const char *why;
	} rows[] = {
		{ENOMEM, ERR_MEMORY, NULL},
		/* What LMDB makes of a write that was cut short. */
		{EIO, ERR_FILE, "a write failed or fell short: the disk may be full"},
		{MDB_INVALID, ERR_FORMAT, "data.mdb is not a journal, or was cut off"},
		{MDB_VERSION_MISMATCH, ERR_FORMAT, "data.mdb is of another version of LMDB"},
		{MDB_INCOMPATIBLE, ERR_FORMAT, "data.mdb is not a journal"},
		{MDB_CORRUPTED, ERR_FORMAT, "data.mdb is damaged"},
		{MDB_PAGE_NOTFOUND, ERR_FORMAT, "data.mdb is damaged"},
		{MDB_PANIC, ERR_FILE, "writing failed before; open it again"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].status == status)
			return err_set(err, rows[i].code, "%s: %s: %s", lmdb->folder, doing,
				rows[i].why ? rows[i].why : mdb_strerror(status));
	return err_set(err, ERR_FILE, "%s: %s: %s", lmdb->folder, doing, mdb_strerror(status));
}

static MDB_val key_of(struct lmdb_key key)
{
	return (MDB_val){key.size, (void *)key.data};
}

static int file_facts(const struct lmdb *lmdb, mdb_filehandle_t *file, struct stat *facts)
{
	const int status = mdb_env_get_fd(lmdb->env, file);

	if (status)
		return status;
	return fstat(*file, facts) != 0 ? errno : 0;
}

static int file_reach(const struct lmdb *lmdb, size_t size)
{
	mdb_filehandle_t file;
	struct stat facts;
	int status = file_facts(lmdb, &file, &facts);

	if (!status && (uintmax_t)facts.st_size < size && ftruncate(file, (off_t)size) != 0)
		status = errno;
	return status;
}

/* No transaction is open. */
static int map_grow(struct lmdb *lmdb)
{
	MDB_envinfo info;
	int status = mdb_reader_check(lmdb->env, NULL);

	if (!status)
		status = mdb_env_info(lmdb->env, &info);

	if (!status && info.me_mapsize > SIZE_MAX / 4)
		status = ENOMEM;
	if (!status)
		status = file_reach(lmdb, info.me_mapsize * 2);
	if (!status)
		status = mdb_env_set_mapsize(lmdb->env, info.me_mapsize * 2);
	return status;
}

/* No transaction is open. */
static int map_spare(struct lmdb *lmdb)
{
	MDB_envinfo info;
	MDB_stat stat;
	int status = mdb_env_stat(lmdb->env, &stat);

	while (!status && !(status = mdb_env_info(lmdb->env, &info)) &&
		info.me_mapsize < (info.me_last_pgno + 1) * stat.ms_psize + SPARE)
		status = map_grow(lmdb);
	return status;
}

/* Syncs what is held. */
static int let_go(struct lmdb *lmdb)
{
	int status;

	if (!lmdb->held)
		return 0;
	status = mdb_txn_commit(lmdb->held);
	lmdb->held = NULL;
	lmdb->lost = status != 0;
	return status;
}

/* Where the file cannot grow, changes are synced one by one. */
static int hold_more(struct lmdb *lmdb)
{
	int status = lmdb->spent > SPENT ? let_go(lmdb) : 0;

	if (status || lmdb->held)
		return status;
	lmdb->spent = 0;
	return map_spare(lmdb) ? 0 : mdb_txn_begin(lmdb->env, NULL, 0, &lmdb->held);
}

static int transact_once(struct lmdb *lmdb, lmdb_body *body, const void *job)
{
	int status = lmdb->holding ? hold_more(lmdb) : 0;

	if (!status)
		status = mdb_txn_begin(lmdb->env, lmdb->held, 0, &lmdb->writer);
	if (status)
		return status;
	status = body(lmdb, job);
	if (!status)
		return mdb_txn_commit(lmdb->writer);
	mdb_txn_abort(lmdb->writer);
	return status;
}

static int transact(struct lmdb *lmdb, lmdb_body *body, const void *job)
{
	int status;

	if (lmdb->lost)
		return MDB_PANIC;
	do {
		status = transact_once(lmdb, body, job);
		if (status == MDB_MAP_FULL && lmdb->held)
			status = let_go(lmdb) ? MDB_PANIC : MDB_MAP_FULL;
	} while (status == MDB_MAP_FULL && !(status = map_grow(lmdb)));
	return status;
}

static MDB_txn *view(const struct lmdb *lmdb)
{
	return lmdb->held ? lmdb->held : lmdb->reader;
}

static int view_begin(struct lmdb *lmdb)
{
	return lmdb->held ? 0 : mdb_txn_renew(lmdb->reader);
}

static void view_end(struct lmdb *lmdb)
{
	if (!lmdb->held)
		mdb_txn_reset(lmdb->reader);
}

static int count_records(struct lmdb *lmdb)
{
	MDB_stat stat;
	int status = view_begin(lmdb);

	if (status)
		return status;
	for (int i = 0; i < lmdb->count && !status; i++) {
		if (lmdb->missing[i])
			continue;
		status = mdb_stat(view(lmdb), lmdb->databases[i], &stat);
		if (!status)
			lmdb->records[i] = (int64_t)stat.ms_entries;
	}
	view_end(lmdb);
	return status;
}

void lmdb_hold(struct lmdb *lmdb)
{
	lmdb->holding = true;
}

int lmdb_settle(struct lmdb *lmdb, struct err *err)
{
	const int status = lmdb->lost ? MDB_PANIC : let_go(lmdb);

	lmdb->holding = false;
	return status ? failed(lmdb, status, "cannot keep what came", err) : 0;
}

int lmdb_write(
	struct lmdb *lmdb, lmdb_body *body, const void *job, const char *doing, struct err *err)
{
	int status = transact(lmdb, body, job);

	if (!status)
		status = count_records(lmdb);
	return status ? failed(lmdb, status, doing, err) : 0;
}

int lmdb_put(struct lmdb *lmdb, int table, struct lmdb_key key, size_t size, void **record)
{
	const unsigned flags = MDB_RESERVE | (lmdb->list[table].ids ? MDB_APPEND : 0);
	MDB_val name = key_of(key), value = {size, NULL};
	int status = mdb_put(lmdb->writer, lmdb->databases[table], &name, &value, flags);

	/* One that does not come last. */
	if (status == MDB_KEYEXIST) {
		value = (MDB_val){size, NULL};
		status = mdb_put(lmdb->writer, lmdb->databases[table], &name, &value, MDB_RESERVE);
	}
	*record = value.mv_data;
	lmdb->spent += CHANGE + 2 * size;
	return status;
}

int lmdb_remove(struct lmdb *lmdb, int table, struct lmdb_key key)
{
	MDB_val name = key_of(key);
	const int status = mdb_del(lmdb->writer, lmdb->databases[table], &name, NULL);

	lmdb->spent += CHANGE;
	return status == MDB_NOTFOUND ? 0 : status;
}

int lmdb_peek(struct lmdb *lmdb, int table, struct lmdb_key key, const void **record, size_t *size)
{
	MDB_val name = key_of(key), value;
	const int status = mdb_get(lmdb->writer, lmdb->databases[table], &name, &value);

	*record = status ? NULL : value.mv_data;
	*size = status ? 0 : value.mv_size;
	return status == MDB_NOTFOUND ? 0 : status;
}

static int record_from(MDB_txn *txn, MDB_dbi table, int64_t *id, const void **record, size_t *size)
{
	MDB_val name = {sizeof(*id), id}, value;
	MDB_cursor *cursor;
	int status = mdb_cursor_open(txn, table, &cursor);

	*record = NULL;
	if (status)
		return status;
	status = mdb_cursor_get(cursor, &name, &value, MDB_SET_RANGE);
	if (!status) {
		memcpy(id, name.mv_data, sizeof(*id));
		*record = value.mv_data;
		*size = value.mv_size;
	}
	mdb_cursor_close(cursor);
	return status == MDB_NOTFOUND ? 0 : status;
}

int lmdb_peek_from(struct lmdb *lmdb, int table, int64_t *id, const void **record, size_t *size)
{
	return record_from(lmdb->writer, lmdb->databases[table], id, record, size);
}

int lmdb_begin(struct lmdb *lmdb, struct err *err)
{
	const int status = view_begin(lmdb);

	return status ? failed(lmdb, status, "cannot read", err) : 0;
}

int lmdb_find(struct lmdb *lmdb, int table, struct lmdb_key key, const void **record, size_t *size,
	struct err *err)
{
	MDB_val name = key_of(key), value;
	const int status = lmdb->missing[table]
				   ? MDB_NOTFOUND
				   : mdb_get(view(lmdb), lmdb->databases[table], &name, &value);

	*record = status ? NULL : value.mv_data;
	*size = status ? 0 : value.mv_size;
	return status && status != MDB_NOTFOUND ? failed(lmdb, status, "cannot read", err) : 0;
}

int lmdb_find_from(struct lmdb *lmdb, int table, int64_t *id, const void **record, size_t *size,
	struct err *err)
{
	int status = 0;

	*record = NULL;
	if (!lmdb->missing[table])
		status = record_from(view(lmdb), lmdb->databases[table], id, record, size);
	return status ? failed(lmdb, status, "cannot read", err) : 0;
}

bool lmdb_reads_only(const struct lmdb *lmdb)
{
	return !lmdb->reader;
}

void lmdb_end(struct lmdb *lmdb)
{
	view_end(lmdb);
}

MDB_env *lmdb_environment(const struct lmdb *lmdb)
{
	return lmdb->env;
}

int64_t lmdb_count(const struct lmdb *lmdb, int table)
{
	return lmdb->records[table];
}

static int folder_lock(struct lmdb *lmdb, struct err *err)
{
	const int code = file_make_folder(lmdb->folder, err);

	if (code)
		return code;
	lmdb->lock = open(lmdb->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lmdb->lock < 0)
		return failed(lmdb, errno, "cannot open", err);
	if (flock(lmdb->lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return failed(lmdb, errno, "cannot lock", err);
	return err_set(err, ERR_STATE, "%s: the journal is in use", lmdb->folder);
}

/*
 * The file's name, and the folder's, must last as long as what is in it. Some
 * file systems cannot sync folders and say EINVAL; they have done what they can.
 */
static int names_sync(const struct lmdb *lmdb)
{
	const int above = openat(lmdb->lock, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int status = fsync(lmdb->lock) != 0 ? errno : 0;

	if (above >= 0) {
		if (!status && fsync(above) != 0)
			status = errno;
		close(above);
	}
	return status == EINVAL ? 0 : status;
}

static int length_check(const struct lmdb *lmdb, struct err *err)
{
	mdb_filehandle_t file;
	struct stat facts;
	MDB_envinfo info;
	MDB_stat stat;
	unsigned long long size;
	int status = mdb_env_info(lmdb->env, &info);

	if (!status)
		status = mdb_env_stat(lmdb->env, &stat);
	if (!status)
		status = file_facts(lmdb, &file, &facts);
	if (status)
		return failed(lmdb, status, "cannot open", err);
	size = ((unsigned long long)info.me_last_pgno + 1) * stat.ms_psize;
	if ((unsigned long long)facts.st_size < size)
		return err_set(err, ERR_FORMAT,
			"%s: data.mdb was cut off: it has %llu bytes where it had at least %llu",
			lmdb->folder, (unsigned long long)facts.st_size, size);
	status = file_reach(lmdb, info.me_mapsize);
	return status ? failed(lmdb, status, "cannot make data.mdb as long as its map", err) : 0;
}

static int environment_open(struct lmdb *lmdb, struct err *err)
{
	int status = mdb_env_create(&lmdb->env);

	if (!status)
		status = mdb_env_set_maxdbs(lmdb->env, LMDB_TABLES);
	if (!status)
		status = mdb_env_open(lmdb->env, lmdb->folder, MDB_NOTLS, 0666);
	if (!status)
		status = mdb_reader_check(lmdb->env, NULL);
	return status ? failed(lmdb, status, "cannot open", err) : length_check(lmdb, err);
}

static int find_databases(struct lmdb *lmdb, const void *job)
{
	const unsigned *make = job;
	int status = 0;

	for (int i = 0; i < lmdb->count && !status; i++) {
		const unsigned flags = *make | (lmdb->list[i].ids ? MDB_INTEGERKEY : 0) |
				       (lmdb->list[i].later ? MDB_CREATE : 0);

		status = mdb_dbi_open(lmdb->writer, lmdb->list[i].name, flags, &lmdb->databases[i]);
	}
	return status == MDB_NOTFOUND ? MDB_INCOMPATIBLE : status;
}

/* A new environment gets the tables; one that holds something must have them. */
static int databases_open(struct lmdb *lmdb, struct err *err)
{
	unsigned make = 0;
	MDB_stat stat;
	int status = mdb_env_stat(lmdb->env, &stat);

	if (!status && !stat.ms_entries)
		make = MDB_CREATE;
	if (!status)
		status = transact(lmdb, find_databases, &make);
	if (!status && make)
		status = names_sync(lmdb);
	if (!status)
		status = mdb_txn_begin(lmdb->env, NULL, MDB_RDONLY, &lmdb->reader);
	if (!status) {
		mdb_txn_reset(lmdb->reader);
		status = count_records(lmdb);
	}
	return status ? failed(lmdb, status, "cannot open", err) : 0;
}

static int lmdb_new(struct lmdb **lmdb, const char *folder, const struct lmdb_table *list,
	int count, struct err *err)
{
	_Static_assert(sizeof(int64_t) == sizeof(size_t), "MDB_INTEGERKEY wants a size_t");
	struct lmdb *made = mem_new(1, sizeof(*made));

	*lmdb = NULL;
	if (!made)
		return err_memory(err, "a journal", sizeof(*made));
	made->lock = -1;
	made->owner = getpid();
	made->count = count;
	memcpy(made->list, list, (size_t)count * sizeof(*list));
	made->folder = mem_text(folder);
	if (made->folder) {
		*lmdb = made;
		return 0;
	}
	mem_free(made);
	return err_memory(err, "a journal", strlen(folder) + 1);
}

/* A process that owns them may have made the map larger than it was when we opened it. */
static int snapshot_begin(struct lmdb *lmdb)
{
	int status = mdb_txn_begin(lmdb->env, NULL, MDB_RDONLY, &lmdb->held);

	for (int tries = 0; status == MDB_MAP_RESIZED && tries < 100; tries++) {
		status = mdb_env_set_mapsize(lmdb->env, 0);
		if (!status)
			status = mdb_txn_begin(lmdb->env, NULL, MDB_RDONLY, &lmdb->held);
	}
	return status;
}

int lmdb_open_snapshot(struct lmdb **lmdb, const char *folder, const struct lmdb_table *list,
	int count, struct err *err)
{
	int status, pin, code = lmdb_new(lmdb, folder, list, count, err);
	struct lmdb *made = *lmdb;

	if (code)
		return code;
	pin = lmdb_pin(folder);
	status = pin < 0 ? errno : mdb_env_create(&made->env);
	if (!status)
		status = mdb_env_set_maxdbs(made->env, LMDB_TABLES);
	if (!status)
		status = mdb_env_open(made->env, folder, MDB_RDONLY | MDB_NOTLS, 0666);
	if (!status)
		status = snapshot_begin(made);
	if (pin >= 0)
		close(pin);
	for (int i = 0; i < count && !status; i++) {
		status = mdb_dbi_open(made->held, list[i].name, 0, &made->databases[i]);
		made->missing[i] = status == MDB_NOTFOUND && list[i].later;
		status = made->missing[i] ? 0 : status == MDB_NOTFOUND ? MDB_INCOMPATIBLE : status;
	}
	if (!status)
		status = count_records(made);
	code = status ? failed(made, status, "cannot be read", err) : 0;
	if (code) {
		lmdb_close(made);
		*lmdb = NULL;
	}
	return code;
}

int lmdb_open(struct lmdb **lmdb, const char *folder, const struct lmdb_table *list, int count,
	struct err *err)
{
	int code = lmdb_new(lmdb, folder, list, count, err);
	struct lmdb *made = *lmdb;

	if (code)
		return code;
	*lmdb = NULL;
	code = folder_lock(made, err);
	if (!code)
		code = environment_open(made, err);
	if (!code)
		code = databases_open(made, err);
	if (code) {
		lmdb_close(made);
		return code;
	}
	*lmdb = made;
	return 0;
}

int lmdb_pin(const char *folder)
{
	char path[PATH_MAX];
	struct stat ours, there;
	int file;

	if (snprintf(path, sizeof(path), "%s/data.mdb", folder) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	while ((file = open(path, O_RDONLY | O_CLOEXEC)) >= 0) {
		const bool locked = flock(file, LOCK_SH) == 0;

		if (locked && fstat(file, &ours) == 0 && stat(path, &there) == 0 &&
			ours.st_ino == there.st_ino && ours.st_dev == there.st_dev)
			return file;
		close(file); /* it was replaced meanwhile */
		if (!locked)
			return -1;
	}
	return -1;
}

/* Until no reader of another process is opening the file. */
static int await_readers(int file)
{
	const struct timespec pause = {.tv_nsec = 20000000};

	for (int tries = 0; tries < 3000; tries++) {
		if (flock(file, LOCK_EX | LOCK_NB) == 0)
			return 0;
		if (errno != EWOULDBLOCK)
			return errno;
		nanosleep(&pause, NULL);
	}
	return EBUSY;
}

static int copy_to(struct lmdb *lmdb, const char *folder, struct err *err)
{
	struct lmdb_snapshot *snapshot = NULL;
	int code;

	file_remove_tree(folder);
	code = file_make_folder(folder, err);
	if (!code)
		code = lmdb_snapshot_open(&snapshot, lmdb->folder, lmdb, err);
	if (!code)
		code = lmdb_snapshot_copy(snapshot, folder, NULL, err);
	lmdb_snapshot_close(snapshot);
	return code;
}

/* LMDB's list of readers is of the old file. */
static int replace_file(struct lmdb *lmdb, const char *with)
{
	mdb_txn_abort(lmdb->reader);
	mdb_env_close(lmdb->env);
	lmdb->reader = NULL;
	lmdb->env = NULL;
	lmdb->lost = true;
	if (renameat(AT_FDCWD, with, lmdb->lock, "data.mdb") ||
		(unlinkat(lmdb->lock, "lock.mdb", 0) && errno != ENOENT))
		return errno;
	return names_sync(lmdb);
}

static int swap(struct lmdb *lmdb, const char *with, int file, struct err *err)
{
	int status = await_readers(file), code;

	if (status)
		return err_set(err, ERR_STATE,
			"%s: is being opened by another process, and cannot be written anew until "
			"that has ended",
			lmdb->folder);
	status = replace_file(lmdb, with);
	code = status ? failed(lmdb, status, "cannot be replaced", err)
		      : environment_open(lmdb, err);
	if (code)
		return code;
	lmdb->lost = false;
	return databases_open(lmdb, err);
}

int lmdb_compact(struct lmdb *lmdb, struct err *err)
{
	char folder[PATH_MAX], path[PATH_MAX];
	int file, code;

	if (strlen(lmdb->folder) > PATH_MAX - 32)
		return err_set(err, ERR_INPUT, "%s: the name is too long", lmdb->folder);
	snprintf(folder, sizeof(folder), "%.*s/compact", PATH_MAX - 32, lmdb->folder);
	snprintf(path, sizeof(path), "%.*s/data.mdb", PATH_MAX - 16, folder);
	code = copy_to(lmdb, folder, err);
	file = code ? -1 : lmdb_pin(lmdb->folder);
	if (!code && file < 0)
		code = failed(lmdb, errno, "cannot be replaced", err);
	if (!code)
		code = swap(lmdb, path, file, err);
	if (file >= 0)
		close(file);
	file_remove_tree(folder);
	return code;
}

void lmdb_close(struct lmdb *lmdb)
{
	if (!lmdb)
		return;
	/* To LMDB a child of fork is its parent, whose reader and lock it would give up. */
	if (lmdb->owner == getpid()) {
		if (lmdb->held)
			mdb_txn_abort(lmdb->held);
		if (lmdb->reader)
			mdb_txn_abort(lmdb->reader);
		if (lmdb->env)
			mdb_env_close(lmdb->env);
	}
	if (lmdb->lock >= 0)
		close(lmdb->lock);
	mem_free(lmdb->folder);
	mem_free(lmdb);
}
