/*
 * The only file that knows libmicrohttpd.
 *
 * A visit is a connection, a call one request on it. Our own thread, the doorman, accepts
 * connections and handles what libmicrohttpd does not: streams that wait for something to send,
 * and clients that send their headers byte by byte. libmicrohttpd must not listen itself: it can
 * abort when told to stop listening while its threads do.
 */
#define _GNU_SOURCE 1
#include "serve/http/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/os.h"

enum {
	ROOM_LEAST = 32 << 10,   /* bytes of a connection: headers and a piece of body */
	DROPPED_MOST = 64 << 20, /* bytes of a rejected body that are read and dropped */
	SLOW = 10,               /* idle times that a request may take to arrive */
	PIECE = 4096,            /* bytes of a stream */
	TICK_MS = 200,
};
static const double GRACE = 0.5; /* seconds, at the end, for requests that are still arriving */

struct visit {
	struct visit *next, *former;
	struct MHD_Connection *connection;
	int fd;
	bool beyond;       /* the bound */
	bool waits;        /* its stream has nothing to send; it is suspended */
	double since;      /* since when a request is waited for; 0: one is being served */
	bool asks;         /* ... whose headers are there */
	bool over;         /* was cut off for being slow */
	uintptr_t uri_end; /* where the path of its request ended, as it came */
};

struct http {
	struct MHD_Daemon *daemon;
	struct http_config config;
	pthread_mutex_t lock; /* of all below */
	struct visit *visits;
	int count, most;
	int inside; /* of them and those that libmicrohttpd has not begun yet */
	uint64_t refused;
	atomic_int calls;
	atomic_bool draining, stopping;
	double drained; /* since when; good where draining is set */
	pthread_t doorman;
	bool guarded; /* by the doorman */
};

struct call {
	struct http_request request; /* must be first */
	struct http *http;
	struct MHD_Connection *connection;
	struct visit *visit;
	const char *version;
	bool begun, done, queued;
	bool odd; /* its end is unknown */
	double started;
	size_t dropped;
};

static struct visit *visit_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

static int socket_of(struct MHD_Connection *connection)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static void visit_begin(struct http *http, struct MHD_Connection *connection, void **context)
{
	struct visit *visit = mem_new(1, sizeof(*visit));

	*context = visit;
	if (!visit)
		return;
	visit->connection = connection;
	visit->fd = socket_of(connection);
	visit->since = clock_now();
	pthread_mutex_lock(&http->lock);
	visit->next = http->visits;
	if (visit->next)
		visit->next->former = visit;
	http->visits = visit;
	http->count++;
	http->most = http->count > http->most ? http->count : http->most;
	visit->beyond = http->count > http->config.connections;
	http->refused += visit->beyond;
	pthread_mutex_unlock(&http->lock);
}

