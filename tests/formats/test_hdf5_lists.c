/*
 * HDF5 files that name other files for their values: refused by name, and never opened.
 * What forms lists may have is tests/records/test_records_cldatasets.c's.
 */
#define _GNU_SOURCE 1
#include "../base/check.h"

#include <hdf5.h>

#include "../base/folder.h"
#include "base/file.h"
#include "formats/hdf5_lists.h"

static const hsize_t three = 3;

static hid_t new_file(const char *name)
{
	const hid_t file = H5Fcreate(in_folder(name), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);

	assert_true(file >= 0);
	return file;
}

/* A dataset of three texts of four bytes, made as `made` says. */
static void add_texts(hid_t file, const char *name, hid_t made)
{
	const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate_simple(1, &three, NULL);
	hid_t data;

	H5Tset_size(type, 4);
	data = H5Dcreate2(file, name, type, space, H5P_DEFAULT, made, H5P_DEFAULT);
	assert_true(data >= 0);
	if (made == H5P_DEFAULT)
		assert_true(
			H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, "KEY1KEY2KEY3") >= 0);
	H5Dclose(data);
	H5Sclose(space);
	H5Tclose(type);
}

static int count(void *self, const struct list_value *value, struct err *err)
{
	(void)err;
	assert_int_equal(value->kind, LIST_TEXT);
	assert_memory_equal(value->text, "KEY", 3);
	++*(int *)self;
	return 0;
}

static void expect_refused(const char *dataset, const char *says)
{
	struct err err = {0};
	int values = 0;

	assert_int_equal(
		hdf5_list_read(in_folder("f.hdf5"), dataset, count, &values, &err), ERR_FORMAT);
	assert_says(err, says);
	assert_null(strstr(err.message, "KEY"));
	assert_int_equal(values, 0);
}

static void links_stay_within_the_file(void **state)
{
	const hid_t other = new_file("other.hdf5"), file = new_file("f.hdf5");
	struct err err = {0};
	int values = 0;
	hid_t group;

	add_texts(other, "secret", H5P_DEFAULT);
	H5Fclose(other);
	add_texts(file, "own", H5P_DEFAULT);
	assert_true(H5Lcreate_soft("/own", file, "soft", H5P_DEFAULT, H5P_DEFAULT) >= 0);
	assert_true(H5Lcreate_external("other.hdf5", "/secret", file, "external", H5P_DEFAULT,
			    H5P_DEFAULT) >= 0);
	assert_true(H5Lcreate_soft("/external", file, "around", H5P_DEFAULT, H5P_DEFAULT) >= 0);
	group = H5Gcreate2(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
	assert_true(
		H5Lcreate_external("other.hdf5", "/", group, "out", H5P_DEFAULT, H5P_DEFAULT) >= 0);
	H5Gclose(group);
	H5Fclose(file);
	assert_ok(hdf5_list_read(in_folder("f.hdf5"), "own", count, &values, &err), err);
	assert_ok(hdf5_list_read(in_folder("f.hdf5"), "soft", count, &values, &err), err);
	assert_int_equal(values, 6);
	expect_refused("external", "f.hdf5: its dataset external is a link into another file, "
				   "other.hdf5, which is not followed");
	expect_refused("around", "its dataset around is a link into another file, other.hdf5");
	expect_refused("group/out/secret", "is a link into another file, other.hdf5");
	expect_refused("missing", "f.hdf5: has no dataset missing");
}

static void storage_stays_within_the_file(void **state)
{
	const hid_t file = new_file("f.hdf5"), made = H5Pcreate(H5P_DATASET_CREATE);
	struct err err = {0};

	assert_ok(file_write(in_folder("secret"), "KEY1KEY2KEY3", 12, &err), err);
	assert_true(H5Pset_external(made, in_folder("secret"), 0, 12) >= 0);
	add_texts(file, "stored", made);
	H5Pclose(made);
	H5Fclose(file);
	expect_refused(
		"stored", "f.hdf5: its dataset stored keeps its values in another file, which");
}

static void nothing_is_virtual(void **state)
{
	const hid_t other = new_file("other.hdf5"), file = new_file("f.hdf5");
	const hid_t made = H5Pcreate(H5P_DATASET_CREATE);
	const hid_t space = H5Screate_simple(1, &three, NULL);

	add_texts(other, "secret", H5P_DEFAULT);
	H5Fclose(other);
	assert_true(H5Pset_virtual(made, space, in_folder("other.hdf5"), "/secret", space) >= 0);
	add_texts(file, "pieced", made);
	H5Sclose(space);
	H5Pclose(made);
	H5Fclose(file);
	expect_refused("pieced", "f.hdf5: its dataset pieced is virtual: its values are in other");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		folder_test(links_stay_within_the_file),
		folder_test(storage_stays_within_the_file),
		folder_test(nothing_is_virtual),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
