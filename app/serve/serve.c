/* The service: construction, main loop, shutdown. */
#include "serve/serve.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/os.h"
#include "base/team.h"
#include "serve/exchange.h"
#include "serve/lines.h"

enum {
	LOOK_MS = 50,  /* how long a wish to stop may go unseen */
	PATIENCE = 10, /* seconds for requests under way, at the end */
	NAME_LONGEST = 64,
	NUMBER_LONGEST = 64,
	FLOATS_UNKNOWN = 1 << 14, /* of an input, if unknown: as for a first line */
	REST_LONGEST = 1 << 18,
	FILES = 96, /* descriptors of a learner's files and of all else that is no client */
};

static int open_desk(struct served *served, struct err *err)
{
	const struct serve_item *item = &served->item;

	if (*options_text(item->options, "serve.follow"))
		return desk_open_follower(&served->desk, err);
	if (item->model)
		return desk_open_model(&served->desk, item->model, err);
	if (item->run)
		return desk_open(
			&served->desk, item->run, options_int(item->options, "serve.queue"), err);
	return 0;
}

/*
 * Clients that may be there at a time, by HTTP and by each socket of lines. However many they
 * are, descriptors are left for a checkpoint.
 */
static int connections(const struct serve *serve)
{
	const int most = options_int(serve->config.options, "serve.connections");
	rlim_t sockets = 1, each;
	struct rlimit limit;

	for (int i = 0; i < serve->config.count; i++)
		sockets += *options_text(serve->served[i].item.options, "serve.lines") != 0;
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return most;
	each = limit.rlim_cur > FILES + HTTP_SPARE + sockets
		       ? (limit.rlim_cur - FILES - HTTP_SPARE) / sockets
		       : 1;
	return each < (rlim_t)most ? (int)each : most;
}

static int open_lines(struct serve *serve, struct served *served, struct err *err)
{
	const char *words = options_text(served->item.options, "serve.lines");
	struct listen_address *address = &served->lines_address;
	struct copy *copy;
	size_t floats;
	int fd, code;

	if (!*words || !served->desk || !desk_learns(served->desk))
		return 0;
	code = listen_parse(address, "serve.lines", words, err);
	if (!code && !address->local)
		code = err_set(err, ERR_INPUT,
			"serve.lines = %s: has no token, so it must be unix:PATH or a port of "
			"this machine",
			words);
	if (!code)
		code = listen_open(&fd, address, err);
	if (code)
		return code;
	if (address->port < 0)
		snprintf(served->lines_url, sizeof(served->lines_url), "unix:%s", address->host);
	else
		snprintf(served->lines_url, sizeof(served->lines_url), "%s:%d", address->host,
			address->port);
	copy = desk_copy(served->desk);
	floats = copy ? copy_floats(copy) : FLOATS_UNKNOWN;
	copy_free(copy);
	return lines_open(&served->lines, served->desk, &serve->budget, fd, connections(serve),
		floats * NUMBER_LONGEST + REST_LONGEST, err);
}

static int open_http(struct serve *serve, struct err *err)
{
	const struct options *o = serve->config.options;
	const int threads = options_int(o, "serve.threads");
	struct http_config config = {.threads = threads ? threads : os_processors(),
		.connections = connections(serve),
		.headers = options_int(o, "serve.headers"),
		.idle = options_float(o, "serve.idle"),
		.owner = exchange_owner};
	int code = listen_open(&config.listening, &serve->guard.address, err);

	if (code)
		return code;
	code = gather_open(&serve->gather, config.threads, err);
	if (!code)
		code = workers_open(&serve->workers, config.threads, err);
	if (!code)
		code = backups_open(&serve->backups, err);
	if (code) {
		close(config.listening);
		return code;
	}
	config.owner.context = serve;
	listen_url(&serve->guard.address, serve->url, sizeof(serve->url));
	return http_open(&serve->http, &config, err);
}

int serve_name_check(const char *name, struct err *err)
{
	static const char *const taken[] = {"v1", "v2", "metrics", "openapi.json", "data.json"};
	const size_t size = strlen(name);

	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (!strcmp(name, taken[i]))
			return err_set(err, ERR_INPUT,
				"%s: is not a name for a learner: paths begin with it", name);
	if (!size || size > NAME_LONGEST || *name == '.' ||
		strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") !=
			size)
		return err_set(err, ERR_INPUT,
			"\"%.100s\": is not a name for a learner: it must be 1 to %d letters, "
			"digits, "
			"_, - or .",
			name, NAME_LONGEST);
	return 0;
}

