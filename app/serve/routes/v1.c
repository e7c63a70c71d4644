/*
 * Predictions, labels, samples. What must be stored is parsed here and becomes a job for the
 * learner's desk. The rest is answered here, by the copy of the weights.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json_write.h"
#include "base/mem.h"
#include "target/class.h"
#include "live/live_impl.h"
#include "serve/exchange.h"
#include "serve/routes/pictures.h"
#include "formats/pieces.h"

enum { PIECE = 64 << 10 };

static const char JSON[] = "application/json", NDJSON[] = "application/x-ndjson";

/* --- answers of the copy --- */

static void say_class(struct jwriter *json, const struct copy *copy, const float *logits, int top)
{
	const int known = copy_known(copy);
	int32_t best;

	class_most(logits, known, &best, 1);
	answers_add(json, (struct answers_class){best, copy_name(copy, best)},
		known ? class_probability(logits, known, best) : NAN,
		&(struct answers_top){logits, known, top, copy_name, copy});
}

static void say_prediction(
	struct jwriter *json, const struct copy *copy, const float *logits, int top)
{
	jwriter_table(json, NULL);
	if (copy_target(copy) == TARGET_NUMBER)
		answers_add_numbers(json, copy_known(copy) ? logits : NULL, copy_width(copy),
			copy_numbers(copy));
	else
		say_class(json, copy, logits, top);
	jwriter_end(json);
}

static bool of_numbers(const struct exchange *exchange)
{
	const struct options *o = exchange->served->item.options;

	return exchange->copy ? copy_target(exchange->copy) == TARGET_NUMBER
			      : target_kind(options_text(o, "model.target")) == TARGET_NUMBER;
}

/* Before there is a model nothing is known of anything. */
static enum http_next say_nothing(struct exchange *exchange)
{
	const struct options *o = exchange->served->item.options;
	struct jwriter json = {.out = &exchange->request->answer.body};

	if (exchange->list)
		jwriter_list(&json, NULL);
	for (int i = 0; i < exchange->count; i++) {
		jwriter_table(&json, NULL);
		if (of_numbers(exchange))
			answers_add_numbers(
				&json, NULL, target_width(o), options_text(o, "model.numbers"));
		else
			answers_add(&json, (struct answers_class){-1, NULL}, NAN, NULL);
		jwriter_end(&json);
	}
	if (exchange->list)
		jwriter_end(&json);
	text_add(json.out, "\n");
	return http_say(exchange->request, 200, JSON);
}

static enum http_next say_predictions(
	struct exchange *exchange, const struct copy *copy, const float *logits)
{
	struct http_request *request = exchange->request;
	const size_t classes = (size_t)copy_net(copy)->classes;
	struct jwriter json = {.out = &request->answer.body};

	if (exchange->list)
		jwriter_list(&json, NULL);
	for (int i = 0; i < exchange->count; i++) {
		say_prediction(&json, copy, logits + (size_t)i * classes, exchange->wishes[i].top);
		if (i % 64 == 63 && exchange_hold(exchange, 0) != HTTP_GO)
			return HTTP_DONE;
	}
	if (exchange->list)
		jwriter_end(&json);
	text_add(&request->answer.body, "\n");
	return http_say(request, 200, JSON);
}

/* ?top=3 */
static int read_top(const struct exchange *exchange, const char *words, struct answers_wish *wish,
	struct err *err)
{
	char *end;
	const long long top = strtoll(words, &end, 10);

	if (of_numbers(exchange))
		return err_set(err, ERR_INPUT, "top: is for classes, and model.target = number");
	return answers_wish_top(wish, *end ? 0 : top, err);
}

/* What the request wishes for all its inputs: ?for=ever&top=3. */
static enum http_next read_wish(struct exchange *exchange)
{
	struct answers_wish *wish = &exchange->job.answers.sender.wish;
	const char *question = http_param(exchange->request, "for");
	const char *top = http_param(exchange->request, "top");
	struct err err = {0};
	int code = question ? answers_wish_for(wish, question, &err) : 0;

