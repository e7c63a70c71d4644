/*
 * The journal's samples. Adding is one transaction: samples, header, and the inputs
 * that had waited. Keys and waiting are in journal_keys.c.
 */
#include "store/journal.h"

#include <math.h>

#include "base/checksum.h"
#include "base/mem.h"
#include "store/journal_impl.h"

enum { TAKEN_LEAST = 16 };

static const struct lmdb_table list[] = {
	[ABOUT] = {"about", false},
	[SAMPLES] = {"samples", true},
	[WAITING] = {"waiting", false},
	[ARRIVALS] = {"arrivals", true},
	[LABELLED] = {"labelled", true},
	[KEYS] = {"keys", true},
	[DONE] = {"done", false},
	[SAID] = {"said", true, true},
	[WEIGHTS] = {"weights", true, true},
};

static const char magic[] = "retain-j";

static size_t shortest(const struct journal *journal)
{
	return (size_t)journal->header.floats * sizeof(float);
}

size_t journal_stored(const struct journal *journal, const void *input)
{
	const float *numbers = input;
	const size_t least = (size_t)journal->header.floats;
	size_t count = journal->input / sizeof(float);

	while (count > least && isnan(numbers[count - 1]))
		count--;
	return count * sizeof(float);
}

bool journal_fits(const struct journal *journal, size_t record, size_t behind, size_t *stored)
{
	*stored = record > behind ? record - behind : 0;
	return *stored >= shortest(journal) && *stored <= journal->input &&
	       *stored % sizeof(float) == 0;
}

void journal_fill(const struct journal *journal, const void *record, size_t stored, void *input)
{
	float *numbers = input;

	memcpy(input, record, stored);
	for (size_t i = stored / sizeof(float); i < journal->input / sizeof(float); i++)
		numbers[i] = NAN;
}

void journal_widen(struct journal *journal, size_t floats)
{
	journal->input = floats * sizeof(float);
}

uint32_t journal_sample_checksum(
	int64_t id, const void *input, size_t size, const struct trailer *trailer)
{
	uint32_t sum = checksum_add(0, &id, sizeof(id));

	sum = checksum_add(sum, input, size);
	return checksum_add(sum, trailer, offsetof(struct trailer, checksum));
}

int journal_put_header(struct journal *journal, const struct header *header)
{
	void *record;
	const int status =
		lmdb_put(journal->lmdb, ABOUT, text_key("header"), sizeof(*header), &record);

	if (!status)
		memcpy(record, header, sizeof(*header));
	return status;
}

struct header_job {
	struct journal *journal;
	struct header header;
};

static int header_body(struct lmdb *lmdb, const void *context)
{
	const struct header_job *job = context;

	return journal_put_header(job->journal, &job->header);
}

static int header_check(struct journal *j, size_t floats, int width, struct err *err)
{
	const struct header *h = &j->header;

	if (memcmp(h->magic, magic, sizeof(h->magic)) != 0)
		return err_set(err, ERR_FORMAT, "%s: data.mdb is not a journal", j->folder);
	if (h->version != JOURNAL_VERSION && h->version != JOURNAL_BEFORE)
		return err_set(err, ERR_FORMAT, "%s: is a journal of version %u, not %d or %d",
			j->folder, h->version, JOURNAL_BEFORE, JOURNAL_VERSION);
	if (floats && h->floats != floats)
		return err_set(err, ERR_INPUT,
			"%s: is a journal of samples of %llu numbers, not %zu", j->folder,
			(unsigned long long)h->floats, floats);
	if (width && journal_width(j) != width)
		return err_set(err, ERR_INPUT, "%s: is a journal of targets of %d numbers, not %d",
			j->folder, journal_width(j), width);
	if (h->width > TARGET_WIDTH || h->added < journal_kept(j) || h->trimmed < 0 ||
		h->trimmed > h->added || h->oldest < 0 || h->oldest > h->arrived ||
		h->remembered < 0 || h->remembered > h->added)
		return err_set(err, ERR_FORMAT, "%s: data.mdb is damaged", j->folder);
	return 0;
}

