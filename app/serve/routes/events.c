/*
 * GET /v1/events: new lines of the run's events.jsonl and metrics.csv, as server-sent events. An
 * id is the number of lines read from both files. A killed learner returns to its checkpoint and
 * writes the lines after it again, identical except for their seconds; so an id means the same
 * after a restart, and a client that reconnects misses nothing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "base/paths.h"
#include "serve/exchange.h"
#include "serve/desk/tail.h"

enum { PIECE = 16 << 10, STREAMS_MOST = 64 };
static const double QUIET = 10; /* seconds of silence before a keep-alive comment */

struct watcher {
	struct serve *serve;
	struct desk *desk;
	char *events, *metrics; /* paths */
	struct tail_place events_at, metrics_at;
	bool sought;       /* the places are in the files; until then only their lines are known */
	char header[2048]; /* of metrics.csv */
	char piece[PIECE];
	struct text out; /* what is still to be sent */
	size_t sent;
	double last;
};

static void begin_event(struct watcher *watcher, const char *name)
{
	text_addf(&watcher->out,
		"id: %" PRId64 "-%" PRId64 "\nevent: %s\ndata: ", watcher->events_at.lines,
		watcher->metrics_at.lines, name);
}

/* {"event": "cut", ...}: its name is the event's. */
static void add_event(struct watcher *watcher, char *line)
{
	static const char key[] = "\"event\": \"";
	const char *name = strstr(line, key);
	char word[32] = "event";

	if (name)
		snprintf(word, sizeof(word), "%.*s", (int)strcspn(name + sizeof(key) - 1, "\""),
			name + sizeof(key) - 1);
	begin_event(watcher, word);
	text_addf(&watcher->out, "%s\n\n", line);
}

/* A row as a table, by the names of its columns. */
static void add_row(struct watcher *watcher, char *line)
{
	struct jwriter json = {.out = &watcher->out};
	char names[sizeof(watcher->header)], *next = names;

	if (!strcmp(line, watcher->header))
		return;
	snprintf(names, sizeof(names), "%s", watcher->header);
	begin_event(watcher, "evaluation");
	jwriter_table(&json, NULL);
	while (next && line) {
		const char *name = strsep(&next, ","), *value = strsep(&line, ",");
		double number;

		if (*value && text_to_double(value, &number))
			jwriter_number(&json, name, number);
	}
	jwriter_end(&json);
	text_add(&watcher->out, "\n\n");
}

/* New lines of a file; while one is added, the place is behind it, for its id. */
static void look_into(struct watcher *watcher, const char *path, struct tail_place *place,
	void (*add)(struct watcher *watcher, char *line))
{
	char *lines = watcher->piece, *line;
	int64_t end;
	size_t size;

	if (tail_end(path) < place->at)
		*place = tail_behind(path, INT64_MAX);
	end = place->at;
	size = tail_read(path, &end, watcher->piece, PIECE);
	place->at = end - (int64_t)size;
	while (size && (line = strsep(&lines, "\n")) && lines) {
		place->at += lines - line;
		place->lines++;
		add(watcher, line);
	}
}

/* A learner that opens still makes the lines that a client may have seen. */
static bool seek(struct watcher *watcher)
{
	struct desk_status status;

	if (watcher->sought)
		return true;
	desk_status(watcher->desk, &status);
	if (status.state == DESK_OPENS)
		return false;
	watcher->events_at = tail_behind(watcher->events, watcher->events_at.lines);
	watcher->metrics_at = tail_behind(watcher->metrics, watcher->metrics_at.lines);
	watcher->sought = true;
	return true;
}

static void look(struct watcher *watcher)
{
	if (!seek(watcher))
		return;
	if (!*watcher->header) {
		int64_t at = 0;

		tail_read(watcher->metrics, &at, watcher->piece, PIECE);
		snprintf(watcher->header, sizeof(watcher->header), "%.*s",
			(int)strcspn(watcher->piece, "\n"), watcher->piece);
	}
	look_into(watcher, watcher->events, &watcher->events_at, add_event);
	look_into(watcher, watcher->metrics, &watcher->metrics_at, add_row);
}

static ssize_t next_piece(void *context, char *out, size_t room)
{
	struct watcher *watcher = context;
	size_t size;

	if (watcher->sent == watcher->out.size) {
		watcher->out.size = watcher->sent = 0;
		look(watcher);
		if (!watcher->out.size && clock_now() - watcher->last > QUIET)
			text_add(&watcher->out, ": all is well\n\n");
	}
	size = watcher->out.size - watcher->sent;
	size = size < room ? size : room;
	if (watcher->out.failed)
		return -1;
	if (size) {
		memcpy(out, watcher->out.data + watcher->sent, size);
		watcher->sent += size;
		watcher->last = clock_now();
	}
	return (ssize_t)size;
}

static void watcher_close(void *context)
{
	struct watcher *watcher = context;

	atomic_fetch_sub(&watcher->serve->watchers, 1);
	text_release(&watcher->out);
	mem_free(watcher->events);
	mem_free(watcher->metrics);
	mem_free(watcher);
}

static struct watcher *watcher_open(struct serve *serve, const struct served *served)
{
	const char *folder = desk_config(served->desk)->folder;
	struct watcher *watcher = mem_new(1, sizeof(*watcher));

	if (!watcher)
		return NULL;
	watcher->serve = serve;
	watcher->desk = served->desk;
	atomic_fetch_add(&serve->watchers, 1);
	watcher->events = path_join(folder, "events.jsonl");
	watcher->metrics = path_join(folder, "metrics.csv");
	watcher->last = clock_now();
	if (watcher->events && watcher->metrics)
		return watcher;
	watcher_close(watcher);
	return NULL;
}

enum http_next serve_events(struct exchange *exchange)
{
	struct http_request *request = exchange->request;
	const char *from = http_header(request, "Last-Event-ID");
	struct watcher *watcher;
	char *end;

	if (exchange->serve->watchers >= STREAMS_MOST) {
		http_field(request, "Retry-After", "5");
		return http_refuse(request, 503, "%d clients listen already", STREAMS_MOST);
	}
	watcher = watcher_open(exchange->serve, exchange->served);
	if (!watcher)
		return http_refuse(request, 503, "out of memory");
	from = from ? from : http_param(request, "from");
	watcher->events_at.lines = from ? strtoll(from, &end, 10) : INT64_MAX;
	watcher->metrics_at.lines = !from         ? INT64_MAX
				    : *end == '-' ? strtoll(end + 1, NULL, 10)
						  : 0;
	seek(watcher); /* here, since the files may be long */
	text_add(&watcher->out, "retry: 1000\n\n");
	request->answer.stream = (struct http_stream){next_piece, watcher_close, watcher};
	return http_say(request, 200, exchange->route->gives);
}
