/*
 * Files of torch.save: what PyTorch wrote (tests/golden/torchsave) comes out as it went
 * in, in both formats; nothing that is cut off, changed or made to do harm is followed.
 */
#include "../records/records_check.h"

#include "formats/mapped.h"
#include "formats/pickle.h"
#include "formats/torch_save.h"
#include "formats/zip.h"

static struct seen {
	int64_t count;
	char texts[1200][400];
	int64_t whole[1200];
	double real[1200];
	enum list_kind kind[1200];
} seen;

static int note(void *self, const struct list_value *value, struct err *err)
{
	(void)self;
	(void)err;
	if (seen.count < 1200) {
		seen.whole[seen.count] = value->whole;
		seen.real[seen.count] = value->real;
		seen.kind[seen.count] = value->kind;
		if (value->kind == LIST_TEXT)
			snprintf(seen.texts[seen.count], sizeof(seen.texts[0]), "%.*s",
				(int)value->size, value->text);
	}
	seen.count++;
	return 0;
}

static int read_golden(const char *name, struct err *err)
{
	char path[600];
	struct mapped file;
	int code;

	snprintf(path, sizeof(path), "%s/golden/torchsave/%s", getenv("RETAIN_TESTS"), name);
	code = mapped_open(&file, path, 0, err);
	if (code)
		return code;
	memset(&seen, 0, sizeof(seen));
	code = torch_save_read(&file, note, NULL, err);
	mapped_close(&file);
	return code;
}

/* Both formats hold the same. */
#define for_both(name) for (int format_ = 0; format_ < 2 && (load(name, format_), true); format_++)

static void load(const char *name, int format)
{
	char file[100];
	struct err err = {0};

	snprintf(file, sizeof(file), "%s.%s", name, format ? "old" : "zip");
	assert_ok(read_golden(file, &err), err);
}

static void assert_wholes(const int64_t *expected, int64_t count)
{
	assert_int_equal(seen.count, count);
	for (int64_t i = 0; i < count; i++) {
		assert_int_equal(seen.kind[i], LIST_WHOLE);
		assert_int_equal(seen.whole[i], expected[i]);
	}
}

static void assert_reals(const double *expected, int64_t count)
{
	assert_int_equal(seen.count, count);
	for (int64_t i = 0; i < count; i++) {
		assert_int_equal(seen.kind[i], LIST_REAL);
		assert_true(seen.real[i] == expected[i]);
	}
}

#define WHOLES(...)                                                                                \
	(const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)
#define REALS(...)                                                                                 \
	(const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double)

static void lists_of_numbers(void **state)
{
	int64_t labels[1200], times[1200];

	for (int i = 0; i < 1200; i++) {
		labels[i] = 7 * i % 713;
		times[i] = 1100000000 + 3 * i;
	}
	for_both("ints") assert_wholes(labels, 1200);
	for_both("times") assert_wholes(times, 1200);
	for_both("sizes") assert_wholes(WHOLES(0, -1, 255, 256, 65535, 65536, INT32_MIN,
		INT64_C(1) << 31, -(INT64_C(1) << 40), INT64_C(1) << 62));
	for_both("reals") assert_reals(REALS(0, -1.5, 1245000000.25));
	for_both("nothing") assert_int_equal(seen.count, 0);
}

static void lists_of_texts(void **state)
{
	char expected[40];

	for_both("texts")
	{
		assert_int_equal(seen.count, 1200);
		for (int i = 0; i < 1200; i++) {
			snprintf(expected, sizeof(expected), "%d/%d.jpg\n", i % 7, i);
			assert_int_equal(seen.kind[i], LIST_TEXT);
			assert_string_equal(seen.texts[i], expected);
		}
	}
	for_both("again")
	{
		assert_int_equal(seen.count, 20);
		for (int i = 0; i < 20; i++) {
			snprintf(expected, sizeof(expected), "%d/%d.jpg\n", i % 5, i % 5);
			assert_string_equal(seen.texts[i], expected);
		}
	}
	for_both("unicode")
	{
		assert_int_equal(seen.count, 3);
		assert_string_equal(seen.texts[0], "\xc3\xa9/\xe4\xbd\xa0.jpg");
		assert_string_equal(seen.texts[1], "");
		assert_int_equal(strlen(seen.texts[2]), 300);
	}
	for_both("one")
	{
		assert_int_equal(seen.count, 1);
		assert_string_equal(seen.texts[0], "only.jpg\n");
	}
}

