/*
 * Tensors in. A model of plain numbers takes one tensor of any name, a batch of inputs. One of
 * named values takes a tensor per column, by its name; columns may be omitted. Rows go through
 * the same reader as lines, so they become the same numbers.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "schema/schema.h"
#include "serve/routes/v2.h"

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
	if (dims < (floats > 1 ? 2 : 1) || rest != floats)
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
		return err_set(err, ERR_INPUT, "data: number %zu is not a number", numbers->count);
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

/* The tensor's own part of the binary ones, which come in the order of the tensors. */
struct binary {
	const char *at;
	size_t left;
};

static int take_binary(struct binary *binary, const struct jvalue *tensor, const char **bytes,
	size_t *size, struct err *err)
{
	int64_t announced = 0;

	jvalue_whole(
		jvalue_find(jvalue_find(tensor, "parameters"), "binary_data_size"), &announced);
	if (announced < 0 || (size_t)announced > binary->left)
		return err_set(
			err, ERR_INPUT, "binary_data_size: there are only %zu bytes", binary->left);
	*bytes = binary->at;
	*size = (size_t)announced;
	binary->at += announced;
	binary->left -= (size_t)announced;
	return 0;
}

/*
 * For so many samples, of which the request has so many values each: a value takes a byte or
 * more.
 */
static int make_inputs(struct exchange *exchange, size_t count, size_t values, struct err *err)
{
	enum { EACH = 16, SMALL = 1 << 24 }; /* floats that a byte may become; that any may */
	const size_t received = (size_t)exchange->received;
	const size_t floats = count * copy_floats(exchange->copy);

	if (count > received / values)
		return err_set(err, ERR_INPUT, "shape: there are not %zu samples", count);
	if (floats > SMALL && floats > EACH * received)
		return err_set(err, ERR_INPUT,
			"shape: %zu samples are too many; send them in parts", count);
	if (exchange_hold(exchange, (int64_t)(floats * sizeof(*exchange->inputs))) != HTTP_GO)
		return ERR_MEMORY;
	exchange->count = (int)count;
	exchange->arrays = floats * sizeof(*exchange->inputs);
	exchange->inputs = mem_new(floats, sizeof(*exchange->inputs));
	return exchange->inputs ? 0 : err_memory(err, "inputs", floats * sizeof(float));
}

static int read_tensor(struct exchange *exchange, const struct jvalue *tensor,
	struct binary *binary, struct err *err)
{
	const struct datatype *type = find_datatype(jvalue_text(jvalue_find(tensor, "datatype")));
	const struct jvalue *data = jvalue_find(tensor, "data");
	const size_t floats = copy_floats(exchange->copy);
	struct numbers numbers = {0};
	const char *bytes = NULL;
	size_t count = 0, size = 0;
	int code = read_shape(jvalue_find(tensor, "shape"), floats, &count, err);

	if (!code && !type)
		code = err_set(err, ERR_INPUT, "datatype: must be FP32, or another of numbers");
	if (!code)
		code = make_inputs(exchange, count, floats, err);
	if (code)
		return code;
	numbers.room = count * floats;
	numbers.out = exchange->inputs;
	if (data)
		code = read_list(&numbers, data, 0, err);
	else if (!(code = take_binary(binary, tensor, &bytes, &size, err)))
		code = read_binary(&numbers, type, bytes, size, err);
	if (!code && numbers.count != numbers.room)
		code = err_set(err, ERR_INPUT, "data: has %zu numbers, the shape %zu",
			numbers.count, numbers.room);
	return code;
}

/* --- rows of named values --- */

/* A tensor that is a column: values in JSON, numbers, or texts one after the other. */
struct column {
	const char *name;
	const struct jvalue *data;
	const struct datatype *type; /* of numbers in bytes; NULL: they are texts */
	const char *bytes;
	size_t left;
};

static int open_column(struct column *column, const struct jvalue *tensor, size_t count,
	struct binary *binary, struct err *err)
{
	const char *type = jvalue_text(jvalue_find(tensor, "datatype"));
	const bool texts = type && !strcmp(type, "BYTES");
	int code;

	column->type = find_datatype(type);
	column->data = jvalue_find(tensor, "data");
	if (!column->type && !texts && !(type && !strcmp(type, "BOOL") && column->data))
		return err_set(err, ERR_INPUT, "datatype: must be one of numbers, or BYTES");
	if (column->data)
		return jvalue_count(column->data) == count
			       ? 0
			       : err_set(err, ERR_INPUT, "data: has %zu values, the shape %zu",
					 jvalue_count(column->data), count);
	code = take_binary(binary, tensor, &column->bytes, &column->left, err);
	if (!code && !texts && column->left != count * column->type->size)
		code = err_set(err, ERR_INPUT, "binary_data_size = %zu: the shape has %zu",
			column->left, count * column->type->size);
	return code;
}

static struct jvalue *json_of(const struct jvalue *value, struct err *err)
{
	const enum jvalue_kind kind = jvalue_kind(value);

	if (kind != JVALUE_LIST && kind != JVALUE_TABLE)
		return jvalue_share(value);
	err_set(err, ERR_INPUT, "data: must be a list of numbers or texts");
	return NULL;
}