	if (!code && top)
		code = read_top(exchange, top, wish, &err);
	*wish = answers_wish_or(*wish, desk_wish(exchange->served->desk));
	return code ? http_refuse(exchange->request, 400, "%s", err.message) : HTTP_GO;
}

/* The inputs are there. */
static enum http_next ask(struct exchange *exchange)
{
	struct err err = {0};
	const enum http_next next = exchange_predict(exchange, &err);

	return next == HTTP_GO ? say_predictions(exchange, exchange->copy, exchange->logits) : next;
}

/* --- what the desk answered --- */

/* Answers of one line each, as they are, or as a list. */
static enum http_next say_answers(struct exchange *exchange)
{
	struct http_request *request = exchange->request;
	struct text *words = &exchange->job.answers.words, *out = &request->answer.body;

	if (!exchange->list) {
		*out = *words;
		*words = (struct text){0};
		return http_say(request, exchange->job.answers.errors ? 400 : 200, JSON);
	}
	for (size_t i = 0; i + 1 < words->size; i++)
		if (words->data[i] == '\n')
			words->data[i] = ',';
	text_addf(out, "[%.*s]\n", words->size ? (int)words->size - 1 : 0,
		words->data ? words->data : "");
	out->failed |= words->failed;
	return http_say(request, 200, JSON);
}

/* The first bytes of the body as lines, and room for what they will be answered. */
static enum http_next open_batch(struct exchange *exchange, size_t size, enum batch_of what)
{
	const char *bytes = exchange->body.data;
	const size_t lines = batch_size(bytes, size, what);
	struct err err = {0};

	if (exchange_hold(exchange,
		    (int64_t)lines + budget_answers(bytes, size,
					     exchange->job.answers.sender.wish.top)) != HTTP_GO)
		return HTTP_DONE;
	exchange->arrays += lines;
	if (!batch_open(&exchange->batch, bytes, size, what, &err))
		return HTTP_GO;
	return err.code == ERR_MEMORY ? http_refuse(exchange->request, 503, "out of memory")
				      : http_refuse(exchange->request, 400, "%s", err.message);
}

/* Parsed here, so that the learner's thread need not; but where memory is scarce it does. */
static void parse(struct exchange *exchange, int count)
{
	const struct feed_line *lines = exchange->batch.lines, *end = lines + count;
	const int64_t answers = budget_answers(
		exchange->body.data, exchange->body.size, exchange->job.answers.sender.wish.top);
	size_t values = 0;

	for (const struct feed_line *line = lines; line < end; line++)
		values += batch_values_size(line->bytes, line->size);
	if (!exchange_may_hold(exchange, (int64_t)values + answers))
		return;
	exchange->arrays += values;
	batch_parse(&exchange->batch, count);
}

static enum http_next put_batch(struct exchange *exchange, enum live_kind kind)
{
	parse(exchange, exchange->batch.count);
	exchange->job.kind = kind;
	exchange->job.batch = &exchange->batch;
	return exchange_put(exchange, kind == LIVE_ANY);
}

static bool begins_list(const struct exchange *exchange)
{
	const char *at = exchange->body.data, *end = at + exchange->body.size;

	while (at < end && isspace((unsigned char)*at))
		at++;
	return at < end && *at == '[';
}

enum http_next serve_label(struct exchange *exchange)
{
	if (exchange->asked && exchange->job.code)
		return exchange_failed(exchange);
	if (exchange->asked)
		return say_answers(exchange);
	if (!exchange->body.size)
		return http_refuse(exchange->request, 400, "there is no object in the request");
	exchange->list = begins_list(exchange);
	if (open_batch(exchange, exchange->body.size, exchange->list ? BATCH_LIST : BATCH_ONE) !=
		HTTP_GO)
		return HTTP_DONE;
	return put_batch(exchange, LIVE_LABELS);
}

/* --- predictions --- */

static enum http_next read_object(struct exchange *exchange, int at, struct event *line)
{
	const size_t floats = exchange->copy ? copy_floats(exchange->copy) : 0;
	struct err err = {0};
	char where[32];

