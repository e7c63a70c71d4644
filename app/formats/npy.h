/* Headers of NumPy's .npy files, versions 1 to 3. A pure function of their bytes. */
#ifndef RETAIN_FORMATS_NPY_H
#define RETAIN_FORMATS_NPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NPY_DIMENSIONS = 4 };

/* Types of elements that can be read, in the machine's order. */
enum npy_type { NPY_F4, NPY_F8, NPY_U1, NPY_I1, NPY_I2, NPY_U2, NPY_I4, NPY_U4, NPY_I8, NPY_U8 };

struct npy_header {
	enum npy_type type;
	size_t each; /* bytes of an element */
	int dimensions;
	int64_t shape[NPY_DIMENSIONS];
	size_t at; /* where elements begin */
};

/* NULL, or what is wrong: the bytes after the header are not looked at, but counted. */
const char *npy_read(struct npy_header *header, const unsigned char *bytes, size_t size);

/* The name of a type, "<f4". */
const char *npy_type_name(enum npy_type type);

/* Element i of `bytes`, as a number. The whole one is for types that are no f4, f8. */
double npy_number(const struct npy_header *header, const unsigned char *bytes, size_t i);
int64_t npy_whole(const struct npy_header *header, const unsigned char *bytes, size_t i);

#endif
