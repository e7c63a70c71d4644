/* IDX files: what is in them comes back; gzipped or not; whatever is wrong with one is named. */
#include "records_check.h"

#include "base/file.h"
#include "formats/gunzip.h"

/* Two images of 2 by 3, labels 7 and 3. */
#define IMAGES                                                                                     \
	"\0\0\x08\x03\0\0\0\x02\0\0\0\x02\0\0\0\x03"                                               \
	"abcdefghijkl"
#define LABELS "\0\0\x08\x01\0\0\0\x02\x07\x03"

#define WRITE(name, bytes) write_bytes(name, bytes, sizeof(bytes) - 1)

static void write_train(void)
{
	WRITE("train-images-idx3-ubyte", IMAGES);
	WRITE("train-labels-idx1-ubyte", LABELS);
}

static void images_and_labels(void **state)
{
	struct records *records;
	const struct records_info *info;
	char where[300];

	write_train();
	records = opened("", "");
	info = records_info(records);
	assert_string_equal(records->type->name, "idx");
	assert_int_equal(info->form, RECORDS_PIXELS);
	assert_int_equal(info->count, 2);
	assert_int_equal(info->classes, 8);
	assert_int_equal(info->channels * 100 + info->height * 10 + info->width, 123);
	assert_false(info->timed || info->parted);
	assert_int_equal(records_look(records, 0).label, 7);
	assert_int_equal(records_look(records, 1).label, 3);
	assert_int_equal(read_one(records, 1)->size, 6);
	assert_memory_equal(read_one(records, 1)->data, "ghijkl", 6);
	assert_memory_equal(read_one(records, 0)->data, "abcdef", 6);
	records_where(records, 1, where, sizeof(where));
	assert_non_null(strstr(where, "train-images-idx3-ubyte, image 1"));
	assert_null(records_class_name(records, 3));
	records_close(records);
	read_one(NULL, 0);
}

static void evaluation_and_other_names(void **state)
{
	struct records *records;

	WRITE("train-images.idx3-ubyte", IMAGES);
	WRITE("train-labels.idx1-ubyte", LABELS);
	WRITE("t10k-images-idx3-ubyte", IMAGES);
	WRITE("t10k-labels-idx1-ubyte", LABELS);
	records = opened("idx", "");
	assert_int_equal(records_info(records)->count, 4);
	assert_true(records_info(records)->parted);
	assert_int_equal(records_look(records, 1).part, RECORDS_STREAM);
	assert_int_equal(records_look(records, 2).part, RECORDS_EVAL);
	assert_int_equal(records_look(records, 3).label, 3);
	assert_memory_equal(read_one(records, 3)->data, "ghijkl", 6);
	records_close(records);
	records = opened("", "t10k-images-idx3-ubyte");
	assert_int_equal(records_info(records)->count, 2);
	assert_false(records_info(records)->parted);
	records_close(records);
	read_one(NULL, 0);
}

static void wrong_files_are_named(void **state)
{
	assert_refused("idx", "nothing-images-idx3", "cannot open");
	assert_refused("idx", "", "has no train-images-idx3-ubyte[.gz]");
	WRITE("train-images-idx3-ubyte", IMAGES);
	assert_refused("idx", "", "train-labels-idx1-ubyte: cannot open");
	WRITE("train-labels-idx1-ubyte", "\0\0\x08\x01\0\0\0\x03\x07\x03\x01");
	assert_refused("idx", "", "3 labels for the 2 images in ");
	WRITE("train-labels-idx1-ubyte", "\0\0\x08\x01\0\0\0\x02\x07");
	assert_refused("idx", "", "holds 1 bytes after its header, which promises 2 times 1");
	WRITE("train-labels-idx1-ubyte", "\0\0\x08");
	assert_refused("idx", "", "too short for an IDX header");
	WRITE("train-labels-idx1-ubyte", LABELS);
	WRITE("train-images-idx3-ubyte", IMAGES "x");
	assert_refused("idx", "", "holds 13 bytes after its header, which promises 2 times 6");
	WRITE("train-images-idx3-ubyte", "\0\0\x08\x01\0\0\0\x02\0\0\0\x02\0\0\0\x03"
					 "abcdefghijkl");
	assert_refused("idx", "", "begins with 2049, not with 2051 as IDX images do");
	WRITE("train-images-idx3-ubyte", "\0\0\x08\x03\xff\xff\xff\xff\0\0\0\0\0\0\0\0");
	assert_refused("idx", "", "promises 4294967295 times 0");
	WRITE("train-images-idx3-ubyte", "\0\0\x08\x03\0\0\0\1\xff\xff\xff\xff\xff\xff\xff\xff");
	assert_refused("idx", "", "images of 4294967295 by 4294967295");
	WRITE("train-images-idx3-ubyte", "\0\0\x08\x03\0\0\0\0\0\0\0\1\0\0\0\1");
	WRITE("train-labels-idx1-ubyte", "\0\0\x08\x01\0\0\0\0");
	assert_refused("idx", "", "holds no images");
	WRITE("train-images-idx3-ubyte", "");
	assert_refused("idx", "", "too short");
	write_train();
	WRITE("t10k-images-idx3-ubyte", "\0\0\x08\x03\0\0\0\1\0\0\0\1\0\0\0\1z");
	WRITE("t10k-labels-idx1-ubyte", "\0\0\x08\x01\0\0\0\1\0");
	assert_refused("idx", "", "images of 1 by 1, and others of 2 by 3");
}

