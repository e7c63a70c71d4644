/*
 * A stack machine without recursion. Invariants:
 *
 * - every read of the pickle's bytes goes through take() or take_line(), which know
 *   where it ends;
 * - the stack, the cells of tuples and the kept values have bounds (MOST), so that
 *   nothing but the memo grows with the pickle, and that by 8 bytes for at least 2;
 * - a value refers to others by place only: nothing is followed, so nothing can be
 *   deep or go round in circles.
 *
 * The memo has a number for each value: for a text the place of the opcode that made
 * it, which is simply read again; for anything else, with the top bit set, a place in
 * `kept`. Picklers number their values one after the other; keys that leave numbers
 * out are refused, since a key could otherwise ask for any amount of memory.
 *
 * What looks up names and calls them is in pickle_names.c.
 */
#include "formats/pickle_impl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define KEPT (UINT64_C(1) << 63)

enum { MOST = 1 << 16, PROTOCOL_MOST = 5 };

struct opcode {
	const char *name;
	int (*run)(struct pickle *p, int n); /* NULL: refused */
	int n;                               /* what run is given: mostly a size in bytes */
};

const char *pickle_kind_name(enum pickle_kind kind)
{
	static const char *const names[] = {"None", "True or False", "a whole number",
		"a whole number of more than 64 bits", "a number", "a text", "a list",
		"a dictionary", "a tuple", "a name", "a storage", "a tensor", "a mark"};

	return names[kind];
}

/* "byte 17: " and what is wrong there. */
int pickle_refuse(struct pickle *p, const char *format, ...)
{
	char why[320];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, sizeof(why), format, arguments);
	va_end(arguments);
	return err_set(p->err, ERR_FORMAT, "byte %zu: %s", p->from, why);
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
		pickle_refuse(p, "the pickle is cut off");
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
		return pickle_refuse(p, "more than %d values wait for their list or tuple", MOST);
	if (!grow_room(&p->stack, &p->stack_room, p->depth + 1, sizeof(value)))
		return no_memory(p, p->depth * sizeof(value));
	p->stack[p->depth++] = value;
	return 0;
}

int pickle_push(struct pickle *p, enum pickle_kind kind, int64_t whole)
{
	return push(p, (struct pickle_value){.kind = kind, .whole = whole});
}

struct pickle_value *pickle_top(struct pickle *p)
{
	if (p->depth && p->stack[p->depth - 1].kind != PICKLE_MARK)
		return p->stack + p->depth - 1;
	pickle_refuse(p, "a value is missing");
	return NULL;
}

/* Where the values above the last mark begin; -1, with the error set, if there is none. */
static long after_mark(struct pickle *p)
{
	for (size_t i = p->depth; i--;)
		if (p->stack[i].kind == PICKLE_MARK)
			return (long)i + 1;
	pickle_refuse(p, "a mark is missing");
	return -1;
}

static int run_proto(struct pickle *p, int n)
{
	const unsigned char *protocol = take(p, 1);

	if (!protocol)
		return ERR_FORMAT;
	if (*protocol > PROTOCOL_MOST)
		return pickle_refuse(
			p, "protocol %d; %d is the last one known", *protocol, PROTOCOL_MOST);
	return 0;
}

static int run_frame(struct pickle *p, int n)
{
	uint64_t size;

	if (!take_number(p, 8, &size))
		return ERR_FORMAT;
	return size > p->size - p->at ? pickle_refuse(p, "the pickle is cut off") : 0;
}

static int run_stop(struct pickle *p, int n)
{
	p->stopped = true;
	return p->depth == 1 && pickle_top(p)
		       ? 0
		       : pickle_refuse(p, "it ends with %zu values, not one", p->depth);
}

static int run_bool(struct pickle *p, int n)
{
	return pickle_push(p, PICKLE_BOOL, n);
}

static int run_whole(struct pickle *p, int n)
{
	uint64_t number;

	return take_number(p, (size_t)n, &number) ? pickle_push(p, PICKLE_WHOLE, (int64_t)number)
						  : ERR_FORMAT;
}

static int run_binint(struct pickle *p, int n)
{
	uint64_t number;

	if (!take_number(p, 4, &number))
		return ERR_FORMAT;
	return pickle_push(p, PICKLE_WHOLE, (int32_t)(uint32_t)number);
}

static int run_long1(struct pickle *p, int n)
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
	return pickle_push(p, PICKLE_WHOLE, (int64_t)number);
}

static int run_binfloat(struct pickle *p, int n)
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

