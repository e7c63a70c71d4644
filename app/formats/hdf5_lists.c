/*
 * libhdf5 has global state and is not made for threads, and damaged files end it in many
 * ways (docs/reliability.md). So it works in a process of its own (formats/list_apart.h),
 * which a failed call may leave as it is.
 *
 * A file may name others that hold its values: by links, as raw storage, as pieces of a
 * virtual dataset. None of them is ever opened, or data from a stranger would show what
 * is in files that only its user may read.
 */
#include "formats/hdf5_lists.h"

#include <hdf5.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "formats/list_apart.h"
#include "base/paths.h"

/* Values, and bytes of texts, in a block; chunks that are unpacked but once. */
enum { BLOCK = 1 << 14, BLOCK_BYTES = 4 << 20, CHUNK_SLOTS = 10007, CHUNK_BYTES = 32 << 20 };

struct list {
	const char *path, *dataset;
	hid_t file, data, type, space, memory_type, memory_space;
	hsize_t count;
	int rank;
	bool text, variable;
	size_t each, block; /* bytes of a value in memory, values of a block */
	void *values;
	list_visit *visit;
	void *self;
	char linked[128]; /* the other file that a link leads to */
};

static int refuse(const struct list *list, const char *why, struct err *err)
{
	return err_set(err, ERR_FORMAT, "%s: its dataset %s %s", list->path, list->dataset, why);
}

static int open_file(struct list *list, struct err *err)
{
	const hid_t access = H5Pcreate(H5P_FILE_ACCESS);

	if (!path_exists(list->path)) {
		H5Pclose(access);
		return err_set(err, ERR_FILE, "%s: there is no such file", list->path);
	}
	/* Data on network file systems often cannot be locked, and is only read here. */
	H5Pset_file_locking(access, false, true);
	list->file = H5Fopen(list->path, H5F_ACC_RDONLY, access);
	H5Pclose(access);
	return list->file < 0
		       ? err_set(err, ERR_FORMAT,
				 "%s: is no HDF5 file, is damaged or cannot be read", list->path)
		       : 0;
}

/* libhdf5 asks before it follows a link into another file. */
static herr_t refuse_link(const char *file, const char *group, const char *linked,
	const char *object, unsigned *flags, hid_t access, void *self)
{
	struct list *list = self;

	snprintf(list->linked, sizeof(list->linked), "%s", linked);
	return -1;
}

/* Whether all values are in the file itself. */
static int check_storage(const struct list *list, struct err *err)
{
	const hid_t made = H5Dget_create_plist(list->data);
	const bool virtual = H5Pget_layout(made) == H5D_VIRTUAL;
	const int external = H5Pget_external_count(made);

	H5Pclose(made);
	if (virtual)
		return refuse(
			list, "is virtual: its values are in other files, which are not read", err);
	return external ? refuse(list, "keeps its values in another file, which is not read", err)
			: 0;
}

static int open_dataset(struct list *list, struct err *err)
{
	const hid_t access = H5Pcreate(H5P_DATASET_ACCESS);
	hsize_t shape[2] = {0};
	int code;

	H5Pset_chunk_cache(access, CHUNK_SLOTS, CHUNK_BYTES, 1);
	H5Pset_elink_cb(access, refuse_link, list);
	list->data = H5Dopen2(list->file, list->dataset, access);
	H5Pclose(access);
	if (*list->linked)
		return err_set(err, ERR_FORMAT,
			"%s: its dataset %s is a link into another file, %s, which is not followed",
			list->path, list->dataset, list->linked);
	if (list->data < 0)
		return err_set(err, ERR_FORMAT, "%s: has no dataset %s", list->path, list->dataset);
	code = check_storage(list, err);
	if (code)
		return code;
	list->type = H5Dget_type(list->data);
	list->space = H5Dget_space(list->data);
	list->rank = H5Sget_simple_extent_ndims(list->space);
	if (list->rank != 1 && list->rank != 2)
		return refuse(list, "is not of one dimension", err);
	H5Sget_simple_extent_dims(list->space, shape, NULL);
	if (list->rank == 2 && shape[1] != 1)
		return refuse(list, "is not of one dimension", err);
	list->count = shape[0];
	return 0;
}

