/*
 * A request from its first header to its last byte: who asks, which route, a body that
 * is not too long, and what the route says. Knows nothing of sockets.
 */
#include "serve/exchange.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"

/* Whether a path is that of a route, {name} being the model's. */
static bool leads_to(const struct serve *serve, const struct route *route, const char *path)
{
	static const char hole[] = "{name}";
	const char *at = strstr(route->path, hole);
	const char *name = options_text(serve->config.options, "serve.name");
	const size_t before = at ? (size_t)(at - route->path) : 0;

	if (!at)
		return !strcmp(route->path, path);
	return !strncmp(path, route->path, before) && !strncmp(path + before, name, strlen(name)) &&
	       !strcmp(path + before + strlen(name), at + sizeof(hole) - 1);
}

static enum http_next find_route(struct exchange *exchange)
{
	struct http_request *request = exchange->request;
	const char *method = strcmp(request->method, "HEAD") ? request->method : "GET";
	const struct route *other = NULL;

	for (const struct route *route = routes; route->method; route++) {
		if (!leads_to(exchange->serve, route, request->path))
			continue;
		other = route;
		if (strcmp(route->method, method) != 0)
			continue;
		exchange->route = route;
		exchange->route_index = (int)(route - routes);
		return HTTP_GO;
	}
	if (!other)
		return http_refuse(
			request, 404, "there is nothing at this path; /openapi.json lists what is");
	http_field(request, "Allow", "%s", other->method);
	return http_refuse(
		request, 405, "%s: only %s is for this path", request->method, other->method);
}

static enum http_next check_route(struct exchange *exchange)
{
	const struct serve *serve = exchange->serve;
	const unsigned int flags = exchange->route->flags;

	if ((flags & ROUTE_LEARNS) && !(serve->desk && desk_learns(serve->desk)))
		return http_refuse(
			exchange->request, 404, "nothing learns here: the model is fixed");
	if ((flags & ROUTE_MODEL) && !serve->desk)
		return http_refuse(exchange->request, 404, "no model is served here");
	return HTTP_GO;
}

static int64_t body_most(const struct serve *serve)
{
	return options_int64(serve->config.options, "serve.body");
}

static enum http_next too_long(struct exchange *exchange)
{
	return http_refuse(exchange->request, 413,
		"the request has more than serve.body = %" PRId64 " bytes; send it in parts",
		body_most(exchange->serve));
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
			exchange->route->flags & ROUTE_OPEN);
	if (next == HTTP_GO)
		next = check_route(exchange);
	if (next == HTTP_GO && request->length > body_most(serve))
		next = too_long(exchange);
	return next;
}

static enum http_next body(
	void *context, struct http_request *request, const char *bytes, size_t size)
{
	struct exchange *exchange = request->own;

	exchange->received += (int64_t)size;
	if (exchange->received > body_most(exchange->serve))
		return too_long(exchange);
	text_add_bytes(&exchange->body, bytes, size);
	if (exchange->body.failed)
		return http_refuse(request, 503, "out of memory");
	if (exchange->route->flags & ROUTE_PIECES)
		return exchange->route->serve(exchange);
	return HTTP_GO;
}

static enum http_next end(void *context, struct http_request *request)
{
	struct exchange *exchange = request->own;

	request->length = exchange->received;
	return exchange->route->serve(exchange);
}

static void gone(void *context, struct http_request *request)
{
	struct exchange *exchange = request->own;

	if (!exchange)
		return;
	if (request->answer.status)
		meters_add(&exchange->serve->meters, exchange->route_index, request->answer.status,
			clock_now() - exchange->started);
	text_release(&exchange->body);
	answers_release(&exchange->job.answers);
	mem_free(exchange->inputs);
	mem_free(exchange->logits);
	mem_free(exchange->wishes);
	mem_free(exchange);
}

const struct http_owner exchange_owner = {begin, body, end, gone, NULL};

static void done(struct job *job)
{
	http_resume(job->context);
}

enum http_next exchange_put(struct exchange *exchange, bool must)
{
	struct job *job = &exchange->job;

	if (!desk_reserve(exchange->serve->desk, must)) {
		http_field(exchange->request, "Retry-After", "1");
		return http_refuse(exchange->request, 503,
			"serve.queue = %d requests wait for the learner; try again",
			options_int(exchange->serve->config.options, "serve.queue"));
	}
	job->done = done;
	job->context = exchange->request;
	job->taken = false;
	exchange->asked = true;
	http_wait(exchange->request);
	desk_put(exchange->serve->desk, job);
	return HTTP_WAIT;
}

enum http_next exchange_failed(struct exchange *exchange)
{
	http_field(exchange->request, "Retry-After", "5");
	return http_refuse(exchange->request, 503, "%s", exchange->job.err.message);
}
