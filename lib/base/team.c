/*
 * A run passes through the gate, one word that says whether a run is open, which
 * one, and how many threads are inside it. The caller deals out the shares,
 * opens the gate, works like the others, and when every task has been taken
 * closes the gate and waits for those inside to leave. A worker enters a run
 * at most once, and only through an open gate; one that was asleep or
 * preempted until the gate had closed again just misses that run, so a busy
 * machine never makes the caller wait for a thread that has nothing to do.
 *
 * Invariants:
 *  - the run's fields and the shares are written only while the gate is closed
 *    with nobody inside, and read only by those inside and the caller;
 *  - a task is taken by whoever moves its share's `next` over it;
 *  - whoever goes to sleep announces it first and then looks at the gate once
 *    more; whoever changes the gate looks for sleepers afterwards. Both sides
 *    are sequentially consistent, so one of them sees the other. Both write by exchanges: qemu
 *    lets a load of arm64 pass a store before it, which processors do not.
 */
#include "base/os.h"
#include "base/team.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"

#define MOST_THREADS 1024

/* The gate: threads inside in the low bits, two flags, then the run's number. */
#define GATE_INSIDE 0xffffu
#define GATE_OPEN   0x10000u
#define GATE_STOP   0x20000u
#define GATE_RUN    0x40000u

/* How long to spin before sleeping. By the clock, since pauses differ tenfold in length between
 * processors, but read only once in a batch of them. */
#define SPIN_NS    100000
#define SPIN_BATCH 64

struct worker {
	/* The share: its next task and its end. 64 bits: every thief oversteps the end by one. */
	_Alignas(MEM_ALIGN) atomic_int_fast64_t next;
	int64_t end;
	struct team *team;
	int index;
	pthread_t thread;
};

struct team {
	_Alignas(MEM_ALIGN) atomic_uint_fast64_t gate;
	_Alignas(MEM_ALIGN) team_fn *fn;
	void *context;
	int size;
	bool spin;
	atomic_int sleepers;
	atomic_bool caller_sleeps;
	pthread_mutex_t lock; /* around sleeping only */
	pthread_cond_t opened, emptied;
	struct worker workers[];
};

/*
 * From now on denormal numbers count as 0 in this thread, as operands and as results: processors
 * take a hundred times as long over them, and what they could add to a sum is far below its last
 * bit. flush_end gives the thread its mode back.
 */
static inline uint64_t flush_begin(void)
{
#if defined(__x86_64__)
	const unsigned mode = __builtin_ia32_stmxcsr();

	__builtin_ia32_ldmxcsr(mode | 0x8040);
	return mode;
#elif defined(__aarch64__)
	uint64_t mode;

	__asm__ volatile("mrs %0, fpcr" : "=r"(mode));
	__asm__ volatile("msr fpcr, %0" : : "r"(mode | UINT64_C(1) << 24));
	return mode;
#else
	return 0;
#endif
}

static inline void flush_end(uint64_t mode)
{
#if defined(__x86_64__)
	__builtin_ia32_ldmxcsr((unsigned)mode);
#elif defined(__aarch64__)
	__asm__ volatile("msr fpcr, %0" : : "r"(mode));
#else
	(void)mode;
#endif
}

static inline void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static int64_t nanoseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Anything a worker waits for: a run it has not been in, or the end. */
static bool gate_calls(uint_fast64_t gate, uint_fast64_t last_run)
{
	return (gate & GATE_STOP) || ((gate & GATE_OPEN) && gate / GATE_RUN != last_run);
}

static bool gate_empty(uint_fast64_t gate, uint_fast64_t unused)
{
	(void)unused;
	return !(gate & GATE_INSIDE);
}

typedef bool gate_test(uint_fast64_t gate, uint_fast64_t run);

static inline bool gate_spin(struct team *team, gate_test *test, uint_fast64_t run)
{
	int64_t start = 0;

	if (test(atomic_load_explicit(&team->gate, memory_order_acquire), run))
		return true;
	if (!team->spin)
		return false;
	for (;;) {
		for (int i = 0; i < SPIN_BATCH; i++) {
			pause_briefly();
			if (test(atomic_load_explicit(&team->gate, memory_order_acquire), run))
				return true;
		}
		if (!start)
			start = nanoseconds();
		else if (nanoseconds() - start > SPIN_NS)
			return false;
	}
}

static void await_call(struct team *team, uint_fast64_t last_run)
{
	if (gate_spin(team, gate_calls, last_run))
		return;
	pthread_mutex_lock(&team->lock);
	atomic_fetch_add(&team->sleepers, 1);
	while (!gate_calls(atomic_load(&team->gate), last_run))
		pthread_cond_wait(&team->opened, &team->lock);
	atomic_fetch_sub(&team->sleepers, 1);
	pthread_mutex_unlock(&team->lock);
}

static void await_empty(struct team *team)
{
	if (gate_spin(team, gate_empty, 0))
		return;
	pthread_mutex_lock(&team->lock);
	atomic_exchange(&team->caller_sleeps, true);
	while (!gate_empty(atomic_load(&team->gate), 0))
		pthread_cond_wait(&team->emptied, &team->lock);
	atomic_store(&team->caller_sleeps, false);
	pthread_mutex_unlock(&team->lock);
}

