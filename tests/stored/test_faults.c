/*
 * What the world does to a run: damaged checkpoints, another instruction set, full
 * and vanishing disks, data that goes away, numbers that are none, no memory, a
 * second process. Each is made to happen, and what was promised must hold.
 */
#define _GNU_SOURCE 1 /* scandir, seteuid */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>

#include "base/state.h"
#include "streams/source.h"

#define OFTEN "run.checkpoint_every=7 steps"

/* A run that stopped after step 25: checkpoints at step 21 and at the stop. */
static void stop_at_25(const char *const *settings, const char *name)
{
	struct trial trial = {.stop_at = 25};

	trial_whole(&trial, settings, name, RUN_ANEW);
	assert_true(strstr(checkpoint_in(name, 0), ".stop.state") != NULL);
	assert_non_null(checkpoint_in(name, 1));
}

static void go_on_and_compare(const char *const *settings, const char *words, const char *what)
{
	struct trial trial = {0};

	trial_whole(&trial, settings, "broken", RUN_RESUME);
	assert_logged(&trial, words);
	assert_same_run("straight", "broken", what);
}

/* Cut, or with a byte changed by xor; the path lives until the next question for one. */
static void damage(const char *path, double where, int change)
{
	struct stat about;
	unsigned char byte;
	const int file = open(path, O_RDWR);
	off_t at;

	assert_true(file >= 0 && !fstat(file, &about));
	at = (off_t)(where * (double)(about.st_size - 1));
	if (change) {
		assert_int_equal(pread(file, &byte, 1, at), 1);
		byte = (unsigned char)(byte ^ change);
		assert_int_equal(pwrite(file, &byte, 1, at), 1);
	} else {
		assert_int_equal(ftruncate(file, at), 0);
	}
	close(file);
}

/* The one before is used, and the end is the same. */
static void damaged_checkpoints(void **state)
{
	static const struct {
		double where;
		int change; /* 0: cut there */
		const char *words;
	} rows[] = {{0, 0, "too short"}, {0.3, 0, "is damaged: its checksum"},
		{0.999, 0, "is damaged"}, {0, 1, "is not a state file"}, {0.02, 4, "is damaged"},
		{0.5, 128, "is damaged"}, {1, 1, "is damaged"}};
	const char *const *settings = SETTINGS(OFTEN);
	struct trial straight = {0};

	(void)state;
	trial_whole(&straight, settings, "straight", RUN_ANEW);
	for (size_t i = 0; i < COUNT(rows); i++) {
		char what[100];

		snprintf(what, sizeof(what), "damage %zu", i);
		stop_at_25(settings, "broken");
		damage(checkpoint_in("broken", 0), rows[i].where, rows[i].change);
		go_on_and_compare(settings, rows[i].words, what);
	}
}

/* The last four bytes are a CRC of all others. */
static void fix_checksum(const char *path)
{
	char *bytes;
	size_t size;
	uint32_t sum;
	struct err err;

	assert_ok(file_read(path, 1 << 26, &bytes, &size, &err), err);
	sum = checksum_add(0, bytes, size - sizeof(sum));
	memcpy(bytes + size - sizeof(sum), &sum, sizeof(sum));
	assert_ok(file_write(path, bytes, size, &err), err);
	mem_free(bytes);
}

/* A newer one is not fallen back from: its owner should know. */
static void checkpoints_of_another_version(void **state)
{
	const char *const *settings = SETTINGS(OFTEN);
	struct trial trial = {0};
	struct err err = {0};
	const char newer = '0' + STATE_VERSION + 1;
	char known[128];
	int file;

	(void)state;
	stop_at_25(settings, "broken");
	file = open(checkpoint_in("broken", 0), O_WRONLY);
	assert_int_equal(pwrite(file, &newer, 1, strlen("retain state ")), 1);
	close(file);
	fix_checksum(checkpoint_in("broken", 0));
	assert_int_equal(trial_open(&trial, settings, "broken", RUN_RESUME, &err), ERR_INPUT);
	snprintf(known, sizeof(known),
		"was written by a newer retain (states of version %d; this one knows %d)",
		STATE_VERSION + 1, STATE_VERSION);
	assert_says(err, known);
	trial_close(&trial);
	assert_non_null(checkpoint_in("broken", 1));
}