/* A client whose request never became whole is told why the connection ends. */
static void say_over(
	const struct visit *visit, const char *status, const char *again, const char *sentence)
{
	char words[512];
	const int size = snprintf(words, sizeof(words),
		"HTTP/1.1 %s\r\nContent-Type: application/json\r\n%s"
		"Content-Length: %zu\r\nConnection: close\r\n\r\n{\"error\": \"%s\"}",
		status, again, strlen(sentence) + 13, sentence);

	send(visit->fd, words, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void say_late(const struct visit *visit)
{
	say_over(visit, "408 Request Timeout", "", "the request did not arrive in the time it has");
}

/* The connection's own thread and the doorman may both find out; one of them says so. */
static void cut_off(struct http *http, struct visit *visit)
{
	pthread_mutex_lock(&http->lock);
	if (!visit->over)
		say_late(visit);
	visit->over = true;
	pthread_mutex_unlock(&http->lock);
}

static void visit_end(struct http *http, struct visit *visit)
{
	if (!visit)
		return;
	pthread_mutex_lock(&http->lock);
	if (visit->since > 0 && !http->stopping && !visit->over &&
		clock_now() - visit->since >= http->config.idle / 2)
		say_late(visit);
	if (visit->next)
		visit->next->former = visit->former;
	if (visit->former)
		visit->former->next = visit->next;
	else
		http->visits = visit->next;
	http->count--;
	http->inside--;
	pthread_mutex_unlock(&http->lock);
	mem_free(visit);
}

static void on_visit(void *context, struct MHD_Connection *connection, void **own,
	enum MHD_ConnectionNotificationCode code)
{
	if (code == MHD_CONNECTION_NOTIFY_STARTED)
		visit_begin(context, connection, own);
	else
		visit_end(context, *own);
}

static void visit_since(struct visit *visit, struct http *http, double since, bool asks)
{
	pthread_mutex_lock(&http->lock);
	visit->since = since;
	visit->asks = asks;
	pthread_mutex_unlock(&http->lock);
}

struct fields {
	struct http_field *rows;
	int *count;
	size_t bytes;
	bool beyond;
};

static enum MHD_Result add_field(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct fields *fields = context;

	fields->bytes += strlen(name) + (value ? strlen(value) : 0) + 4;
	if (*fields->count == HTTP_FIELDS)
		fields->beyond = true;
	else
		fields->rows[(*fields->count)++] = (struct http_field){name, value};
	return MHD_YES;
}

static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
	struct visit *visit = visit_of(connection);

	if (visit)
		visit->uri_end = (uintptr_t)uri + strlen(uri);
	return NULL;
}

/*
 * Whether every line of the head ends in CR LF, and holds no zero byte. libmicrohttpd before 1.0
 * takes LF alone, where a proxy in front may see another end of the head. It shows no raw head,
 * but it leaves names and values where they came, and says how long the whole was; so what lies
 * between them is known. A header that it put elsewhere was folded over lines, which only few
 * understand either.
 */
static bool ends_lines(const struct call *call)
{
#if MHD_VERSION < 0x01000000
	enum { END = 2 };
	const struct http_request *request = &call->request;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(call->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	uintptr_t at = (uintptr_t)call->version + strlen(call->version);

	if (call->visit->uri_end + 1 != (uintptr_t)call->version)
		return false;
	for (int i = 0; i < request->header_count; i++) {
		const struct http_field *header = &request->headers[i];

		if ((uintptr_t)header->name != at + END)
			return false;
		if (!header->value)
			return false;
		at = (uintptr_t)header->value + strlen(header->value);
	}
	return info && at + END + END == (uintptr_t)request->method + info->header_size;
#else
	return true;
#endif
}

/*
 * Whether a proxy in front may see another end of the body than libmicrohttpd, which before 1.0
 * takes LF for CR LF around chunks and shows nobody what came. Then no other request may follow:
 * it could be one that the proxy never saw as such.
 */
static bool ends_unclear(const struct http_request *request)
{
	return MHD_VERSION < 0x01000000 && http_header(request, "Transfer-Encoding");
}

/* What the headers say; those that are too long or too many are refused. */
static enum http_next look(struct call *call)
{
	struct http_request *request = &call->request;
	struct fields headers = {request->headers, &request->header_count, 0, false};
	struct fields params = {request->params, &request->param_count, 0, false};
	const char *length, *odd;
	char *end;

	MHD_get_connection_values(call->connection, MHD_HEADER_KIND, add_field, &headers);
	MHD_get_connection_values(call->connection, MHD_GET_ARGUMENT_KIND, add_field, &params);
	http_identify(request);
	length = http_header(request, "Content-Length");
	request->length = length ? strtoll(length, &end, 10) : -1;
	request->answer.close = ends_unclear(request);
	if (headers.beyond || params.beyond ||
		headers.bytes + params.bytes + strlen(request->path) >
			(size_t)call->http->config.headers) {
		request->answer.close = true;
		return http_refuse(request, 431,
			"the headers have more than %d bytes, or more than %d "
			"names",
			call->http->config.headers, HTTP_FIELDS);
	}
	odd = http_ambiguity(request, call->version);
	if (!odd && !ends_lines(call))
		odd = "a line of the headers holds a zero byte or does not end in CR LF";
	if (odd) {
		call->odd = request->answer.close = true;
		return http_refuse(request, 400, "%s", odd);
	}
	if (call->visit->beyond) {
		request->answer.close = true;
		return http_refuse(request, 429,
			"there are serve.connections = %d connections already",
			call->http->config.connections);
	}
	return HTTP_GO;
}

static ssize_t read_stream(void *context, uint64_t at, char *out, size_t room)
{
	struct call *call = context;
	struct http *http = call->http;
	const struct http_stream *stream = &call->request.answer.stream;
	const ssize_t got =
		http->stopping || http->draining ? -1 : stream->next(stream->stream, out, room);

	if (got > 0)
		call->request.answer.bytes += got;
	if (got > 0)
		return got;
	if (got < 0)
		return got == -1 ? MHD_CONTENT_READER_END_OF_STREAM
				 : MHD_CONTENT_READER_END_WITH_ERROR;
	pthread_mutex_lock(&http->lock);
	MHD_suspend_connection(call->connection);
	call->visit->waits = true;
	pthread_mutex_unlock(&http->lock);
	return 0;
}

static struct MHD_Response *response_of(struct call *call)
{
	struct http_answer *answer = &call->request.answer;
	struct MHD_Response *response;

	if (answer->stream.next)
		return MHD_create_response_from_callback(
			MHD_SIZE_UNKNOWN, PIECE, read_stream, call, NULL);
	if (answer->has_file) {
		struct stat facts;
		const bool known = !fstat(answer->file, &facts);

		answer->has_file = false;
		answer->bytes = known ? (int64_t)facts.st_size : 0;
		response =
			known ? MHD_create_response_from_fd64((uint64_t)facts.st_size, answer->file)
			      : NULL;
		if (!response)
			close(answer->file);
		return response;
	}
	if (answer->body.failed) {
		answer->body.failed = false;
		answer->body.size = 0;
		answer->status = 500;
	}
	if (!answer->body.data)
		return MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
	answer->bytes = (int64_t)answer->body.size;
	response = MHD_create_response_from_buffer_with_free_callback(
		answer->body.size, answer->body.data, mem_free);
	if (response)
		answer->body = (struct text){0};
	return response;
}

static enum MHD_Result reply(struct call *call)
{
	struct http_answer *answer = &call->request.answer;
	struct MHD_Response *response = response_of(call);
	enum MHD_Result result;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", answer->type);
	MHD_add_response_header(response, "Cache-Control", "no-store");
	MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	for (int i = 0; i < answer->field_count; i++)
		MHD_add_response_header(response, answer->fields[i].name, answer->fields[i].value);
	if (answer->close || call->http->draining)
		MHD_add_response_header(response, "Connection", "close");
	result = MHD_queue_response(call->connection, (unsigned int)answer->status, response);
	MHD_destroy_response(response);
	call->queued = result == MHD_YES;
	return result;
}

static void suspend(struct http_request *request)
{
	MHD_suspend_connection(((struct call *)request)->connection);
}

static void resume(struct http_request *request)
{
	MHD_resume_connection(((struct call *)request)->connection);
}

static void name_remote(struct MHD_Connection *connection, char *out, size_t room)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *address = info ? info->client_addr : NULL;
	const struct sockaddr_in *four = (const void *)address;
	const struct sockaddr_in6 *six = (const void *)address;
	char host[INET6_ADDRSTRLEN] = "";

	if (address && address->sa_family == AF_INET &&
		inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host)))
		snprintf(out, room, "%s:%d", host, ntohs(four->sin_port));
	else if (address && address->sa_family == AF_INET6 &&
		 inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host)))
		snprintf(out, room, "[%s]:%d", host, ntohs(six->sin6_port));
	else
		snprintf(out, room, "unix");
}

