/*
 * Python's pickles, as far as torch.save writes them for lists of numbers and texts
 * and for tensors. A pickle is a program; this runs none of it. It follows opcodes
 * that build lists, tuples, dictionaries, numbers and texts. Opcodes that look up
 * Python's names may look up only those below. Everything else is refused by name and
 * place:
 *
 *	torch._utils _rebuild_tensor_v2
 *	torch DoubleStorage, FloatStorage, LongStorage, IntStorage, ShortStorage,
 *	      CharStorage, ByteStorage
 *	collections OrderedDict
 *
 * A list of millions is not held: the values of the outermost list go to a visitor as
 * they come. Memory is bounded by 8 bytes for each value that the pickle may refer to
 * again (it has at least 2 bytes for each) and a few MiB. A pure function of its bytes.
 */
#ifndef RETAIN_FORMATS_PICKLE_H
#define RETAIN_FORMATS_PICKLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum pickle_kind {
	PICKLE_NONE,
	PICKLE_BOOL,
	PICKLE_WHOLE,
	PICKLE_BIG, /* a whole number that does not fit; its bytes, the lowest first */
	PICKLE_REAL,
	PICKLE_TEXT,
	PICKLE_LIST,
	PICKLE_DICT,
	PICKLE_TUPLE,
	PICKLE_GLOBAL,
	PICKLE_STORAGE,
	PICKLE_TENSOR,
	PICKLE_MARK, /* never given out */
};

struct pickle_value {
	enum pickle_kind kind;
	uint32_t head; /* internal */
	union {
		int64_t whole; /* of PICKLE_BOOL, too */
		double real;
		uint64_t at; /* of text and big: where its bytes begin */
	};
	size_t size; /* of text and big, in bytes */
};

enum pickle_element { PICKLE_F8, PICKLE_F4, PICKLE_I8, PICKLE_I4, PICKLE_I2, PICKLE_I1, PICKLE_U1 };

enum { PICKLE_DIMENSIONS = 4 };

/* What a tensor is made of; nothing here has been compared with a storage's bytes. */
struct pickle_tensor {
	enum pickle_element element;
	uint64_t key_at; /* the storage's name, a text */
	size_t key_size;
	int64_t count; /* elements of the storage */
	int64_t first;
	int dimensions;
	int64_t shape[PICKLE_DIMENSIONS], stride[PICKLE_DIMENSIONS];
};

/* Either function may be NULL: such values are left out. */
struct pickle_visitor {
	/* The next value of the outermost list, if the pickle is one. */
	int (*item)(void *self, const struct pickle_value *value, struct err *err);
	/* The next pair of the outermost dictionary, if the pickle is one. */
	int (*pair)(void *self, const struct pickle_value *key, const struct pickle_value *value,
		struct err *err);
	void *self;
};

struct pickle_result {
	size_t end;                  /* the byte after the pickle */
	struct pickle_value root;    /* what it is */
	struct pickle_tensor tensor; /* if it is a tensor */
};

/*
 * Reads the pickle that begins at byte `at`. All places, in values and in messages, are
 * counted from `bytes`, which need not end with the pickle.
 */
int pickle_read(const unsigned char *bytes, size_t size, size_t at,
	const struct pickle_visitor *visitor, struct pickle_result *result, struct err *err);

/* "a list", "a text": for messages. */
const char *pickle_kind_name(enum pickle_kind kind);

#endif
