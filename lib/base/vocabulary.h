/*
 * The different words of a column: names of classes, categories. They are numbered as
 * they come, and in the end by their order.
 */
#ifndef RETAIN_BASE_VOCABULARY_H
#define RETAIN_BASE_VOCABULARY_H

#include <stdint.h>

#include "base/name_list.h"

/* Zeroed: none. */
struct vocabulary {
	struct name_list names; /* in the order of their numbers */
	uint32_t *slots;        /* of a hash table: numbers + 1, 0 for none */
	size_t slots_count;     /* a power of two, or 0 */
};

/* The number of a word, which is given one if it is new; negative: an error's code. */
int64_t vocabulary_number(
	struct vocabulary *vocabulary, const char *word, size_t size, struct err *err);

/* Takes back the word that was numbered last; the words were not sorted since. */
void vocabulary_drop_last(struct vocabulary *vocabulary);

/* The number of a word, or -1. */
int64_t vocabulary_find(const struct vocabulary *vocabulary, const char *word, size_t size);

/*
 * Sorts the words by bytes. ranks[n] becomes the place of the word that was number
 * n and is for mem_free. After this only vocabulary.names may be used.
 */
int vocabulary_sort(struct vocabulary *vocabulary, uint32_t **ranks, struct err *err);
void vocabulary_release(struct vocabulary *vocabulary);

#endif
