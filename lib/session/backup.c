/*
 * Keeps the files consistent. A start takes the newest checkpoint, truncates logs to its lengths,
 * and replays the samples that the journal has beyond it. So the journal must be from the
 * checkpoint's moment or later, and must still have what that one needs: it drops samples only
 * when another checkpoint follows. We therefore open the checkpoints first, take the journal's
 * snapshot, and start over if there is a newer checkpoint by then. Logs and names only grow, so
 * they are copied last.
 */
#include "session/backup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <retain.h>
#include "base/checksum.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/text.h"
#include "store/journal.h"
#include "store/lmdb.h"

enum {
	VERSION = 1,
	BLOCK = 1 << 18,
	CHECKPOINTS = 8, /* that are kept at a time, and more */
	TRIES = 1000,    /* to find a moment between two checkpoints */
	DEPTH = 4,       /* of folders in a run's folder */
	LIST_MOST = 64 << 20,
};

struct checkpoint_file {
	char name[64];
	int file;
};

struct backup {
	const char *from, *to;
	char part[PATH_MAX]; /* what is made, until it is whole */
	int lock;            /* on that folder */
	struct stat place;
	struct text words;
	struct jwriter json; /* backup.json, as far as it got */
	struct checkpoint_file checkpoints[CHECKPOINTS];
	int count;
	struct lmdb_snapshot *snapshot;
	const struct backup_watch *watch;
	uint64_t done, total;
	char *block;
};

static int system_error(const char *path, struct err *err)
{
	return err_set(
		err, errno == ENOMEM ? ERR_MEMORY : ERR_FILE, "%s: %s", path, strerror(errno));
}

static int join(char out[PATH_MAX], const char *folder, const char *name, struct err *err)
{
	return snprintf(out, PATH_MAX, "%s%s%s", folder, *folder && *name ? "/" : "", name) <
			       PATH_MAX
		       ? 0
		       : err_set(err, ERR_INPUT, "%s/%s: the name is too long", folder, name);
}

static void tell(const struct backup *b)
{
	if (b->watch && b->watch->tell)
		b->watch->tell(b->watch->context, b->done, b->total);
}

static void list_file(struct backup *b, const char *name, uint64_t bytes, uint32_t checksum)
{
	jwriter_table(&b->json, NULL);
	jwriter_text(&b->json, "name", name);
	jwriter_whole(&b->json, "bytes", (int64_t)bytes);
	jwriter_whole(&b->json, "crc32", checksum);
	jwriter_end(&b->json);
}

/* Copies what is in a file to PART/NAME, folders above it included. */
static int copy_bytes(struct backup *b, int file, const char *name, uint64_t *bytes,
	uint32_t *checksum, struct err *err)
{
	char path[PATH_MAX], *above = NULL;
	struct file_writer *writer = NULL;
	ssize_t got = 0;
	int code = join(path, b->part, name, err);

	*bytes = *checksum = 0;
	if (!code && !(above = path_folder(path)))
		code = err_memory(err, "a path", strlen(path));
	if (!code)
		code = file_make_folder(above, err);
	if (!code)
		code = file_writer_open(&writer, path, err);
	while (!code && (got = read(file, b->block, BLOCK)) > 0) {
		*bytes += (uint64_t)got;
		*checksum = checksum_add(*checksum, b->block, (size_t)got);
		code = file_writer_write(writer, b->block, (size_t)got, err);
		b->done += (uint64_t)got;
		tell(b);
	}
	if (!code && got < 0)
		code = system_error(name, err);
	if (code)
		file_writer_abort(writer);
	else
		code = file_writer_commit(writer, err);
	mem_free(above);
	return code;
}

static int copy_open(struct backup *b, int file, const char *name, struct err *err)
{
	uint64_t bytes;
	uint32_t checksum;
	const int code = copy_bytes(b, file, name, &bytes, &checksum, err);

	if (!code)
		list_file(b, name, bytes, checksum);
	return code;
}

/* A file that is gone by now is not copied. */
static int copy_file(struct backup *b, const char *name, struct err *err)
{
	char path[PATH_MAX];
	int file, code = join(path, b->from, name, err);

	if (code)
		return code;
	if (!text_is_utf8(name))
		return err_set(
			err, ERR_INPUT, "%s: its name is not UTF-8, so it cannot be listed", path);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return errno == ENOENT ? 0 : system_error(path, err);
	code = copy_open(b, file, name, err);
	close(file);
	return code;
}

