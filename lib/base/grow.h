/* Arrays that grow by doubling. */
#ifndef RETAIN_BASE_GROW_H
#define RETAIN_BASE_GROW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

/*
 * Makes room for at least `wanted` objects of `size` bytes in the array whose pointer is at
 * `block`; false: out of memory.
 */
static inline bool grow_room(void *block, size_t *room, size_t wanted, size_t size)
{
	size_t more = *room ? *room : 64;
	void *smaller, *larger;

	if (wanted <= *room)
		return true;
	while (more < wanted)
		if (__builtin_mul_overflow(more, 2, &more))
			return false;
	/* Copied, since the caller's pointer has another type. */
	memcpy(&smaller, block, sizeof(smaller));
	larger = mem_resize(smaller, more, size);
	if (!larger)
		return false;
	memcpy(block, &larger, sizeof(larger));
	*room = more;
	return true;
}

/* An array of integers. Zeroed: empty. */
struct numbers {
	uint64_t *at;
	size_t count, room;
};

static inline bool numbers_add(struct numbers *numbers, uint64_t number)
{
	if (!grow_room(&numbers->at, &numbers->room, numbers->count + 1, sizeof(*numbers->at)))
		return false;
	numbers->at[numbers->count++] = number;
	return true;
}

static inline void numbers_release(struct numbers *numbers)
{
	mem_free(numbers->at);
	*numbers = (struct numbers){0};
}

#endif
