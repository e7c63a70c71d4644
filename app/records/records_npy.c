/*
 * NumPy arrays: features (N, D), (N, H, W) or (N, C, H, W), labels (N), perhaps times (N). Labels
 * and times are copied at open; features are read from their file and converted to float32
 * without scaling.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "formats/mapped.h"
#include "formats/npy.h"
#include "base/paths.h"
#include "records/records_types.h"

/* FORTRAN_KEPT: bytes of an array whose rows are scattered that stays in memory. */
enum { SIDE_MOST = 1 << 20, LABELS_MOST = 1 << 24, FORTRAN_KEPT = 1 << 30 };

struct npy {
	struct records base;
	struct mapped file;
	struct npy_header header;
	size_t floats; /* of a record */
	int32_t *labels;
	int64_t *times; /* NULL: there are none */
};

static int open_array(
	struct mapped *file, struct npy_header *header, const char *path, struct err *err)
{
	const char *why;
	int code;

	if (path_ends(path, ".npz"))
		return err_set(err, ERR_INPUT,
			"%s: is an .npz; save its arrays as NAME.npy and, the labels, "
			"NAME-labels.npy",
			path);
	code = mapped_open(file, path, MAPPED_UNPACK, err);
	if (code)
		return code;
	why = npy_read(header, file->data, file->size);
	if (!why)
		return 0;
	code = err_set(err, ERR_FORMAT, "%s: %s", path, why);
	mapped_close(file);
	return code;
}

/* The shape of a record from that of the array. */
static int take_shape(struct npy *n, struct err *err)
{
	const struct npy_header *h = &n->header;
	struct records_info *info = &n->base.info;

	if (h->dimensions < 2)
		return err_set(err, ERR_FORMAT,
			"%s: has %d dimensions; features have 2 (N, D), 3 (N, H, W) or 4 (N, C, H, "
			"W)",
			n->file.path, h->dimensions);
	for (int i = 0; i < h->dimensions; i++)
		if (h->shape[i] < 1 || (i && h->shape[i] > SIDE_MOST))
			return err_set(err, ERR_FORMAT, "%s: dimension %d is %lld", n->file.path, i,
				(long long)h->shape[i]);
	info->form = RECORDS_FLOATS;
	info->count = h->shape[0];
	info->channels = h->dimensions == 3 ? 1 : (int)h->shape[1];
	info->height = h->dimensions > 2 ? (int)h->shape[h->dimensions - 2] : 1;
	info->width = h->dimensions > 2 ? (int)h->shape[h->dimensions - 1] : 1;
	n->floats = (n->file.size - h->at) / h->each / (size_t)info->count;
	return 0;
}

/*
 * The file that goes with NAME.npy: NAME-WORD.npy, or one of the other names beside
 * it. *path is for mem_free, NULL where there is none.
 */
static int find_beside(char **path, const char *features, const char *const *endings,
	const char *const *names, struct err *err)
{
	const size_t stem = strlen(features) - (path_ends(features, ".npy") ? 4 : 0);
	char *folder = path_folder(features);
	int code = folder ? 0 : err_memory(err, "a path", stem);

	*path = NULL;
	while (!code && !*path && (*endings || *names)) {
		const char *ending = *endings;

		*path = ending ? mem_new(stem + strlen(ending) + 1, 1)
			       : path_join(folder, *names++);
		if (!*path) {
			code = err_memory(err, "a path", stem);
			break;
		}
		if (ending) {
			memcpy(*path, features, stem);
			memcpy(*path + stem, ending, strlen(ending) + 1);
			endings++;
		}
		if (!path_exists(*path)) {
			mem_free(*path);
			*path = NULL;
		}
	}
	mem_free(folder);
	return code;
}

/* An array of N whole numbers. */
static int open_column(struct mapped *file, struct npy_header *header, const char *path,
	const struct npy *n, bool fractions, struct err *err)
{
	const int code = open_array(file, header, path, err);
	int why = 0;

	if (code)
		return code;
	if (header->dimensions != 1 && !(header->dimensions == 2 && header->shape[1] == 1))
		why = err_set(err, ERR_FORMAT, "%s: has %d dimensions, not one", path,
			header->dimensions);
	else if (header->shape[0] != n->base.info.count)
		why = err_set(err, ERR_FORMAT, "%s: has %lld elements for the %lld rows of %s",
			path, (long long)header->shape[0], (long long)n->base.info.count,
			n->file.path);
	else if (!fractions && (header->type == NPY_F4 || header->type == NPY_F8))
		why = err_set(err, ERR_FORMAT, "%s: holds %s and not whole numbers", path,
			npy_type_name(header->type));
	if (why)
		mapped_close(file);
	return why;
}

static int take_labels(struct npy *n, const char *path, bool lenient, struct err *err)
{
	const int64_t count = n->base.info.count;
	struct npy_header header;
	struct mapped file;
	int code = open_column(&file, &header, path, n, false, err);

	if (code)
		return code;
	n->labels = mem_new((size_t)count, sizeof(*n->labels));
	if (!n->labels)
		code = err_memory(err, path, (unsigned long long)count * 4);
	for (int64_t i = 0; i < count && !code; i++) {
		const int64_t label = npy_whole(&header, file.data + header.at, (size_t)i);

		n->labels[i] = -1;
		if ((label < 0 || label >= LABELS_MOST) && lenient)
			continue;
		if (label < 0 || label >= LABELS_MOST) {
			code = err_set(err, ERR_FORMAT,
				"%s, row %lld: label %lld is not from 0 to %d", path, (long long)i,
				(long long)label, LABELS_MOST - 1);
			break;
		}
		n->labels[i] = (int32_t)label;
		if (label >= n->base.info.classes)
			n->base.info.classes = (int)label + 1;
	}
	mapped_close(&file);
	return code;
}

