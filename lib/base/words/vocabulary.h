/*
 * The distinct words of a column: class names, categories. They are numbered as they appear, and
 * finally by their order.
 */
#ifndef RETAIN_BASE_WORDS_VOCABULARY_H
#define RETAIN_BASE_WORDS_VOCABULARY_H

#include <stdint.h>

#include "base/words/name_list.h"

/* Zeroed: empty. */
struct vocabulary {
	struct name_list names; /* in the order of their numbers */
	uint32_t *slots;        /* hash table of number + 1; 0: empty */
	size_t slots_count;     /* a power of two, or 0 */
};

/* The number of a word, assigned if it is new; negative: an error code. */
int64_t vocabulary_number(
	struct vocabulary *vocabulary, const char *word, size_t size, struct err *err);

/* Removes the last numbered word; not after vocabulary_sort. */
void vocabulary_drop_last(struct vocabulary *vocabulary);

/* The number of a word, or -1. */
int64_t vocabulary_find(const struct vocabulary *vocabulary, const char *word, size_t size);

/*
 * Sorts the words by bytes. ranks[n] becomes the new index of word n; free it with mem_free.
 * After this only vocabulary.names may be used.
 */
int vocabulary_sort(struct vocabulary *vocabulary, uint32_t **ranks, struct err *err);
void vocabulary_release(struct vocabulary *vocabulary);

#endif
