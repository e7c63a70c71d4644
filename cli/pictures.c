/* Handles and errors are those of the rooms below under the public names. */
#include "pictures.h"

#include <assert.h>

#include "streams/pictures.h"

static_assert(sizeof(struct retain_err) == sizeof(struct err), "errors have one form");
static_assert(sizeof(struct retain_picture) == sizeof(struct picture), "pictures have one form");

int retain_pictures_open(struct retain_pictures **pictures, const char *const *settings,
	const int shape[3], struct retain_err *err)
{
	return pictures_open((struct pictures **)pictures, settings, shape, (struct err *)err);
}

void retain_pictures_close(struct retain_pictures *pictures)
{
	pictures_close((struct pictures *)pictures);
}

void retain_pictures_shape(const struct retain_pictures *pictures, int shape[3])
{
	pictures_shape((const struct pictures *)pictures, shape);
}

int retain_pictures_read(struct retain_pictures *pictures, const struct retain_picture *list,
	int count, int64_t iteration, float *out, int64_t *rows, struct retain_err *errs,
	struct retain_err *err)
{
	return pictures_read((struct pictures *)pictures, (const struct picture *)list, count,
		iteration, out, rows, (struct err *)errs, (struct err *)err);
}
