/* NumPy's arrays: every type, both shapes, versions; labels and times; refusals by name. */
#include "records_check.h"

/* Writes an .npy of version 1; bytes follow a header that is padded as NumPy does. */
static void write_npy(const char *name, const char *type, const char *shape, const char *order,
	const void *data, size_t size)
{
	unsigned char bytes[4096] = "\x93NUMPY\x01";
	const int length = 128 - 10;
	int words = snprintf((char *)bytes + 10, 118,
		"{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", type, order, shape);

	bytes[8] = (unsigned char)length;
	memset(bytes + 10 + words, ' ', (size_t)(length - words));
	bytes[127] = '\n';
	memcpy(bytes + 128, data, size);
	write_bytes(name, bytes, 128 + size);
}

static const int64_t labels[] = {4, 0, 2};

static void write_labels(const char *name)
{
	write_npy(name, "<i8", "(3,)", "False", labels, sizeof(labels));
}

static void expect(struct records *records, int64_t i, int k, float number)
{
	float found;

	memcpy(&found, read_one(records, i)->data + 4 * k, 4);
	assert_true(found == number);
}

static void features_and_labels(void **state)
{
	static const float numbers[] = {1, 2.5f, -3, 4, 5, 6};
	struct records *records;
	const struct records_info *info;
	char where[300];

	write_npy("x.npy", "<f4", "(3, 2)", "False", numbers, sizeof(numbers));
	write_labels("x-labels.npy");
	records = opened("", "x.npy");
	info = records_info(records);
	assert_string_equal(records->type->name, "npy");
	assert_int_equal(info->form, RECORDS_FLOATS);
	assert_int_equal(info->count, 3);
	assert_int_equal(info->classes, 5);
	assert_int_equal(info->channels, 2);
	assert_int_equal(info->height * info->width, 1);
	assert_false(info->timed || info->parted);
	assert_int_equal(records_look(records, 0).label, 4);
	assert_int_equal(records_look(records, 2).label, 2);
	assert_int_equal(read_one(records, 0)->size, 8);
	expect(records, 0, 1, 2.5f);
	expect(records, 1, 0, -3);
	expect(records, 2, 1, 6);
	records_where(records, 2, where, sizeof(where));
	assert_non_null(strstr(where, "x.npy, row 2"));
	assert_int_equal(truncate(in_folder("x.npy"), 140), 0);
	assert_says(unreadable(records, 2), "x.npy: has become shorter");
	records_close(records);
	read_one(NULL, 0);
}

static void grey_pictures_have_one_channel(void **state)
{
	static const float numbers[3 * 4 * 2];
	struct records *records;

	write_npy("x.npy", "<f4", "(3, 4, 2)", "False", numbers, sizeof(numbers));
	write_labels("x-labels.npy");
	records = opened("", "x.npy");
	assert_int_equal(records_info(records)->channels, 1);
	assert_int_equal(records_info(records)->height, 4);
	assert_int_equal(records_info(records)->width, 2);
	records_close(records);
}

static void every_type(void **state)
{
	static const double f8[] = {1.5, -2, 3e10};
	static const uint8_t u1[] = {0, 128, 255};
	static const int8_t i1[] = {-1, 127, -128};
	static const int16_t i2[] = {-300, 300, 7};
	static const uint16_t u2[] = {65535, 1, 2};
	static const int32_t i4[] = {-100000, 5, 6};
	static const uint32_t u4[] = {3000000000u, 5, 6};
	static const int64_t i8[] = {-5000000000, 5, 6};
	static const struct {
		const char *type;
		const void *data;
		size_t size;
		float first, last;
	} rows[] = {{"<f8", f8, sizeof(f8), 1.5f, 3e10f}, {"|u1", u1, sizeof(u1), 0, 255},
		{"|i1", i1, sizeof(i1), -1, -128}, {"<i2", i2, sizeof(i2), -300, 7},
		{"<u2", u2, sizeof(u2), 65535, 2}, {"<i4", i4, sizeof(i4), -100000, 6},
		{"<u4", u4, sizeof(u4), 3000000000.f, 6},
		{"<i8", i8, sizeof(i8), -5000000000.f, 6}};

	write_npy("y.npy", "|u1", "(1,)", "False", "\x03", 1);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct records *records;

		write_npy("x.npy", rows[i].type, "(1, 3)", "False", rows[i].data, rows[i].size);
		records = opened("npy", "x.npy");
		assert_int_equal(records_look(records, 0).label, 3);
		assert_int_equal(read_one(records, 0)->size, 12);
		expect(records, 0, 0, rows[i].first);
		expect(records, 0, 2, rows[i].last);
		records_close(records);
	}
	read_one(NULL, 0);
}