/* Before anyone can ask about them: requests read these without a lock. */
static int open_watchers(const struct serve *serve, struct served *served, struct err *err)
{
	const struct guard *guard = &serve->guard;
	const char *token = *guard->read_token ? guard->read_token : guard->token;
	int code = follow_open(&served->follow, &served->item, served->desk, token, err);

	if (!code && served->desk && desk_learns(served->desk))
		code = bell_open(
			&served->bell, served->item.options, served->desk, served->item.name, err);
	return code;
}

static int open_served(struct serve *serve, struct err *err)
{
	int code = 0;

	for (int i = 0; i < serve->config.count && !code; i++) {
		serve->served[i].item = serve->config.items[i];
		code = serve_name_check(serve->served[i].item.name, err);
		if (!code)
			code = open_desk(&serve->served[i], err);
		if (!code)
			code = open_watchers(serve, &serve->served[i], err);
	}
	return code;
}

static int start_served(struct serve *serve, struct err *err)
{
	int code = 0;

	for (int i = 0; i < serve->config.count && !code; i++) {
		code = open_lines(serve, &serve->served[i], err);
		if (!code && serve->served[i].desk)
			code = desk_start(serve->served[i].desk, err);
	}
	return code;
}

int serve_open(struct serve **serve, const struct serve_config *config, struct err *err)
{
	struct serve *made = mem_new(1, sizeof(*made));
	int code;

	*serve = NULL;
	if (!made)
		return err_memory(err, "a service", sizeof(*made));
	made->config = *config;
	made->body_most = options_int64(config->options, "serve.body");
	made->budget.most = options_int64(config->options, "serve.memory");
	for (int i = 0; i < config->count; i++)
		parcel_init(&made->served[i].parcel);
	code = access_init(&made->access, options_text(config->options, "serve.access_log"), err);
	if (!code)
		code = guard_init(&made->guard, config->options, err);
	if (!code)
		code = open_served(made, err);
	if (!code)
		code = open_http(made, err);
	if (!code)
		code = start_served(made, err);
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

const char *serve_lines(const struct serve *serve, int item)
{
	return serve->served[item].lines_url;
}

/* A learner that fails ends the service, for its supervisor to start it again. */
static bool goes_on(const struct serve *serve)
{
	bool on = true;

	for (int i = 0; i < serve->config.count; i++) {
		struct desk_status status = {.state = DESK_LEARNS};

		if (serve->served[i].desk)
			desk_status(serve->served[i].desk, &status);
		on = on && status.state != DESK_FAILED && status.state != DESK_ENDED;
	}
	return on;
}

/* All are saved, even if one fails; the first error is reported. */
static int end_desks(struct serve *serve, struct err *err)
{
	int code = 0;

	for (int i = 0; i < serve->config.count; i++) {
		struct desk *desk = serve->served[i].desk;
		struct run_result result;
		const int failed = desk ? desk_end(desk, &result, code ? NULL : err) : 0;

		code = code ? code : failed;
	}
	return code;
}

/* What lines have sent is on their desks, also on one that is paused. */
static void end_lines(struct serve *serve)
{
	for (int i = 0; i < serve->config.count; i++) {
		if (!serve->served[i].lines)
			continue;
		desk_pause(serve->served[i].desk, false);
		lines_end(serve->served[i].lines);
	}
}

int serve_go(struct serve *serve, const volatile sig_atomic_t *stop, struct err *err)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000L};
	int code;

	while (!*stop && goes_on(serve))
		nanosleep(&pause, NULL);
	http_drain(serve->http);
	end_lines(serve);
	code = end_desks(serve, err);
	workers_end(serve->workers);
	gather_end(serve->gather);
	backups_end(serve->backups);
	http_close(serve->http, PATIENCE);
	serve->http = NULL;
	return code;
}

void serve_close(struct serve *serve)
{
	if (!serve)
		return;
	end_lines(serve);
	for (int i = 0; i < serve->config.count; i++) {
		bell_close(serve->served[i].bell);
		desk_stop(serve->served[i].desk);
	}
	workers_end(serve->workers);
	if (serve->gather)
		gather_end(serve->gather);
	if (serve->backups)
		backups_end(serve->backups);
	http_close(serve->http, 0);
	workers_close(serve->workers);
	gather_close(serve->gather);
	backups_close(serve->backups);
	for (int i = 0; i < serve->config.count; i++) {
		lines_close(serve->served[i].lines);
		follow_close(serve->served[i].follow);
		parcel_release(&serve->served[i].parcel);
		desk_close(serve->served[i].desk);
		listen_remove(&serve->served[i].lines_address);
	}
	listen_remove(&serve->guard.address);
	access_release(&serve->access);
	mem_free(serve);
}
