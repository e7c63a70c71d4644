/*
 * MNIST's format: a file of images and one of labels for each part, big-endian headers, gzipped
 * or not. Labels are copied at open; images stay in their file, or in memory if it was gzipped.
 *
 * Invariant: the file of images has exactly the size that its header says, and the file of labels
 * as many labels.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "formats/mapped.h"
#include "base/paths.h"
#include "records/records_types.h"

enum { IMAGES_MAGIC = 2051, LABELS_MAGIC = 2049, IMAGES_HEADER = 16, LABELS_HEADER = 8 };
enum { SIDE_MOST = 65536, PARTS = 2 };

struct part {
	struct mapped images;
	int64_t count;
	uint8_t *labels;
};

struct idx {
	struct records base;
	struct part parts[PARTS]; /* train, t10k; a single file is train */
};

/* The names under which files have gone about. */
static const char *const names[][2] = {
	{"train-images-idx3-ubyte", "t10k-images-idx3-ubyte"},
	{"train-images.idx3-ubyte", "t10k-images.idx3-ubyte"},
};

static uint32_t big_endian(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 |
	       bytes[3];
}

static int check_header(
	const struct mapped *m, size_t header, uint32_t magic, const char *what, struct err *err)
{
	if (m->size < header)
		return err_set(err, ERR_FORMAT, "%s: too short for an IDX header", m->path);
	if (big_endian(m->data) == magic)
		return 0;
	return err_set(err, ERR_FORMAT, "%s: begins with %u, not with %u as IDX %s do", m->path,
		big_endian(m->data), magic, what);
}

/* A file's size is header + count * each exactly. */
static int check_size(
	const struct mapped *m, size_t header, uint64_t each, uint64_t count, struct err *err)
{
	if (each && (m->size - header) / each == count && (m->size - header) % each == 0)
		return 0;
	return err_set(err, ERR_FORMAT,
		"%s: holds %zu bytes after its header, which promises %llu times %llu", m->path,
		m->size - header, (unsigned long long)count, (unsigned long long)each);
}

static int open_images(
	struct part *part, struct records_info *info, const char *path, struct err *err)
{
	const struct mapped *m = &part->images;
	uint32_t height, width;
	int code = mapped_open(&part->images, path, MAPPED_UNPACK, err);

	if (!code)
		code = check_header(m, IMAGES_HEADER, IMAGES_MAGIC, "images", err);
	if (code)
		return code;
	height = big_endian(m->data + 8);
	width = big_endian(m->data + 12);
	part->count = big_endian(m->data + 4);
	if (height > SIDE_MOST || width > SIDE_MOST)
		return err_set(err, ERR_FORMAT, "%s: images of %u by %u", path, height, width);
	code = check_size(m, IMAGES_HEADER, (uint64_t)height * width, (uint64_t)part->count, err);
	if (code)
		return code;
	if (info->count && (info->height != (int)height || info->width != (int)width))
		return err_set(err, ERR_FORMAT, "%s: images of %u by %u, and others of %d by %d",
			path, height, width, info->height, info->width);
	info->channels = 1;
	info->height = (int)height;
	info->width = (int)width;
	info->count += part->count;
	return 0;
}

static int take_labels(
	struct part *part, struct records_info *info, const struct mapped *m, struct err *err)
{
	int code = check_header(m, LABELS_HEADER, LABELS_MAGIC, "labels", err);

	if (!code)
		code = check_size(m, LABELS_HEADER, 1, big_endian(m->data + 4), err);
	if (code)
		return code;
	if (big_endian(m->data + 4) != (uint64_t)part->count)
		return err_set(err, ERR_FORMAT, "%s: %u labels for the %lld images in %s", m->path,
			big_endian(m->data + 4), (long long)part->count, part->images.path);
	part->labels = mem_new((size_t)part->count + 1, 1);
	if (!part->labels)
		return err_memory(err, m->path, (unsigned long long)part->count);
	memcpy(part->labels, m->data + LABELS_HEADER, (size_t)part->count);
	for (int64_t i = 0; i < part->count; i++)
		if (part->labels[i] >= info->classes)
			info->classes = part->labels[i] + 1;
	return 0;
}

/* The file that exists of PATH and PATH without or with .gz; for mem_free, NULL: no memory. */
static char *gz_or_not(const char *path)
{
	const size_t size = strlen(path);
	char *other = mem_new(size + 4, 1);

	if (!other)
		return NULL;
	memcpy(other, path, size + 1);
	if (path_exists(path))
		return other;
	if (path_ends(path, ".gz"))
		other[size - 3] = '\0';
	else
		memcpy(other + size, ".gz", 4);
	if (!path_exists(other)) {
		mem_free(other);
		return mem_text(path);
	}
	return other;
}

