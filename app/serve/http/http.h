/*
 * HTTP/1.1: requests in, answers out. http.c is the only file that knows libmicrohttpd; handlers
 * see only this interface, and can be tested without a socket.
 *
 * A request is served by the owner's callbacks, on one of the server's threads:
 *
 *	begin   when its headers have arrived
 *	body    for each piece of its body
 *	end     when it is complete; again after http_resume, if it returned HTTP_WAIT
 *	gone    once for each begin
 *	over    last, for each request, also where there was no begin
 *
 * HTTP_GO continues. HTTP_DONE: request->answer is complete; the rest of the body is dropped.
 * HTTP_WAIT: nothing is read or answered until http_resume is called; the owner must have called
 * http_wait before that can happen.
 *
 * Nothing grows without limit: connections, headers and idle time are limited here, bodies and
 * answers by the owner. Beyond the limits clients get 429, 431 and 408.
 */
#ifndef RETAIN_SERVE_HTTP_H
#define RETAIN_SERVE_HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/text.h"

enum {
	HTTP_FIELDS = 64,
	HTTP_NAME = 512,
	HTTP_MORE = 12,
	HTTP_ID = 128,   /* longest id of a request */
	HTTP_TRACE = 55, /* length of a traceparent */
	HTTP_SPARE = 64, /* connections beyond the limit, which get a 429 */
};

struct http_field {
	const char *name, *value;
};

/* A stream delivers bytes as they come: 0 for none at the moment, -1 at its end, -2: it failed. */
struct http_stream {
	ssize_t (*next)(void *stream, char *out, size_t room);
	void (*close)(void *stream);
	void *stream;
};

struct http_answer {
	int status;       /* 0: none yet */
	const char *type; /* of the body; static */
	struct text body;
	struct http_field fields[HTTP_MORE]; /* additional headers; names are static ... */
	char values[HTTP_MORE][HTTP_NAME];   /* ... and values are here */
	int field_count;
	int64_t bytes;             /* of the body, as it was sent */
	bool close;                /* close the connection after it */
	struct http_stream stream; /* instead of a body, if it has `next`; */
	bool has_file;             /* or a whole file, whose descriptor is taken over */
	int file;                  /* a descriptor */
};

struct http_request {
	const char *method, *path; /* the path without the query */
	struct http_field headers[HTTP_FIELDS], params[HTTP_FIELDS];
	int header_count, param_count;
	int64_t length; /* of the body, as announced; -1: unknown */
	bool reader;    /* came with a read-only token */
	struct http_answer answer;
	char id[HTTP_ID + 1];       /* X-Request-Id, or made */
	char trace[HTTP_TRACE + 1]; /* traceparent; empty: none that is valid */
	char remote[64];            /* the client's address */
	void *own;                  /* owned by the owner */
	/* Suspends and resumes it, set by its creator: http.c, or a test without sockets. */
	void (*wait)(struct http_request *request);
	void (*resume)(struct http_request *request);
};

/* NULL if there is none; header names ignore case. */
const char *http_header(const struct http_request *request, const char *name);
const char *http_param(const struct http_request *request, const char *name);

/* Finds its id and traceparent, or makes an id, and adds both to the answer. */
void http_identify(struct http_request *request);

/*
 * What a proxy in front may read otherwise than we do: where such a request ends is anybody's
 * guess, so the connection ends with it. NULL: all is well.
 */
const char *http_ambiguity(const struct http_request *request, const char *version);

/*
 * A complete answer, an error as {"error": sentence}, and an additional header. All return
 * HTTP_DONE. 429 and 503 carry Retry-After, one second by default.
 */
enum http_next { HTTP_GO, HTTP_WAIT, HTTP_DONE };
enum http_next http_say(struct http_request *request, int status, const char *type);
enum http_next http_refuse(struct http_request *request, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void http_field(struct http_request *request, const char *name, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

struct http_owner {
	enum http_next (*begin)(void *context, struct http_request *request);
	enum http_next (*body)(
		void *context, struct http_request *request, const char *bytes, size_t size);
	enum http_next (*end)(void *context, struct http_request *request);
	void (*gone)(void *context, struct http_request *request);
	void (*over)(void *context, const struct http_request *request, double seconds);
	void *context;
};

struct http_config {
	int listening; /* a socket, taken over */
	int threads;
	int connections;
	int headers; /* bytes of a request's headers */
	double idle; /* seconds */
	struct http_owner owner;
};

struct http;

int http_open(struct http **http, const struct http_config *config, struct err *err);
void http_wait(struct http_request *request);
void http_resume(struct http_request *request);

/* Accepts no more connections, and closes existing ones after their answers. */
void http_drain(struct http *http);
/* Waits up to this many seconds for requests in progress, then closes all connections. */
void http_close(struct http *http, double seconds);

struct http_counts {
	int connections, most;
	uint64_t refused; /* connections beyond the limit */
};
void http_counts(const struct http *http, struct http_counts *counts);

#endif
