/*
 * What may happen to a journal: killed processes and power that goes lose nothing,
 * files that are cut off, foreign or of another make are refused, a full disk loses
 * nothing, memory may run out.
 */
#include "journal_check.h"
#include "cells.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Adds for ever, and says after each call how many there are. */
static void child_adds(int out)
{
	struct store *store;
	struct err err;

	if (store_in_journal(&store, in_folder("journal"), FLOATS, 1, &err))
		_exit(1);
	for (int n; !store_pending(store, &n, &err) && n > 0;) {
		samples_from(store_count(store), n, FLOATS);
		if (store_add(store, inputs, CELLS(labels), n, &err))
			_exit(2);
	}
	for (;;) {
		int64_t count = store_count(store);
		const int n = 1 + (int)(count % STEP);

		samples_from(count, n, FLOATS);
		if (store_add(store, inputs, CELLS(labels), n, &err))
			_exit(3);
		count += n;
		if (write(out, &count, sizeof(count)) != sizeof(count))
			_exit(4);
	}
}

/* Kills a child that adds after some acknowledgements; returns the last it gave. */
static int64_t kill_one(int acknowledgements, useconds_t delay)
{
	int64_t count = 0, last = 0;
	int ends[2], status;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0)
		child_adds(ends[1]);
	close(ends[1]);
	for (int i = 0; i < acknowledgements; i++)
		if (read(ends[0], &count, sizeof(count)) == sizeof(count))
			last = count;
	usleep(delay);
	kill(child, SIGKILL);
	while (read(ends[0], &count, sizeof(count)) == sizeof(count))
		last = count;
	close(ends[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	if (!WIFSIGNALED(status))
		fail_msg("the child ended by itself: %d", WEXITSTATUS(status));
	return last;
}

static void killed_processes_lose_nothing(void **state)
{
	for (int turn = 0; turn < 5; turn++) {
		const int64_t told = kill_one(5 + 3 * turn, (useconds_t)(turn * 370));
		struct store *store = store_with(FLOATS);

		if (store_stored(store) < told)
			fail_msg("kill %d: %d samples were acknowledged, %d are there", turn,
				(int)told, (int)store_stored(store));
		assert_true(told > 0);
		replay(store);
		for (int64_t id = 0; id < store_count(store); id++)
			assert_kept(store, id, FLOATS, true);
		store_free(store);
	}
}

static void data_write(off_t at, const void *bytes, size_t size)
{
	const int file = open(in_folder("journal/data.mdb"), O_WRONLY | O_CREAT, 0666);

	assert_true(file >= 0);
	assert_int_equal(pwrite(file, bytes, size, at), size);
	close(file);
}

static void assert_refused(size_t floats, int code, const char *words)
{
	struct store *store;
	struct err err = {0};

	assert_int_equal(store_in_journal(&store, in_folder("journal"), floats, 1, &err), code);
	assert_null(store);
	assert_says(err, words);
}

static void foreign_files_are_refused(void **state)
{
	static char noise[20000];
	struct journal *journal;
	struct err err = {0};

	assert_int_equal(mkdir(in_folder("journal"), 0777), 0);
	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (char)rng_below(draws, i, 256);
	data_write(0, noise, sizeof(noise));
	assert_refused(SMALL, ERR_FORMAT, "data.mdb is not a journal");
	assert_int_equal(truncate(in_folder("journal/data.mdb"), 100), 0);
	assert_refused(SMALL, ERR_FORMAT, "data.mdb is not a journal");
	/* As a process leaves it that was killed at once: it says nothing of inputs. */
	assert_int_equal(truncate(in_folder("journal/data.mdb"), 0), 0);
	assert_ok(journal_open(&journal, in_folder("journal"), 0, 1, &err), err);
	assert_int_equal(journal_floats(journal), 0);
	assert_int_equal(journal_added(journal), 0);
	journal_close(journal);
	store_free(store_with(SMALL));
	assert_refused(SMALL + 1, ERR_INPUT, "samples of 5 numbers, not 6");
	store_free(store_with(SMALL));
	remove(in_folder("journal/data.mdb"));
	remove(in_folder("journal/lock.mdb"));
	remove(in_folder("journal"));
	fclose(fopen(in_folder("journal"), "w"));
	assert_refused(SMALL, ERR_FILE, "journal: File exists");
}

/* Where the bytes stand in the file, from its end. */
static off_t data_find(const void *bytes, size_t size)
{
	static char content[1 << 22];
	const int file = open(in_folder("journal/data.mdb"), O_RDONLY);
	const ssize_t got = read(file, content, sizeof(content));

	close(file);
	for (ssize_t at = got - (ssize_t)size; at >= 0; at--)
		if (memcmp(content + at, bytes, size) == 0)
			return at;
	fail_msg("the bytes are not in the file");
	return 0;
}

static void another_version_is_refused(void **state)
{
	store_free(store_with(SMALL));
	data_write(data_find("retain-j", 8) + 8, &(uint32_t){7}, 4);
	assert_refused(SMALL, ERR_FORMAT, "a journal of version 7, not 3 or 4");
	data_write(data_find("retain-j", 8), "someone", 7);
	assert_refused(SMALL, ERR_FORMAT, "data.mdb is not a journal");
}

static void damaged_samples_are_found_out(void **state)
{
	struct store *store = store_with(SMALL);
	struct err err;

	add_next(store, 30, SMALL);
	store_free(store);
	data_write(data_find(inputs + (size_t)12 * SMALL, SMALL * sizeof(float)) + 7, "x", 1);
	store = store_with(SMALL);
	assert_kept(store, 11, SMALL, true);
	assert_int_equal(
		store_fetch(store, &(int64_t){12}, 1, inputs, CELLS(labels), &err), ERR_FORMAT);
	assert_says(err, "sample 12 is damaged");
	store_free(store);
}

/* Anywhere: refused, or whole because nothing was there. */
static void cut_files_are_refused(void **state)
{
	struct store *store = store_with(FLOATS);
	struct stat facts;
	off_t used;
	struct err err;
	int refused = 0, whole = 0;

	for (int i = 0; i < 6; i++)
		add_next(store, STEP, FLOATS);
	used = disk_bytes();
	store_free(store);
	assert_int_equal(rename(in_folder("journal/data.mdb"), in_folder("data")), 0);
	assert_int_equal(stat(in_folder("data"), &facts), 0);
	/* Wide apart, and near the beginning close together. */
	for (off_t size = facts.st_size; size > 0; size -= size > 40000 ? 61417 : 1777) {
		char command[1000];

		snprintf(command, sizeof(command), "cp %s %s", in_folder("data"),
			in_folder("journal/data.mdb"));
		assert_int_equal(system(command), 0);
		assert_int_equal(truncate(in_folder("journal/data.mdb"), size), 0);
		if (store_in_journal(&store, in_folder("journal"), FLOATS, 1, &err)) {
			assert_int_equal(err.code, ERR_FORMAT);
			assert_says(err, "cut off");
			assert_true(size < used + 65536);
			refused++;
			continue;
		}
		whole++;
		assert_int_equal(replay(store), 6);
		store_free(store);
	}
	assert_true(refused > 5 && whole > 0);
	remove(in_folder("data"));
}

static char *data_read(size_t *size)
{
	const int file = open(in_folder("journal/data.mdb"), O_RDONLY);
	struct stat facts;
	char *bytes;

	assert_true(file >= 0 && !fstat(file, &facts));
	*size = (size_t)facts.st_size;
	bytes = malloc(*size);
	assert_int_equal(read(file, bytes, *size), facts.st_size);
	close(file);
	return bytes;
}

/*
 * Power goes while a call writes: of its pages some have reached the disk, in any
 * order, but not yet the one that points to them, which is written after a sync.
 * All that earlier calls have added is there, and adding goes on.
 */
static void a_write_that_is_torn_loses_nothing(void **state)
{
	enum { PAGE = 4096, METAS = 2 };
	struct store *store = store_with(FLOATS);
	size_t sizes[2];
	char *before, *after;
	int torn = 0;

	for (int i = 0; i < 3; i++)
		add_next(store, STEP, FLOATS);
	before = data_read(&sizes[0]);
	add_next(store, STEP, FLOATS);
	after = data_read(&sizes[1]);
	store_free(store);
	assert_int_equal(sizes[0], sizes[1]);
	for (uint64_t turn = 0; turn < 12; turn++) {
		data_write(0, before, sizes[0]);
		for (size_t at = METAS * PAGE; at < sizes[0]; at += PAGE)
			if (memcmp(before + at, after + at, PAGE) &&
				rng_below(draws, turn * 100000 + at / PAGE, 2)) {
				/* Half of the page, every third time. */
				data_write((off_t)at, after + at, turn % 3 ? PAGE : PAGE / 2);
				torn++;
			}
		store = store_with(FLOATS);
		assert_int_equal(store_stored(store), 3 * STEP);
		assert_int_equal(replay(store), 3);
		add_next(store, STEP, FLOATS);
		for (int64_t id = 0; id < 4 * STEP; id++)
			assert_kept(store, id, FLOATS, true);
		store_free(store);
	}
	assert_true(torn > 50);
	/* And with all of them and the one that points to them it has the fourth. */
	data_write(0, after, sizes[1]);
	store = store_with(FLOATS);
	assert_int_equal(store_stored(store), 4 * STEP);
	store_free(store);
	free(before);
	free(after);
}

static void files_up_to(rlim_t size)
{
	const struct rlimit limit = {size, RLIM_INFINITY};

	signal(SIGXFSZ, size == RLIM_INFINITY ? SIG_DFL : SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Adds until it fails; returns how many there are then. */
static int64_t add_until_full(struct store *store)
{
	int64_t count = 0;
	struct err err;
	int code = 0;

	for (int i = 0; i < 100 && !code; i++) {
		count = store_count(store);
		samples_from(count, STEP, FLOATS);
		code = store_add(store, inputs, CELLS(labels), STEP, &err);
	}
	assert_int_equal(code, ERR_FILE);
	assert_says(err, "journal: cannot add samples: ");
	return count;
}

/* The first time the map cannot grow, the second time pages cannot be written. */
static void a_full_disk_loses_nothing(void **state)
{
	struct store *store = store_with(FLOATS);
	struct stat facts;

	for (int turn = 0; turn < 2; turn++) {
		int64_t count;

		files_up_to(turn ? (rlim_t)disk_bytes() + 300000 : 3000000);
		count = add_until_full(store);
		files_up_to(RLIM_INFINITY);
		assert_true(count > 0);
		assert_int_equal(store_count(store), count);
		assert_int_equal(store_stored(store), count);
		assert_kept(store, count - 1, FLOATS, true);
		/* There is room again. */
		add_next(store, STEP, FLOATS);
		add_next(store, STEP, FLOATS);
		store_free(store);
		store = store_with(FLOATS);
		replay(store);
		assert_int_equal(store_count(store), count + 2 * STEP);
		for (int64_t id = 0; id < store_count(store); id++)
			assert_kept(store, id, FLOATS, true);
		assert_int_equal(stat(in_folder("journal/data.mdb"), &facts), 0);
		assert_true(facts.st_size > disk_bytes() + 300000);
	}
	store_free(store);
}

/* What was held is not there, and nothing goes on as if it were. */
static void a_full_disk_may_undo_what_is_held(void **state)
{
	struct store *store = store_with(FLOATS);
	struct err err;

	add_next(store, STEP, FLOATS);
	journal_hold(store_journal(store));
	add_next(store, STEP, FLOATS);
	files_up_to((rlim_t)disk_bytes() + 5000);
	assert_int_equal(journal_settle(store_journal(store), &err), ERR_FILE);
	assert_says(err, "journal: cannot keep what came: ");
	files_up_to(RLIM_INFINITY);
	assert_int_equal(journal_settle(store_journal(store), &err), ERR_FILE);
	assert_says(err, "writing failed before; open it again");
	samples_from(0, 1, FLOATS);
	assert_int_equal(store_add(store, inputs, CELLS(labels), 1, &err), ERR_FILE);
	assert_int_not_equal(state_save(in_folder("state"), visit, store, &err), 0);
	store_free(store);
	store = store_with(FLOATS);
	assert_int_equal(store_stored(store), STEP);
	replay(store);
	add_next(store, STEP, FLOATS);
	store_free(store);
}

/* The file cannot become as long as holding wants it. */
static void holding_does_without_room_to_spare(void **state)
{
	struct store *store = store_with(FLOATS);
	int64_t count;

	files_up_to(3000000);
	journal_hold(store_journal(store));
	count = add_until_full(store);
	files_up_to(RLIM_INFINITY);
	store_free(store);
	store = store_with(FLOATS);
	assert_true(count > 0);
	assert_int_equal(store_stored(store), count);
	store_free(store);
}

static void forgetting_makes_room_on_a_full_disk(void **state)
{
	struct store *store = store_with(FLOATS);
	int64_t count, after;

	files_up_to(3000000);
	count = add_until_full(store);
	for (int64_t id = 0; id < count / 2; id++)
		store_forget(store, id);
	checkpoint(store);
	checkpoint(store);
	after = add_until_full(store);
	files_up_to(RLIM_INFINITY);
	if (after < count + count / 3)
		fail_msg("%d samples were forgotten, and only %d could be added", (int)(count / 2),
			(int)(after - count));
	for (int64_t id = 0; id < after; id++)
		assert_kept(store, id, FLOATS, id >= count / 2);
	store_free(store);
}

static int try_storing(void *context, struct err *err)
{
	static const char *const keys[] = {"key"};
	struct store *store;
	float input[SMALL];
	int code;

	remove(in_folder("journal/data.mdb"));
	remove(in_folder("journal/lock.mdb"));
	code = store_in_journal(&store, in_folder("journal"), SMALL, 1, err);
	for (int i = 0; i < 5 && !code; i++)
		code = store_add(store, inputs, CELLS(labels), STEP, err);
	if (!code)
		code = journal_wait(store_journal(store), keys, inputs, NULL, NULL, 1, err);
	if (!code)
		code = journal_take(store_journal(store), "key", input, NULL, err);
	for (int64_t id = 0; id < 5 * STEP && !code; id++)
		store_forget(store, id);
	if (!code)
		code = state_save(in_folder("state"), visit, store, err);
	if (!code)
		code = store_checkpoint(store, err);
	if (!code)
		code = state_load(in_folder("state"), visit, store, err);
	store_free(store);
	return code;
}

static void memory_may_run_out(void **state)
{
	samples_from(0, STEP, SMALL);
	assert_true(each_allocation_fails(try_storing, NULL) > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		journal_test(killed_processes_lose_nothing),
		journal_test(foreign_files_are_refused),
		journal_test(another_version_is_refused),
		journal_test(damaged_samples_are_found_out),
		journal_test(cut_files_are_refused),
		journal_test(a_write_that_is_torn_loses_nothing),
		journal_test(a_full_disk_loses_nothing),
		journal_test(a_full_disk_may_undo_what_is_held),
		journal_test(holding_does_without_room_to_spare),
		journal_test(forgetting_makes_room_on_a_full_disk),
		journal_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
