/*
 * State files. Layout, little-endian as all machines we run on are:
 *
 *	"retain state =\n", the version as a character: its distance from 0
 *	field*       type (1 byte), name length (1 byte), name, count (8 bytes), values
 *	end          type 0, CRC-32 of everything before it (4 bytes)
 *
 * A group is a field of its own without values, its end likewise. Nothing is
 * held in memory: values go straight between the file and the object.
 */
#include "base/state.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/checksum.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/mem.h"

enum field_type {
	FIELD_END,
	FIELD_ENTER,
	FIELD_LEAVE,
	FIELD_BYTES,
	FIELD_INT32,
	FIELD_INT64,
	FIELD_UINT64,
	FIELD_FLOAT,
	FIELD_DOUBLE,
	FIELD_TYPES,
};

static const struct {
	const char *name;
	size_t size;
} field_types[FIELD_TYPES] = {
	[FIELD_END] = {"the end", 0},
	[FIELD_ENTER] = {"a group", 0},
	[FIELD_LEAVE] = {"the end of a group", 0},
	[FIELD_BYTES] = {"bytes", 1},
	[FIELD_INT32] = {"32-bit integers", 4},
	[FIELD_INT64] = {"64-bit integers", 8},
	[FIELD_UINT64] = {"64-bit words", 8},
	[FIELD_FLOAT] = {"floats", 4},
	[FIELD_DOUBLE] = {"doubles", 8},
};

/* How an array's length depends on classes and inputs. */
enum layout { LAYOUT_PLAIN, LAYOUT_PARAMS, LAYOUT_CLASSES, LAYOUT_INPUTS };

enum { MAGIC = 15 /* characters */, DIGIT = MAGIC - 2, TRAILER = 5, CHUNK = 1 << 16 };
static const char magic[MAGIC] = {
	'r', 'e', 't', 'a', 'i', 'n', ' ', 's', 't', 'a', 't', 'e', ' ', '0' + STATE_VERSION, '\n'};

struct state {
	const char *path;
	bool reading;
	struct file_writer *writer;    /* when saving, */
	struct carried *packed;        /* ... to memory, */
	FILE *file;                    /* ... and when loading */
	struct carried *carried;       /* when neither: state_carry */
	enum layout layout;            /* of the field that is visited, */
	struct state_inputs by;        /* ... by input */
	const struct state_wire *wire; /* where bytes go, or come from; NULL: nowhere */
	int version;
	uint32_t checksum;
	int code; /* 0, or of the first failure */
	struct err err;
};

/* What goes from an object to the other. */
struct carried {
	char *bytes;
	size_t size, room, at; /* at: where reading is */
	state_fit *fit;
	void *context;
};

bool state_reading(const struct state *state)
{
	return state->reading;
}

int state_version(const struct state *state)
{
	return state->version;
}

bool state_failed(const struct state *state)
{
	return state->code;
}

void state_refuse(struct state *state, int code, const char *format, ...)
{
	char message[sizeof(state->err.message)];
	va_list values;

	if (state->code)
		return;
	va_start(values, format);
	vsnprintf(message, sizeof(message), format, values);
	va_end(values);
	state->code = err_set(&state->err, code, "%s: %s", state->path, message);
}

static void put_aside(struct state *state, struct carried *carried, const void *data, size_t size)
{
	if (!grow_room(&carried->bytes, &carried->room, carried->size + size, 1)) {
		state->code = err_memory(&state->err, "a copy of a state", carried->size + size);
		return;
	}
	memcpy(carried->bytes + carried->size, data, size);
	carried->size += size;
}

static void put(struct state *state, const void *data, size_t size)
{
	if (state->carried) {
		put_aside(state, state->carried, data, size);
		return;
	}
	if (state->wire && size)
		state->wire->bytes(state->wire->context, (void *)data, size);
	if (!state->writer && !state->packed)
		return;
	state->checksum = checksum_add(state->checksum, data, size);
	if (state->packed && !state->code)
		put_aside(state, state->packed, data, size);
	else if (!state->code)
		state->code = file_writer_write(state->writer, data, size, &state->err);
}

