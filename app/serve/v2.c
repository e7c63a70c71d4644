/*
 * The Open Inference Protocol, version 2, with its extension for binary tensors:
 * github.com/kserve/open-inference-protocol. One input tensor of a batch of samples; two
 * outputs, probabilities and labels.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <retain.h>
#include "base/json.h"
#include "base/json_write.h"
#include "base/mem.h"
#include "eval/guess.h"
#include "serve/exchange.h"

static const char JSON[] = "application/json", LENGTH[] = "Inference-Header-Content-Length";

static void say_name(struct jwriter *json, const struct exchange *exchange)
{
	jwriter_text(json, "name", options_text(exchange->serve->config.options, "serve.name"));
}

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

enum http_next serve_ready(struct exchange *exchange)
{
	struct jwriter json = {.out = &exchange->request->answer.body};
	struct desk_status status = {.state = DESK_LEARNS};

	if (exchange->serve->desk)
		desk_status(exchange->serve->desk, &status);
	if (status.state != DESK_LEARNS && status.state != DESK_PAUSED)
		return http_refuse(exchange->request, 503,
			status.state == DESK_OPENS ? "the learner opens" : "the service ends");
	jwriter_table(&json, NULL);
	jwriter_truth(&json, "ready", true);
	return say(exchange, &json);
}

static void say_tensor(struct jwriter *json, const char *name, const char *type, const int *shape)
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

enum http_next serve_model(struct exchange *exchange)
{
	const struct net_spec *net = desk_net(exchange->serve->desk);
	const bool image = net->height > 1 || net->width > 1;
	struct jwriter json = {.out = &exchange->request->answer.body};

	jwriter_table(&json, NULL);
	say_name(&json, exchange);
	jwriter_list(&json, "versions");
	jwriter_text(&json, NULL, "1");
	jwriter_end(&json);
	jwriter_text(&json, "platform", "retain");
	jwriter_list(&json, "inputs");
	say_tensor(&json, "input", "FP32",
		image ? (const int[]){net->channels, net->height, net->width, 0}
		      : (const int[]){net->channels, 0});
	jwriter_end(&json);
	jwriter_list(&json, "outputs");
	say_tensor(&json, "probabilities", "FP32", (const int[]){net->classes, 0});
	say_tensor(&json, "label", "INT64", (const int[]){0});
	jwriter_end(&json);
	return say(exchange, &json);
}

/* --- the input --- */

#define NUMBER(type)                                                                               \
	static double read_##type(const char *at)                                                  \
	{                                                                                          \
		type value;                                                                        \
                                                                                                   \
		memcpy(&value, at, sizeof(value));                                                 \
		return (double)value;                                                              \
	}
NUMBER(float)
NUMBER(double)
NUMBER(int8_t)
NUMBER(int16_t)
NUMBER(int32_t)
NUMBER(int64_t)
NUMBER(uint8_t)

static const struct datatype {
	const char *name;
	size_t size;
	double (*read)(const char *at);
} datatypes[] = {
	{"FP32", sizeof(float), read_float},
	{"FP64", sizeof(double), read_double},
	{"INT8", sizeof(int8_t), read_int8_t},
	{"INT16", sizeof(int16_t), read_int16_t},
	{"INT32", sizeof(int32_t), read_int32_t},
	{"INT64", sizeof(int64_t), read_int64_t},
	{"UINT8", sizeof(uint8_t), read_uint8_t},
	{0},
};

static const struct datatype *find_datatype(const char *name)
{
	const struct datatype *row = datatypes;

	while (name && row->name && strcmp(row->name, name) != 0)
		row++;
	return name && row->name ? row : NULL;
}

/* The first of the shape is the batch; the rest must make up an input. */
static int read_shape(const struct jvalue *shape, size_t floats, size_t *count, struct err *err)
{
	const size_t dims = jvalue_count(shape);
	size_t rest = 1;

	for (size_t i = 0; i < dims; i++) {
		int64_t length;

		if (!jvalue_whole(jvalue_at(shape, i), &length) || length < 1 || length > 1 << 30)
			return err_set(err, ERR_INPUT, "shape: must be whole numbers above 0");
		if (i == 0)
			*count = (size_t)length;
		else if (__builtin_mul_overflow(rest, (size_t)length, &rest))
			return err_set(err, ERR_INPUT, "shape: is too large");
	}
	if (dims < 2 || rest != floats)
		return err_set(err, ERR_INPUT,
			"shape: must be a batch of samples of %zu numbers each", floats);
	return 0;
}

struct numbers {
	float *out;
	size_t room, count;
};

static int put(struct numbers *numbers, double number, struct err *err)
{
	if (!isfinite((float)number))
		return err_set(err, ERR_INPUT, "data: number %zu is not finite", numbers->count);
	if (numbers->count < numbers->room)
		numbers->out[numbers->count] = (float)number;
	numbers->count++;
	return 0;
}

