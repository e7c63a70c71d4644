/*
 * CIFAR-10 and CIFAR-100 as their binary versions: records of one or two label bytes and 3072
 * bytes of pixels, plane by plane. Labels are copied at open, pixels are read from the files.
 *
 * The version follows from the names in the folder: data_batch_N.bin and test_batch.bin, or
 * train.bin and test.bin. A single file is identified by its name, too.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "formats/mapped.h"
#include "base/paths.h"
#include "base/words/name_list.h"
#include "records/records_types.h"

enum { SIDE = 32, PIXELS = 3 * SIDE * SIDE, NAMES_MOST = 1 << 20 };

struct flavour {
	const char *name;
	int classes, label_bytes; /* the last of these is the label */
	const char *class_names;  /* a file of them */
};

static const struct flavour flavours[] = {
	{"CIFAR-10", 10, 1, "batches.meta.txt"},
	{"CIFAR-100", 100, 2, "fine_label_names.txt"},
};

/* Files of a folder, and what they are. The stream has them in this order. */
static const struct {
	const char *name;
	int flavour;
	enum records_part part;
} known[] = {
	{"data_batch_1.bin", 0, RECORDS_STREAM},
	{"data_batch_2.bin", 0, RECORDS_STREAM},
	{"data_batch_3.bin", 0, RECORDS_STREAM},
	{"data_batch_4.bin", 0, RECORDS_STREAM},
	{"data_batch_5.bin", 0, RECORDS_STREAM},
	{"test_batch.bin", 0, RECORDS_EVAL},
	{"train.bin", 1, RECORDS_STREAM},
	{"test.bin", 1, RECORDS_EVAL},
};

enum { KNOWN = sizeof(known) / sizeof(known[0]) };

struct batch {
	struct mapped file;
	int64_t first, count;
	enum records_part part;
};

struct cifar {
	struct records base;
	const struct flavour *flavour;
	struct batch batches[KNOWN];
	int count;
	uint8_t *labels;
	struct name_list names; /* of classes; none or all */
};

static size_t record_size(const struct cifar *c)
{
	return (size_t)c->flavour->label_bytes + PIXELS;
}

static int add_batch(struct cifar *c, const char *path, enum records_part part, struct err *err)
{
	struct batch *batch = c->batches + c->count;
	int code = mapped_open(&batch->file, path, 0, err);

	if (code)
		return code;
	c->count++;
	if (batch->file.size == 0 || batch->file.size % record_size(c))
		return err_set(err, ERR_FORMAT,
			"%s: its %zu bytes are not a whole number of %s records, of %zu bytes each",
			path, batch->file.size, c->flavour->name, record_size(c));
	batch->part = part;
	batch->first = c->base.info.count;
	batch->count = (int64_t)(batch->file.size / record_size(c));
	c->base.info.count += batch->count;
	return 0;
}

static int known_file(const char *name)
{
	for (int i = 0; i < KNOWN; i++)
		if (!strcmp(known[i].name, name))
			return i;
	return -1;
}

static int open_file(struct cifar *c, const char *path, struct err *err)
{
	const int i = known_file(path_name(path));

	if (i < 0)
		return err_set(err, ERR_INPUT,
			"%s: is called neither data_batch_N.bin or test_batch.bin (CIFAR-10) nor "
			"train.bin or test.bin (CIFAR-100)",
			path);
	c->flavour = flavours + known[i].flavour;
	return add_batch(c, path, RECORDS_STREAM, err);
}

static int open_folder(struct cifar *c, const char *folder, struct err *err)
{
	for (int i = 0; i < KNOWN; i++) {
		char *path = path_join(folder, known[i].name);
		int code = path ? 0 : err_memory(err, "a path", strlen(folder));

		if (!code && path_exists(path)) {
			if (c->count && c->flavour != flavours + known[i].flavour)
				code = err_set(err, ERR_FORMAT,
					"%s: holds both CIFAR-10 and CIFAR-100; name one file",
					folder);
			c->flavour = flavours + known[i].flavour;
			if (!code)
				code = add_batch(c, path, known[i].part, err);
			c->base.info.parted |= known[i].part == RECORDS_EVAL;
		}
		mem_free(path);
		if (code)
			return code;
	}
	if (!c->count)
		return err_set(
			err, ERR_FILE, "%s: has no data_batch_1.bin and no train.bin", folder);
	return 0;
}