/* When none is whole, the run is not begun anew behind the user's back. */
static void no_whole_checkpoint(void **state)
{
	const char *const *settings = SETTINGS(OFTEN);
	struct trial trial = {0};
	struct err err = {0};

	(void)state;
	stop_at_25(settings, "broken");
	damage(checkpoint_in("broken", 0), 0.5, 1);
	damage(checkpoint_in("broken", 1), 0.5, 1);
	assert_int_equal(trial_open(&trial, settings, "broken", RUN_RESUME, &err), ERR_FORMAT);
	assert_says(err, ".state: is damaged");
	trial_close(&trial);
	assert_non_null(checkpoint_in("broken", 1));
}

static void checkpoints_of_another_config(void **state)
{
	struct trial trial = {0};
	struct err err = {0};

	(void)state;
	stop_at_25(SETTINGS(OFTEN), "broken");
	assert_int_equal(trial_open(&trial, SETTINGS(OFTEN, "schedule.rate=0.3"), "broken",
				 RUN_RESUME, &err),
		ERR_INPUT);
	assert_says(err, "was made with another config: schedule.rate = ");
	trial_close(&trial);
}

/* There and back again: it goes on, says so, and comes to nearly the same. */
static void another_instruction_set(void **state)
{
	struct trial first = {.stop_at = 25}, second = {.stop_at = 40}, last = {0};
	struct err err = {0};

	(void)state;
	if (trial_open(&last, SETTINGS("engine.isa=avx2"), NULL, RUN_ANEW, &err)) {
		print_message("%s\n", err.message);
		trial_close(&last);
		skip();
	}
	trial_close(&last);
	trial_whole(&first, SETTINGS("engine.isa=baseline"), "run", RUN_ANEW);
	trial_whole(&second, SETTINGS("engine.isa=avx2"), "run", RUN_RESUME);
	assert_logged(&second, "the checkpoint was made with baseline, this goes on with avx2: the "
			       "last bits of the results will differ");
	trial_whole(&last, SETTINGS("engine.isa=baseline"), "run", RUN_RESUME);
	assert_logged(&last, "made with avx2, this goes on with baseline");
	assert_true(isfinite(last.result.last.ir));
}