static void images_and_times(void **state)
{
	static const double times[] = {0.5, 1e9, -1};
	static const uint8_t pixels[3 * 2 * 2 * 1] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
	struct records *records;

	write_npy("x.npy", "|u1", "(3, 2, 2, 1)", "False", pixels, sizeof(pixels));
	write_labels("labels.npy");
	write_npy("x_times.npy", "<f8", "(3, 1)", "False", times, sizeof(times));
	records = opened("npy", "x.npy");
	assert_int_equal(records_info(records)->channels, 2);
	assert_int_equal(records_info(records)->height, 2);
	assert_int_equal(records_info(records)->width, 1);
	assert_true(records_info(records)->timed);
	assert_int_equal(records_look(records, 0).time, 500000);
	assert_int_equal(records_look(records, 1).time, 1000000000000000);
	assert_int_equal(records_look(records, 2).time, -1000000);
	expect(records, 1, 3, 8);
	records_close(records);
	write_npy("x_times.npy", "<i8", "(3,)", "False", labels, sizeof(labels));
	records = opened("npy", "x.npy");
	assert_int_equal(records_look(records, 0).time, 4);
	records_close(records);
	read_one(NULL, 0);
}

/* The same numbers, once the last index first and once the first. */
static void orders(void **state)
{
	static const uint8_t c[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
	static const uint8_t f[12] = {0, 6, 3, 9, 1, 7, 4, 10, 2, 8, 5, 11};    /* of (2, 2, 3) */
	static const uint8_t flat[12] = {0, 6, 1, 7, 2, 8, 3, 9, 4, 10, 5, 11}; /* of (2, 6) */
	static const struct {
		const char *shape, *order;
		const uint8_t *bytes;
	} rows[] = {{"(2, 2, 3)", "False", c}, {"(2, 2, 3)", "True", f}, {"(2, 6)", "True", flat},
		{"(2, 1, 2, 3)", "True", f}, {"(2, 6, 1, 1)", "True", flat}};

	write_npy("labels.npy", "|u1", "(2, 1)", "True", "\1\0", 2);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct records *records;

		write_npy("x.npy", "|u1", rows[i].shape, rows[i].order, rows[i].bytes, 12);
		records = opened("npy", "x.npy");
		assert_int_equal(records_look(records, 0).label, 1);
		for (int k = 0; k < 12; k++)
			expect(records, k / 6, k % 6, (float)k);
		records_close(records);
	}
	read_one(NULL, 0);
}

static void wrong_arrays_are_named(void **state)
{
	static const float f[12];
	static const struct {
		const char *type, *shape, *order;
		size_t size;
		const char *says;
	} rows[] = {{"<f4", "(3, 2)", "Maybe", 24, "does not say the order of elements"},
		{"<f4", "(3, 2)", "False", 20, "x.npy: its size is not what its shape promises"},
		{"<f4", "(3,)", "False", 12, "x.npy: has 1 dimensions; features have 2"},
		{"<f4", "()", "False", 4, "x.npy: has 0 dimensions"},
		{"<f4", "(1, 1, 1, 1, 1)", "False", 4, "more than four dimensions"},
		{"<f4", "(0, 2)", "False", 0, "x.npy: dimension 0 is 0"},
		{"<f4", "(3, 9999999999999999999)", "False", 0, "its shape is damaged"},
		{"<f4", "(4611686018427387904, 9)", "False", 0, "larger than any file"},
		{"<f4", "(3 2)", "False", 24, "its shape is damaged"},
		{"<f4", "3", "False", 24, "has no shape"},
		{">f4", "(3, 2)", "False", 24, "big-endian"},
		{"<c8", "(3, 2)", "False", 48, "no float32, float64 or whole numbers"}};

	assert_refused("npy", "x.npy", "cannot open");
	write_labels("labels.npy");
	for (size_t i = 0; i < COUNT(rows); i++) {
		write_npy("x.npy", rows[i].type, rows[i].shape, rows[i].order, f, rows[i].size);
		assert_refused("npy", "x.npy", rows[i].says);
	}
	write_words("x.npz", "PK");
	assert_refused("npy", "x.npz", "x.npz: is an .npz; save its arrays as NAME.npy");
	write_words("x.npy", "PK\3\4............");
	assert_refused("npy", "x.npy", "x.npy: is an .npz");
	write_words("x.npy", "");
	assert_refused("npy", "x.npy", "is not a .npy file");
	write_words("x.npy", "\x93NUMPY\x09.......");
	assert_refused("npy", "x.npy", "of a version that is not known");
	write_words("x.npy", "\x93NUMPY\x01\x01\xff\xff{}");
	assert_refused("npy", "x.npy", "its header is damaged");
}

