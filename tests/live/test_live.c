/*
 * The parts of a live stream: what a line says, lines out of a pipe, answers.
 * The loop itself is tested from outside, in tests/cli/live.py and live_faults.py.
 */
#include "../base/check.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/rng.h"
#include "live/answers.h"
#include "live/feed.h"
#include "live/live_line.h"
#include "schema/schema.h"

/* Cells of an answer. */
#define CELL(number) ((const union target[]){{.class = (number)}})
#define NUMBERS(...) targets_of_numbers((const float[]){__VA_ARGS__})

enum { FLOATS = 4, CLASSES = 5 };

static const struct live_line_shape shape = {FLOATS, CLASSES};

static int read_words(
	live_line_read *read, const char *words, struct event *line, float *input, struct err *err)
{
	return read(words, strlen(words), "line 7", &shape, line, input, err);
}

/* A line and what it says: where it has a label that is 4, where an input 1, -2.5, 3, 0.25. */
struct good_line {
	const char *words, *id;
	bool input, label;
};

static void assert_read(live_line_read *read, const struct good_line *rows, size_t count)
{
	static const float expected[FLOATS] = {1, -2.5f, 3, 0.25f};

	for (size_t i = 0; i < count; i++) {
		float input[FLOATS] = {0};
		struct event line;
		struct err err = {0};

		if (read_words(read, rows[i].words, &line, input, &err))
			fail_msg("%s: %s", rows[i].words, err.message);
		assert_string_equal(line.id, rows[i].id);
		assert_int_equal(line.has_input, rows[i].input);
		assert_int_equal(line.has_label, rows[i].label);
		if (rows[i].label)
			assert_int_equal(line.label->class, 4);
		if (rows[i].input)
			assert_memory_equal(input, expected, sizeof(expected));
	}
}

struct bad_line {
	const char *words, *says;
};

static void assert_named(live_line_read *read, const struct bad_line *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		float input[FLOATS];
		struct event line;
		struct err err = {0};
		const int code = read_words(read, rows[i].words, &line, input, &err);

		if (code != ERR_INPUT && code != ERR_FORMAT)
			fail_msg("%s: is taken", rows[i].words);
		assert_says(err, rows[i].says);
	}
}

static void a_line_says_what_it_says(void **state)
{
	static const struct good_line rows[] = {
		{"{\"id\": 17, \"input\": [1, -2.5, 3e0, 0.25], \"label\": 4}", "17", true, true},
		{"{\"label\":4,\"id\":-9007199254740993}", "-9007199254740993", false, true},
		{" {\"id\": \"17\", \"input\": [[1, -2.5], [3, 0.25]]} ", "\"17\"", true, false},
		{"{\"id\": \"\\u00fc\\\"\\n\", \"input\": [[[1], [-2.5]], [[3], [0.25]]], \"x\": "
		 "{}}",
			"\"ü\\\"\\n\"", true, false},
		{"{\"id\": \"\", \"label\": 4}", "\"\"", false, true},
	};

	assert_read(live_line_ndjson, rows, COUNT(rows));
}

static void what_is_wrong_is_named(void **state)
{
	static const struct bad_line rows[] = {
		{"", "line 7"},
		{"{\"id\": 1, \"label\": 1} x", "line 7"},
		{"{\"id\": 1, \"id\": 2, \"label\": 1}", "line 7"},
		{"[]", "line 7: is not a JSON object"},
		{"{\"label\": 1}", "line 7: has no id"},
		{"{\"id\": 1.5, \"label\": 1}", "line 7: id: must be"},
		{"{\"id\": null, \"label\": 1}", "line 7: id: must be"},
		{"{\"id\": 1}", "line 7: has neither"},
		{"{\"id\": 1, \"label\": 5}", "line 7: label: 5 is not from 0 to 4"},
		{"{\"id\": 1, \"label\": \"1\"}", "line 7: label: must be a whole number"},
		{"{\"id\": 1, \"label\": null}", "line 7: has neither input nor label"},
		{"{\"id\": 1, \"label\": true}", "line 7: label: must be a whole number"},
		{"{\"id\": 1, \"label\": -1}", "labels may be names, \"-1\""},
		{"{\"id\": 1, \"input\": 3}", "line 7: input: must be a list"},
		{"{\"id\": 1, \"input\": [1, 2, 3, 4, 5]}", "has 5 numbers, the model takes 4"},
		{"{\"id\": 1, \"input\": []}", "has 0 numbers"},
		{"{\"id\": 1, \"input\": [1, 2, 3, null]}", "number 3 is not a number"},
		{"{\"id\": 1, \"input\": [[[[1, 2, 3, 4]]]]}", "number 0 is not a number"},
		{"{\"id\": 1, \"input\": [1, 2, -4e38, 4]}", "number 2 is too large"},
	};

	assert_named(live_line_ndjson, rows, COUNT(rows));
}

