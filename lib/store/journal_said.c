/*
 * What stands beside samples for people: when they came, under which key, how sure the answer was.
 * Unlike the keys in journal_done.c, it stays as long as the sample. A journal of a former version
 * has it for new samples only; of the others the latest keys are known.
 */
#include <math.h>

#include "base/clock.h"
#include "store/journal_impl.h"

/* When the input came that a program's sample was, which waited under a key of its own. */
static int asked_when(struct journal *j, const char *key, int64_t *asked)
{
	const void *record;
	struct tail tail;
	size_t size;
	int status = lmdb_peek(j->lmdb, WAITING, text_key(key), &record, &size);

	if (status || size < sizeof(tail))
		return status;
	memcpy(&tail, (const char *)record + size - sizeof(tail), sizeof(tail));
	status = lmdb_peek(j->lmdb, ARRIVALS, id_key(&tail.arrival), &record, &size);
	*asked = status ? 0 : key_time(record, size);
	return status;
}

int journal_say(struct journal *journal, int i, int n, int64_t id)
{
	const bool waited = (size_t)i < journal->taken_count;
	const struct taken *taken = waited ? &journal->taken[i] : NULL;
	const size_t length = waited ? strlen(taken->key) : 0;
	struct said said = {.labelled = clock_wall(), .probability = NAN};
	void *record;
	int status = 0;

	if (waited) {
		said.asked = taken->asked;
		said.labelled = taken->labelled;
		said.probability = taken->probability;
	} else if (journal->leaving_count == n) {
		status = asked_when(journal, journal->leaving[i], &said.asked);
	}
	if (!status)
		status = lmdb_put(journal->lmdb, SAID, id_key(&id), sizeof(said) + length, &record);
	if (status)
		return status;
	memcpy(record, &said, sizeof(said));
	if (waited)
		memcpy((char *)record + sizeof(said), taken->key, length);
	return 0;
}

int journal_unsay(struct journal *journal, int64_t id)
{
	return lmdb_remove(journal->lmdb, SAID, id_key(&id));
}

static void said_read(const void *record, size_t size, struct journal_said *out)
{
	struct said said;

	if (size < sizeof(said))
		return;
	memcpy(&said, record, sizeof(said));
	out->asked = said.asked;
	out->labelled = said.labelled;
	out->corrected = said.corrected;
	out->probability = said.probability;
	key_copy(out->key, (const char *)record + sizeof(said), size - sizeof(said));
}

/* A sample of before: its key, if it is remembered. */
static int remembered(struct journal *j, int64_t id, struct journal_said *said, struct err *err)
{
	const void *record;
	struct done done;
	size_t size;
	int code = lmdb_find(j->lmdb, KEYS, id_key(&id), &record, &size, err);

	if (code || !record || !key_copy(said->key, record, size))
		return code;
	code = lmdb_find(j->lmdb, DONE, text_key(said->key), &record, &size, err);
	if (code || size < sizeof(done))
		return code;
	memcpy(&done, record, sizeof(done));
	if (done.id == id)
		said->probability = done.probability;
	return 0;
}

int journal_said(struct journal *journal, int64_t id, struct journal_said *said, struct err *err)
{
	const void *record;
	size_t size;
	int code = lmdb_begin(journal->lmdb, err);

	*said = (struct journal_said){.probability = NAN};
	if (code)
		return code;
	code = lmdb_find(journal->lmdb, SAID, id_key(&id), &record, &size, err);
	if (!code && record)
		said_read(record, size, said);
	else if (!code)
		code = remembered(journal, id, said, err);
	lmdb_end(journal->lmdb);
	return code;
}

int journal_next(struct journal *journal, int64_t *id, bool *found, struct err *err)
{
	const void *record = NULL;
	size_t size;
	int code = lmdb_begin(journal->lmdb, err);

	if (code)
		return code;
	code = lmdb_find_from(journal->lmdb, SAMPLES, id, &record, &size, err);
	*found = record;
	lmdb_end(journal->lmdb);
	return code;
}

int journal_next_waiting(
	struct journal *journal, int64_t *arrival, struct journal_said *said, struct err *err)
{
	const void *record = NULL;
	size_t size = 0;
	int code = lmdb_begin(journal->lmdb, err);

	*said = (struct journal_said){.probability = NAN};
	if (code)
		return code;
	code = lmdb_find_from(journal->lmdb, ARRIVALS, arrival, &record, &size, err);
	if (!code && record) {
		key_copy(said->key, record, size);
		said->asked = key_time(record, size);
	}
	lmdb_end(journal->lmdb);
	return code;
}
