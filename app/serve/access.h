/*
 * The access log: a line of JSON for each request, when it is over. Lines are appended with one
 * write each, so that threads and log rotation by copying and truncating do not tear them; one that
 * cannot be written is dropped.
 */
#ifndef RETAIN_SERVE_ACCESS_H
#define RETAIN_SERVE_ACCESS_H

#include "base/err.h"
#include "serve/http/http.h"

/* The descriptor of a file, or of standard output for "-"; -1 for "": none. */
int access_open(int *log, const char *path, struct err *err);
void access_close(int log);

void access_note(int log, const struct http_request *request, double seconds);

#endif
