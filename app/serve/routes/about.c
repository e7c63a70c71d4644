/* The dashboard, the weights, the config; pausing, saving. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "base/paths.h"
#include "serve/exchange.h"

static enum http_next say_page(
	struct exchange *exchange, int (*make)(void *context, struct text *out, struct err *err))
{
	struct http_request *request = exchange->request;
	struct err err = {0};

	if (!make || make(exchange->served->item.page.context, &request->answer.body, &err))
		return http_refuse(request, 503, "%s",
			make ? err.message : "there is no page of a fixed model");
	return http_say(request, 200, exchange->route->gives);
}

/* How a page begins that shows no run; it has a hole for its title. The icon is empty, lest a
 * browser ask for one and report that there is none. */
#define PAGE                                                                                       \
	"<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"                          \
	"<meta http-equiv=\"refresh\" content=\"2\">\n"                                            \
	"<meta name=\"viewport\" content=\"width=device-width\">\n<title>%s</title>\n"             \
	"<link rel=\"icon\" href=\"data:,\">\n"                                                    \
	"<style>:root { color-scheme: light dark } body { font: 16px system-ui; "                  \
	"margin: 3em auto; max-width: 44em; padding: 0 1em } pre { white-space: pre-wrap; "        \
	"font-size: 14px }</style>\n"

/* Before the first input there is nothing to show but how to send one. */
static enum http_next say_waits(struct exchange *exchange)
{
	const char *name = exchange->served->item.name;

	text_addf(&exchange->request->answer.body,
		PAGE
		"<h1>%s waits for its first input</h1>\n"
		"<p>which says what inputs are: numbers, or fields with names. Classes come with "
		"their labels.\n"
		"<pre>curl -d '{\"id\": 1, \"input\": {\"age\": 33, \"city\": \"Rome\"}}' "
		"%s/%s/v1/predict\n"
		"curl -d '{\"id\": 1, \"label\": \"yes\"}' %s/%s/v1/label</pre>\n</html>\n",
		name, name, exchange->serve->url, name, exchange->serve->url, name);
	return http_say(exchange->request, 200, exchange->route->gives);
}

/* A follower has its lag to show; what is learned is on the leader's page. */
static enum http_next say_follows(struct exchange *exchange)
{
	const char *name = exchange->served->item.name, *url = follow_url(exchange->served->follow);
	struct text words = {0};
	struct jwriter json = {.out = &words};

	jwriter_table(&json, NULL);
	jwriter_lines(&json);
	follow_say(exchange->served->follow, &json);
	jwriter_end(&json);
	text_addf(&exchange->request->answer.body, PAGE, name);
	text_addf(&exchange->request->answer.body,
		"<h1>%s answers by a copy</h1>\n<p>of <a href=\"%s\">%s</a>, where all is "
		"learned.\n<pre>%s</pre>\n</html>\n",
		name, url, url, words.data ? words.data : "");
	text_release(&words);
	return http_say(exchange->request, 200, exchange->route->gives);
}

enum http_next serve_dashboard(struct exchange *exchange)
{
	struct desk_status status = {0};

	if (exchange->served->follow)
		return say_follows(exchange);

	if (exchange->served->desk)
		desk_status(exchange->served->desk, &status);
	if (status.state == DESK_WAITS)
		return say_waits(exchange);
	return say_page(exchange, exchange->served->item.page.page);
}

enum http_next serve_data(struct exchange *exchange)
{
	return say_page(exchange, exchange->served->item.page.data);
}

enum http_next serve_config_file(struct exchange *exchange)
{
	struct http_request *request = exchange->request;
	struct err err = {0};

	if (options_write(exchange->served->item.options, &request->answer.body, &err))
		return http_refuse(request, 503, "%s", err.message);
	return http_say(request, 200, exchange->route->gives);
}

/* --- weights --- */

/* Bytes go from the file to its reader, however slow, and take no memory here. */
static enum http_next send_file(struct exchange *exchange, int file)
{
	struct http_answer *answer = &exchange->request->answer;

	if (file < 0)
		return http_refuse(exchange->request, 503, "the weights: %s", strerror(errno));
	answer->has_file = true;
	answer->file = file;
	return http_say(exchange->request, 200, exchange->route->gives);
}

/* A name that base/file.h sweeps if the service is killed. */
static void weights_name(char *out, size_t room)
{
	static atomic_uint count;

	snprintf(out, room, "weights.tmp-%ld-%u", (long)getpid(), atomic_fetch_add(&count, 1));
}

/* The learner writes a file of the folder, which is read and removed. */
enum http_next serve_model_file(struct exchange *exchange)
{
	struct desk *desk = exchange->served->desk;
	enum http_next next;
	char *path;

	if (!desk_learns(desk))
		return send_file(exchange, desk_file(desk));
	if (exchange->asked && exchange->job.code)
		return exchange_failed(exchange);
	if (!exchange->asked) {
		weights_name(exchange->file, sizeof(exchange->file));
		exchange->job.weights = exchange->file;
		return exchange_put(exchange, false);
	}
	path = path_join(desk_config(desk)->folder, exchange->file);
	if (!path)
		return http_refuse(exchange->request, 503, "out of memory");
	next = send_file(exchange, open(path, O_RDONLY | O_CLOEXEC));
	unlink(path);
	mem_free(path);
	return next;
}

/* --- wishes --- */

static enum http_next say_done(struct exchange *exchange, const char *what)
{
	struct jwriter json = {.out = &exchange->request->answer.body};

	jwriter_table(&json, NULL);
	jwriter_text(&json, "done", what);
	jwriter_end(&json);
	text_add(json.out, "\n");
	return http_say(exchange->request, 200, exchange->route->gives);
}

enum http_next serve_pause(struct exchange *exchange)
{
	desk_pause(exchange->served->desk, true);
	return say_done(exchange, "pause");
}

enum http_next serve_resume(struct exchange *exchange)
{
	desk_pause(exchange->served->desk, false);
	return say_done(exchange, "resume");
}

/* Clients choose neither the place nor the name. */
enum http_next serve_backup(struct exchange *exchange)
{
	const char *within = options_text(exchange->served->item.options, "serve.backups");
	struct jwriter json = {.out = &exchange->request->answer.body};
	enum http_next next;
	char *own;

	if (exchange->asked && exchange->job.code)
		return exchange_failed(exchange);
	if (exchange->asked) {
		jwriter_table(&json, NULL);
		jwriter_text(&json, "done", "backup");
		jwriter_text(&json, "folder", exchange->backup);
		jwriter_end(&json);
		text_add(json.out, "\n");
		return http_say(exchange->request, 200, exchange->route->gives);
	}
	own = path_join(desk_config(exchange->served->desk)->folder, "backups");
	if (!own)
		return http_refuse(exchange->request, 503, "out of memory");
	next = exchange_back_up(exchange, *within ? within : own);
	mem_free(own);
	return next;
}

static int save(struct job *job, struct session *session, struct err *err)
{
	return checkpoint_save(&session->run, err);
}

enum http_next serve_save(struct exchange *exchange)
{
	if (exchange->asked)
		return exchange->job.code ? exchange_failed(exchange) : say_done(exchange, "save");
	exchange->job.act = save;
	return exchange_put(exchange, false);
}
