/*
 * The last four bytes of a gzip file are the size of its last member. The first pass keeps that
 * much; anything beyond (several members, or a wrong size) is only counted. If there was more, a
 * second pass keeps all of it. So memory never exceeds the unpacked size. A size above the limit
 * is believed only after a short check: a truncated file ends with random bytes, and should be
 * reported as truncated.
 */
#include "formats/gunzip.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "formats/gzip_impl.h"

enum { REST = 32 << 10, GLANCE = 64 << 20 };

struct unpacking {
	z_stream stream;
	const unsigned char *in;
	size_t left;
	unsigned char *out;
	size_t room; /* of out */
	size_t size; /* unpacked so far, kept or not */
	size_t most, promise;
	const char *name;
	unsigned char rest[REST]; /* what is not kept */
};

static unsigned clip(size_t size)
{
	return size > UINT_MAX ? UINT_MAX : (unsigned)size;
}

/* One call of zlib's; its verdict, Z_BUF_ERROR if the bytes end too early. */
static int step(struct unpacking *u)
{
	z_stream *z = &u->stream;
	const bool kept = u->size < u->room;
	const unsigned in = clip(u->left), out = kept ? clip(u->room - u->size) : REST;
	int verdict;

	z->next_in = (unsigned char *)(uintptr_t)u->in;
	z->avail_in = in;
	z->next_out = kept ? u->out + u->size : u->rest;
	z->avail_out = out;
	verdict = inflate(z, Z_NO_FLUSH);
	u->in += in - z->avail_in;
	u->left -= in - z->avail_in;
	u->size += out - z->avail_out;
	return verdict == Z_OK && !u->left && z->avail_out ? Z_BUF_ERROR : verdict;
}

/* Whether there is more than is allowed, or may be taken to be. */
static int check_size(const struct unpacking *u, struct err *err)
{
	if (u->size > u->most)
		return err_set(err, ERR_FORMAT, "%s: unpacks to more than %zu bytes; gunzip it",
			u->name, u->most);
	if (u->promise > u->most && u->size > GLANCE)
		return err_set(err, ERR_FORMAT,
			"%s: promises to unpack to %zu bytes, more than the %zu allowed here; "
			"gunzip it, or get it again if it was cut short",
			u->name, u->promise, u->most);
	return 0;
}

static int unpack(struct unpacking *u, const void *data, size_t size, struct err *err)
{
	u->in = data;
	u->left = size;
	u->size = 0;
	for (;;) {
		int verdict = step(u);
		const int code = check_size(u, err);

		if (code)
			return code;
		if (verdict == Z_STREAM_END && u->left == 0)
			return 0;
		if (verdict == Z_STREAM_END)
			verdict = inflateReset(&u->stream);
		if (verdict == Z_MEM_ERROR)
			return err_memory(err, u->name, u->room);
		if (verdict == Z_BUF_ERROR)
			return err_set(
				err, ERR_FORMAT, "%s: the gzipped file ends too early", u->name);
		if (verdict != Z_OK)
			return err_set(err, ERR_FORMAT, "%s: is not a complete gzip file: %s",
				u->name, u->stream.msg ? u->stream.msg : zError(verdict));
	}
}

/* The size that the last member claims to have. */
static size_t promised(const unsigned char *data, size_t size)
{
	uint32_t promise = 0;

	for (size_t i = 1; i <= 4 && i <= size; i++)
		promise = promise << 8 | data[size - i];
	return promise;
}

int gunzip(const char *name, const void *data, size_t size, size_t most, unsigned char **out,
	size_t *out_size, struct err *err)
{
	struct unpacking u = {.promise = promised(data, size), .most = most, .name = name};
	int code = 0;

	*out = NULL;
	*out_size = 0;
	u.room = u.promise > most ? 0 : u.promise;
	if (gzip_begin(&u.stream) != Z_OK)
		return err_memory(err, name, u.room);
	while (!code && (!u.out || u.size > u.room)) {
		if (u.out)
			u.room = u.size;
		mem_free(u.out);
		u.out = mem_new(u.room, 1);
		if (!u.out || inflateReset(&u.stream) != Z_OK)
			code = err_memory(err, name, u.room);
		else
			code = unpack(&u, data, size, err);
	}
	inflateEnd(&u.stream);
	if (code) {
		mem_free(u.out);
		return code;
	}
	*out = u.out;
	*out_size = u.size;
	return 0;
}
