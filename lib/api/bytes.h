/* State as bytes of the caller's. */
#ifndef RETAIN_API_BYTES_H
#define RETAIN_API_BYTES_H

#include "base/err.h"
#include "base/state.h"

/*
 * Visits the object and copies its state to `bytes`, with room for *size; *size becomes its
 * length. NULL: only the length. Too little room is ERR_INPUT. `function` is named in messages.
 */
int bytes_pack(const char *function, state_fn *visit, void *object, void *bytes, size_t *size,
	struct err *err);

#endif
