/*
 * State: everything that must be saved so that a run can go on exactly where it
 * stopped. An object that holds state has one function that visits all its fields:
 *
 *	void pool_state(struct pool *pool, struct state *state)
 *	{
 *		state_int64(state, "seen", &pool->seen);
 *		state_int64s(state, "ids", pool->ids, pool->count);
 *	}
 *
 * The same list writes a file and reads it back, so the two cannot disagree.
 * Reading is strict: every field must have the name, type and length that the
 * list expects, in its order. The first failure is remembered: later visits do
 * nothing, and state_save or state_load returns it. So visitors need no checks,
 * except before they use a number that they have just read (state_failed).
 *
 * Files are written as base/file.h does and end with a checksum; a file whose
 * checksum does not fit is refused before anything is read from it.
 */
#ifndef RETAIN_BASE_STATE_H
#define RETAIN_BASE_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct state;

typedef void state_fn(void *object, struct state *state);

/* Visits object and makes path hold what was visited, or leaves path as it was. */
int state_save(const char *path, state_fn *visit, void *object, struct err *err);

/* Visits object, filling its fields from path. After a failure the object may be half filled. */
int state_load(const char *path, state_fn *visit, void *object, struct err *err);

/*
 * Fills one object's fields from another of the same kind, without a file. `to` may have more
 * classes: then arrays of a net's parameters and arrays by class, which say so below, are
 * longer there. Of the former `fit` makes the one from the other: floats, which need not be
 * aligned in `from`. The latter keep what they have, and 0 stands behind it.
 */
typedef void state_fit(
	void *context, const char *from, size_t from_count, float *to, size_t to_count);
int state_carry(
	state_fn *visit, void *from, void *to, state_fit *fit, void *context, struct err *err);

/*
 * Between processes. What a state reads from a file between state_tap and state_tap with NULL
 * goes through a wire as well; state_hear reads from one what its visit asks for, and state_say
 * writes to one, or with NULL nowhere, for what fields do together. Both ends visit the same
 * fields at that time, and neither checks them.
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
 * The version of the file that is being read, or STATE_VERSION when writing. A visitor
 * asks for it before fields that older files do not have, or that only older files
 * have. A file of a later version is refused (ERR_INPUT).
 */
enum { STATE_VERSION = 8 };
int state_version(const struct state *state);

/* Whether fields are being filled; whether something failed, so that fields cannot be trusted. */
bool state_reading(const struct state *state);
bool state_failed(const struct state *state);

/*
 * For one that reads a part of what was written: passes over fields, up to the group of this
 * name; and over all that follows. Without such a group it is refused.
 */
void state_skip_to(struct state *state, const char *group);
/* Whether a file is being read, and the group of this name is next. */
bool state_next_is(struct state *state, const char *group);
void state_skip_rest(struct state *state);

/* A visitor's own refusal; the first one counts. The file's name is put before the message. */
void state_refuse(struct state *state, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Opens and closes a group: names within it need only be unique there. */
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
 * file they are like others. state_params: as a net's parameters lie, or the last of them; by
 * class: `row` numbers of the first class, then those of the second.
 */
void state_params(struct state *state, const char *name, float *values, size_t count);
void state_class_floats(
	struct state *state, const char *name, float *values, size_t classes, size_t row);
void state_class_doubles(
	struct state *state, const char *name, double *values, size_t classes, size_t row);

/* A name (of a strategy, an architecture) that must be the same as when it was saved. */
void state_same(struct state *state, const char *name, const char *value);

#endif
