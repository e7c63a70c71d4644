/*
 * Fingerprints: 64-bit hashes of bytes (FNV-1a), the same on every machine and in every version.
 * Not cryptographic.
 */
#ifndef RETAIN_BASE_MARK_H
#define RETAIN_BASE_MARK_H

#include <stddef.h>
#include <stdint.h>

/* A fingerprint starts as MARK_NOTHING; add everything it should depend on. */
#define MARK_NOTHING UINT64_C(0xcbf29ce484222325)
uint64_t mark_add(uint64_t mark, const void *bytes, size_t size);
uint64_t mark_number(uint64_t mark, int64_t number);
uint64_t mark_words(uint64_t mark, const char *words);

#endif
