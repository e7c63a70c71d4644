/*
 * Gzip files: members come back joined; what is too large is refused before it is kept.
 * What is wrong with single bytes is tests/records/test_records_idx.c's.
 */
#include "../base/check.h"

#include <sys/resource.h>
#include <zlib.h>

#include "formats/gunzip.h"

static unsigned char packed[4 << 20];

/* Adds a member of `size` bytes, each `byte`; returns the size of all. */
static size_t pack(size_t before, int byte, size_t size)
{
	static unsigned char bytes[1 << 16];
	z_stream z = {.next_out = packed + before, .avail_out = (uInt)(sizeof(packed) - before)};

	memset(bytes, byte, sizeof(bytes));
	assert_int_equal(
		deflateInit2(&z, 1, Z_DEFLATED, MAX_WBITS + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
	for (size_t piece; size; size -= piece) {
		piece = size < sizeof(bytes) ? size : sizeof(bytes);
		z.next_in = bytes;
		z.avail_in = (uInt)piece;
		assert_int_equal(deflate(&z, Z_NO_FLUSH), Z_OK);
	}
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	before = sizeof(packed) - z.avail_out;
	deflateEnd(&z);
	return before;
}

static void members_are_joined(void **state)
{
	const size_t first = pack(0, 'a', 100000), second = pack(first, 'b', 7);
	struct err err = {0};
	unsigned char *out;
	size_t size;

	assert_ok(gunzip("x", packed, second, 100007, &out, &size, &err), err);
	assert_int_equal(size, 100007);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(out[i], i < 100000 ? 'a' : 'b');
	mem_free(out);
	assert_int_equal(gunzip("x", packed, second, 100006, &out, &size, &err), ERR_FORMAT);
	assert_says(err, "x: unpacks to more than 100006 bytes; gunzip it");
	assert_ok(gunzip("x", packed, first, 100000, &out, &size, &err), err);
	assert_int_equal(size, 100000);
	mem_free(out);
	assert_ok(gunzip("x", packed, pack(0, 0, 0), 0, &out, &size, &err), err);
	assert_int_equal(size, 0);
	mem_free(out);
}

static long resident_most(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss; /* KiB */
}

/* Refuses 256 MiB of zeros where half of them are allowed, without keeping any. */
static void refuse_bomb(size_t size, const char *says)
{
	const long before = resident_most();
	struct err err = {0};
	unsigned char *out;
	size_t out_size;

	assert_int_equal(
		gunzip("x", packed, size, (size_t)128 << 20, &out, &out_size, &err), ERR_FORMAT);
	assert_says(err, says);
	assert_null(out);
	if (resident_most() - before > 32 << 10)
		fail_msg("it took %ld KiB", resident_most() - before);
}

static void a_bomb_is_not_kept(void **state)
{
	const size_t size = pack(0, 0, (size_t)256 << 20);
	struct err err = {0};
	unsigned char *out;
	size_t out_size;

	refuse_bomb(
		size, "x: promises to unpack to 268435456 bytes, more than the 134217728 allowed");
	/* A last member that promises a byte. */
	refuse_bomb(pack(size, 0, 1), "x: unpacks to more than 134217728 bytes");
	/* Cut short, its end promises anything. */
	for (size_t cut = 900; cut < 1100; cut++) {
		assert_int_equal(
			gunzip("x", packed, cut, 2 << 20, &out, &out_size, &err), ERR_FORMAT);
		assert_says(err, "x: the gzipped file ends too early");
	}
}

static int unpack_both(void *size, struct err *err)
{
	unsigned char *out;
	size_t out_size;
	const int code = gunzip("x", packed, *(size_t *)size, 1000, &out, &out_size, err);

	if (!code)
		mem_free(out);
	return code;
}

static void memory_may_run_out(void **state)
{
	size_t size = pack(pack(0, 1, 500), 2, 5);

	assert_true(each_allocation_fails(unpack_both, &size) > 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_joined),
		cmocka_unit_test(a_bomb_is_not_kept),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