/* The labels' file that goes with the images': images becomes labels, idx3 idx1. */
static char *labels_path(const char *images)
{
	char *path = mem_text(images), *found = NULL, *name, *at;

	if (!path)
		return NULL;
	name = path + (path_name(path) - path);
	at = strstr(name, "images");
	if (at)
		memcpy(at, "labels", 6);
	at = strstr(name, "idx3");
	if (at)
		memcpy(at, "idx1", 4);
	found = gz_or_not(path);
	mem_free(path);
	return found;
}

static int open_part(struct idx *idx, int which, const char *path, struct err *err)
{
	struct part *part = idx->parts + which;
	struct mapped labels = {0};
	char *images = gz_or_not(path), *beside = labels_path(path);
	int code = images && beside ? 0 : err_memory(err, "a path", strlen(path));

	if (!code)
		code = open_images(part, &idx->base.info, images, err);
	if (!code)
		code = mapped_open(&labels, beside, MAPPED_UNPACK, err);
	if (!code) {
		code = take_labels(part, &idx->base.info, &labels, err);
		mapped_close(&labels);
	}
	mem_free(images);
	mem_free(beside);
	return code;
}

/* The path of a part in a folder if it is there, gzipped or not; for mem_free. */
static int find_part(char **found, const char *folder, int part, struct err *err)
{
	*found = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char *path = path_join(folder, names[i][part]);

		*found = path ? gz_or_not(path) : NULL;
		mem_free(path);
		if (!*found)
			return err_memory(err, "a path", strlen(folder));
		if (path_exists(*found))
			return 0;
		mem_free(*found);
		*found = NULL;
	}
	return 0;
}

static int open_folder(struct idx *idx, const char *folder, struct err *err)
{
	int found = 0;

	for (int part = 0; part < PARTS; part++) {
		char *path;
		int code = find_part(&path, folder, part, err);

		if (!code && path) {
			code = open_part(idx, part, path, err);
			idx->base.info.parted = part > 0;
			found++;
		}
		mem_free(path);
		if (code)
			return code;
	}
	if (!found)
		return err_set(err, ERR_FILE, "%s: has no %s[.gz]", folder, names[0][0]);
	return 0;
}

static void idx_close(struct records *records)
{
	struct idx *idx = (struct idx *)records;

	for (int part = 0; part < PARTS; part++) {
		mapped_close(&idx->parts[part].images);
		mem_free(idx->parts[part].labels);
	}
}

static int idx_open(
	struct records *records, const char *path, const struct options *options, struct err *err)
{
	struct idx *idx = (struct idx *)records;
	int code;

	(void)options;
	records->info.form = RECORDS_PIXELS;
	code = path_is_folder(path) ? open_folder(idx, path, err) : open_part(idx, 0, path, err);
	if (!code && records->info.count == 0)
		code = err_set(err, ERR_FORMAT, "%s: holds no images", path);
	for (int part = 0; part < PARTS && !code; part++)
		mapped_looked(&idx->parts[part].images);
	return code;
}

static bool idx_guess(const char *path)
{
	char *found;

	if (!path_is_folder(path))
		return strstr(path_name(path), "images") && strstr(path_name(path), "idx3") &&
		       path_exists(path);
	if (find_part(&found, path, 0, NULL))
		return false;
	mem_free(found);
	return found != NULL;
}

/* The part that record i lies in; *i becomes its place there. */
static const struct part *part_of(const struct idx *idx, int64_t *i)
{
	const struct part *part = idx->parts;

	if (*i < part->count)
		return part;
	*i -= part->count;
	return part + 1;
}

static struct record idx_look(const struct records *records, int64_t i)
{
	const struct idx *idx = (const struct idx *)records;
	const struct part *part = part_of(idx, &i);

	return (struct record){.label = part->labels[i],
		.part = part == idx->parts ? RECORDS_STREAM : RECORDS_EVAL};
}

static int idx_read(struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	const struct part *part = part_of((const struct idx *)records, &i);
	const size_t each = (size_t)records->info.height * (size_t)records->info.width;

	return mapped_record(&part->images, IMAGES_HEADER + (uint64_t)i * each, each, bytes, err);
}

static void idx_where(const struct records *records, int64_t i, char *out, size_t size)
{
	const struct part *part = part_of((const struct idx *)records, &i);

	snprintf(out, size, "%s, image %lld", part->images.path, (long long)i);
}

const struct records_type records_idx = {
	.name = "idx",
	.help = "MNIST's IDX files, gzipped or not: a folder of them, or the images' file",
	.guess = idx_guess,
	.size = sizeof(struct idx),
	.open = idx_open,
	.close = idx_close,
	.look = idx_look,
	.read = idx_read,
	.where = idx_where,
};