/* Tables that have only just been made get their header. */
static int header_open(struct journal *j, size_t floats, int width, struct err *err)
{
	struct header_job job = {j, {.version = JOURNAL_VERSION,
					    .width = (uint16_t)(width > 1 ? width : 0),
					    .floats = floats}};
	const void *record;
	const bool bare = lmdb_count(j->lmdb, ABOUT) == 0 && journal_kept(j) == 0;
	size_t size;
	int code;

	/* A process that was killed before there was a header kept nothing. */
	if (bare && !floats)
		return 0;
	if (bare) {
		memcpy(job.header.magic, magic, sizeof(job.header.magic));
		code = lmdb_write(j->lmdb, header_body, &job, "cannot make it", err);
		if (code)
			return code;
	}
	code = lmdb_begin(j->lmdb, err);
	if (code)
		return code;
	code = lmdb_find(j->lmdb, ABOUT, text_key("header"), &record, &size, err);
	if (!code && size == sizeof(j->header))
		memcpy(&j->header, record, sizeof(j->header));
	lmdb_end(j->lmdb);
	if (!code)
		code = header_check(j, floats, width, err);
	if (code)
		return code;
	j->input = shortest(j);
	if (j->header.version == JOURNAL_VERSION)
		return 0;
	return lmdb_reads_only(j->lmdb)
		       ? err_set(err, ERR_STATE,
				 "%s: is a journal of version %d; start retain in its folder once, "
				 "which makes it one of version %d",
				 j->folder, JOURNAL_BEFORE, JOURNAL_VERSION)
		       : journal_upgrade(j, err);
}

/* What a journal is opened by: for changes, or as a snapshot. */
typedef int open_fn(struct lmdb **lmdb, const char *folder, const struct lmdb_table *list,
	int count, struct err *err);

static int open_tables(struct journal **journal, const char *folder, size_t floats, int width,
	open_fn *open, struct err *err)
{
	struct journal *made = mem_new(1, sizeof(*made));
	int code;

	*journal = NULL;
	if (!made)
		return err_memory(err, "a journal", sizeof(*made));
	made->folder = mem_text(folder);
	made->taken_room = TAKEN_LEAST;
	made->taken = mem_new(made->taken_room, sizeof(*made->taken));
	made->waiting = JOURNAL_WAITING;
	made->remembered = JOURNAL_REMEMBERED;
	code = made->folder && made->taken
		       ? 0
		       : err_memory(err, "a journal", TAKEN_LEAST * sizeof(*made->taken));
	if (!code)
		code = open(&made->lmdb, folder, list, sizeof(list) / sizeof(list[0]), err);
	if (!code)
		code = header_open(made, floats, width, err);
	if (!code) {
		made->taken_guesses = mem_new(
			made->taken_room * target_guess(journal_width(made)), sizeof(union target));
		code = made->taken_guesses ? 0 : err_memory(err, "a journal", TAKEN_LEAST);
	}
	if (code) {
		journal_close(made);
		return code;
	}
	*journal = made;
	return 0;
}

int journal_open(
	struct journal **journal, const char *folder, size_t floats, int width, struct err *err)
{
	return open_tables(journal, folder, floats, width, lmdb_open, err);
}

int journal_open_snapshot(struct journal **journal, const char *folder, struct err *err)
{
	return open_tables(journal, folder, 0, 0, lmdb_open_snapshot, err);
}

void journal_close(struct journal *journal)
{
	if (!journal)
		return;
	lmdb_close(journal->lmdb);
	journal_drop_notes(journal);
	mem_free(journal->notes);
	mem_free(journal->taken);
	mem_free(journal->taken_guesses);
	mem_free(journal->folder);
	mem_free(journal);
}