static int read_list(
	struct numbers *numbers, const struct jvalue *value, int depth, struct err *err)
{
	const size_t count = jvalue_count(value);
	double number;
	int code = 0;

	if (jvalue_number(value, &number))
		return put(numbers, number, err);
	if (jvalue_kind(value) != JVALUE_LIST || depth > 4)
		return err_set(err, ERR_INPUT, "data: number %zu is no number", numbers->count);
	for (size_t i = 0; i < count && !code; i++)
		code = read_list(numbers, jvalue_at(value, i), depth + 1, err);
	return code;
}

static int read_binary(struct numbers *numbers, const struct datatype *type, const char *bytes,
	size_t size, struct err *err)
{
	int code = 0;

	if (size != numbers->room * type->size)
		return err_set(err, ERR_INPUT, "binary_data_size = %zu: the shape has %zu", size,
			numbers->room * type->size);
	for (size_t i = 0; i < numbers->room && !code; i++)
		code = put(numbers, type->read(bytes + i * type->size), err);
	return code;
}

static int read_tensor(struct exchange *exchange, const struct jvalue *tensor, const char *binary,
	size_t binary_size, struct err *err)
{
	const struct datatype *type = find_datatype(jvalue_text(jvalue_find(tensor, "datatype")));
	const struct jvalue *data = jvalue_find(tensor, "data");
	const size_t floats = desk_floats(exchange->serve->desk);
	struct numbers numbers = {0};
	int64_t announced = 0;
	size_t count = 0;
	int code = read_shape(jvalue_find(tensor, "shape"), floats, &count, err);

	if (code)
		return code;
	if (!type)
		return err_set(err, ERR_INPUT, "datatype: must be FP32, or another of numbers");
	/* A shape must not ask for more memory than the request has bytes. */
	if (count > (size_t)exchange->received)
		return err_set(err, ERR_INPUT, "shape: there are not %zu samples", count);
	jvalue_whole(
		jvalue_find(jvalue_find(tensor, "parameters"), "binary_data_size"), &announced);
	numbers.room = count * floats;
	exchange->count = (int)count;
	exchange->inputs = mem_new(numbers.room, sizeof(*exchange->inputs));
	if (!exchange->inputs)
		return err_memory(err, "inputs", numbers.room * sizeof(*exchange->inputs));
	numbers.out = exchange->inputs;
	if (data)
		code = read_list(&numbers, data, 0, err);
	else if (announced < 0 || (size_t)announced > binary_size)
		code = err_set(
			err, ERR_INPUT, "binary_data_size: there are only %zu bytes", binary_size);
	else
		code = read_binary(&numbers, type, binary, (size_t)announced, err);
	if (!code && numbers.count != numbers.room)
		code = err_set(err, ERR_INPUT, "data: has %zu numbers, the shape %zu",
			numbers.count, numbers.room);
	return code;
}

/* --- the outputs --- */

struct outputs {
	float *probabilities;
	int64_t *labels;
	struct text binary;
};

static const struct output {
	const char *name, *type;
} outputs_known[] = {{"probabilities", "FP32"}, {"label", "INT64"}};
enum { OUTPUTS = 2 };

static void fill_outputs(const struct exchange *exchange, struct outputs *outputs)
{
	const int classes = desk_net(exchange->serve->desk)->classes;

	for (int i = 0; i < exchange->count; i++) {
		const float *logits = exchange->logits + (size_t)i * (size_t)classes;
		int32_t best[JOURNAL_GUESSES];

		guess_best(logits, classes, best);
		outputs->labels[i] = best[0];
		for (int c = 0; c < classes; c++)
			outputs->probabilities[(size_t)i * (size_t)classes + (size_t)c] =
				(float)guess_probability(logits, classes, c);
	}
}

static void say_output(struct jwriter *json, const struct exchange *exchange,
	struct outputs *outputs, int which, bool binary)
{
	const size_t classes = which ? 1 : (size_t)desk_net(exchange->serve->desk)->classes;
	const size_t numbers = (size_t)exchange->count * classes;
	const size_t size = numbers * (which ? sizeof(int64_t) : sizeof(float));

	jwriter_table(json, NULL);
	jwriter_text(json, "name", outputs_known[which].name);
	jwriter_text(json, "datatype", outputs_known[which].type);
	jwriter_list(json, "shape");
	jwriter_whole(json, NULL, exchange->count);
	if (!which)
		jwriter_whole(json, NULL, (int64_t)classes);
	jwriter_end(json);
	if (binary) {
		jwriter_table(json, "parameters");
		jwriter_whole(json, "binary_data_size", (int64_t)size);
		jwriter_end(json);
		text_add_bytes(&outputs->binary,
			which ? (const char *)outputs->labels
			      : (const char *)outputs->probabilities,
			size);
	} else {
		jwriter_list(json, "data");
		for (size_t i = 0; i < numbers; i++)
			if (which)
				jwriter_whole(json, NULL, outputs->labels[i]);
			else
				jwriter_number(json, NULL, (double)outputs->probabilities[i]);
		jwriter_end(json);
	}
	jwriter_end(json);
}

