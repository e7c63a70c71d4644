/*
 * The safetensors file format: how weights and batches travel between retain
 * and PyTorch. A file is an 8-byte little-endian header length, a JSON header
 * that gives every tensor's dtype, shape and place, and the tensors' bytes.
 *
 * Reading is strict. safetensors_open checks the whole header against the
 * file: an absurd length, JSON that is not a plain object of tensors, an
 * unknown dtype, a shape that overflows or does not fit its bytes, tensors
 * that overlap, leave holes or do not end where the file ends are all
 * ERR_FORMAT with a sentence that names the file and the tensor. What has been
 * opened can be read without further surprises, short of the disk's own.
 */
#ifndef RETAIN_NN_WEIGHTS_SAFETENSORS_H
#define RETAIN_NN_WEIGHTS_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>
#include "base/err.h"

struct safetensors;

/* One tensor of an open file. It and all it points to live until the file is closed. */
struct safetensor {
	const char *name;
	const char *dtype; /* as the file spells it: "F32", "I64", ... */
	int dims;          /* 0 for a scalar */
	const int64_t *shape;
	uint64_t count; /* numbers, 0 when a dimension is 0 */
	uint64_t bytes;
	uint64_t offset; /* in bytes, from the start of the file */
};

/* A failed open needs no close; close accepts NULL. */
int safetensors_open(struct safetensors **file, const char *path, struct err *err);
void safetensors_close(struct safetensors *file);

/* Hands over the descriptor, which is the caller's to close; nothing can be read any more. */
int safetensors_release(struct safetensors *file);

const char *safetensors_path(const struct safetensors *file);
uint64_t safetensors_size(const struct safetensors *file); /* of the file, in bytes */

/* Tensors in the order of their bytes. find returns NULL for an unknown name. */
int safetensors_count(const struct safetensors *file);
const struct safetensor *safetensors_at(const struct safetensors *file, int index);
const struct safetensor *safetensors_find(const struct safetensors *file, const char *name);

/* The "__metadata__" strings, in the file's order. get returns NULL for an unknown key. */
struct safetensors_note {
	const char *key;
	const char *value;
};
int safetensors_notes(const struct safetensors *file);
const struct safetensors_note *safetensors_note(const struct safetensors *file, int index);
const char *safetensors_get(const struct safetensors *file, const char *key);

/*
 * Reads a whole tensor of this file into room for tensor->count numbers. Floats come from F32
 * and, rounded or widened, F64, F16 and BF16; integers from I64 and I32. Any other dtype is
 * ERR_INPUT, naming it.
 */
int safetensors_read_float(const struct safetensors *file, const struct safetensor *tensor,
	float *values, struct err *err);
int safetensors_read_int64(const struct safetensors *file, const struct safetensor *tensor,
	int64_t *values, struct err *err);

/* "(64, 3, 7, 7)" or "()", cut with "..." if it does not fit. Returns text. */
char *safetensors_shape_text(char *text, size_t size, int dims, const int64_t *shape);

/*
 * A tensor to write: exactly one of floats (F32) and ints (I64) is set, unless the tensor is
 * empty.
 */
struct safetensors_item {
	const char *name;
	int dims;
	const int64_t *shape;
	const float *floats;
	const int64_t *ints;
};

/*
 * Writes the items in the given order, so that the same arguments give the same bytes; the header
 * is padded with spaces to a multiple of 8. The file is written atomically. Put I64 items first:
 * then every tensor is aligned to its own size, which some readers require.
 */
int safetensors_save(const char *path, const struct safetensors_item *items, int count,
	const struct safetensors_note *notes, int notes_count, struct err *err);

#endif