/* The type that values have in memory. */
static int find_type(struct list *list, struct err *err)
{
	const H5T_class_t kind = H5Tget_class(list->type);

	if (kind == H5T_INTEGER) {
		list->memory_type = H5Tcopy(H5T_NATIVE_INT64);
		list->each = sizeof(int64_t);
	} else if (kind == H5T_STRING) {
		list->text = true;
		list->variable = H5Tis_variable_str(list->type) > 0;
		list->memory_type = H5Tcopy(list->type);
		list->each = H5Tget_size(list->type);
	} else {
		return refuse(list, "holds neither whole numbers nor texts", err);
	}
	if (list->memory_type < 0 || !list->each || list->each > BLOCK_BYTES)
		return refuse(list, "has values of a size that cannot be read", err);
	list->block = BLOCK_BYTES / list->each < BLOCK ? BLOCK_BYTES / list->each : BLOCK;
	if (list->block > list->count)
		list->block = (size_t)list->count;
	list->values = mem_new(list->block, list->each);
	return list->values ? 0 : err_memory(err, list->path, list->block * list->each);
}

static struct list_value value_at(const struct list *list, size_t i)
{
	struct list_value value = {.kind = list->text ? LIST_TEXT : LIST_WHOLE};

	if (!list->text) {
		value.whole = ((const int64_t *)list->values)[i];
	} else if (list->variable) {
		const char *text = ((char *const *)list->values)[i];

		value.text = text ? text : "";
		value.size = strlen(value.text);
	} else {
		value.text = (const char *)list->values + i * list->each;
		value.size = strnlen(value.text, list->each);
	}
	return value;
}

static int visit_block(const struct list *list, size_t n, struct err *err)
{
	int code = 0;

	for (size_t i = 0; i < n && !code; i++) {
		const struct list_value value = value_at(list, i);

		code = list->visit(list->self, &value, err);
	}
	return code;
}

static int read_block(struct list *list, hsize_t first, size_t n, struct err *err)
{
	const hsize_t start[2] = {first, 0}, count[2] = {n, 1}, size = n;
	int code;

	list->memory_space = H5Screate_simple(1, &size, NULL);
	if (list->memory_space < 0 ||
		H5Sselect_hyperslab(list->space, H5S_SELECT_SET, start, NULL, count, NULL) < 0 ||
		H5Dread(list->data, list->memory_type, list->memory_space, list->space, H5P_DEFAULT,
			list->values) < 0) {
		if (list->memory_space >= 0)
			H5Sclose(list->memory_space);
		return refuse(
			list, "is damaged, or compressed in a way that libhdf5 does not know", err);
	}
	code = visit_block(list, n, err);
	if (list->variable)
		H5Dvlen_reclaim(list->memory_type, list->memory_space, H5P_DEFAULT, list->values);
	H5Sclose(list->memory_space);
	return code;
}

static int read_all(struct list *list, struct err *err)
{
	int code = open_file(list, err);

	if (!code)
		code = open_dataset(list, err);
	if (!code)
		code = find_type(list, err);
	for (hsize_t at = 0; at < list->count && !code; at += list->block) {
		const hsize_t left = list->count - at;

		code = read_block(list, at, left < list->block ? (size_t)left : list->block, err);
	}
	return code;
}

static void close_all(struct list *list)
{
	mem_free(list->values);
	if (list->memory_type >= 0)
		H5Tclose(list->memory_type);
	if (list->space >= 0)
		H5Sclose(list->space);
	if (list->type >= 0)
		H5Tclose(list->type);
	if (list->data >= 0)
		H5Dclose(list->data);
	if (list->file >= 0)
		H5Fclose(list->file);
}

static int read_apart(void *job, list_visit *visit, void *self, struct err *err)
{
	struct list *list = job;
	int code;

	list->visit = visit;
	list->self = self;
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL); /* it would print every error */
	code = read_all(list, err);
	close_all(list);
	return code;
}

int hdf5_list_read(
	const char *path, const char *dataset, list_visit *visit, void *self, struct err *err)
{
	struct list list = {.path = path,
		.dataset = dataset,
		.file = -1,
		.data = -1,
		.type = -1,
		.space = -1,
		.memory_type = -1};

	return list_apart(path, read_apart, &list, visit, self, err);
}
