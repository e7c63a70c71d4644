/* Files of labels are small (2 MiB for ImageNet): they are read whole and parsed in place. */
#include "records/label_file.h"

#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/paths.h"
#include "base/words/decimal.h"

#define GROUND_TRUTH "ILSVRC2012_validation_ground_truth.txt"
#define KIT_CLASSES  "ILSVRC2012_wnids.txt"
#define BLANKS       " \t,;\r"

enum { LABELS_MOST = 1 << 30 };

static const char *const known[] = {
	"val_annotations.txt", "val.txt", "LOC_val_solution.csv", GROUND_TRUTH, NULL};

/* The file NAME in the folder, or in the one above it. */
static int find_one(char **path, const char *folder, const char *name, struct err *err)
{
	static const char *const places[] = {"", ".."};

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char *place = path_join(folder, places[i]);

		*path = place ? path_join(place, name) : NULL;
		mem_free(place);
		if (!*path)
			return err_memory(err, "a path", strlen(folder));
		if (path_exists(*path))
			return 0;
		mem_free(*path);
	}
	*path = NULL;
	return 0;
}

int label_file_find(char **path, const char *folder, struct err *err)
{
	int code = 0;

	*path = NULL;
	for (int i = 0; known[i] && !*path && !code; i++)
		code = find_one(path, folder, known[i], err);
	return code;
}

/* The image of this name, ending or not; -1: there is none. */
static long find_image(const struct name_list *images, const char *word, size_t size)
{
	size_t low = 0, high = images->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (strncmp(name_list_at(images, middle), word, size) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < images->count && !strncmp(name_list_at(images, low), word, size); low++) {
		const char *rest = name_list_at(images, low) + size;

		if (!*rest || (*rest == '.' && !strchr(rest + 1, '.')))
			return (long)low;
	}
	return -1;
}

/* The class of this name or number; -1: there is none. */
static int32_t find_class(const struct name_list *classes, const char *word, size_t size)
{
	const long named = name_list_find(classes, word, size);
	int64_t number;

	if (named >= 0)
		return (int32_t)named;
	if (decimal_whole(word, size, &number) && number >= 0 && number < (int64_t)classes->count)
		return (int32_t)number;
	return -1;
}

struct line {
	const char *words;
	size_t size;
	long row; /* from 1 */
};

/* The next line that says anything; false after the last. */
static bool next_line(struct line *line, const char **rest)
{
	while (**rest) {
		const size_t size = strcspn(*rest, "\n");

		*line = (struct line){*rest, size, line->row + 1};
		*rest += size + ((*rest)[size] == '\n');
		if (strspn(line->words, BLANKS) < size)
			return true;
	}
	return false;
}

static int read_named(const char *path, const char *words, const struct name_list *images,
	const struct name_list *classes, int32_t *labels, struct err *err)
{
	struct line line = {0};

	while (next_line(&line, &words)) {
		const char *name = line.words + strspn(line.words, BLANKS);
		const size_t size = strcspn(name, BLANKS "\n");
		const char *label = name + size + strspn(name + size, BLANKS);
		const size_t label_size = strcspn(label, BLANKS "\n");
		const long image = find_image(images, name, size);
		const int32_t class = find_class(classes, label, label_size);

		if (!label_size)
			return err_set(err, ERR_FORMAT, "%s, row %ld: has a name and no label",
				path, line.row);
		/* Files may name more images than there are, and have a header. */
		if (image < 0)
			continue;
		if (class < 0)
			return err_set(err, ERR_FORMAT,
				"%s, row %ld: %.*s is not one of %zu classes", path, line.row,
				(int)(label_size < 100 ? label_size : 100), label, classes->count);
		labels[image] = class;
	}
	for (size_t i = 0; i < images->count; i++)
		if (labels[i] < 0)
			return err_set(err, ERR_FORMAT, "%s: has no label for %s", path,
				name_list_at(images, i));
	return 0;
}

/* The development kit's classes in its order, as labels. */
static int read_kit(struct name_list *kit, const char *path, struct err *err)
{
	char *folder = path_folder(path), *list = folder ? path_join(folder, KIT_CLASSES) : NULL;
	struct line line = {0};
	char *words = NULL;
	const char *rest;
	size_t size;
	int code = list ? 0 : err_memory(err, "a path", strlen(path));

	if (!code && !path_exists(list))
		code = err_set(err, ERR_FILE,
			"%s: numbers classes as the development kit does, not by name; "
			"put " KIT_CLASSES
			" beside it, with the name of the kit's class k in line k",
			path);
	if (!code)
		code = file_read(list, LABELS_MOST, &words, &size, err);
	for (rest = code ? "" : words; !code && next_line(&line, &rest);)
		code = name_list_add(kit, line.words, strcspn(line.words, BLANKS "\n"), err);
	mem_free(words);
	mem_free(folder);
	mem_free(list);
	return code;
}

/* The label that a line of the kit's numbers gives. */
static int kit_label(int32_t *label, const char *path, const struct line *line,
	const struct name_list *kit, const struct name_list *classes, struct err *err)
{
	const char *name;
	int64_t number;

	if (!decimal_whole(line->words, strcspn(line->words, BLANKS "\n"), &number) || number < 1 ||
		number > (int64_t)kit->count)
		return err_set(err, ERR_FORMAT, "%s, row %ld: no number from 1 to %zu", path,
			line->row, kit->count);
	name = name_list_at(kit, (size_t)number - 1);
	*label = find_class(classes, name, strlen(name));
	if (*label < 0)
		return err_set(err, ERR_FORMAT, "%s, row %ld: there is no class %s", path,
			line->row, name);
	return 0;
}

static int read_numbered(const char *path, const char *words, const struct name_list *images,
	const struct name_list *classes, int32_t *labels, struct err *err)
{
	struct name_list kit = {0};
	struct line line = {0};
	size_t rows = 0;
	int code = read_kit(&kit, path, err);

	for (; !code && next_line(&line, &words); rows++)
		if (rows < images->count)
			code = kit_label(labels + rows, path, &line, &kit, classes, err);
	if (!code && rows != images->count)
		code = err_set(err, ERR_FORMAT, "%s: has %zu rows for %zu images", path, rows,
			images->count);
	name_list_release(&kit);
	return code;
}

int label_file_read(const char *path, const struct name_list *images,
	const struct name_list *classes, int32_t *labels, struct err *err)
{
	const bool numbered = !strcmp(path_name(path), GROUND_TRUTH);
	char *words;
	size_t size;
	int code = file_read(path, LABELS_MOST, &words, &size, err);

	if (code)
		return code;
	for (size_t i = 0; i < images->count; i++)
		labels[i] = -1;
	code = (numbered ? read_numbered : read_named)(path, words, images, classes, labels, err);
	mem_free(words);
	return code;
}