static void a_line_of_csv_says_what_it_says(void **state)
{
	static const struct good_line rows[] = {
		{"17,4,1,-2.5,3e0,0.25", "17", true, true},
		{"17,,1,-2.5,3,0.25\r", "17", true, false},
		{"17,4", "17", false, true},
		{" 17 , 4 ,, ,,", "17", false, true},
		{"017,4", "\"017\"", false, true},
		{"-5,4", "-5", false, true},
		{"\"a,\"\"b\"\"\",4", "\"a,\\\"b\\\"\"", false, true},
		{"\xef\xbb\xbfid,label,x,y,z,w", "", false, false},
		{"id,label", "", false, false},
		{"id,4", "\"id\"", false, true},
	};

	assert_read(live_line_csv, rows, COUNT(rows));
}

static void what_is_wrong_with_csv_is_named(void **state)
{
	static const struct bad_line rows[] = {
		{"", "line 7: has no id"},
		{",1", "line 7: has no id"},
		{"1", "line 7: has neither"},
		{"1,,,", "line 7: has neither"},
		{"1,5", "line 7: label: 5 is not from 0 to 4"},
		{"1,-1", "line 7: label: -1 is not from 0 to 4"},
		{"1,x", "line 7: label: must be a whole number"},
		{"1,2.0", "line 7: label: must be a whole number"},
		{"1,2,1,2,3", "has 3 numbers, the model takes 4"},
		{"1,2,1,2,3,4,5", "has 5 numbers, the model takes 4"},
		{"1,2,1,2,3,", "number 3 is not a number"},
		{"1,2,1,nan,3,4", "number 1 is not a number"},
		{"1,2,1,0x1p3,3,4", "number 1 is not a number"},
		{"1,2,1,2,1e999,4", "number 2 is too large"},
		{"1,2,1,2,-4e38,4", "number 2 is too large"},
		{"\"1,2", "a quote is never closed"},
		{"\"1\"x,2", "closing quote"},
		{"\xff,2", "id: is not UTF-8"},
	};

	assert_named(live_line_csv, rows, COUNT(rows));
}

/* Without numbers there is no input, whatever may be missing. */
static void values_may_be_missing(void **state)
{
	static const struct live_line_shape gaps = {
		.floats = FLOATS, .classes = CLASSES, .missing = true};
	static const struct {
		live_line_read *read;
		const char *words;
	} rows[] = {
		{live_line_ndjson, "{\"id\": 1, \"input\": [1, null, 3, null]}"},
		{live_line_ndjson, "{\"id\": 1, \"input\": [[1, null], [3, null]]}"},
		{live_line_csv, "1,,1,,3,"},
		{live_line_csv, "1,,1, ,3, "},
	};
	struct event line;
	float input[FLOATS];
	struct err err;

	for (size_t i = 0; i < COUNT(rows); i++) {
		const size_t size = strlen(rows[i].words);

		assert_ok(rows[i].read(rows[i].words, size, "line 7", &gaps, &line, input, &err),
			err);
		assert_true(line.has_input && input[0] == 1 && input[2] == 3);
		assert_true(isnan(input[1]) && isnan(input[3]));
		assert_int_equal(
			read_words(rows[i].read, rows[i].words, &line, input, &err), ERR_INPUT);
		assert_says(err, "number 1 is not a number");
	}
	assert_int_equal(
		live_line_csv("1,,,,,", 6, "line 7", &gaps, &line, input, &err), ERR_INPUT);
	assert_says(err, "has neither");
}

