/*
 * What differs between operating systems: Linux with glibc or musl, and macOS. Nothing else asks
 * which of them it runs on. Descriptors made here are closed on exec.
 */
#ifndef RETAIN_BASE_OS_H
#define RETAIN_BASE_OS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* Processors that this process may use; at least 1. */
int os_processors(void);

/* Asks for huge pages; without effect where there are none. */
void os_huge_pages(void *block, size_t size);

/* qsort with a context for the comparison. */
typedef int os_compare(const void *a, const void *b, void *context);
void os_sort(void *rows, size_t count, size_t size, os_compare *compare, void *context);

/* Compares names by the numbers in them: fig2 before fig10. */
int os_compare_versions(const char *a, const char *b);

/* The last such byte; NULL if there is none. */
char *os_find_last(const void *bytes, int byte, size_t size);

/* When a file was changed, in nanoseconds since 1970. */
int64_t os_changed(const struct stat *facts);

/* Non-blocking stream sockets. -1 with errno. */
int os_socket(int family);
int os_accept(int listening, struct sockaddr *name, socklen_t *size);

int os_pipe(int ends[2], bool blocks);

/* A file without a name that lies in memory, or is deleted already. -1 with errno. */
int os_unnamed_file(void);

/*
 * The path of this program, to run it again; NULL: unknown. Valid as long as the process. The
 * environment's RETAIN_PROGRAM names another: a process that only contains the command needs one.
 */
const char *os_program(void);

/* In a child that was just forked: ends it when its parent ends, where that can be had. */
void os_end_with_parent(void);

/* Gives the calling thread a lower priority than others of the process, where that can be had. */
void os_give_way(int nicer);

/* A condition whose wait is bounded by a monotonic clock. Non-zero: the time is over. */
void os_condition_init(pthread_cond_t *condition);
int os_condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, double seconds);

#endif
