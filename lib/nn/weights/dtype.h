/* The number formats of safetensors files, and their conversion to the two that retain uses. */
#ifndef RETAIN_NN_WEIGHTS_DTYPE_H
#define RETAIN_NN_WEIGHTS_DTYPE_H

#include <stddef.h>

/* Turns count numbers at bytes (any alignment) into float or int64_t at values. */
typedef void dtype_convert(const unsigned char *bytes, void *values, size_t count);

struct dtype {
	const char *name;        /* as files spell it */
	unsigned bits;           /* of one number; some formats are smaller than a byte */
	dtype_convert *to_float; /* NULL if retain does not read it */
	dtype_convert *to_int64;
};

/* NULL if there is no dtype of that name. */
const struct dtype *dtype_find(const char *name);

#endif
