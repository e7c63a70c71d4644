/* GET /v1/serving.tar: what answers, for followers. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/paths.h"
#include "serve/exchange.h"
#include "session/session.h"

static const char PART[] = "versions/.serving.part"; /* swept by version_sweep */

static enum http_next busy(struct exchange *exchange, const char *why)
{
	return http_refuse(exchange->request, 503, "%s", why);
}

/* The newest archive there is, unless the follower has it. */
static enum http_next send(struct exchange *exchange, const struct parcel_state *now)
{
	struct http_request *request = exchange->request;
	const char *has = http_header(request, "If-None-Match");
	struct parcel_state then;
	char tag[PARCEL_TAG];
	const int file = parcel_file(&exchange->served->parcel, tag, &then);
	const bool same = file >= 0 && has && !strcmp(has, tag);

	if (file < 0)
		return busy(exchange, "what answers is being copied; try again");
	http_field(request, "ETag", "%s", tag);
	http_field(request, PARCEL_NOW, "%" PRId64,
		now->samples > then.samples ? now->samples : then.samples);
	http_field(request, PARCEL_THEN, "%" PRId64, then.samples);
	request->answer.has_file = !same;
	request->answer.file = file;
	if (same)
		close(file);
	return http_say(request, same ? 304 : 200, exchange->route->gives);
}

/* On the learner's thread. */
static int write_files(struct job *job, struct session *session, struct err *err)
{
	struct exchange *exchange = ((struct http_request *)job->context)->own;
	struct parcel_state *made = &exchange->copying;
	const double start = clock_now();
	char *path = path_join(session->run.config.folder, PART);
	struct learner_report now;
	const int code =
		path ? keeper_write(session, path, err) : err_memory(err, "a path", sizeof(PART));

	learner_report(session->run.learner, &now);
	snprintf(made->name, sizeof(made->name), "%s", session->keeper.champion.now);
	made->samples = now.samples;
	made->iteration = now.iteration;
	exchange->copy_seconds = clock_now() - start;
	mem_free(path);
	return code;
}

static enum http_next pack(struct exchange *exchange, const char *folder, bool remove)
{
	const char *own = desk_config(exchange->served->desk)->folder;
	char *within = path_join(own, "versions");
	struct err err = {0};
	const int code = within ? parcel_pack(&exchange->served->parcel, folder, within,
					  &exchange->copying, exchange->copy_seconds, &err)
				: err_memory(&err, "a path", strlen(own));

	exchange->claims = exchange->claims && !within;
	if (remove)
		file_remove_tree(folder);
	mem_free(within);
	return code ? busy(exchange, err.message) : send(exchange, &exchange->copying);
}

static enum http_next pack_made(struct exchange *exchange)
{
	char *path = path_join(desk_config(exchange->served->desk)->folder, PART);
	enum http_next next;

	if (exchange->job.code || !path) {
		mem_free(path);
		return exchange_failed(exchange);
	}
	next = pack(exchange, path, true);
	mem_free(path);
	return next;
}

static enum http_next pack_version(struct exchange *exchange)
{
	char *path =
		version_path(desk_config(exchange->served->desk)->folder, exchange->copying.name);
	const enum http_next next =
		path ? pack(exchange, path, false) : busy(exchange, "out of memory");

	mem_free(path);
	return next;
}

/* A version is of the moment it was made at, whatever was learned since; false: what answers learns. */
static bool is_version(struct exchange *exchange, struct parcel_state *now)
{
	struct version version;

	if (!strcmp(now->name, VERSION_LIVE) ||
		version_read(
			&version, desk_config(exchange->served->desk)->folder, now->name, NULL))
		return false;
	now->samples = version.samples;
	now->iteration = version.made;
	return true;
}

enum http_next serve_serving(struct exchange *exchange)
{
	struct parcel_state *now = &exchange->copying;
	struct desk_status status;
	bool frozen;

	if (exchange->asked)
		return pack_made(exchange);
	desk_status(exchange->served->desk, &status);
	snprintf(now->name, sizeof(now->name), "%s", status.serving);
	now->samples = status.samples;
	now->iteration = status.iteration;
	frozen = is_version(exchange, now);
	exchange->claims = parcel_claim(&exchange->served->parcel, now);
	if (!exchange->claims)
		return send(exchange, now);
	if (frozen)
		return pack_version(exchange);
	exchange->job.act = write_files;
	return exchange_put(exchange, false);
}
