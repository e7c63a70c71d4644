/*
 * Tar archives, plain or gzipped as the first byte says. Sums of headers are made
 * right, for a fuzzer could not guess them; with a first byte of 128 or more they
 * are left as they are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tar.h"
#include "fuzz.h"

enum { SUM_AT = 148, SUM_SIZE = 8, MAGIC_AT = 257 };

static void sum_headers(uint8_t *bytes, size_t size)
{
	for (size_t at = 0; at + TAR_BLOCK <= size; at += TAR_BLOCK) {
		uint8_t *header = bytes + at;
		unsigned sum = 0;
		char digits[SUM_SIZE];

		if (memcmp(header + MAGIC_AT, "ustar", 5))
			continue;
		memset(header + SUM_AT, ' ', SUM_SIZE);
		for (int i = 0; i < TAR_BLOCK; i++)
			sum += header[i];
		snprintf(digits, sizeof(digits), "%06o", sum);
		memcpy(header + SUM_AT, digits, SUM_SIZE - 1);
	}
}

/* The members alone: whatever the bytes are, what is found lies within them. */
static void walk(const uint8_t *bytes, size_t size)
{
	struct tar_cursor cursor = {0};
	struct tar_member member;
	int found;

	while ((found = tar_next(&cursor, bytes, size, &member)) > 0) {
		fuzz_check(member.at <= size && member.size <= size - member.at);
		fuzz_check(member.at % TAR_BLOCK == 0);
		fuzz_check(memchr(member.name, '\0', sizeof(member.name)));
		fuzz_check(memchr(member.link, '\0', sizeof(member.link)));
		fuzz_check(member.type != TAR_NONE);
	}
	fuzz_check(found == 0 || cursor.why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes;

	if (!size)
		return 0;
	bytes = (uint8_t *)fuzz_text(data + 1, size - 1);
	if (data[0] < 128)
		sum_headers(bytes, size - 1);
	walk(bytes, size - 1);
	fuzz_records("tar", fuzz_mapped(data[0] % 2 ? "a.tar.gz" : "a.tar", bytes, size - 1), NULL);
	free(bytes);
	return 0;
}
