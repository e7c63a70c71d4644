/* Corrections of labels, and samples that are forgotten, by the learner's thread. */
#include <string.h>

#include "base/json.h"
#include "base/json_write.h"
#include "serve/exchange.h"
#include "session/session.h"

static int act(struct job *job, struct session *session, struct err *err)
{
	struct exchange *exchange = exchange_of(job);

	return amend(session, exchange->wish, &exchange->amended, err);
}

static enum http_next say_amended(struct exchange *exchange)
{
	struct jwriter json = {.out = &exchange->request->answer.body};

	if (exchange->job.code)
		return exchange_not_acted(exchange);
	jwriter_table(&json, NULL);
	amend_say(&exchange->amended, &json);
	jwriter_end(&json);
	text_add(json.out, "\n");
	return http_say(exchange->request, 200, exchange->route->gives);
}

/* Completes the wish; a client's own words for it are refused. */
static enum http_next put_wish(struct exchange *exchange, const char *deed)
{
	const char *retrain = http_param(exchange->request, "retrain");
	struct err err = {0};
	int code = 0;

	if (retrain && strcmp(retrain, "0") != 0 && strcmp(retrain, "1") != 0)
		return http_refuse(
			exchange->request, 400, "retrain: %s is neither 0 nor 1", retrain);
	code = jvalue_put(exchange->wish, "deed", jvalue_of_text(deed, strlen(deed)), &err);
	if (!code)
		code = jvalue_put(exchange->wish, "retrain",
			jvalue_of_number(retrain && *retrain == '1'), &err);
	return code ? http_refuse(
			      exchange->request, code == ERR_INPUT ? 400 : 503, "%s", err.message)
		    : exchange_act(exchange, act);
}

enum http_next serve_correct(struct exchange *exchange)
{
	struct err err = {0};

	if (exchange->asked)
		return say_amended(exchange);
	if (jvalue_read(&exchange->wish, exchange->body.data ? exchange->body.data : "",
		    exchange->body.size, "the request", &err))
		return http_refuse(exchange->request, 400, "%s", err.message);
	if (!jvalue_find(exchange->wish, "id") || !jvalue_find(exchange->wish, "label") ||
		jvalue_find(exchange->wish, "ids") || jvalue_find(exchange->wish, "word"))
		return http_refuse(exchange->request, 400,
			"the request: has no id or no label, as in {\"id\": 17, \"label\": "
			"\"no\"}");
	return put_wish(exchange, "correct");
}

enum http_next serve_forget(struct exchange *exchange)
{
	struct err err = {0};

	if (exchange->asked)
		return say_amended(exchange);
	if (!text_is_utf8(exchange->id))
		return http_refuse(exchange->request, 400, "the path: is not UTF-8");
	exchange->wish = jvalue_table();
	if (!exchange->wish || jvalue_put(exchange->wish, "word",
				       jvalue_of_text(exchange->id, strlen(exchange->id)), &err))
		return http_refuse(exchange->request, 503, "out of memory");
	return put_wish(exchange, "forget");
}
