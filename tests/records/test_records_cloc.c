/*
 * CLOC's release, made from files that PyTorch wrote (tests/golden/torchsave): lists and
 * tensors in both formats, the CSV file, where the images are.
 */
#include "records_check.h"

#include "base/file.h"

static void copy_golden(const char *name, const char *golden)
{
	char path[600], *bytes;
	struct err err = {0};
	size_t size;

	snprintf(path, sizeof(path), "%s/golden/torchsave/%s", getenv("RETAIN_TESTS"), golden);
	assert_ok(file_read(path, 1 << 20, &bytes, &size, &err), err);
	write_bytes(name, bytes, size);
	mem_free(bytes);
}

static void write_train(const char *labels, const char *ending)
{
	char name[100];

	snprintf(name, sizeof(name), "%s.%s", labels, ending);
	copy_golden("r/train_labels.torchSave", name);
	snprintf(name, sizeof(name), "times.%s", ending);
	copy_golden("r/train_time.torchSave", name);
	snprintf(name, sizeof(name), "texts.%s", ending);
	copy_golden("r/train_store_loc.torchSave", name);
}

static void the_stream(void **state)
{
	static const char *const forms[][2] = {
		{"ints", "zip"}, {"ints", "old"}, {"long", "zip"}, {"long", "old"}};

	write_words("r/images/3/3.jpg", "THREE");
	for (size_t k = 0; k < COUNT(forms); k++) {
		struct records *records;
		struct err err = {0};
		char where[500];

		write_train(forms[k][0], forms[k][1]);
		records = opened("", "r");
		assert_string_equal(records->type->name, "cloc");
		assert_int_equal(records_info(records)->count, 1200);
		assert_int_equal(records_info(records)->classes, 713);
		assert_true(records_info(records)->timed);
		assert_false(records_info(records)->parted);
		for (int i = 0; i < 1200; i++) {
			assert_int_equal(records_look(records, i).label, 7 * i % 713);
			assert_int_equal(records_look(records, i).time, 1100000000 + 3 * i);
			assert_int_equal(records_look(records, i).part, RECORDS_STREAM);
		}
		assert_memory_equal(read_one(records, 3)->data, "THREE", 5);
		records_where(records, 1199, where, sizeof(where));
		assert_non_null(strstr(where, "r/images/2/1199.jpg"));
		assert_ok(records_path(records, 3, where, sizeof(where), &err), err);
		assert_non_null(strstr(where, "r/images/3/3.jpg"));
		assert_says(unreadable(records, 4), "r/images/4/4.jpg: cannot open");
		records_close(records);
	}
	read_one(NULL, 0);
}

static void all_parts(void **state)
{
	struct records *records;
	char where[500];

	write_train("ints", "zip");
	copy_golden("r/cross_val_labels.torchSave", "long.old");
	copy_golden("r/cross_val_time.torchSave", "times.old");
	copy_golden("r/cross_val_store_loc.torchSave", "texts.old");
	write_words("r/yfcc100m_metadata_compact_val.csv",
		"3,2008-06-01,1212300000,12@N00,x/y.jpg\n"
		"9,,1212300001,\"a,b\",z.jpg\n");
	records = opened("", "r/");
	assert_int_equal(records_info(records)->count, 2402);
	assert_true(records_info(records)->parted);
	assert_int_equal(records_look(records, 1199).part, RECORDS_STREAM);
	assert_int_equal(records_look(records, 1200).part, RECORDS_PREPARE);
	assert_int_equal(records_look(records, 1201).label, 7);
	assert_int_equal(records_look(records, 1201).time, 1100000003);
	assert_int_equal(records_look(records, 2400).part, RECORDS_EVAL);
	assert_int_equal(records_look(records, 2400).label, 3);
	assert_int_equal(records_look(records, 2400).time, 1212300000);
	assert_int_equal(records_look(records, 2401).label, 9);
	records_where(records, 2401, where, sizeof(where));
	assert_non_null(strstr(where, "r/z.jpg"));
	records_close(records);
}

/* Numbers as they are, names as numbers that differ; other parts need not have any. */
static void users(void **state)
{
	struct records *records;

	write_train("ints", "zip");
	records = opened("", "r");
	assert_false(records_info(records)->users);
	records_close(records);
	copy_golden("r/train_userID.torchSave", "ints.old");
	copy_golden("r/cross_val_labels.torchSave", "long.old");
	copy_golden("r/cross_val_time.torchSave", "times.old");
	copy_golden("r/cross_val_store_loc.torchSave", "texts.old");
	records = opened("", "r");
	assert_true(records_info(records)->users);
	for (int i = 0; i < 1200; i++)
		assert_int_equal(records_user(records, i), 7 * i % 713);
	assert_int_equal(records_look(records, 1199).time, 1100000000 + 3 * 1199);
	assert_true(records_user(records, 1200) == RECORDS_NO_USER);
	assert_int_equal(records_look(records, 1201).time, 1100000003);
	records_close(records);
	assert_int_equal(unlink(in_folder("r/train_time.torchSave")), 0);
	copy_golden("r/train_userID.torchSave", "texts.zip");
	records = opened("", "r");
	assert_true(records_user(records, 0) != records_user(records, 1));
	assert_false(records_info(records)->timed);
	records_close(records);
	copy_golden("r/train_userID.torchSave", "reals.zip");
	assert_refused("cloc", "r", "its user is a fraction");
	copy_golden("r/train_userID.torchSave", "bytes.zip");
	assert_refused("cloc", "r", "r: train has 3 users for 1200 paths");
}