	snprintf(where, sizeof(where), exchange->list ? "object %d" : "the object", at + 1);
	if (desk_read(exchange->served->desk, exchange->copy, &exchange->batch.lines[at], where,
		    line, exchange->inputs + (size_t)at * floats, &err))
		return http_refuse(exchange->request, 400, "%s", err.message);
	if (line->has_label || !line->has_input)
		return http_refuse(exchange->request, 400, "%s: %s", where,
			line->has_label ? "has a label; /v1/samples takes both" : "has no input");
	exchange->wishes[at] = answers_wish_or(line->wish, exchange->job.answers.sender.wish);
	return HTTP_GO;
}

static enum http_next make_inputs(struct exchange *exchange, size_t count)
{
	const size_t floats = exchange->copy ? copy_floats(exchange->copy) : 1;

	const size_t bytes = count * (floats * sizeof(float) + sizeof(*exchange->wishes));

	if (exchange_hold(exchange, (int64_t)bytes) != HTTP_GO)
		return HTTP_DONE;
	exchange->count = (int)count;
	exchange->arrays += bytes;
	exchange->inputs = mem_new(count * floats, sizeof(*exchange->inputs));
	exchange->wishes = mem_new(count, sizeof(*exchange->wishes));
	if (!exchange->inputs || !exchange->wishes)
		return http_refuse(exchange->request, 503, "out of memory");
	for (size_t i = 0; i < count; i++)
		exchange->wishes[i] = exchange->job.answers.sender.wish;
	return HTTP_GO;
}

/* Whether inputs may be kept: by whom, and of whom. */
static enum http_next may_keep(struct exchange *exchange)
{
	if (exchange->request->reader)
		return http_refuse(exchange->request, 403,
			"this token may only read, and an input with an id is kept");
	if (exchange->served->follow)
		return http_refuse(exchange->request, 403,
			"this service only answers, by a copy of %s: send inputs with an id there",
			follow_url(exchange->served->follow));
	if (!desk_learns(exchange->served->desk))
		return http_refuse(exchange->request, 400,
			"nothing learns here, so nothing is kept: leave out the id");
	return HTTP_GO;
}

static enum http_next put_inputs(struct exchange *exchange)
{
	const enum http_next next = may_keep(exchange);

	return next == HTTP_GO ? put_batch(exchange, LIVE_INPUTS) : next;
}

/* The input that was read is the event's. */
static enum http_next put_event(struct exchange *exchange)
{
	const enum http_next next = may_keep(exchange);

	if (next != HTTP_GO)
		return next;
	exchange->event.has_input = true;
	exchange->event.input = exchange->inputs;
	exchange->job.event = &exchange->event;
	exchange->job.kind = LIVE_INPUTS;
	return exchange_put(exchange, false);
}

/*
 * Everything is parsed once: numbers become an event's, and what has names, or is a list of which
 * all may be kept, becomes values.
 */
static enum http_next predict_objects(struct exchange *exchange)
{
	struct desk *desk = exchange->served->desk;
	const bool named = exchange->copy && desk_schema_begin(desk, exchange->copy);
	const int count = exchange->batch.count;
	struct event *event = &exchange->event;
	enum http_next next = make_inputs(exchange, (size_t)count);

	if (exchange->copy)
		desk_schema_end(desk);
	if (next == HTTP_GO)
		parse(exchange, named ? count : exchange->list);
	for (int i = 0; i < count && next == HTTP_GO; i++) {
		next = read_object(exchange, i, event);
		/* The first says what all are. */
		if (next == HTTP_GO && i == 0 && *event->id)
			return exchange->copy && !named && !exchange->list ? put_event(exchange)
									   : put_inputs(exchange);
		if (next == HTTP_GO && *event->id)
			next = http_refuse(exchange->request, 400,
				"object %d: has an id, and the first has none", i + 1);
	}
	if (next != HTTP_GO)
		return next;
	return exchange->copy ? ask(exchange) : say_nothing(exchange);
}

static enum http_next predict_list(struct exchange *exchange)
{
	const size_t floats = exchange->copy ? copy_floats(exchange->copy) : 1;
	const int count = pieces_count(exchange->body.data, exchange->body.size);

