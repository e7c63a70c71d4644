/*
 * For LD_PRELOAD: the time of day jumps back and forth by years, from call to
 * call. Clocks that only run forward stay as they are.
 */
#define _GNU_SOURCE 1
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SEEN __attribute__((visibility("default")))

static atomic_int calls;

static time_t jump(void)
{
	static const time_t years[] = {-20, 7, -3, 12};

	return years[atomic_fetch_add(&calls, 1) % 4] * 365 * 24 * 3600;
}

SEEN int clock_gettime(clockid_t clock, struct timespec *t)
{
	const long code = syscall(SYS_clock_gettime, clock, t);

	if (!code && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
		t->tv_sec += jump();
	return (int)code;
}

SEEN int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	struct timespec now;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &now);
	t->tv_sec = now.tv_sec;
	t->tv_usec = now.tv_nsec / 1000;
	return 0;
}

SEEN time_t time(time_t *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	if (t)
		*t = now.tv_sec;
	return now.tv_sec;
}
