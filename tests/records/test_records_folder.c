/*
 * Folders of images: classes by name, both kinds of validation folders, every
 * file of labels; an index file that is used, and made again when it must be.
 */
#include "records_check.h"

static void classes_are_folders(void **state)
{
	struct records *records;
	const struct records_info *info;
	char where[300];

	write_words("zebra/2.png", "z2");
	write_words("zebra/1.JPEG", "z1");
	write_words("ant/deeper/still/a.jpg", "a");
	write_words("ant/notes.txt", "no image");
	write_words("ant/b.jpeg", "b");
	write_words("readme.txt", "no class");
	write_words(".hidden/x.jpg", "no class");
	records = opened("", "");
	info = records_info(records);
	assert_string_equal(records->type->name, "folder");
	assert_int_equal(info->form, RECORDS_IMAGE);
	assert_int_equal(info->count, 4);
	assert_int_equal(info->classes, 2);
	assert_false(info->timed || info->parted);
	assert_int_equal(records_left_out(records)->count, 1);
	assert_string_equal(name_list_at(records_left_out(records), 0), "ant/notes.txt");
	assert_string_equal(records_class_name(records, 0), "ant");
	assert_string_equal(records_class_name(records, 1), "zebra");
	assert_null(records_class_name(records, 2));
	assert_int_equal(records_look(records, 0).label, 0);
	assert_int_equal(records_look(records, 3).label, 1);
	assert_memory_equal(read_one(records, 0)->data, "b", 1);
	assert_memory_equal(read_one(records, 1)->data, "a", 1);
	assert_int_equal(read_one(records, 2)->size, 2);
	assert_memory_equal(read_one(records, 2)->data, "z1", 2);
	records_where(records, 1, where, sizeof(where));
	assert_non_null(strstr(where, "/ant/deeper/still/a.jpg"));
	remove(in_folder("zebra/2.png"));
	assert_says(unreadable(records, 3), "zebra/2.png: cannot open");
	records_close(records);
	read_one(NULL, 0);
}

static void write_train(void)
{
	write_words("d/train/n01/n01_1.JPEG", "1");
	write_words("d/train/n02/n02_1.JPEG", "2");
	write_words("d/train/n03/images/n03_1.JPEG", "3");
}

static void validation_in_classes(void **state)
{
	struct records *records;

	write_train();
	write_words("d/val/n02/v.JPEG", "v2");
	records = opened("folder", "d");
	assert_int_equal(records_info(records)->count, 4);
	assert_true(records_info(records)->parted);
	assert_int_equal(records_look(records, 2).part, RECORDS_STREAM);
	assert_int_equal(records_look(records, 3).part, RECORDS_EVAL);
	assert_int_equal(records_look(records, 3).label, 1);
	assert_memory_equal(read_one(records, 3)->data, "v2", 2);
	assert_memory_equal(read_one(records, 2)->data, "3", 1);
	records_close(records);
	write_words("d/val/n09/v.JPEG", "v9");
	assert_refused(
		"folder", "d", "/d/val/n09: is a class that the stream's folder, train, does");
	read_one(NULL, 0);
}

static void expect_flat(const char *words, int first, int second)
{
	struct records *records;

	write_words("d/val.txt", words);
	records = opened("folder", "d");
	assert_int_equal(records_info(records)->count, 5);
	assert_int_equal(records_look(records, 3).part, RECORDS_EVAL);
	assert_int_equal(records_look(records, 3).label, first);
	assert_int_equal(records_look(records, 4).label, second);
	assert_memory_equal(read_one(records, 3)->data, "va", 2);
	assert_memory_equal(read_one(records, 4)->data, "vb", 2);
	records_close(records);
}

static void validation_with_labels(void **state)
{
	write_train();
	write_words("d/val/a.JPEG", "va");
	write_words("d/val/b.JPEG", "vb");
	assert_refused("folder", "d", "/d/val: has neither folders of classes nor a");
	expect_flat("b.JPEG n01\na.JPEG n03\n", 2, 0);
	expect_flat("name,label\r\na,n02 85 1 499 272\r\nb,n01\r\nc,nowhere\r\n\r\n", 1, 0);
	expect_flat("a.JPEG\t2\tmore\nb.JPEG\t0", 2, 0);
	write_words("d/val.txt", "a.JPEG n01\nb.JPEG n04\n");
	assert_refused("folder", "d", "val.txt, row 2: n04 is not one of 3 classes");
	write_words("d/val.txt", "a.JPEG 3\nb.JPEG 0\n");
	assert_refused("folder", "d", "val.txt, row 1: 3 is not one of 3 classes");
	write_words("d/val.txt", "\na.JPEG\n");
	assert_refused("folder", "d", "val.txt, row 2: has a name and no label");
	write_words("d/val.txt", "a.JPEG 0\n");
	assert_refused("folder", "d", "val.txt: has no label for b.JPEG");
	read_one(NULL, 0);
}

