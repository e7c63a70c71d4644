/*
 * Memories through retain.h: draws as by hand and as those of a run that was killed, records of any
 * length, evictions, marks, children, readers, damage.
 */
#include "learner.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEP = 24, BATCH = 32, ROOM = 400 };

static struct retain_err err;

static struct retain_memory *memory_of(const char *place, const char *const *settings)
{
	struct retain_config *config = retain_config_new();
	struct retain_memory *memory;

	for (const char *const *s = settings; s && *s; s += 2)
		assert_ok(retain_config_set(config, s[0], s[1], &err), err);
	assert_ok(retain_memory_open(&memory, config, place, &err), err);
	retain_config_free(config);
	return memory;
}

/* The bytes of record i: from 0 to 399 of them. */
static size_t record_of(int64_t i, unsigned char bytes[ROOM])
{
	const size_t size = (size_t)(i * 37 % ROOM);

	for (size_t b = 0; b < size; b++)
		bytes[b] = (unsigned char)(i * 31 + (int64_t)b * 7);
	return size;
}

static int try_step(struct retain_memory *memory, int64_t first, int n)
{
	unsigned char bytes[STEP * 2][ROOM];
	struct retain_item items[STEP * 2] = {0};
	int64_t got = -1;
	int code;

	for (int i = 0; i < n; i++) {
		items[i].bytes = bytes[i];
		items[i].size = record_of(first + i, bytes[i]);
		items[i].label = (int32_t)((first + i) % 5);
	}
	code = retain_memory_add(memory, items, (size_t)n, &got, &err);
	assert_true(code || got == first);
	return code;
}

static void add_step(struct retain_memory *memory, int step)
{
	assert_ok(try_step(memory, (int64_t)step * STEP, STEP), err);
}

static struct retain_memory_facts facts_of(struct retain_memory *memory)
{
	struct retain_memory_facts facts;

	assert_ok(retain_memory_facts(memory, &facts, &err), err);
	return facts;
}

static void assert_reads(struct retain_memory *memory, const int64_t *ids, size_t n)
{
	unsigned char bytes[BATCH * ROOM], expected[ROOM];
	size_t offsets[BATCH + 1];
	int32_t labels[BATCH];

	assert_ok(retain_memory_read(memory, ids, n, bytes, sizeof(bytes), offsets, labels, &err),
		err);
	for (size_t i = 0; i < n; i++) {
		const size_t size = record_of(ids[i], expected);

		assert_int_equal(offsets[i + 1] - offsets[i], size);
		assert_memory_equal(bytes + offsets[i], expected, size);
		assert_int_equal(labels[i], ids[i] % 5);
	}
}

/* A sum over what iteration k draws and reads; every record is what was added. */
static uint64_t draw(struct retain_memory *memory, int64_t k)
{
	int64_t ids[BATCH];
	float weights[BATCH];
	unsigned char fresh[BATCH];
	const int64_t newest = facts_of(memory).records - STEP;
	uint64_t sum = 0;
	double total = 0;
	size_t drawn;

	assert_ok(retain_memory_draw(memory, k, ids, weights, fresh, BATCH, &drawn, &err), err);
	assert_int_equal(drawn, BATCH);
	assert_reads(memory, ids, BATCH);
	for (int i = 0; i < BATCH; i++) {
		sum = sum * 31 + (uint64_t)ids[i];
		total += (double)weights[i];
		assert_int_equal(fresh[i], ids[i] >= newest);
	}
	assert_true(fabs(total - 1) < 1e-5);
	assert_ok(retain_memory_draw_held(memory, k, ids, BATCH, &drawn, &err), err);
	if (drawn)
		assert_reads(memory, ids, BATCH);
	for (size_t i = 0; i < drawn; i++)
		sum = sum * 31 + (uint64_t)ids[i];
	return sum;
}

#define LIMITED(kind)                                                                              \
	{                                                                                          \
		"replay.pool", kind, "replay.limit", "50", "replay.holdout", "0.2",                \
			"replay.validation_limit", "10", "replay.objective", "mixed", "run.seed",  \
			"3", NULL                                                                  \
	}

static const char *const kinds[][13] = {
	LIMITED("reservoir"),
	LIMITED("fifo"),
	LIMITED("balanced"),
	LIMITED("halves"),
	LIMITED("unlimited"),
};
enum { RESERVOIR, FIFO, BALANCED, HALVES, UNLIMITED };

