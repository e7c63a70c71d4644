/*
 * Files of PyTorch's torch.save that hold one list of numbers or texts, or one tensor
 * of one dimension (or of N by 1), in both of its formats: the ZIP archive, and the
 * older stream of pickles. What is in their pickles is read, never run (formats/pickle.h).
 */
#ifndef RETAIN_FORMATS_TORCH_SAVE_H
#define RETAIN_FORMATS_TORCH_SAVE_H

#include "base/err.h"
#include "formats/list_value.h"
#include "formats/mapped.h"

/* Hands all values to `visit`. Messages name the file, and the value if one is at fault. */
int torch_save_read(const struct mapped *file, list_visit *visit, void *self, struct err *err);

/* The same of bytes; messages do not name a file. */
int torch_save_bytes(
	const unsigned char *bytes, size_t size, list_visit *visit, void *self, struct err *err);

#endif
