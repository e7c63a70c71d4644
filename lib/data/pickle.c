/*
 * A stack machine without recursion. Invariants:
 *
 * - every read of the pickle's bytes goes through take(), which knows the end;
 * - the stack, the cells of tuples and the kept values have bounds (MOST), so that
 *   nothing but the memo grows with the pickle, and that by 8 bytes for at least 2;
 * - a value refers to others by place only: nothing is followed, so nothing can be
 *   deep or go round in circles.
 *
 * The memo has a number for each value: for a text the place of the opcode that made
 * it, which is simply read again; for anything else, with the top bit set, a place in
 * `kept`. Picklers number their values one after the other; keys that leave numbers
 * out are refused, since a key could otherwise ask for any amount of memory.
 */
#include "data/pickle.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "data/grow.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define KEPT        (UINT64_C(1) << 63)

enum { MOST = 1 << 16, PROTOCOL_MOST = 5, NAME_SHOWN = 48 };

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

struct opcode {
	const char *name;
	int (*run)(struct pickle *p); /* NULL: refused */
};

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

const char *pickle_kind_name(enum pickle_kind kind)
{
	static const char *const names[] = {"None", "True or False", "a whole number",
		"a whole number of more than 64 bits", "a number", "a text", "a list",
		"a dictionary", "a tuple", "a name", "a storage", "a tensor", "a mark"};

	return names[kind];
}

/* "byte 17: " and what is wrong there. */
#define refuse(p, ...) refuse_at(p, (p)->from, __VA_ARGS__)

__attribute__((format(printf, 3, 4))) static int refuse_at(
	struct pickle *p, size_t at, const char *format, ...)
{
	char why[320];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, sizeof(why), format, arguments);
	va_end(arguments);
	return err_set(p->err, ERR_FORMAT, "byte %zu: %s", at, why);
}

/* Bytes for messages: printable ones as they are. */
static const char *shown(const unsigned char *bytes, size_t size, char out[NAME_SHOWN])
{
	size_t n = size < NAME_SHOWN - 1 ? size : NAME_SHOWN - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = bytes[i] > ' ' && bytes[i] < 127 ? (char)bytes[i] : '.';
	out[n] = '\0';
	return out;
}

static int no_memory(struct pickle *p, size_t bytes)
{
	return err_memory(p->err, "reading a pickle", bytes);
}

/* The next `size` bytes, or NULL with the error set. */
static const unsigned char *take(struct pickle *p, size_t size)
{
	const unsigned char *bytes = p->bytes + p->at;

	if (size > p->size - p->at) {
		refuse(p, "the pickle is cut off");
		return NULL;
	}
	p->at += size;
	return bytes;
}

/* An unsigned number of `size` bytes, the lowest first; false: the error is set. */
static bool take_number(struct pickle *p, size_t size, uint64_t *number)
{
	const unsigned char *bytes = take(p, size);

	*number = 0;
	for (size_t i = size; bytes && i--;)
		*number = *number << 8 | bytes[i];
	return bytes != NULL;
}

static int push(struct pickle *p, struct pickle_value value)
{
	if (p->depth == MOST)
		return refuse(p, "more than %d values wait for their list or tuple", MOST);
	if (!grow_room(&p->stack, &p->stack_room, p->depth + 1, sizeof(value)))
		return no_memory(p, p->depth * sizeof(value));
	p->stack[p->depth++] = value;
	return 0;
}

static int push_kind(struct pickle *p, enum pickle_kind kind, int64_t whole)
{
	return push(p, (struct pickle_value){.kind = kind, .whole = whole});
}

/* The value on top, which stays; NULL, with the error set, if there is none or it is a mark. */
static struct pickle_value *top(struct pickle *p)
{
	if (p->depth && p->stack[p->depth - 1].kind != PICKLE_MARK)
		return p->stack + p->depth - 1;
	refuse(p, "a value is missing");
	return NULL;
}

/* Where the values above the last mark begin; -1, with the error set, if there is none. */
static long after_mark(struct pickle *p)
{
	for (size_t i = p->depth; i--;)
		if (p->stack[i].kind == PICKLE_MARK)
			return (long)i + 1;
	refuse(p, "a mark is missing");
	return -1;
}

static int run_proto(struct pickle *p)
{
	const unsigned char *protocol = take(p, 1);

	if (!protocol)
		return ERR_FORMAT;
	if (*protocol > PROTOCOL_MOST)
		return refuse(p, "protocol %d; %d is the last one known", *protocol, PROTOCOL_MOST);
	return 0;
}

