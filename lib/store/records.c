/*
 * Files are written by pwrite, so that a full disk is an error, and read through maps, which other
 * processes share. A map is longer than its file, which grows below it; nobody looks beyond
 * `count` and `end` of the index's head, which the owner sets when everything is there.
 *
 * A reader that meets a record while its place is given away sees GONE: the mark is set before
 * the place is used again, and the reader looks at it after it has copied the bytes.
 */
#include "store/records.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/paths.h"
#include "store/places.h"

/* A place and what is said of it. */
#define MARK  ((uint64_t)1 << 60)
#define TASK  ((uint64_t)1 << 61)
#define LAST  ((uint64_t)1 << 62)
#define GONE  ((uint64_t)1 << 63)
#define PLACE (MARK - 1)

struct entry {
	uint64_t place;
	uint32_t size;
	int32_t label;
	uint32_t sum;   /* of the bytes */
	uint32_t check; /* of the entry, without GONE, and its id */
};

struct head {
	char magic[8];
	uint32_t version, entry;
	_Atomic int64_t count, end; /* records, bytes of the data */
	char unused[32];
};

enum { VERSION = 1, ENTRY = sizeof(struct entry), HEAD = sizeof(struct head) };
static_assert(ENTRY == 24 && HEAD == 64, "the files' layout");

static const char magic[] = "retain-r";

struct file {
	char *path;
	int file; /* descriptor */
	char *map;
	size_t mapped;
};

struct records {
	char *where;
	struct file index, data;
	_Atomic int lock; /* the folder, open; -1: none */
	pid_t owner;
	bool owned, durable;
	struct entry *entries; /* room for those that are added */
	size_t room;
};

/* Detects damage; several times as fast as a CRC, because reading is on the way of training. */
static uint32_t sum_of(const void *bytes, size_t size)
{
	static const uint64_t factor = 0x9e3779b97f4a7c15u;
	uint64_t lanes[4] = {size, ~(uint64_t)size, size * factor, factor}, words[4];
	const char *at = bytes;
	uint64_t sum = 0;

	for (; size >= sizeof(words); at += sizeof(words), size -= sizeof(words)) {
		memcpy(words, at, sizeof(words));
		for (int i = 0; i < 4; i++) {
			lanes[i] = (lanes[i] ^ words[i]) * factor;
			lanes[i] ^= lanes[i] >> 29;
		}
	}
	memset(words, 0, sizeof(words));
	if (size)
		memcpy(words, at, size);
	for (int i = 0; i < 4; i++) {
		sum = (sum ^ lanes[i]) * factor;
		sum = (sum ^ sum >> 31 ^ words[i]) * factor;
	}
	return (uint32_t)(sum >> 32);
}

static uint32_t check_of(int64_t id, const struct entry *entry)
{
	const uint64_t words[] = {(uint64_t)id, entry->place & ~GONE, entry->size,
		(uint64_t)(uint32_t)entry->label << 32 | entry->sum};

	return sum_of(words, sizeof(words));
}

static int failed(const char *path, struct err *err)
{
	return err_set(
		err, errno == ENOMEM ? ERR_MEMORY : ERR_FILE, "%s: %s", path, strerror(errno));
}

static struct head *head_of(const struct records *records)
{
	return (struct head *)records->index.map;
}

static struct entry *entry_at(const struct records *records, int64_t id)
{
	return (struct entry *)(records->index.map + HEAD + id * ENTRY);
}

static uint64_t place_of(const struct entry *entry)
{
	return __atomic_load_n(&entry->place, __ATOMIC_ACQUIRE);
}

const char *records_where(const struct records *records)
{
	return records->where;
}

bool records_owned(const struct records *records)
{
	return records->owned && records->owner == getpid();
}

int64_t records_count(const struct records *records)
{
	return atomic_load_explicit(&head_of(records)->count, memory_order_acquire);
}

int64_t records_end(const struct records *records)
{
	return atomic_load_explicit(&head_of(records)->end, memory_order_acquire);
}

int64_t records_bytes(const struct records *records)
{
	return HEAD + records_count(records) * ENTRY + records_end(records);
}

