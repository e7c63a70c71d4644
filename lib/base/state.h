/*
 * State: everything that must be saved so that a run can continue exactly where it stopped. An
 * object with state has one visitor for all its fields:
 *
 *	void pool_state(struct pool *pool, struct state *state)
 *	{
 *		state_int64(state, "seen", &pool->seen);
 *		state_int64s(state, "ids", pool->ids, pool->count);
 *	}
 *
 * The same visitor writes a file and reads it back, so the two cannot disagree. Reading is
 * strict: every field must have the expected name, type and length, in order. The first failure
 * is sticky: later visits do nothing, and state_save or state_load returns it. So visitors need
 * no checks, except before they use a number that they have just read (state_failed).
 *
 * Files are written atomically (base/file.h) and end with a checksum; a file with a wrong
 * checksum is rejected before anything is read from it.
 */
#ifndef RETAIN_BASE_STATE_H
#define RETAIN_BASE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct state;

typedef void state_fn(void *object, struct state *state);

/* Visits object and writes the fields to path, or leaves path unchanged. */
int state_save(const char *path, state_fn *visit, void *object, struct err *err);

/* Visits object, filling its fields from path. A failure may leave the object half filled. */
int state_load(const char *path, state_fn *visit, void *object, struct err *err);

/*
 * The same bytes in memory; free *bytes with mem_free. `name` stands for the file in messages.
 */
int state_pack(char **bytes, size_t *size, state_fn *visit, void *object, struct err *err);
int state_unpack(const char *name, const void *bytes, size_t size, state_fn *visit, void *object,
	struct err *err);

/*
 * Copies one object's fields to another of the same kind, without a file. `to` may have more
 * classes or inputs: then arrays of a net's parameters, by class and by input, declared as such
 * below, are longer there. `fit` converts the first: floats, which need not be aligned in `from`.
 * Arrays by class are padded with 0; those by input keep what `to` has for new inputs.
 */
typedef void state_fit(
	void *context, const char *from, size_t from_count, float *to, size_t to_count);
int state_carry(
	state_fn *visit, void *from, void *to, state_fit *fit, void *context, struct err *err);

/*
 * Between processes. Everything a state reads from a file between state_tap and state_tap with
 * NULL is also sent through a wire. state_hear reads its fields from a wire. state_say writes
 * them to one or, with NULL, nowhere, so that collective operations inside visitors still run.
 * Both ends visit the same fields at that time, and neither checks them.
 */
struct state_wire {
	void (*bytes)(void *context, void *bytes, size_t size); /* sends them, or fills them in */
	void *context;
};
void state_tap(struct state *state, const struct state_wire *wire);
int state_hear(
	const struct state_wire *wire, int version, state_fn *visit, void *object, struct err *err);
int state_say(const struct state_wire *wire, state_fn *visit, void *object, struct err *err);

/*
 * The version of the file being read, or STATE_VERSION when writing. A visitor checks it before
 * fields that older files lack, or that only older files have. A file of a later version is
 * rejected (ERR_INPUT).
 */
enum { STATE_VERSION = 20 };
int state_version(const struct state *state);

/* Whether fields are being filled; whether something failed, so that fields cannot be trusted. */
bool state_reading(const struct state *state);
bool state_failed(const struct state *state);

/*
 * To read only a part of a file: skips fields up to the group of this name, and all that follow.
 * A missing group is an error.
 */
void state_skip_to(struct state *state, const char *group);
/* Whether a file is being read and its next group has this name. */
bool state_next_is(struct state *state, const char *group);
/* Whether a file is being read and its next field has another name. */
bool state_lacks(struct state *state, const char *name);
void state_skip_rest(struct state *state);

/* Reports a visitor's own error; the first one counts. The file's name is prefixed. */
void state_refuse(struct state *state, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Opens and closes a group: names need only be unique within it. */
void state_enter(struct state *state, const char *name);
void state_leave(struct state *state);

void state_bool(struct state *state, const char *name, bool *value);
void state_int(struct state *state, const char *name, int *value);
void state_int64(struct state *state, const char *name, int64_t *value);
void state_uint64(struct state *state, const char *name, uint64_t *value);
void state_double(struct state *state, const char *name, double *value);

/* Arrays whose length is known when reading, too; if it was saved, visit it before the array. */
void state_bytes(struct state *state, const char *name, void *values, size_t count);
void state_int32s(struct state *state, const char *name, int32_t *values, size_t count);
void state_int64s(struct state *state, const char *name, int64_t *values, size_t count);
void state_floats(struct state *state, const char *name, float *values, size_t count);
void state_doubles(struct state *state, const char *name, double *values, size_t count);

/*
 * Arrays whose length depends on the number of classes, which state_carry needs to know; in a
 * file they are like others. state_params: laid out like a net's parameters, or the last of them;
 * by class: `row` numbers of the first class, then those of the second.
 */
void state_params(struct state *state, const char *name, float *values, size_t count);
void state_class_floats(
	struct state *state, const char *name, float *values, size_t classes, size_t row);
void state_class_doubles(
	struct state *state, const char *name, double *values, size_t classes, size_t row);

/*
 * Arrays whose length depends on the number of inputs, and perhaps of classes: `outer` times `dim`
 * times `inner` numbers, where `dim` is the number of inputs and `tail` more that stay last (a
 * constant 1). A matrix is `dim` by `dim` or, packed, its lower triangle.
 */
struct state_inputs {
	size_t outer, dim, inner, tail;
	enum { STATE_BY_ROWS, STATE_MATRIX, STATE_TRIANGLE } form; /* outer, inner: 1 but by rows */
};
void state_input_floats(
	struct state *state, const char *name, float *values, struct state_inputs by);
void state_input_doubles(
	struct state *state, const char *name, double *values, struct state_inputs by);

/* A name (of a strategy, an architecture) that must match the saved one. */
void state_same(struct state *state, const char *name, const char *value);

#endif
