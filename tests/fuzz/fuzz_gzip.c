/*
 * Packed bodies of requests, as they come in pieces. The first byte says how long pieces are, and
 * whether the rest is a gzip file or what its one member packs, to which the target adds a head and
 * the right checksum: no fuzzer guesses that. What is taken is what gunzip makes of the whole.
 */
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "base/mem.h"
#include "formats/gunzip.h"
#include "formats/gzip.h"
#include "serve/exchange.h"
#include "fuzz.h"

enum { MOST = 1 << 16, HEAD = 10, TAIL = 8 };

static unsigned char taken[MOST];
static size_t taken_size;

/* What a raw member packs, if that is not too much. */
static size_t unpack(const uint8_t *data, size_t size, size_t *used)
{
	z_stream z = {.next_in = (unsigned char *)(uintptr_t)data,
		.avail_in = (unsigned)size,
		.next_out = taken,
		.avail_out = MOST};

	fuzz_check(inflateInit2(&z, -MAX_WBITS) == Z_OK);
	inflate(&z, Z_FINISH);
	*used = size - z.avail_in;
	inflateEnd(&z);
	return MOST - z.avail_out;
}

/* A gzip file of one raw member, and what is behind it. */
static uint8_t *complete(const uint8_t *data, size_t size, size_t *whole)
{
	static const uint8_t head[HEAD] = {0x1f, 0x8b, 8};
	size_t used, plain = unpack(data, size, &used);
	const uint64_t tail = (uint64_t)plain << 32 | crc32(0, taken, (unsigned)plain);
	uint8_t *made = mem_new(size + HEAD + TAIL, 1);

	fuzz_check(made);
	memcpy(made, head, HEAD);
	memcpy(made + HEAD, data, used);
	for (int i = 0; i < TAIL; i++)
		made[HEAD + used + (size_t)i] = (uint8_t)(tail >> 8 * i);
	memcpy(made + HEAD + used + TAIL, data + used, size - used);
	*whole = size + HEAD + TAIL;
	return made;
}

static enum http_next add(struct exchange *exchange, const char *bytes, size_t size)
{
	fuzz_check(size && size <= GZIP_PIECE);
	if (size > MOST - taken_size)
		return http_refuse(exchange->request, 413, "too long");
	memcpy(taken + taken_size, bytes, size);
	taken_size += size;
	return HTTP_GO;
}

/* Whether all of it was taken. Each piece is a block of its own, as a socket's buffer may be. */
static bool take(const uint8_t *data, size_t size, size_t piece)
{
	static struct serve serve = {.budget.most = 1 << 20};
	static struct http_request request;
	struct exchange exchange = {.serve = &serve, .request = &request};
	enum http_next next;

	request = (struct http_request){
		.headers = {{"Content-Encoding", "gzip"}}, .header_count = 1, .length = 7};
	taken_size = 0;
	next = exchange_begin_packed(&exchange);
	fuzz_check(next == HTTP_GO && exchange.held >= GZIP_MEMORY);
	for (size_t at = 0; at < size && next == HTTP_GO; at += piece) {
		const size_t length = piece < size - at ? piece : size - at;
		char *block = fuzz_text(data + at, length);

		next = exchange_unpack(&exchange, block, length, add);
		free(block);
	}
	if (next == HTTP_GO)
		next = exchange_end_packed(&exchange);
	fuzz_check(next == HTTP_GO ? !request.answer.status : request.answer.status >= 400);
	gzip_reader_free(exchange.reader);
	text_release(&request.answer.body);
	budget_hold(&serve.budget, &exchange.held, 0);
	fuzz_check(!serve.budget.used);
	return next == HTTP_GO;
}

/* Several members, and nothing but a head's worth of zeros, are for files only. */
static void compare(const uint8_t *data, size_t size, bool well)
{
	unsigned char *out;
	size_t out_size;

	if (gunzip("a body", data, size, MOST, &out, &out_size, NULL)) {
		fuzz_check(!well);
		return;
	}
	fuzz_check(!well || (out_size == taken_size && !memcmp(out, taken, taken_size)));
	mem_free(out);
}

static void pack(const uint8_t *data, size_t size)
{
	struct text packed = {0};

	text_add_bytes(&packed, (const char *)data, size);
	if (!packed.failed && gzip_pack(data, size, &packed))
		fuzz_check(take((uint8_t *)packed.data, packed.size, 100) && taken_size == size &&
			   !memcmp(taken, data, size));
	text_release(&packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t piece = size ? (data[0] & 0x7f) + 1 : 1;
	uint8_t *made = NULL;
	bool well;

	if (!size)
		return 0;
	fuzz_begin(data, size);
	pack(data, size);
	if (data[0] & 0x80)
		made = complete(data + 1, size - 1, &size);
	else
		size--;
	well = take(made ? made : data + 1, size, piece);
	compare(made ? made : data + 1, size, well);
	if (fuzz_due(0, 4))
		fuzz_check(take(made ? made : data + 1, size, SIZE_MAX / 2) == well);
	mem_free(made);
	return 0;
}
