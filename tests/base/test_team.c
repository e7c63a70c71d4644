#define _GNU_SOURCE 1
#include "check.h"

#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "base/team.h"

#define MOST_TASKS 3000

/* Plain ints on purpose: that tasks do not overlap, and are done when team_run returns, is for
 * ThreadSanitizer to see. */
struct ledger {
	int done[MOST_TASKS];
	int size;
	atomic_int bad_workers;
};

static void note_task(void *context, int task, int worker)
{
	struct ledger *ledger = context;

	ledger->done[task]++;
	if (worker < 0 || worker >= ledger->size)
		atomic_fetch_add(&ledger->bad_workers, 1);
}

static void nap(long nanoseconds)
{
	struct timespec time = {0, nanoseconds};

	nanosleep(&time, NULL);
}

static void check_runs(int threads)
{
	static const int task_counts[] = {0, 1, 2, 3, 7, 64, 1000, MOST_TASKS};
	static struct ledger ledger;
	struct team *team;
	struct err err;

	assert_int_equal(team_new(&team, threads, &err), 0);
	assert_int_equal(team_size(team), threads);
	ledger.size = threads;
	for (size_t i = 0; i < COUNT(task_counts); i++) {
		const int runs = 40;

		memset(ledger.done, 0, sizeof(ledger.done));
		for (int run = 0; run < runs; run++) {
			if (run % 10 == 9)
				nap(300000); /* long enough for the workers to fall asleep */
			team_run(team, task_counts[i], note_task, &ledger);
		}
		for (int task = 0; task < MOST_TASKS; task++)
			assert_int_equal(ledger.done[task], task < task_counts[i] ? runs : 0);
	}
	assert_int_equal(atomic_load(&ledger.bad_workers), 0);
	team_free(team);
}

static void every_task_runs_once(void **state)
{
	(void)state;
	for (int threads = 1; threads <= 5; threads++)
		check_runs(threads);
	check_runs(17);
}

static void slow_task(void *context, int task, int worker)
{
	(void)worker;
	nap(2000000);
	((int *)context)[task] = task + 1;
}

/* The caller runs out of tasks long before the others are through and has to sleep. */
static void waits_for_the_slow(void **state)
{
	struct team *team;
	struct err err;

	(void)state;
	assert_int_equal(team_new(&team, 3, &err), 0);
	for (int run = 0; run < 5; run++) {
		int done[4] = {0};

		team_run(team, 4, slow_task, done);
		for (int i = 0; i < 4; i++)
			assert_int_equal(done[i], i + 1);
	}
	team_free(team);
}

struct meeting {
	atomic_int here;
	atomic_bool missed;
};

static void meet(void *context, int task, int worker)
{
	struct meeting *meeting = context;

	(void)task;
	(void)worker;
	atomic_fetch_add(&meeting->here, 1);
	for (int i = 0; atomic_load(&meeting->here) < 2 && !atomic_load(&meeting->missed); i++) {
		if (i == 20000)
			atomic_store(&meeting->missed, true);
		nap(100000);
	}
}

/* Two tasks that wait for one another end only if two threads work. */
static void threads_work_at_the_same_time(void **state)
{
	struct meeting meeting = {0};
	struct team *team;
	struct err err;

	(void)state;
	assert_int_equal(team_new(&team, 2, &err), 0);
	team_run(team, 2, meet, &meeting);
	assert_false(atomic_load(&meeting.missed));
	team_free(team);
}

static void two_teams_at_once(void **state)
{
	static struct ledger first, second;
	struct team *a, *b;
	struct err err;

	(void)state;
	first.size = second.size = 2;
	assert_int_equal(team_new(&a, 2, &err), 0);
	assert_int_equal(team_new(&b, 2, &err), 0);
	for (int i = 0; i < 20; i++) {
		team_run(a, 50, note_task, &first);
		team_run(b, 60, note_task, &second);
	}
	assert_int_equal(first.done[49], 20);
	assert_int_equal(second.done[59], 20);
	team_free(a);
	team_free(b);
}