static int run_frame(struct pickle *p)
{
	uint64_t size;

	if (!take_number(p, 8, &size))
		return ERR_FORMAT;
	return size > p->size - p->at ? refuse(p, "the pickle is cut off") : 0;
}

static int run_stop(struct pickle *p)
{
	p->stopped = true;
	return p->depth == 1 && top(p) ? 0
				       : refuse(p, "it ends with %zu values, not one", p->depth);
}

static int run_mark(struct pickle *p)
{
	return push_kind(p, PICKLE_MARK, 0);
}

static int run_none(struct pickle *p)
{
	return push_kind(p, PICKLE_NONE, 0);
}

static int run_true(struct pickle *p)
{
	return push_kind(p, PICKLE_BOOL, 1);
}

static int run_false(struct pickle *p)
{
	return push_kind(p, PICKLE_BOOL, 0);
}

static int run_whole(struct pickle *p, size_t size)
{
	uint64_t number;

	return take_number(p, size, &number) ? push_kind(p, PICKLE_WHOLE, (int64_t)number)
					     : ERR_FORMAT;
}

static int run_binint1(struct pickle *p)
{
	return run_whole(p, 1);
}

static int run_binint2(struct pickle *p)
{
	return run_whole(p, 2);
}

static int run_binint(struct pickle *p)
{
	uint64_t number;

	if (!take_number(p, 4, &number))
		return ERR_FORMAT;
	return push_kind(p, PICKLE_WHOLE, (int32_t)(uint32_t)number);
}

static int run_long1(struct pickle *p)
{
	const unsigned char *size = take(p, 1);
	const size_t at = p->at;
	uint64_t number;

	if (!size)
		return ERR_FORMAT;
	if (*size > 8) {
		if (!take(p, *size))
			return ERR_FORMAT;
		return push(p, (struct pickle_value){.kind = PICKLE_BIG, .at = at, .size = *size});
	}
	if (!take_number(p, *size, &number))
		return ERR_FORMAT;
	/* The highest bit of the highest byte is the sign. */
	if (*size && *size < 8 && number >> (8 * *size - 1))
		number |= UINT64_MAX << (8 * *size);
	return push_kind(p, PICKLE_WHOLE, (int64_t)number);
}

static int run_binfloat(struct pickle *p)
{
	const unsigned char *bytes = take(p, 8);
	struct pickle_value value = {.kind = PICKLE_REAL};
	uint64_t bits = 0;

	if (!bytes)
		return ERR_FORMAT;
	for (int i = 0; i < 8; i++)
		bits = bits << 8 | bytes[i];
	memcpy(&value.real, &bits, sizeof(bits));
	return push(p, value);
}

/* A text whose size is a number of `head` bytes. */
static int run_text(struct pickle *p, size_t head)
{
	struct pickle_value value = {.kind = PICKLE_TEXT};
	uint64_t size;

	if (!take_number(p, head, &size))
		return ERR_FORMAT;
	value.at = p->at;
	value.size = (size_t)size;
	value.head = (uint32_t)head + 1;
	return take(p, (size_t)size) ? push(p, value) : ERR_FORMAT;
}

static int run_text1(struct pickle *p)
{
	return run_text(p, 1);
}

static int run_text4(struct pickle *p)
{
	return run_text(p, 4);
}

static int run_text8(struct pickle *p)
{
	return run_text(p, 8);
}

/* The whole of a list or dictionary is the one that nothing else is around. */
static int run_empty_list(struct pickle *p)
{
	return push_kind(p, PICKLE_LIST, p->depth == 0);
}

static int run_empty_dict(struct pickle *p)
{
	return push_kind(p, PICKLE_DICT, p->depth == 0);
}

/* The container below the values from `first` on. */
static const struct pickle_value *container(struct pickle *p, size_t first, enum pickle_kind kind)
{
	if (first && p->stack[first - 1].kind == kind)
		return p->stack + first - 1;
	refuse(p, "%s is missing", pickle_kind_name(kind));
	return NULL;
}

/* Values first .. depth-1 become items of the list below `below`. */
static int append(struct pickle *p, size_t first, size_t below)
{
	const struct pickle_value *list = container(p, below, PICKLE_LIST);
	const bool whole = list && list->whole && p->visitor->item;

	if (!list)
		return ERR_FORMAT;
	for (size_t i = first; whole && i < p->depth; i++) {
		const int code = p->visitor->item(p->visitor->self, p->stack + i, p->err);

		if (code)
			return code;
	}
	p->depth = below;
	return 0;
}

