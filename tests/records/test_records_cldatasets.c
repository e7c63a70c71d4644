/*
 * Trees of CLDatasets, with HDF5 files in every form in which they go about: texts of
 * fixed and of any length, padded with NULs or blanks, labels of every whole type, N or
 * N by 1, contiguous, chunked and compressed.
 */
#include "records_check.h"

#include <hdf5.h>

/* How a dataset is laid out. */
struct form {
	bool column, chunked;
	H5T_str_t padding;
};

static const struct form plain = {.padding = H5T_STR_NULLPAD};

static hid_t new_file(const char *name)
{
	hid_t file;

	write_words(name, "");
	file = H5Fcreate(in_folder(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
	assert_true(file >= 0);
	return file;
}

static void write_dataset(const char *name, const char *dataset, hid_t stored, hid_t memory,
	const void *values, hsize_t count, struct form form)
{
	const hsize_t shape[2] = {count, 1}, chunk[2] = {count < 7 ? count : 7, 1};
	const hid_t file = new_file(name), list = H5Pcreate(H5P_DATASET_CREATE);
	const hid_t space = H5Screate_simple(form.column ? 2 : 1, shape, NULL);
	hid_t data;

	if (form.chunked) {
		assert_true(H5Pset_chunk(list, form.column ? 2 : 1, chunk) >= 0);
		assert_true(H5Pset_shuffle(list) >= 0);
		assert_true(H5Pset_deflate(list, 6) >= 0);
	}
	data = H5Dcreate2(file, dataset, stored, space, H5P_DEFAULT, list, H5P_DEFAULT);
	assert_true(data >= 0);
	assert_true(H5Dwrite(data, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
	H5Dclose(data);
	H5Sclose(space);
	H5Pclose(list);
	H5Fclose(file);
}

/* Texts of any length. */
static void write_texts(const char *name, const char *const *texts, hsize_t count, struct form form)
{
	const hid_t type = H5Tcopy(H5T_C_S1);

	H5Tset_size(type, H5T_VARIABLE);
	H5Tset_cset(type, H5T_CSET_UTF8);
	write_dataset(name, "store_list", type, type, texts, count, form);
	H5Tclose(type);
}

/* Texts of `width` bytes each. */
static void write_fixed(
	const char *name, const char *texts, size_t width, hsize_t count, struct form form)
{
	const hid_t type = H5Tcopy(H5T_C_S1);

	H5Tset_size(type, width);
	H5Tset_strpad(type, form.padding);
	write_dataset(name, "store_list", type, type, texts, count, form);
	H5Tclose(type);
}

static void write_labels(
	const char *name, hid_t stored, const int64_t *labels, hsize_t count, struct form form)
{
	write_dataset(name, "store_list", stored, H5T_NATIVE_INT64, labels, count, form);
}

static const char *const three[] = {"a.jpg\n", "  b/c.jpg \r\n", "d.jpg"};
static const int64_t labels[] = {5, 0, 712};

static void write_train(const char *root, hid_t label_type, struct form form)
{
	char name[300];

	snprintf(name, sizeof(name), "%s/order_files/train_image_paths.hdf5", root);
	write_texts(name, three, 3, form);
	snprintf(name, sizeof(name), "%s/order_files/train_labels.hdf5", root);
	write_labels(name, label_type, labels, 3, form);
}

static void check_three(const char *root)
{
	struct records *records = opened("", root);
	static const char *const where[] = {"data/a.jpg", "data/b/c.jpg", "data/d.jpg"};
	char path[500];

	assert_string_equal(records->type->name, "cldatasets");
	assert_int_equal(records_info(records)->form, RECORDS_IMAGE);
	assert_int_equal(records_info(records)->count, 3);
	assert_int_equal(records_info(records)->classes, 713);
	assert_false(records_info(records)->timed);
	assert_false(records_info(records)->parted);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(records_look(records, i).label, labels[i]);
		assert_int_equal(records_look(records, i).part, RECORDS_STREAM);
		assert_int_equal(records_look(records, i).time, 0);
		records_where(records, i, path, sizeof(path));
		assert_string_equal(path + strlen(path) - strlen(where[i]), where[i]);
	}
	assert_memory_equal(read_one(records, 1)->data, "BC", 2);
	assert_says(unreadable(records, 0), "data/a.jpg: cannot open: No such file");
	records_close(records);
	read_one(NULL, 0);
}

static void every_type_of_label(void **state)
{
	const hid_t types[] = {H5T_STD_I32LE, H5T_STD_I64LE, H5T_STD_U16LE, H5T_STD_U32BE,
		H5T_STD_U64LE, H5T_STD_I16BE, H5T_STD_I64BE};

	write_words("t/data/b/c.jpg", "BC");
	for (size_t i = 0; i < COUNT(types); i++) {
		write_train("t", types[i], plain);
		check_three("t");
	}
}

static void every_layout(void **state)
{
	write_words("t/data/b/c.jpg", "BC");
	for (int column = 0; column < 2; column++)
		for (int chunked = 0; chunked < 2; chunked++) {
			write_train("t", H5T_STD_I64LE,
				(struct form){.column = column, .chunked = chunked});
			check_three("t");
		}
}

static void texts_of_fixed_size(void **state)
{
	static const H5T_str_t paddings[] = {H5T_STR_NULLPAD, H5T_STR_NULLTERM, H5T_STR_SPACEPAD};

	write_words("t/data/b/c.jpg", "BC");
	for (size_t i = 0; i < COUNT(paddings); i++)
		for (int chunked = 0; chunked < 2; chunked++) {
			char texts[3][12];

			write_train("t", H5T_STD_I32LE, plain);
			memset(texts, paddings[i] == H5T_STR_SPACEPAD ? ' ' : 0, sizeof(texts));
			memcpy(texts[0], "a.jpg\n", 6);
			memcpy(texts[1], " b/c.jpg\n", 9);
			memcpy(texts[2], "d.jpg", 5);
			write_fixed("t/order_files/train_image_paths.hdf5", texts[0], 12, 3,
				(struct form){.chunked = chunked, .padding = paddings[i]});
			check_three("t");
		}
}

static void three_parts(void **state)
{
	static const char *const one[] = {"e.jpg"};
	static const int64_t label[] = {900};
	struct records *records;

	write_train("t", H5T_STD_I64LE, plain);
	write_texts("t/order_files/pretrain_image_paths.hdf5", one, 1, plain);
	write_labels("t/order_files/pretrain_labels.hdf5", H5T_STD_I32LE, label, 1, plain);
	records = opened("cldatasets", "t/");
	assert_int_equal(records_info(records)->count, 4);
	assert_int_equal(records_info(records)->classes, 901);
	assert_true(records_info(records)->parted);
	assert_int_equal(records_look(records, 3).part, RECORDS_PREPARE);
	records_close(records);
	write_texts("t/order_files/test_image_paths.hdf5", one, 1, plain);
	assert_refused("cldatasets", "t", "order_files/test_labels.hdf5: there is no such file");
	write_labels("t/order_files/test_labels.hdf5", H5T_STD_I32LE, labels, 1, plain);
	records = opened("", "t");
	assert_int_equal(records_info(records)->count, 5);
	assert_int_equal(records_look(records, 3).part, RECORDS_EVAL);
	assert_int_equal(records_look(records, 3).label, 5);
	assert_int_equal(records_look(records, 4).part, RECORDS_PREPARE);
	assert_int_equal(records_look(records, 4).label, 900);
	records_close(records);
}

/* Where images are not in data/ but beside it, and where the user says. */
static void images_elsewhere(void **state)
{
	char words[300], setting[300];
	const char *settings[] = {setting, NULL};
	struct records *records;
	struct err err = {0};

	write_train("t", H5T_STD_I64LE, plain);
	write_words("t/b/c.jpg", "ROOT");
	write_words("other/b/c.jpg", "OTHER");
	records = opened("", "t");
	assert_memory_equal(read_one(records, 1)->data, "ROOT", 4);
	records_close(records);
	snprintf(words, sizeof(words), "cldatasets:%s/t", folder);
	snprintf(setting, sizeof(setting), "cldatasets.images=%s/other", folder);
	assert_ok(try_open(&records, words, settings, &err), err);
	assert_memory_equal(read_one(records, 1)->data, "OTHER", 5);
	records_close(records);
	read_one(NULL, 0);
}

/* Such a record is bad, not the data set: stream.on_bad decides. */
static void a_label_in_no_class(void **state)
{
	static const int64_t some[] = {0, -1, 1 << 22};
	struct records *records;

	write_train("t", H5T_STD_I64LE, plain);
	write_labels("t/order_files/train_labels.hdf5", H5T_STD_I64LE, some, 3, plain);
	records = opened("cldatasets", "t");
	assert_int_equal(records_look(records, 0).label, 0);
	assert_int_equal(records_look(records, 1).label, -1);
	assert_int_equal(records_look(records, 2).label, -1);
	records_close(records);
}

static void wrong_files_are_named(void **state)
{
	static const char paths[] = "t/order_files/train_image_paths.hdf5";
	static const char label_file[] = "t/order_files/train_labels.hdf5";
	static const int64_t none[] = {-1, 1 << 22, (1 << 22) - 1};
	static const double reals[] = {0, 1, 2};
	const char *const empty[] = {"a.jpg", " \n", "b.jpg"};
	const hsize_t shape[2] = {3, 2};
	hid_t file, space, data;

	assert_refused("cldatasets", "t", "train_image_paths.hdf5: there is no such file");
	write_train("t", H5T_STD_I64LE, plain);
	write_labels(label_file, H5T_STD_I64LE, labels, 2, plain);
	assert_refused("cldatasets", "t", "t: train has 2 labels for 3 paths");
	write_texts(paths, three, 2, plain);
	write_labels(label_file, H5T_STD_I64LE, labels, 3, plain);
	assert_refused("cldatasets", "t", "train_labels.hdf5, item 2: there are 2 paths and more");
	write_train("t", H5T_STD_I64LE, plain);
	write_labels(label_file, H5T_STD_I64LE, none, 3, plain);
	assert_refused("cldatasets", "t", "none of its 3 labels is from 0 to 4194302");
	write_dataset(label_file, "store_list", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, reals, 3, plain);
	assert_refused("cldatasets", "t",
		"train_labels.hdf5: its dataset store_list holds neither whole numbers nor texts");
	write_texts(label_file, three, 3, plain);
	assert_refused("cldatasets", "t", "item 0: its label is no whole number");
	write_dataset(label_file, "list", H5T_STD_I64LE, H5T_NATIVE_INT64, labels, 3, plain);
	assert_refused("cldatasets", "t", "train_labels.hdf5: has no dataset store_list");
	write_words(label_file, "no HDF5");
	assert_refused("cldatasets", "t", "train_labels.hdf5: is no HDF5 file, is damaged");
	file = new_file(label_file);
	space = H5Screate_simple(2, shape, NULL);
	data = H5Dcreate2(
		file, "store_list", H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	H5Dclose(data);
	H5Sclose(space);
	H5Fclose(file);
	assert_refused("cldatasets", "t", "store_list is not of one dimension");
	write_labels(paths, H5T_STD_I64LE, labels, 3, plain);
	assert_refused("cldatasets", "t", "item 0: is a number, not a path");
	write_texts(paths, empty, 3, plain);
	assert_refused("cldatasets", "t", "train_image_paths.hdf5, item 1: its path is empty");
	write_texts(paths, three, 0, plain);
	write_labels(label_file, H5T_STD_I64LE, labels, 0, plain);
	assert_refused("cldatasets", "t", "t: names no images");
}

/* Cut off at many places: refused or, where libhdf5 does not miss the rest, read. */
static void cut_files_do_no_harm(void **state)
{
	static const char label_file[] = "t/order_files/train_labels.hdf5";
	struct stat facts;

	write_train("t", H5T_STD_I64LE, (struct form){.chunked = true});
	assert_int_equal(stat(in_folder(label_file), &facts), 0);
	for (off_t size = facts.st_size - 1; size > 0; size -= 1 + size / 40) {
		struct err err;

		assert_int_equal(truncate(in_folder(label_file), size), 0);
		err = refused_with("cldatasets", "t", NULL);
		assert_says(err, "train_labels.hdf5: ");
	}
}

/* Enough for an index file: it is made, found again, and made anew for other data. */
static void an_index_is_kept(void **state)
{
	enum { N = 70000, WIDTH = 20 };
	char *texts = mem_new(N, WIDTH);
	int64_t *many = mem_new(N, sizeof(*many));
	struct records *records;
	struct stat first, second;
	char path[500], expected[60];

	for (int i = 0; i < N; i++) {
		snprintf(texts + (size_t)i * WIDTH, WIDTH, "%d/%d.jpg", i % 100, i);
		many[i] = i % 713;
	}
	write_fixed("t/order_files/train_image_paths.hdf5", texts, WIDTH, N,
		(struct form){.chunked = true, .padding = H5T_STR_NULLPAD});
	write_labels("t/order_files/train_labels.hdf5", H5T_STD_I32LE, many, N,
		(struct form){.chunked = false});
	for (int pass = 0; pass < 2; pass++) {
		records = opened("", "t");
		assert_int_equal(records_info(records)->count, N);
		for (int i = 0; i < N; i += 777) {
			assert_int_equal(records_look(records, i).label, i % 713);
			records_where(records, i, path, sizeof(path));
			snprintf(expected, sizeof(expected), "t/%d/%d.jpg", i % 100, i);
			assert_non_null(strstr(path, expected));
		}
		records_close(records);
		assert_int_equal(stat(in_folder("t.retain-index"), pass ? &second : &first), 0);
	}
	assert_int_equal(first.st_ino, second.st_ino);
	many[0] = 1000;
	write_labels("t/order_files/train_labels.hdf5", H5T_STD_I32LE, many, N, plain);
	records = opened("", "t");
	assert_int_equal(records_look(records, 0).label, 1000);
	records_close(records);
	assert_int_equal(stat(in_folder("t.retain-index"), &second), 0);
	assert_int_not_equal(first.st_ino, second.st_ino);
	assert_int_equal(truncate(in_folder("t.retain-index"), second.st_size / 2), 0);
	records = opened("", "t");
	assert_int_equal(records_look(records, 0).label, 1000);
	records_close(records);
	mem_free(texts);
	mem_free(many);
}

static void failing_allocations(void **state)
{
	char words[300];

	write_train("t", H5T_STD_I64LE, plain);
	snprintf(words, sizeof(words), "cldatasets:%s/t", folder);
	assert_in_range(failures_of_open(words), 5, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tree_test(every_type_of_label),
		tree_test(every_layout),
		tree_test(texts_of_fixed_size),
		tree_test(three_parts),
		tree_test(images_elsewhere),
		tree_test(a_label_in_no_class),
		tree_test(wrong_files_are_named),
		tree_test(cut_files_do_no_harm),
		tree_test(an_index_is_kept),
		tree_test(failing_allocations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
