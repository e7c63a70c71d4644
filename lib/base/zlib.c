/*
 * What zlib does for us: CRC-32 and unpacking gzip files. zlib's own memory comes
 * from base/mem.h like all other.
 */
#include "base/checksum.h"
#include "base/gunzip.h"

#include <limits.h>
#include <string.h>

#include <zlib.h>

#include "base/mem.h"

enum { GZIP_ONLY = 16, ROOM_FIRST = 64 << 10 };

uint32_t checksum_add(uint32_t before, const void *data, size_t size)
{
	/* zlib takes a NULL for "start anew", which an empty array may well be. */
	return size ? (uint32_t)crc32_z(before, data, size) : before;
}

bool gunzip_begins(const void *data, size_t size)
{
	return size >= 3 && memcmp(data, "\x1f\x8b\x08", 3) == 0;
}

static void *take(void *unused, unsigned count, unsigned size)
{
	(void)unused;
	return mem_new(count, size);
}

static void give_back(void *unused, void *block)
{
	(void)unused;
	mem_free(block);
}

struct unpacking {
	z_stream stream;
	const unsigned char *in;
	size_t left;
	unsigned char *out;
	size_t size, room, most;
	const char *name;
};

/* Room for one byte more than is allowed, so that too much is seen as such. */
static int grow(struct unpacking *u, struct err *err)
{
	const size_t room = u->room > u->most / 2 ? u->most + 1 : 2 * u->room;
	unsigned char *larger;

	if (u->size > u->most)
		return err_set(err, ERR_FORMAT, "%s: unpacks to more than %zu bytes; gunzip it",
			u->name, u->most);
	larger = mem_resize(u->out, room, 1);
	if (!larger)
		return err_memory(err, u->name, room);
	u->out = larger;
	u->room = room;
	return 0;
}

static unsigned clip(size_t size)
{
	return size > UINT_MAX ? UINT_MAX : (unsigned)size;
}

/* One call of zlib's; its verdict, or Z_MEM_ERROR. */
static int step(struct unpacking *u)
{
	z_stream *z = &u->stream;
	const unsigned in = clip(u->left), out = clip(u->room - u->size);
	int verdict;

	z->next_in = (unsigned char *)(uintptr_t)u->in;
	z->avail_in = in;
	z->next_out = u->out + u->size;
	z->avail_out = out;
	verdict = inflate(z, Z_NO_FLUSH);
	u->in += in - z->avail_in;
	u->left -= in - z->avail_in;
	u->size += out - z->avail_out;
	return verdict;
}

static int unpack(struct unpacking *u, struct err *err)
{
	for (;;) {
		int verdict;

		if (u->size == u->room) {
			const int code = grow(u, err);

			if (code)
				return code;
		}
		verdict = step(u);
		if (verdict == Z_STREAM_END && u->left == 0)
			break;
		if (verdict == Z_STREAM_END)
			verdict = inflateReset(&u->stream);
		if (verdict == Z_MEM_ERROR)
			return err_memory(err, u->name, (unsigned long long)u->room);
		if (u->left == 0 && u->size < u->room)
			return err_set(
				err, ERR_FORMAT, "%s: the gzipped file ends too early", u->name);
		if (verdict != Z_OK)
			return err_set(err, ERR_FORMAT, "%s: is no whole gzip file: %s", u->name,
				u->stream.msg ? u->stream.msg : zError(verdict));
	}
	return u->size > u->most ? grow(u, err) : 0;
}

int gunzip(const char *name, const void *data, size_t size, size_t most, unsigned char **out,
	size_t *out_size, struct err *err)
{
	struct unpacking u = {.stream = {.zalloc = take, .zfree = give_back},
		.in = data,
		.left = size,
		.room = most < ROOM_FIRST ? most + 1 : ROOM_FIRST,
		.most = most,
		.name = name};
	int code;

	*out = NULL;
	*out_size = 0;
	u.out = mem_new(u.room, 1);
	if (!u.out || inflateInit2(&u.stream, MAX_WBITS + GZIP_ONLY) != Z_OK) {
		mem_free(u.out);
		return err_memory(err, name, u.room);
	}
	code = unpack(&u, err);
	inflateEnd(&u.stream);
	if (code) {
		mem_free(u.out);
		return code;
	}
	*out = u.out;
	*out_size = u.size;
	return 0;
}
