/*
 * The journal on LMDB. One environment with three databases: "about" has one
 * record, the header; "samples" has a record per id: the input, the label, how
 * many samples of the same call follow, a checksum; "waiting" has a record per
 * key: the input, a checksum.
 *
 * LMDB writes every changed page to a free place, syncs, then writes and syncs
 * the page that points to the new tree; so there is always a whole tree. What
 * it leaves to us:
 *
 * - The map has a fixed size. When it is full the transaction is given up, the
 *   map doubled and the transaction made again.
 * - It reads through the map, where a file that ends too early is a SIGBUS. We
 *   keep the file (sparse) as long as the map, before the map gets that long;
 *   so a file shorter than the pages it says it has was cut off, and is refused.
 * - Its lock file may keep readers of processes that were killed, whose pages
 *   are never used again. We lock the folder instead (MDB_NOLOCK), and never
 *   have a reader open while we write.
 * - It does not sync the folder that the file is made in.
 *
 * Invariants: `header` is what the file has; the reader is reset between calls.
 */
#include "data/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <lmdb.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/mem.h"

enum { VERSION = 1, TAKEN_LEAST = 4096 };

static const char magic[8] = "retain-j";

struct header {
	char magic[8];
	uint32_t version, unused;
	uint64_t floats;
	int64_t added, trimmed;
};

struct trailer {
	int32_t label, follow;
	uint32_t checksum;
};

struct journal {
	char *folder;
	int lock;     /* the folder, open */
	size_t input; /* bytes */
	struct header header;
	MDB_env *env;
	MDB_txn *reader;
	MDB_dbi about, samples, waiting;
	int64_t kept, waits;
	/* The keys that were taken, one after the other, each with its NUL. */
	char *taken;
	size_t taken_size, taken_room;
};

/* LMDB's codes are negative, the system's positive. */
static int failed(const struct journal *j, int rc, const char *doing, struct err *err)
{
	static const struct {
		int rc, code;
		const char *why;
	} rows[] = {
		{ENOMEM, ERR_MEMORY, NULL},
		{MDB_INVALID, ERR_FORMAT, "data.mdb is no journal, or was cut off"},
		{MDB_VERSION_MISMATCH, ERR_FORMAT, "data.mdb is of another version of LMDB"},
		{MDB_INCOMPATIBLE, ERR_FORMAT, "data.mdb is no journal"},
		{MDB_CORRUPTED, ERR_FORMAT, "data.mdb is damaged"},
		{MDB_PAGE_NOTFOUND, ERR_FORMAT, "data.mdb is damaged"},
		{MDB_PANIC, ERR_FILE, "writing failed before; open it again"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].rc == rc)
			return err_set(err, rows[i].code, "%s: %s: %s", j->folder, doing,
				rows[i].why ? rows[i].why : mdb_strerror(rc));
	return err_set(err, ERR_FILE, "%s: %s: %s", j->folder, doing, mdb_strerror(rc));
}

static size_t sample_bytes(const struct journal *j)
{
	return j->input + sizeof(struct trailer);
}

static size_t waiting_bytes(const struct journal *j)
{
	return j->input + sizeof(uint32_t);
}

/* The id is part of it, so that a sample in another's place is found out too. */
static uint32_t sample_checksum(
	const struct journal *j, int64_t id, const void *input, const struct trailer *trailer)
{
	uint32_t sum = checksum_add(0, &id, sizeof(id));

	sum = checksum_add(sum, input, j->input);
	return checksum_add(sum, trailer, offsetof(struct trailer, checksum));
}

static MDB_val id_key(const int64_t *id)
{
	_Static_assert(sizeof(*id) == sizeof(size_t), "MDB_INTEGERKEY wants a size_t");
	return (MDB_val){sizeof(*id), (void *)id};
}

static MDB_val text_key(const char *text)
{
	return (MDB_val){strlen(text), (void *)text};
}

