/* A few pictures, evenly over the set, are opened and not decoded. */
#include "streams/sight.h"

#include "images/image.h"

enum { LOOKED = 16 }; /* pictures whose size is looked at */

static void note(struct sight *sight, int width, int height)
{
	const int side = width > height ? width : height;

	sight->same = width == height && (!sight->side || (sight->same && sight->side == side));
	sight->side = side > sight->side ? side : sight->side;
}

/* Some picture files, evenly over the set; one that cannot be read is none. */
static int look_at_files(struct records *records, struct sight *sight, struct err *err)
{
	const int64_t count = records_info(records)->count;
	const int64_t some = count < LOOKED ? count : LOOKED;
	struct image_reader *reader = NULL;
	struct record_bytes bytes = {0};
	int code = image_reader_new(&reader, err), width, height;

	for (int64_t i = 0; i < some && !code; i++)
		if (!records_read(records, i * count / some, &bytes, NULL) &&
			!image_open(reader, bytes.data, bytes.size, &width, &height, NULL))
			note(sight, width, height);
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
	return 0;
}

bool sight_sorted(const struct records *records)
{
	const int64_t count = records_info(records)->count;
	int64_t changes = 0;

	for (int64_t i = 1; i < count; i++)
		changes += records_look(records, i).label != records_look(records, i - 1).label;
	return changes < records_info(records)->classes && count > 2 * changes;
}