static void runs_do_not_allocate(void **state)
{
	static struct ledger ledger;
	struct team *team;
	struct err err;
	uint64_t before;

	(void)state;
	ledger.size = 3;
	assert_int_equal(team_new(&team, 3, &err), 0);
	before = mem_count();
	for (int i = 0; i < 100; i++)
		team_run(team, 100, note_task, &ledger);
	assert_int_equal(mem_count(), before);
	team_free(team);
}

static void an_unused_team_ends(void **state)
{
	struct team *team;
	struct err err;

	(void)state;
	for (int i = 0; i < 20; i++) {
		assert_int_equal(team_new(&team, 1 + i % 4, &err), 0);
		if (i % 2)
			nap(200000);
		team_free(team);
	}
	team_free(NULL);
}

static void bad_sizes_are_refused(void **state)
{
	static const int sizes[] = {0, -1, 100000};
	struct team *team = (struct team *)&sizes;
	struct err err;

	(void)state;
	for (size_t i = 0; i < COUNT(sizes); i++) {
		assert_int_equal(team_new(&team, sizes[i], &err), ERR_INPUT);
		assert_null(team);
	}
	assert_says(err, "100000");
	assert_true(os_processors() >= 1);
}

static int make_team(void *context, struct err *err)
{
	struct team *team;
	int code = team_new(&team, 3, err);

	(void)context;
	assert_true((code == 0) == (team != NULL));
	team_free(team);
	return code;
}

static void memory_runs_out(void **state)
{
	(void)state;
	assert_true(each_allocation_fails(make_team, NULL) >= 1);
}

/* As many threads as the system grants, then one more. Those that were started must end again. */
static int exceed_threads(void)
{
	const struct rlimit limit = {6, 6};
	struct team *team;
	struct err err = {0};

	if ((geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) ||
		setrlimit(RLIMIT_NPROC, &limit) != 0)
		return 2;
	return team_new(&team, 500, &err) != ERR_MEMORY || team ||
	       !strstr(err.message, " of 500: ");
}

static void threads_run_out(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	assert_true(child >= 0);
	if (child == 0)
		_exit(exceed_threads());
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* A product below the smallest normal number. */
static bool has_denormals(void)
{
	volatile float small = 1e-30f, factor = 1e-10f;

	return small * factor != 0;
}

static void look_for_denormals(void *context, int task, int worker)
{
	int *found = context;

	(void)worker;
	nap(100000); /* so that others take some, too */
	found[task] = has_denormals();
}

/* Whether this processor can do so; valgrind's cannot. */
static bool can_flush(void)
{
	bool can = false;
#if defined(__x86_64__)
	const unsigned mode = __builtin_ia32_stmxcsr();

	__builtin_ia32_ldmxcsr(mode | 0x8040);
	can = !has_denormals();
	__builtin_ia32_ldmxcsr(mode);
#elif defined(__aarch64__)
	can = true;
#endif
	return can;
}

/* In tasks, whoever runs them; the caller has its own mode again afterwards. */
static void denormal_numbers_are_zero(void **state)
{
	enum { TASKS = 20 };

	(void)state;
	if (!can_flush()) {
		print_message("skipped: denormal numbers cannot be flushed here\n");
		skip();
	}
	for (int threads = 1; threads <= 4; threads++) {
		int found[TASKS];
		struct team *team;
		struct err err;

		assert_ok(team_new(&team, threads, &err), err);
		assert_true(has_denormals());
		team_run(team, TASKS, look_for_denormals, found);
		assert_true(has_denormals());
		team_free(team);
		for (int i = 0; i < TASKS; i++)
			assert_false(found[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_task_runs_once),
		cmocka_unit_test(waits_for_the_slow),
		cmocka_unit_test(threads_work_at_the_same_time),
		cmocka_unit_test(two_teams_at_once),
		cmocka_unit_test(runs_do_not_allocate),
		cmocka_unit_test(denormal_numbers_are_zero),
		cmocka_unit_test(an_unused_team_ends),
		cmocka_unit_test(bad_sizes_are_refused),
		cmocka_unit_test(memory_runs_out),
		cmocka_unit_test(threads_run_out),
	};

	return cmocka_run_group_tests_name("team", tests, NULL, NULL);
}