static int run_append(struct pickle *p)
{
	return top(p) ? append(p, p->depth - 1, p->depth - 1) : ERR_FORMAT;
}

static int run_appends(struct pickle *p)
{
	const long first = after_mark(p);

	return first < 0 ? ERR_FORMAT : append(p, (size_t)first, (size_t)first - 1);
}

static int set_items(struct pickle *p, size_t first, size_t below)
{
	const struct pickle_value *dict = container(p, below, PICKLE_DICT);
	const bool whole = dict && dict->whole && p->visitor->pair;

	if (!dict)
		return ERR_FORMAT;
	if ((p->depth - first) % 2)
		return refuse(p, "a key has no value");
	for (size_t i = first; whole && i < p->depth; i += 2) {
		const int code =
			p->visitor->pair(p->visitor->self, p->stack + i, p->stack + i + 1, p->err);

		if (code)
			return code;
	}
	p->depth = below;
	return 0;
}

static int run_setitem(struct pickle *p)
{
	if (p->depth < 3 || !top(p) || p->stack[p->depth - 2].kind == PICKLE_MARK)
		return refuse(p, "a value is missing");
	return set_items(p, p->depth - 2, p->depth - 2);
}

static int run_setitems(struct pickle *p)
{
	const long first = after_mark(p);

	return first < 0 ? ERR_FORMAT : set_items(p, (size_t)first, (size_t)first - 1);
}

/* Values from `first` on become a tuple, which takes the place of `below` and all above. */
static int tuple(struct pickle *p, size_t first, size_t below)
{
	const size_t count = p->depth - first;

	if (count > MOST - p->cells_count)
		return refuse(p, "more than %d values are in tuples", MOST);
	if (!grow_room(&p->cells, &p->cells_room, p->cells_count + count + 1, sizeof(*p->cells)))
		return no_memory(p, p->cells_count * sizeof(*p->cells));
	if (count)
		memcpy(p->cells + p->cells_count, p->stack + first, count * sizeof(*p->cells));
	p->depth = below;
	p->cells_count += count;
	return push(p, (struct pickle_value){
			       .kind = PICKLE_TUPLE, .at = p->cells_count - count, .size = count});
}

static int run_tuple(struct pickle *p)
{
	const long first = after_mark(p);

	return first < 0 ? ERR_FORMAT : tuple(p, (size_t)first, (size_t)first - 1);
}

static int short_tuple(struct pickle *p, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (p->depth < count || p->stack[p->depth - 1 - i].kind == PICKLE_MARK)
			return refuse(p, "a value is missing");
	return tuple(p, p->depth - count, p->depth - count);
}

static int run_empty_tuple(struct pickle *p)
{
	return short_tuple(p, 0);
}

static int run_tuple1(struct pickle *p)
{
	return short_tuple(p, 1);
}

static int run_tuple2(struct pickle *p)
{
	return short_tuple(p, 2);
}

static int run_tuple3(struct pickle *p)
{
	return short_tuple(p, 3);
}

static int put(struct pickle *p, uint64_t key)
{
	const struct pickle_value *value = top(p);
	uint64_t number;

	if (!value)
		return ERR_FORMAT;
	if (key > p->memo.count)
		return refuse(p, "value %llu is numbered after %zu others", (unsigned long long)key,
			p->memo.count);
	number = value->at - value->head;
	if (value->kind != PICKLE_TEXT) {
		if (p->kept_count == MOST)
			return refuse(p, "more than %d values other than texts are numbered", MOST);
		if (!grow_room(&p->kept, &p->kept_room, p->kept_count + 1, sizeof(*p->kept)))
			return no_memory(p, p->kept_count * sizeof(*p->kept));
		number = p->kept_count | KEPT;
		p->kept[p->kept_count++] = *value;
	}
	if (key < p->memo.count)
		p->memo.at[key] = number;
	else if (!numbers_add(&p->memo, number))
		return no_memory(p, p->memo.count * sizeof(number));
	return 0;
}

static int run_binput(struct pickle *p)
{
	uint64_t key;

	return take_number(p, 1, &key) ? put(p, key) : ERR_FORMAT;
}

static int run_long_binput(struct pickle *p)
{
	uint64_t key;

	return take_number(p, 4, &key) ? put(p, key) : ERR_FORMAT;
}

static int run_memoize(struct pickle *p)
{
	return put(p, p->memo.count);
}

static const struct opcode opcodes[256];