/* By hand: with a fifo of 3 and nothing held out, ids 2, 3 and 4 of 0 .. 4 are there. */
static void fifo_by_hand(void **state)
{
	struct retain_memory *memory = memory_of(
		NULL, SETTINGS("replay.pool", "fifo", "replay.limit", "3", "replay.holdout", "0"));
	int64_t ids[BATCH];
	size_t drawn, seen[5] = {0}, offsets[2];

	(void)state;
	assert_ok(retain_memory_draw(memory, 1, ids, NULL, NULL, BATCH, &drawn, &err), err);
	assert_int_equal(drawn, 0);
	assert_ok(try_step(memory, 0, 3), err);
	assert_ok(try_step(memory, 3, 2), err);
	for (int64_t k = 1; k < 20; k++) {
		assert_ok(retain_memory_draw(memory, k, ids, NULL, NULL, BATCH, &drawn, &err), err);
		for (int i = 0; i < BATCH; i++)
			seen[ids[i]]++;
	}
	assert_true(!seen[0] && !seen[1] && seen[2] > 100 && seen[3] > 100 && seen[4] > 100);
	assert_ok(retain_memory_draw_held(memory, 1, ids, BATCH, &drawn, &err), err);
	assert_int_equal(drawn, 0);
	/* What left in the last call is there until the next one is complete. */
	ids[0] = 0;
	assert_reads(memory, ids, 1);
	assert_ok(try_step(memory, 5, 1), err);
	assert_int_equal(
		retain_memory_read(memory, ids, 1, NULL, 0, offsets, NULL, &err), RETAIN_ERR_INPUT);
	assert_non_null(strstr(err.message, "record 0 is gone"));
	ids[0] = 6;
	assert_int_equal(
		retain_memory_read(memory, ids, 1, NULL, 0, offsets, NULL, &err), RETAIN_ERR_INPUT);
	assert_non_null(strstr(err.message, "record 6: there are 6"));
	retain_memory_close(memory);
}

/* Closed and opened after every step it draws what one in RAM draws. */
static void goes_on_where_it_stopped(void **state)
{
	char name[16];

	(void)state;
	for (int kind = 0; kind < (int)COUNT(kinds); kind++) {
		struct retain_memory *straight = memory_of(NULL, kinds[kind]);

		snprintf(name, sizeof(name), "m%d", kind);
		for (int step = 0; step < 12; step++) {
			struct retain_memory *memory = memory_of(in_folder(name), kinds[kind]);

			assert_int_equal(facts_of(memory).steps, step);
			add_step(straight, step);
			add_step(memory, step);
			for (int64_t k = step * 3; k < step * 3 + 3; k++)
				assert_true(draw(memory, k) == draw(straight, k));
			retain_memory_close(memory);
		}
		retain_memory_close(straight);
	}
}

/* Of equal sizes it takes no more than is held, and a sixteenth; evicted places are used again. */
static void places_are_used_again(void **state)
{
	enum { SIZE = 3072, HELD = 50, TEN = 10 };
	struct retain_memory *memory = memory_of(in_folder("m"),
		SETTINGS("replay.pool", "reservoir", "replay.limit", "50", "replay.holdout", "0"));
	static unsigned char picture[SIZE];
	struct retain_item items[TEN];
	struct stat facts;
	int64_t first;

	(void)state;
	for (int step = 0; step < 100; step++) {
		for (int i = 0; i < TEN; i++)
			items[i] = (struct retain_item){picture, SIZE, 0, 0};
		assert_ok(retain_memory_add(memory, items, TEN, &first, &err), err);
	}
	assert_int_equal(stat(in_folder("m/data"), &facts), 0);
	assert_int_equal(facts.st_size % SIZE, 0);
	assert_in_range(facts.st_size / SIZE, HELD, HELD + 3 * TEN);
	assert_int_equal(facts_of(memory).bytes, facts.st_size + 64 + 24 * 1000);
	retain_memory_close(memory);
}

