/* Byte by byte: fingerprints are made of names and paths, which are short. */
#include "base/mark.h"

#include <string.h>

uint64_t mark_add(uint64_t mark, const void *bytes, size_t size)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < size; i++)
		mark = (mark ^ byte[i]) * UINT64_C(0x100000001b3);
	return mark;
}

uint64_t mark_number(uint64_t mark, int64_t number)
{
	return mark_add(mark, &number, sizeof(number));
}

uint64_t mark_words(uint64_t mark, const char *words)
{
	return mark_add(mark, words, strlen(words) + 1); /* the NUL parts it from what follows */
}
