/* The service put together, and its life. */
#include "serve/serve.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/team.h"
#include "serve/exchange.h"
#include "serve/lines.h"

enum {
	LOOK_MS = 50,  /* how long a wish to stop may go unseen */
	PATIENCE = 10, /* seconds for requests under way, at the end */
	NUMBER_LONGEST = 64,
	REST_LONGEST = 1 << 18,
};

static int open_desk(struct serve *serve, struct err *err)
{
	const struct serve_config *c = &serve->config;

	if (c->model)
		return desk_open_model(&serve->desk, c->model, err);
	if (c->run)
		return desk_open(&serve->desk, c->run, options_int(c->options, "serve.queue"), err);
	return 0;
}

static int open_lines(struct serve *serve, struct err *err)
{
	const struct options *o = serve->config.options;
	const char *words = options_text(o, "serve.lines");
	struct listen_address address;
	int fd, code;

	if (!*words || !serve->desk || !desk_learns(serve->desk))
		return 0;
	code = listen_parse(&address, "serve.lines", words, err);
	if (!code && !address.local)
		code = err_set(err, ERR_INPUT,
			"serve.lines = %s: has no token, so it must be unix:PATH or a port of "
			"this machine",
			words);
	if (!code)
		code = listen_open(&fd, &address, err);
	if (code)
		return code;
	serve->lines_address = address;
	if (address.port < 0)
		snprintf(serve->lines_url, sizeof(serve->lines_url), "unix:%s", address.host);
	else
		snprintf(serve->lines_url, sizeof(serve->lines_url), "%s:%d", address.host,
			address.port);
	return lines_open(&serve->lines, serve->desk, fd, options_int(o, "serve.connections"),
		desk_floats(serve->desk) * NUMBER_LONGEST + REST_LONGEST, err);
}

static int open_http(struct serve *serve, struct err *err)
{
	const struct options *o = serve->config.options;
	const int threads = options_int(o, "serve.threads");
	struct http_config config = {.threads = threads ? threads : team_processors(),
		.connections = options_int(o, "serve.connections"),
		.headers = options_int(o, "serve.headers"),
		.idle = options_float(o, "serve.idle"),
		.owner = exchange_owner};
	int code = listen_open(&config.listening, &serve->guard.address, err);

	if (code)
		return code;
	config.owner.context = serve;
	listen_url(&serve->guard.address, serve->url, sizeof(serve->url));
	return http_open(&serve->http, &config, err);
}

int serve_open(struct serve **serve, const struct serve_config *config, struct err *err)
{
	struct serve *made = mem_new(1, sizeof(*made));
	int code;

	*serve = NULL;
	if (!made)
		return err_memory(err, "a service", sizeof(*made));
	made->config = *config;
	code = guard_init(&made->guard, config->options, err);
	if (!code)
		code = open_desk(made, err);
	if (!code)
		code = open_http(made, err);
	if (!code)
		code = open_lines(made, err);
	if (!code && made->desk)
		code = desk_start(made->desk, err);
	if (code)
		serve_close(made);
	else
		*serve = made;
	return code;
}

const char *serve_url(const struct serve *serve)
{
	return serve->url;
}

const char *serve_lines(const struct serve *serve)
{
	return serve->lines_url;
}

static bool goes_on(const struct serve *serve)
{
	struct desk_status status = {.state = DESK_LEARNS};

	if (serve->desk)
		desk_status(serve->desk, &status);
	return status.state != DESK_FAILED && status.state != DESK_ENDED;
}

int serve_go(struct serve *serve, const volatile sig_atomic_t *stop, struct run_result *result,
	struct err *err)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
	int code = 0;

	while (!*stop && goes_on(serve))
		nanosleep(&pause, NULL);
	http_drain(serve->http);
	lines_close(serve->lines);
	serve->lines = NULL;
	if (serve->desk)
		code = desk_end(serve->desk, result, err);
	http_close(serve->http, PATIENCE);
	serve->http = NULL;
	return code;
}

void serve_close(struct serve *serve)
{
	if (!serve)
		return;
	lines_close(serve->lines);
	http_close(serve->http, 0);
	desk_close(serve->desk);
	listen_remove(&serve->guard.address);
	listen_remove(&serve->lines_address);
	mem_free(serve);
}
