/* Checks Host, Origin and Authorization. */
#include "serve/http/guard.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "base/mem.h"

static int read_token(char out[GUARD_TOKEN], const char *key, const char *path, struct err *err)
{
	char *words = NULL;
	size_t size = 0, length;
	int code;

	if (!*path)
		return 0;
	code = file_read(path, GUARD_TOKEN, &words, &size, err);
	if (code)
		return code;
	length = strcspn(words, "\r\n");
	if (length < 16 || length >= GUARD_TOKEN || strspn(words + length, "\r\n") + length != size)
		code = err_set(err, ERR_INPUT, "%s = %s: must hold one line of 16 to %d characters",
			key, path, GUARD_TOKEN - 1);
	else
		snprintf(out, GUARD_TOKEN, "%.*s", (int)length, words);
	mem_free(words);
	return code;
}

int guard_init(struct guard *guard, const struct options *options, struct err *err)
{
	int code = listen_parse(
		&guard->address, "serve.listen", options_text(options, "serve.listen"), err);

	guard->hosts = options_text(options, "serve.hosts");
	guard->origins = options_text(options, "serve.origins");
	if (!code)
		code = read_token(guard->token, "serve.token_file",
			options_text(options, "serve.token_file"), err);
	if (!code)
		code = read_token(guard->read_token, "serve.read_token_file",
			options_text(options, "serve.read_token_file"), err);
	if (!code && !guard->address.local && !*guard->token)
		code = err_set(err, ERR_INPUT,
			"serve.listen = %s: other machines can reach it, so it needs a token: "
			"serve.token_file",
			options_text(options, "serve.listen"));
	if (!code && *guard->read_token && !*guard->token)
		code = err_set(err, ERR_INPUT,
			"serve.read_token_file: is of no use without serve.token_file");
	return code;
}

/* Of the same length and bytes; looks at all bytes of both. */
static bool same_token(const char *a, const char *b)
{
	const size_t lengths[] = {strlen(a), strlen(b)};
	unsigned char differs = lengths[0] != lengths[1];

	for (size_t i = 0; i < GUARD_TOKEN; i++)
		differs |= (unsigned char)(i < lengths[0] ? a[i] : 0) ^
			   (unsigned char)(i < lengths[1] ? b[i] : 0);
	return !differs;
}

/* Whether a list between commas has these words, in any case. */
static bool listed(const char *list, const char *words, size_t length)
{
	while (*list) {
		const size_t blank = strspn(list, " ,");
		const size_t item = strcspn(list + blank, " ,");

		if (item == length && item && !strncasecmp(list + blank, words, length))
			return true;
		list += blank + item;
	}
	return false;
}

static bool names_us(const struct guard *guard, const char *host)
{
	static const char *const ours[] = {"127.0.0.1", "localhost", "[::1]"};
	const struct listen_address *address = &guard->address;
	const char *colon = strrchr(host, ':');
	const char *end = colon && !strchr(colon, ']') ? colon : host + strlen(host);
	const size_t length = (size_t)(end - host);
	char port[16];

	if (address->port < 0)
		return true;
	if (listed(guard->hosts, host, strlen(host)) || listed(guard->hosts, host, length))
		return true;
	if (!address->local && !*guard->hosts)
		return true;
	snprintf(port, sizeof(port), ":%d", address->port);
	if (strcmp(end, port) != 0 && (*end || address->port != 80))
		return false;
	if (length == strlen(address->host) && !strncasecmp(host, address->host, length))
		return true;
	for (size_t i = 0; i < sizeof(ours) / sizeof(*ours); i++)
		if (length == strlen(ours[i]) && !strncasecmp(host, ours[i], length))
			return address->local;
	return false;
}

/* A page of ours has our own name. */
static bool is_our_page(const char *origin, const char *host)
{
	static const char *const schemes[] = {"http://", "https://"};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(*schemes); i++) {
		const size_t length = strlen(schemes[i]);

		if (!strncasecmp(origin, schemes[i], length) && !strcasecmp(origin + length, host))
			return true;
	}
	return false;
}

static int value_of(char c)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* The password in "user:password" as base64; empty if it is none. */
static void read_password(const char *words, char out[GUARD_TOKEN])
{
	unsigned int bits = 0;
	size_t size = 0;
	int held = 0;
	char *colon;

	for (; *words && *words != '=' && size < GUARD_TOKEN - 1; words++) {
		const int value = value_of(*words);

		if (value < 0) {
			out[0] = '\0';
			return;
		}
		bits = (bits << 6 | (unsigned int)value) & 0xffff;
		held += 6;
		if (held >= 8) {
			held -= 8;
			out[size++] = (char)(bits >> held & 0xff);
		}
	}
	out[size] = '\0';
	colon = strchr(out, ':');
	memmove(out, colon ? colon + 1 : out + size, colon ? strlen(colon + 1) + 1 : 1);
}

static enum http_next check_token(
	const struct guard *guard, struct http_request *request, bool changes)
{
	const char *given = http_header(request, "Authorization");
	char token[GUARD_TOKEN] = "";
	bool full, reads;

	if (given && !strncasecmp(given, "Bearer ", 7))
		snprintf(token, sizeof(token), "%s", given + 7);
	else if (given && !strncasecmp(given, "Basic ", 6))
		read_password(given + 6, token);
	full = same_token(token, guard->token);
	reads = same_token(token, guard->read_token) && *guard->read_token;
	request->reader = reads && !full;
	if (full || (reads && !changes))
		return HTTP_GO;
	if (reads)
		return http_refuse(request, 403, "this token may only read");
	http_field(request, "WWW-Authenticate", "Bearer, Basic realm=\"retain\"");
	return http_refuse(request, 401,
		"%s: say Authorization: Bearer TOKEN, with what serve.token_file holds",
		given ? "the token is another" : "a token is needed");
}

enum http_next guard_check(
	const struct guard *guard, struct http_request *request, bool changes, bool open)
{
	const char *host = http_header(request, "Host"), *origin = http_header(request, "Origin");
	bool named = host != NULL;

	/* All of them, should there be several. */
	for (int i = 0; i < request->header_count; i++)
		named &=
			strcasecmp(request->headers[i].name, "Host") ||
			names_us(guard, request->headers[i].value ? request->headers[i].value : "");
	if (!named)
		return http_refuse(request, 421,
			"Host: %s is not the name of this service; see serve.hosts",
			host ? host : "(missing)");
	if (origin && !is_our_page(origin, host)) {
		if (!listed(guard->origins, origin, strlen(origin)))
			return http_refuse(request, 403,
				"Origin: pages of %s may not use this service; see serve.origins",
				origin);
		http_field(request, "Access-Control-Allow-Origin", "%s", origin);
		http_field(request, "Access-Control-Expose-Headers",
			"Retry-After, Inference-Header-Content-Length, X-Request-Id");
		http_field(request, "Vary", "Origin");
	}
	if (!*guard->token || open)
		return HTTP_GO;
	return check_token(guard, request, changes);
}