/* A text whose size is a number of n bytes. */
static int run_text(struct pickle *p, int n)
{
	struct pickle_value value = {.kind = PICKLE_TEXT};
	uint64_t size;

	if (!take_number(p, (size_t)n, &size))
		return ERR_FORMAT;
	value.at = p->at;
	value.size = (size_t)size;
	value.head = (uint32_t)n + 1;
	return take(p, (size_t)size) ? push(p, value) : ERR_FORMAT;
}

/* The whole of a list or dictionary is the one that nothing else is around. */
static int run_kind(struct pickle *p, int n)
{
	return pickle_push(p, (enum pickle_kind)n, p->depth == 0);
}

static int visit(struct pickle *p, enum pickle_kind kind, const struct pickle_value *item)
{
	const struct pickle_visitor *visitor = p->visitor;

	if (kind == PICKLE_LIST)
		return visitor->item ? visitor->item(visitor->self, item, p->err) : 0;
	return visitor->pair ? visitor->pair(visitor->self, item, item + 1, p->err) : 0;
}

/* Values from `first` on become items of the list, or pairs of the dictionary, below `below`. */
static int add_items(struct pickle *p, enum pickle_kind kind, size_t first, size_t below)
{
	const size_t each = kind == PICKLE_LIST ? 1 : 2;
	int code = 0;

	if (!below || p->stack[below - 1].kind != kind)
		return pickle_refuse(p, "%s is missing", pickle_kind_name(kind));
	if ((p->depth - first) % each)
		return pickle_refuse(p, "a key has no value");
	for (size_t i = first; p->stack[below - 1].whole && i < p->depth && !code; i += each)
		code = visit(p, kind, p->stack + i);
	if (!code)
		p->depth = below;
	return code;
}

static int run_append(struct pickle *p, int n)
{
	return pickle_top(p) ? add_items(p, PICKLE_LIST, p->depth - 1, p->depth - 1) : ERR_FORMAT;
}

static int run_setitem(struct pickle *p, int n)
{
	if (p->depth < 3 || !pickle_top(p) || p->stack[p->depth - 2].kind == PICKLE_MARK)
		return pickle_refuse(p, "a value is missing");
	return add_items(p, PICKLE_DICT, p->depth - 2, p->depth - 2);
}

/* Values from `first` on become a tuple, which takes the place of `below` and all above. */
static int tuple(struct pickle *p, size_t first, size_t below)
{
	const size_t count = p->depth - first;

	if (count > MOST - p->cells_count)
		return pickle_refuse(p, "more than %d values are in tuples", MOST);
	if (!grow_room(&p->cells, &p->cells_room, p->cells_count + count + 1, sizeof(*p->cells)))
		return no_memory(p, p->cells_count * sizeof(*p->cells));
	if (count)
		memcpy(p->cells + p->cells_count, p->stack + first, count * sizeof(*p->cells));
	p->depth = below;
	p->cells_count += count;
	return push(p, (struct pickle_value){
			       .kind = PICKLE_TUPLE, .at = p->cells_count - count, .size = count});
}

/* What the values after the last mark become, or are added to. */
static int run_marked(struct pickle *p, int n)
{
	const long first = after_mark(p);

	if (first < 0)
		return ERR_FORMAT;
	return n == PICKLE_TUPLE
		       ? tuple(p, (size_t)first, (size_t)first - 1)
		       : add_items(p, (enum pickle_kind)n, (size_t)first, (size_t)first - 1);
}

static int run_short_tuple(struct pickle *p, int n)
{
	const size_t count = (size_t)n;

	for (size_t i = 0; i < count; i++)
		if (p->depth < count || p->stack[p->depth - 1 - i].kind == PICKLE_MARK)
			return pickle_refuse(p, "a value is missing");
	return tuple(p, p->depth - count, p->depth - count);
}