size_t journal_floats(const struct journal *journal)
{
	return (size_t)journal->header.floats;
}

int journal_width(const struct journal *journal)
{
	return journal->header.width ? journal->header.width : 1;
}

void journal_part_guess(const struct journal *journal, const union target *guess,
	union target ends[TARGET_GUESS], union target *more)
{
	const size_t between = more_guess(journal);

	memcpy(ends, guess, NUMBER_OUTPUTS * sizeof(*ends));
	memcpy(more, guess + NUMBER_OUTPUTS, between * sizeof(*more));
	memcpy(ends + NUMBER_OUTPUTS, guess + NUMBER_OUTPUTS + between,
		(TARGET_GUESS - NUMBER_OUTPUTS) * sizeof(*ends));
}

void journal_join_guess(const struct journal *journal, const union target ends[TARGET_GUESS],
	const void *more, union target *guess)
{
	const size_t between = more_guess(journal);

	memcpy(guess, ends, NUMBER_OUTPUTS * sizeof(*ends));
	memcpy(guess + NUMBER_OUTPUTS, more, between * sizeof(*guess));
	memcpy(guess + NUMBER_OUTPUTS + between, ends + NUMBER_OUTPUTS,
		(TARGET_GUESS - NUMBER_OUTPUTS) * sizeof(*ends));
}

void journal_hold(struct journal *journal)
{
	lmdb_hold(journal->lmdb);
}

int journal_settle(struct journal *journal, struct err *err)
{
	return lmdb_settle(journal->lmdb, err);
}

struct lmdb *journal_tables(struct journal *journal)
{
	return journal->lmdb;
}

int64_t journal_added(const struct journal *journal)
{
	return journal->header.added;
}

int64_t journal_kept(const struct journal *journal)
{
	return lmdb_count(journal->lmdb, SAMPLES);
}

int64_t journal_trimmed(const struct journal *journal)
{
	return journal->header.trimmed;
}

struct add_job {
	struct journal *journal;
	const float *inputs;
	const union target *labels;
	int n;
	struct header *header; /* what it will be */
};

/* The guess of the i-th sample of a call, in two parts. */
static void guess_copy(
	const struct journal *j, size_t i, union target ends[TARGET_GUESS], union target *more)
{
	const size_t cells = target_guess(journal_width(j));
	union target none[TARGET_GUESS_MOST];
	const union target *own = j->guesses ? j->guesses + i * cells : none;

	for (size_t k = 0; k < cells; k++)
		none[k] = TARGET_NONE;
	if (i < j->taken_count)
		own = taken_guess(j, i);
	journal_part_guess(j, own, ends, more);
}

static int taken_remember(struct journal *j, int i, int64_t id, const struct trailer *trailer,
	const union target *more, const void *input)
{
	const struct done done = {
		.id = id,
		.probability = j->taken[i].probability,
		.label = trailer->label,
		.prediction = trailer->guesses[0],
		.input = checksum_add(0, input, journal_stored(j, input)),
		.has_input = true,
	};

	return journal_remember(j, j->taken[i].key, &done, more);
}

static int sample_put(const struct add_job *job, int i)
{
	struct journal *j = job->journal;
	const int64_t id = j->header.added + i;
	const char *input = (const char *)job->inputs + (size_t)i * j->input;
	const size_t stored = journal_stored(j, input), labels = more_label(j);
	const size_t cells = (labels + more_guess(j)) * sizeof(union target);
	const union target *label = job->labels + (size_t)i * (labels + 1);
	struct trailer trailer = {.label = *label, .follow = job->n - 1 - i};
	union target more[TARGET_WIDTH - 1 + MORE_GUESS_MOST];
	void *record;
	const int status =
		lmdb_put(j->lmdb, SAMPLES, id_key(&id), stored + cells + sizeof(trailer), &record);

	if (status)
		return status;
	memcpy(more, label + 1, labels * sizeof(*more));
	guess_copy(j, (size_t)i, trailer.guesses, more + labels);
	if (j->mark)
		trailer.mark = *j->mark;
	memcpy(record, input, stored);
	memcpy((char *)record + stored, more, cells);
	trailer.checksum = journal_sample_checksum(id, record, stored + cells, &trailer);
	memcpy((char *)record + stored + cells, &trailer, sizeof(trailer));
	return (size_t)i < j->taken_count ? taken_remember(j, i, id, &trailer, more, input) : 0;
}