static void gzip_is_checked(void **state)
{
	unsigned char broken[64];
	struct records *records;
	unsigned char *out;
	size_t size, all;
	char *packed;
	struct err err = {0};
	char command[600];

	WRITE("train-images-idx3-ubyte", IMAGES);
	WRITE("train-labels-idx1-ubyte", LABELS);
	snprintf(command, sizeof(command), "gzip -n %s/train-labels-idx1-ubyte", folder);
	if (system(command)) {
		print_message("skipped: there is no gzip\n");
		skip();
	}
	records = opened("idx", "");
	assert_int_equal(records_look(records, 0).label, 7);
	records_close(records);
	assert_ok(
		file_read(in_folder("train-labels-idx1-ubyte.gz"), 1000, &packed, &all, &err), err);
	assert_true(all < sizeof(broken));
	for (size_t cut = 3; cut < all; cut++) {
		assert_int_equal(gunzip("x", packed, cut, 100, &out, &size, &err), ERR_FORMAT);
		assert_says(err, "x: the gzipped file ends too early");
	}
	for (size_t at = 10; at < all; at++) {
		memcpy(broken, packed, all);
		broken[at] ^= 0x10;
		/* A bit that only fills up a byte does no harm. */
		if (!gunzip("x", broken, all, 100, &out, &size, &err))
			assert_memory_equal(out, LABELS, sizeof(LABELS) - 1);
		mem_free(out);
	}
	assert_int_equal(gunzip("x", packed, all, 9, &out, &size, &err), ERR_FORMAT);
	assert_says(err, "x: unpacks to more than 9 bytes");
	assert_ok(gunzip("x", packed, all, 10, &out, &size, &err), err);
	assert_int_equal(size, 10);
	mem_free(out);
	memcpy(broken, packed, all);
	broken[all] = 'x';
	assert_int_equal(gunzip("x", broken, all + 1, 100, &out, &size, &err), ERR_FORMAT);
	mem_free(packed);
}

static void a_shortened_file_is_an_error(void **state)
{
	struct records *records;

	write_train();
	records = opened("idx", "");
	assert_int_equal(truncate(in_folder("train-images-idx3-ubyte"), 20), 0);
	assert_says(unreadable(records, 1), "has become shorter since it was opened");
	records_close(records);
}

static void memory_may_run_out(void **state)
{
	char words[300];

	write_train();
	snprintf(words, sizeof(words), "idx:%s", folder);
	assert_true(each_allocation_fails(open_and_close, words) > 5);
}

static void mnist(void **state)
{
	const char *path = shared_data("mnist");
	struct records *records;
	struct err err = {0};
	int64_t labels[10] = {0}, sum = 0;

	if (!path)
		skip();
	assert_ok(try_open(&records, path, NULL, &err), err);
	assert_int_equal(records_info(records)->count, 70000);
	assert_int_equal(records_info(records)->classes, 10);
	assert_int_equal(records_info(records)->height, 28);
	for (int i = 0; i < 70000; i++)
		labels[records_look(records, i).label]++;
	assert_int_equal(labels[0], 5923 + 980);
	assert_int_equal(labels[1], 6742 + 1135);
	assert_int_equal(records_look(records, 0).label, 5);
	assert_int_equal(records_look(records, 60000).label, 7);
	assert_int_equal(records_look(records, 60000).part, RECORDS_EVAL);
	for (int i = 0; i < 60000; i++) {
		const struct record_bytes *bytes = read_one(records, i);

		for (size_t k = 0; k < bytes->size; k++)
			sum += bytes->data[k];
	}
	/* The mean that everybody uses, 0.1307. */
	assert_int_equal((int)((double)sum / 60000 / 784 / 255 * 10000 + 0.5), 1307);
	records_close(records);
	read_one(NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(images_and_labels),
		tree_test(evaluation_and_other_names),
		tree_test(wrong_files_are_named),
		tree_test(gzip_is_checked),
		tree_test(a_shortened_file_is_an_error),
		tree_test(memory_may_run_out),
		cmocka_unit_test(mnist),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
