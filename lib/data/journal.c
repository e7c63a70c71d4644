/*
 * The journal's three tables: "about" has one record, the header; "samples" has
 * one per id: the input, the label, how many samples of the same call follow,
 * a checksum; "waiting" has one per key: the input, a checksum.
 *
 * Invariant: `header` is what the table has.
 */
#include "data/journal.h"

#include <string.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "data/tables.h"

enum { VERSION = 1, TAKEN_LEAST = 4096 };
enum { ABOUT, SAMPLES, WAITING };

static const struct table list[] = {
	[ABOUT] = {"about", false},
	[SAMPLES] = {"samples", true},
	[WAITING] = {"waiting", false},
};

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
	struct tables *tables;
	char *folder;
	size_t input; /* bytes */
	struct header header;
	/* The keys that were taken, one after the other, each with its NUL. */
	char *taken;
	size_t taken_size, taken_room;
};

static struct table_key text_key(const char *text)
{
	return (struct table_key){text, strlen(text)};
}

static struct table_key id_key(const int64_t *id)
{
	return (struct table_key){id, sizeof(*id)};
}

/* The id is part of it, so that a sample in another's place is found out too. */
static uint32_t sample_checksum(
	const struct journal *j, int64_t id, const void *input, const struct trailer *trailer)
{
	uint32_t sum = checksum_add(0, &id, sizeof(id));

	sum = checksum_add(sum, input, j->input);
	return checksum_add(sum, trailer, offsetof(struct trailer, checksum));
}

static int header_put(struct journal *j, const struct header *header)
{
	void *record;
	const int rc = tables_put(j->tables, ABOUT, text_key("header"), sizeof(*header), &record);

	if (!rc)
		memcpy(record, header, sizeof(*header));
	return rc;
}

struct header_job {
	struct journal *journal;
	struct header header;
};

static int header_body(struct tables *tables, const void *context)
{
	const struct header_job *job = context;

	return header_put(job->journal, &job->header);
}

static int header_check(struct journal *j, size_t floats, struct err *err)
{
	const struct header *h = &j->header;

	if (memcmp(h->magic, magic, sizeof(magic)) != 0)
		return err_set(err, ERR_FORMAT, "%s: data.mdb is no journal", j->folder);
	if (h->version != VERSION)
		return err_set(err, ERR_FORMAT, "%s: is a journal of version %u, not %d", j->folder,
			h->version, VERSION);
	if (h->floats != floats)
		return err_set(err, ERR_INPUT,
			"%s: is a journal of samples of %llu numbers, not %zu", j->folder,
			(unsigned long long)h->floats, floats);
	if (h->added < journal_kept(j) || h->trimmed < 0 || h->trimmed > h->added)
		return err_set(err, ERR_FORMAT, "%s: data.mdb is damaged", j->folder);
	return 0;
}

/* Tables that have only just been made get their header. */
static int header_open(struct journal *j, size_t floats, struct err *err)
{
	struct header_job job = {j, {.version = VERSION, .floats = floats}};
	const void *record;
	size_t size;
	int code;

	if (tables_count(j->tables, ABOUT) == 0 && journal_kept(j) == 0) {
		memcpy(job.header.magic, magic, sizeof(magic));
		code = tables_write(j->tables, header_body, &job, "cannot make it", err);
		if (code)
			return code;
	}
	code = tables_begin(j->tables, err);
	if (code)
		return code;
	code = tables_find(j->tables, ABOUT, text_key("header"), &record, &size, err);
	if (!code && size == sizeof(j->header))
		memcpy(&j->header, record, sizeof(j->header));
	tables_end(j->tables);
	return code ? code : header_check(j, floats, err);
}

int journal_open(struct journal **journal, const char *folder, size_t floats, struct err *err)
{
	struct journal *made = mem_new(1, sizeof(*made));
	int code;

	*journal = NULL;
	if (!made)
		return err_memory(err, "a journal", sizeof(*made));
	made->input = floats * sizeof(float);
	made->folder = mem_text(folder);
	made->taken_room = TAKEN_LEAST;
	made->taken = mem_new(made->taken_room, 1);
	code = made->folder && made->taken ? 0 : err_memory(err, "a journal", TAKEN_LEAST);
	if (!code)
		code = tables_open(
			&made->tables, folder, list, sizeof(list) / sizeof(list[0]), err);
	if (!code)
		code = header_open(made, floats, err);
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
	tables_close(journal->tables);
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
	return tables_count(journal->tables, SAMPLES);
}