/* Where classes come a label may be a name. */
static void labels_may_be_names(void **state)
{
	static const struct live_line_shape growing = {
		.floats = FLOATS, .classes = CLASSES, .grows = true};
	static const struct {
		live_line_read *read;
		const char *words, *name; /* NULL: it is the number 4 */
	} rows[] = {
		{live_line_ndjson, "{\"id\": 1, \"label\": \"4\"}", "4"},
		{live_line_ndjson, "{\"id\": 1, \"label\": 4}", NULL},
		{live_line_csv, "1,4", NULL},
		{live_line_csv, "1,\"a \"\"b\"\", c\"\r", "a \"b\", c"},
		{live_line_csv, "1, 4.0 ", "4.0"},
	};
	struct event line;
	float input[FLOATS];
	struct err err;

	for (size_t i = 0; i < COUNT(rows); i++) {
		assert_ok(rows[i].read(rows[i].words, strlen(rows[i].words), "line 7", &growing,
				  &line, input, &err),
			err);
		assert_true(line.has_label);
		assert_string_equal(line.name, rows[i].name ? rows[i].name : "");
		assert_int_equal(line.label->class, rows[i].name ? 0 : 4);
	}
	assert_int_equal(
		live_line_csv("1,\xff", 3, "line 7", &growing, &line, input, &err), ERR_INPUT);
	assert_says(err, "label: the name of a class is not UTF-8");
}

