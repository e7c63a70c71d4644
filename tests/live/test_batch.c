/* Lines that were parsed before anything reads them. */
#include "../base/check.h"

#include <string.h>

#include "base/json.h"
#include "live/batch.h"
#include "live/live_line.h"

static struct batch open_of(const char *words, enum batch_of what)
{
	struct batch batch;
	struct err err = {0};

	assert_ok(batch_open(&batch, words, strlen(words), what, &err), err);
	return batch;
}

static void assert_line(const struct batch *batch, int i, const char *words, bool json)
{
	assert_int_equal(batch->lines[i].number, i + 1);
	assert_int_equal(batch->lines[i].size, strlen(words));
	assert_memory_equal(batch->lines[i].bytes, words, strlen(words));
	assert_int_equal(batch->lines[i].json != NULL, json);
}

/* Blank lines count, too: answers name lines by number. */
static void lines_are_split(void **state)
{
	struct batch batch = open_of("{\"id\": 1}\n\n1,2,3\n{\"id\": \n [2]", BATCH_LINES);

	assert_int_equal(batch.count, 5);
	batch_parse(&batch, batch.count);
	assert_line(&batch, 0, "{\"id\": 1}", true);
	assert_line(&batch, 1, "", false);
	assert_line(&batch, 2, "1,2,3", false);
	assert_line(&batch, 3, "{\"id\": ", false); /* its reader says what is wrong */
	assert_line(&batch, 4, " [2]", true);
	batch_release(&batch);
	assert_null(batch.lines);
}

static void lists_are_taken_apart(void **state)
{
	static const char bad[] = "[{\"id\": 1}, {\"id\": 2}";
	struct batch batch = open_of("[{\"id\": 1},{\"id\": 2,}, {\"id\": \"[,\"}]", BATCH_LIST);
	struct err err = {0};

	assert_int_equal(batch.count, 3);
	batch_parse(&batch, 2);
	assert_line(&batch, 0, "{\"id\": 1}", true);
	assert_line(&batch, 1, "{\"id\": 2,}", false);
	assert_line(&batch, 2, " {\"id\": \"[,\"}", false);
	batch_parse(&batch, 3);
	assert_line(&batch, 2, " {\"id\": \"[,\"}", true);
	batch_release(&batch);
	batch = open_of(" [ ]", BATCH_LIST);
	assert_int_equal(batch.count, 0);
	batch_release(&batch);
	assert_int_equal(batch_open(&batch, bad, strlen(bad), BATCH_LIST, &err), ERR_FORMAT);
	assert_says(err, "the list is not JSON");
	batch = open_of("{\"id\": 1}\n{\"id\": 2}", BATCH_ONE);
	assert_int_equal(batch.count, 1);
	batch_release(&batch);
}

/* A parsed line says what its bytes say, right or wrong. */
static void values_read_as_bytes_do(void **state)
{
	static const char *const lines[] = {
		"{\"id\": 17, \"input\": [1, -2.5]}",
		"{\"id\": \"a\", \"input\": [1, 2], \"label\": 1, \"for\": \"ever\", \"top\": 2}",
		"{\"id\": 1, \"label\": \"spam\"}",
		"{\"id\": 1, \"label\": null, \"input\": [1, 2]}",
		"{\"id\": 1, \"input\": [1]}",
		"{\"id\": 1, \"input\": {\"x\": 1}}",
		"{\"id\": 1.5, \"label\": 1}",
		"{\"id\": 1}",
		"[1, 2]",
		"{\"id\": 1, \"label\": 9}",
	};
	const struct live_line_shape shape = {.floats = 2, .classes = 3};

	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct batch batch = open_of(lines[i], BATCH_ONE);
		float input[2][2] = {{0}};
		struct event event[2];
		struct err err[2] = {{0}};
		int code[2];

		batch_parse(&batch, 1);
		assert_non_null(batch.lines->json);
		code[0] = live_line_ndjson(
			lines[i], strlen(lines[i]), "line 1", &shape, &event[0], input[0], &err[0]);
		code[1] = live_line_object(
			batch.lines->json, "line 1", &shape, &event[1], input[1], &err[1]);
		assert_int_equal(code[0], code[1]);
		assert_string_equal(err[0].message, err[1].message);
		assert_string_equal(event[0].id, event[1].id);
		assert_string_equal(event[0].name, event[1].name);
		assert_int_equal(event[0].has_input, event[1].has_input);
		assert_int_equal(event[0].has_label, event[1].has_label);
		assert_int_equal(event[0].wish.top, event[1].wish.top);
		assert_int_equal(event[0].wish.question, event[1].wish.question);
		if (!code[0])
			assert_memory_equal(input[0], input[1], sizeof(input[0]));
		batch_release(&batch);
	}
}

/* What a service sets aside for values is at least what they take. */
static void sizes_are_bounds(void **state)
{
	static const char words[] = "{\"id\": 1, \"input\": [1, 2]}\n{\"id\": 2, \"label\": 0}\n";

	assert_int_equal(batch_size(words, strlen(words), BATCH_ONE), sizeof(struct feed_line));
	assert_true(batch_size(words, strlen(words), BATCH_LINES) >= 2 * sizeof(struct feed_line));
	assert_true(batch_values_size(words, strlen(words)) >= 9 * 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_split),
		cmocka_unit_test(lists_are_taken_apart),
		cmocka_unit_test(values_read_as_bytes_do),
		cmocka_unit_test(sizes_are_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