	if (count < 1)
		return http_refuse(
			exchange->request, 400, "the list is %s", count ? "no JSON" : "empty");
	/* A list of `{}` must not ask for much more memory than it has bytes. */
	if ((size_t)count * floats > exchange->body.size * 16)
		return http_refuse(exchange->request, 400,
			"%d objects: they cannot have %zu numbers each", count, floats);
	return open_batch(exchange, exchange->body.size, BATCH_LIST) == HTTP_GO
		       ? predict_objects(exchange)
		       : HTTP_DONE;
}

static enum http_next predict_object(struct exchange *exchange)
{
	return open_batch(exchange, exchange->body.size, BATCH_ONE) == HTTP_GO
		       ? predict_objects(exchange)
		       : HTTP_DONE;
}

static enum http_next put_picture(struct exchange *exchange, const char *id)
{
	struct event *event = &exchange->event;
	struct err err = {0};
	char *end;
	const long long number = strtoll(id, &end, 10);

	live_line_number_id(event, number);
	if ((*end || strcmp(event->id, id) != 0) && live_line_text_id(event, id, "?id=", &err))
		return http_refuse(exchange->request, 400, "%s", err.message);
	return put_event(exchange);
}

static enum http_next predict_picture(struct exchange *exchange)
{
	const char *id = http_param(exchange->request, "id");
	enum http_next next = make_inputs(exchange, 1);
	struct err err = {0};

	if (next == HTTP_GO && !exchange->copy)
		next = http_refuse(exchange->request, 400,
			"model.input: must say what size images have, as 3,32,32");
	if (next != HTTP_GO)
		return next;
	if (picture_read(exchange->body.data, exchange->body.size, copy_net(exchange->copy),
		    exchange->served->item.options, exchange->inputs, &err))
		return http_refuse(exchange->request, 400, "%s", err.message);
	return id ? put_picture(exchange, id) : ask(exchange);
}

enum http_next serve_predict(struct exchange *exchange)
{
	const char *type = http_header(exchange->request, "Content-Type");

	if (exchange->asked && exchange->job.code)
		return exchange_failed(exchange);
	if (exchange->asked)
		return exchange->job.logits
			       ? say_predictions(exchange, exchange->job.copy, exchange->job.logits)
			       : say_answers(exchange);
	if (!exchange->body.size)
		return http_refuse(exchange->request, 400, "there is no object in the request");
	if (read_wish(exchange) != HTTP_GO)
		return HTTP_DONE;
	if (type && !strncasecmp(type, "image/", 6))
		return predict_picture(exchange);
	exchange->list = begins_list(exchange);
	return exchange->list ? predict_list(exchange) : predict_object(exchange);
}

/* --- samples --- */

/* The lines that the desk has done are dropped. */
static void drop_sent(struct exchange *exchange)
{
	struct text *body = &exchange->body;

	if (!exchange->sent)
		return;
	batch_release(&exchange->batch);
	exchange->arrays = 0;
	memmove(body->data, body->data + exchange->sent, body->size - exchange->sent);
	body->size -= exchange->sent;
	exchange->whole -= exchange->whole < exchange->sent ? exchange->whole : exchange->sent;
	exchange->sent = 0;
}

enum http_next serve_samples(struct exchange *exchange)
{
	struct http_request *request = exchange->request;
	struct job *job = &exchange->job;
	const bool all = request->length == exchange->received;

	drop_sent(exchange);
	if (exchange->asked && job->code)
		return exchange_failed(exchange);
	exchange->asked = false;
	if (!exchange->sent && read_wish(exchange) != HTTP_GO)
		return HTTP_DONE;
	if (!all && exchange->body.size < PIECE)
		return HTTP_GO;
	exchange->sent = all ? exchange->body.size : exchange->whole;
	if (!exchange->sent && !all)
		return HTTP_GO;
	if (exchange->sent)
		return open_batch(exchange, exchange->sent, BATCH_LINES) == HTTP_GO
			       ? put_batch(exchange, LIVE_ANY)
			       : HTTP_DONE;
	request->answer.body = job->answers.words;
	job->answers.words = (struct text){0};
	return http_say(request, 200, NDJSON);
}
