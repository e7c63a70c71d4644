/* See os.h. Linux first; what macOS lacks is made of what it has. */
#define _GNU_SOURCE 1
#include "base/os.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__)
#include <sched.h>
#include <sys/prctl.h>
#elif defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

int os_processors(void)
{
#if defined(__linux__)
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) == 0 && CPU_COUNT(&allowed) > 0)
		return CPU_COUNT(&allowed);
#endif
	const long online = sysconf(_SC_NPROCESSORS_ONLN);

	return online > 0 ? (int)online : 1;
}

void os_huge_pages(void *block, size_t size)
{
#if defined(MADV_HUGEPAGE)
	(void)madvise(block, size, MADV_HUGEPAGE);
#else
	(void)block;
	(void)size;
#endif
}

#if defined(__APPLE__)
struct sorting {
	os_compare *compare;
	void *context;
};

static int compare_sorting(void *sorting, const void *a, const void *b)
{
	const struct sorting *s = sorting;

	return s->compare(a, b, s->context);
}
#endif

void os_sort(void *rows, size_t count, size_t size, os_compare *compare, void *context)
{
#if defined(__APPLE__)
	struct sorting sorting = {compare, context};

	qsort_r(rows, count, size, &sorting, compare_sorting);
#else
	qsort_r(rows, count, size, compare, context);
#endif
}

int os_compare_versions(const char *a, const char *b)
{
#if defined(__linux__)
	return strverscmp(a, b);
#else
	while (*a && *a == *b && !isdigit((unsigned char)*a))
		a++, b++;
	if (!isdigit((unsigned char)*a) || !isdigit((unsigned char)*b))
		return (unsigned char)*a - (unsigned char)*b;
	char *a_end, *b_end;
	const unsigned long long x = strtoull(a, &a_end, 10), y = strtoull(b, &b_end, 10);

	return x != y ? (x > y) - (x < y) : os_compare_versions(a_end, b_end);
#endif
}

char *os_find_last(const void *bytes, int byte, size_t size)
{
#if defined(__linux__)
	return memrchr(bytes, byte, size);
#else
	const unsigned char *at = bytes;

	while (size--)
		if (at[size] == (unsigned char)byte)
			return (char *)at + size;
	return NULL;
#endif
}

int64_t os_changed(const struct stat *facts)
{
#if defined(__APPLE__)
	const struct timespec at = facts->st_mtimespec;
#else
	const struct timespec at = facts->st_mtim;
#endif
	return (int64_t)at.tv_sec * 1000000000 + at.tv_nsec;
}

#if !defined(__linux__)
/* Two steps where Linux has one: a fork in between may leak the descriptor to the child. */
static int with_flags(int fd, bool blocks)
{
	if (fd < 0)
		return -1;
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) || (!blocks && fcntl(fd, F_SETFL, O_NONBLOCK))) {
		const int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}
#endif

int os_socket(int family)
{
#if defined(__linux__)
	return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
#else
	return with_flags(socket(family, SOCK_STREAM, 0), false);
#endif
}

int os_accept(int listening, struct sockaddr *name, socklen_t *size)
{
#if defined(__linux__)
	return accept4(listening, name, size, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
	return with_flags(accept(listening, name, size), false);
#endif
}

int os_pipe(int ends[2], bool blocks)
{
#if defined(__linux__)
	return pipe2(ends, O_CLOEXEC | (blocks ? 0 : O_NONBLOCK));
#else
	if (pipe(ends))
		return -1;
	if (with_flags(ends[0], blocks) < 0) {
		close(ends[1]);
		return -1;
	}
	if (with_flags(ends[1], blocks) < 0) {
		close(ends[0]);
		return -1;
	}
	return 0;
#endif
}

int os_unnamed_file(void)
{
#if defined(__linux__)
	return memfd_create("retain", MFD_CLOEXEC);
#else
	char path[] = "/tmp/retain.XXXXXX";
	const int fd = mkstemp(path);

	if (fd >= 0)
		unlink(path);
	return with_flags(fd, true);
#endif
}

const char *os_program(void)
{
	const char *said = getenv("RETAIN_PROGRAM");

	if (said && *said)
		return said;
#if defined(__linux__)
	return "/proc/self/exe"; /* stays right when the file is replaced */
#elif defined(__APPLE__)
	static char path[4096];
	uint32_t size = sizeof(path);

	return _NSGetExecutablePath(path, &size) ? NULL : path;
#else
	return NULL;
#endif
}

void os_end_with_parent(void)
{
#if defined(__linux__)
	prctl(PR_SET_PDEATHSIG, SIGTERM);
#endif
}

void os_give_way(int nicer)
{
#if defined(__linux__)
	/* To Linux a thread has a niceness of its own. */
	const id_t self = (id_t)gettid();

	errno = 0;
	const int own = getpriority(PRIO_PROCESS, self);

	if (!errno)
		setpriority(PRIO_PROCESS, self, own + nicer);
#else
	(void)nicer;
#endif
}

void os_condition_init(pthread_cond_t *condition)
{
#if defined(__APPLE__)
	pthread_cond_init(condition, NULL);
#else
	pthread_condattr_t clock;

	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &clock);
	pthread_condattr_destroy(&clock);
#endif
}

int os_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double seconds)
{
	const struct timespec span = {
		(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

	if (seconds <= 0)
		return ETIMEDOUT;
#if defined(__APPLE__)
	return pthread_cond_timedwait_relative_np(condition, lock, &span);
#else
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += span.tv_sec + (until.tv_nsec + span.tv_nsec) / 1000000000;
	until.tv_nsec = (until.tv_nsec + span.tv_nsec) % 1000000000;
	return pthread_cond_timedwait(condition, lock, &until);
#endif
}
