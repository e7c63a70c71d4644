/*
 * The archive has the pickle as data.pkl and the storages as data/0, data/1, ...; the
 * stream has pickles one after the other: a magic number, the version, facts of the
 * system, the object, the names of the storages; then for each storage how many
 * elements it has, and these. Both have numbers with the lowest byte first.
 */
#include "formats/torch_save.h"

#include <stdio.h>
#include <string.h>

#include "formats/pickle.h"
#include "formats/zip.h"

enum { VERSION = 1001, KEY_MOST = 64 };

/* 0x1950a86a20f9469cfc6c */
static const unsigned char magic[] = {0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19};

static const struct {
	size_t size;
	bool real, sign;
} elements[] = {
	[PICKLE_F8] = {8, true, true},
	[PICKLE_F4] = {4, true, true},
	[PICKLE_I8] = {8, false, true},
	[PICKLE_I4] = {4, false, true},
	[PICKLE_I2] = {2, false, true},
	[PICKLE_I1] = {1, false, true},
	[PICKLE_U1] = {1, false, false},
};

struct reading {
	const unsigned char *bytes;
	size_t size;
	list_visit *visit;
	void *self;
	int64_t count; /* of values that were visited */
	bool big_endian;
};

/* Gives a value out and puts its place before what is wrong with it. */
static int give(struct reading *r, const struct list_value *value, struct err *err)
{
	struct err why = {0};
	const int code = r->visit(r->self, value, &why);

	if (code == ERR_MEMORY || code == ERR_FILE)
		return err_set(err, code, "%s", why.message);
	if (code)
		return err_set(err, code, "item %lld: %.400s", (long long)r->count, why.message);
	r->count++;
	return 0;
}

static int take_item(void *self, const struct pickle_value *item, struct err *err)
{
	struct reading *r = self;
	struct list_value value = {.kind = LIST_WHOLE, .whole = item->whole};

	if (item->kind == PICKLE_TEXT)
		value = (struct list_value){.kind = LIST_TEXT,
			.text = (const char *)r->bytes + item->at,
			.size = item->size};
	else if (item->kind == PICKLE_REAL)
		value = (struct list_value){.kind = LIST_REAL, .real = item->real};
	else if (item->kind != PICKLE_WHOLE)
		return err_set(err, ERR_FORMAT, "item %lld: is %s, not a number or a text",
			(long long)r->count, pickle_kind_name(item->kind));
	return give(r, &value, err);
}

static int take_fact(void *self, const struct pickle_value *key, const struct pickle_value *value,
	struct err *err)
{
	static const char name[] = "little_endian";
	struct reading *r = self;

	(void)err;
	if (key->kind == PICKLE_TEXT && key->size == sizeof(name) - 1 &&
		!memcmp(r->bytes + key->at, name, key->size) && value->kind == PICKLE_BOOL)
		r->big_endian = !value->whole;
	return 0;
}

static int check_order(const struct reading *r, struct err *err)
{
	return r->big_endian ? err_set(err, ERR_FORMAT,
				       "was written by a big-endian machine: save it "
				       "again on a usual one")
			     : 0;
}

/* The pickle itself; if it is a list it has been visited after this. */
static int read_object(
	struct reading *r, size_t size, size_t at, struct pickle_result *result, struct err *err)
{
	const struct pickle_visitor visitor = {.item = take_item, .self = r};
	const int code = pickle_read(r->bytes, size, at, &visitor, result, err);

	if (code || result->root.kind == PICKLE_LIST || result->root.kind == PICKLE_TENSOR)
		return code;
	return err_set(err, ERR_FORMAT, "holds %s, not a list or a tensor",
		pickle_kind_name(result->root.kind));
}

static int give_element(
	struct reading *r, const unsigned char *at, enum pickle_element element, struct err *err)
{
	struct list_value value = {.kind = elements[element].real ? LIST_REAL : LIST_WHOLE};
	const size_t size = elements[element].size;
	uint64_t bits = 0;
	uint32_t half;
	float narrow;

	for (size_t i = size; i--;)
		bits = bits << 8 | at[i];
	if (element == PICKLE_F8) {
		memcpy(&value.real, &bits, sizeof(bits));
	} else if (element == PICKLE_F4) {
		half = (uint32_t)bits;
		memcpy(&narrow, &half, sizeof(half));
		value.real = narrow;
	} else {
		if (size < 8 && elements[element].sign && bits >> (8 * size - 1))
			bits |= UINT64_MAX << (8 * size);
		value.whole = (int64_t)bits;
	}
	return give(r, &value, err);
}

/* The elements of a tensor whose storage is at `at` and has `size` bytes. */
static int read_tensor(
	struct reading *r, const struct pickle_tensor *t, size_t at, size_t size, struct err *err)
{
	const size_t each = elements[t->element].size;
	int64_t last;
	int code = 0;

