/*
 * Safetensors files: what is saved reads back, the same arguments give the same
 * bytes, every kind of broken file is refused with a sentence that says what is
 * wrong, and memory may fail anywhere.
 */
#include <fcntl.h>
#include <math.h>
#include "../base/check.h"
#include "../base/folder.h"
#include "nn/weights/safetensors.h"

static char path[400];

static int make_path(void **state)
{
	int code = folder_make(state);

	snprintf(path, sizeof(path), "%s", in_folder("t.safetensors"));
	return code;
}

#define path_test(f) cmocka_unit_test_setup_teardown(f, make_path, folder_remove)

static void write_bytes(const void *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

static size_t read_bytes(unsigned char *bytes, size_t room)
{
	FILE *file = fopen(path, "rb");

	assert_non_null(file);
	size_t size = fread(bytes, 1, room, file);
	assert_true(size < room);
	fclose(file);
	return size;
}

/* A file of the given header and so many bytes of data. */
static void write_file(const char *header, const void *data, size_t data_size)
{
	uint64_t length = strlen(header);
	char *bytes = calloc(1, 8 + length + data_size + 1);

	assert_non_null(bytes);
	memcpy(bytes, &length, 8);
	memcpy(bytes + 8, header, length);
	if (data)
		memcpy(bytes + 8 + length, data, data_size);
	write_bytes(bytes, 8 + length + data_size);
	free(bytes);
}

static void expect_refusal(const char *problem)
{
	struct safetensors *file = (void *)1;
	struct err err = {0};
	int code = safetensors_open(&file, path, &err);

	if (code != ERR_FORMAT || !strstr(err.message, problem) || !strstr(err.message, path))
		fail_msg("expected '%s', got %d: %s", problem, code, err.message);
	assert_null(file);
	assert_int_equal(err.code, code);
}

static const float weight[] = {1, -2, 3.5f, -0.0f, 1e-42f, 3.4e38f};
static const int64_t step[] = {-9007199254740993};
static const float loss[] = {0.25f};
static const int64_t weight_shape[] = {2, 3}, empty_shape[] = {4, 0};
static const struct safetensors_item items[] = {
	{"step", 0, NULL, .ints = step},
	{"a.weight", 2, weight_shape, .floats = weight},
	{"empty", 2, empty_shape, .floats = NULL},
	{"loss \"quoted\" \xc3\xa9", 0, NULL, .floats = loss},
};
static const struct safetensors_note notes[] = {{"format", "pt"}, {"said", "two\nlines"}};

static void save_items(void)
{
	struct err err = {0};
	int code = safetensors_save(path, items, COUNT(items), notes, COUNT(notes), &err);

	if (code)
		fail_msg("%s", err.message);
}

static struct safetensors *open_file(void)
{
	struct safetensors *file;
	struct err err = {0};

	if (safetensors_open(&file, path, &err))
		fail_msg("%s", err.message);
	return file;
}

static void what_is_saved_reads_back(void **state)
{
	struct err err;
	float floats[6];
	int64_t ints[1];

	save_items();
	struct safetensors *file = open_file();
	assert_string_equal(safetensors_path(file), path);
	assert_int_equal(safetensors_count(file), 4);
	for (int i = 0; i < 4; i++) {
		assert_string_equal(safetensors_at(file, i)->name, items[i].name);
		assert_ptr_equal(safetensors_find(file, items[i].name), safetensors_at(file, i));
	}
	assert_null(safetensors_find(file, "a.weigh"));
	assert_null(safetensors_find(file, "__metadata__"));

	const struct safetensor *tensor = safetensors_find(file, "a.weight");
	assert_string_equal(tensor->dtype, "F32");
	assert_int_equal(tensor->dims, 2);
	assert_memory_equal(tensor->shape, weight_shape, sizeof(weight_shape));
	assert_int_equal(tensor->count, 6);
	assert_int_equal(tensor->bytes, 24);
	assert_int_equal(safetensors_read_float(file, tensor, floats, &err), 0);
	assert_memory_equal(floats, weight, sizeof(weight));

	tensor = safetensors_find(file, "step");
	assert_string_equal(tensor->dtype, "I64");
	assert_int_equal(tensor->dims, 0);
	assert_int_equal(tensor->count, 1);
	assert_int_equal(safetensors_read_int64(file, tensor, ints, &err), 0);
	assert_true(ints[0] == step[0]);

	tensor = safetensors_find(file, "empty");
	assert_int_equal(tensor->count, 0);
	assert_int_equal(safetensors_read_float(file, tensor, NULL, &err), 0);

	assert_int_equal(safetensors_notes(file), 2);
	assert_string_equal(safetensors_note(file, 0)->key, "format");
	assert_string_equal(safetensors_get(file, "said"), "two\nlines");
	assert_null(safetensors_get(file, "sai"));
	safetensors_close(file);
	safetensors_close(NULL);
}

/* Byte for byte, because files made by different versions should be comparable. */
static void bytes_are_as_specified(void **state)
{
	const char header[] = "{\"__metadata__\":{\"format\":\"pt\"},"
			      "\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
			      "\"y\":{\"dtype\":\"I64\",\"shape\":[],\"data_offsets\":[8,16]}}";
	const float x[] = {1.5f, -2.25f};
	const int64_t y[] = {77}, shape[] = {2};
	const struct safetensors_item two[] = {
		{"x", 1, shape, .floats = x}, {"y", 0, NULL, .ints = y}};
	unsigned char expected[512], bytes[512];
	uint64_t length = (strlen(header) + 7) / 8 * 8;
	struct err err;

	assert_int_not_equal(strlen(header) % 8, 0);
	memcpy(expected, &length, 8);
	memset(expected + 8, ' ', length);
	memcpy(expected + 8, header, strlen(header));
	memcpy(expected + 8 + length, x, 8);
	memcpy(expected + 16 + length, y, 8);
	for (int i = 0; i < 2; i++) { /* the second time over the first file */
		assert_int_equal(safetensors_save(path, two, 2, notes, 1, &err), 0);
		assert_int_equal(read_bytes(bytes, sizeof(bytes)), 24 + length);
		assert_memory_equal(bytes, expected, 24 + length);
	}
}

static void a_file_of_nothing_is_valid(void **state)
{
	struct err err;

	assert_int_equal(safetensors_save(path, NULL, 0, NULL, 0, &err), 0);
	struct safetensors *file = open_file();
	assert_int_equal(safetensors_count(file), 0);
	assert_int_equal(safetensors_notes(file), 0);
	assert_null(safetensors_find(file, ""));
	safetensors_close(file);
}

static void other_dtypes_are_converted(void **state)
{
	/* 1, the largest, the smallest, -inf, a NaN, -0, the smallest normal number */
	const uint16_t f16[] = {0x3c00, 0x7bff, 0x0001, 0xfc00, 0x7e01, 0x8000, 0x0400};
	const float f16_is[] = {1, 65504, 0x1p-24f, -INFINITY, NAN, -0.0f, 0x1p-14f};
	const uint16_t bf16[] = {0x3f80, 0xc010, 0x7f80};
	const float bf16_is[] = {1, -2.25f, INFINITY};
	const double f64[] = {0.1, -1e300};
	const int32_t i32[] = {-1, INT32_MAX};
	unsigned char data[64];
	float floats[7];
	int64_t ints[2];
	struct err err;

	memcpy(data, f16, 14);
	memcpy(data + 14, bf16, 6);
	memcpy(data + 20, f64, 16); /* at an odd place: alignment must not matter */
	memcpy(data + 36, i32, 8);
	memset(data + 44, 1, 3);
	write_file("{\"h\":{\"dtype\":\"F16\",\"shape\":[7],\"data_offsets\":[0,14]},"
		   "\"b\":{\"dtype\":\"BF16\",\"shape\":[3],\"data_offsets\":[14,20]},"
		   "\"d\":{\"dtype\":\"F64\",\"shape\":[2],\"data_offsets\":[20,36]},"
		   "\"i\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[36,44]},"
		   "\"u\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[44,45]},"
		   "\"f\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[45,47]}}",
		data, 47);
	struct safetensors *file = open_file();

	assert_int_equal(
		safetensors_read_float(file, safetensors_find(file, "h"), floats, &err), 0);
	assert_true(isnan(floats[4]));
	floats[4] = f16_is[4];
	assert_memory_equal(floats, f16_is, sizeof(f16_is));
	assert_int_equal(
		safetensors_read_float(file, safetensors_find(file, "b"), floats, &err), 0);
	assert_memory_equal(floats, bf16_is, sizeof(bf16_is));
	assert_int_equal(
		safetensors_read_float(file, safetensors_find(file, "d"), floats, &err), 0);
	assert_true(floats[0] == 0.1f && floats[1] == -INFINITY);
	assert_int_equal(safetensors_read_int64(file, safetensors_find(file, "i"), ints, &err), 0);
	assert_true(ints[0] == -1 && ints[1] == INT32_MAX);

	const struct {
		const char *name, *message;
		bool as_float;
	} refused[] = {
		{"u", "tensor 'u' has dtype U8", true},
		{"u", "tensor 'u' has dtype U8", false},
		{"f", "tensor 'f' has dtype F4", true},
		{"i", "tensor 'i' has dtype I32, which cannot be read as floats", true},
		{"h", "tensor 'h' has dtype F16, which cannot be read as integers", false},
	};
	for (size_t i = 0; i < COUNT(refused); i++) {
		const struct safetensor *tensor = safetensors_find(file, refused[i].name);
		int code = refused[i].as_float ? safetensors_read_float(file, tensor, floats, &err)
					       : safetensors_read_int64(file, tensor, ints, &err);
		assert_int_equal(code, ERR_INPUT);
		assert_says(err, refused[i].message);
		assert_says(err, path);
	}
	safetensors_close(file);
}

/* A tensor larger than the piece it is read in. */
static void long_tensors_read_whole(void **state)
{
	const int64_t shape[] = {100003};
	float *out = calloc(100003, sizeof(*out)), *in = calloc(100003, sizeof(*in));
	struct err err;

	for (int i = 0; i < 100003; i++)
		out[i] = (float)i;
	const struct safetensors_item item = {"long", 1, shape, .floats = out};
	assert_int_equal(safetensors_save(path, &item, 1, NULL, 0, &err), 0);
	struct safetensors *file = open_file();
	assert_int_equal(safetensors_read_float(file, safetensors_at(file, 0), in, &err), 0);
	assert_memory_equal(in, out, 100003 * sizeof(*out));

	/* It shrinks after it was checked: an error, not a crash. */
	assert_int_equal(truncate(path, 1000), 0);
	assert_int_equal(safetensors_read_float(file, safetensors_at(file, 0), in, &err), ERR_FILE);
	assert_says(err, "shrank");
	safetensors_close(file);
	free(out);
	free(in);
}

#define X(rest)      "{\"x\":{" rest "}}"
#define F32(offsets) "\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":" offsets

static const struct {
	const char *header;
	size_t data;
	const char *problem;
} hostile[] = {
	{"", 0, "not a JSON object"},
	{"[]", 0, "not a JSON object"},
	{" {}", 0, "not a JSON object"},
	{"\x80\x02}q", 0, "not a JSON object"},
	{"{", 0, "not valid JSON"},
	{"{}{}", 0, "not valid JSON"},
	{"{\"x\":}", 0, "not valid JSON"},
	{"{\"\xff\":1}", 0, "not valid JSON"},
	{"{\"\\u0000\":1}", 0, "not valid JSON"},
	{X("\"dtype\":\"F32\",\"shape\":[1e999],\"data_offsets\":[0,4]"), 4, "not valid JSON"},
	{X("\"dtype\":\"F32\",\"shape\":[99999999999999999999],\"data_offsets\":[0,4]"), 4,
		"not valid JSON"},
	{"{\"x\":{" F32("[0,4]") "},\"x\":{" F32("[4,8]") "}}", 8, "duplicate object key"},
	{X("\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]"), 4,
		"duplicate object key"},
	{"{\"a\\u001b[2J\":{" F32("[0,4]") "}}", 4, "name holds a control character"},
	{"{\"a\\u009b2J\":{" F32("[0,4]") "}}", 4, "name holds a control character"},
	{"{\"x\":[]}", 0, "tensor 'x' has a header entry that is not an object"},
	{"{\"x\":null}", 0, "tensor 'x' has a header entry that is not an object"},
	{X("\"shape\":[1],\"data_offsets\":[0,4]"), 4, "tensor 'x' has no dtype"},
	{X("\"dtype\":3,\"shape\":[1],\"data_offsets\":[0,4]"), 4, "tensor 'x' has no dtype"},
	{X("\"dtype\":\"f32\",\"shape\":[1],\"data_offsets\":[0,4]"), 4,
		"tensor 'x' has the unknown dtype 'f32'"},
	{X("\"dtype\":\"F32\",\"data_offsets\":[0,4]"), 4, "tensor 'x' has no shape"},
	{X("\"dtype\":\"F32\",\"shape\":1,\"data_offsets\":[0,4]"), 4, "tensor 'x' has no shape"},
	{X("\"dtype\":\"F32\",\"shape\":[1.0],\"data_offsets\":[0,4]"), 4,
		"'x' has a shape entry that is not a whole number"},
	{X("\"dtype\":\"F32\",\"shape\":[-1,-1],\"data_offsets\":[0,4]"), 4,
		"'x' has the negative size -1"},
	{X("\"dtype\":\"F32\",\"shape\":[4294967296,4294967296,4294967297],\"data_offsets\":[0,4]"),
		4, "'x' has a shape whose product overflows"},
	{X("\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,0]"), 0,
		"'x' has a shape whose product overflows"},
	{X("\"dtype\":\"F32\",\"shape\":[576460752303423488],\"data_offsets\":[0,0]"), 0,
		"'x' has a shape whose product overflows"},
	{X("\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]"), 1,
		"'x' of dtype F4 does not fill whole bytes"},
	{X("\"dtype\":\"F32\",\"shape\":[1]"), 4, "tensor 'x' has no data_offsets"},
	{X(F32("[0]")), 4, "tensor 'x' has no data_offsets"},
	{X(F32("[0,2,4]")), 4, "tensor 'x' has no data_offsets"},
	{X(F32("[0,\"4\"]")), 4, "tensor 'x' has no data_offsets"},
	{X(F32("{\"0\":4}")), 4, "tensor 'x' has no data_offsets"},
	{X(F32("[-4,0]")), 4, "tensor 'x' has negative data_offsets [-4, 0]"},
	{X(F32("[4,0]")), 4, "tensor 'x' ends before it begins"},
	{X(F32("[0,4]")), 3, "tensor 'x' ends at byte 4 of the data, which has 3 bytes"},
	{X(F32("[9223372036854775803,9223372036854775807]")), 4,
		"tensor 'x' ends at byte 9223372036854775807"},
	{X(F32("[0,8]")), 8, "tensor 'x' has 8 bytes, but its shape (1) of F32 needs 4"},
	{X(F32("[0,0]")), 0, "tensor 'x' has 0 bytes, but its shape (1) of F32 needs 4"},
	{X(F32("[0,4]") ",\"strides\":[1]"), 4,
		"tensor 'x' has a header entry with an unknown key"},
	{X(F32("[0,4]")), 5, "1 bytes follow the last tensor"},
	{"{}", 1, "1 bytes follow the last tensor"},
	{X(F32("[4,8]")), 8, "tensor 'x' leaves a hole before it: bytes 0 to 4"},
	{"{\"x\":{" F32("[0,4]") "},\"y\":{" F32("[8,12]") "}}", 12,
		"tensor 'y' leaves a hole before it: bytes 4 to 8"},
	{"{\"x\":{" F32("[0,4]") "},\"y\":{" F32("[2,6]") "}}", 6,
		"tensor 'y' overlaps tensor 'x'"},
	{"{\"x\":{" F32("[0,4]") "},\"y\":{" F32("[0,4]") "}}", 4,
		"tensor 'y' overlaps tensor 'x'"},
	{"{\"__metadata__\":[]}", 0, "__metadata__ is not an object"},
	{"{\"__metadata__\":{\"n\":1}}", 0, "__metadata__ key 'n' is not a string"},
};

static void hostile_files_are_refused(void **state)
{
	for (size_t i = 0; i < COUNT(hostile); i++) {
		write_file(hostile[i].header, NULL, hostile[i].data);
		expect_refusal(hostile[i].problem);
	}
}

static void absurd_lengths_are_refused(void **state)
{
	const struct {
		uint64_t length;
		const char *problem;
	} rows[] = {
		{UINT64_MAX, "header of 18446744073709551615 bytes is too long"},
		{UINT64_MAX - 7, "is too long"},
		{100000001, "is too long"},
		{100000000, "reaches past the end"},
		{3, "reaches past the end"},
	};
	char bytes[10] = "12345678{}";

	for (size_t i = 0; i < COUNT(rows); i++) {
		memcpy(bytes, &rows[i].length, 8);
		write_bytes(bytes, 10);
		expect_refusal(rows[i].problem);
	}
	for (size_t size = 0; size < 8; size++) {
		write_bytes(bytes, size);
		expect_refusal("too short");
	}
}

/* Deep nesting must not become deep recursion. */
static void deep_nesting_is_refused(void **state)
{
	size_t depth = 1 << 20;
	char *header = malloc(depth + 8);

	memcpy(header, "{\"x\":", 5);
	memset(header + 5, '[', depth);
	header[5 + depth] = '\0';
	write_file(header, NULL, 0);
	expect_refusal("not valid JSON");
	free(header);
}

static void every_truncation_is_refused(void **state)
{
	unsigned char bytes[1024];

	save_items();
	size_t size = read_bytes(bytes, sizeof(bytes));
	assert_int_equal(truncate(path, (off_t)size + 1), 0);
	expect_refusal("1 bytes follow the last tensor");
	for (size_t cut = size; cut-- > 0;) {
		assert_int_equal(truncate(path, (off_t)cut), 0);
		expect_refusal("");
	}
}

static void put_byte(int fd, size_t at, unsigned char byte)
{
	assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
}

/* One changed byte makes a file that is refused or reads without a fault (the sanitizers watch). */
static void no_changed_byte_does_harm(void **state)
{
	const unsigned char changes[] = {0x01, 0x10, 0x80, 0xff};
	unsigned char bytes[1024];
	struct err err;

	save_items();
	size_t size = read_bytes(bytes, sizeof(bytes)), opened = 0;
	int fd = open(path, O_WRONLY);
	for (size_t i = 0; i < size; put_byte(fd, i, bytes[i]), i++)
		for (size_t c = 0; c < COUNT(changes); c++) {
			struct safetensors *file;
			put_byte(fd, i, bytes[i] ^ changes[c]);
			int code = safetensors_open(&file, path, &err);
			assert_true(code == 0 || code == ERR_FORMAT);
			for (int t = 0; !code && t < safetensors_count(file); t++) {
				const struct safetensor *tensor = safetensors_at(file, t);
				float values[16];
				assert_true(tensor->count <= 16);
				(void)safetensors_read_float(file, tensor, values, &err);
			}
			opened += !code;
			safetensors_close(file);
		}
	close(fd);
	assert_true(opened > 0 && opened < size * COUNT(changes));
}

static void what_is_no_file_is_refused(void **state)
{
	struct safetensors *file;
	struct err err;
	char other[400];

	snprintf(other, sizeof(other), "%s/nowhere", folder);
	assert_int_equal(safetensors_open(&file, other, &err), ERR_FILE);
	assert_says(err, "nowhere: cannot open: No such file");
	assert_int_equal(safetensors_open(&file, folder, &err), ERR_FILE);
	assert_says(err, "not a regular file");
	snprintf(other, sizeof(other), "%s/pipe", folder);
	assert_int_equal(mkfifo(other, 0600), 0);
	assert_int_equal(safetensors_open(&file, other, &err), ERR_FILE);
	assert_says(err, "not a regular file");
	unlink(other);
	assert_int_equal(safetensors_save("/nonexistent/x", items, 1, NULL, 0, &err), ERR_FILE);
	assert_says(err, "/nonexistent/x");
}

static void impossible_items_are_not_saved(void **state)
{
	const int64_t negative[] = {-1}, huge[] = {INT64_MAX, INT64_MAX}, one[] = {1};
	const struct {
		struct safetensors_item items[2];
		int count;
		const char *problem;
	} rows[] = {
		{{{"x", 1, one, .floats = loss}, {"x", 1, one, .floats = loss}}, 2,
			"two tensors named 'x'"},
		{{{"__metadata__", 1, one, .floats = loss}}, 1, "named '__metadata__'"},
		{{{"x\xff", 1, one, .floats = loss}}, 1, "UTF-8"},
		{{{"a\nb", 1, one, .floats = loss}}, 1, "control character"},
		{{{"x", 1, negative, .floats = loss}}, 1, "tensor 'x'"},
		{{{"x", 2, huge, .floats = loss}}, 1, "tensor 'x'"},
		{{{"x", 1, one}}, 1, "tensor 'x'"},
	};
	unsigned char before[1024], after[1024];
	struct err err;

	save_items();
	size_t size = read_bytes(before, sizeof(before));
	for (size_t i = 0; i < COUNT(rows); i++) {
		int code = safetensors_save(path, rows[i].items, rows[i].count, NULL, 0, &err);
		if (code != ERR_INPUT || !strstr(err.message, rows[i].problem) ||
			!strstr(err.message, path))
			fail_msg("expected '%s', got %d: %s", rows[i].problem, code, err.message);
		assert_int_equal(read_bytes(after, sizeof(after)), size);
		assert_memory_equal(after, before, size);
		assert_int_equal(folder_names(false), 1);
	}
}

static int try_save(void *context, struct err *err)
{
	unlink(path);
	int code = safetensors_save(path, items, COUNT(items), notes, COUNT(notes), err);
	assert_int_equal(folder_names(false), code ? 0 : 1);
	return code;
}

static int try_open(void *context, struct err *err)
{
	struct safetensors *file;
	int code = safetensors_open(&file, path, err);

	assert_true(!code == !!file);
	safetensors_close(file);
	return code;
}

static void failing_memory_is_an_error(void **state)
{
	assert_true(each_allocation_fails(try_save, NULL) > 0);
	assert_true(each_allocation_fails(try_open, NULL) > 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		path_test(what_is_saved_reads_back),
		path_test(bytes_are_as_specified),
		path_test(a_file_of_nothing_is_valid),
		path_test(other_dtypes_are_converted),
		path_test(long_tensors_read_whole),
		path_test(hostile_files_are_refused),
		path_test(absurd_lengths_are_refused),
		path_test(deep_nesting_is_refused),
		path_test(every_truncation_is_refused),
		path_test(no_changed_byte_does_harm),
		path_test(what_is_no_file_is_refused),
		path_test(impossible_items_are_not_saved),
		path_test(failing_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