static bool is_true(const struct jvalue *table, const char *key, bool otherwise)
{
	bool truth = otherwise;

	jvalue_truth(jvalue_find(jvalue_find(table, "parameters"), key), &truth);
	return truth;
}

static int find_output(const struct jvalue *wanted)
{
	const char *name = jvalue_text(jvalue_find(wanted, "name"));

	for (int i = 0; i < OUTPUTS && name; i++)
		if (!strcmp(outputs_known[i].name, name))
			return i;
	return -1;
}

/* Those that were asked for, or all. */
static int say_outputs(struct jwriter *json, const struct exchange *exchange,
	const struct jvalue *question, struct outputs *outputs, struct err *err)
{
	const struct jvalue *wanted = jvalue_find(question, "outputs");
	const bool binary = is_true(question, "binary_data_output", false);

	jwriter_list(json, "outputs");
	for (int i = 0; i < OUTPUTS && !jvalue_count(wanted); i++)
		say_output(json, exchange, outputs, i, binary);
	for (size_t i = 0; i < jvalue_count(wanted); i++) {
		const struct jvalue *one = jvalue_at(wanted, i);
		const int which = find_output(one);

		if (which < 0)
			return err_set(err, ERR_INPUT,
				"outputs: there are probabilities and label, nothing else");
		say_output(json, exchange, outputs, which, is_true(one, "binary_data", binary));
	}
	jwriter_end(json);
	return 0;
}

static enum http_next say_inference(
	struct exchange *exchange, const struct jvalue *question, struct outputs *outputs)
{
	struct http_request *request = exchange->request;
	struct text *body = &request->answer.body;
	struct jwriter json = {.out = body};
	struct err err = {0};

	fill_outputs(exchange, outputs);
	jwriter_table(&json, NULL);
	jwriter_text(
		&json, "model_name", options_text(exchange->serve->config.options, "serve.name"));
	jwriter_text(&json, "model_version", "1");
	if (jvalue_text(jvalue_find(question, "id")))
		jwriter_text(&json, "id", jvalue_text(jvalue_find(question, "id")));
	if (say_outputs(&json, exchange, question, outputs, &err))
		return http_refuse(request, 400, "%s", err.message);
	jwriter_end(&json);
	if (!outputs->binary.size)
		return http_say(request, 200, JSON);
	http_field(request, LENGTH, "%zu", body->size);
	text_add_bytes(body, outputs->binary.data, outputs->binary.size);
	body->failed |= outputs->binary.failed;
	return http_say(request, 200, "application/octet-stream");
}

static enum http_next infer(struct exchange *exchange, const struct jvalue *question, size_t header)
{
	struct http_request *request = exchange->request;
	const size_t classes = (size_t)desk_net(exchange->serve->desk)->classes;
	const struct jvalue *inputs = jvalue_find(question, "inputs");
	struct outputs outputs = {0};
	struct err err = {0};
	enum http_next next;

	if (jvalue_count(inputs) != 1)
		return http_refuse(request, 400, "inputs: must be one tensor");
	if (read_tensor(exchange, jvalue_at(inputs, 0), exchange->body.data + header,
		    exchange->body.size - header, &err))
		return http_refuse(request, 400, "%s", err.message);
	exchange->logits = mem_new((size_t)exchange->count * classes, sizeof(*exchange->logits));
	outputs.probabilities = mem_new((size_t)exchange->count * classes, sizeof(float));
	outputs.labels = mem_new((size_t)exchange->count, sizeof(*outputs.labels));
	if (!exchange->logits || !outputs.probabilities || !outputs.labels)
		next = http_refuse(request, 503, "out of memory");
	else if (desk_predict(exchange->serve->desk, exchange->inputs, exchange->count,
			 exchange->logits, &err))
		next = http_refuse(request, 500, "%s", err.message);
	else
		next = say_inference(exchange, question, &outputs);
	mem_free(outputs.probabilities);
	mem_free(outputs.labels);
	text_release(&outputs.binary);
	return next;
}

enum http_next serve_infer(struct exchange *exchange)
{
	struct http_request *request = exchange->request;
	const char *length = http_header(request, LENGTH);
	const size_t header = length ? strtoul(length, NULL, 10) : exchange->body.size;
	struct jvalue *question = NULL;
	struct err err = {0};
	enum http_next next;

	if (http_header(request, "Content-Encoding"))
		return http_refuse(request, 415, "Content-Encoding: requests must not be packed");
	if (header > exchange->body.size || !exchange->body.size)
		return http_refuse(
			request, 400, "%s: the request has %zu bytes", LENGTH, exchange->body.size);
	if (jvalue_read(&question, exchange->body.data, header, "the request", &err))
		return http_refuse(request, 400, "%s", err.message);
	next = infer(exchange, question, header);
	jvalue_free(question);
	return next;
}
