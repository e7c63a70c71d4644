/* Monotonic time, for measurements and deadlines. */
#ifndef RETAIN_BASE_CLOCK_H
#define RETAIN_BASE_CLOCK_H

#include <time.h>

/* Seconds since an arbitrary moment, on a monotonic clock. */
static inline double clock_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
