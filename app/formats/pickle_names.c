/*
 * Names of Python's in pickles. A name is a row of the table below or is refused; what
 * is "called" is a row with a meaning of its own, which is written down here and
 * nowhere looked up: a storage is remembered, a tensor described, a dictionary empty.
 */
#include <string.h>

#include "formats/pickle_impl.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))

enum { NAME_SHOWN = 48 };

/* The names of Python's that a pickle may look up. */
enum role { REBUILD, ORDERED_DICT, STORAGE };
static const struct {
	const char *module, *name;
	enum role role;
	enum pickle_element element;
} globals[] = {
	{"torch._utils", "_rebuild_tensor_v2", REBUILD, 0},
	{"collections", "OrderedDict", ORDERED_DICT, 0},
	{"torch", "DoubleStorage", STORAGE, PICKLE_F8},
	{"torch", "FloatStorage", STORAGE, PICKLE_F4},
	{"torch", "LongStorage", STORAGE, PICKLE_I8},
	{"torch", "IntStorage", STORAGE, PICKLE_I4},
	{"torch", "ShortStorage", STORAGE, PICKLE_I2},
	{"torch", "CharStorage", STORAGE, PICKLE_I1},
	{"torch", "ByteStorage", STORAGE, PICKLE_U1},
};

/* Bytes for messages: printable ones as they are. */
static const char *shown(const unsigned char *bytes, size_t size, char out[NAME_SHOWN])
{
	size_t n = size < NAME_SHOWN - 1 ? size : NAME_SHOWN - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = bytes[i] > ' ' && bytes[i] < 127 ? (char)bytes[i] : '.';
	out[n] = '\0';
	return out;
}

static bool same(const unsigned char *bytes, size_t size, const char *name)
{
	return strlen(name) == size && !memcmp(bytes, name, size);
}

static int global(struct pickle *p, const unsigned char *module, size_t module_size,
	const unsigned char *name, size_t name_size)
{
	char words[2][NAME_SHOWN];

	for (size_t i = 0; i < COUNT(globals); i++)
		if (same(module, module_size, globals[i].module) &&
			same(name, name_size, globals[i].name))
			return pickle_push(p, PICKLE_GLOBAL, (int64_t)i);
	return pickle_refuse(p,
		"asks for Python's %s %s, which is none of the names that are followed",
		shown(module, module_size, words[0]), shown(name, name_size, words[1]));
}

/* A line without its end. */
static const unsigned char *take_line(struct pickle *p, size_t *size)
{
	const unsigned char *from = p->bytes + p->at;
	const unsigned char *end = p->at < p->size ? memchr(from, '\n', p->size - p->at) : NULL;

	if (!end) {
		pickle_refuse(p, "the pickle is cut off");
		return NULL;
	}
	*size = (size_t)(end - from);
	p->at += *size + 1;
	return from;
}

int pickle_run_global(struct pickle *p, int n)
{
	size_t module_size, name_size;
	const unsigned char *module = take_line(p, &module_size);
	const unsigned char *name = module ? take_line(p, &name_size) : NULL;

	return name ? global(p, module, module_size, name, name_size) : ERR_FORMAT;
}

int pickle_run_stack_global(struct pickle *p, int n)
{
	/* An empty stack has no place in memory. */
	const struct pickle_value *last = p->depth < 2 ? NULL : p->stack + p->depth;

	if (!last || last[-1].kind != PICKLE_TEXT || last[-2].kind != PICKLE_TEXT)
		return pickle_refuse(p, "a name is missing");
	p->depth -= 2;
	return global(
		p, p->bytes + last[-2].at, last[-2].size, p->bytes + last[-1].at, last[-1].size);
}

/* What a tuple has to hold, kind by kind. */
static bool holds(const struct pickle *p, const struct pickle_value *tuple,
	const enum pickle_kind *kinds, size_t count)
{
	if (tuple->kind != PICKLE_TUPLE || tuple->size < count)
		return false;
	for (size_t i = 0; i < count; i++)
		if (p->cells[tuple->at + i].kind != kinds[i])
			return false;
	return true;
}

/* ('storage', torch.LongStorage, '0', 'cpu', 12) stands for a storage in the file. */
int pickle_run_binpersid(struct pickle *p, int n)
{
	static const enum pickle_kind kinds[] = {
		PICKLE_TEXT, PICKLE_GLOBAL, PICKLE_TEXT, PICKLE_TEXT, PICKLE_WHOLE};
	const struct pickle_value *value = pickle_top(p), *cells;

	if (!value)
		return ERR_FORMAT;
	cells = holds(p, value, kinds, COUNT(kinds)) ? p->cells + value->at : NULL;
	if (!cells || globals[cells[1].whole].role != STORAGE ||
		!same(p->bytes + cells[0].at, cells[0].size, "storage"))
		return pickle_refuse(p, "a reference that is none to a storage");
	if (p->stored)
		return pickle_refuse(p, "a second storage; one list or one tensor is expected");
	p->stored = true;
	p->tensor.element = globals[cells[1].whole].element;
	p->tensor.key_at = cells[2].at;
	p->tensor.key_size = cells[2].size;
	p->tensor.count = cells[4].whole;
	p->depth--;
	return pickle_push(p, PICKLE_STORAGE, 0);
}

/* The numbers of a tuple: a tensor's shape, its stride. */
static bool take_shape(const struct pickle *p, const struct pickle_value *tuple, int64_t *out)
{
	for (size_t i = 0; i < tuple->size; i++) {
		if (i == PICKLE_DIMENSIONS || p->cells[tuple->at + i].kind != PICKLE_WHOLE)
			return false;
		out[i] = p->cells[tuple->at + i].whole;
	}
	return true;
}

/* _rebuild_tensor_v2(storage, first, shape, stride, ...). */
static int rebuild(struct pickle *p, const struct pickle_value *arguments)
{
	static const enum pickle_kind kinds[] = {
		PICKLE_STORAGE, PICKLE_WHOLE, PICKLE_TUPLE, PICKLE_TUPLE};
	const struct pickle_value *cells =
		holds(p, arguments, kinds, COUNT(kinds)) ? p->cells + arguments->at : NULL;

	if (!cells || cells[2].size != cells[3].size ||
		!take_shape(p, cells + 2, p->tensor.shape) ||
		!take_shape(p, cells + 3, p->tensor.stride))
		return pickle_refuse(
			p, "a tensor that does not consist of storage, shape and stride");
	if (p->rebuilt)
		return pickle_refuse(p, "a second tensor; one list or one tensor is expected");
	p->rebuilt = true;
	p->tensor.first = cells[1].whole;
	p->tensor.dimensions = (int)cells[2].size;
	p->depth -= 2;
	return pickle_push(p, PICKLE_TENSOR, 0);
}

int pickle_run_reduce(struct pickle *p, int n)
{
	/* An empty stack has no place in memory. */
	const struct pickle_value *last = p->depth < 2 ? NULL : p->stack + p->depth;

	if (!last || last[-1].kind != PICKLE_TUPLE || last[-2].kind != PICKLE_GLOBAL)
		return pickle_refuse(p, "REDUCE calls something that is no known name");
	if (globals[last[-2].whole].role == REBUILD)
		return rebuild(p, last - 1);
	if (globals[last[-2].whole].role != ORDERED_DICT || last[-1].size)
		return pickle_refuse(
			p, "REDUCE of %s, which is not called so", globals[last[-2].whole].name);
	p->depth -= 2;
	return pickle_push(p, PICKLE_DICT, 0);
}
