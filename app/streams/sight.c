/* Inspects a few pictures, spread evenly over the set. */
#include "streams/sight.h"

#include "images/image.h"

enum { LOOKED = 16 };

static void note(struct sight *sight, int width, int height)
{
	const int side = width > height ? width : height;

	sight->same = width == height && (!sight->side || (sight->same && sight->side == side));
	sight->side = side > sight->side ? side : sight->side;
}

/* Files with colours are often grey all the same. Up to its first colour it is one pixel by one. */
static bool is_grey(const struct image *image)
{
	const size_t plane = image->planar ? image->stride * (size_t)image->height : 1;
	const size_t step = image->planar ? 1 : (size_t)image->components;

	for (int y = 0; y < image->height && image->components == 3; y++)
		for (int x = 0; x < image->width; x++) {
			const uint8_t *p =
				image->pixels + (size_t)y * image->stride + (size_t)x * step;

			if (p[0] != p[plane] || p[0] != p[2 * plane])
				return false;
		}
	return true;
}

/* Some picture files, evenly over the set; one that cannot be read is none. */
static int look_at_files(struct records *records, struct sight *sight, struct err *err)
{
	const int64_t count = records_info(records)->count;
	const int64_t some = count < LOOKED ? count : LOOKED;
	struct image_reader *reader = NULL;
	struct record_bytes bytes = {0};
	struct image image;
	int code = image_reader_new(&reader, err);

	sight->grey = true;
	for (int64_t i = 0; i < some && !code; i++)
		if (!records_read(records, i * count / some, &bytes, NULL) &&
			!image_decode(reader, bytes.data, bytes.size, 3, &image, NULL)) {
			note(sight, image.width, image.height);
			sight->grey = sight->grey && is_grey(&image);
		}
	record_bytes_release(&bytes);
	image_reader_free(reader);
	return code;
}

int sight_pictures(struct sight *sight, struct records *records, struct err *err)
{
	const struct records_info *info = records_info(records);

	*sight = (struct sight){0};
	if (info->form == RECORDS_IMAGE)
		return look_at_files(records, sight, err);
	note(sight, info->width, info->height);
	sight->grey = info->channels == 1;
	return 0;
}

bool sight_in_runs(int64_t count, int64_t changes, int classes)
{
	return changes < classes && count > 2 * changes;
}

bool sight_sorted(const struct records *records)
{
	const int64_t count = records_info(records)->count;
	int64_t changes = 0;

	for (int64_t i = 1; i < count; i++)
		changes += records_look(records, i).label != records_look(records, i - 1).label;
	return sight_in_runs(count, changes, records_info(records)->classes);
}