static void get_back(struct carried *carried, void *data, size_t size)
{
	assert(carried->size - carried->at >= size);
	memcpy(data, carried->bytes + carried->at, size);
	carried->at += size;
}

static void get(struct state *state, void *data, size_t size)
{
	if (state->carried)
		get_back(state->carried, data, size);
	else if (!state->code && state->file && fread(data, 1, size, state->file) != size)
		state_refuse(state, ERR_FORMAT, "ends too early");
	if (state->wire && size)
		state->wire->bytes(state->wire->context, data, size);
}

static void put_field(struct state *state, enum field_type type, const char *name,
	const void *values, uint64_t count)
{
	const unsigned char head[2] = {(unsigned char)type, (unsigned char)strlen(name)};

	put(state, head, 2);
	put(state, name, head[1]);
	put(state, &count, sizeof(count));
	if (state->carried && state->layout == LAYOUT_INPUTS)
		put(state, &state->by.dim, sizeof(state->by.dim));
	if (count)
		put(state, values, count * field_types[type].size);
}

static size_t triangle(size_t dim)
{
	return dim * (dim + 1) / 2;
}

/* Places of an element before and after, in cells of `inner` numbers. */
static size_t place(const struct state_inputs *by, size_t dim, size_t row, size_t column)
{
	return by->form == STATE_TRIANGLE ? triangle(row) + column : row * dim + column;
}

/* New inputs come before the tail. What `values` has for them stays. */
static void fit_inputs(const struct state_inputs *by, size_t size, const char *from, size_t rows,
	size_t dim, char *to)
{
	const size_t cell = size * by->inner, kept = dim - by->tail, more = by->dim - dim;
	const bool square = by->form != STATE_BY_ROWS;

	assert(dim <= by->dim && kept + by->tail == dim);
	for (size_t i = 0; i < rows; i++) {
		const size_t row = square && i >= kept ? i + more : i;
		const size_t columns = by->form == STATE_TRIANGLE ? i + 1 : dim;
		const size_t head = columns < kept ? columns : kept;

		memcpy(to + cell * place(by, by->dim, row, 0), from + cell * place(by, dim, i, 0),
			cell * head);
		memcpy(to + cell * place(by, by->dim, row, head + more),
			from + cell * place(by, dim, i, head), cell * (columns - head));
	}
}

/* An array that may be longer in the object it goes to. */
static void fit_field(struct state *state, size_t size, size_t from, void *values, size_t to)
{
	struct carried *carried = state->carried;
	const struct state_inputs *by = &state->by;
	const char *bytes;
	size_t dim = 0;

	if (state->layout == LAYOUT_INPUTS)
		get_back(carried, &dim, sizeof(dim));
	bytes = carried->bytes + carried->at;
	assert(from <= to);
	if (state->layout == LAYOUT_PARAMS) {
		carried->fit(carried->context, bytes, from, values, to);
	} else if (state->layout == LAYOUT_INPUTS) {
		fit_inputs(by, size, bytes,
			by->form == STATE_BY_ROWS ? from / (dim * by->inner) : dim, dim, values);
	} else {
		memcpy(values, bytes, from * size);
		memset((char *)values + from * size, 0, (to - from) * size);
	}
	carried->at += from * size;
}

/* Of states that do not say what columns they were saved with. */
static const char other_shape[] =
	": they are of a net of another shape. The data changed since, or another version of "
	"retain reads it otherwise: go on with what it was then, or begin anew (--force)";

static void get_field(
	struct state *state, enum field_type type, const char *name, void *values, uint64_t count)
{
	unsigned char head[2] = {0};
	char found[256] = {0};
	uint64_t length = 0;

	get(state, head, 2);
	get(state, found, head[1]);
	get(state, &length, sizeof(length));
	if (state->code)
		return;
	if (head[0] >= FIELD_TYPES)
		state_refuse(state, ERR_FORMAT, "%s: unknown type %d of a field", name, head[0]);
	else if (head[0] != type || strcmp(found, name))
		state_refuse(state, ERR_FORMAT, "expected %s \"%s\", found %s \"%s\"",
			field_types[type].name, name, field_types[head[0]].name, found);
	else if (state->carried && state->layout != LAYOUT_PLAIN)
		fit_field(state, field_types[type].size, (size_t)length, values, (size_t)count);
	else if (length != count)
		state_refuse(state, ERR_FORMAT,
			"\"%s\" has %" PRIu64 " values where %" PRIu64 " are expected%s", name,
			length, count, state->layout == LAYOUT_PARAMS ? other_shape : "");
	else if (count)
		get(state, values, count * field_types[type].size);
}

