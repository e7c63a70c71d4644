/*
 * Upgrades a journal of version 3 to version 4, in one transaction. Version 3 stored no
 * probabilities, and with the keys of samples neither predictions nor checksums of inputs. The
 * latter two are taken from the samples that are still there.
 */
#include <math.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "store/journal_impl.h"

struct tail_before {
	int64_t arrival;
	union target guesses[TARGET_GUESS];
	uint32_t checksum;
};

struct done_before {
	int64_t id;
	union target label;
	int32_t unused;
};

struct upgrade_job {
	struct journal *journal;
	struct header header; /* what it will be */
	char *input;          /* room for one */
};

/* What was damaged stays damaged. */
static int input_upgrade(const struct upgrade_job *job, const char *key)
{
	struct journal *j = job->journal;
	struct tail tail = {.probability = NAN};
	struct tail_before before;
	const void *found;
	void *record;
	size_t size;
	uint32_t sum;
	int status = lmdb_peek(j->lmdb, WAITING, text_key(key), &found, &size);

	if (status || !found || size != j->input + sizeof(before))
		return status;
	memcpy(job->input, found, j->input);
	memcpy(&before, (const char *)found + j->input, sizeof(before));
	sum = checksum_add(0, job->input, j->input);
	sum = checksum_add(sum, &before, offsetof(struct tail_before, checksum));
	tail.arrival = before.arrival;
	memcpy(tail.guesses, before.guesses, sizeof(tail.guesses));
	tail.checksum = journal_input_checksum(job->input, j->input, &tail) ^ sum ^ before.checksum;
	status = lmdb_put(j->lmdb, WAITING, text_key(key), j->input + sizeof(tail), &record);
	if (status)
		return status;
	memcpy(record, job->input, j->input);
	memcpy((char *)record + j->input, &tail, sizeof(tail));
	return 0;
}

/* Derives a record from an intact sample. */
static int done_complete(struct journal *j, struct done *done)
{
	struct trailer trailer;
	const void *found;
	size_t size;
	const int status = lmdb_peek(j->lmdb, SAMPLES, id_key(&done->id), &found, &size);

	if (status || !found || size != j->input + sizeof(trailer))
		return status;
	memcpy(&trailer, (const char *)found + j->input, sizeof(trailer));
	if (journal_sample_checksum(done->id, found, j->input, &trailer) != trailer.checksum)
		return 0;
	done->prediction = trailer.guesses[0];
	done->input = checksum_add(0, found, j->input);
	done->has_input = true;
	return 0;
}

static int done_upgrade(const struct upgrade_job *job, const char *key)
{
	struct journal *j = job->journal;
	struct done done = {.probability = NAN, .prediction = TARGET_NONE};
	struct done_before before;
	const void *found;
	void *record;
	size_t size;
	int status = lmdb_peek(j->lmdb, DONE, text_key(key), &found, &size);

	if (status || size != sizeof(before))
		return status;
	memcpy(&before, found, sizeof(before));
	done.id = before.id;
	done.label = before.label;
	status = done_complete(j, &done);
	if (!status)
		status = lmdb_put(j->lmdb, DONE, text_key(key), sizeof(done), &record);
	if (!status)
		memcpy(record, &done, sizeof(done));
	return status;
}

typedef int upgrade_record(const struct upgrade_job *job, const char *key);

/* Of every key that the table has. */
static int each_key(const struct upgrade_job *job, int table, upgrade_record *upgrade)
{
	struct lmdb *lmdb = job->journal->lmdb;
	char key[JOURNAL_KEY + 1];
	const void *record;
	size_t size;
	int64_t id = 0;
	int status = lmdb_peek_from(lmdb, table, &id, &record, &size);

	while (!status && record) {
		if (key_copy(key, record, size))
			status = upgrade(job, key);
		id++;
		if (!status)
			status = lmdb_peek_from(lmdb, table, &id, &record, &size);
	}
	return status;
}

static int upgrade_body(struct lmdb *lmdb, const void *context)
{
	const struct upgrade_job *job = context;
	int status = each_key(job, ARRIVALS, input_upgrade);

	(void)lmdb;
	if (!status)
		status = each_key(job, KEYS, done_upgrade);
	return status ? status : journal_put_header(job->journal, &job->header);
}

int journal_upgrade(struct journal *journal, struct err *err)
{
	struct upgrade_job job = {journal, journal->header, mem_new(journal->input, 1)};
	int code;

	if (!job.input)
		return err_memory(err, "a journal's input", journal->input);
	job.header.version = JOURNAL_VERSION;
	code = lmdb_write(journal->lmdb, upgrade_body, &job, "cannot make it version 4", err);
	if (!code)
		journal->header = job.header;
	mem_free(job.input);
	return code;
}
