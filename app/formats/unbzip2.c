/* The only file that knows libbz2. Members that follow each other are joined. */
#include <bzlib.h>
#include <limits.h>
#include <stdint.h>

#include "base/mem.h"
#include "formats/packed.h"

static void *take(void *unused, int count, int size)
{
	(void)unused;
	return mem_new((size_t)count, (size_t)size);
}

static void give_back(void *unused, void *block)
{
	(void)unused;
	mem_free(block);
}

static unsigned clip(size_t size)
{
	return size > UINT_MAX ? UINT_MAX : (unsigned)size;
}

/* One member; moves `data` behind it. */
static int unpack_member(
	const char **data, size_t *left, struct packed_out *to, const char *name, struct err *err)
{
	bz_stream stream = {.bzalloc = take, .bzfree = give_back};
	int verdict = BZ2_bzDecompressInit(&stream, 0, 0), code = 0;

	while (verdict == BZ_OK && !code) {
		unsigned in, out;

		code = packed_room(to, err);
		if (code)
			break;
		stream.next_in = (char *)(uintptr_t)*data;
		stream.avail_in = in = clip(*left);
		stream.next_out = (char *)to->data + to->size;
		stream.avail_out = out = clip(to->room - to->size);
		verdict = BZ2_bzDecompress(&stream);
		*data += in - stream.avail_in;
		*left -= in - stream.avail_in;
		to->size += out - stream.avail_out;
		if (verdict == BZ_OK && !*left && stream.avail_out)
			verdict = BZ_UNEXPECTED_EOF;
	}
	BZ2_bzDecompressEnd(&stream);
	if (code)
		return code;
	if (verdict == BZ_MEM_ERROR)
		return err_memory(err, name, to->room);
	return verdict == BZ_STREAM_END
		       ? 0
		       : err_set(err, ERR_FORMAT, "%s: is not a complete bzip2 file: %s", name,
				 verdict == BZ_UNEXPECTED_EOF ? "it ends too early"
							      : "it is damaged");
}

static int unpack(const char *name, const void *data, size_t size, size_t most, unsigned char **out,
	size_t *out_size, struct err *err)
{
	struct packed_out to = {.name = name, .most = most};
	const char *at = data;
	int code = 0;

	while (size && !code)
		code = unpack_member(&at, &size, &to, name, err);
	return packed_end(&to, code, out, out_size, err);
}

const struct packed_type packed_bzip2 = {.name = "bzip2",
	.ending = ".bz2",
	.tool = "bunzip2",
	.magic = "BZh?1AY&SY",
	.magic_size = 10,
	.unpack = unpack};
