/*
 * An index is one array of bytes:
 *
 *	paths, each with its NUL; zeros up to a multiple of 8
 *	entries[count]   the usual ones
 *	times[count]     where there are times
 *	users[count]     where the stream has users; RECORDS_NO_USER in parts that have none
 *	header
 *
 * The header comes last since it is known last. An index file may have been made by
 * anybody: offsets are checked before use.
 */
#include "records/path_index.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/grow.h"

/* The largest number that fits stands for a label that is in no class. */
_Static_assert(PATH_LABELS == IMAGE_LABEL_MASK, "labels fill their bits");

enum { KEEP_FROM = 1 << 20, MICROSECONDS = 1000000 };

struct path_index_header {
	uint64_t count, paths_size;
	uint32_t classes, timed, parted, users;
};

struct path_lists {
	const struct index_id *id;
	struct index_writer *writer;
	uint64_t paths_size;
	struct numbers entries, times, users;
	enum records_part part;
	char name[64];                                  /* of the part */
	size_t first, labels, times_first, users_first; /* labels: of this part */
	int64_t largest;                                /* label */
	bool parted, fractions;
};

/* Finds the parts of an index; false if they do not add up. */
static bool unpack(struct image_records *images)
{
	const unsigned char *bytes = images->file.bytes;
	const struct path_index_header *h;
	size_t left = images->file.size, paths, each;

	if (left < sizeof(*h) || left % 8)
		return false;
	left -= sizeof(*h);
	h = (const void *)(bytes + left);
	each = 8 + (h->timed ? 8 : 0) + (h->users ? 8 : 0);
	if (!h->count || h->count > left / each || !h->classes || h->classes > PATH_LABELS)
		return false;
	paths = left - h->count * each;
	if (!h->paths_size || h->paths_size > paths || paths - h->paths_size >= 8 ||
		bytes[h->paths_size - 1])
		return false;
	image_records_info(
		images, &(struct image_header){h->count, 0, h->classes, h->timed, h->parted, 0});
	images->entries = bytes + paths;
	images->times = h->timed ? (const void *)(bytes + paths + 8 * h->count) : NULL;
	images->users = h->users ? (const void *)(bytes + paths + (each - 8) * h->count) : NULL;
	images->base.info.users = h->users;
	return true;
}

bool path_index_find(struct image_records *images, const struct index_id *id)
{
	if (index_file_find(&images->file, id) && unpack(images))
		return true;
	index_file_release(&images->file);
	return false;
}

const char *path_index_path(const struct image_records *images, int64_t i)
{
	const struct path_index_header *h =
		(const void *)(images->file.bytes + images->file.size - sizeof(*h));
	const uint64_t at = ((const uint64_t *)images->entries)[i] & IMAGE_AT_MASK;

	return at < h->paths_size ? (const char *)images->file.bytes + at : "";
}

int path_lists_open(struct path_lists **lists, const struct index_id *id, struct err *err)
{
	struct path_lists *made = mem_new(1, sizeof(*made));
	int code;

	*lists = NULL;
	if (!made)
		return err_memory(err, id->path, sizeof(*made));
	made->id = id;
	made->largest = -1;
	code = index_writer_open(&made->writer, id, KEEP_FROM, err);
	if (code)
		mem_free(made);
	else
		*lists = made;
	return code;
}

/* Parts without users, where others have them. */
static int fill_users(struct path_lists *l, struct err *err)
{
	while (l->users.count && l->users.count < l->entries.count)
		if (!numbers_add(&l->users, (uint64_t)RECORDS_NO_USER))
			return err_memory(err, l->id->path, l->users.count * 8);
	return 0;
}

/* Whether the part that ends has as much of one thing as of another. */
static int end_part(struct path_lists *l, struct err *err)
{
	const size_t count = l->entries.count - l->first;
	const size_t times = l->times.count - l->times_first;
	const size_t users = l->users.count - l->users_first;

	if (l->labels != count)
		return err_set(err, ERR_FORMAT, "%s: %s has %zu labels for %zu paths", l->id->path,
			l->name, l->labels, count);
	if (l->times.count && times != count)
		return err_set(err, ERR_FORMAT, "%s: %s has %zu times for %zu paths", l->id->path,
			l->name, times, count);
	if (times && l->times_first != l->first)
		return err_set(err, ERR_FORMAT, "%s: %s has times, and what comes before has none",
			l->id->path, l->name);
	if (users && users != count)
		return err_set(err, ERR_FORMAT, "%s: %s has %zu users for %zu paths", l->id->path,
			l->name, users, count);
	return fill_users(l, err);
}

int path_lists_part(
	struct path_lists *lists, enum records_part part, const char *name, struct err *err)
{
	const int code = end_part(lists, err);

	lists->part = part;
	lists->parted |= part != RECORDS_STREAM;
	snprintf(lists->name, sizeof(lists->name), "%s", name);
	lists->first = lists->entries.count;
	lists->times_first = lists->times.count;
	lists->users_first = lists->users.count;
	lists->labels = 0;
	return code;
}