int64_t journal_trimmed(const struct journal *journal)
{
	return journal->header.trimmed;
}

int64_t journal_waiting(const struct journal *journal)
{
	return tables_count(journal->tables, WAITING);
}

size_t journal_bytes(const struct journal *journal)
{
	return tables_bytes(journal->tables);
}

struct add_job {
	struct journal *journal;
	const float *inputs;
	const int32_t *labels;
	int n;
	struct header header;
};

static int sample_put(const struct add_job *job, int i)
{
	struct journal *j = job->journal;
	const int64_t id = j->header.added + i;
	const char *input = (const char *)job->inputs + (size_t)i * j->input;
	struct trailer trailer = {.label = job->labels[i], .follow = job->n - 1 - i};
	void *record;
	const int rc =
		tables_put(j->tables, SAMPLES, id_key(&id), j->input + sizeof(trailer), &record);

	if (rc)
		return rc;
	trailer.checksum = sample_checksum(j, id, input, &trailer);
	memcpy(record, input, j->input);
	memcpy((char *)record + j->input, &trailer, sizeof(trailer));
	return 0;
}

static int add_body(struct tables *tables, const void *context)
{
	const struct add_job *job = context;
	const struct journal *j = job->journal;
	int rc = 0;

	for (size_t at = 0; at < j->taken_size && !rc; at += strlen(j->taken + at) + 1)
		rc = tables_remove(tables, WAITING, text_key(j->taken + at));
	for (int i = 0; i < job->n && !rc; i++)
		rc = sample_put(job, i);
	return rc ? rc : header_put(job->journal, &job->header);
}

int journal_add(
	struct journal *journal, const float *inputs, const int32_t *labels, int n, struct err *err)
{
	struct add_job job = {journal, inputs, labels, n, journal->header};
	int code;

	if (n == 0)
		return 0;
	job.header.added += n;
	code = tables_write(journal->tables, add_body, &job, "cannot add samples", err);
	if (!code) {
		journal->header = job.header;
		journal->taken_size = 0;
	}
	return code;
}

/* The input of a sample, for as long as the reading goes on. */
static int sample_find(
	struct journal *j, int64_t id, const void **input, struct trailer *trailer, struct err *err)
{
	size_t size;
	const int code = tables_find(j->tables, SAMPLES, id_key(&id), input, &size, err);

	if (code)
		return code;
	if (!*input)
		return err_set(err, ERR_INPUT, "sample %lld has %s", (long long)id,
			id >= 0 && id < j->header.added ? "been forgotten" : "not been added");
	if (size == j->input + sizeof(*trailer)) {
		memcpy(trailer, (const char *)*input + j->input, sizeof(*trailer));
		if (sample_checksum(j, id, *input, trailer) == trailer->checksum)
			return 0;
	}
	return err_set(err, ERR_FORMAT, "%s: sample %lld is damaged", j->folder, (long long)id);
}

int journal_read(struct journal *journal, const int64_t *ids, int n, float *inputs, int32_t *labels,
	struct err *err)
{
	struct trailer trailer = {0};
	const void *input;
	int code = tables_begin(journal->tables, err);

	if (code)
		return code;
	for (int i = 0; i < n && !code; i++) {
		code = sample_find(journal, ids[i], &input, &trailer, err);
		if (!code)
			memcpy((char *)inputs + (size_t)i * journal->input, input, journal->input);
		labels[i] = trailer.label;
	}
	tables_end(journal->tables);
	return code;
}

bool journal_has(struct journal *journal, int64_t id)
{
	const void *record;
	size_t size;

	if (tables_begin(journal->tables, NULL))
		return false;
	tables_find(journal->tables, SAMPLES, id_key(&id), &record, &size, NULL);
	tables_end(journal->tables);
	return record != NULL;
}

int journal_call(struct journal *journal, int64_t id, int *n, struct err *err)
{
	struct trailer trailer = {0};
	const void *input;
	int code = tables_begin(journal->tables, err);

	*n = 0;
	if (code)
		return code;
	code = sample_find(journal, id, &input, &trailer, err);
	tables_end(journal->tables);
	if (!code)
		*n = trailer.follow + 1;
	return code;
}

struct trim_job {
	struct journal *journal;
	const int64_t *ids;
	size_t n;
	struct header header;
};

static int trim_body(struct tables *tables, const void *context)
{
	const struct trim_job *job = context;
	int rc = 0;

	for (size_t i = 0; i < job->n && !rc; i++)
		rc = tables_remove(tables, SAMPLES, id_key(job->ids + i));
	return rc ? rc : header_put(job->journal, &job->header);
}

