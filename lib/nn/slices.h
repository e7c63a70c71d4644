/*
 * Slices of flat buffers. What has the length of a net's parameters, such as momentum and
 * averages, may be kept in slices by the processes of an engine: each keeps its own ones, one
 * behind the other, and together they have all. A process that is alone keeps one slice, all of
 * it; so does everyone where the engine is NULL.
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
	size_t at;           /* where it begins in what its process keeps */
};

/* The slices that this process keeps of a buffer, and how many floats they are together. */
int slices_count(const struct engine *engine, size_t floats);
struct slice slices_at(const struct engine *engine, size_t floats, int index);
size_t slices_kept(const struct engine *engine, size_t floats);

/* Takes the own slices out of a whole buffer. */
void slices_keep(const struct engine *engine, float *own, const float *whole, size_t floats);

/* state_params of the whole buffer, of which every process has its own slices. */
void slices_state(const struct engine *engine, struct state *state, const char *name, float *own,
	size_t floats);

/*
 * Puts such buffers together: all processes call whole_of in the same order, and get all floats,
 * good until the next call. A buffer that was put together last is not put together again until
 * whole_forget says that it changed; whole_has, whether that is so. Alone, the buffer itself is
 * whole.
 */
struct whole;
int whole_new(struct whole **whole, const struct engine *engine, size_t floats, struct err *err);
void whole_free(struct whole *whole);
const float *whole_of(struct whole *whole, const float *own);
bool whole_has(const struct whole *whole, const float *own);
void whole_forget(struct whole *whole);

#endif