static int file_reach(const struct journal *j, size_t size)
{
	mdb_filehandle_t file;
	struct stat facts;
	int rc = mdb_env_get_fd(j->env, &file);

	if (!rc && fstat(file, &facts) != 0)
		rc = errno;
	if (!rc && (uintmax_t)facts.st_size < size && ftruncate(file, (off_t)size) != 0)
		rc = errno;
	return rc;
}

/* No transaction is open. */
static int map_grow(struct journal *j)
{
	MDB_envinfo info;
	int rc = mdb_env_info(j->env, &info);

	if (!rc && info.me_mapsize > SIZE_MAX / 4)
		rc = ENOMEM;
	if (!rc)
		rc = file_reach(j, info.me_mapsize * 2);
	if (!rc)
		rc = mdb_env_set_mapsize(j->env, info.me_mapsize * 2);
	return rc;
}

/* The body returns LMDB's codes and may be called again; it changes nothing but the database. */
typedef int write_fn(struct journal *j, MDB_txn *txn, const void *job);

static int journal_write(struct journal *j, write_fn *body, const void *job)
{
	MDB_txn *txn;
	int rc;

	do {
		rc = mdb_txn_begin(j->env, NULL, 0, &txn);
		if (rc)
			return rc;
		rc = body(j, txn, job);
		if (rc)
			mdb_txn_abort(txn);
		else
			rc = mdb_txn_commit(txn);
	} while (rc == MDB_MAP_FULL && !(rc = map_grow(j)));
	return rc;
}

static int header_put(struct journal *j, MDB_txn *txn, const struct header *header)
{
	MDB_val key = text_key("header"), value = {sizeof(*header), (void *)header};

	return mdb_put(txn, j->about, &key, &value, 0);
}

static int databases_open(struct journal *j, MDB_txn *txn, unsigned flags)
{
	int rc = mdb_dbi_open(txn, "about", flags, &j->about);

	if (!rc)
		rc = mdb_dbi_open(txn, "samples", flags | MDB_INTEGERKEY, &j->samples);
	if (!rc)
		rc = mdb_dbi_open(txn, "waiting", flags, &j->waiting);
	return rc;
}

static int journal_make(struct journal *j, MDB_txn *txn, const void *job)
{
	const int rc = databases_open(j, txn, MDB_CREATE);

	return rc ? rc : header_put(j, txn, job);
}

static int find_databases(struct journal *j, MDB_txn *txn, const void *job)
{
	const int rc = databases_open(j, txn, 0);

	return rc == MDB_NOTFOUND ? MDB_INCOMPATIBLE : rc;
}

static int counts_read(struct journal *j)
{
	MDB_stat samples, waiting;
	int rc = mdb_stat(j->reader, j->samples, &samples);

	if (!rc)
		rc = mdb_stat(j->reader, j->waiting, &waiting);
	if (!rc) {
		j->kept = (int64_t)samples.ms_entries;
		j->waits = (int64_t)waiting.ms_entries;
	}
	return rc;
}

static int header_check(struct journal *j, size_t floats, struct err *err)
{
	const struct header *h = &j->header;

	if (memcmp(h->magic, magic, sizeof(magic)) != 0)
		return failed(j, MDB_INCOMPATIBLE, "cannot open", err);
	if (h->version != VERSION)
		return err_set(err, ERR_FORMAT, "%s: is a journal of version %u, not %d", j->folder,
			h->version, VERSION);
	if (h->floats != floats)
		return err_set(err, ERR_INPUT,
			"%s: is a journal of samples of %llu numbers, not %zu", j->folder,
			(unsigned long long)h->floats, floats);
	if (h->added < 0 || j->kept > h->added || h->trimmed < 0 || h->trimmed > h->added)
		return failed(j, MDB_CORRUPTED, "cannot open", err);
	return 0;
}

