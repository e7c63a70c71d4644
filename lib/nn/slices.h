/*
 * Slices of flat buffers. Buffers of a net's parameter length, such as momentum and averages, may
 * be distributed over the processes of an engine: each keeps its own slices, contiguously. A
 * single process, or a NULL engine, has one slice: the whole buffer.
 */
#ifndef RETAIN_NN_SLICES_H
#define RETAIN_NN_SLICES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/state.h"

struct engine;

struct slice {
	size_t first, count; /* of the whole buffer */
	size_t at;           /* offset in its process's buffer */
};

/* The slices of a buffer that this process keeps, and their total length in floats. */
int slices_count(const struct engine *engine, size_t floats);
struct slice slices_at(const struct engine *engine, size_t floats, int index);
size_t slices_kept(const struct engine *engine, size_t floats);

/* Copies this process's slices out of a whole buffer. */
void slices_keep(const struct engine *engine, float *own, const float *whole, size_t floats);

/* state_params of the whole buffer, of which every process has its own slices. */
void slices_state(const struct engine *engine, struct state *state, const char *name, float *own,
	size_t floats);

/*
 * Gathers distributed buffers: all processes call whole_of in the same order and get all floats,
 * valid until the next call. The last gathered buffer is cached until whole_forget says that it
 * changed; whole_has tells whether it is cached. With a single process the buffer itself is
 * returned.
 */
struct whole;
int whole_new(struct whole **whole, const struct engine *engine, size_t floats, struct err *err);
void whole_free(struct whole *whole);
const float *whole_of(struct whole *whole, const float *own);
bool whole_has(const struct whole *whole, const float *own);
void whole_forget(struct whole *whole);

#endif
