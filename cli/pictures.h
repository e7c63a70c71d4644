/*
 * Pictures for a program that has the command inside it (brought.h): retain's decoder and
 * augmentation for loops of its own. libretain has no image formats, so this is not in retain.h.
 */
#ifndef RETAIN_CLI_PICTURES_H
#define RETAIN_CLI_PICTURES_H

#include <retain.h>

struct retain_pictures;

/* As in streams/pictures.h, which says what they do. */
struct retain_picture {
	const char *name;
	const void *bytes;
	size_t size;
};

RETAIN_API int retain_pictures_open(struct retain_pictures **pictures, const char *const *settings,
	const int shape[3], struct retain_err *err);
RETAIN_API void retain_pictures_close(struct retain_pictures *pictures);
RETAIN_API void retain_pictures_shape(const struct retain_pictures *pictures, int shape[3]);
RETAIN_API int retain_pictures_read(struct retain_pictures *pictures,
	const struct retain_picture *list, int count, int64_t iteration, float *out, int64_t *rows,
	struct retain_err *errs, struct retain_err *err);

#endif
