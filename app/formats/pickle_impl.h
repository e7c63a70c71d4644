/* What the two halves of the reader of pickles share; formats/pickle.h is for all others. */
#ifndef RETAIN_FORMATS_PICKLE_IMPL_H
#define RETAIN_FORMATS_PICKLE_IMPL_H

#include "base/grow.h"
#include "formats/pickle.h"

struct pickle {
	const unsigned char *bytes;
	size_t size, at, from; /* from: of the opcode that is being followed */
	const struct pickle_visitor *visitor;
	struct err *err;
	struct pickle_value *stack, *cells, *kept;
	size_t depth, stack_room, cells_count, cells_room, kept_count, kept_room;
	struct numbers memo;
	bool stored, rebuilt, stopped;
	struct pickle_tensor tensor;
};

/* ERR_FORMAT with the place of the opcode that is being followed before the words. */
int pickle_refuse(struct pickle *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

int pickle_push(struct pickle *p, enum pickle_kind kind, int64_t whole);
/* The value on top, which stays; NULL, with the error set, if there is none or it is a mark. */
struct pickle_value *pickle_top(struct pickle *p);

/* Opcodes that look up names, and what is made of these. */
int pickle_run_global(struct pickle *p, int n);
int pickle_run_stack_global(struct pickle *p, int n);
int pickle_run_binpersid(struct pickle *p, int n);
int pickle_run_reduce(struct pickle *p, int n);

#endif