/* Seconds with a fraction make microseconds of all times. */
static void times_with_a_fraction(void **state)
{
	struct records *records;

	write_train("ints", "zip");
	write_words("r/a_val.csv", "3,,1212300000.5,u,x/y.jpg\n4,,7,u,x/z.jpg");
	records = opened("", "r");
	assert_int_equal(records_look(records, 1).time, INT64_C(1100000003000000));
	assert_int_equal(records_look(records, 1200).time, INT64_C(1212300000500000));
	assert_int_equal(records_look(records, 1201).time, 7000000);
	records_close(records);
	assert_int_equal(unlink(in_folder("r/train_time.torchSave")), 0);
	records = opened("", "r");
	assert_false(records_info(records)->timed);
	assert_int_equal(records_look(records, 1200).time, 0);
	records_close(records);
}

static void where_images_are(void **state)
{
	char words[300], setting[300];
	const char *settings[] = {setting, NULL};
	struct records *records;
	struct err err = {0};

	write_train("ints", "old");
	write_words("r/2/2.jpg", "ROOT");
	records = opened("", "r");
	assert_memory_equal(read_one(records, 2)->data, "ROOT", 4);
	records_close(records);
	write_words("r/dataset/images/2/2.jpg", "DATASET");
	records = opened("", "r");
	assert_memory_equal(read_one(records, 2)->data, "DATASET", 7);
	records_close(records);
	write_words("r/images/2/2.jpg", "IMAGES");
	records = opened("", "r");
	assert_memory_equal(read_one(records, 2)->data, "IMAGES", 6);
	records_close(records);
	write_words("there/2/2.jpg", "THERE");
	snprintf(words, sizeof(words), "cloc:%s/r", folder);
	snprintf(setting, sizeof(setting), "cloc.images=%s/there", folder);
	assert_ok(try_open(&records, words, settings, &err), err);
	assert_memory_equal(read_one(records, 2)->data, "THERE", 5);
	records_close(records);
	read_one(NULL, 0);
}

static void wrong_files_are_named(void **state)
{
	static const struct {
		const char *csv, *says;
	} rows[] = {
		{"1,2,3\n", "a_val.csv, row 1: its columns are not label, date, time, user, path"},
		{"1,,3,u,x.jpg\nx,,3,u,x.jpg\n", "a_val.csv, row 2: its label is no whole number"},
		{"1.5,,3,u,x.jpg\n", "row 1: its label is no whole number"},
		{"1,,soon,u,x.jpg\n", "row 1: its time is no number of seconds"},
		{"1,,3,u,\n", "row 1: its path is empty"},
		{"1,,3,\"u,x.jpg\n", "row 1: a quote"},
	};

	struct records *records;

	write_train("ints", "zip");
	for (size_t i = 0; i < COUNT(rows); i++) {
		write_words("r/a_val.csv", rows[i].csv);
		assert_refused("cloc", "r", rows[i].says);
	}
	write_words("r/a_val.csv", "1,,3,u,x.jpg\n\n");
	records_close(opened("cloc", "r"));
	/* A label that is in no class makes the record bad, not the data set. */
	write_words("r/a_val.csv", "-1,,3,u,x.jpg\n1,,3,u,x.jpg\n4194303,,3,u,x.jpg\n");
	records = opened("cloc", "r");
	assert_int_equal(records_look(records, records_info(records)->count - 3).label, -1);
	assert_int_equal(records_look(records, records_info(records)->count - 2).label, 1);
	assert_int_equal(records_look(records, records_info(records)->count - 1).label, -1);
	records_close(records);
	write_words("r/a_val.csv", "1,,3,u,x.jpg\n");
	write_words("r/b_val.csv", "1,,3,u,x.jpg\n");
	assert_refused("cloc", "r", "both a_val.csv and b_val.csv could be the photos");
	assert_int_equal(unlink(in_folder("r/b_val.csv")), 0);
	copy_golden("r/train_labels.torchSave", "int.zip");
	assert_refused("cloc", "r", "labels for 1200 paths");
	copy_golden("r/train_labels.torchSave", "bytes.zip");
	assert_refused("cloc", "r", "r: train has 3 labels for 1200 paths");
	copy_golden("r/train_labels.torchSave", "texts.zip");
	assert_refused("cloc", "r", "item 0: its label is no whole number");
	write_train("ints", "zip");
	copy_golden("r/train_time.torchSave", "reals.zip");
	assert_refused("cloc", "r", "r: train has 3 times for 1200 paths");
	copy_golden("r/train_store_loc.torchSave", "unicode.old");
	assert_refused("cloc", "r", "train_store_loc.torchSave: item 1: its path is empty");
	copy_golden("r/train_store_loc.torchSave", "one.zip");
	assert_refused("cloc", "r", "train_labels.torchSave: item 1: there are 1 paths and more");
	write_words("r/train_store_loc.torchSave", "nothing");
	assert_refused("cloc", "r", "train_store_loc.torchSave: is no file of torch.save");
	assert_int_equal(unlink(in_folder("r/train_store_loc.torchSave")), 0);
	assert_refused("cloc", "r", "train_store_loc.torchSave: cannot open: No such file");
	assert_refused("cloc", "nowhere", "nowhere: cannot open the folder");
}

static void failing_allocations(void **state)
{
	char words[300];

	write_train("long", "old");
	write_words("r/a_val.csv", "1,,3,u,x.jpg\n");
	snprintf(words, sizeof(words), "cloc:%s/r", folder);
	assert_in_range(failures_of_open(words), 5, 200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(the_stream),
		tree_test(all_parts),
		tree_test(users),
		tree_test(times_with_a_fraction),
		tree_test(where_images_are),
		tree_test(wrong_files_are_named),
		tree_test(failing_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
