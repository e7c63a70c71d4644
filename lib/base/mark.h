/*
 * Marks: 64 bits that stand for bytes, the same on every machine and in every version
 * (FNV-1a). For telling things apart, not against those who want them mixed up.
 */
#ifndef RETAIN_BASE_MARK_H
#define RETAIN_BASE_MARK_H

#include <stddef.h>
#include <stdint.h>

/* A mark begins as MARK_NOTHING; add everything that it should depend on. */
#define MARK_NOTHING UINT64_C(0xcbf29ce484222325)
uint64_t mark_add(uint64_t mark, const void *bytes, size_t size);
uint64_t mark_number(uint64_t mark, int64_t number);
uint64_t mark_words(uint64_t mark, const char *words);

#endif