int journal_trim(
	struct journal *journal, const int64_t *ids, size_t n, int64_t needed, struct err *err)
{
	struct trim_job job = {journal, ids, n, journal->header};
	int code;

	if (needed > job.header.trimmed)
		job.header.trimmed = needed;
	code = tables_write(journal->tables, trim_body, &job, "cannot remove samples", err);
	if (code)
		return code;
	journal->header = job.header;
	/* Space is free for use one transaction later; on a full disk there would never be one. */
	job.n = 0;
	return tables_write(journal->tables, trim_body, &job, "cannot remove samples", err);
}

static bool key_taken(const struct journal *j, const char *key)
{
	for (size_t at = 0; at < j->taken_size; at += strlen(j->taken + at) + 1)
		if (strcmp(j->taken + at, key) == 0)
			return true;
	return false;
}

static int keys_check(const struct journal *j, const char *const *keys, int n, struct err *err)
{
	_Static_assert((int)JOURNAL_KEY == (int)TABLES_KEY, "keys go to the table as they are");

	for (int i = 0; i < n; i++) {
		const size_t size = strlen(keys[i]);

		if (size == 0 || size > JOURNAL_KEY)
			return err_set(err, ERR_INPUT, "a key of %zu bytes; it should have 1 to %d",
				size, JOURNAL_KEY);
		if (key_taken(j, keys[i]))
			return err_set(
				err, ERR_INPUT, "the input of %s has just been taken", keys[i]);
	}
	return 0;
}

struct wait_job {
	const struct journal *journal;
	const char *const *keys;
	const float *inputs;
	int n;
};

static int wait_body(struct tables *tables, const void *context)
{
	const struct wait_job *job = context;
	const size_t bytes = job->journal->input;

	for (int i = 0; i < job->n; i++) {
		const char *input = (const char *)job->inputs + (size_t)i * bytes;
		const uint32_t sum = checksum_add(0, input, bytes);
		void *record;
		const int rc = tables_put(
			tables, WAITING, text_key(job->keys[i]), bytes + sizeof(sum), &record);

		if (rc)
			return rc;
		memcpy(record, input, bytes);
		memcpy((char *)record + bytes, &sum, sizeof(sum));
	}
	return 0;
}

int journal_wait(struct journal *journal, const char *const *keys, const float *inputs, int n,
	struct err *err)
{
	const struct wait_job job = {journal, keys, inputs, n};
	const int code = keys_check(journal, keys, n, err);

	if (code)
		return code;
	return tables_write(journal->tables, wait_body, &job, "cannot add inputs", err);
}

static int waiting_find(struct journal *j, const char *key, float *input, struct err *err)
{
	const void *record;
	uint32_t sum;
	size_t size;
	const int code = tables_find(j->tables, WAITING, text_key(key), &record, &size, err);

	if (code)
		return code;
	if (!record)
		return err_set(err, ERR_INPUT, "no input waits under %s", key);
	if (size == j->input + sizeof(sum)) {
		memcpy(input, record, j->input);
		memcpy(&sum, (const char *)record + j->input, sizeof(sum));
		if (checksum_add(0, input, j->input) == sum)
			return 0;
	}
	return err_set(err, ERR_FORMAT, "%s: the input of %s is damaged", j->folder, key);
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
	const size_t size = strlen(key) + 1;
	int code = keys_check(journal, &key, 1, err);

	if (!code)
		code = taken_reserve(journal, size, err);
	if (!code)
		code = tables_begin(journal->tables, err);
	if (code)
		return code;
	code = waiting_find(journal, key, input, err);
	tables_end(journal->tables);
	if (!code) {
		memcpy(journal->taken + journal->taken_size, key, size);
		journal->taken_size += size;
	}
	return code;
}

static int drop_body(struct tables *tables, const void *context)
{
	const struct wait_job *job = context;
	int rc = 0;

	for (int i = 0; i < job->n && !rc; i++)
		rc = tables_remove(tables, WAITING, text_key(job->keys[i]));
	return rc;
}

int journal_drop(struct journal *journal, const char *const *keys, int n, struct err *err)
{
	const struct wait_job job = {journal, keys, NULL, n};
	const int code = keys_check(journal, keys, n, err);

	if (code)
		return code;
	return tables_write(journal->tables, drop_body, &job, "cannot drop inputs", err);
}