static void wrong_labels_are_named(void **state)
{
	static const float f[6];
	static const int64_t bad[] = {1, 2, -3};
	struct records *records;

	write_npy("x.npy", "<f4", "(3, 2)", "False", f, sizeof(f));
	/* None at all may do for predictions. */
	records = opened("npy", "x.npy");
	assert_non_null(strstr(records_info(records)->unlabelled, "has no labels beside it"));
	assert_int_equal(records_look(records, 0).label, -1);
	records_close(records);
	write_npy("y.npy", "<f4", "(3,)", "False", f, 12);
	assert_refused("npy", "x.npy", "y.npy: holds <f4 and not whole numbers");
	write_npy("y.npy", "<i8", "(2,)", "False", bad, 16);
	assert_refused("npy", "x.npy", "y.npy: has 2 elements for the 3 rows of");
	write_npy("y.npy", "<i4", "(3, 2)", "False", bad, 24);
	assert_refused("npy", "x.npy", "y.npy: has 2 dimensions, not one");
	write_npy("y.npy", "<i8", "(3,)", "False", bad, 24);
	assert_refused("npy", "x.npy", "y.npy, row 2: label -3 is not from 0 to 16777215");
	write_labels("y.npy");
	write_npy("times.npy", "<f8", "(3,)", "False", (double[]){0, 1e300, 0}, 24);
	assert_refused("npy", "x.npy", "times.npy, row 1: 1e+300 is not a time");
}

/* Every byte of a header changed, every beginning. */
static void any_damage_is_survived(void **state)
{
	static const float f[6];
	unsigned char bytes[152];
	struct records *records;
	struct err err;
	char words[300];
	FILE *file;

	snprintf(words, sizeof(words), "npy:%s/x.npy", folder);
	write_labels("y.npy");
	write_npy("x.npy", "<f4", "(3, 2)", "False", f, sizeof(f));
	file = fopen(in_folder("x.npy"), "rb");
	assert_int_equal(fread(bytes, 1, sizeof(bytes), file), sizeof(bytes));
	fclose(file);
	for (size_t at = 0; at < 128; at++)
		for (int change = 1; change < 256; change *= 4) {
			bytes[at] ^= (unsigned char)change;
			write_bytes("x.npy", bytes, sizeof(bytes));
			if (!try_open(&records, words, NULL, &err))
				records_close(records);
			bytes[at] ^= (unsigned char)change;
		}
	for (size_t size = 0; size < sizeof(bytes); size++) {
		write_bytes("x.npy", bytes, size);
		assert_int_equal(try_open(&records, words, NULL, &err), ERR_FORMAT);
	}
}

static void memory_may_run_out(void **state)
{
	static const float f[6];
	char words[300];

	write_npy("x.npy", "<f4", "(3, 2)", "False", f, sizeof(f));
	write_labels("y.npy");
	write_labels("times.npy");
	snprintf(words, sizeof(words), "npy:%s/x.npy", folder);
	assert_true(each_allocation_fails(open_and_close, words) > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(features_and_labels),
		tree_test(grey_pictures_have_one_channel),
		tree_test(every_type),
		tree_test(images_and_times),
		tree_test(orders),
		tree_test(wrong_arrays_are_named),
		tree_test(wrong_labels_are_named),
		tree_test(any_damage_is_survived),
		tree_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
