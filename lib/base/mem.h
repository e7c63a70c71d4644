/*
 * The only allocator. All of the library's heap memory comes from here, so that a test can count
 * allocations and make the Nth one fail.
 */
#ifndef RETAIN_BASE_MEM_H
#define RETAIN_BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

/* Alignment of everything below: a cache line, and the widest vector. */
#define MEM_ALIGN 64

/*
 * Zeroed memory for count objects of size bytes, aligned to MEM_ALIGN, or NULL
 * (overflow of count * size included). Blocks of several MiB are aligned to and
 * advised for huge pages. Free with mem_free, which accepts NULL.
 */
void *mem_new(size_t count, size_t size);

/* Resizes a block. Added memory is not zeroed. If it returns NULL, the block is unchanged. */
void *mem_resize(void *block, size_t count, size_t size);

char *mem_text(const char *text); /* a copy of a string */
void mem_free(void *block);

/*
 * Test hooks. Allocations are counted over the process. mem_fail_at(n) makes the
 * n-th allocation from now on fail (n >= 1), once; 0 disarms it. Thread-safe.
 */
uint64_t mem_count(void);
void mem_fail_at(uint64_t n);

/*
 * An arena: objects that are freed together. Sized chunks, never moved; arena_release frees all.
 * Zeroed: empty.
 */
struct arena {
	struct arena_chunk *chunks;
};

/* Zeroed and aligned to MEM_ALIGN, or NULL. */
void *arena_new(struct arena *arena, size_t count, size_t size);
char *arena_text(struct arena *arena, const char *text);
void arena_release(struct arena *arena);

#endif