static int get(struct pickle *p, uint64_t key)
{
	const size_t next = p->at;
	int code;

	if (key >= p->memo.count)
		return refuse(p, "refers to value %llu, and there are %zu", (unsigned long long)key,
			p->memo.count);
	if (p->memo.at[key] & KEPT)
		return push(p, p->kept[p->memo.at[key] & ~KEPT]);
	p->at = (size_t)p->memo.at[key] + 1;
	code = opcodes[p->bytes[p->at - 1]].run(p);
	p->at = next;
	return code;
}

static int run_binget(struct pickle *p)
{
	uint64_t key;

	return take_number(p, 1, &key) ? get(p, key) : ERR_FORMAT;
}

static int run_long_binget(struct pickle *p)
{
	uint64_t key;

	return take_number(p, 4, &key) ? get(p, key) : ERR_FORMAT;
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
			return push_kind(p, PICKLE_GLOBAL, (int64_t)i);
	return refuse(p, "asks for Python's %s %s, which is none of the names that are followed",
		shown(module, module_size, words[0]), shown(name, name_size, words[1]));
}

/* A line without its end. */
static const unsigned char *take_line(struct pickle *p, size_t *size)
{
	const unsigned char *from = p->bytes + p->at;
	const unsigned char *end = p->at < p->size ? memchr(from, '\n', p->size - p->at) : NULL;

	if (!end) {
		refuse(p, "the pickle is cut off");
		return NULL;
	}
	*size = (size_t)(end - from);
	p->at += *size + 1;
	return from;
}

static int run_global(struct pickle *p)
{
	size_t module_size, name_size;
	const unsigned char *module = take_line(p, &module_size);
	const unsigned char *name = module ? take_line(p, &name_size) : NULL;

	return name ? global(p, module, module_size, name, name_size) : ERR_FORMAT;
}