	if (!(t->dimensions == 1 || (t->dimensions == 2 && t->shape[1] == 1)))
		return err_set(err, ERR_FORMAT, "holds a tensor of %d dimensions, not of one",
			t->dimensions);
	if (t->count < 0 || (uint64_t)t->count > size / each)
		return err_set(err, ERR_FORMAT,
			"its storage has %zu bytes for %lld elements of %zu", size,
			(long long)t->count, each);
	if (t->shape[0] < 0 || t->first < 0 || t->stride[0] < 0 ||
		__builtin_mul_overflow(t->shape[0] - 1, t->stride[0], &last) ||
		__builtin_add_overflow(last, t->first, &last) ||
		(t->shape[0] && last >= t->count) || t->shape[0] > t->count)
		return err_set(err, ERR_FORMAT,
			"its tensor of %lld elements does not fit the %lld of its storage",
			(long long)t->shape[0], (long long)t->count);
	for (int64_t i = 0; i < t->shape[0] && !code; i++)
		code = give_element(r, r->bytes + at + (size_t)(t->first + i * t->stride[0]) * each,
			t->element, err);
	return code;
}

static int read_archive(struct reading *r, struct err *err)
{
	struct pickle_result result;
	struct zip_member member;
	char key[KEY_MOST + 6];
	int code = zip_find(&member, r->bytes, r->size, "byteorder", err);

	r->big_endian = !code && member.size >= 3 && !memcmp(r->bytes + member.at, "big", 3);
	if (code >= 0)
		code = check_order(r, err);
	if (!code)
		code = zip_find(&member, r->bytes, r->size, "data.pkl", err);
	if (code > 0)
		return err_set(err, ERR_FORMAT, "is a ZIP archive without a data.pkl");
	if (!code)
		code = read_object(r, member.at + member.size, member.at, &result, err);
	if (code || result.root.kind == PICKLE_LIST)
		return code;
	snprintf(key, sizeof(key), "data/%.*s",
		(int)(result.tensor.key_size < KEY_MOST ? result.tensor.key_size : KEY_MOST),
		(const char *)r->bytes + result.tensor.key_at);
	code = zip_find(&member, r->bytes, r->size, key, err);
	if (code > 0)
		return err_set(err, ERR_FORMAT, "has no storage %s", key);
	return code ? code : read_tensor(r, &result.tensor, member.at, member.size, err);
}

/* Magic number, version and facts; *at becomes where the object begins. */
static int read_preamble(struct reading *r, size_t *at, struct err *err)
{
	const struct pickle_visitor facts = {.pair = take_fact, .self = r};
	struct pickle_result found;
	int code = pickle_read(r->bytes, r->size, 0, &facts, &found, err);

	if (code == ERR_MEMORY)
		return code;
	if (code || found.root.kind != PICKLE_BIG || found.root.size != sizeof(magic) ||
		memcmp(r->bytes + found.root.at, magic, sizeof(magic)) != 0)
		return err_set(err, ERR_FORMAT, "is no file of torch.save");
	code = pickle_read(r->bytes, r->size, found.end, &facts, &found, err);
	if (code)
		return code;
	if (found.root.kind != PICKLE_WHOLE || found.root.whole != VERSION)
		return err_set(
			err, ERR_FORMAT, "is of another version of torch.save than %d", VERSION);
	code = pickle_read(r->bytes, r->size, found.end, &facts, &found, err);
	if (code)
		return code;
	*at = found.end;
	return check_order(r, err);
}

static int read_stream(struct reading *r, struct err *err)
{
	static const struct pickle_visitor nothing;
	struct pickle_result object, keys;
	size_t at = 0, each;
	int64_t count = 0;
	int code = read_preamble(r, &at, err);

	if (!code)
		code = read_object(r, r->size, at, &object, err);
	if (!code)
		code = pickle_read(r->bytes, r->size, object.end, &nothing, &keys, err);
	if (code || object.root.kind == PICKLE_LIST)
		return code;
	if (r->size - keys.end < 8)
		return err_set(err, ERR_FORMAT, "ends before its storage");
	for (int i = 8; i--;)
		count = (int64_t)((uint64_t)count << 8 | r->bytes[keys.end + (size_t)i]);
	each = elements[object.tensor.element].size;
	/* A tensor may use a part of a storage, but there is only the one. */
	if (count != object.tensor.count || count < 0 ||
		(uint64_t)count > (r->size - keys.end - 8) / each)
		return err_set(err, ERR_FORMAT, "ends before its storage, or has another one");
	return read_tensor(r, &object.tensor, keys.end + 8, (size_t)count * each, err);
}

int torch_save_bytes(
	const unsigned char *bytes, size_t size, list_visit *visit, void *self, struct err *err)
{
	struct reading r = {.bytes = bytes, .size = size, .visit = visit, .self = self};

	return zip_begins(bytes, size) ? read_archive(&r, err) : read_stream(&r, err);
}

int torch_save_read(const struct mapped *file, list_visit *visit, void *self, struct err *err)
{
	struct err why = {0};
	const int code = torch_save_bytes(file->data, file->size, visit, self, &why);

	if (!code)
		return 0;
	if (code == ERR_MEMORY)
		return err_set(err, code, "%s", why.message);
	return err_set(err, code, "%.200s: %.300s", file->path, why.message);
}