static int header_read(struct journal *j, size_t floats, struct err *err)
{
	MDB_val key = text_key("header"), value;
	int rc = mdb_txn_renew(j->reader);

	if (!rc)
		rc = mdb_get(j->reader, j->about, &key, &value);
	if (rc == MDB_NOTFOUND || (!rc && value.mv_size != sizeof(j->header)))
		rc = MDB_INCOMPATIBLE;
	if (!rc) {
		memcpy(&j->header, value.mv_data, sizeof(j->header));
		rc = counts_read(j);
	}
	mdb_txn_reset(j->reader);
	return rc ? failed(j, rc, "cannot open", err) : header_check(j, floats, err);
}

static int length_check(const struct journal *j, struct err *err)
{
	mdb_filehandle_t file;
	struct stat facts;
	MDB_envinfo info;
	MDB_stat stat;
	unsigned long long size;
	int rc = mdb_env_info(j->env, &info);

	if (!rc)
		rc = mdb_env_stat(j->env, &stat);
	if (!rc)
		rc = mdb_env_get_fd(j->env, &file);
	if (!rc && fstat(file, &facts) != 0)
		rc = errno;
	if (rc)
		return failed(j, rc, "cannot open", err);
	size = ((unsigned long long)info.me_last_pgno + 1) * stat.ms_psize;
	if ((unsigned long long)facts.st_size < size)
		return err_set(err, ERR_FORMAT,
			"%s: data.mdb was cut off: it has %llu bytes where it had at least %llu",
			j->folder, (unsigned long long)facts.st_size, size);
	rc = file_reach(j, info.me_mapsize);
	return rc ? failed(j, rc, "cannot make data.mdb as long as its map", err) : 0;
}

/*
 * The file's name, and the folder's, must last as long as what is in it. Some
 * file systems cannot sync folders and say EINVAL; they have done what they can.
 */