static int put(struct pickle *p, uint64_t key)
{
	const struct pickle_value *value = pickle_top(p);
	uint64_t number;

	if (!value)
		return ERR_FORMAT;
	if (key > p->memo.count)
		return pickle_refuse(p, "value %llu is numbered after %zu others",
			(unsigned long long)key, p->memo.count);
	number = value->at - value->head;
	if (value->kind != PICKLE_TEXT) {
		if (p->kept_count == MOST)
			return pickle_refuse(
				p, "more than %d values other than texts are numbered", MOST);
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

static int run_put(struct pickle *p, int n)
{
	uint64_t key;

	return take_number(p, (size_t)n, &key) ? put(p, key) : ERR_FORMAT;
}

static int run_memoize(struct pickle *p, int n)
{
	return put(p, p->memo.count);
}

static const struct opcode opcodes[256];

static int get(struct pickle *p, uint64_t key)
{
	const struct opcode *opcode;
	const size_t next = p->at;
	int code;

	if (key >= p->memo.count)
		return pickle_refuse(p, "refers to value %llu, and there are %zu",
			(unsigned long long)key, p->memo.count);
	if (p->memo.at[key] & KEPT)
		return push(p, p->kept[p->memo.at[key] & ~KEPT]);
	p->at = (size_t)p->memo.at[key] + 1;
	opcode = opcodes + p->bytes[p->at - 1];
	code = opcode->run(p, opcode->n);
	p->at = next;
	return code;
}

static int run_get(struct pickle *p, int n)
{
	uint64_t key;

	return take_number(p, (size_t)n, &key) ? get(p, key) : ERR_FORMAT;
}

static const struct opcode opcodes[256] = {
	['('] = {"MARK", run_kind, PICKLE_MARK},
	[')'] = {"EMPTY_TUPLE", run_short_tuple, 0},
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
	['K'] = {"BININT1", run_whole, 1},
	['L'] = {"LONG", NULL},
	['M'] = {"BININT2", run_whole, 2},
	['N'] = {"NONE", run_kind, PICKLE_NONE},
	['P'] = {"PERSID", NULL},
	['Q'] = {"BINPERSID", pickle_run_binpersid},
	['R'] = {"REDUCE", pickle_run_reduce},
	['S'] = {"STRING", NULL},
	['T'] = {"BINSTRING", run_text, 4},
	['U'] = {"SHORT_BINSTRING", run_text, 1},
	['V'] = {"UNICODE", NULL},
	['X'] = {"BINUNICODE", run_text, 4},
	[']'] = {"EMPTY_LIST", run_kind, PICKLE_LIST},
	['a'] = {"APPEND", run_append},
	['b'] = {"BUILD", NULL},
	['c'] = {"GLOBAL", pickle_run_global},
	['d'] = {"DICT", NULL},
	['e'] = {"APPENDS", run_marked, PICKLE_LIST},
	['g'] = {"GET", NULL},
	['h'] = {"BINGET", run_get, 1},
	['i'] = {"INST", NULL},
	['j'] = {"LONG_BINGET", run_get, 4},
	['l'] = {"LIST", NULL},
	['o'] = {"OBJ", NULL},
	['p'] = {"PUT", NULL},
	['q'] = {"BINPUT", run_put, 1},
	['r'] = {"LONG_BINPUT", run_put, 4},
	['s'] = {"SETITEM", run_setitem},
	['t'] = {"TUPLE", run_marked, PICKLE_TUPLE},
	['u'] = {"SETITEMS", run_marked, PICKLE_DICT},
	['}'] = {"EMPTY_DICT", run_kind, PICKLE_DICT},
	[0x80] = {"PROTO", run_proto},
	[0x81] = {"NEWOBJ", NULL},
	[0x82] = {"EXT1", NULL},
	[0x83] = {"EXT2", NULL},
	[0x84] = {"EXT4", NULL},
	[0x85] = {"TUPLE1", run_short_tuple, 1},
	[0x86] = {"TUPLE2", run_short_tuple, 2},
	[0x87] = {"TUPLE3", run_short_tuple, 3},
	[0x88] = {"NEWTRUE", run_bool, 1},
	[0x89] = {"NEWFALSE", run_bool, 0},
	[0x8a] = {"LONG1", run_long1},
	[0x8b] = {"LONG4", NULL},
	[0x8c] = {"SHORT_BINUNICODE", run_text, 1},
	[0x8d] = {"BINUNICODE8", run_text, 8},
	[0x8e] = {"BINBYTES8", NULL},
	[0x8f] = {"EMPTY_SET", NULL},
	[0x90] = {"ADDITEMS", NULL},
	[0x91] = {"FROZENSET", NULL},
	[0x92] = {"NEWOBJ_EX", NULL},
	[0x93] = {"STACK_GLOBAL", pickle_run_stack_global},
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
			code = opcodes[*byte].run(p, opcodes[*byte].n);
		else if (opcodes[*byte].name)
			code = pickle_refuse(p, "opcode %s is not followed", opcodes[*byte].name);
		else
			code = pickle_refuse(p, "0x%02x is no opcode of a pickle", *byte);
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