static void visit_field(
	struct state *state, enum field_type type, const char *name, void *values, size_t count)
{
	if (state->code)
		return;
	if (state->reading)
		get_field(state, type, name, values, count);
	else
		put_field(state, type, name, values, count);
}

/* The next field without its values, and where it begins. */
struct passed {
	long at;
	unsigned char type;
	char name[256];
	uint64_t count;
};

static bool pass_head(struct state *state, struct passed *field)
{
	unsigned char size = 0;

	*field = (struct passed){.at = ftell(state->file), .type = FIELD_END};
	get(state, &field->type, 1);
	if (state->code || field->type == FIELD_END)
		return false;
	get(state, &size, 1);
	get(state, field->name, size);
	get(state, &field->count, sizeof(field->count));
	if (field->type >= FIELD_TYPES || field->count > INT64_MAX / 8)
		state_refuse(state, ERR_FORMAT, "unknown type %d of a field", field->type);
	return !state->code;
}

static void seek(struct state *state, long offset, int from)
{
	if (fseek(state->file, offset, from))
		state_refuse(state, ERR_FILE, "%s", strerror(errno));
}

void state_skip_to(struct state *state, const char *group)
{
	struct passed field;

	assert(state->reading && state->file);
	while (!state->code && pass_head(state, &field)) {
		if (field.type == FIELD_ENTER && !strcmp(field.name, group)) {
			seek(state, field.at, SEEK_SET);
			return;
		}
		seek(state, (long)(field.count * field_types[field.type].size), SEEK_CUR);
	}
	state_refuse(state, ERR_FORMAT, "has no group \"%s\"", group);
}

/* The head of the next field of a file, which stays the next one. */
static bool look(struct state *state, struct passed *field)
{
	if (!state->reading || !state->file || state->code || !pass_head(state, field))
		return false;
	seek(state, field->at, SEEK_SET);
	return true;
}

bool state_next_is(struct state *state, const char *group)
{
	struct passed field;

	return look(state, &field) && field.type == FIELD_ENTER && !strcmp(field.name, group);
}

bool state_lacks(struct state *state, const char *name)
{
	struct passed field;

	return look(state, &field) && strcmp(field.name, name);
}

void state_skip_rest(struct state *state)
{
	struct passed field;

	while (!state->code && pass_head(state, &field))
		seek(state, (long)(field.count * field_types[field.type].size), SEEK_CUR);
	if (!state->code)
		seek(state, field.at, SEEK_SET);
}

void state_enter(struct state *state, const char *name)
{
	visit_field(state, FIELD_ENTER, name, NULL, 0);
}

void state_leave(struct state *state)
{
	visit_field(state, FIELD_LEAVE, "", NULL, 0);
}

void state_bool(struct state *state, const char *name, bool *value)
{
	/* What is about to be filled may not hold a bool yet. */
	unsigned char byte = state->reading ? 0 : *value;

	visit_field(state, FIELD_BYTES, name, &byte, 1);
	if (byte > 1)
		state_refuse(state, ERR_FORMAT, "\"%s\" is neither true nor false", name);
	else
		*value = byte;
}

void state_int(struct state *state, const char *name, int *value)
{
	int32_t number = state->reading ? 0 : *value;

	visit_field(state, FIELD_INT32, name, &number, 1);
	*value = number;
}

void state_int64(struct state *state, const char *name, int64_t *value)
{
	visit_field(state, FIELD_INT64, name, value, 1);
}

void state_uint64(struct state *state, const char *name, uint64_t *value)
{
	visit_field(state, FIELD_UINT64, name, value, 1);
}

void state_double(struct state *state, const char *name, double *value)
{
	visit_field(state, FIELD_DOUBLE, name, value, 1);
}