static int take_times(struct npy *n, const char *path, struct err *err)
{
	const int64_t count = n->base.info.count;
	struct npy_header header;
	struct mapped file;
	int code = open_column(&file, &header, path, n, true, err);

	if (code)
		return code;
	n->times = mem_new((size_t)count, sizeof(*n->times));
	if (!n->times)
		code = err_memory(err, path, (unsigned long long)count * 8);
	for (int64_t i = 0; i < count && !code; i++) {
		const bool fraction = header.type == NPY_F4 || header.type == NPY_F8;
		const double seconds = npy_number(&header, file.data + header.at, (size_t)i);

		if (fraction && !(seconds > -9e12 && seconds < 9e12))
			code = err_set(err, ERR_FORMAT, "%s, row %lld: %g is not a time", path,
				(long long)i, seconds);
		else
			n->times[i] =
				fraction ? (int64_t)(seconds * 1e6)
					 : npy_whole(&header, file.data + header.at, (size_t)i);
	}
	n->base.info.timed = true;
	mapped_close(&file);
	return code;
}

static int npy_open(
	struct records *records, const char *path, const struct options *options, struct err *err)
{
	struct npy *n = (struct npy *)records;
	static const char *const label_endings[] = {"-labels.npy", "_labels.npy", NULL};
	static const char *const label_names[] = {"labels.npy", "y.npy", NULL};
	static const char *const time_endings[] = {"-times.npy", "_times.npy", NULL};
	static const char *const time_names[] = {"times.npy", NULL};
	char *labels = NULL, *times = NULL;
	int code = open_array(&n->file, &n->header, path, err);

	if (!code)
		code = take_shape(n, err);
	if (!code)
		code = find_beside(&labels, path, label_endings, label_names, err);
	if (!code && !labels)
		n->base.info.unlabelled =
			"has no labels beside it: NAME-labels.npy, labels.npy or y.npy";
	if (!code && labels)
		code = take_labels(n, labels, records_lenient(options), err);
	if (!code)
		code = find_beside(&times, path, time_endings, time_names, err);
	if (!code && times)
		code = take_times(n, times, err);
	mem_free(labels);
	mem_free(times);
	if (!code && n->header.fortran)
		code = mapped_keep(&n->file, FORTRAN_KEPT, err);
	if (!code)
		mapped_looked(&n->file);
	return code;
}

static void npy_close(struct records *records)
{
	struct npy *n = (struct npy *)records;

	mapped_close(&n->file);
	mem_free(n->labels);
	mem_free(n->times);
}

/* An .npz, too: it is refused by name then. */
static bool npy_guess(const char *path)
{
	return (path_ends(path, ".npy") || path_ends(path, ".npz")) && path_exists(path);
}

static struct record npy_look(const struct records *records, int64_t i)
{
	const struct npy *n = (const struct npy *)records;

	return (struct record){
		.label = n->labels ? n->labels[i] : -1, .time = n->times ? n->times[i] : 0};
}

/* The elements of row i as they are in the file. */
static int copy_row(const struct npy *n, int64_t i, unsigned char *out, struct err *err)
{
	const size_t each = n->header.each, parts = n->header.fortran ? n->floats : 1;
	int code = 0;

	for (size_t k = 0; k < parts && !code; k++)
		code = mapped_copy(&n->file,
			n->header.at + (uint64_t)npy_place(&n->header, i, (int64_t)k) * each,
			each * (n->floats / parts), out + k * each, err);
	return code;
}

static int npy_read_record(
	struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	const struct npy *n = (const struct npy *)records;
	const size_t raw = n->floats * n->header.each, floats = n->floats * sizeof(float);
	const size_t room = raw > floats ? raw : floats;
	int code = record_bytes_resize(bytes, room, err);

	/* Raw numbers stand at the end of the room if they are smaller, so that they can be
	 * converted in place from the front; at its start if they are larger. */
	if (!code)
		code = copy_row(n, i, bytes->data + (room - raw), err);
	if (code)
		return code;
	for (size_t k = 0; k < n->floats; k++) {
		const float number = (float)npy_number(&n->header, bytes->data + (room - raw), k);

		memcpy(bytes->data + k * sizeof(number), &number, sizeof(number));
	}
	bytes->size = floats;
	return 0;
}

static void npy_where(const struct records *records, int64_t i, char *out, size_t size)
{
	snprintf(out, size, "%s, row %lld", ((const struct npy *)records)->file.path, (long long)i);
}

const struct records_type records_npy = {
	.name = "npy",
	.help = "NumPy's arrays: features in NAME.npy, labels in NAME-labels.npy",
	.guess = npy_guess,
	.size = sizeof(struct npy),
	.open = npy_open,
	.close = npy_close,
	.look = npy_look,
	.read = npy_read_record,
	.where = npy_where,
};