static struct call *call_new(struct http *http, struct MHD_Connection *connection, const char *path,
	const char *method, const char *version)
{
	struct call *call = mem_new(1, sizeof(*call));

	if (!call)
		return NULL;
	call->http = http;
	call->connection = connection;
	call->visit = visit_of(connection);
	call->request.method = method;
	call->version = version;
	call->request.path = path;
	name_remote(connection, call->request.remote, sizeof(call->request.remote));
	call->request.wait = suspend;
	call->request.resume = resume;
	call->started = clock_now();
	atomic_fetch_add(&http->calls, 1);
	if (call->visit)
		visit_since(call->visit, http, call->started, true);
	return call;
}

/* The first time there are only headers. An answer that is ready waits for the body's end. */
static enum MHD_Result begin(struct call *call)
{
	const struct http_owner *owner = &call->http->config.owner;
	enum http_next next;

	if (!call->visit)
		return MHD_NO;
	next = look(call);
	if (next == HTTP_GO) {
		call->begun = true;
		next = owner->begin(owner->context, &call->request);
	}
	call->done = next == HTTP_DONE;
	if (call->done && (call->odd || call->request.length > DROPPED_MOST))
		return reply(call);
	return MHD_YES;
}

static bool slow(const struct call *call)
{
	return clock_now() - call->started > SLOW * call->http->config.idle;
}

