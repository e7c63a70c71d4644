/*
 * A request from its first header to its last byte: authorization, routing, the limit of the
 * body, and the route's answer. Knows nothing of sockets.
 */
#include "serve/exchange.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/os.h"
#include "formats/gzip.h"

static const char HOLE[] = "{name}", VERSION[] = "{version}", ID[] = "{id}",
		  MODELS[] = "/v2/models/";

/* What is behind the name at the beginning of `path`; NULL: it begins with another word. */
static const char *behind(const char *path, const char *name)
{
	const size_t size = strlen(name);

	return !strncmp(path, name, size) && (!path[size] || path[size] == '/') ? path + size
										: NULL;
}

/*
 * Finds the learner that the path names, by its first part or, in /v2/models, by its third.
 * Returns the rest of the path. Without a name it is the only learner there is.
 */
static const char *find_served(struct exchange *exchange, bool *named)
{
	struct serve *serve = exchange->serve;
	const char *path = exchange->request->path;
	const bool model = !strncmp(path, MODELS, sizeof(MODELS) - 1);
	const char *at = path + (model ? sizeof(MODELS) - 1 : path[0] == '/');

	*named = model;
	for (int i = 0; i < serve->config.count; i++) {
		const char *rest = behind(at, serve->served[i].item.name);

		if (!rest)
			continue;
		exchange->served = &serve->served[i];
		return rest;
	}
	if (serve->config.count == 1 && !model)
		exchange->served = &serve->served[0];
	return path;
}

/* Whether a path is that of a route, where any word may stand for VERSION: that is copied. */
static bool matches(const char *path, const char *rest, char version[VERSION_NAME + 1])
{
	const char *hole = strstr(path, VERSION);
	const size_t before = hole ? (size_t)(hole - path) : 0;
	const size_t size = hole && !strncmp(path, rest, before) ? strcspn(rest + before, "/") : 0;

	if (!hole)
		return !strcmp(path, rest);
	if (!size || size > VERSION_NAME ||
		strcmp(hole + sizeof(VERSION) - 1, rest + before + size))
		return false;
	memcpy(version, rest + before, size);
	version[size] = '\0';
	return true;
}

/* Whether the rest of a path is that of a route; `named`: after the name of a model. */
static bool leads_to(
	struct exchange *exchange, const struct route *route, const char *rest, bool named)
{
	const char *hole = strstr(route->path, HOLE), *id = strstr(route->path, ID);
	const size_t before = id ? (size_t)(id - route->path) : 0;

	if (id && !named && !strncmp(route->path, rest, before) && rest[before] &&
		strlen(rest + before) < sizeof(exchange->id)) {
		strcpy(exchange->id, rest + before);
		return true;
	}
	return named == (hole != NULL) &&
	       matches(hole ? hole + sizeof(HOLE) - 1 : route->path, rest, exchange->version);
}

/* Those of a path, which begin with this row: "GET, DELETE". */
static const char *methods_of(const struct route *first, char out[64])
{
	size_t at = 0;

	for (const struct route *route = first;
		route->method && !strcmp(route->path, first->path) && at < 48; route++)
		at += (size_t)snprintf(out + at, 64 - at, "%s%s", at ? ", " : "", route->method);
	return out;
}

/* Pages have addresses relative to their own. */
static enum http_next send_on(struct exchange *exchange, const struct served *served)
{
	http_field(exchange->request, "Location", "/%s/", served->item.name);
	return http_refuse(exchange->request, 307, "the page is at /%s/", served->item.name);
}

static enum http_next find_route(struct exchange *exchange)
{
	struct http_request *request = exchange->request;
	const bool any = !strcmp(request->method, "OPTIONS");
	const char *method = strcmp(request->method, "HEAD") ? request->method : "GET";
	const struct route *other = NULL;
	char methods[64];
	bool named;
	const char *rest = find_served(exchange, &named);

	if (!*rest && !named)
		return send_on(exchange, exchange->served);
	if (named && !exchange->served)
		return http_refuse(request, 404, "no model of this name is served here");
	for (const struct route *route = routes; route->method; route++) {
		if (!leads_to(exchange, route, rest, named))
			continue;
		other = other ? other : route;
		if (strcmp(route->method, method) != 0 && !any)
			continue;
		exchange->preflight = any;
		exchange->route = route;
		exchange->route_index = (int)(other - routes); /* a path is counted as one */
		return HTTP_GO;
	}
	if (!other)
		return http_refuse(request, 404, "there is no such path; /openapi.json lists all");
	http_field(request, "Allow", "%s", methods_of(other, methods));
	return http_refuse(
		request, 405, "%s is not for this path; %s is", request->method, methods);
}

