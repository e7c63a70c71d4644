/* The only file that knows liblzma. */
#include <lzma.h>

#include "base/mem.h"
#include "formats/packed.h"

enum { MEMORY_MOST = 256 << 20 };

static void *take(void *unused, size_t count, size_t size)
{
	(void)unused;
	return mem_new(count, size);
}

static void give_back(void *unused, void *block)
{
	(void)unused;
	mem_free(block);
}

static const char *reason(lzma_ret verdict)
{
	return verdict == LZMA_BUF_ERROR        ? "it ends too early"
	       : verdict == LZMA_MEMLIMIT_ERROR ? "it needs more than 256 MiB to unpack"
	       : verdict == LZMA_OPTIONS_ERROR  ? "it uses an unknown filter"
	       : verdict == LZMA_DATA_ERROR     ? "it is damaged"
						: "it is not in the format";
}

static int unpack(const char *name, const void *data, size_t size, size_t most, unsigned char **out,
	size_t *out_size, struct err *err)
{
	const lzma_allocator allocator = {take, give_back, NULL};
	lzma_stream stream = LZMA_STREAM_INIT;
	struct packed_out to = {.name = name, .most = most};
	lzma_ret verdict;
	int code = 0;

	stream.allocator = &allocator;
	stream.next_in = data;
	stream.avail_in = size;
	verdict = lzma_stream_decoder(&stream, MEMORY_MOST, LZMA_CONCATENATED);
	while (verdict == LZMA_OK && !code) {
		code = packed_room(&to, err);
		if (code)
			break;
		stream.next_out = to.data + to.size;
		stream.avail_out = to.room - to.size;
		verdict = lzma_code(&stream, LZMA_FINISH);
		to.size = to.room - stream.avail_out;
	}
	lzma_end(&stream);
	if (!code && verdict == LZMA_MEM_ERROR)
		code = err_memory(err, name, to.room);
	else if (!code && verdict != LZMA_STREAM_END)
		code = err_set(err, ERR_FORMAT, "%s: is not a complete xz file: %s", name,
			reason(verdict));
	return packed_end(&to, code, out, out_size, err);
}

const struct packed_type packed_xz = {.name = "xz",
	.ending = ".xz",
	.tool = "unxz",
	.magic = "\xfd"
		 "7zXZ\0",
	.magic_size = 6,
	.unpack = unpack};
