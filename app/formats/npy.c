/*
 * The header is a Python dictionary, {'descr': '<f4', 'fortran_order': False, 'shape': (60000,
 * 784), }; only these three keys are read. Elements need not be aligned.
 */
#include "formats/npy.h"

#include <string.h>

#include "base/words/decimal.h"

static const struct {
	const char *name;
	size_t each;
} types[] = {[NPY_F4] = {"<f4", 4},
	[NPY_F8] = {"<f8", 8},
	[NPY_U1] = {"|u1", 1},
	[NPY_I1] = {"|i1", 1},
	[NPY_I2] = {"<i2", 2},
	[NPY_U2] = {"<u2", 2},
	[NPY_I4] = {"<i4", 4},
	[NPY_U4] = {"<u4", 4},
	[NPY_I8] = {"<i8", 8},
	[NPY_U8] = {"<u8", 8}};

enum { TYPES = sizeof(types) / sizeof(types[0]), HEADER_MOST = 1 << 16 };

struct words {
	const char *at, *end;
};

static void skip_blanks(struct words *words)
{
	while (words->at < words->end && (*words->at == ' ' || *words->at == '\n'))
		words->at++;
}

/* Whether the next thing is this; it is passed over. */
static bool take(struct words *words, const char *what)
{
	const size_t size = strlen(what);

	skip_blanks(words);
	if ((size_t)(words->end - words->at) < size || memcmp(words->at, what, size))
		return false;
	words->at += size;
	return true;
}

/* What follows 'KEY': in the dictionary. */
static bool find(struct words *words, const char *key)
{
	const size_t size = strlen(key);

	for (; (size_t)(words->end - words->at) > size; words->at++)
		if (!memcmp(words->at, key, size)) {
			words->at += size;
			return take(words, ":");
		}
	return false;
}

static const char *read_type(struct npy_header *header, struct words words)
{
	if (!find(&words, "'descr'") || !take(&words, "'"))
		return "its header has no descr, or one of several fields";
	if (words.at < words.end && *words.at == '>')
		return "its numbers are big-endian; write them with .astype('<f4')";
	for (int i = 0; i < TYPES; i++) {
		const bool plain = types[i].each == 1 && take(&words, types[i].name + 1);

		if (plain || take(&words, types[i].name)) {
			header->type = (enum npy_type)i;
			header->each = types[i].each;
			return take(&words, "'") ? NULL : "its header is damaged";
		}
	}
	return "its elements are no float32, float64 or whole numbers; write them with .astype";
}

static const char *read_shape(struct npy_header *header, struct words words)
{
	if (!find(&words, "'shape'") || !take(&words, "("))
		return "its header has no shape";
	for (header->dimensions = 0; !take(&words, ")");) {
		const char *digits;

		skip_blanks(&words);
		digits = words.at;
		while (words.at < words.end && *words.at >= '0' && *words.at <= '9')
			words.at++;
		if (header->dimensions == NPY_DIMENSIONS)
			return "it has more than four dimensions";
		if (!decimal_whole(digits, (size_t)(words.at - digits),
			    header->shape + header->dimensions))
			return "its shape is damaged";
		header->dimensions++;
		if (!take(&words, ",") && (words.at == words.end || *words.at != ')'))
			return "its shape is damaged";
	}
	return NULL;
}

static const char *check_size(const struct npy_header *header, size_t size)
{
	uint64_t bytes = header->each;

	for (int i = 0; i < header->dimensions; i++)
		if (__builtin_mul_overflow(bytes, (uint64_t)header->shape[i], &bytes))
			return "its shape is larger than any file";
	return bytes == size - header->at ? NULL : "its size is not what its shape promises";
}

const char *npy_read(struct npy_header *header, const unsigned char *bytes, size_t size)
{
	const char *why;
	struct words words;
	size_t length;

	*header = (struct npy_header){0};
	if (size < 12 || memcmp(bytes, "\x93NUMPY", 6))
		return size >= 2 && !memcmp(bytes, "PK", 2)
			       ? "is an .npz; save each array with numpy.save"
			       : "is not a .npy file";
	if (bytes[6] < 1 || bytes[6] > 3)
		return "is of a version that is not known";
	header->at = bytes[6] == 1 ? 10 : 12;
	length = bytes[8] | (size_t)bytes[9] << 8;
	if (bytes[6] > 1)
		length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
	if (length > size - header->at || length > HEADER_MOST)
		return "its header is damaged";
	words.at = (const char *)bytes + header->at;
	words.end = words.at + length;
	header->at += length;
	why = read_type(header, words);
	if (!why)
		why = read_shape(header, words);
	if (!why && find(&words, "'fortran_order'"))
		header->fortran = take(&words, "True");
	if (!why && !header->fortran && !take(&words, "False"))
		why = "its header does not say the order of elements";
	return why ? why : check_size(header, size);
}

int64_t npy_place(const struct npy_header *header, int64_t i, int64_t k)
{
	int64_t place = 0;

	if (!header->fortran) {
		for (int d = 1; d < header->dimensions; d++)
			i *= header->shape[d];
		return i + k;
	}
	for (int d = header->dimensions - 1; d > 0; d--) {
		int64_t stride = 1;

		for (int before = 1; before < d; before++)
			stride *= header->shape[before];
		place += k % header->shape[d] * stride;
		k /= header->shape[d];
	}
	return i + header->shape[0] * place;
}

const char *npy_type_name(enum npy_type type)
{
	return types[type].name;
}

#define TAKE(type, i)                                                                              \
	{                                                                                          \
		type number;                                                                       \
		memcpy(&number, bytes + (i) * sizeof(number), sizeof(number));                     \
		return number;                                                                     \
	}

int64_t npy_whole(const struct npy_header *header, const unsigned char *bytes, size_t i)
{
	switch (header->type) {
	case NPY_U1:
		return bytes[i];
	case NPY_I1:
		TAKE(int8_t, i)
	case NPY_I2:
		TAKE(int16_t, i)
	case NPY_U2:
		TAKE(uint16_t, i)
	case NPY_I4:
		TAKE(int32_t, i)
	case NPY_U4:
		TAKE(uint32_t, i)
	default: /* numbers from 2^63 on become negative, and are refused as labels */
		TAKE(int64_t, i)
	}
}

double npy_number(const struct npy_header *header, const unsigned char *bytes, size_t i)
{
	if (header->type == NPY_F4)
		TAKE(float, i)
	if (header->type == NPY_F8)
		TAKE(double, i)
	return (double)npy_whole(header, bytes, i);
}
