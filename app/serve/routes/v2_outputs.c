/*
 * Tensors out: probabilities of all known classes, the label of the most probable one, and its
 * name if classes have names; of numbers the prediction and the bounds of its interval.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "target/class.h"
#include "serve/routes/v2.h"

enum { NUMBER_MOST = 16 }; /* bytes of a probability and its comma */

/* A batch of answers. */
struct outputs {
	const struct copy *copy;
	const float *logits;
	int count;
	struct text binary;
	float *shares; /* room for the probabilities of an input */
};

static const float *logits_of(const struct outputs *outputs, int i)
{
	return outputs->logits + (size_t)i * (size_t)copy_net(outputs->copy)->classes;
}

/* -1: nothing is known. */
static int32_t label_of(const struct outputs *outputs, int i)
{
	int32_t best;

	class_most(logits_of(outputs, i), copy_known(outputs->copy), &best, 1);
	return best;
}

static void add_raw(struct outputs *outputs, const void *bytes, size_t size)
{
	text_add_bytes(&outputs->binary, bytes, size);
}

static void say_probabilities(struct jwriter *json, struct outputs *outputs)
{
	const int known = copy_known(outputs->copy);

	for (int i = 0; i < outputs->count; i++) {
		class_probabilities(logits_of(outputs, i), known, known, outputs->shares);
		for (int c = 0; c < known && json; c++)
			jwriter_number(json, NULL, (double)outputs->shares[c]);
		if (!json)
			add_raw(outputs, outputs->shares, (size_t)known * sizeof(*outputs->shares));
	}
}

static void say_labels(struct jwriter *json, struct outputs *outputs)
{
	for (int i = 0; i < outputs->count; i++) {
		const int64_t label = label_of(outputs, i);

		if (json)
			jwriter_whole(json, NULL, label);
		else
			add_raw(outputs, &label, sizeof(label));
	}
}

static void say_classes(struct jwriter *json, struct outputs *outputs)
{
	for (int i = 0; i < outputs->count; i++) {
		const char *found = copy_name(outputs->copy, label_of(outputs, i));
		const char *name = found ? found : "";
		const uint32_t size = (uint32_t)strlen(name);

		if (json)
			jwriter_text(json, NULL, name);
		else
			add_raw(outputs, &size, sizeof(size));
		if (!json)
			add_raw(outputs, name, size);
	}
}

/* One of a number's; NaN, in JSON null, where nothing is known. */
static void say_part(struct jwriter *json, struct outputs *outputs, int which)
{
	for (int i = 0; i < outputs->count * copy_width(outputs->copy); i++) {
		const float number =
			copy_known(outputs->copy)
				? outputs->logits[(ptrdiff_t)i * NUMBER_OUTPUTS + which]
				: (float)NAN;

		if (json)
			jwriter_float(json, NULL, number);
		else
			add_raw(outputs, &number, sizeof(number));
	}
}

static void say_values(struct jwriter *json, struct outputs *outputs)
{
	say_part(json, outputs, NUMBER_VALUE);
}

static void say_lows(struct jwriter *json, struct outputs *outputs)
{
	say_part(json, outputs, NUMBER_LOW);
}

static void say_highs(struct jwriter *json, struct outputs *outputs)
{
	say_part(json, outputs, NUMBER_HIGH);
}

static const struct output {
	const char *name, *type;
	/* Without JSON: as binary. */
	void (*say)(struct jwriter *json, struct outputs *outputs);
	enum target_kind target;
	bool wide, names; /* a row of numbers each; only where classes have names */
} rows[] = {
	{"probabilities", "FP32", say_probabilities, .wide = true},
	{"label", "INT64", say_labels},
	{"class", "BYTES", say_classes, .names = true},
	{"PREDICTION", "FP32", say_values, TARGET_NUMBER},
	{"LOW", "FP32", say_lows, TARGET_NUMBER},
	{"HIGH", "FP32", say_highs, TARGET_NUMBER},
};
enum { ROWS = sizeof(rows) / sizeof(*rows) };

static bool has(const struct output *row, const struct copy *copy)
{
	return row->target == copy_target(copy) && (!row->names || copy_named(copy));
}

/* Numbers of an input's row of a tensor; 0: it is one. */
static int width_of(const struct output *row, const struct copy *copy)
{
	if (row->target == TARGET_NUMBER)
		return copy_width(copy) > 1 ? copy_width(copy) : 0;
	return row->wide ? copy_known(copy) : 0;
}

static void say_numbers(struct jwriter *json, const struct copy *copy)
{
	char name[NUMBER_NAME];

	jwriter_table(json, "parameters");
	jwriter_list(json, "numbers");
	for (int k = 0; k < copy_width(copy); k++)
		jwriter_text(json, NULL, number_said(copy_numbers(copy), k, name));
	jwriter_end(json);
	jwriter_end(json);
}

/* What there is, for those who asked for something else. */
static int refuse_output(const struct copy *copy, struct err *err)
{
	char names[128] = "";

	for (int i = 0; i < ROWS; i++)
		if (has(&rows[i], copy))
			snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
				*names ? ", " : "", rows[i].name);
	return err_set(err, ERR_INPUT, "outputs: there are %s, nothing else", names);
}

