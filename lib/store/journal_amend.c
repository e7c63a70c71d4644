/*
 * Changes of samples that were added: another label, or none of it. A sample that is forgotten
 * leaves a gap in ids, calls and pools, into which a copy of another sample is put: one with the
 * same label, if there is any, and as near in time as can be. What is known of when and under which
 * key goes; instead a negative `labelled` says which sample it is a copy of, so that it goes, too,
 * when that one does.
 */
#include <math.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/mem.h"
#include "store/journal_impl.h"

static int64_t copy_mark(int64_t of)
{
	return -1 - of;
}

int64_t journal_copy_of(const struct journal_said *said)
{
	return said->labelled < 0 ? -1 - said->labelled : -1;
}

struct found_ids {
	int64_t **ids;
	size_t *count, room;
};

static int found_add(struct found_ids *found, int64_t id, struct err *err)
{
	if (!grow_room(found->ids, &found->room, *found->count + 1, sizeof(id)))
		return err_memory(err, "samples of a key", *found->count * sizeof(id));
	(*found->ids)[(*found->count)++] = id;
	return 0;
}

/* Every row of the table whose key is this one, or which is a copy of a sample. */
static int find_rows(struct journal *j, const char *key, int64_t copy_of, struct found_ids *found,
	struct err *err)
{
	const size_t length = key ? strlen(key) : 0;
	const void *record = "";
	struct said said;
	size_t size = 0;
	int code = 0;

	for (int64_t id = 0; !code && record; id++) {
		code = lmdb_find_from(j->lmdb, SAID, &id, &record, &size, err);
		if (code || !record || size < sizeof(said))
			continue;
		memcpy(&said, record, sizeof(said));
		if (key ? size - sizeof(said) == length &&
					!memcmp((const char *)record + sizeof(said), key, length)
			: said.labelled == copy_mark(copy_of))
			code = found_add(found, id, err);
	}
	return code;
}

/* One of before has no row, but may be remembered. */
static int find_done(struct journal *j, const char *key, struct found_ids *found, struct err *err)
{
	const void *record;
	struct done done;
	size_t size;
	int code = lmdb_find(j->lmdb, DONE, text_key(key), &record, &size, err);

	if (code || size < sizeof(done))
		return code;
	memcpy(&done, record, sizeof(done));
	for (size_t i = 0; i < *found->count; i++)
		if ((*found->ids)[i] == done.id)
			return 0;
	return found_add(found, done.id, err);
}

int journal_ids(
	struct journal *journal, const char *key, int64_t **ids, size_t *count, struct err *err)
{
	struct found_ids found = {ids, count, 0};
	int code = lmdb_begin(journal->lmdb, err);

	*ids = NULL;
	*count = 0;
	if (code)
		return code;
	code = find_rows(journal, key, -1, &found, err);
	if (!code)
		code = find_done(journal, key, &found, err);
	lmdb_end(journal->lmdb);
	return code;
}

int journal_copies(
	struct journal *journal, int64_t of, int64_t **ids, size_t *count, struct err *err)
{
	struct found_ids found = {ids, count, 0};
	int code = lmdb_begin(journal->lmdb, err);

	*ids = NULL;
	*count = 0;
	if (code)
		return code;
	code = find_rows(journal, NULL, of, &found, err);
	lmdb_end(journal->lmdb);
	return code;
}

struct amend_job {
	struct journal *journal;
	const union target *label; /* the new one, or NULL: ... */
	const int64_t *ids, *from; /* ... copies of these stand in the place of those */
	size_t n;
	char *record; /* room for one */
	int64_t now;
};

static size_t behind(const struct journal *j)
{
	return (more_label(j) + more_guess(j)) * sizeof(union target) + sizeof(struct trailer);
}

static struct trailer trailer_of(const char *record, size_t size)
{
	struct trailer trailer;

	memcpy(&trailer, record + size - sizeof(trailer), sizeof(trailer));
	return trailer;
}

/* Copies a sample's record to the job's room; *size is 0 if there is none. */
static int record_copy(const struct amend_job *job, int64_t id, size_t *size)
{
	const struct journal *j = job->journal;
	const void *found;
	size_t stored;
	const int status = lmdb_peek(j->lmdb, SAMPLES, id_key(&id), &found, size);

	if (status || !found || !journal_fits(j, *size, behind(j), &stored))
		*size = 0;
	else
		memcpy(job->record, found, *size);
	return status;
}

static int record_put(const struct amend_job *job, int64_t id, size_t size, struct trailer *trailer)
{
	void *place;
	const int status = lmdb_put(job->journal->lmdb, SAMPLES, id_key(&id), size, &place);

	if (status)
		return status;
	trailer->checksum =
		journal_sample_checksum(id, job->record, size - sizeof(*trailer), trailer);
	memcpy(job->record + size - sizeof(*trailer), trailer, sizeof(*trailer));
	memcpy(place, job->record, size);
	return 0;
}