/*
 * What a browser asks before it lets a page of serve.origins send JSON or a token: it carries
 * none itself.
 */
static enum http_next say_options(struct exchange *exchange)
{
	struct http_request *request = exchange->request;
	const bool reads = !strcmp(exchange->route->method, "GET");
	char methods[64];

	http_field(request, "Allow", "%s%s, OPTIONS", methods_of(exchange->route, methods),
		reads ? ", HEAD" : "");
	if (http_header(request, "Origin")) {
		http_field(request, "Access-Control-Allow-Methods", "%s", methods);
		http_field(request, "Access-Control-Allow-Headers",
			"Authorization, Content-Type, Last-Event-ID, "
			"Inference-Header-Content-Length, Content-Encoding, X-Request-Id, "
			"traceparent");
		http_field(request, "Access-Control-Max-Age", "600");
	}
	return http_say(request, 204, exchange->route->gives);
}

static enum http_next check_route(struct exchange *exchange)
{
	const struct serve *serve = exchange->serve;
	const unsigned int flags = exchange->route->flags;
	struct desk *desk = exchange->served ? exchange->served->desk : NULL;

	if (!exchange->served && !strcmp(exchange->route->path, "/"))
		return send_on(exchange, &serve->served[0]);
	if (!exchange->served && !(flags & ROUTE_ALL))
		return http_refuse(exchange->request, 404,
			"%d learners are served here: name one, as in /%s%s", serve->config.count,
			serve->served[0].item.name, exchange->route->path);
	if ((flags & ROUTE_LEARNS) && exchange->served->follow)
		return http_refuse(exchange->request, 403,
			"this service only answers, by a copy of %s: send that there",
			follow_url(exchange->served->follow));
	if ((flags & (ROUTE_MODEL | ROUTE_COPY)) && exchange->served->follow &&
		!desk_has_copy(desk))
		return http_refuse(exchange->request, 503, "there is no copy of %s yet",
			follow_url(exchange->served->follow));
	if ((flags & ROUTE_LEARNS) && !(desk && desk_learns(desk)))
		return http_refuse(
			exchange->request, 404, "nothing learns here: the model is fixed");
	if ((flags & (ROUTE_MODEL | ROUTE_COPY)) && !desk)
		return http_refuse(exchange->request, 404, "no model is served here");
	if ((flags & ROUTE_COPY) && !desk_has_copy(desk))
		return http_refuse(exchange->request, 404,
			"there is no model yet: the first input that is kept says what inputs are");
	return HTTP_GO;
}

static enum http_next too_long(struct exchange *exchange)
{
	return http_refuse(exchange->request, 413,
		"the request has more than serve.body = %" PRId64 " bytes; send it in parts",
		exchange->serve->body_most);
}

/* Who asks for as little as health is not counted. */
enum { HELD_LEAST = 16 << 10 };

static int64_t wanted_of(const struct exchange *exchange, int64_t more)
{
	const size_t has = exchange->body.capacity + exchange->job.answers.words.capacity +
			   exchange->request->answer.body.capacity + exchange->arrays;
	const int64_t needs = (int64_t)has + more;

	return needs > HELD_LEAST ? needs : 0;
}

bool exchange_may_hold(struct exchange *exchange, int64_t more)
{
	return budget_hold(&exchange->serve->budget, &exchange->held, wanted_of(exchange, more));
}

enum http_next exchange_hold(struct exchange *exchange, int64_t more)
{
	struct budget *budget = &exchange->serve->budget;
	const int64_t wanted = wanted_of(exchange, more);

	if (exchange_may_hold(exchange, more))
		return HTTP_GO;
	text_release(&exchange->request->answer.body);
	if (wanted > budget->most)
		return http_refuse(exchange->request, 413,
			"the request needs more than serve.memory = %" PRId64
			" bytes; send it in parts",
			budget->most);
	return http_refuse(exchange->request, 503,
		"requests take the serve.memory = %" PRId64 " bytes there are; try again",
		budget->most);
}

static enum http_next begin(void *context, struct http_request *request)
{
	struct serve *serve = context;
	struct exchange *exchange = mem_new(1, sizeof(*exchange));
	enum http_next next;

	request->own = exchange;
	if (!exchange)
		return http_refuse(request, 500, "out of memory");
	exchange->serve = serve;
	exchange->request = request;
	exchange->route_index = METERS_ROUTES;
	exchange->started = clock_now();
	next = find_route(exchange);
	if (next == HTTP_GO)
		next = guard_check(&serve->guard, request, exchange->route->flags & ROUTE_CHANGES,
			exchange->preflight || exchange->route->flags & ROUTE_OPEN);
	if (next == HTTP_GO)
		next = exchange->preflight ? say_options(exchange) : check_route(exchange);
	if (next == HTTP_GO && request->length > serve->body_most)
		next = too_long(exchange);
	if (next == HTTP_GO && exchange->route->takes)
		next = exchange_begin_packed(exchange);
	return next;
}