static int take_labels(struct cifar *c, bool lenient, struct err *err)
{
	const size_t each = record_size(c);

	c->labels = mem_new((size_t)c->base.info.count, 1);
	if (!c->labels)
		return err_memory(err, "labels", (unsigned long long)c->base.info.count);
	for (int b = 0; b < c->count; b++)
		for (int64_t i = 0; i < c->batches[b].count; i++) {
			const unsigned char *record = c->batches[b].file.data + (size_t)i * each;
			const uint8_t label = record[c->flavour->label_bytes - 1];

			if (label >= c->flavour->classes && !lenient)
				return err_set(err, ERR_FORMAT,
					"%s, record %lld: label %d; %s has %d classes",
					c->batches[b].file.path, (long long)i, label,
					c->flavour->name, c->flavour->classes);
			c->labels[c->batches[b].first + i] = label;
		}
	return 0;
}

/* Lines of a file; blank ones do not count. Names that do not add up are not used. */
static int take_names(struct cifar *c, const char *folder, struct err *err)
{
	char *path = path_join(folder, c->flavour->class_names), *words = NULL;
	size_t size = 0;
	int code = path ? 0 : err_memory(err, "a path", strlen(folder));

	if (!code && path_exists(path))
		code = file_read(path, NAMES_MOST, &words, &size, err);
	for (char *line = words, *rest; line && *line && !code; line = rest) {
		size_t length = strcspn(line, "\r\n");

		rest = line + length + strspn(line + length, "\r\n");
		if (length)
			code = name_list_add(&c->names, line, length, err);
	}
	if (c->names.count != (size_t)c->flavour->classes)
		name_list_release(&c->names);
	mem_free(words);
	mem_free(path);
	return code;
}

static void cifar_close(struct records *records)
{
	struct cifar *c = (struct cifar *)records;

	for (int b = 0; b < KNOWN; b++)
		mapped_close(&c->batches[b].file);
	name_list_release(&c->names);
	mem_free(c->labels);
}

static int cifar_open(
	struct records *records, const char *path, const struct options *options, struct err *err)
{
	struct cifar *c = (struct cifar *)records;
	const bool is_folder = path_is_folder(path);
	char *folder = is_folder ? mem_text(path) : path_folder(path);
	int code = folder ? 0 : err_memory(err, "a path", strlen(path));

	if (!code)
		code = is_folder ? open_folder(c, path, err) : open_file(c, path, err);
	if (!code)
		code = take_labels(c, records_lenient(options), err);
	if (!code)
		code = take_names(c, folder, err);
	mem_free(folder);
	if (code)
		return code;
	for (int b = 0; b < c->count; b++)
		mapped_looked(&c->batches[b].file);
	records->info.form = RECORDS_PIXELS;
	records->info.classes = c->flavour->classes;
	records->info.channels = 3;
	records->info.height = records->info.width = SIDE;
	return 0;
}

static bool cifar_guess(const char *path)
{
	bool found = false;

	if (!path_is_folder(path))
		return known_file(path_name(path)) >= 0 && path_exists(path);
	for (int i = 0; i < KNOWN && !found; i++)
		found = path_has(path, known[i].name);
	return found;
}

static const struct batch *batch_of(const struct cifar *c, int64_t i)
{
	const struct batch *batch = c->batches;

	while (i >= batch->first + batch->count)
		batch++;
	return batch;
}

static struct record cifar_look(const struct records *records, int64_t i)
{
	const struct cifar *c = (const struct cifar *)records;

	return (struct record){.label = c->labels[i] < c->flavour->classes ? c->labels[i] : -1,
		.part = batch_of(c, i)->part};
}

static int cifar_read(
	struct records *records, int64_t i, struct record_bytes *bytes, struct err *err)
{
	const struct cifar *c = (const struct cifar *)records;
	const struct batch *batch = batch_of(c, i);
	const uint64_t at = (uint64_t)(i - batch->first) * record_size(c);

	return mapped_record(
		&batch->file, at + (uint64_t)c->flavour->label_bytes, PIXELS, bytes, err);
}

static void cifar_where(const struct records *records, int64_t i, char *out, size_t size)
{
	const struct batch *batch = batch_of((const struct cifar *)records, i);

	snprintf(out, size, "%s, record %lld", batch->file.path, (long long)(i - batch->first));
}

static const char *cifar_class_name(const struct records *records, int label)
{
	const struct cifar *c = (const struct cifar *)records;

	if (label < 0 || (size_t)label >= c->names.count)
		return NULL;
	return name_list_at(&c->names, (size_t)label);
}

const struct records_type records_cifar = {
	.name = "cifar",
	.help = "CIFAR-10 and CIFAR-100 in their binary versions: the folder, or one file",
	.guess = cifar_guess,
	.size = sizeof(struct cifar),
	.open = cifar_open,
	.close = cifar_close,
	.look = cifar_look,
	.read = cifar_read,
	.where = cifar_where,
	.class_name = cifar_class_name,
};