static enum MHD_Result take(struct call *call, const char *bytes, size_t *size)
{
	const struct http_owner *owner = &call->http->config.owner;

	if (call->done)
		call->dropped += *size;
	else
		call->done = owner->body(owner->context, &call->request, bytes, *size) == HTTP_DONE;
	*size = 0;
	if (call->dropped > DROPPED_MOST)
		return MHD_NO;
	if (slow(call)) {
		cut_off(call->http, call->visit);
		return MHD_NO;
	}
	return MHD_YES;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection,
	const char *path, const char *method, const char *version, const char *bytes, size_t *size,
	void **own)
{
	struct http *http = context;
	const struct http_owner *owner = &http->config.owner;
	struct call *call = *own;

	if (!call) {
		call = *own = call_new(http, connection, path, method, version);
		return call ? begin(call) : MHD_NO;
	}
	if (call->queued)
		return MHD_YES;
	if (*size)
		return take(call, bytes, size);
	visit_since(call->visit, http, 0, false);
	if (!call->done)
		call->done = owner->end(owner->context, &call->request) == HTTP_DONE;
	return call->done ? reply(call) : MHD_YES;
}

static void on_end(void *context, struct MHD_Connection *connection, void **own,
	enum MHD_RequestTerminationCode why)
{
	struct http *http = context;
	struct call *call = *own;

	if (!call)
		return;
	if (call->begun)
		http->config.owner.gone(http->config.owner.context, &call->request);
	if (call->request.answer.stream.close)
		call->request.answer.stream.close(call->request.answer.stream.stream);
	/* One that was cut off in the middle of its request still waits; see visit_end. */
	if (call->visit && call->queued)
		visit_since(call->visit, http, clock_now(), false);
	if (http->config.owner.over)
		http->config.owner.over(
			http->config.owner.context, &call->request, clock_now() - call->started);
	text_release(&call->request.answer.body);
	if (call->request.answer.has_file)
		close(call->request.answer.file);
	mem_free(call);
	*own = NULL;
	atomic_fetch_sub(&http->calls, 1);
}

static void tick(struct http *http)
{
	const double now = clock_now();

	pthread_mutex_lock(&http->lock);
	for (struct visit *visit = http->visits; visit; visit = visit->next) {
		if (visit->waits) {
			visit->waits = false;
			MHD_resume_connection(visit->connection);
		}
		if (visit->since <= 0 || visit->over)
			continue;
		if (now - visit->since > SLOW * http->config.idle)
			say_late(visit);
		else if (visit->asks && http->draining && now - http->drained > GRACE)
			say_over(visit, "503 Service Unavailable", "Retry-After: 5\r\n",
				"the service ends");
		else
			continue;
		visit->over = true;
		shutdown(visit->fd, SHUT_RD);
	}
	pthread_mutex_unlock(&http->lock);
}

static bool has_room(struct http *http)
{
	bool room;

	pthread_mutex_lock(&http->lock);
	room = http->inside < http->config.connections + HTTP_SPARE;
	pthread_mutex_unlock(&http->lock);
	return room;
}

static void count_inside(struct http *http, int more)
{
	pthread_mutex_lock(&http->lock);
	http->inside += more;
	pthread_mutex_unlock(&http->lock);
}

/* False: there is no descriptor for another one, and the client has to wait. */
static bool let_in(struct http *http)
{
	union {
		struct sockaddr any;
		struct sockaddr_storage room;
	} name;
	socklen_t size = sizeof(name);
	const int fd = os_accept(http->config.listening, &name.any, &size);

	if (fd < 0)
		return errno == EAGAIN || errno == EINTR || errno == ECONNABORTED;
	count_inside(http, 1);
	if (MHD_add_connection(http->daemon, fd, &name.any, size) != MHD_YES)
		count_inside(http, -1);
	return true;
}

static void shut(struct http *http)
{
	if (http->config.listening >= 0)
		close(http->config.listening);
	http->config.listening = -1;
}