void state_bytes(struct state *state, const char *name, void *values, size_t count)
{
	visit_field(state, FIELD_BYTES, name, values, count);
}

void state_int32s(struct state *state, const char *name, int32_t *values, size_t count)
{
	visit_field(state, FIELD_INT32, name, values, count);
}

void state_int64s(struct state *state, const char *name, int64_t *values, size_t count)
{
	visit_field(state, FIELD_INT64, name, values, count);
}

void state_floats(struct state *state, const char *name, float *values, size_t count)
{
	visit_field(state, FIELD_FLOAT, name, values, count);
}

void state_doubles(struct state *state, const char *name, double *values, size_t count)
{
	visit_field(state, FIELD_DOUBLE, name, values, count);
}

static void visit_laid_out(struct state *state, enum layout layout, enum field_type type,
	const char *name, void *values, size_t count)
{
	state->layout = layout;
	visit_field(state, type, name, values, count);
	state->layout = LAYOUT_PLAIN;
}

void state_params(struct state *state, const char *name, float *values, size_t count)
{
	visit_laid_out(state, LAYOUT_PARAMS, FIELD_FLOAT, name, values, count);
}

void state_class_floats(
	struct state *state, const char *name, float *values, size_t classes, size_t row)
{
	visit_laid_out(state, LAYOUT_CLASSES, FIELD_FLOAT, name, values, classes * row);
}

void state_class_doubles(
	struct state *state, const char *name, double *values, size_t classes, size_t row)
{
	visit_laid_out(state, LAYOUT_CLASSES, FIELD_DOUBLE, name, values, classes * row);
}

static size_t cells(const struct state_inputs *by)
{
	return by->form == STATE_BY_ROWS  ? by->outer * by->dim * by->inner
	       : by->form == STATE_MATRIX ? by->dim * by->dim
					  : triangle(by->dim);
}

void state_input_floats(
	struct state *state, const char *name, float *values, struct state_inputs by)
{
	state->by = by;
	visit_laid_out(state, LAYOUT_INPUTS, FIELD_FLOAT, name, values, cells(&by));
}

void state_input_doubles(
	struct state *state, const char *name, double *values, struct state_inputs by)
{
	state->by = by;
	visit_laid_out(state, LAYOUT_INPUTS, FIELD_DOUBLE, name, values, cells(&by));
}

void state_same(struct state *state, const char *name, const char *value)
{
	char found[128] = {0};
	int length = (int)strnlen(value, sizeof(found) - 1);

	memcpy(found, value, (size_t)length);
	state_bytes(state, name, found, sizeof(found));
	if (strncmp(found, value, (size_t)length) || found[length])
		state_refuse(state, ERR_FORMAT, "was saved with %s \"%.*s\", not \"%s\"", name,
			(int)sizeof(found) - 1, found, value);
}

int state_save(const char *path, state_fn *visit, void *object, struct err *err)
{
	struct state state = {.path = path, .version = STATE_VERSION};
	const unsigned char end = FIELD_END;
	int code = file_writer_open(&state.writer, path, err);

	if (code)
		return code;
	put(&state, magic, MAGIC);
	visit(object, &state);
	put(&state, &end, 1);
	if (!state.code)
		state.code = file_writer_write(
			state.writer, &state.checksum, sizeof(state.checksum), &state.err);
	if (state.code) {
		file_writer_abort(state.writer);
		return err_set(err, state.code, "%s", state.err.message);
	}
	return file_writer_commit(state.writer, err);
}

