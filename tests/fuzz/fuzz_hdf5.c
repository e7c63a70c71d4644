/*
 * Sound lists in HDF5 files. The input says what libhdf5 shall write:
 *
 *	byte 0       the type of elements
 *	byte 1       their size, if they are texts
 *	byte 2       how many dimensions, how they are laid out, if they may grow
 *	bytes 3 - 5  how long each dimension is
 *	the rest     elements, over and over
 *
 * They are read in this process: another one for each takes most of the time, and
 * libhdf5 survives sound files. fuzz_hdf5_damaged.c reads the others.
 */
#include <hdf5.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/hdf5_lists.h"
#include "formats/list_apart.h"
#include "fuzz.h"

enum { HEAD = 6, RANK_MOST = 3, TEXTS_MOST = 64, LISTS = 16 };

struct seen {
	uint64_t values, sum;
};

static int see(void *self, const struct list_value *value, struct err *err)
{
	struct seen *seen = self;

	(void)err;

	fuzz_check(value->kind == LIST_WHOLE || value->kind == LIST_TEXT);
	for (size_t i = 0; value->kind == LIST_TEXT && i < value->size; i++)
		seen->sum += (unsigned char)value->text[i];
	seen->values++;
	return 0;
}

static hid_t make_type(uint8_t which, uint8_t size)
{
	const hid_t types[] = {H5T_STD_I8LE, H5T_STD_U8BE, H5T_STD_I16BE, H5T_STD_U32LE,
		H5T_STD_I64LE, H5T_STD_I64BE, H5T_STD_U64LE, H5T_IEEE_F32LE, H5T_IEEE_F64BE,
		H5T_STD_B16LE, H5T_C_S1, H5T_FORTRAN_S1, H5T_C_S1};
	const int count = sizeof(types) / sizeof(types[0]), i = which % count;
	const hid_t type = H5Tcopy(types[i]);

	if (i == count - 1)
		H5Tset_size(type, H5T_VARIABLE);
	else if (i >= count - 3)
		H5Tset_size(type, (size_t)size % 40 + 1);
	if (i >= count - 3 && which >= 64)
		H5Tset_strpad(type, H5T_STR_SPACEPAD);
	return type;
}

static hid_t make_space(const uint8_t *head, hsize_t shape[RANK_MOST], int *rank)
{
	hsize_t most[RANK_MOST];
	const bool grows = head[2] & 64;

	*rank = head[2] % 4;
	if (!*rank)
		return H5Screate(H5S_SCALAR);
	for (int i = 0; i < *rank; i++) {
		shape[i] = i == 0 ? head[3] : head[3 + i] % 3;
		most[i] = grows ? H5S_UNLIMITED : shape[i];
	}
	return H5Screate_simple(*rank, shape, most);
}

static hid_t make_layout(const uint8_t *head, int rank)
{
	const hid_t layout = H5Pcreate(H5P_DATASET_CREATE);
	const hsize_t chunk[RANK_MOST] = {(head[5] & 15) + 1, 1, 1};
	const int kind = head[2] / 4 % 4;

	if (rank && (kind || head[2] & 64))
		H5Pset_chunk(layout, rank, chunk);
	if (rank && kind >= 2)
		H5Pset_deflate(layout, 1);
	if (rank && kind == 3)
		H5Pset_shuffle(layout);
	return layout;
}

/* Texts of any length, parted by newlines, over and over. */
static void write_texts(hid_t data, hid_t type, size_t count, char *bytes)
{
	const char **texts = malloc(count * sizeof(*texts) + 1);
	char *found[TEXTS_MOST], *rest = bytes;
	int n = 0;

	fuzz_check(texts);
	while (n < TEXTS_MOST && (found[n] = strsep(&rest, "\n")))
		n++;
	for (size_t i = 0; i < count; i++)
		texts[i] = found[i % (size_t)n];
	H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, texts);
	free(texts);
}

static void write_bytes(hid_t data, hid_t type, size_t count, const uint8_t *bytes, size_t size)
{
	const size_t total = count * H5Tget_size(type);
	uint8_t *all = malloc(total + 1);

	fuzz_check(all);
	for (size_t i = 0; i < total; i++)
		all[i] = size ? bytes[i % size] : 0;
	H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, all);
	free(all);
}

/* How many elements there are; 0 if libhdf5 did not want to write them. */
static uint64_t write_list(hid_t file, const uint8_t *input, size_t size, int *rank)
{
	const hid_t type = make_type(input[0], input[1]);
	hsize_t shape[RANK_MOST] = {1, 1, 1};
	const hid_t space = make_space(input, shape, rank), layout = make_layout(input, *rank);
	const hid_t data = H5Dcreate2(file, "a", type, space, H5P_DEFAULT, layout, H5P_DEFAULT);
	const size_t count = (size_t)(shape[0] * shape[1] * shape[2]);
	char *words;

	if (data >= 0 && count && H5Tis_variable_str(type) > 0) {
		words = fuzz_text(input + HEAD, size - HEAD);
		write_texts(data, type, count, words);
		free(words);
	} else if (data >= 0 && count) {
		write_bytes(data, type, count, input + HEAD, size - HEAD);
	}
	if (data >= 0)
		H5Dclose(data);
	H5Pclose(layout);
	H5Sclose(space);
	H5Tclose(type);
	return data >= 0 ? count : 0;
}

/* In place of the library's: no process of its own. */
int list_apart(const char *path, list_reader *read, void *job, list_visit *visit, void *self,
	struct err *err)
{
	(void)path;
	return read(job, visit, self, err);
}

/* libhdf5 takes half a megabyte for each file that is open: it shall keep it for the next one. */
static bool begin(void)
{
	H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
	return H5set_free_list_limits(-1, -1, -1, -1, -1, -1) >= 0;
}

/*
 * Opening a file takes most of the time, unless it is open already: so it stays open for some
 * lists, one after the other. The last of them is read from the file alone.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *path;
	static hid_t file;
	static int lists;
	struct seen seen = {0};
	struct err err = {0};
	uint64_t count;
	int rank;

	if (size < HEAD)
		return 0;
	if (!path)
		fuzz_check(begin());
	if (!lists) {
		path = fuzz_file("lists.h5", "", 0);
		file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
		fuzz_check(file >= 0);
	}
	lists = (lists + 1) % LISTS;
	count = write_list(file, data, size, &rank);
	if (!lists)
		H5Fclose(file);
	if (hdf5_list_read(path, "a", see, &seen, &err))
		fuzz_check(err.code < 0 && *err.message);
	else
		fuzz_check(rank > 0 && rank < RANK_MOST && seen.values == count);
	if (lists)
		H5Ldelete(file, "a", H5P_DEFAULT);
	return 0;
}