/* Children add and draw forever, and are killed; the memory has whole steps, and draws the same. */
static void killed_it_has_whole_steps(void **state)
{
	const int kill_count = 12;
	struct retain_memory *memory, *straight;
	char name[16];
	int64_t steps = 0;

	(void)state;
	for (int turn = 0; turn < kill_count; turn++) {
		const int kind = turn % 3;
		pid_t child;

		snprintf(name, sizeof(name), "m%d", kind);
		child = fork();
		assert_true(child >= 0);
		if (!child) {
			memory = memory_of(in_folder(name), kinds[kind]);
			for (int step = (int)facts_of(memory).steps;; step++) {
				add_step(memory, step);
				draw(memory, step);
			}
		}
		usleep(15000 + (useconds_t)turn * 4000);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		memory = memory_of(in_folder(name), kinds[kind]);
		straight = memory_of(NULL, kinds[kind]);
		assert_int_equal(facts_of(memory).records, facts_of(memory).steps * STEP);
		steps += facts_of(memory).steps;
		for (int step = 0; step < facts_of(memory).steps; step++)
			add_step(straight, step);
		for (int64_t k = 0; k < 5 && facts_of(memory).steps; k++)
			assert_true(draw(memory, k) == draw(straight, k));
		retain_memory_close(memory);
		retain_memory_close(straight);
	}
	assert_true(steps > kill_count);
}

static void shell(const char *command)
{
	char words[600];

	snprintf(words, sizeof(words), "cd %s && %s", folder, command);
	assert_int_equal(system(words), 0);
}

/* What a power cut may leave of the last call: entries without bytes, or only some entries. */
static void a_torn_call_is_dropped(void **state)
{
	static const char *const cuts[] = {
		"truncate -s $((64 + 24 * 71)) m/index", /* the last of 72 entries, */
		"truncate -s -1 m/index",
		"truncate -s -32 m/data", /* and bytes */
		"dd if=/dev/zero of=m/index bs=1 seek=1216 count=24 conv=notrunc status=none",
		"true",
	};
	struct retain_memory *memory, *straight = memory_of(NULL, kinds[RESERVOIR]);

	(void)state;
	add_step(straight, 0);
	add_step(straight, 1);
	for (size_t i = 0; i < COUNT(cuts); i++) {
		const int64_t steps = strcmp(cuts[i], "true") ? 2 : 3;

		memory = memory_of(in_folder("m"), kinds[RESERVOIR]);
		shell("cp m/memory.state first.state");
		for (int step = 0; step < 3; step++)
			add_step(memory, step);
		retain_memory_close(memory);
		shell("mv first.state m/memory.state");
		shell(cuts[i]);
		memory = memory_of(in_folder("m"), kinds[RESERVOIR]);
		assert_int_equal(facts_of(memory).steps, steps);
		if (steps == 2)
			assert_true(draw(memory, 7) == draw(straight, 7));
		add_step(memory, (int)steps);
		retain_memory_close(memory);
		shell("rm -r m");
	}
	/* Of what was saved nothing may be missing. */
	memory = memory_of(in_folder("m"), kinds[RESERVOIR]);
	add_step(memory, 0);
	retain_memory_close(memory);
	shell("truncate -s -24 m/index");
	assert_int_equal(
		retain_memory_open(&memory, NULL, in_folder("m"), &err), RETAIN_ERR_FORMAT);
	assert_non_null(strstr(err.message, "m/index: was cut off: it has 23 entries"));
	retain_memory_close(straight);
}

/* Damage within a record is named when it is read, and the others are whole. */
static void damage_is_named(void **state)
{
	struct retain_memory *memory = memory_of(in_folder("m"), kinds[UNLIMITED]);
	int64_t ids[] = {1, 2};
	size_t offsets[2];
	unsigned char bytes[ROOM];
	int file;

	(void)state;
	add_step(memory, 0);
	file = open(in_folder("m/data"), O_WRONLY);
	/* Record 0 has no bytes and a place of 32, record 1 has 37. */
	assert_int_equal(pwrite(file, "x", 1, 32 + 5), 1);
	close(file);
	assert_int_equal(retain_memory_read(memory, ids, 1, bytes, ROOM, offsets, NULL, &err),
		RETAIN_ERR_FORMAT);
	assert_non_null(strstr(err.message, "record 1 is damaged"));
	assert_reads(memory, ids + 1, 1);
	assert_int_equal(retain_memory_read(memory, ids + 1, 1, bytes, 3, offsets, NULL, &err),
		RETAIN_ERR_INPUT);
	assert_non_null(strstr(err.message, "record 2 has 74 bytes, and there is room for 3"));
	retain_memory_close(memory);
}