/* A text in a binary tensor: its length in four bytes, lowest first, and its bytes. */
static struct jvalue *text_of(struct column *column, struct err *err)
{
	struct jvalue *made;
	uint32_t size = 0;

	if (column->left >= sizeof(size))
		memcpy(&size, column->bytes, sizeof(size));
	if (column->left < sizeof(size) || size > column->left - sizeof(size)) {
		err_set(err, ERR_INPUT, "binary_data_size: a text is longer than the tensor");
		return NULL;
	}
	made = jvalue_of_text(column->bytes + sizeof(size), size);
	if (!made)
		err_set(err, ERR_INPUT, "a text is not UTF-8, or holds a zero byte");
	column->bytes += sizeof(size) + size;
	column->left -= sizeof(size) + size;
	return made;
}

static int add_value(struct jvalue *row, struct column *column, size_t i, struct err *err)
{
	struct jvalue *value = column->data    ? json_of(jvalue_at(column->data, i), err)
			       : !column->type ? text_of(column, err)
					       : jvalue_of_number(column->type->read(
							 column->bytes + i * column->type->size));

	if (!value)
		return err->code ? err->code : err_memory(err, "a value", 0);
	return jvalue_put(row, column->name, value, err);
}

/* Rows are read as those of other requests are. */
static int read_row(
	struct exchange *exchange, struct column *columns, size_t count, size_t i, struct err *err)
{
	struct jvalue *row = jvalue_table(), *object = jvalue_table();
	struct feed_line line = {.json = object};
	struct event event;
	char where[32];
	int code = 0;

	snprintf(where, sizeof(where), "row %zu", i);
	for (size_t c = 0; c < count && !code; c++)
		code = add_value(row, &columns[c], i, err);
	if (code)
		jvalue_free(row);
	else
		code = jvalue_put(object, "input", row, err);
	if (!code)
		code = desk_read(exchange->served->desk, exchange->copy, &line, where, &event,
			exchange->inputs + i * copy_floats(exchange->copy), err);
	jvalue_free(object);
	return code;
}

/* Before anything is made for rows, the request has as many values of each column. */
static int open_columns(struct column *columns, const struct jvalue *inputs, size_t *rows,
	struct binary *binary, struct err *err)
{
	int code = 0;

	for (size_t c = 0; c < jvalue_count(inputs) && !code; c++) {
		const struct jvalue *tensor = jvalue_at(inputs, c);
		size_t count = 0;

		columns[c].name = jvalue_text(jvalue_find(tensor, "name"));
		code = columns[c].name ? read_shape(jvalue_find(tensor, "shape"), 1, &count, err)
				       : err_set(err, ERR_INPUT,
						 "inputs: each must have the name of a column");
		if (!code && c && count != *rows)
			code = err_set(err, ERR_INPUT, "shape: all columns must be as long");
		*rows = count;
		if (!code)
			code = open_column(&columns[c], tensor, count, binary, err);
	}
	return code;
}

static int read_columns(struct exchange *exchange, const struct jvalue *inputs,
	struct binary *binary, struct err *err)
{
	const size_t count = jvalue_count(inputs);
	struct column *columns;
	size_t rows = 0;
	int code;

	if (jvalue_kind(inputs) != JVALUE_LIST || !count)
		return err_set(err, ERR_INPUT, "inputs: must be columns");
	columns = mem_new(count, sizeof(*columns));
	code = columns ? open_columns(columns, inputs, &rows, binary, err)
		       : err_memory(err, "columns", count * sizeof(*columns));
	if (!code)
		code = make_inputs(exchange, rows, count, err);
	for (size_t i = 0; i < rows && !code; i++)
		code = read_row(exchange, columns, count, i, err);
	mem_free(columns);
	return code;
}

int v2_read_inputs(struct exchange *exchange, const struct v2_question *question, struct err *err)
{
	const struct jvalue *inputs = jvalue_find(question->json, "inputs");
	struct binary binary = {question->binary, question->size};

	const bool named = desk_schema_begin(exchange->served->desk, exchange->copy);

	desk_schema_end(exchange->served->desk);
	if (named)
		return read_columns(exchange, inputs, &binary, err);
	if (jvalue_count(inputs) != 1)
		return err_set(err, ERR_INPUT, "inputs: must be one tensor");
	return read_tensor(exchange, jvalue_at(inputs, 0), &binary, err);
}

static void say_columns(struct jwriter *json, const struct schema *schema)
{
	for (int i = 0; i < schema_count(schema); i++) {
		const struct schema_column *column = schema_column(schema, i);
		const bool number = column->kind == SCHEMA_NUMBER || column->kind == SCHEMA_OPEN;

		v2_say_tensor(json, column->name, number ? "FP32" : "BYTES", (const int[]){0});
	}
}

void v2_say_inputs(struct jwriter *json, struct exchange *exchange)
{
	const struct schema *schema = desk_schema_begin(exchange->served->desk, exchange->copy);
	const struct net_spec *net = copy_net(exchange->copy);
	const bool image = net->height > 1 || net->width > 1;

	jwriter_list(json, "inputs");
	if (schema)
		say_columns(json, schema);
	else
		v2_say_tensor(json, "input", "FP32",
			image ? (const int[]){net->channels, net->height, net->width, 0}
			      : (const int[]){net->channels, 0});
	jwriter_end(json);
	desk_schema_end(exchange->served->desk);
}
