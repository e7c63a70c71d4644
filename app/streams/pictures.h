/*
 * Pictures as a program names them, turned into a net's input by a data set's transform
 * (streams/view.h) on threads of their own. What a row of a batch holds follows from the picture,
 * the seed, the iteration and the row, never from threads: it is what a stored run sees.
 */
#ifndef RETAIN_STREAMS_PICTURES_H
#define RETAIN_STREAMS_PICTURES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct pictures;

struct picture {
	const char *name;  /* for messages; also the file, if there are no bytes */
	const void *bytes; /* an image file's, or pixels; NULL: read the file */
	size_t size;
};

/*
 * settings are "section.name=value", ending with NULL: those of section image, run.seed and
 * stream.loaders. shape is that of pixels, (channels, height, width), or zeros for image files.
 */
int pictures_open(struct pictures **pictures, const char *const *settings, const int shape[3],
	struct err *err);
void pictures_close(struct pictures *pictures);

/* The shape of an input. */
void pictures_shape(const struct pictures *pictures, int shape[3]);

/*
 * Fills in `count` inputs: augmented for the training batch of an iteration, or, if that is
 * negative, as for evaluation. An unreadable picture is replaced by the nearest one before it, or
 * else after it, that can be read: rows[i] is the one that row i holds, and errs[i] says why it
 * is not i (code 0: it is). Fails if none can be read. One caller at a time; others wait.
 */
int pictures_read(struct pictures *pictures, const struct picture *list, int count,
	int64_t iteration, float *out, int64_t *rows, struct err *errs, struct err *err);

#endif