static void tensors(void **state)
{
	int64_t labels[1200];

	for (int i = 0; i < 1200; i++)
		labels[i] = 7 * i % 713;
	for_both("long") assert_wholes(labels, 1200);
	for_both("int") assert_wholes(WHOLES(1, -2, 3));
	for_both("short") assert_wholes(WHOLES(1, -2, 3));
	for_both("bytes") assert_wholes(WHOLES(1, 254, 3));
	for_both("float") assert_reals(REALS(0.5, -2, 3.25));
	for_both("double") assert_reals(REALS(0.5, -2, 3.25));
	for_both("slice") assert_wholes(WHOLES(3, 5, 7, 9, 11, 13));
	for_both("column") assert_wholes(WHOLES(0, 1, 2, 3, 4));
	for_both("empty") assert_int_equal(seen.count, 0);
}

static void later_protocols(void **state)
{
	struct err err = {0};

	assert_ok(read_golden("protocol4.zip", &err), err);
	assert_int_equal(seen.count, 5);
	assert_string_equal(seen.texts[2], "a\n");
	assert_int_equal(seen.whole[3], 3);
	assert_true(seen.real[4] == 2.5);
	assert_ok(read_golden("protocol4.old", &err), err);
	assert_wholes(WHOLES(0, 1, 2, 3));
}

