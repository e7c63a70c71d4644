/*
 * An index is one array of bytes:
 *
 *	header
 *	places[looked]         folders and files that were checked: modification time, size
 *	entries[count]         the usual ones
 *	classes[classes]       offsets of their names
 *	class names, then names of files from their class's folder on, then the
 *	names of places; each with its NUL, and a NUL at the very end
 *
 * It is valid as long as none of the places has changed. Files are told from folders by their
 * extensions, so that a million images need no million system calls. An index file is untrusted:
 * offsets are checked before use.
 */
#include "records/class_folder_index.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "records/label_file.h"
#include "base/grow.h"
#include "base/os.h"
#include "base/paths.h"
#include "images/image.h"
#include "base/words/name_list.h"

enum { VERSION = 2, DEPTH_MOST = 16, KEEP_FROM = 16384 };

struct place {
	int64_t changed, size;
};

struct class_folder_header {
	uint64_t count, looked, class_names_size, names_size, places_size;
	uint32_t classes, flat, parted, unused;
	char train[16], eval[32]; /* folders from ROOT on */
};

struct building {
	const char *root;
	struct class_folder_header header;
	struct numbers entries;
	struct name_list classes, names, places;
	struct numbers facts; /* two for each place */
	struct name_list left_out;
};

static int no_memory(const struct building *b, struct err *err)
{
	return err_memory(err, b->root, b->names.size);
}

/* Time of change and size of a place; zeros where there is none. */
static struct place look_at(const char *root, const char *name)
{
	char *path = path_join(root, name);
	struct place place = {0};
	struct stat facts;

	if (path && !stat(path, &facts)) {
		place.changed = os_changed(&facts);
		place.size = S_ISREG(facts.st_mode) ? facts.st_size : 0;
	}
	mem_free(path);
	return place;
}

/* Before a place is read, so that a change while it is read shows later. */
static int remember(struct building *b, const char *name, struct err *err)
{
	const struct place place = look_at(b->root, name);

	if (!numbers_add(&b->facts, (uint64_t)place.changed) ||
		!numbers_add(&b->facts, (uint64_t)place.size))
		return no_memory(b, err);
	return name_list_add(&b->places, name, strlen(name), err);
}

static int list(struct building *b, struct name_list *names, const char *folder, struct err *err)
{
	char *path = path_join(b->root, folder);
	int code = path ? remember(b, folder, err) : no_memory(b, err);

	if (!code)
		code = name_list_of_folder(names, path, err);
	mem_free(path);
	return code;
}

static int add_image(struct building *b, const char *name, int64_t label, enum records_part part,
	struct err *err)
{
	const uint64_t at = b->names.size;
	int code = name_list_add(&b->names, name, strlen(name), err);

	if (!code && !numbers_add(&b->entries, at | (uint64_t)label << IMAGE_AT_BITS |
						       (uint64_t)part << IMAGE_PART_FROM))
		code = no_memory(b, err);
	return code;
}

/* Adds the images below FOLDER; `inner` is what their names begin with. */
static int walk(struct building *b, const char *folder, const char *inner, int64_t label,
	enum records_part part, int depth, struct err *err)
{
	struct name_list found = {0};
	int code = list(b, &found, folder, err);

	for (size_t i = 0; i < found.count && !code; i++) {
		char *name = path_join(inner, name_list_at(&found, i));
		char *below = path_join(folder, name_list_at(&found, i));
		char *path = below ? path_join(b->root, below) : NULL;

		if (!name || !path)
			code = no_memory(b, err);
		else if (image_named(name))
			code = add_image(b, name, label, part, err);
		else if (depth < DEPTH_MOST && path_is_folder(path))
			code = walk(b, below, name, label, part, depth + 1, err);
		else
			code = name_list_add(&b->left_out, below, strlen(below), err);
		mem_free(name);
		mem_free(below);
		mem_free(path);
	}
	name_list_release(&found);
	return code;
}

