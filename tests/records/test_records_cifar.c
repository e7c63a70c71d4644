/* CIFAR's binaries: both flavours, names of classes, and what is wrong named by file and record. */
#include "records_check.h"

enum { PIXELS = 3072 };

/* Records whose pixels are all `fill`, `fill` + 1, ...; two label bytes where coarse >= 0. */
static void write_batch(const char *name, int coarse, const int *labels, int n, int fill)
{
	static unsigned char bytes[8 * (PIXELS + 2)];
	size_t size = 0;

	for (int i = 0; i < n; i++) {
		if (coarse >= 0)
			bytes[size++] = (unsigned char)coarse;
		bytes[size++] = (unsigned char)labels[i];
		memset(bytes + size, fill + i, PIXELS);
		size += PIXELS;
	}
	write_bytes(name, bytes, size);
}

#define LABELS(...)                                                                                \
	(const int[])                                                                              \
	{                                                                                          \
		__VA_ARGS__                                                                        \
	}

static void ten(void **state)
{
	struct records *records;
	const struct records_info *info;
	char where[300];

	write_batch("data_batch_2.bin", -1, LABELS(4, 9), 2, 20);
	write_batch("data_batch_1.bin", -1, LABELS(1, 2, 3), 3, 10);
	write_batch("test_batch.bin", -1, LABELS(0), 1, 30);
	write_words("batches.meta.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nthe last\n\n");
	records = opened("", "");
	info = records_info(records);
	assert_string_equal(records->type->name, "cifar");
	assert_int_equal(info->form, RECORDS_PIXELS);
	assert_int_equal(info->count, 6);
	assert_int_equal(info->classes, 10);
	assert_int_equal(info->channels, 3);
	assert_int_equal(info->height, 32);
	assert_int_equal(info->width, 32);
	assert_true(info->parted);
	assert_int_equal(records_look(records, 2).label, 3);
	assert_int_equal(records_look(records, 4).label, 9);
	assert_int_equal(records_look(records, 4).part, RECORDS_STREAM);
	assert_int_equal(records_look(records, 5).part, RECORDS_EVAL);
	assert_int_equal(read_one(records, 4)->size, PIXELS);
	assert_int_equal(read_one(records, 4)->data[0], 21);
	assert_int_equal(read_one(records, 4)->data[PIXELS - 1], 21);
	assert_int_equal(read_one(records, 5)->data[0], 30);
	records_where(records, 4, where, sizeof(where));
	assert_non_null(strstr(where, "data_batch_2.bin, record 1"));
	assert_string_equal(records_class_name(records, 9), "the last");
	assert_null(records_class_name(records, 10));
	assert_null(records_class_name(records, -1));
	records_close(records);
	records = opened("", "data_batch_2.bin");
	assert_int_equal(records_info(records)->count, 2);
	assert_false(records_info(records)->parted);
	records_close(records);
	read_one(NULL, 0);
}

static void hundred_has_fine_labels(void **state)
{
	struct records *records;

	write_batch("train.bin", 200, LABELS(99, 50), 2, 10);
	write_batch("test.bin", 3, LABELS(7), 1, 40);
	records = opened("cifar", "");
	assert_int_equal(records_info(records)->classes, 100);
	assert_int_equal(records_info(records)->count, 3);
	assert_int_equal(records_look(records, 0).label, 99);
	assert_int_equal(records_look(records, 2).label, 7);
	assert_int_equal(read_one(records, 1)->data[0], 11);
	assert_null(records_class_name(records, 1));
	records_close(records);
	read_one(NULL, 0);
}

static void wrong_files_are_named(void **state)
{
	assert_refused("cifar", "", "has no data_batch_1.bin and no train.bin");
	assert_refused("cifar", "x.bin", "x.bin: is called neither");
	write_words("test.bin", "short");
	assert_refused("cifar", "",
		"test.bin: its 5 bytes are not a whole number of CIFAR-100 records, of "
		"3074 bytes each");
	write_words("test.bin", "");
	assert_refused("cifar", "", "its 0 bytes");
	write_batch("test.bin", 0, LABELS(4, 100), 2, 0);
	assert_refused("cifar", "", "test.bin, record 1: label 100; CIFAR-100 has 100 classes");
	write_batch("data_batch_1.bin", -1, LABELS(10), 1, 0);
	assert_refused("cifar", "data_batch_1.bin", "record 0: label 10; CIFAR-10 has 10 classes");
	assert_refused("cifar", "", "holds both CIFAR-10 and CIFAR-100");
}

static void a_shortened_file_is_an_error(void **state)
{
	struct records *records;

	write_batch("train.bin", 0, LABELS(1, 2), 2, 10);
	records = opened("cifar", "");
	assert_int_equal(truncate(in_folder("train.bin"), 4000), 0);
	assert_says(unreadable(records, 1), "train.bin: has become shorter");
	assert_int_equal(records_look(records, 1).label, 2);
	records_close(records);
}

static void memory_may_run_out(void **state)
{
	char words[300];

	write_batch("train.bin", 0, LABELS(1, 2), 2, 10);
	write_words("fine_label_names.txt", "a\nb\n");
	snprintf(words, sizeof(words), "cifar:%s", folder);
	assert_true(each_allocation_fails(open_and_close, words) > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(ten),
		tree_test(hundred_has_fine_labels),
		tree_test(wrong_files_are_named),
		tree_test(a_shortened_file_is_an_error),
		tree_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
