/*
 * Who may do what. A browser on this machine may be led here by any page, so a request
 * must name us (Host), and one that a page sends must come from our own page or from one
 * that is allowed (Origin). With a token, `Authorization` must carry it, as a bearer's or
 * as the password of any user, so that browsers can ask for it; a second token may only
 * read. Tokens are compared in a time that does not depend on where they differ.
 */
#ifndef RETAIN_SERVE_GUARD_H
#define RETAIN_SERVE_GUARD_H

#include <stdbool.h>

#include "base/err.h"
#include "base/options.h"
#include "serve/http.h"
#include "serve/listen.h"

enum { GUARD_TOKEN = 512 };

struct guard {
	struct listen_address address;
	const char *hosts, *origins; /* more of them, between commas; borrowed */
	char token[GUARD_TOKEN], read_token[GUARD_TOKEN]; /* empty: none */
};

/* What the serve.* keys say. An address that others can reach demands a token. */
int guard_init(struct guard *guard, const struct options *options, struct err *err);

/*
 * HTTP_GO, or a refusal. `changes`: the request is not one that only reads; `open`: it
 * needs no token. Adds what a page that is allowed needs to read the answer.
 */
enum http_next guard_check(
	const struct guard *guard, struct http_request *request, bool changes, bool open);

#endif