static enum http_next add_body(struct exchange *exchange, const char *bytes, size_t size)
{
	const char *newline;
	size_t capacity;

	exchange->received += (int64_t)size;
	if (exchange->received > exchange->serve->body_most)
		return too_long(exchange);
	newline = os_find_last(bytes, '\n', size);
	if (newline)
		exchange->whole = exchange->body.size + (size_t)(newline + 1 - bytes);
	capacity = exchange->body.capacity;
	text_add_bytes(&exchange->body, bytes, size);
	if (exchange->body.failed)
		return http_refuse(exchange->request, 503, "out of memory");
	return exchange->body.capacity != capacity ? exchange_hold(exchange, 0) : HTTP_GO;
}

static enum http_next body(
	void *context, struct http_request *request, const char *bytes, size_t size)
{
	struct exchange *exchange = request->own;
	enum http_next next;

	if (exchange->reader) {
		exchange->packed_bytes += (int64_t)size;
		return exchange->packed_bytes > exchange->serve->body_most
			       ? too_long(exchange)
			       : exchange_unpack(exchange, bytes, size, add_body);
	}
	next = add_body(exchange, bytes, size);
	if (next == HTTP_GO && exchange->route->flags & ROUTE_PIECES)
		return exchange->route->serve(exchange);
	return next;
}

/*
 * Whether it may take more than a moment: by its bytes, each of which may be a part of an input,
 * and by the classes that an answer is about.
 */
static bool is_costly(const struct exchange *exchange)
{
	enum { MOMENT = 16 << 10, INPUT_LEAST = 16 }; /* bytes */
	const char *type = http_header(exchange->request, "Content-Type");
	const size_t classes = exchange->copy ? (size_t)copy_net(exchange->copy)->classes : 0;

	if (exchange->route->flags & ROUTE_PIECES)
		return false;
	return exchange->route->flags & ROUTE_COSTS ||
	       exchange->body.size * (1 + classes / INPUT_LEAST) > MOMENT ||
	       ((exchange->route->flags & ROUTE_PICTURE) && type &&
		       !strncasecmp(type, "image/", 6));
}

/* A version that is asked for may have to be read first, which is why such routes cost. */
static enum http_next serve_route(struct exchange *exchange)
{
	struct err err = {0};
	int code = 0;

	if (!exchange->copy && *exchange->version && (exchange->route->flags & ROUTE_COPY))
		code = desk_version(
			exchange->served->desk, exchange->version, &exchange->copy, &err);
	if (code)
		return http_refuse(
			exchange->request, code == ERR_INPUT ? 404 : 503, "%s", err.message);
	return exchange->route->serve(exchange);
}

/* On one of the workers' threads. If it waits for somebody else, it may be gone by now. */
static void work(struct work *of)
{
	struct exchange *exchange = (struct exchange *)of;

	if (serve_route(exchange) == HTTP_WAIT)
		return;
	exchange_pack(exchange);
	exchange->done = true;
	http_resume(exchange->request);
}

/* Frees what is not needed once there is an answer, which may take a while to be read. */
static void drop(struct exchange *exchange)
{
	batch_release(&exchange->batch);
	text_release(&exchange->body);
	answers_release(&exchange->job.answers);
	copy_free(exchange->copy);
	copy_free(exchange->job.copy);
	mem_free(exchange->job.logits);
	mem_free(exchange->inputs);
	mem_free(exchange->logits);
	mem_free(exchange->wishes);
	exchange->copy = exchange->job.copy = NULL;
	exchange->job.logits = exchange->inputs = exchange->logits = NULL;
	exchange->wishes = NULL;
	exchange->arrays = 0;
}

static enum http_next finish(struct exchange *exchange)
{
	drop(exchange);
	exchange_pack(exchange);
	if (exchange->request->answer.status < 400)
		exchange_hold(
			exchange, 0); /* an answer that there is no room for becomes a refusal */
	return HTTP_DONE;
}

static enum http_next end(void *context, struct http_request *request)
{
	struct exchange *exchange = request->own;
	enum http_next next;

