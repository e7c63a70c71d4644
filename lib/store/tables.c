/*
 * Tables on LMDB, one database each. LMDB writes every changed page to a free
 * place, syncs, then writes and syncs the page that points to the new tree; so
 * there is always a whole tree. What it leaves to us:
 *
 * - The map has a fixed size. When it is full the transaction is given up, the
 *   map doubled and the transaction made again.
 * - It reads through the map, where a file that ends too early is a SIGBUS. We
 *   keep the file (sparse) as long as the map, before the map gets that long;
 *   so a file shorter than the pages it says it has was cut off, and is refused.
 * - Its lock file may keep readers of processes that were killed, whose pages
 *   are never used again. We lock the folder instead (MDB_NOLOCK), and have no
 *   reader open while we write.
 * - It does not sync the folder that the file is made in.
 *
 * Invariants: `writer` is open only in a body; `reader` only between begin and
 * end, else it is reset; `records` is what the file has.
 */
#include "store/tables.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

struct tables {
	char *folder;
	int lock; /* the folder, open */
	int count;
	struct table list[TABLES_MOST];
	MDB_env *env;
	MDB_dbi databases[TABLES_MOST];
	int64_t records[TABLES_MOST];
	MDB_txn *reader, *writer;
};

/* LMDB's codes are negative, the system's positive. */
static int failed(const struct tables *t, int rc, const char *doing, struct err *err)
{
	static const struct {
		int rc, code;
		const char *why;
	} rows[] = {
		{ENOMEM, ERR_MEMORY, NULL},
		/* What LMDB makes of a write that was cut short. */
		{EIO, ERR_FILE, "a write failed or fell short: the disk may be full"},
		{MDB_INVALID, ERR_FORMAT, "data.mdb is no journal, or was cut off"},
		{MDB_VERSION_MISMATCH, ERR_FORMAT, "data.mdb is of another version of LMDB"},
		{MDB_INCOMPATIBLE, ERR_FORMAT, "data.mdb is no journal"},
		{MDB_CORRUPTED, ERR_FORMAT, "data.mdb is damaged"},
		{MDB_PAGE_NOTFOUND, ERR_FORMAT, "data.mdb is damaged"},
		{MDB_PANIC, ERR_FILE, "writing failed before; open it again"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].rc == rc)
			return err_set(err, rows[i].code, "%s: %s: %s", t->folder, doing,
				rows[i].why ? rows[i].why : mdb_strerror(rc));
	return err_set(err, ERR_FILE, "%s: %s: %s", t->folder, doing, mdb_strerror(rc));
}

static MDB_val key_of(struct table_key key)
{
	return (MDB_val){key.size, (void *)key.data};
}

static int file_facts(const struct tables *t, mdb_filehandle_t *file, struct stat *facts)
{
	const int rc = mdb_env_get_fd(t->env, file);

	if (rc)
		return rc;
	return fstat(*file, facts) != 0 ? errno : 0;
}

static int file_reach(const struct tables *t, size_t size)
{
	mdb_filehandle_t file;
	struct stat facts;
	int rc = file_facts(t, &file, &facts);

	if (!rc && (uintmax_t)facts.st_size < size && ftruncate(file, (off_t)size) != 0)
		rc = errno;
	return rc;
}

/* No transaction is open. */
static int map_grow(struct tables *t)
{
	MDB_envinfo info;
	int rc = mdb_env_info(t->env, &info);

	if (!rc && info.me_mapsize > SIZE_MAX / 4)
		rc = ENOMEM;
	if (!rc)
		rc = file_reach(t, info.me_mapsize * 2);
	if (!rc)
		rc = mdb_env_set_mapsize(t->env, info.me_mapsize * 2);
	return rc;
}

static int transact(struct tables *t, tables_body *body, const void *job)
{
	int rc;

	do {
		rc = mdb_txn_begin(t->env, NULL, 0, &t->writer);
		if (rc)
			return rc;
		rc = body(t, job);
		if (rc)
			mdb_txn_abort(t->writer);
		else
			rc = mdb_txn_commit(t->writer);
	} while (rc == MDB_MAP_FULL && !(rc = map_grow(t)));
	return rc;
}

static int count_records(struct tables *t)
{
	MDB_stat stat;
	int rc = mdb_txn_renew(t->reader);

	if (rc)
		return rc;
	for (int i = 0; i < t->count && !rc; i++) {
		rc = mdb_stat(t->reader, t->databases[i], &stat);
		if (!rc)
			t->records[i] = (int64_t)stat.ms_entries;
	}
	mdb_txn_reset(t->reader);
	return rc;
}

int tables_write(struct tables *tables, tables_body *body, const void *job, const char *doing,
	struct err *err)
{
	int rc = transact(tables, body, job);

	if (!rc)
		rc = count_records(tables);
	return rc ? failed(tables, rc, doing, err) : 0;
}

int tables_put(struct tables *tables, int table, struct table_key key, size_t size, void **record)
{
	const unsigned flags = MDB_RESERVE | (tables->list[table].ids ? MDB_APPEND : 0);
	MDB_val name = key_of(key), value = {size, NULL};
	const int rc = mdb_put(tables->writer, tables->databases[table], &name, &value, flags);

	*record = value.mv_data;
	return rc;
}

int tables_remove(struct tables *tables, int table, struct table_key key)
{
	MDB_val name = key_of(key);
	const int rc = mdb_del(tables->writer, tables->databases[table], &name, NULL);

	return rc == MDB_NOTFOUND ? 0 : rc;
}

int tables_peek(
	struct tables *tables, int table, struct table_key key, const void **record, size_t *size)
{
	MDB_val name = key_of(key), value;
	const int rc = mdb_get(tables->writer, tables->databases[table], &name, &value);