/* The folders in a folder, and the images beside them, which are in no class. */
static int list_folders(struct building *b, struct name_list *folders, struct name_list *beside,
	const char *folder, struct err *err)
{
	struct name_list found = {0};
	int code = list(b, &found, folder, err);

	for (size_t i = 0; i < found.count && !code; i++) {
		const char *name = name_list_at(&found, i);
		char *below = path_join(folder, name);
		char *path = below ? path_join(b->root, below) : NULL;

		if (!path)
			code = no_memory(b, err);
		else if (image_named(name))
			code = name_list_add(beside, below, strlen(below), err);
		else if (path_is_folder(path))
			code = name_list_add(folders, name, strlen(name), err);
		mem_free(below);
		mem_free(path);
	}
	name_list_release(&found);
	return code;
}

/* Images in class folders, which are those of b->classes. */
static int add_classes(struct building *b, const char *folder, const struct name_list *folders,
	enum records_part part, struct err *err)
{
	int code = 0;

	for (size_t i = 0; i < folders->count && !code; i++) {
		const char *name = name_list_at(folders, i);
		const long label = name_list_find(&b->classes, name, strlen(name));
		char *below = path_join(folder, name);

		if (!below)
			code = no_memory(b, err);
		else if (label < 0)
			code = err_set(err, ERR_FORMAT,
				"%s/%s: is a class that the stream's folder, %s, does not have",
				b->root, below, *b->header.train ? b->header.train : ".");
		else
			code = walk(b, below, "", label, part, 0, err);
		mem_free(below);
	}
	return code;
}

/* Adds an image; leaves out any other file but that of the labels. */
static int leave_out_or_add(struct building *b, const char *folder, const char *name,
	const char *labels, struct name_list *images, struct err *err)
{
	char *below;
	int code;

	if (image_named(name))
		return name_list_add(images, name, strlen(name), err);
	if (!strcmp(name, path_name(labels)))
		return 0;
	below = path_join(folder, name);
	code = below ? name_list_add(&b->left_out, below, strlen(below), err) : no_memory(b, err);
	mem_free(below);
	return code;
}

/* Images without class folders, and their labels from a file. */
static int add_flat(struct building *b, const char *folder, const char *labels, struct err *err)
{
	struct name_list found = {0}, images = {0};
	int32_t *given = NULL;
	int code = list(b, &found, folder, err);

	for (size_t i = 0; i < found.count && !code; i++)
		code = leave_out_or_add(b, folder, name_list_at(&found, i), labels, &images, err);
	if (!code) {
		given = mem_new(images.count + 1, sizeof(*given));
		code = given ? label_file_read(labels, &images, &b->classes, given, err)
			     : no_memory(b, err);
	}
	for (size_t i = 0; i < images.count && !code; i++)
		code = add_image(b, name_list_at(&images, i), given[i], RECORDS_EVAL, err);
	mem_free(given);
	name_list_release(&found);
	name_list_release(&images);
	return code;
}

/* Evaluation in the folder NAME, if it has labels. *done if it had. */
static int add_eval(struct building *b, const char *name, bool *done, struct err *err)
{
	char *path = path_join(b->root, name), *inner = path_join(name, "images"), *labels = NULL;
	char *inner_path = inner ? path_join(b->root, inner) : NULL;
	struct name_list folders = {0}, beside = {0};
	int code = path && inner_path ? label_file_find(&labels, path, err) : no_memory(b, err);

	if (!code)
		code = list_folders(b, &folders, &beside, name, err);
	b->header.flat = !code && labels &&
			 (!folders.count || (folders.count == 1 &&
						    !strcmp(name_list_at(&folders, 0), "images")));
	if (!code && b->header.flat) {
		/* The labels' file is a place like any other; its path is whole or from here on. */
		const char *from = path_is_folder(inner_path) ? inner : name;

		snprintf(b->header.eval, sizeof(b->header.eval), "%s", from);
		code = remember(b,
			labels + (strncmp(labels, b->root, strlen(b->root)) ? 0
									    : strlen(b->root) + 1),
			err);
		if (!code)
			code = add_flat(b, from, labels, err);
		*done = true;
	} else if (!code && folders.count) {
		snprintf(b->header.eval, sizeof(b->header.eval), "%s", name);
		code = add_classes(b, name, &folders, RECORDS_EVAL, err);
		for (size_t i = 0; i < beside.count && !code; i++)
			code = name_list_add(&b->left_out, name_list_at(&beside, i),
				strlen(name_list_at(&beside, i)), err);
		*done = true;
	}
	name_list_release(&folders);
	name_list_release(&beside);
	mem_free(labels);
	mem_free(inner_path);
	mem_free(inner);
	mem_free(path);
	return code;
}