	exchange->away = false;
	if (exchange->done)
		return finish(exchange);
	if (exchange_end_packed(exchange) != HTTP_GO)
		return HTTP_DONE;
	request->length = exchange->received;
	if (!exchange->copy && !*exchange->version &&
		(exchange->route->flags & (ROUTE_MODEL | ROUTE_COPY)))
		exchange->copy = desk_copy(exchange->served->desk);
	if (exchange->serve->workers && is_costly(exchange)) {
		exchange->away = true;
		exchange->work.go = work;
		http_wait(request);
		if (!workers_put(exchange->serve->workers, &exchange->work))
			work(&exchange->work);
		return HTTP_WAIT;
	}
	next = serve_route(exchange);
	return next == HTTP_DONE ? finish(exchange) : next;
}

/* Who is with the workers is suspended already. */
static void suspend(struct exchange *exchange)
{
	if (!exchange->away)
		http_wait(exchange->request);
}

static void gone(void *context, struct http_request *request)
{
	struct exchange *exchange = request->own;

	if (!exchange)
		return;
	if (request->answer.status)
		meters_add(&exchange->serve->meters, exchange->route_index, request->answer.status,
			clock_now() - exchange->started);
	gzip_reader_free(exchange->reader);
	drop(exchange);
	budget_hold(&exchange->serve->budget, &exchange->held, 0);
	if (exchange->claims)
		parcel_give_up(&exchange->served->parcel);
	mem_free(exchange->backup);
	jvalue_free(exchange->wish);
	mem_free(exchange);
}

static void over(void *context, const struct http_request *request, double seconds)
{
	struct serve *serve = context;

	access_note(&serve->access, request, seconds);
}

const struct http_owner exchange_owner = {begin, body, end, gone, over, NULL};

static void done(struct job *job)
{
	http_resume(job->context);
}

enum http_next exchange_put(struct exchange *exchange, bool must)
{
	struct job *job = &exchange->job;

	if (!desk_reserve(exchange->served->desk, must)) {
		return http_refuse(exchange->request, 503,
			"serve.queue = %d requests wait for the learner; try again",
			options_int(exchange->served->item.options, "serve.queue"));
	}
	job->done = done;
	job->context = exchange->request;
	job->taken = false;
	exchange->asked = true;
	suspend(exchange);
	desk_put(exchange->served->desk, job);
	return HTTP_WAIT;
}

static enum http_next put_question(struct exchange *exchange)
{
	struct job *job = &exchange->job;

	job->copy = copy_hold(exchange->copy);
	job->logits = exchange->logits;
	exchange->logits = NULL;
	job->done = done;
	job->context = exchange->request;
	exchange->asked = true;
	suspend(exchange);
	gather_put(exchange->serve->gather, job);
	return HTTP_WAIT;
}

enum http_next exchange_predict(struct exchange *exchange, struct err *err)
{
	struct job *job = &exchange->job;
	struct copy *copy = exchange->copy;
	const int count = exchange->count;

	job->wishes = exchange->wishes;
	job->inputs = exchange->inputs;
	job->count = count;
	if (!copy_answers(copy, exchange->wishes, count))
		return exchange_put(exchange, false);
	if (exchange_hold(exchange,
		    (int64_t)count * copy_net(copy)->classes * (int64_t)sizeof(float)) != HTTP_GO)
		return HTTP_DONE;
	exchange->arrays += (size_t)count * (size_t)copy_net(copy)->classes * sizeof(float);
	exchange->logits =
		mem_new((size_t)count * (size_t)copy_net(copy)->classes, sizeof(*exchange->logits));
	if (!exchange->logits)
		return http_refuse(exchange->request, 503, "out of memory");
	if (exchange->serve->gather && gather_helps(copy, count))
		return put_question(exchange);
	if (copy_predict(copy, exchange->wishes, exchange->inputs, count, exchange->logits, err))
		return http_refuse(exchange->request, 500, "%s", err->message);
	return HTTP_GO;
}

enum http_next exchange_back_up(struct exchange *exchange, const char *within)
{
	const char *folder = desk_config(exchange->served->desk)->folder;
	struct job *job = &exchange->job;

	exchange->backup = mem_new(BACKUPS_PATH, 1);
	if (!exchange->backup || !exchange->serve->backups)
		return http_refuse(exchange->request, 503,
			exchange->backup ? "no backups are made here" : "out of memory");
	job->done = done;
	job->context = exchange->request;
	exchange->asked = true;
	http_wait(exchange->request);
	if (!backups_put(exchange->serve->backups, folder, within, exchange->backup, job)) {
		job->code = err_set(&job->err, ERR_STATE, "another backup is being made");
		http_resume(exchange->request);
	}
	return HTTP_WAIT;
}

enum http_next exchange_failed(struct exchange *exchange)
{
	http_field(exchange->request, "Retry-After", "5");
	return http_refuse(exchange->request, 503, "%s", exchange->job.err.message);
}