static void wake_workers(struct team *team)
{
	if (atomic_load(&team->sleepers) == 0)
		return;
	pthread_mutex_lock(&team->lock);
	pthread_cond_broadcast(&team->opened);
	pthread_mutex_unlock(&team->lock);
}

/* Own share first, then the neighbours'. Returns when every task has been taken. */
static void work(struct team *team, int index)
{
	for (int i = 0; i < team->size; i++) {
		struct worker *owner = &team->workers[(index + i) % team->size];

		while (atomic_load_explicit(&owner->next, memory_order_relaxed) < owner->end) {
			int64_t task =
				atomic_fetch_add_explicit(&owner->next, 1, memory_order_relaxed);

			if (task < owner->end)
				team->fn(team->context, (int)task, index);
		}
	}
}

static void *worker_main(void *argument)
{
	struct worker *self = argument;
	struct team *team = self->team;
	uint_fast64_t gate, last_run = 0;

	flush_begin();
	for (;;) {
		await_call(team, last_run);
		gate = atomic_load_explicit(&team->gate, memory_order_relaxed);
		if (gate & GATE_STOP)
			return NULL;
		if (!(gate & GATE_OPEN) ||
			!atomic_compare_exchange_strong_explicit(&team->gate, &gate, gate + 1,
				memory_order_acquire, memory_order_relaxed))
			continue;
		last_run = gate / GATE_RUN;
		work(team, self->index);
		atomic_fetch_sub(&team->gate, 1);
		if (atomic_load(&team->caller_sleeps)) {
			pthread_mutex_lock(&team->lock);
			pthread_cond_signal(&team->emptied);
			pthread_mutex_unlock(&team->lock);
		}
	}
}

/* Stops and joins the workers below `started`. */
static void workers_stop(struct team *team, int started)
{
	atomic_fetch_or(&team->gate, GATE_STOP);
	wake_workers(team);
	for (int i = 1; i < started; i++)
		pthread_join(team->workers[i].thread, NULL);
}

static int workers_start(struct team *team, struct err *err)
{
	sigset_t all, before;
	int failure = 0;

	/* Signals are for the caller's threads; workers inherit the full mask. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (int i = 0; i < team->size && !failure; i++) {
		team->workers[i].team = team;
		team->workers[i].index = i;
		if (i > 0)
			failure = pthread_create(
				&team->workers[i].thread, NULL, worker_main, &team->workers[i]);
		if (failure) {
			err_set(err, ERR_MEMORY, "thread %d of %d: %s", i + 1, team->size,
				strerror(failure));
			workers_stop(team, i);
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return failure ? ERR_MEMORY : 0;
}

static void team_destroy(struct team *team)
{
	pthread_cond_destroy(&team->emptied);
	pthread_cond_destroy(&team->opened);
	pthread_mutex_destroy(&team->lock);
	mem_free(team);
}

int team_new(struct team **team, int threads, struct err *err)
{
	struct team *made;
	size_t bytes;
	int code;

	*team = NULL;
	if (threads < 1 || threads > MOST_THREADS)
		return err_set(err, ERR_INPUT, "a team of %d threads: allowed are 1 to %d", threads,
			MOST_THREADS);
	bytes = sizeof(*made) + (size_t)threads * sizeof(made->workers[0]);
	made = mem_new(1, bytes);
	if (!made)
		return err_memory(err, "a team of threads", bytes);
	made->size = threads;
	made->spin = threads <= os_processors();
	pthread_mutex_init(&made->lock, NULL);
	pthread_cond_init(&made->opened, NULL);
	pthread_cond_init(&made->emptied, NULL);
	code = workers_start(made, err);
	if (code) {
		team_destroy(made);
		return code;
	}
	*team = made;
	return 0;
}

void team_free(struct team *team)
{
	if (!team)
		return;
	workers_stop(team, team->size);
	team_destroy(team);
}

int team_size(const struct team *team)
{
	return team->size;
}

static void run_together(struct team *team, int tasks, team_fn *fn, void *context)
{
	const uint_fast64_t gate = atomic_load_explicit(&team->gate, memory_order_relaxed);

	team->fn = fn;
	team->context = context;
	for (int i = 0; i < team->size; i++) {
		atomic_store_explicit(&team->workers[i].next, (int64_t)tasks * i / team->size,
			memory_order_relaxed);
		team->workers[i].end = (int64_t)tasks * (i + 1) / team->size;
	}
	atomic_exchange(&team->gate, gate + GATE_RUN + GATE_OPEN);
	wake_workers(team);
	work(team, 0);
	atomic_fetch_and(&team->gate, ~(uint_fast64_t)GATE_OPEN);
	await_empty(team);
}

void team_run(struct team *team, int tasks, team_fn *fn, void *context)
{
	const unsigned mode = flush_begin();

	assert(!(atomic_load_explicit(&team->gate, memory_order_relaxed) &
		       (GATE_OPEN | GATE_INSIDE)) &&
		"a team serves one caller at a time");
	if (team->size > 1 && tasks > 1)
		run_together(team, tasks, fn, context);
	else
		for (int i = 0; i < tasks; i++)
			fn(context, i, 0);
	flush_end(mode);
}
