/* Different words, numbered as they come; later by their order. For names of classes. */
#ifndef RETAIN_RECORDS_WORDS_H
#define RETAIN_RECORDS_WORDS_H

#include <stdint.h>

#include "base/paths.h"

/* Zeroed: none. */
struct words {
	struct names names; /* in the order of their numbers */
	uint32_t *slots;    /* of a hash table: numbers + 1, 0 for none */
	size_t slots_count; /* a power of two, or 0 */
};

/* The number of a word, which is given one if it is new; negative: an error's code. */
int64_t words_number(struct words *words, const char *word, size_t size, struct err *err);

/* The number of a word, or -1. */
int64_t words_find(const struct words *words, const char *word, size_t size);

/*
 * Sorts the words by bytes. ranks[n] becomes the place of the word that was number
 * n and is for mem_free. After this only words.names may be used.
 */
int words_sort(struct words *words, uint32_t **ranks, struct err *err);
void words_release(struct words *words);

#endif
