/*
 * Access control. Any web page may direct a browser on this machine here, so a request must name
 * us (Host), and one sent by a page must come from our own page or from an allowed one (Origin).
 * With a token, `Authorization` must carry it, as a bearer token or as the password of any user,
 * so that browsers can ask for it; a second token is read-only. Tokens are compared in constant
 * time.
 */
#ifndef RETAIN_SERVE_GUARD_H
#define RETAIN_SERVE_GUARD_H

#include <stdbool.h>

#include "base/err.h"
#include "base/options.h"
#include "serve/http/http.h"
#include "serve/http/listen.h"

enum { GUARD_TOKEN = 512 };

struct guard {
	struct listen_address address;
	const char *hosts, *origins; /* additional ones, separated by commas; borrowed */
	char token[GUARD_TOKEN], read_token[GUARD_TOKEN]; /* empty: none */
};

/* Reads the serve.* keys. An address that other machines can reach requires a token. */
int guard_init(struct guard *guard, const struct options *options, struct err *err);

/*
 * HTTP_GO, or a refusal. `changes`: the request is not read-only; `open`: it needs no token. Adds
 * the CORS headers for an allowed page.
 */
enum http_next guard_check(
	const struct guard *guard, struct http_request *request, bool changes, bool open);

#endif