static void labels_may_be_several_numbers(void **state)
{
	static const struct live_line_shape two = {
		.floats = FLOATS, .classes = CLASSES, .numbers = 2, .number_names = "load,price"};
	static const struct {
		live_line_read *read;
		const char *words, *why; /* why: it is refused */
	} rows[] = {
		{live_line_ndjson, "{\"id\": 1, \"label\": [3.5, -2]}", NULL},
		{live_line_ndjson, "{\"id\": 1, \"label\": {\"price\": -2, \"load\": 3.5}}", NULL},
		{live_line_ndjson, "{\"id\": 1, \"label\": 3.5}", "a list of 2 numbers"},
		{live_line_ndjson, "{\"id\": 1, \"label\": [1, 2, 3]}", "a list of 2 numbers"},
		{live_line_ndjson, "{\"id\": 1, \"label\": [1, \"b\"]}", "price is not a finite"},
		{live_line_ndjson, "{\"id\": 1, \"label\": [1e39, 2]}", "load is not a finite"},
		{live_line_ndjson, "{\"id\": 1, \"label\": {\"load\": 1, \"cost\": 2}}",
			"price is missing"},
		{live_line_csv, "1,7", "not a column called label"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct event line;
		struct err err = {0};
		float input[FLOATS];
		const int code = rows[i].read(
			rows[i].words, strlen(rows[i].words), "line 7", &two, &line, input, &err);

		assert_int_equal(code, rows[i].why ? ERR_INPUT : 0);
		if (code)
			assert_says(err, rows[i].why);
		else
			assert_true(line.label[0].number == 3.5F && line.label[1].number == -2);
	}
}

/* Columns of a first line that are all empty say nothing, however many there are. */
static void labels_may_be_numbers(void **state)
{
	static const struct live_line_shape numbers = {
		.floats = FLOATS, .classes = CLASSES, .numbers = 1};
	static const struct {
		live_line_read *read;
		const char *words;
		float label; /* NAN: it is refused */
	} rows[] = {
		{live_line_ndjson, "{\"id\": 1, \"label\": -812.5}", -812.5F},
		{live_line_json, "{\"id\": 1, \"label\": -812.5}", -812.5F},
		{live_line_ndjson, "{\"id\": 1, \"label\": 4e3}", 4000},
		{live_line_csv, "1,0.1", 0.1F},
		{live_line_csv, "1,7", 7},
		{live_line_ndjson, "{\"id\": 1, \"label\": 1e39}", NAN},
		{live_line_ndjson, "{\"id\": 1, \"label\": NaN}", NAN},
		{live_line_ndjson, "{\"id\": 1, \"label\": \"4\"}", NAN},
		{live_line_ndjson, "{\"id\": 1, \"label\": true}", NAN},
		{live_line_csv, "1,many", NAN},
		{live_line_csv, "1,inf", NAN},
		{live_line_csv, "1,nan", NAN},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		const int code = isnan(rows[i].label) ? -1 : 0;
		struct event line;
		struct err err = {0};
		float input[FLOATS];

		assert_int_equal(rows[i].read(rows[i].words, strlen(rows[i].words), "line 7",
					 &numbers, &line, input, &err) < 0
					 ? -1
					 : 0,
			code);
		if (code) {
			assert_string_equal(line.id, strstr(rows[i].words, "NaN") ? "" : "1");
			assert_ptr_equal(strstr(err.message, "line 7"), err.message);
		} else {
			assert_true(line.has_label && !*line.name);
			assert_true(line.label->number == rows[i].label);
		}
	}
}

/* Labels with a fraction are noticed where they may show that targets are numbers. */
static void fractions_are_noticed(void **state)
{
	struct live_line_shape open = {
		.floats = FLOATS, .classes = CLASSES, .grows = true, .open = true};
	struct event line;
	struct err err = {0};
	float input[FLOATS];

	assert_int_equal(live_line_ndjson("{\"id\": 1, \"label\": 0.5}", 23, "line 7", &open, &line,
				 input, &err),
		ERR_INPUT);
	assert_true(line.fraction);
	assert_ok(live_line_csv("1,0.5", 5, "line 7", &open, &line, input, &err), err);
	assert_true(line.fraction);
	assert_ok(live_line_csv("1,4.0", 5, "line 7", &open, &line, input, &err), err);
	assert_false(line.fraction);
	open.open = false;
	assert_ok(live_line_csv("1,0.5", 5, "line 7", &open, &line, input, &err), err);
	assert_false(line.fraction);
}

static void empty_columns_say_nothing(void **state)
{
	static const struct schema_sizes sizes = {.slots = 3, .words = 8, .spare = 2};
	struct live_first first = {.sizes = &sizes};
	char line[4001];
	struct err err;

	memset(line, ',', sizeof(line));
	assert_ok(live_first_csv(&first, line, 4000, &err), err);
	assert_true(!first.schema && !first.floats && !first.heading);
	line[4000] = '7';
	assert_ok(live_first_csv(&first, line, 4001, &err), err);
	assert_int_equal(first.floats, 4001 - 2);
}

/* Whether the quick reader knows a line; if so, the reader of all JSON says the same. */
static bool is_quick(const char *words, size_t size)
{
	static const struct live_line_shape any = {.floats = FLOATS,
		.classes = CLASSES,
		.grows = true,
		.anonymous = true,
		.missing = true};
	float inputs[2][FLOATS] = {{0}};
	struct event lines[2];
	struct err err;

	if (!live_line_quick(words, size, &any, &lines[0], inputs[0]))
		return false;
	assert_ok(live_line_json(words, size, "line 7", &any, &lines[1], inputs[1], &err), err);
	assert_memory_equal(&lines[0], &lines[1], sizeof(lines[0]));
	assert_memory_equal(inputs[0], inputs[1], sizeof(inputs[0]));
	return true;
}

static void plain_lines_are_read_quickly(void **state)
{
	static const char *const plain[] = {
		"{\"id\": 17, \"input\": [1, -2.5, 3e0, 0.25], \"label\": 4}",
		" {\"label\":4,\"id\":-900719925474099}\r",
		"{\"id\": \"a b/c\", \"input\": [ -0.0 ,1E+2,null,1e-400 ]}",
		"{\"input\": [0.1, 0.30000000000000004, 123456789.125, 1e-45]}",
		("{\"input\": [9223372036854775807, -9223372036854775808, 9223372036854775808.0, "
		 "1e19]}"),
		"{\"input\": [0, 0.0, 16777217, 9007199254740993], \"for\": \"ever\", \"top\": 3}",
		"{\"top\": 100, \"for\": \"now\", \"input\": [1,2,3,4], \"label\": \"a\"}",
		"{\"id\": 1, \"label\": -1}",
	};
	static const char *const other[] = {"", "{}", "[]", "{\"id\": 1}", "{\"label\": 1",
		"{\"id\": 007}", "{\"id\": 1, \"label\": 1} x",
		"{\"id\": 1, \"id\": 2, \"label\": 1}", "{\"id\": 1, \"label\": 1,}",
		"{\"id\": 1.0, \"label\": 1}", "{\"id\": -0, \"label\": 1}",
		"{\"id\": 1, \"label\": 5}", "{\"id\": 1, \"label\": \"\"}",
		"{\"id\": 1, \"label\": true}", "{\"id\": 1, \"label\": null}",
		"{\"id\": 1, \"label\": +1}", "{\"id\": 1, \"label\": 1, \"top\": 3}",
		"{\"id\": 1, \"label\": 1, \"x\": 3}", "{\"id\": \"\\u00fc\", \"label\": 1}",
		"{\"id\": \"\xc3\xbc\", \"label\": 1}", "{\"input\": [1, 2, 3]}",
		"{\"input\": [1, 2, 3, 4, 5]}", "{\"input\": [1, 2, 3, 4,]}",
		"{\"input\": [[1, 2], [3, 4]]}", "{\"input\": [1, 2, 3, 4e38]}",
		"{\"input\": [1, 2, 3, 1e999]}", "{\"input\": [1, 2, 3, .5]}",
		"{\"input\": [1, 2, 3, 5.]}", "{\"input\": [1, 2, 3, 01]}",
		"{\"input\": [1, 2, 3, 00.5]}", "{\"input\": [1, 2, 3, -00.5]}",
		"{\"input\": [1, 2, 3, -0]}", "{\"input\": [1, 2, 3, -]}",
		"{\"input\": [1, 2, 3, 1e]}", "{\"input\": [1, 2, 3, nul]}",
		"{\"input\": [1, 2, 3, 4x]}", "{\"input\": [1, 2, 3, 4], \"top\": 0}",
		"{\"input\": [1, 2, 3, 4], \"for\": \"always\"}",
		/* Control characters in texts, and whole numbers beyond 64 bits, are no JSON here. */
		"{\"id\": \"a\t\", \"label\": 1}", "{\"id\": \"a\n \", \"label\": 1}",
		"{\"id\": 1, \"label\": \"a \r\"}", "{\"id\t\": 1, \"label\": 1}",
		"{\"input\": [1, 2, 3, 4], \"for\": \"now\t\"}",
		"{\"input\": [1, 2, 3, 9223372036854775808]}",
		"{\"input\": [1, 2, 3, -9223372036854775809]}"};

	for (size_t i = 0; i < COUNT(plain); i++)
		if (!is_quick(plain[i], strlen(plain[i])))
			fail_msg("%s: is not read quickly", plain[i]);
	for (size_t i = 0; i < COUNT(other); i++)
		if (is_quick(other[i], strlen(other[i])))
			fail_msg("%s: is read quickly", other[i]);
}

/* Good lines with bytes changed, removed or doubled: no crash, and what is taken is sound. */
static void spoil_lines(live_line_read *read, const char *good, const char *bytes)
{
	const struct rng draws = {1, RNG_TEST};
	int taken = 0;

	for (uint64_t n = 0; n < 20000; n++) {
		char words[256];
		size_t size = strlen(good);
		float input[FLOATS] = {0};
		struct event line;
		struct err err = {0};

		memcpy(words, good, size);
		for (uint64_t k = 0; k <= n % 3; k++) {
			const uint64_t draw = n * 16 + k * 4;
			const size_t at = rng_below(draws, draw, size);
			const uint64_t how = rng_below(draws, draw + 1, 3);

			if (how == 0)
				words[at] = bytes[rng_below(draws, draw + 2, strlen(bytes))];
			if (how == 1)
				memmove(words + at, words + at + 1, --size - at);
			if (how == 2)
				memmove(words + at + 1, words + at, size++ - at);
		}
		is_quick(words, size);
		if (read(words, size, "line", &shape, &line, input, &err)) {
			assert_true(err.code == ERR_INPUT || err.code == ERR_FORMAT);
			continue;
		}
		taken++;
		assert_true(strlen(line.id) > 0 || (!line.has_input && !line.has_label));
		assert_true(
			!line.has_label || (line.label->class >= 0 && line.label->class < CLASSES));
		for (int i = 0; i < FLOATS; i++)
			assert_true(isfinite(input[i]));
	}
	assert_in_range(taken, 100, 19000);
}

static void spoilt_lines_are_refused_or_sound(void **state)
{
	spoil_lines(live_line_ndjson,
		"{\"id\": \"a\\u00e9b\", \"input\": [1.5, -2e3, [0.25, 4]], \"label\": 3}",
		"{}[],:\"\\0123456789.eE+-utrfalsn \t\n\xc3\xff");
	spoil_lines(live_line_ndjson,
		"{\"id\": 17, \"input\": [1.5, -2e3, -0.25, 4], \"label\": 3, \"top\": 2}",
		"{}[],:\"\\0123456789.eE+-utrfalsn \t\n\xc3\xff");
	spoil_lines(
		live_line_csv, "\"a\"\"b\",3,1.5,-2e3,0.25,4", ",\"0123456789.eE+- id\r\xc3\xff");
}

/* A pipe whose other end the test holds. */
struct ends {
	int out, in;
};

static struct ends pipe_new(void)
{
	int both[2];

	assert_int_equal(pipe(both), 0);
	return (struct ends){both[0], both[1]};
}

static void say(int to, const char *words)
{
	assert_int_equal(write(to, words, strlen(words)), (ssize_t)strlen(words));
}

static void assert_next(struct feed *feed, int64_t number, const char *words)
{
	struct feed_line line;

	assert_true(feed_next(feed, &line));
	assert_int_equal(line.number, number);
	assert_int_equal(line.cut, words == NULL);
	if (words && (line.size != strlen(words) || memcmp(line.bytes, words, line.size) != 0))
		fail_msg("line %d is %.*s, not %s", (int)number, (int)line.size, line.bytes, words);
}

static void lines_come_whole(void **state)
{
	struct ends ends = pipe_new();
	struct feed_line line;
	struct feed *feed;
	struct err err;

	assert_int_equal(feed_open(&feed, ends.out, 100, &err), 0);
	assert_int_equal(feed_fill(feed, 0, &err), 0);
	assert_false(feed_next(feed, &line));
	say(ends.in, "one\n\ntw");
	assert_int_equal(feed_fill(feed, 1, &err), 0);
	assert_next(feed, 1, "one");
	assert_next(feed, 2, "");
	assert_false(feed_next(feed, &line));
	say(ends.in, "o\nthree");
	assert_int_equal(feed_fill(feed, 1, &err), 0);
	assert_next(feed, 3, "two");
	assert_false(feed_next(feed, &line));
	assert_false(feed_ended(feed));
	close(ends.in);
	assert_int_equal(feed_fill(feed, 1, &err), 0);
	assert_true(feed_ended(feed));
	assert_next(feed, 4, "three");
	assert_false(feed_next(feed, &line));
	feed_close(feed);
	close(ends.out);
}

/* Lines that are held come again from the first on, until they are more than there is room for. */
static void held_lines_come_again(void **state)
{
	enum { LINE = 1 << 15, LINES = 100 }; /* three times the buffer */
	static char words[LINE + 2];
	struct ends ends = pipe_new();
	struct feed_line line;
	struct feed *feed;
	struct err err;

	assert_int_equal(feed_open(&feed, ends.out, LINE, &err), 0);
	feed_hold(feed);
	say(ends.in, "one\ntw");
	assert_int_equal(feed_fill(feed, 1, &err), 0);
	assert_next(feed, 1, "one");
	assert_false(feed_next(feed, &line));
	say(ends.in, "o\n");
	assert_int_equal(feed_fill(feed, 1, &err), 0);
	assert_next(feed, 2, "two");
	assert_true(feed_rewind(feed));
	assert_next(feed, 1, "one");
	assert_next(feed, 2, "two");
	memset(words, 'x', LINE);
	words[LINE] = '\n';
	for (int i = 0; i < LINES; i++) {
		say(ends.in, words);
		do
			assert_int_equal(feed_fill(feed, 1, &err), 0);
		while (!feed_next(feed, &line));
		assert_true(line.number == i + 3 && line.size == LINE);
	}
	assert_false(feed_rewind(feed));
	feed_close(feed);
	close(ends.in);
	close(ends.out);
}

/* Lines longer than allowed, and longer than the buffer, are passed over; the next one is whole. */
static void long_lines_are_cut(void **state)
{
	enum { PART = 1 << 15, PARTS = 100 }; /* three times the buffer */
	static char part[PART + 1];
	struct ends ends = pipe_new();
	struct feed_line line;
	struct feed *feed;
	struct err err;

	memset(part, 'x', PART);
	assert_int_equal(feed_open(&feed, ends.out, 1000, &err), 0);
	part[1001] = '\0';
	say(ends.in, part);
	say(ends.in, "\n");
	part[1001] = 'x';
	part[1000] = '\0';
	say(ends.in, part);
	say(ends.in, "\n");
	assert_int_equal(feed_fill(feed, 1, &err), 0);
	assert_next(feed, 1, NULL);
	assert_next(feed, 2, part);
	part[1000] = 'x';
	for (int i = 0; i < PARTS; i++) {
		say(ends.in, part);
		assert_int_equal(feed_fill(feed, 1, &err), 0);
		assert_false(feed_next(feed, &line));
	}
	say(ends.in, "\nshort\n");
	assert_int_equal(feed_fill(feed, 1, &err), 0);
	assert_next(feed, 3, NULL);
	assert_next(feed, 4, "short");
	feed_close(feed);
	close(ends.in);
	close(ends.out);
}

static void answers_are_json(void **state)
{
	static const char expected[] =
		"{\"id\": \"a\", \"prediction\": 3, \"probability\": 0.8125}\n"
		"{\"id\": 2, \"prediction\": \"no\\\"\", \"probability\": null}\n"
		"{\"id\": 2, \"prediction\": null, \"probability\": null}\n"
		"{\"id\": 2, \"label\": 4, \"sample\": 230}\n"
		"{\"id\": 3, \"prediction\": 812.4, \"low\": -1e-07, \"high\": 990}\n"
		"{\"id\": 3, \"prediction\": null, \"low\": null, \"high\": null}\n"
		"{\"id\": 3, \"label\": 815.25, \"sample\": 3}\n"
		"{\"id\": 4, \"prediction\": [1, 10], \"low\": [0, 5], \"high\": [2, 20]}\n"
		"{\"id\": 4, \"label\": {\"a\": 1.5, \"b\": 2}, \"sample\": 4}\n"
		"{\"line\": 9, \"id\": 2, \"error\": \"a \\\"word\\\"\"}\n"
		"{\"line\": 10, \"error\": \"line 10: ?\"}\n";
	struct ends ends = pipe_new();
	struct class_list names = {0}, none = {0};
	const struct answer rows[] = {
		{ANSWER_PREDICTION, .id = "\"a\"", .names = &none, CELL(3), 0.8125},
		{ANSWER_PREDICTION, .id = "2", .names = &names, CELL(0), NAN},
		{ANSWER_PREDICTION, .id = "2", .names = &names, CELL(-1), NAN},
		{ANSWER_SAMPLE, .id = "2", .names = &none, CELL(4), .sample = 230},
		{ANSWER_PREDICTION, .id = "3", .target = TARGET_NUMBER, .width = 1,
			.label = NUMBERS(812.4F, -1e-7F, 990)},
		{ANSWER_PREDICTION, .id = "3", .target = TARGET_NUMBER, .width = 1,
			.label = NUMBERS(NAN, NAN, NAN)},
		{ANSWER_SAMPLE, .id = "3", .target = TARGET_NUMBER, .width = 1,
			.label = NUMBERS(815.25F), .sample = 3},
		{ANSWER_PREDICTION, .id = "4", .target = TARGET_NUMBER, .width = 2, .numbers = "2",
			.label = NUMBERS(1, 0, 2, 10, 5, 20)},
		{ANSWER_SAMPLE, .id = "4", .target = TARGET_NUMBER, .width = 2, .numbers = "a,b",
			.label = NUMBERS(1.5F, 2), .sample = 4},
		{ANSWER_ERROR, {9, 0}, "2", .why = "a \"word\""},
		{ANSWER_ERROR, {10, 0}, "", .why = "line 10: \xff"},
	};
	struct answers answers = {.descriptor = ends.in};
	char found[sizeof(expected)] = "";
	struct err err;

	assert_int_equal(class_list_add(&names, 0, "no\"", &err), 0);
	for (size_t i = 0; i < COUNT(rows); i++)
		answers_say(&answers.sender, &rows[i]);
	assert_int_equal(answers_send(&answers, &err), 0);
	assert_int_equal(read(ends.out, found, sizeof(found) - 1), sizeof(found) - 1);
	assert_string_equal(found, expected);
	assert_int_equal(answers.errors, 2);
	class_list_release(&names);
	answers_release(&answers);
	close(ends.in);
	close(ends.out);
}

static const struct class_list no_names;
static const struct answer some_answer = {
	ANSWER_SAMPLE, .id = "2", .names = &no_names, .label = CELL(4), .sample = 230};

/* Nobody reads; a wish to stop is heard all the same. */
static void a_full_pipe_can_be_left(void **state)
{
	const volatile sig_atomic_t stop = 1;
	struct ends ends = pipe_new();
	struct answers answers = {.descriptor = ends.in, .stop = &stop};
	struct err err;

	for (int i = 0; i < 10000; i++)
		answers_say(&answers.sender, &some_answer);
	assert_int_equal(answers_send(&answers, &err), 0);
	answers_release(&answers);
	close(ends.in);
	close(ends.out);
}

static int try_everything(void *context, struct err *err)
{
	const int *ends = context;
	struct answers answers = {.descriptor = ends[1]};
	struct feed *feed = NULL;
	float input[FLOATS];
	struct event line;
	int code = feed_open(&feed, ends[0], 100, err);

	if (!code)
		code = read_words(live_line_ndjson,
			"{\"id\": \"some \\u0069d\", \"input\": [1, 2, 3, 4]}", &line, input, err);
	answers_say(&answers.sender, &some_answer);
	if (!code)
		code = answers_send(&answers, err);
	answers_release(&answers);
	feed_close(feed);
	return code;
}

static void memory_may_run_out(void **state)
{
	const struct ends ends = pipe_new();
	int both[2] = {ends.out, ends.in};

	assert_true(each_allocation_fails(try_everything, both) >= 4);
	close(ends.in);
	close(ends.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_says_what_it_says),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(a_line_of_csv_says_what_it_says),
		cmocka_unit_test(what_is_wrong_with_csv_is_named),
		cmocka_unit_test(values_may_be_missing),
		cmocka_unit_test(labels_may_be_names),
		cmocka_unit_test(labels_may_be_numbers),
		cmocka_unit_test(labels_may_be_several_numbers),
		cmocka_unit_test(fractions_are_noticed),
		cmocka_unit_test(empty_columns_say_nothing),
		cmocka_unit_test(plain_lines_are_read_quickly),
		cmocka_unit_test(spoilt_lines_are_refused_or_sound),
		cmocka_unit_test(lines_come_whole),
		cmocka_unit_test(held_lines_come_again),
		cmocka_unit_test(long_lines_are_cut),
		cmocka_unit_test(answers_are_json),
		cmocka_unit_test(a_full_pipe_can_be_left),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