static int names_sync(const struct journal *j)
{
	const int above = openat(j->lock, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc = fsync(j->lock) != 0 ? errno : 0;

	if (above >= 0) {
		if (!rc && fsync(above) != 0)
			rc = errno;
		close(above);
	}
	return rc == EINVAL ? 0 : rc;
}

/* A new environment becomes a journal; one that holds something must be one. */
static int content_open(struct journal *j, size_t floats, struct err *err)
{
	struct header fresh = {.version = VERSION, .floats = floats};
	MDB_stat stat;
	int rc = mdb_env_stat(j->env, &stat);

	memcpy(fresh.magic, magic, sizeof(magic));
	if (!rc)
		rc = journal_write(j, stat.ms_entries ? find_databases : journal_make, &fresh);
	if (!rc && !stat.ms_entries)
		rc = names_sync(j);
	if (!rc)
		rc = mdb_txn_begin(j->env, NULL, MDB_RDONLY, &j->reader);
	if (rc)
		return failed(j, rc, "cannot open", err);
	mdb_txn_reset(j->reader);
	return header_read(j, floats, err);
}

static int folder_lock(struct journal *j, struct err *err)
{
	const int code = file_make_folder(j->folder, err);

	if (code)
		return code;
	j->lock = open(j->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (j->lock < 0)
		return failed(j, errno, "cannot open", err);
	if (flock(j->lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return failed(j, errno, "cannot lock", err);
	return err_set(err, ERR_STATE, "%s: the journal is in use", j->folder);
}

static int environment_open(struct journal *j, struct err *err)
{
	int rc = mdb_env_create(&j->env);

	if (!rc)
		rc = mdb_env_set_maxdbs(j->env, 3);
	if (!rc)
		rc = mdb_env_open(j->env, j->folder, MDB_NOLOCK, 0666);
	return rc ? failed(j, rc, "cannot open", err) : length_check(j, err);
}

int journal_open(struct journal **journal, const char *folder, size_t floats, struct err *err)
{
	struct journal *made = mem_new(1, sizeof(*made));
	int code;

	*journal = NULL;
	if (!made)
		return err_memory(err, "a journal", sizeof(*made));
	made->lock = -1;
	made->input = floats * sizeof(float);
	made->folder = mem_text(folder);
	made->taken_room = TAKEN_LEAST;
	made->taken = mem_new(made->taken_room, 1);
	code = made->folder && made->taken ? 0 : err_memory(err, "a journal", TAKEN_LEAST);
	if (!code)
		code = folder_lock(made, err);
	if (!code)
		code = environment_open(made, err);
	if (!code)
		code = content_open(made, floats, err);
	if (code) {
		journal_close(made);
		return code;
	}
	*journal = made;
	return 0;
}

void journal_close(struct journal *journal)
{
	if (!journal)
		return;
	if (journal->reader)
		mdb_txn_abort(journal->reader);
	if (journal->env)
		mdb_env_close(journal->env);
	if (journal->lock >= 0)
		close(journal->lock);
	mem_free(journal->taken);
	mem_free(journal->folder);
	mem_free(journal);
}

int64_t journal_added(const struct journal *journal)
{
	return journal->header.added;
}

int64_t journal_kept(const struct journal *journal)
{
	return journal->kept;
}

int64_t journal_trimmed(const struct journal *journal)
{
	return journal->header.trimmed;
}

int64_t journal_waiting(const struct journal *journal)
{
	return journal->waits;
}

size_t journal_bytes(const struct journal *journal)
{
	mdb_filehandle_t file;
	struct stat facts;

	if (mdb_env_get_fd(journal->env, &file) || fstat(file, &facts) != 0)
		return 0;
	return (size_t)facts.st_blocks * 512;
}

/* After a transaction: what it changed in numbers. */
static int journal_done(struct journal *j, int rc, const char *doing, struct err *err)
{
	if (!rc)
		rc = mdb_txn_renew(j->reader);
	if (!rc) {
		rc = counts_read(j);
		mdb_txn_reset(j->reader);
	}
	return rc ? failed(j, rc, doing, err) : 0;
}

struct add_job {
	const float *inputs;
	const int32_t *labels;
	int n;
	struct header header;
};

static int sample_put(struct journal *j, MDB_txn *txn, const struct add_job *job, int i)
{
	const int64_t id = j->header.added + i;
	const char *input = (const char *)job->inputs + (size_t)i * j->input;
	struct trailer trailer = {.label = job->labels[i], .follow = job->n - 1 - i};
	MDB_val key = id_key(&id), value = {sample_bytes(j), NULL};
	const int rc = mdb_put(txn, j->samples, &key, &value, MDB_RESERVE | MDB_APPEND);

	if (rc)
		return rc;
	trailer.checksum = sample_checksum(j, id, input, &trailer);
	memcpy(value.mv_data, input, j->input);
	memcpy((char *)value.mv_data + j->input, &trailer, sizeof(trailer));
	return 0;
}

static int waiting_remove(struct journal *j, MDB_txn *txn, const char *name)
{
	MDB_val key = text_key(name);
	const int rc = mdb_del(txn, j->waiting, &key, NULL);

	return rc == MDB_NOTFOUND ? 0 : rc;
}

static int add_body(struct journal *j, MDB_txn *txn, const void *context)
{
	const struct add_job *job = context;
	int rc = 0;

	for (size_t at = 0; at < j->taken_size && !rc; at += strlen(j->taken + at) + 1)
		rc = waiting_remove(j, txn, j->taken + at);
	for (int i = 0; i < job->n && !rc; i++)
		rc = sample_put(j, txn, job, i);
	return rc ? rc : header_put(j, txn, &job->header);
}

int journal_add(
	struct journal *journal, const float *inputs, const int32_t *labels, int n, struct err *err)
{
	struct add_job job = {inputs, labels, n, journal->header};
	int rc;

	job.header.added += n;
	rc = journal_write(journal, add_body, &job);
	if (!rc) {
		journal->header = job.header;
		journal->taken_size = 0;
	}
	return journal_done(journal, rc, "cannot add samples", err);
}

/* The record of a sample, for as long as the reader is open. */
static int sample_find(
	struct journal *j, int64_t id, const char **input, struct trailer *trailer, struct err *err)
{
	MDB_val key = id_key(&id), value;
	const int rc = mdb_get(j->reader, j->samples, &key, &value);

	if (rc == MDB_NOTFOUND)
		return err_set(err, ERR_INPUT, "sample %lld %s", (long long)id,
			id >= 0 && id < j->header.added ? "has been forgotten"
							: "has not been added");
	if (rc)
		return failed(j, rc, "cannot read", err);
	*input = value.mv_data;
	if (value.mv_size == sample_bytes(j)) {
		memcpy(trailer, *input + j->input, sizeof(*trailer));
		if (sample_checksum(j, id, *input, trailer) == trailer->checksum)
			return 0;
	}
	return err_set(err, ERR_FORMAT, "%s: sample %lld is damaged", j->folder, (long long)id);
}

int journal_read(struct journal *journal, const int64_t *ids, int n, float *inputs, int32_t *labels,
	struct err *err)
{
	struct trailer trailer;
	const char *input = NULL;
	int code = mdb_txn_renew(journal->reader);

	if (code)
		return failed(journal, code, "cannot read", err);
	for (int i = 0; i < n && !code; i++) {
		code = sample_find(journal, ids[i], &input, &trailer, err);
		if (code)
			break;
		memcpy((char *)inputs + (size_t)i * journal->input, input, journal->input);
		labels[i] = trailer.label;
	}
	mdb_txn_reset(journal->reader);
	return code;
}

bool journal_has(struct journal *journal, int64_t id)
{
	MDB_val key = id_key(&id), value;
	bool has;

	if (mdb_txn_renew(journal->reader))
		return false;
	has = mdb_get(journal->reader, journal->samples, &key, &value) == 0;
	mdb_txn_reset(journal->reader);
	return has;
}

int journal_call(struct journal *journal, int64_t id, int *n, struct err *err)
{
	struct trailer trailer;
	const char *input;
	int code = mdb_txn_renew(journal->reader);

	if (code)
		return failed(journal, code, "cannot read", err);
	code = sample_find(journal, id, &input, &trailer, err);
	mdb_txn_reset(journal->reader);
	*n = code ? 0 : trailer.follow + 1;
	return code;
}

struct trim_job {
	const int64_t *ids;
	size_t n;
	struct header header;
};

static int trim_body(struct journal *j, MDB_txn *txn, const void *context)
{
	const struct trim_job *job = context;

	for (size_t i = 0; i < job->n; i++) {
		MDB_val key = id_key(job->ids + i);
		const int rc = mdb_del(txn, j->samples, &key, NULL);

		if (rc && rc != MDB_NOTFOUND)
			return rc;
	}
	return header_put(j, txn, &job->header);
}

int journal_trim(
	struct journal *journal, const int64_t *ids, size_t n, int64_t needed, struct err *err)
{
	struct trim_job job = {ids, n, journal->header};
	int rc;

	if (needed > job.header.trimmed)
		job.header.trimmed = needed;
	rc = journal_write(journal, trim_body, &job);
	if (!rc)
		journal->header = job.header;
	return journal_done(journal, rc, "cannot remove samples", err);
}

static bool key_taken(const struct journal *j, const char *key)
{
	for (size_t at = 0; at < j->taken_size; at += strlen(j->taken + at) + 1)
		if (strcmp(j->taken + at, key) == 0)
			return true;
	return false;
}

static int key_check(const struct journal *j, const char *key, struct err *err)
{
	const size_t size = strlen(key);

	if (size == 0 || size > JOURNAL_KEY)
		return err_set(err, ERR_INPUT, "a key of %zu bytes; it should have 1 to %d", size,
			JOURNAL_KEY);
	if (key_taken(j, key))
		return err_set(err, ERR_INPUT, "the input of %s has just been taken", key);
	return 0;
}

struct wait_job {
	const char *const *keys;
	const float *inputs;
	int n;
};

static int wait_body(struct journal *j, MDB_txn *txn, const void *context)
{
	const struct wait_job *job = context;

	for (int i = 0; i < job->n; i++) {
		const char *input = (const char *)job->inputs + (size_t)i * j->input;
		const uint32_t sum = checksum_add(0, input, j->input);
		MDB_val key = text_key(job->keys[i]), value = {waiting_bytes(j), NULL};
		const int rc = mdb_put(txn, j->waiting, &key, &value, MDB_RESERVE);

		if (rc)
			return rc;
		memcpy(value.mv_data, input, j->input);
		memcpy((char *)value.mv_data + j->input, &sum, sizeof(sum));
	}
	return 0;
}

int journal_wait(struct journal *journal, const char *const *keys, const float *inputs, int n,
	struct err *err)
{
	const struct wait_job job = {keys, inputs, n};

	for (int i = 0; i < n; i++) {
		const int code = key_check(journal, keys[i], err);

		if (code)
			return code;
	}
	return journal_done(
		journal, journal_write(journal, wait_body, &job), "cannot add inputs", err);
}

static int waiting_find(struct journal *j, const char *name, float *input, struct err *err)
{
	MDB_val key = text_key(name), value;
	const int rc = mdb_get(j->reader, j->waiting, &key, &value);
	uint32_t sum;

	if (rc == MDB_NOTFOUND)
		return err_set(err, ERR_INPUT, "no input waits under %s", name);
	if (rc)
		return failed(j, rc, "cannot read", err);
	if (value.mv_size == waiting_bytes(j)) {
		memcpy(input, value.mv_data, j->input);
		memcpy(&sum, (char *)value.mv_data + j->input, sizeof(sum));
		if (checksum_add(0, input, j->input) == sum)
			return 0;
	}
	return err_set(err, ERR_FORMAT, "%s: the input of %s is damaged", j->folder, name);
}

static int taken_reserve(struct journal *j, size_t more, struct err *err)
{
	const size_t room = 2 * j->taken_room;
	char *larger;

	/* A key is shorter than the least room, so doubling once is enough. */
	if (j->taken_size + more <= j->taken_room)
		return 0;
	larger = mem_resize(j->taken, room, 1);
	if (!larger)
		return err_memory(err, "a journal's keys", room);
	j->taken = larger;
	j->taken_room = room;
	return 0;
}

int journal_take(struct journal *journal, const char *key, float *input, struct err *err)
{
	int code = key_check(journal, key, err);

	if (!code)
		code = taken_reserve(journal, strlen(key) + 1, err);
	if (code)
		return code;
	code = mdb_txn_renew(journal->reader);
	if (code)
		return failed(journal, code, "cannot read", err);
	code = waiting_find(journal, key, input, err);
	mdb_txn_reset(journal->reader);
	if (!code) {
		memcpy(journal->taken + journal->taken_size, key, strlen(key) + 1);
		journal->taken_size += strlen(key) + 1;
	}
	return code;
}

static int drop_body(struct journal *j, MDB_txn *txn, const void *context)
{
	const struct wait_job *job = context;
	int rc = 0;

	for (int i = 0; i < job->n && !rc; i++)
		rc = waiting_remove(j, txn, job->keys[i]);
	return rc;
}

int journal_drop(struct journal *journal, const char *const *keys, int n, struct err *err)
{
	const struct wait_job job = {.keys = keys, .n = n};

	for (int i = 0; i < n; i++) {
		const int code = key_check(journal, keys[i], err);

		if (code)
			return code;
	}
	return journal_done(
		journal, journal_write(journal, drop_body, &job), "cannot drop inputs", err);
}
