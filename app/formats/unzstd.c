/* The only file that knows zstd. Windows of more than 128 MiB, zstd's own limit, are refused. */
#include <zstd.h>

#include "formats/packed.h"

static int unpack(const char *name, const void *data, size_t size, size_t most, unsigned char **out,
	size_t *out_size, struct err *err)
{
	ZSTD_DStream *stream = ZSTD_createDStream();
	ZSTD_inBuffer in = {data, size, 0};
	struct packed_out to = {.name = name, .most = most};
	size_t more = 1; /* 0: a frame has ended */
	int code = stream ? 0 : err_memory(err, name, size);

	while (!code && (in.pos < in.size || more)) {
		ZSTD_outBuffer piece;
		const size_t before = in.pos;

		code = packed_room(&to, err);
		if (code)
			break;
		piece = (ZSTD_outBuffer){to.data + to.size, to.room - to.size, 0};
		more = ZSTD_decompressStream(stream, &piece, &in);
		to.size += piece.pos;
		if (ZSTD_isError(more))
			code = err_set(err, ERR_FORMAT, "%s: is not a complete zstd file: %s", name,
				ZSTD_getErrorName(more));
		else if (more && in.pos == before && !piece.pos)
			code = err_set(err, ERR_FORMAT, "%s: the zstd file ends too early", name);
	}
	ZSTD_freeDStream(stream);
	return packed_end(&to, code, out, out_size, err);
}

const struct packed_type packed_zstd = {.name = "zstd",
	.ending = ".zst",
	.tool = "unzstd",
	.magic = "\x28\xb5\x2f\xfd",
	.magic_size = 4,
	.unpack = unpack};
