/* Packed files of every kind that the build has: whole, joined, cut, damaged, too large. */
#include "../base/check.h"
#include "../base/folder.h"

#include "base/file.h"
#include "base/mem.h"
#include "formats/packed.h"

enum { MOST = 1 << 20 };

static const struct packed_type *const types[] = {&packed_zstd, &packed_xz, &packed_bzip2};
static const char *const tools[] = {"zstd -qcf", "xz -c", "bzip2 -c"};

/* What a tool makes of so many bytes 'a', `times` in a row; NULL: the tool is not here. */
static unsigned char *pack(int kind, int bytes, int times, size_t *size)
{
	char command[1000];
	char *data = NULL;

	snprintf(command, sizeof(command),
		"cd %s && head -c %d /dev/zero | tr '\\0' a >plain && rm -f packed && for i in "
		"$(seq %d); "
		"do %s plain >>packed || exit 1; done 2>/dev/null",
		folder, bytes, times, tools[kind]);
	if (system(command) || file_read(in_folder("packed"), MOST, &data, size, NULL))
		return NULL;
	return (unsigned char *)data;
}

static int unpack(const unsigned char *data, size_t size, size_t most, size_t *got, struct err *err)
{
	unsigned char *out;
	const int code = packed_unpack("it", data, size, most, &out, got, err);

	for (size_t i = 0; i < *got; i++)
		assert_int_equal(out[i], 'a');
	mem_free(out);
	return code;
}

static void all_kinds(void **state)
{
	for (int kind = 0; kind < 3; kind++) {
		struct err err = {0};
		size_t size, got;
		unsigned char *data = pack(kind, 300000, 1, &size), *twice;

		if (!data) {
			print_message("%s: its tool is not here\n", types[kind]->name);
			continue;
		}
		assert_ptr_equal(packed_find(data, size), types[kind]);
		if (!types[kind]->unpack) {
			assert_int_equal(unpack(data, size, MOST, &got, &err), ERR_INPUT);
			assert_says(err, "which this build cannot read");
			mem_free(data);
			continue;
		}
		assert_ok(unpack(data, size, MOST, &got, &err), err);
		assert_int_equal(got, 300000);
		assert_ok(unpack(data, size, 300000, &got, &err), err);
		assert_int_equal(unpack(data, size, 299999, &got, &err), ERR_FORMAT);
		assert_says(err, "more than 299999 bytes");
		for (size_t cut = 10; cut < size; cut += 7)
			if (unpack(data, cut, MOST, &got, &err) != ERR_FORMAT)
				fail_msg("%s, cut to %zu of %zu: %zu bytes", types[kind]->name, cut,
					size, got);
		for (size_t at = types[kind]->magic_size; at < size; at += 3) {
			data[at] ^= 0x55; /* may be found out, must not crash */
			unpack(data, size, MOST, &got, &err);
			data[at] ^= 0x55;
		}
		twice = pack(kind, 5000, 2, &size);
		assert_ok(unpack(twice, size, MOST, &got, &err), err);
		assert_int_equal(got, 10000);
		mem_free(twice);
		mem_free(data);
	}
}

static void endings(void **state)
{
	assert_true(packed_ends("a.csv", ".csv") && packed_ends("a.csv.gz", ".csv"));
	assert_true(packed_ends("a.csv.zst", ".csv") && packed_ends("x/a.csv.bz2", ".csv"));
	assert_false(packed_ends("a.csv.zip", ".csv") || packed_ends("csv.xz", ".csv"));
	assert_false(packed_ends(".csv.xz", ".tsv") || packed_ends("a.gz", ".csv"));
	assert_null(packed_find("BZh,price,label", 15));
	assert_null(packed_find("", 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {folder_test(all_kinds), cmocka_unit_test(endings)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