/* The system takes files up to so many bytes and says that the disk is full beyond. */
static void files_up_to(rlim_t size)
{
	const struct rlimit limit = {size, RLIM_INFINITY};

	signal(SIGXFSZ, size == RLIM_INFINITY ? SIG_DFL : SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void fill_for_a_while(struct trial *trial, int64_t step)
{
	(void)trial;
	if (step == 10)
		files_up_to(100);
	if (step == 40)
		files_up_to(RLIM_INFINITY);
}

static void a_full_disk_that_is_emptied_again(void **state)
{
	const char *const *settings = SETTINGS(OFTEN);
	struct trial straight = {0}, full = {.each = fill_for_a_while};

	(void)state;
	trial_whole(&straight, settings, "straight", RUN_ANEW);
	trial_whole(&full, settings, "broken", RUN_ANEW);
	assert_logged(&full, "no checkpoint was made: ");
	assert_logged(&full, "File too large");
	assert_logged(&full, "metrics.csv: cannot write");
	assert_same_run("straight", "broken", "a full disk");
}

static void fill_for_ever(struct trial *trial, int64_t step)
{
	(void)trial;
	if (step == 24)
		files_up_to(100);
}

/* It gives up in the end; what was saved before is good. */
static void a_disk_that_stays_full(void **state)
{
	const char *const *settings = SETTINGS(OFTEN);
	struct trial straight = {0}, full = {.each = fill_for_ever}, again = {0};
	char before[600];
	struct err err = {0};

	(void)state;
	trial_whole(&straight, settings, "straight", RUN_ANEW);
	assert_ok(trial_open(&full, settings, "broken", RUN_ANEW, &err), err);
	assert_int_equal(trial_go(&full, &err), ERR_FILE);
	files_up_to(RLIM_INFINITY);
	assert_says(err, "File too large");
	assert_says(err, "gave up after 5 failures in a row");
	trial_close(&full);
	snprintf(before, sizeof(before), "%s", checkpoint_in("broken", 0));
	assert_true(strstr(before, "000002.state") != NULL);
	trial_whole(&again, settings, "broken", RUN_RESUME);
	assert_same_run("straight", "broken", "a full disk");
}

static void remove_folder(struct trial *trial, int64_t step)
{
	if (step == 10)
		file_remove_tree(trial->folder);
}

static void move_folder(struct trial *trial, int64_t step)
{
	if (step == 10)
		assert_int_equal(rename(trial->folder, in_folder("elsewhere")), 0);
}

/* Said at every checkpoint, and then the end; nothing is written where the folder was. */
static void a_folder_that_goes_away(void **state)
{
	void (*const ways[])(struct trial *, int64_t) = {remove_folder, move_folder};

	(void)state;
	for (size_t i = 0; i < COUNT(ways); i++) {
		struct trial trial = {.each = ways[i]};
		struct err err = {0};

		assert_ok(trial_open(&trial, SETTINGS(OFTEN), "run", RUN_ANEW, &err), err);
		assert_int_equal(trial_go(&trial, &err), ERR_FILE);
		assert_says(err, "run: was moved or removed while a run worked in it");
		assert_logged(&trial, "was moved or removed");
		trial_close(&trial);
		assert_int_equal(access(in_folder("run"), F_OK), -1);
	}
}

static void close_folder(struct trial *trial, int64_t step)
{
	char path[500];

	snprintf(path, sizeof(path), "%s/checkpoint", trial->folder);
	if (step == 24)
		assert_int_equal(chmod(path, 0555), 0);
	if (step == 40)
		assert_int_equal(chmod(path, 0777), 0);
}

static void a_folder_that_is_read_only_for_a_while(void **state)
{
	static const uid_t nobody = 65534;
	const char *const *settings = SETTINGS(OFTEN);
	const bool root = geteuid() == 0;
	struct trial straight = {0}, closed = {.each = close_folder};

	(void)state;
	/* Permissions mean nothing to root. */
	if (root && (chown(folder, nobody, (gid_t)-1) || seteuid(nobody)))
		skip();
	trial_whole(&straight, settings, "straight", RUN_ANEW);
	trial_whole(&closed, settings, "broken", RUN_ANEW);
	assert_logged(&closed, "Permission denied");
	assert_same_run("straight", "broken", "a read-only folder");
	if (root)
		assert_int_equal(seteuid(0), 0);
}

/* A source that gives what another does, until it does not. */
static const struct source_type *healthy;
static int64_t lost_from;

static int failing_inputs(struct source *source, enum source_part part, const int64_t *ids, int n,
	float *inputs, struct err *err)
{
	for (int i = 0; i < n; i++)
		if (part == SOURCE_STREAM && ids[i] >= lost_from)
			return err_set(err, ERR_FILE, "stream.bin: Input/output error");
	return healthy->inputs(source, part, ids, n, inputs, err);
}

static void data_that_goes_away(void **state)
{
	const char *const *settings = SETTINGS(OFTEN);
	struct trial straight = {0}, lost = {0}, again = {0};
	struct source_type failing;
	struct err err = {0};

	(void)state;
	trial_whole(&straight, settings, "straight", RUN_ANEW);
	assert_ok(trial_open(&lost, settings, "broken", RUN_ANEW, &err), err);
	healthy = lost.stored->source->type;
	lost_from = 30 * 8 + 3;
	failing = *healthy;
	failing.inputs = failing_inputs;
	lost.stored->source->type = &failing;
	assert_int_equal(trial_go(&lost, &err), ERR_FILE);
	assert_string_equal(err.message, "stream.bin: Input/output error");
	trial_close(&lost);
	assert_true(strstr(checkpoint_in("broken", 0), "000003.state") != NULL);
	trial_whole(&again, settings, "broken", RUN_RESUME);
	assert_same_run("straight", "broken", "lost data");
}

/* From iteration 104 on weights cannot be trusted: between two checkpoints. */
static void spoil(struct trial *trial, int64_t step)
{
	if (step == 26)
		((float *)learner_params(trial->run->learner, LEARNER_PLAIN))[3] = NAN;
}

static void a_loss_that_is_no_number_stops_a_run(void **state)
{
	const char *const *settings = SETTINGS(OFTEN, "schedule.rate=0.125");
	struct trial straight = {0}, spoiled = {.each = spoil}, again = {0};
	struct err err = {0};

	(void)state;
	trial_whole(&straight, settings, "straight", RUN_ANEW);
	assert_ok(trial_open(&spoiled, settings, "broken", RUN_ANEW, &err), err);
	assert_int_equal(trial_go(&spoiled, &err), ERR_STATE);
	assert_says(err, "iteration 105: the loss is ");
	assert_says(err, "nan at learning rate 0.125");
	assert_says(err, "the last checkpoint is good: --resume ");
	trial_close(&spoiled);
	assert_true(strstr(checkpoint_in("broken", 0), "000002.state") != NULL);
	trial_whole(&again, settings, "broken", RUN_RESUME);
	assert_same_run("straight", "broken", "after a NaN");
}

/* At the very moment of a checkpoint, of an evaluation, and of a stop: nothing bad is kept. */
static void spoil_early(struct trial *trial, int64_t step)
{
	if (step == 9)
		((float *)learner_params(trial->run->learner, LEARNER_PLAIN))[3] = INFINITY;
}

static void bad_weights_are_never_saved(void **state)
{
	struct trial trial = {.each = spoil_early, .stop_at = 9};
	struct err err = {0};

	(void)state;
	assert_ok(trial_open(&trial, SETTINGS(OFTEN), "run", RUN_ANEW, &err), err);
	assert_int_equal(trial_go(&trial, &err), ERR_STATE);
	assert_says(err, "iteration 36: some weights are not finite");
	trial_close(&trial);
	assert_true(strstr(checkpoint_in("run", 0), "000000.state") != NULL);
	assert_null(checkpoint_in("run", 1));
}

static int count_of(const char *text, const char *words)
{
	int count = 0;

	for (const char *at = text; (at = strstr(at, words)); at++)
		count++;
	return count;
}

/* A rate that no net survives, halved until one does. */
#define RISKY                                                                                      \
	OFTEN, "run.on_nan=rollback", "schedule.rate=16", "schedule.kind=constant",                \
		"average.kind=ema"

static void rollbacks_halve_the_rate(void **state)
{
	struct trial trial = {0};
	char *events;

	(void)state;
	trial_whole(&trial, SETTINGS(RISKY), "run", RUN_ANEW);
	events = text_of("run", "events.jsonl");
	assert_logged(&trial, ": the loss is ");
	assert_logged(&trial, "at learning rate 16; went back to iteration ");
	assert_true(count_of(events, "{\"event\": \"rollback\", \"iteration\": ") >= 2);
	assert_true(count_of(events, "\"count\": 1, \"before\": 16, \"after\": 8}\n") == 1);
	assert_true(trial.result.last.lr < 8 &&
		    trial.result.last.lr == exp2(log2(trial.result.last.lr)));
	/* Logs go back, too: no window is told twice. */
	for (int window = 8; window <= 240; window += 8) {
		char words[64];

		snprintf(
			words, sizeof(words), "{\"event\": \"window\", \"iteration\": %d,", window);
		assert_int_equal(count_of(events, words), 1);
	}
	mem_free(events);
	events = text_of("run", "metrics.csv");
	assert_int_equal(count_of(events, "\n"), 7);
	mem_free(events);
}

/* Stops and kills, before and after going back, change nothing. */
static void rollbacks_can_be_resumed(void **state)
{
	const char *const *settings = SETTINGS(RISKY);
	struct trial straight = {0}, last = {0};

	(void)state;
	trial_whole(&straight, settings, "straight", RUN_ANEW);
	for (int64_t stop = 1; stop < 60; stop += 6) {
		struct trial part = {.stop_at = stop};

		trial_whole(&part, settings, "broken", stop == 1 ? RUN_ANEW : RUN_RESUME);
		/* Every other one is a kill. */
		if (stop % 4 == 1)
			assert_int_equal(unlink(checkpoint_in("broken", 0)), 0);
	}
	trial_whole(&last, settings, "broken", RUN_RESUME);
	assert_same_run("straight", "broken", "rollbacks");
}

/* Where every iteration ends with a checkpoint, each failure follows one from which it would come again. */
static void rollbacks_go_further_where_they_must(void **state)
{
	struct trial trial = {0};

	(void)state;
	trial_whole(&trial, SETTINGS(RISKY, "run.checkpoint_every=1 steps", "run.iterations=1"),
		"run", RUN_ANEW);
	assert_logged(&trial, "went back to iteration ");
	assert_true(trial.result.last.lr < 16);
}

static void rollbacks_come_to_an_end(void **state)
{
	struct trial trial = {0};
	struct err err = {0};
	int code;

	(void)state;
	assert_ok(trial_open(&trial, SETTINGS(RISKY, "schedule.rate=1e30"), "run", RUN_ANEW, &err),
		err);
	code = trial_go(&trial, &err);
	assert_int_equal(code, ERR_STATE);
	assert_says(err, "gave up after going back 5 times without reaching the next checkpoint");
	assert_says(err, "at learning rate 3.125e+28");
	assert_int_equal(count_of(trial.log, "went back to iteration 0 "), 5);
	trial_close(&trial);
}

static void rollbacks_need_checkpoints(void **state)
{
	struct trial trial = {0};
	struct err err = {0};

	(void)state;
	assert_int_equal(trial_open(&trial, SETTINGS(RISKY), NULL, RUN_ANEW, &err), ERR_INPUT);
	assert_says(err, "run.on_nan = rollback: ");
	trial_close(&trial);
}

static void a_second_process_is_refused(void **state)
{
	struct trial first = {0}, second = {0};
	struct err err = {0};

	(void)state;
	assert_ok(trial_open(&first, NULL, "run", RUN_ANEW, &err), err);
	for (enum run_start start = RUN_NEW; start <= RUN_ANEW; start++) {
		assert_int_equal(trial_open(&second, NULL, "run", start, &err), ERR_FILE);
		assert_says(err, "run: another process works in this folder");
		trial_close(&second);
	}
	assert_ok(trial_go(&first, &err), err);
	trial_close(&first);
	assert_ok(trial_open(&second, NULL, "run", RUN_RESUME, &err), err);
	trial_close(&second);
}

/* Opens, makes some steps, saves on the way and at the stop. True if the allocation was reached. */
static bool run_without_memory(
	enum run_start start, int64_t stop_at, uint64_t fail_at, int *code, struct err *err)
{
	struct trial trial = {.stop_at = stop_at, .fail_at = fail_at};
	bool reached;

	*code = trial_open(&trial,
		SETTINGS("run.checkpoint_every=1 steps", "drift.steps=3000",
			"drift.eval_per_step=1", "eval.count=1500", "replay.pool=reservoir"),
		"run", start, err);
	if (!*code)
		*code = trial_go(&trial, err);
	reached = mem_count() - trial.armed >= fail_at;
	mem_fail_at(0);
	trial_close(&trial);
	return reached;
}

/* Each allocation in turn: refused, or, where a checkpoint has another chance, survived. */
static void memory_runs_out(void **state)
{
	int refused = 0, survived = 0, code;
	struct err err = {0};

	(void)state;
	for (uint64_t n = 1; run_without_memory(RUN_ANEW, 3, n, &code, &err); n++) {
		if (code)
			assert_int_equal(code, ERR_MEMORY);
		refused += code != 0;
		survived += !code;
	}
	assert_true(refused > 50 && survived > 0);
	refused = 0;
	/* One step more each time. */
	for (uint64_t n = 1; run_without_memory(RUN_RESUME, 1, n, &code, &err); n++) {
		if (code)
			assert_int_equal(code, ERR_MEMORY);
		refused += code != 0;
	}
	assert_int_equal(code, 0);
	assert_true(refused > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		stream_test(damaged_checkpoints),
		stream_test(checkpoints_of_another_version),
		stream_test(no_whole_checkpoint),
		stream_test(checkpoints_of_another_config),
		stream_test(another_instruction_set),
		stream_test(a_full_disk_that_is_emptied_again),
		stream_test(a_disk_that_stays_full),
		stream_test(a_folder_that_goes_away),
		stream_test(a_folder_that_is_read_only_for_a_while),
		stream_test(data_that_goes_away),
		stream_test(a_loss_that_is_no_number_stops_a_run),
		stream_test(bad_weights_are_never_saved),
		stream_test(rollbacks_halve_the_rate),
		stream_test(rollbacks_can_be_resumed),
		stream_test(rollbacks_go_further_where_they_must),
		stream_test(rollbacks_come_to_an_end),
		stream_test(rollbacks_need_checkpoints),
		stream_test(a_second_process_is_refused),
		stream_test(memory_runs_out),
	};

	return cmocka_run_group_tests_name("faults", tests, NULL, NULL);
}