static bool is_blank(char byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

int path_lists_path(void *lists, const struct list_value *value, struct err *err)
{
	struct path_lists *l = lists;
	const char *text = value->text;
	size_t size = value->size;
	char path[PATH_LONGEST + 1];
	int code;

	if (value->kind != LIST_TEXT)
		return err_set(err, ERR_FORMAT, "is a number, not a path");
	while (size && (is_blank(text[size - 1]) || !text[size - 1]))
		size--;
	for (; size && is_blank(*text); size--)
		text++;
	if (!size || size > PATH_LONGEST || memchr(text, '\0', size))
		return err_set(err, ERR_FORMAT, "its path %s",
			!size                 ? "is empty"
			: size > PATH_LONGEST ? "is too long"
					      : "holds a zero byte");
	if (l->paths_size > IMAGE_AT_MASK)
		return err_set(err, ERR_INPUT, "there are too many paths");
	if (!numbers_add(&l->entries, l->paths_size | (uint64_t)l->part << IMAGE_PART_FROM))
		return err_memory(err, l->id->path, l->entries.count * 8);
	memcpy(path, text, size);
	path[size] = '\0';
	code = index_writer_write(l->writer, path, size + 1, err);
	l->paths_size += size + 1;
	return code;
}

int path_lists_label(void *lists, const struct list_value *value, struct err *err)
{
	struct path_lists *l = lists;
	uint64_t label;

	if (value->kind != LIST_WHOLE)
		return err_set(err, ERR_FORMAT, "its label is no whole number");
	if (l->labels >= l->entries.count - l->first)
		return err_set(err, ERR_FORMAT, "there are %zu paths and more labels", l->labels);
	label = value->whole >= 0 && value->whole < PATH_LABELS ? (uint64_t)value->whole
								: IMAGE_LABEL_MASK;
	l->entries.at[l->first + l->labels++] |= label << IMAGE_AT_BITS;
	if (label != IMAGE_LABEL_MASK && value->whole > l->largest)
		l->largest = value->whole;
	return 0;
}

static bool to_microseconds(uint64_t *time)
{
	int64_t seconds = (int64_t)*time;

	if (__builtin_mul_overflow(seconds, MICROSECONDS, &seconds))
		return false;
	*time = (uint64_t)seconds;
	return true;
}

/* A fraction has shown up: times so far were seconds, too. */
static bool begin_fractions(struct path_lists *l)
{
	bool fit = true;

	l->fractions = true;
	for (size_t i = 0; i < l->times.count; i++)
		fit &= to_microseconds(l->times.at + i);
	return fit;
}

int path_lists_time(void *lists, const struct list_value *value, struct err *err)
{
	struct path_lists *l = lists;
	const double real = value->kind == LIST_REAL ? value->real : 0;
	uint64_t time = (uint64_t)value->whole;
	bool fit = value->kind != LIST_TEXT && fabs(real) < 9e12; /* false for what is no number */

	if (fit && real != trunc(real) && !l->fractions)
		fit = begin_fractions(l);
	if (fit && value->kind == LIST_REAL)
		time = (uint64_t)(int64_t)(l->fractions ? floor(real * MICROSECONDS) : real);
	else if (fit && l->fractions)
		fit = to_microseconds(&time);
	if (!fit)
		return err_set(err, ERR_FORMAT, "its time is no number of seconds");
	if (l->times.count - l->times_first >= l->entries.count - l->first)
		return err_set(err, ERR_FORMAT, "there are %zu paths and more times",
			l->entries.count - l->first);
	return numbers_add(&l->times, time) ? 0 : err_memory(err, l->id->path, l->times.count * 8);
}

int path_lists_user(void *lists, const struct list_value *value, struct err *err)
{
	struct path_lists *l = lists;
	uint64_t user = (uint64_t)value->whole;

	if (value->kind == LIST_REAL)
		return err_set(err, ERR_FORMAT, "its user is a fraction");
	if (value->kind == LIST_TEXT)
		user = mark_add(MARK_NOTHING, value->text, value->size);
	if (l->users_first != l->first)
		return err_set(err, ERR_FORMAT, "it has a user, and what comes before has none");
	if (l->users.count - l->users_first >= l->entries.count - l->first)
		return err_set(err, ERR_FORMAT, "there are %zu paths and more users",
			l->entries.count - l->first);
	return numbers_add(&l->users, user) ? 0 : err_memory(err, l->id->path, l->users.count * 8);
}

static int write_all(struct path_lists *l, struct err *err)
{
	static const char zeros[8];
	const struct path_index_header header = {
		.count = l->entries.count,
		.paths_size = l->paths_size,
		.classes = (uint32_t)(l->largest + 1),
		.timed = l->times.count > 0,
		.parted = l->parted,
		.users = l->users.count > 0,
	};
	int code = index_writer_write(l->writer, zeros, (8 - l->paths_size % 8) % 8, err);

	if (!code)
		code = index_writer_write(l->writer, l->entries.at, l->entries.count * 8, err);
	if (!code)
		code = index_writer_write(l->writer, l->times.at, l->times.count * 8, err);
	if (!code)
		code = index_writer_write(l->writer, l->users.at, l->users.count * 8, err);
	return code ? code : index_writer_write(l->writer, &header, sizeof(header), err);
}

int path_lists_end(struct path_lists *lists, struct image_records *images, struct err *err)
{
	struct path_lists *l = lists;
	int code = end_part(l, err);

	if (!code && !l->entries.count)
		code = err_set(err, ERR_FORMAT, "%s: names no images", l->id->path);
	else if (!code && l->largest < 0)
		code = err_set(err, ERR_FORMAT, "%s: none of its %zu labels is from 0 to %d",
			l->id->path, l->entries.count, PATH_LABELS - 1);
	if (!code)
		code = write_all(l, err);
	if (!code) {
		code = index_writer_end(l->writer, &images->file, err);
		l->writer = NULL;
	}
	if (!code && !unpack(images))
		code = err_set(err, ERR_STATE, "%s: its index contradicts itself", l->id->path);
	path_lists_abort(l);
	return code;
}

void path_lists_abort(struct path_lists *lists)
{
	if (!lists)
		return;
	index_writer_abort(lists->writer);
	numbers_release(&lists->entries);
	numbers_release(&lists->times);
	numbers_release(&lists->users);
	mem_free(lists);
}
