/*
 * Aligned blocks over calloc. A struct head right below every block records what malloc returned,
 * so any alignment is possible and the block can be freed. calloc, rather than our own mmap,
 * because it knows when pages come fresh from the kernel and does not touch them a second time,
 * and because the sanitizers see every block.
 */
#include "base/mem.h"
#include "base/os.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HUGE_PAGE  ((size_t)2 << 20)
#define HUGE_LEAST ((size_t)4 << 20) /* smaller blocks would waste most of the slack */

#define CHUNK_LEAST ((size_t)64 << 10)

struct head {
	void *base; /* what malloc returned */
	size_t size;
};

static atomic_uint_fast64_t allocations;
static atomic_uint_fast64_t until_failure; /* 0: disarmed */

static bool failure_due(void)
{
	uint_fast64_t left = atomic_load_explicit(&until_failure, memory_order_relaxed);

	atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
	while (left > 0)
		if (atomic_compare_exchange_weak_explicit(&until_failure, &left, left - 1,
			    memory_order_relaxed, memory_order_relaxed))
			return left == 1;
	return false;
}

static struct head *head_of(void *block)
{
	return (struct head *)((char *)block - sizeof(struct head));
}

static void *block_new(size_t size, bool zeroed)
{
	size_t align = size >= HUGE_LEAST ? HUGE_PAGE : MEM_ALIGN;
	size_t slack = sizeof(struct head) + align - 1;
	char *base, *block;

	if (failure_due() || size > PTRDIFF_MAX - slack)
		return NULL;
	base = zeroed ? calloc(1, size + slack) : malloc(size + slack);
	if (!base)
		return NULL;
	block = base + sizeof(struct head);
	block += -(uintptr_t)block & (align - 1);
	*head_of(block) = (struct head){base, size};
	if (align == HUGE_PAGE)
		os_huge_pages(block, size);
	return block;
}

void *mem_new(size_t count, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	return block_new(bytes, true);
}

void *mem_resize(void *block, size_t count, size_t size)
{
	size_t bytes, kept;
	void *moved;

	if (__builtin_mul_overflow(count, size, &bytes))
		return NULL;
	moved = block_new(bytes, false);
	if (!moved || !block)
		return moved;
	kept = head_of(block)->size;
	memcpy(moved, block, kept < bytes ? kept : bytes);
	mem_free(block);
	return moved;
}

char *mem_text(const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = block_new(size, false);

	return copy ? memcpy(copy, text, size) : NULL;
}

void mem_free(void *block)
{
	if (block)
		free(head_of(block)->base);
}

uint64_t mem_count(void)
{
	return atomic_load_explicit(&allocations, memory_order_relaxed);
}

void mem_fail_at(uint64_t n)
{
	atomic_store_explicit(&until_failure, n, memory_order_relaxed);
}

/* The first chunk is the one being filled; the others are not searched for room. Chunks come zeroed
 * and are never reused. */
struct arena_chunk {
	struct arena_chunk *next;
	size_t size, used; /* of data */
	_Alignas(MEM_ALIGN) char data[];
};

static void *chunk_take(struct arena_chunk *chunk, size_t bytes)
{
	void *block;

	if (!chunk || chunk->size - chunk->used < bytes)
		return NULL;
	block = chunk->data + chunk->used;
	chunk->used += bytes;
	return block;
}

static struct arena_chunk *chunk_add(struct arena *arena, size_t bytes)
{
	size_t size = bytes > CHUNK_LEAST ? bytes : CHUNK_LEAST;
	struct arena_chunk *chunk = mem_new(1, sizeof(*chunk) + size), *first = arena->chunks;

	if (!chunk)
		return NULL;
	chunk->size = size;
	if (first && first->size - first->used > size - bytes) {
		/* The new chunk is nearly full already: keep filling the old one. */
		chunk->next = first->next;
		first->next = chunk;
	} else {
		chunk->next = first;
		arena->chunks = chunk;
	}
	return chunk;
}

void *arena_new(struct arena *arena, size_t count, size_t size)
{
	size_t bytes;
	void *block;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > PTRDIFF_MAX)
		return NULL;
	/* At least one line each, so that two empty objects differ. */
	bytes = bytes ? (bytes + MEM_ALIGN - 1) / MEM_ALIGN * MEM_ALIGN : MEM_ALIGN;
	block = chunk_take(arena->chunks, bytes);
	return block ? block : chunk_take(chunk_add(arena, bytes), bytes);
}

char *arena_text(struct arena *arena, const char *text)
{
	size_t size = strlen(text) + 1;
	char *copy = arena_new(arena, 1, size);

	return copy ? memcpy(copy, text, size) : NULL;
}

void arena_release(struct arena *arena)
{
	struct arena_chunk *chunk = arena->chunks, *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		mem_free(chunk);
	}
	arena->chunks = NULL;
}