static int64_t number_of(const char *name)
{
	char *end;
	const long long number = strtoll(name, &end, 10);

	return end != name && (!strcmp(end, ".state") || !strcmp(end, ".stop.state")) ? number : -1;
}

/* Opens the checkpoints, unless file is NULL; returns the newest's number, -1: there is none. */
static int64_t look_at_checkpoints(struct backup *b, bool hold)
{
	char path[PATH_MAX + 300];
	int64_t newest = -1;
	struct dirent *entry;
	DIR *listing;

	snprintf(path, sizeof(path), "%s/checkpoint", b->from);
	listing = opendir(path);
	while (listing && (entry = readdir(listing))) {
		const int64_t number = number_of(entry->d_name);
		struct checkpoint_file *at = &b->checkpoints[b->count];

		if (number > newest)
			newest = number;
		if (!hold || number < 0 || b->count == CHECKPOINTS)
			continue;
		snprintf(path, sizeof(path), "%s/checkpoint/%s", b->from, entry->d_name);
		snprintf(at->name, sizeof(at->name), "checkpoint/%.50s", entry->d_name);
		at->file = open(path, O_RDONLY | O_CLOEXEC);
		b->count += at->file >= 0;
	}
	if (listing)
		closedir(listing);
	return newest;
}

static void let_go(struct backup *b)
{
	while (b->count)
		close(b->checkpoints[--b->count].file);
	lmdb_snapshot_close(b->snapshot);
	b->snapshot = NULL;
}

/* Holds checkpoints and a snapshot of the journal that fit. */
static int hold_moment(struct backup *b, struct journal *journal, struct err *err)
{
	char path[PATH_MAX], data[PATH_MAX];
	int64_t newest;
	int code = join(path, b->from, "journal", err);

	if (!code)
		code = join(data, path, "data.mdb", err);
	for (int i = 0; i < TRIES && !code; i++) {
		let_go(b);
		newest = look_at_checkpoints(b, true);
		if (path_exists(data))
			code = lmdb_snapshot_open(
				&b->snapshot, path, journal ? journal_tables(journal) : NULL, err);
		if (code || look_at_checkpoints(b, false) == newest)
			return code;
	}
	return code ? code
		    : err_set(err, ERR_STATE, "%s: makes checkpoints too often to be copied",
			      b->from);
}

static void tell_journal(void *context, uint64_t done, uint64_t total)
{
	struct backup *b = context;

	b->done = done;
	b->total = total;
	tell(b);
}

/* The copy is read once more, for its checksum. */
static int copy_journal(struct backup *b, struct err *err)
{
	char path[PATH_MAX];
	uint64_t bytes = 0;
	uint32_t checksum = 0;
	ssize_t got;
	int file, code = b->snapshot ? join(path, b->part, "journal", err) : 0;

	if (!b->snapshot || code)
		return code;
	code = file_make_folder(path, err);
	if (!code)
		code = lmdb_snapshot_copy(
			b->snapshot, path, &(struct lmdb_progress){tell_journal, b}, err);
	if (!code)
		code = join(path, b->part, "journal/data.mdb", err);
	if (code)
		return code;
	file = open(path, O_RDONLY | O_CLOEXEC);
	while (file >= 0 && (got = read(file, b->block, BLOCK)) > 0) {
		bytes += (uint64_t)got;
		checksum = checksum_add(checksum, b->block, (size_t)got);
	}
	if (file < 0 || got < 0)
		code = system_error(path, err);
	if (file >= 0)
		close(file);
	if (!code)
		list_file(b, "journal/data.mdb", bytes, checksum);
	return code;
}

static int copy_checkpoints(struct backup *b, struct err *err)
{
	int code = 0;

	for (int i = 0; i < b->count && !code; i++)
		code = copy_open(b, b->checkpoints[i].file, b->checkpoints[i].name, err);
	return code;
}

/* Whether something of a run's folder is left out: what belongs to processes, and other backups. */
static bool left_out(const struct backup *b, const char *path, const char *name, int depth,
	const struct stat *facts)
{
	static const char *const own[] = {"lock", "journal", "checkpoint", "config.ini",
		"backup.json", "amend.wish", "amend.said"};

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		if (!depth && !strcmp(name, own[i]))
			return true;
	if (S_ISDIR(facts->st_mode))
		return depth == DEPTH || path_ends(name, ".part") ||
		       path_has(path, "backup.json") ||
		       (facts->st_dev == b->place.st_dev && facts->st_ino == b->place.st_ino);
	return !S_ISREG(facts->st_mode) || strstr(name, ".tmp-") != NULL;
}