/* As much address space as can be had: the file grows below it. */
static int map_file(struct file *file, bool write, struct err *err)
{
	const int access = PROT_READ | (write ? PROT_WRITE : 0);
	size_t size = (size_t)1 << 40;

	for (; size >= (size_t)1 << 24; size /= 2) {
		file->map = mmap(NULL, size, access, MAP_SHARED | MAP_NORESERVE, file->file, 0);
		if (file->map != MAP_FAILED) {
			file->mapped = size;
			return 0;
		}
	}
	file->map = NULL;
	return failed(file->path, err);
}

static int open_file(struct records *records, struct file *file, const char *folder,
	const char *name, struct err *err)
{
	file->path = folder ? path_join(folder, name) : mem_text(name);
	if (!file->path)
		return err_memory(err, "a path", strlen(name));
	if (folder)
		file->file = open(file->path,
			(records->owned ? O_RDWR | O_CREAT : O_RDONLY) | O_CLOEXEC, 0666);
	else
		file->file = os_unnamed_file();
	return file->file < 0 ? failed(file->path, err) : 0;
}

static void close_file(struct file *file)
{
	if (file->map)
		munmap(file->map, file->mapped);
	if (file->file >= 0)
		close(file->file);
	mem_free(file->path);
}

static int check_head(const struct records *records, struct err *err)
{
	const struct head *head = head_of(records);

	if (memcmp(head->magic, magic, sizeof(head->magic)) || head->entry != ENTRY)
		return err_set(
			err, ERR_FORMAT, "%s: is not an index of records", records->index.path);
	if (head->version != VERSION)
		return err_set(err, ERR_FORMAT, "%s: is an index of version %u, not %d",
			records->index.path, head->version, VERSION);
	return 0;
}

static int write_all(
	const struct file *file, const void *bytes, size_t size, int64_t at, struct err *err)
{
	const char *from = bytes;

	while (size) {
		const ssize_t put = pwrite(file->file, from, size, at);

		if (put < 0 && errno != EINTR)
			return failed(file->path, err);
		if (put > 0) {
			from += put;
			size -= (size_t)put;
			at += put;
		}
	}
	return 0;
}

static int sync_file(const struct records *records, const struct file *file, struct err *err)
{
	return records->durable && fsync(file->file) ? failed(file->path, err) : 0;
}

static int begin_files(struct records *records, struct err *err)
{
	struct head head = {.version = VERSION, .entry = ENTRY};
	struct stat facts;
	int code = 0;

	if (fstat(records->index.file, &facts))
		return failed(records->index.path, err);
	memcpy(head.magic, magic, sizeof(head.magic));
	if (facts.st_size < HEAD && !records->owned)
		return err_set(
			err, ERR_FORMAT, "%s: is not an index of records", records->index.path);
	/* A process that was killed before there was a head kept nothing. */
	if (facts.st_size < HEAD)
		code = write_all(&records->index, &head, sizeof(head), 0, err);
	if (!code && facts.st_size < HEAD)
		code = sync_file(records, &records->index, err);
	if (!code)
		code = map_file(&records->index, records->owned, err);
	if (!code)
		code = map_file(&records->data, false, err);
	return code ? code : check_head(records, err);
}

static int take_lock(struct records *records, const char *folder, struct err *err)
{
	const int code = file_make_folder(folder, err);
	int lock;

	if (code)
		return code;
	lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock < 0)
		return failed(folder, err);
	records->lock = lock;
	if (flock(lock, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno != EWOULDBLOCK)
		return failed(folder, err);
	return err_set(err, ERR_STATE, "%s: the memory is in use by another process", folder);
}

static int open_records(struct records **records, const char *folder, bool own, struct err *err)
{
	struct records *made = mem_new(1, sizeof(*made));
	int code = 0;

	*records = NULL;
	if (!made)
		return err_memory(err, "records", sizeof(*made));
	made->lock = made->index.file = made->data.file = -1;
	made->owner = getpid();
	made->owned = own;
	made->durable = folder != NULL;
	made->where = mem_text(folder ? folder : "memory");
	if (!made->where)
		code = err_memory(err, "records", strlen(folder ? folder : ""));
	if (!code && own && folder)
		code = take_lock(made, folder, err);
	if (!code)
		code = open_file(made, &made->index, folder, "index", err);
	if (!code)
		code = open_file(made, &made->data, folder, "data", err);
	if (!code)
		code = begin_files(made, err);
	if (!code && own && folder && fsync(made->lock) && errno != EINVAL)
		code = failed(folder, err);
	if (code) {
		records_close(made);
		return code;
	}
	*records = made;
	return 0;
}