/* Steps from..to-1, with the draws that a straight run has; a mark after each tenth step and 4. */
static void go_on(
	struct retain_memory *memory, int from, int to, const uint64_t *sums, int64_t *mark)
{
	for (int step = from; step < to; step++) {
		add_step(memory, step);
		assert_true(draw(memory, step) == sums[step]);
		if (step % 10 == 4)
			assert_ok(retain_memory_mark(memory, mark, &err), err);
	}
}

static void back_to(struct retain_memory *memory, int64_t mark, int step)
{
	assert_ok(retain_memory_back(memory, mark, &err), err);
	assert_int_equal(facts_of(memory).steps, step);
}

/* A program that goes back to either of its marks draws as before; other records are refused. */
static void goes_back_to_marks(void **state)
{
	enum { STEPS = 60 };
	uint64_t sums[STEPS];
	int64_t mark;
	char name[16];

	(void)state;
	for (int kind = 0; kind < (int)COUNT(kinds); kind++) {
		struct retain_memory *memory = memory_of(NULL, kinds[kind]);

		for (int step = 0; step < STEPS; step++) {
			add_step(memory, step);
			sums[step] = draw(memory, step);
		}
		retain_memory_close(memory);
		snprintf(name, sizeof(name), "m%d", kind);
		memory = memory_of(in_folder(name), kinds[kind]);
		go_on(memory, 0, 30, sums, &mark);
		assert_int_equal(mark, 3);
		assert_int_equal(retain_memory_back(memory, 1, &err), RETAIN_ERR_INPUT);
		assert_non_null(strstr(err.message, "mark 1: only the last two"));
		back_to(memory, 3, 25);
		assert_int_equal(facts_of(memory).stored, 30 * STEP);
		assert_int_equal(try_step(memory, 25 * STEP, STEP - 1), RETAIN_ERR_INPUT);
		assert_int_equal(try_step(memory, 25 * STEP + 1, STEP), RETAIN_ERR_INPUT);
		assert_non_null(strstr(err.message, "record 600 was added before with other"));
		go_on(memory, 25, 30, sums, &mark);
		/* Repeated with a mark at another place, and none where one was. */
		back_to(memory, 2, 15);
		go_on(memory, 15, 21, sums, &mark);
		assert_ok(retain_memory_mark(memory, &mark, &err), err);
		assert_int_equal(mark, 3);
		go_on(memory, 21, 24, sums, &mark);
		/* A process that ends here begins with the newest. */
		retain_memory_close(memory);
		memory = memory_of(in_folder(name), kinds[kind]);
		assert_int_equal(facts_of(memory).steps, 30);
		back_to(memory, 3, 21);
		go_on(memory, 21, 37, sums, &mark);
		assert_int_equal(mark, 5);
		back_to(memory, 4, 25);
		go_on(memory, 25, STEPS, sums, &mark);
		back_to(memory, mark, 55);
		go_on(memory, 55, STEPS, sums, &mark);
		retain_memory_close(memory);
	}
}

/* Children and readers read, and only that; a record that comes later is seen at once. */
static void children_and_readers_read(void **state)
{
	struct retain_memory *memory = memory_of(in_folder("m"), kinds[RESERVOIR]), *reader,
			     *second;
	int64_t ids[BATCH], first;
	struct retain_item item = {"x", 1, 0, 0};
	int pipes[2], status;
	size_t drawn;
	pid_t child;
	char byte;

	(void)state;
	add_step(memory, 0);
	assert_int_equal(pipe(pipes), 0);
	child = fork();
	if (!child) {
		const int64_t later[] = {STEP, STEP + 5};

		assert_int_equal(read(pipes[0], &byte, 1), 1);
		assert_reads(memory, later, 2);
		assert_int_equal(
			retain_memory_add(memory, &item, 1, &first, &err), RETAIN_ERR_STATE);
		assert_int_equal(retain_memory_draw(memory, 1, ids, NULL, NULL, 1, &drawn, &err),
			RETAIN_ERR_STATE);
		retain_memory_close(memory);
		_exit(0);
	}
	assert_int_equal(retain_memory_open(&second, NULL, in_folder("m"), &err), RETAIN_ERR_STATE);
	assert_non_null(strstr(err.message, "in use"));
	assert_ok(retain_memory_reader(&reader, in_folder("m"), &err), err);
	add_step(memory, 1);
	assert_int_equal(write(pipes[1], "x", 1), 1);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
	assert_int_equal(facts_of(reader).records, 2 * STEP);
	ids[0] = STEP + 3;
	assert_reads(reader, ids, 1);
	assert_int_equal(retain_memory_mark(reader, &first, &err), RETAIN_ERR_STATE);
	retain_memory_close(reader);
	retain_memory_close(memory);
}