static void say_output(
	struct jwriter *json, struct outputs *outputs, const struct output *row, bool binary)
{
	const size_t before = outputs->binary.size;

	jwriter_table(json, NULL);
	jwriter_text(json, "name", row->name);
	jwriter_text(json, "datatype", row->type);
	jwriter_list(json, "shape");
	jwriter_whole(json, NULL, outputs->count);
	if (width_of(row, outputs->copy))
		jwriter_whole(json, NULL, width_of(row, outputs->copy));
	jwriter_end(json);
	if (binary) {
		row->say(NULL, outputs);
		jwriter_table(json, "parameters");
		jwriter_whole(json, "binary_data_size", (int64_t)(outputs->binary.size - before));
		jwriter_end(json);
	} else {
		jwriter_list(json, "data");
		row->say(json, outputs);
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

static const struct output *find_output(const struct jvalue *wanted, const struct copy *copy)
{
	const char *name = jvalue_text(jvalue_find(wanted, "name"));

	for (int i = 0; i < ROWS && name; i++)
		if (!strcmp(rows[i].name, name) && has(&rows[i], copy))
			return &rows[i];
	return NULL;
}

/* Those that were asked for, or all. */
static int say_wanted(struct jwriter *json, const struct jvalue *question, struct outputs *outputs,
	struct err *err)
{
	const struct jvalue *wanted = jvalue_find(question, "outputs");
	const bool binary = is_true(question, "binary_data_output", false);
	unsigned int said = 0; /* rows */

	jwriter_list(json, "outputs");
	for (int i = 0; i < ROWS && !jvalue_count(wanted); i++)
		if (has(&rows[i], outputs->copy))
			say_output(json, outputs, &rows[i], binary);
	for (size_t i = 0; i < jvalue_count(wanted); i++) {
		const struct jvalue *one = jvalue_at(wanted, i);
		const struct output *row = find_output(one, outputs->copy);

		if (!row)
			return refuse_output(outputs->copy, err);
		if (said & 1u << (row - rows))
			return err_set(err, ERR_INPUT, "outputs: %s is there twice", row->name);
		said |= 1u << (row - rows);
		say_output(json, outputs, row, is_true(one, "binary_data", binary));
	}
	jwriter_end(json);
	return 0;
}

enum http_next v2_say_outputs(struct exchange *exchange, const struct v2_question *question,
	const struct copy *copy, const float *logits)
{
	struct http_request *request = exchange->request;
	struct outputs outputs = {.copy = copy,
		.logits = logits,
		.count = exchange->count,
		.shares = mem_new((size_t)copy_known(copy) + 1, sizeof(float))};
	struct text *body = &request->answer.body;
	struct jwriter json = {.out = body};
	const char *id = jvalue_text(jvalue_find(question->json, "id"));
	struct err err = {0};
	int code;

	if (!outputs.shares)
		return http_refuse(request, 503, "out of memory");
	if (exchange_hold(exchange,
		    (int64_t)exchange->count * copy_net(copy)->classes * NUMBER_MOST) != HTTP_GO) {
		mem_free(outputs.shares);
		return HTTP_DONE;
	}
	jwriter_table(&json, NULL);
	jwriter_text(&json, "model_name", exchange->served->item.name);
	jwriter_text(&json, "model_version", "1");
	if (id)
		jwriter_text(&json, "id", id);
	code = say_wanted(&json, question->json, &outputs, &err);
	jwriter_end(&json);
	if (!code && outputs.binary.size) {
		http_field(request, V2_LENGTH, "%zu", body->size);
		text_add_bytes(body, outputs.binary.data, outputs.binary.size);
		body->failed |= outputs.binary.failed;
	}
	const bool binary = outputs.binary.size;

	text_release(&outputs.binary);
	mem_free(outputs.shares);
	if (code)
		return http_refuse(request, 400, "%s", err.message);
	return http_say(request, 200, binary ? "application/octet-stream" : "application/json");
}

void v2_say_output_tensors(struct jwriter *json, struct exchange *exchange)
{
	const struct copy *copy = exchange->copy;
	const bool grows = desk_grows(exchange->served->desk);

	jwriter_list(json, "outputs");
	for (int i = 0; i < ROWS; i++)
		if (has(&rows[i], copy))
			v2_say_tensor(json, rows[i].name, rows[i].type,
				rows[i].wide && grows ? (const int[]){-1, 0}
						      : (const int[]){width_of(&rows[i], copy), 0});
	jwriter_end(json);
	if (copy_width(copy) > 1)
		say_numbers(json, copy);
	if (!copy_named(copy))
		return;
	jwriter_table(json, "parameters");
	jwriter_list(json, "classes");
	for (int i = 0; i < copy_known(copy); i++)
		jwriter_text(json, NULL, copy_name(copy, i) ? copy_name(copy, i) : "");
	jwriter_end(json);
	jwriter_end(json);
}
