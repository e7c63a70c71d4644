/* Headers of NumPy's .npy files, versions 1 to 3. A pure function of their bytes. */
#ifndef RETAIN_FORMATS_NPY_H
#define RETAIN_FORMATS_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NPY_DIMENSIONS = 4 };

/* Supported element types, in native byte order. */
enum npy_type { NPY_F4, NPY_F8, NPY_U1, NPY_I1, NPY_I2, NPY_U2, NPY_I4, NPY_U4, NPY_I8, NPY_U8 };

struct npy_header {
	enum npy_type type;
	size_t each; /* bytes of an element */
	int dimensions;
	int64_t shape[NPY_DIMENSIONS];
	bool fortran; /* the first index runs fastest */
	size_t at;    /* offset of the elements */
};

/* NULL, or an error message. The bytes after the header are only counted. */
const char *npy_read(struct npy_header *header, const unsigned char *bytes, size_t size);

/*
 * Where element k of row i stands, in elements: rows are along the first dimension, and their
 * elements counted as if the last index ran fastest.
 */
int64_t npy_place(const struct npy_header *header, int64_t i, int64_t k);

/* The name of a type, "<f4". */
const char *npy_type_name(enum npy_type type);

/* Element i of `bytes`, as a number. npy_whole is for types other than f4 and f8. */
double npy_number(const struct npy_header *header, const unsigned char *bytes, size_t i);
int64_t npy_whole(const struct npy_header *header, const unsigned char *bytes, size_t i);

#endif
