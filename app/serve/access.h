/*
 * The access log: a line of JSON for each request, when it is over. Lines are appended with one
 * write each, so that log rotation by copying and truncating does not tear them. One that cannot be
 * written at once is dropped: no request waits for a full disk, or for a reader that stopped.
 */
#ifndef RETAIN_SERVE_ACCESS_H
#define RETAIN_SERVE_ACCESS_H

#include <pthread.h>
#include <stdbool.h>

#include "base/err.h"
#include "serve/http/http.h"

struct access {
	int file;             /* -1: none */
	pthread_mutex_t lock; /* protects what follows, and that one writes at a time */
	bool torn;            /* the last line was written in part */
};

/* A file, or standard output for "-"; "": none. Release it in any case. */
int access_init(struct access *log, const char *path, struct err *err);
void access_release(struct access *log);

void access_note(struct access *log, const struct http_request *request, double seconds);

#endif