static int add_evals(struct building *b, const struct name_list *folders, struct err *err)
{
	static const char *const known[] = {"val", "valid", "validation", "test", "eval"};
	const char *unlabelled = NULL;
	bool done = false;
	int code = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]) && !done && !code; i++)
		if (name_list_find(folders, known[i], strlen(known[i])) >= 0) {
			code = add_eval(b, known[i], &done, err);
			/* ImageNet's test images have no labels, and nobody expects any. */
			if (!done && !unlabelled && strcmp(known[i], "test") != 0)
				unlabelled = known[i];
		}
	if (!code && !done && unlabelled)
		code = err_set(err, ERR_FORMAT,
			"%s/%s: has neither folders of classes nor a val_annotations.txt, val.txt "
			"or LOC_val_solution.csv",
			b->root, unlabelled);
	b->header.parted = done;
	return code;
}

static int build(struct building *b, struct err *err)
{
	struct name_list folders = {0};
	const char *train = "";
	int code = list_folders(b, &folders, &b->left_out, "", err);

	if (!code && name_list_find(&folders, "train", 5) >= 0) {
		train = "train";
		snprintf(b->header.train, sizeof(b->header.train), "%s", train);
		code = list_folders(b, &b->classes, &b->left_out, train, err);
	} else {
		for (size_t i = 0; i < folders.count && !code; i++)
			code = name_list_add(&b->classes, name_list_at(&folders, i),
				strlen(name_list_at(&folders, i)), err);
	}
	if (!code && b->classes.count > IMAGE_LABEL_MASK)
		code = err_set(err, ERR_INPUT, "%s: has more classes than %llu", b->root,
			(unsigned long long)IMAGE_LABEL_MASK);
	if (!code)
		code = add_classes(b, train, &b->classes, RECORDS_STREAM, err);
	if (!code && *train)
		code = add_evals(b, &folders, err);
	if (!code && (!b->entries.count || b->names.size > IMAGE_AT_MASK))
		code = err_set(err, ERR_FORMAT, "%s: has %s images in folders of classes", b->root,
			b->entries.count ? "too many" : "no");
	name_list_release(&folders);
	return code;
}

static void *put(void *at, const void *from, size_t size)
{
	if (size)
		memcpy(at, from, size);
	return (char *)at + size;
}

/* All in one array, for mem_free. */
static unsigned char *pack(struct building *b, size_t *size)
{
	struct class_folder_header *h = &b->header;
	unsigned char *bytes;
	void *at;

	h->count = b->entries.count;
	h->looked = b->places.count;
	h->classes = (uint32_t)b->classes.count;
	h->class_names_size = b->classes.size;
	h->names_size = b->names.size;
	h->places_size = b->places.size;
	*size = sizeof(*h) + 16 * b->places.count + 8 * b->entries.count + 4 * b->classes.count +
		b->classes.size + b->names.size + b->places.size + 1;
	bytes = mem_new(*size, 1);
	if (!bytes)
		return NULL;
	at = put(bytes, h, sizeof(*h));
	at = put(at, b->facts.at, 16 * b->places.count);
	at = put(at, b->entries.at, 8 * b->entries.count);
	for (size_t i = 0; i < b->classes.count; i++)
		at = put(at, &(uint32_t){(uint32_t)b->classes.starts[i]}, 4);
	at = put(at, b->classes.bytes, b->classes.size);
	at = put(at, b->names.bytes, b->names.size);
	put(at, b->places.bytes, b->places.size);
	return bytes;
}

static size_t part_size(size_t left, uint64_t count, size_t each)
{
	return count > left / each ? left + 1 : (size_t)count * each;
}