int records_open(struct records **records, const char *folder, struct err *err)
{
	return open_records(records, folder, true, err);
}

int records_read_only(struct records **records, const char *folder, struct err *err)
{
	return open_records(records, folder, false, err);
}

void records_close(struct records *records)
{
	if (!records)
		return;
	close_file(&records->index);
	close_file(&records->data);
	if (records->lock >= 0)
		close(records->lock);
	mem_free(records->entries);
	mem_free(records->where);
	mem_free(records);
}

static int64_t begin_of(uint64_t place)
{
	return (int64_t)(place & PLACE) * PLACES_UNIT;
}

/* How many entries from `sure` on are sound, as far as the last one of a call. */
static int64_t sound_entries(const struct records *records, int64_t sure, int64_t there)
{
	int64_t whole = sure;

	for (int64_t id = sure; id < there; id++) {
		const struct entry *entry = entry_at(records, id);

		if (entry->check != check_of(id, entry))
			break;
		if (entry->place & LAST)
			whole = id + 1;
	}
	return whole;
}

/* Calls before the last had returned; of the last one the bytes may be missing. */
static int64_t sound_bytes(const struct records *records, int64_t sure, int64_t count, int64_t size)
{
	for (int64_t id = count; id > sure; id--) {
		const struct entry *entry = entry_at(records, id - 1);
		const int64_t at = begin_of(entry->place);
		int64_t first = id - 1;

		if (id < count && entry->place & LAST)
			break;
		if (at + entry->size <= size &&
			sum_of(records->data.map + at, entry->size) == entry->sum)
			continue;
		while (first > sure && !(entry_at(records, first - 1)->place & LAST))
			first--;
		return first;
	}
	return count;
}

int records_found(
	struct records *records, int64_t sure, int64_t end, int64_t *count, struct err *err)
{
	struct stat index, data;
	int64_t there;

	if (fstat(records->index.file, &index) || fstat(records->data.file, &data))
		return failed(records->where, err);
	there = (index.st_size - HEAD) / ENTRY;
	if (there < sure)
		return err_set(err, ERR_FORMAT,
			"%s: was cut off: it has %lld entries where it had %lld",
			records->index.path, (long long)there, (long long)sure);
	*count = sound_bytes(records, sure, sound_entries(records, sure, there), data.st_size);
	for (int64_t id = sure; id < *count; id++) {
		const struct entry *entry = entry_at(records, id);
		const int64_t to = begin_of(entry->place) + entry->size;

		end = to > end ? to : end;
	}
	if (end > data.st_size)
		return err_set(err, ERR_FORMAT,
			"%s: was cut off: it has %lld bytes where it had at least %lld",
			records->data.path, (long long)data.st_size, (long long)end);
	if (ftruncate(records->index.file, HEAD + *count * ENTRY))
		return failed(records->index.path, err);
	atomic_store(&head_of(records)->end, end);
	atomic_store(&head_of(records)->count, *count);
	return sync_file(records, &records->index, err);
}

static int reserve_entries(struct records *records, size_t n, struct err *err)
{
	struct entry *more;

	if (n <= records->room)
		return 0;
	more = mem_resize(records->entries, n, sizeof(*more));
	if (!more)
		return err_memory(err, "entries of records", n * sizeof(*more));
	records->entries = more;
	records->room = n;
	return 0;
}

static int write_call(
	struct records *records, const struct record *list, int n, int64_t *end, struct err *err)
{
	const int64_t first = records_count(records);
	int code = 0;

