/* Versions: listing, making, comparing, dropping them, and which one answers. */
#include <string.h>

#include "base/json.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "serve/exchange.h"
#include "session/session.h"

static const char *folder_of(const struct exchange *exchange)
{
	return desk_config(exchange->served->desk)->folder;
}

/* A sentence and the status that it deserves; what is the service's own fault may be tried again. */
static enum http_next refuse(struct exchange *exchange, int code, const struct err *err)
{
	struct http_request *request = exchange->request;

	if (code == ERR_INPUT)
		return http_refuse(request, *exchange->version || *exchange->id ? 404 : 400, "%s",
			err->message);
	if (code == ERR_STATE)
		return http_refuse(request, 409, "%s", err->message);
	http_field(request, "Retry-After", "5");
	return http_refuse(request, 503, "%s", err->message);
}

static enum http_next say(struct exchange *exchange, struct jwriter *json)
{
	jwriter_end(json);
	text_add(json->out, "\n");
	return http_say(exchange->request, 200, exchange->route->gives);
}

void exchange_say_contenders(struct jwriter *json, const struct desk_status *status)
{
	jwriter_list(json, "contenders");
	for (int i = 0; i < status->standings_count; i++) {
		const struct standing *s = &status->standings[i];

		jwriter_table(json, NULL);
		jwriter_text(json, "name", s->name);
		jwriter_truth(json, "serves", s->serves);
		jwriter_whole(json, "labels", s->labels);
		jwriter_number(json, "score", s->score);
		jwriter_number(json, "recent", s->recent);
		jwriter_number(json, "ahead", s->ahead);
		jwriter_number(json, "p", s->p);
		jwriter_end(json);
	}
	jwriter_end(json);
}

enum http_next serve_versions(struct exchange *exchange)
{
	struct jwriter json = {.out = &exchange->request->answer.body};
	struct version *list = NULL;
	struct champion champion;
	struct desk_status status;
	struct err err = {0};
	int count = 0, code = version_list(&list, &count, folder_of(exchange), &err);

	if (!code)
		code = champion_read(&champion, folder_of(exchange), &err);
	if (code) {
		mem_free(list);
		return refuse(exchange, code, &err);
	}
	jwriter_table(&json, NULL);
	champion_say(&champion, &json);
	desk_status(exchange->served->desk, &status);
	exchange_say_contenders(&json, &status);
	jwriter_list(&json, "versions");
	for (int i = 0; i < count; i++) {
		jwriter_table(&json, NULL);
		version_say(&list[i], &json);
		jwriter_end(&json);
	}
	jwriter_end(&json);
	mem_free(list);
	return say(exchange, &json);
}

enum http_next serve_version(struct exchange *exchange)
{
	struct jwriter json = {.out = &exchange->request->answer.body};
	const char *from = http_param(exchange->request, "from");
	struct version version;
	struct err err = {0};
	int code;

	jwriter_table(&json, NULL);
	if (from) {
		code = version_diff(folder_of(exchange), from, exchange->version, &json, &err);
	} else {
		code = version_read(&version, folder_of(exchange), exchange->version, &err);
		if (!code)
			version_say(&version, &json);
	}
	if (!code)
		return say(exchange, &json);
	text_release(json.out);
	return refuse(exchange, code, &err);
}

/* --- changes, by the learner's thread --- */

struct exchange *exchange_of(struct job *job)
{
	return ((struct http_request *)job->context)->own;
}

enum http_next exchange_act(struct exchange *exchange,
	int (*act)(struct job *job, struct session *session, struct err *err))
{
	exchange->job.act = act;
	return exchange_put(exchange, false);
}

/* The desk refuses by ERR_STATE when it ends, with other words than ours: it is over then. */
enum http_next exchange_not_acted(struct exchange *exchange)
{
	struct desk_status status;

	desk_status(exchange->served->desk, &status);
	if (status.state == DESK_ENDED || status.state == DESK_FAILED)
		return exchange_failed(exchange);
	return refuse(exchange, exchange->job.code, &exchange->job.err);
}

static int make(struct job *job, struct session *session, struct err *err)
{
	return keeper_make(session, exchange_of(job)->making, NULL, err);
}

static enum http_next say_made(struct exchange *exchange)
{
	struct jwriter json = {.out = &exchange->request->answer.body};
	struct version version;
	struct err err = {0};
	const int code = version_read(&version, folder_of(exchange), exchange->making, &err);

	if (code)
		return refuse(exchange, code, &err);
	jwriter_table(&json, NULL);
	version_say(&version, &json);
	return say(exchange, &json);
}

enum http_next serve_make_version(struct exchange *exchange)
{
	struct jvalue *wish = NULL;
	const char *name;
	struct err err = {0};

	if (exchange->asked)
		return exchange->job.code ? exchange_not_acted(exchange) : say_made(exchange);
	if (jvalue_read(&wish, exchange->body.data ? exchange->body.data : "", exchange->body.size,
		    "the request", &err))
		return http_refuse(exchange->request, 400, "%s", err.message);
	name = jvalue_text(jvalue_find(wish, "name"));
	if (!name)
		err_set(&err, ERR_INPUT, "the request: has no name, as in {\"name\": \"monday\"}");
	else if (!version_name_check(name, &err))
		memcpy(exchange->making, name, strlen(name) + 1);
	jvalue_free(wish);
	if (err.code)
		return http_refuse(exchange->request, 400, "%s", err.message);
	return exchange_act(exchange, make);
}

static int drop(struct job *job, struct session *session, struct err *err)
{
	return version_drop(session->run.config.folder, exchange_of(job)->version, err);
}

static enum http_next say_done(struct exchange *exchange, const char *what)
{
	struct jwriter json = {.out = &exchange->request->answer.body};

	jwriter_table(&json, NULL);
	jwriter_text(&json, "done", what);
	return say(exchange, &json);
}

enum http_next serve_drop_version(struct exchange *exchange)
{
	if (exchange->asked)
		return exchange->job.code ? exchange_not_acted(exchange)
					  : say_done(exchange, "drop");
	return exchange_act(exchange, drop);
}

static enum http_next say_champion(struct exchange *exchange, const char *done)
{
	struct jwriter json = {.out = &exchange->request->answer.body};
	struct champion champion;
	struct err err = {0};
	const int code = champion_read(&champion, folder_of(exchange), &err);

	if (code)
		return refuse(exchange, code, &err);
	jwriter_table(&json, NULL);
	jwriter_text(&json, "done", done);
	champion_say(&champion, &json);
	return say(exchange, &json);
}

static int serve(struct job *job, struct session *session, struct err *err)
{
	return keeper_serve(session, exchange_of(job)->version, "serve", err);
}

enum http_next serve_by_version(struct exchange *exchange)
{
	if (exchange->asked)
		return exchange->job.code ? exchange_not_acted(exchange)
					  : say_champion(exchange, "serve");
	return exchange_act(exchange, serve);
}

static int go_back(struct job *job, struct session *session, struct err *err)
{
	return keeper_serve(session, NULL, "rollback", err);
}

enum http_next serve_rollback(struct exchange *exchange)
{
	if (exchange->asked)
		return exchange->job.code ? exchange_not_acted(exchange)
					  : say_champion(exchange, "rollback");
	return exchange_act(exchange, go_back);
}