/* Goes over the whole file once; the file is then at its first field. */
static void check_file(struct state *state)
{
	char chunk[CHUNK];
	uint32_t stored;
	long left;

	if (fseek(state->file, 0, SEEK_END) || (left = ftell(state->file)) < 0 ||
		fseek(state->file, 0, SEEK_SET)) {
		state_refuse(state, ERR_FILE, "%s", strerror(errno));
		return;
	}
	if (left < MAGIC + TRAILER) {
		state_refuse(state, ERR_FORMAT, "too short for a state file: %ld bytes", left);
		return;
	}
	for (left -= (long)sizeof(stored); left > 0 && !state->code;) {
		const size_t size = left < CHUNK ? (size_t)left : CHUNK;

		get(state, chunk, size);
		state->checksum = checksum_add(state->checksum, chunk, size);
		left -= (long)size;
	}
	get(state, &stored, sizeof(stored));
	rewind(state->file);
	get(state, chunk, MAGIC);
	if (state->code)
		return;
	state->version = chunk[DIGIT] - '0';
	if (memcmp(chunk, magic, DIGIT) || state->version < 1 || chunk[DIGIT] > 'z')
		state_refuse(state, ERR_FORMAT, "is not a state file");
	else if (stored != state->checksum)
		state_refuse(state, ERR_FORMAT,
			"is damaged: its checksum is %08" PRIx32 ", not %08" PRIx32,
			state->checksum, stored);
	else if (state->version > STATE_VERSION)
		state_refuse(state, ERR_INPUT,
			"was written by a newer retain (states of version %d; this one knows %d): "
			"go on with that one",
			state->version, STATE_VERSION);
}

static void check_end(struct state *state)
{
	unsigned char end = FIELD_END;

	get(state, &end, 1);
	if (end != FIELD_END)
		state_refuse(state, ERR_FORMAT, "holds more than was expected");
}

int state_pack(char **bytes, size_t *size, state_fn *visit, void *object, struct err *err)
{
	struct carried packed = {0};
	struct state state = {.path = "a state", .packed = &packed, .version = STATE_VERSION};
	const unsigned char end = FIELD_END;

	put(&state, magic, MAGIC);
	visit(object, &state);
	put(&state, &end, 1);
	if (!state.code)
		put_aside(&state, &packed, &(uint32_t){state.checksum}, sizeof(state.checksum));
	*bytes = state.code ? NULL : packed.bytes;
	*size = state.code ? 0 : packed.size;
	if (state.code)
		mem_free(packed.bytes);
	return state.code ? err_set(err, state.code, "%s", state.err.message) : 0;
}

/* Closes the file. */
static int load(const char *path, FILE *file, state_fn *visit, void *object, struct err *err)
{
	struct state state = {.path = path, .reading = true, .file = file};

	if (!state.file)
		return err_set(err, ERR_FILE, "%s: %s", path, strerror(errno));
	check_file(&state);
	if (!state.code)
		visit(object, &state);
	check_end(&state);
	fclose(state.file);
	return state.code ? err_set(err, state.code, "%s", state.err.message) : 0;
}

int state_load(const char *path, state_fn *visit, void *object, struct err *err)
{
	return load(path, fopen(path, "rbe"), visit, object, err);
}

int state_unpack(const char *name, const void *bytes, size_t size, state_fn *visit, void *object,
	struct err *err)
{
	if (!size)
		return err_set(err, ERR_FORMAT, "%s: is empty", name);
	return load(name, fmemopen((void *)bytes, size, "rb"), visit, object, err);
}

int state_carry(
	state_fn *visit, void *from, void *to, state_fit *fit, void *context, struct err *err)
{
	struct carried carried = {.fit = fit, .context = context};
	struct state state = {.path = "a copy", .carried = &carried, .version = STATE_VERSION};

	visit(from, &state);
	state.reading = true;
	if (!state.code)
		visit(to, &state);
	mem_free(carried.bytes);
	return state.code ? err_set(err, state.code, "%s", state.err.message) : 0;
}

void state_tap(struct state *state, const struct state_wire *wire)
{
	state->wire = wire;
}

static int end(const struct state *state, struct err *err)
{
	return state->code ? err_set(err, state->code, "%s", state->err.message) : 0;
}

int state_hear(
	const struct state_wire *wire, int version, state_fn *visit, void *object, struct err *err)
{
	struct state state = {
		.path = "another's state", .reading = true, .version = version, .wire = wire};

	visit(object, &state);
	return end(&state, err);
}

int state_say(const struct state_wire *wire, state_fn *visit, void *object, struct err *err)
{
	struct state state = {.path = "a state", .version = STATE_VERSION, .wire = wire};

	visit(object, &state);
	return end(&state, err);
}
