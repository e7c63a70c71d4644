/* See gzip.h. */
#include "formats/gzip.h"

#include <limits.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "formats/gzip_impl.h"

enum { GZIP = 16, QUICK = 1, LEVEL_OF_MEMORY = 8 };

struct gzip_reader {
	z_stream stream;
	bool whole;
};

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

int gzip_begin(z_stream *stream)
{
	*stream = (z_stream){.zalloc = take, .zfree = give_back};
	return inflateInit2(stream, MAX_WBITS + GZIP);
}

struct gzip_reader *gzip_reader_new(void)
{
	struct gzip_reader *made = mem_new(1, sizeof(*made));

	if (!made)
		return NULL;
	if (gzip_begin(&made->stream) == Z_OK)
		return made;
	mem_free(made);
	return NULL;
}

void gzip_reader_free(struct gzip_reader *reader)
{
	if (!reader)
		return;
	inflateEnd(&reader->stream);
	mem_free(reader);
}

void gzip_reader_give(struct gzip_reader *reader, const void *bytes, size_t size)
{
	reader->stream.next_in = (unsigned char *)(uintptr_t)bytes;
	reader->stream.avail_in = (unsigned)size; /* no longer than a socket's buffer */
}

int gzip_reader_take(
	struct gzip_reader *reader, char piece[GZIP_PIECE], size_t *got, struct err *err)
{
	z_stream *z = &reader->stream;
	int verdict;

	*got = 0;
	z->next_out = (unsigned char *)piece;
	z->avail_out = GZIP_PIECE;
	verdict = reader->whole ? Z_STREAM_END : inflate(z, Z_NO_FLUSH);
	*got = GZIP_PIECE - z->avail_out;
	reader->whole = verdict == Z_STREAM_END;
	if (verdict == Z_MEM_ERROR)
		return err_memory(err, "a packed request", GZIP_MEMORY);
	if (verdict != Z_OK && verdict != Z_STREAM_END && verdict != Z_BUF_ERROR)
		return err_set(
			err, ERR_FORMAT, "it is not gzip: %s", z->msg ? z->msg : zError(verdict));
	if (reader->whole && z->avail_in)
		return err_set(err, ERR_FORMAT, "bytes follow the gzip");
	return 0;
}

bool gzip_reader_whole(const struct gzip_reader *reader)
{
	return reader->whole;
}

bool gzip_pack(const void *bytes, size_t size, struct text *out)
{
	z_stream z = {.zalloc = take, .zfree = give_back};
	const size_t room = size - size / 8; /* less is not worth unpacking */
	char *packed = size < UINT_MAX ? mem_new(room + 1, 1) : NULL;
	bool well = packed && deflateInit2(&z, QUICK, Z_DEFLATED, MAX_WBITS + GZIP, LEVEL_OF_MEMORY,
				      Z_DEFAULT_STRATEGY) == Z_OK;

	if (well) {
		z.next_in = (unsigned char *)(uintptr_t)bytes;
		z.avail_in = (unsigned)size;
		z.next_out = (unsigned char *)packed;
		z.avail_out = (unsigned)room;
		well = deflate(&z, Z_FINISH) == Z_STREAM_END;
		deflateEnd(&z);
	}
	if (!well) {
		mem_free(packed);
		return false;
	}
	text_release(out);
	*out = (struct text){.data = packed, .size = z.total_out, .capacity = room + 1};
	return true;
}