/* Finds the parts of an index; false if they do not add up. */
static bool unpack(struct class_folder *folder, const struct place **places, const char **looked)
{
	struct image_records *images = &folder->images;
	const struct class_folder_header *h = (const void *)images->file.bytes;
	size_t left = images->file.size, sizes[6];
	const unsigned char *at = images->file.bytes;

	if (left < sizeof(*h) + 1 || at[left - 1])
		return false;
	at += sizeof(*h);
	left -= sizeof(*h) + 1;
	sizes[0] = part_size(left, h->looked, sizeof(struct place));
	sizes[1] = part_size(left, h->count, 8);
	sizes[2] = part_size(left, h->classes, 4);
	sizes[3] = part_size(left, h->class_names_size, 1);
	sizes[4] = part_size(left, h->names_size, 1);
	sizes[5] = part_size(left, h->places_size, 1);
	for (int i = 0; i < 6; i++) {
		if (sizes[i] > left)
			return false;
		left -= sizes[i];
	}
	if (left || !h->count || !h->looked || h->train[sizeof(h->train) - 1] ||
		h->eval[sizeof(h->eval) - 1])
		return false;
	image_records_info(images, &(struct image_header){h->count, h->class_names_size,
					   .classes = h->classes, .parted = h->parted});
	folder->header = h;
	*places = (const void *)at;
	images->entries = at + sizes[0];
	images->classes = (const void *)(at + sizes[0] + sizes[1]);
	images->class_names = (const char *)(at + sizes[0] + sizes[1] + sizes[2]);
	folder->names = images->class_names + sizes[3];
	*looked = folder->names + sizes[4];
	return true;
}

/* Whether an index that was found fits the folder as it is now. */
static bool still_true(struct class_folder *folder)
{
	const struct index_file *file = &folder->images.file;
	const struct place *places;
	const char *name;

	if (!unpack(folder, &places, &name))
		return false;
	for (uint64_t i = 0; i < folder->header->looked; i++) {
		const struct place now = look_at(folder->root, name);

		if (now.changed != places[i].changed || now.size != places[i].size)
			return false;
		name += strlen(name) + 1;
		if (name > (const char *)file->bytes + file->size - 1)
			return false;
	}
	return true;
}

static int make(struct class_folder *folder, const struct index_id *id, struct err *err)
{
	struct building b = {.root = id->path};
	const struct place *places;
	const char *looked;
	unsigned char *bytes;
	size_t size;
	int code = build(&b, err);

	if (!code) {
		bytes = pack(&b, &size);
		if (bytes)
			index_file_make(&folder->images.file, id, bytes, size,
				b.entries.count >= KEEP_FROM && !b.left_out.count);
		else
			code = no_memory(&b, err);
	}
	name_list_release(&folder->images.left_out);
	folder->images.left_out = b.left_out;
	name_list_release(&b.classes);
	name_list_release(&b.names);
	name_list_release(&b.places);
	numbers_release(&b.entries);
	numbers_release(&b.facts);
	if (!code && !unpack(folder, &places, &looked))
		code = err_set(err, ERR_STATE, "%s: its index contradicts itself", id->path);
	return code;
}

int class_folder_index_open(struct class_folder *folder, struct err *err)
{
	const struct index_id id = {folder->root, "folder", VERSION, MARK_NOTHING};

	if (index_file_find(&folder->images.file, &id) && still_true(folder))
		return 0;
	index_file_release(&folder->images.file);
	return make(folder, &id, err);
}

void class_folder_index_path(const struct class_folder *folder, int64_t i, char *out, size_t size)
{
	const struct records *records = &folder->images.base;
	const struct record record = image_records_look(records, i);
	const struct class_folder_header *h = folder->header;
	const uint64_t at = ((const uint64_t *)folder->images.entries)[i] & IMAGE_AT_MASK;
	const bool eval = record.part == RECORDS_EVAL;
	const char *part = eval ? h->eval : h->train;
	const char *class = eval && h->flat ? "" : image_records_class_name(records, record.label);

	snprintf(out, size, "%s%s%s%s%s", part, *part ? "/" : "", class ? class : "",
		class && *class ? "/" : "", at < h->names_size ? folder->names + at : "");
}