/* One thread adds and lets go, another draws ids a moment old and reads: whole, or named as gone. */
struct race {
	struct retain_memory *memory;
	atomic_bool done;
	int64_t read, gone;
};

static void *read_on(void *context)
{
	struct race *race = context;
	unsigned char bytes[ROOM], expected[ROOM];
	struct retain_err why;
	size_t offsets[2];

	for (int64_t i = 0; !race->done; i++) {
		const int64_t id = i * 7919 % (facts_of(race->memory).records + 1);
		const int code =
			retain_memory_read(race->memory, &id, 1, bytes, ROOM, offsets, NULL, &why);

		if (code) {
			assert_int_equal(code, RETAIN_ERR_INPUT);
			race->gone++;
			continue;
		}
		assert_int_equal(offsets[1], record_of(id, expected));
		assert_memory_equal(bytes, expected, offsets[1]);
		race->read++;
	}
	return NULL;
}

static void threads_read_meanwhile(void **state)
{
	struct race race = {memory_of(NULL, kinds[RESERVOIR])};
	pthread_t thread;

	(void)state;
	add_step(race.memory, 0);
	assert_int_equal(pthread_create(&thread, NULL, read_on, &race), 0);
	for (int step = 1; step < 400; step++)
		add_step(race.memory, step);
	atomic_store(&race.done, true);
	pthread_join(thread, NULL);
	assert_true(race.gone > 0);
	retain_memory_close(race.memory);
}

static void what_does_not_fit_is_refused(void **state)
{
	struct retain_memory *memory = memory_of(in_folder("m"), kinds[RESERVOIR]);
	struct retain_config *config = retain_config_new();
	struct retain_item item = {"x", 1, -1, 0};
	int64_t first;

	(void)state;
	add_step(memory, 0);
	assert_int_equal(retain_memory_mark(memory, &first, NULL), 0);
	retain_memory_close(memory);
	assert_int_equal(
		retain_memory_open(&memory, NULL, in_folder("m"), &err), RETAIN_ERR_FORMAT);
	assert_non_null(strstr(err.message, "reservoir"));
	assert_null(memory);
	assert_ok(retain_config_set(config, "replay.objective", "mir", &err), err);
	assert_int_equal(retain_memory_open(&memory, config, NULL, &err), RETAIN_ERR_INPUT);
	assert_non_null(strstr(err.message, "replay.objective = mir"));
	retain_config_free(config);
	memory = memory_of(NULL, kinds[BALANCED]);
	assert_int_equal(retain_memory_add(memory, &item, 1, &first, &err), RETAIN_ERR_INPUT);
	assert_non_null(strstr(err.message, "record 0 has label -1"));
	item.label = 1 << 20;
	assert_int_equal(retain_memory_add(memory, &item, 1, &first, &err), RETAIN_ERR_INPUT);
	assert_int_equal(retain_memory_mark(memory, &first, &err), RETAIN_ERR_STATE);
	add_step(memory, 0);
	retain_memory_close(memory);
}

#define tree_test(f) cmocka_unit_test_setup_teardown(f, folder_make, tree_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fifo_by_hand),
		tree_test(goes_on_where_it_stopped),
		tree_test(places_are_used_again),
		tree_test(killed_it_has_whole_steps),
		tree_test(a_torn_call_is_dropped),
		tree_test(damage_is_named),
		tree_test(goes_back_to_marks),
		tree_test(children_and_readers_read),
		cmocka_unit_test(threads_read_meanwhile),
		tree_test(what_does_not_fit_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
