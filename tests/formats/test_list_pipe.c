/* What arrives is what was sent; what no sound process sends is refused, whatever it is. */
#define _GNU_SOURCE 1
#include "../base/check.h"

#include <math.h>
#include <stdlib.h>

#include "formats/list_pipe.h"

#define DAMAGED "FILE: is damaged: the library that reads it did not survive it"

struct got {
	int count;
	uint64_t sum;
};

static int visit(void *self, const struct list_value *value, struct err *err)
{
	struct got *got = self;

	assert_true(value->kind >= LIST_WHOLE && value->kind <= LIST_TEXT);
	/* Sanitizers see a step beyond the text. */
	for (size_t i = 0; value->kind == LIST_TEXT && i < value->size; i++)
		got->sum += (unsigned char)value->text[i];
	got->count++;
	return got->count == 1000 ? err_set(err, ERR_INPUT, "no") : 0;
}

static int receive(const void *bytes, size_t size, struct got *got, struct err *err)
{
	FILE *in = fmemopen((void *)(uintptr_t)bytes, size, "r");
	int code;

	assert_non_null(in);
	*got = (struct got){0};
	*err = (struct err){0};
	code = list_pipe_receive(in, "FILE", visit, got, err);
	fclose(in);
	return code;
}

static void arrives(void **state)
{
	const struct list_value values[] = {{.kind = LIST_WHOLE, .whole = INT64_MIN},
		{.kind = LIST_REAL, .real = NAN}, {.kind = LIST_TEXT, .text = "ab", .size = 2},
		{.kind = LIST_TEXT, .text = "", .size = 0}};
	struct err why = {0}, err;
	char *bytes = NULL;
	struct got got;
	size_t size;
	FILE *out;

	for (int code = 0; code >= ERR_STOPPED; code--) {
		out = open_memstream(&bytes, &size);
		for (size_t i = 0; i < COUNT(values); i++)
			assert_int_equal(list_pipe_send(out, "FILE", &values[i], &err), 0);
		if (code)
			err_set(&why, code, "a reason");
		list_pipe_end(out, code, &why);
		fclose(out);
		assert_int_equal(receive(bytes, size, &got, &err), code);
		assert_int_equal(err.code, code);
		assert_string_equal(err.message, code ? "a reason" : "");
		assert_int_equal(got.count, 4);
		assert_int_equal(got.sum, 'a' + 'b');
		/* Whatever is cut off its end is missing. */
		for (size_t cut = 1; cut < size; cut++) {
			assert_int_equal(receive(bytes, size - cut, &got, &err), ERR_FORMAT);
			assert_string_equal(err.message, DAMAGED);
		}
		free(bytes);
	}
}

static void refuses(void **state)
{
	static const struct list_pipe_head heads[] = {
		{.kind = LIST_TEXT, .size = LIST_PIPE_TEXT + 1},
		{.kind = LIST_TEXT, .size = UINT64_MAX},
		{.kind = LIST_TEXT + 1},
		{.kind = INT32_MAX},
		{.kind = LIST_PIPE_RESULT - 1},
		{.kind = INT32_MIN},
		{.kind = LIST_PIPE_RESULT, .code = 1, .size = 5},
		{.kind = LIST_PIPE_RESULT, .code = INT32_MAX, .size = 5},
		{.kind = LIST_PIPE_RESULT, .code = ERR_STOPPED - 1, .size = 5},
		{.kind = LIST_PIPE_RESULT, .code = INT32_MIN, .size = 5},
		{.kind = LIST_PIPE_RESULT, .code = ERR_FORMAT, .size = 0},
		{.kind = LIST_PIPE_RESULT, .code = ERR_FORMAT, .size = 512},
		{.kind = LIST_PIPE_RESULT, .code = 0, .size = UINT64_MAX},
	};
	const size_t room = sizeof(heads[0]) + LIST_PIPE_TEXT;
	char *bytes = malloc(room);
	struct got got;
	struct err err;

	assert_non_null(bytes);
	memset(bytes, 'x', room);
	for (size_t i = 0; i < COUNT(heads); i++) {
		memcpy(bytes, &heads[i], sizeof(heads[i]));
		assert_int_equal(receive(bytes, room, &got, &err), ERR_FORMAT);
		assert_string_equal(err.message, DAMAGED);
		assert_int_equal(got.count, 0);
	}
	/* A sentence of nothing. */
	memcpy(bytes, &(struct list_pipe_head){LIST_PIPE_RESULT, ERR_FILE, {.size = 5}},
		sizeof(heads[0]));
	bytes[sizeof(heads[0])] = '\0';
	assert_int_equal(receive(bytes, room, &got, &err), ERR_FORMAT);
	assert_string_equal(err.message, DAMAGED);
	free(bytes);
}

/* The longest text there may be. */
static void takes_long(void **state)
{
	const struct list_pipe_head head = {.kind = LIST_TEXT, .size = LIST_PIPE_TEXT};
	const struct list_pipe_head end = {.kind = LIST_PIPE_RESULT};
	const size_t room = 2 * sizeof(head) + LIST_PIPE_TEXT;
	char *bytes = malloc(room);
	struct got got;
	struct err err;

	assert_non_null(bytes);
	memset(bytes, 1, room);
	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + room - sizeof(end), &end, sizeof(end));
	assert_int_equal(receive(bytes, room, &got, &err), 0);
	assert_int_equal(got.count, 1);
	assert_int_equal(got.sum, LIST_PIPE_TEXT);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrives),
		cmocka_unit_test(refuses),
		cmocka_unit_test(takes_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