static int copy_folder(struct backup *b, const char *inner, int depth, struct err *err)
{
	char folder[PATH_MAX], path[PATH_MAX], name[PATH_MAX];
	struct dirent *entry;
	struct stat facts;
	int code = join(folder, b->from, inner, err);
	DIR *listing = code ? NULL : opendir(folder);

	if (!code && !listing)
		return errno == ENOENT && depth ? 0 : system_error(folder, err);
	while (!code && (entry = readdir(listing))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		code = join(path, folder, entry->d_name, err);
		if (!code)
			code = join(name, inner, entry->d_name, err);
		if (code || lstat(path, &facts) || left_out(b, path, entry->d_name, depth, &facts))
			continue;
		code = S_ISDIR(facts.st_mode) ? copy_folder(b, name, depth + 1, err)
					      : copy_file(b, name, err);
	}
	if (listing)
		closedir(listing);
	return code;
}

/* Makes PART anew. What a killed process left there goes; two processes do not share it. */
static int part_open(struct backup *b, struct err *err)
{
	int code = 0;

	b->lock = -1;
	if (snprintf(b->part, sizeof(b->part), "%s.part", b->to) >= (int)sizeof(b->part))
		return err_set(err, ERR_INPUT, "%s: the name is too long", b->to);
	b->block = mem_new(BLOCK, 1);
	if (!b->block)
		return err_memory(err, "a copy", BLOCK);
	b->lock = open(b->part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->lock >= 0 && flock(b->lock, LOCK_EX | LOCK_NB))
		return err_set(err, ERR_STATE, "%s: is being made by another process", b->part);
	if (b->lock >= 0) {
		close(b->lock);
		file_remove_tree(b->part);
	}
	code = file_make_folder(b->part, err);
	if (code)
		return code;
	b->lock = open(b->part, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (b->lock < 0 || flock(b->lock, LOCK_EX | LOCK_NB) || fstat(b->lock, &b->place))
		return system_error(b->part, err);
	return 0;
}

/* Gives PART its name, or removes it; in any case all is given back. */
static int part_close(struct backup *b, int code, struct err *err)
{
	char *above = path_folder(b->to);
	const int folder = above ? open(above, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	if (!code && (fsync(b->lock) && errno != EINVAL))
		code = system_error(b->part, err);
	if (!code && rename(b->part, b->to))
		code = errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR
			       ? err_set(err, ERR_INPUT, "%s: is there already", b->to)
			       : system_error(b->to, err);
	if (!code && (folder < 0 || (fsync(folder) && errno != EINVAL)))
		code = system_error(b->to, err);
	if (code && b->lock >= 0)
		file_remove_tree(b->part);
	if (folder >= 0)
		close(folder);
	if (b->lock >= 0)
		close(b->lock);
	let_go(b);
	text_release(&b->words);
	mem_free(b->block);
	mem_free(above);
	return code;
}

static void begin_list(struct backup *b)
{
	char when[32] = "";
	const time_t now = time(NULL);
	struct tm day;

	if (gmtime_r(&now, &day))
		strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", &day);
	b->json.out = &b->words;
	jwriter_table(&b->json, NULL);
	jwriter_lines(&b->json);
	jwriter_whole(&b->json, "version", VERSION);
	jwriter_text(&b->json, "retain", RETAIN_VERSION);
	jwriter_text(&b->json, "made", when);
	jwriter_list(&b->json, "files");
	jwriter_lines(&b->json);
}

static int end_list(struct backup *b, struct err *err)
{
	char path[PATH_MAX];
	const int code = join(path, b->part, "backup.json", err);

	jwriter_end(&b->json);
	jwriter_end(&b->json);
	text_add(&b->words, "\n");
	if (code)
		return code;
	return b->words.failed ? err_memory(err, "a list of files", b->words.size)
			       : file_write(path, b->words.data, b->words.size, err);
}

/* Refuses what is no folder of a run, and a place that is taken. */
static int check_places(const char *folder, const char *to, struct err *err)
{
	if (!path_has(folder, "config.ini"))
		return err_set(err, ERR_INPUT, "%s: holds no run (there is no config.ini)%s",
			folder, path_ends(folder, ".part") ? "; it is a half-made copy" : "");
	if (path_exists(to))
		return err_set(err, ERR_INPUT, "%s: is there already", to);
	return 0;
}

int backup_make(const char *folder, struct journal *journal, const char *to,
	const struct backup_watch *watch, struct err *err)
{
	struct backup b = {.from = folder, .to = to, .lock = -1, .watch = watch};
	int code = check_places(folder, to, err);

	if (code)
		return code;
	code = journal ? journal_settle(journal, err) : 0;
	if (!code)
		code = part_open(&b, err);
	if (!code)
		code = hold_moment(&b, journal, err);
	begin_list(&b);
	if (!code)
		code = copy_journal(&b, err);
	if (!code)
		code = copy_checkpoints(&b, err);
	if (!code)
		code = copy_folder(&b, "", 0, err);
	if (!code)
		code = copy_file(&b, "config.ini", err);
	if (!code)
		code = end_list(&b, err);
	return part_close(&b, code, err);
}

/* A name that stays within the folder. */
static bool sound(const char *name)
{
	bool ok = name;
	size_t size;

	for (const char *at = name; ok; at += size + 1) {
		size = strcspn(at, "/");
		ok = size && !(size == 1 && at[0] == '.') &&
		     !(size == 2 && at[0] == '.' && at[1] == '.');
		if (!at[size])
			break;
	}
	return ok;
}

/* A row of the list. */
struct listed {
	const char *name;
	int64_t bytes, crc;
};

static int read_row(
	const struct jvalue *row, const char *copy, struct listed *listed, struct err *err)
{
	listed->name = jvalue_text(jvalue_find(row, "name"));
	if (sound(listed->name) && jvalue_whole(jvalue_find(row, "bytes"), &listed->bytes) &&
		jvalue_whole(jvalue_find(row, "crc32"), &listed->crc))
		return 0;
	return err_set(err, ERR_FORMAT, "%s/backup.json: a file of its list is damaged", copy);
}

static int restore_file(struct backup *b, const struct jvalue *row, struct err *err)
{
	char path[PATH_MAX];
	struct listed listed;
	uint64_t got;
	uint32_t checksum;
	int file, code = read_row(row, b->from, &listed, err);

	if (!code)
		code = join(path, b->from, listed.name, err);
	if (code)
		return code;
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return system_error(path, err);
	code = copy_bytes(b, file, listed.name, &got, &checksum, err);
	close(file);
	if (!code && ((int64_t)got != listed.bytes || (int64_t)checksum != listed.crc))
		code = err_set(err, ERR_FORMAT,
			"%s: is not what was backed up: it has %" PRIu64 " bytes with checksum "
			"%08" PRIx32 ", not %" PRId64 " with %08" PRIx32,
			path, got, checksum, listed.bytes, (uint32_t)listed.crc);
	return code;
}

static int read_list(struct jvalue **list, const char *copy, struct err *err)
{
	char path[PATH_MAX], *data = NULL;
	int64_t version = 0;
	size_t size;
	int code = join(path, copy, "backup.json", err);

	*list = NULL;
	if (!code && !path_exists(path))
		return err_set(err, ERR_INPUT,
			"%s: is not a complete backup: it has no backup.json", copy);
	if (!code)
		code = file_read(path, LIST_MOST, &data, &size, err);
	if (!code)
		code = jvalue_read(list, data, size, path, err);
	mem_free(data);
	if (!code && (!jvalue_whole(jvalue_find(*list, "version"), &version) || version < 1 ||
			     jvalue_kind(jvalue_find(*list, "files")) != JVALUE_LIST))
		code = err_set(err, ERR_FORMAT, "%s: is not a list of a backup", path);
	if (!code && version > VERSION)
		code = err_set(err, ERR_FORMAT,
			"%s: is of version %" PRId64 ", not %d: restore it "
			"with a later retain",
			path, version, VERSION);
	return code;
}

int backup_restore(
	const char *copy, const char *folder, const struct backup_watch *watch, struct err *err)
{
	struct backup b = {.from = copy, .to = folder, .lock = -1, .watch = watch};
	const struct jvalue *files;
	struct jvalue *list = NULL;
	struct listed listed;
	int code = read_list(&list, copy, err);

	files = code ? NULL : jvalue_find(list, "files");
	for (size_t i = 0; !code && i < jvalue_count(files); i++) {
		code = read_row(jvalue_at(files, i), copy, &listed, err);
		b.total += !code && listed.bytes > 0 ? (uint64_t)listed.bytes : 0;
	}
	if (code) {
		jvalue_free(list);
		return code;
	}
	code = part_open(&b, err);
	for (size_t i = 0; i < jvalue_count(files) && !code; i++)
		code = restore_file(&b, jvalue_at(files, i), err);
	jvalue_free(list);
	return part_close(&b, code, err);
}