static void what_is_no_list_is_refused(void **state)
{
	static const struct {
		const char *name, *says;
	} rows[] = {
		{"matrix", "holds a tensor of 2 dimensions, not of one"},
		{"half", "asks for Python's torch HalfStorage"},
		{"dict", "holds a dictionary, not a list or a tensor"},
		{"ordered", "holds a dictionary, not a list or a tensor"},
		{"nested", "item 1: is a list, not a number or a text"},
		{"tensors", "a second storage; one list or one tensor is expected"},
		{"none", "item 1: is None, not a number or a text"},
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		for (int format = 0; format < 2; format++) {
			struct err err = {0};
			char file[100];

			snprintf(file, sizeof(file), "%s.%s", rows[i].name, format ? "old" : "zip");
			assert_int_equal(read_golden(file, &err), ERR_FORMAT);
			assert_says(err, rows[i].says);
			assert_says(err, file);
		}
}

/* A pickle in memory of exactly its size, so that the sanitizers see a byte too far. */
static int follow(const void *bytes, size_t size, struct err *err)
{
	static const struct pickle_visitor nothing;
	unsigned char *exact = mem_new(size ? size : 1, 1);
	struct pickle_result result;
	int code;

	assert_non_null(exact);
	if (size)
		memcpy(exact, bytes, size);
	code = pickle_read(exact, size, 0, &nothing, &result, err);
	mem_free(exact);
	return code;
}

static void hostile_pickles_are_refused(void **state)
{
#define PICKLE(bytes) bytes, sizeof(bytes) - 1
	static const struct {
		const char *bytes;
		size_t size;
		const char *says;
	} rows[] = {
		{PICKLE(""), "byte 0: the pickle is cut off"},
		{PICKLE("\x80\x02"
			"cos\nsystem\n(X\4\0\0\0true\x85R."),
			"byte 2: asks for Python's os system, which is none of the names"},
		{PICKLE("\x80\x04\x8c\x05posix\x8c\x06system\x93"),
			"byte 17: asks for Python's posix system"},
		{PICKLE("cbuiltins\neval\n."), "byte 0: asks for Python's builtins eval"},
		{PICKLE("ctorch._utils\n_rebuild_tensor_v2x\n."), "Python's torch._utils _rebuild"},
		{PICKLE("ctorch\n"), "byte 0: the pickle is cut off"},
		{PICKLE("(ios\nsystem\n."), "byte 1: opcode INST is not followed"},
		{PICKLE(")\x81."), "byte 1: opcode NEWOBJ is not followed"},
		{PICKLE("]}b."), "byte 2: opcode BUILD is not followed"},
		{PICKLE("Pos\n."), "byte 0: opcode PERSID is not followed"},
		{PICKLE("\x82\x01."), "byte 0: opcode EXT1 is not followed"},
		{PICKLE("\x00."), "byte 0: 0x00 is no opcode"},
		{PICKLE("K\1)R."), "byte 3: REDUCE calls something that is no known name"},
		{PICKLE("R."), "byte 0: REDUCE calls something"},
		{PICKLE("ctorch\nLongStorage\n)R."), "REDUCE of LongStorage, which is not called"},
		{PICKLE("ccollections\nOrderedDict\n]\x85R."), "REDUCE of OrderedDict"},
		{PICKLE("ctorch._utils\n_rebuild_tensor_v2\n)R."),
			"a tensor that does not consist"},
		{PICKLE("K\1Q."), "byte 2: a reference that is none to a storage"},
		{PICKLE("X\7\0\0\0storage\x85Q."), "a reference that is none to a storage"},
		{PICKLE("Q."), "byte 0: a value is missing"},
		{PICKLE("\x80\x06."), "byte 0: protocol 6; 5 is the last one known"},
		{PICKLE("K\1q\5."), "byte 2: value 5 is numbered after 0 others"},
		{PICKLE("K\1r\xff\xff\xff\xff."), "value 4294967295 is numbered after 0 others"},
		{PICKLE("h\0."), "byte 0: refers to value 0, and there are 0"},
		{PICKLE("j\xff\xff\xff\xff."), "refers to value 4294967295"},
		{PICKLE("q\0."), "byte 0: a value is missing"},
		{PICKLE("(q\0."), "byte 1: a value is missing"},
		{PICKLE("."), "byte 0: it ends with 0 values, not one"},
		{PICKLE("(."), "it ends with 1 values, not one"},
		{PICKLE("K\1K\2."), "it ends with 2 values, not one"},
		{PICKLE("e."), "byte 0: a mark is missing"},
		{PICKLE("(e."), "byte 1: a list is missing"},
		{PICKLE("K\1(e."), "byte 3: a list is missing"},
		{PICKLE("a."), "a value is missing"},
		{PICKLE("K\1a."), "a list is missing"},
		{PICKLE("t."), "a mark is missing"},
		{PICKLE("\x87."), "a value is missing"},
		{PICKLE("(K\1\x86."), "a value is missing"},
		{PICKLE("s."), "a value is missing"},
		{PICKLE("](K\1s."), "a value is missing"},
		{PICKLE("}(K\1u."), "a key has no value"},
		{PICKLE("](K\1K\1u."), "a dictionary is missing"},
		{PICKLE("\x93."), "a name is missing"},
		{PICKLE("X\xff\xff\xff\xff"
			"a"),
			"byte 0: the pickle is cut off"},
		{PICKLE("\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
			"a"),
			"byte 0: the pickle is cut off"},
		{PICKLE("\x95\xff\xff\xff\xff\xff\xff\xff\xffN."), "the pickle is cut off"},
		{PICKLE("\x8a\xff."), "the pickle is cut off"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct err err = {0};

		if (!follow(rows[i].bytes, rows[i].size, &err))
			fail_msg("row %zu was followed", i);
		assert_says(err, rows[i].says);
	}
}

/* Repeats a piece `count` times, follows it and expects a refusal. */
static void bomb(const char *piece, size_t size, size_t count, const char *says)
{
	unsigned char *bytes = mem_new(count, size);
	struct err err = {0};

	assert_non_null(bytes);
	for (size_t i = 0; i < count; i++)
		memcpy(bytes + i * size, piece, size);
	assert_int_equal(follow(bytes, size * count, &err), ERR_FORMAT);
	assert_says(err, says);
	mem_free(bytes);
}

static void bombs_do_not_go_off(void **state)
{
	bomb("]", 1, 1 << 20, "more than 65536 values wait for their list or tuple");
	bomb("(", 1, 1 << 20, "more than 65536 values wait");
	bomb("K\1", 2, 1 << 20, "more than 65536 values wait");
	bomb("]\x94", 2, 1 << 20, "more than 65536 values wait");
	bomb("N\x85", 2, 1 << 20, "more than 65536 values");
	bomb("](N\x94\x94t", 6, 1 << 20, "more than 65536 values");
}

/* A list that holds itself, and one that holds the same text a million times. */
static void circles_and_repetitions(void **state)
{
	static const char circle[] = "]q\0(h\0h\0e.", begin[] = "]q\0(X\1\0\0\0aq\1";
	const size_t count = 60000;
	unsigned char *bytes = mem_new(sizeof(begin) + 2 * count + 2, 1);
	struct err err = {0};

	assert_ok(follow(circle, sizeof(circle) - 1, &err), err);
	memcpy(bytes, begin, sizeof(begin) - 1);
	for (size_t i = 0; i < count; i++)
		memcpy(bytes + sizeof(begin) - 1 + 2 * i, "h\1", 2);
	memcpy(bytes + sizeof(begin) - 1 + 2 * count, "e.", 2);
	assert_ok(follow(bytes, sizeof(begin) + 1 + 2 * count, &err), err);
	mem_free(bytes);
}

static int read_exact(const unsigned char *bytes, size_t size, struct err *err)
{
	unsigned char *exact = mem_new(size ? size : 1, 1);
	int code;

	assert_non_null(exact);
	memcpy(exact, bytes, size);
	seen.count = 0;
	code = torch_save_bytes(exact, size, note, NULL, err);
	mem_free(exact);
	return code;
}

/* Files cut off at every byte are refused; with any byte changed they do no harm. */
static void cut_or_changed_anywhere(void **state)
{
	static const char *const names[] = {"slice.zip", "slice.old", "one.zip", "one.old",
		"again.old", "protocol4.zip", "protocol4.old", "sizes.old"};

	for (size_t k = 0; k < COUNT(names); k++) {
		char path[600];
		struct mapped file;
		struct err err = {0};
		unsigned char *bytes;

		snprintf(path, sizeof(path), "%s/golden/torchsave/%s", getenv("RETAIN_TESTS"),
			names[k]);
		assert_ok(mapped_open(&file, path, 0, &err), err);
		bytes = mem_new(file.size, 1);
		memcpy(bytes, file.data, file.size);
		for (size_t size = 0; size < file.size; size++) {
			err = (struct err){0};
			if (!read_exact(bytes, size, &err))
				fail_msg("%s was read though cut off at %zu", names[k], size);
			assert_true(*err.message);
		}
		for (size_t i = 0; i < file.size; i++)
			for (int bit = 0; bit < 8; bit++) {
				bytes[i] ^= (unsigned char)(1 << bit);
				read_exact(bytes, file.size, &err);
				bytes[i] ^= (unsigned char)(1 << bit);
			}
		mem_free(bytes);
		mapped_close(&file);
	}
}

static void other_files_are_refused(void **state)
{
	struct err err = {0};

	assert_int_equal(read_exact((const unsigned char *)"", 0, &err), ERR_FORMAT);
	assert_says(err, "is no file of torch.save");
	assert_int_equal(read_exact((const unsigned char *)"hello", 5, &err), ERR_FORMAT);
	assert_says(err, "is no file of torch.save");
	assert_int_equal(read_exact((const unsigned char *)"K\1.", 3, &err), ERR_FORMAT);
	assert_says(err, "is no file of torch.save");
	assert_int_equal(read_exact((const unsigned char *)"PK\3\4", 4, &err), ERR_FORMAT);
	assert_says(err, "is a ZIP archive, but its end is missing");
}

static int attempt(void *context, struct err *err)
{
	return read_golden(context, err);
}

static void failing_allocations(void **state)
{
	char name[] = "long.old";

	assert_in_range(each_allocation_fails(attempt, name), 3, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists_of_numbers),
		cmocka_unit_test(lists_of_texts),
		cmocka_unit_test(tensors),
		cmocka_unit_test(later_protocols),
		cmocka_unit_test(what_is_no_list_is_refused),
		cmocka_unit_test(hostile_pickles_are_refused),
		cmocka_unit_test(bombs_do_not_go_off),
		cmocka_unit_test(circles_and_repetitions),
		cmocka_unit_test(cut_or_changed_anywhere),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(failing_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
