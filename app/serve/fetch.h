/* Asks another service, with curl, which is a process of its own: retain itself opens no connection. */
#ifndef RETAIN_SERVE_FETCH_H
#define RETAIN_SERVE_FETCH_H

#include <stdbool.h>
#include <stdint.h>

struct fetch {
	const char *url, *path; /* of the service, and below it: "/v1/state" */
	const char *token;      /* empty: none */
	const char *tag;        /* of what the asker has; NULL or empty: none */
	const char *body;       /* file for what comes, also with a refusal */
	const char *headers;    /* file for the headers; NULL: none */
	int64_t most;           /* bytes of each of the two files; more is a failure */
};

/* As child_run (serve/child.h): false if the service is not there, or refuses. */
bool fetch(const struct fetch *fetch, double (*latest)(void *context, double start), void *context,
	char complaint[512]);

#endif
