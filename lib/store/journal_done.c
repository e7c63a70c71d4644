/*
 * Keys of samples. The latest are remembered, with what was predicted for them; those of older
 * samples are forgotten in the order of adding. journal_find returns the state of any key.
 */
#include <math.h>

#include "base/checksum.h"
#include "store/journal_impl.h"

int journal_remember(struct journal *journal, const char *key, const struct done *done)
{
	const size_t size = strlen(key);
	void *record;
	int status = lmdb_put(journal->lmdb, KEYS, id_key(&done->id), size, &record);

	if (status)
		return status;
	memcpy(record, key, size);
	status = lmdb_put(journal->lmdb, DONE, text_key(key), sizeof(*done), &record);
	if (!status)
		memcpy(record, done, sizeof(*done));
	return status;
}

/* The key may have come again since, for a later sample. */
static int forget_key(struct journal *j, int64_t id)
{
	char key[JOURNAL_KEY + 1];
	struct done done = {0};
	const void *record;
	size_t size;
	int status = lmdb_peek(j->lmdb, KEYS, id_key(&id), &record, &size);

	if (status || !key_copy(key, record, size))
		return status;
	status = lmdb_peek(j->lmdb, DONE, text_key(key), &record, &size);
	if (!status && size == sizeof(done))
		memcpy(&done, record, sizeof(done));
	if (!status && size == sizeof(done) && done.id == id)
		status = lmdb_remove(j->lmdb, DONE, text_key(key));
	return status ? status : lmdb_remove(j->lmdb, KEYS, id_key(&id));
}

int journal_unremember(struct journal *journal, struct header *header)
{
	int status = 0;

	for (; !status && header->remembered < header->added - journal->remembered;
		header->remembered++)
		status = forget_key(journal, header->remembered);
	return status;
}

/* One that is damaged differs, so that it is replaced where its input comes again. */
static void found_waiting(const struct journal *j, const char *key, const float *input,
	const void *record, size_t size, struct journal_found *found)
{
	struct tail tail;
	size_t stored;

	found->place = journal_find_taken(j, key) ? JOURNAL_TAKEN : JOURNAL_WAITS;
	found->differs = true;
	if (!journal_fits(j, size, sizeof(tail), &stored))
		return;
	memcpy(&tail, (const char *)record + stored, sizeof(tail));
	if (journal_input_checksum(record, stored, &tail) != tail.checksum)
		return;
	found->differs =
		input && (journal_stored(j, input) != stored || memcmp(record, input, stored) != 0);
	found->prediction = tail.guesses[0];
	found->probability = tail.probability;
}

static void found_done(const struct journal *j, const float *input, const void *record, size_t size,
	struct journal_found *found)
{
	struct done done;

	if (size != sizeof(done))
		return;
	memcpy(&done, record, sizeof(done));
	*found = (struct journal_found){
		.place = JOURNAL_ADDED,
		.id = done.id,
		.label = done.label,
		.prediction = done.prediction,
		.probability = done.probability,
		.differs = input && done.has_input &&
			   checksum_add(0, input, journal_stored(j, input)) != done.input,
	};
}

int journal_find(struct journal *journal, const char *key, const float *input,
	struct journal_found *found, struct err *err)
{
	const void *record;
	size_t size;
	int code = lmdb_begin(journal->lmdb, err);

	*found = (struct journal_found){.prediction = TARGET_NONE, .probability = NAN};
	if (code)
		return code;
	code = lmdb_find(journal->lmdb, WAITING, text_key(key), &record, &size, err);
	if (!code && record) {
		found_waiting(journal, key, input, record, size, found);
	} else if (!code) {
		code = lmdb_find(journal->lmdb, DONE, text_key(key), &record, &size, err);
		if (!code && record)
			found_done(journal, input, record, size, found);
	}
	lmdb_end(journal->lmdb);
	return code;
}
