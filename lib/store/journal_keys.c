/*
 * Inputs that wait under keys. Their number is limited: a table has them by sequence number, in
 * which the oldest is found by continuing from the end of the last search.
 */
#include <math.h>

#include "base/checksum.h"
#include "base/clock.h"
#include "base/mem.h"
#include "store/journal_impl.h"

int64_t journal_waiting(const struct journal *journal)
{
	return lmdb_count(journal->lmdb, WAITING);
}

/* If that cannot be read, nothing can: then it does not matter. */
bool journal_waits(struct journal *journal, int64_t ago)
{
	const int64_t arrival = journal->header.arrived - ago;
	const void *record = NULL;
	size_t size;

	if (arrival < 0 || lmdb_begin(journal->lmdb, NULL))
		return false;
	lmdb_find(journal->lmdb, ARRIVALS, id_key(&arrival), &record, &size, NULL);
	lmdb_end(journal->lmdb);
	return record;
}

void journal_bound(struct journal *journal, int64_t waiting, int64_t remembered)
{
	journal->waiting = waiting;
	journal->remembered = remembered;
}

const struct taken *journal_find_taken(const struct journal *journal, const char *key)
{
	for (size_t i = 0; i < journal->taken_count; i++)
		if (strcmp(journal->taken[i].key, key) == 0)
			return &journal->taken[i];
	return NULL;
}

static int keys_check(const struct journal *j, const char *const *keys, int n, struct err *err)
{
	_Static_assert((int)JOURNAL_KEY == (int)LMDB_KEY, "keys go to the table as they are");

	for (int i = 0; i < n; i++) {
		const size_t size = strlen(keys[i]);

		if (size == 0 || size > JOURNAL_KEY)
			return err_set(err, ERR_INPUT, "a key of %zu bytes; it should have 1 to %d",
				size, JOURNAL_KEY);
		if (journal_find_taken(j, keys[i]))
			return err_set(
				err, ERR_INPUT, "the input of %s has just been taken", keys[i]);
	}
	return 0;
}

uint32_t journal_input_checksum(const void *input, size_t size, const struct tail *tail)
{
	const uint32_t sum = checksum_add(0, input, size);

	return checksum_add(sum, tail, offsetof(struct tail, checksum));
}

struct wait_job {
	struct journal *journal;
	const char *const *keys;
	const float *inputs;
	const union target *guesses;
	const double *probabilities;
	int n;
	int64_t now;
	struct header *header; /* what it will be */
};

static size_t tail_bytes(const struct journal *j)
{
	return more_guess(j) * sizeof(union target) + sizeof(struct tail);
}

/* The tail of a record; false if it cannot be one of a waiting input. */
static bool tail_get(const struct journal *j, const void *record, size_t size, struct tail *tail)
{
	size_t stored;

	if (!journal_fits(j, size, tail_bytes(j), &stored))
		return false;
	memcpy(tail, (const char *)record + size - sizeof(*tail), sizeof(*tail));
	return true;
}

/* The number of the input that waits under the key; a new one where there is none. */
static int arrival_of(const struct wait_job *job, int i, int64_t *arrival, int64_t *waiting)
{
	struct journal *j = job->journal;
	const char *key = job->keys[i];
	const int64_t when = j->whens && j->whens[i] ? j->whens[i] : job->now;
	struct tail tail;
	const void *found;
	void *record;
	size_t size;
	int status = lmdb_peek(j->lmdb, WAITING, text_key(key), &found, &size);

	if (!status && found && tail_get(j, found, size, &tail)) {
		*arrival = tail.arrival;
	} else {
		*arrival = job->header->arrived++;
		++*waiting;
	}
	if (!status)
		status = lmdb_put(
			j->lmdb, ARRIVALS, id_key(arrival), strlen(key) + KEY_TIME, &record);
	if (!status)
		key_put(record, key, strlen(key), when);
	return status;
}

static int input_put(const struct wait_job *job, int i, int64_t *waiting)
{
	struct journal *j = job->journal;
	const char *input = (const char *)job->inputs + (size_t)i * j->input;
	const size_t stored = journal_stored(j, input), cells = target_guess(journal_width(j));
	const size_t bytes = stored + tail_bytes(j);
	union target guess[TARGET_GUESS_MOST], more[MORE_GUESS_MOST];
	struct tail tail = {.probability = NAN};
	void *record;
	int status = arrival_of(job, i, &tail.arrival, waiting);

	if (!status)
		status = lmdb_put(j->lmdb, WAITING, text_key(job->keys[i]), bytes, &record);
	if (status)
		return status;
	for (size_t k = 0; k < cells; k++)
		guess[k] = job->guesses ? job->guesses[(size_t)i * cells + k] : TARGET_NONE;
	journal_part_guess(j, guess, tail.guesses, more);
	if (job->probabilities)
		tail.probability = job->probabilities[i];
	memcpy(record, input, stored);
	memcpy((char *)record + stored, more, more_guess(j) * sizeof(*more));
	tail.checksum = journal_input_checksum(record, bytes - sizeof(tail), &tail);
	memcpy((char *)record + bytes - sizeof(tail), &tail, sizeof(tail));
	return 0;
}

