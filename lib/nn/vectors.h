/*
 * Vectors: flat buffers laid out like a net's parameters, such as the parameters themselves,
 * gradient, momentum, averages and displacements.
 *
 * A vector is the address of its first float. Usually it is memory. If a program keeps vectors
 * (struct retain_vectors of retain.h), on a device for instance, it is a place in reserved
 * address space: it can be compared, offset and passed on like any other, but whoever reads or
 * writes a float there crashes. So code that may meet such vectors uses the functions here, with
 * the engine that they belong to; for memory they do the same as ever, with the same bits.
 *
 * What fails during a step cannot be undone. It is noted, and vectors_failed tells.
 */
#ifndef RETAIN_NN_VECTORS_H
#define RETAIN_NN_VECTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/state.h"
#include "nn/engine.h"
#include "nn/ops.h"

struct net;
struct retain_span;
struct retain_vectors;

/* Those of a program; the functions are copied. They are counted, as engines and nets share them. */
int vectors_new(struct vectors **vectors, const struct retain_vectors *functions, struct err *err);
struct vectors *vectors_hold(struct vectors *vectors); /* NULL: NULL */
void vectors_release(struct vectors *vectors);

/* Whether an operation on the engine's vectors has failed, so that they cannot be trusted. */
int vectors_failed(const struct engine *engine, struct err *err);

/* Memory for the inputs of batches, the program's where it has some. NULL: out of memory. */
float *batch_new(const struct engine *engine, size_t floats);
void batch_free(const struct engine *engine, float *batch); /* the engine may be NULL if it is */

/* What the program adds to a checkpoint, if anything; skipped where no program keeps vectors. */
void vectors_state(const struct engine *engine, struct state *state);

/* The program's name for an address. */
struct retain_span vectors_span(struct vectors *vectors, const float *at);

/* In all that follows the engine may be NULL: memory. `what` needs the floats, for the message. */
int vector_new(float **vector, const struct engine *engine, size_t floats, const char *what,
	struct err *err);
void vector_free(const struct engine *engine, float *vector);

void vector_copy(const struct engine *engine, float *to, const float *from, size_t floats);
void vector_zero(const struct engine *engine, float *vector, size_t floats);
/* out = x + b y */
void vector_add(const struct engine *engine, float *out, const float *x, float b, const float *y,
	size_t floats);
bool vector_finite(const struct engine *engine, const float *vector, size_t floats);

/*
 * The floats in memory, for files: the vector itself, or a copy. vector_leave ends that, and
 * with `changed` writes a copy back.
 */
int vector_look(const struct engine *engine, const float *vector, size_t floats, float **values,
	struct err *err);
int vector_leave(const struct engine *engine, float *vector, size_t floats, float *values,
	bool changed, struct err *err);
/* Part of one. */
int vector_read(const struct engine *engine, const float *vector, float *values, size_t floats,
	struct err *err);

/* state_params of a vector. net_init of one. */
void vector_state(const struct engine *engine, struct state *state, const char *name, float *vector,
	size_t floats);
int vector_init(const struct engine *engine, const struct net *net, uint64_t seed, float *params,
	float *stats, struct err *err);

/* Steps of optimizers, as in nn/ops.h. */
void vector_sgd(const struct engine *engine, float *params, const float *grad, float *momentum,
	size_t count, const struct sgd_step *step, const struct average_step *averages);
void vector_adam(const struct engine *engine, float *params, const float *grad, float *mean,
	float *square, size_t count, const struct adam_step *step,
	const struct average_step *averages);
void vector_schedule_free(const struct engine *engine, float *params, const float *grad, float *z,
	float *x, size_t count, const struct schedule_free_step *step,
	const struct average_step *averages);

/* A step of the program's own, which must keep the vectors. */
void vectors_step(struct vectors *vectors, float *params, const float *grad, size_t count,
	float rate, bool first, const struct average_step *averages);

/* Of vectors that a program keeps: a x + b y, and the sum of squares. */
void vectors_combine(struct vectors *vectors, float *out, float a, const float *x, float b,
	const float *y, size_t floats);
double vectors_square(struct vectors *vectors, const float *x, size_t floats);

#endif