	*record = rc ? NULL : value.mv_data;
	*size = rc ? 0 : value.mv_size;
	return rc == MDB_NOTFOUND ? 0 : rc;
}

int tables_begin(struct tables *tables, struct err *err)
{
	const int rc = mdb_txn_renew(tables->reader);

	return rc ? failed(tables, rc, "cannot read", err) : 0;
}

int tables_find(struct tables *tables, int table, struct table_key key, const void **record,
	size_t *size, struct err *err)
{
	MDB_val name = key_of(key), value;
	const int rc = mdb_get(tables->reader, tables->databases[table], &name, &value);

	*record = rc ? NULL : value.mv_data;
	*size = rc ? 0 : value.mv_size;
	return rc && rc != MDB_NOTFOUND ? failed(tables, rc, "cannot read", err) : 0;
}

void tables_end(struct tables *tables)
{
	mdb_txn_reset(tables->reader);
}

int64_t tables_count(const struct tables *tables, int table)
{
	return tables->records[table];
}

static int folder_lock(struct tables *t, struct err *err)
{
	const int code = file_make_folder(t->folder, err);

	if (code)
		return code;
	t->lock = open(t->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->lock < 0)
		return failed(t, errno, "cannot open", err);
	if (flock(t->lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return failed(t, errno, "cannot lock", err);
	return err_set(err, ERR_STATE, "%s: the journal is in use", t->folder);
}

/*
 * The file's name, and the folder's, must last as long as what is in it. Some
 * file systems cannot sync folders and say EINVAL; they have done what they can.
 */
static int names_sync(const struct tables *t)
{
	const int above = openat(t->lock, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fsync(t->lock) != 0 ? errno : 0;

	if (above >= 0) {
		if (!rc && fsync(above) != 0)
			rc = errno;
		close(above);
	}
	return rc == EINVAL ? 0 : rc;
}

static int length_check(const struct tables *t, struct err *err)
{
	mdb_filehandle_t file;
	struct stat facts;
	MDB_envinfo info;
	MDB_stat stat;
	unsigned long long size;
	int rc = mdb_env_info(t->env, &info);

	if (!rc)
		rc = mdb_env_stat(t->env, &stat);
	if (!rc)
		rc = file_facts(t, &file, &facts);
	if (rc)
		return failed(t, rc, "cannot open", err);
	size = ((unsigned long long)info.me_last_pgno + 1) * stat.ms_psize;
	if ((unsigned long long)facts.st_size < size)
		return err_set(err, ERR_FORMAT,
			"%s: data.mdb was cut off: it has %llu bytes where it had at least %llu",
			t->folder, (unsigned long long)facts.st_size, size);
	rc = file_reach(t, info.me_mapsize);
	return rc ? failed(t, rc, "cannot make data.mdb as long as its map", err) : 0;
}

static int environment_open(struct tables *t, struct err *err)
{
	int rc = mdb_env_create(&t->env);

	if (!rc)
		rc = mdb_env_set_maxdbs(t->env, TABLES_MOST);
	if (!rc)
		rc = mdb_env_open(t->env, t->folder, MDB_NOLOCK, 0666);
	return rc ? failed(t, rc, "cannot open", err) : length_check(t, err);
}

static int find_databases(struct tables *t, const void *job)
{
	const unsigned *make = job;
	int rc = 0;

	for (int i = 0; i < t->count && !rc; i++) {
		const unsigned flags = *make | (t->list[i].ids ? MDB_INTEGERKEY : 0);

		rc = mdb_dbi_open(t->writer, t->list[i].name, flags, &t->databases[i]);
	}
	return rc == MDB_NOTFOUND ? MDB_INCOMPATIBLE : rc;
}

/* A new environment gets the tables; one that holds something must have them. */
static int databases_open(struct tables *t, struct err *err)
{
	unsigned make = 0;
	MDB_stat stat;
	int rc = mdb_env_stat(t->env, &stat);

	if (!rc && !stat.ms_entries)
		make = MDB_CREATE;
	if (!rc)
		rc = transact(t, find_databases, &make);
	if (!rc && make)
		rc = names_sync(t);
	if (!rc)
		rc = mdb_txn_begin(t->env, NULL, MDB_RDONLY, &t->reader);
	if (!rc) {
		mdb_txn_reset(t->reader);
		rc = count_records(t);
	}
	return rc ? failed(t, rc, "cannot open", err) : 0;
}

int tables_open(struct tables **tables, const char *folder, const struct table *list, int count,
	struct err *err)
{
	_Static_assert(sizeof(int64_t) == sizeof(size_t), "MDB_INTEGERKEY wants a size_t");
	struct tables *made = mem_new(1, sizeof(*made));
	int code;

	*tables = NULL;
	if (!made)
		return err_memory(err, "a journal", sizeof(*made));
	made->lock = -1;
	made->count = count;
	memcpy(made->list, list, (size_t)count * sizeof(*list));
	made->folder = mem_text(folder);
	code = made->folder ? 0 : err_memory(err, "a journal", strlen(folder) + 1);
	if (!code)
		code = folder_lock(made, err);
	if (!code)
		code = environment_open(made, err);
	if (!code)
		code = databases_open(made, err);
	if (code) {
		tables_close(made);
		return code;
	}
	*tables = made;
	return 0;
}

void tables_close(struct tables *tables)
{
	if (!tables)
		return;
	if (tables->reader)
		mdb_txn_abort(tables->reader);
	if (tables->env)
		mdb_env_close(tables->env);
	if (tables->lock >= 0)
		close(tables->lock);
	mem_free(tables->folder);
	mem_free(tables);
}