/* The row beside a sample, with its key; one of before gets one. */
static int said_put(struct journal *j, int64_t id, const struct said *said, bool keep_key)
{
	char key[JOURNAL_KEY + 1] = "";
	const void *found;
	void *place;
	size_t size, length;
	int status = lmdb_peek(j->lmdb, SAID, id_key(&id), &found, &size);

	if (!status && keep_key && size > sizeof(*said)) {
		key_copy(key, (const char *)found + sizeof(*said), size - sizeof(*said));
	} else if (!status && keep_key && !found) {
		status = lmdb_peek(j->lmdb, KEYS, id_key(&id), &found, &size);
		key_copy(key, found, size);
	}
	length = strlen(key);
	if (!status)
		status = lmdb_put(j->lmdb, SAID, id_key(&id), sizeof(*said) + length, &place);
	if (status)
		return status;
	memcpy(place, said, sizeof(*said));
	memcpy((char *)place + sizeof(*said), key, length);
	return 0;
}

static int said_get(struct journal *j, int64_t id, struct said *said)
{
	const void *found;
	size_t size;
	const int status = lmdb_peek(j->lmdb, SAID, id_key(&id), &found, &size);

	*said = (struct said){.probability = NAN};
	if (!status && size >= sizeof(*said))
		memcpy(said, found, sizeof(*said));
	return status;
}

static int correct_body(struct lmdb *lmdb, const void *context)
{
	const struct amend_job *job = context;
	struct journal *j = job->journal;
	const size_t more = more_label(j) * sizeof(union target);
	const int64_t id = *job->ids;
	struct trailer trailer;
	struct said said;
	size_t size;
	int status = record_copy(job, id, &size);

	if (!status && size) {
		trailer = trailer_of(job->record, size);
		trailer.label = *job->label;
		memcpy(job->record + size - behind(j), job->label + 1, more);
		status = record_put(job, id, size, &trailer);
	}
	if (!status)
		status = journal_relabel_key(j, id, job->label);
	if (!status)
		status = said_get(j, id, &said);
	said.corrected = job->now;
	if (!status)
		status = said_put(j, id, &said, true);
	return status ? status : journal_put_notes(j);
}

static int amend(struct journal *journal, struct amend_job *job, lmdb_body *body, const char *doing,
	struct err *err)
{
	int code = journal_settle(journal, err);

	job->journal = journal;
	job->now = clock_wall();
	job->record = code ? NULL : mem_new(journal->input + behind(journal), 1);
	if (!code && !job->record)
		code = err_memory(err, "a sample", journal->input);
	if (!code)
		code = lmdb_write(journal->lmdb, body, job, doing, err);
	if (!code)
		journal_drop_notes(journal);
	mem_free(job->record);
	return code;
}

int journal_correct(struct journal *journal, int64_t id, const union target *label, struct err *err)
{
	struct amend_job job = {.label = label, .ids = &id, .n = 1};

	return amend(journal, &job, correct_body, "cannot correct a label", err);
}

static int forget_body(struct lmdb *lmdb, const void *context)
{
	const struct amend_job *job = context;
	struct journal *j = job->journal;
	int status = journal_unwait_all(j, j->leaving, j->leaving_count);

	for (size_t i = 0; i < job->n && !status; i++) {
		const struct said said = {.labelled = copy_mark(job->from[i]), .probability = NAN};
		struct trailer own, trailer;
		size_t size;

		status = record_copy(job, job->ids[i], &size);
		if (status || !size)
			continue;
		own = trailer_of(job->record, size);
		status = record_copy(job, job->from[i], &size);
		if (status || !size)
			continue;
		trailer = trailer_of(job->record, size);
		trailer.mark = own.mark;
		trailer.follow = own.follow;
		for (int k = 0; k < TARGET_GUESS; k++)
			trailer.guesses[k] = TARGET_NONE;
		memset(job->record + size - behind(j) + more_label(j) * sizeof(union target), 0xff,
			more_guess(j) * sizeof(union target));
		status = record_put(job, job->ids[i], size, &trailer);
		if (!status)
			status = journal_forget_key(j, job->ids[i]);
		if (!status)
			status = journal_copy_weight(j, job->from[i], job->ids[i]);
		if (!status)
			status = said_put(j, job->ids[i], &said, false);
	}
	return status ? status : journal_put_notes(j);
}

int journal_forget(struct journal *journal, const int64_t *ids, const int64_t *from, size_t n,
	const char *const *waiting, int waiting_count, struct err *err)
{
	struct amend_job job = {.ids = ids, .from = from, .n = n};
	int code;

	journal_leave(journal, waiting, waiting_count);
	code = amend(journal, &job, forget_body, "cannot forget samples", err);
	journal_leave(journal, NULL, 0);
	return code;
}

int journal_compact(struct journal *journal, struct err *err)
{
	const int code = journal_settle(journal, err);

	return code ? code : lmdb_compact(journal->lmdb, err);
}