static void validation_in_images(void **state)
{
	struct records *records;

	write_train();
	write_words("d/val/images/a.JPEG", "va");
	write_words("d/val/val_annotations.txt", "a.JPEG\tn02\t0\t32\t44\t62\n");
	write_words("d/test/images/t.JPEG", "t");
	records = opened("folder", "d");
	assert_int_equal(records_info(records)->count, 4);
	assert_int_equal(records_look(records, 3).label, 1);
	assert_memory_equal(read_one(records, 3)->data, "va", 2);
	records_close(records);
	read_one(NULL, 0);
}

static void the_kits_numbers(void **state)
{
	struct records *records;

	write_train();
	write_words("d/val/a.JPEG", "va");
	write_words("d/val/b.JPEG", "vb");
	write_words("d/ILSVRC2012_validation_ground_truth.txt", "1\n3\n");
	assert_refused("folder", "d", "put ILSVRC2012_wnids.txt beside it");
	write_words("d/ILSVRC2012_wnids.txt", "n03\nn01\nn02\n");
	records = opened("folder", "d");
	assert_int_equal(records_look(records, 3).label, 2);
	assert_int_equal(records_look(records, 4).label, 1);
	records_close(records);
	write_words("d/ILSVRC2012_validation_ground_truth.txt", "1\n4\n");
	assert_refused("folder", "d", "row 2: no number from 1 to 3");
	write_words("d/ILSVRC2012_validation_ground_truth.txt", "1\n1\n1\n");
	assert_refused("folder", "d", "has 3 rows for 2 images");
	write_words("d/ILSVRC2012_validation_ground_truth.txt", "1\n");
	assert_refused("folder", "d", "has 1 rows for 2 images");
	write_words("d/ILSVRC2012_wnids.txt", "n99\n");
	assert_refused("folder", "d", "row 1: there is no class n99");
}

static void nothing_is_refused(void **state)
{
	assert_refused("folder", "missing", "missing: cannot open the folder");
	assert_refused("folder", "", "has no images in folders of classes");
	write_words("a.jpg", "x");
	assert_refused("folder", "", "has no images in folders of classes");
	write_words("train/c/readme", "x");
	assert_refused("folder", "", "has no images in folders of classes");
}

enum { MANY = 16384 };

static void write_many(void)
{
	char name[64];

	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "d/c%d/%05d.jpg", i % 3, i);
		if (i < 3)
			write_words(name, "");
		else
			close(open(in_folder(name), O_CREAT | O_WRONLY, 0666));
	}
}

static void check_many(int more)
{
	struct records *records = opened("folder", "d/");
	char where[300];

	assert_int_equal(records_info(records)->count, MANY + more);
	assert_int_equal(records_look(records, 5462).label, 1);
	records_where(records, 5462, where, sizeof(where));
	assert_non_null(strstr(where, "/c1/00001.jpg"));
	assert_string_equal(records_class_name(records, 2), "c2");
	records_close(records);
}

static void an_index_is_kept(void **state)
{
	struct stat first, second;
	FILE *file;

	write_many();
	check_many(0);
	assert_int_equal(stat(in_folder("d.retain-index"), &first), 0);
	check_many(0);
	assert_int_equal(stat(in_folder("d.retain-index"), &second), 0);
	assert_int_equal(first.st_ino, second.st_ino); /* not written again */
	/* Damage anywhere, and it is made anew. */
	for (long at = 3; at < first.st_size; at += first.st_size / 5) {
		file = fopen(in_folder("d.retain-index"), "r+b");
		assert_non_null(file);
		fseek(file, at, SEEK_SET);
		fputc(0x5a, file);
		fclose(file);
		check_many(0);
	}
	assert_int_equal(truncate(in_folder("d.retain-index"), 100), 0);
	check_many(0);
	/* Another image, and it is no longer true. */
	write_words("d/c2/new.jpg", "");
	check_many(1);
	check_many(1);
}

static void memory_may_run_out(void **state)
{
	char words[300];

	write_train();
	write_words("d/val/a.JPEG", "va");
	write_words("d/val.txt", "a.JPEG n02\n");
	snprintf(words, sizeof(words), "folder:%s/d", folder);
	assert_true(failures_of_open(words) > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(classes_are_folders),
		tree_test(validation_in_classes),
		tree_test(validation_with_labels),
		tree_test(validation_in_images),
		tree_test(the_kits_numbers),
		tree_test(nothing_is_refused),
		tree_test(an_index_is_kept),
		tree_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
