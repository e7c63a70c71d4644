/*
 * Keys of samples. The latest are remembered, with what was predicted for them; those of older
 * samples are forgotten in the order of adding. journal_find returns the state of any key.
 */
#include <math.h>

#include "base/checksum.h"
#include "store/journal_impl.h"

static size_t done_bytes(const struct journal *j)
{
	return sizeof(struct done) + (more_label(j) + more_guess(j)) * sizeof(union target);
}

int journal_remember(
	struct journal *journal, const char *key, const struct done *done, const union target *more)
{
	const size_t size = strlen(key), bytes = done_bytes(journal);
	void *record;
	int status = lmdb_put(journal->lmdb, KEYS, id_key(&done->id), size, &record);

	if (status)
		return status;
	memcpy(record, key, size);
	status = lmdb_put(journal->lmdb, DONE, text_key(key), bytes, &record);
	if (status)
		return status;
	memcpy(record, done, sizeof(*done));
	memcpy((char *)record + sizeof(*done), more, bytes - sizeof(*done));
	return 0;
}

/* The key of a sample, and what is known of it: NULL if it came again since, for a later one. */
static int find_key(struct journal *j, int64_t id, char key[JOURNAL_KEY + 1], const void **found)
{
	const void *record;
	struct done done;
	size_t size;
	int status = lmdb_peek(j->lmdb, KEYS, id_key(&id), &record, &size);

	*found = NULL;
	key[0] = '\0';
	if (status || !key_copy(key, record, size))
		return status;
	status = lmdb_peek(j->lmdb, DONE, text_key(key), &record, &size);
	if (status || size != done_bytes(j))
		return status;
	memcpy(&done, record, sizeof(done));
	if (done.id == id)
		*found = record;
	return 0;
}

int journal_forget_key(struct journal *j, int64_t id)
{
	char key[JOURNAL_KEY + 1];
	const void *found;
	int status = find_key(j, id, key, &found);

	if (!status && found)
		status = lmdb_remove(j->lmdb, DONE, text_key(key));
	return status ? status : lmdb_remove(j->lmdb, KEYS, id_key(&id));
}

int journal_relabel_key(struct journal *j, int64_t id, const union target *label)
{
	struct {
		struct done done;
		union target more[TARGET_WIDTH - 1 + MORE_GUESS_MOST];
	} row;
	char key[JOURNAL_KEY + 1];
	const void *found;
	void *place;
	int status = find_key(j, id, key, &found);

	if (status || !found)
		return status;
	memcpy(&row, found, done_bytes(j));
	row.done.label = *label;
	memcpy(row.more, label + 1, more_label(j) * sizeof(*label));
	status = lmdb_put(j->lmdb, DONE, text_key(key), done_bytes(j), &place);
	if (!status)
		memcpy(place, &row, done_bytes(j));
	return status;
}

int journal_unremember(struct journal *journal, struct header *header)
{
	int status = 0;

	for (; !status && header->remembered < header->added - journal->remembered;
		header->remembered++)
		status = journal_forget_key(journal, header->remembered);
	return status;
}

/* One that is damaged differs, so that it is replaced where its input comes again. */
static void found_waiting(const struct journal *j, const char *key, const float *input,
	const void *record, size_t size, struct journal_found *found)
{
	const size_t cells = more_guess(j) * sizeof(union target);
	struct tail tail;
	size_t stored;

	found->place = journal_find_taken(j, key) ? JOURNAL_TAKEN : JOURNAL_WAITS;
	found->differs = true;
	if (!journal_fits(j, size, cells + sizeof(tail), &stored))
		return;
	memcpy(&tail, (const char *)record + stored + cells, sizeof(tail));
	if (journal_input_checksum(record, stored + cells, &tail) != tail.checksum)
		return;
	found->differs =
		input && (journal_stored(j, input) != stored || memcmp(record, input, stored) != 0);
	journal_join_guess(j, tail.guesses, (const char *)record + stored, found->guess);
	found->probability = tail.probability;
}

static void found_done(const struct journal *j, const float *input, const void *record, size_t size,
	struct journal_found *found)
{
	const union target *more =
		(const union target *)((const char *)record + sizeof(struct done));
	struct done done;

	if (size != done_bytes(j))
		return;
	memcpy(&done, record, sizeof(done));
	found->place = JOURNAL_ADDED;
	found->id = done.id;
	found->probability = done.probability;
	found->differs = input && done.has_input &&
			 checksum_add(0, input, journal_stored(j, input)) != done.input;
	found->label[0] = done.label;
	memcpy(found->label + 1, more, more_label(j) * sizeof(*more));
	found->guess[0] = done.prediction;
	memcpy(found->guess + NUMBER_OUTPUTS, more + more_label(j), more_guess(j) * sizeof(*more));
}

int journal_find(struct journal *journal, const char *key, const float *input,
	struct journal_found *found, struct err *err)
{
	const void *record;
	size_t size;
	int code = lmdb_begin(journal->lmdb, err);

	*found = (struct journal_found){.probability = NAN};
	for (size_t k = 0; k < target_guess(journal_width(journal)); k++)
		found->guess[k] = TARGET_NONE;
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