int journal_unwait(struct journal *journal, const char *key, int64_t arrival)
{
	const int status = lmdb_remove(journal->lmdb, ARRIVALS, id_key(&arrival));

	return status ? status : lmdb_remove(journal->lmdb, WAITING, text_key(key));
}

int journal_unwait_all(struct journal *j, const char *const *keys, int n)
{
	int status = 0;

	for (int i = 0; i < n && !status; i++) {
		const void *record;
		struct tail tail;
		size_t size;

		status = lmdb_peek(j->lmdb, WAITING, text_key(keys[i]), &record, &size);
		if (status || !record || !tail_get(j, record, size, &tail))
			continue;
		status = journal_unwait(j, keys[i], tail.arrival);
	}
	return status;
}

void journal_leave(struct journal *journal, const char *const *keys, int n)
{
	journal->leaving = keys;
	journal->leaving_count = n;
}

static int drop_body(struct lmdb *lmdb, const void *context)
{
	struct journal *j = (struct journal *)context;

	(void)lmdb;
	return journal_unwait_all(j, j->leaving, j->leaving_count);
}

int journal_drop(struct journal *journal, const char *const *keys, int n, struct err *err)
{
	int code;

	journal_leave(journal, keys, n);
	code = lmdb_write(journal->lmdb, drop_body, journal, "cannot drop inputs", err);
	journal_leave(journal, NULL, 0);
	return code;
}

/* The oldest inputs give way, except those that were taken. */
static int make_way(struct journal *j, struct header *header, int64_t waiting)
{
	char key[JOURNAL_KEY + 1];
	const void *record;
	size_t size;
	int status = 0;

	for (; !status && waiting > j->waiting && header->oldest < header->arrived;
		header->oldest++) {
		status = lmdb_peek(j->lmdb, ARRIVALS, id_key(&header->oldest), &record, &size);
		if (status || !key_copy(key, record, size) || journal_find_taken(j, key))
			continue;
		status = journal_unwait(j, key, header->oldest);
		waiting--;
	}
	return status;
}

static int wait_body(struct lmdb *lmdb, const void *context)
{
	const struct wait_job *job = context;
	struct journal *j = job->journal;
	int64_t waiting = journal_waiting(j);
	int status = 0;

	(void)lmdb;
	*job->header = j->header;
	for (int i = 0; i < job->n && !status; i++)
		status = input_put(job, i, &waiting);
	if (!status)
		status = make_way(j, job->header, waiting);
	if (!status)
		status = journal_put_notes(j);
	return status ? status : journal_put_header(j, job->header);
}

void journal_when(struct journal *journal, const int64_t *whens)
{
	journal->whens = whens;
}

int journal_wait(struct journal *journal, const char *const *keys, const float *inputs,
	const union target *guesses, const double *probabilities, int n, struct err *err)
{
	struct header header;
	const struct wait_job job = {
		journal, keys, inputs, guesses, probabilities, n, clock_wall(), &header};
	int code = keys_check(journal, keys, n, err);

	if (!code)
		code = lmdb_write(journal->lmdb, wait_body, &job, "cannot add inputs", err);
	if (code)
		return code;
	journal->header = header;
	journal_drop_notes(journal);
	return 0;
}

/* For use between lmdb_begin and lmdb_end. `guess` may be NULL. */
static int waiting_find(struct journal *j, const char *key, float *input, union target *guess,
	struct tail *tail, struct err *err)
{
	const void *record;
	size_t size, stored;
	const int code = lmdb_find(j->lmdb, WAITING, text_key(key), &record, &size, err);

	if (code)
		return code;
	if (!record)
		return err_set(err, ERR_INPUT, "no input waits under %s", key);
	if (tail_get(j, record, size, tail) &&
		journal_input_checksum(record, size - sizeof(*tail), tail) == tail->checksum) {
		stored = size - tail_bytes(j);
		journal_fill(j, record, stored, input);
		if (guess)
			journal_join_guess(j, tail->guesses, (const char *)record + stored, guess);
		return 0;
	}
	return err_set(err, ERR_FORMAT, "%s: the input of %s is damaged", j->folder, key);
}

int journal_look(struct journal *journal, const char *key, float *input, union target *guesses,
	bool *found, struct err *err)
{
	struct err why = {0};
	struct tail tail;
	int code = lmdb_begin(journal->lmdb, err);

	if (code)
		return code;
	code = waiting_find(journal, key, input, guesses, &tail, &why);
	lmdb_end(journal->lmdb);
	*found = !code;
	return code && code != ERR_INPUT ? err_set(err, code, "%s", why.message) : 0;
}