static int add_body(struct lmdb *lmdb, const void *context)
{
	const struct add_job *job = context;
	struct journal *j = job->journal;
	int status = 0;

	*job->header = j->header;
	job->header->added += job->n;
	for (size_t i = 0; i < j->taken_count && !status; i++)
		status = journal_unwait(j, j->taken[i].key, j->taken[i].arrival);
	for (int64_t id = j->header.added; id < j->header.added + (int64_t)j->labelled && !status;
		id++)
		status = lmdb_remove(lmdb, LABELLED, id_key(&id));
	for (int i = 0; i < job->n && !status; i++) {
		status = sample_put(job, i);
		if (!status)
			status = journal_say(j, i, job->n, j->header.added + i);
	}
	if (!status)
		status = journal_unwait_all(j, j->leaving, j->leaving_count);
	if (!status)
		status = journal_put_weights(j, job->n);
	if (!status)
		status = journal_unremember(j, job->header);
	if (!status)
		status = journal_put_notes(j);
	return status ? status : journal_put_header(j, job->header);
}

int journal_add(struct journal *journal, const float *inputs, const union target *labels, int n,
	struct err *err)
{
	struct header header;
	const struct add_job job = {journal, inputs, labels, n, &header};
	int code;

	if (n == 0)
		return 0;
	code = lmdb_write(journal->lmdb, add_body, &job, "cannot add samples", err);
	if (!code) {
		journal->header = header;
		journal->taken_count = journal->labelled = 0;
		journal_drop_notes(journal);
	}
	return code;
}

void journal_beside(
	struct journal *journal, const union target *guesses, const struct journal_mark *mark)
{
	journal->guesses = guesses;
	journal->mark = mark;
}

/* What is stored of the input, and the cells behind it, are valid until lmdb_end. */
static int sample_find(struct journal *j, int64_t id, const void **input, size_t *stored,
	struct trailer *trailer, struct err *err)
{
	const size_t cells = (more_label(j) + more_guess(j)) * sizeof(union target);
	size_t size;
	const int code = lmdb_find(j->lmdb, SAMPLES, id_key(&id), input, &size, err);

	if (code)
		return code;
	if (!*input)
		return err_set(err, ERR_INPUT, "sample %lld has %s", (long long)id,
			id >= 0 && id < j->header.added ? "been forgotten" : "not been added");
	if (journal_fits(j, size, cells + sizeof(*trailer), stored)) {
		memcpy(trailer, (const char *)*input + *stored + cells, sizeof(*trailer));
		if (journal_sample_checksum(id, *input, *stored + cells, trailer) ==
			trailer->checksum)
			return 0;
	}
	return err_set(err, ERR_FORMAT, "%s: sample %lld is damaged", j->folder, (long long)id);
}

int journal_read(struct journal *journal, const int64_t *ids, int n, float *inputs,
	union target *labels, struct err *err)
{
	struct trailer trailer = {0};
	const void *input;
	size_t stored = 0;
	int code = lmdb_begin(journal->lmdb, err);

	if (code)
		return code;
	for (int i = 0; i < n && !code; i++) {
		const size_t more = more_label(journal);
		union target *label = labels + (size_t)i * (more + 1);

		code = sample_find(journal, ids[i], &input, &stored, &trailer, err);
		if (code)
			break;
		journal_fill(journal, input, stored, (char *)inputs + (size_t)i * journal->input);
		*label = trailer.label;
		memcpy(label + 1, (const char *)input + stored, more * sizeof(*label));
	}
	lmdb_end(journal->lmdb);
	return code;
}

