/* Monotonic time, for measurements and deadlines; and the time of day, for records. */
#ifndef RETAIN_BASE_CLOCK_H
#define RETAIN_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Seconds since an arbitrary moment, on a monotonic clock. */
static inline double clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Milliseconds since 1970, UTC. It may jump: nothing that must repeat may depend on it. */
static inline int64_t clock_wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
