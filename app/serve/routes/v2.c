/*
 * The Open Inference Protocol, version 2, with its extension for binary tensors:
 * github.com/kserve/open-inference-protocol. Inputs are in v2_inputs.c, outputs in
 * v2_outputs.c.
 */
#include <stdlib.h>

#include <retain.h>
#include "base/mem.h"
#include "serve/routes/v2.h"

static const char JSON[] = "application/json";

/* Bytes that a byte of JSON may become while it is looked at: "0," is a value and a pointer. */
enum { VALUE_MOST = 24 };

static enum http_next say(struct exchange *exchange, struct jwriter *json)
{
	jwriter_end(json);
	return http_say(exchange->request, 200, JSON);
}

enum http_next serve_server(struct exchange *exchange)
{
	struct jwriter json = {.out = &exchange->request->answer.body};

	jwriter_table(&json, NULL);
	jwriter_text(&json, "name", "retain");
	jwriter_text(&json, "version", retain_version());
	jwriter_list(&json, "extensions");
	jwriter_text(&json, NULL, "binary_tensor_data");
	jwriter_end(&json);
	return say(exchange, &json);
}

enum http_next serve_live(struct exchange *exchange)
{
	struct jwriter json = {.out = &exchange->request->answer.body};

	jwriter_table(&json, NULL);
	jwriter_truth(&json, "live", true);
	return say(exchange, &json);
}

/* Why one of them, or the one that is meant, is not ready; NULL: all are. */
static const char *not_ready(struct exchange *exchange)
{
	const struct serve *serve = exchange->serve;

	for (int i = 0; i < serve->config.count; i++) {
		const struct served *served = &serve->served[i];
		struct desk_status status = {.state = DESK_LEARNS};

		if (served->desk && (!exchange->served || exchange->served == served))
			desk_status(served->desk, &status);
		if (status.state == DESK_OPENS && !status.answers)
			return "the learner opens";
		if (served->follow && !desk_has_copy(served->desk) &&
			(!exchange->served || exchange->served == served))
			return "there is no copy of what is followed yet";
		if (status.state == DESK_ENDED || status.state == DESK_FAILED)
			return "the service ends";
	}
	return NULL;
}

enum http_next serve_ready(struct exchange *exchange)
{
	struct jwriter json = {.out = &exchange->request->answer.body};
	const char *why = not_ready(exchange);

	if (why)
		return http_refuse(exchange->request, 503, "%s", why);
	jwriter_table(&json, NULL);
	jwriter_truth(&json, "ready", true);
	for (int i = 0; i < exchange->serve->config.count; i++)
		if (exchange->serve->served[i].follow &&
			(exchange->serve->config.count == 1 ||
				exchange->served == &exchange->serve->served[i]))
			follow_say(exchange->serve->served[i].follow, &json);
	return say(exchange, &json);
}

void v2_say_tensor(struct jwriter *json, const char *name, const char *type, const int *shape)
{
	jwriter_table(json, NULL);
	jwriter_text(json, "name", name);
	jwriter_text(json, "datatype", type);
	jwriter_list(json, "shape");
	jwriter_whole(json, NULL, -1);
	for (; *shape; shape++)
		jwriter_whole(json, NULL, *shape);
	jwriter_end(json);
	jwriter_end(json);
}

/* A fixed model has one; of a learner there is itself as it learns, and those that were made. */
static void say_versions(struct jwriter *json, const struct exchange *exchange)
{
	struct desk *desk = exchange->served->desk;
	struct version *list = NULL;
	int count = 0;

	jwriter_list(json, "versions");
	jwriter_text(json, NULL, VERSION_LIVE);
	if (desk_learns(desk))
		version_list(&list, &count, desk_config(desk)->folder, NULL);
	for (int i = 0; i < count; i++)
		if (!*list[i].damaged)
			jwriter_text(json, NULL, list[i].name);
	jwriter_end(json);
	mem_free(list);
}

enum http_next serve_model(struct exchange *exchange)
{
	struct jwriter json = {.out = &exchange->request->answer.body};

	jwriter_table(&json, NULL);
	jwriter_text(&json, "name", exchange->served->item.name);
	say_versions(&json, exchange);
	jwriter_text(&json, "platform", "retain");
	v2_say_inputs(&json, exchange);
	v2_say_output_tensors(&json, exchange);
	return say(exchange, &json);
}

/* All inputs of a request ask the same: {"parameters": {"for": "ever"}}. */
static int make_wishes(struct exchange *exchange, const struct jvalue *question, struct err *err)
{
	const struct jvalue *words = jvalue_find(jvalue_find(question, "parameters"), "for");
	struct answers_wish wish = {0};
	const int code = words ? answers_wish_for(&wish, jvalue_text(words), err) : 0;

	wish = answers_wish_or(wish, desk_wish(exchange->served->desk));
	exchange->wishes = mem_new((size_t)exchange->count, sizeof(*exchange->wishes));
	if (!exchange->wishes)
		return err_memory(err, "a request", (size_t)exchange->count);
	for (int i = 0; i < exchange->count; i++)
		exchange->wishes[i] = wish;
	return code;
}

static enum http_next infer(struct exchange *exchange, const struct v2_question *question)
{
	struct http_request *request = exchange->request;
	struct err err = {0};
	enum http_next next;

	if (exchange->asked)
		return v2_say_outputs(exchange, question, exchange->job.copy, exchange->job.logits);
	if (v2_read_inputs(exchange, question, &err) || make_wishes(exchange, question->json, &err))
		return request->answer.status ? HTTP_DONE
					      : http_refuse(request, 400, "%s", err.message);
	next = exchange_predict(exchange, &err);
	return next == HTTP_GO
		       ? v2_say_outputs(exchange, question, exchange->copy, exchange->logits)
		       : next;
}

enum http_next serve_infer(struct exchange *exchange)
{
	struct http_request *request = exchange->request;
	const char *length = http_header(request, V2_LENGTH);
	const size_t header = length ? strtoul(length, NULL, 10) : exchange->body.size;
	struct v2_question question = {0};
	struct err err = {0};
	enum http_next next;

	if (exchange->asked && exchange->job.code)
		return exchange_failed(exchange);
	if (header > exchange->body.size || !exchange->body.size)
		return http_refuse(request, 400, "%s: the request has %zu bytes", V2_LENGTH,
			exchange->body.size);
	if (exchange_hold(exchange, (int64_t)header * VALUE_MOST) != HTTP_GO)
		return HTTP_DONE;
	if (jvalue_read(&question.json, exchange->body.data, header, "the request", &err))
		return http_refuse(request, 400, "%s", err.message);
	question.binary = exchange->body.data + header;
	question.size = exchange->body.size - header;
	next = infer(exchange, &question);
	jvalue_free(question.json);
	return next;
}