int journal_guesses(
	struct journal *journal, const int64_t *ids, int n, union target *guesses, struct err *err)
{
	struct trailer trailer = {0};
	const void *input;
	size_t stored = 0;
	int code = lmdb_begin(journal->lmdb, err);

	if (code)
		return code;
	for (int i = 0; i < n && !code; i++) {
		code = sample_find(journal, ids[i], &input, &stored, &trailer, err);
		if (!code)
			journal_join_guess(journal, trailer.guesses,
				(const char *)input + stored +
					more_label(journal) * sizeof(union target),
				guesses + (size_t)i * target_guess(journal_width(journal)));
	}
	lmdb_end(journal->lmdb);
	return code;
}

bool journal_has(struct journal *journal, int64_t id)
{
	const void *record;
	size_t size;

	if (lmdb_begin(journal->lmdb, NULL))
		return false;
	lmdb_find(journal->lmdb, SAMPLES, id_key(&id), &record, &size, NULL);
	lmdb_end(journal->lmdb);
	return record != NULL;
}

/* All that is kept with a sample. */
static int trailer_read(struct journal *j, int64_t id, struct trailer *trailer, struct err *err)
{
	const void *input;
	size_t stored = 0;
	int code = lmdb_begin(j->lmdb, err);

	if (code)
		return code;
	code = sample_find(j, id, &input, &stored, trailer, err);
	lmdb_end(j->lmdb);
	return code;
}

int journal_call(struct journal *journal, int64_t id, int *n, struct err *err)
{
	struct trailer trailer;
	const int code = trailer_read(journal, id, &trailer, err);

	*n = code ? 0 : trailer.follow + 1;
	return code;
}

int journal_marked(struct journal *journal, int64_t id, struct journal_mark *mark, struct err *err)
{
	struct trailer trailer;
	const int code = trailer_read(journal, id, &trailer, err);

	if (!code)
		*mark = trailer.mark;
	return code;
}

struct trim_job {
	struct journal *journal;
	const int64_t *ids;
	size_t n;
	struct header header;
};

static int trim_body(struct lmdb *lmdb, const void *context)
{
	const struct trim_job *job = context;
	int status = 0;

	for (size_t i = 0; i < job->n && !status; i++) {
		status = lmdb_remove(lmdb, SAMPLES, id_key(job->ids + i));
		if (!status)
			status = lmdb_remove(lmdb, WEIGHTS, id_key(job->ids + i));
	}
	return status ? status : journal_put_header(job->journal, &job->header);
}

static int unsay_body(struct lmdb *lmdb, const void *context)
{
	const struct trim_job *job = context;
	int status = 0;

	for (size_t i = 0; i < job->n && !status; i++)
		status = journal_unsay(job->journal, job->ids[i]);
	return status;
}

int journal_trim(
	struct journal *journal, const int64_t *ids, size_t n, int64_t needed, struct err *err)
{
	struct trim_job job = {journal, ids, n, journal->header};
	int code;

	if (needed > job.header.trimmed)
		job.header.trimmed = needed;
	code = journal_settle(journal, err);
	if (!code)
		code = lmdb_write(journal->lmdb, trim_body, &job, "cannot remove samples", err);
	if (code)
		return code;
	journal->header = job.header;
	/* Freed space can be used one transaction later. On a full disk no other would succeed,
	 * so an empty one is made now, and what stands beside the samples goes in the next. */
	job.n = 0;
	code = lmdb_write(journal->lmdb, trim_body, &job, "cannot remove samples", err);
	job.n = n;
	return code ? code
		    : lmdb_write(journal->lmdb, unsay_body, &job, "cannot remove samples", err);
}
