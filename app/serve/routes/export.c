/*
 * GET /v1/export: `retain export` in a process of its own, whose output goes to the client as it
 * comes. The service itself cannot read a snapshot of its journal, whose map may grow meanwhile
 * (store/lmdb.h).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "serve/child.h"
#include "serve/exchange.h"

enum { EXPORTS_MOST = 4, FIRST_MS = 20000, NEXT_MS = 20 };

struct export_stream {
	struct serve *serve;
	pid_t child; /* 0: it was waited for */
	int out, complaints;
	bool failed;
};

static const struct {
	const char *name, *type;
} formats[] = {
	{"ndjson", "application/x-ndjson"},
	{"csv", "text/csv; charset=utf-8"},
	{"npz", "application/octet-stream"},
};

/* Waits for the process, which has closed its output; false: it failed. */
static bool child_done(struct export_stream *s)
{
	int status = 0;

	while (s->child && waitpid(s->child, &status, 0) < 0 && errno == EINTR)
		;
	s->child = 0;
	s->failed |= status != 0;
	return !s->failed;
}

/* What is there, after a moment; an export that failed half-way must not look like a whole one. */
static ssize_t next_piece(void *context, char *out, size_t room)
{
	struct export_stream *s = context;
	struct pollfd wait = {.fd = s->out, .events = POLLIN};
	ssize_t got;

	if (poll(&wait, 1, NEXT_MS) <= 0)
		return 0;
	got = read(s->out, out, room);
	if (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)))
		return got > 0 ? got : 0;
	return child_done(s) && !got ? -1 : -2;
}

static void stream_close(void *context)
{
	struct export_stream *s = context;

	if (s->child) {
		kill(s->child, SIGTERM);
		child_done(s);
	}
	if (s->out >= 0)
		close(s->out);
	if (s->complaints >= 0)
		close(s->complaints);
	atomic_fetch_sub(&s->serve->exports, 1);
	mem_free(s);
}

static int start(struct export_stream *s, const struct exchange *exchange, const char *format)
{
	static const char *const times[][2] = {{"since", "--since"}, {"until", "--until"}};
	const char *words[16] = {"retain", "export", "--quiet", "--format", format};
	int n = 5, out[2], complaints[2], code;

	for (size_t i = 0; i < 2; i++)
		if (http_param(exchange->request, times[i][0])) {
			words[n++] = times[i][1];
			words[n++] = http_param(exchange->request, times[i][0]);
		}
	words[n++] = "--";
	words[n] = desk_config(exchange->served->desk)->folder;
	if (os_pipe(out, true))
		return errno;
	s->out = out[0];
	code = os_pipe(complaints, true) ? errno : 0;
	if (!code) {
		s->complaints = complaints[0];
		code = child_start(&s->child, os_program(), words, -1, out[1], complaints[1]);
		close(complaints[1]);
	}
	close(out[1]);
	if (code)
		s->child = 0;
	return code;
}

/* Before the first byte a failure can still be told. */
static enum http_next await(struct export_stream *s, struct http_request *request)
{
	struct pollfd wait = {.fd = s->out, .events = POLLIN};
	char words[512];

	poll(&wait, 1, FIRST_MS);
	if (!(wait.revents & POLLHUP) || wait.revents & POLLIN || child_done(s))
		return HTTP_GO;
	child_hear(s->complaints, words);
	return http_refuse(request,
		strstr(words, "--since") || strstr(words, "--until") ? 400 : 503, "%s",
		!strncmp(words, "retain: ", 8) ? words + 8 : words);
}

enum http_next serve_export(struct exchange *exchange)
{
	struct http_request *request = exchange->request;
	const char *format = http_param(request, "format"), *type = NULL;
	struct export_stream *s;
	int code;

	format = format ? format : formats->name;
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++)
		if (!strcmp(formats[i].name, format))
			type = formats[i].type;
	if (!type)
		return http_refuse(
			request, 400, "format: %s is not one of ndjson, csv, npz", format);
	if (atomic_fetch_add(&exchange->serve->exports, 1) >= EXPORTS_MOST) {
		atomic_fetch_sub(&exchange->serve->exports, 1);
		http_field(request, "Retry-After", "5");
		return http_refuse(request, 503, "%d exports are being made", EXPORTS_MOST);
	}
	s = mem_new(1, sizeof(*s));
	if (!s) {
		atomic_fetch_sub(&exchange->serve->exports, 1);
		return http_refuse(request, 503, "out of memory");
	}
	*s = (struct export_stream){.serve = exchange->serve, .out = -1, .complaints = -1};
	code = start(s, exchange, format);
	if (code)
		http_refuse(request, 503, "an export cannot be started: %s", strerror(code));
	if (code || await(s, request) != HTTP_GO) {
		stream_close(s);
		return HTTP_DONE;
	}
	request->answer.stream = (struct http_stream){next_piece, stream_close, s};
	return http_say(request, 200, type);
}