int journal_newest(struct journal *journal, float *input, union target *guesses, struct err *err)
{
	const int64_t arrival = journal->header.arrived - 1;
	char key[JOURNAL_KEY + 1] = "";
	const void *record;
	struct tail tail;
	size_t size;
	int code = lmdb_begin(journal->lmdb, err);

	if (code)
		return code;
	code = lmdb_find(journal->lmdb, ARRIVALS, id_key(&arrival), &record, &size, err);
	if (!code)
		key_copy(key, record, size);
	if (!code)
		code = waiting_find(journal, key, input, guesses, &tail, err);
	lmdb_end(journal->lmdb);
	return code;
}

static int taken_reserve(struct journal *j, struct err *err)
{
	const size_t room = 2 * j->taken_room, cells = target_guess(journal_width(j));
	struct taken *larger;
	union target *guesses;

	if (j->taken_count < j->taken_room)
		return 0;
	larger = mem_resize(j->taken, room, sizeof(*larger));
	if (larger)
		j->taken = larger;
	guesses = mem_resize(j->taken_guesses, room * cells, sizeof(*guesses));
	if (guesses)
		j->taken_guesses = guesses;
	if (!larger || !guesses)
		return err_memory(err, "a journal's keys", room * sizeof(*larger));
	j->taken_room = room;
	return 0;
}

int journal_take(struct journal *journal, const char *key, float *input, union target *guesses,
	struct err *err)
{
	struct taken *taken;
	union target *guess;
	struct tail tail;
	const void *record;
	size_t size;
	int64_t asked;
	int code = keys_check(journal, &key, 1, err);

	if (!code)
		code = taken_reserve(journal, err);
	if (!code)
		code = lmdb_begin(journal->lmdb, err);
	if (code)
		return code;
	guess = taken_guess(journal, journal->taken_count);
	code = waiting_find(journal, key, input, guess, &tail, err);
	if (!code)
		code = lmdb_find(
			journal->lmdb, ARRIVALS, id_key(&tail.arrival), &record, &size, err);
	asked = code ? 0 : key_time(record, size);
	lmdb_end(journal->lmdb);
	if (code)
		return code;
	taken = &journal->taken[journal->taken_count++];
	memcpy(taken->key, key, strlen(key) + 1);
	taken->arrival = tail.arrival;
	taken->probability = tail.probability;
	taken->asked = asked;
	taken->labelled = clock_wall();
	if (guesses)
		memcpy(guesses, guess, target_guess(journal_width(journal)) * sizeof(*guess));
	return 0;
}

struct label_job {
	struct journal *journal;
	const union target *labels;
	size_t n;
};

static int label_body(struct lmdb *lmdb, const void *context)
{
	const struct label_job *job = context;
	const struct journal *j = job->journal;
	const size_t width = (size_t)journal_width(j), label = width * sizeof(union target);
	int status = 0;

	for (size_t i = j->labelled; i < job->n && !status; i++) {
		const int64_t id = j->header.added + (int64_t)i;
		const size_t size = strlen(j->taken[i].key);
		void *record;

		status = lmdb_put(lmdb, LABELLED, id_key(&id), label + size + KEY_TIME, &record);
		if (status)
			break;
		memcpy(record, job->labels + i * width, label);
		key_put((char *)record + label, j->taken[i].key, size, j->taken[i].labelled);
	}
	if (!status)
		status = journal_put_weights(job->journal, (int)job->n);
	return status ? status : journal_put_notes(job->journal);
}

int journal_label(struct journal *journal, const union target *labels, int n, struct err *err)
{
	const struct label_job job = {journal, labels, (size_t)n};
	int code;

	if (job.n > journal->taken_count)
		return err_set(err, ERR_INPUT, "%d labels: only %zu inputs were taken", n,
			journal->taken_count);
	if (job.n <= journal->labelled)
		return 0;
	code = lmdb_write(journal->lmdb, label_body, &job, "cannot keep labels", err);
	if (code)
		return code;
	journal->labelled = job.n;
	journal_drop_notes(journal);
	return 0;
}

int journal_take_again(struct journal *journal, char key[JOURNAL_KEY + 1], float *input,
	union target *guesses, union target *label, struct err *err)
{
	const int64_t id = journal->header.added + (int64_t)journal->taken_count;
	const size_t cells = (size_t)journal_width(journal) * sizeof(*label);
	const void *record;
	size_t size;
	int64_t labelled = 0;
	int code = lmdb_begin(journal->lmdb, err);

	key[0] = '\0';
	if (code)
		return code;
	code = lmdb_find(journal->lmdb, LABELLED, id_key(&id), &record, &size, err);
	if (!code && size > cells) {
		memcpy(label, record, cells);
		key_copy(key, (const char *)record + cells, size - cells);
		labelled = key_time((const char *)record + cells, size - cells);
	}
	lmdb_end(journal->lmdb);
	if (code || !*key)
		return code;
	code = journal_take(journal, key, input, guesses, err);
	if (!code) {
		journal->taken[journal->taken_count - 1].labelled = labelled;
		journal->labelled = journal->taken_count;
	}
	return code;
}