static void *guard_door(void *context)
{
	struct http *http = context;
	double due = clock_now();
	bool room = true;

	while (!http->stopping) {
		struct pollfd door = {.fd = room && has_room(http) ? http->config.listening : -1,
			.events = POLLIN};

		room = poll(&door, 1, TICK_MS) <= 0 || let_in(http);
		if (http->draining)
			shut(http);
		if (clock_now() < due)
			continue;
		tick(http);
		due = clock_now() + TICK_MS / 1000.;
	}
	return NULL;
}

/* Errors in a client's request are reported to the client. */
static void be_silent(void *context, const char *format, va_list values)
{
}

/* A zero byte would end the text that it is in; as another control character it is seen. */
static size_t unescape(void *context, struct MHD_Connection *connection, char *words)
{
	for (char *at = words; (at = strstr(at, "%00")); at += 3)
		at[2] = '1';
	return MHD_http_unescape(words);
}

static int start(struct http *http, struct err *err)
{
	const struct http_config *c = &http->config;
	const size_t room =
		(size_t)c->headers * 2 > ROOM_LEAST ? (size_t)c->headers * 2 : ROOM_LEAST;
	/*
	 * The doorman bounds connections. libmicrohttpd must not: each of its threads has a share,
	 * and one that finds its share used up waits for a lock that it holds itself.
	 */
	const unsigned int most =
		2 * (unsigned int)(c->connections + HTTP_SPARE) * (unsigned int)c->threads;
	/* A pool of one thread is not a pool. */
	const struct MHD_OptionItem pool[] = {
		{c->threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, c->threads, NULL},
		{MHD_OPTION_END, 0, NULL}};

	http->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
						MHD_USE_TURBO | MHD_USE_ERROR_LOG |
						MHD_USE_NO_LISTEN_SOCKET,
		0, NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, be_silent, NULL,
		MHD_OPTION_CONNECTION_LIMIT, most, MHD_OPTION_CONNECTION_TIMEOUT,
		(unsigned int)(c->idle < 1 ? 1 : c->idle), MHD_OPTION_CONNECTION_MEMORY_LIMIT, room,
		MHD_OPTION_URI_LOG_CALLBACK, on_uri, NULL, MHD_OPTION_UNESCAPE_CALLBACK, unescape,
		NULL, MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_NOTIFY_COMPLETED, on_end, http,
		MHD_OPTION_NOTIFY_CONNECTION, on_visit, http, MHD_OPTION_ARRAY, pool,
		MHD_OPTION_END);
	if (!http->daemon)
		return err_set(err, ERR_FILE, "the HTTP server does not start");
	return 0;
}

int http_open(struct http **http, const struct http_config *config, struct err *err)
{
	struct http *made = mem_new(1, sizeof(*made));
	int code;

	*http = NULL;
	if (!made) {
		close(config->listening);
		return err_memory(err, "a server", sizeof(*made));
	}
	made->config = *config;
	pthread_mutex_init(&made->lock, NULL);
	code = start(made, err);
	if (!code && pthread_create(&made->doorman, NULL, guard_door, made))
		code = err_set(err, ERR_MEMORY, "no thread for the HTTP server");
	made->guarded = !code;
	if (code)
		http_close(made, 0);
	else
		*http = made;
	return code;
}

void http_drain(struct http *http)
{
	http->drained = clock_now();
	http->draining = true;
}

void http_close(struct http *http, double seconds)
{
	const struct timespec pause = {.tv_nsec = 10 * 1000000L};
	const double until = clock_now() + seconds;

	if (!http)
		return;
	while (seconds > 0 && http->calls && clock_now() < until)
		nanosleep(&pause, NULL);
	http->stopping = true;
	if (http->guarded)
		pthread_join(http->doorman, NULL);
	tick(http);
	if (http->daemon)
		MHD_stop_daemon(http->daemon);
	shut(http);
	pthread_mutex_destroy(&http->lock);
	mem_free(http);
}

void http_counts(const struct http *http, struct http_counts *counts)
{
	struct http *mutable = (struct http *)http;

	pthread_mutex_lock(&mutable->lock);
	*counts = (struct http_counts){http->count, http->most, http->refused};
	pthread_mutex_unlock(&mutable->lock);
}