	for (int i = 0; i < n && !code; i++) {
		struct entry *entry = &records->entries[i];
		const int64_t at = list[i].place * PLACES_UNIT, to = at + (int64_t)list[i].size;

		*entry = (struct entry){.place = (uint64_t)list[i].place | (i == n - 1 ? LAST : 0) |
						 (list[i].task ? TASK : 0) |
						 (list[i].mark ? MARK : 0),
			.size = (uint32_t)list[i].size,
			.label = list[i].label,
			.sum = sum_of(list[i].bytes, list[i].size)};
		entry->check = check_of(first + i, entry);
		*end = to > *end ? to : *end;
		if ((uint64_t)to > records->data.mapped ||
			(size_t)(HEAD + (first + n) * ENTRY) > records->index.mapped)
			return err_set(err, ERR_FILE, "%s: has reached the %zu bytes that fit",
				records->data.path, records->data.mapped);
		code = write_all(&records->data, list[i].bytes, list[i].size, at, err);
	}
	if (!code)
		code = write_all(&records->index, records->entries, (size_t)n * ENTRY,
			HEAD + first * ENTRY, err);
	if (!code)
		code = sync_file(records, &records->data, err);
	return code ? code : sync_file(records, &records->index, err);
}

int records_add(struct records *records, const struct record *list, int n, struct err *err)
{
	const int64_t first = records_count(records);
	int64_t end = records_end(records);
	int code = reserve_entries(records, (size_t)n, err);

	if (!code)
		code = write_call(records, list, n, &end, err);
	if (code) {
		if (ftruncate(records->index.file, HEAD + first * ENTRY))
			return code; /* What is there is no whole call, or is written over. */
		return code;
	}
	atomic_store(&head_of(records)->end, end);
	atomic_store_explicit(&head_of(records)->count, first + n, memory_order_release);
	return 0;
}

struct record_facts records_facts(const struct records *records, int64_t id)
{
	const struct entry *entry = entry_at(records, id);
	const uint64_t place = place_of(entry);

	return (struct record_facts){(int64_t)(place & PLACE), entry->size, entry->label,
		place & LAST, place & TASK, place & MARK};
}

bool records_same(const struct records *records, int64_t id, const struct record *record)
{
	const struct entry *entry = entry_at(records, id);

	return entry->size == record->size && entry->label == record->label &&
	       entry->sum == sum_of(record->bytes, record->size);
}

void records_forget(struct records *records, int64_t id)
{
	__atomic_fetch_or(&entry_at(records, id)->place, GONE, __ATOMIC_RELEASE);
}

/* A child must not keep the folder locked when its parent has died. */
static void let_go_in_child(struct records *records)
{
	int lock;

	if (records->owner == getpid() || records->lock < 0)
		return;
	lock = atomic_exchange(&records->lock, -1);
	if (lock >= 0)
		close(lock);
}

/* Only the place changes after an entry is there. */
static struct entry seen(const struct records *records, int64_t id)
{
	const struct entry *entry = entry_at(records, id);

	return (struct entry){place_of(entry), entry->size, entry->label, entry->sum, entry->check};
}

static int gone(const struct records *records, int64_t id, struct err *err)
{
	return err_set(err, ERR_INPUT, "%s: record %lld is gone: no pool holds it any more",
		records->where, (long long)id);
}

static int damaged(const struct records *records, int64_t id, struct err *err)
{
	return err_set(
		err, ERR_FORMAT, "%s: record %lld is damaged", records->where, (long long)id);
}

int records_read(struct records *records, int64_t id, void *bytes, size_t room, size_t *size,
	int32_t *label, struct err *err)
{
	const int64_t count = records_count(records);
	struct entry entry;

	let_go_in_child(records);
	if (id < 0 || id >= count)
		return err_set(err, ERR_INPUT, "%s: record %lld: there are %lld", records->where,
			(long long)id, (long long)count);
	entry = seen(records, id);
	*size = entry.size;
	*label = entry.label;
	if (entry.place & GONE)
		return gone(records, id, err);
	if (entry.check != check_of(id, &entry) ||
		begin_of(entry.place) + entry.size > records_end(records))
		return damaged(records, id, err);
	if (!bytes)
		return 0;
	if (room < entry.size)
		return err_set(err, ERR_INPUT,
			"%s: record %lld has %u bytes, and there is room for %zu", records->where,
			(long long)id, entry.size, room);
	memcpy(bytes, records->data.map + begin_of(entry.place), entry.size);
	atomic_thread_fence(memory_order_acquire);
	if (place_of(entry_at(records, id)) & GONE)
		return gone(records, id, err);
	return sum_of(bytes, entry.size) == entry.sum ? 0 : damaged(records, id, err);
}