static int run_stack_global(struct pickle *p)
{
	const struct pickle_value *last = p->stack + p->depth;

	if (p->depth < 2 || last[-1].kind != PICKLE_TEXT || last[-2].kind != PICKLE_TEXT)
		return refuse(p, "a name is missing");
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
static int run_binpersid(struct pickle *p)
{
	static const enum pickle_kind kinds[] = {
		PICKLE_TEXT, PICKLE_GLOBAL, PICKLE_TEXT, PICKLE_TEXT, PICKLE_WHOLE};
	const struct pickle_value *value = top(p), *cells;

	if (!value)
		return ERR_FORMAT;
	cells = holds(p, value, kinds, COUNT(kinds)) ? p->cells + value->at : NULL;
	if (!cells || globals[cells[1].whole].role != STORAGE ||
		!same(p->bytes + cells[0].at, cells[0].size, "storage"))
		return refuse(p, "a reference that is none to a storage");
	if (p->stored)
		return refuse(p, "a second storage; one list or one tensor is expected");
	p->stored = true;
	p->tensor.element = globals[cells[1].whole].element;
	p->tensor.key_at = cells[2].at;
	p->tensor.key_size = cells[2].size;
	p->tensor.count = cells[4].whole;
	p->depth--;
	return push_kind(p, PICKLE_STORAGE, 0);
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
		return refuse(p, "a tensor that does not consist of storage, shape and stride");
	if (p->rebuilt)
		return refuse(p, "a second tensor; one list or one tensor is expected");
	p->rebuilt = true;
	p->tensor.first = cells[1].whole;
	p->tensor.dimensions = (int)cells[2].size;
	p->depth -= 2;
	return push_kind(p, PICKLE_TENSOR, 0);
}

static int run_reduce(struct pickle *p)
{
	const struct pickle_value *last = p->stack + p->depth;

	if (p->depth < 2 || last[-1].kind != PICKLE_TUPLE || last[-2].kind != PICKLE_GLOBAL)
		return refuse(p, "REDUCE calls something that is no known name");
	if (globals[last[-2].whole].role == REBUILD)
		return rebuild(p, last - 1);
	if (globals[last[-2].whole].role != ORDERED_DICT || last[-1].size)
		return refuse(
			p, "REDUCE of %s, which is not called so", globals[last[-2].whole].name);
	p->depth -= 2;
	return push_kind(p, PICKLE_DICT, 0);
}

static const struct opcode opcodes[256] = {
	['('] = {"MARK", run_mark},
	[')'] = {"EMPTY_TUPLE", run_empty_tuple},
	['.'] = {"STOP", run_stop},
	['0'] = {"POP", NULL},
	['1'] = {"POP_MARK", NULL},
	['2'] = {"DUP", NULL},
	['B'] = {"BINBYTES", NULL},
	['C'] = {"SHORT_BINBYTES", NULL},
	['F'] = {"FLOAT", NULL},
	['G'] = {"BINFLOAT", run_binfloat},
	['I'] = {"INT", NULL},
	['J'] = {"BININT", run_binint},
	['K'] = {"BININT1", run_binint1},
	['L'] = {"LONG", NULL},
	['M'] = {"BININT2", run_binint2},
	['N'] = {"NONE", run_none},
	['P'] = {"PERSID", NULL},
	['Q'] = {"BINPERSID", run_binpersid},
	['R'] = {"REDUCE", run_reduce},
	['S'] = {"STRING", NULL},
	['T'] = {"BINSTRING", run_text4},
	['U'] = {"SHORT_BINSTRING", run_text1},
	['V'] = {"UNICODE", NULL},
	['X'] = {"BINUNICODE", run_text4},
	[']'] = {"EMPTY_LIST", run_empty_list},
	['a'] = {"APPEND", run_append},
	['b'] = {"BUILD", NULL},
	['c'] = {"GLOBAL", run_global},
	['d'] = {"DICT", NULL},
	['e'] = {"APPENDS", run_appends},
	['g'] = {"GET", NULL},
	['h'] = {"BINGET", run_binget},
	['i'] = {"INST", NULL},
	['j'] = {"LONG_BINGET", run_long_binget},
	['l'] = {"LIST", NULL},
	['o'] = {"OBJ", NULL},
	['p'] = {"PUT", NULL},
	['q'] = {"BINPUT", run_binput},
	['r'] = {"LONG_BINPUT", run_long_binput},
	['s'] = {"SETITEM", run_setitem},
	['t'] = {"TUPLE", run_tuple},
	['u'] = {"SETITEMS", run_setitems},
	['}'] = {"EMPTY_DICT", run_empty_dict},
	[0x80] = {"PROTO", run_proto},
	[0x81] = {"NEWOBJ", NULL},
	[0x82] = {"EXT1", NULL},
	[0x83] = {"EXT2", NULL},
	[0x84] = {"EXT4", NULL},
	[0x85] = {"TUPLE1", run_tuple1},
	[0x86] = {"TUPLE2", run_tuple2},
	[0x87] = {"TUPLE3", run_tuple3},
	[0x88] = {"NEWTRUE", run_true},
	[0x89] = {"NEWFALSE", run_false},
	[0x8a] = {"LONG1", run_long1},
	[0x8b] = {"LONG4", NULL},
	[0x8c] = {"SHORT_BINUNICODE", run_text1},
	[0x8d] = {"BINUNICODE8", run_text8},
	[0x8e] = {"BINBYTES8", NULL},
	[0x8f] = {"EMPTY_SET", NULL},
	[0x90] = {"ADDITEMS", NULL},
	[0x91] = {"FROZENSET", NULL},
	[0x92] = {"NEWOBJ_EX", NULL},
	[0x93] = {"STACK_GLOBAL", run_stack_global},
	[0x94] = {"MEMOIZE", run_memoize},
	[0x95] = {"FRAME", run_frame},
	[0x96] = {"BYTEARRAY8", NULL},
	[0x97] = {"NEXT_BUFFER", NULL},
	[0x98] = {"READONLY_BUFFER", NULL},
};

static int follow(struct pickle *p)
{
	int code = 0;

	while (!code && !p->stopped) {
		const unsigned char *byte;

		p->from = p->at;
		byte = take(p, 1);
		if (!byte)
			return ERR_FORMAT;
		if (opcodes[*byte].run)
			code = opcodes[*byte].run(p);
		else if (opcodes[*byte].name)
			code = refuse(p, "opcode %s is not followed", opcodes[*byte].name);
		else
			code = refuse(p, "0x%02x is no opcode of a pickle", *byte);
	}
	return code;
}

int pickle_read(const unsigned char *bytes, size_t size, size_t at,
	const struct pickle_visitor *visitor, struct pickle_result *result, struct err *err)
{
	struct pickle p = {.bytes = bytes,
		.size = size,
		.at = at < size ? at : size,
		.visitor = visitor,
		.err = err};
	const int code = follow(&p);

	*result = (struct pickle_result){.end = p.at, .tensor = p.tensor};
	if (!code)
		result->root = p.stack[0];
	mem_free(p.stack);
	mem_free(p.cells);
	mem_free(p.kept);
	numbers_release(&p.memo);
	return code;
}
